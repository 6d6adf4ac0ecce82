#!/usr/bin/env bats
# python/lat with the tools: files of any format, tables, samples, and the packages that take them.
# shellcheck disable=SC2154  # status, output and stderr are set by run
load helper

setup() {
    not_sanitized "what Python does with the tools"
    cd "$BATS_TEST_TMPDIR" || return 1
    need_numpy
}

# py: Python runs what is on stdin.
py() {
    # shellcheck disable=SC2153 # need_numpy sets it
    "$PYTHON" -W error::UserWarning -W error::RuntimeWarning -
}

# need_package NAME...: skip where this Python has none of that name.
need_package() {
    local name
    for name; do
        "$PYTHON" -c "import $name" 2>/dev/null || skip "no $name for python3"
    done
}

# hadrons NAME COUNT: a table of lat-corr of COUNT configurations, from two sources each.
hadrons() {
    rough many.lat --dims 4,4,4,8 --count "$2"
    local source
    for source in 0,0,0,0 2,2,2,0; do
        lat-solve --kappa 0.12 --source point:$source many.lat | lat-corr --channels pion,rho,nucleon --momenta 1
    done >"$1"
}

@test "lat.load reads every format that lat-convert writes, packed or not, with the same numbers in the documented order" {
    # No extent is 4, which could be the axis of the directions.
    rough u.lat --dims 10,2,6,8
    rough single.lat --dims 10,2,6,8 -p single
    py <<'END'
import bz2, gzip, itertools, lzma, pathlib, shutil, subprocess, warnings
import numpy as np, lat
warnings.simplefilter("ignore", lat.ToolWarning)
written = [line.split() for line in lat.run("convert --list").text.splitlines()]
names = [w[0] for w in written if len(w) > 3 and w[2:4] == ["yes", "yes"]]
assert len(names) >= 20, names
u, single = (next(lat.read(name)) for name in ("u.lat", "single.lat"))
for name in [n for n in names if not n.endswith(("-prop", "-vector", "-sfld"))]:
    field = single if name == "milc" else u
    lat.run("convert", field, to=name, o=f"cfg.{name}", force=True)
    options = dict(from_="raw", dims=field.header.dims) if name == "raw" else {}
    again = lat.load(pathlib.Path(f"cfg.{name}"), **options)
    assert again.links.dtype == field.links.dtype and (again.links == field.links).all(), name
    # The array has the documented order: another plaquette is found along its axes only if all extents are where they belong.
    assert again.links.shape == (8, 6, 2, 10, 4, 3, 3) and abs(lat.plaquette(again.links) - field.plaquette) < 1e-13, name
packed = dict(gz=gzip.open, bz2=bz2.open, xz=lzma.open)
for (end, opened), name in itertools.product(packed.items(), ("cfg.ildg", "u.lat")):
    with open(name, "rb") as file, opened(f"{name}.{end}", "wb") as out:
        shutil.copyfileobj(file, out)
    assert (lat.load(f"{name}.{end}").links == u.links).all()
if shutil.which("zstd"):
    subprocess.run(["zstd", "-q", "cfg.ildg"], check=True)
    assert (lat.load("cfg.ildg.zst").links == u.links).all()
with open("cfg.ildg.gz", "rb") as file, open("cut.gz", "wb") as out:
    out.write(file.read()[:-1000])
try:
    lat.load("cut.gz")
except lat.StreamError as wrong:
    assert str(wrong).startswith("cut.gz: expected a whole packed file, found "), wrong
else:
    raise SystemExit("a cut file was read")
# Quarks: an array that tells all axes apart.
rng = np.random.default_rng(1)
s = lat.propagator(rng.normal(size=(8, 6, 2, 10, 12, 4, 3)) + 1j * rng.normal(size=(8, 6, 2, 10, 12, 4, 3)))
for name in "chroma-prop", "usqcd-prop", "etmc-prop", "npy-prop", "hdf5-prop":
    lat.run("convert", s, to=name, o=f"s.{name}", force=True)
    again = lat.load(f"s.{name}")
    # Where the basis is another one, two products of four terms.
    assert again.kind == "propagator" and abs(again.spinors - s.spinors).max() <= 16 * 2.0 ** -52 * abs(s.spinors).max(), name
END
    nothing_left
}

