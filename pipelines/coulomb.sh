#!/bin/bash
# A configuration to Coulomb gauge: pipelines/coulomb.sh CONFIG OUT.lat (fix.sh has the pipeline and all other parameters)
: "${T_FIRST:=1.4}" # first temperature: above the rise of F, steepest between T = 1.0 and 0.84 at beta = 6, lower at 5.7 (bench/history/sweeps.md)
: "${STEPS:=1000}"  # temperatures; gribov.sh shows how many your lattices need
: "${THETA:=1e-14}" # of every slice, not of their mean: the worst one decides
: "${ACROSS:=t}"    # slices are cut across this direction
gauge=(--gauge coulomb --time "$ACROSS")
# shellcheck source=fix.sh source-path=SCRIPTDIR
. "$(dirname "$(realpath "$0")")/fix.sh"
