#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Purpose: the tools treat open and antiperiodic boundaries as docs/gauges.md says. formats.bats tests how they are recognised.
load helper
load formats

# open NAME [OPTION]...: a rough field, as NAME.periodic.lat, and as NAME.lat with its time axis open, by way of a file of openQCD,
# for other groups of HiRep, made by make_foreign.py.
open() {
    local name=$1 format=openqcd
    shift
    [[ $* != *-N* ]] || format=hirep
    rough "$name.periodic.lat" -d 4,6,4,8 "$@"
    lat-convert --to ildg "$name.periodic.lat" -o "$name.ildg"
    "$MAKE" $format "$name.ildg" "$name.$format" spoil=open
    lat-convert "$name.$format" -o "$name.lat" 2> err
}

# unlinked FILE: the time links of the last slice are zero, all others are not.
unlinked() {
    lat-convert --to raw --order natural --endian little "$1" > numbers
    python3 - numbers << 'END'
import struct, sys
b = open(sys.argv[1], "rb").read()
links = [not any(b[i:i + 144].replace(b"\x80", b"\0")) for i in range(0, len(b), 144)]
slice = len(links) // 8
sys.exit(any(zero != (i % 4 == 3 and i >= 7 * slice) for i, zero in enumerate(links)))
END
}

@test "every gauge is fixed with open boundaries, in either precision; missing links stay missing" {
    local gauge p
    open a
    unlinked a.lat
    for gauge in landau coulomb mag; do
        for p in single double; do
            lat-orelax --gauge $gauge --theta 1e-11 -p $p a.lat -o fixed.lat
            # The condition, measured on the links in double precision.
            near "$(column fixed.lat theta)" 0 1e-11
            unlinked fixed.lat
            lat-info --check fixed.lat > /dev/null
            lat-info fixed.lat | grep -q "boundary_4 = OPEN"
            near "$(number plaquette fixed.lat)" "$(number plaquette a.lat)" 1e-13
            near "$(column fixed.lat unitarity_max)" 0 1e-13
            near "$(column fixed.lat det_error_max)" 0 1e-13
        done
    done
    # No phase is led across an open boundary.
    lat-orelax --gauge mag --residual --theta 1e-11 a.lat | lat-theta --residual --require-theta 1e-11 >theta
    lat-convert --rows 2 a.lat | lat-orelax --gauge mag --theta 1e-11 | lat-convert --rows 3 -o fixed.lat
    near "$(column fixed.lat theta)" 0 1e-11
    lat-anneal --gauge landau --steps 30 a.lat | lat-orelax --gauge landau --theta 1e-11 -o fixed.lat
    near "$(column fixed.lat theta)" 0 1e-11
    unlinked fixed.lat
    # What comes back to openQCD has the links that it had, to a gauge transformation.
    lat-convert --to openqcd fixed.lat -o back.openqcd
    lat-convert back.openqcd 2> err | lat-info | grep -q "boundary_4 = OPEN"
    near "$("$CHECK" sums back.openqcd > /dev/null; number plaquette fixed.lat)" "$(number plaquette a.lat)" 1e-13
}

@test "Coulomb gauge does not see an open time axis: the transformation is that of the periodic field" {
    open a
    lat-orelax --gauge coulomb -p double --theta 1e-11 --no-provenance --save-g g.lat a.lat -o fixed.lat
    lat-orelax --gauge coulomb -p double --theta 1e-11 --no-provenance --save-g h.lat a.periodic.lat -o fixed.periodic.lat
    # Links that are not in SU(3) are not made of two rows in a sweep: rounding differs.
    lat-diff --tolerance 1e-10 g.lat h.lat > /dev/null
    near "$(column fixed.lat functional)" "$(column fixed.periodic.lat functional)" 1e-11
    lat-gluon --tsv fixed.lat > one
    lat-gluon --tsv fixed.periodic.lat > two
    [ "$(wc -l < one)" -gt 2 ]
    paste one two | awk 'NR > 1 { d = $5 - $(5 + NF / 2); if (!(d < 1e-12 && d > -1e-12)) bad = 1 } END { exit bad || NR < 3 }'
}

@test "a stream that says open where links are is refused" {
    need_numpy
    open a
    "$PYTHON" - <<'END'
import lat
u = next(lat.read("a.lat")).links.copy()
u[-1, ..., 3, :, :] = u[0, ..., 3, :, :]
lat.write("whole.lat", lat.gauge_field(u, info={"boundary_4": "OPEN"}))
END
    local said="whole.lat: expected the t-links of one slice to be zero, as boundary_4 = OPEN says, found 0 of the 8 through the origin"
    for tool in lat-plaq lat-theta "lat-orelax -o x.lat" "lat-solve --mass 1 --boundary p,p,p,o --source point:0,0,0,0 -o x.lat"; do
        # shellcheck disable=SC2086 # words
        refuses 1 "$said (--force goes on)" $tool whole.lat
    done
    run -0 --separate-stderr lat-orelax --force --theta 1e-6 whole.lat -o x.lat
    # shellcheck disable=SC2154 # set by run
    [[ $stderr == *"$said (--force)"* ]]
}

