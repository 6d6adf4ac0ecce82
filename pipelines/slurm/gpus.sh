#!/bin/bash
# One large lattice on several GPUs: sbatch pipelines/slurm/gpus.sh CONFIG OUT.lat
# For lattices that one GPU does not hold, or not fast enough; for many small ones array.sh is better. The lattice is cut along its last
# direction, a rank and a GPU for each part. Data go through files, not through srun, which would pass them on at some MB/s and to
# all ranks. Two minutes before the time limit Slurm sends the ranks SIGUSR2, and they write a checkpoint: submit it again, it goes
# on from there.
#SBATCH --job-name=landau
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=12:00:00
#SBATCH --signal=USR2@120
#SBATCH --output=%x.%j.out
set -euo pipefail

: "${GAUGE:=landau}"
: "${THETA:=1e-14}"        # see landau.sh, coulomb.sh, mag.sh
: "${PRECISION:=mixed}"
: "${EVERY:=600}"          # seconds between two checkpoints
: "${CONVERT:=}"           # see fix.sh
: "${PIPELINES:=pipelines}" # a copy of this folder; Slurm runs a copy of this script from elsewhere

[ -e "$PIPELINES/known.sh" ] || PIPELINES=$(dirname "$(realpath "$0")")/..
if [ -e "$PIPELINES/known.sh" ]; then
    # shellcheck source=../known.sh source-path=SCRIPTDIR
    . "$PIPELINES/known.sh" "$0"
else
    echo "gpus.sh: pipelines/known.sh is not there: without PIPELINES a misspelt variable is not noticed" >&2
fi

[ $# -eq 2 ] || { echo "gpus.sh: expected CONFIG OUT.lat, found $# arguments" >&2; exit 2; }
config=$1 out=$2
[[ $config != -?* ]] || config=./$config # a name, not an option
[[ $out != -* ]] || out=./$out
case $GAUGE in landau | coulomb | mag) ;; *) echo "gpus.sh: GAUGE: expected landau, coulomb or mag, found '$GAUGE'" >&2; exit 2 ;; esac
raw=${out%.lat}.raw.lat checkpoint=${out%.lat}.ck

# One job at a time: it has the lock until it ends, however that is.
exec {lock}>>"${out%.lat}.lock"
flock -n "$lock" || { echo "gpus.sh: another job is at $out: it has ${out%.lat}.lock" >&2; exit 1; }

# One process: any format in, links brought back to SU(3). Four: the sweeps. (Again in each job: raw.lat may be of another CONFIG.)
# shellcheck disable=SC2086 # several words
lat-convert $CONVERT "$config" | lat-reunit --precision double -o "$raw"
options=(--gauge "$GAUGE" --theta "$THETA" --precision "$PRECISION" --log "${out%.lat}.tsv" --checkpoint "$checkpoint" --every "$EVERY")
[ ! -e "$checkpoint" ] || options+=(--resume "$checkpoint")

# srun starts SLURM_NTASKS ranks, of which the first alone reads -i, writes -o and speaks. On one machine without Slurm
# the same is: lat-orelax -n 4 ... < raw.lat > out.lat
srun --input=none --kill-on-bad-exit=1 lat-orelax "${options[@]}" -i "$raw" -o "$out"
lat-theta --gauge "$GAUGE" --require-theta "$THETA" "$out"
rm -f "$raw"
