#!/usr/bin/env bats
# Purpose: every tool that was built keeps the command line contract: help, exit codes, stdin and stdout, outputs, provenance.
# shellcheck disable=SC2154  # status, output, stderr and lines are set by run
load helper

# A configuration, and a smaller one; propagators for the tools that read spinors, one of links in Landau gauge; the --help of each
# tool, for `with`.
setup_file() {
    local t
    cd "$BATS_FILE_TMPDIR" || return 1
    mkdir help
    for t in $(tools); do "$t" --help >"help/$t"; done
    lat-start hot --dims 4,4,4,4 --seed 1 -o in.lat
    lat-start hot --dims 2,2,2,4 --seed 1 -o small.lat
    lat-solve --kappa .1 --source point:0,0,0,0 --residual 1e-5 in.lat -o prop.lat
    for t in {1..24}; do lat-start hot --dims 2,2,2,8 --seed "$t"; done | lat-solve --kappa .1 --source point:0,0,0,0 --residual 1e-5 |
        lat-corr --channels pion >table.tsv
    lat-stat --samples samples.tsv table.tsv >mean.tsv
    lat-start cold --dims 4,4,4,4 | lat-orelax | lat-solve --kappa .1 --source point:0,0,0,0 --residual 1e-5 -o landau.prop.lat
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    cp "$BATS_FILE_TMPDIR/in.lat" .
}

fail() {
    printf '%s\n' "$@"
    return 1
}

# Names of all tools; of those that read a stream; of those that write one; of those that do both.
tools() {
    local t
    for t in "${LAT_BIN:-$ROOT/bin}"/lat-*; do
        echo "${t##*/}"
    done
}
# with TOOL OPTION...: its --help has all these options
with() {
    local help option
    help=$(<"$BATS_FILE_TMPDIR/help/$1")
    for option in "${@:2}"; do
        [[ $help == *" --$option"* ]] || return 1
    done
}
# lat-heatbath makes configurations; that it may go on from one is for heatbath.bats. lat-corr, lat-dirac and lat-quark read spinors,
# lat-stat and lat-fit tables.
readers() {
    local t
    for t in $(tools); do
        case $t in lat-heatbath | lat-corr | lat-dirac | lat-quark | lat-stat | lat-fit) continue ;; esac
        if with "$t" input; then echo "$t"; fi
    done
}
writers() { local t; for t in $(tools); do if with "$t" no-clobber; then echo "$t"; fi; done; }
filters() { local t; for t in $(readers); do if with "$t" no-clobber; then echo "$t"; fi; done; }

# What a tool needs besides FILE in order to do something quick.
words() {
    case $1 in
    lat-gauge) echo --random ;;
    lat-orelax) echo --theta 1e-4 ;;
    lat-abelian | lat-gluon) echo --require-theta 100 ;; # links of no gauge
    lat-ghost) echo --require-theta 100 --modes 1 --accuracy 1e-2 ;;
    lat-source) echo wall:0 ;;
    lat-smear) echo ape:.5,1 ;;
    lat-flow) echo --until .1 ;;
    lat-dirac) echo "--apply M --kappa .1 -U $BATS_FILE_TMPDIR/in.lat" ;;
    lat-start) echo --dims 4,4,4,4 ;;
    lat-heatbath) echo --dims 4,4,4,4 --beta 5.7 --thermalise 1 --rows 3 ;;
    lat-overlap) echo --gw --sign-error .1 ;;
    lat-modes) echo --kappa .1 --modes 4 --residual 1e-2 ;;
    lat-anneal) echo --steps 20 ;;
    lat-solve) echo --kappa .1 --source point:0,0,0,0 --residual 1e-5 ;;
    lat-subspace) echo --kappa .1 --vectors 8 ;;
    esac
}
# on FILE TOOL: the words that make it work on FILE
on() {
    case $2 in
    lat-start | lat-heatbath) words "$2" ;;
    lat-diff) echo "$1 $1" ;;
    lat-quark) echo "$BATS_FILE_TMPDIR/landau.prop.lat" ;;
    lat-stat) echo "$BATS_FILE_TMPDIR/table.tsv" ;;
    lat-fit) echo "$BATS_FILE_TMPDIR/samples.tsv" ;;
    lat-dirac | lat-corr) echo "$(words "$2") $BATS_FILE_TMPDIR/prop.lat" ;;
    lat-overlap) echo "$(words "$2") $BATS_FILE_TMPDIR/small.lat" ;; # the others take a hundredth of its time
    *) echo "$(words "$2") $1" ;;
    esac
}

# one_sentence FILE TOOL: FILE is "TOOL: sentence", one line without a full stop
one_sentence() {
    [ "$(wc -l < "$1")" -eq 1 ] || fail "expected one line of $2, found:" "$(cat "$1")"
    grep -q "^$2: .*[^.]$" "$1" || fail "expected a sentence of $2, found:" "$(cat "$1")"
}
# a_usage_error FILE TOOL: two lines, the second one names the help
a_usage_error() {
    [ "$(wc -l < "$1")" -eq 2 ] || fail "expected two lines of $2, found:" "$(cat "$1")"
    head -n 1 "$1" | grep -q "^$2: " || fail "expected a sentence of $2, found:" "$(cat "$1")"
    [ "$(tail -n 1 "$1")" = "Try '$2 --help' for more information." ] || fail "the second line of $2 is:" "$(cat "$1")"
}
# exits CODE COMMAND...: runs it with stdout in `out` and stderr in `err`
exits() {
    local code=$1 got=0
    shift
    "$@" > out 2> err || got=$?
    [ "$got" -eq "$code" ] || fail "expected exit $code of $*, found $got:" "$(cat err)"
}
silent() { [ ! -s "$1" ] || fail "expected nothing of $2 in $1, found:" "$(head -c 1000 "$1" | tr -d '\0')"; }