@test "lat.fields gives the fields of many files, and lat.load refuses several" {
    rough three.lat --dims 4,4,4,4 --count 3
    lat-convert --split three.lat -o cfg.nersc
    lat-convert --split three.lat -o cfg.ildg
    py <<'END'
import lat
plaquettes = [u.plaquette for u in lat.fields("three.lat", "cfg.0000.nersc", "cfg.0001.nersc", "cfg.0002.ildg")]
assert len(plaquettes) == 6 and plaquettes[:3] == plaquettes[3:] and len(set(plaquettes)) == 3, plaquettes
try:
    lat.load("three.lat")
except lat.StreamError as wrong:
    assert str(wrong).startswith("expected one field of three.lat, found several"), wrong
else:
    raise SystemExit("one of three fields was given away")
END
}

@test "a tool that fails raises the tool's own sentence and exit status; warnings are warnings" {
    rough u.lat --dims 4,4,4,4
    head -c 3000 u.lat >cut.lat
    lat-convert --to nersc u.lat -o cfg.nersc
    head -c 3000 cfg.nersc >cut.nersc
    { lat-convert cut.nersc || true; lat-orelax --theta 1e-30 --max-sweeps 20 u.lat || true; lat-theta --tsvv u.lat || true; } >out 2>expected
    py <<'END'
import warnings
import lat
expected = open("expected").read()
def fails(kind, status, call):
    try:
        call()
    except lat.ToolError as wrong:
        assert type(wrong) is kind and wrong.status == status, repr(wrong)
        return str(wrong)
    raise SystemExit("no error")
said = [fails(lat.ToolError, 1, lambda: lat.load("cut.nersc")),
        fails(lat.NotConverged, 3, lambda: lat.run("orelax", "u.lat", theta=1e-30, max_sweeps=20)),
        fails(lat.ToolError, 2, lambda: lat.run("theta", "u.lat", tsvv=True))]
assert "\n".join(said) + "\n" == expected, (said, expected)
assert "lat-nothing" in fails(lat.ToolError, 127, lambda: lat.run("nothing"))
# What has not converged is there if it was asked for.
try:
    lat.run("orelax", "u.lat", theta=1e-30, max_sweeps=20, keep=True)
except lat.NotConverged as wrong:
    assert wrong.result.field.header.sweeps == 20
else:
    raise SystemExit("converged")
# A damaged input of an iterator is its own error, not the tool's.
for call in (lambda: lat.run("theta", lat.read("cut.lat")), lambda: list(lat.stream("orelax", lat.read("cut.lat")))):
    try:
        call()
    except lat.StreamError as wrong:
        assert wrong.file == "cut.lat", wrong
    else:
        raise SystemExit("a cut stream was read")
u = lat.load("u.lat")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    lat.run("convert", u, to="raw", o="u.raw")
    lat.load("u.raw", from_="raw", dims=(4, 4, 4, 4))
assert {c.category for c in caught} == {lat.ToolWarning} and "its plaquette is" in str(caught[-1].message), [str(c.message) for c in caught]
for bad in "theta | cat", "":
    try:
        lat.run(bad)
    except lat.StreamError:
        pass
    else:
        raise SystemExit(bad)
END
    nothing_left
}

