#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# gpu.sh: two promises about whole runs on a GPU, `make bench-gpu`: time to theta < 1e-12 on a thermal lattice by su3 against su2,
# and the whole command from file to file against its sweeps alone.
#
#     gpu.sh FOLDER [EXTENT]     configurations are kept in FOLDER
set -eu -o pipefail
# shellcheck source=bench/configs.sh
. "$(dirname "$0")/configs.sh"
folder=${1:?folder} extent=${2:-32}
mkdir -p "$folder"
thermal=$(thermal "$extent" "$folder")
work=$(mktemp -d "$folder/gpu.XXXXXX")
trap 'rm -r "$work"' EXIT

# spent LOG: seconds of sweeps, summed over the copies: from their first line of the log to their last.
spent() { awk -F'\t' '!/^#/ && NR > 1 { if (!($6 in first)) first[$6] = $5; last[$6] = $5 }
    END { for (c in first) s += last[c] - first[c]; print s }' "$1"; }

# verdict RATIO MUST AIM GREATER: which of them it meets.
verdict() { awk -v r="$1" -v must="$2" -v aim="$3" -v more="$4" 'BEGIN { if (!more) { r = -r; must = -must; aim = -aim }
    print ((r >= aim) ? "aim" : (r >= must) ? "must" : "NOT YET") }'; }

# to_theta SCHEME OMEGA: the sum over a few starts, one after the other.
to_theta() {
    local seed sum=0
    for seed in 1 2 3; do
        lat-orelax -q --device gpu -p mixed --theta 1e-12 --check-every 50 --copies 1 --seed "$seed" --overrelax "$1" --omega "$2" \
            --max-sweeps 1000000 --log "$work/log" "$thermal" -o "$work/out.lat"
        sum=$(awk -v a="$sum" -v b="$(spent "$work/log")" 'BEGIN { print a + b }')
    done
    echo "$sum"
}

printf '\ntime to theta < 1e-12, %s^4 at beta = 6.0, single then double, three random starts, s (must 5, aim 10 times)\n' "$extent"
su3=$(to_theta su3 auto) best=
printf 'su3 auto  %8.3f\n' "$su3"
for omega in 1.4 1.5 1.6; do
    t=$(to_theta su2 $omega)
    printf 'su2 %s   %8.3f\n' $omega "$t"
    best=$(awk -v a="${best:-$t}" -v b="$t" 'BEGIN { print a < b ? a : b }')
done
ratio=$(awk -v a="$best" -v b="$su3" 'BEGIN { print a / b }')
printf 'su2 at its best omega takes %.1f times as long: %s\n' "$ratio" "$(verdict "$ratio" 5 10 1)"

# whole_in FOLDER WHERE [MUST AIM]: the whole command, best and median of seven, beside a copy of the input with fsync; a verdict where a
# promise is given: of a disk nothing can be promised.
whole_in() {
    local times=() begin copy ratio
    lat-convert --rows 3 "$thermal" -o "$1/in.lat" # all 18 reals a link
    begin=$EPOCHREALTIME
    dd if="$1/in.lat" of="$1/copy" bs=16M conv=fsync status=none
    copy=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
    rm "$1/copy"
    for _ in 1 2 3 4 5 6 7; do
        begin=$EPOCHREALTIME
        whole "$1"
        times+=("$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')")
        rm "$1/out.lat"
    done
    readarray -t times < <(printf '%s\n' "${times[@]}" | sort -g)
    ratio=$(awk -v a="${times[3]}" -v b="$sweeps" 'BEGIN { print a / b }')
    printf '%-10s median %.3f  best %.3f  (dd there %.3f)  %.2f times%s\n' "$2" "${times[3]}" "${times[0]}" "$copy" "$ratio" "${3:+: $(verdict "$ratio" "$3" "$4" '')}"
}

# whole FOLDER ARGUMENT...: 1000 sweeps from there to there.
whole() {
    lat-orelax -q --device gpu -p double --theta 0 --max-sweeps 1000 --keep "${@:2}" "$1/in.lat" -o "$1/out.lat" 2>/dev/null || [ $? -eq 3 ]
}

printf '\nwhole command, %s^4 double, file to file, 1000 sweeps, s (must 2.5, aim 1.5 times the sweeps)\n' "$extent"
lat-convert --rows 3 "$thermal" -o "$work/in.lat"
whole "$work" --check-every 1000 --log "$work/log" --copies 1
sweeps=$(spent "$work/log")
printf 'sweeps     %.3f\n' "$sweeps"
memory=$(mktemp -d /dev/shm/lat.XXXXXX) && trap 'rm -r "$work" "$memory"' EXIT && whole_in "$memory" 'in memory' 2.5 1.5
whole_in "$work" 'on a disk'
