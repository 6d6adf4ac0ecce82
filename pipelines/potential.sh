#!/bin/bash
# The static potential V(R), r0 and the string tension of an ensemble, with errors and a picture:
#   pipelines/potential.sh FOLDER CONFIG...
# FOLDER/loops.tsv has the Wilson loops of all configurations (any format), potential.tsv the effective energies, results.tsv the fit,
# potential.png and potential.pdf the picture, if there is gnuplot. Loops that are there are not measured again: other parameters of
# loops want another FOLDER; T_POTENTIAL, R_MIN and R_MAX do not.
# Copy and edit, or set a variable for once: LEVELS=0,20 pipelines/potential.sh out cfg.*.lat
set -euo pipefail
export LC_ALL=C # awk reads and prints numbers with a point
unset CDPATH
here=$(cd "$(dirname "$(realpath "$0")")" && pwd)
PATH=$PATH:$here/../bin

: "${SMEAR:=ape:0.5}"         # a step of smearing; W(R, T) decays from a level near to 1 where the ends look like the ground state
: "${LEVELS:=5,15,40}"        # numbers of steps; about (r0/a)^2 and more: thin links would only add excited states
: "${TIME_LINKS:=hyp:0.75,0.6,0.3,1}" # smearing of links in time: smaller errors, another constant in V; none: thin links
: "${OFF_AXIS=110,111}"       # other separations; empty: none
: "${R_LARGEST:=}"            # separations up to this one (half the smallest extent in space)
: "${T_LARGEST:=}"            # times up to this one (half the extent in time)
: "${T_POTENTIAL:=3}"         # V(R) = ln W(R, T) / W(R, T + 1) at this T: where the picture has plateaus
: "${R_MIN:=2}"               # separations of the fit: below 2 the lattice breaks the symmetry of rotations, and smeared links in time
: "${R_MAX:=1000000}"         # change V
: "${PICTURES=png pdf}"       # forms of the picture; empty: none
# shellcheck source=known.sh source-path=SCRIPTDIR
. "$here/known.sh" "$0"

[ $# -ge 2 ] || { echo "potential.sh: expected FOLDER CONFIG..., found $# arguments" >&2; exit 2; }
folder=$1
shift
[[ $folder != -* ]] || folder=./$folder
mkdir -p "$folder"

loops=(--tsv --smear "$SMEAR" --levels "$LEVELS" ${OFF_AXIS:+--off-axis "$OFF_AXIS"} ${R_LARGEST:+--max-r "$R_LARGEST"}
    ${T_LARGEST:+--max-t "$T_LARGEST"})
[ "$TIME_LINKS" = none ] || loops+=(--time-links "$TIME_LINKS")
[ -e "$folder/loops.tsv" ] || lat-loops "${loops[@]}" -o "$folder/loops.tsv" -- "$@"

cd "$folder"
awk -v t="$T_POTENTIAL" -v rmin="$R_MIN" -v rmax="$R_MAX" -v results=results.part \
    -f "$here/plots/potential.awk" loops.tsv >potential.part
mv potential.part potential.tsv
mv results.part results.tsv
column -t results.tsv 2>/dev/null || cat results.tsv
command -v gnuplot >/dev/null || exit 0
for form in $PICTURES; do gnuplot -c "$here/plots/potential.gp" "potential.$form" potential.tsv results.tsv; done