need_terminal() {
    script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip "no script from util-linux, or no pseudo-terminals for it"
}

@test "the tools of this version are there" {
    local t
    for t in abelian anneal convert corr diff dirac flow gauge heatbath info loops orelax plaq quark reorder reunit smear solve source start stat theta; do # lat-gluon, lat-ghost: with FFTW
        tools | grep -qx "lat-$t" || fail "no lat-$t"
    done
    [ "$(filters | wc -l)" -ge 4 ]
}

@test "--help is on stdout, below 80 columns, with a usage line and three examples, and ends well" {
    local t
    for t in $(tools); do
        exits 0 "$t" --help
        silent err "$t"
        head -n 1 out | grep -q "^Usage: $t \[OPTION\.\.\.\]" || fail "$(head -n 1 out)"
        # A line of 79 columns at the end of an option's text makes argp add a line of blanks.
        awk 'length > 79 || / $/ { print FILENAME ": " $0; bad = 1 } END { exit bad }' out
        sed -n '/^Example:$/,$p' out >examples
        grep -q "$t" examples || fail "no example of $t in its --help"
        [ "$(grep -c '^  [^ ]' examples)" -ge 3 ] || fail "fewer than three examples in the --help of $t" # long ones go on in column 7
        exits 0 "$t" --usage
    done
}

@test "examples of --help have options that their tools have; lat-solve has the source before the overlap operator" {
    local t line name option n=0
    for t in $(tools); do "$t" --help >"help.$t"; done
    for t in $(tools); do
        # a command a line: a long one goes on in the next line
        sed -n '/^Example:$/,$p' "help.$t" | sed '1d; s/^ *//' | awk '{ printf "%s%s", $0, /[\\|]$/ ? " " : "\n" }' | tr '|\134' '\n ' >commands
        while read -r name line; do
            for option in $line; do
                [[ $option == --* ]] || continue
                n=$((n + 1))
                grep -Eq -e "^ *(-., )?$option([ =]|\$)" "help.$name" || fail "$t: example with $name $option"
            done
        done <commands
    done
    [ $n -gt 50 ]
    awk '/^Source:$/ { source = NR } /^Overlap operator:$/ { overlap = NR } END { exit !(source && source < overlap) }' help.lat-solve
}

@test "--version begins with tool and version and says how it was built" {
    local t
    for t in $(tools); do
        exits 0 "$t" --version
        silent err "$t"
        head -n 1 out | grep -Eqx "$t [0-9]+\.[0-9]+\.[0-9]+" || fail "$(head -n 1 out)"
        grep -q '^zlib 1' out
        grep -Eq '^CUDA: (yes|no \(.+\))$' out
        grep -Eq '^MPI: (yes|no \(.+\))$' out
    done
}

@test "what cannot be understood is exit 2, two lines on stderr and nothing on stdout" {
    local t
    for t in $(tools); do
        for wrong in --no-such-option -? "-@ 0" "-@ two" "--threads=99999999999999999999" "-@"; do
            # shellcheck disable=SC2086
            exits 2 "$t" $wrong
            a_usage_error err "$t"
            silent out "$t"
        done
        if ! head -n 1 "$BATS_FILE_TMPDIR/help/$t" | grep -q '\.\.\.\]$'; then  # not [FILE...]
            exits 2 "$t" a b c d
            a_usage_error err "$t"
        fi
    done
    exits 2 lat-diff a
    a_usage_error err lat-diff
}

@test "a word in LAT_LANES that names no vectors is refused, none is none" {
    exits 2 env LAT_LANES=AVX2 lat-theta in.lat
    a_usage_error err lat-theta
    grep -qx "lat-theta: LAT_LANES: expected base, avx2 or avx512, found 'AVX2'" err
    exits 0 env LAT_LANES=AVX2 lat-theta --help
    lat-orelax --theta 1e-2 in.lat -o widest
    LAT_LANES='' lat-orelax --theta 1e-2 in.lat -o none
    cmp widest none
}

@test "a tool runs behind the dynamic loader too, as where its libraries are elsewhere" {
    local loader
    loader=$(LC_ALL=C readelf -l "$(command -v lat-info)" | sed -n 's/.*interpreter: \(.*\)\].*/\1/p') || true
    [ -x "$loader" ] || skip "no loader, or no readelf to find it by"
    lat-info in.lat > plain
    env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY "$loader" "$(command -v lat-info)" in.lat > behind
    cmp plain behind
}

# executed COMMAND...: how often its process has executed a program that ld.so loads; the environment is to say nothing of threads
# that wait, but what the command says.
executed() {
    env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY LD_DEBUG=files "$@" 2>&1 >out | grep -c 'transferring control:' || true
}

# limits_spinning: the tools execute themselves once more, to limit how long threads of GNU's OpenMP spin (lib/base/threads.h).
limits_spinning() {
    lat-info --version | grep -q '^built with gcc.*, OpenMP'
}

