#!/usr/bin/env bats
# Purpose: modes of H from a file in lat-overlap, lat-solve and lat-dirac: what is computed with them is what is computed without, the
# interval is found and not believed, modes of anything else are refused; solves deflated by modes of the overlap operator itself.
# tests/overlap.bats has the operator.
# shellcheck disable=SC2154  # output and stderr are set by run
load helper

# inputs: rough links u.lat and the six lowest modes of H in m.lat, made once for this file.
inputs() {
    if [ ! -e "$BATS_FILE_TMPDIR/m.lat" ]; then
        lat-start weak --epsilon .4 --dims 2,2,2,4 --seed 3 -o "$BATS_FILE_TMPDIR/u.lat"
        lat-modes -@ 1 --mass -1.4 --modes 6 --residual 1e-11 "$BATS_FILE_TMPDIR/u.lat" -o "$BATS_FILE_TMPDIR/m.lat"
    fi
    cp "$BATS_FILE_TMPDIR"/[um].lat .
}

S=(lat-solve -@ 1 --operator overlap --mu .2 --source "point:0,0,0,0" --residual 1e-8)

# distance A B: the largest difference of two files.
distance() { lat-diff "$1" "$2" | awk '$1 == "largest" && $2 > most { most = $2 } END { print most + 0 }'; }

@test "lat-solve --modes: the solution that it has without, certified; header and history name the modes" {
    inputs
    local crc
    crc=$(lat-info m.lat | sed -n 's/^crc-32 *//p')
    "${S[@]}" u.lat -o a.lat
    "${S[@]}" --modes m.lat u.lat -o b.lat
    # Residuals of 1e-8, eigenvalues of D from .2 on, and 1 - mu = .8.
    near "$(distance a.lat b.lat)" 0 "$(awk 'BEGIN { print 2e-8 / .2 / .8 }')"
    lat-dirac -@ 1 --check --residual 1e-8 -U u.lat b.lat >check.tsv
    lat-dirac -@ 1 --check --residual 1e-8 --operator overlap --mu .2 --modes m.lat -U u.lat b.lat >check.tsv
    lat-info b.lat >info
    grep -q "overlap_modes = 6 modes, CRC $crc" info
    grep -q "by cg, sign function with 6 modes, CRC $crc" info
    lat-source noise:z4,seed=7 u.lat -o s.lat
    lat-dirac -@ 1 --operator overlap --mu .2 --apply M -U u.lat s.lat -o x.lat
    lat-dirac -@ 1 --operator overlap --mu .2 --apply M --modes m.lat -U u.lat s.lat -o y.lat
    near "$(distance x.lat y.lat)" 0 1e-9
    lat-info y.lat | grep -q "overlap_modes = 6 modes, CRC $crc"
}

