#!/bin/bash
# Correlators of hadrons of a configuration: pipelines/hadrons.sh CONFIG OUT.tsv
# OUT.tsv (the columns of lat-corr) appears when it is whole. After a crash the same command goes on with the columns that are
# left. hadrons.mk does it for an ensemble, with masses and a picture.
# Copy and edit, or set a variable for once: KAPPA=0.1540 pipelines/hadrons.sh CONFIG OUT.tsv
set -euo pipefail
export LC_ALL=C # awk reads and prints numbers with a point
unset CDPATH
here=$(cd "$(dirname "$(realpath "$0")")" && pwd)
PATH=$PATH:$here/../bin

: "${KAPPA:=0.1540}"                 # hopping parameter; quenched beta = 6.0 without clover term: m_pi about 0.36
: "${CSW:=0}"                        # clover coefficient; 1.769 at beta = 6.0
: "${BOUNDARY:=p,p,p,a}"             # of quarks; p periodic, a antiperiodic, d Dirichlet
: "${SOURCE:=gauss:4,30,0,0,0,0}"    # see lat-source; smeared, so that excited states die out sooner
: "${SOURCES:=}"                     # several sources, with blanks between, in place of SOURCE: lat-stat takes their mean
: "${SINK:=}"                        # steps at the sink, such as gauss:4,30; empty: local
: "${CHANNELS:=pion,rho,nucleon,pcac}" # see lat-corr
: "${MOMENTA:=0}"                    # all momenta with n^2 up to this
: "${RESIDUAL:=1e-10}"               # |b - M x|/|b| of each column; correlators of large t need it
: "${SOLVER:=auto}"                  # see lat-solve
: "${KEEP:=}"                        # 1: the propagator stays, as OUT.prop.lat
: "${CONVERT:=}"                     # options of lat-convert, where a file does not say what it holds

# shellcheck source=known.sh source-path=SCRIPTDIR
. "$here/known.sh" "$0"

[[ -z $KEEP || $KEEP == 1 ]] || { echo "hadrons.sh: KEEP: expected 1, or nothing, found '$KEEP'" >&2; exit 2; }
[ $# -eq 2 ] || [ $# -eq 3 ] || { echo "hadrons.sh: expected CONFIG OUT.tsv [SUBSPACE], found $# arguments" >&2; exit 2; }
config=$1 out=$2 subspace=${3-}
[[ $config != -?* ]] || config=./$config # a name, not an option
[[ $out != -* ]] || out=./$out
[ ! "$config" -ef "$out" ] || { echo "hadrons.sh: $out: expected a name for the table, found the configuration" >&2; exit 2; }
base=${out%.tsv}

# One run at a time has a table, its checkpoint and its log, until the last process that it starts has ended.
lock=$(dirname "$base")/.${base##*/}.hadrons.lock
rc=0
{ exec {held}>>"$lock"; } 2>/dev/null || rc=1
[ $rc -ne 0 ] || flock -n -E 9 "$held" || rc=$?
case $rc in
    0) ;;
    9) echo "hadrons.sh: $out: another run is at work on it" >&2; exit 1 ;;
    *) echo "hadrons.sh: $lock cannot be locked: expected a folder to write to, on a file system that has flock" >&2; exit 1 ;;
esac

# Links in double precision and in SU(3); in a file if the sink needs them, too.
links() {
    # shellcheck disable=SC2086 # several words
    lat-convert $CONVERT "$config" | lat-reunit --precision double
}

# Each source has a table of its own until all are there. If the first one took a multigrid, the others share the next one in a file.
if [ -n "$SOURCES" ]; then
    tables=() number=0
    read -rd '' -a all <<<"$SOURCES" || :
    subspace=$base.subspace.lat
    # Tables that a run before has left are of the same parameters and links.
    asked="SOURCES=${all[*]} "
    for v in KAPPA CSW BOUNDARY SINK CHANNELS MOMENTA RESIDUAL; do asked+="$v=${!v} "; done
    asked+="cksum=$(cksum <"$config")"
    if [ -e "$base.source1.tsv" ] || [ -e "$subspace" ]; then
        found=$(cat "$base.sources" 2>/dev/null || echo unknown)
        [ "$found" = "$asked" ] ||
            { echo "hadrons.sh: $base.source*: expected results of '$asked', found those of '$found': name another OUT.tsv" >&2; exit 1; }
    fi
    "$here/replace.sh" "$base.sources" echo "$asked"
    for SOURCE in "${all[@]}"; do
        table=$base.source$((++number)).tsv
        shared=()
        if [ ! -e "$table" ] && [ $number -gt 1 ] && [ ${#all[@]} -gt 2 ] &&
            "$here/multigrid.sh" "$base.source1.lat-solve.tsv"; then
            [ -e "$subspace" ] || links | lat-subspace --kappa "$KAPPA" --csw "$CSW" --boundary "$BOUNDARY" \
                --columns-to-come $((12 * (${#all[@]} - 1))) -o "$subspace"
            shared=("$subspace")
        fi
        [ -e "$table" ] || SOURCES='' SOURCE=$SOURCE "$(realpath "$0")" "$config" "$table" "${shared[@]}"
        [[ $table == /* ]] || table=./$table # a=b is a file, not a variable of awk
        tables+=("$table")
    done
    "$here/replace.sh" "$out" awk 'FNR > 1 || NR == 1' "${tables[@]}"
    rm -f "${tables[@]}" "$subspace" "$base.sources"
    exit
fi

# Noise is counted by configuration in the input, which is one here: each CONFIG has a number of its own.
case $SOURCE in
    noise:*config=*) ;;
    noise:*)
        number=$(cksum <"$config")
        steps=${SOURCE#"${SOURCE%%/*}"}
        SOURCE=${SOURCE%%/*},config=$((${number%% *} % 2147483647))$steps
        ;;
esac

# solve OPTION...: the solver reads links from stdin.
solve() {
    local ck=$base.ck
    set -- lat-solve "$@" --kappa "$KAPPA" --csw "$CSW" --boundary "$BOUNDARY" --source "$SOURCE" --residual "$RESIDUAL" \
        --solver "$SOLVER" --checkpoint "$ck" --log "$base.lat-solve.tsv"
    [ -z "$subspace" ] || set -- "$@" --subspace "$subspace"
    [ ! -e "$ck" ] || set -- "$@" --resume "$ck"
    "$@"
}

correlate() {
    lat-corr --channels "$CHANNELS" --momenta "$MOMENTA" "$@" -o "$out"
}

sink=()
if [ -n "$SINK" ]; then
    smeared=$(mktemp --suffix=.lat -- "$(dirname "$base")/.links.XXXXXXXX")
    trap 'rm -f "$smeared"' EXIT
    links >"$smeared"
    sink=(--sink "$SINK" --gauge-file "$smeared")
fi
if [ -n "$KEEP" ]; then
    links | solve -o "$base.prop.lat"
    correlate "${sink[@]}" "$base.prop.lat"
else
    links | solve | correlate "${sink[@]}"
fi
