# SPDX-License-Identifier: BSD-3-Clause
# Means, jackknife errors and effective masses of correlators: awk -f jackknife.awk -f masses.awk TABLE...  (tables of lat-corr, a configuration each
# row set; of several configurations in a table, each counts; of several sources on links of one CRC, their mean). All are of one operator,
# lattice and sink, and of one source, wherever it is: others are refused.
#
# Effective masses are ln C(t)/C(t+1) of baryons and what is not symmetric in time (of all, where the operator has Dirichlet or open time, is of
# two quarks of two boundaries in time, or does not state them; or with -v open=1), and arcosh [C(t-1) + C(t+1)] / 2 C(t) of
# mesons, of C(t) averaged with C(T-t). Errors are those of the means over all configurations but one.
#
# pcac is a ratio in each configuration, and the mass a ratio of means: of pcac times the pion of momentum 0, its denominator, and of that pion.
# It stands in columns mass and mass_error, and has no C.
BEGIN { OFMT = "%.10g" }
FNR == 1 {
    if (!("re" in column)) stop(FILENAME ": expected a table of lat-corr")
    next
}
{
    if ("operator" in column) {
        same("operator", $column["operator"])
        if (!judged++) open = open || unlike($column["operator"])
    }
    same("source", ("source" in column) ? shape($column["source"]) : "")
    same("sink", ("sink" in column) ? $column["sink"] : "")
    same("lattice", ("dims" in column) ? $column["dims"] " " $column["group"] : "")
    # Sources of one configuration are one measurement: the mean over them comes first.
    if (("links" in column) && $column["links"] != "unknown") id = "links " $column["links"]
    else {
        id = configuration($column["configuration"])
        if (("links" in column) && !nameless++) print "warning: " FILENAME ": does not say of which links it is: each propagator counts as a configuration" >"/dev/stderr"
    }
    if (!(id in known)) { known[id]; name[++n] = id }
    key = $column["channel"] OFS $column["px"] OFS $column["py"] OFS $column["pz"]
    t = cell("t")
    if (!(key in seen)) { seen[key]; order[++keys] = key; pcac += is_pcac(key) }
    if (t >= T) T = t + 1
    s = ++times[id, key, t]
    if (s == 1) count[key, t]++
    if (s > sources[id]) sources[id] = s
    one[id, key, t, s] = cell("re")
}
# Is C(T-t) no image of C(t)? With Dirichlet or open time, or two quarks of two boundaries in time, whose mesons get a phase; and where
# the boundary is not known.
function unlike(operator,    quarks, q, time, was) {
    quarks = split(operator, list, " [|] ")
    for (q = 1; q <= quarks; q++) {
        time = match(list[q], /boundary [^,]*,[^,]*,[^,]*,[^, ]*/) ? substr(list[q], RSTART, RLENGTH) : ""
        sub(/.*,/, "", time)
        if (time == "" || time ~ /^[do]$/ || (q > 1 && time != was)) return 1
        was = time
    }
    return 0
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
    if (pcac && !(pion_at_rest() in seen)) stop("expected the pion of momentum 0 beside pcac, whose denominator it is")
    print "channel", "px", "py", "pz", "t", "C", "C_error", "mass", "mass_error", "configurations"
    for (i = 1; i <= keys; i++) {
        key = order[i]
        for (t = 0; t < T; t++) {
            if (count[key, t] != n) stop("expected " key " at t = " t " of " n " configurations, found " count[key, t] + 0)
            for (k = 1; k <= n; k++) {
                if (times[name[k], key, t] != sources[name[k]]) stop("expected " key " at t = " t " of " sources[name[k]] " sources of " name[k] ", found " times[name[k], key, t])
                for (s = 1; s <= sources[name[k]]; s++)
                    value[name[k], key, t] += one[name[k], key, t, s] * (is_pcac(key) ? one[name[k], pion_at_rest(), t, s] : 1) / sources[name[k]]
                sum[key, t] += value[name[k], key, t]
            }
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
