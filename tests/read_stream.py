#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A reader of lat-stream 1 that shares nothing with ours: made from docs/format.md alone.

read_stream.py FILE [RAW]: verifies everything that page says can be verified and prints one line a field:
    KIND GROUP DIMS REAL REALS BLOCKS CRC PLAQUETTE LINK_TRACE
with plaquette and link trace measured here (nan where there is none). RAW gets the numbers of all
fields as little-endian f64, whole matrices in natural order. Exit status 1 and a sentence on stderr if anything is wrong.
Only the standard library; one site after the other, for small lattices."""
import itertools
import math
import re
import struct
import sys
import zlib

AXES = "xyzt"
ALWAYS = {"kind", "group", "dims", "real", "reals", "sites", "endian", "block", "compression", "filter"}
KEYS = ALWAYS | {"links", "plaquette", "link_trace", "gauge", "weights", "functional", "theta", "sweeps", "copies"}


class Wrong(Exception):
    pass


def demand(condition, sentence):
    if not condition:
        raise Wrong(sentence)


class Bytes:
    """The input, taken from the front."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        demand(self.at + n <= len(self.data), "truncated")
        self.at += n
        return self.data[self.at - n:self.at]

    def line(self):
        end = self.data.find(b"\n", self.at)
        demand(end >= 0, "truncated in the header")
        return self.take(end + 1 - self.at)


def integer(text, low, high):
    demand(re.fullmatch("0|[1-9][0-9]*", text) is not None, "not an integer: " + text)
    demand(low <= int(text) <= high, "out of range: " + text)
    return int(text)


def number(text):
    demand(re.fullmatch(r"[-+]?[0-9]*\.?[0-9]*(e[-+]?[0-9]+)?", text) is not None, "not a number: " + text)
    demand(math.isfinite(float(text)), "not finite: " + text)
    return float(text)


def read_lines(source):
    """The keys of a header, its CRC verified."""
    begin, keys = source.at, {}
    demand(source.line() == b"lat-stream 1\n", "no header")
    while True:
        before = source.at
        line = source.line()
        demand(len(line) <= 65536 and source.at - begin <= 1048576, "header too long")
        demand(all(c >= 0x20 and c != 0x7f for c in line[:-1]), "control character in the header")
        key, equals, value = line[:-1].decode("utf-8").partition(" = ")
        demand(equals != "", "no key = value: " + key)
        if key == "end":
            demand(re.fullmatch("[0-9a-f]{8}", value) is not None, "bad end line")
            demand(int(value, 16) == zlib.crc32(source.data[begin:before]), "CRC of the header")
            return keys
        if key == "history":
            continue
        demand(key in KEYS or re.fullmatch(r"info\.[a-z0-9_.-]{1,200}", key) is not None, "unknown key " + key)
        demand(key not in keys, key + " twice")
        keys[key] = value


