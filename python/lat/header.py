# SPDX-License-Identifier: BSD-3-Clause
"""The header of a field (docs/format.md, "Header"): from its lines and back, every value in its range."""
import math
import re
import zlib
from dataclasses import dataclass, field
from typing import Dict, List, Optional, Tuple

from . import orders
from .errors import StreamError, demand, shown
from .kinds import AXES, KINDS
from .operator import KEYS as OPERATOR
from .operator import Operator
from .operator import number as _number

FIRST_LINE = b"lat-stream 1\n"
LINE_LIMIT, HEADER_LIMIT, INFO_LIMIT = 65536, 1048576, 1000
HISTORY_LIMIT = LINE_LIMIT - len("history = \n")
STORAGE = ("kind", "group", "dims", "real", "reals", "columns", "sites", "links", "endian", "block", "compression", "filter")
NUMBERS = ("plaquette", "link_trace", "functional", "theta")
MEASURED = ("plaquette", "link_trace", "gauge", "weights", "functional", "theta", "sweeps", "copies")
INFO_KEY = re.compile(r"info\.[a-z0-9_.-]{1,200}")
SPINORS = ("basis", "source", *OPERATOR, "residuals", "eigenvalues", "links_crc")
OPTIONAL = ("links", "columns")
COLUMN_LIMIT = 2048


