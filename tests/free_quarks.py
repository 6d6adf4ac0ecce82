"""Quark propagators and their correlators by numpy, from the formulas of docs/sources.md and docs/correlators.md; no code of the tools is used.

free_quarks.py free X,Y,Z,T MASS THETA x,y,z,t OUT.lat   the propagator on unit links, exact in momentum space
free_quarks.py corr FIRST.lat SECOND.lat x,y,z,t P       a table of correlators as lat-corr prints it, momenta P as n;n;..
"""
import itertools
import sys

import lat
import numpy as np

i = 1j
GAMMA = np.zeros((4, 4, 4), complex)  # x, y, z, t
for mu, entries in enumerate([
        {(0, 3): i, (1, 2): i, (2, 1): -i, (3, 0): -i}, {(0, 3): -1, (1, 2): 1, (2, 1): 1, (3, 0): -1},
        {(0, 2): i, (1, 3): -i, (2, 0): -i, (3, 1): i}, {(0, 2): 1, (1, 3): 1, (2, 0): 1, (3, 1): 1}]):
    for at, value in entries.items():
        GAMMA[mu][at] = value
X, Y, Z, T = GAMMA
G5 = X @ Y @ Z @ T
ONE = np.eye(4)
C = Y @ T


def free(dims, mass, theta, origin):
    """S(x, x0), [t, z, y, x, sink spin, source spin]."""
    p = [2 * np.pi * np.arange(n) / n for n in dims]
    p[3] = p[3] + np.pi * theta / dims[3]
    grid = np.meshgrid(*p[::-1], indexing="ij")[::-1]  # of shape t, z, y, x
    m = (mass + sum(1 - np.cos(q) for q in grid))[..., None, None] * ONE
    m = m + sum(i * np.sin(q)[..., None, None] * g for q, g in zip(grid, GAMMA))
    s = np.linalg.inv(m) * np.exp(-i * sum(q * x for q, x in zip(grid, origin)))[..., None, None]
    s = np.fft.ifftn(s, axes=(0, 1, 2, 3))
    return s * np.exp(i * np.pi * theta / dims[3] * np.arange(dims[3]))[:, None, None, None, None, None]


def write_free(dims, mass, theta, origin, out):
    dims, origin = ([int(v) for v in text.split(",")] for text in (dims, origin))
    s = free(dims, float(mass), float(theta), origin)
    columns = np.einsum("tzyxsr,ab->tzyxrasb", s, np.eye(3)).reshape(*s.shape[:4], 12, 4, 3)
    operator = lat.Operator("wilson", mass=float(mass), boundary=("p", "p", "p", theta))
    lat.write(out, lat.propagator(columns, source="point:" + ",".join(map(str, origin)), operator=operator, residuals=[1e-15] * 12))


def read(path):
    """[t, z, y, x, sink spin, source spin, sink colour, source colour]"""
    field = next(lat.read(path))
    s = field.spinors.astype(complex)
    return np.moveaxis(s.reshape(*s.shape[:4], 4, 3, 4, 3), (6, 4, 7, 5), (4, 5, 6, 7)), field.header


def mesons(s1, s2):
    names = {"pion": (G5, G5), "a0": (ONE, ONE), "axial_t": (T @ G5, G5), "gxgy:gt": (X @ Y, T)}
    for k, name in enumerate("xyz"):
        g = GAMMA[k]
        names["rho_" + name] = (g, g)
        names["a1_" + name] = (g @ G5, g @ G5)
        b = GAMMA[(k + 1) % 3] @ GAMMA[(k + 2) % 3]
        names["b1_" + name] = (b, b)
    for name, (a, b) in names.items():
        bar = T @ b.conj().T @ T @ G5
        right = np.einsum("rs,...psij,pq->...qrji", bar, s2.conj(), G5)  # Bbar gamma5 S2^+ gamma5
        yield name, -np.einsum("pq,...qrij,...rpji->...", a, s1, np.moveaxis(right, (-4, -3), (-3, -4)))


def baryons(u, s):
    eps = {(a, b, c): (a - b) * (b - c) * (c - a) / 2 for a, b, c in itertools.permutations(range(3))}

    def colours(q):
        """[sink colour, source colour, .., sink spin, source spin]: matmul is of spins."""
        return np.ascontiguousarray(np.moveaxis(q, (-2, -1), (0, 1)))

    def octet(q, r, gamma):
        """<eps (q^T gamma r) q  conjugate>: both contractions."""
        bar = T @ gamma.conj() @ T
        q, v = colours(q), gamma @ colours(r) @ bar.T
        direct = crossed = 0
        for ((a, b, c), sink), ((d, e, f), source) in itertools.product(eps.items(), eps.items()):
            direct = direct + sink * source * np.einsum("...mr,...mr->...", q[a, d], v[b, e])[..., None, None] * q[c, f]
            crossed = crossed - sink * source * q[c, d] @ v[b, e].swapaxes(-2, -1) @ q[a, f]
        return direct, crossed

    for name, (q, r) in {"nucleon": (u, u), "sigma": (u, s), "xi": (s, u)}.items():
        yield name, sum(octet(q, r, C @ G5))
    both = [octet(u, u, C @ GAMMA[k]) for k in range(3)]
    yield "delta", sum(2 * a + 4 * b for a, b in both) / 3


def correlators(first, second, origin, momenta):
    u, head = read(first)
    s, other = read(second)
    origin = [int(v) for v in origin.split(",")]
    dims = u.shape[3::-1]
    theta = float(head.operator.boundary[3]) if head.operator.boundary[3] not in "pa" else "pa".index(head.operator.boundary[3])
    x = np.meshgrid(*[np.arange(n) for n in dims[::-1]], indexing="ij")[::-1]
    densities = [(name, v, 1) for name, v in mesons(u, s)]
    for name, g in baryons(u, s):
        densities.append((name, np.einsum("xy,...yx->...", (ONE + T) / 2, g), 3))
        densities.append((name + "_backward", np.einsum("xy,...yx->...", (ONE - T) / 2, g), 3))
    for name, v, quarks in densities:
        for p in momenta.split(";"):
            n = [float(k) for k in p.split(",")]
            phase = np.exp(2j * np.pi * sum(a * (b - c) / d for a, b, c, d in zip(n, x, origin, dims)))
            c = (v * phase).sum(axis=(1, 2, 3))
            if quarks == 3:
                c[:origin[3]] *= np.exp(3j * np.pi * theta)
            for t, z in enumerate(np.roll(c, -origin[3])):
                print(0, name, *map("{:g}".format, n), t, repr(float(z.real)), repr(float(z.imag)), sep="\t")


if __name__ == "__main__":
    {"free": write_free, "corr": correlators}[sys.argv[1]](*sys.argv[2:])
