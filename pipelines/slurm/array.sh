#!/bin/bash
# An ensemble as an array of Slurm jobs: sbatch pipelines/slurm/array.sh, from the folder that RAW is in.
# Each job takes every 16th configuration. Two minutes before the time limit Slurm sends this script SIGTERM; it passes it on to all
# that it has started, which write checkpoints. Cut off by the time limit, or when more configurations have come: submit it again,
# it fixes what is missing; while the first one runs it waits for what that has in hand. To submit two rounds at once without that:
# sbatch --dependency=singleton, twice. A job in which a configuration failed counts as failed, so --dependency=afterok waits for all of them to be there. Without GPUs: sbatch --gpus-per-task=0.
#SBATCH --job-name=landau
#SBATCH --array=1-16
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --gpus-per-task=1
#SBATCH --time=12:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --output=%x.%A.%a.out
set -euo pipefail

PARTS=16                           # as many as --array says above; so --array=3 alone is still the third of 16
JOBS=2                             # one on the GPU while another one reads or writes
PIPELINES=${PIPELINES:-pipelines}  # a copy of this folder; Slurm runs a copy of this script from elsewhere

# Once more `wait`: the first one ends when the signal comes.
trap 'trap "" TERM; kill -TERM 0' TERM
make -f "$PIPELINES/ensemble.mk" -j$JOBS RAW=raw GAUGE=landau PART="$SLURM_ARRAY_TASK_ID/$PARTS" &
rc=0
wait $! || rc=$?
[ $rc -ne 143 ] || wait $! || rc=$?
exit $rc
