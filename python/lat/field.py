# SPDX-License-Identifier: BSD-3-Clause
"""A field: header and array."""
import copy

import numpy as np

from .elements import complex_of
from .errors import demand
from .gammas import gamma
from .header import Header
from .kinds import KINDS


class Field:
    """A gauge field, a gauge transformation, or spinors.

    header      what its header says (Header)
    array       complex64 (f32) or complex128 (f64): [t, z, y, x, mu, row, column] of links, [t, z, y, x, row, column] of a
                transformation; in fewer dimensions without t, z ..; [t, z, y, x, spin, colour] of a spinor,
                [t, z, y, x, column, spin, colour] of a propagator and of modes
    crc         CRC-32 of the raw bytes in the stream that it was read from, otherwise None
    plaquette, link_trace   as measured when it was read, otherwise None"""

    def __init__(self, header, array, crc=None, plaquette=None, link_trace=None):
        demand(tuple(array.shape) == header.shape, f"an array of shape {header.shape}", tuple(array.shape))
        self.header, self.array, self.crc = header, array, crc
        self.plaquette, self.link_trace = plaquette, link_trace

    @property
    def kind(self):
        return self.header.kind

    @property
    def links(self):
        """The array of a gauge field."""
        demand(self.kind == "gauge", "links, a field of kind gauge", f"kind {self.kind}")
        return self.array

    @property
    def transformation(self):
        """The array of a gauge transformation."""
        demand(self.kind == "transform", "a gauge transformation, a field of kind transform", f"kind {self.kind}")
        return self.array

    @property
    def spinors(self):
        """The array of a spinor, a propagator or modes."""
        demand(KINDS[self.kind].spinors, "spinors, a field of kind spinor, propagator or modes", f"kind {self.kind}")
        return self.array

    def replace(self, array):
        """A new field of the same kind with info and history of this one and other numbers: the gauge, and all that was
        measured, is not taken over."""
        new = _new(self.kind, array, info=dict(self.header.info), history=list(self.header.history))
        new.crc = self.crc
        return new

    def gamma(self, name):
        """The matrix [spin, spin] of "g5", "gtg5", .. in the basis of these spinors (lat.gamma)."""
        demand(KINDS[self.kind].spinors, "spinors, a field of kind spinor, propagator or modes", f"kind {self.kind}")
        return gamma(name, self.header.basis)

    def __array__(self, dtype=None, copy=None):
        return self.array.astype(self.array.dtype if dtype is None else dtype, copy=bool(copy))

    def __repr__(self):
        words = [self.header.summary()] + ([f"CRC {self.crc:08x}"] if self.crc is not None else [])
        return f"<lat.Field {', '.join(words)}>"


def _new(kind, array, real=None, reals=0, **keys):
    array = np.asarray(array)
    what = KINDS[kind]
    nd = array.ndim - (3 if what.objects else 2)
    names = {"links": "mu, ", "columns": "column, ", None: ""}[what.objects] + ("spin, colour" if what.spinors else "row, column")
    demand((nd == 4 if what.spinors else 1 <= nd <= 4) and array.shape[-2:] == what.element(array.shape[-1])
           and (not what.directed or array.shape[-3] == nd),
           f"an array [t, z, y, x, {names}]{'' if what.spinors else ', or one of fewer dimensions'}", f"shape {array.shape}")
    if real is None:
        real = "f32" if array.dtype in (np.complex64, np.float32) else "f64"
    demand(real in ("f32", "f64"), "real f32 or f64", repr(real))
    if what.objects == "columns":
        keys["columns"] = int(array.shape[-3])
    header = Header(kind, int(array.shape[-1]), tuple(reversed(array.shape[:nd])), real=real, reals=reals, **keys)
    return Field(header, array.astype(complex_of(real), copy=False))


def gauge_field(u, real=None, reals=0, **keys):
    """A field of links u[t, z, y, x, mu, row, column].

    real is f32 or f64, by default that of u; reals 12 stores two rows of SU(3), 4 the quaternions of SU(2). Others are keys
    of the header: gauge, theta, info={"beta": "6.0"}, history=[..]"""
    return _new("gauge", u, real, reals, **copy.deepcopy(keys))


def transformation(g, real=None, reals=0, **keys):
    """A field of one matrix a site, g[t, z, y, x, row, column]; the rest as of gauge_field."""
    return _new("transform", g, real, reals, **copy.deepcopy(keys))


def spinor(psi, real=None, **keys):
    """A field of one spinor a site, psi[t, z, y, x, spin, colour], in the basis of docs/format.md. Others are keys of the header:
    source="point:0,0,0,0", operator=lat.Operator("wilson", mass=0.1), residuals=[1e-11]"""
    return _new("spinor", psi, real, **copy.deepcopy(keys))


def propagator(s, real=None, **keys):
    """A propagator s[t, z, y, x, column, spin, colour], column = N * source spin + source colour; the rest as of spinor."""
    return _new("propagator", s, real, **copy.deepcopy(keys))


def modes(v, real=None, **keys):
    """Any number of spinors a site, v[t, z, y, x, column, spin, colour]; the rest as of spinor, and eigenvalues."""
    return _new("modes", v, real, **copy.deepcopy(keys))
