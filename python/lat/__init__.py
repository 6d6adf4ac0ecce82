# SPDX-License-Identifier: BSD-3-Clause
"""Lattice gauge fields, gauge transformations, spinors and quark propagators as numpy arrays, and the lat tools as functions.

    u = lat.load("cfg.ildg")                                            any format; a stream without any tool
    u.links                                                             complex, [t, z, y, x, mu, row, column]
    fixed = lat.run("orelax", u, gauge="landau", theta=1e-12).field     a tool in PATH
    lat.run("plaq", fixed, tsv=True).table["plaquette"]                 its columns
    for field in lat.read("cfg.lat"):                                   a stream, one field at a time, verified
    lat.write("new.lat", lat.gauge_field(u))

docs/python.md has examples, docs/format.md describes the stream."""
__version__ = "0.1.0"

from .errors import NotConverged, StreamError, ToolError, ToolWarning
from .field import Field, gauge_field, modes, propagator, spinor, transformation
from .foreign import fields, load
from .gammas import gamma
from .header import Header
from .measure import link_trace, plaquette
from .operator import Operator
from .reader import Reader, read, read_header
from .statistics import Samples, correlators, samples
from .tables import Table, table
from .tools import Result, run, stream
from .writer import Writer, write

__all__ = ["Field", "Header", "NotConverged", "Operator", "Reader", "Result", "Samples", "StreamError", "Table", "ToolError",
           "ToolWarning", "Writer", "correlators", "fields", "gamma", "gauge_field", "link_trace", "load", "modes", "plaquette",
           "propagator", "read", "read_header", "run", "samples", "spinor", "stream", "table", "transformation", "write"]
