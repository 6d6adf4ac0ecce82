#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""random_headers.py SEED COUNT: small fields with random headers, right ones and wrong ones, are accepted or refused alike by
python/lat and by lat-info --check (--force: the links are random, not of SU(N)); of those that are accepted lat-reorder gives
the numbers that python/lat wrote.

One seed makes the same headers always. Exit status 1 and the header if the two disagree."""
import io
import random
import subprocess
import sys
import zlib

import numpy as np

import lat
from lat.elements import to_array
from lat.kinds import AXES, KINDS

VALUES = {
    "kind": ["gauge", "transform", "spinor", "propagator", "modes", "Gauge", ""],
    "group": ["SU(1)", "SU(02)", "SU(17)", "SU(3", "U(3)", "SU(3) ", "SU(-3)", "SU(+3)", "SU(2)", "SU(3)"],
    "dims": ["0 2", "2 2 2 2 2", "", "2  2", " 2", "2 ", "65536", "02", "2,2", "65535 65535 65535 65535", "1", "+1", "1.0"],
    "real": ["f16", "F64", "f32", "f64", ""],
    "reals": ["0", "12", "4", "18", "8", "16", "512", "6", "018", "24", "32"],
    "columns": ["12", "8", "1", "2048", "2049", "0", "5", "012", "16"],
    "sites": ["t z y x", "x", "y x", "z y x", "parity t z y x", "t parity z y x", "links t z y x", "t z y x links", "t z y parity",
              "t z y parity links x", "t z y x parity links", "", "t z y t", "parity parity t z y x", "w z y x", "t  z y x", "columns t z y x",
              "t z y x columns", "t z y parity columns x", "links columns t z y x"],
    "links": ["x y z t", "x", "x y", "t z y x", "x y z", "x x y z", "", "parity x y z t", "x y z t "],
    "endian": ["big", "little", "Little", "middle"],
    "block": ["4096", "4095", "4100", "67108864", "67108872", "0", "04096", "4104"],
    "compression": ["none", "zlib", "lzma", ""],
    "filter": ["none", "rotate-shuffle", "shuffle"],
    "plaquette": ["nan", "inf", "1e400", "0x1p3", "1e-400", "2", "1,5", "", " 0", "."],
    "link_trace": ["nan", "-inf", "3", "1e5", "--1", "1e", "e5", "0 "],
    "gauge": ["none", "landau", "coulomb", "coulomb.x", "mag", "a b", "", "0123456789abcdef", "0123456789abcde", "M.a-g_1", "gr\u00fcn"],
    "weights": ["1 1 1 1", "1 1", "1", "0 0 0 0", "-1 1 1 1", "1e6 1 1 1", "1000001 1 1 1", "1  1", "nan 1 1 1", "1 2 3",
                "0x1 1", "1 0x2", " 1", "2 1", "2  1", "3 1 ", "1e1 0"],
    "functional": ["0.5", "-1e-3", "nan", "1e309", ""],
    "theta": ["1e-14", "0", "-0", "NaN", "1e-14 "],
    "sweeps": ["0", "10", "-1", "01", "1e3", "9223372036854775808"],
    "copies": ["1", "2000", "0", "2001", "02", "x"],
    "basis": ["degrand-rossi", "Degrand-Rossi", "chiral", ""],
    "source": ["point:0,0,0,0", "", "gr\u00fcn = x"],
    "operator": ["wilson", "overlap", "clover", ""],
    "mass": ["0.1", "-4", "1e6", "-1.000001e6", "nan", ""],
    "kappa": ["0.11", "0.125", "1e300", "0", "inf"],
    "csw": ["1", "-1e6", "2e6", "x"], "csw_t": ["0.5", "1"], "xi": ["1", "0", "-1", "2.5", "1e-300"], "nu": ["1", "0", "1e7"],
    "twist": ["0", "0.01", "1e99"], "cf": ["1", "0.9", "nan"], "m0": ["1.4", "0", "nan"],
    "boundary": ["p,p,p,a", "p p p a", "p,p,p", "a,d,0.5,-2", "p,p,p,2.1", "p,p,p,a,p", "p,p,p,", "0,0,0,1e0", "p,p,p,x", "p,p,p, a",
                 "p,,p,a", "d,d,d,dd", "p,p,p,+1", "p,p,p,.", "p,p,p,pad", "p,p,p,o", "o,p,p,p", "p,p,p,oo"],
    "residuals": ["0", "1e-10", "1 1 1 1 1", "-1", "0 " * 11 + "0", "0 " * 7 + "0", "0 0", "nan", ""],
    "eigenvalues": ["0 1 2 3 4", "0", "-1 0 1", "nan 0 0", "1  2"],
    "links_crc": ["01234567", "0123456", "0123456A", "0123456g", ""],
    "info.a": ["", " ", "text", "gr\u00fcn", "= = =", "x" * 1000],
    "info.A": ["x"], "info.": ["x"], "info." + "k" * 200: ["x"], "info." + "k" * 201: ["x"], "info.a b": ["x"],
    "info.boundary_1": ["OPEN", "ANTIPERIODIC", "PERIODIC"],
    "history": ["", " ", "lat-start 0.1.0 | words", "gr\u00fcn \u00df"],
    "unknown": ["x"], "Kind": ["gauge"], "": ["x"], "end": ["00000000"],
}


def random_operator(rng, header):
    """Keys of spinors."""
    keys = {"source": rng.choice([None, "", "wall:3"]), "links_crc": rng.choice([None, f"{rng.getrandbits(32):08x}"])}
    if rng.random() < .6:
        some = {name: rng.uniform(-2, 2) for name in ("csw", "csw_t", "nu", "twist") if rng.random() < .5}
        name = rng.choice(["wilson", "wilson", "overlap"])
        keys["operator"] = lat.Operator(name, rng.choice([-4.0, rng.uniform(-10, 10)]), xi=rng.choice([1, 2.5]), **some,
                                        m0=1.4 if name == "overlap" else 0, boundary=rng.choices(["p", "a", "d", "0.125", "-2"], k=3) + [rng.choice("pado")])
        if rng.random() < .5:
            keys["residuals"] = [rng.random() for _ in range(header.columns or 1)]
    if header.kind == "modes" and rng.random() < .5:
        keys["eigenvalues"] = [rng.gauss(0, 1) for _ in range(header.columns)]
    return keys


def random_field(rng, numbers):
    """A field with a right header, and the options to write it with."""
    kind = rng.choice(sorted(KINDS))
    n = rng.choice([2, 2, 3, 3, 3, 4, 5])
    what = KINDS[kind]
    dims = [rng.randint(1, 3 if what.spinors else 4) for _ in range(4 if what.spinors else rng.randint(1, 4))]
    header = lat.Header(kind, n, dims, rng.choice(["f32", "f64"]), rng.choice(what.reals(n)), columns=5 if kind == "modes" else None)
    stored = numbers.uniform(-1, 1, header.shape[:-2] + (header.reals,)).astype("f4" if header.real == "f32" else "f8")
    array = to_array(stored, header)
    keys = {"info": {"a.b-c_9": "gr\u00fcn = x"} if rng.random() < .3 else {}, "history": ["one", "", " two "][:rng.randint(0, 3)]}
    if rng.random() < .5:
        keys.update(gauge=rng.choice(["landau", "mag", "other.1"]), theta=10 ** rng.uniform(-300, 0), sweeps=rng.randint(0, 99999))
    if what.spinors:
        keys.update(random_operator(rng, header))
    else:
        keys["reals"] = header.reals
    make = {"gauge": lat.gauge_field, "transform": lat.transformation, "spinor": lat.spinor, "propagator": lat.propagator,
            "modes": lat.modes}[kind]
    sites, links = list(AXES[:len(dims)]), list(AXES[:len(dims)])
    rng.shuffle(sites)
    rng.shuffle(links)
    if what.objects and rng.random() < .3:
        sites.insert(rng.randrange(len(sites)), what.objects)
    if rng.random() < .4:
        last = max(i for i, w in enumerate(sites) if w != what.objects)
        sites.insert(rng.randint(0, last), "parity")
    compression = rng.choice(["none", "zlib"])
    options = {"sites": sites, "links": links, "compression": compression, "endian": rng.choice(["little", "big"]),
               "block": rng.choice([4096, 8192, 1048576]), "filter": rng.choice(["none", "rotate-shuffle"]) if compression == "zlib" else None}
    return make(array, real=header.real, **keys), options


def changed(rng, data):
    """The header with a line or two changed, or in another order, its CRC made right."""
    end = data.index(b"\nend = ") + 1
    lines = data[:end].decode().split("\n")[1:-1]
    for _ in range(rng.choice([0, 1, 1, 1, 2])):
        key = rng.choice(sorted(VALUES))
        line = f"{key} = {rng.choice(VALUES[key])}"
        places = [i for i, old in enumerate(lines) if old.startswith(key + " = ")]
        what = rng.random()
        if places and what < .7:
            lines[rng.choice(places)] = line
        elif places and what < .8:
            del lines[rng.choice(places)]
        else:
            lines.insert(rng.randint(0, len(lines)), line)
    if rng.random() < .3:
        rng.shuffle(lines)
    body = "".join(line + "\n" for line in ["lat-stream 1"] + lines).encode()
    if rng.random() < .05:
        body = body.replace(b" = ", rng.choice([b"=", b" =", b" =\t", b" = \xff"]), rng.randint(1, 3))
    return body + b"end = %08x\n" % zlib.crc32(body) + data[data.index(b"\n", end) + 1:]


def ours(data):
    try:
        return list(lat.read(io.BytesIO(data))), ""
    except lat.StreamError as wrong:
        return None, str(wrong)


def run(rng, numbers):
    field, options = random_field(rng, numbers)
    out = io.BytesIO()
    lat.write(out, field, provenance=rng.random() < .5, **options)
    data = changed(rng, out.getvalue())
    fields, sentence = ours(data)
    with open("random.lat", "wb") as file:
        file.write(data)
    info = subprocess.run(["lat-info", "--check", "--force", "random.lat"], capture_output=True, text=True, errors="replace")
    head = data[:data.index(b"\nend = ")].decode(errors="replace")
    if (info.returncode == 0) != (fields is not None):
        sys.exit(f"random_headers.py: the two disagree\n{head}\npython/lat: {sentence or 'accepts it'}\n{info.stdout}{info.stderr}")
    if fields is None:
        return 0
    natural = subprocess.run(["lat-reorder", "-0", "--force", "random.lat"], capture_output=True)
    again, _ = ours(natural.stdout)
    if not again or again[0].array.tobytes() != fields[0].array.tobytes():
        sys.exit(f"random_headers.py: other numbers\n{head}\n{natural.stderr.decode()}")
    return 1


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    accepted = sum(run(rng, numbers) for _ in range(count))
    print(accepted, "accepted,", count - accepted, "refused")
    if not count / 10 < accepted < count * 9 / 10:
        sys.exit("random_headers.py: too few of one sort")


main()
