#!/usr/bin/env bats
# Purpose: lat-solve --deflate solves with the modes of lat-modes, certified, in fewer iterations, the same bytes however it runs; modes
# of the Schur complement are those of the dense matrix; modes of anything else are refused.
# shellcheck disable=SC2154  # output and stderr are set by run
load helper

# thermal NAME [SEED]: rough links of 4^3 8, in a folder that all tests of this file share.
thermal() {
    local kept=$BATS_FILE_TMPDIR/thermal${2:-3}.lat
    [ -e "$kept" ] || lat-heatbath --dims 4,4,4,8 --beta 5.7 --thermalise 20 --seed "${2:-3}" -o "$kept"
    cp "$kept" "$1"
}

# near the critical kappa of seed 3
M=(--kappa .165)
S=(--source "point:1,0,2,3" --columns "0,7")

# iterations LOG: of its slowest column.
iterations() { cut -f 6 "$1" | tail -n +2 | sort -n | tail -n 1; }

# checked FILE: each column is a solution by the word of lat-dirac.
checked() {
    lat-dirac --check -U u.lat "$1" >check.tsv
    awk -F'\t' 'NR > 1 { n++; if (!($3 <= 1e-10)) bad = 1 } END { exit bad || !n }' check.tsv || { cat check.tsv; return 1; }
}