@test "a tool executes itself once more to say how threads wait, and not where the environment says it" {
    [ "$(executed env true)" -eq 2 ] || skip "ld.so does not say what it loads"
    local times=1
    limits_spinning && times=2
    lat-info in.lat > plain
    [ "$(executed lat-info in.lat)" -eq $times ]
    cmp out plain
    [ "$(executed env GOMP_SPINCOUNT=5 lat-info in.lat)" -eq 2 ] # env, and the tool
    cmp out plain
    [ "$(executed env OMP_WAIT_POLICY=passive lat-info in.lat)" -eq 2 ]
    cmp out plain
}

@test "a process has the name of its tool" {
    local pid i
    mkfifo pipe
    env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY lat-info pipe > out 3>&- &
    pid=$!
    for ((i = 0; i < 100; i++)); do
        if limits_spinning; then
            tr '\0' '\n' < /proc/$pid/environ | grep -qx GOMP_SPINCOUNT=2000 && break
        elif [ "$(cat /proc/$pid/comm)" = lat-info ]; then
            break
        fi
        sleep 0.1
    done
    [ "$i" -lt 100 ]
    [ "$(cat /proc/$pid/comm)" = lat-info ]
    cat in.lat > pipe
    wait $pid
    lat-info in.lat | cmp - out
}

@test "a tool whose file was removed meanwhile runs on, and executes nothing else in its place" {
    lat-info in.lat > plain
    cp "$(command -v lat-info)" copy
    cp "$(command -v lat-start)" 'copy (deleted)' # what the kernel calls the file
    (exec 4< copy && rm copy && exec env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY /proc/self/fd/4 in.lat) > out
    cmp plain out
}

@test "a value out of range is named, not taken for an option" {
    exits 2 lat-orelax --omega -1 in.lat
    a_usage_error err lat-orelax
    grep -q -- "--omega.*'-1'" err
    exits 2 lat-orelax --gauge lan in.lat
    grep -q "landau" err
}

@test "the input may be FILE, -i FILE, - or stdin, but only one of them" {
    local t words
    cp "$BATS_FILE_TMPDIR/small.lat" in.lat
    for t in $(readers); do
        words=$(words "$t")
        # shellcheck disable=SC2086
        {
            "$t" $words in.lat > a
            "$t" $words -i in.lat > b
            "$t" $words < in.lat > c
            "$t" $words - < in.lat > d
            "$t" --input=- $words < in.lat > e
        }
        cmp a b
        # What is printed for people may name its input.
        if with "$t" no-clobber; then
            cmp a c
            cmp a d
            cmp a e
        fi
        [ -s a ]
        [ -s c ]
        [ -s d ]
        [ -s e ]
        # shellcheck disable=SC2086
        exits 2 "$t" $words -i in.lat in.lat
        a_usage_error err "$t"
    done
}

@test "stdin is not touched when there is a FILE" {
    local t line n
    for t in $(tools); do
        n=0
        while read -r line; do
            # shellcheck disable=SC2046
            "$t" $(on in.lat "$t") > /dev/null
            n=$((n + 1))
        done < <(printf 'one\ntwo\nthree\n')
        [ "$n" -eq 3 ] || fail "$t ate the loop's stdin at '$line'"
    done
}

@test "an empty, a missing and a closed input are exit 1 and a sentence that names them" {
    local t words
    for t in $(readers); do
        words=$(words "$t")
        # shellcheck disable=SC2086
        {
            exits 1 "$t" $words < /dev/null
            one_sentence err "$t"
            grep -q '<stdin>: .*empty' err || fail "$(cat err)"
            silent out "$t"
            exits 1 "$t" $words <&-
            one_sentence err "$t"
            grep -q '<stdin>' err || fail "$(cat err)"
            exits 1 "$t" $words missing.lat
            one_sentence err "$t"
            grep -q 'missing.lat: ' err || fail "$(cat err)"
            exits 1 "$t" $words .
            one_sentence err "$t"
            exits 2 "$t" $words ''
            a_usage_error err "$t"
            exits 2 "$t" $words -i ''
            a_usage_error err "$t"
        }
    done
    exits 1 lat-diff missing.lat in.lat
    one_sentence err lat-diff
    exits 1 lat-diff in.lat - < /dev/null
    one_sentence err lat-diff
}

@test "a truncated input is exit 1, a sentence, and leaves an existing output as it was" {
    local t words
    head -c 100000 in.lat > cut.lat
    for t in $(filters); do
        words=$(words "$t")
        echo precious > kept
        # shellcheck disable=SC2086
        exits 1 "$t" $words cut.lat -o kept
        one_sentence err "$t"
        grep -q 'cut.lat: ' err || fail "$(cat err)"
        [ "$(cat kept)" = precious ] || fail "$t changed its output"
        # shellcheck disable=SC2086
        exits 1 "$t" $words cut.lat -o fresh
        [ ! -e fresh ] || fail "$t left an output"
        nothing_left
    done
}

@test "success without a terminal is silent on stderr" {
    local t
    for t in $(tools); do
        # shellcheck disable=SC2046
        exits 0 "$t" $(on in.lat "$t")
        silent err "$t"
        [ -s out ]
    done
}

@test "a configuration is not written to a terminal, unless --force says so" {
    need_terminal
    local t
    for t in $(writers); do
        got=0
        script -qec "$t $(on in.lat "$t")" /dev/null < /dev/null > typed || got=$?
        [ "$got" -eq 2 ] || fail "exit $got of $t:" "$(head -c 300 typed)"
        tr -d '\r' < typed > err
        a_usage_error err "$t"
        grep -q "<stdout>: not writing a configuration to a terminal (use -o FILE, or --force)" err || fail "$(cat err)"
        script -qec "$t $(on in.lat "$t") --force" /dev/null < /dev/null > typed
        [ "$(wc -c < typed)" -gt 100000 ] || fail "$t --force wrote $(wc -c < typed) bytes"
    done
}

