#!/usr/bin/env bats
# Purpose: ranks, started by -n N or by another mpirun: one that is killed ends the run; signals, descriptors, folders, sentences, memory.
# (What they compute: ranks_bytes.bats; what they read and write: ranks_files.bats.)
# shellcheck disable=SC2154,SC2030,SC2031  # status, output and stderr are set by run; each test has its own TMPDIR
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    need_mpi
}

# many: a run that goes on until it is killed; by SIGINT too, which a shell ignores in what it starts in the background, and by SIGHUP
# under nohup.
many() {
    exec env "${IGNORE---default-signal=INT,HUP}" lat-anneal -n 3 -@ 1 --steps 100000000 b.lat "$@"
}

# Rounds of what is random; tests/long/ranks.bats has more.
rounds=${LAT_ROUNDS-2}

# ours: processes of this test that are still there: ranks, and who launched them.
ours() {
    pgrep -f "b.lat -o $BATS_TEST_TMPDIR" || true
}

# ranks_there: the ranks that work on out.lat.
ranks_there() {
    pgrep -f "^[^ ]*/lat-anneal .*$PWD/out.lat"
}

heating() { [ "$(pgrep -f "^[^ ]*/lat-heatbath .*$PWD/out.lat" | wc -l)" -ge 3 ]; }

all_there() { [ "$(ranks_there | wc -l)" -ge 3 ]; }

# Rank 0 has stdin and stdout as well: the launcher's socket is gone then.
connected() { all_there && [ -z "$(find tmp -name socket)" ]; }

# await CONDITION: until it holds, half a minute at most.
await() {
    for _ in $(seq 600); do
        ! $1 || return 0
        sleep 0.05
    done
    echo "not within half a minute: $1"
    return 1
}

# gone: after some seconds there are none.
gone() {
    for _ in $(seq 50); do
        [ -n "$(ours)" ] || return 0
        sleep 0.1
    done
    echo "still there: $(ours)"
    return 1
}

@test "tasks of srun without MPI are refused, as each would do the whole work, unless -n 1 says so" {
    lat-start weak --dims 4,4,4,4 -o a.lat
    refuses 2 "srun has started 4 tasks without MPI, and each would do the whole work" \
        env -u PMI_SIZE -u OMPI_COMM_WORLD_SIZE SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 lat-reunit a.lat -o b.lat
    SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 lat-reunit -n 1 a.lat -o b.lat
    SLURM_STEP_NUM_TASKS=1 lat-reunit a.lat -o b.lat
    SLURM_NTASKS=4 lat-reunit a.lat -o b.lat # a script of a job, not of a step
}

@test "a rank that is killed at a random moment ends all of them: one sentence, no output" {
    rough b.lat --dims 4,4,4,8
    local pid victim rank
    for _ in $(seq "$rounds"); do
        many -o "$PWD/out.lat" 2>err 3>&- &
        pid=$!
        await all_there
        sleep "$(awk -v r=$RANDOM 'BEGIN { print 0.8 * r / 32768 }')"
        victim=$(ranks_there | shuf -n 1)
        rank=$(tr '\0' '\n' <"/proc/$victim/environ" | sed -n 's/^OMPI_COMM_WORLD_RANK=//p')
        kill -9 "$victim"
        status=0
        wait $pid || status=$?
        [ "$status" -eq 1 ]
        [ "$(wc -l <err)" -eq 1 ]
        # Ranks have names when all have found each other. On a busy machine rank 0 says it before mpirun, which knows the signal.
        grep -Eqx "lat-anneal: rank $rank of 3( \\(host $(hostname)\\))? (was ended by signal 9 \\(Killed\\)|has died); nothing was written" err
        [ ! -e out.lat ]
        gone
        nothing_left
    done
}

