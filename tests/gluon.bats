#!/usr/bin/env bats
# Purpose: lat-gluon gives the exact gluon propagator of fields whose propagator is known, and its symmetries on all fields.
# shellcheck disable=SC2154  # status, output and stderr are set by run
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] || skip "lat-gluon was not built: no FFTW"
}

# number NAME < JSON: a number of a one-line object, before the propagator.
number() {
    sed -n "s/.*\"$1\": \([^,}]*\).*\"propagator\".*/\1/p"
}

@test "a configuration that comes twice into a mean is said" {
    for i in 1 2; do rough $i.raw --dims 4,4,2,4 --seed $i; lat-orelax --theta 1e-14 $i.raw -o $i.lat; done
    lat-gluon --mean 1.lat 2.lat 2>said >found
    [ ! -s said ]
    lat-gluon --mean 1.lat 2.lat 1.lat 2.lat 2>said >found
    [ "$(cat said)" = "lat-gluon: 1.lat: --mean: configuration 2 is number 0 again, with the same links: it counts as an independent one" ]
    lat-gluon 1.lat 1.lat 2>said >found
    [ ! -s said ]
}

@test "plane waves in an SU(2) subgroup have exactly their D and longitudinal part" {
    command -v python3 >/dev/null || skip "no python3 to make them with"
    local time group dims args
    while read -r dims group time args; do
        python3 "$ROOT/tests/plane_waves.py" "$dims" "$group" "$time" a.raw expected
        # shellcheck disable=SC2086
        lat-convert --from raw --dims "$dims" --group "$group" --type f64 --endian little a.raw |
            lat-gluon --force --average none --tsv $args >a.tsv
        # At all other momenta there is rounding: sqrt(V) eps of amplitudes below 1/4, squared, times V; the bound is larger.
        awk -F'\t' '
            FNR == NR { d[$1] = $2; l[$1] = $3; n++; next }
            FNR == 1 { next }
            $2 in d { seen++; if (($5 / d[$2] - 1)^2 > 1e-26 || ($7 - l[$2])^2 > 1e-26 * d[$2]^2) { print; bad++ } ; next }
            !($5 < 1e-27 && $7 < 1e-27) { print; bad++ }
            END { exit bad || seen != n || n < 5 }' expected a.tsv
    done <<'END'
4,6,4,5 3 -1
6,4,3,8 2 -1
4,5,6,7 4 -1 --gauge landau
4,6,5,3 3 3 --gauge coulomb
3,6,4,6 2 0 --gauge coulomb --time x
END
}

@test "a table of MILC's gluon_prop on one of its configurations" {
    need_data nersc_milc_GF_555_6.1
    # gluon_prop/out.sample.su3_gluon_prop.1 of MILC 7: mean over the six permutations of 0 <= z <= y <= x. In our terms D / u0^2
    # and longitudinal / (3 u0^2), u0 the link trace; at p = 0 it divides by three polarisations and not by four.
    lat-convert "$DATA/nersc_milc_GF_555_6.1" -o a.lat
    lat-gluon --force --average none --tsv a.lat >a.tsv
    awk -F'\t' -v u0="$(lat-gluon --force --json a.lat | number link_trace)" '
        FNR == NR { d[$2] = $5; l[$2] = $7; next }
        function at(x, y, z, t) { k = x "," y "," z "," t; sum_d += d[k]; sum_l += l[k]; n += k in d }
        {
            split($0, c, " "); sum_d = sum_l = n = 0
            at(c[1], c[2], c[3], c[4]); at(c[2], c[1], c[3], c[4]); at(c[3], c[2], c[1], c[4])
            at(c[1], c[3], c[2], c[4]); at(c[2], c[3], c[1], c[4]); at(c[3], c[1], c[2], c[4])
            D = sum_d / 6 / u0^2 * (c[1] + c[2] + c[3] + c[4] == 0 ? 4 / 3 : 1); L = sum_l / 18 / u0^2
            # Seven digits are printed; the program was one in single precision.
            if (n != 6 || (D / c[5] - 1)^2 > 1e-12 || (L - c[6])^2 > (1e-6 * c[5])^2) { print $0, D, L; bad++ }
        }
        END { exit bad > 0 }' a.tsv - <<'END'
0 0 0 0 9.380171e+00 0.000000e+00
1 0 0 0 4.223528e+00 1.282851e+00
1 1 0 0 3.062741e+00 3.726164e-01
2 1 0 0 1.057882e+00 1.374664e-01
2 2 1 0 5.605165e-01 5.773769e-02
3 2 1 0 4.516605e-01 3.423573e-02
3 3 3 0 2.112669e-01 6.860954e-03
0 0 0 1 5.089170e+00 6.725941e-01
1 1 1 1 1.211307e+00 2.022443e-01
3 1 1 1 5.913492e-01 4.143479e-02
2 2 2 2 3.685125e-01 1.271537e-02
3 2 1 3 2.685442e-01 1.671676e-02
3 3 3 3 1.983472e-01 1.196322e-02
END
}

