#!/usr/bin/env bats
# Purpose: lat-source and lat-corr give what docs/sources.md and correlators.md say: against numpy, exact free fields, symmetries; and refuse the rest.
# shellcheck disable=SC2154,SC2030,SC2031  # output and stderr are set by run; each test is a shell of its own
load helper

free() { "$PYTHON" "$ROOT/tests/free_quarks.py" free "$@"; }

# agree A B [BOUND]: the rows of A are in B, to BOUND (1e-12) of the largest number of their channel in A.
agree() {
    awk -F'\t' -v bound="${3:-1e-12}" '
        function abs(v) { return v < 0 ? -v : v }
        $1 == "configuration" { next }
        { key = $2 " " $3 " " $4 " " $5 " " $6 }
        FNR == NR {
            re[key] = $7; im[key] = $8; rows++
            if (abs($7) > largest[$2]) largest[$2] = abs($7)
            if (abs($8) > largest[$2]) largest[$2] = abs($8)
            next
        }
        key in re {
            seen++
            if (!(abs($7 - re[key]) <= bound * largest[$2] && abs($8 - im[key]) <= bound * largest[$2])) {
                print key ": " $7, $8 " expected " re[key], im[key]; bad++
            }
        }
        END { if (bad || seen != rows || !rows) { print rows + 0 " rows, " seen + 0 " found, " bad + 0 " differ"; exit 1 } }' "$1" "$2"
}

# random NAME SEED [CRC [SOURCE [T,Z,Y,X]]]: a propagator of random numbers.
random() {
    "$PYTHON" - "$1" "$2" "${3-0123cdef}" "${4:-point:1,2,0,3}" "${5:-5,2,3,4}" <<'END'
import sys
import lat
import numpy as np

name, seed, crc, source, extents = sys.argv[1:]
rng = np.random.default_rng(int(seed))
shape = (*map(int, extents.split(",")), 12, 4, 3)
s = rng.normal(size=shape) + 1j * rng.normal(size=shape)
operator = lat.Operator("wilson", mass=.1, boundary=("p", "p", "p", "a"))
lat.write(name, lat.propagator(s, source=source, operator=operator, residuals=[1e-12] * 12, links_crc=crc or None))
END
}

@test "mesons and baryons of random propagators are those of numpy, with momenta, a second quark and antiperiodic time" {
    need_numpy
    random a.lat 1
    random b.lat 2
    "$PYTHON" "$ROOT/tests/free_quarks.py" corr a.lat b.lat 1,2,0,3 '0,0,0;1,0,0;-1,1,1' >expected
    lat-corr --second b.lat --channels mesons,gxgy:gt,baryons --momenta 0,0,0/1,0,0/-1,1,1 a.lat >found
    agree expected found
    [ "$(cut -f 2 expected | sort -u | wc -l)" -eq 21 ]
}

@test "free quarks: numpy from momentum space, PCAC mass .0959, backward is minus forward for antiperiodic time, plus for periodic" {
    need_numpy
    for theta in 0 1; do
        free 4,6,4,16 .1 $theta 1,0,2,5 a.lat
        "$PYTHON" "$ROOT/tests/free_quarks.py" corr a.lat a.lat 1,0,2,5 "0,0,0;0,1,0" | grep -v gxgy:gt >expected # zero of free quarks
        lat-corr --channels mesons,baryons,pcac --momenta 0,0,0/0,1,0 a.lat >found
        agree expected found
        awk -F'\t' -v sign=$((theta ? -1 : 1)) '
            $3 $4 $5 == "000" && $2 ~ /^nucleon/ { c[$2, $6] = $7 }
            END {
                for (t = 1; t < 16; t++)
                    if (!((c["nucleon_backward", 16 - t] - sign * c["nucleon", t])^2 < 1e-26 * c["nucleon", 1]^2)) exit 1
                exit !(c["nucleon", 1] > 0)
            }' found
        # All diagonal channels are positive, the a0 and b1 but for the parity partner that free quarks have none of.
        awk -F'\t' '$2 == "pion" && $3 $4 $5 == "000" && !($7 > 0) { exit 1 }' found
    done
    free 8,8,8,32 .1 1 0,0,0,0 a.lat
    near "$(lat-corr --channels pcac a.lat | awk -F'\t' '$2 == "pcac" && $6 == 8 { print $7 }')" .0959 1e-4
}

