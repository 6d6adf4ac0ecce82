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
    # covariance of the jackknife samples, for sample 0 and from there for each sample; stats.chi2.sf.
    correlators 120 | lat-stat --samples samples >/dev/null
    fits --select pion --states 2 --range 1,12
    close m0 0.3500239 && close m0_error 0.000286093 && close m1 0.956112082 && close m1_error 0.00386324
    close A0 1.00162465 && close A0_error 0.0023779 && close A1 0.600989272 && close A1_error 0.00173824
    close chi2 5.6520432 && close p 0.686143
    [ "$(cut -f 5-7,17,20-22 found | tail -n 1 | tr '\t' ' ')" = "cosh 1 12 8 full 1 24" ]
    fits --select pion,0,0,0 --range 6,12
    close m0 0.353472792 && close m0_error 0.000292915 && close A0 1.03236018 && close chi2 194.44878 && close p 4.37213e-40
    [ "$(field found good)" = 0 ]
    fits --select pion --range 6,12 --covariance diagonal
    close m0 0.352513521 && close m0_error 0.000342566 && close A0_error 0.00221975 && close chi2 2.4792123
    [ "$(field found p)" = nan ]
    fits --joint --states 2 --range 1,12 --samples masses
    for row in 1 2; do close m0 0.350293689 $row && close m0_error 0.000255636 $row && close m1 0.953861169 $row; done
    close A0 1.00078223 1 && close A0 1.49683875 2 && close A1_error 0.0027459 2 && close chi2 16.776196 2
    # Samples of masses give their errors.
    awk -F'\t' '$1 == "pion" && $5 > 0 { s += $6; ss += ($6 - .35)^2; n++ } END { printf "%.6g\n", sqrt(119 * (ss / n - (s / n - .35)^2)) }' masses >error
    near "$(cat error)" 0.000255636 3e-9
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
    # A plateau without correlations is the mean by weights.
    fits --select rho_x --column mass --range 7,11 --covariance diagonal
    awk -F'\t' '$1 == "rho_x" && $5 >= 7 && $5 <= 11 { if ($6 == 0) m[$5] = $8; else { s[$5] += $8; ss[$5] += $8^2; n[$5]++ } }
        END { for (t in m) { v = 119 * (ss[t] / n[t] - (s[t] / n[t])^2); w += 1 / v; x += m[t] / v } printf "%.9g\n", x / w }' samples >want
    near "$(field found m0)" "$(cat want)" 1e-8
    # ln C(t)/C(t+1) falls as one exponential where time does not go around.
    sed 's/p,p,p,a/p,p,p,d/' <(correlators 30) | lat-stat --samples samples >/dev/null
    [ "$(lat-fit --select pion --range 5,9 samples | tail -n 1 | cut -f 5)" = exp ]
}

@test "lat-fit: what cannot be fitted is refused" {
    correlators 8 | lat-stat --samples samples >/dev/null 2>&1
    refuses 1 "the covariance of 12 points from 8 samples is singular: fewer points, or --covariance diagonal" \
        lat-fit --range 1,12 --select pion --covariance full samples
    [ "$(lat-fit --range 1,12 --select pion samples | tail -n 1 | cut -f 16)" = diagonal ]
    refuses 1 "expected more points than parameters, 2, found 2 from t = 3 to 4" lat-fit --range 3,4 samples
    refuses 1 "expected a correlator as --select says, found none" lat-fit --select nucleon samples
    refuses 1 "samples: expected a column X (--column)" lat-fit --column X samples
    refuses 2 "--range: expected FIRST,LAST, found '3'" lat-fit --range 3 samples
    correlators 8 >table
    refuses 1 "table: expected a table of samples with a column t (lat-stat --samples)" lat-fit table
    sed '5d' samples >short
    refuses 1 "short: row 5: expected sample 3, found 4" lat-fit short
}