@test "at weak coupling it is that of free gluons, g^2 / phat^2" {
    # beta = 20000: g^2 = 2N/beta; corrections are of order g^2 = 3e-4. 8 * 3 * (V - 1) independent Gaussian numbers in all: their mean
    # square is known to sqrt(2 / that), and that of momenta of one phat^2 likewise.
    lat-heatbath --dims 6,4,4,6 --beta 20000 --thermalise 200 --seed 5 --precision double -o a.lat
    lat-orelax --gauge landau --theta 1e-20 a.lat | lat-gluon --tsv >a.tsv
    awk -F'\t' -v free=0.0003 '
        FNR > 1 && $4 > 0 {
            ratio = $5 * $4 / free; n = 24 * $8; all += n; sum += n * ratio
            if ((ratio - 1)^2 > 25 * 2 / n) { print $2, ratio, sqrt(2 / n); bad++ } # 5 sigma, of some 50
        }
        END { r = sum / all; print r; exit bad || all != 24 * 575 || (r - 1)^2 > 16 * 2 / all }' a.tsv
    lat-orelax --gauge coulomb --theta 1e-20 a.lat | lat-gluon --tsv >a.tsv
    # Equal times: the mean over p4 of 1 / (phat^2 + phat4^2), which is 1 / (2 |phat| sqrt(1 + phat^2/4)) / tanh(...) on a long lattice.
    awk -F'\t' -v free=0.0003 '
        FNR > 1 && $4 > 0 {
            want = 0
            for (k = 0; k < 6; k++) want += free / ($4 + 4 * sin(3.141592653589793 * k / 6)^2) / 6
            n = 16 * $8 # and slices are correlated: count one
            if (($5 / want - 1)^2 > 25 * 2 / n) { print $2, $5 / want; bad++ }
            seen++
        }
        END { exit bad || seen < 10 }' a.tsv
}

@test "theta from momenta is that of lat-theta, and bounds the longitudinal part" {
    rough a.lat --dims 4,6,5,8
    lat-start hot --dims 5,4,4 --group 4 -o b.lat
    for file in a.lat b.lat; do
        for args in "--gauge landau" "--gauge coulomb" "--gauge coulomb --time y"; do
            # shellcheck disable=SC2086
            awk -v a="$(lat-gluon --force --json $args $file | number theta)" -v b="$(column $file theta $args)" \
                'BEGIN { exit !(b > 0.01 && (a / b - 1)^2 < 1e-24) }' # a sum of 1000 and more positive numbers
        done
    done
    # phat^2 L = 2 tr |phat A|^2 / ((N^2-1) V), a term of a sum that is theta N V^2 / 4.
    rough a.lat --dims 4,6,4,10 # 960 sites too, of even extents
    for gauge in landau coulomb; do
        lat-orelax --gauge $gauge --theta 1e-14 a.lat -o f.lat
        lat-gluon --average none --tsv f.lat >f.tsv
        awk -F'\t' 'FNR > 1 { bound = 2 * 3 * 960 / 4 / 8 * $12; n++; if ($12 > 1e-14 || $11 != g || $4 * $7 > bound * (1 + 1e-9)) bad++ }
            END { exit bad || n < 50 }' g=$gauge f.tsv
    done
}

