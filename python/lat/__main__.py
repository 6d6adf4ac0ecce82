# SPDX-License-Identifier: BSD-3-Clause
"""python3 -m lat [FILE]...: header and checks of each field. Exit status 0, 1 where a stream is damaged, 2 for wrong usage."""
import argparse
import os
import sys

from . import Reader, StreamError, __version__
from .header import MEASURED, STORAGE, _text


def show(field, number, name):
    header = field.header
    print(f"{name}: field {number}")
    rows = [(key, getattr(header, key)) for key in STORAGE + MEASURED]
    rows = [(key, _text(key, value)) for key, value in rows if value is not None]
    rows += [(key, value) for key, value in (("basis", header.basis), ("source", header.source)) if value is not None]
    rows += header.operator.encode().items() if header.operator else []
    rows += [(key, _text(key, getattr(header, key))) for key in ("residuals", "eigenvalues", "links_crc") if getattr(header, key)]
    rows += [("info." + key, value) for key, value in header.info.items()]
    rows += [("history", line) for line in header.history]
    rows += [("checked", f"header, {header.blocks} blocks, CRC {field.crc:08x}, {header.elements * header.reals} finite numbers")]
    for key in ("plaquette", "link_trace"):
        found, said = getattr(field, key), getattr(header, key)
        if found == found:
            rows.append(("measured", f"{key} {found:.16g}" + (f", by {abs(found - said):.1e} that of the header" if said is not None else "")))
    for key, value in rows:
        print(f"  {key:<12} {value}")


def main():
    parser = argparse.ArgumentParser(prog="python3 -m lat", description="Shows the headers of streams, and verifies all they state.")
    parser.add_argument("files", metavar="FILE", nargs="*", default=["-"], help="a stream; stdin without one, or for -")
    parser.add_argument("--version", action="version", version=f"lat {__version__}")
    try:
        for name in parser.parse_args().files:
            for number, field in enumerate(Reader(name)):
                show(field, number, name if name != "-" else "<stdin>")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (StreamError, OSError) as wrong:
        print(f"python3 -m lat: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
