#!/bin/bash
# Fixes a configuration to Landau gauge, and proves that the physics stayed the same: `make quickstart`.
#   pipelines/quickstart.sh [CONFIG [OUT.lat]]
# CONFIG is any file that lat-convert reads. Without one, the script makes a configuration of SU(3) pure gauge theory.
set -euo pipefail
export LC_ALL=C # awk reads and prints numbers with a point
PATH=${LAT_BIN:+$LAT_BIN:}$PATH:$(dirname "$0")/../bin

CONFIG=${1-}
OUT=${2-landau.lat}
[[ $CONFIG != -?* ]] || CONFIG=./$CONFIG # a name, not an option
[[ $OUT != -* ]] || OUT=./$OUT
GAUGE=landau
THETA=1e-14   # mean square of the gauge condition's violation

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ -n "$CONFIG" ]; then
    lat-convert "$CONFIG" -o "$work/raw.lat"
else
    CONFIG="SU(3) at beta = 6.0, 90 sweeps from a cold start on 12 12 12 12"
    lat-heatbath --dims 12,12,12,12 --beta 6.0 --thermalise 80 --every 10 --seed 7 -o "$work/raw.lat"
fi

echo "== $CONFIG, before"
lat-theta "$work/raw.lat"

# The job itself is one pipeline. Links of a file in single precision are first projected to SU(3).
lat-reunit --precision double "$work/raw.lat" |
    lat-anneal --gauge "$GAUGE" --steps 100 |
    lat-orelax --gauge "$GAUGE" --theta "$THETA" --log "$work/log.tsv" -o "$OUT"

echo
echo "== theta falls"
awk -F'\t' '!/^#/ && NR > 1 { line[n++] = sprintf("   sweep %5d   theta %.2e   F %.12f", $2, $3, $4) }
    END { step = int((n + 9) / 10); for (i = 0; i < n; i++) if (i % step == 0 || i == n - 1) print line[i] }' "$work/log.tsv"

echo
echo "== $OUT"
lat-theta --require-theta "$THETA" "$OUT"

# A gauge transformation changes no closed loop: the same plaquette, to rounding.
lat-theta --tsv "$work/raw.lat" | cut -f6 | tail -n 1 >"$work/before"
lat-theta --tsv "$OUT" | cut -f6 | tail -n 1 >"$work/after"
echo
echo "plaquette before $(cat "$work/before")"
echo "plaquette after  $(cat "$work/after")"
awk 'FNR == NR { a = $1; next } { d = a - $1; if (d < 0) d = -d; exit !(d < 1e-6) }' "$work/before" "$work/after"
