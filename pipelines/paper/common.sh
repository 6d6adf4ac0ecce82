# shellcheck shell=bash
# Sourced by the scripts of this folder. They repeat results of "Coulomb, Landau and Maximally Abelian Gauge Fixing in Lattice
# QCD with Multi-GPUs" (Schroeck and Vogt, Comput. Phys. Commun. 184 (2013) 1907) and print them beside the paper's; docs/paper.md
# has what came of them. With a GPU on the paper's lattice, 32^4, without on 12^4; every variable may be set for once.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/../..
PATH=${LAT_BIN:-$root/bin}:$PATH
export PATH

gpus=$( (nvidia-smi -L 2>/dev/null || true) | grep -c '^GPU' || true)
# gpu A B: A with a GPU, B without.
gpu() {
    if [ "$gpus" -gt 0 ]; then echo "$1"; else echo "$2"; fi
}

: "${EXTENT:=$(gpu 32 12)}"  # extent of the lattice in all directions
: "${COPIES:=$(gpu 100 10)}" # random starts; the paper has 100
: "${SEED:=1}"               # of configuration and starts
: "${OMEGA:=1.35}"           # the paper's overrelaxation, SU(2) subgroup by subgroup

# thermal FOLDER: the name of a configuration there at the paper's beta = 5.7, made unless it is there already.
thermal() {
    local file=$1/b5.7-$EXTENT.lat
    [ -e "$file" ] || lat-heatbath -q --dims "$EXTENT,$EXTENT,$EXTENT,$EXTENT" --beta 5.7 --thermalise "${THERMALISE:-500}" \
        --seed "$SEED" --rows 3 -o "$file"
    echo "$file"
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
