#!/usr/bin/env bats
# Purpose: lat-abelian projects links to the Abelian subgroup and counts monopoles; both against exact values and a second program.
# shellcheck disable=SC2154  # status, output and stderr are set by run
load helper

# number NAME < JSON
number() {
    sed -n "s/.*\"$1\": \([^],}]*\).*/\1/p"
}

# conserved FILE DIMS: in a table of --currents what flows out of a site flows into it, of every colour and configuration, and the
# colours add up to nothing.
conserved() {
    awk -F'\t' -v dims="$2" '
        BEGIN { split(dims, L, ",") }
        FNR == 1 { next }
        {
            split($3, x, ","); mu = index("xyzt", $4); n++
            out[$1, $2, x[1], x[2], x[3], x[4]] -= $5
            x[mu] = (x[mu] + L[mu] - 1) % L[mu] # k_mu(y + mu) belongs to y
            out[$1, $2, x[1], x[2], x[3], x[4]] += $5
            all[$1, $3, $4] += $5
        }
        END { for (i in out) if (out[i]) bad++; for (i in all) if (all[i]) bad++; exit bad || n < 20 }' "$1"
}

@test "the angle of one plaquette beyond pi is a loop of monopole current around it" {
    command -v python3 >/dev/null || skip "no python3 to make it with"
    # Four links of 0.3 pi around a plaquette in the plane xy at 1,2,0,3: 1.2 pi, where all others are at most 0.6 pi.
    python3 - <<'END' >a.raw
import cmath, math, struct, sys
turned = {(1, 2, 0, 3, 0): 1, (2, 2, 0, 3, 1): 1, (1, 3, 0, 3, 0): -1, (1, 2, 0, 3, 1): -1}
for t in range(6):
    for z in range(4):
        for y in range(4):
            for x in range(4):
                for mu in range(4):
                    e = cmath.exp(0.3j * math.pi * turned.get((x, y, z, t, mu), 0))
                    sys.stdout.buffer.write(struct.pack("<8d", e.real, e.imag, 0, 0, 0, 0, e.real, -e.imag))
END
    lat-convert --from raw --dims 4,4,4,6 --group 2 a.raw | lat-abelian --force --currents k.tsv --json >j
    printf '0\t%s\n' $'1\t1,2,0,2\tz\t-1' $'2\t1,2,0,2\tz\t1' $'1\t1,2,0,3\tt\t-1' $'2\t1,2,0,3\tt\t1' \
        $'1\t1,2,0,3\tz\t1' $'2\t1,2,0,3\tz\t-1' $'1\t1,2,3,3\tt\t1' $'2\t1,2,3,3\tt\t-1' >want
    tail -n +2 k.tsv | cmp - want
    near "$(number monopoles <j)" "$(awk 'BEGIN { print 4 / 384 / 4 }')" 1e-8
    near "$(number overlap <j)" 1 1e-15
}

@test "currents are the flux of angles out of cubes, conserved, and add up to 0" {
    command -v python3 >/dev/null || skip "no python3"
    local group
    for group in 2 3 4; do
        lat-start hot --dims 4,3,5,4 --group $group --seed $group | lat-abelian --force --currents k.tsv --json --links u.lat >j
        lat-convert --to raw u.lat -o u.raw
        python3 "$ROOT/tests/monopoles.py" 4,3,5,4 $group u.raw >want
        cmp k.tsv want
        conserved k.tsv 4,3,5,4
        [ "$(number not_conserved <j)" = 0 ]
        # The densities are those of the table.
        awk -F'\t' -v n=$group -v all="$(number monopoles <j)" -v time="$(number monopoles_temporal <j)" '
            function off(a, b) { return (a - b)^2 > 1e-24 }
            FNR > 1 { k = $5 < 0 ? -$5 : $5; sum += k; if ($4 == "t") t += k }
            END { exit off(sum / (960 * n), all) || off(t / (240 * n), time) }' k.tsv
    done
}

