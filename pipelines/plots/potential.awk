# SPDX-License-Identifier: BSD-3-Clause
# The static potential of an ensemble, with jackknife errors: awk -v t=3 -f potential.awk TABLE...  (tables of lat-loops
# --tsv of one lattice and smearing: others are refused)
#
# For each separation the vector v of levels has the largest lambda of W(t0 + 1) v = lambda W(t0) v, W being the mean over configurations
# and t0 = 1 (-v t0=). V(R, T) = ln [v W(R, T) v / v W(R, T + 1) v]; v is the same in all jackknife samples. The potential is V(R, t).
# V(R) = V0 - alpha / R + sigma R is fitted to separations from rmin (2) to rmax (all), those being correlated: the fit takes errors alone,
# its own errors are those of jackknife. r0 = sqrt((1.65 - alpha) / sigma). What is not positive is nan.
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

BEGIN { OFMT = CONVFMT = "%.12g"; if (!t0) t0 = 1; if (!rmin) rmin = 2; if (!rmax) rmax = 1e9; if (!t) stop("potential.awk: expected -v t=T") }
FNR == 1 {
    if (!("separation" in column) || !("level_j" in column)) stop(FILENAME ": expected a table of lat-loops --tsv with Wilson loops")
    next
}
{
    same("loops", "smearing " $column["smearing"] ", links in time " $column["time_links"] ", slices " \
        (("slices" in column) ? $column["slices"] : "all") ", lattice " $column["dims"] " " $column["group"])
    id = configuration($column["config"])
    if (!(id in number)) number[id] = ++n
    R = $column["separation"]
    if (!(R in place)) { place[R] = ++separations; vector[separations] = R; r[separations] = cell("r") }
    i = level(cell("level_i")); j = level(cell("level_j")); T = cell("T"); R = place[R]
    if (T > times) times = T
    W[number[id], R, T, i, j] = cell("W")
    sum[R, T, i, j] += W[number[id], R, T, i, j]
    count[R, T, i, j]++
}
function level(steps) { if (!(steps in levels)) levels[steps] = ++nlevels; return levels[steps] }
# Of the mean over all configurations but number `out` (0: over all).
function mean(R, T, i, j, out) {
    if (i > j) return mean(R, T, j, i, out)
    return out ? (sum[R, T, i, j] - W[out, R, T, i, j]) / (n - 1) : sum[R, T, i, j] / n
}
# v: power iteration by W(t0)^-1 W(t0 + 1), each step with a solution by elimination.
function solve(R,    step, i, j, k, f, norm) {
    for (i = 1; i <= nlevels; i++) v[i] = i == nlevels
    for (step = 0; step < 100 && nlevels > 1; step++) {
        for (i = 1; i <= nlevels; i++) {
            b[i] = 0
            for (j = 1; j <= nlevels; j++) { A[i, j] = mean(R, t0, i, j, 0); b[i] += mean(R, t0 + 1, i, j, 0) * v[j] }
        }
        for (k = 1; k <= nlevels; k++)
            for (i = k + 1; i <= nlevels; i++) {
                f = A[i, k] / A[k, k]
                for (j = k; j <= nlevels; j++) A[i, j] -= f * A[k, j]
                b[i] -= f * b[k]
            }
        for (i = nlevels; i >= 1; i--) {
            for (j = i + 1; j <= nlevels; j++) b[i] -= A[i, j] * b[j]
            b[i] /= A[i, i]
        }
        norm = 0
        for (i = 1; i <= nlevels; i++) norm += b[i] * b[i]
        for (i = 1; i <= nlevels; i++) v[i] = b[i] / sqrt(norm)
    }
}
function loop(R, T, out,    i, j, s) {
    for (i = 1; i <= nlevels; i++) for (j = 1; j <= nlevels; j++) s += v[i] * v[j] * mean(R, T, i, j, out)
    return s
}
function energy(R, T, out,    a, b) {
    a = loop(R, T, out); b = loop(R, T + 1, out)
    return a > 0 && b > 0 ? log(a / b) : "nan"
}
# The fit to V[R, out]: p[1] = V0, p[2] = alpha, p[3] = sigma. 1 if there is one.
function fit(out,    R, i, j, k, x, M, y, f, points) {
    for (R = 1; R <= separations; R++) {
        if (r[R] < rmin || r[R] > rmax || V[R, out] == "nan" || !(V_error[R] > 0)) continue
        points++
        x[1] = 1; x[2] = -1 / r[R]; x[3] = r[R]
        for (i = 1; i <= 3; i++) {
            for (j = 1; j <= 3; j++) M[i, j] += x[i] * x[j] / V_error[R] ^ 2
            y[i] += x[i] * V[R, out] / V_error[R] ^ 2
        }
    }
    used = points
    if (points < 3) return 0
    for (k = 1; k <= 3; k++)
        for (i = k + 1; i <= 3; i++) {
            f = M[i, k] / M[k, k]
            for (j = k; j <= 3; j++) M[i, j] -= f * M[k, j]
            y[i] -= f * y[k]
        }
    for (i = 3; i >= 1; i--) {
        for (j = i + 1; j <= 3; j++) y[i] -= M[i, j] * p[j]
        p[i] = y[i] / M[i, i]
    }
    return 1
}
function parameter(name, out,    x) {
    if (!fit(out)) return "nan"
    x = name == "V0" ? p[1] : name == "alpha" ? p[2] : p[3]
    if (name == "r0" || name == "sqrt_sigma") {
        if (p[3] <= 0 || p[2] >= 1.65) return "nan"
        return name == "r0" ? sqrt((1.65 - p[2]) / p[3]) : sqrt(p[3])
    }
    return x
}
END {
    if (failed) exit 1
    for (c in count) if (count[c] != n) stop("expected each loop once in each of " n " configurations, found " count[c])
    if (n < 2 || times < t + 1) stop("expected 2 configurations and T up to " t + 1 " at least, found " n + 0 " and " times + 0)
    print "separation", "r", "T", "V", "V_error", "potential", "configurations"
    for (R = 1; R <= separations; R++) {
        solve(R)
        for (T = 1; T < times; T++) {
            for (k = 1; k <= n; k++) each[k] = energy(R, T, k)
            error = spread()
            print vector[R], r[R], T, energy(R, T, 0), error, T == t, n
            if (T != t) continue
            for (k = 0; k <= n; k++) V[R, k] = energy(R, T, k)
            V_error[R] = error == "nan" ? 0 : error
        }
    }
    if (!results) exit
    print "quantity", "value", "error", "points", "configurations" >results
    m = split("V0 alpha sigma sqrt_sigma r0", name, " ")
    for (i = 1; i <= m; i++) {
        for (k = 1; k <= n; k++) each[k] = parameter(name[i], k)
        error = spread()
        print name[i], parameter(name[i], 0), error, used, n >results
    }
}
