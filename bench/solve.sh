#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# solve.sh: lat-solve from file to file beside its solves, on one core, `make bench-solve`. Must: 1.3 times.
#
#     solve.sh FOLDER [KAPPA...]     best in memory (/dev/shm): a disk is not what is measured
#
# 12 columns of a point source on a weak field of 16^4. Whole command and solves are by the clock, from the same run: of a machine
# that others use, both lose alike, and the middle of nine runs is taken. Processor time, user and system, is printed beside it.
# The propagator is checked by lat-dirac, and its bytes are those of two threads.
set -eu -o pipefail
export LC_ALL=C
PATH=${LAT_BIN:?LAT_BIN}:$PATH
work=$(mktemp -d "${1:?folder}/lat.XXXXXX")
trap 'rm -r "$work"' EXIT
shift
[ $# -gt 0 ] || set -- .12 .132
lat-start weak --epsilon .3 -d 16,16,16,16 -o "$work/links.lat"

# propagator KAPPA THREADS: from there to there.
propagator() {
    lat-solve -q --device cpu -@ "$2" --no-provenance --kappa "$1" --source point:0,0,0,0 --log "$work/log" "$work/links.lat" -o "$work/p.lat"
}

for kappa; do
    times=()
    for _ in 1 2 3 4 5 6 7 8 9; do
        TIMEFORMAT='%R %U %S'
        { time propagator "$kappa" 1; } 2>"$work/time"
        times+=("$(awk -F'\t' -v t="$(tail -n 1 "$work/time")" 'NR > 1 { s += $10; if ($6 > n) n = $6 }
            END { split(t, w, " "); printf "%.3f %.3f %.3f %.3f %d\n", w[1] / s, w[1], s, w[2] + w[3], n }' "$work/log")")
    done
    lat-dirac --check --gauge-file "$work/links.lat" --residual 1e-10 "$work/p.lat" >"$work/checked"
    mv "$work/p.lat" "$work/one.lat"
    propagator "$kappa" 2
    cmp "$work/one.lat" "$work/p.lat"
    printf '%s\n' "${times[@]}" | sort -g | awk -v kappa="$kappa" '{ line[NR] = $0 }
        END { split(line[1], best, " "); split(line[5], w, " ")
            printf "kappa %s, %d iterations: whole %.2f s (processor %.2f), solves %.2f s: %.3f times (best %.3f; must 1.3: %s)\n",
                kappa, w[5], w[2], w[4], w[3], w[1], best[1], w[1] <= 1.3 ? "must" : "NOT YET" }'
done
