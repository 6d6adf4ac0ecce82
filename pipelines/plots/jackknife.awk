# SPDX-License-Identifier: BSD-3-Clause
# For programs of this folder: awk -f jackknife.awk -f PROGRAM. The jackknife error of a number from each[1 .. n], its values without
# configuration 1 .. n; "nan" where one of them is.
#
# In a locale with a decimal comma some awks read 1.5 as 1.
BEGIN {
    if ("1.5" + 0 != 1.5 || 1.5 "" != "1.5") {
        print "awk: expected a locale with a decimal point, as LC_ALL=C" >"/dev/stderr"
        wrong = 1
        exit 1
    }
}
FNR > 1 { filled[FILENAME] }
# A table without rows is a configuration that would be missing in silence.
END {
    if (wrong) exit 1
    for (i = 1; i < ARGC && !failed; i++)
        if (ARGV[i] != "" && ARGV[i] != "-" && ARGV[i] !~ /^[A-Za-z_][A-Za-z_0-9]*=/ && !(ARGV[i] in filled)) {
            print ARGV[i] ": expected a table with rows, found none" >"/dev/stderr"
            exit 1
        }
}

function spread(    k, average, square) {
    for (k = 1; k <= n; k++) { if (each[k] == "nan") return "nan"; average += each[k] / n }
    for (k = 1; k <= n; k++) square += (each[k] - average) ^ 2
    return sqrt((n - 1) / n * square)
}
