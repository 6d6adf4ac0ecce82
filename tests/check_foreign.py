#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A second opinion on files in foreign formats (load, below, says which): reads them without our code, standard library only.

    check_foreign.py sums FILE     every checksum, plaquette and link trace that FILE states is
                                   recomputed; prints them, exits 1 if one is wrong
    check_foreign.py crc FILE      crc-32 of the stored reals, turned to little endian (what
                                   lat-info prints for a stream of the same rows and precision)
    check_foreign.py records FILE  one line a LIME record: type, flags, length
"""
import re
import struct
import sys
import zlib
from array import array

SITE_LINKS = 4


class Field:
    """Payload bytes as in the file, and what the file states."""

    def __init__(self):
        self.dims = None      # X, Y, Z, T
        self.nc = 3
        self.rows = 3
        self.real = 4
        self.big = True
        self.payload = b""
        self.stated = {}
        self.printed = {}     # the texts of those that are decimal

    def little(self):
        a = array("I" if self.real == 4 else "Q", self.payload)
        if self.big == (sys.byteorder == "little"):
            a.byteswap()
        return a.tobytes()


def nersc(data):
    f = Field()
    end = data.index(b"END_HEADER\n") + 11
    keys = {}
    for line in data[:end].decode("latin-1").splitlines():
        if "=" in line:
            k, v = (s.strip() for s in line.split("=", 1))
            keys.setdefault(k, v)
    m = re.fullmatch(r"4D_SU(\d+)_GAUGE(_(\d+)x\3)?", keys["DATATYPE"])
    f.nc = int(m.group(1))
    f.rows = f.nc if m.group(2) else f.nc - 1
    f.dims = [int(keys["DIMENSION_%d" % i]) for i in (1, 2, 3, 4)]
    fp = keys.get("FLOATING_POINT", "IEEE32BIG")
    f.real = int(fp[4:6]) // 8
    f.big = not fp.endswith("LITTLE")
    f.payload = data[end:end + volume(f) * 4 * 2 * f.nc * f.rows * f.real]
    f.stated = {"nersc": int(keys["CHECKSUM"], 16), "plaquette": float(keys["PLAQUETTE"]),
                "link_trace": float(keys["LINK_TRACE"])}
    f.printed = {"plaquette": keys["PLAQUETTE"], "link_trace": keys["LINK_TRACE"]}
    return f


def records(data):
    at = 0
    while at + 144 <= len(data):
        magic, version, flags, length = struct.unpack(">IHHQ", data[at:at + 16])
        assert magic == 0x456789ab and version == 1, "no LIME record at byte %d" % at
        yield data[at + 16:at + 144].split(b"\0")[0].decode(), flags, data[at + 144:at + 144 + length]
        at += 144 + (length + 7) // 8 * 8
    assert at >= len(data), "%d bytes after the last record" % (len(data) - at)


def tag(text, name):
    m = re.search(rb"<%s>\s*([^<]*?)\s*</%s>" % (name.encode(), name.encode()), text)
    return m.group(1).decode() if m else None


def lime(data):
    f = Field()
    for kind, _, body in records(data):
        if kind == "ildg-format":
            f.dims = [int(tag(body, t)) for t in ("lx", "ly", "lz", "lt")]
            f.real = int(tag(body, "precision")) // 8
            f.nc = int(re.fullmatch(r"su(\d+)gauge", tag(body, "field")).group(1))
        elif kind == "scidac-private-file-xml":
            f.dims = [int(x) for x in tag(body, "dims").split()]
        elif kind == "scidac-private-record-xml":
            f.real = {"F": 4, "D": 8}[tag(body, "precision")]
            f.nc = int(tag(body, "colors"))
            assert int(tag(body, "typesize")) * int(tag(body, "datacount")) == 4 * 2 * f.nc ** 2 * f.real
        elif kind.endswith("binary-data"):
            f.payload = body
        elif kind == "scidac-checksum":
            f.stated = {"suma": int(tag(body, "suma"), 16), "sumb": int(tag(body, "sumb"), 16)}
    f.rows = f.nc
    assert len(f.payload) == volume(f) * 4 * 2 * f.nc ** 2 * f.real
    return f


def milc(data):
    f = Field()
    f.big = data[:4] == struct.pack(">i", 20103)
    e = ">" if f.big else "<"
    f.dims = list(struct.unpack(e + "4i", data[4:20]))
    assert struct.unpack(e + "i", data[84:88]) == (0,), "a list of sites"
    f.stated = dict(zip(("sum29", "sum31"), struct.unpack(e + "2I", data[88:96])))
    f.payload = data[96:96 + volume(f) * 4 * 72]
    return f


# ---- formats that keep links in another order ----------------------------------------------------

def link_numbers(dims, sites="tzyx", links="xyzt"):
    """The natural numbers of the links of a file, as they come: sites slowest first, with "l" where the
    direction is not the fastest and "p" for parity of all (which sorts what follows)."""
    axes = "xyzt"
    if "l" not in sites:
        sites += "l"

    def key(link):
        x, mu = link
        return [links.index(axes[mu]) if c == "l" else sum(x) % 2 if c == "p" else x[axes.index(c)] for c in sites]

    every = [((x, y, z, t), mu) for t in range(dims[3]) for z in range(dims[2]) for y in range(dims[1])
             for x in range(dims[0]) for mu in range(4)]
    number = {link: i for i, link in enumerate(every)}
    return [number[link] for link in sorted(every, key=key)]


def openqcd_numbers(dims):
    out = []
    for t in range(dims[3]):
        for x in range(dims[0]):
            for y in range(dims[1]):
                for z in range(dims[2]):
                    if (t + x + y + z) % 2 == 0:
                        continue
                    for mu in (3, 0, 1, 2):
                        for back in (0, 1):
                            c = [x, y, z, t]
                            c[mu] = (c[mu] - back) % dims[mu]
                            out.append(4 * (c[0] + dims[0] * (c[1] + dims[1] * (c[2] + dims[2] * c[3]))) + mu)
    return out


def natural(f, body, numbers, columns=False):
    """Sets the payload of f from the matrices in body, number i of which is link numbers[i]."""
    n = 2 * f.nc ** 2 * f.real
    assert len(body) == n * len(numbers) == n * 4 * volume(f)
    out = [None] * len(numbers)
    for i, at in enumerate(numbers):
        m = body[i * n:(i + 1) * n]
        if columns:
            c = 2 * f.real
            m = b"".join(m[c * (b * f.nc + a):c * (b * f.nc + a) + c] for a in range(f.nc) for b in range(f.nc))
        out[at] = m
    f.rows, f.payload = f.nc, b"".join(out)
    return f


def openqcd(data, ddalphaamg=False):
    f = Field()
    f.real, f.big = 8, False
    t, x, y, z, p = struct.unpack("<4id", data[:24])
    f.dims = [z, y, x, t] if ddalphaamg else [x, y, z, t]
    f.stated, f.printed = {"plaquette": p / 3}, {"plaquette": "%.17g" % p}
    return natural(f, data[24:], link_numbers(f.dims, links="tzyx") if ddalphaamg else openqcd_numbers(f.dims))


def quaternion(q, big):
    """HiRep's U = [[q0 + i q3, -q2 + i q1], [q2 + i q1, q0 - i q3]] as 64 bytes."""
    a, b, c, d = struct.unpack(">4d" if big else "<4d", q)
    return struct.pack(">8d" if big else "<8d", a, d, -c, b, c, b, a, -d)


