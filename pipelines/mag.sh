#!/bin/bash
# A configuration to maximally Abelian gauge: pipelines/mag.sh CONFIG OUT.lat
# CONFIG is any file that lat-convert reads. OUT.lat appears when it is whole. Beside it are a log of each stage and,
# while they run, checkpoints: after a crash the same command goes on. Exit status 3: not converged
# Copy and edit, or set a variable for once: THETA=1e-20 pipelines/mag.sh CONFIG OUT.lat
set -euo pipefail
PATH=$PATH:$(dirname "$0")/../bin

: "${T_FIRST:=1.0}"         # first temperature: above the jump of F, between T = 0.9 and 0.67 (thermal 8^4, beta = 6)
: "${T_LAST:=0.1}"          # last one: F is within some 5 % of its maximum, relaxation is faster from there
: "${STEPS:=1000}"          # temperatures; Abelian observables depend on the maximum: rather more than less (gribov.sh)
: "${MICRO:=3}"             # microcanonical sweeps at each of them, as in the cuLGT paper: they decorrelate cheaply
: "${THETA:=1e-14}"         # mean square of the off-diagonal condition, docs/gauges.md
: "${MAX_SWEEPS:=100000}"   # then it is given up as stuck; another SEED may not be
: "${PRECISION:=double}"    # of the relaxation; mixed begins in single and reaches the same theta
: "${SEED:=1}"              # of the annealing: the same seed, the same bytes
: "${EVERY:=600}"           # seconds between two checkpoints: what a crash may cost
: "${CONVERT:=}"            # for files that do not say what they hold, such as "--from raw --dims 32,32,32,64"

config=${1:?expected CONFIG OUT.lat} out=${2:?expected CONFIG OUT.lat}

# stage TOOL OPTION...: with a log, and a checkpoint to go on from, unless it ended without convergence.
stage() {
    local name=${out%.lat}.$1
    [ ! -e "$name.ck" ] || set -- "$@" --resume "$name.ck"
    "$@" --log "$name.tsv" --checkpoint "$name.ck" --every "$EVERY" || {
        local rc=$?
        [ $rc -ne 3 ] || rm -f "$name.ck"
        return $rc
    }
}

# Links of files in single precision are in SU(3) to 1e-7 only: lat-reunit brings them back.
# shellcheck disable=SC2086 # several words
lat-convert $CONVERT "$config" | lat-reunit --precision double |
    stage lat-anneal --gauge mag --from "$T_FIRST" --to "$T_LAST" --steps "$STEPS" \
        --micro "$MICRO" --seed "$SEED" |
    stage lat-orelax --gauge mag --theta "$THETA" --max-sweeps "$MAX_SWEEPS" \
        --precision "$PRECISION" -o "$out"
