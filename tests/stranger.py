#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the second reader of the stream, python/lat, finds in it: made from docs/format.md alone, it shares nothing with lib/.

stranger.py FILE [RAW]: verifies everything that page says can be verified and prints one line a field:
    KIND GROUP DIMS REAL REALS BLOCKS CRC PLAQUETTE LINK_TRACE
with plaquette and link trace measured by python/lat (nan where there is none). RAW gets the numbers of all
fields as little-endian f64, whole matrices in natural order. Exit status 1 and a sentence on stderr if anything is wrong."""
import sys

import lat

whole = []
try:
    for field in lat.read(sys.argv[1]):
        head = field.header
        print(head.kind, head.group, "x".join(map(str, head.dims)), head.real, head.reals, head.blocks, f"{field.crc:08x}",
              f"{field.plaquette:.15g}", f"{field.link_trace:.15g}")
        whole.append(field.array.astype("<c16").tobytes())
except lat.StreamError as wrong:
    sys.exit(f"stranger.py: {wrong}")
if len(sys.argv) > 2:
    with open(sys.argv[2], "wb") as file:
        file.writelines(whole)
