#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# multigrid.sh: light quarks on one core or a GPU by cg, mg, bicgstab and auto, `make bench-multigrid`, `make bench-multigrid-gpu`.
#
#     multigrid.sh PROGRAM cpu|gpu LINKS.lat|DIMS [CSW:KAPPA...]
#
# PROGRAM is bench_multigrid, which says what its lines are. With DIMS, such as 16,16,16,32, thermal links of beta = 6.0 are made in a
# temporary folder, in single precision, on a GPU in double. 1 and 12 columns at each kappa. cg comes first: the others stop after three
# times its iterations.
set -eu -o pipefail
export LC_ALL=C
PATH=${LAT_BIN:?LAT_BIN}:$PATH
program=${1:?program} device=${2:?cpu or gpu} links=${3:?links or dims}
shift 3
[ $# -gt 0 ] || set -- 0:.1550 0:.1560 0:.1565 0:.1570 1.769:.1340 1.769:.1348 1.769:.1350
if [[ $links =~ ^[0-9]+(,[0-9]+){3}$ ]]; then
    work=$(mktemp -d)
    trap 'rm -r "$work"' EXIT
    how=(--thermalise 100 --overrelax 4 -p single)
    [ "$device" = cpu ] || how=(--thermalise 300 -p double)
    lat-heatbath -q --device "$device" -d "$links" -b 6 "${how[@]}" --seed 2026 -o "$work/links.lat"
    links=$work/links.lat
fi

for quark; do
    for columns in 1 12; do
        echo "csw ${quark%:*}, kappa ${quark#*:}, columns $columns"
        "$program" "$device" "$links" "${quark#*:}" "${quark%:*}" "$columns" cg mg bicgstab auto
    done
done
