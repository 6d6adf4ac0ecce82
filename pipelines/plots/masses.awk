# SPDX-License-Identifier: BSD-3-Clause
# Means, jackknife errors and effective masses of correlators: awk -f jackknife.awk -f masses.awk TABLE...  (tables of lat-corr, a configuration each
# row set; of several configurations in a table, each counts). All are of one operator, lattice and sink, and of one source, wherever it is:
# others are refused.
#
# Effective masses are ln C(t)/C(t+1) of baryons and what is not symmetric in time (of all, where the operator has Dirichlet or open time; or
# with -v open=1), and arcosh [C(t-1) + C(t+1)] / 2 C(t) of
# mesons, of C(t) averaged with C(T-t). Errors are those of the means over all configurations but one.
#
# pcac is a ratio in each configuration, and the mass a ratio of means: of pcac times the pion of momentum 0, its denominator, and of that pion.
# It stands in columns mass and mass_error, and has no C.
BEGIN { FS = OFS = "\t"; OFMT = "%.10g" }
FNR == 1 {
    split("", column)
    for (i = 1; i <= NF; i++) column[$i] = i
    if (!("re" in column)) { print FILENAME ": expected a table of lat-corr" >"/dev/stderr"; failed = 1; exit 1 }
    next
}
{
    same("operator", ("operator" in column) ? $column["operator"] : "")
    same("source", ("source" in column) ? shape($column["source"]) : "")
    same("sink", ("sink" in column) ? $column["sink"] : "")
    same("lattice", ("dims" in column) ? $column["dims"] " " $column["group"] : "")
    if (failed) exit 1
    id = FILENAME " " (("file" in column) ? $column["file"] : "") " " $column["configuration"]
    if (!(id in known)) { known[id]; name[++n] = id }
    key = $column["channel"] OFS $column["px"] OFS $column["py"] OFS $column["pz"]
    t = $column["t"]
    if (!(key in seen)) { seen[key]; order[++keys] = key; pcac += is_pcac(key) }
    if (t >= T) T = t + 1
    value[id, key, t] = $column["re"]
    count[key, t]++
}
# One of all tables; those of before have no such column.
function same(what, text) {
    if (failed || text == "") return
    if (!(what in is)) is[what] = text
    if (text != is[what]) { print FILENAME ": expected " what " " is[what] " as before, found " text >"/dev/stderr"; failed = 1 }
    if (what == "operator" && text ~ /boundary [^,]*,[^,]*,[^,]*,[do]/) open = 1
}
# The text of a source without its place, the numbers of noise and the number of a field.
function shape(source,    steps, kind, list, n, k) {
    sub(/ field [0-9]+ of.*/, "", source)
    steps = match(source, "/") ? substr(source, RSTART) : ""
    source = substr(source, 1, length(source) - length(steps))
    if (source ~ /^noise:/) { gsub(/,(t|seed|config)=[^,]*/, "", source); return source steps }
    if (!match(source, ":")) return source steps
    kind = substr(source, 1, RSTART - 1)
    n = split(substr(source, RSTART + 1), list, ",")
    if (kind == "point") return kind steps
    if (kind == "gauss") return "point/gauss:" list[1] "," list[2] steps
    if (kind == "ball") return kind ":" list[1] steps
    if (kind != "wall" && kind != "box") return source steps
    for (k = kind == "wall" ? 2 : 5; k <= n; k++) kind = kind ":" list[k]
    return kind steps
}
function pion_at_rest() { return "pion" OFS 0 OFS 0 OFS 0 }
function is_pcac(key) { return key ~ /^pcac\t/ }
function symmetric(key) { return !open && key ~ /^(pion|rho|a0|a1|b1)/ }
# Mean over all configurations but number `out` (0: over all).
function mean(key, t, out,    back) {
    back = (T - t) % T
    if (symmetric(key)) return (single(key, t, out) + single(key, back, out)) / 2
    return single(key, t, out)
}
function single(key, t, out) {
    if (out == 0) return sum[key, t] / n
    return (sum[key, t] - value[name[out], key, t]) / (n - 1)
}
function mass(key, t, out,    x) {
    if (is_pcac(key)) {
        x = single(pion_at_rest(), t, out)
        return x == 0 ? "nan" : single(key, t, out) / x
    }
    if (symmetric(key)) {
        if (t == 0 || 2 * t > T) return "nan"
        x = mean(key, t, out)
        if (x == 0) return "nan"
        x = (mean(key, t - 1, out) + mean(key, (t + 1) % T, out)) / (2 * x)
        return x >= 1 ? log(x + sqrt(x * x - 1)) : "nan"
    }
    if (t + 1 >= T || mean(key, t + 1, out) == 0) return "nan"
    x = mean(key, t, out) / mean(key, t + 1, out)
    return x > 0 ? log(x) : "nan"
}
END {
    if (failed) exit 1
    if (pcac && !(pion_at_rest() in seen)) { print "expected the pion of momentum 0 beside pcac, whose denominator it is" >"/dev/stderr"; exit 1 }
    print "channel", "px", "py", "pz", "t", "C", "C_error", "mass", "mass_error", "configurations"
    for (i = 1; i <= keys; i++) {
        key = order[i]
        for (t = 0; t < T; t++) {
            if (count[key, t] != n) { print "expected " key " at t = " t " of " n " configurations, found " count[key, t] + 0 (count[key, t] > n ? ": several propagators of a configuration want a table each" : "") >"/dev/stderr"; exit 1 }
            if (is_pcac(key)) for (k = 1; k <= n; k++) value[name[k], key, t] *= value[name[k], pion_at_rest(), t]
            for (k = 1; k <= n; k++) sum[key, t] += value[name[k], key, t]
        }
    }
    for (i = 1; i <= keys; i++) {
        key = order[i]
        for (t = 0; t < T; t++) {
            for (k = 1; k <= n && n > 1; k++) each[k] = mean(key, t, k)
            c_error = n > 1 && !is_pcac(key) ? spread() : "nan"
            m = mass(key, t, 0)
            for (k = 1; k <= n && n > 1; k++) each[k] = mass(key, t, k)
            m_error = n > 1 ? spread() : "nan"
            print key, t, is_pcac(key) ? "nan" : sprintf("%.10g", mean(key, t, 0)), c_error, m, m_error, n
        }
    }
}
