#!/usr/bin/env bats
# Purpose: lat-quark gives S(p) and vertices of docs/momentum.md: exact free fields, numpy, a public number; the same bytes on any
# ranks; and refuses what has no momentum or no gauge.
# shellcheck disable=SC2154,SC2030,SC2031  # output and stderr are set by run; each test is a shell of its own
load helper

numpy() { "$PYTHON" "$ROOT/tests/momentum_quarks.py" "$@"; }

# random OUT.lat SEED [CRC [SOURCE [BOUNDARY [N [GAUGE THETA]]]]]: a propagator of random numbers.
random() { numpy random "$1" "$2" "${3-0123cdef}" "${4:-momentum:1,0,-1,1.5}" "${5:-p,p,p,a}" "${@:6}"; }

# columns FILE NAME...: these columns of a table, without the line of names.
columns() {
    awk -F'\t' -v OFS='\t' -v names="${*:2}" '
        NR == 1 { n = split(names, name, " "); for (i = 1; i <= NF; i++) at[$i] = i; for (i in name) if (!(name[i] in at)) exit 1; next }
        { line = $at[name[1]]; for (i = 2; i <= n; i++) line = line OFS $at[name[i]]; print line }' "$1"
}

# same FILE FILE BOUND: the same numbers in the same places, to BOUND of the larger of 1 and their size.
same() {
    awk -v bound="$3" '
        function abs(v) { return v < 0 ? -v : v }
        FNR == NR { want[FNR] = $0; n = FNR; next }
        {
            fields = split(want[FNR], w)
            if (fields != NF) { print "line " FNR ": " NF " fields, expected " fields; bad++ }
            for (i = 1; i <= NF; i++) {
                text = $i !~ /^[-+.0-9]/ || w[i] !~ /^[-+.0-9]/
                size = abs(w[i]) > 1 ? abs(w[i]) : 1
                if (text ? $i != w[i] : !(abs($i - w[i]) <= bound * size)) { print "line " FNR ": " $i ", expected " w[i]; bad++ }
            }
        }
        END { if (bad || FNR != n || !n) { print FNR " lines, expected " n + 0; exit 1 } }' "$1" "$2"
}

# all_are VALUE BOUND: each line is this number.
all_are() {
    awk -v want="$1" -v bound="$2" '{ d = $1 - want; if (!(d <= bound && -d <= bound)) { print $1 ", expected " want; bad++ } } END { exit bad || !NR }'
}

# A residual of 1e-14 is at most this in S(p), whose inverse is below 10: 1e-12 is what D14 asks for.
exact=1e-12
# S(p) of a point source is a sum over 4^3 8 sites: of a residual of 1e-14, sqrt(512) times as much, and again ten times.
of_point=2.3e-12

# quark OPTION...: the propagator of unit links in Landau gauge.
quark() { lat-solve --residual 1e-14 --precision double --mass .1 "$@" cold.lat; }

@test "free quarks are exact: periodic, antiperiodic, twisted and anisotropic, from momentum and point sources (D14)" {
    lat-start cold --dims 4,4,4,8 | lat-orelax -o cold.lat
    quark --boundary p,p,p,p --source momentum:1,0,0,0 >a.lat
    lat-quark a.lat >found
    near "$(field found trace)" 1.1 $exact
    columns found M_additive M_multiplicative | tr '\t' '\n' | all_are .1 $exact
    while read -r boundary n options; do
        # shellcheck disable=SC2086 # several words
        quark $options --boundary "$boundary" --source "momentum:$n" >a.lat
        lat-quark a.lat >found
        columns found Zq | all_are 1 $exact
        columns found M_additive | all_are .1 $exact
        lat-quark --vertex a.lat >found
        columns found gamma Lambda | grep -v _q | cut -f 2 | all_are 1 $exact
        [ "$(columns found gamma Lambda | grep -c '_q.*nan')" -eq 2 ] # q = 0
    done <<'END'
p,p,p,a 1,-1,1,1.5
0.3,p,-.5,.7 1.15,1,-.25,2.35
p,p,p,a 2,1,0,0.5 --xi 2.5 --nu .9
p,p,p,a 1,0,0,-1.5 --csw 1.2
END
    quark --boundary 0.3,p,-.5,a --source point:1,0,2,5 >a.lat
    lat-quark a.lat >found
    columns found Zq | all_are 1 $of_point
    columns found M_additive | all_are .1 $of_point
    # Cut: of all momenta with p^2 up to pi^2 only those near a diagonal.
    awk -F'\t' 'NR > 1 && !($9 <= 1.000001 && $6 <= 9.8696044011) { exit 1 } END { exit !(NR > 10) }' found
    lat-quark --momenta 100 --cylinder 100 a.lat >found
    [ "$(wc -l <found)" -eq $((4 * 4 * 4 * 8 + 1)) ]
    columns found M_additive | all_are .1 $of_point
    lat-quark --momenta .15,1,-.25,.5/1.15,-1,.75,-1.5 a.lat >found
    [ "$(columns found px py pz pt | tr '\t\n' ',/')" = 0.15,1,-0.25,0.5/1.15,-1,0.75,-1.5/ ]
}

