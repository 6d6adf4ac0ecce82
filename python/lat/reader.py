# SPDX-License-Identifier: BSD-3-Clause
"""Streams to fields, one at a time; a field is given away only after all of it was verified."""
import math
import os
import stat
import struct
import sys
import zlib

import numpy as np

from . import codec, measure
from .elements import to_array
from .errors import StreamError, demand, shown
from .field import Field
from .header import FIRST_LINE, HEADER_LIMIT, LINE_LIMIT, Header
from .orders import Order

DEFLATE_LIMIT = 1040  # deflate makes nothing smaller than by this


class Input:
    """Bytes from the front of a file or a pipe."""

    def __init__(self, file):
        self.opened = None
        if isinstance(file, (str, bytes, os.PathLike)) and file != "-":
            self.file = self.opened = open(file, "rb")
            self.name = os.fsdecode(file)
        else:
            self.file = sys.stdin.buffer if file == "-" else file
            self.name = "<stdin>" if file == "-" else str(getattr(file, "name", "<stream>"))

    def close(self):
        if self.opened:
            self.opened.close()

    def some(self, size):
        """At most size bytes; fewer only at the end."""
        data = self.file.read(size)
        while data and len(data) < size:
            more = self.file.read(size - len(data))
            if not more:
                break
            data += more
        return data or b""

    def exactly(self, size, what):
        data = self.some(size)
        if len(data) < size:
            raise StreamError(what, "the end of the input (truncated?)")
        return data

    def line(self):
        data = self.file.readline(LINE_LIMIT + 1)
        demand(data, "another line of the header", "the end of the input (truncated?)")
        demand(len(data) <= LINE_LIMIT, f"lines of at most {LINE_LIMIT} bytes in the header", "a longer one")
        demand(data.endswith(b"\n"), "another line of the header", "the end of the input (truncated?)")
        return data

    def left(self):
        """Bytes up to the end of the file, None of a pipe."""
        try:
            status = os.fstat(self.file.fileno())
            return status.st_size - self.file.tell() if stat.S_ISREG(status.st_mode) else None
        except (OSError, AttributeError):
            return None


