# shellcheck shell=bash
# Loaded by every .bats file: `load helper`.
# LAT_BIN is where the tools are (the Makefile sets it); each test starts in its own empty folder.
bats_require_minimum_version 1.5.0

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
DATA=${LAT_DATA:-$ROOT/../shared/data}
PATH=${LAT_BIN:-$ROOT/bin}:$PATH
export PATH LC_ALL=C
# What a tool sets before it executes itself once more (lib/base/threads.h): set already, it starts once, in half the time. Tests of
# this (tests/cli.bats) take it away.
export GOMP_SPINCOUNT=${GOMP_SPINCOUNT-2000}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

# need_data FILE...: skip where there is no folder with files of other programs (LAT_DATA; CONTRIBUTING.md says what is in it).
need_data() {
    local f
    [ -d "$DATA" ] || skip "LAT_DATA names no folder with files of other programs"
    for f; do
        [ -e "$DATA/$f" ] || skip "no $f in the folder of LAT_DATA"
    done
}

# thermal NAME [OPTION]...: a configuration at beta = 6, the same on all processors of a family.
thermal() {
    local name=$1
    shift
    LAT_LANES=base lat-heatbath --device cpu --dims 8,8,8,8 --beta 6.0 --thermalise 60 --seed 1 "$@" -o "$name"
}

# need_numpy: $PYTHON is a Python that has numpy, which finds python/lat; skip where there is none.
need_numpy() {
    export PYTHONPATH=$ROOT/python PYTHONDONTWRITEBYTECODE=1
    PYTHON=${LAT_NUMPY-}
    [ -z "$PYTHON" ] || return 0 # tests/run has looked for it
    for PYTHON in python3 /usr/bin/python3; do
        ! "$PYTHON" -c 'import numpy' 2>/dev/null || return 0
    done
    skip "no numpy for python3"
}

# need_mpi: ranks can be started, by root too, in a container of few processors; skip where they cannot. From here on the
# sanitizer does not look for leaks: it does not know what MPI keeps.
need_mpi() {
    lat-theta --version | grep -q "^MPI: yes" || skip "built without MPI"
    command -v mpirun >/dev/null || skip "no mpirun"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
}

# two_hosts COMMAND...: MPI tells its ranks that the first half of them is on one host, the rest on another.
two_hosts() {
    ! sanitized || skip "sanitizers do not go with a preloaded library"
    [ -e two_hosts.so ] || mpicc -shared -fPIC -o two_hosts.so "$ROOT/tests/faults/two_hosts.c" || skip "no mpicc"
    LD_PRELOAD=$PWD/two_hosts.so "$@"
}

# sanitized: these tools look for faults in memory and arithmetic, which makes them ten times as slow.
sanitized() {
    [ -n "${SANITIZED-}" ] || case $(lat-theta --version) in *sanitizers*) SANITIZED=yes ;; *) SANITIZED=no ;; esac
    [ "$SANITIZED" = yes ]
}

# not_sanitized WHAT: skip what these tools look for in vain: they run elsewhere, and the rest is of scripts.
not_sanitized() { ! sanitized || skip "$1: nothing for the sanitizers"; }

# groups N...: those of these SU(N) that the tools were built for: make QUICK=1 builds SU(2) and SU(3).
groups() {
    local n most
    most=$(lat-heatbath -q --group 16 --dims 2,2 --beta 1 2>&1 >/dev/null | sed -n 's/.*this program was built for SU(2) to SU(\([0-9]*\)).*/\1/p')
    for n; do [ "$n" -gt "${most:-16}" ] || echo "$n"; done
}

# need_group N: skip where the tools were not built for SU(N).
need_group() { [ -n "$(groups "$1")" ] || skip "built without SU($1)"; }

# few N: N, and for sanitized tools a fifth of it, 20 at least: sweeps and configurations of which statistics need many. They run the
# same lines over and over; the first of them show all faults that these tools look for. (FEW of check.h is the same for check programs.)
few() {
    if sanitized; then echo $(($1 > 100 ? $1 / 5 : $1 < 20 ? $1 : 20)); else echo "$1"; fi
}

# near A B TOLERANCE: |A - B| <= TOLERANCE, false for NaN.
near() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= t) }' ||
        { echo "$1 is not within $3 of $2"; return 1; }
}

# nothing_left: the folder holds no temporary file.
nothing_left() {
    local left
    left=$(find . -name '.*.tmp')
    [ -z "$left" ] || { echo "left behind: $left"; return 1; }
}

