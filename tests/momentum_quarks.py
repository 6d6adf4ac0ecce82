"""Quarks in momentum space by numpy, from the formulas of docs/momentum.md; no code of the tools is used.

momentum_quarks.py random OUT.lat SEED CRC SOURCE BOUNDARY [N [GAUGE THETA]]   a propagator of random numbers, on 3 x 2 x 4 x 5
momentum_quarks.py point PROP.lat P..              rows px py pz pt B A of point sources, momenta P as n,n,n,n
momentum_quarks.py vertex FIRST.lat SECOND.lat     rows gamma Lambda, then Zq of both
momentum_quarks.py mean PROP.lat..                 B A and jackknife errors of propagators of momentum sources, a configuration each
"""
import sys

import lat
import numpy as np
from free_quarks import G5, GAMMA, ONE

PI = np.pi


def random(out, seed, crc, source, boundary, n="3", gauge="landau", theta="1e-20"):
    rng = np.random.default_rng(int(seed))
    n = int(n)
    shape = (5, 4, 2, 3, 4 * n, 4, n)
    s = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    operator = lat.Operator("wilson", mass=.1, boundary=tuple(boundary.split(",")))
    keys = dict(gauge=gauge, theta=float(theta)) if gauge != "none" else {}
    lat.write(out, lat.propagator(s, source=source, operator=operator, residuals=[1e-12] * 4 * n, links_crc=crc or None, **keys))


def read(path):
    """[t, z, y, x, sink, source], the text of the source"""
    field = next(lat.read(path))
    s = field.spinors.astype(complex)
    n = s.shape[-1]
    return np.swapaxes(s.reshape(*s.shape[:4], 4 * n, 4 * n), -1, -2), field.header.source, n


def phase(s, n, origin=(0, 0, 0, 0)):
    dims = s.shape[3::-1]
    x = np.meshgrid(*[np.arange(L) for L in dims[::-1]], indexing="ij")[::-1]
    return np.exp(-2j * PI * sum(k * (y - o) / L for k, y, o, L in zip(n, x, origin, dims)))[..., None, None]


def numbers(text):
    return [float(v) for v in text.split(":")[-1].split(",")]


def zone(n, dims):
    return np.array([k - L * np.ceil(k / L - .5) for k, L in zip(n, dims)])


def angles(n, dims):
    return 2 * PI * zone(n, dims) / np.array(dims)


def matrix(spin, n):
    return np.kron(spin, np.eye(n))


def parts(s, p, n):
    """B and A of S(p)"""
    inverse, pbar = np.linalg.inv(s), np.sin(p)
    slash = matrix(sum(a * g for a, g in zip(pbar, GAMMA)), n)
    return (np.trace(inverse) / (4 * n)).real, (-1j * np.trace(slash @ inverse) / (4 * n * (pbar ** 2).sum())).real


def mean_of(path):
    s, source, n = read(path)
    k = numbers(source)
    return (s * phase(s, k)).mean(axis=(0, 1, 2, 3)), angles(k, s.shape[3::-1]), n


def point(path, *momenta):
    s, source, n = read(path)
    for text in momenta:
        k = numbers(text)
        leg = (s * phase(s, k, numbers(source))).sum(axis=(0, 1, 2, 3))
        dims = s.shape[3::-1]
        print(*map("{:.15g}".format, zone(k, dims)), *map(repr, map(float, parts(leg, angles(k, dims), n))), sep="\t")


def vertex(first, second):
    s1, source1, n = read(first)
    s2, source2, _ = read(second)
    dims = s1.shape[3::-1]
    k1, k2 = numbers(source1), numbers(source2)
    p1, p2 = angles(k1, dims), angles(k2, dims)
    g5 = matrix(G5, n)
    right = np.linalg.inv((s1 * phase(s1, k1)).mean(axis=(0, 1, 2, 3)))
    leg = (s2 * phase(s2, k2)).mean(axis=(0, 1, 2, 3))
    left = np.linalg.inv(g5 @ leg.conj().T @ g5)
    back = g5 @ np.swapaxes(s2, -1, -2).conj() @ g5
    wave = phase(s1, k1) * phase(s2, k2).conj()

    def amputated(spin):
        return left @ (back @ matrix(spin, n) @ s1 * wave).mean(axis=(0, 1, 2, 3)) @ right

    def value(pairs, count=1):
        return sum(np.trace(amputated(a) @ matrix(b, n)) for a, b in pairs).real / (4 * n * count)

    sigma = [.5j * (a @ b - b @ a) for i, a in enumerate(GAMMA) for b in GAMMA[i + 1:]]
    q = p1 - p2
    slash = sum(a * g for a, g in zip(q, GAMMA))
    x, y, z, t = GAMMA
    rows = {"S": value([(ONE, ONE)]), "P": value([(G5, G5)]), "V": value([(g, g) for g in GAMMA], 4),
            "A": value([(g @ G5, G5 @ g) for g in GAMMA], 4), "T": value([(g, g) for g in sigma], 6),
            "V_q": value([(g, a * slash) for a, g in zip(q, GAMMA)], (q ** 2).sum()),
            "A_q": value([(g @ G5, a * G5 @ slash) for a, g in zip(q, GAMMA)], (q ** 2).sum()),
            "gxgy": value([(x @ y, (x @ y).conj().T)]), "gzg5": value([(z @ G5, G5 @ z)]), "gt": value([(t, t)]),
            "gtg5": value([(t @ G5, G5 @ t)])}
    for name, v in rows.items():
        print(name, repr(float(v)), sep="\t")
    print("Zq", repr(float((parts(np.linalg.inv(right), p1, n)[1] + parts(leg, p2, n)[1]) / 2)), sep="\t")


def mean(*paths):
    legs, ps, ns = zip(*map(mean_of, paths))
    legs, count = np.array(legs), len(paths)
    each = np.array([parts(np.delete(legs, i, axis=0).mean(axis=0), ps[0], ns[0]) for i in range(count)])
    errors = np.sqrt((count - 1) * each.var(axis=0))
    for v, e in zip(parts(legs.mean(axis=0), ps[0], ns[0]), errors):
        print(repr(float(v)), repr(float(e)), sep="\t")


if __name__ == "__main__":
    {"random": random, "point": point, "vertex": vertex, "mean": mean}[sys.argv[1]](*sys.argv[2:])