@test "the sum over momenta is that over sites" {
    lat-start hot --dims 6,5,4,7 -o a.lat
    for args in "--gauge landau" "--gauge coulomb --time z"; do
        # shellcheck disable=SC2086
        lat-gluon --force --tsv $args a.lat >a.tsv
        # shellcheck disable=SC2086
        awk -F'\t' -v square="$(lat-gluon --force --json $args a.lat | number field_squared)" '
            FNR > 1 { d = split($2, n, ","); V += $8; sum += $8 * (($4 > 0 ? d - 1 : d) * $5 + $7) }
            END { exit !(V == (d == 4 ? 840 : 210) && (sum / (V * d * square) - 1)^2 < 1e-26) }' a.tsv
    done
}

@test "without averages p and -p, whose D are one number, are one row" {
    lat-start hot --dims 6,4,5,4 -o a.lat
    for args in "--gauge landau" "--gauge coulomb --time x"; do
        # shellcheck disable=SC2086
        lat-gluon --force --average none --tsv $args a.lat >a.tsv
        awk -F'\t' -v L="${args/*landau/6,4,5,4}" '
            BEGIN { d = split(L ~ /x/ ? "4,5,4" : L, l, ","); V = 1; for (i = 1; i <= d; i++) V *= l[i] }
            FNR == 1 { next }
            {
                split($2, n, ","); minus = ""; own = 1
                for (i = 1; i <= d; i++) {
                    m = 2 * n[i] == l[i] ? n[i] : -n[i]
                    own = own && m == n[i]; minus = minus (i > 1 ? "," : "") (m ? m : 0)
                }
                if ($2 in seen || (minus in seen && !own) || $8 != 2 - own) { print; bad++ }
                seen[$2]; seen[minus]; rows++; members += $8; owns += own
            }
            END { exit bad || members != V || rows != (V + owns) / 2 || owns != 2 ^ (d - 1) }' a.tsv
    done
}

@test "orbits are the momenta that reflections and axes of one length make equal, their error that of the mean" {
    lat-start hot --dims 6,4,6,4 -o a.lat
    lat-gluon --force --average none --tsv a.lat >none.tsv
    lat-gluon --force --tsv a.lat >orbits.tsv
    awk -F'\t' '
        function abs(v) { return v < 0 ? -v : v }
        function key(text) {
            split(text, n, ",")
            a = abs(n[1]); b = abs(n[3]); if (a < b) { c = a; a = b; b = c }
            d = abs(n[2]); e = abs(n[4]); if (d < e) { c = d; d = e; e = c }
            return a "," d "," b "," e
        }
        FNR == 1 { next }
        FNR == NR { k = key($2); w[k] += $8; sum[k] += $8 * $5; square[k] += $8 * $5^2; long[k] += $8 * $7; rows += $8; next }
        {
            mean = sum[$2] / w[$2]; orbits++
            own = 1; split($2, n, ","); for (i = 1; i <= 4; i++) if (n[i] && 2 * n[i] != (i % 2 ? 6 : 4)) own = 0
            m = own ? w[$2] : w[$2] / 2
            if (w[$2] != $8 || ($5 / mean - 1)^2 > 1e-24 || ($7 - long[$2] / w[$2])^2 > 1e-24 * mean^2) { print; bad++ }
            if (m > 1) { e = sqrt((square[$2] / w[$2] - mean^2) / (m - 1)); if (($6 - e)^2 > 1e-16 * mean^2) { print $0, e; bad++ } }
            else if ($6 != "nan") { print; bad++ }
            delete w[$2]
        }
        END { for (k in w) bad++; exit bad || rows != 576 || orbits != 60 }' none.tsv orbits.tsv # 10 pairs of 0 to 3, 6 of 0 to 2
}

