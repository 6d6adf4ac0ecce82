# SPDX-License-Identifier: BSD-3-Clause
# What pictures take from a table: LC_ALL=C awk -f table.awk OPTION... -- TABLE...
#   -v where='NAME=VALUE;..'  the heading, and rows that have these values
#   -v more='NAME ..'         with more columns: one that is not there is nan; direction: 1 to 4, the one of (1,0,0,0), (1,1,0,0), (1,1,1,0)
#                             and (1,1,1,1), with all permutations and signs, that has the smallest angle with the momentum; 5, 6, 7 for
#                             the first three if they have a part along t, and the extent of t differs from the extents of x, y and z
#                             run: configuration and copy of a row of a log; clear: 1 where the error of column mass is below a quarter of it
#   -v values=NAME            the values of a column, each once; directions in the order of their parts
#   -v cell=NAME              a column of the last row
#   -v column=NAME            that name, if there is such a column
function number(name) { return name in at ? $at[name] : 0 }

# Momenta are n / L: column momentum (with commas), or kx.., px.., and dims. Separations are in units of a.
function direction(n, extent, d, i, j, k, dims, t, time, sum, best, found) {
    d = split("momentum" in at ? $at["momentum"] : "separation" in at ? $at["separation"] : "kx" in at ? number("kx") "," number("ky") "," number("kz") "," number("kt") \
        : number("px") "," number("py") "," number("pz") "," number("pt"), n, ",")
    dims = "dims" in at && !("separation" in at) ? split($at["dims"], extent, ",") : 0
    time = -1 # without a part
    for (i = 1; i <= d; i++) {
        n[i] = (n[i] < 0 ? -n[i] : n[i]) / (dims >= d ? extent[i] : 1)
        if (i == 4 && dims == 4 && (extent[1] != extent[4] || extent[2] != extent[4] || extent[3] != extent[4])) time = n[i]
        for (j = i; j > 1 && n[j] > n[j - 1]; j--) { t = n[j]; n[j] = n[j - 1]; n[j - 1] = t }
    }
    for (k = 1; k <= d; k++) {
        sum += n[k]
        if (sum / sqrt(k) > best * (1 + 1e-9)) { best = sum / sqrt(k); found = k }
    }
    return !found ? 1 : found < 4 && time > 0 && time >= n[found] ? found + 4 : found
}

# A mass is clear if its error is below a quarter of it.
function is_clear() { return number("mass") "" != "nan" && number("mass_error") "" != "nan" && $at["mass_error"] < $at["mass"] / 4 }

function cell_of(name) {
    return name in at ? $at[name] : name == "direction" ? direction() : name == "clear" ? is_clear() : name == "run" ? $1 "/" $at["copy"] : "nan"
}

BEGIN { FS = OFS = "\t"; conditions = split(where, condition, ";"); words = split(more, want, " ") }
FNR == 1 { heading = 0 }
/^#/ { next }
!heading {
    heading = 1
    split("", at)
    for (i = 1; i <= NF; i++) at[$i] = i
    if (column) { if (column in at) print column; exit }
    line = $0
    for (i = 1; i <= words; i++) if (!(want[i] in at)) line = line OFS want[i]
    if (!values && !cell && !printed++) print line
    next
}
{
    for (i = 1; i <= conditions; i++) {
        split(condition[i], is, "=")
        if (cell_of(is[1]) "" != is[2]) next
    }
}
values { v = cell_of(values); if (!seen[v]++) list[++n] = v; next }
cell { last = cell_of(cell); next }
{
    line = $0
    for (i = 1; i <= words; i++) if (!(want[i] in at)) line = line OFS cell_of(want[i])
    print line
}
END {
    if (values == "direction") n = split("1 5 2 6 3 7 4", list, " ")
    for (i = 1; i <= n; i++) if (list[i] in seen) print list[i]
    if (last ~ /^[-+]?[0-9]+e/) sub(/e/, ".0e", last) # gnuplot makes no number of a text 1e-6
    if (cell) print last
}