@test "what OpenMPI says of a rank that died is not added to the sentence, nor is a backtrace" {
    rough b.lat --dims 8,8,8,12
    local pid signal
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0 # it would have a page to say
    for signal in $(yes TERM | head -n "$rounds") SEGV; do
        lat-heatbath -n 3 -@ 1 --beta 6 --thermalise 0 --seed 1 --every 100000 b.lat -o "$PWD/out.lat" 2>err 3>&- &
        pid=$!
        await heating
        sleep 0.5
        kill -"$signal" "$(pgrep -f "^[^ ]*/lat-heatbath .*$PWD/out.lat" | if [ "$signal" = SEGV ]; then head -n 1; else tail -n 1; fi)"
        status=0
        wait $pid || status=$?
        [ "$status" -eq 1 ]
        cat err
        [ "$(wc -l <err)" -eq 1 ]
        grep -Eq "^lat-heatbath: rank [0-2] of 3( \\(host $(hostname)\\))? (was ended by signal|has died)" err
        gone
    done
}

@test "SIGUSR1 ends no run, however early it comes" {
    rough b.lat --dims 4,4,4,8
    local pid i
    for ((i = 0; i < 2 * rounds; i++)); do
        lat-anneal -n 3 -@ 1 --steps 10 b.lat -o out.lat 3>&- &
        pid=$!
        await "pgrep -P $pid" # mpirun
        sleep "$(awk -v i="$i" -v n="$rounds" 'BEGIN { print 0.12 * i / n }')"
        kill -USR1 $pid || true
        wait $pid
    done
}

@test "an mpirun that does not end after its ranks is ended" {
    rough a.lat --dims 4,4,4,4
    cat >mpirun.sh <<'END'
#!/bin/bash
mpirun --oversubscribe "$@"
sleep 1000
END
    chmod +x mpirun.sh
    LAT_MPIRUN=./mpirun.sh lat-gauge --random -n 2 a.lat -o "$PWD/b.lat"
    lat-info --check b.lat >/dev/null
    gone
}

@test "signals to the launcher end all ranks, and what was there before stays" {
    rough b.lat --dims 4,4,4,8
    echo old >out.lat
    mkdir tmp
    export TMPDIR=$PWD/tmp
    local signal pid
    for signal in TERM INT HUP KILL; do
        many -o "$PWD/out.lat" 2>err 3>&- &
        pid=$!
        await connected
        sleep 0.3
        kill -$signal $pid
        status=0
        wait $pid || status=$?
        [ "$status" -eq $((128 + $(kill -l $signal))) ]
        gone
        [ ! -s err ]
        [ "$(cat out.lat)" = old ]
        nothing_left
    done
    [ -z "$(ls -A tmp)" ]
}

# mpirun_of PID: the mpirun of that process.
mpirun_of() { pgrep -P "$1" -x mpirun; }

# sweeping: rank 0 writes its log.
sweeping() { [ -e log.tsv ] && [ "$(wc -l <log.tsv)" -ge 2 ]; }