@test "cuts keep what lies near the diagonal" {
    lat-start hot --dims 8,8,8,16 --group 2 -o a.lat
    lat-gluon --force --tsv a.lat >all.tsv
    lat-gluon --force --tsv --cylinder 1 --cone 25 a.lat >cut.tsv
    awk -F'\t' '
        BEGIN { pi = 4 * atan2(1, 1) }
        FNR == 1 { next }
        {
            split($2, n, ","); p2 = along = 0
            for (i = 1; i <= 4; i++) { p = 2 * pi * n[i] / (i < 4 ? 8 : 16); p2 += p * p; along += p / 2 }
            away = p2 - along^2; away = away > 0 ? sqrt(away) : 0
            if (away <= 2 * pi / 8 * (1 + 1e-9) && (p2 == 0 || atan2(away, along) <= 25 * pi / 180 + 1e-9)) print
        }' all.tsv >want
    tail -n +2 cut.tsv | cmp - want
    [ "$(wc -l <want)" -gt 10 ]
    [ "$(wc -l <want)" -lt "$(($(wc -l <all.tsv) / 2))" ]
}

@test "--mean is the mean over configurations, with the error of independent ones" {
    lat-start hot --dims 4,4,6 --count 5 -o a.lat
    lat-gluon --force --tsv a.lat >each.tsv
    lat-gluon --force --tsv --mean a.lat >mean.tsv
    awk -F'\t' '
        FNR == 1 { next }
        FNR == NR { n[$2]++; d[$2] += $5; square[$2] += $5^2; l[$2] += $7; theta += $12; rows++; next }
        {
            m = d[$2] / 5; e = sqrt((square[$2] / 5 - m^2) / 4); seen++
            if (n[$2] != 5 || $1 != 5 || ($5 / m - 1)^2 > 1e-24 || ($6 / e - 1)^2 > 1e-16 || ($7 - l[$2] / 5)^2 > 1e-24 * m^2) { print; bad++ }
            if (($12 / (theta / rows) - 1)^2 > 1e-24) bad++
        }
        END { exit bad || seen * 5 != rows }' each.tsv mean.tsv
    lat-start hot --dims 4,4,4 >>a.lat
    run -1 lat-gluon --force --mean a.lat
    [[ $output == *"one lattice and gauge, found another one at number 5"* ]]
    lat-gluon --force --tsv a.lat >each.tsv # without --mean lattices may differ
    [ "$(cut -f1 each.tsv | sort -u | wc -l)" -eq 7 ]
}

# close FILE FILE BOUND: the same rows of limit, momentum, members, T, S, D, D0, Gamma, g, numbers to BOUND of their size.
close() {
    awk -F'\t' -v bound="$3" '
        function abs(v) { return v < 0 ? -v : v }
        FNR == NR { for (i = 3; i <= 9; i++) w[$1, $2, i] = $i; n++; next }
        {
            seen++
            for (i = 3; i <= 9; i++) {
                want = w[$1, $2, i]
                if (want == "nan" || $i == "nan" ? want != $i : !(want != "" && abs($i - want) <= bound * abs(want))) { print $1, $2, i ": " $i ", expected " want; bad++ }
            }
        }
        END { exit bad || seen != n || n < 3 }' "$1" "$2"
}

# vertices OPTION...: those rows of lat-gluon --vertex.
vertices() { lat-gluon --force --vertex --tsv "$@" 2>/dev/null | tail -n +2 | cut -f 2,3,6-12; }

@test "three-gluon vertices are those of numpy, in the soft and the symmetric limit" {
    need_numpy
    local dims group most
    while read -r dims group most; do
        rough a.lat --dims "$dims" --group "$group"
        "$PYTHON" "$ROOT/tests/gluon_vertices.py" a.lat "$most" >want
        vertices --momenta "$most" a.lat >found
        # Sums over a few hundred sites, of terms of size 1e-3 that cancel to 1e-2 of them: 1e-9 is far above rounding.
        close want found 1e-9
        cut -f 1 found | sort -u | tr '\n' ' ' >limits
        [ "$(cat limits)" = "soft symmetric " ]
    done <<'END'
6,4,6,6 3 3
5,5,5,5 2 4
3,4,3,3 4 3
END
}