@test "lat-overlap --modes: the interval of a search, by applications fewer; as many modes as --project says; the same bytes on any number of threads and ranks" {
    inputs
    lat-overlap -@ 1 --gw --project 6 u.lat >own
    lat-overlap -@ 1 --gw --modes m.lat u.lat >known
    [ "$(field known modes)" -eq 6 ]
    # rest may be a tenth of the gap, or a hundredth of itself, lower.
    awk -v a="$(field own lower)" -v b="$(field known lower)" 'BEGIN { exit !(b <= a * (1 + 1e-6) && b >= a * .99) }' || { cat own known; false; }
    near "$(field known upper)" "$(field own upper)" 1e-9
    near "$(field known sign2)" 0 1e-10
    # With fewer, the interval begins at the first one that is left.
    lat-overlap -@ 1 --gw --project 4 u.lat >own
    lat-overlap -@ 1 --gw --project 4 --modes m.lat u.lat >known
    [ "$(field known modes)" -eq 4 ]
    near "$(field known lower)" "$(field own lower)" 1e-6
    lat-overlap -@ 1 --gw --project 0 --modes m.lat u.lat >known
    [ "$(field known modes)" -eq 0 ]
    # Eigenvectors of D^+ D say which modes they stand on.
    lat-overlap -@ 1 --spectrum 2 --sign-error 1e-6 --modes m.lat --save-modes w.lat u.lat >/dev/null
    lat-info w.lat | grep -q 'overlap_modes = 6 modes, CRC '
    # Modes of an anisotropic operator are those of no other one.
    lat-modes -@ 1 --mass -1.2 --xi 1.3 --nu .9 --modes 6 --residual 1e-11 u.lat -o xi.lat
    lat-overlap -@ 1 --gw --m0 1.2 --xi 1.3 --nu .9 --modes xi.lat u.lat >known
    near "$(field known gw)" 0 1e-10
    refuses 1 'xi' lat-overlap -@ 1 --gw --m0 1.2 --modes xi.lat -o out u.lat
    lat-overlap -@ 1 --gw --modes m.lat u.lat >one
    lat-overlap -@ 2 --gw --modes m.lat u.lat | cmp one -
    "${S[@]}" --columns 5 --modes m.lat u.lat -o a.lat
    need_mpi
    lat-overlap -n 2 -@ 1 --gw --modes m.lat u.lat | cmp one -
    "${S[@]}" --columns 5 --modes m.lat -n 2 u.lat -o b.lat
    cmp a.lat b.lat
}

@test "--modes: each configuration of a stream gets its own" {
    inputs
    lat-start weak --epsilon .4 --dims 2,2,2,4 --seed 4 -o v.lat
    cat u.lat v.lat >uv.lat
    lat-modes -@ 1 --mass -1.4 --modes 5 --residual 1e-11 uv.lat -o both.lat
    lat-overlap -@ 1 --gw --modes both.lat uv.lat >found
    [ "$(wc -l <found)" -eq 3 ]
    lat-overlap -@ 1 --gw --modes both.lat v.lat >second # skips those of u.lat
    cmp <(sed -n 3p found | cut -f 2-) <(sed -n 2p second | cut -f 2-)
    # In files of their own they are numbered anew, and rows name the file.
    lat-overlap -@ 1 --gw --modes both.lat u.lat v.lat >files
    cmp <(cut -f 2-8 found) <(cut -f 2-8 files)
    [ "$(cut -f 1,12 files)" = $'configuration\tfile\n0\tu.lat\n0\tv.lat' ]
}

