#!/usr/bin/env bats
# Purpose: overlap propagators of Chroma, from its configuration. A few minutes on two cores.
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