@test "links of an anisotropic lattice have components of two units: refused but in Coulomb gauge" {
    lat-heatbath --group 2 --dims 2,2,2,4 --beta 2 --xi 2 -o a.lat
    lat-orelax --gauge landau --theta 1e-12 a.lat -o l.lat
    lat-orelax --gauge coulomb --theta 1e-12 a.lat -o c.lat
    refuses 1 'lat-gluon: l.lat: expected links of an isotropic lattice, found anisotropy 2' lat-gluon l.lat
    run --separate-stderr lat-gluon --force l.lat
    [ "$status" -eq 0 ]
    # shellcheck disable=SC2154  # set by run
    [ "$stderr" = "lat-gluon: l.lat: links of anisotropy 2 are taken as isotropic (--force)" ]
    lat-gluon c.lat >found
    # But its slices must not have the axis of xi, wherever that is.
    lat-orelax --gauge coulomb --time x --theta 1e-12 a.lat -o across.lat
    refuses 1 'lat-gluon: across.lat: expected links of an isotropic lattice, found anisotropy 2' lat-gluon across.lat
    lat-reorder --axes t,y,z,x c.lat -o turned.lat
    lat-gluon turned.lat >found
    lat-reorder --axes t,y,z,x a.lat | lat-orelax --gauge coulomb --theta 1e-12 -o other.lat
    refuses 1 'lat-gluon: other.lat: expected links of an isotropic lattice' lat-gluon other.lat
    # A mean says across which axis.
    rough u.lat --dims 4,4,4,4
    lat-orelax --gauge coulomb --time x --theta 1e-10 u.lat -o x.lat
    lat-gluon --mean --tsv x.lat | tail -n 1 | grep -qP '\tcoulomb\.x\t'
}

@test "vertices do not change under the symmetries of the lattice and of charges, with threads; without colour there are none" {
    rough a.lat --dims 6,4,6,6
    vertices --momenta 6 a.lat >want
    lat-reorder --axes t,y,x,z --shift 1,2,0,3 --reflect xt a.lat >b.lat
    vertices --momenta 6 b.lat >found
    # T is a mean over momenta of terms up to some hundred times larger.
    close want found 1e-9
    lat-reorder --conjugate a.lat | vertices --momenta 6 >found
    close want found 1e-9
    lat-gluon --force --vertex --tsv -@ 1 a.lat 2>/dev/null >one
    lat-gluon --force --vertex --tsv -@ 3 a.lat 2>/dev/null | cmp - one
    # Links that commute.
    lat-start flux --n12 1 --n34 2 --dims 6,6,6,6 | lat-gluon --force --vertex --tsv 2>/dev/null |
        awk -F'\t' 'FNR > 1 && $7 != 0 { print; exit 1 } END { exit FNR < 5 }'
}