@test "--modes: anything else is refused, with one sentence; a missing mode and a wrong interval are found" {
    inputs
    lat-start weak --epsilon .4 --dims 2,2,2,4 --seed 4 -o v.lat
    local o="lat-overlap -@ 1 -o out --gw --modes"
    # shellcheck disable=SC2086  # words
    {
        refuses 1 "m.lat: expected modes of the links of CRC " $o m.lat v.lat
        refuses 1 "m.lat: expected modes of the operator kappa 0.1851851852 (mass -1.3)" $o m.lat --m0 1.3 u.lat
        refuses 1 "found those of kappa 0.1923076923 (mass -1.4)" $o m.lat --csw 1 u.lat
        refuses 1 "found those of kappa 0.1923076923 (mass -1.4)" $o m.lat --boundary p,p,p,p u.lat
        refuses 1 "m.lat: expected at least 7 modes, found 6" $o m.lat --project 7 u.lat
        refuses 1 "u.lat: expected a field of modes, found a gauge field" $o u.lat <(cat u.lat)
        refuses 1 "does not hold the spectrum" $o m.lat --interval 1,8 u.lat
        refuses 1 "nowhere.lat" $o nowhere.lat u.lat
        refuses 2 "expected m0 between 0 and 2" $o m.lat --m0 2 u.lat
        refuses 1 "m.lat: expected modes on links with the smearing 'stout:.1,1', found 'none'" \
            "${S[@]}" --modes m.lat --smear-links stout:.1,1 u.lat -o x.lat
        refuses 2 "--modes is for --operator overlap" lat-solve --kappa .1 --source point:0,0,0,0 --modes m.lat u.lat -o x.lat
        lat-modes -@ 1 --mass -1.4 --modes 2 --largest --residual 1e-6 u.lat -o other.lat
        refuses 1 "expected the lowest modes with their values, found 'largest'" $o other.lat u.lat
        lat-modes -@ 1 --mass -1.4 --modes 2 --matrix MdagM --residual 1e-6 u.lat -o other.lat
        refuses 1 "other.lat: expected modes of gamma5 M, found those of M^+ M" $o other.lat u.lat
    }
    need_numpy
    # The header is not believed: the mode after the lowest is replaced by the seventh; a vector twice; one that is none;
    # and one that is not good enough.
    lat-modes -@ 1 --mass -1.4 --modes 7 --residual 1e-11 u.lat -o seven.lat
    "$PYTHON" - <<'PY'
import lat, numpy
f, g = (next(iter(lat.Reader(name))) for name in ("m.lat", "seven.lat"))
v = f.spinors.copy()
for name, w in (
    ("missing.lat", g.spinors[..., 6, :, :]),
    ("twice.lat", v[..., 3, :, :]),
    ("none.lat", numpy.roll(v[..., 1, :, :], 1, axis=0)),
    ("loose.lat", v[..., 1, :, :] + 1e-8 * g.spinors[..., 6, :, :]),
):
    f.spinors[...] = v
    f.spinors[..., 1, :, :] = w
    with lat.Writer(name) as out:
        out.write(f)
f.spinors[...] = v
f.header.info["modes.rest"] = "9"
with lat.Writer("rest.lat") as out:
    out.write(f)
PY
    lat-overlap -@ 1 --gw --modes m.lat --project 6 u.lat >found
    lat-overlap -@ 1 --gw --modes rest.lat --project 6 u.lat >other
    near "$(field other lower)" "$(field found lower)" "$(awk -v a="$(field found lower)" 'BEGIN { print .02 * a }')"
    # shellcheck disable=SC2086
    {
        refuses 1 "missing.lat: expected all modes up to the last one, 0.55" $o missing.lat u.lat
        refuses 1 "found that one up to 0.4779" $o missing.lat u.lat
        refuses 1 "twice.lat: mode 3: expected a vector of length 1 that is orthogonal to those before it" $o twice.lat u.lat
        refuses 1 "none.lat: mode 1: expected " $o none.lat u.lat
        refuses 1 "loose.lat: mode 1: expected a residual up to 1e-10, found" $o loose.lat u.lat
        $o loose.lat --sign-error 1e-6 u.lat # where it is
    }
}

# overlap_modes: the six lowest modes of D^+ D of each chirality in d.lat, their table in d.tsv, made once for this file.
overlap_modes() {
    inputs
    if [ ! -e "$BATS_FILE_TMPDIR/d.lat" ]; then
        lat-overlap -@ 1 --spectrum 6 --sign-error 1e-9 --modes m.lat --save-modes d.lat u.lat -o d.tsv
        cp d.lat d.tsv "$BATS_FILE_TMPDIR"
    fi
    cp "$BATS_FILE_TMPDIR"/d.* .
}

# iterations LOG: of its slowest column.
iterations() { cut -f 6 "$1" | tail -n +2 | sort -n | tail -n 1; }

D=(lat-solve -@ 1 --operator overlap --modes m.lat --source "point:0,0,0,0" --columns "0,7" --residual 1e-8)