# of_slices TABLE T COLUMN FIRST LAST: the sum of a column over these slices at flow time T
of_slices() {
    awk -F'\t' -v at="$2" -v name="$3" -v first="$4" -v last="$5" '
        NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        $c["t"] == at && $c["slice"] >= first && $c["slice"] <= last { sum += $c[name]; n++ }
        END { if (n != last - first + 1) exit 1; printf "%.17g\n", sum }' "$1"
}

@test "the Wilson flow with open time: rows of slices, their sums and means, a window, the same on several ranks" {
    local t n
    open a
    lat-flow --tsv --step .05 --until .2 --by-slice --links v.lat a.lat > slices
    lat-flow --tsv --step .05 --until .2 a.lat > all
    lat-flow --tsv --step .05 --until .2 --slices 2,5 a.lat > window
    unlinked v.lat
    lat-info v.lat | grep -q "boundary_4 = OPEN"
    [ "$(wc -l < slices)" -eq 25 ]
    for t in 1 2 3; do # rows of times 0, .1, .2
        local at
        at=$(field all t $t)
        near "$(of_slices slices "$at" Q 0 7)" "$(field all Q $t)" 1e-12
        near "$(awk -v e="$(of_slices slices "$at" E_clover 1 6)" 'BEGIN { printf "%.17g", e / 6 }')" "$(field all E_clover $t)" 1e-12
        near "$(awk -v e="$(of_slices slices "$at" E_plaquette 0 7)" 'BEGIN { printf "%.17g", e / 7 }')" "$(field all E_plaquette $t)" 1e-12
        near "$(awk -v e="$(of_slices slices "$at" E_clover 2 5)" 'BEGIN { printf "%.17g", e / 4 }')" "$(field window E_clover $t)" 1e-12
        [ "$(of_slices slices "$at" E_clover 0 0)$(of_slices slices "$at" Q 7 7)" = 00 ]
    done
    # Three rows have a parabola: its slope in the middle.
    near "$(of_slices slices 0.1 W 3 3)" \
        "$(awk -v b="$(of_slices slices 0.2 t2E 3 3)" 'BEGIN { printf "%.17g", .1 * b / .2 }')" 1e-12
    [ "$(field window slices)" = 2,5 ]
    lat-flow --tsv --until 0 --by-slice a.lat | awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "W") w = i; next }
        $w != "nan" { exit 1 }'
    lat-flow --tsv --until .3 --step .05 v.lat > rest
    near "$(field rest E_clover 1)" "$(field all E_clover 3)" 1e-13
    lat-stat slices > mean
    [ "$(wc -l < mean)" -ge 24 ]
    refuses 1 "expected tables of lat-flow, found tables of lat-flow --by-slice" lat-stat --scales slices
    refuses 1 "a.lat: the flow with open time: expected the Wilson flow, found an action with rectangles" lat-flow --action symanzik a.lat
    refuses 1 "a.lat: --slices: expected slices 0 to 7, found 2 to 8" lat-flow --slices 2,8 a.lat
    refuses 2 "--slices: expected two slices A,B, A not above B, found '5,2'" lat-flow --slices 5,2 a.lat
    lat-reorder --shift 0,0,0,1 a.lat -o moved.lat
    refuses 1 "moved.lat: expected the t-links of the last slice to be zero, and no others, as boundary_4 = OPEN says, found 0 of 96 there and 96 elsewhere (lat-reorder --shift moves slices)" lat-flow moved.lat
    lat-reorder --axes t,x,y,z a.lat -o turned.lat
    refuses 1 "expected periodic boundaries, found the x axis open" lat-flow turned.lat
    need_mpi
    for n in 2 3 4; do
        lat-flow -n $n -@ 1 --tsv --step .05 --until .2 --by-slice --links w.lat a.lat > ranks
        cmp slices ranks
        cmp <(lat-convert --no-provenance v.lat) <(lat-convert --no-provenance w.lat)
    done
}

