#!/usr/bin/env bats
# Purpose: a run that was killed and resumed from its checkpoint ends with the bytes of an uninterrupted run.
# shellcheck disable=SC2154  # status, output and stderr are set by run
load helper

# The inode of the checkpoint: another one once it was written again.
written() {
    stat -c %i ck 2>/dev/null || true
}

# cut_off COMMAND...: runs it with --checkpoint ck, kills it some time after it has written one, resumes it; after
# eight times it may come to its end.
cut_off() {
    local n before pid
    rm -f ck
    for n in 1 2 3 4 5 6 7 8; do
        before=$(written)
        # shellcheck disable=SC2046
        "$@" --checkpoint ck --every 0 $([ ! -e ck ] || echo --resume ck) &
        pid=$!
        while [ "$(written)" = "$before" ] && kill -0 $pid 2>/dev/null; do sleep 0.01; done
        sleep "$(awk -v r=$RANDOM -v n="$n" 'BEGIN { print (n > 1) * 0.1 * r / 32768 }')" # the first time at once
        kill -9 $pid 2>/dev/null || break # it was faster
        wait $pid || true
    done
    [ "$n" -ge 2 ] # it was cut off
    find . -name '.*.tmp' -delete # what kill -9 leaves
    # shellcheck disable=SC2046
    [ ! -e ck ] || "$@" --checkpoint ck --resume ck
    [ ! -e ck ] # removed at the end
}

@test "overrelaxation killed at random moments and resumed writes the same bytes" {
    rough a.lat --dims 4,4,8,8 --epsilon 1.1
    lat-gauge --random a.lat -o b.lat
    cat a.lat b.lat >two.lat
    for how in "-p mixed --overrelax su2 --omega 1.3" "--gauge coulomb --copies 3 -p single --theta 1e-10" "--copies 9 --select all --stochastic 0.3 --gauge mag --theta 1e-3 --check-every 2" "--gauge mag --residual --theta 1e-6 --check-every 2"; do
        # shellcheck disable=SC2086
        lat-orelax $how --copies-log t.tsv --save-g t.g two.lat -o straight.lat
        # shellcheck disable=SC2086
        cut_off lat-orelax $how --copies-log u.tsv --save-g u.g two.lat -o cut.lat
        cmp straight.lat cut.lat
        cmp t.g u.g
        cmp t.tsv u.tsv
    done
}

@test "annealing killed at random moments and resumed writes the same bytes" {
    rough a.lat --dims 4,8,4,4 --epsilon 1.1
    lat-anneal --steps 200 --copies 3 a.lat -o straight.lat
    cut_off lat-anneal --steps 200 --copies 3 a.lat -o cut.lat
    cmp straight.lat cut.lat
    lat-anneal --steps 400 --gauge mag a.lat -o straight.lat
    cut_off lat-anneal --steps 400 --gauge mag a.lat -o cut.lat
    cmp straight.lat cut.lat
}

@test "a checkpoint of another run, configuration or kind is refused" {
    rough a.lat --dims 4,4,4,4
    lat-gauge --random a.lat -o b.lat
    rough other.lat --dims 4,4,4,6
    lat-orelax --theta 1e-25 --max-sweeps 2 --check-every 1 --checkpoint ck --every 0 a.lat -o c.lat || [ $? -eq 3 ]
    [ -e ck ] # kept: the run did not come to a good end
    run -1 --separate-stderr lat-orelax --theta 1e-25 --max-sweeps 2 --check-every 2 --resume ck a.lat -o c.lat
    [ "$stderr" = "lat-orelax: ck: expected the checkpoint of this run, '--check-every 2', found that of another, '--check-every 1'" ]
    run -1 --separate-stderr lat-orelax --theta 1e-25 --max-sweeps 2 --check-every 1 --resume ck b.lat -o c.lat
    [[ $stderr == "lat-orelax: b.lat:0: expected the configuration of the checkpoint"* ]]
    run -1 --separate-stderr lat-orelax --theta 1e-25 --resume a.lat a.lat -o c.lat
    [[ $stderr == "lat-orelax: a.lat: expected a checkpoint"* ]]
    run -1 --separate-stderr lat-orelax --resume none.ck a.lat -o c.lat
    [[ $stderr == "lat-orelax: none.ck: "* ]]
    run -1 --separate-stderr lat-orelax --checkpoint no/such/folder/ck a.lat -o c.lat
    [ ! -e c.lat ]
    run -2 --separate-stderr lat-orelax --checkpoint a.lat a.lat -o c.lat
    [[ ${stderr_lines[0]} == "lat-orelax: --checkpoint a.lat is the input as well" ]]
    run -2 --separate-stderr lat-orelax --checkpoint c.lat a.lat -o c.lat
    [[ ${stderr_lines[0]} == "lat-orelax: --checkpoint c.lat is the output as well" ]]
    run -2 --separate-stderr lat-orelax --checkpoint - a.lat -o c.lat
    run -2 --separate-stderr lat-orelax --every 5 a.lat -o c.lat
    # It is removed in the end: nothing but a file, lest root loses a device.
    mkfifo pipe
    exec 5<>pipe
    run -1 --separate-stderr lat-orelax --checkpoint pipe --theta 1e-2 a.lat -o c.lat 5>&-
    [[ $stderr == "lat-orelax: pipe: expected the name of a file"* ]]
    [ -p pipe ]
    [ ! -e c.lat ]
    lat-info --check a.lat
    nothing_left
}