@test "fields go to stdin, options and temporary files as in a shell: the results are those of a pipe" {
    rough u.lat --dims 4,4,4,8
    lat-solve --kappa 0.12 --source point:0,0,0,0 u.lat -o light.lat
    lat-solve --kappa 0.11 --source point:0,0,0,0 u.lat -o heavy.lat
    lat-corr --second heavy.lat --sink gauss:1,2 --gauge-file u.lat --channels pion,sigma light.lat >expected.tsv
    py <<'END'
import glob, os, tempfile
import numpy as np, lat
os.environ["TMPDIR"] = tempfile.tempdir = os.getcwd()
u, light, heavy = map(lat.load, ("u.lat", "light.lat", "heavy.lat"))
expected = lat.table("expected.tsv")
found = lat.run("corr", light, second=heavy, gauge_file=u, sink="gauss:1,2", channels=("pion", "sigma"), quiet=True, force=False, json=None).table
assert list(found.columns) == list(expected.columns)
assert all((found[name] == expected[name]).all() for name in expected.columns)
once = lat.run("corr", light, second=heavy, channels="pion").table["re"]
twice = lat.run("corr", [light, light], second=[heavy, heavy], channels="pion").table["re"]
assert len(twice) == 16 and (twice.reshape(2, 8) == once).all()
# From Python's solve, whose links have the same numbers and therefore the same CRC.
made = lat.run("solve", u, kappa=np.float64(0.12), source="point:0,0,0,0").field
assert made.header.links_crc == light.header.links_crc == f"{u.crc:08x}" and (made.array == light.array).all()
objects = lat.run("theta", u, json=True).json
assert len(objects) == 1 and abs(objects[0]["plaquette"] - u.plaquette) < 1e-15
three = lat.run("plaq", lat.stream("start weak", dims=u.header.dims, epsilon=0.3, count=20), [u, u.replace(u.links.conj())], tsv=True)
assert len(three.table) == 22 and lat.run("stat", three.table[:10], three.table[10:21]).table["configurations"][0] == 21
assert not glob.glob("lat-*"), glob.glob("lat-*")
END
}

@test "lat.stream keeps one field at a time, ends tools that are not asked for more, and says why one failed" {
    py <<'END'
import os, resource
import lat
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
options = dict(dims=(8, 8, 8, 16), epsilon=0.3)
size = 8 ** 3 * 16 * 4 * 18 * 8
first = len(list(map(lambda u: u.plaquette, lat.stream("gauge --random", lat.stream("start weak", count=4, **options)))))
before = peak()
plaquettes = [u.plaquette for u in lat.stream("gauge --random", lat.stream("start weak", count=24, **options))]
# Twenty fields more than the first time, of which none is kept.
assert first == 4 and len(set(plaquettes)) == 24 and peak() < before + 5 * size, (before, peak(), size)
many = lat.stream("start weak", count=100000, **options)
next(many)
many.close()
try:
    raise SystemExit(f"it still runs: {os.waitpid(-1, os.WNOHANG)}")
except ChildProcessError:
    pass
try:
    for u in lat.stream("orelax", lat.stream("start hot", dims=(4, 4, 4, 4), count=2), theta=1e-30, max_sweeps=10):
        raise SystemExit("converged")
except lat.NotConverged as wrong:
    assert "not converged" in str(wrong)
END
}

@test "lat.table has the numbers of the tools, types that do not depend on the data, and arrays by key" {
    rough u.lat --dims 4,4,4,8 --count 3
    lat-plaq --tsv u.lat >plaq.tsv
    hadrons corr.tsv 3
    printf 'links\tt\tre\n12345678\t0\t1\n' >digits.tsv
    printf 'links\tt\tre\n12345678\t0\n' >short.tsv
    py <<'END'
import csv, io
import numpy as np, lat
t = lat.table("plaq.tsv")
rows = list(csv.DictReader(open("plaq.tsv"), delimiter="\t"))
assert list(t.columns) == list(rows[0]) and len(t) == 3
for name in t.columns:
    found, expected = t[name], [row[name] for row in rows]
    assert all(a == type(a)(b) or a != a and b == "nan" for a, b in zip(found, expected)), name
assert t["plaquette"].dtype == np.float64 and t["config"].dtype == np.int64 and t["dims"][0] == "4,4,4,8"
assert lat.table("digits.tsv")["links"].dtype.kind == "U"
c = lat.table("corr.tsv")
assert set(c["table"]) == {0, 1} and (c.where(table=1)["configuration"] == c.where(table=0)["configuration"]).all()
pion = c.where(channel="pion", px=0, py=0, pz=0).grid("re", "table", "configuration", "t")
assert pion.shape == (2, 3, 8)
row = c.where(channel="pion", px=0, py=0, pz=0, table=1, configuration=2, t=5)
assert len(row) == 1 and pion[1, 2, 5] == row["re"][0] and row.numpy()[0]["channel"] == "pion"
again = lat.table(io.StringIO(t.text))
assert all((again[name] == t[name]).all() or np.isnan(t[name]).all() for name in t.columns)
both = lat.table("plaq.tsv", "plaq.tsv")
assert len(both) == 6 and list(both["table"]) == [0] * 3 + [1] * 3
def refused(words, call):
    try:
        call()
    except lat.StreamError as wrong:
        assert words in str(wrong), wrong
        return
    raise SystemExit(words)
refused("one row for each of configuration, t", lambda: c.where(channel="pion").grid("re", "configuration", "t"))
refused("a column", lambda: c["mass"])
refused("cells in line 2 of short.tsv", lambda: lat.table("short.tsv"))
refused("tsv=True?", lambda: lat.run("plaq", "u.lat").table)
END
}

