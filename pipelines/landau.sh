#!/bin/bash
# A configuration to Landau gauge: pipelines/landau.sh CONFIG OUT.lat (fix.sh has the pipeline and all other parameters)
: "${T_FIRST:=1.4}" # first temperature: above the jump of F, between T = 1.30 and 1.22 at beta = 6, lower at 5.7 (bench/history/sweeps.md)
: "${STEPS:=1000}"  # temperatures (hot 8^4, mean F of 20: .59240 without, .59255 with 300, .59286 with 1000)
: "${THETA:=1e-14}" # mean square of Delta: the gauge field is transverse to 1e-7
: "${WEIGHTS:=}"    # of the directions, on anisotropic lattices, such as 1,1,1,4; empty: all are 1
gauge=(--gauge landau ${WEIGHTS:+--weights "$WEIGHTS"})
# shellcheck source=fix.sh source-path=SCRIPTDIR
. "$(dirname "$(realpath "$0")")/fix.sh"