@test "independent random phases have 7/15 of a monopole a link" {
    # Haar random links have such phases in every direction; of the six faces of a cube five are then independent and uniform, and k is
    # their sum in units of 2 pi, rounded: 1 with probability 26/120, 2 with 1/120, and as often -1, -2. E |k| = 7/15, E k^2 = 1/2.
    lat-start hot --dims 12,12,12,12 --group 2 --seed 9 | lat-abelian --force --json >j
    # 4 sigma, of which neighbouring cubes leave at most sqrt(13) of what it would be alone: each shares faces with 12 others.
    near "$(number monopoles <j)" 0.4666666667 "$(awk 'BEGIN { print 4 * sqrt(13 * (1/2 - 49/225) / 82944) }')"
    near "$(number monopoles_temporal <j)" 0.4666666667 "$(awk 'BEGIN { print 4 * sqrt(13 * (1/2 - 49/225) / 20736) }')"
    # |U_ii|^2 is 1/2 on average, uniform; the plaquette of random phases is 0.
    near "$(number off_diagonal <j)" 0.5 "$(awk 'BEGIN { print 4 / sqrt(12 * 82944) }')"
    near "$(number abelian_plaquette <j)" 0 "$(awk 'BEGIN { print 4 / sqrt(2 * 6 * 20736) }')"
}

@test "another program counts as many monopoles in each direction" {
    # By Di_Fjk and DeGrand_current of github.com/claudio-bonati/yang-mills (lib/gauge_conf_meas.c of c0d25aa), from the phases of these links.
    lat-start hot --dims 6,8,10,12 --group 2 --seed 3 | lat-abelian --force --currents k.tsv >said
    awk -F'\t' '$2 == 1 { n[$4] += $5 < 0 ? -$5 : $5 } END { print n["x"], n["y"], n["z"], n["t"] }' k.tsv >counted
    [ "$(cat counted)" = "2742 2696 2738 2650" ]
}

@test "after maximally Abelian gauge links are nearly diagonal, with few monopoles" {
    local group beta
    for group in 2 3; do
        beta=$((group == 2 ? 24 : 57))
        lat-heatbath --group $group --dims 6,6,6,6 --beta "$(awk -v b=$beta 'BEGIN { print b / 10 }')" --thermalise 60 --seed 4 \
            --precision double -o a.lat
        lat-orelax --gauge mag --theta 1e-12 a.lat -o mag.lat
        lat-abelian --currents k.tsv --links u.lat --json mag.lat >j
        conserved k.tsv 6,6,6,6
        near "$(number functional <j)" "$(column mag.lat functional --gauge mag)" 1e-15
        near "$(number theta <j)" "$(column mag.lat theta --gauge mag)" 1e-20
        # Rows are unit vectors.
        near "$(number off_diagonal <j)" "$(awk -v f="$(number functional <j)" 'BEGIN { print 1 - f }')" 1e-6
        lat-abelian --force --json a.lat >raw
        awk -v mag="$(number monopoles <j)" -v raw="$(number monopoles <raw)" 'BEGIN { exit !(mag > 0 && mag < raw / 4) }'
        # The projection of a projection is itself, and its plaquette that of lat-plaq.
        lat-abelian --json u.lat >again
        for name in monopoles monopoles_spatial abelian_plaquette; do near "$(number $name <j)" "$(number $name <again)" 1e-14; done
        [ "$(number off_diagonal <again)" = 0 ]
        near "$(number overlap <again)" 1 1e-14
        near "$(lat-plaq --json u.lat | number plaquette)" "$(number abelian_plaquette <j)" 1e-14
        lat-theta --tsv u.lat | awk -F'\t' 'NR == 2 { exit !($9 < 1e-14 && $10 < 1e-14) }' # in SU(N)
        # No symmetry of the lattice changes how many there are.
        lat-reorder --shift 1,2,3,4 --reflect x,z --axes t,z,x,y --conjugate mag.lat | lat-abelian --json >other
        near "$(number monopoles <j)" "$(number monopoles <other)" 1e-15
    done
}