@test "lat.Table becomes a pandas.DataFrame" {
    need_package pandas
    rough u.lat --dims 4,4 --count 3
    lat-theta --tsv u.lat >theta.tsv
    py <<'END'
import lat
import pandas
frame, expected = lat.table("theta.tsv").pandas(), pandas.read_csv("theta.tsv", sep="\t")
pandas.testing.assert_frame_equal(frame, expected, check_dtype=False, rtol=1e-15)
assert frame["plaquette"].dtype == expected["plaquette"].dtype
END
}

@test "gamma matrices are Hermitian, anticommute, and are those of the tools" {
    rough u.lat --dims 4,4,4,8
    lat-solve --kappa 0.12 --source point:0,0,0,0 u.lat -o prop.lat
    lat-corr --channels gtg5:g5,gxgy:gt,gzg5:gzg5,gx:gxgt,gygz:gtgx,1:1 prop.lat >corr.tsv
    py <<'END'
import itertools
import numpy as np, lat
names = ["gx", "gy", "gz", "gt"]
for a, b in itertools.product(names, names):
    assert (lat.gamma(a) @ lat.gamma(b) + lat.gamma(b) @ lat.gamma(a) == 2 * (a == b) * np.eye(4)).all() and (lat.gamma(a) == lat.gamma(a).conj().T).all()
assert (lat.gamma("g5") == np.diag([1, 1, -1, -1])).all() and (lat.gamma("gtg5") == lat.gamma("gt") @ lat.gamma("g5")).all()
for bad in dict(name="g6"), dict(name=""), dict(name="gx", basis="chiral"):
    try:
        lat.gamma(**bad)
    except lat.StreamError:
        continue
    raise SystemExit(f"{bad}")
field, t = lat.load("prop.lat"), lat.table("corr.tsv")
s = field.spinors.reshape(*field.spinors.shape[:4], 4, 3, 4, 3)
size = (abs(s) ** 2).sum(axis=(1, 2, 3, 4, 5, 6, 7))
for channel in np.unique(t["channel"]):
    a, b = map(field.gamma, channel.split(":"))
    g5, gt = field.gamma("g5"), field.gamma("gt")
    c = -np.einsum("pq,tzyxrbqa,rs,tzyxsbpa->t", g5 @ a, s, gt @ b.conj().T @ gt @ g5, s.conj(), optimize=True)
    rows = t.where(channel=channel)
    # Each of the 4^3 144 products is at most the pion's; each sum has an error of eps times its number of terms.
    assert (abs(c - rows["re"] - 1j * rows["im"]) <= 9216 * 2.0 ** -52 * size).all(), channel
END
}

