#!/usr/bin/env bats
# Purpose: the overlap operator in lat-solve: propagators in their normalisations, methods, what is refused; lat-overlap: index, relation,
# spectrum. tests/long/overlap.bats has Chroma's numbers and larger lattices; check_overlap the operator itself.
# shellcheck disable=SC2154
load helper

# alike BOUND A B: column re of two tables of correlators, relative; B times FACTOR.
alike() {
    paste "$2" "$3" | awk -F'\t' -v bound="$1" -v factor="${4-1}" '
        $1 == "configuration" { next }
        { n++; d = $7 - $15 * factor; if (!(d * d <= bound * bound * $7 * $7)) { print $6 ": " $7 ", expected " $15 * factor; bad++ } }
        END { exit bad || !n }'
}

overlap() { lat-solve -@ 1 --operator overlap --source point:0,0,0,0 --columns 0,7 --residual 1e-8 "$@"; }

@test "--operator overlap: polynomial and rational function agree; --mass is --mu times 2 M0" {
    lat-start --start weak --dims 2,2,2,4 --seed 3 -o u.lat
    lat-solve -@ 1 --operator overlap --source point:0,0,0,0 --mu .2 --residual 1e-8 u.lat -o a.lat
    lat-solve -@ 1 --operator overlap --source point:0,0,0,0 --mu .2 --residual 1e-8 --sign zolotarev --m0 1.4 u.lat -o b.lat
    lat-solve -@ 1 --operator overlap --source point:0,0,0,0 --mass .56 --residual 1e-8 u.lat -o m.lat
    # Propagators of one operator in two normalisations are not averaged: the column says which.
    lat-corr --channels pion m.lat | cut -f 9 | grep -qx 'overlap, m0 1.4, mu 0.2, boundary p,p,p,a, propagator subtracted/2m0'
    for f in a b m; do lat-corr --channels pion $f.lat | cut -f 1-8 >$f.tsv; done
    alike 1e-6 a.tsv b.tsv
    alike 1e-6 m.tsv a.tsv "$(awk 'BEGIN { printf "%.17g", 1 / (2.8 * 2.8) }')"
    lat-info a.lat | grep 'operator .*overlap, mass 0.2, m0 1.4'
    lat-info a.lat | grep 'propagator = subtracted$'
    lat-info m.lat | grep 'propagator = subtracted/2m0$'
    lat-info a.lat | grep -E 'overlap_bound = [0-9.]+e-(09|1[0-9])'
}

