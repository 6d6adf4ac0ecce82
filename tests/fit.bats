#!/usr/bin/env bats
# lat-fit: masses from the samples of lat-stat.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-fit" ] || skip "lat-fit was not built: no GSL"
}

# correlators N: a pion and a rho on 4^3 x 24 of N configurations, two states each, with noise that is correlated in t.
correlators() {
    printf 'configuration\tchannel\tpx\tpy\tpz\tt\tre\tim\toperator\tsource\tsink\tdims\tgroup\tlinks\tensemble\n'
    awk -v OFS='\t' -v n="$1" '
        function uniform() { seed = (16807 * seed) % 2147483647; return seed / 2147483647 }
        function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()) }
        function c(m, t) { return exp(-m * t) + exp(-m * (24 - t)) }
        BEGIN {
            seed = 20261128
            for (i = 0; i < n; i++) {
                a = normal(); b = normal(); d = normal()
                for (t = 0; t < 24; t++) {
                    common = .7 * common + .5 * normal()
                    k = t < 12 ? t : 24 - t
                    p = (c(.35, t) + .6 * c(.95, t)) * (1 + .02 * a + .004 * b * k + .01 * common)
                    r = (1.5 * c(.35, t) - .3 * c(.95, t)) * (1 + .02 * a + .01 * d + .006 * b * k + .01 * normal())
                    printf "%d\tpion\t0\t0\t0\t%d\t%.14g\t0\tkappa 0.12 (mass 0.1666666667), boundary p,p,p,a\tpoint:0,0,0,0\tnone\t4,4,4,24\tSU(3)\t%08x\tbeta 6\n", i, t, p, i
                    line[t] = sprintf("%d\trho_x\t0\t0\t1\t%d\t%.14g\t0\tkappa 0.12 (mass 0.1666666667), boundary p,p,p,a\tpoint:0,0,0,0\tnone\t4,4,4,24\tSU(3)\t%08x\tbeta 6", i, t, r, i)
                }
                for (t = 0; t < 24; t++) print line[t]
            }
        }'
}

# loops N: Wilson loops of N configurations, of one level, on and off axis, with noise that is common to all and such that is not.
loops() {
    awk -v OFS='\t' -v n="$1" '
        function uniform() { seed = (16807 * seed) % 2147483647; return seed / 2147483647 }
        function normal() { return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()) }
        BEGIN {
            seed = 20261128
            print "config", "separation", "r", "T", "level_i", "level_j", "W", "smearing", "time_links", "dims", "group", "ensemble"
            for (i = 0; i < n; i++) {
                a = normal()
                for (k = 1; k <= 9; k++) for (T = 1; T <= 3; T++) {
                    r = k <= 6 ? k : (k - 6) * sqrt(2)
                    W = exp(-(.6 - .25 / r + .05 * r) * T) * (1 + .01 * r * T * a + .003 * T * r * normal())
                    print i, k <= 6 ? k ",0,0" : k - 6 "," k - 6 ",0", sprintf("%.12g", r), T, 0, 0, sprintf("%.14g", W), "none", "none",
                        "12,12,12,12", "SU(3)", "known"
                } } }'
}

# fits OPTION...: of the samples, to `found`.
fits() { lat-fit "$@" samples >found; }

# close COLUMN WANT [ROW]: to seven digits of a value, five of an error.
close() {
    local digits=2e-7
    [[ $1 != *_error && $1 != p ]] || digits=1e-5
    near "$(field found "$1" "${3:-1}")" "$2" "$(awk -v x="$2" -v d=$digits 'BEGIN { print (x < 0 ? -x : x) * d }')"
}