@test "a terminal on stdin is a usage error, not a wait" {
    need_terminal
    local t
    for t in $(readers); do
        got=0
        timeout 10 script -qec "$t $(words "$t") > /dev/null" /dev/null < /dev/null > typed || got=$?
        [ "$got" -eq 2 ] || fail "exit $got of $t:" "$(cat typed)"
        tr -d '\r' < typed > err
        a_usage_error err "$t"
        grep -q '<stdin>: is a terminal' err || fail "$(cat err)"
    done
}

@test "--no-clobber refuses before computing; without it FILE is replaced" {
    local t words
    mkfifo slow
    exec 9<> slow  # open for reading, and never a byte
    for t in $(writers); do
        words=$(words "$t")
        echo precious > kept
        # shellcheck disable=SC2086
        exits 1 timeout 10 "$t" $words --no-clobber -o kept < slow 9>&-
        one_sentence err "$t"
        grep -q "kept: exists already" err || fail "$(cat err)"
        [ "$(cat kept)" = precious ] || fail "$t changed its output"
        # shellcheck disable=SC2046
        exits 0 "$t" $(on in.lat "$t") --no-clobber -o fresh
        # shellcheck disable=SC2046
        exits 0 "$t" $(on in.lat "$t") -o kept
        silent out "$t"
        cmp fresh kept
        rm fresh
        nothing_left
    done
    exec 9>&-
}

@test "an output in a folder that is missing is refused before computing" {
    local t
    mkfifo slow
    exec 9<> slow
    for t in $(writers); do
        # shellcheck disable=SC2046
        exits 1 timeout 10 "$t" $(words "$t") -o no/such/x.lat < slow 9>&-
        one_sentence err "$t"
        grep -q 'no/such/x.lat: ' err || fail "$(cat err)"
        # shellcheck disable=SC2046
        exits 1 timeout 10 "$t" $(words "$t") -o . < slow 9>&-
        one_sentence err "$t"
    done
    exec 9>&-
}

@test "a full device is exit 1 and a sentence" {
    [ -c /dev/full ] || skip "no /dev/full"
    local t got
    for t in $(tools); do
        got=0
        # shellcheck disable=SC2046
        "$t" $(on in.lat "$t") > /dev/full 2> err || got=$?
        [ "$got" -eq 1 ] || fail "exit $got of $t"
        one_sentence err "$t"
        grep -q '<stdout>: .*No space left' err || fail "$(cat err)"
    done
    for t in $(writers); do
        # shellcheck disable=SC2046
        exits 1 "$t" $(on in.lat "$t") -o /dev/full
        one_sentence err "$t"
        grep -q '/dev/full: .*No space left' err || fail "$(cat err)"
    done
}

@test "a closed stdout is exit 1 and a sentence, and no FILE gets its number" {
    local t got
    for t in $(tools); do
        got=0
        # shellcheck disable=SC2046
        "$t" $(on in.lat "$t") 2> err >&- || got=$?
        [ "$got" -eq 1 ] || fail "exit $got of $t"
        one_sentence err "$t"
        grep -q '<stdout>: ' err || fail "$(cat err)"
    done
    for t in $(writers); do
        # shellcheck disable=SC2046
        "$t" $(on in.lat "$t") -o usual
        # shellcheck disable=SC2046
        "$t" $(on in.lat "$t") -o odd 0<&- >&- 2>&-
        cmp usual odd
    done
}

@test "a closed pipe kills by SIGPIPE, silently" {
    local t got
    env --default-signal=PIPE true || skip "env has no --default-signal"
    mkfifo pipe
    # shellcheck disable=SC2094
    exec 8<>pipe 9>pipe
    exec 8<&- # 9 is a pipe that nobody reads any more
    for t in $(tools); do
        got=0
        # shellcheck disable=SC2046
        env --default-signal=PIPE "$t" $(on in.lat "$t") >&9 2> err 9>&- || got=$?
        [ "$got" -eq 141 ] || fail "exit $got of $t:" "$(cat err)"
        silent err "$t"
    done
    exec 9>&-
}

@test "a signal while reading removes the temporary and kills" {
    local t signal signals pid got words i
    env --default-signal=INT true || skip "env has no --default-signal"
    mkfifo slow
    exec 9<> slow
    for t in $(filters); do
        words=$(words "$t")
        signals="TERM HUP INT USR2"
        with "$t" quiet || signals+=" USR1"  # asks the others for a line of progress
        for signal in $signals; do
            head -c 5000 in.lat >&9
            # shellcheck disable=SC2086
            env --default-signal="$signal" "$t" $words -o never < slow 9>&- 2> err &
            pid=$!
            for ((i = 0; i < 200; i++)); do
                [ -z "$(find . -name '.*.tmp')" ] || break
                sleep 0.02
            done
            [ -n "$(find . -name '.never.*.tmp')" ] || fail "$t has no temporary"
            kill -"$signal" $pid
            got=0
            wait $pid || got=$?
            [ "$got" -eq $((128 + $(kill -l "$signal"))) ] || fail "exit $got of $t after SIG$signal"
            silent err "$t"
            [ ! -e never ] || fail "$t left an output"
            nothing_left
            # What it did not read must not reach the next one.
            timeout 0.1 cat <&9 > /dev/null || true
        done
    done
    exec 9>&-
}

