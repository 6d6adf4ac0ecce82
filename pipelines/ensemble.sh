#!/bin/bash
# What ensemble.mk does with the list of configurations, and with each of them:
#   ensemble.sh begin GAUGE RAW PART OUT     refuses what cannot be; names of the configurations of a part
#   ensemble.sh names RAW OUT                the same of all configurations, without a gauge (hadrons.mk)
#   ensemble.sh agree GAUGE RAW PART OUT     are the results that are there in the gauge, and below the theta, that are asked for?
#   ensemble.sh fix GAUGE CONFIG OUT.lat     fixes it by GAUGE.sh, measures it, and only then lets OUT.lat appear
#   ensemble.sh rest GAUGE RAW PART OUT      waits for what another run has, and fixes what that has not
#   ensemble.sh report GAUGE RAW PART OUT    writes OUT/table.tsv, lists failures
#   ensemble.sh verify GAUGE CONFIG OUT.lat  measures it again: is it as it was, as CONFIG is, and as is asked for?
set -euo pipefail
shopt -s extglob nullglob
export LC_ALL=C
unset CDPATH
trap : TERM USR2 # what it runs writes checkpoints first
here=$(dirname "$0")
PATH=$PATH:$here/../bin
: "${CONVERT:=}"      # see fix.sh
: "${TOLERANCE:=1e-7}" # of the plaquette: rounding moves it by 1e-9 where files are in single precision, by 1e-13 in double

columns='config	gauge	functional	theta	sweeps	plaquette_before	plaquette_after	seconds	theta_slice	condition'

fail() {
    echo "ensemble: $*" >&2
    exit 1
}

# ---- what is asked for ---------------------------------------------------------------------------

