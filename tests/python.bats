#!/usr/bin/env bats
# python/lat: reads, verifies and writes streams, beside the tools.
load helper

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    need_numpy
}

# py: Python runs what is on stdin.
py() {
    # shellcheck disable=SC2153 # need_numpy sets it
    "$PYTHON" - "$@"
}

# body FILE: the bytes behind the first header.
body() {
    tail -c +$(($(LC_ALL=C grep -abo '^end = ' "$1" | head -n 1 | cut -d : -f 1) + 16)) "$1"
}

# refused FILE WORDS: python/lat refuses the file, with one sentence that names it and has these words.
refused() {
    run -1 "$PYTHON" -m lat "$1"
    [ "${#lines[@]}" -eq 1 ] || { echo "$output"; return 1; }
    [[ $output == "python3 -m lat: $1: "*"expected "*", found "* && $output == *"$2"* ]] || { echo "no '$2' in: $output"; return 1; }
}

@test "what is read and written again has the same bytes, in every group, precision, order, compressed or not" {
    local dims group rows precision order how
    for shape in "4,3,2,3 3 3 double" "4,3,2,6 3 2 single" "3,5,4 2 1 double" "5,4 2 2 single" "7 4 4 double" "2,3 6 6 single"; do
        read -r dims group rows precision <<< "$shape"
        lat-start hot --dims "$dims" --group "$group" --rows "$rows" --precision "$precision" > u.lat
        lat-gauge --random --save-g g.lat u.lat > rotated.lat
        for order in natural standard parity timeslice timeslice-parity; do
            cat u.lat g.lat | lat-reorder --sites "$order" -0 > stored.lat
            lat-reorder --sites natural -0 stored.lat > natural.lat
            lat-reorder --sites "$order" stored.lat -o zip.lat
            py <<'END'
import lat
for name in "stored.lat", "zip.lat", "natural.lat":
    fields = list(lat.read(name))
    for field in fields:
        h = field.header
        with lat.Writer(f"{field.kind}.{name}", compression="none", sites=h.sites, links=h.links, provenance=False) as out:
            out.write(field)
        lat.write("again.lat", field, sites=h.sites, links=h.links, endian="big", block=4096)
        again, = lat.read("again.lat")
        assert again.array.tobytes() == field.array.tobytes() and again.header.compression == "zlib"
        lat.write(f"{field.kind}.squeezed.lat", field)
    lat.write("both.lat", fields)
END
            for how in u:gauge g:transform; do
                lat-reorder --sites "$order" -0 "${how%:*}.lat" > one.lat
                body one.lat > expected
                body "${how#*:}.stored.lat" | cmp expected -
                body "${how#*:}.zip.lat" | cmp expected -
                lat-reorder -0 "${how%:*}.lat" > one.lat
                body one.lat > expected
                body "${how#*:}.natural.lat" | cmp expected -
                lat-reorder -0 "${how#*:}.squeezed.lat" > one.lat
                body one.lat | cmp expected -
                lat-info --check "${how#*:}.stored.lat"
            done
            lat-info --check both.lat
            lat-reorder -0 both.lat > one.lat
            lat-info --tsv one.lat | cut -f 2-8 | cmp - <(lat-info --tsv natural.lat | cut -f 2-8)
        done
    done
    nothing_left
}

