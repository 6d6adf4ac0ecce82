#!/usr/bin/env bats
# Purpose: ranks that cut a lattice along y, z and t, as --grid says, give the bytes of one rank.
# shellcheck disable=SC2154  # stderr is set by run
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    need_mpi
}

# links FILE OPTION...: links for the tests, with odd numbers of vectors and parts of t that differ.
links() {
    lat-heatbath -q -@ 1 --beta 6 --thermalise 3 --seed 7 "${@:2}" -o "$1"
}

# same GRIDS COMMAND...: it writes the same bytes on each of these grids as on one rank.
same() {
    local grid
    "${@:2}" -@ 1 -o one.lat
    for grid in $1; do
        echo "--grid $grid: ${*:2}"
        "${@:2}" -@ 1 --grid "$grid" -o many.lat
        cmp one.lat many.lat
    done
}

# Some grids of up to eight ranks: y alone, z in four, parts of t that differ, all three; tests/long/grids.bats takes all.
grids=${LAT_GRIDS:-1,2,1,1 1,1,4,1 1,1,2,3 1,2,2,2}

@test "configurations are generated as on one rank" {
    links u.lat --dims 6,4,8,12
    same "$grids" lat-heatbath -q --no-provenance --beta 5.9 --thermalise 1 --overrelax 2 --seed 3 u.lat
    links two.lat --dims 4,8,6 -N 2
    same "1,2,1 1,2,3 1,4,1" lat-heatbath -q --no-provenance --beta 5.9 --thermalise 2 --seed 3 two.lat
}

@test "gauges are fixed as on one rank: copies, maximally Abelian, Coulomb, mixed, annealing" {
    links u.lat --dims 6,4,8,12
    same "$grids" lat-orelax -q --no-provenance --copies 2 --theta 1e-6 u.lat
    links v.lat --dims 4,4,4,8
    same "1,1,2,2 1,2,2,1" lat-orelax -q --no-provenance --gauge mag --theta 1e-4 v.lat
    same "1,1,2,2 1,2,2,1" lat-orelax -q --no-provenance -p mixed --theta 1e-12 v.lat
    same "1,1,2,2" lat-orelax -q --no-provenance --gauge coulomb --theta 1e-8 v.lat # slices are whole
    same "1,1,2,2" lat-orelax -q --no-provenance --gauge coulomb --time x --theta 1e-2 v.lat
    same "1,2,2,1" lat-anneal -q --no-provenance --steps 3 v.lat
    local coulomb=(lat-orelax -q --gauge coulomb v.lat -o x.lat)
    refuses 2 "slices across x: expected a --grid with one rank along y" "${coulomb[@]}" --time x --grid 1,2,1,2
    refuses 2 "slices across z: expected a --grid with one rank along z" "${coulomb[@]}" --time z --grid 1,1,2,2
    nothing_left
}

@test "links flow as on one rank" {
    links u.lat --dims 4,8,8,6
    local grid steps=(--until .1) rectangles=(--until .06 --every .02 --step .02 --action symanzik --by-slice)
    lat-flow -@ 1 "${steps[@]}" u.lat >one.tsv
    lat-flow -@ 1 "${rectangles[@]}" u.lat >rectangles.tsv
    for grid in 1,1,2,2 1,2,2,1 1,1,1,3; do
        lat-flow -@ 1 --grid $grid "${steps[@]}" u.lat | cmp one.tsv
        lat-flow -@ 1 --grid $grid "${rectangles[@]}" u.lat | cmp rectangles.tsv
    done
}

@test "quarks are solved as on one rank: Wilson, clover, twisted, anisotropic, single, SU(2), modes, overlap" {
    local solve=(lat-solve -q --no-provenance) point=(--source "point:1,0,3,0") one=(--columns 0)
    links u.lat --dims 6,4,8,12
    same "$grids" "${solve[@]}" --kappa .12 --csw 1.2 --source point:1,2,3,0 --columns 0,5 u.lat
    links v.lat --dims 4,4,4,8
    same "1,1,2,2 1,2,2,1" "${solve[@]}" --kappa .12 --twist .1 --xi 1.2 --boundary p,a,.3,a "${point[@]}" "${one[@]}" v.lat
    same "1,1,2,2 1,2,2,1" "${solve[@]}" --kappa .12 -p single --residual 1e-5 "${point[@]}" v.lat
    same "1,1,2,2" "${solve[@]}" --masses .2,.3 "${point[@]}" "${one[@]}" v.lat
    same "1,1,2,2 1,2,2,1" lat-modes -q --no-provenance --kappa .12 --modes 4 --residual 1e-6 v.lat
    same "1,1,2,2" "${solve[@]}" --operator overlap --mu .1 --source point:0,0,0,0 "${one[@]}" --residual 1e-6 v.lat
    lat-source point:0,1,2,3 v.lat -o source.lat
    same "1,1,2,2 1,2,2,1" lat-dirac --no-provenance --apply M --kappa .12 --csw 1.3 -U v.lat source.lat
    links w.lat --dims 4,8,4,6 -N 2
    same "1,2,1,3 1,2,2,1" "${solve[@]}" --kappa .12 --source point:0,0,0,0 "${one[@]}" w.lat
}