@test "ranks that are asked to stop write a checkpoint, under -n and under mpirun of somebody else" {
    rough b.lat --dims 4,4,8,16 --epsilon 1.1
    local run=(lat-orelax --omega 1 --theta 1e-26 --no-provenance -@ 1) n=4 pid how code
    "${run[@]}" b.lat -o straight.lat
    for how in TERM:143 INT:130 USR2:140; do
        rm -f log.tsv
        # shellcheck disable=SC2046 # words
        env --default-signal=INT "${run[@]}" -n $n --log log.tsv --checkpoint ck $([ ! -e ck ] || echo --resume ck) b.lat -o "$PWD/out.lat" 2>err 3>&- &
        pid=$!
        await sweeping
        kill -${how%:*} $pid
        code=0
        wait $pid || code=$?
        cat err
        [ $code -eq ${how#*:} ]
        [ "$(cat err)" = "lat-orelax: stopped by SIG${how%:*}: the same command with --resume ck goes on" ]
        gone
        nothing_left
        n=$((n - 1))
    done
    rm -f log.tsv
    mpirun --oversubscribe -n 2 "${run[@]}" --log log.tsv --checkpoint ck --resume ck b.lat -o "$PWD/out.lat" 2>err 3>&- &
    pid=$!
    await sweeping
    kill -USR2 $pid # mpirun sends it to the ranks
    code=0
    wait $pid || code=$?
    [ $code -eq 140 ]
    [ "$(grep -c '^lat-orelax: stopped by SIGUSR2: the same command with --resume ck goes on$' err)" -eq 1 ]
    nothing_left
    [ ! -e out.lat ]
    "${run[@]}" --checkpoint ck --resume ck b.lat -o out.lat
    cmp straight.lat out.lat
    [ ! -e ck ]
}

@test "ranks that wait for their input are stopped there, too" {
    rough b.lat --dims 4,4,4,8
    local pid code=0
    mkfifo slow
    exec 9<>slow
    lat-orelax -n 2 -@ 2 --omega 1.6 --log log.tsv --checkpoint ck <slow -o "$PWD/out.lat" 2>err 9>&- 3>&- &
    pid=$!
    head -c "$(($(wc -c <b.lat) - 16))" b.lat >&9
    done_once() { [ -e log.tsv ] && grep -q '^# stdin:0 converged' log.tsv; }
    await done_once
    sleep 0.3
    kill $pid
    wait $pid || code=$?
    exec 9>&-
    cat err
    [ $code -eq 143 ]
    [[ $(cat err) == *"stopped by SIGTERM: the same command with --resume ck goes on" ]]
    lat-orelax -@ 2 --omega 1.6 --log log.tsv --checkpoint ck --resume ck b.lat -o out.lat
    [ "$(wc -l <log.tsv)" -le 2 ] # it was done
    lat-theta --require-theta 1e-12 out.lat >/dev/null
}

@test "mpirun gets a folder that nobody can have guessed: a link of that name leads to nothing" {
    rough b.lat --dims 4,4,4,4
    mkdir tmp home
    echo precious >home/file
    # The names that there were before: the process number is known.
    TMPDIR=$PWD/tmp bash -c 'ln -s "$PWD/home" "$TMPDIR/ompi.lat.$$"; exec lat-gauge -n 2 --random b.lat -o out.lat'
    lat-info --check out.lat
    [ "$(cat home/file)" = precious ]
    [ "$(ls -A home)" = file ]
    cat >mpirun.sh <<'END'
#!/bin/bash
stat -c '%a %U' "$(dirname "$(dirname "$LAT_RANKS_SOCKET")")" >&2
exit 7
END
    chmod +x mpirun.sh
    LAT_MPIRUN=./mpirun.sh run -1 --separate-stderr lat-theta -n 2 b.lat
    [[ $stderr == *": 1700 $(id -un)" ]]
}

@test "whichever process is killed, its folder is removed, at the latest by the next run; folders of others stay" {
    rough b.lat --dims 4,4,4,8
    mkdir -p tmp/lat-ranks-mine tmp/kept "tmp/lat-ranks-$(hostname -s)-kept12"
    touch tmp/lat-ranks-mine/x tmp/kept/file "tmp/lat-ranks-$(hostname -s)-kept12/x"
    chmod 700 tmp/lat-ranks-*
    export TMPDIR=$PWD/tmp
    find tmp -mindepth 1 -maxdepth 1 | sort >before
    local pid who left
    for who in rank mpirun launcher both; do
        many -o "$PWD/out.lat" 2>err 3>&- &
        pid=$!
        await connected
        case $who in
        rank) kill -9 "$(ranks_there | tail -n 1)" ;;
        mpirun) kill -9 "$(mpirun_of $pid)" ;;
        launcher) kill -9 $pid ;;
        both) kill -9 $pid "$(mpirun_of $pid)" ;;
        esac
        wait $pid || true
        gone
        left() { find tmp -mindepth 1 -maxdepth 1 | sort | diff before - >/dev/null; }
        [ $who = both ] || await left
        # A link in it is not followed.
        if [ $who = both ]; then
            left=$(find tmp -maxdepth 1 -name "lat-ranks-*-??????" -perm 1700)
            ln -s "$PWD/tmp/kept" "$left/link"
            lat-theta -n 2 b.lat >/dev/null
            left
            [ -e tmp/kept/file ]
        fi
        [ $who != mpirun ] || grep -qx "lat-anneal: mpirun, which runs 3 ranks, was ended by signal 9 (Killed); nothing was written" err
        [ "$(wc -l <err)" -le 1 ]
        rm -f .out.lat.*.tmp
    done
}