@test "links made by numpy are streams to the tools, with the same plaquette and link trace to rounding" {
    py <<'END'
import numpy as np, lat
def links(rng, dims, n, small):
    """exp(i e H) to second order and orthonormal rows: some matrices of SU(n)."""
    nd = len(dims)
    a = rng.standard_normal(dims[::-1] + (nd, n, n)) + 1j * rng.standard_normal(dims[::-1] + (nd, n, n))
    u = np.linalg.qr(np.eye(n) + small * a)[0]
    u = u * (np.diagonal(u, axis1=-2, axis2=-1) / abs(np.diagonal(u, axis1=-2, axis2=-1))).conj()[..., None, :]
    det = np.linalg.det(u)
    u[..., -1, :] /= det[..., None]
    return u
rng = np.random.default_rng(7)
table = open("table", "w")
for number, (dims, n, real, reals) in enumerate([((4, 6, 2, 8), 3, "f64", 18), ((4, 6, 2, 8), 3, "f32", 12), ((8, 6, 4, 4), 2, "f64", 4),
                                                 ((5, 3, 4), 4, "f64", 32), ((6, 8), 3, "f32", 18), ((16, 12, 8, 10), 3, "f64", 12)]):
    u = links(rng, dims, n, 0.2)
    field = lat.gauge_field(u, real=real, reals=reals, info={"beta": "6.0", "ensemble_id": "grün"}, history=["made by hand"])
    for how, options in (("zip", {}), ("raw", {"compression": "none"}), ("odd", {"sites": "parity links " + " ".join("tzyx"[4 - len(dims):]),
                         "links": " ".join("xyzt"[:len(dims)][::-1]), "endian": "big", "block": 4096, "filter": "none"})):
        name = f"{number}{how}.lat"
        lat.write(name, field, note="by numpy", **options)
        print(name, repr(lat.plaquette(u)), repr(lat.link_trace(u)), 1e-13 if real == "f64" else 4 * 2.0**-23, file=table)
END
    local name plaquette trace tolerance
    [ "$(wc -l <table)" = 18 ]
    while read -r name plaquette trace tolerance; do
        lat-info --check "$name"
        # Sums of fewer than 10^6 numbers below 1; of f32 four links rounded, of 12 reals a row that follows from the others.
        near "$(column "$name" plaquette)" "$plaquette" "$tolerance"
        near "$(column "$name" link_trace)" "$trace" "$tolerance"
        lat-info "$name" | grep -q 'python-lat [0-9.]* | - | by numpy$'
        lat-info "$name" | grep -q '^history     made by hand$'
        grep -aqx 'info.ensemble_id = grün' "$name"
    done <table
    lat-orelax --theta 1e-8 0zip.lat -o fixed.lat
    # As well compressed as by the tools, but for the two bytes or so that end each plane.
    lat-reorder --no-provenance 5zip.lat -o ours.lat
    awk -v p="$(wc -c <5zip.lat)" -v t="$(wc -c <ours.lat)" 'BEGIN { exit !(p < 1.002 * t) }'
}

@test "plaquette, link trace and Polyakov loops by numpy are those of lat-theta" {
    lat-start hot --dims 4,6,2,8 --seed 3 -o hot.lat
    rough rough.lat --dims 6,4,8,2 --precision single
    { lat-theta --tsv hot.lat; lat-theta --tsv rough.lat | tail -n 1; } >tools.tsv
    py <<'END'
import csv, numpy as np, lat
for name, row in zip(("hot.lat", "rough.lat"), csv.DictReader(open("tools.tsv"), delimiter="\t")):
    field, = lat.read(name)
    u = field.links.astype(complex)
    close = lambda a, b: abs(a - float(b)) < 1e-13  # 10^4 numbers of modulus at most 1
    assert close(lat.plaquette(u), row["plaquette"]) and close(lat.link_trace(u), row["link_trace"]), row
    for mu, axis in enumerate("xyzt"):
        line = np.moveaxis(u[..., mu, :, :], 3 - mu, 0)
        loop = line[0]
        for step in line[1:]:
            loop = loop @ step
        loop = np.trace(loop, axis1=-2, axis2=-1).mean() / 3
        assert close(loop.real, row[f"polyakov_{axis}_re"]) and close(loop.imag, row[f"polyakov_{axis}_im"]), (axis, loop, row)
END
}

