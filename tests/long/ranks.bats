#!/usr/bin/env bats
# Purpose: the tests of several ranks with more numbers of ranks for each gauge, and killed at more moments.
load ../helper

@test "each gauge and action on two, three and four ranks; ranks that are killed at 20 random moments" {
    need_mpi
    LAT_RANKS="2 3 4" LAT_ROUNDS=20 bats "$ROOT"/tests/ranks.bats "$ROOT"/tests/ranks_bytes.bats
}

@test "emulated GPUs that share a lattice have the bytes of one, on all grids and by all transports" {
    need_mpi
    [ -n "${LAT_CHECKS-}" ] || skip "LAT_CHECKS, the folder of check programs, is not set"
    "$LAT_CHECKS/../emulator/check_emulated_dirac" grids
}
