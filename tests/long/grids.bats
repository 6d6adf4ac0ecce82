#!/usr/bin/env bats
# Purpose: the tests of tests/grids.bats on all grids of one to eight ranks that 6,4,8,12 can be cut into.
load ../helper

@test "all grids of up to eight ranks give the bytes of one rank" {
    need_mpi
    local y z t grids=
    for y in 1 2; do
        for z in 1 2 4; do
            for t in 1 2 3 4 5 6; do
                [ $((y * z * t)) -gt 8 ] || grids+=" 1,$y,$z,$t"
            done
        done
    done
    LAT_GRIDS=$grids bats "$ROOT/tests/grids.bats"
}
