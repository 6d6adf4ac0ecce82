#!/bin/bash
# Pictures of tables, OUT.png and OUT.pdf:   pipelines/plots/draw.sh NAME.gp OUT TABLE...
# NAME.gp is a script of this folder, or yours, with a / in its name, which calls style.gp. Each picture appears whole or not at all.
# Without gnuplot there is a sentence and no picture, and the exit status is 0; style.gp says what there is without its cairo terminals.
set -euo pipefail
unset CDPATH
here=$(cd "$(dirname "$(realpath "$0")")" && pwd)

: "${PICTURES=png pdf}" # forms of the pictures; empty: none
: "${A_INVERSE=}"       # 1/a in GeV: momenta are in GeV; empty: in units of the lattice
export A_INVERSE

[ $# -ge 3 ] || { echo "draw.sh: expected NAME.gp OUT TABLE..., found $# arguments" >&2; exit 2; }
[ $# -le 10 ] || { echo "draw.sh: expected at most 8 tables, as many as gnuplot takes, found $(($# - 2))" >&2; exit 2; }
script=$1 out=$2
[[ $script == */* ]] || script=$here/$script
[ -e "$script" ] || { echo "draw.sh: expected a script that draws, found no $script" >&2; exit 2; }
[ -n "$PICTURES" ] || exit 0
command -v gnuplot >/dev/null || { echo "draw.sh: $out: no picture: expected gnuplot (Debian: gnuplot-nox), found none" >&2; exit 0; }
for form in $PICTURES; do "$here/../replace.sh" "$out.$form" env LC_ALL=C.UTF-8 gnuplot -c "$script" {} "${@:3}"; done
