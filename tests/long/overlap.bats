#!/usr/bin/env bats
# Purpose: overlap propagators of Chroma, from its configuration; the index of larger lattices; the dense matrix by LAPACK. An hour on two cores.
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
    lat-convert "$DATA/$weak" | lat-solve --operator overlap --m0 1.4 --mu .06 --force --source gauss:2,5,0,0,0,0 "${options[@]}" \
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

# dense X,Y,Z,T OPTION...: H.npy, the dense gamma5 (D_W - m0) of u.lat, from fields of 384 columns.
dense() {
    local dims=$1 n first
    n=$((12 * ${dims//,/*}))
    shift
    rm -f part.*.lat
    for ((first = 0; first < n; first += 384)); do
        unit_spinors unit.lat "$dims" $first $((n - first < 384 ? n - first : 384))
        lat-dirac --apply g5M --force "$@" -U u.lat unit.lat -o "part.$(printf %05d $first).lat"
    done
    "$PYTHON" - "$n" <<'PY'
import glob, sys, lat, numpy
n = int(sys.argv[1])
part = [numpy.moveaxis(next(iter(lat.Reader(name))).spinors, 4, -1).reshape(n, -1) for name in sorted(glob.glob("part.*.lat"))]
numpy.save("H.npy", numpy.hstack(part))
PY
}

@test "the dense matrix by LAPACK: lowest and largest modes, index, the lowest eigenvalues of the overlap operator, on 4^4 and 2x4x4x6" {
    need_numpy
    for dims in 2,4,4,6 4,4,4,4; do
        lat-start weak --epsilon .45 --dims $dims --seed 3 -o u.lat
        dense $dims --mass -1.4
        lat-modes --mass -1.4 --modes 20 --residual 1e-11 --tsv u.lat >low
        lat-modes --mass -1.4 --modes 20 --residual 1e-4 --tsv u.lat >single
        lat-modes --mass -1.4 --modes 4 --largest --tsv u.lat >high
        lat-overlap --index --m0 1.4 u.lat >index
        lat-overlap --spectrum 6 --m0 1.4 --sign-error 1e-10 u.lat >spectrum
        lat-overlap --gw --m0 1.4 u.lat >gw
        "$PYTHON" - <<'PY'
import numpy
h = numpy.load("H.npy")
n = len(h)
assert abs(h - h.conj().T).max() < 1e-13
value, w = numpy.linalg.eigh(h)
rows = lambda name: [line.split("\t") for line in open(name).read().splitlines()[1:]]
lowest = sorted(value, key=abs)
for name, bound in ("low", 1e-11), ("single", 1e-4):
    assert max(abs(float(r[2]) - x) for r, x in zip(rows(name), lowest)) <= bound, name
assert max(abs(float(r[2]) - x) for r, x in zip(rows("high"), lowest[::-1])) <= 1e-9
negative = int((value < 0).sum())
assert int(rows("index")[0][1]) == int(rows("index")[0][4]) == negative - n // 2, (rows("index"), negative, n)
upper = float(rows("gw")[0][6])
assert abs(value).max() <= upper <= 1.12 * abs(value).max(), (upper, abs(value).max())
g5 = numpy.tile(numpy.repeat([1, 1, -1, -1], 3), n // 12)
d = (numpy.eye(n) + g5[:, None] * ((w * numpy.sign(value)) @ w.conj().T)) / 2
for sign in 1, -1:
    part = g5 == sign
    exact = numpy.linalg.eigvalsh((d.conj().T @ d)[numpy.ix_(part, part)])
    for row, x in zip((r for r in rows("spectrum") if int(r[1]) == sign), exact):
        assert abs(float(row[3]) - x) <= float(row[6]) + float(row[7]), (row, x)
PY
    done
}

@test "lat-overlap --save-modes: eigenvectors of numpy's dense D^+ D, whose residuals the header has; the same bytes on any number of ranks" {
    need_numpy
    lat-start weak --epsilon .4 --dims 2,2,2,4 --seed 3 -o u.lat
    lat-modes -@ 1 --mass -1.4 --modes 6 --residual 1e-11 u.lat -o m.lat
    lat-overlap -@ 1 --spectrum 6 --sign-error 1e-9 --modes m.lat --save-modes d.lat u.lat -o d.tsv
    unit_spinors unit.lat 2,2,2,4
    lat-dirac -@ 1 --operator overlap --mu 0 --apply MdagM --force --modes m.lat -U u.lat unit.lat -o dense.lat
    "$PYTHON" - <<'PY'
import lat, numpy
n = 32 * 12
f = next(iter(lat.Reader("d.lat")))
a = numpy.moveaxis(next(iter(lat.Reader("dense.lat"))).spinors, 4, -1).reshape(n, n)
v = numpy.moveaxis(f.spinors, 4, 0).reshape(12, n)
g5 = numpy.tile(numpy.repeat([1, 1, -1, -1], 3), n // 12)
table = [line.split("\t") for line in open("d.tsv").read().splitlines()[1:]]
assert abs(v.conj() @ v.T - numpy.eye(12)).max() < 1e-12
for k in range(12):
    c = 1 if k < 6 else -1
    exact = numpy.linalg.eigvalsh(a[numpy.ix_(g5 == c, g5 == c)])
    value, residual = f.header.eigenvalues[k], f.header.residuals[k]
    assert not v[k][g5 != c].any()
    assert abs(value - exact[k % 6]) < 1e-8 and abs(value - float(table[k][3])) < 1e-11
    now = numpy.linalg.norm(a @ v[k] - value * v[k])
    assert residual <= 1e-8 and abs(now - residual) < 4e-9, (now, residual) # two sign functions of 1e-9
PY
    need_mpi
    lat-overlap -n 2 -@ 1 --spectrum 6 --sign-error 1e-9 --modes m.lat --save-modes ranks.lat u.lat -o ranks.tsv
    cmp d.lat ranks.lat
}

@test "modes of H from a file: the index that a search finds, on lattices with degenerate levels, too" {
    lat-start flux --dims 4,4,4,4 --n12 2 --n34 1 -o u.lat
    lat-start instanton --dims 8,8,8,8 --radius 2 -o i.lat
    for f in u i; do
        lat-modes --mass -1.4 --modes 8-24 --residual 1e-11 $f.lat -o m.lat
        lat-overlap --index $f.lat >own
        lat-overlap --index --modes m.lat $f.lat >known
        cmp <(cut -f 1-5 own) <(cut -f 1-5 known)
    done
}

@test "pipelines/paper/overlap.sh: the sign function a site and degree, low modes a site and mode" {
    [ -n "${LAT_BENCH:-}" ] || skip "LAT_BENCH names no folder of benchmarks"
    run -0 env BENCH="$LAT_BENCH/bench_overlap" EXTENTS=4 MODE_EXTENTS=4 CONFIGURATIONS=2 LOW_MODES=4 "$ROOT/pipelines/paper/overlap.sh" out
    [[ "$output" == *"thesis, figure 5.5"* ]]
    # Two precisions, one column and twelve, a degree and a mode; both methods find four modes of both configurations.
    awk -F'\t' 'FNR > 1 { n++; bad += !($6 > 0 && $7 > 0 && $8 > 0) } END { exit bad || n != 8 }' out/degrees.tsv
    awk -F'\t' 'FNR > 1 { n++; bad += !($3 == 8 && $5 > 0) } END { exit bad || n != 2 }' out/modes.tsv
}
