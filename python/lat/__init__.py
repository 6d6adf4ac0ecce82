# SPDX-License-Identifier: BSD-3-Clause
"""Lattice gauge fields, gauge transformations, spinors and quark propagators as numpy arrays.

    for field in lat.read("cfg.lat"):       one field at a time, verified
        u = field.links                     complex, [t, z, y, x, mu, row, column]
    lat.write("new.lat", lat.gauge_field(u))

docs/python.md has examples, docs/format.md describes the stream."""
__version__ = "0.1.0"

from .errors import StreamError
from .field import Field, gauge_field, modes, propagator, spinor, transformation
from .header import Header
from .measure import link_trace, plaquette
from .operator import Operator
from .reader import Reader, read, read_header
from .writer import Writer, write

__all__ = ["Field", "Header", "Operator", "Reader", "StreamError", "Writer", "gauge_field", "link_trace", "modes", "plaquette",
           "propagator", "read", "read_header", "spinor", "transformation", "write"]
