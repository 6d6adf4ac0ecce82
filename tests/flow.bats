#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2030,SC2031  # output and stderr are set by run; each test is a shell of its own
# Purpose: lat-flow: numbers of other programs, the same on any ranks, threads and lanes, links along the flow, bad input.
load helper

# value TABLE T COLUMN: that column where t is T
value() {
    awk -F'\t' -v at="$2" -v name="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) { if ($i == name) c = i; if ($i == "t") t = i } next }
        $t == at { print $c; found = 1 }
        END { exit !(c && found) }' "$1"
}

# digits A B [ERROR]: A is B to half a unit of the last digit of B; and to an ERROR, that of the other program
digits() {
    awk -v a="$1" -v b="$2" -v error="${3:-0}" 'BEGIN {
        s = b; sub(/^-/, "", s)
        e = 0; if (match(s, /e.*/)) { e = substr(s, RSTART + 1) + 0; s = substr(s, 1, RSTART - 1) }
        unit = 10 ^ (e - (match(s, /[.]/) ? length(s) - RSTART : 0))
        d = a - b; if (d < 0) d = -d
        exit !(d <= unit / 2 + error) }' || { echo "$1 is not $2 to its digits"; return 1; }
}

@test "MILC's Wilson flow of fixed steps, to its printed digits" {
    local t e_t e_s q
    need_data milc_lat.sample.l4448.gf
    lat-flow --tsv --step .1 --until .9 "$DATA/milc_lat.sample.l4448.gf" > flow
    while read -r t e_t e_s q; do
        # MILC computed in single precision, 6e-8: densities of order 1, a charge of 128 sites of order .01 of either sign.
        digits "$(value flow "$t" E_t)" "$e_t" 2e-7
        digits "$(value flow "$t" E_s)" "$e_s" 2e-7
        digits "$(value flow "$t" Q)" "$q" 7e-9
    done <<'EOF'
0 1.05787 1.03094 0.0955429
0.1 .790042 .76505 .0389772
0.2 .506125 .481396 .0166373
0.5 .152452 .125636 .00570391
0.9 .0585831 .0404036 .000886915
EOF
}

@test "openQCD's Wilson flow, densities to seven digits; its charge has the other sign (it counts t first)" {
    local t w y q
    need_data oqcd_hirep_pb_L8T8
    lat-flow --tsv --until .2 --tolerance 1e-7 "$DATA/oqcd_hirep_pb_L8T8" > flow
    while read -r t w y q; do
        digits "$(awk -v e="$(value flow "$t" E_plaquette)" 'BEGIN { printf "%.17g", 4096 * e }')" "$w"
        digits "$(awk -v e="$(value flow "$t" E_clover)" 'BEGIN { printf "%.17g", 4096 * e }')" "$y"
        digits "$(awk -v q="$(value flow "$t" Q)" 'BEGIN { printf "%.17g", -q }')" "$q"
    done <<'EOF'
0 1.472098e+05 8.273978e+03 -.137
0.2 9.293370e+04 1.122513e+04 .421
EOF
}

@test "at t = 0 densities and charge are those of lat-plaq" {
    rough u.lat --dims 4,6,4,2
    lat-flow --tsv --until .1 u.lat > flow
    lat-plaq --tsv u.lat > plaq
    near "$(value flow 0 E_plaquette)" "$(field plaq action_density)" 1e-13
    near "$(value flow 0 E_clover)" "$(field plaq action_density_clover)" 1e-13
    near "$(value flow 0 Q)" "$(field plaq charge)" 1e-13
    near "$(value flow 0.1 t2E)" "$(awk -v e="$(value flow 0.1 E_clover)" 'BEGIN { print .01 * e }')" 1e-7
}

@test "the same numbers and links on one rank and on several, and with other numbers of threads" {
    local dims action n
    need_mpi
    for action in wilson symanzik; do
        for dims in 4,4,4,8 3,6,2,7; do
            rough u.lat --dims $dims
            LAT_LANES=avx2 lat-flow -@ 1 --tsv --action $action --until .2 --links a.lat --write .1,.2 u.lat > a
            for n in 2 3; do
                LAT_LANES=avx2 lat-flow -n $n -@ 2 --tsv --action $action --until .2 --links b.lat --write .1,.2 u.lat > b
                cmp a b
                cmp <(lat-convert --no-provenance a.lat) <(lat-convert --no-provenance b.lat)
            done
        done
    done
}