@test "lat-fit: masses, amplitudes, errors, chi^2 and p are those of SciPy on the same samples" {
    # SciPy 1.17.1: optimize.least_squares(method='lm', all tolerances 1e-15) of L^-1 (f - y), with L the Cholesky factor of the
    # covariance of the jackknife samples, for sample 0 and from there for each sample. p is that of `each_number`, below.
    correlators 120 | lat-stat --samples samples >/dev/null
    fits --select pion --states 2 --range 1,12
    close m0 0.3500239; close m0_error 0.000286093; close m1 0.956112082; close m1_error 0.00386324
    close A0 1.00162465; close A0_error 0.0023779; close A1 0.600989272; close A1_error 0.00173824
    close chi2 5.6520432; close p 0.72127
    [ "$(field found distribution)" = "F(8,112)" ]
    [ "$(cut -f 5-7,17,20-22 found | tail -n 1 | tr '\t' ' ')" = "cosh 1 12 8 full 1 24" ]
    fits --select pion,0,0,0 --range 6,12
    close m0 0.353472792; close m0_error 0.000292915; close A0 1.03236018; close chi2 194.44878; close p 1.09646e-22
    [ "$(field found good)" = 0 ]
    fits --select pion --range 6,12 --covariance diagonal
    close m0 0.352513521; close m0_error 0.000342566; close A0_error 0.00221975; close chi2 2.4792123
    # Points that fluctuate together: chi^2 / dof = 0.5, and the function is wrong.
    [ "$(awk '{ print ($1 < 1e-40) }' <<<"$(field found p)") $(field found good)" = "1 0" ]
    # NumPy 1.24.2: M = (1 - P) C (1 - P), P the projector on the derivatives of f; 2e6 normal vectors of covariance M say p = 0.086.
    fits --select pion --range 8,12 --covariance diagonal
    near "$(field found p)" .0916425 1e-5
    [ "$(field found good)" = 1 ]
    fits --joint --states 2 --range 1,12 --covariance full --samples masses
    for row in 1 2; do close m0 0.350293689 $row; close m0_error 0.000255636 $row; close m1 0.953861169 $row; done
    close A0 1.00078223 1; close A0 1.49683875 2; close A1_error 0.0027459 2; close chi2 16.776196 2
    # Samples of masses give their errors.
    awk -F'\t' '$1 == "pion" && $5 > 0 { s += $6; ss += ($6 - .35)^2; n++ } END { printf "%.6g\n", sqrt(119 * (ss / n - (s / n - .35)^2)) }' masses >error
    near "$(cat error)" 0.000255636 3e-9
}