@test "free vertices are 1 in RI/SMOM kinematics, too, with q and with boundaries of their own" {
    lat-start cold --dims 4,4,4,4 | lat-orelax -o cold.lat
    quark --boundary p,p,p,p --source momentum:1,1,0,0 >1.lat
    quark --boundary p,p,p,p --source momentum:0,1,1,0 >2.lat
    lat-quark --vertex --second 2.lat 1.lat >found
    columns found p2 >first
    columns found k2 | cmp - first
    columns found q2 >third
    same first third 1e-15
    columns found Lambda | all_are 1 $exact
    columns found Z | all_are 1 $exact
    quark --boundary .5,p,p,a --source momentum:.25,1,0,.5 >1.lat
    quark --boundary p,-.5,p,p --source momentum:1,.75,0,1 >2.lat
    lat-quark --vertex --second 2.lat 1.lat >found
    columns found Lambda | all_are 1 $exact
    [ "$(wc -l <found)" -eq 24 ]
}

@test "Wilson quarks of Chroma's weak field in Landau gauge: S(p) and RI'/MOM vertices (D17)" {
    need_data lime_pyquda_weak_field.lime
    lat-convert "$DATA/lime_pyquda_weak_field.lime" | lat-orelax --theta 1e-26 -o weak.lat
    while read -r n list; do
        lat-solve --residual 1e-12 --kappa .12 --boundary p,p,p,p --source "momentum:$n" weak.lat -o a.lat
        tr ' ' '\n' <<<"$list" >want
        lat-quark a.lat >found
        columns found trace Zq | tr '\t' '\n' >all
        lat-quark --vertex a.lat >found
        columns found Lambda >list
        head -n 5 list >>all
        same want all 2e-7
    done <<'END'
0,1,0,0 1.17545048 0.99676261 0.99972495 1.00097679 1.00052087 0.99989512 1.00016038
1,0,0,0 1.17556777 0.99677903 0.99960887 1.00123571 1.00062044 0.99980722 1.00014436
END
}

