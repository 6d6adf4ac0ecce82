# SPDX-License-Identifier: BSD-3-Clause
# Means and jackknife errors of the gluon propagator: awk -f jackknife.awk -f gluon.awk TABLE...  (tables of lat-gluon --tsv, a
# configuration each row set; of several configurations in a table, each counts)
BEGIN { OFMT = "%.10g" }
FNR == 1 {
    if (!("D" in column && "config" in column)) stop(FILENAME ": expected a table of lat-gluon without --mean")
    next
}
{
    id = configuration($column["config"])
    if (!(id in known)) { known[id]; name[++n] = id }
    key = $column["momentum"]
    what = $column["dims"] " " $column["group"] " in " $column["gauge"] " gauge"
    if (!kind) kind = what
    if (what != kind) stop(FILENAME ": expected " kind ", found " what)
    if (!(key in phat2)) {
        order[++keys] = key
        phat2[key] = cell("phat2")
        before[key] = $column["p"]
        after[key] = $column["members"] OFS $column["cylinder"] OFS $column["cone"]
    }
    value[id, key] = cell("D")
    sum[key] += value[id, key]
    long[key] += cell("longitudinal")
    count[key]++
}
END {
    if (failed) exit 1
    print "momentum", "p", "phat2", "D", "D_error", "phat2_D", "phat2_D_error", "longitudinal", "members", "cylinder", "cone", "configurations"
    for (i = 1; i <= keys; i++) {
        key = order[i]
        if (count[key] != n) stop("expected momentum " key " of " n " configurations, found " count[key])
        for (k = 1; k <= n && n > 1; k++) each[k] = (sum[key] - value[name[k], key]) / (n - 1)
        error = n > 1 ? spread() : "nan"
        print key, before[key], phat2[key], sprintf("%.10g", sum[key] / n), error, sprintf("%.10g", phat2[key] * sum[key] / n), \
            (n > 1 ? phat2[key] * error : "nan"), long[key] / n, after[key], n
    }
}
