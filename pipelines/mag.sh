#!/bin/bash
# A configuration to maximally Abelian gauge: pipelines/mag.sh CONFIG OUT.lat (fix.sh has the pipeline and all other parameters)
: "${T_FIRST:=1.0}" # first temperature: above the jump of F, between T = 0.82 and 0.78 at beta = 6, lower at 5.7 (bench/history/sweeps.md)
: "${STEPS:=1000}"  # temperatures; Abelian observables depend on the maximum: rather more than less (gribov.sh)
: "${THETA:=1e-14}" # mean square of the off-diagonal condition, docs/gauges.md
gauge=(--gauge mag)
# shellcheck source=fix.sh source-path=SCRIPTDIR
. "$(dirname "$(realpath "$0")")/fix.sh"
