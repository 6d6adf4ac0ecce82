# shellcheck shell=bash
# The scripts of this folder source this file. They repeat results of "Coulomb, Landau and Maximally Abelian Gauge Fixing in Lattice
# QCD with Multi-GPUs" (Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907) and print them beside the paper's. docs/paper.md
# has the results. With a GPU the lattice is the paper's, 32^4, without one 12^4. You may set every variable for one run.
set -euo pipefail
[ $# -eq 1 ] || { echo "${0##*/}: expected FOLDER, found $# arguments" >&2; exit 2; }
# shellcheck source=../known.sh source-path=SCRIPTDIR
. "${BASH_SOURCE[0]%/*}/../known.sh" "$0" "${BASH_SOURCE[0]}"
# Helper files have fixed names: where everybody may make files they would be written through links of others.
mkdir -p -- "$1"
[ -z "$(find -H "$(realpath "$1")" -maxdepth 0 -perm /002)" ] || { echo "${0##*/}: $1: expected a folder in which not everybody may make files" >&2; exit 1; }
set -a # batches have the variables and functions, too
LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
PATH=${LAT_BIN:-$root/bin}:$PATH

# As many as gpuslot hands out.
gpus=$( (if [ -n "${CUDA_VISIBLE_DEVICES+set}" ]; then tr ', ' '\n' <<<"$CUDA_VISIBLE_DEVICES"; else nvidia-smi -L 2>/dev/null; fi) | grep -c . || true)
# gpu A B: A with a GPU, B without.
gpu() {
    if [ "$gpus" -gt 0 ]; then echo "$1"; else echo "$2"; fi
}

: "${EXTENT:=$(gpu 32 12)}"  # extent of the lattice in all directions
: "${COPIES:=$(gpu 100 10)}" # random starts; the paper has 100
: "${SEED:=1}"               # of configuration and starts
: "${OMEGA:=1.35}"           # the paper's overrelaxation, SU(2) subgroup by subgroup
: "${BATCH:=$(gpu 8 "$COPIES")}" # copies at a time on a GPU: as many as share a link once read
: "${SLOTS:=1}"              # batches that share a GPU
: "${SO_FAR:=}"              # anything: only the tables of what is there

# thermal FOLDER: the name of a configuration there at the paper's beta = 5.7, made unless it is there already.
thermal() {
    local file=$1/b5.7-$EXTENT.lat
    [ -e "$file" ] || [ -n "$SO_FAR" ] || lat-heatbath -q --dims "$EXTENT,$EXTENT,$EXTENT,$EXTENT" --beta 5.7 --thermalise "${THERMALISE:-500}" \
        --seed "$SEED" --rows 3 -0 -o "$file"
    realpath -m "$file"
}

# batches NAME FUNCTION ARGUMENT...: FUNCTION ARGUMENT... --copies N --seed SEED for some copies at a time, on all GPUs there are,
# each in a folder NAME.FIRST that appears when it is done; so a run that was cut off goes on.
batches() {
    local first n job jobs=()
    [ -z "$SO_FAR" ] || return 0
    for ((first = 0; first < COPIES; first += BATCH)); do
        n=$((COPIES - first < BATCH ? COPIES - first : BATCH))
        [ ! -d "$1.$first" ] || continue
        "$here/../gpuslot" bash -euo pipefail -c 'one_batch "$@"' - "$1.$first" "${@:2}" --copies "$n" --seed "$((SEED + first))" &
        jobs+=($!)
        [ "$gpus" -gt 0 ] || wait $!
    done
    for job in "${jobs[@]}"; do wait "$job"; done
}

one_batch() {
    rm -rf "$1.part"
    mkdir "$1.part"
    (cd "$1.part" && "${@:2}")
    mv "$1.part" "$1"
}

# together NAME LOG: one log of those of the batches that are there, copies numbered through.
together() {
    local first begun=0
    for ((first = 0; first < COPIES; first += BATCH)); do
        [ -d "$1.$first" ] || continue
        awk -F'\t' -v OFS='\t' -v first="$first" -v begun=$begun 'FNR > 1 { $2 += first } FNR > 1 || !begun' "$1.$first/$2.tsv"
        begun=1
    done >"$2.tsv"
}

# unconverged COMMAND...: copies that have not converged are a result too.
unconverged() {
    "$@" || [ $? = 3 ]
}

# tool NAME: the name of a program of bench/, built if need be.
tool() {
    local at
    at=$(MAKEFLAGS='' MAKELEVEL='' make -s --no-print-directory -C "$root" where NAME="$1" 2>/dev/null | tail -n 1) && [ -x "$root/$at" ] &&
        echo "$root/$at"
}
