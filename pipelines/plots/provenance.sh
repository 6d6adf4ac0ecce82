#!/bin/bash
# What data a picture is of, in one line: pipelines/plots/provenance.sh TABLE...
# Ensemble, lattice, group, gauge, operator and the number of configurations from the columns of the tables; their names; the day when the
# youngest of them was written; the version of lat that stands beside these scripts.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname "$(realpath "$0")")" && pwd)
PATH=$here/../../bin:$PATH
[ $# -gt 0 ] || { echo "provenance.sh: expected TABLE..., found none" >&2; exit 2; }
tables=()
for table; do
    [ -r "$table" ] || { echo "$table: not there" >&2; exit 1; }
    [[ $table == /* ]] || table=./$table # a=b is a file, not a variable of awk
    tables+=("$table")
done
of=$(awk -F'\t' '
    function say(text) { if (text != "" && text != "-" && !said[text]++) line = line (line == "" ? "" : " | ") text }
    FNR == 1 { split("", at); files[++file] = FILENAME; for (i = 1; i <= NF; i++) at[$i] = i; next }
    /^#/ { next }
    {
        if (!(FILENAME in of) && ("configurations" in at || "configs" in at)) {
            of[FILENAME] = $at["configurations" in at ? "configurations" : "configs"]
        }
        for (i = split("ensemble dims group gauge action operator", name, " "); i > 0; i--)
            if (name[i] in at && !((name[i], $at[name[i]]) in told)) {
                told[name[i], $at[name[i]]]
                if (name[i] in value) value[name[i]] = value[name[i]] ", " $at[name[i]]
                else value[name[i]] = $at[name[i]]
            }
        # tables and logs of single configurations
        one = ("config" in at ? $at["config"] : "configuration" in at ? $at["configuration"] : "") SUBSEP ("file" in at ? $at["file"] : "")
        if (one != SUBSEP && one !~ /^stdin:/) only = one
        if (one != SUBSEP && !((file, one) in seen)) { seen[file, one]; count[FILENAME]++ }
    }
    END {
        for (i = 1; i <= file; i++) {
            m = files[i] in of ? of[files[i]] : count[files[i]]
            if (m != "" && !(m in told)) { told[m]; n = n (n == "" ? "" : ", ") m }
        }
        if (value["ensemble"] == "unknown") value["ensemble"] = "unknown ensemble"
        say(value["ensemble"])
        gsub(/,/, "x", value["dims"]); gsub(/x /, ", ", value["dims"])
        say(value["dims"] (value["dims"] != "" ? " " : "") value["group"])
        if (value["gauge"] != "") say(value["gauge"] " gauge")
        if (value["action"] != "") say(value["action"] " flow")
        say(value["operator"])
        sub(SUBSEP, " ", only); sub(/ $/, "", only)
        if (n != "") say(n == 1 && only ~ /[a-z]/ ? "configuration " only : n " configuration" (n == 1 ? "" : "s"))
        print line
    }' "${tables[@]}")
names=$(for table in "${tables[@]}"; do basename "$table"; done | paste -sd ' ')
day=$(for table in "${tables[@]}"; do date -r "$table" +%F; done | sort | tail -n 1)
version=$(lat-stat --version 2>/dev/null | sed -n '1s/^lat-stat /lat /p' || true)
echo "${of:+$of | }$names of $day${version:+ | $version}"