# each_number [X COLUMN]: each number of the rows of `found` is that of Gauss-Newton steps in numpy on `samples`, which end where
# chi^2 has no slope; p by series and continued fractions (Abramowitz and Stegun 6.5.29, 6.5.31, 26.5.8).
each_number() {
    "$PYTHON" - "${1-t}" "${2-C}" <<'PY'
import math, sys
import numpy as np
def table(name):
    head, *rows = [line.rstrip("\n").split("\t") for line in open(name)]
    return [dict(zip(head, row)) for row in rows]
x_name, y_name = sys.argv[1:]
rows, samples = table("found"), table("samples")
key = list(rows[0])[:list(rows[0]).index("form")]
def fraction(a, b):  # b(0) + a(1) / (b(1) + a(2) / ...
    value = b(400)
    for k in range(400, 0, -1):
        value = b(k - 1) + a(k) / value
    return value
def beta(x, a, b):  # I_x(a, b)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta(1 - x, b, a)
    def term(k):
        m = k // 2
        return m * (b - m) * x / ((a + k - 1) * (a + k)) if k % 2 == 0 else -(a + m) * (a + b + m) * x / ((a + k - 1) * (a + k))
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    return front / a / fraction(term, lambda k: 1)
def gamma_q(a, x):  # Q(a, x)
    front = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        for k in range(1, 1000):
            term *= x / (a + k)
            total += term
        return 1 - front * total
    return front / fraction(lambda k: -k * (k - a), lambda k: x + 2 * k + 1 - a)
for row in rows:
    mine = [s for s in samples if all(s[k] == row[k] for k in key if k in s)]
    low, high, form = float(row["t_min"]), float(row["t_max"]), row["form"]
    near = lambda s: low - 1e-5 * abs(low) <= float(s[x_name]) <= high * (1 + 1e-5)
    mine = sorted((s for s in mine if near(s)), key=lambda s: (float(s[x_name]), int(s["sample"])))
    n = int(row["samples"])
    y = np.array([float(s[y_name]) for s in mine]).reshape(-1, n + 1)
    t = np.array([float(s[x_name]) for s in mine[::n + 1]])
    boot = mine[0]["resampling"] == "bootstrap"
    def covariance(v):
        return np.cov(v) if boot else np.cov(v) * (n - 1) ** 2 / n
    C = covariance(y[:, 1:])
    M = C if row["covariance"] == "full" else np.diag(np.diag(C))
    W = np.linalg.inv(np.linalg.cholesky(M))
    T = float(row.get("T", 0))
    sign = {"cosh": 1, "sinh": -1}.get(form, 0)
    def f(p):
        if form == "plateau":
            return p[0] + 0 * t, np.ones((len(t), 1))
        if form == "potential":
            J = np.stack([1 + 0 * t, -1 / t, t], 1)
            return J @ p, J
        k = len(p) // 2
        there = [np.exp(-m * t) for m in p[:k]]
        back = [sign * np.exp(-m * (T - t)) for m in p[:k]]
        h = np.stack([a + b for a, b in zip(there, back)], 1)
        J = np.stack([A * (-t * a - (T - t) * b) for A, a, b in zip(p[k:], there, back)], 1)
        return h @ p[k:], np.concatenate([J, h], 1)
    def fit(p, y):
        for _ in range(60):
            value, J = f(p)
            p = p - np.linalg.lstsq(W @ J, W @ (value - y), rcond=None)[0]
        return p, W @ (f(p)[0] - y)
    names = [k for k in row if k + "_error" in row and row[k] != "nan" and k not in ("sqrt_sigma", "r0")]
    start, rest = fit(np.array([float(row[k]) for k in names]), y[:, 0])
    fits = [fit(start, y[:, k]) for k in range(1, n + 1)]
    values = np.stack([start] + [p for p, _ in fits], 1)
    if form == "potential":
        names += ["sqrt_sigma", "r0"]
        values = np.concatenate([values, [values[2] ** .5, ((1.65 - values[1]) / values[2]) ** .5]])
    want = {k: v[0] for k, v in zip(names, values)}
    want.update({k + "_error": covariance(v[1:]) ** .5 for k, v in zip(names, values)})
    chi2, dof = rest @ rest, len(t) - len(start)
    want.update(chi2=chi2, dof=dof, chi2_dof=chi2 / dof)
    bins = int(row["configurations"]) // int(mine[0]["bin"])
    if row["covariance"] == "full":
        nu = 1 / (1 / (bins - 1) + 1 / (n - 1)) if boot else bins - 1
        T2 = chi2 * (1 - 1 / bins if boot else 1)
        d1, d2 = dof, nu - dof + 1
        F = T2 * d2 / (d1 * nu)
        want["p"] = beta(d2 / (d2 + d1 * F), d2 / 2, d1 / 2)
        law = f"F({d1:.4g},{d2:.4g})"
    else:
        R = covariance(np.stack([r for _, r in fits], 1))
        R = np.atleast_2d(R)
        trace, square = np.trace(R), (R * R).sum()
        want["p"] = gamma_q(trace ** 2 / square / 2, chi2 * trace / square / 2)
        law = f"chi2({trace ** 2 / square:.4g})"
    assert row["distribution"] == law, (row["distribution"], law)
    assert row["good"] == str(int(float(row["p"]) >= .05)), row
    if row["reason"] != "--covariance":
        assert row["reason"] == f"bins a point: {bins / len(t):.3g}" and (row["covariance"] == "full") == (bins >= 10 * len(t)), row
    for k, x in want.items():
        bound = 1e-5 if k.endswith("_error") or k in ("p", "chi2_dof") else 2e-7
        assert abs(float(row[k]) - x) <= bound * abs(x) + 1e-12, (k, row[k], x)
PY
}

@test "lat-fit: each number of a row is that of numpy on the same samples, of jackknife and bootstrap; auto counts bins" {
    need_numpy
    local options
    for options in "" "--bin 2" "--bootstrap 400" "--bootstrap 300 --bin 2"; do
        # shellcheck disable=SC2086 # words
        correlators 120 | lat-stat $options --samples samples >/dev/null
        fits --select pion --states 2 --range 1,12
        each_number
        fits --range 7,12
        each_number
        fits --range 7,12 --covariance diagonal
        each_number
        fits --range 7,11 --covariance full --form exp
        each_number
        fits --select pion --column mass --range 6,11
        each_number t mass
    done
    [ "$(cut -f 16,22 found | tail -n 1)" = $'full\tbins a point: 10' ]
    # Draws are not bins.
    correlators 30 | lat-stat --bootstrap 1000 --samples samples >/dev/null
    fits --range 7,12
    each_number
    [ "$(cut -f 16,22 found | tail -n 1)" = $'diagonal\tbins a point: 5' ]
    sed '1s/bin/tray/' samples >unsaid
    [ "$(lat-fit --range 7,12 unsaid | tail -n 1 | cut -f 16,22)" = $'diagonal\tbins unknown' ]
    refuses 1 "bootstrap samples without a column bin do not say of how many bins their covariance is: --covariance diagonal" \
        lat-fit --range 7,12 --covariance full unsaid
    loops 80 | lat-stat --potential --samples samples >/dev/null
    for options in full diagonal; do
        fits --form potential --select 1 --range 2,6 --covariance "$options"
        each_number r V
    done
}