@test "lat-solve on unit links gives the exact propagator, for any boundary, and walls the sum over it" {
    need_numpy
    lat-start cold --dims 4,6,4,8 -o cold.lat
    for theta in 0 1 0.3; do
        free 4,6,4,8 .3 $theta 1,0,2,5 a.lat
        lat-solve --residual 1e-14 --mass .3 --boundary "p,p,p,$theta" --source point:1,0,2,5 cold.lat -o b.lat
        for file in a b; do lat-corr --channels mesons,baryons --momenta 2 $file.lat >$file; done
        agree a b 1e-11
    done
    # The wall of momentum p has the pion of the quark S(p, t): one spin matrix for each t, from the mean over a point's slices.
    lat-solve --residual 1e-14 --mass .3 --source wall:5,1,0,0 cold.lat | lat-corr --channels pion >wall
    free 4,6,4,8 .3 1 0,0,0,5 a.lat
    "$PYTHON" - >want <<'END'
import lat
import numpy as np

s = next(lat.read("a.lat")).spinors
s = (s * np.exp(-2j * np.pi * np.arange(4) / 4)[:, None, None, None]).sum(axis=(1, 2, 3))
for t in range(8):
    print(0, "pion", 0, 0, 0, t, repr(float((abs(s[(t + 5) % 8]) ** 2).sum() * 96)), 0, sep="\t")
END
    agree want wall 1e-11
}

@test "hadrons of rough links are gauge invariant, and the same bits on any ranks" {
    rough u.lat --dims 4,4,4,8
    lat-gauge --random --seed 7 u.lat -o g.lat
    for file in u g; do
        lat-solve --residual 1e-13 --kappa .12 --csw 1.2 --smear-links stout:.1,2 --source point:1,2,3,4/ape:.5,3/gauss:2,6 $file.lat -o $file.s.lat
        lat-corr --channels all --momenta 1 --sink hyp:.75,.6,.3,1/gauss:1,3 --gauge-file $file.lat $file.s.lat | grep -v pcac >$file
    done
    agree u g 1e-9 # residuals, and what baryons amplify
    need_mpi
    lat-solve -n 2 -@ 1 --residual 1e-13 --kappa .12 --csw 1.2 --smear-links stout:.1,2 --source point:1,2,3,4/ape:.5,3/gauss:2,6 u.lat |
        lat-corr -n 4 -@ 1 --channels all --momenta 1 --sink hyp:.75,.6,.3,1/gauss:1,3 --gauge-file u.lat >ranks
    grep -v pcac ranks | cmp - u
}

@test "a translation moves nothing but the origin, cubic rotations exchange channels" {
    need_numpy
    free 4,4,4,8 .2 1 0,0,0,0 a.lat
    free 4,4,4,8 .2 1 3,1,2,6 b.lat
    for file in a b; do lat-corr --channels all --momenta 2 $file.lat >$file; done
    agree a b
    awk -F'\t' '
        function abs(v) { return v < 0 ? -v : v }
        { c[$2, $3 "," $4 "," $5, $6] = $7 }
        END {
            for (t = 0; t < 8; t++) {
                worst = abs(c["rho_x", "1,0,0", t] - c["rho_y", "0,1,0", t]) + abs(c["b1_z", "0,0,1", t] - c["b1_x", "-1,0,0", t])
                if (!(worst < 1e-14)) exit 1
            }
            exit !(c["rho_x", "1,0,0", 2] > 0 && abs(c["rho_x", "1,0,0", 2] - c["rho_x", "0,1,0", 2]) > 1e-9)
        }' a
}

@test "hadrons of quarks that are twisted in space have momenta n + shift: a translation moves nothing, numbers are those of numpy" {
    need_numpy
    lat-start cold --dims 4,2,2,6 -o u.lat
    for x in 0,0,0,0 3,1,1,4; do
        lat-solve --mass .4 --residual 1e-13 --boundary .5,a,p,a --source "point:$x" u.lat -o "a.$x.lat"
        lat-solve --mass .2 --residual 1e-13 --boundary p,p,a,.25 --source "point:$x" u.lat -o "b.$x.lat"
        lat-corr --channels pion,rho,nucleon,sigma,xi --momenta 0,0,0/1,0,-1 --second "b.$x.lat" "a.$x.lat" >"$x.tsv"
    done
    # Solutions are good to 1e-13 of |S|; a correlator of c quarks falls by less than 1e3 from t = 0.
    agree 0,0,0,0.tsv 3,1,1,4.tsv 1e-10
    sed -n '/pion\|rho/p' 3,1,1,4.tsv | cut -f 3-5 | sort -u >n
    printf '%s\n' $'-0.25\t0.5\t0.5' $'0.75\t0.5\t-0.5' | cmp - n
    "$PYTHON" "$ROOT/tests/free_quarks.py" corr a.0,0,0,0.lat b.0,0,0,0.lat 0,0,0,0 "-0.25,0.5,0.5;0.75,0.5,-0.5" | grep -E 'pion|rho' >expected
    agree expected 0,0,0,0.tsv
    [ "$(awk '$2 == "nucleon" && $6 == 0' 0,0,0,0.tsv | cut -f 3-5)" = $'0.25\t0.5\t0\n1.25\t0.5\t-1' ]
    refuses 2 'pcac: expected two quarks of one boundary in x' lat-corr --channels pcac --second b.0,0,0,0.lat a.0,0,0,0.lat
    refuses 2 'origin' lat-corr --origin 0,0,0,0x a.0,0,0,0.lat
}

