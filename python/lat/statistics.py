# SPDX-License-Identifier: BSD-3-Clause
"""Values of many samples: of the jackknife or bootstrap of lat-stat and lat-fit, or of single configurations (lat-corr)."""
import os
import warnings

import numpy as np

from . import export
from .errors import StreamError, demand, shown
from .tables import Table, table

# Keys that are no part of a label: those that run within it, and what follows from another key.
WITHIN = frozenset("t T p phat2 k2 r members cylinder cone definition row".split())
CORRELATOR = ("channel", "px", "py", "pz", "t")
SAME = ("operator", "source", "sink", "dims", "group", "ensemble")


class Samples:
    """Observables with their samples; a row is one observable, such as C of a channel, a momentum and t.

    keys            Table of the columns that name a row: channel, px, py, pz, t
    values          dict of names (C, mass, m0) and arrays [row, sample]
    means           dict of names and arrays [row], of all configurations
    resampling      jackknife, bootstrap, or configurations: a sample each
    configurations, bin     how many there are, and in a bin
    about           dict of what all rows share: operator, source, ..."""

    def __init__(self, keys, values, means, resampling, about, configurations=None, bin=1):
        demand(resampling in ("jackknife", "bootstrap", "configurations"), "jackknife, bootstrap or configurations", shown(resampling))
        self.keys, self.values, self.means, self.resampling = keys, values, means, resampling
        self.about, self.configurations, self.bin = about, configurations, bin

    def __len__(self):
        return len(self.keys)

    def __getitem__(self, name):
        """The samples of one name, [row, sample]."""
        demand(name in self.values, "values " + " or ".join(self.values), shown(name))
        return self.values[name]

    @property
    def count(self):
        """How many samples."""
        return next(iter(self.values.values())).shape[1]

    def _rows(self, rows):
        return Samples(self.keys[rows], {name: v[rows] for name, v in self.values.items()}, {name: v[rows] for name, v in self.means.items()},
                       self.resampling, self.about, self.configurations, self.bin)

    def where(self, **values):
        """The rows with these keys: samples.where(channel="pion", px=0)."""
        return self._rows(np.flatnonzero(self.keys.mask(**values)))

    def finite(self, name):
        """The rows whose samples of this name are all finite."""
        return self._rows(np.flatnonzero(np.isfinite(self[name]).all(axis=1)))

    def covariance(self, name):
        """The covariance matrix [row, row] of the means: (n-1)/n sum_k d_k d_k of jackknife samples, 1/(n-1) of bootstrap samples,
        1/(n (n-1)) of single configurations; d_k is sample k minus the mean of the samples."""
        d = self[name] - self[name].mean(axis=1, keepdims=True)
        cov = self._factor() * d @ d.T
        return (cov + cov.T) / 2  # symmetric to the last bit

    def error(self, name):
        """The errors [row]: square roots of the diagonal of the covariance."""
        return np.sqrt(self._factor() * np.sum((self[name] - self[name].mean(axis=1, keepdims=True)) ** 2, axis=1))

    def _factor(self):
        n = self.count
        demand(n > 1, "two samples or more for an error", n)
        return {"jackknife": (n - 1) / n, "bootstrap": 1 / (n - 1), "configurations": 1 / (n * (n - 1))}[self.resampling]

    def labels(self):
        """dict: the keys but t (T of Wilson loops), as one text ("pion 0 0 0"; "all" where there are none), and the numbers of
        their rows."""
        words = [self.keys[name].tolist() for name in self.keys.columns if name not in WITHIN]
        labels = {}
        for row in range(len(self)):
            labels.setdefault(" ".join(str(column[row]) for column in words) or "all", []).append(row)
        return labels

    def gvar(self, name):
        """dict of labels and arrays of gvar.GVar [t], with all covariances, also between labels."""
        return export.gvar_of(self.finite_only(name, "gvar"), name)

    def obs(self, name, ensemble):
        """dict of labels and lists of pyerrors.Obs [t] of this ensemble, with all covariances.

        Each bin of a jackknife, and each draw of a bootstrap, is a configuration of the Obs, with numbers 1, 2, ..; the error
        of gamma_method(S=0) is lat-stat's. Of single configurations gamma_method() measures the autocorrelation."""
        return export.obs_of(self.finite_only(name, "pyerrors"), name, ensemble)

    def finite_only(self, name, who):
        """Itself; refuses rows that are not numbers in every sample."""
        good = np.isfinite(self[name]).all(axis=1).sum()
        demand(good == len(self), f"finite samples of {name} for {who}", f"{len(self) - good} of {len(self)} rows with others (samples.finite)")
        return self

    def to_hdf5(self, file, group="samples"):
        """A group for each label, in it the other keys [t], the values [t, sample], and the means [t] in `means`; lat.samples reads
        it again."""
        export.samples_to_hdf5(self, file, group)

    def to_gvar(self, file, name):
        """The dict of gvar in a file that gvar.load reads."""
        export.gvar_to_file(self, file, name)

    def to_pyerrors(self, file, name, ensemble):
        """The dict of obs in a file FILE.json.gz that pyerrors.input.json.load_json_dict reads."""
        export.obs_to_file(self, file, name, ensemble)

    def __repr__(self):
        labels = list(self.labels())
        listed = ", ".join(labels[:4]) + (", .." if len(labels) > 4 else "")
        of = "" if self.resampling == "configurations" else f" of {self.configurations} configurations, bins of {self.bin}"
        return f"<lat.Samples {', '.join(self.values)}: {len(self)} rows ({listed}), {self.count} {self.resampling}{of}>"


