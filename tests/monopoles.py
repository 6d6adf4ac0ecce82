#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Monopole currents of Abelian links, from the flux of angles through the faces of cubes: monopoles.py X,Y,Z,T N LINKS.raw

LINKS are raw doubles of diagonal matrices, natural order. Prints what lat-abelian --currents does, of one configuration. An integer
is the rounded sum of six real numbers here, where lat-abelian counts Dirac strings."""
import cmath
import math
import struct
import sys

dims = [int(v) for v in sys.argv[1].split(",")]
nc = int(sys.argv[2])
volume = dims[0] * dims[1] * dims[2] * dims[3]
with open(sys.argv[3], "rb") as f:
    raw = f.read()
assert len(raw) == volume * 4 * nc * nc * 16


def site(x):
    return x[0] % dims[0] + dims[0] * (x[1] % dims[1] + dims[1] * (x[2] % dims[2] + dims[2] * (x[3] % dims[3])))


def step(x, mu):
    return [v + (i == mu) for i, v in enumerate(x)]


def angle(x, mu, i):
    return cmath.phase(complex(*struct.unpack_from("<dd", raw, 16 * ((site(x) * 4 + mu) * nc * nc + i * nc + i))))


def flux(x, a, b):
    """Angles of a plaquette, between -pi and pi, then moved by whole turns until they add up to 0."""
    r = [math.remainder(angle(x, a, i) + angle(step(x, a), b, i) - angle(step(x, b), a, i) - angle(x, b, i), 2 * math.pi)
         for i in range(nc)]
    while abs(sum(r)) > 1:
        i = r.index(max(r)) if sum(r) > 0 else r.index(min(r))
        r[i] -= math.copysign(2 * math.pi, sum(r))
    return r


def odd(p):
    return sum(p[i] > p[j] for i in range(4) for j in range(i + 1, 4)) % 2


print("config\tcolour\tsite\tdirection\tcurrent")
for s in range(volume):
    x = [s % dims[0], s // dims[0] % dims[1], s // dims[0] // dims[1] % dims[2], s // dims[0] // dims[1] // dims[2]]
    for mu in (3, 2, 1, 0):
        cube = [nu for nu in range(4) if nu != mu]
        total = [0.0] * nc
        for n, out in enumerate(cube):  # the face that is left when one direction goes: orientation + - +
            a, b = [nu for nu in cube if nu != out]
            sign = -1 if n == 1 else 1
            for near, far, i in zip(flux(x, a, b), flux(step(x, out), a, b), range(nc)):
                total[i] += sign * (far - near)
        for i in range(nc):
            k = total[i] / (2 * math.pi) * (-1 if odd([mu] + cube) else 1)
            assert abs(k - round(k)) < 1e-9, k
            if round(k):
                print(0, i + 1, ",".join(map(str, x)), "xyzt"[mu], round(k), sep="\t")
