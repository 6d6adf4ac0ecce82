# SPDX-License-Identifier: BSD-3-Clause
# Means and jackknife errors of the ghost propagator: awk -f jackknife.awk -f ghost.awk TABLE...  (tables of lat-ghost --tsv, a
# configuration each row set; of several configurations in a table, each counts)
BEGIN { OFMT = "%.10g" }
FNR == 1 {
    if (!("G" in column && "k2" in column)) stop(FILENAME ": expected a table of the propagator of lat-ghost")
    next
}
{
    id = configuration($column["configuration"])
    if (!(id in known)) { known[id]; name[++n] = id }
    key = $column["kx"] OFS $column["ky"] OFS $column["kz"] OFS $column["kt"]
    what = $column["dims"] " " $column["group"] " in " $column["gauge"] " gauge"
    if (!kind) kind = what
    if (what != kind) stop(FILENAME ": expected " kind ", found " what)
    if (!(key in k2)) { order[++keys] = key; k2[key] = cell("k2") }
    # Weights of the gauge are in k2.
    if ((cell("k2") - k2[key]) ^ 2 > (1e-9 * k2[key]) ^ 2) stop(FILENAME ": expected k2 " k2[key] " of momentum " key ", found " $column["k2"] ": other weights of the gauge?")
    value[id, key] = cell("G")
    sum[key] += value[id, key]
    count[key]++
}
END {
    if (failed) exit 1
    print "kx", "ky", "kz", "kt", "k2", "G", "G_error", "k2_G", "k2_G_error", "configurations"
    for (i = 1; i <= keys; i++) {
        key = order[i]
        if (count[key] != n) stop("expected momentum " key " of " n " configurations, found " count[key])
        for (k = 1; k <= n && n > 1; k++) each[k] = (sum[key] - value[name[k], key]) / (n - 1)
        error = n > 1 ? spread() : "nan"
        dressing = n > 1 ? k2[key] * error : "nan"
        print key, k2[key], sprintf("%.10g", sum[key] / n), error, sprintf("%.10g", k2[key] * sum[key] / n), dressing, n
    }
}
