#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# multigrid.sh: light quarks on one core by cg, mg, bicgstab and auto, `make bench-multigrid`.
#
#     multigrid.sh PROGRAM LINKS.lat|DIMS [CSW:KAPPA...]
#
# PROGRAM is bench_multigrid, which says what its lines are. With DIMS, such as 16,16,16,32, thermal links of beta = 6.0 are made in a
# temporary folder, in single precision. 1 and 12 columns at each kappa. cg comes first: the others stop after three times its iterations.
set -eu -o pipefail
export LC_ALL=C
PATH=${LAT_BIN:?LAT_BIN}:$PATH
program=${1:?program} links=${2:?links or dims}
shift 2
[ $# -gt 0 ] || set -- 0:.1550 0:.1560 0:.1565 0:.1570 1.769:.1340 1.769:.1348 1.769:.1350
if [[ $links =~ ^[0-9]+(,[0-9]+){3}$ ]]; then
    work=$(mktemp -d)
    trap 'rm -r "$work"' EXIT
    lat-heatbath -q -d "$links" -b 6 --thermalise 100 --overrelax 4 --seed 2026 -p single -o "$work/links.lat"
    links=$work/links.lat
fi

for quark; do
    for columns in 1 12; do
        echo "csw ${quark%:*}, kappa ${quark#*:}, columns $columns"
        "$program" "$links" "${quark#*:}" "${quark%:*}" "$columns" cg mg bicgstab auto
    done
done
