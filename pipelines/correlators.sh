#!/bin/bash
# Gluon, ghost and quark propagators, the three-gluon vertex, alpha(p) and Z factors (RI'/MOM) of an ensemble:
#   pipelines/correlators.sh RAW OUT
#     RAW  a folder of configurations, one a file, in any format that lat-convert reads; or a file, or - for stdin: a stream of several
#     OUT  a folder: OUT/landau has the configurations in Landau gauge (ensemble.mk), OUT/each the numbers of each of them,
#          OUT/{gluon,vertex,ghost,alpha,quark,z}.tsv means and jackknife errors of all, and pictures beside them, if there is gnuplot
# Interrupt it, kill it, run it again: what is done is not computed again. From - the stream is read once; it is then in OUT/raw.
# Means are of the configurations that are in RAW now; others of the same names are refused (links.sh).
# Copy and edit, or set a variable for once: JOBS=8 KAPPA=0.1540 pipelines/correlators.sh raw out
set -euo pipefail
export LC_ALL=C # awk reads and prints numbers with a point
shopt -s nullglob
unset CDPATH
here=$(cd "$(dirname "$(realpath "$0")")" && pwd)
PATH=$PATH:$here/../bin

: "${JOBS:=1}"                # configurations at a time; they share the processors, or wait for GPUs (gpuslot)
: "${CYLINDER:=1}"            # gluons: momenta so near to a diagonal, in units of 2 pi/X; 1e9: all
: "${VERTICES=8}"             # momenta of the three-gluon vertex, n^2 up to a number; empty: no vertices
: "${GHOSTS=4}"               # momenta of ghosts, see lat-ghost: n^2 up to a number, or a list; empty: no ghosts, no alpha
: "${QUARKS=1,1,1,1.5/2,2,2,3.5/3,3,3,5.5}" # momenta nx,ny,nz,nt of quarks, near the diagonal of L^3 x 2L; empty: no quarks
: "${KAPPA:=0.1540}"          # hopping parameter; quenched beta = 6.0 without clover term: m_pi about 0.36
: "${CSW:=0}"                 # clover coefficient; 1.769 at beta = 6.0
: "${BOUNDARY:=p,p,p,a}"      # of quarks; with a of time momenta have nt + 1/2
: "${RESIDUAL:=1e-10}"        # |b - M x|/|b| of each column
: "${SOLVER:=auto}"           # see lat-solve
: "${BINSIZE:=1}"             # configurations of a bin of the jackknife (not of quarks); lat-stat warns where that is too small
# And PICTURES and A_INVERSE, which draw.sh reads.
export JOBS CYLINDER VERTICES GHOSTS QUARKS KAPPA CSW BOUNDARY RESIDUAL SOLVER
# And every variable of landau.sh, such as THETA=1e-20.
# shellcheck source=known.sh source-path=SCRIPTDIR
. "$here/known.sh" "$0" "$here"/{landau,fix,ensemble,plots/draw}.sh "$here/gpuslot"

fail() {
    echo "correlators: $1" >&2
    exit "${2-1}"
}

# ---- one configuration -----------------------------------------------------------------------------

# make FILE COMMAND...: what it prints, unless FILE is there.
make_table() {
    [ -e "$1" ] || "${@:2}" -o "$1"
}

# S(p) and vertices of one momentum, before they are amputated; by the multigrid of a file, if it is there.
quark() {
    local legs=$1 ck=${1%.legs.lat}.ck
    set -- lat-solve --kappa "$KAPPA" --csw "$CSW" --boundary "$BOUNDARY" --source "momentum:$2" --residual "$RESIDUAL" --solver "$SOLVER" \
        --checkpoint "$ck" --log "${legs%.legs.lat}.lat-solve.tsv"
    [ ! -e "$each/subspace.lat" ] || set -- "$@" --subspace "$each/subspace.lat"
    [ ! -e "$ck" ] || set -- "$@" --resume "$ck"
    "$here/gpuslot" "$@" "$fixed" | lat-quark --vertex --legs "$legs" >/dev/null
    rm -f "$ck"
}

