# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of fields, and how many matrices each has at a site. A new kind (spinor, propagator) is a line of KINDS; if its
elements are not SU(N) matrices, elements.py learns how its reals are stored."""
from dataclasses import dataclass

AXES = "xyzt"


@dataclass(frozen=True)
class Kind:
    name: str
    directed: bool  # one element for each direction of a site, in the order of the line `links`

    def directions(self, nd):
        return nd if self.directed else 1

    def shape(self, dims, n):
        """The shape of the array of a field: sites with x last, direction, row, column."""
        return tuple(reversed(dims)) + ((len(dims),) if self.directed else ()) + (n, n)

    def reals(self, n):
        """How many reals of a matrix may be stored, all of them first."""
        return [2 * n * n] + {2: [4], 3: [12]}.get(n, [])


KINDS = {kind.name: kind for kind in (Kind("gauge", True), Kind("transform", False))}