def hirep(data):
    f = Field()
    f.real, f.big = 8, data[0] == 0
    f.nc, t, x, y, z, p = struct.unpack(">5id" if f.big else "<5id", data[:28])
    f.dims = [x, y, z, t]
    f.stated, f.printed = {"plaquette": p}, {"plaquette": "%.17g" % p}
    body = data[28:]
    if f.nc == 2 and len(body) == 128 * volume(f):
        body = b"".join(quaternion(body[i:i + 32], f.big) for i in range(0, len(body), 32))
    return natural(f, body, link_numbers(f.dims, "txyz", "txyz"))


def vogt(data):
    f = Field()
    f.big = data[0] == 0
    nd, f.nc, t, x, y, z, f.real = struct.unpack(">7h" if f.big else "<7h", data[:14])
    assert nd == 4
    f.dims = [x, y, z, t]
    return natural(f, data[14:], link_numbers(f.dims, "txyz", "txyz"))


def mdp(data):
    f = Field()
    assert data[:21] == b"File Type: MDP FIELD\n"
    f.big = data[180:184] in (struct.pack(">I", 0x87654321), struct.pack(">I", 1325884739))
    magic, nd, t, x, y, z = struct.unpack((">" if f.big else "<") + "I5i", data[180:204])
    each, sites = struct.unpack((">" if f.big else "<") + "2i", data[228:236])
    assert magic in (0x87654321, 1325884739) and nd == 4 and sites == x * y * z * t
    f.dims = [x, y, z, t]
    f.nc, f.real = next((n, w) for n in range(2, 17) for w in (4, 8) if 8 * n * n * w == each)
    return natural(f, data[236:], link_numbers(f.dims, "txyz", "txyz"))


