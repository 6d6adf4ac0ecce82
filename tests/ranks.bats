#!/usr/bin/env bats
# Purpose: several ranks that share a lattice give the bytes of one rank, started by -n N or by another mpirun; killed ranks end the run.
# shellcheck disable=SC2154,SC2030,SC2031  # status, output and stderr are set by run; each test has its own TMPDIR
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    need_mpi
}

# same N COMMAND...: it writes the same bytes with N ranks as with one. The history names the ranks: without it.
same() {
    local n=$1
    shift
    [ -e one.lat ] || "$@" --no-provenance -@ 1 -o one.lat
    "$@" --no-provenance -@ 1 -n "$n" -o "$n.lat"
    cmp one.lat "$n.lat"
}

# many: a run that goes on until it is killed; by SIGINT too, which a shell ignores in what it starts in the background, and by SIGHUP
# under nohup.
many() {
    exec env "${IGNORE---default-signal=INT,HUP}" lat-anneal -n 3 -@ 1 --steps 100000000 b.lat "$@"
}

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

# The same arithmetic at every site and a measurement whose order does not depend on ranks: with a fixed omega not even the
# rounding differs.
@test "tasks of srun without MPI are refused, as each would do the whole work, unless -n 1 says so" {
    lat-start weak --dims 4,4,4,4 -o a.lat
    refuses 2 "srun has started 4 tasks without MPI, and each would do the whole work" \
        env -u PMI_SIZE -u OMPI_COMM_WORLD_SIZE SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 lat-reunit a.lat -o b.lat
    SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=1 lat-reunit -n 1 a.lat -o b.lat
    SLURM_STEP_NUM_TASKS=1 lat-reunit a.lat -o b.lat
    SLURM_NTASKS=4 lat-reunit a.lat -o b.lat # a script of a job, not of a step
}

@test "overrelaxation of each gauge goes the same way on 1, 2, 3 and 4 ranks" {
    rough a.lat --dims 4,6,4,8 --epsilon 0.8
    for gauge in landau coulomb "coulomb --time x" mag; do
        rm -f one.lat
        # shellcheck disable=SC2086
        for n in 2 3 4; do same $n lat-orelax --gauge $gauge --omega 1.6 --precision double --theta 1e-9 --check-every 5 a.lat; done
        for how in "--overrelax su2 -p single" "--stochastic 0.4 -p mixed --copies 2 --select all"; do
            rm -f one.lat
            # shellcheck disable=SC2086
            same 3 lat-orelax --gauge $gauge --omega 1.4 --theta 1e-9 $how a.lat
        done
    done
}

@test "annealing of each gauge goes the same way on 1, 2, 3 and 4 ranks" {
    rough a.lat --dims 4,4,2,8
    for gauge in landau coulomb mag; do
        rm -f one.lat
        for n in 2 3 4; do same $n lat-anneal --gauge $gauge --steps 20 --copies 2 a.lat; done
        rm -f one.lat
        same 3 lat-anneal --gauge $gauge --steps 10 --update metropolis -p double a.lat
    done
}

# uneven N LOG SLICES THETA: at some convergence test one of N ranks that keep their slices has more active slices than its share.
uneven() {
    awk -F'\t' -v n="$1" -v slices="$3" -v theta="$4" '
        function test(r, all, most) { for (r in load) { all += load[r]; if (load[r] > most) most = load[r] }
            if (most > int((all + n - 1) / n)) found = 1; delete load }
        NR > 1 && $2 != at { test(); at = $2 }
        NR > 1 && $4 >= theta { load[int((($3 + 1) * n - 1) / slices)]++ }
        END { exit !found }' "$2"
}

