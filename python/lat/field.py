# SPDX-License-Identifier: BSD-3-Clause
"""A field: header and array."""
import copy

import numpy as np

from .elements import complex_of
from .errors import demand
from .header import Header
from .kinds import KINDS


class Field:
    """A gauge field or a gauge transformation.

    header      what its header says (Header)
    array       complex64 (f32) or complex128 (f64): [t, z, y, x, mu, row, column] of links, [t, z, y, x, row, column] of a
                transformation; in fewer dimensions without t, z ..
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

    def replace(self, array):
        """A new field of the same kind with info and history of this one and other numbers: the gauge, and all that was
        measured, is not taken over."""
        new = _new(self.kind, array, info=dict(self.header.info), history=list(self.header.history))
        new.crc = self.crc
        return new

    def __repr__(self):
        head = self.header
        return f"<lat.Field {head.kind} {head.group} {'x'.join(map(str, head.dims))} {head.real}>"


def _new(kind, array, real=None, reals=0, **keys):
    array = np.asarray(array)
    directed = KINDS[kind].directed
    site_axes = 3 if directed else 2
    nd = array.ndim - site_axes
    names = "[t, z, y, x, mu, row, column]" if directed else "[t, z, y, x, row, column]"
    demand(1 <= nd <= 4 and array.shape[-1] == array.shape[-2] and (not directed or array.shape[-3] == nd),
           f"an array {names}, or one of fewer dimensions", f"shape {array.shape}")
    if real is None:
        real = "f32" if array.dtype in (np.complex64, np.float32) else "f64"
    demand(real in ("f32", "f64"), "real f32 or f64", repr(real))
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
