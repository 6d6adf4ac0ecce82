#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# dirac_mpi.sh: hops and solves of Dirac operators on 1, 2 and 4 GPUs of one host, as many as there are, `make bench-dirac-mpi`.
#
#     dirac_mpi.sh BENCH_HOP [BENCH_SOLVE LINKS.lat]
set -eu -o pipefail
hop=${1:?bench_dirac_mpi} solve=${2-} links=${3-}
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
: "${OMP_NUM_THREADS:=$(($(nproc) / 4 + 1))}" "${LAT_MPIRUN:=mpirun}" "${GPUS:=$(nvidia-smi -L 2>/dev/null | wc -l)}"
export OMP_NUM_THREADS
table=$(mktemp)
trap 'rm -f "$table"' EXIT

# Precision, columns, lattice; microseconds a hop and column: must and aim of 2 GPUs, of 4. The local lattices follow, of one GPU: what
# an exchange adds to them.
cases() {
    cat <<'END'
single 1 32 32 32 64:79 74 42 38
half 1 32 32 32 64:57 46 30 25
single 12 32 32 32 64:42 35 22.5 18
half 12 32 32 32 64:0 0 0 0
double 1 32 32 32 64:0 0 0 0
half 1 24 24 24 128:48 42 25 22
single 1 16 16 16 32:8 6.5 7 5.5
single 1 48 48 48 96:390 370 200 187
half 1 48 48 48 96:275 210 142 108
END
}

# ranks N PROGRAM ARGUMENT...
ranks() {
    local n=$1
    shift
    if [ "$n" -eq 1 ]; then "$@"; else "$LAT_MPIRUN" --oversubscribe --bind-to none -np "$n" "$@" </dev/null; fi
}

for n in 1 2 4; do
    [ "$n" -le "$GPUS" ] || continue
    list=()
    while IFS=: read -r what _; do
        read -r precision columns x y z t <<<"$what"
        list+=("$precision" "$columns" "$x $y $z $t")
        # The slab that a rank has when there are n: for one GPU, in the run on one.
        [ "$n" -gt 1 ] || list+=("$precision" "$columns" "$x $y $z $((t / 2))" "$precision" "$columns" "$x $y $z $((t / 4))")
    done < <(cases)
    ranks "$n" "$hop" "${list[@]}" >>"$table"
done
awk -F'\t' -v lines="$(cases | tr '\n' ';')" '
    { t[$1, $2, $3, $4] = $5; sum[$1, $2, $3, $4] = $6; norm[$1, $2, $3, $4] = $7 }
    function verdict(v, must, aim) { return !must ? "" : v <= aim ? " aim" : v <= must ? " must" : " NOT YET" }
    function whole(what, dims, n, key, cut, local, slab, d) {
        if (!((what[1], what[2], dims, n) in t)) return ""
        split(dims, d, " "); slab = d[1] " " d[2] " " d[3] " " d[4] / n
        key = norm[what[1], what[2], dims, n] == norm[what[1], what[2], dims, 1] ? "same bits" : "OTHER BITS"
        return sprintf("  %d: %8.2f us, exchange %+6.2f, sum %5.2f, %s", n, t[what[1], what[2], dims, n],
            (t[what[1], what[2], dims, n] - t[what[1], what[2], slab, 1]) * what[2], sum[what[1], what[2], dims, n], key)
    }
    END {
        n = split(lines, line, ";")
        for (i = 1; i < n; i++) {
            split(line[i], part, ":"); split(part[1], what, " "); split(part[2], goal, " ")
            dims = what[3] " " what[4] " " what[5] " " what[6]
            printf "%-6s %2d %-12s 1: %8.2f us, sum %5.2f", what[1], what[2], dims, t[what[1], what[2], dims, 1], sum[what[1], what[2], dims, 1]
            for (k = 2; k <= 4; k += 2) printf "%s%s", whole(what, dims, k), (what[1], what[2], dims, k) in t ? verdict(t[what[1], what[2], dims, k], goal[k - 1], goal[k]) : ""
            print ""
        }
    }' "$table"
[ -n "$solve" ] || exit 0
for n in 1 2 4; do
    [ "$n" -le "$GPUS" ] || continue
    echo "solves on $n:"
    ranks "$n" "$solve" "$links" "${LINES_OF_SOLVES:-*}"
done
