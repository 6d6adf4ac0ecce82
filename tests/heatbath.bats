#!/usr/bin/env bats
# Purpose: lat-heatbath samples pure gauge theory: exact plaquettes, literature values, reproducible chains; lat-plaq measures them.
load helper
load heatbath

@test "plaquettes of two dimensions are the exact ones, SU(2) to SU(6), at strong and weak coupling" {
    # d ln Z / d beta with Z = sum_n det I_{n+i-j}(beta/N) (Bars, Green 1979); on 64^2 the corrections of
    # the torus, (u_f)^4096, are nothing.
    while read -r n beta expected sweeps; do
        [ -n "$(groups "$n")" ] || continue
        lat-heatbath --group "$n" --dims 64,64 --beta "$beta" --overrelax 1 --thermalise 50 --every "$(few "$sweeps")" --log log.tsv -o a.lat
        agrees "$(mean plaquette log.tsv 50)" "$expected"
    done <<'END'
2 1 .240193723870 1500
2 2.5 .507195100047 300
2 4 .658047267359 200
3 3 .203075050030 700
3 5.7 .402716607316 250
3 8 .535753990214 150
4 8 .278892275871 250
5 17.1 .372116458700 150
6 18 .256615210377 200
END
}

@test "plaquettes of four dimensions: SU(2), SU(3) at strong and weak coupling" {
    # An independent program; the second is .23439(18) in the literature (8^3 x 4), the third .89652 in the weak
    # coupling series. More of them, and more precisely, in tests/long.
    while read -r n beta extent expected error sweeps; do
        [ "$extent" -le 8 ] || ! sanitized || continue # SU(2) has other tests
        lat-heatbath --group "$n" --dims "$extent,$extent,$extent,$extent" --beta "$beta" --thermalise 60 --every "$(few "$sweeps")" --log log.tsv -o a.lat
        agrees "$(mean plaquette log.tsv 60)" "$expected" "$error"
    done <<'END'
2 2.4 12 .630064 .000085 100
3 3.36 8 .234510 .000075 250
3 20 8 .896523 .000029 60
END
}

@test "anisotropy: in two dimensions the coupling is xi beta" {
    lat-heatbath --group 2 --dims 32,32 --beta 2 --xi 2 --thermalise 50 --every "$(few 400)" --log log.tsv -o a.lat
    agrees "$(mean plaquette log.tsv 50)" .658047267359
}

@test "an anisotropy goes with its direction, and where that is not the last one the numbers are not made up" {
    lat-heatbath --dims 4,4,4,6 --beta 5.7 --xi 2.5 --thermalise 20 --seed 3 -o a.lat
    lat-reorder --axes t,x,y,z a.lat -o turned.lat
    [ "$(lat-info --json turned.lat | sed 's/.*"xi_axis": "\(.\)".*/\1/')" = x ]
    for tool in "lat-plaq --sd" lat-heatbath "lat-heatbath --xi 2"; do
        # shellcheck disable=SC2086 # words
        run -1 --separate-stderr $tool turned.lat
        # shellcheck disable=SC2154 # stderr is set by run
        [[ $stderr == "${tool%% *}: expected xi of the last direction, found xi of x (info.xi_axis)"* ]]
    done
    refuses 1 'found xi of x (info.xi_axis)' lat-solve --kappa .1 --xi 2.5 --source point:0,0,0,0 turned.lat -o never
    lat-plaq turned.lat >/dev/null
    lat-reorder --axes y,z,t,x turned.lat -o back.lat
    cmp <(lat-plaq --sd a.lat) <(lat-plaq --sd back.lat)
    # An exchange of the others changes nothing.
    lat-reorder --axes z,x,y,t a.lat | lat-info >info
    run -1 grep xi_axis info
    lat-reorder --axes t,x,y,z turned.lat | lat-info | grep -q 'xi_axis = y'
}

