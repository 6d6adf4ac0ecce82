# SPDX-License-Identifier: BSD-3-Clause
"""Orders of sites, directions and columns (docs/format.md, "Orders"). Natural order is [t, z, y, x, mu] or [t, z, y, x, column]."""
import numpy as np

from .errors import demand, shown
from .kinds import AXES, KINDS


def natural_sites(nd):
    return tuple(reversed(AXES[:nd]))


def natural_links(nd):
    return tuple(AXES[:nd])


def check_sites(sites, nd, objects):
    """Refuses words that are no order of the sites; objects: links, columns, or None of one object a site."""
    expected = f"an order of the sites such as '{' '.join(natural_sites(nd))}', slowest first"
    found = shown(" ".join(sites))
    words = [w for w in sites if w not in AXES[:nd]]
    demand(sorted(w for w in sites if w in AXES[:nd] and w) == sorted(AXES[:nd]), expected, found)
    demand(len(set(words)) == len(words) and set(words) <= {"parity", objects or "parity"}, expected, found)
    demand(sites[-1] not in words, expected + ", an axis last", found)
    after = sites[sites.index("parity") + 1:] if "parity" in sites else AXES
    demand(any(w != objects for w in after), expected + ", an axis after parity", found)


def check_links(links, nd):
    demand(sorted(links) == sorted(AXES[:nd]), f"an order of the directions such as '{' '.join(natural_links(nd))}'",
           shown(" ".join(links)))


class Order:
    """How the objects of a field are stored; both methods take and give arrays of which the last axis is an object."""

    def __init__(self, header):
        """How the stream of a header has them."""
        dims, sites, links, objects = header.dims, header.sites, header.links, KINDS[header.kind].objects
        nd = len(dims)
        words = [w for w in sites if w != "parity"]
        if objects and objects not in words:
            words.append(objects)
        extent = dict(zip(AXES, dims), links=nd, columns=header.columns)
        natural = list(natural_sites(nd)) + ([objects] if objects else [])
        self.stored = [extent[w] for w in words]
        self.natural = [extent[w] for w in natural]
        self.to_natural_axes = [words.index(w) for w in natural]
        self.to_stored_axes = [natural.index(w) for w in words]
        self.place = [links.index(a) for a in AXES[:nd]] if links else [0]  # of a direction in the line `links`
        self.parity = None
        if "parity" in sites:
            behind = words[sites.index("parity"):]
            self.behind = [extent[w] for w in behind]
            self.parity = self._by_parity(behind)

    def _by_parity(self, behind):
        """Numbers of the elements behind the word `parity`, even ones first, otherwise in their order."""
        odd = np.zeros(self.behind, np.uint8)
        for axis, word in enumerate(behind):
            if word in AXES:
                shape = [1] * len(behind)
                shape[axis] = -1
                odd = odd + np.arange(self.behind[axis], dtype=np.uint8).reshape(shape) % 2
        return np.argsort(odd.ravel() % 2, kind="stable")

    def to_natural(self, stored):
        """[number, real] as stored to [t, z, y, x, object, real]."""
        last = stored.shape[-1]
        if self.parity is not None:
            grid = stored.reshape(-1, len(self.parity), last)
            sorted_grid = np.empty_like(grid)
            sorted_grid[:, self.parity] = grid
            stored = sorted_grid
        array = stored.reshape(self.stored + [last]).transpose(self.to_natural_axes + [len(self.stored)])
        if self.place != sorted(self.place):
            array = array[..., self.place, :]
        return np.ascontiguousarray(array)

    def to_stored(self, array):
        """[t, z, y, x, object, real] to [number, real] as stored."""
        last = array.shape[-1]
        if self.place != sorted(self.place):
            array = array[..., np.argsort(self.place), :]
        array = np.ascontiguousarray(array.transpose(self.to_stored_axes + [len(self.natural)]))
        if self.parity is not None:
            array = array.reshape(-1, len(self.parity), last)[:, self.parity]
        return array.reshape(-1, last)