@test "samples of lat-stat and lat-fit have its values and errors; covariances are right in each resampling" {
    hadrons corr.tsv 12
    lat-stat --samples jack.tsv corr.tsv >jack.means 2>/dev/null
    lat-stat --bin 5 --samples bins.tsv corr.tsv >bins.means 2>/dev/null
    lat-stat --bootstrap 40 --samples boot.tsv corr.tsv >boot.means 2>/dev/null
    lat-stat --apart --no-fold corr.tsv >apart.means 2>/dev/null
    lat-fit --select pion,0,0,0 --range 1,3 --samples fit.tsv jack.tsv >fit.means 2>/dev/null
    py <<'END'
import numpy as np, lat
def close(a, b, digits=5e-10):  # lat-stat prints ten digits
    return (np.isnan(a) == np.isnan(b)).all() and np.nanmax(abs(a - b) - digits * abs(b)) <= 1e-15
for name, kind, count in ("jack", "jackknife", 12), ("bins", "jackknife", 2), ("boot", "bootstrap", 40), ("fit", "jackknife", 12):
    s, means = lat.samples(f"{name}.tsv"), lat.table(f"{name}.means")
    assert s.resampling == kind and s.count == count and s.configurations == 12 and s.bin == (5 if name == "bins" else 1), s
    for value in s.values:
        assert close(s.means[value], means[value]), (name, value)
        assert close(s.error(value), means[f"{value}_error"]), (name, value)
        good = s.finite(value)
        cov = good.covariance(value)
        assert close(np.sqrt(np.diag(cov)), good.error(value)) and np.linalg.eigvalsh(cov).min() >= -1e-12 * abs(cov).max()
s = lat.samples("jack.tsv").where(channel="pion", px=0)
d = s["C"] - s["C"].mean(axis=1, keepdims=True)
assert np.allclose(s.covariance("C"), 11 / 12 * sum(np.outer(k, k) for k in d.T), rtol=1e-13)
# A sample for each configuration: its mean over two sources. The jackknife of means is the standard error.
c, means = lat.correlators("corr.tsv"), lat.table("apart.means")
assert c.count == 12 and c.resampling == "configurations" and len(c) == len(means)
for name in c.keys.columns:
    assert (c.keys[name] == means[name]).all()
assert close(c.means["C"], means["C"]) and close(c.error("C"), means["C_error"]) and close(c.means["C_im"], means["C_im"], 1e-6)
t = lat.table("corr.tsv")
assert len(lat.correlators(t.where(table=0), t.where(table=1))) == len(c)
def refused(words, *tables):
    try:
        lat.correlators(*tables)
    except lat.StreamError as wrong:
        assert words in str(wrong), wrong
        return
    raise SystemExit(words)
refused("each as often", t[5:])
other = t.where(table=0)
other.columns["operator"][:] = "other"
refused("one operator", t, other)
END
}

@test "samples of plaquettes, flows, potentials and ghosts are read, with the values and errors of lat-stat" {
    lat-heatbath --dims 4,4,4,4 --beta 5.7 --thermalise 20 --count 12 -o many.lat
    lat-plaq --tsv many.lat | lat-stat --samples plaq.tsv >plaq.means 2>/dev/null
    lat-flow --tsv --until 0.2 many.lat | lat-stat --samples flow.tsv >flow.means 2>/dev/null
    lat-loops --tsv many.lat | lat-stat --potential --samples potential.tsv >potential.means 2>/dev/null
    lat-orelax --theta 1e-12 many.lat -o landau.lat
    lat-ghost --tsv landau.lat | lat-stat --samples ghost.tsv >ghost.means 2>/dev/null || rm -f ghost.tsv
    py <<'END'
import os
import numpy as np, lat
for name, labels in ("plaq", ["all"]), ("flow", ["all"]), ("potential", ["1,0,0", "2,0,0"]), ("ghost", None):
    if name == "ghost" and not os.path.exists("ghost.tsv"):
        continue  # built without FFTW
    s, means = lat.samples(f"{name}.tsv"), lat.table(f"{name}.means")
    assert s.count == 12 and (labels is None or list(s.labels()) == labels), (name, list(s.labels()))
    for value in s.values:
        said = means[value], means[f"{value}_error"]
        for a, b in zip((s.means[value], s.error(value)), said):
            assert (np.isnan(a) == np.isnan(b)).all() and (np.isnan(a) | (abs(a - b) <= 5e-10 * abs(b) + 1e-15)).all(), (name, value, a, b)
    try:
        import h5py
    except ImportError:
        continue
    s.to_hdf5(f"{name}.h5")
    again = lat.samples(f"{name}.h5")
    assert repr(again) == repr(s) and again.keys.text == s.keys.text and all(np.array_equal(again[v], s[v], equal_nan=True) for v in s.values)
END
}