@dataclass(repr=False)
class Header:
    """What the header of a field says. dims, boundary and weights go with x, y, z, t. sites, links, endian, block, compression
    and filter are those of the stream that the field was read from; a Writer has its own."""

    kind: str  # gauge, transform, spinor, propagator, modes
    n: int  # of SU(N)
    dims: Tuple[int, ...]
    real: str = "f64"
    reals: int = 0  # of a matrix or spinor, stored; 0: all
    columns: Optional[int] = None  # of a propagator or of modes
    sites: Tuple[str, ...] = ()  # (): natural order
    links: Optional[Tuple[str, ...]] = ()
    endian: str = "little"
    block: int = 1048576
    compression: str = "none"
    filter: str = "none"
    plaquette: Optional[float] = None
    link_trace: Optional[float] = None
    gauge: Optional[str] = None
    weights: Optional[Tuple[float, ...]] = None
    functional: Optional[float] = None
    theta: Optional[float] = None
    sweeps: Optional[int] = None
    copies: Optional[int] = None
    basis: Optional[str] = None  # of spinors
    source: Optional[str] = None
    operator: Optional[Operator] = None
    residuals: Optional[Tuple[float, ...]] = None  # one a column
    eigenvalues: Optional[Tuple[float, ...]] = None
    links_crc: Optional[str] = None
    info: Dict[str, str] = field(default_factory=dict)  # without "info."
    history: List[str] = field(default_factory=list)  # oldest first

    def __post_init__(self):
        demand(self.kind in KINDS, "kind " + " or ".join(KINDS), shown(self.kind))
        self.dims = tuple(self.dims)
        kind = KINDS[self.kind]
        self.reals = self.reals or kind.reals(self.n)[0]
        if kind.objects == "columns":
            self.columns = kind.columns(self.n) if self.columns is None else self.columns
        if kind.spinors:
            self.basis = self.basis or "degrand-rossi"
        self.sites = tuple(self.sites) or orders.natural_sites(self.nd)
        self.links = (tuple(self.links or ()) or orders.natural_links(self.nd)) if kind.directed else None

    # ---- what follows from it

    @property
    def group(self):
        return f"SU({self.n})"

    @property
    def nd(self):
        return len(self.dims)

    @property
    def shape(self):
        """Of the array."""
        return KINDS[self.kind].shape(self.dims, self.n, self.columns)

    @property
    def elements(self):
        """How many matrices or spinors."""
        return math.prod(self.dims) * KINDS[self.kind].count(self.nd, self.columns)

    @property
    def width(self):
        """Bytes of a real."""
        return 4 if self.real == "f32" else 8

    @property
    def bytes(self):
        """Of the field, raw."""
        return self.elements * self.reals * self.width

    @property
    def blocks(self):
        return -(-self.bytes // self.block)

    @property
    def boundary(self):
        """PERIODIC, OPEN or ANTIPERIODIC for each axis, x first."""
        return tuple(self.info.get(f"boundary_{i + 1}", "PERIODIC") for i in range(self.nd))

    @property
    def xi(self):
        """The bare anisotropy; 1 where the header has none."""
        return float(self.info.get("xi", 1))

    @property
    def xi_axis(self):
        """The axis of the anisotropy; the last one where the header does not say."""
        return self.info.get("xi_axis", AXES[self.nd - 1])

    def summary(self):
        """What it says, in a line: kind, group, extents, precision, and of plaquette, gauge, operator and source what is known."""
        words = [f"{self.kind} {self.group} {'x'.join(map(str, self.dims))} {self.real}"]
        words += [f"{self.columns} columns"] if self.kind == "modes" else []
        words += [f"plaquette {self.plaquette:.10g}"] if self.plaquette is not None else []
        words += [f"{self.gauge} gauge" + (f" to theta {self.theta:.1e}" if self.theta is not None else "")] if self.gauge else []
        words += [str(self.operator)] if self.operator else []
        words += [f"source {self.source}"] if self.source is not None else []
        words += [f"residual {max(self.residuals):.1e}"] if self.residuals else []
        words += [f"links {self.links_crc}"] if self.links_crc else []
        return ", ".join(words)

    def __repr__(self):
        return f"<lat.Header {self.summary()}, {len(self.info)} info lines, {len(self.history)} programs>"

    # ---- from text

    @classmethod
    def decode(cls, text):
        """From the bytes of a header, FIRST_LINE to the `end` line; StreamError if anything is wrong."""
        keys, info, history = _lines(text)
        missing = [k for k in STORAGE if k not in keys and k not in OPTIONAL]
        demand(not missing, "a line " + ", ".join(missing[:1]) + " in the header", "none")
        kind = _choice(keys, "kind", KINDS)
        group = re.fullmatch(r"SU\((.*)\)", keys["group"])
        demand(group, "group = SU(N)", shown(keys["group"]))
        n = _integer("N of group", group[1], 2, 16)
        dims = [_integer("dims", word, 1, 65535) for word in keys["dims"].split(" ")]
        demand(len(dims) <= 4, "1 to 4 extents in dims", len(dims))
        directed, objects = KINDS[kind].directed, KINDS[kind].objects
        demand(("columns" in keys) == (objects == "columns"), "a line columns for propagators and modes and for them only", f"kind = {kind}")
        demand(("links" in keys) == directed, "a line links for gauge fields and for them only", f"kind = {kind}")
        sites = keys["sites"].split(" ")
        orders.check_sites(sites, len(dims), objects)
        if directed:
            orders.check_links(keys["links"].split(" "), len(dims))
        head = cls(kind, n, dims, sites=sites, links=keys["links"].split(" ") if directed else None, info=info, history=history,
                   real=_choice(keys, "real", ("f32", "f64")), reals=_integer("reals", keys["reals"], 1, 512),
                   columns=_integer("columns", keys["columns"], 1, COLUMN_LIMIT) if "columns" in keys else None,
                   endian=_choice(keys, "endian", ("little", "big")), block=_integer("block", keys["block"], 4096, 67108864),
                   compression=_choice(keys, "compression", ("none", "zlib")),
                   filter=_choice(keys, "filter", ("none", "rotate-shuffle")))
        head._check_storage()
        head._read_measured(keys)
        head._read_spinors(keys)
        return head

    def _check_storage(self):
        allowed = KINDS[self.kind].reals(self.n)
        demand(self.reals in allowed, "reals = " + " or ".join(map(str, allowed)), self.reals)
        demand(self.block % 8 == 0, "block, a multiple of 8", self.block)
        demand(self.filter == "none" or self.compression != "none", "filter = none without compression", self.filter)
        kind = KINDS[self.kind]
        demand(not kind.spinors or self.nd == 4, f"four dimensions of kind = {self.kind}", self.nd)
        demand(self.columns is None or kind.columns(self.n) in (None, self.columns), f"columns = {kind.columns(self.n)}", self.columns)
        demand(not kind.spinors or math.prod(self.dims) * (self.columns or 1) * 64 * self.n < 2 ** 63, "a field that 63 bits can count",
               self.columns)
        demand(math.prod(self.dims) * 4 * 512 * 8 < 2 ** 63, "a field that 63 bits can count", "x".join(map(str, self.dims)))
        demand(self.blocks < 2 ** 32 - 1, "fewer than 2^32 - 1 blocks", self.blocks)

    def _read_measured(self, keys):
        for name in NUMBERS:
            setattr(self, name, _number(name, keys[name]) if name in keys else None)
        gauge = keys.get("gauge")
        if gauge is not None:
            demand(re.fullmatch(r"[A-Za-z0-9._-]{1,15}", gauge), "gauge, 1 to 15 letters, digits, '-', '_', '.'", shown(gauge))
        self.gauge = None if gauge == "none" else gauge
        for name in ("functional", "theta", "sweeps"):
            said = name in keys and not (name == "sweeps" and keys[name] == "0")
            demand(self.gauge or not said, f"a gauge condition beside {name}", "none")
        for name in ("plaquette", "link_trace", "copies"):
            demand(self.kind == "gauge" or name not in keys, f"no {name} of kind = {self.kind}", shown(keys.get(name)))
        demand(self.nd > 1 or "plaquette" not in keys, "no plaquette in one dimension", shown(keys.get("plaquette")))
        sweeps = _integer("sweeps", keys.get("sweeps", "0"), 0, 2 ** 63 - 1)
        self.sweeps = sweeps if self.gauge and "sweeps" in keys else None
        self.copies = _integer("copies", keys["copies"], 1, 2000) if "copies" in keys else None
        if "weights" in keys:
            weights = tuple(_number("weights", word) for word in keys["weights"].split(" "))
            demand(len(weights) == self.nd and all(0 <= w <= 1e6 for w in weights) and any(weights),
                   f"{self.nd} weights from 0 to 1e6, not all 0", shown(keys["weights"]))
            self.weights = weights if any(w != 1 for w in weights) else None
            demand(self.gauge == "landau" or not self.weights, "gauge = landau beside weights", shown(gauge))

    def _read_spinors(self, keys):
        if not KINDS[self.kind].spinors:
            for key in SPINORS:
                demand(key not in keys, f"{key} of spinors", f"it in kind = {self.kind}")
            return
        demand(keys.get("basis") == "degrand-rossi", "basis = degrand-rossi", shown(keys.get("basis")))
        self.source = keys.get("source")
        self.operator = Operator.decode(keys)
        for name in ("residuals", "eigenvalues"):
            if name in keys:
                values = tuple(_number(name, word) for word in keys[name].split(" "))
                demand(len(values) == (self.columns or 1), f"{self.columns or 1} numbers of {name}", len(values))
                setattr(self, name, values)
        demand(not self.residuals or min(self.residuals) >= 0, "residuals of 0 or more", shown(keys.get("residuals")))
        demand(self.eigenvalues is None or self.kind == "modes", "eigenvalues of kind = modes", f"kind = {self.kind}")
        self.links_crc = keys.get("links_crc")
        demand(self.links_crc is None or re.fullmatch("[0-9a-f]{8}", self.links_crc), "eight hexadecimal digits of links_crc",
               shown(self.links_crc))

    # ---- to text

    def encode(self):
        """The bytes of the header, FIRST_LINE to the `end` line; StreamError where a reader would refuse them."""
        keys = {name: getattr(self, name) for name in STORAGE + MEASURED + ("basis", "source")}
        keys.update(self.operator.encode() if self.operator else {})
        keys.update((name, getattr(self, name)) for name in ("residuals", "eigenvalues", "links_crc"))
        lines = [f"{name} = {_text(name, value)}" for name, value in keys.items() if value is not None]
        lines += [f"info.{key} = {value}" for key, value in self.info.items()]
        lines += [f"history = {line}" for line in self.history]
        for line in lines:
            demand("\n" not in line, "a line of the header without line break", shown(line))
        body = FIRST_LINE + "".join(line + "\n" for line in lines).encode("utf-8")
        text = body + b"end = %08x\n" % zlib.crc32(body)
        Header.decode(text)
        return text


def _lines(text):
    """Lines of a header to keys, info and history."""
    demand(len(text) <= HEADER_LIMIT, f"a header of at most {HEADER_LIMIT} bytes", len(text))
    demand(text.startswith(FIRST_LINE), "the line 'lat-stream 1'", shown(text[:20]))
    keys, info, history = {}, {}, []
    body, newline, end = text[:-1].rpartition(b"\n")
    body += newline
    demand(re.fullmatch(b"end = [0-9a-f]{8}", end), "a line 'end = ' and eight digits", shown(end))
    demand(int(end[6:], 16) == zlib.crc32(body), f"a header of checksum {end[6:].decode()}", f"{zlib.crc32(body):08x} (damaged?)")
    for line in body[len(FIRST_LINE):-1].split(b"\n"):
        demand(len(line) < LINE_LIMIT, f"lines of at most {LINE_LIMIT} bytes in the header", len(line) + 1)
        demand(not re.search(b"[\x00-\x1f\x7f]", line), "no control characters in the header", shown(line))
        try:
            key, equals, value = line.decode("utf-8").partition(" = ")
        except UnicodeDecodeError:
            raise StreamError("UTF-8 in the header", shown(line)) from None
        demand(equals, "KEY = VALUE in the header", shown(key))
        if key == "history":
            history.append(value)
        elif INFO_KEY.fullmatch(key):
            demand(key[5:] not in info, f"one line {key} in the header", "two")
            info[key[5:]] = value
        else:
            demand(key in STORAGE + MEASURED + SPINORS, "keys of lat-stream 1 in the header", shown(key))
            demand(key not in keys, f"one line {key} in the header", "two")
            keys[key] = value
    demand(len(info) <= INFO_LIMIT, f"at most {INFO_LIMIT} info lines", len(info))
    return keys, info, history


def _choice(keys, key, allowed):
    demand(keys[key] in allowed, f"{key} = " + " or ".join(allowed), shown(keys[key]))
    return keys[key]


def _integer(name, text, low, high):
    demand(re.fullmatch("0|[1-9][0-9]{0,18}", text) and low <= int(text) <= high, f"{name} from {low} to {high}", shown(text))
    return int(text)


def _text(name, value):
    """A value as a line has it."""
    if name in NUMBERS:
        return f"{value:.16e}"
    if name in ("weights", "residuals", "eigenvalues"):
        return " ".join(f"{w:.16e}" for w in value)
    if name in ("dims", "sites", "links"):
        return " ".join(map(str, value))
    return str(value)