class Header:
    def __init__(self, source):
        keys = read_lines(source)
        demand(ALWAYS <= keys.keys(), "missing keys")
        self.kind, self.group = keys["kind"], keys["group"]
        demand(self.kind in ("gauge", "transform"), "kind")
        demand(self.group.startswith("SU(") and self.group.endswith(")"), "group")
        self.n = integer(self.group[3:-1], 2, 16)
        self.dims = [integer(d, 1, 65535) for d in keys["dims"].split(" ")]
        demand(len(self.dims) <= 4, "dims")
        self.read_orders(keys["sites"].split(" "), keys.get("links"))
        demand(keys["real"] in ("f32", "f64"), "real")
        self.width = 4 if keys["real"] == "f32" else 8
        self.reals = integer(keys["reals"], 1, 512)
        demand(self.reals == 2 * self.n ** 2 or (self.n, self.reals) in ((3, 12), (2, 4)), "reals")
        demand(keys["endian"] in ("little", "big"), "endian")
        self.order = "<" if keys["endian"] == "little" else ">"
        self.block = integer(keys["block"], 4096, 67108864)
        demand(self.block % 8 == 0, "block")
        demand(keys["compression"] in ("none", "zlib"), "compression")
        demand(keys["filter"] in ("none", "rotate-shuffle"), "filter")
        self.zlib, self.filter = keys["compression"] == "zlib", keys["filter"] != "none"
        demand(self.zlib or not self.filter, "filter without compression")
        self.plaquette, self.link_trace = (number(keys[k]) if k in keys else None
                                           for k in ("plaquette", "link_trace"))
        self.directions = len(self.dims) if self.kind == "gauge" else 1
        self.volume = math.prod(self.dims)
        self.bytes = self.volume * self.directions * self.reals * self.width

    def read_orders(self, sites, links):
        axes = AXES[:len(self.dims)]
        demand((links is not None) == (self.kind == "gauge"), "links")
        self.links = [axes.index(a) if a in axes else -1 for a in links.split(" ")] if links else [0]
        demand(not links or sorted(self.links) == list(range(len(axes))), "links")
        demand(sorted(w for w in sites if len(w) == 1) == sorted(axes), "sites")
        words = [w for w in sites if len(w) > 1]
        demand(len(set(words)) == len(words) and set(words) <= {"parity", "links"}, "sites")
        demand(links or "links" not in sites, "sites")
        demand(sites[-1] not in words and sites[-2:] != ["parity", "links"], "sites")
        self.sites = sites if "links" in sites else sites + ["links"]

    def numbers(self):
        """Natural numbers of the matrices in the order in which they are stored: sorted, as the page says."""
        def key(place):
            reverse, mu = place
            x = dict(zip(AXES, reversed(reverse)))
            of = {"links": self.links.index(mu), **x}
            if "parity" in self.sites:
                after = self.sites[self.sites.index("parity"):]
                of["parity"] = sum(x[w] for w in after if len(w) == 1) % 2
            return [of[w] for w in self.sites]

        places = list(itertools.product(itertools.product(*map(range, reversed(self.dims))), range(self.directions)))
        keys = list(map(key, places))
        return sorted(range(len(places)), key=keys.__getitem__)


def unfilter(head, planes):
    """Planes to raw bytes in the order of the header."""
    bits, n = 8 * head.width, len(planes) // head.width
    words = []
    for i in range(n):
        w = 0
        for p in range(head.width):
            w = 256 * w + planes[p * n + i]
        words.append(w >> 1 | (w & 1) << (bits - 1))
    return struct.pack(head.order + str(n) + ("I" if head.width == 4 else "Q"), *words)


def inflate(payload, r):
    z = zlib.decompressobj()
    raw = z.decompress(payload, r + 1)
    demand(z.eof and not z.unused_data and not z.unconsumed_tail and len(raw) == r, "zlib stream")
    return raw