# The options of lat-theta for the gauge that is asked for, and the theta: GAUGE.sh says them.
ask() {
    local said=
    [[ $gauge == */* || ! -x $here/$gauge.sh ]] || said=$("$here/$gauge.sh" --condition 2>/dev/null </dev/null) || said=
    [[ $said == "--gauge "*" --require-theta "* && $said != *[$'\t\n']* ]] ||
        fail "GAUGE: expected landau, coulomb, mag, or the NAME of a copy NAME.sh beside them, found '$gauge'"
    condition=${said% --require-theta *}
    theta=${said##* --require-theta }
    read -ra options <<<"$said"
}

# A folder's name stands in rules of make.
folder() {
    [[ $2 != *[\'\"\\\`\$\#%:\;\&\|\<\>\(\)\{\}\*\?\[\]\~!]* ]] || fail "$1: expected a folder whose name has no characters special to make or a shell, found $2"
}

names() {
    folder RAW "$raw"
    folder OUT "$out"
    case $(realpath -m "$raw") in
    "$(realpath -m "$out")" | "$(realpath -m "$out/log")") fail "RAW and OUT: expected two folders, found $raw and $out" ;;
    esac
    list
}

begin() {
    ask
    names
}

# Names of the configurations of this part.
list() {
    [ -d "$raw" ] || fail "RAW: expected a folder of configurations, found no folder '$raw'"
    find -L "$raw" -maxdepth 1 -type f ! -name '.*' -printf '%f\n' | sort -V | awk -v part="$part" -v folder="$raw" '
        BEGIN {
            if (part !~ /^[0-9]+\/[0-9]+$/ || split(part, p, "/") != 2 || p[1] < 1 || p[1] + 0 > p[2] + 0) {
                print "ensemble: PART: expected 1/1 or 3/16, found " part >"/dev/stderr"; exit 1 }
            fine = 1 }
        /[^A-Za-z0-9._+=,@~-]/ {
            print "ensemble: " folder "/" $0 ": expected a name of letters, digits and ._+=,@~-" >"/dev/stderr"; exit 1 }
        (NR - 1) % p[2] == p[1] - 1
        END { if (fine && !NR) { print "ensemble: " folder ": expected configurations, found no file" >"/dev/stderr"; exit 1 } }'
}

# ---- one configuration ---------------------------------------------------------------------------

# column NAME: that column of a table of one row on stdin.
column() {
    awk -F'\t' -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }
        END { exit !(c && NR == 2) }'
}

# value NAME: that number of an object on stdin; of a list the largest.
value() {
    awk -v name="$1" '
        match($0, "\"" name "\": (\\[[^]]*\\]|[^,}]*)") {
            n = split(substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 4), list, /[][ ,]+/)
            for (i = 1; i <= n; i++) if (list[i] != "" && (most == "" || list[i] + 0 > most + 0)) most = list[i] }
        END { if (NR != 1 || most !~ /^-?[0-9]/) exit 1; print most }'
}

# The plaquette of CONFIG, which is one configuration.
raw_plaquette() {
    local said count
    # shellcheck disable=SC2086 # several words
    said=$(lat-convert $CONVERT "$config" | lat-theta --json) || return
    count=$(grep -c . <<<"$said") || :
    [ "$count" = 1 ] ||
        fail "$config: expected one configuration, found $count: lat-convert --split makes a file of each"
    value plaquette <<<"$said"
}

# measure FIXED BEFORE: what its row has, from gauge to plaquette_after, and theta_slice. Every byte is read, verified.
# Of the header the name of the gauge has to be right, and the number of sweeps is believed.
measure() {
    local header now rc=0 in worst slices=()
    header=$(lat-info --tsv "$1") || return
    [ "${options[1]}" != coulomb ] || slices=(--slices) # of other gauges theta has no slices
    now=$(lat-theta --json "${slices[@]}" "${options[@]}" "$1") || rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 3 ] || return $rc
    in=$(sed -n 's/^{"gauge": "\([^"]*\)".*/\1/p' <<<"$now")
    [ "$in" = "$(column gauge <<<"$header")" ] || fail "$1: gauge $(column gauge <<<"$header") in its header, expected $condition"
    [ $rc -eq 0 ] || return $rc
    worst=$(value slices <<<"$now") || worst=$(value theta <<<"$now")
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$in" "$(value functional <<<"$now")" "$(value theta <<<"$now")" "$(column sweeps <<<"$header")" \
        "$2" "$(value plaquette <<<"$now")" "$worst" | awk -F'\t' -v tolerance="$TOLERANCE" '
        { print; d = $5 - $6 }
        NF != 7 || /\t\t|\t$/ || !(d * d <= tolerance * tolerance) {
            print "ensemble: plaquette " $6 ", " $5 " in the raw file" >"/dev/stderr"; exit 1 }'
}

# lock [wait]: this configuration is ours until the last process that we start has ended, be this one killed before.
lock() {
    local rc=0
    exec {held}>>"$log.lock"
    flock -n -E 9 "$held" || rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 9 ] || fail "$log.lock cannot be locked: expected OUT on a file system that has flock"
    if [ $rc -eq 9 ]; then
        echo "ensemble: $name: another run has it ($(cat "$log.by" 2>/dev/null))${1:+, waiting}" >&2
        [ "${1-}" = wait ] || return 1
        flock "$held"
    fi
    "$here/replace.sh" "$log.by" echo "$HOSTNAME, process $$"
}

# Begun by a run that is dead, since its lock is free.
stale() {
    local file
    for file in "$name".{lat,lat-anneal.tsv,lat-anneal.ck,lat-orelax.tsv,lat-orelax.ck,slices.tsv,copies.tsv}; do
        [ ${#file} -gt 200 ] || rm -f "$(dirname "$log")/.$file".+([0-9])?(.+([0-9])).tmp
    done
}

# By GAUGE.sh; from the start where it cannot go on from the checkpoints that are there, as of other parameters.
pipeline() {
    local rc=0 ck begun=()
    for ck in "$log".lat-{anneal,orelax}.ck; do [ ! -e "$ck" ] || begun+=("$ck"); done
    "$here/gpuslot" "$here/$gauge.sh" "$config" "$log.lat" </dev/null || rc=$?
    if [ ${#begun[@]} -gt 0 ] && { [ $rc -eq 1 ] || [ $rc -eq 2 ]; }; then
        rm -f "${begun[@]}"
        : >"$work/err"
        rc=0
        "$here/gpuslot" "$here/$gauge.sh" "$config" "$log.lat" </dev/null || rc=$?
    fi
    return $rc
}

# A result is measured and has its row before it is moved to OUT. One that is there without a row (its log was lost) is measured.
make_result() {
    local start=$EPOCHREALTIME before row at=$log.lat
    [ ! -e "$out" ] || at=$out
    stale
    before=$(raw_plaquette) || return
    [ "$at" = "$out" ] || pipeline || return
    row=$(measure "$at" "$before") || return
    # shellcheck disable=SC2016 # of awk
    "$here/replace.sh" "$log.row" awk -F'\t' -v OFS='\t' -v name="$name" -v condition="$condition" -v a="$start" -v b="$EPOCHREALTIME" '
        { print name, $1, $2, $3, $4, $5, $6, sprintf("%.2f", b - a), $7, condition }' <<<"$row" &&
        { [ "$at" = "$out" ] || mv "$at" "$out"; }
}

# fix [wait]: what went wrong in one line of OUT/log/NAME.failed, all that was said in NAME.err.
fix() {
    local rc=0 why
    lock "$@" || return 0
    rm -f "$log.failed"
    ! done_already || return 0 # in the meantime
    own_folder "$(dirname "$log")"
    make_result 2>>"$work/err" || rc=$?
    case $rc in
    0)
        rm -f "$log.err"
        awk -F'\t' '{ printf "%s  theta %.2e  F %.12f  %d sweeps  %s s\n", $1, $4, $3, $5, $8 }' <"$log.row"
        return
        ;;
    3) why="not converged" ;;
    129 | 1[3-9]?) why="interrupted, the same command goes on" ;;
    *) why="failed ($rc)" ;;
    esac
    mv -T "$work/err" "$log.err"
    "$here/replace.sh" "$log.failed" echo "$why: $name: $(head -n 1 "$log.err")"
    cat "$log.failed" >&2
}

done_already() {
    [ -e "$out" ] && [ -e "$log.row" ]
}

# Rows agree but for name and seconds; the smallest theta are rounding, which is not the same on every processor.
verify() {
    local before now
    [ -e "$out" ] || fail "$out: not there yet"
    [ -e "$log.row" ] || fail "$out: expected its row in $log.row: make without verify measures it"
    before=$(raw_plaquette) || fail "$out: does not hold"
    now=$(measure "$out" "$before") || fail "$out: does not hold"
    awk -F'\t' -v now="$now" -v condition="$condition" '
        function far(i, t) { return !((was[i + 1] - is[i])^2 <= t^2) }
        { split($0, was); split(now, is) }
        NF != 10 || was[2] != is[1] || was[10] != condition || far(2, 1e-12) || far(3, was[4] / 1000 + 1e-27) || far(5, 1e-12) || far(6, 1e-12) {
            print "ensemble: measured " now " " condition ", expected " $0; exit 1 }' <"$log.row" >&2
}

# at OUT.lat: sets the variables of this configuration.
at() {
    out=$1
    name=$(basename "$out" .lat)
    log=$(dirname "$out")/log/$name
}

# ---- all configurations of a part ----------------------------------------------------------------

# judge [all]: says which results of this part are in another gauge or above theta, and with "all" what is missing. Rows of the
# results that are there, of all parts, go to $work/table. Exit status 1 if there is anything to say.
judge() {
    local rows
    ask
    mkdir -p "$out/log" || fail "$out/log cannot be made"
    exec {held}>>"$out/log/.lock"
    flock "$held" || fail "$out/log/.lock cannot be locked: expected OUT on a file system that has flock" # another part may end now
    own_folder "$out/log"
    rows=$work/rows
    [[ $rows == /* ]] || rows=./$rows # a=b/log/rows is a file, not a variable of awk
    # Results before their rows: these are there first.
    { find "$out" -maxdepth 1 -name '*.lat' -printf '%f\n' >"$rows.results" &&
        find "$out/log" -maxdepth 1 -name '*.row' -print0 | sort -zV | xargs -0r cat >"$rows"; } || fail "$out: cannot be listed"
    awk -F'\t' -v columns="$columns" -v table="$work/table" -v all="${1-}" -v out="$out" -v condition="$condition" -v theta="$theta" '
        function wrong(what) {
            if (++others <= 3) print "ensemble: " out "/" $1 ".lat: " what
        }
        BEGIN { print columns >table }
        kind == "result" { there[substr($0, 1, length($0) - 4)]; next }
        kind == "row" {
            if (NF == 10 && $1 in there) { print >table; gauge[$1] = $10; worst[$1] = $9 }
            next
        }
        { n++ }
        !($1 in there) {
            missing++
            file = out "/log/" $1 ".failed"
            if (all) { if ((getline line <file) > 0) print line; else print "missing: " $1; close(file) }
            next
        }
        !($1 in gauge) {
            missing++
            file = out "/log/" $1 ".row"
            if (all) print "not measured: " $1 ": " file " is not whole; the same command measures the result again"
            if (all) print file >(table ".broken")
            next
        }
        gauge[$1] != condition { wrong("expected " condition ", found " gauge[$1]); next }
        !(worst[$1] <= theta * 1.001 + 1e-27) { wrong("theta " worst[$1] " is above " theta ": not reached") }
        END {
            if (others) print "ensemble: " others + 0 " of " n " are results for other parameters: remove them, or name another OUT"
            if (all) print n - missing - others + 0 " of " n + 0 " fixed"
            exit others + (all ? missing : 0) > 0
        }' kind=result "$rows.results" kind=row "$rows" kind=name <(list) >&2
}

agree() {
    judge
}

# The table has the rows of all parts; what counts as a failure is of this part.
report() {
    local rc=0
    judge all || rc=$?
    [ $rc -le 1 ] || return $rc
    [ ! -e "$work/table.broken" ] || xargs -d '\n' rm -f <"$work/table.broken"
    mv -T "$work/table" "$out/table.tsv"
    return $rc
}

rest() {
    local names folder=$out
    ask
    names=$(list)
    while IFS= read -r name; do
        config=$raw/$name
        at "$folder/$name.lat"
        done_already || [ -e "$log.failed" ] || (fix wait)
    done <<<"$names"
}

# A new folder for files of this run alone: $work, in FOLDER. (set -e does not hold behind ||.)
own_folder() {
    work=$(mktemp -d -- "$1/.work.XXXXXXXX") || fail "$1: no folder can be made in it"
    trap 'rm -rf "$work"' EXIT
}

what=${1-} gauge=${2-}
case $what in
names)
    raw=${2:?expected RAW} part=1/1 out=${3:?expected OUT}
    names
    ;;
begin | agree | rest | report)
    raw=${3:?expected RAW} part=${4:?expected PART} out=${5:?expected OUT}
    "$what"
    ;;
fix | verify)
    config=${3:?expected CONFIG}
    at "${4:?expected OUT.lat}"
    ask
    "$what"
    ;;
*) fail "expected begin, agree, fix, rest, report or verify, found '$what'" ;;
esac