@test "a checkpoint that is there is gone on from, or stays as it is: it is never replaced" {
    rough a.lat --dims 4,4,4,4
    local t how="--theta 1e-25 --max-sweeps 2 --check-every 1 --every 0"
    # shellcheck disable=SC2086 # words
    run -3 lat-orelax $how --checkpoint ck a.lat -o c.lat
    cp ck kept
    echo old >log.tsv
    for t in lat-orelax lat-anneal; do
        run -2 --separate-stderr $t --checkpoint ck --log log.tsv a.lat -o c.lat
        [[ ${stderr_lines[0]} == "$t: --checkpoint ck is there already: go on from it with --resume ck, or remove it" ]]
    done
    # Nor is it replaced by what became of another one.
    # shellcheck disable=SC2086
    run -2 lat-orelax $how --resume kept --checkpoint ck --log log.tsv a.lat -o c.lat
    cmp ck kept
    [ "$(cat log.tsv)" = old ]
    [ ! -e c.lat ]
    nothing_left
    # Whatever it is called, it is the same file.
    ln -s ck link
    # shellcheck disable=SC2086
    run -3 lat-orelax $how --resume link --checkpoint ck --keep a.lat -o c.lat
    [ -e c.lat ]
    [ ! -e ck ]
}

# logged FILE: the run has written a line of its log.
logged() { [ -e "$1" ] && [ "$(wc -l <"$1")" -ge 2 ]; }

# stop SIGNAL CODE COMMAND...: sends it the signal once its log.tsv has begun. It ends with the code and the sentence, has written its
# checkpoint ck though none was due, and left nothing else.
stop() {
    local signal=$1 code=$2 pid i got=0
    shift 2
    rm -f log.tsv
    env --default-signal="$signal" "$@" --log log.tsv --checkpoint ck 2>err 3>&- &
    pid=$!
    for ((i = 0; i < 600; i++)); do ! logged log.tsv || break; sleep 0.02; done
    kill -"$signal" $pid
    wait $pid || got=$?
    cat err
    [ "$got" -eq "$code" ]
    [ "$(cat err)" = "$1: stopped by SIG$signal: the same command with --resume ck goes on" ]
    [ -e ck ]
    nothing_left
}