@test "the same numbers and links with vectors of other lengths, where products are fused alike" {
    grep -q avx512f /proc/cpuinfo || skip "no AVX-512 here"
    rough u.lat --dims 4,4,8,8
    rough v.lat --dims 3,4,5,2 --group "$(groups 2 4 | tail -n 1)"
    for f in u.lat v.lat; do
        LAT_LANES=avx2 lat-flow --tsv --action symanzik --until .2 --links a.lat $f > a
        LAT_LANES=avx512 lat-flow --tsv --action symanzik --until .2 --links b.lat $f > b
        LAT_LANES=base lat-flow --tsv --action symanzik --until .2 --links c.lat $f > c
        cmp a b
        lat-diff --tolerance 0 a.lat b.lat > /dev/null
        # Without fused products: rounding.
        near "$(value a 0.2 E_clover)" "$(value c 0.2 E_clover)" 1e-12
    done
}

@test "links are written at the end or at given times, with time, action and history, and the flow goes on from them" {
    rough u.lat --dims 4,4,4,4
    lat-flow --tsv --until .4 --every .1 --links all.lat --write .1,.2,.4 u.lat > all
    lat-flow --tsv --until .4 --every .1 --links end.lat u.lat > end
    cmp all end
    # Other times change the steps.
    lat-flow --tsv --until .4 --every .1 --links other.lat --write .15 u.lat > other
    near "$(value other 0.4 E_clover)" "$(value end 0.4 E_clover)" 1e-5
    lat-info other.lat | grep -q 'flow_time.*0.15'
    [ "$(lat-info all.lat | grep -c flow_time)" -eq 3 ]
    [ "$(lat-info end.lat | grep -c 'flow_time.*0.4')" -eq 1 ]
    lat-info end.lat | grep -q 'lat-flow.*flow time 0.4 in .* steps, cpu'
    lat-info --check all.lat > /dev/null
    # From .2 on: steps differ, within the tolerance.
    lat-flow --until .2 --links half.lat u.lat > /dev/null
    lat-flow --tsv --until .4 --every .1 --links rest.lat half.lat > rest
    [ "$(wc -l < rest)" -eq 4 ]
    near "$(value rest 0.4 E_clover)" "$(value end 0.4 E_clover)" 1e-5
    near "$(value rest 0.2 E_clover)" "$(value end 0.2 E_clover)" 1e-5
    lat-plaq --tsv rest.lat > plaq
    near "$(value rest 0.4 E_clover)" "$(field plaq action_density_clover)" 1e-12
}

@test "the flow of links that have flowed beyond L^2/32 wants --until; of others it begins at 0" {
    rough u.lat --dims 4,4,4,4
    lat-flow --until .6 --links far.lat u.lat >table
    for how in --tsv --json ""; do
        # shellcheck disable=SC2086
        refuses 1 'expected --until, because the links have flowed to 0.6, beyond L^2/32 = 0.5' lat-flow $how far.lat
    done
    lat-flow --tsv --until .6 far.lat | awk -F'\t' 'NR == 2 && $2 == .6 { good = 1 } END { exit NR != 2 || !good }'
    lat-smear stout:.1,1 far.lat -o s.lat
    lat-orelax --gauge mag --theta 1e-12 far.lat | lat-abelian --links a.lat >table
    lat-heatbath --beta 6 --seed 1 s.lat -o h.lat
    for f in s a h; do [ "$(lat-info $f.lat | grep -cE 'flow_(time|action) =')" -eq 0 ]; done
    lat-info s.lat | grep -q 'smearing = stout:.1,1'
    [ "$(lat-info h.lat | grep -c 'smearing =')" -eq 0 ]
}

@test "links that have flowed are refused by another action" {
    rough u.lat --dims 4,4,4,4
    lat-flow --until .1 --links v.lat u.lat > /dev/null
    run -1 --separate-stderr lat-flow --action symanzik --until .2 v.lat
    [[ $stderr == "lat-flow: v.lat: expected links that have flowed by action symanzik or not at all, found wilson, time 0.1"* ]]
    run -0 --separate-stderr lat-flow --tsv --action symanzik --until .1 --force v.lat
    [[ $stderr == *"begun at 0 (--force)"* ]]
    run -1 --separate-stderr lat-flow --until .05 v.lat
    [[ $stderr == *"expected --until at least the flow time 0.1"* ]]
}

@test "t0 and w0: from a table whose crossing is known, and no later rows change them" {
    LAT_LANES=base lat-heatbath --dims 8,8,8,8 --beta 5.7 --thermalise 30 --seed 5 -o u.lat
    lat-flow --tsv --until 4 u.lat > flow
    lat-flow --tsv --scales u.lat > scales
    lat-flow --tsv --scales --until 4 u.lat > later
    local t0 w0 before
    t0=$(field later t0_clover)
    [ "$t0" != nan ]
    # t0 lies between the rows around .3, and by a line between them to the square of their distance.
    before=$(awk -F'\t' '$5 >= .3 && NR > 2 { print t + .1 * (.3 - e) / ($5 - e); exit } { t = $2; e = $5 }' flow)
    near "$t0" "$before" .002
    w0=$(awk -F'\t' 'NR > 2 { w = ($2 - .05) * ($5 - e) / .1; if (w >= .3) { print sqrt(t + .1 * (.3 - v) / (w - v)); exit } v = w; t = $2 - .05 } { e = $5 }' flow)
    near "$(field later w0_clover)" "$w0" .002
    if [ "$(field scales t0_clover)" != nan ]; then cmp scales later; fi
}