@test "slices in Coulomb gauge that migrate to other ranks end the same, also through a checkpoint" {
    rough a.lat --dims 4,4,4,24 --epsilon 1.5
    local how="--gauge coulomb --omega 1.6 --theta 1e-12 --check-every 2"
    # shellcheck disable=SC2086 # words
    lat-orelax $how -@ 1 --slice-log log.tsv a.lat -o /dev/null
    for n in 2 3 5; do
        uneven $n log.tsv 24 1e-12
        # shellcheck disable=SC2086
        same $n lat-orelax $how a.lat
    done
    rm one.lat
    # shellcheck disable=SC2086
    same 3 lat-orelax $how --copies 3 a.lat
    # shellcheck disable=SC2086
    lat-orelax $how --copies 3 --no-provenance -@ 1 -n 5 --checkpoint ck --every 0 a.lat -o five.lat
    cmp one.lat five.lat
}

# Sums over sites are taken in another order: omega that finds itself differs by rounding, and what is reached too.
@test "omega auto reaches the same maximum with several ranks, and the logs agree" {
    rough a.lat --dims 4,4,4,12 --epsilon 0.8
    lat-orelax -@ 1 --log 1.tsv a.lat -o one.lat
    lat-orelax -@ 1 -n 3 --log 3.tsv a.lat -o three.lat
    near "$(column one.lat functional)" "$(column three.lat functional)" 1e-13
    paste 1.tsv 3.tsv | awk -F'\t' '!/^#/ && NR > 1 && NR < 10 { d = $4 - $11; if (d < 0) d = -d; if (d > 1e-11) exit 1 }'
    lat-info three.lat | grep -q ", 3 ranks"
}

@test "any lattice and group: few directions, uneven shares, a slice each for Coulomb gauge" {
    local k=0 dims n group gauge
    while read -r dims n group gauge; do
        k=$((k + 1))
        [ -n "$(groups "$group")" ] || continue
        rm -f one.lat
        rough a.lat --dims "$dims" --group "$group" --epsilon 0.6
        same "$n" lat-orelax --gauge "$gauge" --omega 1.5 --theta 1e-8 a.lat
    done <<END
10 3 3 landau
6,10 4 2 landau
4,6,10 5 4 landau
4,4,4,7 3 2 coulomb
4,2,4,6 6 3 coulomb
8,8,8,6 2 3 landau
6,4,2,10 4 2 mag
END
    [ $k -eq 7 ]
}

@test "lat-gauge, lat-reunit and lat-theta give the same bytes with several ranks" {
    lat-start hot --dims 4,6,2,7 -p single --rows 2 --count 2 -o a.lat
    for n in 1 2 5; do
        lat-gauge -n $n --random --seed 4 --save-g g.lat a.lat -o r.lat
        lat-gauge -n $n --apply g.lat -p double a.lat -o b.lat
        lat-gauge -n $n --compose g.lat g.lat | lat-gauge -n $n --invert -o c.lat
        lat-reunit -n $n --precision double --report t.tsv b.lat -o u.lat
        lat-theta -n $n --gauge coulomb --slices r.lat >t.txt
        lat-theta -n $n --json u.lat >>t.txt
        sha256sum ./[gbrcu].lat t.tsv t.txt >sums.$n
    done
    cmp sums.1 sums.2
    cmp sums.1 sums.5
}

@test "ranks on two hosts give the bytes of one rank: links, propagators, boxes; -v says how many are on a host" {
    lat-heatbath -q --dims 4,4,8,8 --beta 6 --thermalise 5 -o a.lat
    same 4 two_hosts lat-orelax --omega 1.6 --theta 1e-8 a.lat
    rm one.lat
    same 3 two_hosts lat-solve --kappa .12 --csw 1 --source wall:0 a.lat
    two_hosts lat-solve -v --no-provenance --grid 1,1,2,2 --kappa .12 --csw 1 --source wall:0 a.lat -o box.lat 2>said
    cmp one.lat box.lat
    grep -q ": 4 ranks, 2 on this host," said
}