@test "a run that is asked to stop writes a checkpoint at once, says how to go on, and dies of the signal" {
    lat-start hot --dims 8,8,8,4 --seed 4 -o a.lat
    local run resume n theta=1e-26
    ! sanitized || theta=1e-8 # a third of the sweeps, which take as long
    for run in "lat-orelax --omega 1 --theta $theta" "lat-anneal --steps $(few 2000) --copies 2"; do
        # shellcheck disable=SC2086 # words
        $run a.lat -o straight.lat
        resume=
        rm -f cut.lat
        for n in TERM:143 INT:130 USR2:140 HUP:129; do
            # shellcheck disable=SC2086
            stop ${n%:*} ${n#*:} $run $resume a.lat -o cut.lat
            [ ! -e cut.lat ]
            resume="--resume ck"
        done
        # shellcheck disable=SC2086
        $run --checkpoint ck --resume ck a.lat -o cut.lat
        cmp straight.lat cut.lat
        [ ! -e ck ]
    done
}

@test "a run without --checkpoint dies of the signal, silently" {
    lat-start hot --dims 8,8,8,8 --seed 4 -o a.lat
    local pid got=0 i
    lat-anneal --steps 10000000 --log log.tsv --check-every 1 a.lat -o never.lat 2>err 3>&- &
    pid=$!
    for ((i = 0; i < 600; i++)); do ! logged log.tsv || break; sleep 0.02; done
    kill -TERM $pid
    wait $pid || got=$?
    [ "$got" -eq 143 ]
    [ ! -s err ]
    [ ! -e never.lat ]
    nothing_left
}

@test "a run that waits for its input, or for who reads its output, is stopped there and goes on from there" {
    rough a.lat --dims 8,8,8,8 --epsilon 0.8 # 2.3 MB: more than a pipe holds
    lat-gauge --random a.lat -o b.lat
    cat a.lat b.lat >two.lat
    local run="lat-orelax --omega 1.5 --theta 1e-10" pid i got
    $run two.lat -o straight.lat
    # The first configuration is done, and the second one does not come.
    mkfifo slow
    exec 9<>slow
    $run --log log.tsv --checkpoint ck <slow -o cut.lat 2>err 9>&- 3>&- &
    pid=$!
    head -c "$(($(wc -c <a.lat) - 16))" a.lat >&9
    for ((i = 0; i < 600; i++)); do ! grep -q '^# stdin:0 converged' log.tsv || break; sleep 0.02; done
    sleep 0.2
    kill -TERM $pid
    got=0
    wait $pid || got=$?
    exec 9>&-
    cat err
    [ "$got" -eq 143 ]
    [[ $(cat err) == *"stopped by SIGTERM: the same command with --resume ck goes on" ]]
    $run --log log.tsv --checkpoint ck --resume ck two.lat -o cut.lat
    cmp straight.lat cut.lat
    [ "$(grep -c '^two.lat:0' log.tsv || true)" = 0 ] # the first one was done
    # The first one is done, and nobody takes it.
    rm log.tsv
    mkfifo full
    exec 8<>full
    $run --log log.tsv --checkpoint ck -0 two.lat 2>err 8>&- 3>&- >full &
    pid=$!
    for ((i = 0; i < 600; i++)); do ! grep -q '^# two.lat:0 converged' log.tsv || break; sleep 0.02; done
    sleep 0.2
    kill -USR2 $pid
    got=0
    wait $pid || got=$?
    exec 8>&-
    cat err
    [ "$got" -eq 140 ]
    $run --checkpoint ck --resume ck two.lat -o cut.lat
    cmp straight.lat cut.lat
    # It is taken late.
    $run two.lat | cat >straight.raw
    $run --checkpoint ck two.lat | (sleep .5 && cat) >late.raw
    cmp straight.raw late.raw
    # The reader dies.
    got=0
    env --default-signal=PIPE bash -c 'lat-orelax --omega 1.5 --theta 1e-10 --checkpoint ck -0 two.lat 2>err; echo $? >code' | true
    [ "$(cat code)" -eq 141 ]
    [ "$(cat err)" = "lat-orelax: stopped by SIGPIPE: the same command with --resume ck goes on" ]
    $run --checkpoint ck --resume ck two.lat -o cut.lat
    cmp straight.lat cut.lat
}

@test "what has not converged goes on with other limits, and writes the bytes of one run" {
    rough a.lat --dims 4,4,8,8 --epsilon 0.8
    local how
    for how in "--omega 1.3 --theta 1e-20" "-p mixed --overrelax su2 --omega 1.2 --theta 1e-18" "--theta 1e-16" \
        "--gauge coulomb --copies 3 --theta 1e-14" "--copies 9 --select all --stochastic 0.3 --theta 1e-9" "--gauge mag --omega 1.2 --theta 1e-9"; do
        # shellcheck disable=SC2086 # words
        {
            lat-orelax $how --no-provenance a.lat -o straight.lat
            run -3 --separate-stderr lat-orelax $how --max-sweeps 20 --checkpoint ck a.lat -o cut.lat
            [[ $stderr == *"; --resume ck with a larger --max-sweeps goes on" ]]
            run -3 lat-orelax $how --max-sweeps 30 --resume ck --checkpoint ck -@ 1 a.lat -o cut.lat
            lat-orelax --no-provenance --device cpu --resume ck --checkpoint ck $how a.lat -o cut.lat
        }
        cmp straight.lat cut.lat
        [ ! -e ck ]
    done
    # A theta that is higher is reached already; one that is lower is for what was done before, too.
    lat-orelax --theta 1e-8 a.lat -o first.lat
    lat-gauge --random a.lat | cat first.lat - >two.lat
    run -3 lat-orelax --theta 1e-7 --max-sweeps 10 --checkpoint ck two.lat -o cut.lat
    cp ck kept
    run -0 lat-orelax --theta 1e3 --max-sweeps 10 --checkpoint ck --resume ck two.lat -o cut.lat
    cp kept ck
    run -0 lat-orelax --theta 1e-13 --checkpoint ck --resume ck two.lat -o cut.lat
    lat-theta --require-theta 1e-13 cut.lat >/dev/null
}

@test "a run goes on with other ways to say the same options, and says which one is another" {
    rough a.lat --dims 4,4,4,4
    run -3 lat-orelax --theta 1e-25 --seed 3 --max-sweeps 2 --copies 2 --checkpoint ck a.lat -o c.lat
    run -3 lat-orelax --copies=2 -s 0x3 --gauge landau --max-sweeps 3 --precision mixed --theta 2e-25 --resume ck a.lat -o c.lat
    local other
    for other in "--gauge coulomb|--gauge landau" "--seed 4|--seed 3" "--copies 3|--copies 2" "--omega 1.2|" "--select all|"; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr lat-orelax --theta 1e-25 --seed 3 --copies 2 --max-sweeps 3 ${other%|*} --resume ck a.lat -o c.lat
        [[ $stderr == "lat-orelax: ck: expected the checkpoint of this run, '${other%|*}', found that of another, '${other#*|}"* ]] ||
            { echo "$stderr"; return 1; }
    done
    run -1 --separate-stderr lat-anneal --resume ck a.lat -o c.lat
    [[ $stderr == "lat-anneal: ck: expected the checkpoint of this run, 'lat-anneal', found that of another, 'lat-orelax'" ]]
}

@test "annealing goes on from its temperature with another number of steps" {
    lat-start hot --dims 8,8,8,8 --seed 4 -o a.lat
    stop USR2 140 lat-anneal --steps 3000 --check-every 1 a.lat -o cut.lat
    local step t
    IFS=$'\t' read -r _ step t _ < <(tail -n 1 log.tsv)
    run -1 --separate-stderr lat-anneal --steps "$((step / 2))" --check-every 1 --resume ck a.lat -o cut.lat
    [[ $stderr == "lat-anneal: a.lat:0: expected more --steps than the "*" of the checkpoint, found $((step / 2))" ]]
    lat-anneal --steps "$((step + 50))" --check-every 1 --log more.tsv --checkpoint ck --resume ck a.lat -o cut.lat
    # From a step below to 0.1, evenly.
    awk -F'\t' -v t="$t" -v step="$step" 'NR == 2 { first = $3; n = $2 } END { exit !(first <= t && first > t - 0.01 && n <= step + 2 && $3 == 0.1 && $2 == step + 50) }' more.tsv
    awk -F'\t' 'NR > 3 && ($3 - last - d) ^ 2 > 1e-14 { exit 1 } { d = $3 - last; last = $3 }' <(tail -n +2 more.tsv)
}

# forge FILE FROM TO: a stream of one field with this line of its header replaced, checksums right, all numbers 0 but as many
# as the header says.
forge() {
    python3 - "$@" <<'END'
import re, struct, sys, zlib
path, old, new = sys.argv[1:]
head = open(path, "rb").read().split(b"\nend = ")[0].decode() + "\n"
assert old in head, head
head = head.replace(old, new)
head = re.sub("compression = .*", "compression = none", re.sub("filter = .*", "filter = none", head))
volume = 1
for d in re.search("dims = (.*)", head)[1].split():
    volume *= int(d)
raw = bytes(volume * int(re.search("reals = (.*)", head)[1]) * int(re.search("real = f(.*)", head)[1]) // 8)
def frame(*words):
    b = words[0] + struct.pack("<2I", *words[1:3])
    return b + struct.pack("<I", zlib.crc32(b + (words[3] if len(words) > 3 else b"")))
with open("forged", "wb") as f:
    head = head.encode()
    f.write(head + b"end = %08x\n" % zlib.crc32(head))
    blocks = [raw[i:i + 1048576] for i in range(0, len(raw), 1048576)]
    for b in blocks:
        f.write(frame(b"LATB", len(b), len(b), b) + b)
    f.write(frame(b"LATE", len(blocks), zlib.crc32(raw)) + frame(b"LATZ", 1, 0))
END
    lat-info --check forged
}

@test "a forged checkpoint is refused before anything in it is used" {
    rough a.lat --dims 4,4,4,4
    run -3 lat-orelax --theta 1e-25 --max-sweeps 2 --check-every 1 --checkpoint ck --every 0 --precision mixed a.lat -o c.lat
    local change
    for change in "dims = 4 4 4 4|dims = 2 2 2 2" "dims = 4 4 4 4|dims = 4 4 4 8" \
        "real = f64|real = f32" " stage 0 | stage -1000000 " " stage 0 | stage 1000000 " "copy 0 |copy 1 " \
        "checkpoint.field = 0 0 1|checkpoint.field = 0 5 1" "checkpoint.field = 0 0 1|checkpoint.field = 0 0 1999" \
        "checkpoint.device|checkpoint.words"; do
        forge ck "${change%|*}" "${change#*|}" >said
        run -1 --separate-stderr lat-orelax --theta 1e-25 --max-sweeps 2 --check-every 1 --precision mixed --resume forged a.lat -o c.lat
        [[ $stderr == "lat-orelax: "*": expected "* ]] || { echo "$change: $stderr"; return 1; }
        [ ! -e c.lat ]
    done
    [[ $stderr == *"expected a checkpoint of this version"* ]]
}