@test "vertices of an ensemble: the jackknife of T and propagators; text and JSON have the same numbers" {
    local i
    for i in 1 2 3 4; do rough $i.lat --dims 4,4,4,6 --seed $i; done
    cat 1.lat 2.lat 3.lat 4.lat >all.lat
    lat-gluon --force --vertex --momenta 2 --tsv all.lat 2>/dev/null >each.tsv
    lat-gluon --force --vertex --momenta 2 --tsv --mean 1.lat 2.lat 3.lat 4.lat 2>/dev/null >mean.tsv
    [ "$(field mean.tsv configs)" = 4 ]
    awk -F'\t' '
        function g(soft, phat2, t, d, z) { return phat2^1.5 * t / (soft ? z * sqrt(d) : d^1.5) }
        FNR == 1 { next }
        FNR == NR { k = $2 " " $3; t[k, $1] = $7; d[k, $1] = $9; z[k, $1] = $10; T[k] += $7; D[k] += $9; Z[k] += $10; next }
        {
            k = $2 " " $3; s = $2 == "soft"; a = v = 0
            want = g(s, $5, T[k] / 4, D[k] / 4, Z[k] / 4)
            for (i = 0; i < 4; i++) { x[i] = g(s, $5, (T[k] - t[k, i]) / 3, (D[k] - d[k, i]) / 3, (Z[k] - z[k, i]) / 3); a += x[i] / 4 }
            for (i = 0; i < 4; i++) v += (x[i] - a)^2 * 3 / 4
            if (!(($17 - want)^2 <= (1e-9 * want)^2 && (($18)^2 - v)^2 <= (1e-6 * v)^2)) { print $0, want, sqrt(v); bad++ }
            rows++
        }
        END { exit bad || rows < 4 }' each.tsv mean.tsv
    lat-gluon --force --vertex --momenta 2 1.lat 2>/dev/null >text
    lat-gluon --force --vertex --momenta 2 --json 1.lat 2>/dev/null >json
    [ "$(grep -c '^soft\|^symmetric' text)" -eq "$(grep -o '"limit"' json | wc -l)" ]
    grep -q "\"T\": $(field each.tsv T)," json
    need_numpy
    "$PYTHON" -c 'import json, sys; v = json.load(open("json"))["vertices"]; assert v[0]["S"] is None and v[0]["momentum"] == [0, 0, 0, 1], v'
    # What cannot be is refused.
    refuses 2 '--momenta is for --vertex' lat-gluon --momenta 3 1.lat
    refuses 2 '--average none is for the propagator' lat-gluon --vertex --average none 1.lat
    refuses 1 'expected momenta below the edge of the zone, within the cuts, with n^2 up to 2, found none' lat-gluon --require-theta 99 --vertex --momenta 2 --cylinder .1 1.lat -o never
    refuses 1 '--vertex: expected Landau gauge, found Coulomb gauge' lat-gluon --require-theta 99 --vertex --gauge coulomb 1.lat
    lat-start hot --dims 8,8 -o plane.lat
    refuses 1 'expected three dimensions at least, found 2' lat-gluon --require-theta 99 --vertex plane.lat
    lat-start hot --dims 4,4,4,6 --group 2 -o two.lat
    refuses 1 'two.lat: --mean: expected configurations of one group, found SU(3) and SU(2)' lat-gluon --require-theta 99 --vertex --mean 1.lat two.lat
    cat 1.lat two.lat | lat-gluon --require-theta 99 --vertex --tsv >found
    lat-gluon --require-theta 99 --vertex --tsv two.lat | tail -n +2 | cut -f 2- | cmp - <(awk -F'\t' '$1 == 1' found | cut -f 2-)
}

@test "text, columns and JSON agree, and threads change no digit" {
    rough a.lat --dims 4,4,4,6
    lat-orelax --gauge coulomb --theta 1e-10 a.lat -o f.lat
    lat-gluon --tsv -@ 1 f.lat >one.tsv
    lat-gluon --tsv -@ 3 f.lat >three.tsv
    cmp one.tsv three.tsv
    lat-gluon f.lat >text
    grep -q '^gauge          coulomb, theta ' text
    awk 'FNR == NR { split($0, c, "\t"); if (FNR > 1) d[c[2]] = c[5]; next }
        $1 in d { n++; if (($4 / d[$1] - 1)^2 > 1e-16) bad++ } END { exit bad || n != length(d) }' one.tsv text
    command -v python3 >/dev/null || skip "no python3 to read JSON with"
    lat-gluon --json f.lat >j
    python3 - <<'END'
import json
j = json.load(open("j"))
rows = [line.rstrip("\n").split("\t") for line in open("one.tsv")][1:]
assert list(j) == ["gauge", "theta", "forced", "link_trace", "field_squared", "dims", "group", "propagator"], list(j)
assert len(rows) == len(j["propagator"]) and j["dims"] == [4, 4, 4, 6] and j["group"] == "SU(3)"
for r, o in zip(rows, j["propagator"]):
    assert r[1] == ",".join(map(str, o["momentum"])) and float(r[4]) == o["D"] and int(r[7]) == o["members"]
    assert (r[5] == "nan") == (o["D_error"] is None)
END
}

