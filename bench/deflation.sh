#!/usr/bin/env bash
# deflation.sh CONFIG KAPPA...: what deflation gains, in iterations and processor time of one thread.
#
# A point source of 12 columns is solved at each kappa without modes, by the default solver and by CG, and with MODES modes of gamma5 S.
# A row for each: kappa, how, modes, seconds for the modes, iterations (the mean of the columns), seconds a column, and the gain for 100
# and 1200 columns over the faster way without modes, the modes' own time included. A way that does not converge has "-".
#
#   CSW=1.5 MODES="16 48" bench/deflation.sh cfg.lat 0.13 0.131
set -euo pipefail
CSW=${CSW:-0}
MODES=${MODES:-32 64}      # how many
RESIDUAL=${RESIDUAL:-1e-3} # of the modes: more is not needed, and single precision has it
COLUMNS_SOLVED=${COLUMNS_SOLVED:-0,1,2,3,4,5,6,7,8,9,10,11}
MOST=${MOST:-4000} # iterations

[ $# -ge 2 ] || { sed -n '2,9p' "$0" >&2; exit 2; }
config=$1
shift
PATH=${LAT_BIN:-$(dirname "$0")/../bin}:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT=%U

# seconds COMMAND...: its processor time; "-" if it fails
seconds() {
    { time "$@" >/dev/null 2>"$work/err"; } 2>&1 || { sed 's/^/# /' "$work/err" >&2; echo -; } | tail -n 1
}

# solve NAME OPTION...: sets of NAME: iterations and seconds a column
solve() {
    rm -f "$work/log"
    local t
    t=$(seconds lat-solve -q -@ 1 --kappa "$kappa" --csw "$CSW" --columns "$COLUMNS_SOLVED" --max-iterations "$MOST" \
        --source point:0,0,0,0 --log "$work/log" "$@" "$config" | tail -n 1)
    if [ "$t" = - ] || [ ! -s "$work/log" ]; then
        echo "- -"
    else
        awk -v t="$t" 'NR > 1 { s += $6; n++ } END { printf "%.0f %.3f\n", s / n, t / n }' "$work/log"
    fi
}

printf 'kappa\thow\tmodes\tmodes_s\titerations\tcolumn_s\tgain_100\tgain_1200\n'
for kappa; do
    read -r ia a < <(solve)
    read -r ic c < <(solve --solver cg --even-odd asym)
    printf '%s\tauto\t0\t0\t%s\t%s\t1\t1\n%s\tcg\t0\t0\t%s\t%s\t\t\n' "$kappa" "$ia" "$a" "$kappa" "$ic" "$c"
    for k in $MODES; do
        m=$(seconds lat-modes -q -@ 1 --kappa "$kappa" --csw "$CSW" --matrix g5S --modes "$k" --residual "$RESIDUAL" "$config" -o "$work/modes" | tail -n 1)
        read -r id d < <(solve --deflate "$work/modes")
        awk -v a="$a" -v c="$c" -v m="$m" -v d="$d" -v kappa="$kappa" -v k="$k" -v id="$id" 'BEGIN {
            best = a == "-" || (c != "-" && c < a) ? c : a
            printf "%s\tdeflated\t%d\t%s\t%s\t%s", kappa, k, m, id, d
            for (n = 100; n <= 1200; n *= 12)
                printf "\t%s", best == "-" || d == "-" ? "-" : sprintf("%.2f", n * best / (m + n * d))
            printf "\n" }'
    done
done