@test "correlators do not change under gauge transformations of the sink" {
    need_numpy
    random a.lat 3
    lat-gauge --random --seed 5 a.lat -o g.lat
    run lat-diff --tolerance 1e-3 a.lat g.lat
    [ "$status" -ne 0 ]
    lat-corr --channels all --momenta 1 a.lat >a
    lat-corr --channels all --momenta 1 g.lat >g
    grep -v pcac a >b
    agree b g 1e-11
}

@test "any number of threads and ranks, vector lengths and orders of a stream give the same bytes" {
    need_numpy
    random a.lat 4
    lat-start weak --dims 4,3,2,5 --seed 2 -o u.lat
    args=(--channels all --momenta 3 --force --sink "ape:0.4,1/gauss:1,2" --gauge-file u.lat)
    lat-corr -@ 1 "${args[@]}" a.lat >one
    lat-corr -@ 3 "${args[@]}" a.lat >three
    lat-reorder --sites parity a.lat | lat-corr "${args[@]}" >order
    cmp one three
    cmp one order
    lat-source -@ 1 noise:z4,seed=3,dilute=evenodd/stout:.1,2/gauss:2,6 u.lat >source
    need_mpi
    for n in 2 5; do
        lat-corr -n $n -@ 1 "${args[@]}" a.lat >ranks
        cmp one ranks
        lat-source -n $n -@ 1 noise:z4,seed=3,dilute=evenodd/stout:.1,2/gauss:2,6 u.lat >ranks
        cmp source ranks
        lat-source -n $n -@ 1 momentum:1,0,0,0.5/hyp:.7,.6,.3,1/gauss:1,3 u.lat | lat-corr --force >ranks
        lat-source momentum:1,0,0,0.5/hyp:.7,.6,.3,1/gauss:1,3 u.lat | lat-corr --force | cmp - ranks
    done
}

@test "a smeared sink has the factor of a plane wave on unit links, a smeared source is gauge covariant" {
    lat-start cold --dims 4,4,6,4 -o cold.lat
    lat-source wall:1,1,0,2 cold.lat -o wall.lat
    lat-corr --force --channels pion wall.lat >plain
    lat-corr --force --channels pion --sink gauss:1.5,4 --gauge-file cold.lat wall.lat >smeared
    awk -F'\t' -v pi=3.14159265358979 '
        FNR == 1 { next }
        FNR == NR { plain[$6] = $7; next }
        { a = 2.25 / 16; f = (1 - 6 * a + 2 * a * (cos(pi / 2) + 1 + cos(2 * pi / 3)))^8; if (!(($7 - f * plain[$6])^2 < 1e-20)) exit 1 }
        END { exit !(plain[0] == 12 * 96) }' plain smeared
    rough u.lat --dims 4,4,6,4
    lat-gauge --random --seed 3 u.lat -o g.lat
    for steps in gauss:2,6 ape:.5,4,spatial/gauss:2,6 stout:.1,2/gauss:2,6 hyp:.75,.6,.3,1/gauss:2,6; do
        # The column at x0 turns by g(x0): what is summed over colours stays. Momenta and another gamma see more than the norm.
        lat-source "point:1,0,3,2/$steps" u.lat | lat-corr --force --channels pion,axial_t --momenta 2 >u
        lat-source "point:1,0,3,2/$steps" g.lat | lat-corr --force --channels pion,axial_t --momenta 2 >g
        agree u g
    done
}

@test "what a header says of an operator ends with it: smeared links, an overlap propagator" {
    lat-start weak --dims 2,2,2,4 --seed 3 -o u.lat
    lat-solve -@ 1 --mass 1 --smear-links stout:.1,2 --source point:0,0,0,0 u.lat -o p.lat
    lat-source sequential:g5,2 p.lat -o s.lat
    lat-solve -@ 1 --mass 1 -U u.lat s.lat -o q.lat
    lat-dirac --check -U u.lat --source-file s.lat q.lat >found
    # A product says how links were smeared in its operator; what is solved on it says its own.
    lat-dirac --apply M --mass 1 --smear-links stout:.2,1 -U u.lat p.lat -o m.lat
    [ "$(lat-info m.lat | grep -o 'smeared_links.*')" = 'smeared_links = stout:.2,1' ]
    lat-solve -@ 1 --mass 2 -U u.lat m.lat -o n.lat
    lat-dirac --check -U u.lat --source-file m.lat n.lat >found
    lat-solve -@ 1 --operator overlap --mu .5 --residual 1e-6 --source point:0,0,0,0 u.lat -o o.lat
    lat-source sequential:g5,2 o.lat -o os.lat
    lat-dirac --apply M --mass 1 -U u.lat o.lat -o om.lat
    for f in s q n os om; do
        ! lat-info $f.lat | grep -E 'smeared_links =|propagator =|overlap_bound =' || { echo $f; false; }
    done
}