# If the first momentum (its log) took a multigrid, the others share the next one.
share() {
    if [ ${#momenta[@]} -le 2 ] || [ -e "$each/subspace.lat" ] || ! "$here/multigrid.sh" "$each/${momenta[0]}.lat-solve.tsv"; then return; fi
    lat-subspace --kappa "$KAPPA" --csw "$CSW" --boundary "$BOUNDARY" --columns-to-come $((12 * (${#momenta[@]} - 1))) "$fixed" -o "$each/subspace.lat"
}

measure() {
    local momentum momenta header crc
    rm -f "$each"/.*.tmp # of a run that was killed
    # The history of the fixed links has the CRC of the raw ones, which lat-reunit read (fix.sh).
    header=$(lat-info "$fixed")
    crc=$(sed -n 's/.*lat-reunit .* | of \([0-9a-f]*\)$/\1/p' <<<"$header" | tail -n 1)
    "$here/links.sh" "$raw" "$out/links/$name" "$fixed" "$crc"
    # Numbers of other fixed links are none.
    crc=$(sed -n 's/^crc-32 *//p' <<<"$header")
    [ -e "$each/of.$crc" ] || { rm -f "$each"/{*.tsv,*.lat,*.ck,of.*}; "$here/replace.sh" "$each/of.$crc" true; }
    make_table "$each/gluon.tsv" lat-gluon --tsv --cylinder "$CYLINDER" "$fixed"
    [ -z "$VERTICES" ] || make_table "$each/vertex.tsv" lat-gluon --vertex --tsv --momenta "$VERTICES" "$fixed"
    [ -z "$GHOSTS" ] || make_table "$each/ghost.tsv" lat-ghost --tsv --momenta "$GHOSTS" "$fixed"
    IFS=/ read -ra momenta <<<"$QUARKS"
    for momentum in "${momenta[@]}"; do
        [ ! -e "$each/$momentum.legs.lat" ] || continue
        [ "$momentum" = "${momenta[0]}" ] || share
        quark "$each/$momentum.legs.lat" "$momentum"
    done
    rm -f "$each/subspace.lat"
}

# measure OUT RAW NAME, by xargs below: one run at a time has a configuration, until the last process that it starts has ended.
if [ $# -eq 4 ] && [ "$1" = measure ]; then
    out=$2 name=$4 raw=$3/$4
    fixed=$out/landau/$name.lat each=$out/each/$name
    mkdir -p "$each"
    exec {held}>>"$each/lock"
    flock "$held" || fail "$each/lock cannot be locked: expected OUT on a file system that has flock"
    err=$(mktemp -- "$each/.err.XXXXXXXX")
    trap 'rm -f "$err"' EXIT
    set +e # a subshell of its own: behind || it would go on after a failure
    (set -e; measure) 2>"$err"
    rc=$?
    [ $rc -eq 0 ] || { mv -T "$err" "$each/err"; echo "failed ($rc): $name: $(head -n 1 "$each/err")" >&2; exit 1; }
    rm -f "$each/err"
    exit
fi

# ---- the ensemble ----------------------------------------------------------------------------------

[ $# -eq 2 ] || fail "expected RAW OUT, found $# arguments" 2
raw=$1 out=$2
[[ $out != -* ]] || out=./$out
[[ $raw == - || $raw != -* ]] || raw=./$raw
[[ $JOBS =~ ^[1-9][0-9]{0,3}$ ]] || fail "JOBS: expected 1 or more, found '$JOBS'" 2
[[ $QUARKS =~ ^[-+.,/0-9eE]*$ ]] || fail "QUARKS: expected momenta nx,ny,nz,nt with / between, found '$QUARKS'" 2
[[ $raw == - || -e $raw ]] || fail "$raw: not there"

# Results of other parameters are no results.
parameters=
for v in CYLINDER VERTICES GHOSTS QUARKS KAPPA CSW BOUNDARY RESIDUAL; do parameters+="$v=${!v} "; done
mkdir -p "$out"/{each,links} || fail "$out cannot be made"
[ -e "$out/parameters" ] || "$here/replace.sh" "$out/parameters" echo "$parameters"
[ "$(cat "$out/parameters")" = "$parameters" ] ||
    fail "$out: expected results of '$parameters', found those of '$(cat "$out/parameters")': name another OUT"

# Of two runs at once one makes these; the other waits.
lock() {
    exec {held}>>"$out/each/.lock"
    flock "$held" || fail "$out/each/.lock cannot be locked: expected OUT on a file system that has flock"
}

# A stream becomes files, each whole; the folder gets its name when the last one is there.
if [ ! -d "$raw" ]; then
    lock
    if [ -f "$raw" ]; then
        "$here/links.sh" "$raw" "$out/links/.stream" "$out/raw"
    elif [ -e "$out/raw" ]; then
        echo "correlators: $out/raw is there: a stream is not read again" >&2
    fi
    if [ ! -e "$out/raw" ]; then
        rm -rf "$out/.raw.tmp"
        mkdir "$out/.raw.tmp"
        [ "$raw" = - ] || exec <"$raw"
        lat-convert --split -o "$out/.raw.tmp/cfg.lat"
        mv "$out/.raw.tmp" "$out/raw"
    fi
    exec {held}>&-
    raw=$out/raw
fi

rc=0
make --no-print-directory -f "$here/ensemble.mk" RAW="$raw" GAUGE=landau OUT="$out/landau" -j"$JOBS" || rc=$?
[ $rc -eq 0 ] ||
    fail "not all configurations are in Landau gauge: with what is said above mended, the same command goes on"

mapfile -t names < <(find -L "$raw" -maxdepth 1 -type f ! -name '.*' -printf '%f\n' | sort -V)
: "${OMP_NUM_THREADS:=$((($(nproc) + JOBS - 1) / JOBS))}"
export OMP_NUM_THREADS
printf '%s\0' "${names[@]}" | xargs -0 -n 1 -P "$JOBS" "$here/$(basename "$(realpath "$0")")" measure "$out" "$raw" ||
    fail "not all configurations are measured: with what is said above mended, the same command goes on"

# ---- means and pictures ----------------------------------------------------------------------------

lock
rm -f "$out"/.*.tsv*.tmp # of a run that was killed

(cd "$out/links" && awk -f "$here/plots/twice.awk" "${names[@]/#/./}")

# of FILE: the files of all configurations, in one order.
of() {
    local name
    files=()
    for name in "${names[@]}"; do
        name=$out/each/$name/$1
        [[ $name == /* ]] || name=./$name # a name, not an option
        files+=("$name")
    done
}

# table NAME ARGUMENT...: OUT/NAME.tsv from tables.
table() {
    "$here/replace.sh" "$out/$1.tsv" lat-stat --bin "$BINSIZE" "${@:2}"
}

# picture NAME TABLE...: OUT/NAME.png and OUT/NAME.pdf.
picture() {
    "$here/plots/draw.sh" "$1.gp" "$out/$1" "${@:2}" || fail "$out/$1 cannot be drawn"
}

of gluon.tsv
gluons=("${files[@]}")
table gluon "${gluons[@]}"
picture gluon "$out/gluon.tsv"
if [ -n "$VERTICES" ]; then
    of vertex.tsv
    table vertex "${files[@]}"
    picture vertex "$out/vertex.tsv"
fi
if [ -n "$GHOSTS" ]; then
    of ghost.tsv
    table ghost "${files[@]}"
    picture ghost "$out/ghost.tsv"
    table alpha --alpha "${gluons[@]}" "${files[@]}"
    picture alpha "$out/alpha.tsv"
fi
if [ -n "$QUARKS" ]; then
    legs=()
    IFS=/ read -ra momenta <<<"$QUARKS"
    for momentum in "${momenta[@]}"; do
        of "$momentum.legs.lat"
        legs+=("${files[@]}")
    done
    all_legs() { printf "%s\0" "${legs[@]}" | xargs -0 cat; } # more than one command may take
    all_legs | lat-quark --mean -o "$out/quark.tsv"
    all_legs | lat-quark --vertex --mean -o "$out/z.tsv"
    picture quark "$out/quark.tsv" "$out/z.tsv"
fi
echo "${#names[@]} configurations: $out"