@test "a multigrid is made, and solves, as on one rank" {
    links u.lat --dims 4,8,8,16
    same "1,2,2,1 1,2,1,2" lat-subspace -q --no-provenance --kappa .14 --csw 1.2 u.lat
    lat-subspace -q --kappa .14 --csw 1.2 u.lat -o sub.lat
    same "1,1,2,2 1,2,1,4" lat-solve -q --no-provenance --subspace sub.lat --kappa .14 --csw 1.2 --twist .01 \
        --source point:0,0,0,0 --columns 0,1 u.lat
}

@test "what a grid of ranks began goes on on another one" {
    links u.lat --dims 4,4,8,8
    local heat=(lat-heatbath -q -@ 1 --no-provenance --beta 5.9 --thermalise 30 --seed 3 u.lat)
    "${heat[@]}" -o whole.lat
    run -1 --separate-stderr "${heat[@]}" --grid 1,1,2,2 --checkpoint ck --checkpoint-every 0 -o no/where.lat
    kill_a_rank 4 "${heat[@]}" --grid 1,1,2,2 --checkpoint-every 0
    "${heat[@]}" --grid 1,2,1,3 --resume ck -o cut.lat
    cmp whole.lat cut.lat
}

@test "the default: slabs as far as they go, then parts of z; --verbose says it" {
    links u.lat --dims 4,4,4,8
    run -0 --separate-stderr lat-heatbath -q -v -@ 1 -n 8 --beta 6 --thermalise 1 u.lat -o x.lat
    [[ "$stderr" = *", grid 1,1,2,4" ]]
    run -0 --separate-stderr lat-heatbath -q -v -@ 1 -n 3 --beta 6 --thermalise 1 u.lat -o x.lat
    [[ "$stderr" = *", grid 1,1,1,3" ]]
}

@test "--help says which axes --grid may cut: the last one alone, or others, too" {
    local tool
    for tool in lat-heatbath lat-solve lat-modes; do $tool --help | grep -A 2 -e --grid= | grep -q "such as 1,1,2,4"; done
    for tool in lat-corr lat-quark lat-theta; do
        $tool --help | grep -A 2 -e --grid= | tr -s '\n ' ' ' | grep -q "such as 1,1,1,4: this tool cuts the last axis alone"
    done
}

@test "grids that cannot be are refused, with one that can" {
    links u.lat --dims 4,4,4,8
    local heat=(lat-heatbath -q --beta 6 --thermalise 1 u.lat -o x.lat) grid
    local parts="parts of two slices or more, even but along the last axis, and x whole"
    local solve=(lat-solve -q --kappa .12 --source "point:0,0,0,0" -o x.lat)
    for grid in 2,1,1,2 1,1,4,1 1,4,1,1; do
        refuses 2 "--grid $grid: expected for lattice 4 4 4 8 and 4 ranks $parts, such as --grid 1,1,1,4" \
            "${heat[@]}" --grid $grid
    done
    refuses 2 "--grid 1,1,1,5: expected for lattice 4 4 4 8 and 5 ranks $parts, no grid of so many ranks" \
        "${heat[@]}" --grid 1,1,1,5
    refuses 2 "--grid 1,1,2: expected for" "${heat[@]}" --grid 1,1,2
    refuses 2 "expected as many ranks as -n says, 3, found 4" "${heat[@]}" --grid 1,1,2,2 -n 3
    refuses 2 "--grid: expected numbers of ranks such as 1,1,2,4, found 'two'" "${heat[@]}" --grid two
    refuses 2 "--grid 1,1,2,2: lat-theta cuts the last axis of a lattice alone; -n 4 does so" \
        lat-theta --grid 1,1,2,2 u.lat
    refuses 2 "--grid: expected numbers of ranks such as 1,1,1,4, found 'two'" lat-theta --grid two u.lat
    lat-theta --grid 1,1,1,2 u.lat
    links blocks.lat --dims 4,4,8,4
    refuses 1 "multigrid: an extent of 8 in z has 2 blocks, which 4 ranks cannot share: expected a number of ranks that divides it" \
        "${solve[@]}" --solver mg --grid 1,1,4,1 blocks.lat
    links long.lat --dims 4,4,12,12
    refuses 2 "--grid with 6 ranks along z: expected at most 2 of lattice 4 4 12 12" "${solve[@]}" --grid 1,1,6,1 long.lat
    rm -f x.lat
    nothing_left
}
