#!/usr/bin/env bats
# Purpose: lat-anneal samples the distribution that it should, gets colder, and raises the functional (simulated annealing).
# shellcheck disable=SC2154  # status, output and stderr are set by run
load helper

# mean LOG: mean of F over the lines of a log after the first fifth.
mean() {
    awk -F'\t' '!/^#/ && NR > 1 { f[n++] = $4 } END { for (i = int(n / 5); i < n; i++) { s += f[i]; m++ } printf "%.6f\n", s / m }' "$1"
}

@test "mean functional at fixed temperature: known values, Landau and maximally Abelian" {
    need_data milc_lat.sample.l4444
    lat-convert "$DATA/milc_lat.sample.l4444" | lat-reunit --precision double -o a.lat
    # Independent programs, a heat bath and Metropolis, give .50175 and .50194; .44238 and .44270; .76782 and .76802.
    # 8000 sweeps with an autocorrelation time of 2 to 10 leave errors of 0.0002 to 0.0005.
    while read -r gauge temperature expected; do
        lat-anneal --gauge "$gauge" --from "$temperature" --to "$temperature" --steps 8000 --check-every 1 --precision double --log log.tsv a.lat -o b.lat
        near "$(mean log.tsv)" "$expected" 0.0015
    done <<'END'
landau 1 .50185
mag 1 .44254
mag 0.3 .76792
mag 2 .3796
END
}

@test "heat bath and Metropolis agree, single and double agree" {
    rough a.lat --dims 4,4,4,4
    for gauge in landau coulomb mag; do
        lat-anneal --gauge $gauge --from 0.6 --to 0.6 --steps 3000 --check-every 1 --precision double --log d.tsv a.lat -o b.lat
        lat-anneal --gauge $gauge --from 0.6 --to 0.6 --steps 3000 --check-every 1 --precision single --log s.tsv a.lat -o b.lat
        lat-anneal --gauge $gauge --from 0.6 --to 0.6 --steps 6000 --check-every 1 --update metropolis --precision double --log m.tsv a.lat -o b.lat
        # Errors of about 0.0003, of Metropolis three times that.
        near "$(mean d.tsv)" "$(mean s.tsv)" 0.002
        near "$(mean d.tsv)" "$(mean m.tsv)" 0.004
    done
}

@test "microcanonical sweeps leave the functional as it is" {
    rough a.lat --dims 4,4,6,4
    for gauge in landau coulomb mag; do
        # The first step is the same with the same seed; then mirrors, none or a hundred.
        lat-anneal --gauge $gauge --from 0.5 --to 0.5 --steps 1 --micro 0 --precision double --log zero.tsv a.lat -o b.lat
        lat-anneal --gauge $gauge --from 0.5 --to 0.5 --steps 1 --micro 100 --precision double --log many.tsv a.lat -o c.lat
        # 300 hits a site, each a few roundings of terms of order 1, in a mean over sites.
        near "$(tail -n 1 zero.tsv | cut -f4)" "$(tail -n 1 many.tsv | cut -f4)" 1e-13
        run -3 lat-diff --tolerance 1e-3 b.lat c.lat # but g has moved
    done
}

@test "annealing from hot to cold and relaxing ends in a gauge, with the same physics" {
    rough raw.lat --dims 4,4,4,8
    lat-gauge --random --seed 2 raw.lat -o a.lat
    for gauge in landau coulomb mag; do
        run -0 bash -o pipefail -c "lat-anneal --gauge $gauge --steps 100 a.lat | lat-orelax --gauge $gauge --theta 1e-13 -o b.lat"
        [ -z "$output" ]
        lat-theta --require-theta 1e-13 b.lat
        near "$(column a.lat plaquette)" "$(column b.lat plaquette)" 1e-13
        near "$(column a.lat polyakov_t_re)" "$(column b.lat polyakov_t_re)" 1e-13
    done
}

@test "both ends of the schedule are reached, linear and geometric" {
    rough a.lat --dims 4,4,4,4
    for schedule in linear geometric; do
        lat-anneal --from 2 --to 0.125 --steps 5 --schedule $schedule --log log.tsv a.lat -o b.lat
        [ "$(head -n 1 log.tsv)" = "config	step	T	F	theta	seconds	copy" ]
        cut -f3 log.tsv | tail -n +2 >$schedule.txt
    done
    printf '2\n1.53125\n1.0625\n0.59375\n0.125\n' | cmp - linear.txt
    printf '2\n1\n0.5\n0.25\n0.125\n' | cmp - geometric.txt
}

@test "the same seed gives the same bytes on any number of threads, another seed others" {
    rough a.lat --dims 8,4,4,4
    for gauge in landau coulomb mag; do
        lat-anneal --gauge $gauge --steps 20 --seed 7 -@ 1 a.lat -o one.lat
        lat-anneal --gauge $gauge --steps 20 --seed 7 -@ 3 a.lat -o three.lat
        lat-anneal --gauge $gauge --steps 20 --seed 8 a.lat -o other.lat
        cmp one.lat three.lat
        run -1 cmp -s one.lat other.lat
    done
}