class Reader:
    """An iterator over the fields of a file, of stdin ("-") or of a binary file object.

    Raises StreamError where the stream is damaged. Also a context manager, for those who stop before the end."""

    def __init__(self, file):
        self.input = Input(file)
        self.threads = codec.Threads()
        self.number = self.since_mark = 0  # of the field to come; fields since the last end mark
        self.begun = self.ended = False  # the first line of a header was taken; the input has ended

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __iter__(self):
        return self

    def __next__(self):
        if self.ended:
            raise StopIteration
        try:
            header = self._header()
            field = self._field(header)
            self._after_field()
            self.number += 1
            return field
        except StreamError as wrong:
            wrong.file, wrong.field = self.input.name, self.number
            self.close()
            raise
        except BaseException:
            self.close()
            raise

    def close(self):
        self.ended = True
        self.threads.close()
        self.input.close()

    def header(self):
        """The header of the next field, verified; the field itself is then not to be had."""
        try:
            return self._header()
        except StreamError as wrong:
            wrong.file, wrong.field = self.input.name, self.number
            raise
        finally:
            self.close()

    # ---- one after the other

    def _first_line(self, first):
        """Takes the rest of the first line of a header, of which four bytes were taken."""
        line = first + self.input.some(len(FIRST_LINE) - len(first))
        demand(line, "a stream, 'lat-stream 1'", "nothing: the input is empty")
        demand(line == FIRST_LINE or not FIRST_LINE.startswith(line), "a stream, 'lat-stream 1'", "the end of the input (truncated?)")
        demand(line == FIRST_LINE or not line.startswith(b"lat-stream "), "version 1, 'lat-stream 1'", shown(line))
        demand(line == FIRST_LINE, "a stream, 'lat-stream 1' (lat-convert reads other formats)", shown(line))
        self.begun = True

    def _header(self):
        if not self.begun:
            self._first_line(b"")
        lines, size = [FIRST_LINE], len(FIRST_LINE)
        while not lines[-1].startswith(b"end = "):
            lines.append(self.input.line())
            size += len(lines[-1])
            demand(size <= HEADER_LIMIT, f"a header of at most {HEADER_LIMIT} bytes", "a longer one")
        self.begun = False
        return Header.decode(b"".join(lines))

    def _field(self, header):
        raw, largest = self._blocks(header)
        crc = self._trailer(header, raw)
        reals = raw.view(f"{codec.swapped(header)}f{header.width}")
        if not reals.dtype.isnative:
            reals = reals.astype(reals.dtype.newbyteorder("="))
        array = to_array(Order(header).to_natural(reals.reshape(-1, header.reals)), header)
        return Field(header, array, crc, *self._measured(header, array, largest))

    @staticmethod
    def _measured(header, array, largest):
        """Plaquette and link trace, compared with those of the header."""
        if header.kind != "gauge":
            return math.nan, math.nan
        with np.errstate(over="ignore", invalid="ignore"):  # of numbers that are no links
            found = measure.plaquette(array), measure.link_trace(array)
            bound = measure.tolerance(header, largest)
        for name, value in zip(("plaquette", "link_trace"), found):
            said = getattr(header, name)
            demand(said is None or abs(said - value) <= bound, f"{name} {said!r} of the header, to {bound:.2g}", f"{value!r}")
        return found

    def _blocks(self, header):
        """All raw bytes, verified, and the largest modulus of a real."""
        left, per_block = self.input.left(), 16 * header.blocks + 16
        least = per_block + (header.bytes if header.compression == "none" else header.bytes // DEFLATE_LIMIT)
        demand(left is None or left >= least, f"at least {least} bytes after the header", f"{left} (truncated?)")
        try:
            raw = np.empty(header.bytes, np.uint8)
        except (MemoryError, ValueError):
            raise StreamError("a field that memory can hold", f"one of {header.bytes} bytes") from None
        many = header.blocks > 1
        moduli = self.threads.map(lambda block: self._decoded(header, *block), self._payloads(header, raw), many)
        return raw, max(moduli)

    def _payloads(self, header, raw):
        """For each block where its raw bytes go, its number, head and payload."""
        for number in range(header.blocks):
            out = raw[number * header.block:(number + 1) * header.block]
            name = f"block {number + 1} of {header.blocks}"
            head = self.input.exactly(16, name)
            tag, size, raw_size, _ = struct.unpack("<4sIII", head)
            demand(tag == b"LATB", name, "something else (damaged?)")
            demand(raw_size == len(out), f"{len(out)} raw bytes in {name}", f"{raw_size} (damaged?)")
            most = raw_size if header.compression == "none" else raw_size + raw_size // 8 + 1024
            demand(size <= most and (size == raw_size or header.compression != "none"), f"a payload of {most} bytes or fewer in {name}",
                   f"{size} (damaged?)")
            yield out, name, head, self.input.exactly(size, f"{size} bytes of {name}")

    @staticmethod
    def _decoded(header, out, name, head, payload):
        """Fills out; gives the largest modulus of its reals."""
        said, found = struct.unpack("<I", head[12:])[0], zlib.crc32(payload, zlib.crc32(head[:12]))
        demand(said == found, f"checksum {said:08x} of {name}", f"{found:08x} (damaged?)")
        if header.compression != "none":
            payload = codec.inflate(payload, len(out))
        if header.filter != "none":
            codec.unfilter(payload, header, out)
        else:
            out[:] = np.frombuffer(payload, np.uint8)
        return codec.largest(out, header)

    def _trailer(self, header, raw):
        trailer = self.input.exactly(16, "the trailer of the field")
        tag, count, said, own = struct.unpack("<4sIII", trailer)
        demand(tag == b"LATE", "the trailer of the field", "something else (damaged?)")
        demand(own == zlib.crc32(trailer[:12]), f"a trailer of checksum {own:08x}", f"{zlib.crc32(trailer[:12]):08x} (damaged?)")
        demand(count == header.blocks, f"{header.blocks} blocks", f"{count} in the trailer")
        found = zlib.crc32(raw)
        demand(said == found, f"checksum {said:08x} of the field", f"{found:08x} (damaged?)")
        return said

    def _after_field(self):
        """The end mark, or the first line of another header, or both."""
        self.since_mark += 1
        first = self.input.exactly(4, "another field or the end mark")
        if first == b"LATZ":
            mark = first + self.input.exactly(12, "the end mark")
            _, count, zero, own = struct.unpack("<4sIII", mark)
            demand(own == zlib.crc32(mark[:12]), f"an end mark of checksum {own:08x}", f"{zlib.crc32(mark[:12]):08x} (damaged?)")
            demand(count == self.since_mark and zero == 0, f"an end mark after {self.since_mark} fields", f"one that counts {count}")
            self.since_mark = 0
            first = self.input.some(4)
            if not first:
                self.close()
                return
        demand(first == FIRST_LINE[:4], "another field or the end", f"{shown(first)} (damaged?)")
        self._first_line(first)


def read(file):
    """An iterator over the fields of a file, of stdin ("-") or of a binary file object; each is verified before it is given
    away, and none is kept."""
    return Reader(file)


def read_header(file):
    """The first header of a file; the field is neither read nor verified."""
    return Reader(file).header()
