#!/bin/bash
# Fixes a configuration to maximally Abelian gauge: pipelines/mag.sh CONFIG OUT.lat
# CONFIG is any file that lat-convert reads. OUT.lat appears when it is whole. Each stage writes a log beside it and, while it
# runs, a checkpoint: after a crash the same command continues. Exit status 3: not converged.
# Copy and edit this script, or set a variable for one run: THETA=1e-20 pipelines/mag.sh CONFIG OUT.lat
set -euo pipefail
PATH=$PATH:$(dirname "$0")/../bin

: "${T_FIRST:=1.0}"         # first temperature: above the jump of F, between T = 0.9 and 0.67 (thermal 8^4, beta = 6)
: "${T_LAST:=0.1}"          # last temperature: F is within some 5 % of its maximum, and relaxation is faster from there
: "${STEPS:=1000}"          # number of temperatures; Abelian observables depend on the maximum, so take many (gribov.sh)
: "${MICRO:=3}"             # microcanonical sweeps at each temperature, as in the cuLGT paper: they decorrelate cheaply
: "${THETA:=1e-14}"         # mean square of the off-diagonal condition, docs/gauges.md
: "${MAX_SWEEPS:=100000}"   # more sweeps mean that it is stuck; another SEED may not be
: "${PRECISION:=double}"    # precision of the relaxation; mixed begins in single and reaches the same theta
: "${SEED:=1}"              # seed of the annealing: the same seed gives the same bytes
: "${EVERY:=600}"           # seconds between two checkpoints: a crash costs at most this time
: "${CONVERT:=}"            # options for files that do not say what they hold, such as "--from raw --dims 32,32,32,64"

config=${1:?expected CONFIG OUT.lat} out=${2:?expected CONFIG OUT.lat}

# stage TOOL OPTION...: runs TOOL with a log. It continues from a checkpoint, unless the run ended without convergence.
stage() {
    local name=${out%.lat}.$1
    [ ! -e "$name.ck" ] || set -- "$@" --resume "$name.ck"
    "$@" --log "$name.tsv" --checkpoint "$name.ck" --every "$EVERY" || {
        local rc=$?
        [ $rc -ne 3 ] || rm -f "$name.ck"
        return $rc
    }
}

# Links of files in single precision are in SU(3) to 1e-7 only: lat-reunit projects them to SU(3).
# shellcheck disable=SC2086 # several words
lat-convert $CONVERT "$config" | lat-reunit --precision double |
    stage lat-anneal --gauge mag --from "$T_FIRST" --to "$T_LAST" --steps "$STEPS" \
        --micro "$MICRO" --seed "$SEED" |
    stage lat-orelax --gauge mag --theta "$THETA" --max-sweeps "$MAX_SWEEPS" \
        --precision "$PRECISION" -o "$out"