@test "SIGUSR1 asks for a line of progress, also with -q, and the run goes on" {
    local t quiet pid i
    mkfifo slow
    exec 9<> slow
    for t in $(filters); do
        with "$t" quiet || continue
        for quiet in "" -q; do
            # shellcheck disable=SC2046,SC2086
            "$t" $(words "$t") $quiet -o "$t.lat" < slow 9>&- 2> err &
            pid=$!
            for ((i = 0; i < 200; i++)); do
                [ -z "$(find . -name '.*.tmp')" ] || break
                sleep 0.02
            done
            kill -USR1 $pid
            # Now it may see the end of what it reads.
            cat in.lat > slow
            exec 9>&-
            wait $pid
            one_sentence err "$t"
            grep -qE "^$t: [A-Za-z]* [0-9.e+-]*( of [0-9]+)?  " err || fail "$(cat err)"
            # shellcheck disable=SC2046
            "$t" $(words "$t") in.lat -o usual
            cmp usual "$t.lat"
            exec 9<> slow
        done
    done
    exec 9>&-
}

@test "a line of progress says how fast it goes and how long it will take" {
    lat-start hot --dims 12,12,12,12 -o hot.lat
    lat-orelax --progress=0.01 --max-sweeps 40 --keep hot.lat -o /dev/null 2> err || [ $? -eq 3 ]
    grep -qE '^lat-orelax: theta [0-9.e+-]+  sweep [0-9]+  [1-9][0-9.]* sweeps/s  [0-9]+ (s|min|h) left  F [0-9.]+ .* hot.lat:0$' err || fail "$(cat err)"
    lat-anneal --progress=0.01 --steps 40 hot.lat -o /dev/null 2> err
    run ! grep -vE '^lat-anneal: F [0-9.]+  T [0-9.]+  step [0-9]+ of 40  ([1-9][0-9.]* steps/s|[1-9][0-9.]* s/step)  [0-9]+ (s|min|h) left  copies 1 to 1 of 1  hot.lat:0$' err
    lat-heatbath --progress=0.01 --dims 8,8,8,8 --beta 6 --thermalise 10 --every 5 --count 2 -o 'c.%d.lat' 2> err
    run ! grep -vE '^lat-heatbath: plaquette 0\.[0-9]+  sweep [0-9]+ of 20  ([1-9][0-9.]* sweeps/s|[1-9][0-9.]* s/sweep)  [0-9]+ (s|min|h) left  configuration [12] of 2$' err
    [ -s err ]
    # What is cut off at 80 columns is the name, never a number.
    need_terminal
    cp hot.lat "$(printf 'n%.0s' {1..100}).lat"
    script -qec "stty cols 80; lat-orelax --omega 1 --theta 1e-20 --max-sweeps 4000 $(printf 'n%.0s' {1..100}).lat > /dev/null" /dev/null < /dev/null > typed || true
    tr '\r' '\n' < typed | grep -E 'theta [0-9.e+-]+  sweep [0-9]+  [1-9][0-9.]* sweeps/s  [0-9]+ (s|min|h) left' > lines || fail "$(cat -v typed)"
    run ! grep -E '(- |[^0-9]0 )sweeps/s' lines
}

# tells OPTION...: a tool with --progress prints a line like $like; without it, and without a terminal, none.
tells() {
    "$@" --progress=0.01 >/dev/null 2>err || fail "$(cat err)"
    grep -qE "^$1: $like$" err || fail "$1: expected a line like '$like', found:" "$(tail -n 3 err)"
    "$@" 2>&1 >/dev/null | cmp - /dev/null
}

@test "tools that take long say what is done of how much, and how long the rest will take" {
    local like left='[0-9]+ (s|min|h) left'
    rough u.lat --dims 6,6,6,12
    rough w.lat --dims 6,6,6,12 --seed 4
    lat-orelax --theta 1e-12 u.lat -o f.lat
    lat-orelax --theta 1e-12 w.lat -o g.lat
    lat-solve --kappa 0.1 --source point:0,0,0,0 u.lat -o p.lat
    lat-solve --kappa 0.1 --source momentum:1,0,0,0.5 f.lat -o m.lat
    lat-start weak --dims 12,12,12,24 | lat-convert --to nersc -o large.nersc
    like="slice [1-9][0-9]* of 12  $left  configuration 0  file [01] of 2" tells lat-corr p.lat p.lat
    like="slice [1-9][0-9]* of 12  $left  propagator 0  file [01] of 2" tells lat-quark m.lat m.lat
    like="slice [0-9]+ of 24  ($left  )?pass [01] of 2  configuration 0" tells lat-convert large.nersc
    rough s.lat --dims 4,4,4,4
    like="modes of chirality \\+1: [0-9]+ of [0-9]+  residual [0-9.e+-]+  [0-9]+ applications  configuration 0" \
        tells lat-overlap --spectrum 1 s.lat
    like="applications [0-9]+  [01] of 2 modes  residual [0-9.e+-]+  configuration 0(  $left)?" tells lat-modes --method ritz --kappa 0.1 --modes 1 --tsv s.lat
    [ ! -e "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] || {
        like="configuration 0  file [01] of 2(  $left)?" tells lat-gluon f.lat g.lat
        like="iteration [0-9]+, residual [0-9.e+-]+  momentum [0-9] of [0-9]+  $left  configuration 0" tells lat-ghost f.lat
    }
}

