#!/usr/bin/env bats
# Purpose: docs/tutorial.md shows what its commands print, as they stand: sizes, seeds and all digits.
load ../helper

@test "each line of output that the tutorial shows is printed by the commands before it" {
    grep -q avx512dq /proc/cpuinfo || skip "no AVX-512: other vector lengths round differently"
    [ -x "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] || skip "lat-gluon was not built: no FFTW"
    LAT_PIPELINES=$ROOT/pipelines
    export LAT_PIPELINES
    # The commands of each block of the page in a file, and the lines shown after it, up to the next block, in another one.
    awk '/^```sh$/ { n++; on = 1; next } /^```$/ { on = 0; next }
        on { print > (n ".sh") }
        !on && n && /^    / && !/draw.sh/ { print substr($0, 5) > (n ".shown") }' "$ROOT/docs/tutorial.md"
    local n=1 line shown=0
    while [ -e $n.sh ]; do
        # In one shell after the other, in the same folder.
        bash -euo pipefail $n.sh >$n.out 2>&1 || { cat $n.out; return 1; }
        [ ! -e $n.shown ] || while IFS= read -r line; do
            grep -qxF -- "$line" $n.out || { echo "block $n does not print: $line"; cat $n.out; return 1; }
            shown=$((shown + 1))
        done <$n.shown
        n=$((n + 1))
    done
    [ $shown -ge 25 ]
}
