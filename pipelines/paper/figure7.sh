#!/bin/bash
# Figure 7: functional and theta while a hot field is annealed, and the temperatures between which the functional rises:
# pipelines/paper/figure7.sh FOLDER
# FOLDER/figure7.tsv has the temperatures, GAUGE.png and .pdf are pictures.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

: "${STEPS:=$(gpu 10000 1000)}" # the paper: 10000
: "${MICRO:=3}"
: "${T_FIRST:=6}"               # well above the rise
: "${T_LAST:=0.001}"
: "${GAUGES:=landau mag}"

folder=$1
mkdir -p "$folder"
cd "$folder"
[ -e "hot-$EXTENT.lat" ] || lat-start hot --dims "$EXTENT,$EXTENT,$EXTENT,$EXTENT" --seed "$SEED" -o "hot-$EXTENT.lat"

printf 'gauge\tT_at_5_percent\tT_at_half\tT_at_95_percent\tsteepest\tF_first\tF_last\tpaper\n' >figure7.tsv
for gauge in $GAUGES; do
    lat-anneal -q --gauge "$gauge" --from "$T_FIRST" --to "$T_LAST" --steps "$STEPS" --micro "$MICRO" --seed "$SEED" \
        --check-every $(((STEPS + 499) / 500)) --log "$gauge.tsv" -o /dev/null "hot-$EXTENT.lat"
    # The columns: config step T F theta seconds copy. Steepest: between lines a twentieth of the range apart.
    awk -F'\t' -v gauge="$gauge" -v paper="$(case $gauge in landau) echo 'below 4' ;; mag) echo 'below 2' ;; esac)" '
        FNR == 1 || /^#/ { next }
        { T[++n] = $3; F[n] = $4 }
        END {
            for (i = 2; i <= n; i++) {
                f = (F[i] - F[1]) / (F[n] - F[1])
                if (f >= 0.05 && !a) a = T[i]
                if (f >= 0.5 && !b) b = T[i]
                if (f >= 0.95 && !c) c = T[i]
                j = i - 10
                if (j > 0 && (F[i] - F[j]) / (T[j] - T[i]) > slope) { slope = (F[i] - F[j]) / (T[j] - T[i]); steep = (T[i] + T[j]) / 2 }
            }
            printf "%s\t%.2f\t%.3f\t%.3f\t%.2f\t%.4f\t%.4f\t%s\n", gauge, a, b, c, steep, F[1], F[n], paper }' "$gauge.tsv" >>figure7.tsv
    "$here/../plots/draw.sh" history.gp "$gauge" "$gauge.tsv"
done
column -t -s '	' figure7.tsv 2>/dev/null || cat figure7.tsv