# constant OUT.lat N X,Y,Z,T KIND: a constant transformation, diagonal phases (diagonal) or a permutation of the colours (weyl).
constant() {
    "$PYTHON" - "$@" <<'END'
import lat, numpy as np, sys
out, n, dims, kind = sys.argv[1], int(sys.argv[2]), [int(x) for x in sys.argv[3].split(",")], sys.argv[4]
phases = np.array([.7, -1.9, 1.2][:n])
g = np.diag(np.exp(1j * (phases - phases.mean()))) if kind == "diagonal" else np.roll(np.eye(n), 1, axis=0).astype(complex)
if kind == "weyl" and n == 2:
    g[0] *= -1
lat.write(out, lat.transformation(np.broadcast_to(g, (*dims[::-1], n, n)).copy()))
END
}

@test "maximally Abelian gauge: diagonal and off-diagonal gluons add up to all, and the residual gauge is asked for" {
    local n kind
    need_numpy
    for n in 3 2; do
        rough a.lat --dims 4,6,4,4 --group $n --seed 4
        lat-orelax --gauge mag --theta 1e-18 a.lat -o mag.lat
        refuses 3 'has Abelian links that are not in Landau gauge' lat-gluon mag.lat -o never
        lat-orelax --gauge mag --theta 1e-17 --residual mag.lat -o fixed.lat
        lat-gluon --tsv fixed.lat >mag.tsv
        # A constant diagonal rotation and a permutation of colours change neither gauge nor propagators.
        for kind in diagonal weyl; do
            constant g.lat $n 4,6,4,4 $kind
            lat-gauge --apply g.lat fixed.lat -o turned.lat
            lat-theta --gauge mag --residual --require-theta 1e-17 turned.lat >theta
            lat-gluon --gauge mag --tsv turned.lat >turned.tsv
            awk -F'\t' 'FNR == 1 { next } FNR == NR { d[$2, $16] = $5; l[$2, $16] = $7; next }
                { n++; if (!(($5 / d[$2, $16] - 1)^2 <= 1e-22 && ($7 - l[$2, $16])^2 <= 1e-22 * $5^2)) { print; bad++ } }
                END { exit bad || n < 40 }' mag.tsv turned.tsv
        done
        # The phases moved alone: functional and theta of maximally Abelian gauge stay.
        near "$(column fixed.lat functional)" "$(column mag.lat functional)" 1e-14
        lat-theta --residual --require-theta 1e-17 fixed.lat >theta
        lat-diff --invariant --tolerance 1e-12 mag.lat fixed.lat >said
        [ "$(field mag.tsv gauge)" = mag ]
        # (N - 1) diagonal + (N^2 - N) off-diagonal = (N^2 - 1) all, of D and of longitudinal.
        lat-gluon --force --gauge landau --tsv fixed.lat 2>/dev/null >all.tsv
        awk -F'\t' -v N=$n '
            FNR == 1 { next }
            FNR == NR { w = $16 == "diagonal" ? N - 1 : N * N - N; d[$2] += w * $5; l[$2] += w * $7; seen[$16]++; next }
            { n++; if (!((d[$2] / ((N * N - 1) * $5) - 1)^2 <= 1e-24 && (l[$2] - (N * N - 1) * $7)^2 <= 1e-24 * $5^2)) { print; bad++ } }
            END { exit bad || n < 20 || seen["diagonal"] != n || seen["off-diagonal"] != n }' mag.tsv all.tsv
        # Abelian links: nothing is off-diagonal, and the diagonal field is transverse.
        lat-abelian --links abelian.lat fixed.lat >said
        lat-gluon --gauge mag --tsv abelian.lat >abelian.tsv
        lat-gluon --gauge landau --tsv abelian.lat >landau.tsv
        awk -F'\t' -v N=$n '
            FNR == 1 { next }
            FNR == NR && $16 == "off-diagonal" { if ($5 != 0 || $7 != 0) { print; bad++ }; next }
            FNR == NR { d[$2] = $5; if ($7 > 1e-10) { print; bad++ }; next }
            { n++; if (!(($5 * (N * N - 1) / ((N - 1) * d[$2]) - 1)^2 <= 1e-24)) { print; bad++ } }
            END { exit bad || n < 20 }' abelian.tsv landau.tsv
        nothing_left
    done
    # Of several configurations two tables of means; JSON; a header that says more than is true, and one gauge beside another.
    cat fixed.lat fixed.lat | lat-gluon --mean --tsv >mean.tsv
    [ "$(cut -f 1,16 mean.tsv | sort | uniq -c | awk '{ print $1, $2, $3 }' | tr '\n' ' ')" = "$(($(tail -n +2 all.tsv | wc -l))) 2 diagonal $(($(tail -n +2 all.tsv | wc -l))) 2 off-diagonal 1 configs colours " ]
    awk -F'\t' 'FNR == NR { d[$2, $16] = $5; next } FNR > 1 && !(($5 / d[$2, $16] - 1)^2 <= 1e-28) { exit 1 }' mag.tsv mean.tsv
    lat-gluon --json fixed.lat | grep -c '"colours": "\(off-\)\?diagonal"' >count
    [ "$(cat count)" = 2 ]
    lat-orelax --theta 1e-10 fixed.lat -o landau.lat
    run -1 lat-gluon fixed.lat landau.lat
    [[ $output == *"landau.lat: expected configurations that are all in maximally Abelian gauge, or none"* ]]
    lat-gauge --random --save-g g.lat fixed.lat >random.lat
    lat-gauge --apply g.lat fixed.lat | lat-info | grep -q '^gauge *none'
    refuses 3 'not in gauge mag: theta' lat-gluon --gauge mag random.lat
}