@test "modes of gamma5 S are those of numpy's dense Schur complement, with zeros on even sites" {
    need_numpy
    lat-start weak --epsilon .4 --dims 2,2,2,4 --seed 3 -o u.lat
    unit_spinors unit.lat 2,2,2,4
    local m=(--mass -.4 --csw 1.2 --boundary ".3,p,d,a")
    lat-dirac --apply M --force "${m[@]}" -U u.lat unit.lat -o dense.lat
    lat-modes -@ 1 "${m[@]}" --matrix g5S --modes 7 u.lat -o modes.lat --log table.tsv
    "$PYTHON" - <<'PY'
import lat, numpy
n = 2 * 2 * 2 * 4 * 12
read = lambda name: next(iter(lat.Reader(name)))
m = numpy.moveaxis(read("dense.lat").spinors, 4, -1).reshape(n, n)
odd = numpy.add.reduce(numpy.indices((4, 2, 2, 2, 12))[:4]).reshape(n) % 2 == 1
e, o = numpy.flatnonzero(~odd), numpy.flatnonzero(odd)
s = m[numpy.ix_(o, o)] - m[numpy.ix_(o, e)] @ numpy.linalg.solve(m[numpy.ix_(e, e)], m[numpy.ix_(e, o)])
h = numpy.tile(numpy.repeat([1, 1, -1, -1], 3), n // 24)[:, None] * s
assert abs(h - h.conj().T).max() < 1e-13
exact = sorted(numpy.linalg.eigvalsh(h), key=abs)
f = read("modes.lat")
assert f.header.info["modes.matrix"] == "gamma5 S", f.header.info
v = numpy.moveaxis(f.spinors, 4, 0).reshape(7, n)
assert not v[:, e].any()
v = v[:, o]
assert abs(v.conj() @ v.T - numpy.eye(7)).max() < 1e-12
g5 = numpy.tile(numpy.repeat([1, 1, -1, -1], 3), n // 24)
rows = [line.split("\t") for line in open("table.tsv").read().splitlines()[1:]]
for k, row in enumerate(rows):
    value, rho, gap, chirality = map(float, row[2:6])
    assert abs(value - exact[k]) <= 1e-10
    now = numpy.linalg.norm(h @ v[k] - value * v[k])
    assert now < 1e-10 and abs(now - rho) < 1e-13, (now, rho)
    assert abs(chirality - (v[k].conj() * g5 * v[k]).sum().real) < 1e-9
assert len(rows) == 7
PY
}

@test "Wilson and clover, gamma5 S, gamma5 M and M^+ M: certified, and no iteration is spent on the modes" {
    thermal u.lat
    local plain deflated words p
    # The matrix of the modes, --even-odd, other options.
    for words in "g5S asym --kappa .165" "g5S asym --kappa .14 --csw 1.5" "g5M none --kappa .165" "MdagM none --kappa .165 --twist .01"; do
        # shellcheck disable=SC2086  # words
        set -- $words
        lat-modes -@ 1 --matrix "$1" "${@:3}" --modes 12 --residual 1e-8 u.lat -o m.lat
        lat-solve -@ 1 "${@:3}" --solver cg --even-odd "$2" "${S[@]}" u.lat --log a.tsv -o a.lat
        for p in single double; do
            [ "$1$p" != MdagMdouble ] || continue
            lat-solve -@ 1 "${@:3}" --precision $p --deflate m.lat "${S[@]}" u.lat --log b.tsv -o b.lat
            checked b.lat
            [ "$(field b.tsv solver)" = cg ]
            plain=$(iterations a.tsv) deflated=$(iterations b.tsv)
            [ "$deflated" -le $((plain * 2 / 3)) ] || { echo "$words, $p: $plain iterations, $deflated with modes"; false; }
        done
    done
    lat-info b.lat | grep -q "by cg, deflated by 12 modes of M^+ M up to .*, CRC [0-9a-f]\{8\}"
}

@test "modes that are good to a few per cent do as well: their part is computed again as the residual falls" {
    need_numpy
    thermal u.lat
    lat-modes -@ 1 "${M[@]}" --matrix g5S --modes 12 --residual 1e-8 u.lat -o exact.lat
    # Errors of 0.004 |v|, so residuals of about 0.01 for values of 0.4 to 0.7.
    "$PYTHON" - <<'PY'
import lat, numpy
f = next(iter(lat.Reader("exact.lat")))
shape, v = f.spinors.shape, numpy.moveaxis(f.spinors, 4, 0).reshape(12, -1)
rng = numpy.random.default_rng(1)
noise = (rng.normal(size=v.shape) + 1j * rng.normal(size=v.shape)) * (abs(v).sum(0) > 0)
v = v + .004 * noise / numpy.linalg.norm(noise, axis=1)[:, None]
v = numpy.linalg.qr(v.T)[0].T * 1.0
v *= (numpy.einsum("ki,ki->k", v.conj(), numpy.moveaxis(f.spinors, 4, 0).reshape(12, -1)))[:, None]
v /= numpy.linalg.norm(v, axis=1)[:, None]
f.spinors[...] = numpy.moveaxis(v.reshape((12,) + shape[:4] + shape[5:]), 0, 4)
with lat.Writer("loose.lat") as out:
    out.write(f)
PY
    local p
    for p in single double; do
        lat-solve -@ 1 "${M[@]}" --precision $p --deflate exact.lat "${S[@]}" u.lat --log a.tsv >x.lat
        lat-solve -@ 1 "${M[@]}" --precision $p --deflate loose.lat "${S[@]}" u.lat --log b.tsv -o b.lat
        checked b.lat
        # What rho/value = 0.03 leaves of the modes between two updates costs an iteration or two for each update.
        [ "$(iterations b.tsv)" -le $(($(iterations a.tsv) * 5 / 4)) ] || { paste a.tsv b.tsv; false; }
    done
    # As seldom as CG can: its residual is a difference, which 1e-12 would have lost in rounding.
    for p in single double; do
        lat-solve -@ 1 "${M[@]}" --precision $p --delta 1e-12 --deflate loose.lat "${S[@]}" u.lat --log a.tsv >x.lat
    done
    [ "$(iterations a.tsv)" -gt "$(iterations b.tsv)" ]
}

@test "the same bytes on any number of threads and ranks, beside any columns, and from a checkpoint" {
    thermal u.lat
    local solve="lat-solve --kappa .15 --csw .5 --source point:1,0,2,3 --deflate m.lat"
    lat-modes -@ 1 --kappa .15 --csw .5 --matrix g5S --modes 5 --residual 1e-8 u.lat -o m.lat
    lat-modes -@ 2 --kappa .15 --csw .5 --matrix g5S --modes 5 --residual 1e-8 u.lat -o m2.lat
    cmp m.lat m2.lat
    # shellcheck disable=SC2086  # words
    {
        $solve -@ 1 u.lat -o one.lat --log log.tsv
        checked one.lat
        [ "$(grep -c all check.tsv)" -eq 12 ]
        $solve -@ 2 --batch 5 u.lat -o two.lat
        cmp one.lat two.lat
        # The checkpoint keeps columns that are done, under the name of the modes.
        run -3 $solve --max-iterations "$(cut -f 6 log.tsv | tail -n +2 | sort -n | head -n 1)" --batch 3 --checkpoint ck u.lat -o cut.lat
        lat-info ck | grep -q "deflated by 5 modes of gamma5 S"
        $solve --max-iterations 20000 --checkpoint ck --resume ck u.lat -o cut.lat
        cmp <(lat-info one.lat | grep '^crc\|^residuals') <(lat-info cut.lat | grep '^crc\|^residuals')
        need_mpi
        $solve -n 2 -@ 1 u.lat -o ranks.lat
        cmp one.lat ranks.lat
    }
    lat-modes -n 2 -@ 1 --kappa .15 --csw .5 --matrix g5S --modes 5 --residual 1e-8 u.lat -o m2.lat
    cmp m.lat m2.lat
}

@test "each configuration of a stream gets its modes; smeared links are those of both" {
    thermal a.lat 3
    thermal b.lat 4
    cat a.lat b.lat >u.lat
    local o=(--kappa .15 --smear-links "stout:.1,2")
    lat-modes -@ 1 "${o[@]}" --matrix g5S --modes 4 --residual 1e-6 u.lat -o m.lat
    lat-info m.lat | grep -q '^smeared_links *stout:.1,2\|smeared_links.*stout:.1,2'
    lat-solve -@ 1 "${o[@]}" --deflate m.lat "${S[@]}" u.lat -o x.lat
    checked x.lat
    # The second alone skips the modes of the first.
    lat-solve -@ 1 "${o[@]}" --deflate m.lat "${S[@]}" b.lat -o y.lat
    cmp <(lat-info x.lat | grep ^crc | tail -n 2) <(lat-info y.lat | grep ^crc)
    cat b.lat a.lat >other.lat
    refuses 1 "m.lat: expected modes of the links of CRC " lat-solve "${o[@]}" --deflate m.lat "${S[@]}" other.lat -o z.lat
    refuses 1 "m.lat: expected modes on links with the smearing 'none', found 'stout:.1,2'" \
        lat-solve --kappa .15 --deflate m.lat "${S[@]}" b.lat -o z.lat
}

@test "modes of an ILDG file in double go with the NERSC file in single of the same links, not with the links before they were rounded" {
    thermal u.lat
    lat-convert --to nersc --precision single u.lat -o u.nersc
    lat-convert --to ildg --precision double u.nersc -o u.ildg
    local o=(--kappa .15 --even-odd none "${S[@]}" --columns 0)
    for pair in "u.ildg u.nersc" "u.nersc u.ildg"; do
        read -r a b <<<"$pair"
        lat-modes -@ 1 --kappa .15 --modes 2 --residual 1e-6 "$a" -o m.lat
        lat-solve -@ 1 "${o[@]}" --deflate m.lat "$b" -o x.lat
        lat-info x.lat | grep -q 'deflated by 2 modes of gamma5 M'
        refuses 1 "m.lat: expected modes of the links of CRC " lat-solve "${o[@]}" --deflate m.lat u.lat -o y.lat
    done
}

@test "modes of anything else are refused, and wrong usage, with one sentence" {
    thermal u.lat
    thermal v.lat 4
    lat-modes -@ 1 --kappa .15 --matrix g5S --modes 2 --residual 1e-6 u.lat -o m.lat
    lat-modes -@ 1 --kappa .15 --modes 2 --residual 1e-6 u.lat -o full.lat
    lat-modes -@ 1 --kappa .15 --modes 2 --residual 1e-6 --largest u.lat -o largest.lat
    local solve="lat-solve ${S[*]} -o x.lat --deflate"
    # shellcheck disable=SC2086  # words
    {
        refuses 1 "m.lat: expected modes of the links of CRC " $solve m.lat --kappa .15 v.lat
        lat-gauge --random --seed 3 --save-g g.lat u.lat -o turned.lat
        lat-gauge --apply g.lat m.lat -o mg.lat
        refuses 1 "in the order of the links, found unknown" $solve mg.lat --kappa .15 turned.lat
        refuses 1 "m.lat: expected modes of the operator kappa 0.151" $solve m.lat --kappa .151 u.lat
        refuses 1 "found those of kappa 0.15" $solve m.lat --kappa .15 --csw 1 u.lat
        refuses 1 "found those of kappa 0.15" $solve m.lat --kappa .15 --boundary p,p,p,p u.lat
        refuses 1 "found those of kappa 0.15" $solve m.lat --kappa .15 --twist .1 u.lat
        refuses 1 "full.lat: expected modes of gamma5 S for this --even-odd, found those of gamma5 M" \
            $solve full.lat --kappa .15 --even-odd asym u.lat
        refuses 1 "m.lat: expected modes of gamma5 M or M^+ M for this" $solve m.lat --kappa .15 --even-odd none u.lat
        refuses 1 "expected the lowest modes with their values, found 'largest'" $solve largest.lat --kappa .15 u.lat
        refuses 1 "u.lat: expected a field of modes, found a gauge field" $solve u.lat --kappa .15 <(cat u.lat)
        refuses 1 "nowhere.lat" $solve nowhere.lat --kappa .15 u.lat
        refuses 2 "modes are of one operator" $solve m.lat --kappas .15,.14 u.lat
        refuses 2 "expected --solver cg or auto" $solve m.lat --kappa .15 --solver bicgstab u.lat
        refuses 2 "expected --even-odd asym, or none, found sym" $solve m.lat --kappa .15 --even-odd sym u.lat
        refuses 2 "gamma5 S is not Hermitian with a twist" lat-modes --matrix g5S --kappa .15 --twist .1 u.lat -o x.lat
    }
    need_numpy
    # Vectors that are no modes, whatever the header says, and vectors of another length.
    "$PYTHON" - <<'PY'
import lat, numpy
f = next(iter(lat.Reader("m.lat")))
v = f.spinors.copy()
for name, w in ("wrong.lat", numpy.roll(v, 2, axis=0)), ("long.lat", 2 * v):
    f.spinors[...] = w
    with lat.Writer(name) as out:
        out.write(f)
PY
    # shellcheck disable=SC2086
    {
        refuses 1 "wrong.lat: mode 0: expected a residual below a tenth of its value " $solve wrong.lat --kappa .15 u.lat
        refuses 1 "long.lat: mode 0: expected a vector of length 1 on the sites that are solved for, found one of 2" \
            $solve long.lat --kappa .15 u.lat
    }
}
