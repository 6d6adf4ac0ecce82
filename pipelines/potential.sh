#!/bin/bash
# The static potential V(R), r0 and the string tension of an ensemble, with errors and a picture:
#   pipelines/potential.sh FOLDER CONFIG...
# FOLDER/loops.tsv has the Wilson loops of all configurations (any format), energies.tsv the effective energies V(R, T), potential.tsv
# V(R), results.tsv the fit, potential.png and potential.pdf the picture, if there is gnuplot. Loops that are there are not measured
# again. Other configurations, or parameters of loops, want another FOLDER, and are refused in the same one. BINSIZE,
# T_POTENTIAL, R_MIN and R_MAX do not.
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
: "${BINSIZE:=1}"             # configurations of a bin; lat-stat warns where bins are too small
: "${T_POTENTIAL:=3}"         # V(R) = ln W(R, T) / W(R, T + 1) at this T: where the picture has plateaus; A,B: the mean from A to B
: "${R_MIN:=2}"               # separations of the fit: below 2 the lattice breaks the symmetry of rotations, and smeared links in time
: "${R_MAX:=1000000}"         # change V
# And PICTURES, which draw.sh reads.
# shellcheck source=known.sh source-path=SCRIPTDIR
. "$here/known.sh" "$0" "$here/plots/draw.sh"

[ $# -ge 2 ] || { echo "potential.sh: expected FOLDER CONFIG..., found $# arguments" >&2; exit 2; }
folder=$1
shift
[[ $folder != -* ]] || folder=./$folder

fail() {
    echo "potential.sh: $*" >&2
    exit 1
}

configs=()
for config; do
    [ -f "$config" ] || fail "$config: expected a regular file of configurations, found none"
    [[ $config != -* ]] || config=./$config # a name, not an option
    configs+=("$config")
done
mkdir -p "$folder/links"
exec {held}>>"$folder/.lock" # of two runs at once one measures; the other waits
flock "$held" || fail "$folder/.lock cannot be locked: expected FOLDER on a file system that has flock"

# Loops of other parameters, other files, or other links in them, are none.
parameters=
for v in SMEAR LEVELS TIME_LINKS OFF_AXIS R_LARGEST T_LARGEST; do parameters+="$v=${!v} "; done
mapfile -t asked < <(printf '%s\n' "$parameters" && printf '%q\n' "${configs[@]##*/}")
if [ -e "$folder/loops.tsv" ]; then
    found=()
    [ ! -e "$folder/.parameters" ] || mapfile -t found <"$folder/.parameters"
    [ "${found[0]-}" = "$parameters" ] ||
        fail "$folder: expected results of '$parameters', found those of '${found[0]-unknown}': name another FOLDER"
    for ((i = 1; i < ${#asked[@]} || i < ${#found[@]}; i++)); do
        [ "${asked[i]-}" = "${found[i]-}" ] ||
            fail "$folder/loops.tsv: expected loops of ${asked[i]-nothing} as file $i, found ${found[i]-nothing}:" \
                "name another FOLDER"
    done
else
    "$here/replace.sh" "$folder/.parameters" printf '%s\n' "${asked[@]}"
fi
for ((i = 1; i <= ${#configs[@]}; i++)); do
    CONVERT='' "$here/links.sh" "${configs[i - 1]}" "$folder/links/$i" "$folder/loops.tsv"
done

loops=(--tsv --smear "$SMEAR" --levels "$LEVELS" ${OFF_AXIS:+--off-axis "$OFF_AXIS"} ${R_LARGEST:+--max-r "$R_LARGEST"}
    ${T_LARGEST:+--max-t "$T_LARGEST"})
[ "$TIME_LINKS" = none ] || loops+=(--time-links "$TIME_LINKS")
[ -e "$folder/loops.tsv" ] || lat-loops "${loops[@]}" -o "$folder/loops.tsv" -- "${configs[@]}"
exec {held}>&-

cd "$folder"
lat-stat --potential --bin "$BINSIZE" --samples energies.samples -o energies.tsv loops.tsv
if [[ $T_POTENTIAL == *,* ]]; then
    lat-fit --x T --column V --range "$T_POTENTIAL" --covariance diagonal --samples potential.samples -o potential.tsv energies.samples
    potential=(--column m0 potential.samples)
else
    "$here/replace.sh" potential.tsv awk -f "$here/plots/table.awk" -v where="T=$T_POTENTIAL" -- energies.tsv
    [ "$(wc -l <potential.tsv)" -gt 1 ] ||
        { echo "potential.sh: T_POTENTIAL: expected a T of $folder/energies.tsv, found $T_POTENTIAL" >&2; exit 1; }
    potential=(--select "$T_POTENTIAL" energies.samples)
fi
# V(R) of different R are correlated: without many configurations the fit takes errors alone. Its own errors are those of the jackknife.
lat-fit --form potential --range "$R_MIN,$R_MAX" --covariance diagonal -o results.tsv "${potential[@]}"
awk -F'\t' 'NR == 1 { split($0, name) } NR == 2 { for (i = 1; i < NF; i++)
    if (name[i + 1] == name[i] "_error") printf "%-10s %.6g +- %.2g\n", name[i], $i, $(i + 1) }' results.tsv
"$here/plots/draw.sh" potential.gp potential potential.tsv energies.tsv results.tsv
