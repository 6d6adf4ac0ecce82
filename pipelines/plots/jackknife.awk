# SPDX-License-Identifier: BSD-3-Clause
# For programs of this folder: awk -f jackknife.awk -f PROGRAM TABLE...  It reads the names of columns, refuses what is no table of one
# ensemble, and has the jackknife error of a number from each[1 .. n], its values without configuration 1 .. n: "nan" where one of them is.
# Rows with forced = 1 (links that are not in the gauge, lat-gluon --force) are refused; -v force=1 takes them.
#
# In a locale with a decimal comma some awks read 1.5 as 1.
BEGIN {
    FS = OFS = "\t"
    if ("1.5" + 0 != 1.5 || 1.5 "" != "1.5") stop("awk: expected a locale with a decimal point, as LC_ALL=C")
}
FNR == 1 {
    split("", column)
    for (i = 1; i <= NF; i++) column[$i] = i
    width = NF
}
FNR > 1 {
    filled[FILENAME]
    if (NF != width) stop(FILENAME ": row " FNR ": expected " width " cells as in the first row, found " NF)
    if (!force && ("forced" in column) && $column["forced"] != "0")
        stop(FILENAME ": row " FNR ": expected forced = 0, found " $column["forced"] ": links that are not in the gauge (-v force=1 takes them)")
    if ("ensemble" in column) same("ensemble", $column["ensemble"])
}
# A table without rows is a configuration that would be missing in silence.
END {
    if (failed) exit 1
    for (i = 1; i < ARGC && !failed; i++)
        if (ARGV[i] != "" && ARGV[i] != "-" && ARGV[i] !~ /^[A-Za-z_][A-Za-z_0-9]*=/ && !(ARGV[i] in filled))
            stop(ARGV[i] ": expected a table with rows, found none")
}

function stop(text) { if (!failed) print text >"/dev/stderr"; failed = 1; exit 1 }
# A cell, a number with all its digits: awk takes a word or an empty cell as 0.
function cell(name) {
    if ($column[name] !~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$/)
        stop(FILENAME ": row " FNR ": expected a number in column " name ", found '" $column[name] "'")
    return $column[name]
}
# One of all tables; those of before have no such column.
function same(what, text) {
    if (text == "") return
    if (!(what in is)) is[what] = text
    if (text != is[what]) stop(FILENAME ": expected " what " " is[what] " as before, found " text)
}
# The configuration of a row, `number` in its file.
function configuration(number) { return FILENAME " " (("file" in column) ? $column["file"] : "") " " number }

function spread(    k, average, square) {
    if (!said++) print "warning: errors are those of " n " independent configurations: autocorrelation is not measured" >"/dev/stderr"
    for (k = 1; k <= n; k++) { if (each[k] == "nan") return "nan"; average += each[k] / n }
    for (k = 1; k <= n; k++) square += (each[k] - average) ^ 2
    return sqrt((n - 1) / n * square)
}
