# SPDX-License-Identifier: BSD-3-Clause
"""Blocks (docs/format.md, "Blocks" and "The filter"): raw bytes to payloads and back. These functions run in threads."""
import os
import zlib
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .errors import StreamError, demand

NOISE = 7  # bits of entropy a byte above which deflate gains less than it costs
RUNS = 0.8  # share of one byte above which run lengths are enough


def swapped(header):
    """The byte order of the reals, as numpy writes it."""
    return "<" if header.endian == "little" else ">"


def inflate(payload, size):
    """Exactly size bytes."""
    z = zlib.decompressobj()
    try:
        raw = z.decompress(payload, size + 1)
    except zlib.error as wrong:
        raise StreamError("a zlib stream", f"'{wrong}' (damaged?)") from None
    demand(len(raw) == size and z.eof and not z.unused_data and not z.unconsumed_tail,
           f"a zlib stream of {size} bytes", f"another one, of {len(raw)} or more (damaged?)")
    return raw


def unfilter(planes, header, out):
    """Byte planes to raw bytes; out is an array of bytes."""
    width = header.width
    words = np.ascontiguousarray(np.frombuffer(planes, np.uint8).reshape(width, -1).T).view(f">u{width}").ravel()
    words = words.astype(f"=u{width}")
    one = words.dtype.type(1)
    out.view(f"{swapped(header)}u{width}")[:] = words >> one | words << words.dtype.type(8 * width - 1)


def filtered(raw, header):
    """Raw bytes to byte planes, an array [plane, byte]."""
    width = header.width
    words = raw.view(f"{swapped(header)}u{width}").astype(f"=u{width}")
    one = words.dtype.type(1)
    words = (words << one | words >> words.dtype.type(8 * width - 1)).astype(f">u{width}")
    return np.ascontiguousarray(words.view(np.uint8).reshape(-1, width).T)


def deflate_planes(planes):
    """One zlib stream; each plane is stored, run-length coded or Huffman coded, whichever its histogram suggests.

    Each plane is flushed to a whole byte, so that pieces made with different strategies follow each other."""
    pieces = [b"\x78\x01"]
    for plane in planes:
        share = np.bincount(plane, minlength=256) / len(plane)
        share = share[share > 0]
        if -(share * np.log2(share)).sum() > NOISE:
            z = zlib.compressobj(0, zlib.DEFLATED, -15)
        else:
            z = zlib.compressobj(1, zlib.DEFLATED, -15, 9, zlib.Z_RLE if share.max() >= RUNS else zlib.Z_HUFFMAN_ONLY)
        pieces += [z.compress(plane), z.flush(zlib.Z_SYNC_FLUSH)]
    return b"".join(pieces) + b"\x03\x00" + zlib.adler32(planes).to_bytes(4, "big")


def payload_of(raw, header):
    if header.compression == "none":
        return raw
    if header.filter == "none":
        return zlib.compress(raw, 1)
    return deflate_planes(filtered(raw, header))


def largest(raw, header):
    """The largest modulus of the reals of a block, which must be finite."""
    reals = raw.view(f"{swapped(header)}f{header.width}")
    m = max(float(reals.max()), -float(reals.min()))
    demand(np.isfinite(m), "finite numbers", "NaN or infinity")
    return m


class Threads:
    """Runs a function on many items in threads and gives the results in order; at most a few items are under way."""

    def __init__(self):
        try:
            cores = len(os.sched_getaffinity(0))
        except AttributeError:  # not Linux
            cores = os.cpu_count() or 1
        self.count = min(8, cores)
        self.pool = None

    def map(self, function, items, many):
        if self.count == 1 or not many:
            yield from map(function, items)
            return
        self.pool = self.pool or ThreadPoolExecutor(self.count)
        under_way = deque()
        try:
            for item in items:
                under_way.append(self.pool.submit(function, item))
                if len(under_way) > 2 * self.count:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for job in under_way:
                job.cancel()

    def close(self):
        if self.pool:
            self.pool.shutdown()
            self.pool = None