# Slices of 1.2 MB, seven of them a portion: two portions a rank, eight on three slots.
@test "portions between ranks: by shared memory and by MPI, of files and pipes, whole and cut" {
    lat-start hot --dims 16,16,16,42 -p single --rows 2 -0 -o a.lat
    lat-reunit --no-provenance -0 a.lat -o one.lat
    for how in yes no; do
        export LAT_SHARED=$how
        lat-reunit -n 5 --no-provenance -0 a.lat -o file.lat
        cmp one.lat file.lat
        lat-reunit -n 5 --no-provenance <a.lat | cat >pipe.lat
        cmp one.lat pipe.lat
        head -c 25000000 a.lat >cut.lat
        run -1 --separate-stderr lat-reunit -n 5 cut.lat -o never.lat
        [[ $stderr == "lat-reunit: cut.lat: truncated"* && $stderr != *$'\n'* ]]
        run -1 --separate-stderr lat-reunit -n 5 -o never.lat < <(cat cut.lat)
        [[ $stderr == "lat-reunit: <stdin>: truncated after 25000000 bytes" ]]
        run -1 --separate-stderr lat-reunit -n 5 -0 a.lat -o /dev/full
        [[ $stderr == "lat-reunit: /dev/full: cannot be written: No space left on device" ]]
        # Less than they would share; an OpenMPI that knows GPUs would have a file of 128 MB of its own.
        run -0 bash -c 'ulimit -f 20000; OMPI_MCA_btl=^smcuda,uct,openib,ofi lat-theta -n 5 a.lat >t.txt'
        [ ! -e never.lat ]
    done
    nothing_left
}

# Blocks begin in one rank's slices and end in another one's; of 4^3x10 all ranks read one block.
@test "ranks of two hosts read and write one file side by side: the bytes and the sentences of one rank" {
    lat-start hot --dims 16,16,16,21 -p single --rows 2 --seed 1 --count 2 -0 -o plain.lat
    lat-reunit --no-provenance -1 plain.lat -o packed.lat
    lat-start hot --dims 4,4,4,10 --count 3 -o small.lat
    for file in plain packed small; do
        for how in -0 -1 "-p single"; do # as they are, compressed, and what is usual
            # shellcheck disable=SC2086 # words
            lat-reunit --no-provenance $how $file.lat -o one.lat
            for n in 2 3 5; do
                # shellcheck disable=SC2086 # words
                two_hosts lat-reunit -v -n $n --no-provenance $how $file.lat -o two.lat 2>said
                cmp one.lat two.lat
                grep -q "$file.lat: each rank reads its slices" said
                [ $file = small ] || grep -q "two.lat: each rank writes its slices" said
            done
        done
    done
    local at bytes
    for file in plain packed; do
        bytes=$(stat -c %s $file.lat)
        for at in 500000 7000000 $((bytes / 3)) $((bytes / 2 - 300000)) $((bytes - 28)); do
            cp $file.lat bad.lat
            printf xxxx | dd of=bad.lat bs=1 seek="$at" conv=notrunc status=none
            run -1 --separate-stderr lat-reunit bad.lat -o never.lat
            local sentence=$stderr
            [[ $sentence == "lat-reunit: bad.lat: "*"damaged?"* ]]
            run -1 --separate-stderr two_hosts lat-reunit -n 5 bad.lat -o never.lat
            [ "$stderr" = "$sentence" ]
        done
    done
    nothing_left
}

@test "a file that one host does not have goes through rank 0, and so do pipes and stdout" {
    lat-start hot --dims 16,16,16,21 -p single --rows 2 -0 -o a.lat
    lat-reunit --no-provenance -0 a.lat -o one.lat
    for missing in /a.lat /.two; do # the input, the output until it is complete
        ELSEWHERE=$missing two_hosts lat-reunit -v -n 3 --no-provenance -0 "$PWD/a.lat" -o "$PWD/two.lat" 2>said
        cmp one.lat two.lat
        grep -c "each rank" said | grep -qx 1
    done
    two_hosts lat-reunit -v -n 3 --no-provenance -0 <a.lat 2>said | cat >two.lat
    cmp one.lat two.lat
    run -1 grep "each rank" said
}

