#!/usr/bin/env bats
# Purpose: the overlap operator in lat-solve: propagators in their normalisations, methods, what is refused. tests/long/overlap.bats
# has Chroma's numbers; check_overlap the operator itself.
# shellcheck disable=SC2154
load helper

# near BOUND A B: column re of two tables of correlators, relative; B times FACTOR.
near() {
    paste "$2" "$3" | awk -F'\t' -v bound="$1" -v factor="${4-1}" '
        $1 == "configuration" { next }
        { n++; d = $7 - $15 * factor; if (!(d * d <= bound * bound * $7 * $7)) { print $6 ": " $7 ", expected " $15 * factor; bad++ } }
        END { exit bad || !n }'
}

overlap() { lat-solve --operator overlap --source point:0,0,0,0 --columns 0,7 --residual 1e-8 "$@"; }

@test "--operator overlap: polynomial and rational function agree; --mass is --mu times 2 M0" {
    lat-start --start weak --dims 4,2,2,4 --seed 3 -o u.lat
    lat-solve --operator overlap --source point:0,0,0,0 --mu .2 --residual 1e-8 u.lat -o a.lat
    lat-solve --operator overlap --source point:0,0,0,0 --mu .2 --residual 1e-8 --sign zolotarev --m0 1.4 u.lat -o b.lat
    lat-solve --operator overlap --source point:0,0,0,0 --mass .56 --residual 1e-8 u.lat -o m.lat
    for f in a b m; do lat-corr --channels pion $f.lat >$f.tsv; done
    near 1e-6 a.tsv b.tsv
    near 1e-6 m.tsv a.tsv "$(awk 'BEGIN { printf "%.17g", 1 / (2.8 * 2.8) }')"
    lat-info a.lat | grep 'operator .*overlap, mass 0.2, m0 1.4'
    lat-info a.lat | grep 'propagator = subtracted$'
    lat-info m.lat | grep 'propagator = subtracted/2m0$'
    lat-info a.lat | grep -E 'overlap_bound = [0-9.]+e-(09|1[0-9])'
}

@test "--contact writes D^-1: the contact term is what is subtracted" {
    lat-start --start weak --dims 4,2,2,4 --seed 3 -o u.lat
    overlap --mu .2 u.lat -o s.lat
    overlap --mu .2 --contact u.lat -o d.lat
    lat-info d.lat | grep 'propagator = inverse$'
    need_numpy
    "$PYTHON" - <<'END'
import lat
import numpy as np
s, d = ([np.asarray(f.spinors).reshape(-1, 12) for f in lat.read(name)] for name in ("s.lat", "d.lat"))
for column, (x, y) in zip((0, 7), zip(s, d)):
    b = np.zeros_like(y)
    b[0, column] = 1        # spin and colour of the column, at the origin
    assert abs((y - b) / .8 - x).max() < 1e-14, column
END
}

@test "--operator overlap: what is refused, in a sentence" {
    lat-start --start weak --dims 4,2,2,4 --seed 3 -o u.lat
    refused() {
        local status=$1 text=$2
        shift 2
        run "-$status" overlap "$@" u.lat -o no.lat
        [[ $output == *"$text"* ]] || { echo "$output"; false; }
        [ ! -e no.lat ]
    }
    refused 2 'expected m0 between 0 and 2' --mu .1 --m0 2.1
    refused 2 'expected m0 between 0 and 2' --mu .1 --m0 0
    refused 2 'expected mu between -1 and 1' --mu 1
    refused 2 '--mu or --mass is needed'
    refused 2 '--kappa is for --operator wilson' --kappa .12
    refused 2 '--solver is for --operator wilson' --mu .1 --solver cg
    refused 2 'no Dirichlet boundary' --mu .1 --boundary p,p,p,d
    refused 2 'no twisted mass' --mu .1 --twist .1
    refused 2 '0 < A < B' --mu .1 --interval 2,1
    refused 1 'does not hold the spectrum' --mu .1 --interval 1,8
    refused 1 'does not hold the spectrum' --mu .1 --interval .1,5
    run -2 lat-solve --kappa .12 --mu .1 --source point:0,0,0,0 u.lat -o no.lat
    [[ $output == *'--mu is for --operator overlap'* ]]
}