@test "the folder of a run that goes on is not removed by the next run" {
    rough b.lat --dims 4,4,4,8
    mkdir tmp
    export TMPDIR=$PWD/tmp
    local pid folder
    many -o "$PWD/out.lat" 2>err 3>&- &
    pid=$!
    await connected
    folder=$(ls -d tmp/lat-ranks-*)
    lat-theta -n 2 b.lat >/dev/null
    [ -d "$folder" ]
    kill $pid
    wait $pid || true
    gone
    [ ! -e "$folder" ]
}

@test "SIGTERM to mpirun ends a run with words that are true" {
    rough b.lat --dims 4,4,4,8
    mkdir tmp
    export TMPDIR=$PWD/tmp
    local pid
    many -o "$PWD/out.lat" 2>err 3>&- &
    pid=$!
    await connected
    kill -TERM "$(mpirun_of $pid)"
    status=0
    wait $pid || status=$?
    [ "$status" -eq 1 ]
    gone
    cat err
    [ "$(cat err)" = "lat-anneal: mpirun has ended 3 ranks before they were done, with status 1 (was it asked to, by SIGTERM?); nothing was written" ]
    nothing_left
}

# stopped N: N ranks are stopped.
stopped() { [ "$(ps -o stat= -p "$(ranks_there | paste -sd,)" | grep -c '^T')" -eq "$1" ]; }
all_stopped() { stopped 3; }
none_stopped() { stopped 0; }

@test "a run that is stopped from the terminal stops with all ranks, and goes on with them" {
    rough b.lat --dims 4,4,4,8
    mkdir tmp
    export TMPDIR=$PWD/tmp
    local pid launcher_stopped
    many -o "$PWD/out.lat" 2>err 3>&- &
    pid=$!
    await connected
    kill -TSTP $pid
    await all_stopped
    launcher_stopped=$(ps -o stat= -p $pid)
    kill -CONT $pid
    await none_stopped
    kill $pid
    wait $pid || true
    gone
    [[ $launcher_stopped == T* ]]
}

@test "mpirun inherits no descriptor, whatever its number" {
    rough b.lat --dims 4,4,4,4
    cat >mpirun.sh <<'END'
#!/bin/bash
[ -e /proc/$$/fd/2 ] && [ ! -e /proc/$$/fd/2900 ] && echo "not inherited" >&2
exit 7
END
    chmod +x mpirun.sh
    ulimit -n 3000 || skip "no descriptors above 1024"
    exec 2900<b.lat
    LAT_MPIRUN=./mpirun.sh run -1 --separate-stderr lat-theta -n 2 b.lat
    exec 2900<&-
    [[ $stderr == *": not inherited" ]]
}

@test "a TMPDIR longer than the address of a socket is used as it is" {
    rough b.lat --dims 4,4,4,4
    local long
    long=$PWD/$(printf 'x%.0s' {1..150})/$(printf 'y%.0s' {1..150})
    mkdir -p "$long"
    cat >mpirun.sh <<'END'
#!/bin/bash
echo "$LAT_RANKS_SOCKET" >at
mpirun --oversubscribe "$@"
END
    chmod +x mpirun.sh
    TMPDIR=$long LAT_MPIRUN=./mpirun.sh lat-theta -n 2 b.lat >two.txt
    lat-theta b.lat | cmp - two.txt
    [[ $(cat at) == "$long/lat-ranks-"* ]]
    TMPDIR=$long lat-theta -n 2 b.lat | cmp - two.txt
    [ -z "$(ls -A "$long")" ]
}