@test "a transformation by numpy is what lat-gauge applies: g(x) U_mu(x) g(x+mu)^+" {
    rough u.lat --dims 4,3,2,5
    lat-gauge --random --save-g g.lat u.lat >rotated.lat
    py <<'END'
import numpy as np, lat
u, = lat.read("u.lat")
g = next(lat.read("g.lat")).transformation
new = np.stack([g @ u.links[..., mu, :, :] @ np.roll(g, -1, axis=3 - mu).conj().swapaxes(-2, -1) for mu in range(4)], axis=-3)
lat.write("numpy.lat", u.replace(new))
lat.write("h.lat", lat.transformation(g.conj().swapaxes(-2, -1)))
END
    # Two products of three terms: 16 N eps = 1.1e-14.
    lat-diff --tolerance 1.1e-14 rotated.lat numpy.lat
    lat-gauge --apply h.lat rotated.lat | lat-diff --tolerance 2.2e-14 u.lat -
}

@test "the header is there, with gauge, weights, boundaries, anisotropy and history, and goes on as it was" {
    rough u.lat --dims 4,2,6,4
    lat-orelax --theta 1e-10 --weights 1,2,3,0.5 u.lat -o fixed.lat
    py <<'END'
import lat
h = lat.read_header("fixed.lat")
field, = lat.read("fixed.lat")
assert field.header == h and h.dims == (4, 2, 6, 4) and h.shape == (4, 6, 2, 4, 4, 3, 3) and h.group == "SU(3)"
assert h.gauge == "landau" and h.weights == (1, 2, 3, 0.5) and 0 < h.theta < 1e-10 and h.sweeps > 0 and 0.5 < h.functional < 1
assert [line.split()[0] for line in h.history] == ["lat-start", "lat-orelax"]
assert h.boundary == ("PERIODIC",) * 4 and h.xi == 1 and h.xi_axis == "t"
h.info.update(boundary_4="ANTIPERIODIC", xi="2.5", xi_axis="z", beta="6.1")
field.header.info = h.info
lat.write("again.lat", field)
again, = lat.read("again.lat")
assert again.header.boundary == ("PERIODIC",) * 3 + ("ANTIPERIODIC",) and (again.header.xi, again.header.xi_axis) == (2.5, "z")
for key in "kind n dims real reals plaquette link_trace gauge weights functional theta sweeps copies info".split():
    assert getattr(again.header, key) == getattr(field.header, key), key
assert again.header.history[:-1] == h.history and again.header.history[-1] == f"python-lat {lat.__version__} | - | of {field.crc:08x}"
# Other numbers are in no gauge, and have another plaquette.
new = field.replace(field.links.conj()[:, :, :, :2])
assert new.header.gauge is None and new.header.theta is None and new.header.info == h.info and new.header.dims == (2, 2, 6, 4)
lat.write("half.lat", new)
# A header that is not of its numbers is made right.
field.array[:] = field.array[::-1, :, ::-1].conj().swapaxes(-2, -1)
lat.write("turned.lat", field, provenance=False)
turned, = lat.read("turned.lat")
assert abs(turned.plaquette - again.plaquette) > 1e-3 and turned.header.history == h.history
END
    lat-info --check half.lat
    lat-info --check turned.lat
    lat-info again.lat | grep -q '^gauge *landau'
}

@test "many fields are read one at a time, from files, pipes and objects, and written into them" {
    lat-start weak --dims 4,4,4,4 --seed 3 --count 3 -o three.lat
    rough more.lat --dims 4,2
    cat three.lat more.lat three.lat >seven.lat
    # shellcheck disable=SC2002
    cat seven.lat | "$PYTHON" -c 'import lat; lat.write("-", lat.read("-"))' | cat >pipe.lat
    lat-info --check pipe.lat
    lat-diff --tolerance 0 seven.lat pipe.lat
    grep -aqx 'compression = none' pipe.lat
    "$PYTHON" -c 'import lat; lat.write("-", lat.read("-"))' <seven.lat >file.lat
    grep -aqx 'compression = zlib' file.lat
    "$PYTHON" -m lat <file.lat | grep -c '^<stdin>: field' | grep -qx 7
    head -c $(($(wc -c <seven.lat) - 1000)) seven.lat >cut.lat
    py <<'END'
import io, lat, pathlib
data = open("seven.lat", "rb").read()
assert [f.header.nd for f in lat.read(io.BytesIO(data))] == [4, 4, 4, 2, 4, 4, 4]
with lat.Reader(pathlib.Path("seven.lat")) as fields:
    next(fields)
out = io.BytesIO()
lat.write(out, lat.read("three.lat"))
assert len(list(lat.read(io.BytesIO(out.getvalue())))) == 3
fields, count = lat.read("cut.lat"), 0
try:
    for field in fields:
        count += 1
except lat.StreamError as wrong:
    assert (wrong.file, wrong.field, count) == ("cut.lat", 6, 6) and "truncated" in wrong.found, wrong
else:
    raise SystemExit("a cut stream was read")
END
}

