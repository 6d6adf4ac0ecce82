#!/bin/bash
# Gribov copies of a configuration, with annealing and without: pipelines/gribov.sh CONFIG FOLDER
# FOLDER/without.tsv and with.tsv have a line for each copy, table.tsv their summary, histogram.tsv how many lie how far below the
# best one, copies.png and copies.pdf the picture of it, if there is gnuplot; best.lat is the best of all. After a crash the same
# command goes on. Other parameters, or other links, want another FOLDER, and are refused in the same one. SAME and
# EVERY do not, nor does MAX_SWEEPS while no relaxation has ended.
# Copy and edit, or set a variable for once: COPIES=100 GAUGE=mag pipelines/gribov.sh CONFIG FOLDER
set -euo pipefail
export LC_ALL=C # awk reads and prints numbers with a point
unset CDPATH
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:$here/../bin

: "${GAUGE:=landau}"        # landau, coulomb or mag
: "${COPIES:=20}"           # random starts; the rate of the best one has an error of 1/sqrt(COPIES) at most half of that
: "${T_FIRST:=1.4}"         # above the jump of F in every gauge, see landau.sh, coulomb.sh, mag.sh
: "${T_LAST:=0.1}"          # see fix.sh
: "${STEPS:=1000}"          # temperatures: double them until the table no longer changes
: "${MICRO:=3}"             # microcanonical sweeps at each of them
: "${THETA:=1e-12}"         # functionals are then right to 1e-11 or so, and copies are told apart
: "${SAME:=1e-9}"           # relative deviation below which two copies are the same
: "${MAX_SWEEPS:=100000}"   # then a copy counts as not converged, and is not in the means
: "${SEED:=1}"              # copy c has SEED + c, here and there: the same starts with annealing and without
: "${EVERY:=600}"           # seconds between two checkpoints
: "${CONVERT:=}"            # see fix.sh

# shellcheck source=known.sh source-path=SCRIPTDIR
. "$here/known.sh" "$0" "$here/plots/draw.sh"

