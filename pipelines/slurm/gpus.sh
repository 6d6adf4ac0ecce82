#!/bin/bash
# Fixes one large lattice on several GPUs: sbatch pipelines/slurm/gpus.sh CONFIG OUT.lat
# Use it for a lattice that does not fit on one GPU, or takes too long there. For many small lattices array.sh is better. The lattice
# is cut across its last direction, with a rank and a GPU for each slab. Data go through files. srun would pass them on at some MB/s,
# and to all ranks. After the time limit submit it again: it continues from its checkpoint.
#SBATCH --job-name=landau
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=12:00:00
#SBATCH --output=%x.%j.out
set -euo pipefail

GAUGE=${GAUGE:-landau}
THETA=${THETA:-1e-14}        # see landau.sh
PRECISION=${PRECISION:-mixed}
EVERY=${EVERY:-600}          # seconds between two checkpoints
CONVERT=${CONVERT:-}         # see landau.sh

config=${1:?expected CONFIG OUT.lat} out=${2:?expected CONFIG OUT.lat}
raw=${out%.lat}.raw.lat checkpoint=${out%.lat}.ck

# One process reads any format and projects links to SU(3). Four do the sweeps.
# shellcheck disable=SC2086 # several words
[ -e "$raw" ] || lat-convert $CONVERT "$config" | lat-reunit --precision double -o "$raw"
options=(--gauge "$GAUGE" --theta "$THETA" --precision "$PRECISION" --log "${out%.lat}.tsv" --checkpoint "$checkpoint" --every "$EVERY")
[ ! -e "$checkpoint" ] || options+=(--resume "$checkpoint")

# srun starts SLURM_NTASKS ranks. Only the first one reads -i, writes -o and prints messages. On one machine without Slurm
# lat-orelax -n 4 ... < raw.lat > out.lat does the same.
srun --input=none lat-orelax "${options[@]}" -i "$raw" -o "$out"
lat-theta --require-theta "$THETA" "$out"
rm -f "$raw"