@test "--contact writes D^-1: the contact term is what is subtracted" {
    lat-start --start weak --dims 2,2,2,4 --seed 3 -o u.lat
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
    lat-start --start weak --dims 2,2,2,4 --seed 3 -o u.lat
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

# index FILE: index, n_plus, n_minus, flow of each configuration.
index() { lat-overlap -@ 1 --index "$1" | tail -n +2 | cut -f 2-5; }

@test "lat-overlap: the index of uniform flux is -2 n12 n34, by spectral flow and by zero modes" {
    lat-start flux --dims 4,4,4,4 --n12 1 --n34 -1 -o u.lat
    lat-start flux --dims 4,4,4,4 --n12 2 --n34 2 >>u.lat # whose levels have more modes than are projected
    [ "$(index u.lat)" = "$(printf '2\t2\t0\t2\n-8\t0\t8\t-8')" ]
}

@test "lat-overlap: eigenvalues are those of numpy's dense operator, to their residuals and the bound" {
    need_numpy
    lat-start weak --epsilon .4 --dims 2,2,2,2 --seed 3 -o u.lat
    unit_spinors unit.lat 2,2,2,2
    lat-dirac --apply g5M --force --mass -1.3 --csw 1.2 --boundary .3,p,p,a -U u.lat unit.lat -o dense.lat
    lat-overlap -@ 1 --spectrum 5 --m0 1.3 --csw 1.2 --boundary .3,p,p,a --sign-error 1e-6 u.lat >found
    lat-gauge --random --seed 5 u.lat | lat-overlap -@ 1 --spectrum 5 --m0 1.3 --csw 1.2 --boundary .3,p,p,a --sign-error 1e-6 >turned
    "$PYTHON" - <<'PY'
import lat, numpy
n = 16 * 12
h = numpy.moveaxis(next(iter(lat.Reader("dense.lat"))).spinors, 4, -1).reshape(n, n)
value, w = numpy.linalg.eigh(h)
g5 = numpy.tile(numpy.repeat([1, 1, -1, -1], 3), n // 12)
d = (numpy.eye(n) + g5[:, None] * ((w * numpy.sign(value)) @ w.conj().T)) / 2
for name in "found", "turned":
    rows = [line.split("\t") for line in open(name).read().splitlines()[1:]]
    assert len(rows) == 10
    for sign in 1, -1:
        part = g5 == sign
        exact = numpy.linalg.eigvalsh((d.conj().T @ d)[numpy.ix_(part, part)])
        for k, row in enumerate([r for r in rows if int(r[1]) == sign]):
            x, re, im, residual, bound = map(float, row[3:8])
            assert 1e-9 < bound < 2e-6 and residual <= 1e-8 and int(row[2]) == k
            assert abs(x - exact[k]) <= residual + bound, (x, exact[k])
            assert re == x and abs(re ** 2 + im ** 2 - re) < 1e-9 # on the circle
            if exact[k] > 1e-3:
                assert abs(numpy.linalg.eigvals(d) - complex(re, im)).min() < 1e-5
PY
}

@test "lat-overlap --gw: sign^2 = 1 and Ginsparg and Wilson's relation to the error asked for, the same bytes on any number of ranks" {
    lat-start weak --epsilon .3 --dims 2,2,2,4 --seed 3 -o u.lat
    for error in 1e-4 1e-8 1e-12; do
        lat-overlap -@ 1 --gw --sign-error $error u.lat >found
        awk -F'\t' -v e=$error '
            NR == 2 { good = $2 <= 10 * e && $3 <= 10 * e && $2 > e / 1000 && $4 >= e / 10 && $4 < 2 * e }
            END { exit !good }' found || { cat found; false; }
    done
    need_mpi
    for options in "--gw" "--spectrum 2 --sign-error 1e-6"; do
        # shellcheck disable=SC2086  # words
        lat-overlap -@ 1 $options u.lat >one
        # shellcheck disable=SC2086
        lat-overlap -n 2 -@ 1 $options u.lat | cmp one -
    done
}

@test "lat-overlap: what is refused, in a sentence" {
    lat-start --start weak --dims 2,2,2,4 --seed 3 -o u.lat
    refuses 2 'one of --index, --gw and --spectrum' lat-overlap -@ 1 u.lat
    refuses 2 'one of --index, --gw and --spectrum' lat-overlap -@ 1 --gw --index u.lat
    refuses 2 '--follow is for --index' lat-overlap -@ 1 --gw --follow 3 u.lat
    refuses 2 'expected m0 between 0 and 2' lat-overlap -@ 1 --gw --m0 2 u.lat
    refuses 2 'expected m0 between 0 and 2' lat-overlap -@ 1 --index --m0 -.1 u.lat
    refuses 2 '--order and --sign-error exclude each other' lat-overlap -@ 1 --gw --order 3 --sign-error 1e-8 u.lat
    refuses 2 '--sign-error: expected' lat-overlap -@ 1 --gw --sign-error 2 u.lat
    refuses 2 'no Dirichlet boundary' lat-overlap -@ 1 --gw --boundary p,p,p,d u.lat
    refuses 2 '--force-interval is for --gw' lat-overlap -@ 1 --index --interval 1,8 --force-interval u.lat
    refuses 1 'does not hold the spectrum' lat-overlap -@ 1 --gw --interval 1,8 -o out u.lat
    refuses 1 'does not hold the spectrum' lat-overlap -@ 1 --spectrum 2 --interval .1,5 -o out u.lat
    refuses 1 'expected fewer than the 192 that there are in a chirality, found 400' lat-overlap -@ 1 --spectrum 400 -o out u.lat
    refuses 1 'expected at most 383' lat-overlap -@ 1 --gw --project 900 -o out u.lat
    refuses 2 'expected m0 between 0 and 1' lat-overlap -@ 1 --gw --xi 1.6 --nu .8 u.lat
    refuses 1 'a search for 12 modes needs' lat-overlap -@ 1 --gw --memory 1e-5 -o out u.lat
    lat-modes -@ 1 -q --mass -1.4 --modes 5 --residual 1e-11 u.lat -o m.lat
    refuses 1 'a search for 40 modes needs' lat-overlap -@ 1 --spectrum 40 --modes m.lat --memory 1e-3 -o out u.lat
    refuses 1 'a search for 40 modes needs' lat-modes -@ 1 --mass -1.4 --modes 40 --memory 1e-3 u.lat -o out
    lat-start cold --dims 4,2,2,4 -o cold.lat
    refuses 1 'the next one has the same modulus' lat-overlap -@ 1 --gw --project 3 -o out cold.lat
}

# dirac APPLY [OPTION]...: overlap operator, mu .1.
dirac() { lat-dirac -@ 1 --operator overlap --mu .1 --apply "$@"; }

@test "lat-dirac --operator overlap: numpy's dense operator, to the bound; both codes; covariant under gauge transformations" {
    need_numpy
    lat-start weak --epsilon .4 --dims 2,2,2,2 --seed 3 -o u.lat
    unit_spinors unit.lat 2,2,2,2
    lat-dirac --apply g5M --force --mass -1.3 -U u.lat unit.lat -o dense.lat
    for a in M Mdag MdagM g5M sign; do
        dirac $a --force --m0 1.3 --sign-error 1e-5 -U u.lat unit.lat -o $a.lat
    done
    lat-info M.lat | sed -n 's/.*overlap_bound = //p' >bound
    dirac M --code plain --force --m0 1.3 -U u.lat unit.lat -o plain.lat
    "$PYTHON" - <<'PY'
import lat, numpy
n = 16 * 12
def read(name):
    f = next(iter(lat.Reader(name)))
    return numpy.moveaxis(f.spinors, 4, -1).reshape(n, n)
norm = lambda a: numpy.linalg.norm(a, 2)
value, w = numpy.linalg.eigh(read("dense.lat"))
g5 = numpy.tile(numpy.repeat([1, 1, -1, -1], 3), n // 12)[:, None]
s = (w * numpy.sign(value)) @ w.conj().T
mu = .1
d = ((1 + mu) * numpy.eye(n) + (1 - mu) * g5 * s) / 2
bound = float(open("bound").read())
assert 1e-6 < bound < 1e-5, bound
assert bound / 20 < norm(read("M.lat") - d) <= bound, (norm(read("M.lat") - d), bound)
assert norm(read("Mdag.lat") - d.conj().T) <= bound
assert norm(read("g5M.lat") - g5 * d) <= bound
assert norm(read("sign.lat") - s) <= bound * 2 / (1 - mu)
assert norm(read("MdagM.lat") - d.conj().T @ d) <= 2 * bound + bound ** 2
assert norm(read("plain.lat") - d) <= 1e-10
PY
    lat-gauge --random --seed 5 --save-g g.lat u.lat -o ug.lat
    lat-source noise:z4,seed=7 u.lat -o s.lat
    dirac M -U u.lat s.lat | lat-gauge --apply g.lat -o a.lat
    lat-gauge --apply g.lat s.lat | dirac M --force -U ug.lat -o b.lat
    lat-diff a.lat b.lat | awk '$1 == "largest" { n++; bad += !($2 < 1e-10) } END { exit bad || !n }'
}

@test "lat-dirac --check certifies overlap propagators of every normalisation, and no others" {
    lat-start weak --dims 2,2,2,4 --seed 3 -o u.lat
    for options in "--mu .2" "--mu .2 --contact" "--mass .56" "--mass .56 --contact"; do
        # shellcheck disable=SC2086  # words
        lat-solve -@ 1 --operator overlap --source point:0,0,0,0 --residual 1e-8 $options u.lat -o p.lat
        lat-dirac -@ 1 --check --residual 1e-8 -U u.lat p.lat >found
        awk -F'\t' 'NR > 1 { n++; d = $3 / $4 - 1; bad += !(d * d < .01) } END { exit bad || n != 12 }' found
    done
    run -3 lat-dirac -@ 1 --check --operator overlap --mu .21 --residual 1e-8 -U u.lat p.lat
    [[ $output == *"expected residuals below 1e-08, found"* ]]
    run -3 lat-dirac -@ 1 --check --operator overlap --mu .2 --m0 1.3 --residual 1e-8 -U u.lat p.lat
    lat-start weak --dims 2,2,2,4 --seed 4 -o other.lat
    run -3 lat-dirac -@ 1 --check --force --residual 1e-8 -U other.lat p.lat
    run -1 lat-dirac -@ 1 --check --residual 1e-8 -U other.lat p.lat
    lat-solve -@ 1 --kappa .1 --source point:0,0,0,0 u.lat -o w.lat
    refuses 1 'a header that says what is written of an overlap propagator' lat-dirac --check --operator overlap --mu .2 -U u.lat w.lat
    refuses 2 '--even-odd is for --apply schur' lat-dirac --apply M --even-odd sym --kappa .1 -U u.lat p.lat -o no
    refuses 2 '--apply sign is for --operator overlap' lat-dirac --apply sign --kappa .1 -U u.lat p.lat -o no
    refuses 2 '--operator overlap is for --check and --apply M, Mdag' lat-dirac --operator overlap --mu .1 --apply hop -U u.lat p.lat -o no
    refuses 2 'expected m0 between 0 and 2' lat-dirac --operator overlap --mu .1 --m0 2 --apply M -U u.lat p.lat -o no
    refuses 2 '--code plain applies M of the overlap operator alone' \
        lat-dirac --operator overlap --mu .1 --code plain --apply Mdag -U u.lat p.lat -o no
}

@test "O5 and D11 in lat-overlap: the sign function begins at the ninth published eigenvalue, where the gap is" {
    need_data lime_pyquda_weak_field.lime lime_qlua_random-gauge.qio
    lat-overlap -@ 1 --gw --sign-error 1e-6 "$DATA/lime_pyquda_weak_field.lime" >found
    [ "$(field found modes)" -eq 8 ]
    near "$(field found lower)" .6549518114 1e-7
    lat-overlap -@ 1 --gw --sign-error 1e-6 "$DATA/lime_qlua_random-gauge.qio" >found
    [ "$(field found modes)" -eq 8 ]
    near "$(field found lower)" .6551416591 1e-7
}
