#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi.sh: sweeps on 1, 2 and 4 GPUs of one host, `make bench-mpi`: weak and strong scaling, how many slices a GPU needs, the stream through
# several ranks.
#
#     mpi.sh BENCH FOLDER [cpu]     BENCH: bench_mpi; FOLDER: for 20 GB of configurations, best in memory; cpu: small, to try it out
set -eu -o pipefail
bench=${1:?bench_mpi} folder=${2:?folder} device=${3:-gpu}
PATH=${LAT_BIN:?the folder of the tools}:$PATH
export LC_ALL=C
: "${OMP_NUM_THREADS:=$(($(nproc) / 4 + 1))}" "${LAT_MPIRUN:=mpirun}"
export OMP_NUM_THREADS
mkdir -p "$folder"
work=$(mktemp -d "$folder/mpi.XXXXXX")
trap 'rm -rf "$work"' EXIT

if [ "$device" = gpu ]; then
    weak=("48 48 48" 48 "64 64 64" 32) strong=("64 64 64 128" "32 32 32 64") made="48 48 48 48" slab="64 64 64" stream=64,64,64,128
else
    weak=("8 8 8" 8) strong=("8 8 8 16" "4 4 4 16") made="8 8 8 8" slab="8 8 8" stream=8,8,8,16
fi

# cases N: what N ranks do, as arguments of bench_mpi.
cases() {
    local n=$1 i kind dims s
    for ((i = 0; i < ${#weak[@]}; i += 2)); do
        for kind in relax mag bath; do printf '%s\n' $kind "${weak[i]} $((n * weak[i + 1]))"; done
    done
    for dims in "${strong[@]}"; do
        for kind in relax double su3 mag bath coulomb; do printf '%s\n' $kind "$dims"; done
    done
    for kind in links mirror; do printf '%s\n' $kind "$made"; done
    if [ "$n" -ne 2 ]; then
        for s in 2 3 4 6 8 12 16; do
            for kind in relax mag bath; do printf '%s\n' $kind "$slab $((4 * s))"; done
        done
    fi
}

# ranks N ARGUMENT...: bench_mpi on so many.
ranks() {
    local n=$1
    shift
    if [ "$n" -eq 1 ]; then "$bench" "$device" "$@"; else "$LAT_MPIRUN" --oversubscribe --bind-to none -np "$n" "$bench" "$device" "$@" </dev/null; fi
}

for n in 1 2 4; do
    readarray -t list < <(cases $n)
    ranks $n "${list[@]}" >>"$work/table"
done
for kind in relax mag bath; do
    TRANSPORT=staged ranks 4 $kind "${strong[0]}" $kind "${strong[1]}" | sed 's/^/staged /' >>"$work/table"
done

awk -F'\t' -v weak="$(printf '%s|' "${weak[@]}")" -v slab="$slab" '
    { t[$1, $2, $3] = $4; if (($1, $2) in F && F[$1, $2] - $5 < 1e-6 && $5 - F[$1, $2] < 1e-6) same++; else if (($1, $2) in F) differ = differ " " $1 " " $2 " on " $3;
      if (!(($1, $2) in F)) { F[$1, $2] = $5; order[++rows] = $1 "\t" $2 } if ($3 == 4 && $1 !~ /^staged/) words = $6 }
    function verdict(r, must, aim) { return r >= aim ? "aim" : r >= must ? "must" : "NOT YET" }
    END {
        print words; n = split(weak, w, "|")
        print "\nweak scaling: rate of N GPUs over that of one, of N times the lattice (must 3.8, aim 3.95 on 4)"
        for (i = 1; i + 1 <= n; i += 2) { split("relax mag bath", kind, " ")
            for (k = 1; k <= 3; k++) { one = t[kind[k], w[i] " " w[i + 1], 1]
                two = 2 * one / t[kind[k], w[i] " " 2 * w[i + 1], 2]; four = 4 * one / t[kind[k], w[i] " " 4 * w[i + 1], 4]
                printf "%-8s %s x %-4d one %8.4f ms  2: %5.2f  4: %5.2f  %s\n", kind[k], w[i], w[i + 1], one, two, four, k == 1 ? verdict(four, 3.8, 3.95) : "" } }
        print "\nstrong scaling: rate of N GPUs over that of one (on 4: 64^3x128 must 3.6, aim 3.9; 32^3x64 must 3.0, aim 3.5; configurations, 48^4: must 3.6)"
        for (r = 1; r <= rows; r++) { split(order[r], a, "\t"); if (!((a[1], a[2], 2) in t) || !((a[1], a[2], 1) in t)) continue
            one = t[a[1], a[2], 1]; four = one / t[a[1], a[2], 4]; large = a[2] ~ /128$/
            printf "%-8s %-14s one %8.4f ms  2: %5.2f  4: %5.2f (%.4f ms)  %s\n", a[1], a[2], one, one / t[a[1], a[2], 2], four, t[a[1], a[2], 4],
                a[1] == "relax" && (large || a[2] ~ /^32/) ? verdict(four, large ? 3.6 : 3, large ? 3.9 : 3.5) : a[1] ~ /^(links|mirror)$/ ? verdict(four, 3.6, 3.9) : ""
            if (("staged " a[1], a[2], 4) in t) staged = staged sprintf("%-8s %-14s 4: %5.2f (%.4f ms)\n", a[1], a[2], one / t["staged " a[1], a[2], 4], t["staged " a[1], a[2], 4]) }
        print "\nthe same with faces staged through the hosts and MPI: for ranks that share no host, and lattices that fit nowhere else"
        printf "%s", staged
        print "\nefficiency of 4 GPUs by slices a GPU, " slab " (relax above 85 %: must at 8, aim at 4)"
        print "          relax              mag                bath"
        for (s = 2; s <= 16; s++) if (("relax", slab " " 4 * s, 4) in t) { printf "%2d slices", s
            for (k = 1; k <= 3; k++) { four = t[kind[k], slab " " 4 * s, 4]; printf " %5.1f %% (%.4f ms)", 100 * t[kind[k], slab " " 4 * s, 1] / 4 / four, four }
            print "" }
        print "\nfunctional, or plaquette, on 2 and 4 as on one: " same " times" (differ ? ", NOT for" differ : "") }' "$work/table"
cp "$work/table" "$folder/mpi.tsv"

printf '\nstream of %s, f32, in and out of 4 ranks, no sweeps, from stdin to stdout and (-o) from file to file, GB/s of links (must 2.5, aim 6)\n' "$stream"
lat-start weak -d "$stream" --epsilon 0.35 -p single -0 -@ "$(nproc)" -o "$work/in.lat"
size=$(stat -c %s "$work/in.lat")
unset OMP_NUM_THREADS
for how in "cat" "-0" "-0 -o" "-0 -n 4" "-0 -n 4 -o" "-1 -n 4" "-1 -n 4 -o"; do
    begin=$EPOCHREALTIME
    # shellcheck disable=SC2086 # words
    case $how in
    cat) cat <"$work/in.lat" >"$work/out.lat" ;;
    *-o) lat-orelax -q --device "$device" -p single --store single --theta 1e9 $how "$work/out.lat" "$work/in.lat" ;;
    *) lat-orelax -q --device "$device" -p single --store single --theta 1e9 $how <"$work/in.lat" >"$work/out.lat" ;;
    esac
    awk -v a="$begin" -v b="$EPOCHREALTIME" -v n="$size" -v how="$how" 'BEGIN { printf "%-10s %6.2f s  %5.2f GB/s\n", how, b - a, n / (b - a) * 1e-9 }'
    rm "$work/out.lat"
done
