#!/bin/bash
# `make sweeps`: bench/sweeps.sh FOLDER EXTENT...
# Sweeps to theta < 1e-12 against omega, from STARTS random starts each, for the three gauges and both schemes on
# EXTENT^4. FOLDER/starts.tsv has every start, sweeps.tsv their means, best.tsv the best omega of each; sweeps.png shows
# them. Fails unless what is expected of them holds (sweeps.awk).
# In the environment: STARTS, GAUGES, SCHEMES, OMEGAS, MAX_SWEEPS. What FOLDER/starts.tsv has already is not measured again.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/configs.sh
. "$here/configs.sh"
starts=${STARTS:-4} most=${MAX_SWEEPS:-20000}
folder=$1
shift
mkdir -p "$folder"
table=$folder/starts.tsv
[ -e "$table" ] || printf 'config\textent\tgauge\tscheme\tomega\tstart\tsweeps\tconverged\ttheta\tfunctional\n' >"$table"

# measure CONFIG EXTENT GAUGE SCHEME OMEGA: a line for each start, all at once into the table.
measure() {
    local log=$folder/copies.tsv key rc=0
    key=$(printf '%s\t%s\t%s\t%s\t%s\t' "$(basename "$1" .lat)" "${@:2}")
    ! grep -qF "$key" "$table" || return 0
    lat-orelax -q --gauge "$3" --overrelax "$4" --omega "$5" --precision double --theta 1e-12 --check-every 5 --max-sweeps "$most" \
        --copies "$starts" --copies-log "$log" --keep -o /dev/null "$1" || rc=$?
    [ $rc = 0 ] || [ $rc = 3 ] || return $rc
    awk -F'\t' -v OFS='\t' -v key="$key" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        !/^#/ { print key $at["copy"], $at["sweeps"], $at["converged"], $at["theta"], $at["functional"] }' "$log" >"$log.new"
    cat "$log.new" >>"$table"
    rm "$log" "$log.new"
}

# omegas GAUGE SCHEME: where the best one lies on 8^4 to 24^4.
omegas() {
    case $1-$2 in
    landau-su2 | coulomb-su2) echo 1.3 1.4 1.5 1.6 1.7 ;;
    *) echo 1.6 1.7 1.8 1.85 1.9 1.93 1.96 1.98 ;;
    esac
}

for extent; do
    config=$(thermal "$extent" "$folder")
    for gauge in ${GAUGES:-landau coulomb mag}; do
        for scheme in ${SCHEMES:-su3 su2}; do
            for omega in auto ${OMEGAS:-$(omegas "$gauge" "$scheme")}; do
                measure "$config" "$extent" "$gauge" "$scheme" "$omega"
            done
        done
    done
done
rc=0
awk -v sweeps="$folder/sweeps.tsv" -v best="$folder/best.tsv" -f "$here/sweeps.awk" "$table" || rc=$?
cat "$folder/best.tsv"
echo "tables: $folder/{starts,sweeps,best}.tsv"
picture "$here/sweeps.gp" "$folder/sweeps.tsv"
exit $rc