@test "lat-fit: of several minima of a correlated chi^2 the lowest is found, wherever the fit begins" {
    # Means and covariance L L^T of a pion on 4^3 x 8: from the mass between the ends, 1.0, a search stops at chi^2 = 447.
    awk -v OFS='\t' 'BEGIN {
        print "channel", "px", "py", "pz", "t", "sample", "C", "resampling", "configurations", "bin", "operator", "source", "sink", "dims", "group", "ensemble"
        split(".01748446 .00445659 .00234538", c); split("1.12476627e-3 0 0 6.06605082e-4 1.07504972e-4 0 4.40248706e-4 1.02028145e-4 2.09953232e-5", L)
        n = 24
        for (t = 2; t <= 4; t++)
            for (k = 0; k <= n; k++) {
                for (j = 1; k && j <= 3; j++) d[k] += L[3 * (t - 2) + j] * sqrt(2 / (n - 1)) * cos(6.283185307179586 * j * k / n)
                printf "pion\t0\t0\t0\t%d\t%d\t%.17g\tjackknife\t24\t1\tkappa 0.14 (mass -0.4), boundary p,p,p,a\tpoint\tnone\t4,4,4,8\tSU(3)\tbeta 6\n", t, k, c[t - 1] + d[k]
                d[k] = 0
            }
    }' >samples
    fits --range 2,4 --covariance full
    # SciPy 1.17.1, as above, from the best of 100 masses.
    close m0 1.82378232; close m0_error .0296581259; close chi2 13.295415
}

@test "lat-fit: the window begins where fits are good; all of them are shown; a plateau of effective masses" {
    correlators 120 | lat-stat --samples samples >/dev/null
    fits --scan --select pion
    [ "$(tail -n +2 found | cut -f 6 | paste -sd ' ')" = "1 2 3 4 5 6 7 8 9" ]
    local first
    first=$(awk -F'\t' 'NR > 1 && $17 == 1 { print $6; exit }' found)
    fits --select pion
    [ "$(field found t_min)" = "$first" ]
    [ "$(field found good)" = 1 ]
    # None is good: the one of the largest p, with a warning.
    lat-fit --select pion --p-value 1 samples >found 2>said
    grep -q 'no window has a good fit' said
    [ "$(field found t_min)" = "$(lat-fit --scan --select pion samples | awk -F'\t' 'NR > 1 && $15 >= p { p = $15; t = $6 } END { print t }')" ]
    # So few configurations that C^-1 is not known: the mass without the second state.
    correlators 12 | lat-stat --samples few >/dev/null 2>&1
    lat-fit --select pion few >found
    [ "$(field found covariance)" = diagonal ]
    near "$(field found m0)" .35 "$(field found m0_error)"
    # A function that meets all points, to rounding.
    awk -F'\t' -v OFS='\t' '$1 == "pion" { $7 = sprintf("%.17g", (1 + $6 / 100) * (exp(-.3 * $5) + exp(-.3 * (24 - $5)))) } 1' few >exact
    [ "$(lat-fit --select pion --range 3,9 --covariance diagonal exact | tail -n 1 | cut -f 15-17)" = "$(printf '1\tdiagonal\t1')" ]
    # A plateau without correlations is the mean by weights.
    fits --select rho_x --column mass --range 7,11 --covariance diagonal
    awk -F'\t' '$1 == "rho_x" && $5 >= 7 && $5 <= 11 { if ($6 == 0) m[$5] = $8; else { s[$5] += $8; ss[$5] += $8^2; n[$5]++ } }
        END { for (t in m) { v = 119 * (ss[t] / n[t] - (s[t] / n[t])^2); w += 1 / v; x += m[t] / v } printf "%.9g\n", x / w }' samples >want
    near "$(field found m0)" "$(cat want)" 1e-8
    # The form is cosh for antiperiodic time, as a number, too.
    sed 's/p,p,p,a/p,p,p,-1/' <(correlators 30) | lat-stat --samples samples >/dev/null
    [ "$(lat-fit --select pion --range 5,9 samples | tail -n 1 | cut -f 5)" = cosh ]
    # ln C(t)/C(t+1) falls as one exponential where time does not go around.
    sed 's/p,p,p,a/p,p,p,d/' <(correlators 30) | lat-stat --samples samples >/dev/null
    [ "$(lat-fit --select pion --range 5,9 samples | tail -n 1 | cut -f 5)" = exp ]
}

