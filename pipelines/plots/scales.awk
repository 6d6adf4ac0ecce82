# SPDX-License-Identifier: BSD-3-Clause
# t0 and w0 of an ensemble, with jackknife errors: awk -f jackknife.awk -f scales.awk TABLE...  (tables of lat-flow --tsv with the same
# times of each configuration, of one action and lattice: others are refused)
#
# t0 is where the mean over configurations of t^2 E is .3, w0^2 where t d/dt of it is: polynomials of third order through four rows,
# derivatives of fourth order from five rows, as in lat-flow. With -v E=E_plaquette the density is that of plaquettes.
BEGIN { OFMT = CONVFMT = "%.12g"; level = .3; if (!E) E = "E_clover" }
FNR == 1 {
    if (!("t" in column) || !(E in column)) stop(FILENAME ": expected a table of lat-flow --tsv")
    next
}
{
    what = ("action" in column) ? "flow by action " $column["action"] " on " $column["dims"] " " $column["group"] : ""
    if (!kind) kind = what
    if (what && what != kind) stop(FILENAME ": expected " kind ", found " what)
    id = configuration($column["config"])
    if (!(id in known)) { known[id]; number[id] = ++n }
    at = cell("t")
    if (!(at in row)) { row[at] = ++rows; t[rows] = at }
    value[number[id], row[at]] = at * at * cell(E)
    sum[row[at]] += value[number[id], row[at]]
    count[row[at]]++
}
# t^2 E of the mean over all configurations but number `out` (0: over all); t d/dt of it.
function curve(i, out) { return out == 0 ? sum[i] / n : (sum[i] - value[out, i]) / (n - 1) }
function slope(i, out,    first, j, k, term, product, result) {
    first = i - 2 < 1 ? 1 : i + 2 > rows ? rows - 4 : i - 2
    for (j = first; j < first + 5; j++) {
        if (j == i) {
            term = 0
            for (k = first; k < first + 5; k++) if (k != j) term += 1 / (t[j] - t[k])
        } else {
            term = 1 / (t[j] - t[i])
            for (k = first; k < first + 5; k++) if (k != j && k != i) term *= (t[i] - t[k]) / (t[j] - t[k])
        }
        result += curve(j, out) * term
    }
    return t[i] * result
}
function f(what, i, out) { return what == "t0" ? curve(i, out) : slope(i, out) }
function polynomial(what, first, x, out,    j, k, l, result) {
    for (j = first; j < first + 4; j++) {
        l = f(what, j, out)
        for (k = first; k < first + 4; k++) if (k != j) l *= (x - t[k]) / (t[j] - t[k])
        result += l
    }
    return result
}
function crossing(what, out,    i, first, low, high, k, middle) {
    for (i = 1; i < rows; i++) if (f(what, i, out) < level && f(what, i + 1, out) >= level) break
    if (i == rows) return "nan"
    first = i - 1 < 1 ? 1 : i + 2 > rows ? rows - 3 : i - 1
    low = t[i]; high = t[i + 1]
    for (k = 0; k < 50; k++) {
        middle = (low + high) / 2
        if (polynomial(what, first, middle, out) < level) low = middle; else high = middle
    }
    return what == "t0" ? low : sqrt(low)
}
function report(what,    k) {
    for (k = 1; k <= n && n > 1; k++) each[k] = crossing(what, k)
    print what, crossing(what, 0), (n > 1 ? spread() : "nan"), n
}
END {
    if (failed) exit 1
    for (i = 1; i <= rows; i++)
        if (count[i] != n) stop("expected t = " t[i] " of " n " configurations, found " count[i])
    if (rows < 5) stop("expected five times at least, found " rows + 0)
    print "scale", "value", "error", "configurations"
    report("t0")
    report("w0")
}
