#!/usr/bin/env bats
# --device gpu does what --device cpu does. Skipped where there is no GPU.
load helper

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
