# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of fields: what stands at a site. Objects are SU(N) matrices [row, column] or spinors [spin, colour]."""
from dataclasses import dataclass
from typing import Optional

AXES = "xyzt"


@dataclass(frozen=True)
class Kind:
    name: str
    objects: Optional[str] = None  # the word of the order language for several objects a site; None: one
    spinors: bool = False

    @property
    def directed(self):
        """One matrix for each direction of a site, in the order of the line `links`."""
        return self.objects == "links"

    def count(self, nd, columns):
        """Objects a site."""
        return nd if self.directed else columns if self.objects else 1

    def columns(self, n):
        """The only number of columns of this kind; None: any."""
        return 4 * n if self.name == "propagator" else None

    def element(self, n):
        """The shape of an object."""
        return (4, n) if self.spinors else (n, n)

    def shape(self, dims, n, columns=None):
        """The shape of the array of a field: sites with x last, direction or column, then an object."""
        return tuple(reversed(dims)) + ((self.count(len(dims), columns),) if self.objects else ()) + self.element(n)

    def reals(self, n):
        """How many reals of an object may be stored, all of them first."""
        return [8 * n] if self.spinors else [2 * n * n] + {2: [4], 3: [12]}.get(n, [])


KINDS = {kind.name: kind for kind in (Kind("gauge", "links"), Kind("transform"), Kind("spinor", None, True),
                                      Kind("propagator", "columns", True), Kind("modes", "columns", True))}
