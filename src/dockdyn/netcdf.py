"""A dataset as a netCDF-4 file and back, as Xarray writes and reads it (`to_netcdf`, `load_dataset`), by h5py alone.

What is none of the plain things that results are made of, numbers and texts, goes through Xarray itself.

Source: the netCDF-4 format in "NetCDF-4/HDF5 File Format", Unidata, and in "HDF5 Dimension Scale Specification", The HDF
Group; coordinates, `_FillValue` and truth values by Xarray's conventions.
"""

from __future__ import annotations

import io
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dockdyn.checksums import with_checksums
from dockdyn.dataset import DataArray, Dataset, GivenDataset, as_dataset

if TYPE_CHECKING:
    import h5py

NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable.{:10}"
ORDER, PLACE = (
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
)  # attributes: the numbers of a variable's dimensions; a dimension's
HIDDEN = {
    "REFERENCE_LIST",
    "CLASS",
    "DIMENSION_LIST",
    "NAME",
    PLACE,
    ORDER,
    "_nc3_strict",
    "_NCProperties",
}  # of the format
CODED = {
    "scale_factor",
    "add_offset",
    "missing_value",
    "_Unsigned",
    "_Encoding",
}  # attributes of values that mean others
FILL, COORDINATES, TYPE = (
    "_FillValue",
    "coordinates",
    "dtype",
)  # attributes: what stands for none; by whom; of truth values


class _OtherForm(Exception):
    """A dataset or file is not made of plain numbers and texts alone."""


def as_bytes(dataset: GivenDataset) -> bytes:
    """Return a dataset as a netCDF file, made in memory: HDF5 kills the process where it writes to a disk that is full.

    Behind it stand checksums (`dockdyn.checksums`).
    """
    dataset = as_dataset(dataset)
    try:
        return with_checksums(_file_of(dataset))
    except _OtherForm:  # a copy, since the view that Xarray gives outlives what it looks at
        return with_checksums(bytes(dataset.to_xarray().to_netcdf(engine="h5netcdf")))


def dataset_in(source: str | io.BytesIO) -> Dataset:
    """Return all of a netCDF-4 file, times as the numbers that stand there. A damaged one can fail with any error."""
    import h5py

    try:
        with h5py.File(source) as file:
            found = _dataset_of(file)
    except _OtherForm:
        return dataset_by_xarray(source, "h5netcdf")
    if isinstance(source, str):
        found.encoding["source"] = os.path.abspath(source)
    return found


def dataset_by_xarray(source: str | io.BytesIO, engine: Literal["scipy", "h5netcdf"]) -> Dataset:
    """Return all of a netCDF file of any form that Xarray reads. A damaged one can fail with any error."""
    import xarray as xr

    return as_dataset(xr.load_dataset(source, engine=engine, decode_times=False, decode_timedelta=False))


def _file_of(dataset: Dataset) -> bytes:
    """Return the bytes of a dataset's file, without checksums. Raises _OtherForm."""
    import h5py

    content = io.BytesIO()
    attributes, coordinates = _stated_coordinates(dataset)
    with h5py.File(content, "w", track_order=True) as file:
        places = {dim: place for place, dim in enumerate(dataset.sizes)}
        for dim, size in dataset.sizes.items():
            if dim not in dataset.variables:
                limit = None if size else (None,)  # netCDF knows no dimension of a fixed length of none
                file.create_dataset(dim, (size,), ">f4", maxshape=limit, track_order=True)
        made = {name: _write_variable(file, name, one) for name, one in dataset.variables.items()}
        for dim, place in places.items():
            file[dim].make_scale(dim if dim in made else NO_VARIABLE.format(dataset.sizes[dim]))
            file[dim].attrs[PLACE] = np.int32(place)
        for name, one in dataset.variables.items():
            for axis, dim in enumerate(one.dims):
                if dim != name:
                    made[name].dims[axis].attach_scale(file[dim])
            if one.dims:
                made[name].attrs[ORDER] = np.array([places[dim] for dim in one.dims], np.int32)
                made[name].attrs[PLACE] = np.int32(places[one.dims[0]])
            _write_attributes(made[name], one.attrs | coordinates[name])
            if one.dtype.kind == "b":
                made[name].attrs[TYPE] = "bool"
        _write_attributes(file, attributes)
        version = f"version=2,h5py={h5py.__version__},hdf5={h5py.version.hdf5_version}"
        file.attrs["_NCProperties"] = np.array(version, h5py.string_dtype("ascii", len(version)))
    return content.getvalue()


def _stated_coordinates(dataset: Dataset) -> tuple[dict[str, Any], Mapping[str, dict[str, str]]]:
    """Return the attributes of a dataset, and those of its variables that name coordinates which are along no dimension of
    their own name."""
    beside = sorted(name for name in dataset.coords if name not in dataset.sizes)
    stated: dict[str, dict[str, str]] = defaultdict(dict)
    left = set(beside)
    for name, one in dataset.variables.items():
        mine = [other for other in beside if set(dataset.coords[other].dims) <= set(one.dims)]
        if mine and name not in dataset.coords:
            stated[name] = {COORDINATES: " ".join(mine)}
            left -= set(mine)
    clash = COORDINATES in dataset.attrs or any(COORDINATES in one.attrs for one in dataset.variables.values())
    if clash or any(" " in name for name in beside):
        raise _OtherForm
    return dataset.attrs | ({COORDINATES: " ".join(sorted(left))} if left else {}), stated