@test "the Schwinger-Dyson equation holds: any group, lattice, anisotropy" {
    # (N^2 - 1) <Re tr U S^+> = beta <|F|^2>, exactly; the difference has a mean of zero and is of order 1/sqrt(V) of
    # either side on one configuration.
    while read -r n dims beta xi every count; do
        [ -n "$(groups "$n")" ] || continue
        lat-heatbath --group "$n" --dims "$dims" --beta "$beta" --xi "$xi" --thermalise 50 --every "$every" --count "$(few "$count")" |
            lat-plaq --sd --tsv -o sd.tsv
        awk -F'\t' -v n="$n" -v b="$beta" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; print "ratio"; next }
            { f = b * $c["sd_force"]; print ((n * n - 1) * $c["sd_trace"]) / f }' sd.tsv >ratio.tsv
        echo "SU($n) $dims"
        agrees "$(mean ratio ratio.tsv)" 1 0 0.01
    done <<'END'
2 4,4,4,4 2.3 1 3 200
3 4,4,4,4 5.7 1 3 200
3 2,4,6,4 6.0 2.5 3 200
3 6,6,6,2 5.5 0.7 3 100
4 4,4,4,2 10 1.5 3 100
5 2,4,4,4 17 1 3 60
3 6,4,8 9 1 3 200
8 4,2,4,2 40 1 3 40
12 2,2,2,4 90 1 3 20
END
}

@test "beta = 0: links are Haar random" {
    # The plaquette has mean 0 and deviation 1/sqrt(2 N^2 6V), of SU(2) 1/sqrt(4 6V).
    for n in $(groups 2 3 4); do
        lat-heatbath --group "$n" --dims 8,4,4,8 --beta 0 --overrelax 0 --thermalise 60 --every 10 --count 20 | lat-plaq --tsv -o p.tsv
        awk -F'\t' -v n="$n" 'NR > 1 { s += $2 * $2; m++ } END {
            r = sqrt(s / m) * sqrt((n == 2 ? 4 : 2 * n * n) * 6 * 1024)
            print "# SU(" n "): " r; exit !(r > 0.5 && r < 1.6) }' p.tsv # 20 of them: 1 +- 0.16
    done
}

@test "hot and cold starts meet; Metropolis and heat bath meet" {
    lat-heatbath --dims 4,6,4,4 --beta 5.5 --start hot --thermalise 100 --every "$(few 600)" --log hot.tsv -o a.lat
    lat-heatbath --dims 4,6,4,4 --beta 5.5 --start cold --seed 2 --thermalise 100 --every "$(few 600)" --log cold.tsv -o a.lat
    lat-heatbath --dims 4,6,4,4 --beta 5.5 --update metropolis --seed 3 --overrelax 2 --thermalise 200 --every "$(few 2000)" --log metro.tsv -o a.lat
    meet "$(mean plaquette hot.tsv 100)" "$(mean plaquette cold.tsv 100)" 0.005
    meet "$(mean plaquette hot.tsv 100)" "$(mean plaquette metro.tsv 200)" 0.005
}

@test "a run that continues gives the same bytes as one that never stopped" {
    for p in single double; do
        lat-heatbath --dims 4,4,6,4 --beta 6.0 --xi 1.5 --precision $p --thermalise 3 --every 2 --count 5 --seed 7 -o 'all.%d.lat'
        lat-heatbath --dims 4,4,6,4 --beta 6.0 --xi 1.5 --precision $p --thermalise 3 --every 2 --count 2 --seed 7 -o 'part.%d.lat'
        lat-heatbath --count 2 part.1.lat -o 'part.%d.lat'
        cat part.0.lat part.1.lat part.2.lat part.3.lat | lat-heatbath --continue -o part.4.lat
        for i in 0 1 2 3 4; do
            cmp all.$i.lat part.$i.lat
        done
    done
    for n in $(groups 2 4 5); do
        lat-heatbath --group "$n" --dims 4,4,4,4 --beta 4 --thermalise 0 --every 2 --count 2 -o 'all.%02d.lat'
        lat-heatbath --group "$n" --dims 4,4,4,4 --beta 4 --thermalise 0 --every 2 -o part.lat
        lat-heatbath part.lat -o part.lat
        cmp all.01.lat part.lat
    done
}