@test "sources without links, in single precision, and sequential sources" {
    need_numpy
    lat-source ball:1.5,0,0,0,2 --dims 4,4,4,6 --group 2 --precision single -o a.lat
    lat-info a.lat >info
    grep -q '^source *ball:1.5,0,0,0,2$' info
    grep -q 'f32' info
    random s.lat 7
    lat-start weak --dims 4,3,2,5 --seed 2 -o u.lat
    lat-source sequential:gxg5,3,1,0,1 s.lat -o a.lat
    # A site is the same however its numbers are written: t and phases count from it.
    for place in point:1,0,1,3 point:1.0,0,0x1,3e0; do
        lat-source $place u.lat | lat-corr --force --channels pion --momenta 1 | cut -f 1-8 >"$place"
    done
    cmp point:*
    TESTS=$ROOT/tests "$PYTHON" - <<'END'
import os
import sys

import lat
import numpy as np

sys.path.insert(0, os.environ["TESTS"])
from free_quarks import G5, X

s, a = (next(lat.read(name)) for name in ("s.lat", "a.lat"))
x = np.arange(4)[None, None, :], np.arange(2)[:, None, None]
phase = np.exp(2j * np.pi * (x[0] / 4 + x[1] / 2)) * np.ones((2, 3, 4))
want = np.einsum("rs,zyx,zyxcsa->zyxcra", X @ G5, phase, s.spinors[3])
assert abs(a.spinors[3] - want).max() < 1e-14
assert abs(np.delete(a.spinors, 3, axis=0)).max() == 0
assert a.header.source.startswith("sequential:gxg5,3,1,0,1 of point"), a.header.source
assert a.header.operator is None and a.header.residuals is None, a.header.operator
END
    # Steps smear before and after: of a wave on unit links twice the factor.
    lat-start cold --dims 4,4,4,4 -o cold.lat
    lat-source wall:2,1,0,0 cold.lat -o wall.lat
    lat-source --force sequential:g5,2/gauss:1,2 --gauge-file cold.lat wall.lat | lat-corr --force --channels pion >found
    awk -F'\t' '$6 == 2 { a = 1 / 8; exit !(($7 - 12 * 64 * (1 - 2 * a)^8)^2 < 1e-18) }' found
}

@test "several files get a column, JSON is JSON, configurations of a stream are counted: links, not propagators" {
    need_numpy
    random a.lat 1
    random b.lat 2 89abcdef
    lat-corr --channels pion a.lat b.lat >both
    [ "$(head -n 1 both)" = "$(printf 'file\tconfiguration\tchannel\tpx\tpy\tpz\tt\tre\tim\toperator\tsource\tsink\tdims\tgroup\tlinks\tensemble')" ]
    [ "$(cut -f 1 both | sort | uniq -c | sort -n | tr -s ' ' | tr '\n' ';')" = " 1 file; 5 a.lat; 5 b.lat;" ]
    "$PYTHON" -c '
import lat
lat.write("c.lat", [next(lat.read("a.lat")), next(lat.read("b.lat"))])'
    lat-corr --channels pion c.lat | cut -f 1-2,6-7 | tail -n +2 | cut -f 1,4 >c
    tail -n +2 both | awk -F'\t' '{ print ($1 == "b.lat") + 0 "\t" $8 }' | cmp - c
    lat-corr --json --channels pion,pcac --momenta 1 c.lat | "$PYTHON" -c '
import json, sys
for k, line in enumerate(sys.stdin):
    one = json.loads(line)
    assert one["configuration"] == k and len(one["correlators"]) == 7 and one["links_crc"] == ("0123cdef", "89abcdef")[k]
assert k == 1'
    lat-corr --second c.lat --channels pion c.lat >d
    lat-corr --channels pion -i c.lat | cut -f 1-8 | cmp - <(cut -f 1-8 d)
    # Two sources of one configuration are no two configurations: their mean comes first.
    random e.lat 3
    cat a.lat e.lat b.lat | lat-corr --channels pion >e
    [ "$(cut -f 1 e | uniq -c | tr -s ' ' | tr '\n' ';')" = " 1 configuration; 10 0; 5 1;" ]
    lat-stat e >found
    awk -F'\t' '$2 == "pion" && $6 == 0 { c[$1] += $7; n[$1]++ } END { printf "%.8g 2\n", (c[0] / n[0] + c[1] / n[1]) / 2 }' e >want
    awk -F'\t' '$1 == "pion" && $5 == 0 { printf "%.8g %d\n", $6, $12 }' found | cmp - want
}