# The conserved current is what M has of links, so that its Ward identity holds on any links to the residual of the solutions and to
# rounding, 1e-14 and some 1e-16 times condition numbers below 10. Wrong links miss it by far more.
@test "the conserved current: its Ward identity is exact for any boundary, clover, twist, smeared links, anisotropy and group" {
    local k1 k2 mu dims=4,4,2,6
    pair() { # OPTIONS of both, then K1 BOUNDARY1 K2 BOUNDARY2 [OPTIONS of the second]: the table
        # shellcheck disable=SC2086 # several words
        lat-solve --residual 1e-14 --precision double --mass .3 $1 --source "momentum:$2" --boundary "$3" u.lat -o 1.lat
        # shellcheck disable=SC2086
        lat-solve --residual 1e-14 --precision double --mass .3 $1 ${6-} --source "momentum:$4" --boundary "$5" u.lat -o 2.lat
        lat-quark --force --vertex -U u.lat --second 2.lat 1.lat >found 2>said
        columns found ward | all_are 0 1e-13
    }
    rough raw.lat --dims $dims
    lat-orelax --theta 1e-12 raw.lat -o u.lat
    # Each component alone, with a small q along its axis; then all.
    for mu in 0 1 2 3; do
        k1=(1 0 1 .5) k2=(1 0 1 .5) b=(p p p a)
        k2[mu]=$(awk -v k="${k1[mu]}" 'BEGIN { print k + .05 }')
        b[mu]=$([ $mu = 3 ] && echo 1.1 || echo .1)
        pair "--csw 1.2" "$(tr ' ' , <<<"${k1[*]}")" p,p,p,a "$(tr ' ' , <<<"${k2[*]}")" "$(tr ' ' , <<<"${b[*]}")"
    done
    while read -r one b1 two b2 options; do
        pair "$options" "$one" "$b1" "$two" "$b2"
    done <<'END'
1.15,0,1,.5 0.3,p,p,a 0,1,-.25,2 p,p,-.5,p --xi 2.5 --nu .9 --csw 1 --csw-t .8
1,0,1,2 p,p,p,d 0,1,1,1 p,p,p,d
1,0,1,.5 p,p,p,a 0,1,0,-.5 p,p,p,a --smear-links stout:.1,2
1,0,1,.5 p,p,p,a 1,0,1,.5 p,p,p,a --twist .2
END
    # Other twists and masses: P and S come in, and at p1 = p2 nothing else does.
    pair "" 1,0,1,.5 p,p,p,a 0,1,0,-.5 p,p,p,a "--twist .2 --mass .4"
    grep -q 'expected the operator of the first propagator, mass .*, found mass 0.4 (--force takes it)' said
    pair "" 1,0,1,.5 p,p,p,a 1,0,1,.5 p,p,p,a "--mass .4"
    pair "" 1,0,1,.5 p,p,p,a 1,0,1,.5 p,p,p,a "--twist .2"
    pair "--twist .3" 1,0,1,.5 p,p,p,a 0,1,0,-.5 p,p,p,a "--twist -.3"
    pair "--twist .3" 1,0,1,.5 p,p,p,a 0,1,0,-.5 p,p,p,a
    [ "$(grep -c . said)" -eq 0 ]
    # Other links do not have it.
    lat-start weak --epsilon .35 --dims $dims --seed 4 -o u.lat
    lat-quark --force --vertex -U u.lat --second 2.lat 1.lat >found 2>said
    columns found ward | awk '!($1 > .01) { exit 1 }'
    rough raw.lat --dims $dims --group 2
    lat-orelax --theta 1e-12 raw.lat -o u.lat
    pair "--csw .7" 1,0,1,.5 p,p,p,a 0,1,0,-.5 p,p,p,a
}

@test "the conserved current: free vertices are 1; ranks, threads, legs and order of a stream print the same bytes" {
    lat-start cold --dims 4,4,4,6 | lat-orelax -o cold.lat
    quark --boundary .3,p,p,a --source momentum:.15,1,0,.5 >1.lat
    quark --boundary p,-.5,p,p --source momentum:1,.75,0,1 >2.lat
    lat-quark --vertex --second 2.lat -U cold.lat 1.lat >found
    columns found Lambda | all_are 1 $exact
    columns found Z_conserved | all_are 1 $exact
    [ "$(wc -l <found)" -eq 26 ]
    rough raw.lat --dims 4,4,2,6
    lat-orelax --theta 1e-12 raw.lat -o u.lat
    lat-solve --kappa .12 --source momentum:1,0,1,.5 u.lat -o 1.lat
    lat-solve --kappa .12 --source momentum:0,1,0,-.5 u.lat -o 2.lat
    options=(--vertex --second 2.lat -U u.lat)
    lat-quark -@ 1 "${options[@]}" 1.lat --legs legs.lat >one
    lat-quark -@ 3 "${options[@]}" 1.lat | cmp - one
    lat-reorder --sites parity 1.lat | lat-quark "${options[@]}" | cmp - one
    lat-quark --vertex legs.lat | cmp - one
    lat-quark --vertex --second 2.lat 1.lat | cmp - <(head -n 24 one | cut -f 1-12,14-17,19-21)
    lat-quark --json "${options[@]}" 1.lat >want
    lat-quark --json --vertex legs.lat | cmp - want
    grep -q '"ward": .*"Vc_q": {"Lambda": ' want
    lat-quark --mean "${options[@]}" 1.lat >want
    lat-quark --mean --vertex legs.lat | cmp - want
    columns want ward | all_are 0 1e-7
    # Links or legs that do not fit are refused.
    refuses 2 '--gauge-file is for --vertex' lat-quark -U u.lat 1.lat
    refuses 1 'expected propagators with --gauge-file, found legs' lat-quark --vertex -U u.lat legs.lat
    refuses 1 'expected its links, of CRC ' lat-quark --vertex -U raw.lat 1.lat -o never
    lat-quark --vertex --second 2.lat 1.lat --legs without.lat >/dev/null
    refuses 1 'expected vertices with the conserved current, as the first input, found them without it' \
        lat-quark --vertex -o never --mean legs.lat without.lat
    lat-solve --operator overlap --m0 1.4 --mass .1 --residual 1e-3 --source momentum:1,0,1,.5 u.lat -o overlap.lat
    refuses 1 'expected a propagator of Wilson quarks for their conserved current, found overlap' lat-quark --vertex -U u.lat overlap.lat
    lat-solve --operator overlap --m0 1.4 --mass .1 --residual 1e-3 --contact --source momentum:1,0,1,.5 u.lat -o contact.lat
    refuses 1 "columns 'subtracted/2m0', found links smeared by '', columns 'inverse/2m0'" lat-quark --mean overlap.lat contact.lat
    need_mpi
    lat-quark -n 3 -@ 1 "${options[@]}" 1.lat | cmp - one
}