@test "a failure replaces the line of progress, which fits the terminal" {
    need_terminal
    local got=0 longest
    script -qec "stty cols 60; lat-orelax --theta 1e-9 --omega 1 --max-sweeps 20 in.lat > /dev/null" /dev/null \
        < /dev/null > typed || got=$?
    [ "$got" -eq 3 ]
    [[ $(cat typed) == *$'\r\033[Klat-orelax: theta '*'  sweep 0'* ]] || fail "$(cat -v typed)"
    [[ $(cat typed) == *$'\r\033[Klat-orelax: in.lat:0: not converged'* ]] || fail "$(cat -v typed)"
    longest=$(tr '\r' '\n' < typed | grep '  sweep ' | cut -c 4- | awk '{ if (length > n) n = length } END { print n }')
    [ "$longest" -eq 59 ] || fail "a line of progress has $longest columns:" "$(cat -v typed)"
}

@test "a log is written line by line from the start, and replaces no other kind of file" {
    local pid i path
    mkfifo slow
    exec 9<> slow
    lat-orelax --theta 1e-4 --log log.tsv < slow 9>&- > out.lat &
    pid=$!
    for ((i = 0; i < 200; i++)); do
        [ ! -e log.tsv ] || break
        sleep 0.02
    done
    [ -e log.tsv ] || fail "no log before the input"
    head -c "$(($(wc -c < in.lat) - 16))" in.lat > slow  # all but the end mark
    for ((i = 0; i < 500; i++)); do
        ! grep -q '^# stdin:0 converged' log.tsv || break
        sleep 0.02
    done
    grep -q '^# stdin:0 converged' log.tsv || fail "not flushed:" "$(cat log.tsv)"
    [ "$(head -n 1 log.tsv)" = "config	sweep	theta	F	seconds	copy	omega" ]
    tail -c 16 in.lat > slow
    exec 9>&-
    wait $pid

    cp in.lat same.lat
    ln -s same.lat link.lat
    mkdir sub
    for path in same.lat ./same.lat "$PWD/same.lat" link.lat sub/../same.lat; do
        exits 2 lat-orelax --theta 1e-4 same.lat --log "$path" -o out.lat
        a_usage_error err lat-orelax
        exits 2 lat-orelax --theta 1e-4 --slice-log "$path" -o out.lat < same.lat
        a_usage_error err lat-orelax
        cmp in.lat same.lat || fail "--log $path changed the input"
        # nor of an output, which was there or not
        exits 2 lat-orelax --theta 1e-4 in.lat --log "$path" -o same.lat
        a_usage_error err lat-orelax
        exits 2 lat-orelax --theta 1e-4 in.lat --log "$path" --save-g same.lat -o out.lat
        a_usage_error err lat-orelax
        exits 2 lat-orelax --theta 1e-4 in.lat --log "$path" --slice-log same.lat -o out.lat
        a_usage_error err lat-orelax
        cmp in.lat same.lat || fail "--log $path changed another output"
    done
    exits 2 lat-orelax --theta 1e-4 in.lat --log new -o ./new
    [ ! -e new ] || fail "a log without a run"
    exits 2 lat-orelax --theta 1e-4 in.lat --log - -o out.lat
    a_usage_error err lat-orelax
    [ ! -e - ] || fail "a file called -"
    exits 2 lat-orelax --theta 1e-4 in.lat --log ''
    exits 1 lat-orelax --theta 1e-4 in.lat --log sub
    one_sentence err lat-orelax
    nothing_left
}

@test "a run that fails before its first line leaves the log as it was" {
    head -c 100000 in.lat > cut.lat
    for input in missing.lat cut.lat /dev/null; do
        echo precious > old.tsv
        exits 1 lat-orelax "$input" --log old.tsv --slice-log new.tsv -o out.lat
        one_sentence err lat-orelax
        [ "$(cat old.tsv)" = precious ] || fail "$input: the log is $(cat old.tsv)"
        [ ! -e new.tsv ] || fail "$input: a log of nothing"
    done
    lat-orelax --theta 1e-4 in.lat --log old.tsv -o out.lat
    grep -q '^# in.lat:0 converged' old.tsv
    run ! grep precious old.tsv
}

@test "a log that cannot be written to a device is exit 1 before the run" {
    [ -c /dev/full ] || skip "no /dev/full"
    local t
    for t in "lat-orelax --theta 1e-4 in.lat" "lat-anneal in.lat" "lat-heatbath --dims 4,4,4,4 --beta 6 --thermalise 1000000000000"; do
        t=${t% --thermalise*}
        # shellcheck disable=SC2086 # words
        exits 1 $t --log /dev/full -o out.lat
        one_sentence err "${t%% *}"
        grep -q '/dev/full: .*No space left' err || fail "$(cat err)"
        [ ! -e out.lat ]
    done
}

@test "a log on a disk that is full is a warning at once, and exit 1 after the run" {
    mkdir disk
    mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null || skip "no file system of its own"
    local got=0 first
    lat-orelax --theta 1e-25 --omega 1.01 --max-sweeps 3000 --check-every 1 --keep in.lat --log disk/log.tsv -o out.lat 2> err || got=$?
    umount disk
    first=$(head -n 1 err)
    cat err
    [ "$got" -eq 1 ] || [ "$got" -eq 3 ]
    [[ $first == "lat-orelax: disk/log.tsv: cannot be written: No space left on device" ]]
    lat-info --check out.lat
}