def _write_variable(file: h5py.File, name: str, one: DataArray) -> h5py.Dataset:
    """Write the values of a variable. Raises _OtherForm."""
    import h5py

    dtype, values, fill = one.dtype, one.values, None
    if "/" in name or (name in one.dims and one.ndim != 1) or one.attrs.keys() & {FILL, TYPE, *CODED, *HIDDEN}:
        raise _OtherForm
    if dtype.kind == "b":
        dtype, values = np.dtype("i1"), values.astype("i1")
    elif dtype.kind == "U" or (dtype.kind == "O" and values.size and _all_texts(values.flat)):
        dtype, values = h5py.string_dtype(), values.astype(object)
    elif dtype.kind == "f" and dtype.itemsize in (4, 8) and dtype.isnative:
        fill = np.array([np.nan], dtype)
    elif dtype.kind not in "iu" or not dtype.isnative:
        raise _OtherForm
    limits = None if values.size else tuple(size or None for size in values.shape)
    made = file.create_dataset(
        name,
        values.shape,
        dtype,
        values,
        maxshape=limits,
        fillvalue=None if fill is None else fill[0],
        track_order=True,
    )
    if fill is not None:
        made.attrs[FILL] = fill
    return made


def _write_attributes(there: h5py.File | h5py.Dataset, attributes: Mapping[str, Any]) -> None:
    """Write attributes of a file or a variable: texts, and numbers as arrays of one. Raises _OtherForm."""
    for name, value in attributes.items():
        if isinstance(value, str):
            there.attrs[name] = value
        elif isinstance(value, int | float | np.number | np.ndarray | list) and (
            np.asarray(value).dtype.kind in "iuf" and np.ndim(value) < 2 and np.size(value)
        ):
            there.attrs[name] = np.atleast_1d(value)
        else:
            raise _OtherForm


def _dataset_of(file: h5py.File) -> Dataset:
    """Return the dataset of a file. Raises _OtherForm."""
    import h5py

    if not all(isinstance(one, h5py.Dataset) for one in file.values()):
        raise _OtherForm
    scales = {name for name, one in file.items() if one.attrs.get("CLASS") == b"DIMENSION_SCALE"}
    if any(PLACE not in file[name].attrs or file[name].ndim != 1 for name in scales):
        raise _OtherForm
    names = {int(file[name].attrs[PLACE]): name for name in scales}
    attributes = _read_attributes(file)
    found, along = {}, attributes.pop(COORDINATES, "").split()
    for name, one in file.items():
        if name in scales and b"not a netCDF variable" in one.attrs.get("NAME", b""):
            continue
        order = one.attrs.get(ORDER, ()) if one.ndim else ()
        if len(order) != one.ndim or not {int(place) for place in order} <= names.keys():
            raise _OtherForm
        stated = _read_attributes(one)
        along += str(stated.pop(COORDINATES, "")).split()
        found[name] = ([names[int(place)] for place in order], _values_of(one, stated), stated)
    coords = {name: found.pop(name) for name in list(found) if name in scales or name in along}
    return Dataset(found, coords, attributes)


def _values_of(one: h5py.Dataset, stated: dict[str, Any]) -> np.ndarray:
    """Return the values of a variable, and take from its attributes what only says how they are written. Raises _OtherForm."""
    import h5py

    if stated.keys() & CODED or one.dtype.isnative is False:
        raise _OtherForm
    fill = stated.pop(FILL, None)
    if fill is not None and not (one.dtype.kind == "f" and np.ndim(fill) == 0 and np.isnan(fill)):
        raise _OtherForm
    if (text := h5py.check_string_dtype(one.dtype)) is not None and text.length is None:
        return np.asarray(one.asstr()[()]).astype(str)
    if one.dtype.kind not in "iuf":
        raise _OtherForm
    if TYPE in stated:
        if one.dtype.kind == "f" or stated.pop(TYPE) != "bool":
            raise _OtherForm
        return one[()].astype(bool)
    return np.asarray(one[()])


def _read_attributes(there: h5py.File | h5py.Dataset) -> dict[str, Any]:
    """Return attributes of a file or a variable: texts, numbers and lists of either. Raises _OtherForm."""
    return {name: _attribute_of(there.attrs[name]) for name in there.attrs if name not in HIDDEN}


def _attribute_of(value: Any) -> Any:  # noqa: ANN401, as h5py gives it
    """Return what an attribute says; of an array of one its number or text. Raises _OtherForm."""
    if isinstance(value, np.ndarray) and value.ndim == 1 and (value.dtype.kind in "iuf" or _all_texts(value)):
        listed = value.tolist() if value.dtype.kind == "O" else value
        return listed[0] if len(listed) == 1 else listed
    if isinstance(value, str | np.integer | np.floating):
        return value
    raise _OtherForm


def _all_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)