@test "random propagators: legs, vertices and jackknife errors are those of numpy" {
    need_numpy
    # Sums of 120 random terms of size 1, inverted with condition numbers below 1e3: 1e-10 is far above rounding.
    random 1.lat 1
    random 2.lat 2 0123cdef momentum:0,1,1,.35 p,p,p,.7
    numpy vertex 1.lat 2.lat >want
    lat-quark --vertex --second 2.lat 1.lat >found
    columns found gamma Lambda >all
    while read -r name _; do [ "$name" = Zq ] || grep "^$name	" all; done <want >list
    columns found Lambda Z | awk 'NR == 1 { printf "Zq\t%.17g\n", $1 * $2 }' >>list
    same want list 1e-10
    for n in 2 3; do
        random p.lat 3 0123cdef point:2,1,0,3 p,.5,p,a $n
        numpy point p.lat 1,.25,-1,.5 0,-.75,2,-2.5 1,.25,1,1.5 >want
        lat-quark --momenta 1,.25,-1,.5/0,-.75,2,2.5/1,.25,1,1.5 p.lat >found
        columns found px py pz pt trace Zq >list
        same want list 1e-10
    done
    for i in 3 4 5; do random $i.lat $i 0000000$i; done
    numpy mean 3.lat 4.lat 5.lat | tr '\t' '\n' >want
    lat-quark --mean 3.lat 4.lat 5.lat >found
    columns found trace trace_error Zq Zq_error | tr '\t' '\n' >list
    same want list 1e-10
    [ "$(columns found configurations)" = 3 ]
    # Of one configuration the mean is what it is; two propagators of one configuration are one of their mean.
    lat-quark 3.lat >one
    lat-quark --mean 3.lat 3.lat >two
    [ "$(columns one trace Zq M)" = "$(columns two trace Zq M)" ]
    [ "$(columns two configurations M_error)" = "$(printf '1\tnan')" ]
    lat-quark --vertex --mean --json 3.lat 4.lat 5.lat | "$PYTHON" -c '
import json, sys
one = json.loads(sys.stdin.readline())
assert one["configurations"] == 3 and one["gauge"] == "landau", one
v = one["momenta"][0]["vertices"]
assert len(v) == 23 and v["S"]["Lambda_error"] > 0 and v["V_q"]["Lambda"] is None'
}

@test "vertices of p1, p2 and of p2, p1 agree, as gamma5-hermiticity has it" {
    rough u.lat --dims 4,4,4,4
    lat-orelax --theta 1e-20 u.lat -o f.lat
    lat-solve --residual 1e-13 --kappa .12 --csw 1 --source momentum:1,0,1,.5 f.lat -o 1.lat
    lat-solve --residual 1e-13 --kappa .12 --csw 1 --source momentum:0,1,0,-.5 f.lat -o 2.lat
    lat-quark --vertex --second 2.lat 1.lat >a
    lat-quark --vertex --second 1.lat 2.lat >b
    columns a gamma Lambda Z >c
    columns b gamma Lambda Z >d
    same c d 1e-10
    # Interacting quarks are not free.
    awk '$1 == "V" { exit !($2 > .9 && $2 < .999) }' c
}

@test "any number of threads and ranks and any order of a stream give the same bytes" {
    need_numpy
    random 1.lat 1
    random 2.lat 2 0123cdef momentum:0,1,1,.5
    random p.lat 3 0123cdef point:2,1,0,3
    options=(--vertex --second 2.lat)
    lat-quark -@ 1 "${options[@]}" 1.lat >one
    lat-quark -@ 3 "${options[@]}" 1.lat | cmp - one
    lat-reorder --sites parity 1.lat | lat-quark "${options[@]}" | cmp - one
    lat-quark -@ 1 --cylinder 9 p.lat >point
    lat-quark -@ 3 --cylinder 9 p.lat | cmp - point
    need_mpi
    for n in 2 5; do
        lat-quark -n $n -@ 1 "${options[@]}" 1.lat | cmp - one
        lat-quark -n $n -@ 1 --cylinder 9 p.lat | cmp - point
    done
}

