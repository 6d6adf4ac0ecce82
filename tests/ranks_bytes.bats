#!/usr/bin/env bats
# Purpose: several ranks that share a lattice give the bytes of one rank: gauges, slices that migrate, configurations, measurements, checkpoints.
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

# Numbers of ranks for each gauge; tests/long/ranks.bats has more of them for all.
some=${LAT_RANKS-3}

# The same arithmetic at every site and a measurement whose order does not depend on ranks: with a fixed omega not even the
# rounding differs.
@test "overrelaxation of each gauge goes the same way on one rank and on several" {
    rough a.lat --dims 4,6,4,8 --epsilon 0.8
    local n gauge how
    for gauge in landau coulomb "coulomb --time x" mag; do
        rm -f one.lat
        # shellcheck disable=SC2086
        for n in $([ "$gauge" = landau ] && echo 2 3 4 || echo $some); do
            same $n lat-orelax --gauge $gauge --omega 1.6 --precision double --theta 1e-9 --check-every 5 a.lat
        done
        for how in "--overrelax su2 -p single" "--stochastic 0.4 -p mixed --copies 2 --select all"; do
            rm -f one.lat
            # shellcheck disable=SC2086
            same 3 lat-orelax --gauge $gauge --omega 1.4 --theta 1e-9 $how a.lat
        done
    done
}

@test "annealing of each gauge goes the same way on one rank and on several" {
    rough a.lat --dims 4,4,2,8
    local n gauge
    for gauge in landau coulomb mag; do
        rm -f one.lat
        # shellcheck disable=SC2086
        for n in $([ $gauge = landau ] && echo 2 4 || echo $some); do same $n lat-anneal --gauge $gauge --steps 20 --copies 2 a.lat; done
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
    for n in 2 5; do
        uneven $n log.tsv 24 1e-12
        # shellcheck disable=SC2086
        same $n lat-orelax $how a.lat
    done
    rm one.lat
    # shellcheck disable=SC2086
    same 3 lat-orelax $how --copies 2 a.lat
    # shellcheck disable=SC2086
    lat-orelax $how --copies 2 --no-provenance -@ 1 -n 5 --checkpoint ck --every 0 a.lat -o five.lat
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

@test "lat-heatbath on ranks makes the same bytes: any group, lattice, division, start" {
    while read -r group dims update; do
        [ -n "$(groups "$group")" ] || continue # make QUICK=1
        rm -f ./*.lat
        # shellcheck disable=SC2086
        for n in $([ "$dims" = 8,4,4,8 ] && echo 2 3 4 || echo $some); do
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

@test "a checkpoint of three ranks is resumed by two, and by one" {
    rough b.lat --dims 4,4,4,8
    lat-orelax --omega 1.6 --theta 1e-20 --max-sweeps 3000 --no-provenance --overrelax su2 --copies 2 --copies-log t.tsv b.lat -o straight.lat
    for n in 3 2 1; do
        # shellcheck disable=SC2046
        timeout -s KILL 2 lat-orelax -@ 1 -n $n --omega 1.6 --theta 1e-20 --max-sweeps 3000 --no-provenance --overrelax su2 --copies 2 \
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
    rough b.lat --dims 4,4,8,16 --epsilon 1.1
    goes_on --every lat-orelax --omega 1 --theta 1e-26 --no-provenance b.lat
    goes_on --checkpoint-every lat-heatbath --beta 6 --thermalise 0 --every 60 --seed 1 --no-provenance b.lat
}
