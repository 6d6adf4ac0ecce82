#!/usr/bin/env bats
# shellcheck disable=SC2154,SC2030,SC2031  # output and stderr are set by run; each test is a shell of its own
# Purpose: lat-smear: smeared links in a stream, the same as those of operators and sources; bad input.
load helper

@test "smeared links are those with which lat-solve solves" {
    rough u.lat --dims 4,4,4,4
    lat-smear stout:.1,2 u.lat -o v.lat
    lat-solve --kappa .12 --csw 1.2 --source point:0,0,0,0 --residual 1e-11 --smear-links stout:.1,2 u.lat -o a.lat
    lat-solve --kappa .12 --csw 1.2 --source point:0,0,0,0 --residual 1e-11 v.lat -o b.lat
    lat-diff --tolerance 1e-9 a.lat b.lat > /dev/null
}

@test "smearing raises the plaquette, commutes with gauge transformations, and steps add up" {
    local text
    rough u.lat --dims 4,3,4,6
    lat-gauge --random --seed 3 --save-g g.lat u.lat -o w.lat
    for text in ape:.5,1 stout:.1,1 hyp:.75,.6,.3,1 ape:.5,1,spatial; do
        lat-smear $text u.lat -o v.lat
        awk -v a="$(column v.lat plaquette)" -v b="$(column u.lat plaquette)" 'BEGIN { exit !(a > b + .01) }'
        lat-smear $text w.lat | lat-diff --tolerance 1e-13 - <(lat-gauge --apply g.lat v.lat) > /dev/null
        lat-smear $text v.lat | lat-diff --tolerance 1e-13 - <(lat-smear "${text/,1/,2}" u.lat) > /dev/null
    done
}

@test "HYP has three weights, and two with spatial: the sentence says both" {
    lat-start hot --dims 2,2,2,2 -o u.lat
    refuses 2 "hyp:A1,A2,A3,N, weights from 0 to 1 and a number of steps (and ,spatial after it: then hyp:A1,A2,N,spatial)" \
        lat-smear hyp:.7,.8,.3,1,spatial u.lat
    lat-smear hyp:.3,.3,1,spatial u.lat -o v.lat
}

@test "the header has the smearing, the history a line; precision and ranks" {
    rough u.lat --dims 4,4,4,6 --precision single
    lat-smear stout:.1,2 u.lat | lat-smear ape:.5,1 -o v.lat
    lat-info v.lat | grep -q 'smearing.*stout:.1,2 ape:.5,1$'
    lat-info v.lat | grep -q 'lat-smear.*stout:.1,2'
    lat-info v.lat | grep -q 'single'
    lat-info --check v.lat > /dev/null
    lat-smear --precision double ape:.5,1 u.lat | lat-info | grep -q 'double'
    need_mpi
    lat-smear -n 3 --no-provenance hyp:.75,.6,.3,2 u.lat > a.lat
    lat-smear -@ 1 --no-provenance hyp:.75,.6,.3,2 u.lat > b.lat
    cmp a.lat b.lat
}

# The limits of docs/flow.md are sharp: many steps just below them smooth links, and just above they make them rough.
@test "weights with which short waves grow are said, and only those" {
    local text most
    lat-start weak --epsilon .1 --seed 3 --dims 4,4,4,4 -o u.lat
    while read -r text most; do
        ! sanitized || continue # a hundred steps, five times
        lat-smear "${text/@/$(awk -v m="$most" 'BEGIN { print m * .97 }')}" u.lat 2>said -o v.lat
        [ ! -s said ]
        column v.lat plaquette >below
        lat-smear "${text/@/$(awk -v m="$most" 'BEGIN { print m * 1.1 }')}" u.lat 2>said -o v.lat
        [[ $(cat said) == "lat-smear: expected "*" at most $most, found "*"short wavelength grow, by 1.2 a step"* ]]
        column v.lat plaquette >above
        awk -v a="$(cat above)" -v b="$(cat below)" 'BEGIN { exit !(b > .999 && a < .95) }' || { cat below above; return 1; }
    done <<'END'
stout:@,100 0.125
ape:@,100 0.75
hyp:@,.6,.3,100 0.8427
hyp:@,.1,.2,100 0.8152
hyp:@,.4,.9,100 0.7812
END
    lat-smear stout:.22,2,spatial u.lat 2>said -o v.lat
    [[ $(cat said) == *"R of stout smearing at most 0.1667, found 0.22: "*"by 1.64 a step"* ]]
    lat-smear hyp:.7,.8,1,spatial u.lat 2>said -o v.lat
    [[ $(cat said) == *"A1 of hyp smearing at most 0.5556, found 0.7: "* ]]
    lat-solve --mass 1 --smear-links stout:.2,1 --source point:0,0,0,0/gauss:1,2 u.lat 2>said -o p.lat
    [ "$(grep -c 'R of stout smearing at most 0.125, found 0.2: ' said)" -eq 1 ]
}

@test "bad input: one sentence, no output" {
    rough u.lat --dims 4,4,4,4
    run -2 --separate-stderr lat-smear stout:2,1 u.lat -o v.lat
    [[ $stderr == "lat-smear: expected ape:A,N, stout:R,N or hyp:A1,A2,A3,N"*"found 'stout:2,1'"* ]]
    run -2 --separate-stderr lat-smear
    lat-heatbath --dims 4,4,4,4 --beta 5.8 --xi 2 --thermalise 2 --seed 3 -o xi.lat
    refuses 1 'xi.lat: expected links of an isotropic lattice, found anisotropy 2 (--force takes them as isotropic)' lat-smear ape:.5,2 xi.lat -o v.lat
    lat-smear ape:.5,2,spatial xi.lat -o w.lat
    lat-reorder --axes t,y,z,x xi.lat -o turned.lat
    refuses 1 'turned.lat: expected xi of the last direction, found xi of x' lat-smear ape:.5,2,spatial turned.lat -o v.lat
    lat-start hot --dims 4,4 -o plane.lat
    run -1 --separate-stderr lat-smear hyp:.75,.6,.3,1 plane.lat -o v.lat
    [[ $stderr == *"HYP smearing is for four dimensions"* ]]
    [[ $stderr == "lat-smear: plane.lat: "* ]]
    lat-source point:0,0,0,0 u.lat -o b.lat
    run -1 --separate-stderr lat-smear stout:.1,1 b.lat -o v.lat
    [ "$stderr" = "lat-smear: b.lat: expected a gauge field, found a quark propagator" ]
    [ ! -e v.lat ]
    refuses 1 'b.lat: expected links or a gauge transformation, found a quark propagator' lat-reunit b.lat
    refuses 1 'No space left on device' lat-reunit --report /dev/full u.lat -o v.lat
    [ ! -e v.lat ]
    refuses 1 'b.lat: expected links or a gauge transformation, which have symmetries, found a quark propagator' lat-reorder --shift 1,0,0,0 b.lat
    nothing_left
}