@test "configurations are counted by their links, files get a column, JSON is JSON" {
    need_numpy
    random a.lat 1 0000000a
    random b.lat 2 0000000a momentum:1,1,0,.5
    random c.lat 3 0000000c
    cat a.lat b.lat c.lat >all.lat
    lat-quark all.lat >found
    [ "$(columns found configuration px py | tr '\t\n' ',/')" = 0,1,0/0,1,1/1,1,0/ ]
    lat-quark a.lat c.lat >found
    [ "$(columns found file | tr '\n' ' ')" = "a.lat c.lat " ]
    lat-quark --json all.lat | "$PYTHON" -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert [r["configuration"] for r in rows] == [0, 0, 1] and rows[1]["momenta"][0]["p"] == [1, 1, 0, .5]
assert rows[2]["links_crc"] == "0000000c" and rows[0]["theta"] == 1e-20 and rows[0]["source"].startswith("momentum:")'
    # What a header does not say can be said.
    "$PYTHON" -c '
import lat
f = next(lat.read("a.lat"))
lat.write("d.lat", lat.propagator(f.spinors, operator=f.header.operator, residuals=f.header.residuals, gauge="landau", theta=1e-20))'
    lat-quark --source momentum:1,0,-1,1.5 d.lat >d
    lat-quark a.lat | cmp - d
}

@test "docs/momentum.md has every column, and says what p and -p are" {
    local prop=(lat-solve -q --kappa .12 --boundary 'p,p,p,p' --source) column
    lat-start weak --dims 2,2,4,4 --epsilon .1 | lat-orelax --theta 1e-12 -o u.lat
    "${prop[@]}" momentum:0,0,1,1 u.lat -o 1.lat
    "${prop[@]}" momentum:0,1,0,1 u.lat -o 2.lat
    "${prop[@]}" point:0,0,0,0 u.lat -o p.lat
    { lat-quark 1.lat; lat-quark --mean 1.lat; lat-quark --vertex --second 2.lat 1.lat; } | grep ^conf | tr '\t' '\n' | sort -u >columns
    [ "$(wc -l <columns)" -gt 30 ]
    while read -r column; do
        [[ $column == *_error ]] || grep -qw -- "$column" "$ROOT/docs/momentum.md" || { echo "no $column"; return 1; }
    done <columns
    lat-quark --momenta 0,0,1,1/0,0,-1,-1/0,0,0,0 p.lat | awk -F'\t' '
        NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        { p = $c["pz"]; trace[p] = $c["trace"]; Zq[p] = $c["Zq"]; M[p] = $c["M"] }
        END { exit !(trace[1] != trace[-1] && (trace[1] / trace[-1] - 1)^2 < 1e-2 && Zq[0] == "nan" && M[0] == "nan" && trace[0] != "nan") }'
}

@test "rows end in lattice, group and ensemble, of legs, too; lat-stat refuses ratios, and averages those that --value names" {
    local i n
    for i in 1 2 3; do
        lat-heatbath -q -d 4,4,4,4 --beta 5.8 --seed $i --thermalise 3 | lat-orelax -q --theta 1e-12 -o u.$i.lat
        for n in 1,0,0,.5 0,1,1,.5; do lat-solve -q --mass .3 --source momentum:$n u.$i.lat; done >props.$i.lat
    done
    for i in "" --vertex "--mean --vertex" --mean; do
        # shellcheck disable=SC2086 # words
        lat-quark $i --legs legs.lat props.?.lat >found
        [ "$(columns found dims group ensemble | sort -u)" = "$(printf '4,4,4,4\tSU(3)\tbeta 5.8, xi 1')" ]
        # shellcheck disable=SC2086
        lat-quark $i legs.lat >legs
        [ "$(columns legs dims group ensemble)" = "$(columns found dims group ensemble)" ]
    done
    refuses 1 'found: a table of lat-quark --mean: its rows are means over configurations' lat-stat found
    lat-quark --json props.1.lat | grep -q '"group": "SU(3)", "ensemble": "beta 5.8, xi 1", "momenta"'
    lat-quark props.?.lat >found
    refuses 1 'found: a table of lat-quark: its numbers are ratios of means, which lat-quark --mean takes from propagators or --legs' lat-stat found
    lat-stat --value trace,Zq found >means 2>/dev/null
    [ "$(head -n 1 means | cut -f 1-12 | tr '\t' ' ')" = "px py pz pt p2 pbar2 phat2 cylinder trace trace_error Zq Zq_error" ]
    [ "$(columns means px pt configurations ensemble)" = "$(printf '1\t0.5\t3\tbeta 5.8, xi 1\n0\t0.5\t3\tbeta 5.8, xi 1')" ]
    [ "$(columns found px Zq | awk '$1 == 1 { s += $2 } END { printf "%.9g", s / 3 }')" = "$(columns means px Zq | awk '$1 == 1 { printf "%.9g", $2 }')" ]
    lat-quark --vertex props.?.lat >vertices
    lat-stat --value Lambda vertices >means 2>/dev/null
    [ "$(columns means gamma | wc -l)" -eq 46 ]
    # Another beta is another ensemble.
    sed '$s/beta 5.8/beta 5.9/' found >two
    refuses 1 'two: row 7: expected ensemble beta 5.8, xi 1 as before, found beta 5.9, xi 1' lat-stat --value Zq two
}

