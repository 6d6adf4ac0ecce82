# SPDX-License-Identifier: BSD-3-Clause
# From starts.tsv (sweeps.sh) the tables `sweeps`, means over starts, and `best`, the omega of fewest sweeps; then the
# judgement: omega auto takes at most 1.25 times the sweeps of the best fixed omega, as far as two standard errors of
# the means can tell; in Landau gauge on 16^4 at beta = 6.0 the scheme su3 takes at most a fifth of the sweeps of
# su2, each at its best omega.
# A start that has not converged counts with the sweeps it had.
function judge(good, sentence) {
    if (!good) {
        print "sweeps: expected " sentence >"/dev/stderr"
        bad = 1
    }
}
# The square of the standard error of the mean number of sweeps.
function error2(key, v) {
    v = n[key] > 1 ? (sum2[key] - n[key] * mean[key] ^ 2) / (n[key] - 1) / n[key] : 0
    return v > 0 ? v : 0
}
BEGIN { FS = OFS = "\t" }
NR == 1 { next }
{
    run = $1 OFS $2 OFS $3 OFS $4
    key = run OFS $5
    if (!(key in n))
        keys[++nkeys] = key
    n[key]++
    done[key] += $8
    if (n[key] == 1 || $7 < least[key])
        least[key] = $7
    if ($7 > most[key])
        most[key] = $7
    sum[key] += $7
    sum2[key] += $7 ^ 2
    f[key] += $10
    f2[key] += ($10 - 0.8) ^ 2
    if ($10 > top[run])
        top[run] = $10
}
END {
    print "config", "extent", "gauge", "scheme", "omega", "starts", "converged", "sweeps", "least", "most", "functional", "spread" >sweeps
    print "config", "extent", "gauge", "scheme", "omega", "sweeps", "functional", "auto" >best
    for (i = 1; i <= nkeys; i++) {
        key = keys[i]
        split(key, part, FS)
        run = part[1] OFS part[2] OFS part[3] OFS part[4]
        mean[key] = sum[key] / n[key]
        mf = f[key] / n[key]
        var = f2[key] / n[key] - (mf - 0.8) ^ 2
        functional[key] = sprintf("%.9f", mf)
        print key, n[key], done[key], sprintf("%.1f", mean[key]), least[key], most[key], functional[key], sprintf("%.1e", sqrt(var > 0 ? var : 0)) >sweeps
        if (!(run in found) && part[5] != "auto") {
            found[run] = key
            runs[++nruns] = run
        } else if (part[5] != "auto" && mean[key] < mean[found[run]]) {
            found[run] = key
        }
    }
    for (i = 1; i <= nruns; i++) {
        run = runs[i]
        key = found[run]
        auto = run OFS "auto"
        print key, sprintf("%.1f", mean[key]), functional[key], auto in n ? sprintf("%.1f", mean[auto]) : "-" >best
        judge(done[key] == n[key], "every start to converge at the best omega: " key)
        if (auto in n)
            judge(mean[auto] <= 1.25 * mean[key] + 2 * sqrt(error2(auto) + 1.25 ^ 2 * error2(key)), "auto within 1.25 times " mean[key] " sweeps, found " mean[auto] ": " run)
        split(run, part, FS)
        if (part[1] ~ /^b6\.0/ && part[2] == 16 && part[3] == "landau" && part[4] == "su2") {
            su3 = part[1] OFS 16 OFS "landau" OFS "su3"
            if (su3 in found)
                judge(mean[found[su3]] <= mean[key] / 5, "su3 to take a fifth of " mean[key] " sweeps, found " mean[found[su3]])
        }
    }
    exit bad
}