# both N FILE: one rank and N ranks of two hosts make the same of a foreign file: output, sentences and status; `said` has what -v says.
both() {
    local at=0 n=0
    rm -f one.lat two.lat
    lat-smear stout:0.1,1 -@ 1 --no-provenance "$2" -o one.lat 2>one.err || at=$?
    two_hosts lat-smear stout:0.1,1 -@ 1 -v -n "$1" --no-provenance "$2" -o two.lat 2>said || n=$?
    grep -v -e ' on this host, ' -e ' each rank reads ' -e ' each rank writes ' said >two.err || true
    diff one.err two.err || { echo "$1 ranks, $2"; return 1; }
    [ "$at" = "$n" ] || { echo "$1 ranks, $2: status $at and $n"; return 1; }
    [ -e one.lat ] || [ ! -e two.lat ] || return 1
    [ ! -e one.lat ] || cmp one.lat two.lat
}

beside() { both "$@" && grep -q "$2: each rank reads its slices" said; }

# foreign: samples of formats in the folder s, by a writer that has no line of our code.
foreign() {
    command -v python3 >/dev/null || skip "no python3"
    export PYTHONDONTWRITEBYTECODE=1 MAKE=$BATS_TEST_DIRNAME/make_foreign.py
    lat-start weak --dims 6,4,2,10 --seed 3 -o double.lat
    lat-convert --to ildg double.lat -o double.ildg
    lat-convert --to ildg --precision single double.lat -o single.ildg
    lat-start weak -N 2 --dims 6,4,2,10 --seed 4 | lat-convert --to ildg -o su2.ildg
    mkdir s
    "$BATS_TEST_DIRNAME/make_samples.py" s single.ildg double.ildg su2.ildg
    lat-convert double.lat -o s/npy.npy
    lat-convert double.lat -o s/hdf5.h5
    "$MAKE" openqcd double.ildg s/pyquda header=tzyx
}

@test "ranks read foreign files side by side, whose slices have places: the field of one rank, in every order and byte order" {
    local file n=1
    foreign
    for file in nersc_big32 nersc_little32_bare nersc_su2 ildg_double_xlf scidac_single milc_big milc_double fnal_little bmw \
        openqcd ddalphaamg pyquda hirep_quaternions vogt_double szin npy.npy; do
        n=$((n % 4 + 1))
        beside $((n > 1 ? n : 5)) s/$file
        [ -e two.lat ]
    done
    for file in milc_list_of_sites hdf5.h5; do # a list of sites, chunks: through rank 0
        both 3 s/$file
        run -1 grep "each rank reads" said
    done
    nothing_left
}

@test "damage in the part of any rank, and files too short and too long, are found as by one rank" {
    local file at bytes n=1
    foreign
    for file in nersc_big64_3x3 ildg_double_qio milc_little openqcd; do
        bytes=$(stat -c %s s/$file)
        for at in $((bytes / 10)) $((bytes / 2)) $((bytes - 2000)); do
            n=$((n % 3 + 1))
            cp s/$file bad
            printf '\377%.0s' {1..9} | dd of=bad bs=1 seek="$at" conv=notrunc status=none # a number that is not finite
            beside $((n + 1)) bad
            [ ! -e two.lat ]
        done
        head -c $((bytes / 2)) s/$file >bad
        both 3 bad
        [ ! -e two.lat ]
        { cat s/$file; echo and more; } >bad
        both 3 bad
        [ ! -e two.lat ]
    done
    nothing_left
}

@test "ranks that read side by side find boundaries, and links that are not in the group, as one rank does" {
    local of
    foreign
    for of in antiperiodic antiperiodic:x open open:z:0,antiperiodic open:t:4 fat nan zero:xy:3; do
        "$MAKE" lime double.ildg bad records=format,data,checksum spoil=$of
        beside 3 bad
    done
    "$MAKE" openqcd double.ildg bad spoil=open
    beside 4 bad
    nothing_left
}

