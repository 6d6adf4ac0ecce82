#!/bin/bash
# Configurations in maximally Abelian gauge to Landau gauge of what that leaves free, U(1)^(N-1): pipelines/residual.sh MAG.lat OUT.lat
# OUT.lat appears when it is whole. The rotation is diagonal: functional and theta of maximally Abelian gauge stay (docs/gauges.md,
# "Residual gauge"). lat-gluon needs it there. Exit status 3: not in maximally Abelian gauge, or not converged.
set -euo pipefail
unset CDPATH
PATH=$PATH:$(dirname "$(realpath "$0")")/../bin

: "${THETA:=1e-14}"       # of Landau gauge of the Abelian links
: "${MAX_SWEEPS:=100000}" # then it is given up

config=${1:?expected MAG.lat OUT.lat} out=${2:?expected MAG.lat OUT.lat}
[[ $config != -?* ]] || config=./$config # a name, not an option
[[ $out != -* ]] || out=./$out
work=$(mktemp -d "$(dirname "$out")/.residual.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Links that are diagonal stay diagonal under relaxation: off-diagonal numbers of g are zeros to the last bit.
lat-abelian --links "$work/abelian.lat" "$config" >/dev/null
lat-orelax --gauge landau --theta "$THETA" --max-sweeps "$MAX_SWEEPS" --save-g "$work/g.lat" "$work/abelian.lat" -o "$work/fixed.lat"
lat-gauge --apply "$work/g.lat" --precision double "$config" -o "$out"
