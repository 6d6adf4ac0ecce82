# SPDX-License-Identifier: BSD-3-Clause
"""Gamma matrices in the basis of a header (docs/format.md, "The operator")."""
import re

import numpy as np

from .errors import demand, shown

i = 1j
BASES = {"degrand-rossi": {
    "gx": [[0, 0, 0, i], [0, 0, i, 0], [0, -i, 0, 0], [-i, 0, 0, 0]],
    "gy": [[0, 0, 0, -1], [0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0]],
    "gz": [[0, 0, i, 0], [0, 0, 0, -i], [-i, 0, 0, 0], [0, i, 0, 0]],
    "gt": [[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0]]}}


def gamma(name, basis="degrand-rossi"):
    """The matrix [spin, spin] of a product such as "g5", "gtg5" or "gxgy", in lat-corr's names: gx, gy, gz, gt, g5 =
    gx gy gz gt, and 1. basis comes from a header (header.basis)."""
    demand(basis in BASES, "basis " + " or ".join(BASES), shown(basis))
    demand(re.fullmatch("1|(g[xyzt5])+", name), "1, or a product of gx, gy, gz, gt, g5", shown(name))
    matrix = np.eye(4, dtype=complex)
    for factor in re.findall("g[xyzt]", name.replace("g5", "gxgygzgt")):
        matrix = matrix @ np.array(BASES[basis][factor])
    return matrix
