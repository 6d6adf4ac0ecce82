# SPDX-License-Identifier: BSD-3-Clause
# The coupling of ghosts and gluons, alpha(p) = Z(p) J(p)^2 / 4 pi, with jackknife errors (docs/ghost.md, "The coupling"):
#   awk -f jackknife.awk -f alpha.awk GLUON... GHOST...
# Tables of lat-gluon --tsv and of lat-ghost --tsv, of the same configurations in the same order. Momenta that both have are printed.
BEGIN { OFMT = CONVFMT = "%.10g" }
FNR == 1 {
    kind = "D" in column && "config" in column ? "gluon" : "G" in column && "configuration" in column ? "ghost" : ""
    if (kind == "") stop(FILENAME ": expected a table of lat-gluon without --mean, or of the propagator of lat-ghost")
    next
}
{
    what = $column["dims"] " " $column["group"] " in " $column["gauge"] " gauge"
    if (!lattice) lattice = what
    if (what != lattice) stop(FILENAME ": expected " lattice ", found " what)
    if ($column["gauge"] != "landau") stop(FILENAME ": expected Landau gauge, found " $column["gauge"])
    id = kind " " configuration(kind == "gluon" ? $column["config"] : $column["configuration"])
    if (!(id in number)) { number[id] = ++configs[kind]; theta[kind, configs[kind]] = cell("theta") }
    k = number[id]
    key = kind == "gluon" ? $column["momentum"] : $column["kx"] "," $column["ky"] "," $column["kz"] "," $column["kt"]
    value[kind, k, key] = kind == "gluon" ? cell("phat2") * cell("D") : cell("k2") * cell("G")
    sum[kind, key] += value[kind, k, key]
    count[kind, key]++
    if (kind == "ghost" && !(key in square)) { order[++keys] = key; square[key] = cell("k2") }
}
# Of the mean over all configurations but number `out` (0: over all).
function dressing(what, key, out) {
    return out == 0 ? sum[what, key] / n : (sum[what, key] - value[what, out, key]) / (n - 1)
}
function alpha(key, out) { return dressing("gluon", key, out) * dressing("ghost", key, out) ^ 2 / (16 * atan2(1, 1)) }
function error_of(what, key,    k) {
    if (n < 2) return "nan"
    for (k = 1; k <= n; k++) each[k] = what == "alpha" ? alpha(key, k) : dressing(what, key, k)
    return spread()
}
# theta is measured from links by one, from momenta by the other: rounding alone makes them differ.
function same_configurations(    k, a, b) {
    for (k = 1; k <= n; k++) {
        a = theta["gluon", k]; b = theta["ghost", k]
        if ((a - b) ^ 2 > (1e-3 * (a + b) + 1e-25) ^ 2)
            stop("expected tables of the same configurations in the same order, found theta " a " and " b " of number " k)
    }
}
END {
    if (failed) exit 1
    n = configs["gluon"]
    if (!n || n != configs["ghost"]) stop("expected gluons and ghosts of the same configurations, found " n + 0 " and " configs["ghost"] + 0)
    same_configurations()
    for (i = 1; i <= keys; i++) {
        key = order[i]
        if (!(("gluon", key) in count)) continue
        if (count["gluon", key] != n || count["ghost", key] != n) stop("expected momentum " key " of " n " configurations")
        text = key
        gsub(",", OFS, text)
        row[++rows] = text OFS square[key] OFS sprintf("%.10g", alpha(key, 0)) OFS error_of("alpha", key) OFS sprintf("%.10g", dressing("gluon", key, 0)) OFS \
            error_of("gluon", key) OFS sprintf("%.10g", dressing("ghost", key, 0)) OFS error_of("ghost", key) OFS n
    }
    if (!rows) stop("expected momenta that both tables have, found none")
    print "kx", "ky", "kz", "kt", "k2", "alpha", "alpha_error", "Z", "Z_error", "J", "J_error", "configurations"
    for (i = 1; i <= rows; i++) print row[i]
}
