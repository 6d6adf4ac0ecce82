#!/usr/bin/env bats
# Campaigns of docs/robustness.md that take minutes.
load ../helper

@test "whatever call of any tool fails, all is said and nothing is left" {
    [ -n "${LAT_FAULTS-}" ] || skip "LAT_FAULTS, the program check_faults, is not set"
    "$LAT_FAULTS" full
}
