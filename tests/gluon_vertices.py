#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The three-gluon vertex by numpy, from the formulas of docs/vertex.md; no code of the tools is used.

gluon_vertices.py CFG.lat N2     rows limit, momentum, members, T, S, D, D0, Gamma, g, in no order
gluon_vertices.py sums CFG.lat   f^abc A^a A^b A^c by structure constants against -2i tr [A,B]C, for random matrices of its group
"""
import itertools
import sys

import lat
import numpy as np

PI = np.pi


def gauge_field(u):
    """(U - U^+)/2i without trace, [t, z, y, x, mu, N, N]"""
    a = (u - np.swapaxes(u.conj(), -1, -2)) / 2j
    n = u.shape[-1]
    return a - np.trace(a, axis1=-2, axis2=-1)[..., None, None] / n * np.eye(n)


def in_momentum_space(a, n, dims):
    x = np.meshgrid(*[np.arange(L) for L in dims[::-1]], indexing="ij")[::-1]
    out = []
    for mu in range(4):
        phase = sum(2 * PI * k / L * (y + (nu == mu) / 2) for nu, (k, L, y) in enumerate(zip(n, dims, x)))
        out.append((np.exp(-1j * phase)[..., None, None] * a[..., mu, :, :]).sum(axis=(0, 1, 2, 3)))
    return np.array(out)


def hat(p):
    return 2 * np.sin(np.array(p) / 2)


def projector(p):
    h = hat(p)
    return np.eye(4) - np.outer(h, h) / (h @ h) if h @ h > 1e-20 else np.eye(4)


def tree(p):
    """delta_munu hat(p1-p2)_rho cos(p3_mu/2) + cyclic, each index transverse"""
    one = np.eye(4)
    t = np.einsum("mn,r,m->mnr", one, hat(p[0] - p[1]), np.cos(p[2] / 2))
    t += np.einsum("nr,m,n->mnr", one, hat(p[1] - p[2]), np.cos(p[0] / 2))
    t += np.einsum("rm,n,r->mnr", one, hat(p[2] - p[0]), np.cos(p[1] / 2))
    return transverse(t, p)


def transverse(t, p):
    return np.einsum("am,bn,cr,mnr->abc", *map(projector, p), t)


def outer(p):
    h = [hat(q) for q in p]
    return transverse(np.einsum("m,n,r->mnr", h[1] - h[2], h[2] - h[0], h[0] - h[1]) / (h[0] @ h[0]), p)


def structure(n):
    """T^a, tr T^a T^b = delta^ab/2, and f^abc"""
    t = []
    for i, j in itertools.combinations(range(n), 2):
        for v in (1, -1j):
            m = np.zeros((n, n), complex)
            m[i, j], m[j, i] = v / 2, np.conj(v) / 2
            t.append(m)
    for k in range(1, n):
        t.append(np.diag([1.] * k + [-k] + [0.] * (n - k - 1)) / np.sqrt(2 * k * (k + 1)))
    t = np.array(t, complex)
    f = -2j * np.einsum("aij,bjk,cki->abc", t, t, t)
    return t, (f - np.swapaxes(f, 0, 1)).real


def vertex(fields, n, sites):
    """[mu, nu, rho], the projection on f^abc"""
    t, f = structure(n)
    a, b, c = (2 * np.einsum("aij,mji->ma", t, x) for x in fields)
    full = np.einsum("abc,ma,nb,rc->mnr", f, a, b, c)
    return (-1j * full).real / (n * (n * n - 1) * sites)


def propagator(field, p, n, sites):
    full = 2 * np.einsum("mij,mij->", field, field.conj()).real / ((n * n - 1) * sites)
    if not np.any(p):
        return full / 4
    along = np.einsum("m,mij->ij", hat(p), field)
    return (full - 2 * (abs(along) ** 2).sum() / (hat(p) @ hat(p)) / ((n * n - 1) * sites)) / 3


def representative(n, dims):
    n = [abs(k) for k in n]
    for i, j in [(i, j) for _ in range(4) for i in range(4) for j in range(i + 1, 4)]:
        if dims[i] == dims[j] and n[i] < n[j]:
            n[i], n[j] = n[j], n[i]
    return tuple(n)


def measure(path, most):
    field = next(lat.read(path))
    u = np.asarray(field.links, dtype=complex)
    n, dims = u.shape[-1], u.shape[3::-1]
    sites = int(np.prod(dims))
    a = gauge_field(u)
    ranges = [[k for k in range(-L, L + 1) if 2 * abs(k) < L] for L in dims]
    legs = {m: in_momentum_space(a, m, dims) for m in itertools.product(*ranges) if sum(k * k for k in m) <= int(most)}
    angle = {m: 2 * PI * np.array(m) / np.array(dims) for m in legs}
    zero = (0, 0, 0, 0)
    d0 = propagator(legs[zero], angle[zero], n, sites)
    orbits = {}
    for m in legs:
        if m != zero:
            orbits.setdefault(representative(m, dims), []).append(m)
    for name, members in orbits.items():
        d = np.mean([propagator(legs[m], angle[m], n, sites) for m in members])
        rows = {"soft": [], "symmetric": []}
        for m in members:
            minus = tuple(-k for k in m)
            p = [angle[m], angle[minus], angle[zero]]
            t = vertex([legs[m], legs[minus], legs[zero]], n, sites)
            lam = tree(p)
            rows["soft"].append(((lam * t).sum() / (lam * lam).sum(), np.nan))
        for m, k in itertools.permutations(members, 2):
            last = tuple(-x - y for x, y in zip(m, k))
            if last not in members or not m < k < last:
                continue
            p = [angle[m], angle[k], angle[last]]
            t = vertex([legs[m], legs[k], legs[last]], n, sites)
            basis = np.array([tree(p).ravel(), outer(p).ravel()])
            rows["symmetric"].append(np.linalg.lstsq(basis.T, t.ravel(), rcond=None)[0])
        for limit, values in rows.items():
            if values:
                t, s = np.mean(values, axis=0)
                gamma = t / (d * d * d0 if limit == "soft" else d ** 3)
                g = np.sqrt((hat(angle[members[0]]) ** 2).sum()) ** 3 * t / (d0 * d ** .5 if limit == "soft" else d ** 1.5)
                print(limit, ",".join(map(str, name)), len(values), *map(repr, map(float, (t, s, d, d0, gamma, g))), sep="\t")


if __name__ == "__main__":
    measure(*sys.argv[1:])