@test "text, columns and JSON agree; streams, threads, three dimensions and fewer" {
    lat-start hot --dims 4,5,3 --group 3 --count 2 -o a.lat
    lat-abelian --force --tsv -@ 1 a.lat >one.tsv
    lat-abelian --force --tsv -@ 3 --currents k.tsv a.lat >three.tsv
    cmp one.tsv three.tsv
    [ "$(wc -l <one.tsv)" -eq 3 ]
    [ "$(cut -f1 k.tsv | sort -u | tr '\n' ' ')" = "0 1 config " ]
    # The charges of a torus add up to 0, of every colour.
    awk -F'\t' 'FNR > 1 { n++; sum[$1, $2] += $5; if ($4 != "-") bad++ } END { for (i in sum) if (sum[i]) bad++; exit bad || n < 20 }' k.tsv
    lat-abelian --force --json a.lat >j
    [ "$(wc -l <j)" -eq 2 ]
    near "$(tail -n 1 j | number monopoles)" "$(tail -n 1 one.tsv | cut -f8)" 0
    lat-abelian --force a.lat >text
    near "$(awk '$1 == "monopoles" { print $2 }' text | tail -n 1)" "$(tail -n 1 one.tsv | cut -f8)" 1e-14
    for dims in 4,6 7; do
        lat-start hot --dims $dims | lat-abelian --force --tsv --currents k.tsv >b.tsv
        [ "$(sed -n 2p b.tsv | cut -f8)" = nan ]
        [ "$(wc -l <k.tsv)" -eq 1 ]
    done
}

@test "another gauge, a transformation, two outputs to one file are refused" {
    lat-start hot --dims 4,4,4,4 -o a.lat
    lat-orelax --gauge landau --theta 1e-3 a.lat -o landau.lat
    run -3 lat-abelian --links u.lat --currents k.tsv landau.lat -o said
    [[ $output == *"not in gauge mag: theta "*", expected at most 1e-08, header: landau"* ]]
    [ ! -e u.lat ]
    [ ! -e k.tsv ]
    [ ! -e said ]
    run -0 --separate-stderr lat-abelian --force --links u.lat landau.lat
    [[ $stderr == *"is measured although it is not in gauge mag"* ]]
    [[ $output == *"not maximally Abelian (--force)"* ]]
    lat-info u.lat | grep -q 'not in maximally Abelian gauge (--force)'
    lat-abelian --force --tsv landau.lat 2>/dev/null >forced.tsv
    [ "$(field forced.tsv forced)" = 1 ]
    lat-abelian --force --json landau.lat 2>/dev/null | grep -q '"forced": true'
    lat-orelax --gauge mag --theta 1e-5 --omega 1 --check-every 1 a.lat -o near.lat
    run -3 lat-abelian near.lat
    lat-abelian --require-theta 1e-5 --tsv near.lat >near.tsv
    [ "$(field near.tsv forced)" = 0 ]
    rm u.lat
    lat-gauge --random --save-g g.lat a.lat >/dev/null
    run -1 lat-abelian g.lat
    [[ $output == *"gauge transformation"* ]]
    run -2 lat-abelian --tsv --json a.lat
    run -2 lat-abelian --links a.lat a.lat
    run -2 lat-abelian --links - a.lat
    refuses 2 '--currents needs the name of a file: stdout is for the measurement' lat-abelian --force --currents - a.lat
    lat-abelian --force --currents - -o text a.lat | head -n 1 | grep -q '^config	colour'
    lat-abelian --force --links - -o text a.lat | lat-info >said
    grep -q 'lat-abelian' said
    run -2 lat-abelian --links u.lat --currents u.lat a.lat
    [ ! -e u.lat ]
    head -c 50000 a.lat >cut.lat
    run -1 lat-abelian --links u.lat --currents k.tsv cut.lat
    [ ! -e u.lat ]
    [ ! -e k.tsv ]
}
