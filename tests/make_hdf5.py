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
  latest     qdp with superblock and headers of version 2 and 3
or as one that has to be refused:
  part       one chunk was never written       unwritten  none was, in one piece
  short      less is stored than the numbers   filter     a filter that is not known
  external   the numbers are in another file   outside    a member of the complex numbers lies outside of them
  soft       only a soft link                  elsewhere  a link to another file
  huge       more numbers than the file has"""
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


def complexes(big, size, outside=False):
    out = struct.pack("<BBBBI", 0x16, 2, 0, 0, 2 * size)
    for name, at in ((b"r", 0), (b"i", 8 * size if outside else size)):
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
            data = np.frombuffer(data, "u1").reshape(-1, element).T.tobytes() if f == 2 else zlib.compress(data)
        n += 1
        if n != missing:
            keys.append(struct.pack("<II%dQ" % (len(first) + 1), len(data), 0, *first, 0) + struct.pack("<Q", out.put(data)))
    end = struct.pack("<II%dQ" % (len(shape) + 1), 0, 0, *numbers.shape, 0)
    node = b"TREE" + struct.pack("<BBHQQ", 1, 0, len(keys), NOWHERE, NOWHERE) + b"".join(keys) + end
    return out.put(node.ljust(24 + 64 * 8 + 65 * len(end), b"\0"))


def space(shape):
    return message(1, struct.pack("<BBB5x", 1, len(shape), 0) + struct.pack("<%dQ" % len(shape), *shape))


def made(kind, field):
    """s: t, z, y, x, spin, source spin, colour, source colour."""
    s = field.spinors
    s = s.reshape(s.shape[:4] + (4, 3, 4, 3)).transpose(0, 1, 2, 3, 6, 4, 7, 5)
    big, size = kind == "qlua", 4 if field.header.real == "f32" else 8
    if kind == "qlua":
        s = s.transpose(3, 2, 1, 0, 4, 5, 6, 7)
    s = np.ascontiguousarray(s).astype("%sc%d" % (">" if big else "<", 2 * size))
    out, data, stored = File(), s.tobytes(), len(s.tobytes())
    complex_type = complexes(big, size, kind == "outside")
    nested = array((4, 4), array((3, 3), complex_type, 2 * size), 18 * size)
    plain = kind in ("pyquda", "plain", "chunked", "deflated", "shuffled", "part", "filter")
    extents = (2 ** 12,) * 4 if kind == "huge" else s.shape if plain else s.shape[:4]
    messages = [space(extents), message(3, complex_type if plain else nested)]
    x = ["%d" % d for d in field.header.dims]
    if kind in ("chunked", "deflated", "shuffled", "part", "filter"):
        shape = tuple(min(c, e) for c, e in zip((2, 3, 2, 2, 4, 3, 3, 3), s.shape))
        filters = {"deflated": [1], "shuffled": [2, 1], "filter": [1]}.get(kind, [])
        index = chunks(out, s, shape, filters, 2 if kind == "part" else 0)
        messages.append(message(8, struct.pack("<BBBQ9I", 3, 2, 9, index, *shape, 2 * size)))
        if filters:
            pipeline = struct.pack("<BB6x", 1, len(filters))
            for f in filters:
                value = 2 * size if f == 2 else 6
                pipeline += struct.pack("<HHHHI4x", 32015 if kind == "filter" else f, 0, 0, 1, value)
            messages.append(message(11, pipeline))
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
    if kind == "latest":
        return latest(out, messages)
    if kind == "elsewhere":
        link = b"\x01\x08\x40\x08elsewher" + struct.pack("<H", 8) + b"\0other\0/a\0"
        return out.finish(out.header([message(2, struct.pack("<BBQQ", 0, 0, NOWHERE, NOWHERE)), message(6, link)]))
    if kind == "soft":
        return out.finish(out.group([("S", None)]))
    inside = [("S", out.header(messages))]
    if kind == "pyquda":
        inside = [("LatticePropagator", out.group([("0", inside[0][1])], [attribute("Lattice", " ".join(x))]))]
    return out.finish(out.group(inside))


def latest(out, messages):
    """Superblock 3, object headers of version 2; nobody reads their sums here."""
    def header(parts):
        body = b"".join(struct.pack("<BHB", kind, len(data), 0) + data for kind, data in parts)
        return out.put(b"OHDR\x02\x02" + struct.pack("<I", len(body)) + body + bytes(4))
    parts = [(struct.unpack("<H", m[:2])[0], m[8:]) for m in messages]
    link = (6, b"\x01\x00\x01S" + struct.pack("<Q", header(parts)))
    root = header([(2, struct.pack("<BBQQ", 0, 0, NOWHERE, NOWHERE)), link])
    out.data[:48] = b"\x89HDF\r\n\x1a\n\x03\x08\x08\x00" + struct.pack("<QQQQI", 0, NOWHERE, len(out.data), root, 0)
    return bytes(out.data)


def main():
    kind, stream, file = sys.argv[1:]
    with open(file, "wb") as out:
        out.write(made(kind, next(lat.read(stream))))


if __name__ == "__main__":
    main()
