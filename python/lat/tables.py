# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the tools (--tsv, logs): columns by name, as arrays of numpy."""
import itertools
import os

import numpy as np

from . import export
from .errors import demand, needed, shown

# Columns of words, even where a word looks like a number (a CRC of eight digits). All others are numbers if every cell is one.
WORDS = frozenset("action channel colours convention covariance crc32 definition dims ensemble file form format gamma gauge group "
                  "kind limit links momentum operator resampling separation sink sites smearing source time_links".split())


class Table:
    """Columns by name: table["plaquette"] is an array (int64, float64, or str), table[0:10] or table[mask] a Table of these rows.

    columns     dict of names and arrays"""

    def __init__(self, columns):
        self.columns = {name: np.asarray(column) for name, column in columns.items()}
        lengths = {column.shape for column in self.columns.values()}
        demand(len(lengths) == 1 and len(next(iter(lengths))) == 1, "columns of one length", sorted(lengths))

    @classmethod
    def parse(cls, file, name="the table"):
        """From lines. Where the line of names comes again, another table begins: column `table` numbers them, from 0."""
        names, rows, tables, number = None, [], [], 0
        for at, line in enumerate(file, 1):
            cells = line.rstrip("\n").split("\t")
            if names is None:
                names = cells
                demand(len(names) > 1 and len(set(names)) == len(names), f"a line of names with tabs between in {name} (tsv=True?)", shown(line))
            elif cells == names:
                number += 1
            elif cells != [""]:
                demand(len(cells) == len(names), f"{len(names)} cells in line {at} of {name}", len(cells))
                rows.append(cells)
                tables.append(number)
        demand(names, f"a line of names in {name}", "nothing")
        columns = {key: _column(key, [row[i] for row in rows]) for i, key in enumerate(names)}
        return cls({"table": np.array(tables), **columns} if number else columns)

    def __len__(self):
        return len(next(iter(self.columns.values())))

    def __getitem__(self, key):
        if isinstance(key, str):
            demand(key in self.columns, "a column " + " or ".join(self.columns), shown(key))
            return self.columns[key]
        return Table({name: np.atleast_1d(column[key]) for name, column in self.columns.items()})

    def where(self, **values):
        """The rows with these values: table.where(channel="pion", px=0)."""
        return self[self.mask(**values)]

    def mask(self, **values):
        mask = np.ones(len(self), bool)
        for name, value in values.items():
            mask &= self[name] == value
        return mask

    def grid(self, value, *axes):
        """The column `value` as an array with an axis for each of the columns `axes`, whose values come in the order of their
        first rows: table.where(channel="pion", px=0).grid("re", "configuration", "t"). Each place must have one row."""
        places = [_numbered(self[axis]) for axis in axes]
        shape = [len(levels) for levels, _ in places]
        at = np.ravel_multi_index([number for _, number in places], shape)
        count = np.bincount(at, minlength=int(np.prod(shape)))
        demand((count == 1).all(), f"one row for each of {', '.join(axes)}", f"{count.min()} to {count.max()} (choose rows with where)")
        out = np.empty(shape, self[value].dtype)
        out.flat[at] = self[value]
        return out

    def numpy(self):
        """A structured array, a row a record."""
        return np.rec.fromarrays(list(self.columns.values()), names=list(self.columns))

    def pandas(self):
        """A pandas.DataFrame."""
        return needed("pandas", "lat.Table.pandas").DataFrame(self.columns)

    def to_hdf5(self, file, group="table"):
        """Each column is a dataset of this group, in the attribute `columns` are their names in order. lat.table reads it again."""
        export.table_to_hdf5(self, file, group)

    @property
    def text(self):
        """As the tools print it; they read it again. Numbers have all digits."""
        columns = [[repr(value) if isinstance(value, float) else str(value) for value in column.tolist()] for column in self.columns.values()]
        return "\n".join(map("\t".join, [list(self.columns)] + list(zip(*columns)))) + "\n"

    def __repr__(self):
        shown_rows = self[:6].text.splitlines()
        cells = [[cell if len(cell) <= 14 else cell[:12] + ".." for cell in line.split("\t")] for line in shown_rows]
        widths = [max(map(len, column)) for column in zip(*cells)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
        more = [f".. {len(self)} rows"] if len(self) > 6 else []
        return "\n".join([f"<lat.Table {len(self)} x {len(self.columns)}>"] + [line[:160] for line in lines] + more)


def _column(name, cells):
    for kind in () if name in WORDS else (int, float):
        try:
            return np.array([kind(cell) for cell in cells], np.int64 if kind is int else np.float64)
        except (ValueError, OverflowError):
            pass
    return np.array(cells, str)


def _numbered(column):
    """The values in the order of their first rows, and the number of each row's value."""
    values, first, number = np.unique(column, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return values[order], np.argsort(order)[number]


def table(*files):
    """The table that a tool printed into files: paths, text files, or results of lat.run; or one file of Table.to_hdf5. Several
    are joined: they have the same columns, and column `table` says which one a row is of."""
    if len(files) == 1 and isinstance(files[0], (str, os.PathLike)) and export.is_hdf5(files[0]):
        return export.table_from_hdf5(files[0])
    return Table.parse(itertools.chain.from_iterable(map(_lines, files)), " and ".join(map(_name, files)))


def _name(file):
    return os.fspath(file) if isinstance(file, (str, os.PathLike)) else str(getattr(file, "name", "the table"))


def _lines(file):
    if isinstance(file, (str, os.PathLike)):
        with open(file, encoding="utf-8") as lines:
            yield from lines
    else:
        yield from file.text.splitlines() if hasattr(file, "text") else file
