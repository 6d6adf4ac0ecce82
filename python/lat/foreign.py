# SPDX-License-Identifier: BSD-3-Clause
"""Files of any format that lat-convert reads, also compressed ones."""
import bz2
import gzip
import lzma
import os
import shutil
import subprocess
import tempfile
import zlib

from .errors import StreamError
from .header import FIRST_LINE
from .reader import read
from .tools import only, stream

PACKED = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
ZSTD = b"\x28\xb5\x2f\xfd"


def load(file, **options):
    """The field of a file, verified: links, a transformation, spinors, a propagator or modes, in any format that lat-convert
    reads (`lat-convert --list`), also packed by gzip, bzip2, xz or zstd.

        u = lat.load("cfg.ildg").links          complex, [t, z, y, x, mu, row, column]
        s = lat.load("prop.lime").spinors       complex, [t, z, y, x, column, spin, colour]
        u = lat.load("cfg.bin", from_="raw", dims=(8, 8, 8, 16))

    lat-convert takes the options. A stream without options is read without a tool. ToolError or StreamError where the file is
    not what it says, or holds several fields (lat.fields)."""
    return only(fields(file, **options), os.fspath(file))


def fields(*files, **options):
    """An iterator over all fields of files, one at a time and none kept; the rest as in load."""
    for file in files:
        with tempfile.TemporaryDirectory(prefix="lat-") as folder:
            path = _unpacked(os.fspath(file), folder)
            if not options and _begins(path, len(FIRST_LINE)) == FIRST_LINE:
                yield from read(path)
            else:
                yield from stream("convert", path, **options)


def _begins(path, size):
    with open(path, "rb") as file:
        return file.read(size)


def _unpacked(path, folder):
    """The path of the file, or of the unpacked one in the folder."""
    begin = _begins(path, 6)
    opened = next((opened for magic, opened in PACKED.items() if begin.startswith(magic)), None)
    if not opened and not begin.startswith(ZSTD):
        return path
    out = os.path.join(folder, os.path.splitext(os.path.basename(path))[0])
    try:
        with open(out, "wb") as file:
            if opened:
                with opened(path) as packed:
                    shutil.copyfileobj(packed, file, 1 << 20)
            else:
                subprocess.run(["zstd", "-dqc", "--", path], stdout=file, stderr=subprocess.PIPE, check=True)
    except FileNotFoundError:
        raise StreamError("zstd in PATH to unpack it", "none", path) from None
    except (EOFError, OSError, zlib.error, lzma.LZMAError, subprocess.CalledProcessError) as wrong:
        if getattr(wrong, "errno", None):
            raise  # a full disk, say
        said = getattr(wrong, "stderr", None)
        raise StreamError("a whole packed file", repr(said.decode().strip() if said else str(wrong)), path) from None
    return out
