#!/bin/bash
# ensemble.mk calls this for each configuration, and for the list of them:
#   ensemble.sh fix GAUGE CONFIG OUT.lat     runs GAUGE.sh, measures the result, and only then moves it to OUT.lat
#   ensemble.sh verify GAUGE CONFIG OUT.lat  measures OUT.lat again, and compares with its row and with CONFIG
#   ensemble.sh list RAW PART                prints the names of the configurations of a part
#   ensemble.sh report RAW PART OUT          writes OUT/table.tsv, lists failures
set -euo pipefail
export LC_ALL=C
here=$(dirname "$0")
PATH=$PATH:$here/../bin
: "${CONVERT:=}"      # see landau.sh
: "${TOLERANCE:=1e-7}" # of the plaquette: rounding changes it by 1e-9 if files are in single precision, by 1e-13 in double

fail() {
    echo "ensemble: $*" >&2
    exit 1
}

# column NAME: that column of a table on stdin.
column() {
    awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }'
}

# measure FIXED: gauge, functional, theta, sweeps, plaquette before and after. It reads and verifies every byte of both files. Only
# the number of sweeps is taken from a header.
measure() {
    local before sweeps after
    # shellcheck disable=SC2086 # several words
    before=$(lat-convert $CONVERT "$config" | lat-theta --tsv | column plaquette) &&
        sweeps=$(lat-info --tsv "$1" | column sweeps) &&
        after=$(lat-theta --tsv "$1" | cut -f2-4,6 | tail -n +2) &&
        awk -v OFS='\t' -v sweeps="$sweeps" -v before="$before" -v tolerance="$TOLERANCE" '
            { print $1, $2, $3, sweeps, before, $4; d = before - $4 }
            !(d * d <= tolerance * tolerance) { print "ensemble: plaquette " $4 ", " before " in the raw file" >"/dev/stderr"; exit 1 }' <<<"$after"
}

# A file in OUT has been measured, and has its row in the table: moving it there is the last step.
fix() {
    local start=$EPOCHREALTIME row
    rm -f "$(dirname "$log")/.$name.lat"{,-*}.[0-9]*.tmp # what kill -9 has left
    "$here/gpuslot" "$here/$gauge.sh" "$config" "$log.lat" </dev/null || return
    row=$(measure "$log.lat") || return
    awk -v row="$name	$row" -v a="$start" -v b="$EPOCHREALTIME" 'BEGIN { printf "%s\t%.2f\n", row, b - a }' >"$log.row" &&
        mv "$log.lat" "$out"
}

# The rows must agree, except name and seconds. The smallest theta is rounding, which differs between processors.
verify() {
    local now
    [ -e "$out" ] || fail "$out: not there yet"
    now=$(measure "$out") || fail "$out: does not hold"
    awk -F'\t' -v now="$now" '
        function far(i, t) { return !((was[i + 1] - is[i])^2 <= t^2) }
        { split($0, was); split(now, is) }
        was[2] != is[1] || far(2, 1e-12) || far(3, was[4] / 1000 + 1e-27) || far(5, 1e-12) || far(6, 1e-12) {
            print "ensemble: measured " now ", expected " $0; exit 1 }' "$log.row" >&2
}

list() {
    find -L "$1" -maxdepth 1 -type f ! -name '.*' -printf '%f\n' | sort | awk -v part="$2" -v folder="$1" '
        BEGIN {
            if (split(part, p, "/") != 2 || p[1] < 1 || p[1] > p[2]) {
                print "ensemble: PART: expected 1/1 or 3/16, found " part >"/dev/stderr"; exit 1 }
            fine = 1 }
        /[^A-Za-z0-9._+=,@~-]/ {
            print "ensemble: " folder "/" $0 ": expected a name of letters, digits and ._+=,@~-" >"/dev/stderr"; exit 1 }
        (NR - 1) % p[2] == p[1] - 1
        END { if (fine && !NR) { print "ensemble: " folder ": expected configurations, found no file" >"/dev/stderr"; exit 1 } }'
}

# The table has the rows of all parts. Only failures of this part count.
report() {
    local new=$3/.table.tsv.$$.tmp
    { echo "config	gauge	functional	theta	sweeps	plaquette_before	plaquette_after	seconds"
      find "$3/log" -name '*.row' -print0 | sort -z | xargs -0r cat; } >"$new"
    mv "$new" "$3/table.tsv"
    list "$1" "$2" | awk -v folder="$3/log/" '
        { failed = folder $0 ".failed" }
        (getline line < failed) > 0 { print line; close(failed); bad++ }
        END { print NR - bad " of " NR " fixed"; exit bad > 0 }' >&2
}

# fixed: runs fix. After a failure OUT/log/NAME.failed has one line that says why, NAME.err all messages.
fixed() {
    local rc=0 why
    rm -f "$log.failed"
    fix 2>"$log.err" || rc=$?
    case $rc in
    0)
        rm -f "$log.err"
        awk -F'\t' '{ printf "%s  theta %.2e  F %.12f  %d sweeps  %s s\n", $1, $4, $3, $5, $8 }' "$log.row"
        return
        ;;
    3) why="not converged" ;;
    *) why="failed ($rc)" ;;
    esac
    echo "$why: $name: $(head -n 1 "$log.err")" | tee "$log.failed" >&2
}

what=$1
shift
case $what in
list | report) "$what" "$@" ;;
fix | verify)
    gauge=$1 config=$2 out=$3
    name=$(basename "$out" .lat)
    log=$(dirname "$out")/log/$name
    "${what/fix/fixed}"
    ;;
*) fail "expected fix, verify, list or report, found $what" ;;
esac