@test "the same bytes on any number of threads, others with another seed" {
    for dims in 8,4,4,4 6,6,2,10; do
        lat-heatbath --dims $dims --beta 6.0 --thermalise 5 --seed 7 -@ 1 -o one.lat
        lat-heatbath --dims $dims --beta 6.0 --thermalise 5 --seed 7 -@ 3 -o three.lat
        lat-heatbath --dims $dims --beta 6.0 --thermalise 5 --seed 8 -o other.lat
        cmp one.lat three.lat
        run -1 cmp -s one.lat other.lat
    done
}

@test "the trajectory does not depend on the length of vectors" {
    for dims in 8,4,4,4 6,6,2,10; do
        for l in base avx2 avx512; do
            LAT_LANES=$l lat-heatbath --dims $dims --beta 6.0 --thermalise 0 --every 2 --no-provenance -o $l.lat
            # Two combined sweeps, ten passes, amplify rounding only so far.
            lat-diff --tolerance 1e-9 base.lat $l.lat
        done
    done
}

@test "trajectories of two vector lengths part by chaos alone, for 20 passes; their mean plaquettes agree after" {
    make_neighbours
    neighbours 0 20 LAT_LANES=base
    neighbours 4 4 LAT_LANES=base
    neighbours 19 1 LAT_LANES=base
    for l in base avx512; do
        LAT_LANES=$l lat-heatbath --dims 4,4,4,4 --beta 5.5 --start hot --thermalise 100 --every "$(few 600)" --log $l.tsv -q -o x.lat
    done
    meet "$(mean plaquette base.tsv 100)" "$(mean plaquette avx512.tsv 100)" 0.005
    run -1 cmp -s base.tsv avx512.tsv
}

@test "links are in SU(N) to rounding after many sweeps" {
    for n in $(groups 2 3 4 5 8 16); do
        lat-heatbath --group "$n" --dims 4,4,2,2 --beta $((n * n)) --thermalise 30 -o a.lat
        # det and rows are sums of N products; reunitarised every sweep.
        lat-theta --tsv a.lat | awk -F'\t' -v n="$n" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
            { bad = !($c["unitarity_max"] < 16 * n * 2.2e-16 && $c["det_error_max"] < 16 * n * 2.2e-16) } END { exit bad }'
    done
}

@test "what a configuration says of itself" {
    lat-heatbath --group 2 --dims 4,4,4,4 --beta 2.25 --xi 1.25 --thermalise 4 --every 3 --count 2 --seed 11 -o 'c%03d.lat'
    lat-info c001.lat >info.txt
    for line in 'beta = 2.25' 'xi = 1.25' 'sweep = 10' 'sequence_number = 1' 'seed = 11' 'overrelax = 4' 'update = heatbath'; do
        grep -q -- "$line" info.txt
    done
    grep -q '4 reals' info.txt
    [ ! -e c002.lat ]
    # Other parameters leave another line of history, and what they change is changed.
    lat-heatbath --beta 2.5 c001.lat 2>said | lat-info >info.txt
    [ "$(cat said)" = "lat-heatbath: goes on without sweeps to thermalise, from links that were made with beta 2.25, xi 1.25: expected --thermalise (0: none)" ]
    grep -q 'beta = 2.5' info.txt
    grep -q 'sweep = 13' info.txt
    [ "$(grep -c 'lat-heatbath 0' info.txt)" -eq 2 ]
    for other in "--precision single" "--rows 2" "--thermalise 1" "--seed 12"; do
        # shellcheck disable=SC2086 # words
        lat-heatbath $other c001.lat | lat-info >info.txt
        [ "$(grep -c 'lat-heatbath 0' info.txt)" -eq 2 ]
    done
    lat-heatbath --precision double --rows 1 --thermalise 0 --seed 11 c001.lat | lat-info >info.txt
    [ "$(grep -c 'lat-heatbath 0' info.txt)" -eq 1 ]
    # Links that are not thermal are said, unless --thermalise says what to do.
    lat-smear --force stout:.1,1 c001.lat 2>/dev/null | lat-heatbath --continue 2>said | lat-info >/dev/null
    [[ $(cat said) == *"from links that have flowed or were smeared: expected --thermalise (0: none)" ]]
    lat-start cold --dims 4,4,4,4 | lat-heatbath --continue --seed 1 --beta 6 2>said | lat-info >/dev/null
    [[ $(cat said) == *"from links that do not say that they were made with this beta: "* ]]
    for other in '--beta 2.5 --thermalise 0' '--xi 1 --thermalise 2' '--beta 2.25 --xi 1.25' ''; do
        # shellcheck disable=SC2086 # words
        lat-heatbath $other c001.lat 2>said | lat-info >/dev/null
        [ ! -s said ]
    done
    # So does what another tool has done in between.
    lat-gauge --random c001.lat | lat-orelax --theta 1e-2 | lat-heatbath --continue | lat-info >info.txt
    grep 'lat-[a-z]* 0' info.txt | grep -o 'lat-[a-z]*' | paste -sd' ' | grep -qx 'lat-heatbath lat-gauge lat-orelax lat-heatbath'
}