@test "samples become gvar.GVars with the errors and correlations of lat-stat" {
    need_package gvar
    hadrons corr.tsv 12
    lat-stat --samples jack.tsv corr.tsv >jack.means 2>/dev/null
    py <<'END'
import gvar, numpy as np, lat
s, means = lat.samples("jack.tsv"), lat.table("jack.means")
for of, name in (s, "C"), (s.finite("mass"), "mass"), (lat.correlators("corr.tsv"), "C"):
    g = of.gvar(name)
    assert list(g) == list(of.labels())
    joined = np.concatenate(list(g.values()))
    assert (gvar.mean(joined) == of.means[name]).all() and np.allclose(gvar.sdev(joined), of.error(name), rtol=1e-12)
    assert np.allclose(gvar.evalcov(joined), of.covariance(name), rtol=1e-10, atol=1e-14 * abs(of.covariance(name)).max())
mask = s.keys.mask(channel="pion", px=0) & np.isfinite(means["mass"])
assert np.allclose(gvar.sdev(s.finite("mass").gvar("mass")["pion 0 0 0"]), means["mass_error"][mask], rtol=1e-9)
s.to_gvar("c.gvar", "C")
again = gvar.load("c.gvar")
pion, rho = (np.concatenate([x["pion 0 0 0"], x["rho 0 0 0"]]) for x in (again, s.gvar("C")))
assert np.allclose(gvar.evalcov(pion), gvar.evalcov(rho), rtol=1e-10)
try:
    s.gvar("mass")
except lat.StreamError as wrong:
    assert "finite" in str(wrong)
else:
    raise SystemExit("nan")
END
}

@test "samples become pyerrors.Obs: the errors of lat-stat, its Gamma method, and all covariances" {
    need_package pyerrors
    hadrons corr.tsv 24
    lat-stat --samples jack.tsv corr.tsv >jack.means 2>/dev/null
    lat-stat --bootstrap 40 --samples boot.tsv corr.tsv >boot.means 2>/dev/null
    lat-stat --gamma --tau --apart --no-fold corr.tsv >gamma.means 2>/dev/null
    # pyerrors warns of correlations of few configurations.
    "$PYTHON" <<'END'
import numpy as np, pyerrors as pe, lat
import pyerrors.input.json
def joined(obs):
    return [one for row in obs.values() for one in row]
def gamma(obs, **options):
    for one in obs:
        one.gamma_method(**options)
    return np.array([one.dvalue for one in obs])
s = lat.samples("jack.tsv")
for of, name in (s, "C"), (s.finite("mass"), "mass"), (lat.samples("boot.tsv"), "C"):
    obs = joined(of.obs(name, "A"))
    assert np.array_equal([one.value for one in obs], of.means[name])
    assert np.allclose(gamma(obs, S=0), of.error(name), rtol=1e-10)
    some = [i for i in range(len(obs)) if obs[i].dvalue > 0][:10]
    assert np.allclose(pe.covariance([obs[i] for i in some]), of.covariance(name)[np.ix_(some, some)], rtol=1e-8, atol=1e-12 * of.covariance(name).max())
# Single configurations: both have Wolff's method, lat-stat with S = 1.5. pyerrors takes a tau below 1/2 for 1/2.
means, c = lat.table("gamma.means"), lat.correlators("corr.tsv")
found = gamma(joined(c.obs("C", "A")), S=1.5)
usual = means["C_tau"] > 0.6
assert usual.sum() > 5 and np.allclose(found[usual], means["C_error"][usual], rtol=1e-9), (found / means["C_error"], means["C_tau"])
s.to_pyerrors("c.json.gz", "C", "A")
again = pe.input.json.load_json_dict("c.json.gz", verbose=False)
assert list(again) == list(s.labels())
assert np.allclose(gamma(again["pion 0 0 0"], S=0), s.where(channel="pion", px=0).error("C"), rtol=1e-10)
END
}

@test "correlators and samples are the same in HDF5, beside each other, and a failure leaves no file" {
    need_package h5py
    hadrons corr.tsv 5
    lat-stat --bin 2 --samples jack.tsv corr.tsv >jack.means 2>/dev/null
    py <<'END'
import os
import h5py, numpy as np, lat
t, s, c = lat.table("corr.tsv"), lat.samples("jack.tsv"), lat.correlators("corr.tsv")
t.to_hdf5("all.h5")
for _ in range(2):
    s.to_hdf5("all.h5")
c.to_hdf5("c.h5")
u = lat.table("all.h5")
assert list(u.columns) == list(t.columns) and all((u[name] == t[name]).all() and u[name].dtype == t[name].dtype for name in t.columns)
for was, name in (s, "all.h5"), (c, "c.h5"):
    now = lat.samples(name)
    assert repr(now) == repr(was) and now.about == was.about and now.keys.text == was.keys.text
    for value in was.values:
        assert np.array_equal(now[value], was[value], equal_nan=True) and np.array_equal(now.means[value], was.means[value], equal_nan=True)
with h5py.File("all.h5") as file:
    part = file["samples/pion 0 0 0"]
    assert part["C"].shape == (8, s.count) and part.attrs["channel"] == "pion" and list(part["t"]) == list(range(8))
try:
    lat.samples("corr.tsv")
except lat.StreamError as wrong:
    assert str(wrong).startswith("corr.tsv: expected columns sample and resampling"), wrong
# What cannot be written leaves nothing new, and what was there as it was.
before, names = open("all.h5", "rb").read(), sorted(os.listdir())
s.values["mass"] = np.full(s["mass"].shape, object())
for name in "bad.h5", "all.h5":
    try:
        s.to_hdf5(name)
    except TypeError:
        assert sorted(os.listdir()) == names and open("all.h5", "rb").read() == before
    else:
        raise SystemExit("written")
END
}