@test "lat-solve --operator overlap --deflate: certified, in iterations as the condition number says, for every mass" {
    overlap_modes
    local mu=.05
    "${D[@]}" --masses .56,.14 u.lat --log a.tsv -o a.lat
    "${D[@]}" --masses .56,.14 --deflate d.lat u.lat --log b.tsv -o b.lat
    near "$(distance a.lat b.lat)" 0 "$(awk 'BEGIN { print 2e-8 / .05 / .05 }')"
    lat-info d.lat >info
    grep -q "operator *overlap, mass 0, m0 1.4" info
    grep -q "modes.matrix = D^+ D" info
    lat-info b.lat | grep -q "by cg, deflated by 12 modes of D^+ D up to 0.103, CRC [0-9a-f]\{8\}, sign function with 6 modes"
    "${D[@]}" --mu $mu u.lat --log a.tsv >x.lat
    "${D[@]}" --mu $mu --deflate d.lat u.lat --log b.tsv >x.lat
    # CG gains ln[(sqrt k + 1)/(sqrt k - 1)] an iteration, k = 1/(x + mu^2 (1 - x)), x the lowest eigenvalue or the last mode.
    awk -F'\t' -v mu=$mu -v plain="$(iterations a.tsv)" -v deflated="$(iterations b.tsv)" '
        function rate(x, k) { k = sqrt(1 / (x + mu * mu * (1 - x))); return log((k + 1) / (k - 1)) }
        $2 == 1 && $3 == 0 { first = $4 }
        $2 == 1 && $3 == 5 { last = $4 }
        END { most = plain * rate(first) / rate(last) + 1; print plain, deflated, most; exit !(deflated <= most && most < plain - 2) }' d.tsv
    "${D[@]}" --mu .05 --deflate d.lat --batch 1 u.lat >y.lat
    cmp x.lat y.lat
    # Modes with errors of .0005: what they leave of themselves is found by iterations; certified all the same.
    need_numpy
    "$PYTHON" - <<'PY'
import lat, numpy
f = next(iter(lat.Reader("d.lat")))
noise = numpy.random.default_rng(1).normal(size=f.spinors.shape + (2,)) @ [1, 1j]
noise[..., :6, 2:, :] = 0
noise[..., 6:, :2, :] = 0
f.spinors[...] += .0005 / 20 * noise # of 192 complex numbers
with lat.Writer("loose.lat") as out:
    out.write(f)
PY
    "${D[@]}" --mu .05 --deflate loose.lat u.lat --log c.tsv >x.lat
    [ "$(iterations c.tsv)" -lt "$(iterations a.tsv)" ] || { cat a.tsv c.tsv; false; }
}

@test "--deflate of the overlap operator: modes of anything else are refused, with one sentence" {
    overlap_modes
    refuses 2 "--save-modes is for --spectrum" lat-overlap --gw --save-modes x.lat u.lat
    refuses 2 "--save-modes needs the name of a file" lat-overlap --spectrum 2 --save-modes - u.lat
    lat-start weak --epsilon .4 --dims 2,2,2,4 --seed 4 -o v.lat
    local o="lat-solve -@ 1 --operator overlap --source wall:0 -o x.lat --deflate"
    # shellcheck disable=SC2086  # words
    {
        refuses 1 "d.lat: expected modes of the links of CRC " $o d.lat --mu .1 v.lat
        refuses 1 "d.lat: expected modes of the operator overlap, m0 1.3, mu 0" $o d.lat --mu .1 --m0 1.3 u.lat
        refuses 1 "found those of overlap, m0 1.4, mu 0" $o d.lat --mu .1 --boundary p,p,p,p u.lat
        refuses 1 "m.lat: expected modes of the operator overlap, m0 1.4, mu 0" $o m.lat --mu .1 u.lat
        refuses 1 "d.lat: expected modes of the operator kappa 0.15" lat-solve --kappa .15 --source wall:0 --deflate d.lat -o x.lat u.lat
    }
    need_numpy
    "$PYTHON" - <<'PY'
import lat, numpy
f = next(iter(lat.Reader("d.lat")))
v = f.spinors.copy()
for name, k, w in (
    ("mixed.lat", 3, (v[..., 3, :, :] + v[..., 9, :, :]) / 2 ** .5),
    ("twice.lat", 3, v[..., 1, :, :]),
    ("none.lat", 7, numpy.roll(v[..., 7, :, :], 1, axis=0)),
):
    f.spinors[...] = v
    f.spinors[..., k, :, :] = w
    with lat.Writer(name) as out:
        out.write(f)
PY
    # shellcheck disable=SC2086
    {
        refuses 1 "mixed.lat: mode 3: expected a vector of length 1 with a chirality, found length 1 and chirality" $o mixed.lat --mu .1 u.lat
        refuses 1 "twice.lat: mode 3: expected a vector that is orthogonal to those before it" $o twice.lat --mu .1 u.lat
        refuses 1 "none.lat: mode 7: expected a " $o none.lat --mu .1 u.lat
    }
}

