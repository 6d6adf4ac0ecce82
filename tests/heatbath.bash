# shellcheck shell=bash
# Loaded by the tests of lat-heatbath after `helper`.

# mean COLUMN FILE [OMIT]: mean, error and autocorrelation time of a named column of a log or of lat-plaq
# --tsv, without the first OMIT rows.
mean() {
    awk -F'\t' -v name="$1" -v omit="${3-0}" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } NR > omit + 1 { print $c }' "$2" |
        awk -f "$ROOT/tests/mean.awk"
}

# agrees "MEAN ERROR TAU" VALUE [ERROR [RELATIVE]]: within three standard errors of both together, and the error of
# the mean is at most RELATIVE (default 0.1 %) of the value. Prints what it compares.
agrees() {
    echo "# $1 against $2 ${3-0}"
    awk -v a="$1" -v b="$2" -v e="${3-0}" -v rel="${4-0.001}" 'BEGIN {
        split(a, m, " "); d = m[1] - b; if (d < 0) d = -d
        exit !(d <= 3 * sqrt(m[2] ^ 2 + e ^ 2) && m[2] <= rel * b && m[2] > 0) }' ||
        { echo "$1 does not agree with $2 +- ${3-0}"; return 1; }
}

# meet "MEAN ERROR TAU" "MEAN ERROR TAU" RELATIVE
meet() {
    agrees "$1" "$(cut -d' ' -f1 <<<"$2")" "$(cut -d' ' -f2 <<<"$2")" "$3"
}
