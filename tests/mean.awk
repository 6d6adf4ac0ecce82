# mean.awk: mean, standard error and integrated autocorrelation time of the numbers on stdin, one a line in the order
# of the run. The window grows until it holds five autocorrelation times (Madras, Sokal 1988); the error is
# sqrt(2 tau var / n), and never less than that of independent numbers.
{ x[n++] = $1; sum += $1 }
END {
    mean = sum / n
    for (i = 0; i < n; i++) var += (x[i] - mean) ^ 2
    var /= n
    tau = 0.5
    for (t = 1; t < n / 4 && t < 5 * tau + 1; t++) {
        c = 0
        for (i = 0; i + t < n; i++) c += (x[i] - mean) * (x[i + t] - mean)
        tau += c / (n - t) / (var > 0 ? var : 1)
    }
    if (tau < 0.5) tau = 0.5
    printf "%.9f %.9f %.2f\n", mean, sqrt(2 * tau * var / n), tau
}
