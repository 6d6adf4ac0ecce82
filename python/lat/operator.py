# SPDX-License-Identifier: BSD-3-Clause
"""What the header of spinors says of the operator M (docs/format.md, "The operator")."""
import math
import re
from dataclasses import dataclass
from typing import Optional, Tuple

from .errors import demand, shown

NUMBERS = ("mass", "csw", "csw_t", "xi", "nu", "twist", "cf", "m0")
KEYS = ("operator", "mass", "kappa", "csw", "csw_t", "xi", "nu", "twist", "cf", "m0", "boundary")
LARGEST = 1e6
DECIMAL = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?")


def number(name, text):
    demand(DECIMAL.fullmatch(text) and math.isfinite(float(text)), f"a finite decimal number for {name}", shown(text))
    return float(text)


@dataclass(repr=False)
class Operator:
    name: str  # wilson, overlap; unknown: the boundary alone is known
    mass: float = 0.0
    csw: float = 0.0
    csw_t: Optional[float] = None  # None: csw
    xi: float = 1.0
    nu: float = 1.0
    twist: float = 0.0
    cf: float = 1.0  # c_F, of open time
    m0: float = 0.0  # overlap
    boundary: Tuple[str, ...] = ("p", "p", "p", "p")  # x to t: p, a, d, o (t alone), or a phase in units of pi

    def __post_init__(self):
        if self.csw_t is None:
            self.csw_t = self.csw
        demand(self.name in ("wilson", "overlap", "unknown"), "operator = wilson or overlap", shown(self.name))
        for name in NUMBERS:
            demand(abs(getattr(self, name)) <= LARGEST, f"{name} from -1e6 to 1e6", getattr(self, name))
        demand(self.xi > 0, "xi above 0", self.xi)
        demand(len(self.boundary) == 4, "four boundaries", len(self.boundary))
        demand(self.cf == 1 or (self.name == "wilson" and self.boundary[3] == "o"), "cf of operator = wilson with boundary o", self.cf)
        for mu, word in enumerate(self.boundary):
            demand(word in ("p", "a", "d") or (word == "o" and mu == 3) or abs(number("boundary", word)) <= 2, "boundary p, a, d, o of t, or a number from -2 to 2", shown(word))

    def __str__(self):
        said = [f"{name} {getattr(self, name):.10g}" for name, usual in (("mass", None), ("csw", 0), ("csw_t", self.csw), ("xi", 1), ("nu", 1), ("twist", 0), ("m0", 0))
                if getattr(self, name) != usual and self.name != "unknown"]
        said = [f"kappa {self.kappa:.10g}"] + said if self.kappa else said
        return " ".join([self.name] + said + ["boundary " + ",".join(self.boundary)])

    def __repr__(self):
        return f"<lat.Operator {self}>"

    @property
    def kappa(self):
        """1/(2 mass + 8); None where it is not finite, or the operator is not wilson."""
        divisor = 2 * self.mass + 8
        return 1 / divisor if self.name == "wilson" and divisor and math.isfinite(1 / divisor) else None

    @property
    def phases(self):
        """theta of each boundary, x to t; None: Dirichlet, or open."""
        return tuple({"p": 0.0, "a": 1.0, "d": None, "o": None}[word] if word in "pado" else float(word) for word in self.boundary)

    @classmethod
    def decode(cls, keys):
        """From the lines of a header; None where there is none."""
        if "operator" not in keys:
            for key in KEYS[:-1] + ("residuals",):
                demand(key not in keys, f"an operator beside {key}", "none")
            return cls("unknown", boundary=tuple(keys["boundary"].split(","))) if "boundary" in keys else None
        demand(keys["operator"] != "unknown", "operator = wilson or overlap", shown(keys["operator"]))
        said = {name: number(name, keys[name]) for name in NUMBERS if name in keys}
        overlap = keys["operator"] == "overlap"
        demand("mass" in keys and "boundary" in keys, "mass and boundary beside operator", "none")
        demand(("m0" in keys) == overlap, "m0 of operator = overlap and of no other", shown(keys["operator"]))
        op = cls(keys["operator"], boundary=tuple(keys["boundary"].split(",")), **said)
        if "kappa" in keys:
            demand(not overlap, "no kappa of operator = overlap", shown(keys["kappa"]))
            kappa = number("kappa", keys["kappa"])
            demand(abs(kappa * (2 * op.mass + 8) - 1) <= 1e-14, "kappa = 1/(2 mass + 8)", shown(keys["kappa"]))
        return op

    def encode(self):
        """Its lines: keys and values."""
        lines = {"operator": self.name, "mass": self.mass, "kappa": self.kappa, "csw": self.csw or None,
                 "csw_t": self.csw_t if self.csw_t != self.csw else None, "xi": self.xi if self.xi != 1 else None,
                 "nu": self.nu if self.nu != 1 else None, "twist": self.twist or None,
                 "cf": self.cf if self.cf != 1 else None,
                 "m0": self.m0 if self.name == "overlap" else None}
        lines = {key: value if isinstance(value, str) else f"{value:.16e}" for key, value in lines.items() if value is not None}
        return {**(lines if self.name != "unknown" else {}), "boundary": ",".join(self.boundary)}