@test "--smear-links: the operator of links that lat-smear writes; modes of smeared links are not taken for others, nor others for them" {
    inputs
    local smear=(--smear-links "stout:.1,2") o
    lat-smear "stout:.1,2" u.lat -o w.lat
    for what in "--gw" "--index" "--spectrum 2 --sign-error 1e-6"; do
        # shellcheck disable=SC2086  # words
        lat-overlap -@ 1 $what "${smear[@]}" u.lat >a
        # shellcheck disable=SC2086
        lat-overlap -@ 1 $what w.lat >b
        cmp <(sed 's/\t[^\t]*$//' a) <(sed 's/\t[^\t]*$//' b) # but for the ensemble of the links
    done
    lat-modes -@ 1 --mass -1.4 --modes 6 --residual 1e-11 "${smear[@]}" u.lat -o h.lat
    lat-overlap -@ 1 --spectrum 3 --sign-error 1e-9 --modes h.lat "${smear[@]}" --save-modes e.lat u.lat -o e.tsv
    lat-info e.lat >info
    grep -q "smeared_links = stout:.1,2" info
    grep -q "lat-overlap .*--smear-links stout:.1,2" info
    # Deflated by them: what it is without; the header says that the links of the kernel were smeared.
    o=(lat-solve -@ 1 --operator overlap --mu .05 --residual 1e-8)
    lat-source noise:z4,seed=7 u.lat -o s.lat
    "${o[@]}" "${smear[@]}" -U u.lat s.lat -o a.lat
    "${o[@]}" "${smear[@]}" --modes h.lat --deflate e.lat -U u.lat s.lat -o b.lat
    near "$(distance a.lat b.lat)" 0 "$(awk 'BEGIN { print 2e-8 / .05 / .05 }')"
    lat-info b.lat | grep -q "smeared_links = stout:.1,2"
    lat-dirac -@ 1 --check --residual 1e-8 --source-file s.lat -U u.lat b.lat >check.tsv
    overlap_modes
    refuses 1 "d.lat: expected modes on links with the smearing 'stout:.1,2', found 'none'" "${o[@]}" "${smear[@]}" --deflate d.lat -U u.lat s.lat -o x.lat
    refuses 1 "e.lat: expected modes on links with the smearing 'none', found 'stout:.1,2'" "${o[@]}" --deflate e.lat -U u.lat s.lat -o x.lat
    refuses 1 "m.lat: expected modes on links with the smearing 'stout:.1,2', found 'none'" lat-overlap --gw "${smear[@]}" --modes m.lat u.lat -o x
    refuses 1 "h.lat: expected modes on links with the smearing 'none', found 'stout:.1,2'" lat-overlap --gw --modes h.lat u.lat -o x
    refuses 1 "expected modes on links with the smearing 'stout:.1,2', found 'none'" \
        lat-dirac -@ 1 --operator overlap --mu .05 --check --modes m.lat "${smear[@]}" -U u.lat b.lat -o x.tsv
    refuses 2 "--smear-links: " lat-overlap --gw --smear-links stout:2 u.lat -o x
}