@test "t0 and w0 of an ensemble: of one configuration as lat-flow has them, of two with the jackknife error" {
    LAT_LANES=base lat-heatbath --dims 4,4,4,4 --beta 5.5 --thermalise 20 --count 2 --seed 5 -o u.lat
    lat-flow --tsv --until 3 u.lat > two
    lat-flow --tsv --scales --until 3 u.lat > scales
    awk -F'\t' '$1 != 1' two > one
    lat-stat --scales one > found 2> said
    near "$(field found value 1)" "$(field scales t0_clover)" 1e-9
    near "$(field found value 2)" "$(field scales w0_clover)" 1e-9
    lat-stat --scales --density E_plaquette one > found
    near "$(field found value 1)" "$(field scales t0_plaquette)" 1e-9
    # Without one of two there is the other: half of their difference.
    lat-stat --scales two > found
    [ "$(field found configurations 1)" -eq 2 ]
    near "$(field found error 1)" "$(awk -v a="$(field scales t0_clover 1)" -v b="$(field scales t0_clover 2)" \
        'BEGIN { d = (a - b) / 2; printf "%.15g", (d < 0 ? -d : d) }')" 1e-9
    [ ! -s said ]
    # Times that end too early.
    lat-flow --tsv --until .4 u.lat > short
    run -0 --separate-stderr lat-stat --scales short
    [[ $stderr == *"lat-stat: warning: t0 is not known: t^2 E, or t d/dt of it, does not pass 0.3 between the first and the last of these times in all samples (lat-flow --until)"* ]]
    run -1 --separate-stderr lat-stat --scales scales
    [[ $stderr == "lat-stat: scales: a table of lat-flow --scales: t0 and w0 are of the mean over configurations: give rows of all times"* ]]
    # Two actions have two t0.
    lat-flow --tsv --until 3 --action symanzik u.lat > other
    run -1 --separate-stderr lat-stat --scales other two
    [ "$stderr" = "lat-stat: two: row 2: expected action symanzik as before, found wilson" ]
    [ -z "$output" ]
}

@test "several configurations and files: columns, text and JSON" {
    rough u.lat --dims 2,2,4,4
    cat u.lat u.lat > two.lat
    lat-flow --tsv --until .1 two.lat > two
    [ "$(cut -f1 two | tr '\n' ' ')" = "config 0 0 1 1 " ]
    [ "$(head -n 1 two)" = $'config\tt\tE_plaquette\tE_clover\tt2E\tQ\tE_t\tE_s\taction\tdims\tgroup\tensemble' ]
    lat-flow --tsv --until .1 u.lat two.lat > three
    [ "$(cut -f13 three | sort -u | tr '\n' ' ')" = "file two.lat u.lat " ]
    lat-flow --json --until .1 two.lat | python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert [r["config"] for r in rows] == [0, 1] and len(rows[1]["flow"]) == 2 and rows[0]["flow"][1]["t"] == 0.1'
    lat-flow --until .1 two.lat | grep -q '^configuration *1$'
    lat-flow --until .1 --links links.lat u.lat two.lat > /dev/null
    [ "$(lat-info links.lat | grep -c flow_time)" -eq 3 ]
}

@test "two and three dimensions, SU(2) and larger groups, links in single" {
    rough u.lat --dims 6,5
    lat-flow --tsv --until .1 u.lat > flow
    [ "$(value flow 0.1 Q)" = nan ]
    rough u.lat --dims 4,3,5 --group 2
    lat-flow --tsv --until .1 u.lat > /dev/null
    need_group 8
    rough u.lat --dims 2,2,2,2 --group 8 --precision single
    lat-flow --tsv --until .1 u.lat > flow
}

