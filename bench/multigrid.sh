#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# multigrid.sh: light quarks on one core or a GPU by cg, mg, bicgstab and auto, `make bench-multigrid`, `make bench-multigrid-gpu`.
#
#     multigrid.sh PROGRAM cpu|gpu LINKS.lat|DIMS [CSW:KAPPA...]
#
# PROGRAM is bench_multigrid, which says what its lines are. With DIMS, such as 16,16,16,32, thermal links of beta = 6.0 are made in a
# temporary folder, in single precision, on a GPU in double. 1 and 12 columns at each kappa. cg comes first: the others stop after three
# times its iterations. On a CPU a table of deflation.sh follows. On a GPU mg follows on 2 and 4 GPUs, as far as there are: GPUS;
# LAT_MPIRUN is the launcher.
set -eu -o pipefail
export LC_ALL=C OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
: "${LAT_MPIRUN:=mpirun}" "${GPUS:=$(nvidia-smi -L 2>/dev/null | wc -l)}"
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
        what=("$program" "$device" "$links" "${quark#*:}" "${quark%:*}" "$columns")
        "${what[@]}" cg mg bicgstab auto
        for n in 2 4; do
            if [ "$device" = cpu ] || [ "$n" -gt "$GPUS" ]; then continue; fi
            echo "$n GPUs:"
            "$LAT_MPIRUN" --oversubscribe --bind-to none -np "$n" "${what[@]}" mg </dev/null
        done
    done
    # What deflation costs on the same links: modes of gamma5 S, and 12 columns.
    [ "$device" = gpu ] || CSW=${quark%:*} MODES=64 "$(dirname "$0")/deflation.sh" "$links" "${quark#*:}"
done
