# SPDX-License-Identifier: BSD-3-Clause
"""SU(N) matrices and spinors from the reals that are stored of them, and back (docs/format.md, "The numbers of a field")."""
import numpy as np

from .errors import demand
from .kinds import KINDS

CYCLES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))  # element c of a cross product takes a, b: (c, a, b)


def complex_of(real):
    return np.dtype(np.complex64 if real == "f32" else np.complex128)


def to_array(reals, header):
    """The array of a field from its reals [t, z, y, x, object, real]."""
    if not KINDS[header.kind].spinors:
        return to_matrices(reals, header.n).reshape(header.shape)
    return reals.view(complex_of(header.real)).reshape(header.shape)


def from_array(array, header):
    """The inverse of to_array."""
    if not KINDS[header.kind].spinors:
        return to_reals(array, header.reals)
    dtype = np.dtype(np.float32 if array.dtype == np.complex64 else np.float64)
    return np.ascontiguousarray(array).view(dtype).reshape(array.shape[:-2] + (header.reals,))


def to_matrices(reals, n):
    """Array [..., reals] of float32 or float64 to [..., row, column] of complex64 or complex128. A view where all reals are
    there."""
    single = reals.dtype.itemsize == 4
    dtype = complex_of("f32" if single else "f64")
    stored = reals.shape[-1]
    if stored == 2 * n * n:
        return reals.view(dtype).reshape(reals.shape[:-1] + (n, n))
    u = np.empty(reals.shape[:-1] + (n, n), dtype)
    if n == 2:
        q0, q1, q2, q3 = (reals[..., i] for i in range(4))
        u.real[..., 0, 0], u.imag[..., 0, 0] = q0, q3
        u.real[..., 0, 1], u.imag[..., 0, 1] = q2, q1
        u.real[..., 1, 0], u.imag[..., 1, 0] = -q2, q1
        u.real[..., 1, 1], u.imag[..., 1, 1] = q0, -q3
    else:
        u[..., :2, :] = reals.view(dtype).reshape(reals.shape[:-1] + (2, 3))
        _third_row(u)
    return u


def _third_row(u):
    """U[2][c] = conj(U[0][a] U[1][b] - U[0][b] U[1][a]), in double precision, a slice of the lattice at a time."""
    for part in u if u.ndim > 3 else [u]:
        first, second = (part[..., row, :].astype(np.complex128) for row in (0, 1))
        for c, a, b in CYCLES:
            part[..., 2, c] = (first[..., a] * second[..., b] - first[..., b] * second[..., a]).conj()


def to_reals(u, stored):
    """The inverse of to_matrices; refuses to drop reals that do not follow from those that stay."""
    n = u.shape[-1]
    dtype = np.dtype(np.float32 if u.dtype == np.complex64 else np.float64)
    if stored == 2 * n * n:
        return np.ascontiguousarray(u).view(dtype).reshape(u.shape[:-2] + (stored,))
    if n == 2:
        first = u[..., 0, :]
        reals = np.stack([first[..., 0].real, first[..., 1].imag, first[..., 1].real, first[..., 0].imag], axis=-1)
    else:
        reals = np.ascontiguousarray(u[..., :2, :]).view(dtype).reshape(u.shape[:-2] + (12,))
    limit = 1e-5 if dtype.itemsize == 4 else 1e-10
    rest = max(float(np.abs(a - b).max()) for a, b in zip(to_matrices(reals, n), u))
    demand(rest <= limit, f"matrices of SU({n}), of which {stored} reals are enough", f"one that differs by {rest:.3g} from what they give")
    return reals