@test "slices of periodic links, and the flow of anisotropic ones" {
    rough u.lat --dims 4,3,4,5
    lat-flow --tsv --until .1 u.lat > all
    lat-flow --tsv --until .1 --by-slice u.lat > slices
    [ "$(head -n 1 slices)" = $'config\tt\tslice\tE_plaquette\tE_clover\tt2E\tQ\tE_t\tE_s\tW\taction\tdims\tgroup\tensemble' ]
    local column
    for column in 4:E_plaquette 5:E_clover 8:E_t 9:E_s; do
        near "$(awk -F'\t' -v c="${column%:*}" '$2 == 0.1 { e += $c } END { printf "%.17g", e / 5 }' slices)" "$(value all 0.1 "${column#*:}")" 1e-12
    done
    near "$(awk -F'\t' '$2 == 0.1 { q += $7 } END { printf "%.17g", q }' slices)" "$(value all 0.1 Q)" 1e-12
    lat-flow --until .1 --by-slice u.lat | grep -Eq '^ *t +slice .* W$'
    lat-flow --json --until .1 --by-slice --slices 1,3 u.lat | python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["slices"] == [1, 3] and [(r["t"], r["slice"]) for r in report["flow"]] == [(t, s) for t in (0, 0.1) for s in (1, 2, 3)]'
    # xi = a_s / a_t: E is in units of a_s.
    lat-flow --tsv --until .1 --xi 2 --links xi.lat u.lat > xi
    near "$(value xi 0 E_t)" "$(awk -v e="$(value all 0 E_t)" 'BEGIN { printf "%.17g", 4 * e }')" 1e-12
    near "$(value xi 0 E_s)" "$(value all 0 E_s)" 0
    near "$(value xi 0 Q)" "$(value all 0 Q)" 0
    [ "$(field xi action)" = wilson,xi=2 ]
    lat-flow --tsv --until .2 --every .1 --xi 2 xi.lat > on
    [ "$(field on t 1)" = 0.1 ]
    refuses 1 "xi.lat: expected links that have flowed by action wilson or not at all, found wilson,xi=2, time 0.1" lat-flow xi.lat
    lat-flow --tsv --until .1 --xi 1 u.lat | cmp - all
    lat-heatbath --dims 4,4,4,4 --beta 5.7 --xi 2 --thermalise 1 -o xi.lat
    lat-flow --until .1 --xi 1.8 xi.lat > /dev/null
    refuses 2 "--xi: expected --action wilson, found symanzik" lat-flow --xi 2 --action symanzik u.lat
    refuses 2 "--scales and --by-slice exclude each other" lat-flow --scales --by-slice u.lat
    # A step that is stable at xi = 1 is not at 3.
    refuses 1 "expected at most 0.05208, up to which steps of wilson,xi=3 are stable, found 0.1" lat-flow --xi 3 --step .1 --until 1 u.lat
}

@test "bad input: one sentence, no output" {
    rough u.lat --dims 4,4,4,4
    lat-start hot --dims 8 -o line.lat
    lat-start hot --dims 2,2 --group 9 -o nine.lat
    lat-gauge --random --save-g g.lat u.lat -o rotated.lat
    local words code expected
    while IFS='|' read -r code words expected; do
        # shellcheck disable=SC2086 # words
        run -"$code" --separate-stderr lat-flow --tsv -o table --links out.lat $words
        [[ $stderr == "lat-flow: "*"$expected"* ]] || { echo "$words: $stderr"; return 1; }
        [ ! -e table ]
        [ ! -e out.lat ]
        nothing_left
    done <<'EOF'
1|line.lat|line.lat: lattice 8: a flow needs two directions at least
1|nine.lat|SU(9): the flow is for SU(2) to SU(8)
1|g.lat|expected a gauge field
1|missing.lat|missing.lat
2|--step .1 --tolerance 1e-5 u.lat|exclude each other
1|--step .5 --until 1 u.lat|expected at most 0.1562, up to which steps of wilson are stable, found 0.5
2|--step .1 --until .25 u.lat|expected a multiple of the step 0.1, found 0.25
2|--step .1 --every .25 u.lat|expected a multiple of the step 0.1, found 0.25
2|--every .1 --until .25 u.lat|expected a multiple of --every 0.1, found 0.25
1|--every .6 u.lat|u.lat: expected --every of at most 0.5, because the flow ends at L^2/32 = 0.5 without --until, found 0.6
2|--write .2,.1 u.lat|expected rising times
2|--write .2 --until .1 u.lat|expected times up to --until 0.1, found 0.2
2|--write 0.1x u.lat|expected rising times
EOF
    run -2 --separate-stderr lat-flow --write .1 u.lat
    [[ $stderr == *"--write is for --links"* ]]
    run -2 --separate-stderr lat-flow --links u.lat u.lat
    # Anisotropic links.
    lat-heatbath --dims 4,4,4,4 --beta 5.7 --xi 2 --thermalise 1 -o xi.lat
    run -1 --separate-stderr lat-flow xi.lat
    [[ $stderr == "lat-flow: xi.lat: expected links of an isotropic lattice, found anisotropy 2"* ]]
    run -0 --separate-stderr lat-flow --until .1 --force xi.lat
    [[ $stderr == *"taken as isotropic (--force)"* ]]
}