@test "a foreign file that one host does not have, or from a pipe, is read by rank 0" {
    local file
    foreign
    for file in nersc_big32 openqcd; do
        beside 3 "$PWD/s/$file"
        mv two.lat three.lat
        ELSEWHERE=/s/$file both 3 "$PWD/s/$file"
        run -1 grep "each rank reads" said
        cmp three.lat two.lat
        two_hosts lat-smear stout:0.1,1 -@ 1 -v -n 3 --no-provenance - <s/$file -o two.lat 2>said
        run -1 grep "each rank reads" said
        cmp three.lat two.lat
    done
}

# Rank 0 has the threads of all then, where they are shared.
@test "links of 80 MB that ranks bring into a file in memory are the same bytes as on a disk and through a pipe" {
    local folder=/dev/shm/lat-ranks.$$ fix=(lat-orelax -q --device cpu --theta 1e9 --no-provenance in.lat)
    [ -w /dev/shm ] || folder=$PWD/memory
    mkdir "$folder"
    for rows in 2 3; do
        local how=-$((rows - 2)) # stored as they are, compressed
        lat-start weak --dims 20,20,20,24 --rows $rows --seed 3 -o in.lat
        "${fix[@]}" "$how" -n 2 | cat >pipe.lat
        for shared in yes no; do
            LAT_SHARED=$shared "${fix[@]}" "$how" -n 3 -o "$folder/memory.lat"
            cmp pipe.lat "$folder/memory.lat"
        done
        OMP_NUM_THREADS=4 "${fix[@]}" "$how" -n 2 -o "$folder/memory.lat"
        cmp pipe.lat "$folder/memory.lat"
        "${fix[@]}" "$how" -o disk.lat
        cmp pipe.lat disk.lat
    done
    rm -r "$folder"
}

@test "a checkpoint of three ranks is resumed by two, and by one" {
    rough b.lat --dims 4,4,4,8
    lat-orelax --omega 1.6 --theta 1e-20 --max-sweeps 3000 --no-provenance --overrelax su2 --copies 2 --copies-log t.tsv b.lat -o straight.lat
    for n in 3 2 1; do
        # shellcheck disable=SC2046
        timeout -s KILL 3 lat-orelax -@ 1 -n $n --omega 1.6 --theta 1e-20 --max-sweeps 3000 --no-provenance --overrelax su2 --copies 2 \
            --copies-log u.tsv --checkpoint ck --every 0 $([ ! -e ck ] || echo --resume ck) b.lat -o cut.lat || [ $n -gt 1 ]
        [ ! -e cut.lat ] || break
    done
    cmp straight.lat cut.lat
    cmp t.tsv u.tsv
    echo kept >ck
    run -2 --separate-stderr lat-orelax -@ 1 -n 3 --checkpoint ck b.lat -o new.lat
    [[ ${stderr_lines[0]} == "lat-orelax: --checkpoint ck is there already"* ]]
    [ "$(cat ck)" = kept ]
    [ ! -e new.lat ]
}