@test "what is in another gauge, or no gauge field, is refused" {
    rough a.lat --dims 4,4,4,4
    lat-orelax --gauge mag --theta 1e-8 a.lat -o mag.lat
    run -3 lat-gluon mag.lat -o never
    [[ $output == *"has Abelian links that are not in Landau gauge: theta "*", expected at most 1e-08"* ]]
    run -1 lat-gluon --vertex mag.lat
    [[ $output == *"expected Landau gauge, found maximally Abelian gauge"* ]]
    # theta of the links decides, whatever the header says.
    run -3 lat-gluon --gauge landau mag.lat -o never
    [[ $output == *"not in gauge landau: theta "*", expected at most 1e-08, header: mag"* ]]
    [ ! -e never ]
    run -3 lat-gluon --tsv a.lat
    [ "${#lines[@]}" -eq 1 ]
    lat-orelax --theta 1e-5 --omega 1 --check-every 1 a.lat -o near.lat
    run -3 lat-gluon near.lat
    lat-gluon --require-theta 1e-5 --tsv near.lat >near.tsv
    [ "$(field near.tsv forced)" = 0 ]
    # A stream stops at the first one that is not fixed; one slice of Coulomb gauge is enough.
    lat-orelax --gauge coulomb --theta 1e-10 a.lat -o coulomb.lat
    lat-gluon coulomb.lat >text
    run -1 grep -q force text
    lat-gauge --random --seed 4 coulomb.lat | cat coulomb.lat - >two.lat
    run -3 lat-gluon --gauge coulomb two.lat
    [[ $output == *"configuration 1 is not in gauge coulomb: theta "*" of a slice"* ]]
    run -0 --separate-stderr lat-gluon --force --gauge landau mag.lat
    [[ $stderr == *"is measured although it is not in gauge landau"* ]]
    [[ $output == *"which is not in it (--force)"* ]]
    lat-gluon --force --tsv --mean --gauge coulomb two.lat >mean.tsv 2>/dev/null
    [ "$(field mean.tsv forced)" = 1 ]
    lat-gluon --force --json a.lat 2>/dev/null | grep -q '"forced": true'
    lat-orelax --weights 1,1,1,0.5 --theta 1e-8 a.lat -o weighted.lat
    run -1 lat-gluon weighted.lat
    [[ $output == "lat-gluon: "*": expected Landau gauge with equal weights"* ]]
    lat-gauge --random --save-g g.lat a.lat >/dev/null
    run -1 lat-gluon g.lat
    [[ $output == *"gauge transformation"* ]]
    run -2 lat-gluon --tsv --json a.lat
    run -2 lat-gluon --time t a.lat
    run -2 lat-gluon --require-theta -1 a.lat
    run -2 lat-gluon --cone 200 a.lat
}