@test "the log's plaquettes are those that lat-plaq and lat-theta find" {
    lat-heatbath --dims 4,6,4,2 --beta 5.5 --thermalise 5 --every 2 --log log.tsv -o a.lat
    lat-plaq --tsv a.lat >p.tsv
    for pair in 2:2 3:3 4:4; do
        near "$(tail -n 1 log.tsv | cut -f"${pair%:*}")" "$(tail -n 1 p.tsv | cut -f"${pair#*:}")" 1e-13
    done
    near "$(tail -n 1 p.tsv | cut -f2)" "$(column a.lat plaquette)" 1e-14
}

@test "lat-plaq measures the same in every gauge, as text, columns and JSON" {
    lat-heatbath --dims 4,4,4,6 --beta 6.0 --thermalise 20 -o a.lat
    lat-gauge --random --seed 5 a.lat -o b.lat
    lat-plaq --tsv --sd a.lat >a.tsv
    lat-plaq --tsv --sd b.lat >b.tsv
    for i in 2 3 4 6 7 8 9 10 11 12 19; do # all but the link trace
        near "$(tail -n 1 a.tsv | cut -f$i)" "$(tail -n 1 b.tsv | cut -f$i)" 1e-11
    done
    lat-plaq --json a.lat | python3 -c 'import json, sys; d = json.load(sys.stdin); assert abs(d["action_density"] - 36 * (1 - d["plaquette"])) < 1e-12'
    lat-plaq a.lat | grep -q '^charge'
    cat a.lat b.lat | lat-plaq --tsv | wc -l | grep -qx 3
    run -2 lat-plaq --xi 1.5 a.lat # of --sd
}

@test "a real configuration at beta = 6: plaquette, and beta by the Schwinger-Dyson equation" {
    need_data milc_lat.sample.l8888
    lat-convert "$DATA/milc_lat.sample.l8888" | lat-reunit --precision double | lat-plaq --sd --tsv >p.tsv
    near "$(field p.tsv plaquette)" .593560221836 1e-9
    near "$(field p.tsv sd_beta)" 5.994 0.0006
}

@test "heat bath, annealing, overrelaxation: a pipeline from nothing to a fixed gauge" {
    run -0 bash -o pipefail -c "lat-heatbath --dims 4,4,4,4 --beta 6.0 --thermalise 30 --count 2 |
        lat-anneal --steps 30 | lat-orelax --theta 1e-12 -o fixed.lat"
    lat-theta --require-theta 1e-12 fixed.lat
}

@test "what cannot be is refused, with the reason" {
    run -2 lat-heatbath --dims 4,4,4,4
    [[ $output == *--beta* ]]
    run -2 lat-heatbath --beta 6
    [[ $output == *--dims* ]]
    refuses 2 '--dims: expected even extents, found 4 5 4 4' lat-heatbath --dims 4,5,4,4 --beta 6 -o a.lat
    for bad in "--check-every 5" "--group 1" "--group 17" "--every 0" "--update magic" "--xi 0" "--beta -1"; do
        # shellcheck disable=SC2086
        run -2 lat-heatbath --dims 4,4,4,4 --beta 6 $bad -o a.lat
    done
    for bad in 'a.%d.%d' 'a.%s' 'a.%n' 'a.%'; do
        run -2 lat-heatbath --dims 4,4,4,4 --beta 6 -o "$bad"
    done
    lat-start --dims 4,4,4,4 -o cold.lat
    run -2 lat-heatbath cold.lat -o a.lat
    [[ $output == *--beta* ]]
    refuses 1 'cold.lat: expected SU(4) on 4 4 4 4 as --group and --dims say, found SU(3) on 4 4 4 4' \
        lat-heatbath --group 4 --beta 6 cold.lat -o a.lat
    refuses 1 'cold.lat: expected SU(3) on 8 4 4 4 as --group and --dims say, found SU(3) on 4 4 4 4' \
        lat-heatbath --dims 8,4,4,4 --beta 6 cold.lat -o a.lat
    lat-abelian --force --links abelian.lat cold.lat >/dev/null 2>&1
    run -0 --separate-stderr lat-heatbath --beta 6 --seed 1 --every 1 abelian.lat -o b.lat
    [[ $stderr == *"from links that are a projection: expected --thermalise"* ]]
    [ "$(lat-info b.lat | grep -c 'projection = ')" -eq 0 ]
    lat-info abelian.lat | grep -q 'projection = abelian'
    lat-gauge --random cold.lat --save-g g.lat -o b.lat
    run -1 lat-heatbath --beta 6 g.lat -o a.lat
    cp cold.lat kept.lat
    run -2 lat-heatbath --beta 6 --log cold.lat cold.lat -o a.lat
    [[ $output == *"--log cold.lat is the input as well"* ]]
    ln cold.lat same.lat
    run -2 lat-heatbath --beta 6 --log same.lat --continue -o a.lat <cold.lat
    cmp cold.lat kept.lat
    [ ! -e a.lat ]
    nothing_left
}

@test "a checkpoint that would be the output, one of its files or the log is refused, whatever its spelling" {
    local run=(lat-heatbath --dims "2,2,2,2" --beta 6 --thermalise 0 --every 1)
    refuses 2 '--checkpoint ./a.lat is the output as well' "${run[@]}" --checkpoint ./a.lat -o a.lat
    refuses 2 '--checkpoint ./log is the log as well' "${run[@]}" --checkpoint ./log --log log -o a.lat
    refuses 2 '--checkpoint a.0001.lat is an output as well' "${run[@]}" --count 3 --checkpoint a.0001.lat -o 'a.%04d.lat'
    refuses 2 '--checkpoint ./a.2.lat is an output as well' "${run[@]}" --count 3 --checkpoint ./a.2.lat -o 'a.%d.lat'
    refuses 1 'no/ck: cannot create a file in no/' "${run[@]}" --checkpoint no/ck -o a.lat
    "${run[@]}" --count 3 --checkpoint a.3.lat -o 'a.%d.lat'
    [ "$(echo a.*)" = "a.0.lat a.1.lat a.2.lat" ]
}

@test "a run that is asked to stop writes a checkpoint, and goes on to the same bytes" {
    local dims=6,6,6,6 signal n=0 pid got i
    ! sanitized || dims=4,4,4,4 # which take as long
    local run=(lat-heatbath --dims "$dims" --beta 5.9 --thermalise 150 --every 40 --count 4 --seed 3)
    "${run[@]}" -o 'straight.%d.lat'
    for signal in TERM INT USR2; do
        rm -f log.tsv
        # shellcheck disable=SC2046 # words
        env --default-signal=INT "${run[@]}" -q --log log.tsv --checkpoint ck $([ ! -e ck ] || echo --resume ck) -o 'cut.%d.lat' 2>err 3>&- &
        pid=$!
        for ((i = 0; i < 600; i++)); do ! { [ -e log.tsv ] && [ "$(wc -l <log.tsv)" -ge 5 ]; } || break; sleep 0.02; done
        kill -$signal $pid
        got=0
        wait $pid || got=$?
        cat err
        [ "$got" -eq $((128 + $(kill -l $signal))) ]
        [ "$(cat err)" = "lat-heatbath: stopped by SIG$signal: the same command with --resume ck goes on" ]
        [ -z "$(find . -name '.*.tmp')" ]
        n=$((n + 1))
    done
    [ $n -eq 3 ]
    lat-info --check ck
    "${run[@]}" --checkpoint ck --resume ck -o 'cut.%d.lat'
    [ ! -e ck ]
    for i in 0 1 2 3; do cmp straight.$i.lat cut.$i.lat; done
    # The time between two checkpoints; another number of configurations; other parameters.
    "${run[@]}" --checkpoint ck --checkpoint-every 0 -o 'again.%d.lat' 3>&- &
    pid=$!
    for ((i = 0; i < 600; i++)); do [ ! -e ck ] || break; sleep 0.02; done
    kill -9 $pid
    wait $pid || true
    find . -name '.*.tmp' -delete
    run -1 --separate-stderr lat-heatbath --dims "$dims" --beta 6 --thermalise 150 --every 40 --seed 3 --resume ck -o x.lat
    [[ $stderr == "lat-heatbath: ck: expected the checkpoint of this run, '--beta 6', found that of another, '--beta 5.9'" ]]
    run -2 --separate-stderr "${run[@]}" --checkpoint ck -o 'again.%d.lat'
    [[ $stderr == "lat-heatbath: --checkpoint ck is there already"* ]]
    run -2 --separate-stderr "${run[@]}" --checkpoint new -o all.lat
    [[ $stderr == "lat-heatbath: --checkpoint needs a file for each configuration"* ]]
    "${run[@]}" --count 2 --checkpoint ck --resume ck -o 'again.%d.lat'
    for i in 0 1; do cmp straight.$i.lat again.$i.lat; done
    [ ! -e again.2.lat ]
    run -1 --separate-stderr "${run[@]}" --resume straight.0.lat -o 'x.%d.lat'
    [[ $stderr == "lat-heatbath: straight.0.lat: expected a checkpoint of lat-heatbath"* ]]
}

@test "a run that stops after any of its sweeps goes on to the same bytes, after those that complete a configuration as well" {
    ! sanitized || skip "a library that is loaded first"
    local i got dims=2,2,2,2
    local run=(lat-heatbath --dims "$dims" --beta 5.9 --thermalise 3 --every 7 --count 6 --seed 3 -q -@ 1)
    # asked to stop before the first sweep: each process does one
    cat >stop.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
int sigaction(int sig, const struct sigaction *how, struct sigaction *was)
{
    int (*real)(int, const struct sigaction *, struct sigaction *) = (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT, "sigaction");
    const int rc = real(sig, how, was);
    if (sig == SIGTERM && how && (how->sa_flags & SA_RESTART)) /* lat_stop_watch */
        raise(SIGTERM);
    return rc;
}
END
    "${CC:-cc}" -shared -fPIC -o stop.so stop.c -ldl || skip "no compiler"
    "${run[@]}" -o 'straight.%d.lat'
    for ((i = 0; i < 45; i++)); do
        got=0
        # shellcheck disable=SC2046 # words
        LD_PRELOAD=$PWD/stop.so "${run[@]}" --checkpoint ck $([ ! -e ck ] || echo --resume ck) -o 'cut.%d.lat' 2>err || got=$?
        [ "$got" -eq 143 ] || { cat err; [ "$got" -eq 0 ]; break; }
    done
    [ "$i" -ge 44 ] # 45 sweeps
    [ "$got" -eq 143 ]
    "${run[@]}" --checkpoint ck --resume ck -o 'cut.%d.lat'
    [ ! -e ck ]
    for i in 0 1 2 3 4 5; do cmp straight.$i.lat cut.$i.lat; done
    # a default that is named is the same run, and a checkpoint says what it is
    run=(lat-heatbath --dims "$dims" --beta 5.9 --seed 3 -q --no-provenance)
    "${run[@]}" -o straight.lat
    LD_PRELOAD=$PWD/stop.so "${run[@]}" --checkpoint ck -o x.lat 2>err || [ $? -eq 143 ]
    refuses 1 "ck: expected the checkpoint of this run, '--thermalise 20', found that of another, '--thermalise 500'" \
        "${run[@]}" --thermalise 20 --resume ck -o x.lat
    "${run[@]}" --thermalise 500 --group 3 --every 10 --checkpoint ck --resume ck -o x.lat
    cmp straight.lat x.lat
}

@test "a run that continues from a NERSC copy draws the numbers of the stream; links that say no seed want --seed" {
    lat-heatbath --dims 4,4,4,4 --beta 5.7 --thermalise 5 --every 2 --count 3 --seed 9 --overrelax 2 -q -o 'c.%04d.lat'
    lat-convert c.0002.lat -o c.nersc
    lat-convert --to ildg c.0002.lat -o c.ildg
    lat-heatbath --count 1 -q c.0002.lat -o 'c.%04d.lat'
    for format in nersc ildg; do
        lat-heatbath --count 1 -q "c.$format" -o "$format.%04d.lat"
        lat-diff --tolerance 0 "$format.0003.lat" c.0003.lat >difference
        lat-info "$format.0003.lat" | grep -q 'seed = 9'
        lat-info "$format.0003.lat" | grep -q 'sweep = 13'
    done
    lat-convert --to milc -p single c.0002.lat -o c.milc
    refuses 2 '--seed is needed: c.milc does not say with which random numbers it was made' \
        lat-heatbath --beta 5.7 --thermalise 0 --count 1 c.milc -o x.lat
    lat-heatbath --beta 5.7 --thermalise 0 --count 1 --seed 4 -q c.milc -o x.lat
}

@test "a run that is resumed reads the configuration that it began with, and refuses another one" {
    local run=(lat-heatbath --thermalise 2000 --every 1 --seed 3) pid i
    lat-heatbath --dims 2,2,2,2 --beta 6 --thermalise 5 -o a.lat
    lat-heatbath --dims 2,2,2,2 --beta 6 --thermalise 6 -o b.lat
    crc() { lat-info "$1" | awk '$1 == "crc-32" { print $2 }'; }
    cut_off() { # leaves a checkpoint
        "$@" -q --checkpoint ck --checkpoint-every 0 -o cut.lat 3>&- &
        pid=$!
        for ((i = 0; i < 600; i++)); do [ ! -e ck ] || break; sleep 0.02; done
        kill -9 $pid
        wait $pid || true
        find . -name '.*.tmp' -delete
    }
    "${run[@]}" a.lat -o straight.lat
    cut_off "${run[@]}" a.lat
    cp ck kept
    refuses 1 "b.lat: expected the configuration that the run of the checkpoint began with, CRC $(crc a.lat), found CRC $(crc b.lat)" \
        "${run[@]}" b.lat --resume kept -o cut.lat
    mv a.lat elsewhere.lat # the checkpoint is the whole state
    run -0 --separate-stderr "${run[@]}" a.lat --resume kept -o cut.lat
    [ "$stderr" = "lat-heatbath: a.lat: cannot be found, and is not compared with what kept began with" ]
    cmp straight.lat cut.lat
    mv elsewhere.lat a.lat
    echo begun >log # of the run that is resumed
    "${run[@]}" a.lat --resume kept --no-clobber --log log -o fresh.lat
    grep -q plaquette log
    "${run[@]}" a.lat --resume ck --checkpoint ck -o cut.lat
    cmp straight.lat cut.lat
    [ ! -e ck ]
    cut_off "${run[@]}" --dims 2,2,2,2 --beta 6
    refuses 1 "a.lat: expected the configuration that the run of the checkpoint began with, CRC none, found CRC $(crc a.lat)" \
        "${run[@]}" --dims 2,2,2,2 --beta 6 a.lat --resume ck -o cut.lat
    "${run[@]}" --dims 2,2,2,2 --beta 6 --resume ck -o cut.lat
    "${run[@]}" --dims 2,2,2,2 --beta 6 -o straight.lat
    cmp straight.lat cut.lat
}

@test "lat-plaq --sd gives no beta where the force is rounding alone, as for a classical field" {
    local p
    for p in single double; do
        lat-start cold -d 4,4,4,4 -p $p | lat-gauge --random --seed 3 | lat-plaq --sd --tsv > sd.tsv
        [ "$(field sd.tsv sd_beta)" = nan ]
        lat-start cold -d 4,4,4,4 -p $p | lat-plaq --sd > text
        run ! grep -E 'beta by these +[0-9i]' text
    done
    # A weak field has one, though it is large.
    lat-start weak -d 4,4,4,4 --epsilon 1e-4 | lat-plaq --sd --tsv > sd.tsv
    awk -v b="$(field sd.tsv sd_beta)" 'BEGIN { exit !(b > 1e6 && b < 1e12) }'
}
