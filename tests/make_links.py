#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Links in HDF5 files, made without the HDF5 library and without code of lat (make_hdf5.py).

make_links.py KIND STREAM FILE [STREAM]: the links of a stream (read by python/lat), as one of
  pyquda      a dataset t, z, y, x, row, column for each direction, X to T, in a group with the attribute Lattice
  qlua        nested arrays, x, y, z, t, big endian, with the attribute .kind: U0 to U3
  first       one dataset mu, t, z, y, x, row, column, deflated in chunks
  both        pyquda, and beside it the propagator of a second stream, t, z, y, x, spins, colours
  last        one dataset t, z, y, x of nested arrays [mu] of [row][column]
or as one that has to be refused:
  three       pyquda without T         five        pyquda, and one more
  lattice     pyquda with another Lattice     filter      pyquda through a filter that is not known"""
import struct
import sys

import numpy as np

import lat
from make_hdf5 import File, array, attribute, chunks, complexes, message, space


def dataset(out, numbers, big=False, nested=0, chunk=None, more=()):
    """nested: so many of the last axes are those of an array, the matrix inside of it of another one."""
    size = numbers.dtype.itemsize // 2
    numbers = np.ascontiguousarray(numbers).astype("%sc%d" % (">" if big else "<", 2 * size))
    kind, shape = complexes(big, size), numbers.shape
    if nested:
        kind = array(shape[-2:], kind, 2 * size)
        if nested > 2:
            kind = array(shape[-nested:-2], kind, 2 * size * shape[-1] ** 2)
        shape = shape[:-nested]
    messages = [space(shape), message(3, kind)]
    if chunk:
        index = chunks(out, numbers, chunk, [1], 0)
        messages.append(message(8, struct.pack("<BBBQ%dI" % (len(chunk) + 1), 3, 2, len(chunk) + 1, index, *chunk, 2 * size)))
        messages.append(message(11, struct.pack("<BB6x", 1, 1) + struct.pack("<HHHHI4x", 1, 0, 0, 1, 6)))
    else:
        data = numbers.tobytes()
        messages.append(message(8, struct.pack("<BBQQ", 3, 1, out.put(data), len(data))))
    return out.header(messages + list(more))


def made(kind, field):
    u, out = field.links, File()  # t, z, y, x, mu, row, column
    each = [u[:, :, :, :, mu] for mu in range(4)]
    if kind == "qlua":
        return out.finish(out.group([("U%d" % mu, dataset(out, v.transpose(3, 2, 1, 0, 4, 5), True, 2,
                                                          more=[attribute(".kind", "LatticeColorMatrix")]))
                                     for mu, v in enumerate(each)]))
    if kind == "first":
        v = np.moveaxis(u, 4, 0)
        return out.finish(out.group([("u", dataset(out, v, chunk=(1, 2, 3, 2, 2) + v.shape[5:]))]))
    if kind == "last":
        return out.finish(out.group([("cfg", out.group([("u", dataset(out, u, nested=3))]))]))
    names = "XYZ" if kind == "three" else "XYZTU" if kind == "five" else "XYZT"
    filters = [message(11, struct.pack("<BB6x", 1, 1) + struct.pack("<HHHHI4x", 32000, 0, 0, 1, 6))] if kind == "filter" else []
    sets = [(name, dataset(out, each[mu % 4], more=filters)) for mu, name in enumerate(names)]
    dims = list(field.header.dims)
    if kind == "lattice":
        dims.reverse()
    group = out.group(sets, [attribute("Lattice", " ".join("%d" % d for d in dims)), attribute("Color", "3")])
    things = [("LatticeColorMatrix", group)]
    if kind == "both":
        s = next(lat.read(sys.argv[4])).spinors
        s = s.reshape(s.shape[:4] + (4, 3, 4, 3)).transpose(0, 1, 2, 3, 6, 4, 7, 5)
        things.append(("prop", dataset(out, s)))
    return out.finish(out.group(things))


def main():
    kind, stream, file = sys.argv[1:4]
    with open(file, "wb") as out:
        out.write(made(kind, next(lat.read(stream))))


main()
