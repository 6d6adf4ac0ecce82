#!/bin/bash
# Table 4: maximally Abelian gauge at beta = 5.7 from random starts, overrelaxation alone (OR) against annealing, stochastic relaxation and
# overrelaxation (SA/SR/OR): pipelines/paper/table4.sh FOLDER
# FOLDER/table4.tsv has our means, and the paper's below them. "exact" and "paper's update" are relaxation by exact hits and by the paper's,
# which for SU(3) maximise another function (docs/gauges.md). They need the sources' bench/.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

: "${STEPS:=2000}"         # temperatures, as in the paper
: "${MICRO:=3}"            # microcanonical sweeps at each
: "${T_FIRST:=2}"          # the paper's figure 7: F changes below T = 2
: "${T_LAST:=0.01}"
: "${STOCHASTIC:=0.7}"     # probability of a microcanonical hit; the paper does not say its own
: "${RELAX:=2000}"         # sweeps of stochastic relaxation at most, as in the paper
: "${THETA:=1e-12}"        # as in the paper
: "${MAX_SWEEPS:=100000}"  # as in the paper
: "${PRECISION:=$(gpu mixed double)}"
: "${INEXACT:=2}"          # starts of the paper's update, done on the CPU
: "${INEXACT_SWEEPS:=$(gpu 1000 2000)}"

folder=$1
mkdir -p "$folder"
config=$(thermal "$folder")
cd "$folder"

relax() { # relax NAME OPTION...
    unconverged lat-orelax -q --gauge mag --overrelax su2 --omega "$OMEGA" --theta "$THETA" --max-sweeps "$MAX_SWEEPS" \
        --precision "$PRECISION" --keep --copies-log "$1.tsv" -o /dev/null "${@:2}"
}
annealed() {
    lat-anneal -q --gauge mag --from "$T_FIRST" --to "$T_LAST" --steps "$STEPS" --micro "$MICRO" "$@" "$config" |
        unconverged lat-orelax -q --gauge mag --overrelax su2 --stochastic "$STOCHASTIC" --theta "$THETA" --max-sweeps "$RELAX" \
            --precision "$PRECISION" --keep --select all --copies-log sr.tsv "${@: -2}" | # --seed of these copies
        relax sa-sr-or
}
ours() {
    unconverged lat-orelax -q --gauge mag --theta "$THETA" --precision "$PRECISION" --keep --copies-log auto.tsv -o /dev/null "$@" "$config"
}

inexact=
if [ "$INEXACT" -gt 0 ] && [ ! -e inexact.tsv ] && [ -z "$SO_FAR" ] && program=$(tool mag_inexact); then
    "$program" -@ $((($(nproc) + 1) / 2)) --copies "$INEXACT" --seed "$SEED" --omega "$OMEGA" --sweeps "$INEXACT_SWEEPS" -o inexact.tsv "$config" &
    inexact=$!
fi
batches auto ours
batches or relax or "$config"
batches sa annealed
together auto auto
together or or
together sa sr
together sa sa-sr-or
[ -z "$inexact" ] || wait "$inexact"

# row NAME UPDATES LOG...: of the copies that have converged in the last LOG; sweeps of all logs and UPDATES before them.
row() {
    awk -F'\t' -v name="$1" -v updates="$2" '
        FNR == 1 { next }
        { sweeps[$2] += $6; copies[$2]; last[$2] = $7 ? $4 : ""; if (best == "" || $4 > best) best = $4 }
        END {
            for (c in copies) { total++; if (last[c] == "") continue; n++; s = sweeps[c] + updates; S += s; SS += s * s; d = last[c] - best; F += d; FF += d * d }
            if (n == 0) { printf "%s\t%d\t0\tnan\tnan\tnan\tnan\t%.8f\n", name, total, best; exit }
            printf "%s\t%d\t%d\t%.0f\t%.0f\t%.8f\t%.8f\t%.8f\n", name, total, n, S / n, sqrt(SS / n - (S / n)^2 + 1e-9), best + F / n,
                sqrt(FF / n - (F / n)^2 + 1e-30), best }' "${@:3}"
}
{
    printf 'method\tcopies\tconverged\tsweeps\tspread\tF\tspread\tbest\n'
    row OR 0 or.tsv
    row SA/SR/OR $((STEPS * (1 + MICRO))) sr.tsv sa-sr-or.tsv
    row 'su3, omega auto' 0 auto.tsv
    if [ -e inexact.tsv ]; then
        for update in exact paper; do
            awk -F'\t' -v update=$update -v name="$update update, in place" '
                $1 == update { n++; d = $4 - 0.7; F += d; FF += d * d; sweeps = $3; if ($4 > best) best = $4 }
                END { printf "%s\t%d\t\t%d\t\t%.8f\t%.8f\t%.8f\n", name, n, sweeps, 0.7 + F / n, sqrt(FF / n - (F / n)^2 + 1e-30), best }' inexact.tsv
        done
    fi
    printf 'paper, 32^4, OR\t100\t83\t272340\t8405\t0.74356431\t0.00039697\t\n'
    printf 'paper, 32^4, SA/SR/OR\t100\t97\t16701\t2562\t0.74423815\t0.00010996\t\n'
} >table4.tsv
column -t -s '	' table4.tsv 2>/dev/null || cat table4.tsv
