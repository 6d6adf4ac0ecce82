#!/usr/bin/env bats
# Purpose: the three-gluon vertex of weak fields is that of perturbation theory: its sign, its size, both limits.
load ../helper

@test "at beta = 40 the amputated three-gluon vertex is 1/g0^2" {
    [ -e "${LAT_BIN:-$ROOT/bin}/lat-gluon" ] || skip "lat-gluon was not built: no FFTW"
    lat-heatbath --dims 6,6,6,6 --beta 40 --thermalise 100 --seed 5 --count 60 --every 10 |
        lat-orelax --theta 1e-14 | lat-gluon --vertex --momenta 6 --mean --tsv >mean.tsv
    # g0^2 = 6/40. Corrections are of the order of g0^2; four sigma. Momenta below n^2 = 3 feel the zero modes of a small lattice.
    awk -F'\t' '
        NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        {
            value = .15 * $c["Gamma"]; error = .15 * $c["Gamma_error"]; print $c["limit"], $c["momentum"], value, error
            split($c["momentum"], n, ",")
            if (n[1]^2 + n[2]^2 + n[3]^2 + n[4]^2 < 3 && $c["limit"] == "soft") next
            if (!((value - 1)^2 <= (4 * error + .15)^2)) bad++
            weight += 1 / error^2; sum += value / error^2; rows++
        }
        END {
            # Without the vertex the mean would be 0, of the other sign -1.
            print sum / weight, 1 / sqrt(weight)
            exit bad || rows < 6 || !(1 / sqrt(weight) < .05 && (sum / weight - 1)^2 <= .15^2)
        }' mean.tsv
}