def volume(f):
    v = 1
    for d in f.dims:
        v *= d
    return v


def rotl(w, by):
    return ((w << by) | (w >> (32 - by))) & 0xffffffff


def words(f, big):
    a = array("I", f.payload)
    if big == (sys.byteorder == "little"):
        a.byteswap()
    return a


def sums(f):
    """All that f.stated names, recomputed."""
    found = {}
    if "nersc" in f.stated:
        found["nersc"] = sum(words(f, f.big)) & 0xffffffff
    if "sum29" in f.stated:
        a, b = 0, 0
        for i, w in enumerate(words(f, f.big)):
            a ^= rotl(w, i % 29)
            b ^= rotl(w, i % 31)
        found["sum29"], found["sum31"] = a, b
    if "suma" in f.stated:
        a, b, n = 0, 0, len(f.payload) // volume(f)
        for r in range(volume(f)):
            c = zlib.crc32(f.payload[r * n:(r + 1) * n])
            a ^= rotl(c, r % 29)
            b ^= rotl(c, r % 31)
        found["suma"], found["sumb"] = a, b
    if "plaquette" in f.stated:
        found["plaquette"], found["link_trace"] = plaquette(f)
    return found


# ---- plaquette and link trace in plain Python, double precision --------------------------------

def last_row(n, m):
    if n == 2:
        (a, b), = m
        return [-b.conjugate(), a.conjugate()]
    a, b = m
    return [(a[(j + 1) % 3] * b[(j + 2) % 3] - a[(j + 2) % 3] * b[(j + 1) % 3]).conjugate() for j in range(3)]


def links(f):
    r = array("f" if f.real == 4 else "d", f.little())
    n, per = f.nc, 2 * f.nc * f.rows
    out = []
    for i in range(0, len(r), per):
        m = [[complex(r[i + 2 * (a * n + b)], r[i + 2 * (a * n + b) + 1]) for b in range(n)] for a in range(f.rows)]
        out.append(m if f.rows == n else m + [last_row(n, m)])
    return out


def mul(a, b):
    cols = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, col)) for col in cols] for row in a]


def plaquette(f):
    u, n, (lx, ly, lz, lt) = links(f), f.nc, f.dims
    step = (1, lx, lx * ly, lx * ly * lz)
    total = trace = 0.0

    def up(s, mu):
        x = s // step[mu] % f.dims[mu]
        return s + step[mu] if x + 1 < f.dims[mu] else s - x * step[mu]

    for s in range(volume(f)):
        for mu in range(4):
            trace += sum(u[4 * s + mu][i][i].real for i in range(n))
            for nu in range(mu):
                ab = mul(u[4 * s + mu], u[4 * up(s, mu) + nu])
                ba = mul(u[4 * s + nu], u[4 * up(s, nu) + mu])
                total += sum((x * y.conjugate()).real for p, q in zip(ab, ba) for x, y in zip(p, q))
    return total / (6 * n * volume(f)), trace / (4 * n * volume(f))


def within(text):
    """Half a unit of the last digit, and how far two correct programs may be apart: sums of numbers
    of order one in double precision."""
    mantissa, _, exponent = text.lower().partition("e")
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return 0.51 * unit + 1e-14


# ------------------------------------------------------------------------------------------------

def load(path):
    with open(path, "rb") as h:
        data = h.read()
    for begins, read in ((b"BEGIN_HEADER", nersc), (b"\x45\x67\x89\xab", lime), (struct.pack("<i", 20103), milc),
                         (struct.pack(">i", 20103), milc)):
        if data.startswith(begins):
            return data, read(data)
    if data.startswith(b"File Type"):
        return data, mdp(data)
    if path.endswith("vogt"):
        return data, vogt(data)
    if path.endswith("ddalphaamg"):
        return data, openqcd(data, ddalphaamg=True)
    if path.endswith("openqcd"):
        return data, openqcd(data)
    return data, hirep(data)


def main():
    what, path = sys.argv[1:]
    data, f = load(path)
    if what == "records":
        for kind, flags, body in records(data):
            print("%s %04x %d" % (kind, flags, len(body)))
    elif what == "crc":
        print("%08x" % zlib.crc32(f.little()))
    elif what == "sums":
        found, bad = sums(f), 0
        for k, v in f.stated.items():
            good = v == found[k] if isinstance(v, int) else abs(v - found[k]) <= within(f.printed[k])
            print(k, "%x %x" % (v, found[k]) if isinstance(v, int) else "%.15g %.15g" % (v, found[k]),
                  "ok" if good else "WRONG")
            bad |= not good
        assert f.stated, "nothing is stated"
        sys.exit(bad)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
