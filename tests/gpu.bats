#!/usr/bin/env bats
# --device gpu does what --device cpu does. Skipped where there is no GPU.
load helper
load heatbath

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    rough a.lat --dims 4,6,8,10
    lat-orelax --device gpu --max-sweeps 0 --keep -q a.lat -o there.lat 2>said || [ $? -eq 3 ] || skip "$(cat said)"
}

@test "lat-orelax on the GPU reaches the maximum that the CPU reaches, in every gauge" {
    for gauge in landau coulomb mag; do
        for d in cpu gpu; do
            lat-orelax --device $d --gauge $gauge --theta 1e-14 a.lat -o $d.lat
            lat-theta --gauge $gauge --require-theta 1e-14 $d.lat
            lat-info $d.lat | grep -q "$d"
        done
        # Where theta is 1e-14, F is some 1e-15 below the maximum.
        near "$(column cpu.lat functional --gauge $gauge)" "$(column gpu.lat functional --gauge $gauge)" 1e-12
    done
}

@test "lat-anneal on the GPU follows the CPU, in every gauge" {
    for gauge in landau coulomb mag; do
        for d in cpu gpu; do
            lat-anneal --device $d --gauge $gauge --precision double --from 0.5 --to 0.1 --steps 20 --micro 2 --check-every 1 --log $d.tsv a.lat -o $d.lat
        done
        paste <(cut -f4 cpu.tsv) <(cut -f4 gpu.tsv) | awk -F'\t' 'NR > 1 && NF == 2 { d = $1 - $2; if (!(d < 1e-12 && d > -1e-12)) bad = 1; n++ }
            END { exit bad || n < 20 }'
    done
}

@test "mixed and single precision on the GPU reach what they promise" {
    lat-orelax --device gpu --precision mixed --theta 1e-20 a.lat -o b.lat
    lat-theta --require-theta 1e-20 b.lat
    lat-orelax --device gpu --precision single --theta 1e-10 a.lat -o b.lat
    lat-theta --require-theta 1e-10 b.lat
}

@test "the GPU gives the same bytes each time" {
    for i in 1 2; do
        lat-anneal --device gpu --steps 30 --no-provenance a.lat | lat-orelax --device gpu --theta 1e-12 --no-provenance -o $i.lat
    done
    cmp 1.lat 2.lat
}

@test "where there is a GPU, auto takes it" {
    lat-orelax --theta 1e-12 a.lat -o b.lat
    lat-info b.lat | grep -q "gpu"
}

@test "lat-heatbath on the GPU follows the CPU, and its own continuation gives the same bytes" {
    for d in cpu gpu; do
        lat-heatbath --device $d --dims 4,6,8,10 --beta 6.0 --xi 1.2 --start hot --overrelax 0 --thermalise 10 --every 10 --log $d.tsv -o $d.lat
        lat-info $d.lat | grep -q "$d"
    done
    # A heat bath draws trajectories together: rounding of plaquettes does not grow, that of links, most of it a gauge
    # transformation, does slowly.
    lat-diff --tolerance 1e-9 cpu.lat gpu.lat
    paste <(cut -f2 cpu.tsv) <(cut -f2 gpu.tsv) | awk -F'\t' 'NR > 1 { d = $1 - $2; if (!(d < 1e-11 && d > -1e-11)) bad = 1; n++ } END { exit bad || n != 20 }'
    for n in 2 3 5; do
        lat-heatbath --device gpu --group $n --dims 4,4,4,6 --beta $((n * n)) --thermalise 0 --every 2 --count 2 -o 'all.%d.lat'
        lat-heatbath --device gpu --group $n --dims 4,4,4,6 --beta $((n * n)) --thermalise 0 --every 2 -o part.lat
        lat-heatbath --device gpu part.lat -o part.lat
        cmp all.1.lat part.lat
    done
}

@test "plaquettes that the GPU makes are the exact ones of two dimensions" {
    while read -r n beta expected; do
        for p in single double; do
            lat-heatbath --device gpu --precision $p --group "$n" --dims 64,64 --beta "$beta" --overrelax 1 --thermalise 50 --every 1500 --seed 11 --log log.tsv -o a.lat
            agrees "$(mean plaquette log.tsv 50)" "$expected"
        done
    done <<'END'
2 2.5 .507195100047
3 5.7 .402716607316
4 8 .278892275871
5 17.1 .372116458700
END
}