@test "a stream with any byte changed, cut anywhere, or followed by anything is refused" {
    lat-start hot --dims 2,2,2,2 --group 2 --rows 1 -p single -0 >stored.lat
    lat-start hot --dims 2,2,2,2 --group 2 --rows 1 -p single -1 >zip.lat
    py <<'END'
import io, random, lat
def refused(data, what):
    try:
        list(lat.read(io.BytesIO(data)))
    except lat.StreamError as wrong:
        assert wrong.expected and wrong.found and "\n" not in str(wrong), wrong
        return
    raise SystemExit(f"accepted: {what}")
rng = random.Random(1)
for name in "stored.lat", "zip.lat":
    data = open(name, "rb").read()
    list(lat.read(io.BytesIO(data + data)))
    for at in range(len(data)):
        refused(data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:], f"{name}, byte {at}")
        refused(data[:at], f"{name}, {at} bytes of it")
    for more in b"\n", b"\0" * 100, data[1:], b"LATZ", data[:4]:
        refused(data + more, f"{name} and {more[:10]}")
END
}

# forge FILE CODE: what CODE makes of the bytes d of u.lat, whose block begins at b and whose trailer at t, with all checksums made right.
forge() {
    py "$1" "$2" <<'END'
import struct, sys, zlib
d = bytearray(open("u.lat", "rb").read())
end = d.index(b"\nend = ") + 1
b = d.index(b"\n", end) + 1
t = b + 16 + struct.unpack("<I", d[b + 4:b + 8])[0]
bomb = zlib.compress(bytes(10**6))
def head(payload, r, tag=b"LATB"):
    h = tag + struct.pack("<II", len(payload), r)
    return h + struct.pack("<I", zlib.crc32(payload, zlib.crc32(h)))
def mark(tag, a, c):
    h = tag + struct.pack("<II", a, c)
    return h + struct.pack("<I", zlib.crc32(h))
def reheaded(old, new):
    h = d[:end].replace(old, new)
    assert h != d[:end]
    return h + b"end = %08x\n" % zlib.crc32(h) + d[b:]
raw = struct.unpack("<I", d[b + 8:b + 12])[0]
open(sys.argv[1], "wb").write(eval(sys.argv[2]))
END
}