def read_block(source, head, r):
    """The raw bytes of a block that must have r of them."""
    frame = source.take(16)
    tag, stored, raw, crc = struct.unpack("<4sIII", frame)
    demand(tag == b"LATB" and raw == r, "head of a block")
    demand(stored == r or (head.zlib and stored <= r + r // 8 + 1024), "payload of a block")
    payload = source.take(stored)
    demand(zlib.crc32(payload, zlib.crc32(frame[:12])) == crc, "CRC of a block")
    if head.zlib:
        payload = inflate(payload, r)
    return unfilter(head, payload) if head.filter else payload


def read_raw(source, head):
    raw, blocks = b"", 0
    while len(raw) < head.bytes:
        raw += read_block(source, head, min(head.block, head.bytes - len(raw)))
        blocks += 1
    trailer = source.take(16)
    tag, count, crc, own = struct.unpack("<4sIII", trailer)
    demand(tag == b"LATE" and own == zlib.crc32(trailer[:12]), "trailer")
    demand(count == blocks, "number of blocks")
    demand(crc == zlib.crc32(raw), "CRC of the field")
    return raw, blocks, crc


def matrix(head, reals):
    """Rows of complex numbers."""
    if head.n == 2 and head.reals == 4:
        q0, q1, q2, q3 = reals
        return [[complex(q0, q3), complex(q2, q1)], [complex(-q2, q1), complex(q0, -q3)]]
    n = head.n
    rows = [[complex(reals[2 * (n * a + b)], reals[2 * (n * a + b) + 1]) for b in range(n)]
            for a in range(head.reals // (2 * n))]
    if head.n == 3 and head.reals == 12:
        u, v = rows
        rows.append([(u[a] * v[b] - u[b] * v[a]).conjugate() for a, b in ((1, 2), (2, 0), (0, 1))])
    return rows


def dagger(a):
    return [[a[j][i].conjugate() for j in range(len(a))] for i in range(len(a))]


def mul(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(len(a))) for j in range(len(a))] for i in range(len(a))]


def trace(a):
    return sum(a[i][i].real for i in range(len(a))) / len(a)


def neighbour(head, site, mu):
    stride = math.prod(head.dims[:mu])
    x = site // stride % head.dims[mu]
    return site + stride if x + 1 < head.dims[mu] else site - x * stride


def measure(head, m):
    """Plaquette and link trace."""
    d = head.directions
    if head.kind != "gauge":
        return math.nan, math.nan
    total, count = 0.0, 0
    for site in range(head.volume):
        for mu in range(d):
            for nu in range(mu + 1, d):
                there = mul(m[d * site + mu], m[d * neighbour(head, site, mu) + nu])
                back = mul(m[d * site + nu], m[d * neighbour(head, site, nu) + mu])
                total, count = total + trace(mul(there, dagger(back))), count + 1
    return total / count if count else math.nan, sum(map(trace, m)) / len(m)


def check_measured(head, reals, measured):
    u = 2.0 ** -24 if head.width == 4 else 2.0 ** -53
    c = 4 if head.reals == 2 * head.n ** 2 else 8
    bound = c * u + (64 + 4 * math.sqrt(head.volume * head.directions)) * 2.0 ** -52
    bound *= max(1.0, *map(abs, reals)) ** 4
    for said, found, name in zip((head.plaquette, head.link_trace), measured, ("plaquette", "link trace")):
        demand(said is None or abs(said - found) <= bound, name + " is not that of the header")


def read_field(source):
    """One field: its line, and its numbers as whole matrices."""
    head = Header(source)
    raw, blocks, crc = read_raw(source, head)
    reals = struct.unpack(head.order + str(len(raw) // head.width) + ("f" if head.width == 4 else "d"), raw)
    demand(all(map(math.isfinite, reals)), "a number is not finite")
    matrices = [None] * (len(reals) // head.reals)
    for i, number_of in enumerate(head.numbers()):
        matrices[number_of] = matrix(head, reals[i * head.reals:(i + 1) * head.reals])
    measured = measure(head, matrices)
    check_measured(head, reals, measured)
    line = "%s %s %s f%d %d %d %08x %.15g %.15g" % (
        head.kind, head.group, "x".join(map(str, head.dims)), 8 * head.width, head.reals, blocks, crc, *measured)
    whole = [part for m in matrices for row in m for z in row for part in (z.real, z.imag)]
    return line, struct.pack("<%dd" % len(whole), *whole)


def main():
    with open(sys.argv[1], "rb") as file:
        source = Bytes(file.read())
    demand(source.data, "empty")
    whole = b""
    fields = 0
    while source.at < len(source.data):
        line, numbers = read_field(source)
        fields += 1
        if source.data[source.at:source.at + 4] == b"LATZ":
            mark = source.take(16)
            demand(mark[4:] == struct.pack("<III", fields, 0, zlib.crc32(mark[:12])), "end mark")
            fields = 0
        print(line)
        whole += numbers
    demand(fields == 0, "no end mark")
    if len(sys.argv) > 2:
        with open(sys.argv[2], "wb") as file:
            file.write(whole)


try:
    main()
except (Wrong, UnicodeDecodeError, zlib.error) as wrong:
    print("read_stream.py: %s: %s" % (sys.argv[1], wrong), file=sys.stderr)
    sys.exit(1)