@test "random numbers do not depend on the length of vectors" {
    rough a.lat --dims 6,4,4,4
    for gauge in landau mag; do
        for l in base avx2 avx512; do
            LAT_LANES=$l lat-anneal --gauge $gauge --steps 3 --precision double --no-provenance a.lat -o $l.lat
            # Three steps amplify rounding only so far.
            lat-diff --tolerance 1e-9 base.lat $l.lat
        done
    done
}

@test "SU(2) to SU(8) anneal" {
    for n in $(groups 2 4 5 8); do
        rough a.lat --group "$n" --dims 4,4,2,4
        lat-anneal --steps 20 a.lat | lat-orelax --theta 1e-12 -o b.lat
        lat-theta --require-theta 1e-12 b.lat
        near "$(column a.lat plaquette)" "$(column b.lat plaquette)" 1e-13
    done
}

@test "bad schedules are usage errors" {
    rough a.lat --dims 4,4,4,4
    for bad in "--from 0" "--to -1" "--steps 0" "--micro -1" "--schedule cubic" "--update magic"; do
        # shellcheck disable=SC2086
        run -2 lat-anneal $bad a.lat -o b.lat
    done
    refuses 2 '--from: expected a temperature of at least --to 1.5, found 1.4' lat-anneal --to 1.5 a.lat -o b.lat
    refuses 2 '--steps 1 is the temperature of --to alone' lat-anneal --steps 1 --from 1 a.lat -o b.lat
    refuses 2 '--steps 1 is the temperature of --to alone' lat-anneal --steps 1 --schedule geometric a.lat -o b.lat
    [ ! -e b.lat ]
}

@test "SIGUSR1 is answered within a temperature or two, however rare the lines of the log are" {
    rough a.lat --dims 4,4,4,4
    local pid i
    lat-anneal -q --steps 100000000 --check-every 100000000 --log log.tsv a.lat -o b.lat 2>err 3>&- &
    pid=$!
    for ((i = 0; i < 500; i++)); do
        [ -z "$(find . -name '.b.lat.*')" ] || break
        sleep 0.02
    done
    kill -USR1 $pid
    for ((i = 0; i < 500; i++)); do
        [ ! -s err ] || break
        sleep 0.02
    done
    kill $pid
    wait $pid || true
    grep -qE '^lat-anneal: F .* step [0-9]+ of 100000000 .* a.lat:0$' err
    [ "$(wc -l <err)" -eq 1 ]
    [ ! -s log.tsv ] # no line of it was due
}

@test "an annealed stream names its gauge, which lat-orelax follows, and a contradiction is refused unless forced" {
    rough a.lat --dims 4,4,4,6
    for gauge in landau "landau --weights 1,1,1,0.5" coulomb "coulomb --time x" mag; do
        # shellcheck disable=SC2086 # several words
        lat-anneal --gauge $gauge --steps 20 a.lat -o near.lat
        case $gauge in *x) name=coulomb.x ;; *) name=${gauge%% *} ;; esac
        lat-info near.lat > info
        grep -qx "gauge       none" info
        grep -q "annealed_for = $name\$" info
        [ "$(column near.lat gauge)" = "$name" ]
        lat-orelax --theta 1e-12 near.lat -o followed.lat
        # shellcheck disable=SC2086
        lat-orelax --theta 1e-12 --gauge $gauge near.lat -o asked.lat
        lat-diff --tolerance 0 followed.lat asked.lat
        lat-info followed.lat > info
        grep -qx "gauge       $name" info
        # What is fixed is not only near.
        run -1 grep annealed info
    done
    # mag; other gauges contradict it.
    for other in landau coulomb; do
        run -2 lat-orelax --gauge $other near.lat -o never.lat
        [[ $output == *"was annealed for gauge mag, found options for $other"* ]]
        [ ! -e never.lat ]
    done
    run -2 lat-orelax --weights 1,1,1,0.5 near.lat -o never.lat
    run -0 --separate-stderr lat-orelax --gauge landau --theta 1e-10 --force near.lat -o forced.lat
    [[ $stderr == *"was annealed for gauge mag, and is taken to landau"* ]]
    [ "$(column forced.lat gauge)" = landau ]
    # Copies, axes in another order, and links that have moved away.
    lat-anneal --gauge coulomb --time y --copies 2 --steps 5 a.lat | lat-orelax --theta 1e-10 -o copies.lat
    [ "$(column copies.lat gauge)" = coulomb.y ]
    lat-anneal --gauge coulomb --time y --steps 5 a.lat | lat-reorder --axes y,x,z,t | lat-info | grep -q "annealed_for = coulomb.x"
    lat-anneal --gauge mag --steps 5 a.lat | lat-gauge --random > away.lat
    run -1 grep -a annealed_for away.lat
}