@test "transformations, projection, other orders and rows of a field with open boundaries" {
    open a
    lat-gauge --random --save-g g.lat a.lat -o b.lat
    unlinked b.lat
    lat-gauge --random --save-g h.lat a.periodic.lat > /dev/null
    lat-reunit a.lat -o c.lat
    unlinked c.lat
    lat-diff --tolerance 1e-14 a.lat c.lat > /dev/null
    lat-convert --rows 2 a.lat | lat-convert --rows 3 -o d.lat
    unlinked d.lat
    lat-reorder --sites parity a.lat | lat-reorder -o e.lat
    same a.lat e.lat
    lat-reorder --axes t,x,y,z --reflect t a.lat 2> said | lat-info | grep -q "boundary_1 = OPEN"
    [ "$(cat said)" = "lat-reorder: a.lat: the links that are missing along x are no longer in its last slice, where operators of quarks expect them" ]
    lat-reorder --reflect t a.lat 2> said | lat-reorder --shift 0,0,0,-1 -o back.lat 2> again
    [ -s said ]
    [ ! -s again ]
    # Reflected twice it is what it was.
    lat-reorder --reflect t a.lat | lat-reorder --reflect t -o f.lat
    same a.lat f.lat
    open two -N 2
    lat-convert --rows 1 two.lat | lat-orelax --gauge landau --theta 1e-11 | lat-convert --rows 2 -o g.lat
    near "$(column g.lat theta)" 0 1e-11
}

@test "what needs all links says so and stops, what does not counts those there are" {
    local line
    open a
    lat-orelax --gauge landau --theta 1e-9 a.lat -o fixed.lat
    for line in 'lat-abelian a.lat' 'lat-gluon fixed.lat' 'lat-plaq --sd a.lat' 'lat-heatbath --beta 6 --count 1 a.lat'; do
        # shellcheck disable=SC2086 # words
        run --separate-stderr -1 $line
        # shellcheck disable=SC2154
        [ "${#stderr_lines[@]}" -eq 1 ]
        # shellcheck disable=SC2154
        [[ $stderr == *": expected periodic boundaries, found the t axis open (boundary_4 = OPEN), where links are missing" ]]
        [[ $stderr == "${line%% *}: ${line##* }: "* ]] # names the file
    done
    for line in 'lat-flow --action symanzik a.lat' 'lat-ghost --require-theta 1e-8 fixed.lat'; do
        # shellcheck disable=SC2086 # words
        refuses 1 "${line##* }: " $line
    done
    # Quarks have a wall there, too: their header, and who averages C(t) and C(T-t), would take it as antiperiodic.
    local wall='expected a --boundary of quarks with d or o in t, because the links across it are missing (boundary_4 = OPEN; --force takes another)'
    for line in 'lat-solve --kappa .12 --source point:0,0,0,3' 'lat-modes --kappa .12 --modes 1'; do
        # shellcheck disable=SC2086 # words
        refuses 1 "a.lat: $wall" $line a.lat -o never
    done
    refuses 1 "a.lat: $wall" lat-overlap --gw a.lat -o never
    lat-solve --kappa .12 --source point:0,0,0,3 --boundary p,p,p,d a.lat -o d.lat
    lat-solve --kappa .12 --source point:0,0,0,3 --boundary p,p,p,o a.lat -o o.lat
    refuses 1 "a.lat: $wall" lat-dirac --check --kappa .12 -U a.lat d.lat
    lat-dirac --check -U a.lat d.lat >checked
    run -0 --separate-stderr lat-solve --kappa .12 --source point:0,0,0,3 --force a.lat -o a-prop.lat
    [[ $stderr == *"$wall" ]]
    # It is the same operator, with no hop across.
    lat-diff --tolerance 1e-9 a-prop.lat d.lat >difference
    # Spatial plaquettes are all there; of the others, one time slice of eight is not.
    lat-plaq --json a.lat > a.json
    lat-plaq --json a.periodic.lat > b.json
    python3 - a.json b.json << 'END'
import json, sys
a, b = [json.load(open(f)) for f in sys.argv[1:]]
assert abs(a["plaquette_spatial"] - b["plaquette_spatial"]) < 1e-14
assert abs(a["action_density"] - 2 * 3 * 3 * (1 - a["plaquette_spatial"] + 7 / 8 - a["plaquette_temporal"])) < 1e-12
assert a["charge"] is None and a["action_density_clover"] is None and b["charge"] is not None
END
}

@test "signs that were taken off do not matter to any tool: the output is that of the periodic field" {
    local gauge
    rough a.lat -d 4,6,4,8
    lat-convert --to ildg a.lat -o a.ildg
    "$MAKE" ddalphaamg a.ildg x spoil=antiperiodic
    lat-convert --from ddalphaamg x -o b.lat 2> err
    for gauge in landau mag; do
        lat-orelax --gauge $gauge --theta 1e-9 a.lat -o fa.lat
        lat-orelax --gauge $gauge --theta 1e-9 b.lat -o fb.lat
        same fa.lat fb.lat
    done
    lat-info fb.lat | grep -q "boundary_4 = ANTIPERIODIC"
    cmp <(lat-plaq b.lat) <(lat-plaq a.lat)
}