@test "what checksums do not find is found: counts, sizes, bombs, NaN, other numbers than those of the header" {
    lat-start hot --dims 4,4,4,4 -p single -0 >u.lat
    forge bad.lat 'd[:t] + mark(b"LATE", 2, zlib.crc32(d[b+16:t])) + d[t+16:]'
    refused bad.lat "1 blocks"
    forge bad.lat 'd[:t] + mark(b"LATE", 1, 0) + d[t+16:]'
    refused bad.lat "checksum 00000000 of the field"
    forge bad.lat 'd[:t] + mark(b"LATX", 1, zlib.crc32(d[b+16:t])) + d[t+16:]'
    refused bad.lat "the trailer of the field"
    forge bad.lat 'd[:-16] + mark(b"LATZ", 2, 0)'
    refused bad.lat "end mark after 1 fields"
    forge bad.lat 'd[:-16] + mark(b"LATZ", 1, 1)'
    refused bad.lat "end mark"
    forge bad.lat 'd[:b] + head(d[b+16:t], raw - 4) + d[b+16:]'
    refused bad.lat "$((4 * 4 * 4 * 4 * 4 * 72)) raw bytes"
    forge bad.lat 'd[:b] + head(d[b+16:t], raw, b"LATX") + d[b+16:]'
    refused bad.lat "block 1 of 1"
    forge bad.lat 'd[:b] + head(d[b+16:t-8], raw) + d[b+16:]'
    refused bad.lat "payload"
    forge bad.lat 'd[:b] + (lambda p: head(p, raw) + p + mark(b"LATE", 1, zlib.crc32(p)))(d[b+16:t-4] + bytes([0, 0, 0xc0, 0x7f])) + d[t+16:]'
    refused bad.lat "finite"
    forge bad.lat 'd[:b] + (lambda p: head(p, raw) + p + mark(b"LATE", 1, zlib.crc32(p)))(bytes(raw)) + d[t+16:]'
    refused bad.lat "plaquette"
    forge bad.lat 'reheaded(b"sites = t z y x", b"sites = x y z t")'
    refused bad.lat "plaquette"
    forge bad.lat 'reheaded(b"links = x y z t", b"links = t z y x")'
    refused bad.lat "plaquette"
    forge bad.lat 'reheaded(b"lat-stream 1", b"lat-stream 2")'
    refused bad.lat "version 1"
    forge bad.lat 'reheaded(b"dims = 4 4 4 4", b"dims = 4 4 4 65535")'
    refused bad.lat "truncated"
    forge bad.lat 'reheaded(b"dims = 4 4 4 4", b"dims = 65535 65535 65535 65535")'
    refused bad.lat "63 bits"
    forge bad.lat 'd[:b-18] + b"x" * 70000'
    refused bad.lat "65536"
    lat-start hot --dims 4,4,4,4 -p single -1 >u.lat
    forge bad.lat 'd[:b] + head(bomb, raw) + bomb + d[t:]'
    refused bad.lat "zlib stream of $((4 * 4 * 4 * 4 * 4 * 72)) bytes"
    forge bad.lat 'd[:b] + head(d[b+16:t] + b"x", raw) + d[b+16:t] + b"x" + d[t:]'
    refused bad.lat "zlib stream"
    forge bad.lat 'd[:b] + head(d[b+16:t-4], raw) + d[b+16:t-4] + d[t:]'
    refused bad.lat "zlib stream"
    : >bad.lat
    refused bad.lat empty
    printf 'BEGIN_HEADER\n' >bad.lat
    refused bad.lat lat-convert
    # Of 17 GB of which nothing comes no memory is taken.
    forge bad.lat 'reheaded(b"dims = 4 4 4 4", b"dims = 64 64 64 256")'
    run -1 bash -c "ulimit -v 40000000; cat bad.lat | '$PYTHON' -m lat"
    [[ $output == *"<stdin>: expected "* ]]
}