# kill_a_rank N TOOL ARGUMENT...: N ranks with --checkpoint ck, for cut.lat. One of them is killed when the checkpoint is there: a
# sentence says which one and how to go on, and there is no output.
kill_a_rank() {
    local n=$1 tool=$2 pid i got=0
    shift
    "$@" -n "$n" -@ 1 --checkpoint ck -o "$PWD/cut.lat" 2>err 3>&- &
    pid=$!
    for ((i = 0; i < 6000; i++)); do [ ! -e ck ] || break; sleep .01; done
    kill -KILL "$(pgrep -f "^[^ ]*/$tool .*$PWD/cut.lat" | shuf -n 1)"
    wait $pid || got=$?
    cat err
    [ "$got" -eq 1 ]
    # On a busy machine rank 0 says it before mpirun, which knows the signal.
    grep -Eqx "$tool: rank [0-9] of $n \\(host $(hostname)(, GPU [^)]*)?\\) (was ended by signal 9 \\(Killed\\)|has died); the same command with --resume ck goes on" err
    [ "$(wc -l <err)" -eq 1 ]
    [ ! -e cut.lat ]
    nothing_left
}

# refuses CODE SENTENCE COMMAND...: it ends with this exit code and, but for wrong usage, one line that holds the sentence; prints
# nothing else, and leaves nothing behind.
refuses() {
    local code=$1 before
    before=$(ls -AI 'separate-stderr*') # those are of bats
    run --separate-stderr "${@:3}"
    # shellcheck disable=SC2154  # set by run
    [ "$status" -eq "$code" ] || { echo "exit $status: $stderr"; return 1; }
    [ -z "$output" ] || { echo "$output"; return 1; }
    [[ $stderr == *"$2"* ]] || { echo "$stderr"; return 1; }
    [ "$code" -eq 2 ] || [ "$(wc -l <<<"$stderr")" -eq 1 ] || { echo "$stderr"; return 1; }
    [ "$(ls -AI 'separate-stderr*')" = "$before" ] || { echo "left behind: $(ls -A)"; return 1; }
}

# column FILE NAME [OPTION]...: that column of lat-theta --tsv, a line a configuration.
column() {
    local file=$1 name=$2
    shift 2
    lat-theta --tsv "$@" "$file" |
        awk -F'\t' -v name="$name" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }'
}

# field TABLE COLUMN [ROW]: one number of what --tsv or a log has, by the name of the column.
field() {
    awk -F'\t' -v name="$2" -v row="${3:-1}" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
        NR == row + 1 { if (!c) exit 1; print $c; found = 1 }
        END { exit !found }' "$1"
}

# rough NAME [OPTION]...: links about as rough as thermal ones.
rough() {
    local name=$1
    shift
    lat-start weak --epsilon 0.35 --seed 3 "$@" -o "$name"
}

# unit_spinors NAME X,Y,Z,T [FIRST COUNT]: the unit vectors of all spinors of SU(3) there, or COUNT of them, a field of modes: an
# operator applied to it gives columns of its dense matrix. After need_numpy.
unit_spinors() {
    "$PYTHON" - "$@" <<'PY'
import lat, numpy, sys
name, dims = sys.argv[1], [int(n) for n in sys.argv[2].split(",")]
n = 12 * numpy.prod(dims)
first, count = map(int, sys.argv[3:]) if len(sys.argv) > 3 else (0, n)
v = numpy.eye(n, count, -first, dtype=complex).reshape(*reversed(dims), 4, 3, count).transpose(0, 1, 2, 3, 6, 4, 5)
with lat.Writer(name) as out:
    out.write(lat.modes(numpy.ascontiguousarray(v)))
PY
}

# in_slices FIRST MORE TEXT COMMAND...: a run that gets SIGTERM after FIRST seconds and goes on from its checkpoint ck, until
# it is through with cut.lat. Each slice is MORE seconds longer, for machines with much to do. At least once ck has this text
# ('': any).
in_slices() {
    local first=$1 more=$2 text=$3 i got seen=0 resume=()
    shift 3
    rm -f ck cut.lat
    for ((i = 0; i < 100; i++)); do
        got=0
        # --preserve-status: a run may end well just when its time is over.
        timeout --preserve-status --signal=TERM \
            "$(awk -v a="$first" -v b="$more" -v i="$i" 'BEGIN { print a + b * i }')" \
            "$@" --checkpoint ck "${resume[@]}" -o cut.lat || got=$?
        [ "$got" -ne 0 ] || break
        [ "$got" -eq 143 ] && [ ! -e cut.lat ] || return 1
        [ ! -e ck ] || resume=(--resume ck)
        [ ! -e ck ] || ! lat-info ck | grep -q "$text" || seen=$((seen + 1))
    done
    echo "$i slices, $seen with ${text:-a checkpoint}"
    [ "$got" -eq 0 ] && [ ! -e ck ] && [ "$seen" -gt 0 ]
}