def samples(file):
    """The samples of a table of lat-stat --samples or lat-fit --samples, or of Samples.to_hdf5: a path, a Table, or a Result."""
    if isinstance(file, (str, os.PathLike)) and export.is_hdf5(file):
        return export.samples_from_hdf5(file)
    try:
        return _samples(file if isinstance(file, Table) else table(file))
    except StreamError as wrong:
        wrong.file = wrong.file or (os.fspath(file) if isinstance(file, (str, os.PathLike)) else None)
        raise


def _samples(t):
    names = list(t.columns)
    demand("sample" in names and "resampling" in names, "columns sample and resampling (lat-stat --samples)", ", ".join(names))
    keys, values = names[:names.index("sample")], names[names.index("sample") + 1:names.index("resampling")]
    first = t["sample"] == 0
    rows, count = int(first.sum()), int(t["sample"].max()) + 1
    demand((t["sample"] == np.tile(np.arange(count), rows)[:len(t)]).all() and len(t) == rows * count, f"samples 0 to {count - 1} of each row", "others")
    arrays = {name: t[name].astype(float).reshape(rows, count) for name in values}
    said = _same(t, names[names.index("resampling"):])
    return Samples(Table({name: t[name][first] for name in keys} or {"row": np.arange(rows)}), {name: a[:, 1:] for name, a in arrays.items()},
                   {name: a[:, 0] for name, a in arrays.items()}, said.pop("resampling"), said,
                   int(said.pop("configurations")), int(said.pop("bin", 1)))


def correlators(*files):
    """The correlators of tables of lat-corr, a sample for each configuration: values C (real part) and C_im, [row, configuration].

    Files are paths, Tables or Results. Rows of the same links (their CRC) are of one configuration; their mean, over sources,
    is taken. Where a table does not say of which links it is, each propagator counts. Nothing else is averaged or folded."""
    parts = [file if isinstance(file, Table) else table(file) for file in files]
    demand(parts, "tables of lat-corr", "none")
    keys, places, index, c = {}, {}, [], []
    about = None
    for number, t in enumerate(parts):
        said = _same(t, [name for name in SAME if name in t.columns], strip="source")
        demand(about in (None, said), f"one operator, source, sink, lattice and ensemble: {about}", said)
        about = said
        chains = t["table"] if "table" in t.columns else np.zeros(len(t), int)
        for row in zip(zip(*(t[name].tolist() for name in CORRELATOR)), t["links"].tolist(), chains.tolist(), t["configuration"].tolist()):
            key, links, chain, configuration = row
            whose = links if links != "unknown" else (number, chain, configuration)
            index.append((keys.setdefault(key, len(keys)), places.setdefault(whose, len(places))))
        c.append(t["re"] + 1j * t["im"])
    at = np.ravel_multi_index(np.transpose(index), (len(keys), len(places)))
    count = np.bincount(at, minlength=len(keys) * len(places)).reshape(len(keys), len(places))
    demand((count == count[:1]).all() and count.all(), "all rows of each configuration, each as often", f"{count.min()} to {count.max()} of them")
    c = np.concatenate(c)
    re, im = (np.bincount(at, weights=part, minlength=count.size).reshape(count.shape) / count for part in (c.real, c.imag))
    if not all(isinstance(whose, str) for whose in places):
        warnings.warn("a table does not say of which links it is: each propagator counts as a configuration", stacklevel=2)
    columns = Table({name: np.array(column) for name, column in zip(CORRELATOR, zip(*keys))})
    return Samples(columns, {"C": re, "C_im": im}, {"C": re.mean(axis=1), "C_im": im.mean(axis=1)}, "configurations", about, len(places))


def _same(t, names, strip=None):
    """What a column says, the same in all rows; of `strip` the word before the first colon."""
    said = {}
    for name in names:
        found = {str(word).partition(":")[0] if name == strip else str(word) for word in np.unique(t[name])}
        demand(len(found) == 1, f"one {name} in all rows", ", ".join(sorted(found)[:3]))
        said[name] = found.pop()
    return said