@test "a stack that is too small is refused with a sentence, and one of 512 KiB is enough" {
    local t
    ! lat-theta --version | grep -q sanitizers || skip "the sanitizers' frames take more"
    lat-start hot -d 4,4,4,4 -o in.lat
    for t in lat-theta lat-convert lat-plaq "lat-orelax --gauge landau --theta 1e-8 --device cpu"; do
        # shellcheck disable=SC2086,SC2016 # words; the shell that has the limit expands
        run -1 bash -c 'ulimit -s 192; "$@"' limited $t in.lat -o out
        [[ $output == *": the stack is limited to 192 KiB, expected at least 512 (ulimit -s)" ]]
        [ ! -e out ]
        # shellcheck disable=SC2086,SC2016
        bash -c 'ulimit -s 512; "$@"' limited $t in.lat -o out
        rm out
    done
}

@test "characters that change a terminal reach it neither from history nor from info nor from names" {
    local evil t
    # CSI of Latin 1 and of UTF-8, right-to-left override and isolate, line separator; and letters that stay.
    evil=$(printf 'a\302\233b\342\200\256c\342\201\246d\342\200\250e\303\274\342\202\254')
    cp in.lat "$evil"
    exits 1 lat-theta "$evil/none"
    grep -qx 'lat-theta: a?b?c?d?eü€/none: .*' err || fail "$(cat -v err)"
    cp in.lat "$(printf 'x\233y')"
    exits 1 lat-theta "$(printf 'x\233y')/none"
    LC_ALL=C grep -qx 'lat-theta: x?y/none: .*' err || fail "$(cat -v err)"
    lat-info --check "$evil" > out
    grep -q '^a?b?c?d?eü€: field 0: OK' out || fail "$(cat -v out)"
    lat-gauge --random --save-g "g$evil" in.lat -o /dev/null
    lat-orelax --theta 1e-2 --weights 1,1,1,1 in.lat -o plain.lat
    python3 - plain.lat evil.lat "$evil" <<'END'
import re, sys, zlib
data = open(sys.argv[1], "rb").read()
head, rest = data.split(b"\nend = ", 1)
head += b"\n"
evil = sys.argv[3].encode()
head = re.sub(b"(history = )(.*)", lambda m: m[1] + evil + m[2], head, count=1)
head += b"info.comment = " + evil + b"\n"
open(sys.argv[2], "wb").write(head + b"end = %08x" % zlib.crc32(head) + rest[8:])
END
    for t in "lat-info evil.lat" "lat-info --json evil.lat" "lat-info --tsv evil.lat" "lat-theta evil.lat" "lat-theta --json evil.lat"; do
        $t > out 2> err || true
        cat out err > all
        run ! grep -nP '\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]|\xe2\x81[\xa6-\xa9]' all
        [ -s out ] || fail "$t: $(cat err)"
    done
    lat-info --json evil.lat | python3 -c 'import json, sys; assert json.load(sys.stdin)["info"]["comment"] == sys.argv[1]' "$evil"
}