@test "signals that were ignored when it started stay ignored, and the end of mpirun is seen all the same" {
    rough b.lat --dims 4,4,4,8
    local pid signal
    (IGNORE=--ignore-signal=HUP,CHLD,INT; many -o "$PWD/out.lat" 2>err 3>&-) &
    pid=$!
    await all_there
    for signal in HUP INT; do
        kill -$signal "$pid"
        sleep 0.5
        [ "$(ranks_there | wc -l)" -ge 3 ]
    done
    kill -9 "$(ranks_there | tail -1)"
    status=0
    wait "$pid" || status=$?
    [ "$status" -eq 1 ]
    gone
    [ "$(wc -l <err)" -eq 1 ]
    nothing_left
}

@test "ranks, and the process that starts them, have the name of the tool" {
    rough b.lat --dims 4,4,4,8
    local pid p n=0
    unset GOMP_SPINCOUNT OMP_WAIT_POLICY
    many -o "$PWD/out.lat" 2>err 3>&- &
    pid=$!
    await all_there
    for p in $pid $(ranks_there); do
        [ "$(cat "/proc/$p/comm")" = lat-anneal ] || { echo "$p: $(cat "/proc/$p/comm")"; return 1; }
        n=$((n + 1))
    done
    kill $pid
    wait $pid || true
    gone
    [ "$n" -ge 4 ]
}

@test "ranks of a program whose file was removed are not started, with a sentence" {
    rough b.lat --dims 4,4,4,4
    cp "$(command -v lat-theta)" copy
    run -1 --separate-stderr bash -c 'exec 4< copy && rm copy && exec /proc/self/fd/4 -n 2 b.lat'
    [[ $stderr == "lat-theta: 2 ranks: the file of this program cannot be found"* ]]
}

@test "a reader that has enough ends all ranks silently, as SIGPIPE does" {
    rough b.lat --dims 8,8,8,8
    lat-gauge -n 2 --random b.lat 2>err 3>&- | head -c 1000 >part || true
    [ "${PIPESTATUS[0]}" -eq 141 ]
    [ ! -s err ]
    [ "$(wc -c <part)" -eq 1000 ]
}

@test "exit codes are those of one rank: 1, 2 and 3, with one sentence" {
    rough b.lat --dims 4,4,4,8
    run -3 --separate-stderr lat-orelax -n 2 --max-sweeps 3 b.lat -o out.lat
    [[ $stderr == "lat-orelax: b.lat:0: not converged: theta "* && $stderr != *$'\n'* ]]
    [ ! -e out.lat ]
    run -3 --separate-stderr lat-orelax -n 3 --max-sweeps 3 --keep b.lat -o out.lat
    [[ $stderr == "lat-orelax: b.lat:0: not converged: theta "* && $stderr != *$'\n'* ]]
    [ -s out.lat ]
    run -3 lat-theta -n 2 --require-theta 1e-12 -o t.txt out.lat
    head -c 60000 b.lat >cut.lat
    run -1 --separate-stderr lat-orelax -n 2 cut.lat -o never.lat
    [[ $stderr == "lat-orelax: cut.lat: truncated"* && $stderr != *$'\n'* ]]
    run -1 --separate-stderr lat-theta -n 2 nowhere.lat
    [[ $stderr == "lat-theta: nowhere.lat: cannot be opened: "* && $stderr != *$'\n'* ]]
    run -2 --separate-stderr lat-orelax -n 5 b.lat -o never.lat
    [[ $stderr == "lat-orelax: b.lat:0: lattice 4 4 4 8: expected at most 4 ranks, two slices each, or 2, 4 or 8 times as many that cut the axis before the last one, too, found 5"* ]]
    run -2 lat-theta -n 0 b.lat
    run -1 --separate-stderr lat-gauge -n 2 --random b.lat -o /dev/full
    [[ $stderr == "lat-gauge: /dev/full: cannot be written: No space left on device" ]]
    [ ! -e never.lat ]
    nothing_left
}

