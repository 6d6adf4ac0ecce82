# SPDX-License-Identifier: BSD-3-Clause
"""Tables and samples in HDF5, gvar and pyerrors. These packages are optional: ImportError names the one that is missing."""
import contextlib
import os
import shutil
import tempfile

import numpy as np

from .errors import StreamError, demand, needed


def is_hdf5(path):
    with open(path, "rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"


# ---- HDF5: numbers as they are, words in UTF-8


def _store(group, name, column):
    if column.dtype.kind == "U":
        column = column.astype(needed("h5py", "HDF5").string_dtype())
    group.create_dataset(name, data=column)


def _column(dataset):
    return dataset.asstr()[()].astype(str) if dataset.dtype.kind == "O" else dataset[()]


@contextlib.contextmanager
def _whole(path):
    """Where to write: the file takes its name when it is whole; one that fails leaves what was there."""
    path = os.fspath(path)
    with tempfile.TemporaryDirectory(prefix=".lat-", dir=os.path.dirname(path) or ".") as folder:
        temporary = os.path.join(folder, os.path.basename(path))
        yield temporary
        os.replace(temporary, path)


@contextlib.contextmanager
def _new_group(path, name):
    """A group of an HDF5 file; other groups of the file stay."""
    h5py = needed("h5py", "HDF5")
    with _whole(path) as temporary:
        if os.path.exists(path):
            shutil.copyfile(path, temporary)
        with h5py.File(temporary, "a") as file:
            if name in file:
                del file[name]
            yield file.create_group(name)


def _group(path, name):
    """The file, and its only group of this kind: table or samples."""
    file = needed("h5py", "HDF5").File(path, "r")
    found = [group for group in file.values() if group.attrs.get("kind") == name]
    if len(found) != 1:
        file.close()
        raise StreamError(f"one group of {name} in the file", f"{len(found)}", os.fspath(path))
    return file, found[0]


def table_to_hdf5(table, path, name):
    with _new_group(path, name) as group:
        group.attrs["kind"], group.attrs["columns"] = "table", list(table.columns)
        for key, column in table.columns.items():
            _store(group, key, column)


def table_from_hdf5(path):
    from .tables import Table
    file, group = _group(path, "table")
    with file:
        return Table({key: _column(group[key]) for key in group.attrs["columns"]})


def samples_to_hdf5(samples, path, name):
    from .statistics import WITHIN
    with _new_group(path, name) as group:
        group.attrs.update(kind="samples", resampling=samples.resampling, configurations=samples.configurations, bin=samples.bin,
                           keys=list(samples.keys.columns), values=list(samples.values), **{f"about.{k}": v for k, v in samples.about.items()})
        for number, (label, rows) in enumerate(samples.labels().items()):
            part = group.create_group(label.replace("/", "|"))
            part.attrs["number"] = number
            for key, column in samples.keys.columns.items():
                if key in WITHIN:
                    _store(part, key, column[rows])
                else:
                    part.attrs[key] = column[rows[0]].item()
            for value in samples.values:
                part.create_dataset(value, data=samples.values[value][rows])
                part.create_dataset(f"means/{value}", data=samples.means[value][rows])


def samples_from_hdf5(path):
    from .statistics import WITHIN, Samples
    from .tables import Table
    file, group = _group(path, "samples")
    with file:
        said = dict(group.attrs)
        parts = sorted(group.values(), key=lambda part: part.attrs["number"])
        rows = [len(part[said["values"][0]]) for part in parts]
        keys = {key: np.concatenate([_column(part[key]) if key in WITHIN else np.full(n, part.attrs[key]) for part, n in zip(parts, rows)])
                for key in said["keys"]}
        values = {v: np.concatenate([part[v][()] for part in parts]) for v in said["values"]}
        means = {v: np.concatenate([part["means"][v][()] for part in parts]) for v in said["values"]}
    about = {key[6:]: value for key, value in said.items() if key.startswith("about.")}
    return Samples(Table(keys), values, means, said["resampling"], about, int(said["configurations"]), int(said["bin"]))


# ---- gvar, pyerrors


def gvar_of(samples, name):
    values = needed("gvar", "lat.Samples.gvar").gvar(samples.means[name], samples.covariance(name))
    return {label: values[rows] for label, rows in samples.labels().items()}


def gvar_to_file(samples, path, name):
    gvar = needed("gvar", "lat.Samples.to_gvar")
    with _whole(path) as temporary:
        gvar.dump(samples.gvar(name), temporary)


def obs_of(samples, name, ensemble):
    pe = needed("pyerrors", "lat.Samples.obs")
    means, values = samples.means[name], samples[name]
    if samples.resampling == "configurations":
        made = [pe.Obs([row], [ensemble]) for row in values]
    else:
        if samples.resampling == "bootstrap":  # a jackknife of the same covariance, 1/(n-1) sum d d
            n, centre = samples.count, values.mean(axis=1, keepdims=True)
            values = centre + (values - centre) * np.sqrt(n) / (n - 1)
        made = [pe.import_jackknife(np.concatenate([[mean], row]), ensemble) for mean, row in zip(means, values)]
    return {label: [made[row] for row in rows] for label, rows in samples.labels().items()}


def obs_to_file(samples, path, name, ensemble):
    json = needed("pyerrors.input.json", "lat.Samples.to_pyerrors")
    demand(os.fspath(path).endswith(".json.gz"), "a name that ends with .json.gz", os.fspath(path))
    with _whole(path) as temporary:
        json.dump_dict_to_json(samples.obs(name, ensemble), temporary, description=repr(samples))