@test "lat-fit: C(t) and C(T - t) of folded correlators are one number, which counts once; of others they are two" {
    local half all
    correlators 120 | lat-stat --samples samples >/dev/null
    half=$(lat-fit --select pion --range 6,12 samples | tail -n 1)
    [ "$(lat-fit --select pion --range 6,18 samples | tail -n 1)" = "$half" ]
    lat-fit --joint --range 6,12 samples | cmp - <(lat-fit --joint --range 6,18 samples)
    # Beyond T/2 alone they are the same numbers, of the same function.
    all=$(lat-fit --select pion --range 12,18 samples | tail -n 1)
    [ "$(cut -f 6-7,13 <<<"$all")" = "$(printf '12\t18\t5')" ]
    near "$(cut -f 8 <<<"$all")" "$(cut -f 8 <<<"$half")" 1e-8
    near "$(cut -f 12 <<<"$all")" "$(cut -f 12 <<<"$half")" 1e-5
    # Not folded: noise makes both halves differ.
    correlators 120 | lat-stat --no-fold --samples apart >/dev/null
    lat-fit --select pion --range 6,18 --covariance diagonal apart >found
    [ "$(field found dof) $(field found t_max)" = "11 18" ]
}

@test "lat-fit: pcac is a plateau of its masses, up to T/2, without an option; nan is named" {
    correlators 40 | awk -F'\t' -v OFS='\t' '1; $2 == "pion" { $2 = "pcac"; $7 = .05 * (1 + .01 * cos(7 * $1 + $6) + ($6 < 2 || $6 > 22)); print }' |
        lat-stat --samples samples >means 2>/dev/null
    local options
    for options in "" "--select pcac" "--form plateau --select pcac" "--range 3,12"; do
        # shellcheck disable=SC2086 # words
        lat-fit $options samples 2>/dev/null | awk 'NR == 1 || /^pcac/' >found
        [ "$(field found form) $(field found t_max)" = "plateau 12" ]
        near "$(field found m0)" .05 .0005
    done
    [ "$(field found t_min)" = 3 ]
    lat-fit --select pcac samples | cmp - <(lat-fit --select pcac --column mass samples)
    lat-fit --column C samples 2>said | cut -f 1 | paste -sd ' ' | grep -qx 'channel pion rho_x'
    grep -q 'warning: pcac 0 0 0: column C has nan among its samples at all t (--column)' said
    refuses 1 "pcac 0 0 0: expected numbers from t = 2 to 9, found nan at t = 2" lat-fit --select pcac --column C --range 2,9 samples
    refuses 1 "pion 0 0 0: expected numbers from t = 9 to 14, found nan at t = 13" lat-fit --select pion --column mass --range 9,14 samples
    refuses 1 "--joint: expected no plateau beside states, found pcac 0 0 0 (--select)" lat-fit --joint samples
}

