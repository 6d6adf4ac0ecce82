#!/usr/bin/env bats
# Purpose: rounding over 12000 sweeps on 16^4 stays within the bounds of docs.
load ../helper

@test "over 12000 sweeps on 16^4 ours in single stays within 1e-6 of double, where links rotated in place drift by 1e-5" {
    [ -n "${LAT_BENCH-}" ] || skip "LAT_BENCH, the folder of the bench programs, is not set"
    local folder=$ROOT/build/accuracy
    # The program judges the first half.
    LAT_BIN=${LAT_BIN:-$ROOT/bin} "$ROOT/bench/accuracy.sh" "$LAT_BENCH/accuracy" "$folder" 16
    awk -F'\t' '{ f[$1] = $5; last[$1] = $2 }
        END {
            drift = 1 - f["in-place-single"] / f["in-place-double"]
            print "drift", drift
            exit !(last["in-place-single"] == 12000 && drift * drift >= 1e-10)
        }' "$folder/accuracy-16.tsv"
}
