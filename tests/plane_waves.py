#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A gauge field whose gluon propagator is known exactly: plane_waves.py X,Y,Z,T N TIME OUT.raw EXPECTED.tsv

Links are exp(i alpha n.sigma) in an SU(2) subgroup of SU(N), so that (U - U^+)/2i = a.sigma with a_k(x + mu/2) =
sum over waves of c_mu cos(p (x + mu/2) + phase); a wave has one k. OUT is raw doubles in the order of ILDG. EXPECTED: the
momentum as lat-gluon names it, D and L, from the amplitudes alone. TIME is the axis across which slices are cut, or
-1 for Landau gauge; then waves do not depend on time, and the links along it are 1."""
import math
import struct
import sys

dims = [int(x) for x in sys.argv[1].split(",")]
nc, time = int(sys.argv[2]), int(sys.argv[3])
axes = [mu for mu in range(4) if mu != time]
# n and amplitudes along the axes; k; phase. The last two: at the edge of the zone, and p = 0.
waves = [
    ([1, 0, 0, 0], [0.03, 0.05, 0.02, 0.04], 0, 0.3),
    ([1, 0, 0, 0], [0.02, -0.01, 0.06, 0.03], 1, 1.1),
    ([1, -1, 0, 2], [0.05, 0.01, -0.04, 0.02], 2, 2.0),
    ([0, 1, 1, -1], [0.01, 0.02, 0.03, 0.05], 0, -0.7),
    ([dims[axes[0]] // 2, 0, 0, 0], [0.04, 0.03, 0.01, 0.02], 1, 0.4),
    ([0, 0, 0, 0], [0.03, 0.01, 0.05, 0.02], 2, 0.9),
]
if time >= 0:
    for n, c, _, _ in waves:
        for v in (n, c):
            v[:] = [0 if mu == time else v[axes.index(mu)] for mu in range(4)]


def mom(n):
    return [2 * math.pi * n[mu] / dims[mu] for mu in range(4)]


def field(x, mu):
    a = [0.0] * 3
    for n, c, k, phase in waves:
        p = mom(n)
        a[k] += c[mu] * math.cos(sum(p[nu] * x[nu] for nu in range(4)) + p[mu] / 2 + phase)
    return a


def link(a):
    """nc by nc, the subgroup in rows and columns 0 and nc - 1."""
    one = math.sqrt(1 - sum(v * v for v in a))
    m = [[complex(i == j) for j in range(nc)] for i in range(nc)]
    last = nc - 1
    m[0][0], m[last][last] = complex(one, a[2]), complex(one, -a[2])
    m[0][last], m[last][0] = complex(a[1], a[0]), complex(-a[1], a[0])
    return m


with open(sys.argv[4], "wb") as out:
    for t in range(dims[3]):
        for z in range(dims[2]):
            for y in range(dims[1]):
                for x in range(dims[0]):
                    for mu in range(4):
                        a = [0.0] * 3 if mu == time else field([x, y, z, t], mu)
                        for row in link(a):
                            for e in row:
                                out.write(struct.pack("<dd", e.real, e.imag))

# |A_mu(p)|^2 of a wave, sum over x of 2 tr T T^+ = 4 on a volume: (V c / 2)^2, (V c cos)^2 where p = -p. The mid-link
# phase: at the edge of the zone cos(p (x + mu/2) + phase) = +- cos(phase + p_mu/2).
volume = 1
for mu in axes:
    volume *= dims[mu]
colours, d = nc * nc - 1, len(axes)
rows = {}
for n, c, k, phase in waves:
    p = mom(n)
    hat = [2 * math.sin(v / 2) for v in p]
    hat2 = sum(h * h for h in hat)
    own = all(n[mu] == 0 or 2 * n[mu] == dims[mu] for mu in axes)
    amplitude = [volume * c[mu] * (math.cos(phase + p[mu] / 2) if own else 0.5) for mu in range(4)]
    square = 4 * sum(v * v for v in amplitude) / (colours * volume)
    along = 4 * sum(h * v for h, v in zip(hat, amplitude)) ** 2 / (colours * volume) / hat2 if hat2 else 0.0
    # of p and -p the one whose first component that is not its own negative is positive
    for sign in (1, -1):
        m = [sign * v for v in n]
        m = [-v if 2 * v == -dims[mu] else v for mu, v in enumerate(m)]
        free = [m[mu] for mu in axes if m[mu] and 2 * m[mu] != dims[mu]]
        if free[0] > 0 if free else sign > 0:
            key = ",".join(str(m[mu]) for mu in axes)
            old = rows.get(key, (0.0, 0.0))
            rows[key] = (old[0] + (square - along) / (d - 1 if hat2 else d), old[1] + along)
with open(sys.argv[5], "w") as out:
    for key in sorted(rows):
        print(key, repr(rows[key][0]), repr(rows[key][1]), sep="\t", file=out)