@test "an output that is another user's file in a folder like /tmp is refused before the run" {
    [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null || skip "needs root, to be another user"
    local folder
    folder=$(mktemp -d /tmp/lat-sticky-XXXXXX)
    chmod 1777 "$folder"
    echo theirs > "$folder/out.lat"
    chmod 666 "$folder/out.lat"
    cp in.lat "$folder/in.lat"
    mkfifo -m 666 "$folder/slow"
    exec 9<> "$folder/slow"
    exits 1 timeout 20 setpriv --reuid 65534 --clear-groups "$(command -v lat-gauge)" --random "$folder/slow" -o "$folder/out.lat" 9>&-
    one_sentence err lat-gauge
    grep -q "$folder/out.lat: cannot be replaced: it belongs to another user" err || fail "$(cat err)"
    exec 9>&-
    setpriv --reuid 65534 --clear-groups "$(command -v lat-gauge)" --random "$folder/in.lat" -o "$folder/new.lat" # one of his own
    setpriv --reuid 65534 --clear-groups "$(command -v lat-gauge)" --random "$folder/in.lat" -o "$folder/new.lat"
    [ "$(cat "$folder/out.lat")" = theirs ]
    rm -r "$folder"
}

@test "two outputs to one file are refused before computing, whatever their names" {
    local t path
    mkfifo slow
    exec 9<> slow
    mkdir sub
    ln -s . here
    for t in $(filters); do
        with "$t" save-g || continue
        for path in both ./both "$PWD/both" sub/../both here/both; do
            for old in no yes; do
                [ $old = no ] || echo precious > both
                # shellcheck disable=SC2046
                exits 2 timeout 10 "$t" $(words "$t") --save-g "$path" -o both < slow 9>&-
                a_usage_error err "$t"
                [ $old = no ] || [ "$(cat both)" = precious ] || fail "$t changed its output"
                [ $old = yes ] || [ ! -e both ] || fail "$t left an output"
                rm -f both
                nothing_left
            done
        done
        # shellcheck disable=SC2046
        exits 2 timeout 10 "$t" $(words "$t") --save-g out < slow 9>&-  # where stdout goes
        a_usage_error err "$t"
        # shellcheck disable=SC2046
        exits 2 timeout 10 "$t" $(words "$t") --save-g - < slow 9>&-
        a_usage_error err "$t"
    done
    exits 0 lat-orelax --theta 1e-4 --save-g - -o out.lat in.lat
    lat-info --check out > /dev/null
    exec 9>&-
}

@test "the same file may be read and written; what is of another kind does not replace its input" {
    local t kind
    kind=$(lat-info in.lat | grep "^field ")
    for t in $(filters); do
        cp in.lat same.lat
        # shellcheck disable=SC2046
        "$t" $(words "$t") in.lat -o other.lat
        if [ "$(lat-info other.lat | grep "^field ")" = "$kind" ]; then
            # shellcheck disable=SC2046
            "$t" $(words "$t") same.lat -o same.lat
            cmp same.lat other.lat
        else
            # shellcheck disable=SC2046
            exits 1 "$t" $(words "$t") same.lat -o same.lat
            one_sentence err "$t"
            grep -q "same.lat: is the output as well" err
            cmp same.lat in.lat
        fi
        nothing_left
    done
}

@test "appending to the input itself is refused and not endless" {
    local t got
    for t in $(filters); do
        cp in.lat grow.lat
        got=0
        # shellcheck disable=SC2046,SC2094
        timeout 10 "$t" $(words "$t") grow.lat >> grow.lat 2> err || got=$?
        [ "$got" -eq 1 ] || fail "exit $got of $t"
        one_sentence err "$t"
        cmp in.lat grow.lat
    done
}

@test "an output has the mode of the umask or of what it replaces, and a symbolic link stays one" {
    umask 027
    lat-gauge --random in.lat -o mode.lat
    [ "$(stat -c %a mode.lat)" = 640 ]
    umask 022
    chmod 600 mode.lat
    lat-gauge --random in.lat -o mode.lat
    [ "$(stat -c %a mode.lat)" = 600 ]
    mkdir real
    ln -s real/x.lat link.lat
    touch real/x.lat
    lat-gauge --random in.lat -o link.lat
    [ -L link.lat ]
    cmp mode.lat real/x.lat
    nothing_left
}

@test "the number of threads does not change a byte" {
    local t
    for t in $(filters); do
        # shellcheck disable=SC2046
        {
            "$t" $(words "$t") -@ 1 in.lat > one
            "$t" $(words "$t") -@2 in.lat > two
            OMP_NUM_THREADS=3 "$t" $(words "$t") in.lat > three
        }
        cmp one two
        cmp one three
    done
}

@test "every stage adds one line of provenance, without what is local" {
    local line
    lat-gauge --random --seed 0x10 -@ 1 -0 --force < in.lat | lat-orelax -q --theta=1e-5 -@ 2 -o out.lat --max-sweeps 5000
    [ "$(lat-info out.lat | grep -c '0\.1\.0 | ')" -eq 3 ]
    line=$(lat-info out.lat | grep 'lat-gauge 0\.1\.0')
    [[ $line == *"lat-gauge 0.1.0 | --random --seed 0x10 --force | "* ]] || fail "$line"
    line=$(lat-info out.lat | grep 'lat-orelax 0\.1\.0')
    [[ $line == *"lat-orelax 0.1.0 | --theta 1e-5 --max-sweeps 5000 | "* ]] || fail "$line"
    lat-gauge --random --no-provenance in.lat | lat-info > plain
    [ "$(grep -c '0\.1\.0' plain)" -eq 1 ] || fail "$(cat plain)"
}

@test "several configurations go through one after the other, each as soon as it is done" {
    local t
    lat-start hot --dims 4,4,4,4 --seed 5 -o second.lat
    cat in.lat second.lat > both.lat
    for t in $(filters); do
        # shellcheck disable=SC2046
        {
            "$t" $(words "$t") both.lat > both.out
            "$t" $(words "$t") in.lat > first.out
        }
        cmp -n "$(($(wc -c < first.out) - 16))" both.out first.out # all but the end mark
        [ "$(lat-info both.out | grep -c '^lattice')" -eq 2 ]
    done
    mkfifo slow
    exec 9<> slow
    lat-reunit < slow 9>&- > early &
    cat in.lat >&9
    for ((i = 0; i < 200; i++)); do
        [ ! -s early ] || break
        sleep 0.02
    done
    exec 9>&-
    wait $!
    lat-info --check early
}

@test "options that can only be a mistake are refused with a sentence" {
    run -2 lat-orelax -gauge landau in.lat
    [[ $output == *"expected --gauge with two dashes, found '-gauge'"* ]]
    run -2 lat-theta -weights=1,1,1,1 in.lat
    [[ $output == *"expected --weights with two dashes"* ]]
    run -2 lat-orelax --copies 0 in.lat -o never.lat
    [[ $output == *copies* ]]
    run -2 lat-anneal --copies 0 in.lat -o never.lat
    run -2 lat-orelax --theta 0 in.lat -o never.lat
    [[ $output == *"never reached: give --max-sweeps"* ]]
    run -3 lat-orelax -q --theta 0 --max-sweeps 1 in.lat -o never.lat
    run -2 lat-orelax --gauge landau --slice-log slices in.lat -o never.lat
    [[ $output == *"--slice-log is for Coulomb gauge"* ]]
    run -1 lat-orelax -q --slice-log slices in.lat -o never.lat
    [[ $output == *"--slice-log is for Coulomb gauge, and this is Landau gauge"* ]]
    [ ! -e never.lat ]
    # An option of one letter may have its value beside it.
    lat-start cold -d2,2 -N2 | lat-info > info
}
