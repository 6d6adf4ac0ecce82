#!/bin/bash
# Figures 1 and 2: det U and the Landau functional over 12000 sweeps in single, mixed and double precision:
# pipelines/paper/figures1-2.sh FOLDER
# `make accuracy` of the sources does the runs (bench/accuracy.c). This prints the last line of each run beside the paper's figures.
set -euo pipefail
EXTENT=${EXTENT:-8} # scalar reference code, on the CPU: the paper's 32^4 takes a day
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

folder=$(realpath -m "$1")
mkdir -p "$folder"
program=$(tool accuracy) || { echo "figures1-2.sh: expected the sources, with bench/accuracy.c" >&2; exit 1; }
LAT_BIN=${LAT_BIN:-$root/bin} "$root/bench/accuracy.sh" "$program" "$folder" "$EXTENT" >"$folder/said" || { cat "$folder/said"; exit 1; }
# The columns: run sweep det_mean det_max functional theta ...
awk -F'\t' '
    FNR == 1 { next }
    { if (!($1 in det)) order[++n] = $1; det[$1] = $3; top[$1] = $4; F[$1] = $5; sweeps = $2 }
    END {
        paper["in-place-single"] = "det 1e-3, F falls after 3000 sweeps"
        paper["in-place-single-projected"] = "F within 2e-5"
        paper["in-place-mixed"] = "F within 2e-5"
        paper["in-place-mixed-projected"] = "F within 5e-6"
        paper["in-place-double"] = "det below 1e-12, the reference"
        printf "run\tsweeps\tmean_det_error\tlargest\tF_relative\tpaper, 32^4\n"
        for (i = 1; i <= n; i++) {
            r = order[i]; reference = F[r ~ /^ours/ ? "ours-double" : "in-place-double"]; d = F[r] / reference - 1
            printf "%s\t%d\t%.1e\t%.1e\t%.1e\t%s\n", r, sweeps, det[r], top[r], d < 0 ? -d : d, paper[r]
        } }' "$folder/accuracy-$EXTENT.tsv" >"$folder/figures1-2.tsv"
column -t -s '	' "$folder/figures1-2.tsv" 2>/dev/null || cat "$folder/figures1-2.tsv"