@test "what is no stream cannot be written, and leaves no file" {
    py <<'END'
import io, os, numpy as np, lat
u = np.zeros((2, 2, 2, 2, 4, 3, 3), complex) + np.eye(3)
def fails(words, make, name="bad.lat"):
    open("bad.lat", "w").write("as it was")
    try:
        make()
    except lat.StreamError as wrong:
        assert words in str(wrong), wrong
    else:
        raise SystemExit(f"written: {words}")
    assert open("bad.lat").read() == "as it was" and os.listdir(".") == ["bad.lat"], os.listdir(".")
nan, big, off = u.copy(), u.copy(), u.copy()
nan[1, 0, 1, 0, 2, 0, 0] = np.nan
big[0, 0, 0, 0, 0, 0, 0] = 1e300
off[1, 1, 1, 1, 3, 2, 2] = 1.01
write = lambda field, **options: lambda: lat.write("bad.lat", field, **options)
fails("finite", write(lat.gauge_field(nan)))
fails("finite", write(lat.gauge_field(big, real="f32")))
fails("of which 12 reals", write(lat.gauge_field(off, reals=12)))
fails("reals = 18 or 12", write(lat.gauge_field(u, reals=4)))
fails("order of the sites", write(lat.gauge_field(u), sites="t z y"))
fails("order of the directions", write(lat.gauge_field(u), links="t z y y"))
fails("block", write(lat.gauge_field(u), block=4097))
fails("compression", write(lat.gauge_field(u), compression="bzip2"))
fails("control characters", write(lat.gauge_field(u, info={"a": "tab\t"})))
fails("line break", write(lat.gauge_field(u, history=["two\nlines"])))
fails("keys", write(lat.gauge_field(u, info={"A": "x"})))
fails("gauge", write(lat.gauge_field(u, gauge="of Landau")))
fails("theta", write(lat.gauge_field(u, theta=1e-9)))
fails("65536", write(lat.gauge_field(u, history=["x" * 65536])))
fails("a field to write", write([]))
fails("shape", lambda: lat.gauge_field(u[..., 0, :, :]))
fails("N of group", write(lat.gauge_field(u[..., :1, :1])))
fails("kind gauge", lambda: lat.transformation(u[..., 0, :, :]).links)
# A stream that fails after a field has no end mark.
out = io.BytesIO()
fails("finite", lambda: lat.write(out, [lat.gauge_field(u), lat.gauge_field(nan)]))
fails("truncated", lambda: list(lat.read(io.BytesIO(out.getvalue()))))
try:
    with lat.Writer("bad.lat") as writer:
        writer.write(lat.gauge_field(u))
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
fails("", lambda: lat.gauge_field(u[0, 0, 0, 0]))
END
}

@test "random headers are accepted and refused alike by python/lat and lat-info --check" {
    "$PYTHON" "$ROOT/tests/random_headers.py" 1 300
}

@test "the examples of docs/python.md run, and print what they say" {
    rough cfg.lat --dims 4,4,4,8
    lat-convert --to nersc cfg.lat -o cfg.nersc
    rough six.lat --dims 4,4,4,8 --count 6
    lat-solve --kappa 0.13 --source point:0,0,0,0 six.lat -o props.lat
    lat-solve --kappa 0.13 --source point:0,0,0,0 cfg.lat -o prop.lat
    # Packages that are optional may be missing; everything else must not fail.
    py "$ROOT/docs/python.md" >examples 2>missing <<'END'
import re, sys, warnings
warnings.simplefilter("ignore")
for code in re.findall(r"```python\n(.*?)```", open(sys.argv[1]).read(), re.S):
    try:
        exec(code, {"__name__": "__main__"})
    except ModuleNotFoundError as wrong:
        assert wrong.name in ("gvar", "pyerrors", "h5py"), wrong
        print(wrong, file=sys.stderr)
END
    sed 's/^/# not run: /' missing >&3
    near "$(sed -n 's/^plaquette //p' examples)" "$(column cfg.lat plaquette)" 1e-13
    near "$(sed -n 's/^Polyakov loop (\([^+-]*\)[+-].*/\1/p' examples)" "$(column cfg.lat polyakov_t_re)" 1e-13
    grep -qx '(1, 8)' examples
    lat-info --check mine.lat
    # A meson's sum has 4^3 sites of 144 products, each with an error of eps of itself; 64: how far products may exceed their sum (rho, nucleon).
    local name expected t
    lat-corr --channels pion,rho_x,nucleon prop.lat >corr.tsv
    for name in pion rho_x nucleon; do
        t=0
        while read -r expected; do
            t=$((t + 1))
            near "$(awk -v c=$name -v t=$t '$1 == c { print $(t + 1) }' examples)" "$expected" "$(awk -v c="$expected" 'BEGIN { print 64 * 9216 * 2.3e-16 * (c < 0 ? -c : c) }')"
        done < <(awk -F'\t' -v c=$name '$2 == c { print $7 }' corr.tsv)
        [ $t = 8 ]
    done
}

