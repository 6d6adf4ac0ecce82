#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What docs/conventions.md, "Symmetries of the lattice", says of each symmetry, link by link.

symmetry.py KIND N X,Y,.. OLD NEW CASE...: OLD has the numbers of a field as stranger.py writes them, X,Y,.. are
its extents, NEW has those of the fields that it became, one for each CASE: shift=1,2,.., reflect=x, axes=t,x,..
or conjugate. Exit status 1 unless they are that, exactly. Loops over the old field and says where each matrix goes,
where our program asks where it came from."""
import itertools
import struct
import sys

kind, n, dims, old, new = sys.argv[1:6]
n, dims = int(n), [int(d) for d in dims.split(",")]
nd = len(dims)
links = range(nd) if kind == "gauge" else [0]


def numbers(path):
    with open(path, "rb") as file:
        data = file.read()
    return iter(struct.unpack("<%dd" % (len(data) // 8), data))


def field(reals, extents):
    """(site, mu) -> tuple of rows of complex numbers."""
    places = itertools.product(*(range(d) for d in reversed(extents)))
    return {(tuple(reversed(p)), mu): tuple(tuple(complex(next(reals), next(reals)) for _ in range(n)) for _ in range(n))
            for p in places for mu in links}


def dagger(m):
    return tuple(zip(*[[z.conjugate() for z in row] for row in m]))


def move(what, value, x, mu, m):
    """Where the matrix goes, and what it is there."""
    if what == "conjugate":
        return x, mu, tuple(tuple(z.conjugate() for z in row) for row in m)
    if what == "shift":
        return tuple((a + int(s)) % d for a, s, d in zip(x, value.split(","), dims)), mu, m
    if what == "axes":
        was = ["xyzt".index(a) for a in value.split(",")]
        return tuple(x[a] for a in was), was.index(mu) if kind == "gauge" else 0, m
    r = "xyzt".index(value)
    turned = [(-a) % d if i == r else a for i, (a, d) in enumerate(zip(x, dims))]
    if kind == "gauge" and mu == r:
        turned[r] = (turned[r] - 1) % dims[r]  # it ends where it began: at -x_r - 1
        return tuple(turned), mu, dagger(m)
    return tuple(turned), mu, m


was = field(numbers(old), dims)
now = numbers(new)
for case in sys.argv[6:]:
    what, _, value = case.partition("=")
    extents = [dims["xyzt".index(a)] for a in value.split(",")] if what == "axes" else dims
    expected = {}
    for (x, mu), m in was.items():
        y, nu, m = move(what, value, x, mu, m)
        expected[y, nu] = m
    if expected != field(now, extents):
        sys.exit("symmetry.py: %s: other matrices" % case)
sys.exit(0 if next(now, None) is None else "symmetry.py: more fields than cases")
