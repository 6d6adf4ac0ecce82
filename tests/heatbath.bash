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
# the mean is at most RELATIVE (default 0.1 %) of the value. Prints what it compares. Of few (helper.bash) that are a fifth, errors
# are sqrt(5) as large, and known less well: five of them, RELATIVE three times.
agrees() {
    local errors=3 times=1
    ! sanitized || errors=5 times=3
    echo "# $1 against $2 ${3-0}"
    awk -v a="$1" -v b="$2" -v e="${3-0}" -v rel="${4-0.001}" -v errors=$errors -v times=$times 'BEGIN {
        split(a, m, " "); d = m[1] - b; if (d < 0) d = -d
        exit !(d <= errors * sqrt(m[2] ^ 2 + e ^ 2) && m[2] <= times * rel * b && m[2] > 0) }' ||
        { echo "$1 does not agree with $2 +- ${3-0}"; return 1; }
}

# meet "MEAN ERROR TAU" "MEAN ERROR TAU" RELATIVE
meet() {
    agrees "$1" "$(cut -d' ' -f1 <<<"$2")" "$(cut -d' ' -f2 <<<"$2")" "$3"
}

# apart A B: the root mean square of the differences of links.
apart() {
    lat-diff --tolerance 4 "$1" "$2" | awk '$1 == "rms" { print $2 }'
}

# neighbours OVERRELAX EVERY WORDS...: EVERY sweeps of one heat bath pass and OVERRELAX passes of overrelaxation in SU(3) at beta = 6, by lat-heatbath
# and by `env WORDS lat-heatbath`, from a.lat; and from b.lat, which is a.lat up to an ulp or two. Rounding grows 2.9-fold with a
# pass of overrelaxation and 1.2-fold with one of heat bath: chaos, as the neighbour's way shows, which is the same program's.
# So both differences are below eps 3.2^m 1.3^n, and the first one is like the second.
neighbours() {
    local overrelax=$1 every=$2
    shift 2
    local how="lat-heatbath --overrelax $overrelax --every $every --thermalise 0 --seed 9 --beta 6 --no-provenance -q"
    # shellcheck disable=SC2086
    $how a.lat -o x.lat
    # shellcheck disable=SC2086
    $how b.lat -o y.lat
    # shellcheck disable=SC2086
    env $1 $how ${2-} a.lat -o z.lat
    echo "# $every (1 + $overrelax): ${*}: $(apart x.lat z.lat), the neighbour $(apart x.lat y.lat)"
    awk -v d="$(apart x.lat z.lat)" -v n="$(apart x.lat y.lat)" -v m=$((overrelax * every)) -v k="$every" 'BEGIN {
        bound = 2.2e-16 * 3.2 ^ m * 1.3 ^ k; exit !(d <= bound && n <= bound && d <= 16 * n && n > 0) }'
}

# a.lat, thermal links, and b.lat, the same ones after a gauge transformation and its inverse.
make_neighbours() {
    lat-heatbath --device cpu --dims 4,6,8,10 --beta 6 --thermalise 30 --every 1 --seed 3 -q -o a.lat
    lat-gauge --random --save-g g.lat a.lat -o r.lat
    lat-gauge --invert g.lat -o h.lat
    lat-gauge --apply h.lat r.lat -o b.lat
    near "$(apart a.lat b.lat)" 0 4.4e-16
}
