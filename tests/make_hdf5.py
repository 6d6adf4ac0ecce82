#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Propagators in HDF5 files, made from the file format specification, without the HDF5 library and without code of lat.

make_hdf5.py KIND STREAM FILE: the propagator of a stream (read by python/lat), as one of
  qdp        nested arrays of complex numbers, shape t, z, y, x, in one piece
  record     qdp with the XML of Chroma that is on stdin, as the attribute record_xml
  qlua       the same of shape x, y, z, t, big endian, with the attribute .kind
  pyquda     complex numbers of shape t, z, y, x, 4, 4, 3, 3 in a group with the attribute Lattice
  plain      the same without the group
  chunked    plain in chunks that do not divide the extents; deflated: deflated, too; shuffled: shuffled and deflated
  latest     qdp with superblock and headers of version 2 and 3 (libver='latest'), and
  indexed    in a group whose links are in a heap of several blocks with an index of two levels, and whose attributes are, too;
  single, fixed, paged, tree, implicit, growing     plain in chunks with each of the indices of that version
  summed     chunked with fletcher32                 all        shuffled, deflated and fletcher32
or as one that has to be refused:
  part       one chunk was never written       unwritten  none was, in one piece
  short      less is stored than the numbers   filter     a filter that is not known
  external   the numbers are in another file   outside    a member of the complex numbers lies outside of them
  soft       only a soft link                  elsewhere  a link to another file
  early      fletcher32 before deflate         wrong      a checksum of fletcher32 is wrong
  swapped    imaginary parts come first        xy         other names of the parts
  real       real numbers of that shape        inside     the numbers are in the description of the dataset
  circle     a group that is inside itself     wide       nine axes
  huge       more numbers than the file has"""
import copy
import struct
import sys
import zlib

import numpy as np

import lat

NOWHERE = 2 ** 64 - 1


def pad(data, to=8):
    return data + bytes(-len(data) % to)


def message(kind, data, flags=0):
    return struct.pack("<HHB3x", kind, len(pad(data)), flags) + pad(data)


def floats(big, size):
    places = (52, 11, 0, 52, 1023) if size == 8 else (23, 8, 0, 23, 127)
    return struct.pack("<BBBBIHHBBBBI", 0x11, 0x20 | big, 8 * size - 1, 0, size, 0, 8 * size, *places)


def complexes(big, size, kind=""):
    out = struct.pack("<BBBBI", 0x16, 2, 0, 0, 2 * size)
    names = {"swapped": (b"i", b"r"), "xy": (b"x", b"y"), "qlua": (b"Re", b"Im"), "chunked": (b"real", b"imag")}.get(kind, (b"r", b"i"))
    for name, at in zip(names, (0, 8 * size if kind == "outside" else size)):
        out += pad(name + b"\0") + struct.pack("<IB3x4x4x16x", at, 0) + floats(big, size)
    return out


def array(shape, each, size):
    return struct.pack("<BBBBI", 0x2a, 0, 0, 0, size * int(np.prod(shape))) + struct.pack("<B3x", len(shape)) \
        + struct.pack("<%dI" % len(shape), *shape) + bytes(4 * len(shape)) + each


def attribute(name, text):
    name, text = name.encode() + b"\0", text.encode()
    kind, space = struct.pack("<BBBBI", 0x13, 0, 0, 0, len(text)), struct.pack("<BBB5x", 1, 0, 0)
    return message(12, struct.pack("<BxHHH", 1, len(name), len(kind), len(space)) + pad(name) + pad(kind) + pad(space) + text)


class File:
    def __init__(self):
        self.data = bytearray(96)

    def put(self, data):
        at = len(self.data)
        self.data += pad(data)
        return at

    def header(self, messages):
        return self.put(struct.pack("<BxHII4x", 1, len(messages), 1, sum(map(len, messages))) + b"".join(messages))

    def group(self, things, more=()):
        """things: name, address of the header."""
        names, places = bytearray(8), []
        for name, _ in sorted(things):
            places.append(len(names))
            names += pad(name.encode() + b"\0")
        segment = self.put(bytes(names))
        heap = self.put(b"HEAP" + struct.pack("<4xQQQ", len(names), 1, segment))
        leaf = b"SNOD" + struct.pack("<BxH", 1, len(things))
        for (name, address), place in zip(sorted(things), places):
            soft = address is None
            leaf += struct.pack("<QQI4x16x", place, NOWHERE if soft else address, 2 if soft else 0)
        node = b"TREE" + struct.pack("<BBHQQQQQ", 0, 0, 1, NOWHERE, NOWHERE, 0, self.put((leaf + bytes(320))[:328]), places[-1])
        tree = self.put(node.ljust(544, b"\0"))
        return self.header([message(17, struct.pack("<QQ", tree, heap)), *more])

    def finish(self, root):
        self.data[:96] = b"\x89HDF\r\n\x1a\n" + struct.pack("<8B", 0, 0, 0, 0, 0, 8, 8, 0) + struct.pack("<HHI", 4, 16, 0) \
            + struct.pack("<QQQQ", 0, NOWHERE, len(self.data), NOWHERE) + struct.pack("<QQI4x16x", 0, root, 0)
        return bytes(self.data)


def fletcher(data):
    a = b = 0
    for i in range(0, len(data), 2):
        a = (a + (data[i] << 8) + (data[i + 1] if i + 1 < len(data) else 0)) % 65535
        b = (b + a) % 65535
    return struct.pack("<HH", a, b)


def through(data, f, element):
    if f == 2:
        return np.frombuffer(data, "u1").reshape(-1, element).T.tobytes()
    return data + fletcher(data) if f == 3 else zlib.compress(data)


def chunks(out, numbers, shape, filters, missing):
    """A leaf of the index, for each chunk its key and address."""
    keys, n, element = [], 0, numbers.dtype.itemsize
    for place in np.ndindex(*[-(-e // c) for e, c in zip(numbers.shape, shape)]):
        first = [p * c for p, c in zip(place, shape)]
        box = np.zeros(shape, numbers.dtype)
        part = numbers[tuple(slice(f, f + c) for f, c in zip(first, shape))]
        box[tuple(slice(0, e) for e in part.shape)] = part
        data = box.tobytes()
        for f in filters:
            data = through(data, f, element)
        n += 1
        if n != missing:
            keys.append(struct.pack("<II%dQ" % (len(first) + 1), len(data), 0, *first, 0) + struct.pack("<Q", out.put(data)))
    end = struct.pack("<II%dQ" % (len(shape) + 1), 0, 0, *[-(-e // c) * c for e, c in zip(numbers.shape, shape)], 0)
    node = b"TREE" + struct.pack("<BBHQQ", 1, 0, len(keys), NOWHERE, NOWHERE) + b"".join(keys) + end
    return out.put(node.ljust(24 + 64 * 8 + 65 * len(end), b"\0"))


def space(shape, grows=False):
    most = struct.pack("<%dQ" % len(shape), NOWHERE, *shape[1:]) if grows else b""
    return message(1, struct.pack("<BBB5x", 1, len(shape), grows) + struct.pack("<%dQ" % len(shape), *shape) + most)


def made(kind, field):
    """s: t, z, y, x, spin, source spin, colour, source colour."""
    s = field.spinors
    s = s.reshape(s.shape[:4] + (4, 3, 4, 3)).transpose(0, 1, 2, 3, 6, 4, 7, 5)
    big, size = kind == "qlua", 4 if field.header.real == "f32" else 8
    if kind == "qlua":
        s = s.transpose(3, 2, 1, 0, 4, 5, 6, 7)
    s = np.ascontiguousarray(s).astype("%sc%d" % (">" if big else "<", 2 * size))
    out, data, stored = File(), s.tobytes(), len(s.tobytes())
    complex_type = floats(big, size) if kind == "real" else complexes(big, size, kind)
    nested = array((4, 4), array((3, 3), complex_type, 2 * size), 18 * size)
    indices = ("single", "fixed", "paged", "tree", "implicit", "growing")
    filters = {"deflated": [1], "shuffled": [2, 1], "filter": [1], "summed": [3], "all": [2, 1, 3], "early": [3, 1], "wrong": [3]}
    plain = kind in ("pyquda", "plain", "chunked", "part", "swapped", "xy", "real", "inside", "circle", "wide", *filters) + indices
    extents = (2 ** 12,) * 4 if kind == "huge" else s.shape if plain else s.shape[:4]
    messages = [space(extents + (1,) * (kind == "wide"), kind == "growing"), message(3, complex_type if plain else nested)]
    x = ["%d" % d for d in field.header.dims]
    if kind in ("chunked", "part", *filters):
        shape = tuple(min(c, e) for c, e in zip((2, 3, 2, 2, 4, 3, 3, 3), s.shape))
        filters = filters.get(kind, [])
        index = chunks(out, s, shape, filters, 2 if kind == "part" else 0)
        if kind == "wrong":
            out.data[index - 8] ^= 1
        messages.append(message(8, struct.pack("<BBBQ9I", 3, 2, 9, index, *shape, 2 * size)))
        if filters:
            pipeline = struct.pack("<BB6x", 1, len(filters))
            for f in filters:
                values = [] if f == 3 else [2 * size if f == 2 else 6, 0]
                pipeline += struct.pack("<HHHH%dI" % len(values), 32015 if kind == "filter" else f, 0, 0, len(values) // 2, *values)
            messages.append(message(11, pipeline))
    elif kind in indices:
        most = {"paged": (2, 3, 2, 1, 4, 4), "growing": (1, 1, 1, 1, 2, 4)}.get(kind, (2, 3, 2, 2, 4, 4))
        shape = tuple(min(c, e) for c, e in zip(most + (3, 3), s.shape))
        messages.append(message(8, layout4(out, kind, s, shape, 2 * size)))
        if kind in ("single", "tree"):
            messages.append(message(11, struct.pack("<BB6xHHHHI4x", 1, 1, 1, 0, 0, 1, 6)))
    elif kind == "inside":
        messages.append(message(8, struct.pack("<BBH", 3, 0, 64) + bytes(64)))
    else:
        at = NOWHERE if kind == "unwritten" else out.put(data)
        if kind == "external":
            messages.append(message(7, struct.pack("<B3xHHQ", 1, 1, 1, 96) + struct.pack("<QQQ", 8, 0, stored)))
            at = NOWHERE
        messages.append(message(8, struct.pack("<BBQQ", 3, 1, at, stored - 8 if kind == "short" else stored)))
    if kind == "record":
        messages.append(attribute("record_xml", sys.stdin.read()))
    if kind == "qlua":
        messages.append(attribute(".kind", "LatticeDiracPropagator"))
    if kind in ("latest", "indexed") + indices:
        return latest(out, messages, kind == "indexed")
    if kind == "elsewhere":
        link = b"\x01\x08\x40\x08elsewher" + struct.pack("<H", 8) + b"\0other\0/a\0"
        return out.finish(out.header([message(2, struct.pack("<BBQQ", 0, 0, NOWHERE, NOWHERE)), message(6, link)]))
    if kind == "soft":
        return out.finish(out.group([("S", None)]))
    inside = [("S", out.header(messages))]
    if kind == "circle":
        address = copy.deepcopy(out).group([("g", 0), *inside])
        return out.finish(out.group([("g", address), *inside]))
    if kind == "pyquda":
        inside = [("LatticePropagator", out.group([("0", inside[0][1])], [attribute("Lattice", " ".join(x))]))]
    return out.finish(out.group(inside))


def summed(data):
    """data and its checksum: Bob Jenkins' lookup3, as the specification has it."""
    def rot(x, k):
        return (x << k | x >> (32 - k)) & m
    m = 0xffffffff
    a = b = c = (0xdeadbeef + len(data)) & m
    words = struct.unpack("<%dI" % (-(-len(data) // 12) * 3), data + bytes(-len(data) % 12))
    for i in range(0, len(words), 3):
        a, b, c = (a + words[i]) & m, (b + words[i + 1]) & m, (c + words[i + 2]) & m
        if i + 3 < len(words):
            a = (a - c) & m ^ rot(c, 4); c = (c + b) & m
            b = (b - a) & m ^ rot(a, 6); a = (a + c) & m
            c = (c - b) & m ^ rot(b, 8); b = (b + a) & m
            a = (a - c) & m ^ rot(c, 16); c = (c + b) & m
            b = (b - a) & m ^ rot(a, 19); a = (a + c) & m
            c = (c - b) & m ^ rot(b, 4); b = (b + a) & m
    c = ((c ^ b) - rot(b, 14)) & m
    a = ((a ^ c) - rot(c, 11)) & m
    b = ((b ^ a) - rot(a, 25)) & m
    c = ((c ^ b) - rot(b, 16)) & m
    a = ((a ^ c) - rot(c, 4)) & m
    b = ((b ^ a) - rot(a, 14)) & m
    c = ((c ^ b) - rot(b, 24)) & m
    return data + struct.pack("<I", c)


def tree2(out, kind, records):
    """A B-tree of version 2: one leaf or, with more than 20 records, leaves below the root."""
    size, n = len(records[0]), len(records)
    node = 10 + 20 * (size + 9)

    def leaf(part):
        return out.put(summed(b"BTLF" + bytes([0, kind]) + b"".join(part)).ljust(node, b"\0")), len(part)
    if n <= 20:
        root, at_root, depth = *leaf(records), 0
    else:
        between = records[15::16]
        pointers = [struct.pack("<QB", *leaf(records[i:i + 15])) for i in range(0, n, 16)]
        assert len(pointers) == len(between) + 1 and len(between) <= 20
        root, at_root, depth = out.put(summed(b"BTIN" + bytes([0, kind]) + b"".join(between + pointers)).ljust(node, b"\0")), len(between), 1
    return out.put(summed(b"BTHD" + bytes([0, kind]) + struct.pack("<IHHBBQHQ", node, size, depth, 100, 40, root, at_root, n)))


def heap(out, id_bytes, bits, objects):
    """A fractal heap, and names of the objects in it: rows of two blocks of 512, 512, 1024 bytes, .. up to 1024, below them blocks
    of blocks. Every block begins with an object; what no longer fits into it begins the next one. Large ones are huge."""
    width, start, most, offset = 2, 512, 1024, bits // 8
    huge = [o for o in objects if len(o) > 900]
    records = [struct.pack("<QQQ", out.put(o), len(o), i + 1) for i, o in enumerate(huge)]
    at_huge = tree2(out, 1, records) if huge else NOWHERE
    left, names = [o for o in objects if len(o) <= 900], {}
    at_header = out.put(bytes(146))

    def block(at, size):
        if not left:
            return NOWHERE
        data = b"FHDB\0" + struct.pack("<Q", at_header) + at.to_bytes(offset, "little")
        while left and len(data) + len(left[0]) <= size:
            o = left.pop(0)
            names[o] = (b"\0" + (at + len(data)).to_bytes(offset, "little") + len(o).to_bytes(2, "little")).ljust(id_bytes, b"\0")
            data += o
        return out.put(data.ljust(size, b"\0"))

    def blocks(at, rows):
        data = b"FHIB\0" + struct.pack("<Q", at_header) + at.to_bytes(offset, "little")
        for row in range(rows):
            size = start << max(row - 1, 0)
            for _ in range(width):
                below = size.bit_length() - (start * width).bit_length() + 1
                data += struct.pack("<Q", block(at, size) if size <= most else blocks(at, below) if left else NOWHERE)
                at += size
        return out.put(summed(data))
    root = blocks(0, 6)
    assert not left
    head = b"FRHP\0" + struct.pack("<HHBIQQ", id_bytes, 0, 0, 900, len(huge), at_huge)
    head += struct.pack("<10Q", 0, NOWHERE, *3 * (2 * width * start << 4,), len(names), sum(map(len, huge)), len(huge), 0, 0) + struct.pack("<H", width)
    head += struct.pack("<QQHHQH", start, most, bits, 1, root, 6)
    out.data[at_header:at_header + 146] = summed(head)
    names.update((o, (b"\x10" + struct.pack("<Q", i + 1)[:id_bytes - 1])) for i, o in enumerate(huge))
    return at_header, names


def listed(out, kind, things):
    """Heap and index, by the hash of their names, of links (kind 5) or attributes (8)."""
    at, names = heap(out, *((7, 32) if kind == 5 else (8, 40)), [data for _, data in things])
    hashed = sorted((struct.unpack("<I", summed(name.encode())[-4:])[0], names[data]) for name, data in things)
    return at, tree2(out, kind, [struct.pack("<I", h) + x if kind == 5 else x + struct.pack("<BII", 0, 0, h) for h, x in hashed])


GROWING = 8, 2, 2, 2, 2  # of all entries the power of two, entries in the index, blocks of a row, entries of a block, the power of a page


def growing(out, entries):
    """An extensible array: few entries of each kind, so that a small lattice has all kinds."""
    bits, inside, pointers, least, page_bits = GROWING
    at_header, page, at = out.put(bytes(72)), 1 << page_bits, 0

    def some(n):
        nonlocal at
        part = (entries[at:at + n] + [NOWHERE] * n)[:n]
        at += n
        return [struct.pack("<Q", a) for a in part]

    def block(n):
        if at >= len(entries):
            return NOWHERE
        data = b"EADB\0\0" + struct.pack("<QB", at_header, at)
        if n <= page:
            return out.put(summed(data + b"".join(some(n))))
        return out.put(summed(data) + b"".join(summed(b"".join(some(page))) for _ in range(n // page)))

    def row(u):
        blocks, n, data = 1 << u // 2, least << (u + 1) // 2, b"EASB\0\0" + struct.pack("<QB", at_header, at)
        data += b"\xff" * (blocks * -(-n // page // 8)) if n > page else b""
        return out.put(summed(data + b"".join(struct.pack("<Q", block(n)) for _ in range(blocks)))) if at < len(entries) else NOWHERE
    first = b"".join(some(inside))
    named = [block(least), block(2 * least)]
    rows = [row(u) for u in range(2, bits)]
    assert at >= len(entries)
    index = out.put(summed(b"EAIB\0\0" + struct.pack("<Q", at_header) + first + b"".join(struct.pack("<Q", a) for a in named + rows)))
    counts = struct.pack("<7Q", 0, 0, 0, 0, len(entries), 1 << bits, index)
    out.data[at_header:at_header + 72] = summed(b"EAHD\0\0" + bytes([8, bits, inside, least, pointers, page_bits]) + counts)
    return at_header


def layout4(out, kind, numbers, shape, element):
    """A layout message of version 4: chunks with an index."""
    filtered = kind in ("single", "tree")
    if kind == "single":
        shape = numbers.shape
    rank, entries = len(shape), []
    for place in np.ndindex(*[-(-e // c) for e, c in zip(numbers.shape, shape)]):
        box = np.zeros(shape, numbers.dtype)
        part = numbers[tuple(slice(p * c, (p + 1) * c) for p, c in zip(place, shape))]
        box[tuple(slice(0, e) for e in part.shape)] = part
        data = box.tobytes()
        # tree: what sticks out is not filtered
        packed = zlib.compress(data) if filtered and (kind == "single" or part.shape == tuple(shape)) else data
        at = len(out.data)
        out.data += packed if kind == "implicit" else pad(packed)
        entries.append((place, at, len(packed)))
    head = struct.pack("<BBBBB", 4, 2, 2 if kind == "single" else filtered, rank + 1, 1) + struct.pack("<%dB" % (rank + 1), *shape, element)
    if kind == "single":
        return head + b"\x01" + struct.pack("<QIQ", entries[0][2], 0, entries[0][1])
    if kind == "implicit":
        return head + b"\x02" + struct.pack("<Q", entries[0][1])
    if kind == "tree":
        records = [struct.pack("<Q", at) + n.to_bytes(3, "little") + struct.pack("<I%dQ" % rank, 0, *place) for place, at, n in entries]
        return head + b"\x05" + struct.pack("<IBBQ", 2048, 100, 40, tree2(out, 11, records))
    if kind == "growing":
        return head + b"\x04" + struct.pack("<BBBBBQ", *GROWING, growing(out, [at for _, at, _ in entries]))
    addresses, bits = [struct.pack("<Q", at) for _, at, _ in entries], 3 if kind == "paged" else 10
    page, at_header = 1 << bits, out.put(bytes(28))
    block = b"FADB\0\0" + struct.pack("<Q", at_header)
    if len(addresses) <= page:
        block = summed(block + b"".join(addresses))
    else:
        pages = [addresses[i:i + page] for i in range(0, len(addresses), page)]
        written = "".join("1" for _ in pages).ljust(-(-len(pages) // 8) * 8, "0")
        block = summed(block + int(written, 2).to_bytes(len(written) // 8, "big")) + b"".join(summed(b"".join(p)) for p in pages)
    out.data[at_header:at_header + 28] = summed(b"FAHD\0\0" + struct.pack("<BBQQ", 8, bits, len(addresses), out.put(block)))
    return head + b"\x03" + struct.pack("<BQ", bits, at_header)


def latest(out, messages, indexed):
    """Superblock 3, object headers of version 2."""
    def header(parts):
        body = b"".join(struct.pack("<BHB", kind, len(data), 0) + data for kind, data in parts)
        return out.put(summed(b"OHDR\x02\x02" + struct.pack("<I", len(body)) + body))
    parts = [(struct.unpack("<H", m[:2])[0], m[8:]) for m in messages]
    if indexed:
        texts = [(name, attribute(name, text)[8:]) for name, text in [("a%02d" % i, "x" * 20 * i) for i in range(8)] + [("record_xml", sys.stdin.read())]]
        parts.append((21, struct.pack("<BBQQ", 0, 0, *listed(out, 8, texts))))

    def link(name, parts):
        name = name.encode()
        return b"\x01\x00" + bytes([len(name)]) + name + struct.pack("<Q", header(parts))
    empty = (2, struct.pack("<BBQQ", 0, 0, NOWHERE, NOWHERE))
    if indexed:
        groups = [("a group whose name is long, number %03d" % i, [empty]) for i in range(142)] + [("S", parts)]
        root = header([(2, struct.pack("<BBQQ", 0, 0, *listed(out, 5, [(name, link(name, p)) for name, p in groups])))])
    else:
        root = header([empty, (6, link("S", parts))])
    out.data[:48] = summed(b"\x89HDF\r\n\x1a\n\x03\x08\x08\x00" + struct.pack("<QQQQ", 0, NOWHERE, len(out.data), root))
    return bytes(out.data)


def main():
    kind, stream, file = sys.argv[1:]
    with open(file, "wb") as out:
        out.write(made(kind, next(lat.read(stream))))


if __name__ == "__main__":
    main()
