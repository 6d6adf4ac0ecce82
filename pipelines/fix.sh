# shellcheck shell=bash
# The pipeline of landau.sh, coulomb.sh and mag.sh, which source this file after their own parameters:
#   GAUGE.sh CONFIG OUT.lat     fixes CONFIG, any file that lat-convert reads. OUT.lat appears when it is whole. Beside it are a
#                               log of each stage and, while they run, checkpoints: after a crash the same command goes on.
#                               Exit status 3: not converged; with a larger MAX_SWEEPS relaxation goes on from there
#   GAUGE.sh --condition        prints what lat-theta needs to judge a result: --gauge coulomb --time t --require-theta 1e-14
# Set a variable for one run: THETA=1e-20 pipelines/landau.sh CONFIG OUT.lat
# Keep parameters: copy landau.sh to mine.sh in this folder, and edit it.
set -euo pipefail
export LC_ALL=C # awk reads and prints numbers with a point
PATH=$PATH:$(dirname "$(realpath "$0")")/../bin

: "${COPIES:=1}"         # random starts, of which the best one stays; 1: one start, from its own gauge. Their table is beside OUT.lat
: "${T_LAST:=0.1}"        # last temperature: F is within some 5 % of its maximum, relaxation is faster from there
: "${MICRO:=3}"           # microcanonical sweeps at each temperature, as in the cuLGT paper: they decorrelate cheaply
: "${MAX_SWEEPS:=100000}" # then relaxation is given up as stuck; another SEED may not be
: "${PRECISION:=mixed}"   # of the relaxation: single until theta is near its floor, then double, in half the time
: "${SEED:=1}"            # of the annealing and the starts: the same seed, the same bytes
: "${EVERY:=600}"         # seconds between two checkpoints: what a crash may cost; a signal costs nothing
: "${CONVERT:=}"          # for files that do not say what they hold, such as "--from raw --dims 32,32,32,64"

[ -n "${gauge+set}" ] || { echo "fix.sh: expected landau.sh, coulomb.sh or mag.sh, which source it" >&2; exit 2; }
if [ "${1-}" = --condition ]; then
    echo "${gauge[*]} --require-theta $THETA"
    exit
fi
# shellcheck source=known.sh source-path=SCRIPTDIR
. "${BASH_SOURCE[0]%/*}/known.sh" "$0" "${BASH_SOURCE[0]}"
[ $# -eq 2 ] || { echo "${0##*/}: expected CONFIG OUT.lat, found $# arguments" >&2; exit 2; }
config=$1 out=$2
[[ $config != -?* ]] || config=./$config # a name, not an option
[[ $out != -* ]] || out=./$out
logs=() starts=()
[ "${gauge[1]}" != coulomb ] || logs=(--slice-log "${out%.lat}.slices.tsv")
[ "$COPIES" = 1 ] || { logs+=(--copies-log "${out%.lat}.copies.tsv"); starts=(--copies "$COPIES"); }

# stage TOOL OPTION...: with a log, and a checkpoint to go on from.
stage() {
    local name=${out%.lat}.$1
    [ ! -e "$name.ck" ] || set -- "$@" --resume "$name.ck"
    "$@" "${gauge[@]}" --log "$name.tsv" --checkpoint "$name.ck" --every "$EVERY"
}

# A batch system sends SIGTERM to all processes: this one waits until the stages have written their checkpoints.
trap : TERM USR2

# Links of files in single precision are in SU(3) to 1e-7 only: lat-reunit brings them back.
links() {
    # shellcheck disable=SC2086 # several words
    lat-convert $CONVERT "$config" | lat-reunit --precision double
}

relax() {
    stage lat-orelax --theta "$THETA" --max-sweeps "$MAX_SWEEPS" --precision "$PRECISION" "${logs[@]}" -o "$out" "$@"
}

if [ "$STEPS" = 0 ]; then
    [ "$COPIES" = 1 ] || starts+=(--seed "$SEED")
    links | relax "${starts[@]}"
else
    links | stage lat-anneal "${starts[@]}" --from "$T_FIRST" --to "$T_LAST" --steps "$STEPS" --micro "$MICRO" --seed "$SEED" | relax
fi
