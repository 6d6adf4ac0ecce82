# SPDX-License-Identifier: BSD-3-Clause
"""Fields to a stream that any reader takes."""
import copy
import os
import re
import shlex
import stat
import struct
import sys
import zlib

import numpy as np

from . import codec, measure
from .elements import complex_of, from_array, to_matrices
from .errors import StreamError, demand
from .field import Field
from .header import HISTORY_LIMIT, Header
from .kinds import KINDS
from .orders import Order, check_links, check_sites, natural_links, natural_sites


class Output:
    """A file that appears whole or not at all, stdout ("-"), or a binary file object."""

    def __init__(self, file):
        self.path = self.temporary = None
        if isinstance(file, (str, bytes, os.PathLike)) and file != "-":
            self.path = os.fsdecode(file)
            folder, name = os.path.split(self.path)
            if os.path.exists(self.path) and not os.path.isfile(self.path):
                self.file = open(self.path, "wb")  # a device or a named pipe
            else:
                self.temporary = os.path.join(folder, f".{name}.{os.getpid()}.tmp")
                self.file = open(self.temporary, "xb")
            self.name = self.path
        else:
            self.file = sys.stdout.buffer if file == "-" else file
            self.name = "<stdout>" if file == "-" else str(getattr(file, "name", "<stream>"))

    def is_regular(self):
        try:
            return stat.S_ISREG(os.fstat(self.file.fileno()).st_mode)
        except (OSError, AttributeError):
            return False

    def close(self):
        self.file.flush()
        if self.temporary:
            os.fsync(self.file.fileno())
            self.file.close()
            os.replace(self.temporary, self.path)
            self.temporary = None
        elif self.path:
            self.file.close()

    def drop(self):
        if self.path:
            self.file.close()
        if self.temporary:
            os.unlink(self.temporary)
            self.temporary = None


class Writer:
    """Writes fields into a file, stdout ("-") or a binary file object, and at the end the end mark:

        with lat.Writer("out.lat") as out:
            out.write(field)

    If the block fails there is no file; what went into a pipe has no end mark, and is refused by whoever reads it.

    compression  zlib or none; by default, as the tools do, zlib in a file, but for solutions and modes, and none elsewhere
    sites, links orders, as in docs/format.md; natural by default
    endian, block   as in docs/format.md
    provenance   False: adds no line to the history"""

    def __init__(self, file, compression=None, sites=None, links=None, endian="little", block=1048576, filter=None,
                 provenance=True):
        self.output = Output(file)
        self.sites, self.links, self.provenance = _words(sites), _words(links), provenance
        self.compression, self.filter, self.storage = compression, filter, dict(endian=endian, block=block)
        self.threads = codec.Threads()
        self.fields = 0
        self.open = True

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if not self.open:
            return
        if kind is None and self.fields:
            self.close()
        else:
            self.drop()
            demand(kind is not None, "a field to write", "none")

    def write(self, field, note=""):
        """Writes a field; note is what its line of history says was done."""
        try:
            header = self._header(field, note)
            reals = self._stored(field, header)
            self._put(header.encode())
            self._blocks(header, reals)
            self.fields += 1
        except StreamError as wrong:
            wrong.file, wrong.field = self.output.name, self.fields
            self.drop()
            raise
        except BaseException:
            self.drop()
            raise

    def close(self):
        """Writes the end mark; only now a file has its name."""
        mark = struct.pack("<4sII", b"LATZ", self.fields, 0)
        self._put(mark + struct.pack("<I", zlib.crc32(mark)))
        self.open = False
        self.threads.close()
        self.output.close()

    def drop(self):
        """Leaves without an end mark, and without a file."""
        if self.open:
            self.open = False
            self.threads.close()
            self.output.drop()

    def _put(self, data):
        self.output.file.write(data)

    def _header(self, field, note):
        """That of the field, stored as this writer stores."""
        header = copy.deepcopy(field.header)
        header.sites = self.sites or natural_sites(header.nd)
        check_sites(header.sites, header.nd, KINDS[header.kind].objects)
        if header.links is not None:
            header.links = self.links or natural_links(header.nd)
            check_links(header.links, header.nd)
        for name, value in self.storage.items():
            setattr(header, name, value)
        header.compression = self.compression or self._default_compression(header)
        header.filter = self.filter or ("none" if header.compression == "none" else "rotate-shuffle")
        if self.provenance:
            header.history.append(history_line(note, field.crc))
        return Header.decode(header.encode())

    def _default_compression(self, header):
        """Sources, mostly zeros, are spinors that say what they are, without operator and residuals."""
        source = header.source is not None and header.operator is None and header.residuals is None
        return "zlib" if self.output.is_regular() and (not KINDS[header.kind].spinors or source) else "none"

    def _stored(self, field, header):
        """The reals as they are stored; sets plaquette and link trace of the header unless they are right already."""
        array = np.ascontiguousarray(field.array, complex_of(header.real))
        demand(array.shape == header.shape, f"an array of shape {header.shape}", array.shape)
        reals = from_array(array, header)
        m = max(float(reals.max()), -float(reals.min()))
        demand(np.isfinite(m), "finite numbers", "NaN or infinity")
        if header.kind == "gauge":
            u = array if header.reals == 2 * header.n ** 2 else to_matrices(reals, header.n)
            bound = measure.tolerance(header, m)
            for name, value in (("plaquette", measure.plaquette(u)), ("link_trace", measure.link_trace(u))):
                said = getattr(header, name)
                if value == value and (said is None or not abs(said - value) <= bound):
                    setattr(header, name, value)
        stored = Order(header).to_stored(reals.reshape(header.shape[:-2] + (header.reals,)))
        return np.ascontiguousarray(stored, f"{codec.swapped(header)}f{header.width}").reshape(-1)

    def _blocks(self, header, reals):
        raw = reals.view(np.uint8)
        pieces = (raw[at:at + header.block] for at in range(0, len(raw), header.block))

        def encoded(piece):
            payload = codec.payload_of(piece, header)
            head = struct.pack("<4sII", b"LATB", len(payload), len(piece))
            return head + struct.pack("<I", zlib.crc32(payload, zlib.crc32(head))), payload

        for head, payload in self.threads.map(encoded, pieces, header.blocks > 1):
            self._put(head)
            self._put(payload)
        trailer = struct.pack("<4sII", b"LATE", header.blocks, zlib.crc32(raw))
        self._put(trailer + struct.pack("<I", zlib.crc32(trailer)))


def _words(order):
    return tuple(order.replace(",", " ").split(" ")) if isinstance(order, str) else tuple(order or ())


def history_line(note, crc):
    """python-lat VERSION | the program and its arguments | note | of the CRC of the field that was read."""
    from . import __version__

    program = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] else "python"
    arguments = " ".join(shlex.quote(word) for word in [program] + sys.argv[1:])
    words = [f"python-lat {__version__}", arguments, note] + ([f"of {crc:08x}"] if crc is not None else [])
    line = re.sub("[\x00-\x1f\x7f]", "?", " | ".join(w for w in words if w)).encode("utf-8", "replace")
    if len(line) > HISTORY_LIMIT:
        line = line[:HISTORY_LIMIT - 3].decode("utf-8", "ignore").encode("utf-8") + b"..."
    return line.decode("utf-8")


def write(file, fields, note="", **options):
    """Writes a field, or several, into a file, stdout ("-") or a binary file object. Options are those of Writer; note is
    what the line of history says was done."""
    with Writer(file, **options) as out:
        for field in [fields] if isinstance(fields, Field) else fields:
            out.write(field, note)