@test "python3 -m lat shows header and checks, and says by its exit status how it went" {
    lat-start hot --dims 4,4,2,2 -o a.lat
    "$PYTHON" -m lat a.lat a.lat >out
    grep -qx '  dims         4 4 2 2' out
    grep -q '^  history      lat-start' out
    grep -q "^  checked      header, 1 blocks, CRC $(lat-info a.lat | sed -n 's/^crc-32 *//p'), 4608 finite numbers$" out
    [ "$(grep -c '^a.lat: field 0$' out)" = 2 ]
    [[ $("$PYTHON" -m lat --version) == "lat $(sed -n 's/.*LAT_VERSION "\(.*\)"/\1/p' "$ROOT/lib/common/options.h")" ]]
    run -1 "$PYTHON" -m lat a.lat nowhere.lat
    [[ $output == *"python3 -m lat: "*"nowhere.lat"* ]]
    run -2 "$PYTHON" -m lat --wrong
    # Whoever reads no further is no reason for words.
    # shellcheck disable=SC2046 # a list of words
    "$PYTHON" -m lat $(yes a.lat | head -n 200) 2>err | head -n 1 >out
    [ ! -s err ]
}

@test "a wheel is built from the tree, with the right metadata, the licence and nothing else; what pip installs of it works" {
    local python
    for python in "$PYTHON" python3; do
        ! "$python" -c 'import setuptools, pip; assert int(setuptools.__version__.split(".")[0]) >= 77' 2>/dev/null || break
        [ "$python" != python3 ] || skip "no pip with setuptools 77 for python3"
    done
    cp -rL "$ROOT/python" tree
    "$python" -m pip wheel -q --no-index --no-build-isolation --no-deps --disable-pip-version-check --wheel-dir . ./tree
    py lat_stream-*-py3-none-any.whl "$ROOT" <<'END'
import email, os, re, sys, zipfile
wheel, root = zipfile.ZipFile(sys.argv[1]), sys.argv[2]
version = re.search('LAT_VERSION "(.*)"', open(os.path.join(root, "lib/common/options.h")).read())[1]
folder = f"lat_stream-{version}.dist-info/"
modules = {f"lat/{name}" for name in os.listdir(os.path.join(root, "python/lat")) if name.endswith(".py")}
assert set(wheel.namelist()) == modules | {folder + name for name in ("METADATA", "RECORD", "WHEEL", "top_level.txt", "licenses/LICENSE")}, wheel.namelist()
assert wheel.read(folder + "licenses/LICENSE") == open(os.path.join(root, "LICENSE"), "rb").read()
said = email.message_from_bytes(wheel.read(folder + "METADATA"))
assert (said["Name"], said["Version"], said["License-Expression"], said["Requires-Python"]) == ("lat-stream", version, "BSD-3-Clause", ">=3.9"), said.items()
assert said["Author"] and said["Summary"] and said["Description-Content-Type"] == "text/markdown" and "# lat for Python" in said.get_payload()
needs = said.get_all("Requires-Dist")
assert [need for need in needs if "extra" not in need] == ["numpy>=1.19"] and set(said.get_all("Provides-Extra")) == {"pandas", "hdf5", "gvar", "pyerrors", "all"}, needs
END
    PIP_BREAK_SYSTEM_PACKAGES=1 "$python" -m pip install -q --no-index --no-deps --disable-pip-version-check --target installed lat_stream-*.whl
    rough cfg.lat --dims 4,4,4,4
    lat-convert --to nersc cfg.lat -o cfg.nersc
    cd /
    [ "$(PYTHONPATH="$BATS_TEST_TMPDIR/installed" "$PYTHON" -c 'import sys, lat; print(lat.__file__, lat.__version__, lat.load(sys.argv[1]).links.shape)' "$BATS_TEST_TMPDIR/cfg.nersc")" = \
        "$BATS_TEST_TMPDIR/installed/lat/__init__.py $(sed -n 's/.*LAT_VERSION "\(.*\)"/\1/p' "$ROOT/lib/common/options.h") (4, 4, 4, 4, 4, 3, 3)" ]
}