@test "a package that is missing is named by the method that needs it" {
    hadrons corr.tsv 5
    lat-stat --samples jack.tsv corr.tsv >jack.means 2>/dev/null
    py <<'END'
import os, sys
for name in "h5py", "pandas", "gvar", "pyerrors":
    sys.modules[name] = None
import lat
s, t = lat.samples("jack.tsv"), lat.table("corr.tsv")
for name, call in (("pandas", t.pandas), ("h5py", lambda: t.to_hdf5("x.h5")), ("h5py", lambda: s.to_hdf5("x.h5")), ("gvar", lambda: s.gvar("C")),
                   ("gvar", lambda: s.to_gvar("x", "C")), ("pyerrors", lambda: s.obs("C", "A")), ("pyerrors", lambda: s.to_pyerrors("x.json.gz", "C", "A"))):
    try:
        call()
    except ImportError as wrong:
        assert f"expected the package {name}, found none (pip install {name})" in str(wrong) and "\n" not in str(wrong), wrong
    else:
        raise SystemExit(name)
assert sorted(os.listdir()) == ["corr.tsv", "jack.means", "jack.tsv", "many.lat"], os.listdir()
END
}

@test "what is shown in a session says lattice, group, precision, and plaquette, gauge, operator and CRC where they are known" {
    rough u.lat --dims 4,2,4,8 -p single
    lat-orelax --theta 1e-9 u.lat -o fixed.lat
    lat-solve --kappa 0.12 --csw 1 --source point:0,0,0,0 fixed.lat -o prop.lat
    py <<'END'
import re
import numpy as np, lat
u, f, s = map(lat.load, ("u.lat", "fixed.lat", "prop.lat"))
assert repr(u) == f"<lat.Field gauge SU(3) 4x2x4x8 f32, plaquette {u.plaquette:.10g}, CRC {u.crc:08x}>", u
assert re.fullmatch(r"<lat.Field gauge SU\(3\) 4x2x4x8 f64, plaquette [0-9.]+, landau gauge to theta [0-9.e-]+, CRC [0-9a-f]{8}>", repr(f)), f
assert "propagator SU(3) 4x2x4x8" in repr(s) and "wilson kappa 0.12 mass 0.1666666667 csw 1 boundary p,p,p,a, source point:0,0,0,0, residual " in repr(s), s
assert repr(s.header).endswith("programs>") and repr(s.header.operator) == "<lat.Operator wilson kappa 0.12 mass 0.1666666667 csw 1 boundary p,p,p,a>"
assert repr(lat.gauge_field(np.array(u))) == "<lat.Field gauge SU(3) 4x2x4x8 f32>"
t = lat.run("corr --channels pion,rho", s).table
assert repr(t).splitlines()[0] == "<lat.Table 32 x 15>" and repr(t).splitlines()[-1] == ".. 32 rows" and max(map(len, repr(t).splitlines())) <= 160
assert repr(lat.correlators(t)) == "<lat.Samples C, C_im: 32 rows (pion 0 0 0, rho_x 0 0 0, rho_y 0 0 0, rho_z 0 0 0), 1 configurations>"
assert re.fullmatch("<lat.Result lat-theta: [0-9]+ lines>", repr(lat.run("theta", u))) and "a stream of " in repr(lat.run("convert", u))
END
}
