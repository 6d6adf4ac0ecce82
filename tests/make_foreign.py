#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Foreign files in all their varieties, good and bad, written without our code.

    make_foreign.py nersc IN OUT [floating=IEEE32] [order=big|little] [rows=2|3] [style=plain|odd]
                                 [checksum=HEX] [plaquette=P] [link_trace=L] [type=DATATYPE] [spoil=...]
    make_foreign.py milc IN OUT  [order=big|little] [list=0|1] [sum29=HEX] [spoil=...]
    make_foreign.py openqcd|ddalphaamg|hirep IN OUT [plaquette=P] [order=big|little] [quaternions=1]
                                 [header=tzyx]
    make_foreign.py milcdouble|milc1996|bmw|kyu IN OUT [order=big|little] [rows=2|3] [site_order=N]
    make_foreign.py vogt|mdp|milcold|fnal|cppacs|szin|bridgetext|fortran IN OUT [order=big|little]
                                 [real=4|8] [...]
    make_foreign.py raw IN OUT   [sites=tzyx] [links=xyzt] [order=big|little] [real=4|8] [header=BYTES]
    make_foreign.py lime IN OUT  records=TOKEN,TOKEN,... [nul=0|1] [pad=0|1] [style=plain|odd] [spoil=...]

IN is any file that check_foreign.py reads. spoil= fat | nan | antiperiodic | open spoils the links; open:z is along
that axis instead of t, open:z:0 in that slice instead of the last one; several with commas between.
Tokens of lime: format latin1 twice same lfn data checksum badsum xlf badxlf zeroxlf file gridfile tabfile record volume oldfile sitelist other
small junk doctype scidac."""
import random
import struct
import sys
from array import array

import check_foreign as cf


def real_array(f):
    return array("f" if f.real == 4 else "d", f.little())


def spoil(f, how):
    """Links of one slice, the last time slice unless said, or all, made into what a gauge field should not have."""
    if not how:
        return
    assert f.rows == f.nc
    r = real_array(f)
    for one in how.split(","):
        spoil_one(f, r, one.split(":"))
    f.payload, f.big = r.tobytes(), sys.byteorder == "big"


def spoil_one(f, r, words):
    how, per = words[0], 2 * f.nc * f.nc
    if how in ("antiperiodic", "open"):
        axis = "xyzt".index(words[1]) if len(words) > 1 else 3
        at = int(words[2]) if len(words) > 2 else f.dims[axis] - 1
        below = 1
        for d in f.dims[:axis]:
            below *= d
        for s in range(cf.volume(f)):
            if s // below % f.dims[axis] != at:
                continue
            for i in range((4 * s + axis) * per, (4 * s + axis + 1) * per):
                r[i] = -r[i] if how == "antiperiodic" else 0
    elif how == "zero":  # all links of these directions in that time slice, as in files of the Schroedinger functional
        below = cf.volume(f) // f.dims[3]
        for s in range(int(words[2]) * below, (int(words[2]) + 1) * below):
            for mu in map("xyzt".index, words[1]):
                r[(4 * s + mu) * per:(4 * s + mu + 1) * per] = array(r.typecode, per * [0])
    elif how == "fat":
        for i in range(len(r)):
            r[i] *= 0.8
    elif how == "nan":
        r[len(r) // 2] = float("nan")
    else:
        sys.exit("spoil=" + how)


def payload(f, big, rows):
    a = array("I" if f.real == 4 else "Q", f.little())
    if rows < f.rows:
        per = 2 * f.nc * f.nc
        a = array(a.typecode, [a[i + k] for i in range(0, len(a), per) for k in range(2 * f.nc * rows)])
    if big == (sys.byteorder == "little"):
        a.byteswap()
    return a.tobytes()


def nersc(f, floating="IEEE32BIG", order="big", rows=None, style="plain", checksum=None, plaquette=None,
          link_trace=None, type=None):
    rows = int(rows or f.rows)
    g = cf.Field()
    g.dims, g.nc, g.rows, g.real, g.big = f.dims, f.nc, rows, f.real, order == "big"
    g.payload = payload(f, g.big, rows)
    if plaquette is None or link_trace is None:
        p, l = cf.plaquette(f)
        plaquette = plaquette or "%.10g" % p
        link_trace = link_trace or "%.10g" % l
    g.stated = {"nersc": 0}
    checksum = checksum or "%x" % cf.sums(g)["nersc"]
    kind = type or ("4D_SU%d_GAUGE" if rows < f.nc else "4D_SU%d_GAUGE_%dx%d") % ((f.nc,) * (1 if rows < f.nc else 3))
    lines = ["BEGIN_HEADER", "HDR_VERSION = 1.0", "DATATYPE = " + kind]
    lines += ["DIMENSION_%d = %d" % (i + 1, d) for i, d in enumerate(f.dims)]
    if style == "odd":
        # What has been seen: two blanks, blanks before the number, empty values, no value, quotes,
        # indices, a block of free text, keys twice.
        lines += ["PLAQUETTE  = " + plaquette, "LINK_TRACE=" + link_trace, "CHECKSUM =   " + checksum, "ENSEMBLE_ID = ",
                  "a line without a sign", "BETA[2] = 6.0", "MILC_INFO = -------BEGIN-------",
                  'time_stamp = "Mon Aug 23 13:09:10 2004"', "MILC_INFO = --------END--------",
                  "CHECKSUM = deadbeef", "PLAQUETTE = 0.1"]
    else:
        lines += ["LINK_TRACE = " + link_trace, "PLAQUETTE = " + plaquette, "CHECKSUM = " + checksum]
    if floating:
        lines.append("FLOATING_POINT = " + floating)
    return ("\n".join(lines) + "\nEND_HEADER\n").encode() + g.payload


def milc(f, order="little", list="0", sum29=None):
    e = ">" if order == "big" else "<"
    g = cf.Field()
    g.dims, g.real, g.big = f.dims, 4, order == "big"
    raw, n = payload(f, g.big, f.nc), 4 * 4 * 2 * f.nc * f.nc
    g.nc = g.rows = f.nc
    sites = [i for i in range(cf.volume(f))]
    if list == "1":
        random.Random(1).shuffle(sites)
    elif list == "twice":
        sites[3] = sites[2]
    g.payload = b"".join(raw[s * n:(s + 1) * n] for s in sites)
    g.stated = {"sum29": 0}
    sums = cf.sums(g)
    head = struct.pack(e + "5i", 20103, *f.dims) + b"Thu Feb 12 13:40:21 1998".ljust(64, b"\0")
    head += struct.pack(e + "i", list != "0")
    if list != "0":
        head += struct.pack(e + "%di" % len(sites), *sites)
    return head + struct.pack(e + "2I", int(sum29, 16) if sum29 else sums["sum29"], sums["sum31"]) + g.payload


# ---- formats that keep links in another order ----------------------------------------------------

def matrices(f, numbers, big, real, columns=False):
    """The matrices of f as they come, reals of that size."""
    a = real_array(f)
    a = array("f" if real == 4 else "d", a)
    if big == (sys.byteorder == "little"):
        a.byteswap()
    raw, n, c = a.tobytes(), 2 * f.nc ** 2 * real, 2 * real
    out = [raw[i * n:(i + 1) * n] for i in numbers]
    if columns:
        out = [b"".join(m[c * (b * f.nc + a):c * (b * f.nc + a) + c] for a in range(f.nc) for b in range(f.nc)) for m in out]
    return b"".join(out)


def time_first(f):
    return (f.dims[3],) + tuple(f.dims[:3])


def openqcd(f, plaquette=None, header="txyz", ddalphaamg=False):
    numbers = cf.link_numbers(f.dims, links="tzyx") if ddalphaamg else cf.openqcd_numbers(f.dims)
    p = float(plaquette) if plaquette else cf.plaquette(f)[0]
    t, x, y, z = time_first(f)
    extents = (t, z, y, x) if ddalphaamg or header == "tzyx" else (t, x, y, z)  # DDalphaAMG: enum { T, Z, Y, X }
    return struct.pack("<4id", *extents, 3 * p) + matrices(f, numbers, False, 8)


def ddalphaamg(f, plaquette=None):
    return openqcd(f, plaquette, ddalphaamg=True)


def hirep(f, plaquette=None, order="big", quaternions="0"):
    e, big = (">", True) if order == "big" else ("<", False)
    p = float(plaquette) if plaquette else cf.plaquette(f)[0]
    body = matrices(f, cf.link_numbers(f.dims, "txyz", "txyz"), big, 8)
    if quaternions == "1":
        # Rows are a, b and -b*, a*: q0 = re a, q3 = im a, q2 = -re b, q1 = im b.
        reals = struct.unpack("%s%dd" % (e, len(body) // 8), body)
        body = b"".join(struct.pack(e + "4d", reals[i], reals[i + 3], -reals[i + 2], reals[i + 1])
                        for i in range(0, len(reals), 8))
    return struct.pack(e + "5id", f.nc, *time_first(f), p) + body


def vogt(f, order="little", real=None):
    big, real = order == "big", int(real or f.real)
    return (struct.pack((">" if big else "<") + "7h", 4, f.nc, *time_first(f), real) +
            matrices(f, cf.link_numbers(f.dims, "txyz", "txyz"), big, real))


def mdp(f, order="little", real=None, magic="0x87654321", each=None, sites=None):
    big, real = order == "big", int(real or f.real)
    e = ">" if big else "<"
    head = b"File Type: MDP FIELD\n".ljust(60, b"\0") + b"program\n\0 garbage".ljust(60, b"\xff")
    head += b"Sat Jan 1 00:00:00 2000\n".ljust(60, b"\0")
    head += struct.pack(e + "I11i", int(magic, 0), 4, *time_first(f), *([0] * 6))
    head += struct.pack(e + "2i", int(each or 8 * f.nc ** 2 * real), int(sites or cf.volume(f)))
    return head + matrices(f, cf.link_numbers(f.dims, "txyz", "txyz"), big, real)


def milcold(f, order="little"):
    big = order == "big"
    return struct.pack((">" if big else "<") + "5i2f", 59354, *f.dims, 5.5, 0) + payload(f, big, 3)


def milcdouble(f, order="little", sum31=None):
    """GLU: each real counts with the sum of its two 32-bit halves."""
    e = ">" if order == "big" else "<"
    body = matrices(f, cf.link_numbers(f.dims), order == "big", 8)
    halves = struct.unpack(e + "%dI" % (len(body) // 4), body)
    a = b = 0
    for i in range(len(halves) // 2):
        w = (halves[2 * i] + halves[2 * i + 1]) & 0xffffffff
        a ^= cf.rotl(w, i % 29)
        b ^= cf.rotl(w, i % 31)
    head = struct.pack(e + "5i", 20104, *f.dims) + b"Sat Jan 1 00:00:00 2000 GMT".ljust(64, b"\0")
    return head + struct.pack(e + "i2I", 0, a, int(sum31, 16) if sum31 else b) + body


def milc1996(f, order="little", site_order="0"):
    e = ">" if order == "big" else "<"
    text = b"a gauge field".ljust(200, b"\0")
    head = struct.pack(e + "7i", 53546, *f.dims, 240, int(site_order))
    return head + struct.pack(e + "i", 13) + text + struct.pack(e + "i2f", 2, 5.5, 0) + payload(f, order == "big", 3)


def bmw(f, rows="2"):
    body = matrices(f, cf.link_numbers(f.dims), True, 8)
    if rows == "2":
        body = b"".join(body[i:i + 96] for i in range(0, len(body), 144))
    head = ("#BMW" if rows == "2" else "#18BMW") + " %d %d %d %d 0123abcd\n" % tuple(f.dims)
    return head.encode().ljust(4096, b"\0") + body


def kyu(f):
    r, sites = real_array(f), cf.volume(f)
    out = array("d", [r[s * 72 + mu * 18 + 2 * (3 * row + col) + c] for mu in range(4) for col in range(3)
                      for row in range(3) for c in range(2) for s in range(sites)])
    if sys.byteorder == "little":
        out.byteswap()
    return out.tobytes()


def fnal(f, order="little", each="72"):
    big = order == "big"
    return struct.pack((">" if big else "<") + "9i", 0x71626434, 123456789, 4, int(each), *f.dims, 0) + payload(f, big, 3)


def cppacs(f, order="big", digits="1"):
    big = order == "big"
    head = bytearray(struct.pack(">i" if big else "<i", 19920410) + bytes(1020))
    if digits == "1":
        head[18:20], head[21:23] = b"%2d" % f.dims[0], b"%2d" % f.dims[3]
    return bytes(head) + matrices(f, cf.link_numbers(f.dims), big, 8)


def szin(f, version="7", nd="4"):
    version = int(version)
    words = (7, 9, 10, 12, 13, 17, 25)[version - 1]
    values = [int(nd), f.nc] if version < 5 else [1, int(nd), f.nc]
    head = struct.pack(">3i", 5, 3, 0) + struct.pack(">5i", *b"today") + struct.pack(">3i", *b"run")
    head += struct.pack(">%di" % (1 + words), version, *values, *([7] * (words - len(values))))
    head += struct.pack(">4i", *f.dims) + bytes(4 * (4 + 820))
    return head + matrices(f, cf.link_numbers(f.dims, "lptzyx"), True, 4, columns=True)


def bridgetext(f):
    return "".join("%.17g\n" % v for v in real_array(f)).encode()


def fortran(f, order="little", sites="ltzyx", length=None):
    big = order == "big"
    body = matrices(f, cf.link_numbers(f.dims, sites), big, 8)
    frame = struct.pack(">I" if big else "<I", len(body))
    return frame + body + (struct.pack("<I", int(length)) if length else frame)


def raw(f, sites="tzyx", links="xyzt", order="little", real=None, header="0"):
    return bytes(range(1, 1 + int(header))) + matrices(f, cf.link_numbers(f.dims, sites, links), order == "big", int(real or f.real))


XML = '<?xml version="1.0" encoding="UTF-8"?>'


def lime_body(f, token, odd, state):
    """Type and data of a record."""
    w, dims = f.real, f.dims
    gap = "\n  " if odd else ""
    pad = " " if odd else ""

    def xml(root, items, attributes=""):
        return (gap + XML + "<" + root + attributes + ">" +
                "".join(gap + "<%s>%s%s%s</%s>" % (t, pad, v, pad, t) for t, v in items) + gap + "</" + root + ">").encode()

    if token in ("format", "latin1", "twice", "same", "doctype", "unquoted", "undeclared", "unended"):
        body = xml("ildgFormat", [("version", "1.0"), ("field", "su%dgauge" % f.nc), ("precision", 8 * w), ("lx", dims[0]),
                                  ("ly", dims[1]), ("lz", dims[2]), ("lt", dims[3])],
                   ' xmlns="http://www.lqcd.org/ildg"')
        if token == "doctype":
            entities = '<!ENTITY a "4">' + "".join('<!ENTITY %s "%s">' % (y, ("&%s;" % x) * 10) for x, y in zip("abcdefgh", "bcdefghi"))
            body = body.replace(XML.encode(), (XML + "<!DOCTYPE x [" + entities + "]>").encode()).replace(b"<lx>", b"<lx>&i;")
        if token == "unquoted":  # as in MILC's lat.sample.l4448.foreign
            body = body.replace(b'/ildg">', b'/ildg>')
        if token == "latin1":
            body = body.replace(b"<version>", b"<!-- Universit\xe4t --><version>")
        if token in ("twice", "same"):
            body = body.replace(b"</ildgFormat>", b"<lx>%d</lx></ildgFormat>" % (dims[0] + (token == "twice")))
        if token == "undeclared":
            body = body.replace(b'"UTF-8"?>', b'"UTF-8?>')
        if token == "unended":
            body = body.replace(b'/ildg">', b'/ildg').replace(b"</lx>", b"")
        return "ildg-format", body
    if token == "lfn":
        return "ildg-data-lfn", b"lfn://nowhere/in/particular"
    if token == "longlfn":
        return "ildg-data-lfn", b"lfn://" + 5000 * b"n" + b"/end"
    if token in ("data", "scidac"):
        return ("ildg" if token == "data" else "scidac") + "-binary-data", payload(f, True, f.nc)
    if token in ("checksum", "badsum"):
        g = cf.Field()
        g.dims, g.nc, g.payload, g.stated = dims, f.nc, payload(f, True, f.nc), {"suma": 0}
        s = cf.sums(g)
        return "scidac-checksum", xml("scidacChecksum", [
            ("version", "1.0"), ("suma", "%s%08x" % ("0x" if odd else "", s["suma"] ^ (token == "badsum"))), ("sumb", "%x" % s["sumb"])])
    if token in ("xlf", "badxlf"):
        p = cf.plaquette(f)[0] + (token == "badxlf") * 2e-5
        return "xlf-info", b"plaquette = %.6f\n trajectory nr = 200\n beta = 5.690000\n" % p
    if token == "zeroxlf":
        return "xlf-info", b"plaquette = 0.000000000000\n trajectory nr = 200\n"
    if token == "hugexlf":
        return "xlf-info", b"plaquette = 1e999\n trajectory nr = 200\n"
    if token in ("file", "gridfile", "tabfile", "volume", "oldfile"):
        version = ("multifile", 1) if token == "oldfile" else ("volfmt", int(token == "volume"))
        return "scidac-private-file-xml", xml("scidacFile", [("version", "1.1"), ("spacetime", 4),
                                                             ("dims", {"gridfile": " \n", "tabfile": "\t"}.get(token, " ").join(
                                                                 map(str, [*dims, ""]))), version])
    if token == "record":
        return "scidac-private-record-xml", xml("scidacRecord", [
            ("version", "1.1"), ("recordtype", 0), ("datatype", "QDP_%s3_ColorMatrix" % "F D"[w - 4 and 2]),
            ("precision", "F D"[w - 4 and 2]), ("colors", f.nc), ("typesize", 2 * f.nc ** 2 * w), ("datacount", 4)])
    if token == "small":
        return "scidac-private-record-xml", xml("scidacRecord", [("precision", "F"), ("typesize", 8), ("datacount", 1)])
    if token == "other":
        return "scidac-binary-data", bytes(8 * cf.volume(f))
    if token == "sitelist":
        return "scidac-sitelist", struct.pack(">%dI" % cf.volume(f), *range(cf.volume(f)))
    if token == "junk":
        return "somebody-elses-record", b"not <xml at all"
    sys.exit("records=" + token)


def lime(f, records="", nul="0", pad="1", style="plain"):
    out, tokens = b"", records.split(",")
    for i, token in enumerate(tokens):
        kind, body = lime_body(f, token, style == "odd", None)
        if nul == "1" and not kind.endswith("binary-data") and kind != "scidac-sitelist":
            body += b"\0"
        out += struct.pack(">IHHQ", 0x456789ab, 1, 0xc000 if i % 2 else 0, len(body)) + kind.encode().ljust(128, b"\0") + body
        if pad == "1" or i + 1 < len(tokens):
            out += bytes(-len(body) % 8)
    return out


KINDS = {k.__name__: k for k in (nersc, milc, lime, openqcd, ddalphaamg, hirep, vogt, mdp, milcold, milcdouble, milc1996, bmw, kyu, fnal, cppacs,
                                szin, bridgetext, fortran, raw)}


def main():
    kind, source, target = sys.argv[1:4]
    options = dict(a.split("=", 1) for a in sys.argv[4:])
    f = cf.load(source)[1]
    spoil(f, options.pop("spoil", None))
    with open(target, "wb") as h:
        h.write(KINDS[kind](f, **options))


if __name__ == "__main__":
    main()
