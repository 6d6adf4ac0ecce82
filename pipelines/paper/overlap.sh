#!/bin/bash
# Figures 5.4 and 5.5 of the diploma thesis on Wilson-Dirac and Neuberger operators in CUDA (docs/overlap.md, B): the time of the sign
# function a site and degree of its polynomial, and of a search for low modes of H a site and mode, on lattices of several extents:
# pipelines/paper/overlap.sh FOLDER
# FOLDER/degrees.tsv and FOLDER/modes.tsv have the numbers. The thesis is in single precision, one column, with 12 reals a link, and its
# modes come from conjugate gradients of the Ritz functional; Lanczos, twelve columns and double are beside it.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

: "${EXTENTS:=$(gpu '4 8 16 24 32' '4 8')}"   # of the sign function
: "${MODE_EXTENTS=$(gpu '4 8 16' '4 6')}"     # of the search: figure 5.5 ends at 16^4
: "${CONFIGURATIONS:=$(gpu 10 2)}"            # of the search; the thesis has 10
: "${BETA:=6.0}" "${THERMALISE:=20}"          # of theirs; it does not say its own
: "${MASS:=-1.4}"                             # of H: -M0
: "${LOW_MODES:=10}" "${RESIDUAL:=1e-5}"      # as single precision has it
: "${THREADS:=$(gpu 0 1)}"                    # 0: a GPU

folder=$1
: "${BENCH:=$(tool bench_overlap)}" # built if need be
[ -x "$BENCH" ] || { echo "$0: expected bench_overlap, which make builds in a clone" >&2; exit 1; }
BENCH=$(realpath "$BENCH")
mkdir -p "$folder"
cd "$folder"

# degrees EXTENT: rows of the table.
degrees() {
    "$BENCH" "$THREADS" "$1" >said || { cat said >&2; return 1; }
    awk -v OFS='\t' -v extent="$1" '
        $1 == "double," || $1 == "single," { precision = substr($1, 1, 6); columns = $2; reals = $4 }
        $2 == "degree" || $2 == "mode" { print extent, precision, columns, reals, $2, $3, $5, $9 }' said
}

# search EXTENT METHOD: seconds and modes that were found.
search() {
    local file=thermal-$1.lat begin end found
    [ -e "$file" ] || lat-heatbath -q --dims "$1,$1,$1,$1" --beta "$BETA" --thermalise "$THERMALISE" --count "$CONFIGURATIONS" --seed "$SEED" \
        --rows 3 -0 -o "$file"
    begin=$(date +%s.%N)
    lat-modes -q -@ $((THREADS ? THREADS : 1)) --device "$(gpu gpu cpu)" --mass "$MASS" --modes "$LOW_MODES" --method "$2" \
        --residual "$RESIDUAL" --tsv "$file" -o modes.found
    end=$(date +%s.%N)
    found=$(tail -n +2 modes.found | wc -l)
    awk -v OFS='\t' -v extent="$1" -v method="$2" -v n="$found" -v a="$begin" -v b="$end" 'BEGIN {
        print extent, method, n, sprintf("%.3f\t%.4f", b - a, 1e6 * (b - a) / n / extent ^ 4) }'
}

printf 'extent\tprecision\tcolumns\treals\tof\tns a site\tbytes\tof a copy\n' | tee degrees.tsv
for extent in $EXTENTS; do degrees "$extent" | tee -a degrees.tsv; done
printf 'extent\tmethod\tmodes\tseconds\tmicroseconds a site and mode\n' | tee modes.tsv
for extent in $MODE_EXTENTS; do
    for method in ritz lanczos; do search "$extent" "$method" | tee -a modes.tsv; done
done
cat <<'END'
thesis, figure 5.4, sign function: GTX 280 about 22 times, 8800 GT about 12 times as fast as a core of a Core2Duo at 2.13 GHz, 4^4 to 32^4
thesis, figure 5.5, modes: GTX 280 about 4 times as fast
END