@test "legs in place of propagators give the same bytes, and what they are not is refused" {
    need_numpy
    local n options
    for n in 3 2; do
        random 1.lat 1 0000000a "" "" $n
        random 2.lat 2 0000000b "" "" $n
        cat 1.lat 2.lat >both.lat
        lat-quark --vertex --legs legs.lat both.lat >want
        for options in "" --vertex --mean "--vertex --mean" "--json --vertex --mean" --json "--cylinder 9"; do
            # shellcheck disable=SC2086 # several words
            lat-quark $options both.lat >want
            # shellcheck disable=SC2086
            lat-quark $options legs.lat | cmp - want
        done
    done
    # Of a point source all momenta; two momenta of a vertex; from file to file.
    random p.lat 3 0000000a point:2,1,0,3
    lat-quark --legs legs.lat p.lat >want
    lat-quark legs.lat --legs again.lat | cmp - want
    lat-quark again.lat | cmp - want
    random 1.lat 1
    random 2.lat 2 0123cdef momentum:0,1,1,.5
    lat-quark --vertex --second 2.lat --legs two.lat 1.lat >want
    lat-quark --vertex two.lat | cmp - want
    [ "$(lat-info two.lat | grep -c 'legs.lattice = 3 2 4 5')" -eq 1 ]
    # A few hundred numbers of each momentum, whatever the lattice is.
    [ "$(wc -c <two.lat)" -lt 60000 ]
    refuses 1 'legs.lat: expected vertices, as lat-quark --vertex --legs writes them, found S(p)' lat-quark --vertex legs.lat -o never
    refuses 1 'expected propagators with --second, found legs' lat-quark --vertex --second 2.lat two.lat
    refuses 1 'legs.lat: expected a quark propagator, found a field of modes' lat-corr legs.lat
    refuses 1 'a quark propagator, found a field of modes' lat-quark --vertex --second two.lat 1.lat --legs never.lat
    "$PYTHON" -c '
import lat
f = next(lat.read("two.lat"))
f.header.info["legs.lattice"] = "3 2 4 0"
lat.write("wrong.lat", f)'
    refuses 1 'wrong.lat: expected info lines legs.lattice, legs.p' lat-quark wrong.lat
    head -c 9000 two.lat >cut.lat
    refuses 1 'cut.lat: truncated' lat-quark cut.lat --legs never.lat
    need_mpi
    lat-quark -n 2 --vertex --second 2.lat --legs ranks.lat 1.lat >want
    lat-quark --vertex ranks.lat | cmp - want
    run -1 lat-quark -n 2 two.lat
    [[ $output == *"two.lat: expected one rank to read legs, found 2"* ]]
}

@test "the second propagator of a vertex may be of the same links that were stored otherwise, as --gauge-file knows" {
    local links
    rough raw.lat --dims 4,4,2,4
    lat-orelax --theta 1e-12 raw.lat | lat-convert --precision single -o single.lat
    lat-convert --precision double single.lat -o double.lat
    for links in single double; do
        lat-solve --residual 1e-13 --mass .3 --source momentum:1,0,0,.5 $links.lat -o $links.1.lat
    done
    refuses 1 '(--gauge-file knows links that were stored otherwise; --force takes it)' lat-quark --vertex --second double.1.lat single.1.lat
    lat-quark --vertex --second double.1.lat --gauge-file single.lat single.1.lat >found
    lat-quark --vertex --gauge-file single.lat single.1.lat >want
    same want found 1e-11
    lat-solve --residual 1e-13 --mass .3 --source momentum:1,0,0,.5 raw.lat -o raw.1.lat
    refuses 1 'raw.1.lat: expected a propagator of the configuration of the first' lat-quark --vertex --second raw.1.lat --gauge-file single.lat single.1.lat
}