@test "propagators through pipes give the numbers of files; what is damaged gives the sentence of the file" {
    lat-start weak --dims 6,6,6,8 --epsilon .3 --seed 4 -o links.lat
    lat-solve --kappa .11 --source point:0,0,0,0 links.lat -o x.lat
    lat-solve --kappa .12 --source point:0,0,0,0 links.lat -o y.lat
    lat-convert -p single y.lat -o single.lat
    cat x.lat y.lat single.lat x.lat >first.lat
    cat y.lat x.lat x.lat single.lat >second.lat
    lat-corr --second second.lat first.lat >file.tsv
    lat-corr --second <(cat second.lat) <(cat first.lat) | cut -f 2- >pipe.tsv
    cut -f 2- file.tsv | cmp - pipe.tsv
    local size offset said
    size=$(wc -c <x.lat)
    # Another byte, or no more of them, in the first and the last slice; of either input.
    for offset in $((size - 3000)) 3000; do
        (head -c "$offset" x.lat && printf '\125\252' && tail -c +$((offset + 3)) x.lat) >bad.lat
        run -1 lat-corr bad.lat
        said=${output//bad.lat/<stdin>}
        run -1 bash -c "cat bad.lat | lat-corr"
        [ "$output" = "$said" ] || { echo "$output"; echo "$said"; return 1; }
        run -1 bash -c "head -c $offset x.lat | lat-corr"
        [ "$output" = "lat-corr: <stdin>: truncated after $offset bytes" ]
        run -1 timeout 20 bash -c "(cat bad.lat; cat x.lat) | lat-corr --second <(cat x.lat bad.lat)"
        run -1 timeout 20 bash -c "cat x.lat | lat-corr --second <(cat bad.lat)"
    done
    # A run that fails does not wait for what may never come through another pipe.
    mkfifo two
    (head -c 100000 x.lat && exec sleep 60) >two &
    run -1 timeout 20 bash -c "cat bad.lat | lat-corr --second two"
    [[ $output == "lat-corr: <stdin>: "*damaged* ]]
    kill $! 2>/dev/null || true
}

@test "what is not of the kind of its input does not replace it: tables, propagators, sources, modes, legs, flowed links" {
    lat-start hot --dims 2,2,2,2 --seed 1 -o u.lat
    lat-solve --mass 1 --source momentum:0,0,0,.5 u.lat -o s.lat
    for command in "lat-corr s.lat -o s.lat" "lat-corr u.lat s.lat -o s.lat" "lat-theta u.lat -o u.lat" "lat-flow --until .1 u.lat -o ./u.lat" \
        "lat-solve --mass 1 --source wall:0 u.lat -o u.lat" "lat-solve --mass 1 -U u.lat b.lat -o u.lat" "lat-source wall:0 u.lat -o u.lat" \
        "lat-modes --mass 1 --modes 1 u.lat -o u.lat" "lat-dirac --apply M --mass 1 -U u.lat b.lat -o u.lat" \
        "lat-quark --force --legs s.lat s.lat" "lat-flow --until .1 --links v.lat u.lat v.lat"; do
        lat-source wall:0 u.lat -o b.lat
        cp u.lat v.lat
        cp u.lat u.was
        cp s.lat s.was
        # shellcheck disable=SC2086 # words
        run ! --separate-stderr $command
        [ "$status" -le 2 ]
        [ ${#stderr_lines[@]} -le 2 ]
        cmp u.lat u.was
        cmp s.lat s.was
        cmp u.lat v.lat
    done
    refuses 1 's.lat: is the output as well' lat-corr s.lat -o s.lat
    refuses 1 'u.lat: is the output as well' lat-solve --mass 1 -U u.lat b.lat -o u.lat
    lat-smear stout:.1,1 u.lat -o u.lat # links by links: in place
    nothing_left
}

@test "a propagator that was rounded to single precision states no residuals: those were of other numbers" {
    lat-start weak --dims 4,4,2,4 -o u.lat
    lat-solve --mass .5 --source point:0,0,0,0 u.lat -o x.lat
    lat-info x.lat | grep -q '^residuals'
    lat-convert --precision single x.lat -o file.lat
    lat-convert --precision single <x.lat | lat-convert --precision double -o back.lat
    for f in file back; do
        lat-info --check $f.lat >info
        run ! grep '^residuals' info
        run -3 lat-dirac --check -U u.lat $f.lat
        lat-dirac --check --residual 1e-6 -U u.lat $f.lat >/dev/null
        lat-corr --channels pion $f.lat >/dev/null
    done
    lat-convert --precision double x.lat | lat-info | grep -q '^residuals'
}

@test "what makes wrong physics is refused in a sentence" {
    need_numpy
    random a.lat 1
    random other.lat 2 89abcdef
    random moved.lat 2 0123cdef point:0,0,0,0
    lat-start cold --dims 4,4,4,4 -o u.lat
    lat-source point:0,0,0,0 u.lat -o source.lat
    refuses 1 'of CRC 0123cdef, found one of CRC 89abcdef' lat-corr --second other.lat a.lat
    refuses 1 'expected the source of the first propagator' lat-corr --second moved.lat a.lat
    refuses 1 'found a source' lat-corr source.lat
    # The same links in single and in double have two CRCs, which --gauge-file tells from those of others.
    rough r.lat --dims 2,2,2,2
    lat-convert --to nersc --precision single r.lat -o r.nersc
    lat-convert --to ildg --precision double r.nersc -o r.ildg
    for links in lat nersc ildg; do lat-solve --mass 1 --source point:0,0,0,0 r.$links -o s.$links; done
    refuses 1 '(--gauge-file knows links that were stored otherwise; --force takes it)' lat-corr --second s.nersc s.ildg
    lat-corr --channels pion --second s.nersc --gauge-file r.ildg s.ildg | cut -f 1-8 | cmp - <(lat-corr --channels pion s.nersc | cut -f 1-8)
    refuses 1 's.lat: expected a propagator of the configuration of the first' lat-corr --second s.lat --gauge-file r.ildg s.ildg
    # What a gauge transformation or an operator has changed goes with no propagator as it was.
    lat-gauge --random s.ildg -o g.lat
    refuses 1 'found one of CRC unknown' lat-corr --second g.lat s.ildg
    run -0 --separate-stderr lat-corr --channels pion --sink gauss:1,2 --gauge-file r.ildg g.lat
    [ "$stderr" = "lat-corr: g.lat: is taken as of the links in r.ildg: it does not say of which links it is" ]
    lat-dirac --apply M --mass 1 -U r.ildg s.ildg -o Ms.lat
    refuses 1 'Ms.lat: expected a propagator, found a source' lat-corr Ms.lat
    refuses 2 'is for --sink and --second' lat-corr --gauge-file r.ildg s.ildg
    run -0 --separate-stderr lat-corr --second other.lat --force a.lat
    [[ $output == configuration*pion* ]]
    [[ $stderr == "lat-corr: "*"of CRC 0123cdef, found one of CRC 89abcdef"* ]]
    random nameless.lat 2 ""
    refuses 1 'of CRC 0123cdef, found one of CRC unknown' lat-corr --second nameless.lat a.lat
    run -0 --separate-stderr lat-corr --second nameless.lat nameless.lat
    [[ $stderr == "lat-corr: nameless.lat: "*"neither says of which links it is" ]]
    random small.lat 2 0123cdef point:1,2,0,3 2,2,3,4
    refuses 1 'expected SU(3) on' lat-corr --second small.lat a.lat
    refuses 1 'expected SU(3) on' lat-corr --force --second small.lat a.lat
    refuses 1 'a gauge field' lat-corr u.lat
    refuses 1 'expected its links, of CRC 0123cdef' lat-corr --sink gauss:1,2 --gauge-file u.lat a.lat
    refuses 2 'gauge-file is needed' lat-corr --sink gauss:1,2 a.lat
    refuses 2 '--second: expected a channel with a second quark' lat-corr --channels nucleon,delta --second a.lat a.lat
    refuses 2 "found 'kaon'" lat-corr --channels pion,kaon a.lat
    refuses 2 'expected momenta' lat-corr --momenta 1,0 a.lat
    refuses 2 'expected momenta' lat-corr --momenta -99999999999999999999,0,0 a.lat
    refuses 2 'expected different momenta, found 1,0,0 twice' lat-corr --momenta 1,0,0/0,1,0/1,0,0 a.lat
    refuses 2 'expected different momenta, found 1,0,0 twice, as n counts modulo the extents' lat-corr --momenta 1,0,0/-3,3,2 a.lat
    refuses 2 '--momenta 1: expected 0, as pcac is of momentum 0 alone' lat-corr --channels pcac --momenta 1 a.lat
    refuses 2 'only one of the inputs can be stdin' lat-source sequential:g5,1/gauss:1,20 -U - -
    refuses 2 'only one of the inputs can be stdin' lat-overlap --gw --modes - -
    refuses 2 'only one of the inputs can be stdin' lat-solve --operator overlap --mu .1 --modes - --source point:0,0,0,0 -
    refuses 2 'expected sequential:GAMMA,t' lat-source sequential:g5,0,-99999999999999999999,0,0 a.lat
    refuses 2 'expected momenta from -1e6 to 1e6, found 1e+300' lat-source wall:0,0,1e300,0 u.lat
    refuses 2 'expected momenta from -1e6 to 1e6, found -1e+09' lat-source momentum:0,0,0,-1e9 u.lat
    refuses 2 'origin' lat-corr --origin 4,0,0,0 a.lat
    # A header that has the place of the source is not overridden in silence; what it does not have is said by --origin.
    lat-solve --mass 1 --source point:1,2,3,0 u.lat -o placed.lat
    refuses 1 'placed.lat: expected --origin with z = 3, as the header says (point:1,2,3,0), found 1,2,0,0' \
        lat-corr --origin 1,2,0,0 placed.lat
    lat-corr --momenta 1 --origin 1,2,3,0 placed.lat | cmp - <(lat-corr --momenta 1 placed.lat)
    run -0 --separate-stderr lat-corr --force --origin 0,0,0,3 placed.lat
    [[ $stderr == *"found 0,0,0,3 (--force takes it)"* ]]
    lat-solve --mass 1 --source wall:3 u.lat -o wall.lat
    for source in momentum:0,0,0,0.5 noise:z2,dilute=spin-colour; do
        lat-solve --mass 1 --source $source u.lat -o volume.lat
        refuses 1 "volume.lat: expected a source on a slice, from which t counts, found ${source%%,*}" lat-corr volume.lat
        lat-corr --origin 0,0,0,1 --channels pion volume.lat >found
        lat-corr --force --channels pion volume.lat 2>err >found
        grep -q '^lat-corr: volume.lat: expected a source on a slice' err
    done
    lat-solve --mass 1 --source noise:z2,t=1,dilute=spin-colour u.lat -o slice.lat
    lat-corr --channels pion slice.lat >found
    refuses 1 'slice.lat: channel nucleon: expected another source than noise' lat-corr --channels pion,nucleon slice.lat
    for source in slice wall; do
        [ $source = slice ] || lat-solve --mass 1 --source wall:3 u.lat -o wall.lat
        run -0 --separate-stderr lat-corr --channels pion --momenta 1 $source.lat
        [[ $stderr == "lat-corr: $source.lat: expected momentum 0 alone, because the source is on a whole slice, "*": at others the mean is 0" ]]
        run -0 --separate-stderr lat-corr --channels pion $source.lat
        [ -z "$stderr" ]
    done
    refuses 1 'expected --origin with t = 3, as the header says (wall:3)' lat-corr --origin 1,0,0,0 wall.lat
    run -0 --separate-stderr lat-corr --origin 1,0,0,3 wall.lat
    [ -z "$stderr" ]
    refuses 2 'expected x from 0 to 3, found 4294967296,0,0,0' lat-corr --origin 4294967296,0,0,0 a.lat
    refuses 2 'expected momenta' lat-corr --momenta 4294967297,0,0 a.lat
    refuses 2 'expected t from 0 to 4' lat-source sequential:g5,4294967297 a.lat
    refuses 2 'expected sequential:' lat-source sequential:g5,1,4294967297,0,0 a.lat
    lat-start cold --dims 4,4,4,4 --group 2 | lat-source point:0,0,0,0 - -o two.lat
    refuses 2 'three colours' lat-corr --force --channels nucleon two.lat
    "$PYTHON" -c '
import lat
lat.write("c.lat", [next(lat.read("a.lat"))] * 2)'
    refuses 1 'found the end' lat-corr --second a.lat -o none c.lat
    refuses 1 'found more' lat-corr --second c.lat -o none a.lat
    [ ! -e none ]
    refuses 2 'coordinate x from 0 to 3' lat-source point:4,0,0,0 u.lat
    # On 4^3 the wave (2,2,2) is multiplied by 1 - 3 w^2/n in a step: -1 for w = 2, n = 6, beyond it for fewer steps.
    lat-source wall:1,2,2,2/gauss:2,6 u.lat >b.lat
    local few='expected at least 6 steps for width 2, found 5, of which a step multiplies the highest momenta by up to 1.4 (--force takes it)'
    refuses 2 "$few" lat-source wall:1,2,2,2/gauss:2,5 u.lat
    refuses 2 "$few" lat-source gauss:2,5,0,0,0,0 u.lat
    refuses 2 "$few" lat-solve --mass 1 --source point:0,0,0,0/gauss:2,5 u.lat
    lat-solve --mass 1 --source point:0,0,0,0 u.lat -o p.lat
    # Smeared links serve the steps that follow: without one nothing would be smeared.
    refuses 2 'ape:.5,2: expected gauss:W,N after ape:.5,2, as smeared links are for that step, found none' \
        lat-corr --sink ape:.5,2 --gauge-file u.lat p.lat
    refuses 2 'wall:0/gauss:1,4/hyp:.7,.6,.3,1: expected gauss:W,N after hyp:' lat-source wall:0/gauss:1,4/hyp:.7,.6,.3,1 u.lat
    refuses 2 'point:0,0,0,0/stout:.1,2: expected gauss:W,N after' lat-solve --mass 1 --source point:0,0,0,0/stout:.1,2 u.lat
    refuses 2 "wall:0: a step is gauss:W,N, or smears links for it: expected ape:A,N" lat-corr --sink wall:0 --gauge-file u.lat p.lat
    refuses 2 'gauss:2,5: expected at least 6 steps' lat-corr --sink gauss:2,5 --gauge-file u.lat p.lat
    lat-start cold --dims 4,4,4,2 -o v.lat
    lat-solve --mass 1 --source point:0,0,0,0 v.lat -o q.lat
    cat u.lat v.lat >uv.lat
    cat p.lat q.lat >pq.lat
    refuses 1 'pq.lat: source gauss:1,2 is for SU(3) on 4 4 4 4, the links are SU(3) on 4 4 4 2' \
        lat-corr --sink gauss:1,2 --gauge-file uv.lat -o none pq.lat
    refuses 2 'gauss:2,5: expected at least 6 steps' lat-source sequential:g5,1/gauss:2,5 --gauge-file u.lat p.lat
    refuses 2 'at least 1350 steps for width 30, found 4' lat-source point:0,0,0,0/gauss:30,4 u.lat
    run -0 --separate-stderr bash -c 'lat-source --force wall:1,2,2,2/gauss:2,5 u.lat >c.lat'
    [[ $stderr == *"multiplies the highest momenta by up to 1.4, as 5 steps are below 6 for width 2 (--force)" ]]
    lat-corr --force --channels pion b.lat c.lat | awk -F'\t' '$7 == 0 && NR > 1 { n++; want = (n == 1 ? 1 : 1.4^10) * 12 * 64; if (!(($8 / want - 1)^2 < 1e-20)) exit 1 } END { exit n != 2 }'
    refuses 2 "each once), found 't=2'" lat-source noise:z2,t=1,t=2 u.lat
    refuses 2 "each once), found 'z4'" lat-source noise:z2,z4 u.lat
    refuses 2 "each once), found 'seed=1'" lat-source noise:z2,seed=1,seed=1 u.lat
    refuses 2 "each once), found 'dilute=colour'" lat-source noise:z2,dilute=spin,dilute=colour u.lat
    refuses 1 'smearing needs links' lat-source wall:0/gauss:1,2 --dims 4,4,4,4
    refuses 1 'a quark propagator' lat-source wall:0 source.lat
    refuses 2 'expected t from 0 to 4' lat-source sequential:g5,5 a.lat
    refuses 1 'expected a propagator, found a source' lat-source sequential:g5,1 source.lat
    refuses 1 'four dimensions' lat-source wall:0 --dims 4,4,4
    head -c 5000 a.lat >cut.lat
    refuses 1 'truncated' lat-corr cut.lat
    nothing_left
}

@test "what a propagator cannot say is said: far slices of a heavy quark, flavours of twisted ones, sums that overflow" {
    need_numpy
    lat-start cold --dims 4,4,4,64 -o c.lat
    lat-solve --mass 1 --source point:0,0,0,0 c.lat -q -o heavy.lat
    run -0 --separate-stderr lat-corr --channels pion heavy.lat
    [[ $stderr == "lat-corr: heavy.lat: expected slices above 100 times the residual of the solution, "*" of 64 below it, the least, "*"on slice 32: "* ]]
    # the exact pion there, of free Wilson quarks: a quarter of it is missing
    awk -F'\t' '$6 == 32 { found = 1; exit !(($7 / 2.54109912102e-21 - 1)^2 > .01) } END { exit !found }' <<<"$output"
    lat-solve --mass .1 --source point:0,0,0,0 c.lat -q -o light.lat
    run -0 --separate-stderr lat-corr --channels pion light.lat
    [ -z "$stderr" ]
    lat-start weak --dims 4,4,4,4 -o w.lat
    lat-solve --kappa .12 --twist .1 --source point:0,0,0,0 w.lat -q -o u.lat
    lat-solve --kappa .12 --twist -.1 --source point:0,0,0,0 w.lat -q -o d.lat
    run -0 --separate-stderr lat-corr --channels pion,nucleon,delta u.lat
    [ "$stderr" = "lat-corr: u.lat: channel nucleon: all its light quarks have twist 0.1, and no u and d of a doublet: the proton is sigma with --second of twist -0.1" ]
    run -0 --separate-stderr lat-corr --channels sigma --second d.lat u.lat
    [ -z "$stderr" ]
    "$PYTHON" -c 'import lat
s, = lat.read("u.lat")
big = lat.propagator(s.spinors * 1e200, operator=s.header.operator, source="momentum:0,0,0,.5")
big.header.gauge, big.header.functional, big.header.theta = "landau", .9, 1e-20
lat.write("big.lat", big)'
    lat-orelax -q --theta 1e-14 w.lat -o l.lat
    lat-solve --kappa .12 --source momentum:1,0,0,.5 l.lat -q -o m.lat
    lat-quark m.lat >want
    "$PYTHON" -c 'import lat
s, = lat.read("m.lat")
s.header.operator, s.header.residuals, s.header.source = None, None, None
lat.write("bare.lat", s)'
    refuses 1 "bare.lat: expected an operator in the header, found none (--boundary p,p,p,a states " lat-quark --source momentum:1,0,0,.5 bare.lat
    run -0 --separate-stderr lat-quark --source momentum:1,0,0,.5 --boundary p,p,p,a bare.lat
    [ "$stderr" = "lat-quark: bare.lat: the operator is not known: quarks are taken as isotropic, without a mass" ]
    cmp <(cut -f 1-12 <<<"$output") <(cut -f 1-12 want) # up to M, which needs no mass of the operator
    run -1 --separate-stderr lat-quark --source momentum:1,0,0,.5 --boundary p,p,p,p bare.lat
    [[ $stderr == *"bare.lat: expected nt of the momentum to be a whole number plus 0, because the boundary is p,p,p,p, found 0.5"* ]]
    refuses 1 "big.lat: expected numbers whose products are finite" lat-corr --origin 0,0,0,0 --channels pion big.lat
    refuses 1 "big.lat: expected sums that are finite, found " lat-quark --vertex big.lat
}
