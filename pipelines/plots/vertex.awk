# SPDX-License-Identifier: BSD-3-Clause
# The three-gluon vertex of an ensemble, with jackknife errors: awk -f jackknife.awk -f vertex.awk TABLE...
# (tables of lat-gluon --vertex --tsv, a configuration each row set; of several in a table, each counts). The same as --mean.
BEGIN { OFMT = CONVFMT = "%.10g"; split("T S D D0 Gamma g", name, " ") }
FNR == 1 {
    if (!("Gamma" in column && "config" in column)) stop(FILENAME ": expected a table of lat-gluon --vertex without --mean")
    next
}
{
    id = configuration($column["config"])
    if (!(id in number)) number[id] = ++n
    what = $column["dims"] " " $column["group"]
    if (!lattice) lattice = what
    if (what != lattice) stop(FILENAME ": expected " lattice ", found " what)
    key = $column["limit"] OFS $column["momentum"]
    if (!(key in count)) { order[++keys] = key; phat2[key] = cell("phat2"); rest[key] = $column["p"] OFS $column["phat2"] OFS $column["members"] }
    for (v = 1; v <= 4; v++) { value[number[id], key, v] = v == 2 && $column["S"] == "nan" ? 0 : cell(name[v]); sum[key, v] += value[number[id], key, v] }
    count[key]++
}
# Number v of the mean over all configurations but number `out` (0: over all).
function mean(key, v, out) { return out == 0 ? sum[key, v] / n : (sum[key, v] - value[out, key, v]) / (n - 1) }
function number_of(key, v, out,    soft, d, zero) {
    soft = key ~ /^soft/
    if (v == 2 && soft) return "nan"
    if (v <= 4) return mean(key, v, out)
    d = mean(key, 3, out)
    zero = mean(key, 4, out)
    if (v == 5) return mean(key, 1, out) / (d * d * (soft ? zero : d))
    return phat2[key] ^ 1.5 * mean(key, 1, out) / (soft ? zero * sqrt(d) : d ^ 1.5)
}
END {
    if (failed) exit 1
    line = "limit" OFS "momentum" OFS "p" OFS "phat2" OFS "members"
    for (v = 1; v <= 6; v++) line = line OFS name[v] OFS name[v] "_error"
    print line, "configurations"
    for (i = 1; i <= keys; i++) {
        key = order[i]
        if (count[key] != n) stop("expected " key " of " n " configurations, found " count[key])
        line = key OFS rest[key]
        for (v = 1; v <= 6; v++) {
            for (k = 1; k <= n && n > 1; k++) each[k] = number_of(key, v, k)
            line = line OFS number_of(key, v, 0) OFS (n > 1 ? spread() : "nan")
        }
        print line, n
    }
}