@test "what has no gauge, no momentum or no inverse is refused in a sentence" {
    need_numpy
    random a.lat 1
    random none.lat 1 0123cdef "" "" 3 none 0
    refuses 3 'in Landau gauge, found gauge none' lat-quark none.lat -o never
    run -0 --separate-stderr lat-quark --force none.lat
    [[ $stderr == "lat-quark: none.lat: "*"found gauge none"* ]]
    lat-quark a.lat >want
    cmp want - <<<"$output"
    random coulomb.lat 1 0123cdef "" "" 3 coulomb 1e-20
    refuses 3 'found gauge coulomb' lat-quark coulomb.lat
    # Weights that are not equal are of anisotropic lattices, where that of time may be another one, above 0.
    rough u.lat --dims 4,4,4,4
    for w in 1,1,1,0 1,1,1,2; do
        lat-orelax --weights $w --theta 1e-20 u.lat | lat-solve --mass 1 --source momentum:1,0,0,.5 - -o w.lat
        refuses 3 "w.lat: expected Landau gauge with equal weights, found weight ${w##*,} of direction t for 1 of x (--force takes it)" \
            lat-quark w.lat -o never
        lat-quark --force w.lat >/dev/null 2>&1
    done
    # Two gauges are not averaged: weights make another Landau gauge.
    lat-heatbath --dims 4,4,4,4 --beta 5.8 --xi 2 --thermalise 5 --seed 3 -o xi.lat
    lat-orelax --weights 1,1,1,0 --theta 1e-20 xi.lat | lat-solve --mass 1 --xi 2 --source momentum:1,0,0,.5 - -o w.lat
    refuses 3 'found weight 0 of direction t for 1 of x' lat-quark w.lat -o never
    for w in 1 2; do
        lat-orelax --weights 1,1,1,$w --theta 1e-20 xi.lat | lat-solve --mass 1 --xi 2 --source momentum:1,0,0,.5 - -o $w.lat
        lat-quark --legs $w.legs.lat $w.lat >/dev/null
    done
    local other='expected links in the gauge of the first propagator, landau, found landau with weights 1,1,1,2 (--force takes it)'
    refuses 1 "2.lat: $other" lat-quark --mean 1.lat 2.lat
    refuses 1 "2.legs.lat: $other" lat-quark --mean 1.legs.lat 2.legs.lat
    lat-quark --mean --force 1.lat 2.lat >/dev/null
    refuses 1 'expected a propagator of the configuration of the first' lat-quark --vertex --second 2.lat 1.lat
    # Nor are two twists that differ in the sign, alone or as the second quark, or two forms of an overlap propagator.
    lat-orelax --theta 1e-20 u.lat -o fixed.lat
    for m in .5 -.5; do
        lat-solve --mass 1 --twist $m --source momentum:1,0,0,.5 fixed.lat -o twist$m.lat
        lat-quark --vertex --legs legs$m.lat --second twist$m.lat twist.5.lat >/dev/null
    done
    refuses 1 'twist-.5.lat: --mean: expected the operator of the first propagator, twist 0.5, found twist -0.5' lat-quark --mean twist.5.lat twist-.5.lat
    lat-quark --vertex --mean legs.5.lat >plus
    lat-quark --vertex --mean legs.5.lat legs-.5.lat 2>/dev/null | head -n "$(grep -c . plus)" | cmp - plus
    random loose.lat 1 0123cdef "" "" 3 landau 1e-5
    refuses 3 'theta of the links at most 1e-08, found 1e-05' lat-quark loose.lat -o never
    lat-quark --require-theta 1e-4 loose.lat | cmp - want
    random whole.lat 1 0123cdef momentum:1,0,0,1
    refuses 1 'expected nt of the momentum to be a whole number plus 0.5, because the boundary is p,p,p,a, found 1 ' lat-quark whole.lat
    random open.lat 1 0123cdef momentum:1,0,0,1 p,p,p,d
    refuses 1 'found Dirichlet along t' lat-quark open.lat
    for source in wall:0 momentum:1,0,0,.5/gauss:1,2 point:0,0,0,0/gauss:1,2 noise:z4; do
        random b.lat 1 0123cdef $source
        refuses 1 "without further steps, found $source" lat-quark b.lat
    done
    random point.lat 1 0123cdef point:0,0,0,0
    refuses 1 'found a point source' lat-quark --vertex point.lat
    refuses 1 'found a point source' lat-quark --vertex --second point.lat a.lat
    random other.lat 2 89abcdef
    refuses 1 'of CRC 0123cdef, found one of CRC 89abcdef' lat-quark --vertex --second other.lat a.lat
    # What names no configuration is said, once.
    random nameless.lat 2 ""
    refuses 1 'of CRC 0123cdef, found one of CRC unknown' lat-quark --vertex --second nameless.lat a.lat
    cat nameless.lat nameless.lat >two.lat
    run -0 --separate-stderr lat-quark --vertex --second two.lat two.lat
    [[ $stderr == "lat-quark: two.lat: "*"neither says of which links it is" ]]
    run -0 --separate-stderr lat-quark --mean two.lat
    [[ $stderr == "lat-quark: two.lat: --mean: counted as a configuration of its own"*"of which links it is" ]]
    random two.lat 2 0123cdef "" "" 2
    refuses 1 'expected SU(3) on' lat-quark --vertex --second two.lat a.lat
    refuses 1 'of one lattice and group' lat-quark --mean a.lat two.lat
    cat a.lat a.lat >both.lat
    refuses 1 'found the end' lat-quark --vertex --second a.lat both.lat -o never
    refuses 1 'found more' lat-quark --vertex --second both.lat a.lat -o never
    "$PYTHON" -c '
import lat
import numpy as np
f = next(lat.read("a.lat"))
keys = dict(source=f.header.source, residuals=f.header.residuals, gauge="landau", theta=1e-20, operator=f.header.operator)
s = f.spinors.copy()
s[..., 5, :, :] = s[..., 4, :, :]
lat.write("singular.lat", lat.propagator(s, **keys))
lat.write("zero.lat", lat.propagator(0 * s, **keys))
keys["operator"] = lat.Operator("wilson", mass=.2, boundary=("p", "p", "p", "a"))
lat.write("mass.lat", lat.propagator(s, links_crc="0123cdef", **keys))
del keys["source"]
lat.write("source.lat", lat.propagator(s, **keys))'
    refuses 1 'singular.lat: expected S(p) that has an inverse' lat-quark singular.lat -o never
    refuses 1 'zero.lat: expected S(p) that has an inverse' lat-quark --vertex zero.lat
    refuses 1 'expected the operator of the first propagator' lat-quark --vertex --second mass.lat a.lat
    refuses 1 'expected a source in the header' lat-quark source.lat
    refuses 1 'expected momentum:0,0,0,.5, as --source says' lat-quark --source momentum:0,0,0,.5 a.lat
    refuses 2 "expected a largest p^2" lat-quark --momenta 1,2 point.lat
    refuses 2 'found none' lat-quark --momenta 0 point.lat
    refuses 2 'expected different momenta modulo the extents, found 1,0,0,0.5 twice' \
        lat-quark --momenta 1,0,0,.5/0,0,0,.5/4,-2,4,5.5 --cylinder 9 point.lat
    # --cylinder drops a momentum of several, but not all.
    random small.lat 3 0123cdef momentum:0,0,0,.5
    cat a.lat small.lat >both.lat
    lat-quark --cylinder .5 both.lat >found
    [ "$(wc -l <found)" -eq 2 ]
    local options
    for options in "" --vertex --mean "--legs never"; do
        # shellcheck disable=SC2086 # words
        refuses 2 '--cylinder 0.01: expected momenta of the input within it, found none' lat-quark --cylinder .01 $options a.lat
    done
    refuses 2 'a.lat: --momenta is for point sources, found momentum:' lat-quark --momenta 1 a.lat
    lat-quark --legs legs.lat a.lat >found
    refuses 1 'legs.lat: expected propagators with --momenta, found legs' lat-quark --momenta 1 legs.lat
    refuses 1 'legs.lat: expected propagators with --source, found legs' lat-quark --source momentum:1,0,-1,1.5 legs.lat
    refuses 2 'within it, found none' lat-quark --cylinder .01 legs.lat
    refuses 2 '--second is for --vertex' lat-quark --second a.lat a.lat
    head -c 5000 a.lat >cut.lat
    refuses 1 'truncated' lat-quark cut.lat
    rough u.lat --dims 4,4,4,4
    refuses 1 'a gauge field' lat-quark u.lat
    [ ! -e never ]
    nothing_left
}
