#!/usr/bin/env bats
# Purpose: Dirac operators and their solvers on hundreds of random small lattices, of several seeds, against plain dense references.
# The lattices are not cubic, with ratios of three and five; SU(2) and SU(3); anisotropic, with clover and twist, of all boundaries.
load ../helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    [ -n "${LAT_CHECKS-}" ] || skip "LAT_CHECKS, the folder of the check programs, is not set"
}

@test "operators and Schur complements of 1000 random lattices are those of the dense reference" {
    local seed
    for seed in 1 2 3 4 5; do
        GOMP_SPINCOUNT=2000 "$LAT_CHECKS/check_dirac" random $seed 200 || { echo "seed $seed"; return 1; }
    done
}

@test "solutions of 1000 random lattices, by all solvers, are those of elimination" {
    local first
    for first in 1001 2001 3001 4001 5001; do
        "$LAT_CHECKS/check_wilson" $first 200 || { echo "from $first on"; return 1; }
    done
}

@test "conjugate gradients that are slow, as a residual travels along a lattice of 5500 slices, are not given up" {
    lat-start cold --group 2 --dims 2,2,2,5500 -o u.lat
    lat-solve --mass .0005 --solver cg --columns 0 --source point:0,0,0,0 u.lat -o x.lat --log log.tsv
    awk 'NR == 2 { exit !($6 > 5000 && $9 == "cg") }' log.tsv
}
