#!/bin/bash
# Figures 3 to 6: speed of Landau overrelaxation, SU(2) subgroup by subgroup, against lattice, precision, device and number of GPUs:
# pipelines/paper/figures3-6.sh FOLDER
# Rates count 2274 flop a site and sweep, as the paper does. In figures 3 and 4 they are those of whole commands, from the first check of
# theta to the last; in figures 5 and 6 those of sweeps, by the sources' bench/bench_mpi.c.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

: "${SWEEPS:=$(gpu 2000 100)}"
: "${SPATIAL:=$(gpu '16 24 32 48 64' '8 12 16')}" # figure 3: X = Y = Z; its 64 are 64^3
: "${TEMPORAL:=$(gpu '16 32 64' '8 16')}"         # and T
: "${LARGEST:=$(gpu 33554432 1048576)}"           # sites: larger lattices are left out
: "${PRECISIONS:=single double}"                  # ours in mixed is single to theta = 4e-12, then double; the paper's computes hits in double
: "${RANKS:=1 $(seq -s ' ' 2 2 "$gpus")}"         # figures 5 and 6: GPUs; as many time slices each, and 64^3 x 256 in all
: "${PER_RANK:=$(gpu 32 8)}"                      # time slices a GPU of figure 5
: "${ALL_SLICES:=$(gpu 256 16)}"                  # time slices in all of figure 6

folder=$1
mkdir -p "$folder"
cd "$folder"

# rate DIMS PRECISION: Gflop/s, after a tenth of the sweeps to warm up; nothing where it cannot be done.
rate() {
    local sites=$((${1//,/*})) rc=0
    lat-start hot --dims "$1" --rows 2 --precision single |
        lat-orelax -q --gauge landau --overrelax su2 --omega 1.7 --theta 5e-11 --precision "$2" --max-sweeps "$SWEEPS" --check-every $((SWEEPS / 10)) \
            --keep --log log.tsv -o /dev/null 2>said || rc=$?
    [ $rc = 0 ] || [ $rc = 3 ] || { echo "$1 $2: $(head -n 1 said)" >&2; return 0; }
    # The columns: config sweep theta F seconds ...
    awk -F'\t' -v sites="$sites" '!/^#/ && FNR > 2 { if (!a++) { s0 = $2; t0 = $5 } s = $2; t = $5 }
        END { if (t > t0) printf "%.1f\n", 2274 * sites * (s - s0) / (t - t0) * 1e-9 }' log.tsv
}

line() { # line FIGURE DIMS PRECISION
    local r
    r=$(rate "$2" "$3")
    [ -z "$r" ] || printf '%s\t%s\t%s\t%s\t%s\n' "$1" "$2" "$3" 1 "$r" | tee -a rates.tsv
}

printf 'figure\tlattice\tprecision\tranks\tGflop/s\n' >rates.tsv
for x in $SPATIAL; do
    for t in $TEMPORAL; do
        [ $((x * x * x * t)) -le "$LARGEST" ] || continue
        for precision in $PRECISIONS; do line 3 "$x,$x,$x,$t" "$precision"; done
    done
done
# Figures 5 and 6, sweeps alone: what a rank holds is made there.
program=$(tool bench_mpi) || RANKS=
x=${SPATIAL##* }
for ranks in $RANKS; do
    command=("$program" "$(gpu gpu cpu)")
    [ "$ranks" = 1 ] || command=("${LAT_MPIRUN:-mpirun}" --oversubscribe --bind-to none -np "$ranks" "${command[@]}")
    for t in $((PER_RANK * ranks)) $ALL_SLICES; do
        command+=(relax "$x $x $x $t" double "$x $x $x $t")
    done
    # The columns: kind, lattice, ranks, milliseconds a sweep.
    OMP_NUM_THREADS=$(($(nproc) / ranks + 1)) "${command[@]}" </dev/null | awk -F'\t' -v OFS='\t' '{
        split($2, d, " "); precision = $1 == "relax" ? "single" : "double"
        print ++n[$1] == 1 ? 5 : 6, d[1] "," d[2] "," d[3] "," d[4], precision, $3, sprintf("%.1f", 2274e-6 * d[1] * d[2] * d[3] * d[4] / $4) }' |
        tee -a rates.tsv
done
cat <<'END'
paper, figures 3 and 4, 32^4: GTX 580 370 single, 300 mixed, 80 double; C2070 200 single, 70 double; FermiQCD on one core 0.414 single
paper, figures 5 and 6: linear to 16 GPUs, 3500 single, while each has 16 time slices or more; 15 to 30 % less with 8
END
