#!/usr/bin/env bats
# Purpose: overlap propagators of Chroma, from its configuration; the index of larger lattices. An hour on two cores.
# shellcheck disable=SC2154
load ../helper

weak=lime_pyquda_weak_field.lime # Chroma's weak field, 4^3 x 8

# pion BOUND OPTION... -- NUMBER...: the pion of an overlap propagator, M0 1.4, mu .06, from a smeared source, relative.
pion() {
    local bound=$1 options=()
    need_data "$weak"
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    lat-convert "$DATA/$weak" | lat-solve --operator overlap --m0 1.4 --mu .06 --source gauss:2,5,0,0,0,0 "${options[@]}" \
        | lat-corr --channels pion | awk -F'\t' -v bound="$bound" -v list="$*" '
            BEGIN { n = split(list, want, " ") }
            $1 == "configuration" { next }
            { i++; d = $7 / want[i] - 1; if (!(d * d <= bound * bound)) { print "t = " $6 ": " $7 ", expected " want[i]; bad++ } }
            END { exit bad || i != n || !n }'
}

@test "Chroma: overlap, exact sign function (O6)" {
    pion 1e-9 --residual 1e-11 -- .157117569723 .403009469325 .273185684538 .226093228312 .208836569802 .226105049994 .273283699430 \
        .402844949786
}

@test "Chroma: overlap by Zolotarev's function with two poles, on an interval that does not hold the spectrum (O6z)" {
    pion 2e-6 --residual 1e-7 --sign zolotarev --order 2 --interval .66,6.46357 --force-interval --project 0 -- \
        .155076033594321 .403311092467531 .274774516115258 .225791133701883 .208535291451819 .225807552311905 .274884755912608 \
        .403159635210382
}

@test "lat-overlap: the index of uniform flux is -2 n12 n34 for several fluxes, lattices and M0" {
    for dims in 4,4,4,4 6,4,4,4 4,4,4,6 6,6,6,6; do
        for n in "1 1" "1 -1" "2 1" "1 2" "-2 1"; do
            read -r a b <<<"$n"
            for m0 in 1 1.4; do
                lat-start flux --dims $dims --n12 "$a" --n34 "$b" | lat-overlap --index --m0 $m0 >found
                near "$(field found index)" $((-2 * a * b)) 0
                near "$(field found flow)" $((-2 * a * b)) 0
            done
        done
    done
}

@test "lat-overlap: an instanton has index 1, an anti-instanton -1" {
    lat-start instanton --dims 8,8,8,8 --radius 2 | lat-overlap --index >found
    [ "$(tail -n 1 found | cut -f 2-5)" = "$(printf '1\t1\t0\t1')" ]
    lat-start instanton --dims 8,8,8,8 --radius 2 --anti | lat-overlap --index >found
    [ "$(tail -n 1 found | cut -f 2-5)" = "$(printf -- '-1\t0\t1\t-1')" ]
}

@test "lat-overlap --gw: sign^2 = 1 and Ginsparg and Wilson's relation to 10 delta, on Chroma's weak field" {
    need_data "$weak"
    for error in 1e-4 1e-5 1e-6 1e-7 1e-8 1e-9 1e-10 1e-11 1e-12; do
        for sign in minmax zolotarev; do
            lat-overlap --gw --sign $sign --sign-error $error "$DATA/$weak" >found
            near "$(field found sign2)" 0 "$(awk -v e=$error 'BEGIN { print 10 * e }')"
            near "$(field found gw)" 0 "$(awk -v e=$error 'BEGIN { print 10 * e }')"
        done
    done
}
