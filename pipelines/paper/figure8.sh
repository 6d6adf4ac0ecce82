#!/bin/bash
# Figure 8: distance of random starts below the best one, at beta = 5.7, without, with some and with more annealing:
# pipelines/paper/figure8.sh FOLDER
# GAUGE=mag does maximally Abelian gauge, which the paper does not show. FOLDER/GAUGE/table.tsv has the means, figure8.png and .pdf are the
# picture.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

: "${GAUGE:=landau}"
: "${STEPS:=$(gpu '0 3000 10000' '0 300 1000')}" # temperatures of each run; the paper's are 0, 3000 and 10000
: "${MICRO:=3}"            # microcanonical sweeps at each temperature, as in the paper
: "${T_FIRST:=4}"          # as in the paper, from above the rise of F
: "${T_LAST:=1e-4}"        # as in the paper
: "${THETA:=1e-10}"        # as in the paper
: "${SCHEME:=su3}"         # su2 is the paper's, with its OMEGA; the maxima are the same, su3 is there sooner
: "${PRECISION:=$(gpu mixed double)}"
: "${SAME:=1e-9}"          # relative deviation below which two copies are the same

folder=$1
mkdir -p "$folder/$GAUGE"
config=$(thermal "$folder")
cd "$folder/$GAUGE"
how="--overrelax $SCHEME"
[ "$SCHEME" = su3 ] || how+=" --omega $OMEGA"

relax() {
    # shellcheck disable=SC2086 # two words or four
    unconverged lat-orelax -q --gauge "$GAUGE" $how --theta "$THETA" --precision "$PRECISION" --keep --copies-log "steps-$1.tsv" \
        -o /dev/null "${@:2}"
}
annealed() {
    lat-anneal -q --gauge "$GAUGE" --from "$T_FIRST" --to "$T_LAST" --steps "$1" --micro "$MICRO" "${@:2}" "$config" | relax "$1"
}

logs=()
for steps in $STEPS; do
    if [ "$steps" = 0 ]; then batches steps-0 relax 0 "$config"; else batches "steps-$steps" annealed "$steps"; fi
    together "steps-$steps" "steps-$steps"
    logs+=("steps-$steps.tsv")
done

best=$(awk -F'\t' 'FNR > 1 && $7' "${logs[@]}" | cut -f4 | sort -g | tail -n 1)
{
    printf 'steps\tcopies\tconverged\tF_mean\tF_spread\tmean_deviation\tF_best\tshare_of_best\tsweeps\n'
    for log in "${logs[@]}"; do
        awk -F'\t' -v name="${log//[!0-9]/}" -v best="$best" -v same="$SAME" '
            FNR == 1 { next }
            { copies++ }
            $7 { n++; d = $4 - best; F += d; FF += d * d; hits += -d <= same * best; sweeps += $6; if (n == 1 || $4 > top) top = $4 }
            END { printf "%s\t%d\t%d\t%.9f\t%.2e\t%.2e\t%.9f\t%.2f\t%.0f\n", name, copies, n, best + F / n, sqrt(FF / n - (F / n)^2 + 1e-30), -F / n / best, top, hits / n, sweeps / n }' "$log"
    done
} >table.tsv
column -t -s '	' table.tsv 2>/dev/null || cat table.tsv
"$here/../plots/draw.sh" copies.gp figure8 "${logs[@]}"
