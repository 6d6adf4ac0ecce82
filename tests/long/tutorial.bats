#!/usr/bin/env bats
# Purpose: docs/tutorial.md shows what its commands print, as they stand: sizes and seeds, on AVX-512 and on AVX2.
load ../helper

# The commands of each block of the page in N.sh, the lines shown right after it in N.shown, and those of AVX2 in avx2.shown.
split() {
    awk '/^## Numbers on AVX2/ { last = "avx2.shown"; n = 0; next }
        /^```sh$/ { n++; on = 1; next } /^```$/ { on = 0; last = n ".shown"; next }
        on { print > (n ".sh"); next }
        /^    / { if (last) print substr($0, 5) > last; next }
        NF && last != "avx2.shown" { last = "" }' "$ROOT/docs/tutorial.md"
}

# prints SHOWN OUT...: OUT has each line of SHOWN. Numbers agree to 1e-7: compilers and libraries move the last digits. Those of
# rounding errors, below 1e-14, agree to 1e-15.
prints() {
    awk '
        function abs(x) { return x < 0 ? -x : x }
        function number(word) { return word ~ /^[-+]?[0-9.]+(e[-+]?[0-9]+)?$/ }
        function same(a, b, n, i, x, y, d) {
            n = split(a, x); if (split(b, y) != n) return 0
            for (i = 1; i <= n; i++) {
                if (x[i] == y[i]) continue
                if (!number(x[i]) || !number(y[i])) return 0
                d = abs(x[i] - y[i])
                if (!(d <= 1e-7 * abs(x[i]) || (abs(x[i]) < 1e-14 && d <= 1e-15))) return 0
            }
            return 1
        }
        NR == FNR { want[++wants] = $0; next }
        { for (i = 1; i <= wants; i++) if (!found[i]) found[i] = same(want[i], $0) }
        END { for (i = 1; i <= wants; i++) if (!found[i]) { print "not printed: " want[i]; bad = 1 }; exit bad || !wants }' "$@"
}

# run_blocks LAST: blocks 1 to LAST, in one shell after the other, in the same folder.
run_blocks() {
    local n
    LAT_PIPELINES=$ROOT/pipelines
    export LAT_PIPELINES
    for ((n = 1; n <= $1; n++)); do bash -euo pipefail $n.sh >$n.out 2>&1 || { cat $n.out; return 1; }; done
}

@test "each line of output that the tutorial shows is printed by the commands before it" {
    grep -q avx512dq /proc/cpuinfo || skip "no AVX-512: other vector lengths make other configurations"
    [ -x "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] || skip "lat-gluon was not built: no FFTW"
    split
    local last shown=0
    last=$(find . -name '*.sh' | wc -l)
    run_blocks "$last"
    for ((n = 1; n <= last; n++)); do
        [ -e $n.shown ] || continue
        prints $n.shown $n.out || { echo "block $n"; cat $n.out; return 1; }
        shown=$((shown + $(wc -l <$n.shown)))
    done
    [ $shown -ge 25 ]
}

@test "AVX2 prints the lines that the tutorial shows of it" {
    grep -q avx2 /proc/cpuinfo || skip "no AVX2"
    split
    export LAT_LANES=avx2
    local last
    last=$(grep -l '^lat-subspace' ./*.sh)
    last=${last//[^0-9]/}
    run_blocks "$last"
    cat ./*.out >all
    prints avx2.shown all
    [ "$(wc -l <avx2.shown)" -ge 15 ]
}
