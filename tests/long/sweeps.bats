#!/usr/bin/env bats
# Purpose: the number of sweeps against omega on thermal lattices; bench/sweeps.awk decides.
load ../helper

# measure EXTENT: on EXTENT^4, with what the environment says; what build/sweeps has already stays.
measure() {
    LAT_BIN=${LAT_BIN:-$ROOT/bin} "$ROOT/bench/sweeps.sh" "$ROOT/build/sweeps" "$1"
}

@test "omega auto is within 25 % of the best, and su3 takes a fifth of the sweeps of su2, on 8^4 and 16^4" {
    measure 8
    measure 16
}

@test "omega auto is within 25 % of the best on 24^4" {
    SCHEMES=su3 OMEGAS="1.93 1.96 1.98" STARTS=4 measure 24
}
