#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A collection of configurations in the formats of docs/formats.md, written without our code (make_foreign.py):

    make_samples.py FOLDER SINGLE DOUBLE SU2

SINGLE, DOUBLE and SU2 are ILDG files of our own configurations: SU(3) in single and in double precision, SU(2) in double. FOLDER gets
the files and MANIFEST.tsv, a table of them: name, extents, plaquette and link trace as plain Python computes them,
crc-32 of the reals as lat-info prints it, and the options of lat-convert for files that do not say what they hold."""
import os
import sys
import zlib
from array import array

import check_foreign as cf
import make_foreign as mf

# name, source, kind and options of make_foreign.py, options of lat-convert (D: the extents)
SAMPLES = """
nersc_big32             s nersc
nersc_big64_3x3         d nersc floating=IEEE64BIG rows=3
nersc_little64          d nersc floating=IEEE64LITTLE order=little rows=2
nersc_little32_bare     s nersc floating=IEEE32 order=little rows=2 style=odd
nersc_su2               2 nersc floating=IEEE64BIG rows=2
ildg_single             s lime records=format,lfn,data,checksum
ildg_double_xlf         d lime records=xlf,format,data,checksum style=odd nul=1
ildg_double_qio         d lime records=file,record,format,data,checksum,lfn
ildg_su2                2 lime records=format,data,checksum
scidac_single           s lime records=file,record,scidac,checksum
scidac_double           d lime records=file,record,scidac,checksum style=odd pad=0
milc_little             s milc
milc_big                s milc order=big
milc_list_of_sites      s milc list=1
milc_double             d milcdouble order=big
milcold_big             s milcold order=big
milc1996_little         s milc1996
fnal_little             s fnal
openqcd                 d openqcd
ddalphaamg              d ddalphaamg
hirep_big               d hirep
hirep_quaternions       2 hirep quaternions=1 order=little
vogt_single             s vogt
vogt_double             d vogt real=8 order=big
mdp_little              s mdp
mdp_double              d mdp real=8 order=big
headeronly              d raw sites=txyz links=txyz header=77 | --from headeronly --dims D
bridgetext              d bridgetext | --from bridgetext --dims D
bridge                  d raw order=big | --from bridge --dims D
fortran                 d fortran order=big | --from fortran --dims D
cppacs                  d cppacs digits=0 | --from cppacs --dims D
szin                    s szin
bmw                     d bmw rows=2
bmw_18                  d bmw rows=3
kyu                     d kyu | --from kyu --dims D
raw                     d raw | --from raw --dims D
"""


def stored(f, rows):
    """f with the first rows of its links alone, as a reader that keeps rows would have it."""
    g = cf.Field()
    g.dims, g.nc, g.real, g.big, g.rows, g.payload = f.dims, f.nc, f.real, f.big, f.rows, f.payload
    if rows < f.rows:
        g.payload, g.rows = mf.payload(f, f.big, rows), rows
    return g


def crc(g):
    """Of SU(2) with one row a stream has quaternions: rows are a, b and -b*, a*, and q = re a, im b, re b, im a."""
    if g.nc == 2 and g.rows == 1:
        a = array("d", g.little())
        return zlib.crc32(array("d", [a[i + k] for i in range(0, len(a), 4) for k in (0, 3, 2, 1)]).tobytes())
    return zlib.crc32(g.little())


def main():
    folder, *names = sys.argv[1:]
    source = {letter: cf.load(name)[1] for letter, name in zip("sd2", names)}
    plaquettes = {}
    with open(os.path.join(folder, "MANIFEST.tsv"), "w") as table:
        print("file", "dims_xyzt", "plaquette_computed", "linktrace_computed", "crc", "options", sep="\t", file=table)
        for line in SAMPLES.strip().splitlines():
            making, _, reading = line.partition("|")
            name, letter, kind, *options = making.split()
            f = source[letter]
            options = dict(o.split("=", 1) for o in options)
            with open(os.path.join(folder, name), "wb") as h:
                h.write(mf.KINDS[kind](f, **options))
            rows = {"nersc": int(options.get("rows", f.rows)), "bmw": int(options.get("rows", 2))}.get(kind, f.rows)
            if name == "hirep_quaternions":
                rows = 1
            g = stored(f, rows)
            if (letter, rows) not in plaquettes:
                plaquettes[letter, rows] = cf.plaquette(g)
            print(name, "x".join(map(str, f.dims)), *("%.12g" % p for p in plaquettes[letter, rows]),
                  "%08x" % crc(g), reading.replace("D", ",".join(map(str, f.dims))).strip(), sep="\t", file=table)


if __name__ == "__main__":
    main()