[ $# -eq 2 ] || { echo "gribov.sh: expected CONFIG FOLDER, found $# arguments" >&2; exit 2; }
config=$1 folder=$2
[[ $config != -?* ]] || config=./$config # a name, not an option
[[ $folder != -* ]] || folder=./$folder

fail() {
    echo "gribov.sh: $1" >&2
    exit 1
}

[ "$config" = - ] || [ -e "$config" ] || fail "$config: expected a configuration, found none"
mkdir -p "$folder"
exec {held}>>"$folder/.lock" # of two runs at once one is at work; the other waits
flock "$held" || fail "$folder/.lock cannot be locked: expected FOLDER on a file system that has flock"

# there NAME...: any of these files in FOLDER?
there() {
    local name
    for name; do [ ! -e "$folder/$name" ] || return 0; done
    return 1
}

# Copies of other parameters, or of other links, are none. A stream is read once, and nothing tells it from another one.
links=stream
if [ "$config" != - ] && [ -f "$config" ]; then
    CONVERT=$CONVERT "$here/links.sh" "$config" "$folder/.links" ''
    read -r links _ <"$folder/.links"
fi
parameters=
for v in GAUGE COPIES T_FIRST T_LAST STEPS MICRO THETA MAX_SWEEPS SEED; do parameters+="$v=${!v} "; done
parameters+=LINKS=$links
found=unknown
[ ! -e "$folder/.parameters" ] || found=$(cat "$folder/.parameters")
if [ "$found" != "$parameters" ]; then
    if ! there {without,with}.lat {without,anneal,with}.ck; then
        rm -f "$folder/raw.lat"
    elif there {without,with}.lat ||
        [ "${found/MAX_SWEEPS=* SEED/SEED}" != "${parameters/MAX_SWEEPS=* SEED/SEED}" ]; then
        fail "$folder: expected results of '$parameters', found those of '$found': name another FOLDER"
    fi
    "$here/replace.sh" "$folder/.parameters" echo "$parameters"
fi

trap : TERM USR2 # the stages write checkpoints first

# stage NAME TOOL OPTION...: with a checkpoint to go on from.
stage() {
    local ck=$folder/$1.ck
    shift
    [ ! -e "$ck" ] || set -- "$@" --resume "$ck"
    "$@" --gauge "$GAUGE" --checkpoint "$ck" --every "$EVERY"
}

anneal() {
    stage anneal lat-anneal --copies "$COPIES" --seed "$SEED" --from "$T_FIRST" --to "$T_LAST" --steps "$STEPS" --micro "$MICRO"
}

# relax NAME [OPTION]...: of all copies that come along or are begun; the best one stays.
relax() {
    stage "$1" lat-orelax --theta "$THETA" --max-sweeps "$MAX_SWEEPS" --copies-log "$folder/$1.tsv" -o "$folder/$1.lat" "${@:2}"
}

[ "$links" != stream ] || ! there raw.lat || echo "gribov.sh: $folder/raw.lat is there: a stream is not read again" >&2
# shellcheck disable=SC2086 # several words
[ -e "$folder/raw.lat" ] || lat-convert $CONVERT "$config" | lat-reunit --precision double -o "$folder/raw.lat"
configurations=$(lat-info --tsv "$folder/raw.lat" | tail -n +2 | wc -l)
[ "$configurations" = 1 ] || {
    rm -f "$folder/raw.lat"
    fail "$config: expected one configuration, found $configurations: lat-convert --split makes a file of each"
}
[ -e "$folder/without.lat" ] || relax without --copies "$COPIES" --seed "$SEED" <"$folder/raw.lat"
[ -e "$folder/with.lat" ] || anneal <"$folder/raw.lat" | relax with

# The columns of a log: config copy seed functional theta sweeps converged selected.
cd "$folder"
functionals=$(awk -F'\t' 'FNR > 1 && $7 { print $4 }' without.tsv with.tsv | sort -g)
least=$(head -n 1 <<<"$functionals") best=$(tail -n 1 <<<"$functionals")

# row NAME UPDATES: of the table; UPDATES sweeps have been done before those in NAME.tsv.
row() {
    awk -F'\t' -v name="$1" -v updates="$2" -v best="$best" -v same="$SAME" '
        FNR == 1 { next }
        { copies++; sweeps += updates + $6 }
        $7 { n++; d = $4 - best; sum += d; square += d * d; hits += -d <= same * best; if (n == 1 || $4 > top) top = $4 }
        END {
            mean = sum / n; variance = square / n - mean * mean
            printf "%s\t%d\t%d\t%.0f\t%.12f\t%.1e\t%.12f\t%.3f\n", name, copies, n, sweeps / copies,
                best + mean, sqrt(variance > 0 ? variance : 0), top, hits / n }' "$1.tsv"
}
{
    printf 'annealing\tcopies\tconverged\tsweeps\tF_mean\tF_spread\tF_best\tshare_of_best\n'
    row without 0
    row with $((STEPS * (1 + MICRO)))
} | "$here/replace.sh" table.tsv cat

# shellcheck disable=SC2016 # of awk
"$here/replace.sh" histogram.tsv awk -F'\t' -v OFS='\t' -v best="$best" -v least="$least" -v same="$SAME" -v bins=20 '
    BEGIN { width = (1 - least / best) / bins; if (width < same) width = same }
    FNR == 1 { file++ }
    FNR > 1 && $7 { b = int((1 - $4 / best) / width); count[file, b < bins ? b : bins - 1]++ }
    END {
        print "deviation", "without", "with"
        for (b = 0; b < bins; b++) print sprintf("%.3e", b * width), count[1, b] + 0, count[2, b] + 0
    }' without.tsv with.tsv

cat table.tsv
echo
awk 'NR > 1 { printf "%s ", $1; for (i = 0; i < $2; i++) printf "o"; for (i = 0; i < $3; i++) printf "#"; print "" }
    NR == 1 { print "1 - F / F_best: o without, # with annealing" }' histogram.tsv
if cut -f4 with.tsv | grep -qxF "$best"; then found=with.lat; else found=without.lat; fi
"$here/replace.sh" best.lat cat $found
"$here/plots/draw.sh" copies.gp copies without.tsv with.tsv