@test "what mpirun could not start is said in one sentence" {
    rough b.lat --dims 4,4,4,4
    LAT_MPIRUN=/no/mpirun run -1 --separate-stderr lat-theta -n 2 b.lat
    [[ $stderr == "lat-theta: 2 ranks ended with status 127 before they had done anything: /no/mpirun: cannot be started: No such file or directory" ]]
    LAT_MPIRUN=false run -1 --separate-stderr lat-theta -n 2 b.lat
    [[ $stderr == "lat-theta: 2 ranks ended with status 1 before they had done anything: no output" ]]
    LAT_MPIRUN=false lat-theta -n 1 b.lat >one.txt # a plain run needs none
    [ -s one.txt ]
}

@test "the socket of rank 0 has a folder: that of TMPDIR, where there is such a word" {
    rough a.lat --dims 4,4,4,4
    # As it is started, mpirun says what TMPDIR and the socket are.
    cat >mpirun.sh <<'END'
#!/bin/bash
echo "socket $LAT_RANKS_SOCKET" >&2
exit 7
END
    chmod +x mpirun.sh
    run -1 --separate-stderr env TMPDIR= LAT_MPIRUN=./mpirun.sh lat-gauge --random -n 2 a.lat -o b.lat
    [[ $stderr == *"socket /tmp/lat-"* ]]
    run -1 --separate-stderr env TMPDIR=no/such LAT_MPIRUN=./mpirun.sh lat-gauge --random -n 2 a.lat -o b.lat
    [ "$stderr" = "lat-gauge: no folder for a socket in no/such: No such file or directory" ]
}

@test "descriptors are handed over as they are: offsets, appending, pipes between ranks" {
    rough b.lat --dims 4,4,4,6
    lat-gauge --random --no-provenance b.lat -o g.lat
    { echo before; cat b.lat; } >mixed
    { read -r word; [ "$word" = before ]; lat-gauge -n 2 --random --no-provenance -1; } <mixed >out.lat
    cmp g.lat out.lat
    echo first >log
    lat-theta -n 2 --tsv g.lat >>log
    [ "$(head -n 1 log)" = first ]
    [ "$(wc -l <log)" -eq 3 ]
    run -0 bash -o pipefail -c 'lat-gauge -n 2 --random b.lat | lat-orelax -n 3 --theta 1e-10 | lat-theta -n 2 --require-theta 1e-10'
    printf '%s\n' b.lat g.lat | while read -r f; do lat-theta -n 2 "$f" >/dev/null; echo "$f"; done >seen # their stdin is left alone
    [ "$(wc -l <seen)" -eq 2 ]
}

@test "descriptors that arguments name, as shells do of <() and >(), are rank 0's too" {
    rough b.lat --dims 4,4,4,6
    lat-gauge --random --no-provenance b.lat -o g.lat
    lat-gauge -n 2 --random --no-provenance -1 <(cat b.lat) -o >(cat >out.lat; touch written)
    await "test -e written"
    cmp g.lat out.lat
    exec 9<b.lat
    lat-theta -n 2 --input=/proc/self/fd/9 | cmp - <(lat-theta b.lat)
    exec 9<&-
    run -1 --separate-stderr lat-theta -n 2 /dev/fd/9
    [ "$stderr" = "lat-theta: /dev/fd/9: cannot be opened: No such file or directory" ]
}