@test "a rank that is killed at a random moment ends all of them: one sentence, no output" {
    rough b.lat --dims 4,4,4,8
    local pid victim rank
    for _ in 1 2 3 4; do
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

# goes_on EVERY COMMAND...: a rank of three is killed; two ranks go on from the checkpoint, which was written as often as possible.
goes_on() {
    local every=$1
    shift
    "$@" -@ 2 -o straight.lat
    kill_a_rank 3 "$@" "$every" 0
    "$@" -n 2 --checkpoint ck --resume ck -o cut.lat
    cmp straight.lat cut.lat
    rm cut.lat
}

@test "sweeps of which a rank was killed go on from the checkpoint, on another number of ranks, to the same bytes" {
    rough b.lat --dims 8,8,8,16 --epsilon 1.1
    goes_on --every lat-orelax --omega 1 --theta 1e-26 --no-provenance b.lat
    goes_on --checkpoint-every lat-heatbath --beta 6 --thermalise 0 --every 60 --seed 1 --no-provenance b.lat
}

@test "what OpenMPI says of a rank that died is not added to the sentence, nor is a backtrace" {
    rough b.lat --dims 8,8,8,12
    local pid signal
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0 # it would have a page to say
    for signal in TERM TERM TERM TERM SEGV; do
        lat-heatbath -n 3 -@ 1 --beta 6 --thermalise 0 --seed 1 --every 100000 b.lat -o "$PWD/out.lat" 2>err 3>&- &
        pid=$!
        await heating
        sleep 0.5
        kill -$signal "$(pgrep -f "^[^ ]*/lat-heatbath .*$PWD/out.lat" | if [ $signal = SEGV ]; then head -n 1; else tail -n 1; fi)"
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
    for i in 0 2 4 6 8 10 12; do
        lat-anneal -n 3 -@ 1 --steps 10 b.lat -o out.lat 3>&- &
        pid=$!
        await "pgrep -P $pid" # mpirun
        sleep "$(awk -v i="$i" 'BEGIN { print 0.02 * i }')"
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
    rough b.lat --dims 8,8,8,16 --epsilon 1.1
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
    [ "$(wc -l <err)" -eq 2 ]
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

@test "lat-heatbath on ranks makes the same bytes: any group, lattice, division, start" {
    while read -r group dims update; do
        [ -n "$(groups "$group")" ] || continue # make QUICK=1
        rm -f ./*.lat
        for n in 2 3 4; do
            same $n lat-heatbath --group "$group" --dims "$dims" --beta $((2 * group * group / 3)) --xi 1.2 --start hot --update "$update" --overrelax 1 \
                --thermalise 2 --every 3 -q
        done
    done <<'END'
3 8,4,4,8 heatbath
3 6,6,2,10 metropolis
2 4,4,8 heatbath
5 4,4,2,8 heatbath
END
    # And it goes on with another number of ranks.
    lat-heatbath --dims 4,4,4,8 --beta 6 --precision single --thermalise 0 --every 2 --count 3 --no-provenance -@ 1 --log one.tsv -o 'all.%d.lat'
    lat-heatbath -n 2 --dims 4,4,4,8 --beta 6 --precision single --thermalise 0 --every 2 --no-provenance -@ 1 -o 'part.%d.lat'
    lat-heatbath -n 3 --count 2 --no-provenance -@ 2 --log three.tsv part.0.lat -o 'part.%d.lat'
    for i in 0 1 2; do
        cmp all.$i.lat part.$i.lat
    done
    near "$(tail -n 1 one.tsv | cut -f2)" "$(tail -n 1 three.tsv | cut -f2)" 1e-7
    run -2 lat-heatbath -n 5 --dims 4,4,4,6 --beta 6 -o x.lat
    [[ $output == *"at most 3 ranks"* ]]
}

@test "every rank knows the link that is farthest from SU(N), whoever has it" {
    local t
    command -v python3 >/dev/null || skip "no python3"
    lat-start hot --dims 2,2,2,4 -p single | lat-convert --to raw -o a.raw
    for t in 0 3; do
        python3 - $t <<'END'
import sys
from array import array
a = array("f", open("a.raw", "rb").read())
at = 18 * (4 * (1 + 2 * (1 + 2 * (0 + 2 * int(sys.argv[1])))) + 1)
for i in range(at, at + 18):
    a[i] *= 1.005
open("b.raw", "wb").write(a.tobytes())
END
        lat-convert --force --from raw --dims 2,2,2,4 --group 3 --type f32 --endian little b.raw -o b.lat 2>err
        for n in 1 2 3; do
            run -0 --separate-stderr lat-theta -n $n b.lat
            [[ $stderr == *"links are up to 0.0151 from SU(3), at 1,1,0,$t y, as the header says"* ]]
        done
    done
}
