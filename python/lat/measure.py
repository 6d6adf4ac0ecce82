# SPDX-License-Identifier: BSD-3-Clause
"""Plaquette and link trace (docs/conventions.md), in double precision, a slice of the lattice at a time."""
import math

import numpy as np


def plaquette(u):
    """Mean of Re tr U_p / N over sites and mu < nu of links [t, z, y, x, mu, row, column]; nan in one dimension."""
    nd, n = u.ndim - 3, u.shape[-1]
    if nd < 2:
        return math.nan
    above = u[0].astype(np.complex128)
    first, total = above, []
    for slice_number in range(u.shape[0]):
        here = above
        last = slice_number + 1 == u.shape[0]
        above = first if last else u[slice_number + 1].astype(np.complex128)
        total.append(_plaquettes_of_slice(here, above, nd))
    return float(np.sum(total)) / (n * math.prod(u.shape[:nd]) * (nd * (nd - 1) // 2))


def _plaquettes_of_slice(here, above, nd):
    """Sum of Re tr U_p over the sites of a slice; above is the next one in the direction nd - 1."""

    def link(mu):
        return here[..., mu, :, :]

    def forward(nu, mu):  # U_nu(x + mu)
        return above[..., nu, :, :] if mu == nd - 1 else np.roll(link(nu), -1, axis=nd - 2 - mu)

    total = 0.0
    for nu in range(nd):
        for mu in range(nu):
            there = link(mu) @ forward(nu, mu)
            back = link(nu) @ forward(mu, nu)
            total += float(np.vdot(back, there).real)  # Re tr there back^+
    return total


def link_trace(u):
    """Mean of Re tr U / N over all matrices of an array [..., row, column]."""
    n = u.shape[-1]
    count = math.prod(u.shape[:-2])
    return float(np.sum([np.trace(part, axis1=-2, axis2=-1, dtype=np.complex128).real.sum() for part in u])) / (n * count)


def tolerance(header, largest):
    """How far plaquette and link trace may be from those of the header (docs/format.md, "What is checked")."""
    u = 2.0 ** -24 if header.real == "f32" else 2.0 ** -53
    c = 4 if header.reals == 2 * header.n ** 2 else 8
    return (c * u + (64 + 4 * math.sqrt(header.elements)) * 2.0 ** -52) * max(1.0, np.float64(largest)) ** 4