@test "--verbose says how many ranks there are and where sweeps run" {
    rough b.lat --dims 4,4,4,8
    lat-orelax -v --precision double -n 3 -@ 6 --device cpu --theta 1e-4 b.lat -o c.lat 2>err
    grep -q "^lat-orelax: 3 ranks, 3 on this host, 2 threads each$" err
    grep -q "^lat-orelax: b.lat:0: sweeps in double by cpu .*, 3 ranks, grid 1,1,1,3$" err
    grep -q "^lat-orelax: b.lat: each rank reads its slices$" err
    [ "$(wc -l <err)" -eq 3 ]
    lat-theta -v -@ 1 c.lat 2>err >t.txt
    [ "$(cat err)" = "lat-theta: 1 rank, 1 on this host, 1 thread each" ]
    lat-theta c.lat 2>err | cmp - t.txt
    [ ! -s err ]
}

@test "under mpirun of somebody else rank 0 opens -i and -o" {
    rough b.lat --dims 4,4,4,6
    lat-orelax --omega 1.6 --no-provenance b.lat -o one.lat
    mpirun --oversubscribe -n 3 lat-orelax --omega 1.6 --no-provenance -i b.lat -o three.lat 3>&- 2>err
    cmp one.lat three.lat
    [ ! -s err ]
    run -0 --separate-stderr mpirun --oversubscribe -n 2 sh -c 'lat-theta -n 2 --tsv b.lat' 3>&-
    [ "${#lines[@]}" -eq 2 ]
    mpirun --oversubscribe -n 2 lat-gauge --random --no-provenance <b.lat >r.lat 2>err 3>&-
    grep -q "^lat-gauge: <stdin> comes through the launcher" err
    lat-gauge --random --no-provenance b.lat | cmp - r.lat
    run ! --separate-stderr mpirun --oversubscribe -n 2 lat-theta -n 3 b.lat 3>&-
    [[ $stderr == *"lat-theta: -n 3: expected 2, the ranks that were launched, or no -n"* ]]
    mpirun -n 1 sh -c 'lat-gauge --random b.lat | lat-theta --tsv' >t.txt 3>&- # one rank: plain runs, of which there may be two
    [ "$(wc -l <t.txt)" -eq 2 ]
}

# usage OF COMMAND...: CPU seconds (cpu) or the largest process (mem, in KiB) of what it took.
usage() {
    python3 - "$@" <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(r.ru_utime + r.ru_stime if sys.argv[1] == "cpu" else r.ru_maxrss)
END
}

# 95 MiB of links in double precision (16,16,16,42: a share of 10 and 11 slices in 42, and two ghosts), beside what MPI needs.
@test "no rank ever holds the whole lattice" {
    ! lat-gauge --version | grep -q sanitizers || skip "the sanitizers keep what was freed"
    rough b.lat --dims 16,16,16,42 -p double
    rough s.lat --dims 4,4,4,8
    local whole base part
    whole=$((16 * 16 * 16 * 42 * 4 * 18 * 8 / 1024))
    base=$(usage mem lat-gauge -n 4 --random -@ 4 -o r.lat s.lat)
    # 13 slices of links, 13 and 13 of transformations, which are a fourth of it, and three times 8 MiB on the way
    part=$(usage mem lat-gauge -n 4 --random -@ 4 -o r.lat b.lat)
    echo "whole $whole, a run of nothing $base, a rank $part KiB"
    [ $((part - base)) -lt $((whole * 13 * 6 / (42 * 4) + 24576 + 4096)) ]
    [ $((part - base)) -lt "$whole" ]
}

@test "ranks that wait sleep" {
    rough b.lat --dims 4,4,4,8
    local still waits
    still=$(usage cpu lat-theta -n 3 b.lat)
    waits=$(usage cpu sh -c '{ sleep 3; cat b.lat; } | lat-theta -n 3')
    echo "$still s of a processor, and $waits s with three seconds of waiting"
    awk -v a="$still" -v b="$waits" 'BEGIN { exit !(b - a < 1.5) }' # of nine
}