@test "lat-fit: the static potential is that of SciPy on the same samples; plateaus of effective energies first" {
    # SciPy 1.17.1 as above, of V0 - alpha / r + sigma r.
    loops 80 | lat-stat --potential --samples samples >/dev/null
    fits --form potential --select 1 --range 2,6 --covariance full
    close V0 0.581380015; close V0_error 0.0175269; close alpha 0.226088757; close alpha_error 0.0258236
    close sigma 0.0513131595; close sigma_error 0.0027155; close sqrt_sigma 0.226524082; close r0 5.26777336; close r0_error 0.101549
    close chi2 1.3049401; close p 0.867892
    [ "$(cut -f 1-4,16,19-22 found | tail -n 1 | tr '\t' ' ')" = "1 potential 2 6 4 full 1 80 80" ]
    fits --form potential --select 2 --covariance diagonal --range 1,4.5
    close alpha 0.251268135; close sigma 0.048870103; close r0 5.3498993; close r0_error 0.125908; close chi2 1.0717366
    # The window ends at the last separation that is there.
    [ "$(lat-fit --form potential --select 1 --range 2,100 samples | tail -n 1 | cut -f 3-4)" = "$(printf '2\t6')" ]
    # A separation that is nan is left out; distances rise, whatever their order in the table.
    fits --form potential --select 1 --range 2,6
    local points
    points=$(field found dof)
    awk -F'\t' -v OFS='\t' '$1 == "6,0,0" && $3 == 1 { $5 = "nan" } 1' samples >holes
    [ "$(lat-fit --form potential --select 1 --range 2,6 holes | tail -n 1 | cut -f 16)" = $((points - 1)) ]
    [ "$(fits --form potential --select 1 --scan && cut -f 3 found | tail -n +2 | head -n 3 | paste -sd ' ')" = "1 1.41421 2" ]
    # V of two T, then their potential.
    lat-fit --x T --column V --range 1,2 --covariance diagonal --samples plateaus -o V samples
    [ "$(cut -f 1-5 V | sed -n 2p)" = "$(printf '1,0,0\t1\tplateau\t1\t2')" ]
    lat-fit --form potential --column m0 --range 2,6 plateaus >found
    close V0 0.587401425; close alpha 0.236221179; close sigma 0.0511348546; close r0 5.25814094; close r0_error 0.072106; close chi2 2.8553632
    refuses 2 "--form potential has neither --states nor --joint" lat-fit --form potential --states 2 samples
    refuses 1 "samples: expected a column C (--column)" lat-fit --x r samples
}

@test "lat-fit: what cannot be fitted is refused" {
    correlators 8 | lat-stat --samples samples >/dev/null 2>&1
    refuses 1 "the covariance of 12 points from 8 bins is singular: fewer points, or --covariance diagonal" \
        lat-fit --range 1,12 --select pion --covariance full samples
    [ "$(lat-fit --range 1,12 --select pion samples | tail -n 1 | cut -f 16,22)" = $'diagonal\tbins a point: 0.667' ]
    refuses 1 "expected more points than parameters, 2, found 2 from t = 3 to 4" lat-fit --range 3,4 samples
    refuses 1 "--select: expected correlators among pion,0,0,0 / rho_x,0,1,0, found 'nucleon'" lat-fit --select pion/nucleon samples
    refuses 2 "--states 2: expected a sum of exponentials, found a plateau" lat-fit --form plateau --states 2 samples
    sed 's/^rho_x/pcac/' samples >plateau
    refuses 1 "pcac 0 1 0: expected a sum of exponentials for --states 2, found a plateau (--select)" lat-fit --states 2 plateau
    refuses 2 "--form potential: expected energies (lat-stat --potential), found --column W, Wilson loops" lat-fit --form potential --column W samples
    sed '1s/dims/size/' samples >endless
    refuses 1 "--form cosh: expected a column dims, which ends in T, found none" lat-fit --form cosh --range 3,9 endless
    local options
    for options in "" "--bootstrap 20"; do
        # shellcheck disable=SC2086 # words
        correlators 10 | lat-stat --bin 10 $options --samples one >means 2>/dev/null
        refuses 1 "one: expected samples of two bins at least, which errors need, found one" lat-fit --covariance diagonal one
        [ "$(field means C_error)" = nan ]
    done
    # Outputs appear together, or none.
    run -1 lat-fit -o /dev/full --samples left samples
    run -1 lat-stat -o /dev/full --samples left means
    run -1 lat-stat -o /dev/full --samples left <(correlators 8)
    [ ! -e left ]
    refuses 1 "samples: expected a column X (--column)" lat-fit --column X samples
    refuses 2 "--range: expected FIRST,LAST, found '3'" lat-fit --range 3 samples
    # A byte order mark of UTF-8 is no name of a column.
    lat-fit samples | cmp - <(lat-fit <(printf '\xef\xbb\xbf' && cat samples))
    correlators 8 >table
    refuses 1 "table: expected a table of samples with a column t (lat-stat --samples)" lat-fit table
    sed '5d' samples >short
    refuses 1 "short: row 5: expected sample 3, found 4" lat-fit short
}
