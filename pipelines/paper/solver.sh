#!/bin/bash
# Figures 4 to 6 of "Parallelizing the QUDA library for multi-GPU calculations in lattice quantum chromodynamics" (Babich, Clark and Joo,
# SC 2010, arXiv:1011.0024): speed of the clover solver on weak-field links, against precision, number of GPUs, and with and without
# overlap of communication: pipelines/paper/solver.sh FOLDER
# FOLDER/rates.tsv has the rates, "effective" ones: no operation is counted for the third row of a link. Figure 4: a lattice of that size on
# each GPU; figures 5 and 6: one lattice on all. Without a GPU: ranks on the CPU, smaller lattices.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

: "${RANKS:=$(gpu "1 $(seq -s ' ' 2 2 "$gpus")" '1 2')}" # GPUs, or processes
: "${WEAK=$(gpu '32,32,32,32 24,24,24,32' 8,8,8,8)}"    # figure 4: sites of each rank
: "${STRONG=$(gpu '32,32,32,256 24,24,24,128' 8,8,8,16)}" # figures 5 and 6: sites of all
: "${MODES:=$(gpu 'single single-half double double-half' 'single double')}"
: "${HALO:=overlapped first}" # with and without overlap; one rank has nothing to exchange
: "${EPSILON:=0.1}"           # noise of the weak field, as lat-start has it
: "${MASS:=0.05}" "${CSW:=1}" # the paper does not say its own; they decide the iterations, not the rate
: "${COLUMNS_DONE:=0,1,2,3,4,5}" # six solves: upper two spins, three colours
: "${TOGETHER:=1 6}"          # right-hand sides at a time: 1 is the paper's
: "${SOLVER:=bicgstab}"       # as in the paper

folder=$1
mkdir -p "$folder"
cd "$folder"

# how MODE: precision, residual and delta, as in the paper.
how() {
    case $1 in
    single) echo single 1e-7 1e-3 ;;
    single-half) echo half 1e-7 1e-1 ;;
    double) echo double 1e-14 1e-5 ;;
    double-half) echo half 1e-14 1e-2 ;;
    *) echo "$0: expected single, single-half, double or double-half, found $1" >&2; return 2 ;;
    esac
}

# weak DIMS: the name of a field, made unless it is there already.
weak() {
    local file=weak-${1//,/x}.lat
    [ -e "$file" ] || lat-start weak --epsilon "$EPSILON" --dims "$1" --seed "$SEED" --rows 2 -0 -o "$file"
    echo "$file"
}

# line FIGURE DIMS RANKS MODE HALO BATCH
line() {
    local precision residual delta links
    read -r precision residual delta < <(how "$4")
    links=$(weak "$2")
    LAT_HALO=$5 lat-solve -q -n "$3" --device "$(gpu gpu cpu)" --mass "$MASS" --csw "$CSW" --source point:0,0,0,0 --columns "$COLUMNS_DONE" \
        --solver "$SOLVER" --precision "$precision" --residual "$residual" --delta "$delta" --batch "$6" \
        --log log.tsv -o /dev/null "$links" || { echo "figure $1, $2 on $3, $4: no solution" >&2; return 0; }
    awk -F'\t' -v OFS='\t' -v figure="$1" -v dims="$2" -v ranks="$3" -v mode="$4" -v halo="$5" -v batch="$6" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { n++; steps += $at["iterations"]; s += $at["seconds"]; work += $at["gflops"] * $at["seconds"]; if ($at["residual"] > r) r = $at["residual"] }
        END { if (s > 0) print figure, dims, ranks, mode, halo, batch, sprintf("%.1f\t%.4f\t%.1f\t%.1e", steps / n, s / n, work / s, r) }' \
        log.tsv | tee -a rates.tsv
}

# lines FIGURE DIMS RANKS
lines() {
    local mode halo batch
    for mode in $MODES; do
        for halo in $HALO; do
            [ "$3" -gt 1 ] || [ "$halo" = overlapped ] || continue
            for batch in $TOGETHER; do line "$1" "$2" "$3" "$mode" "$halo" "$batch"; done
        done
    done
}

printf 'figure\tlattice\tranks\tmode\thalo\tbatch\titerations\tseconds\tGflop/s\tresidual\n' | tee rates.tsv
for dims in $WEAK; do
    for ranks in $RANKS; do lines 4 "${dims%,*},$((${dims##*,} * ranks))" "$ranks"; done
done
for dims in $STRONG; do
    for ranks in $RANKS; do lines 5-6 "$dims" "$ranks"; done
done
cat <<'END'
paper, GTX 285, figure 4: 32^4 each, 32 GPUs, single-half, overlapped: 4750 Gflop/s, 148 a GPU
paper, figure 5: 32^3x256, 32 GPUs, single-half, overlapped: above 3000; 128 cores of a cluster, single: 255
paper, figure 5: 24^3x128, single-half: no gain from overlap, none beyond 8 GPUs
END
