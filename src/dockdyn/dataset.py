"""Named arrays with dimensions, attributes and coordinates: what dockdyn itself uses of Xarray, which takes half a second to
import.

Everything here has Xarray's name and meaning. In Python users are given Xarray's own (`in_xarray`).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, overload

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


class DataArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array with the names of its dimensions, attributes, and the coordinates along them."""

    def __init__(
        self,
        values: Any,  # noqa: ANN401, of any kind of array, a list or a number
        dims: str | Sequence[Hashable] = (),
        attrs: Mapping[Any, Any] | None = None,
        coords: Mapping[str, DataArray] | None = None,
        name: str | None = None,
    ) -> None:
        self.values = np.asarray(values)
        self.dims: tuple[str, ...] = (dims,) if isinstance(dims, str) else tuple(map(str, dims))
        self.attrs: dict[str, Any] = dict(attrs or {})
        self.name = name
        self._around = coords or {}
        if self.values.ndim != len(self.dims):
            raise ValueError(f"{name}: has {self.values.ndim} dimensions; is said to be over {self.dims}")

    @property
    def coords(self) -> dict[str, DataArray]:
        return {name: one for name, one in self._around.items() if set(one.dims) <= set(self.dims)}

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    @property
    def ndim(self) -> int:
        return self.values.ndim

    @property
    def size(self) -> int:
        return self.values.size

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.dims, self.values.shape, strict=True))

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[DataArray]:
        return (self[place] for place in range(len(self.values)))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:  # noqa: ANN401, as NumPy asks
        return np.array(self.values, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:  # noqa: ANN401, as NumPy asks
        """Return what a function of elements gives, over the dimensions of all arrays: those of one name are one."""
        if method != "__call__" or kwargs:
            return NotImplemented
        labelled = [one for one in inputs if isinstance(one, DataArray)]
        dims = list(dict.fromkeys(dim for one in labelled for dim in one.dims))
        values = [one._over(dims) if isinstance(one, DataArray) else one for one in inputs]
        around = {
            name: one for array in sorted(labelled, key=lambda one: one.ndim) for name, one in array._around.items()
        }
        names = {one.name for one in labelled}
        return DataArray(ufunc(*values), dims, coords=around, name=names.pop() if len(names) == 1 else None)

    def __float__(self) -> float:
        return float(self.values)

    def __int__(self) -> int:
        return int(self.values)

    def __bool__(self) -> bool:
        return bool(self.values)

    def __getitem__(self, key: Any) -> DataArray:  # noqa: ANN401, as of arrays
        keys = list(key) if isinstance(key, tuple) else [key]
        if Ellipsis in keys:
            place = keys.index(Ellipsis)
            keys[place : place + 1] = [slice(None)] * (self.ndim - len(keys) + 1)
        return self.isel(dict(zip(self.dims, keys, strict=False)))

    def isel(self, indexers: Mapping[Any, Any] | None = None, **more: Any) -> DataArray:  # noqa: ANN401, as of arrays
        """Return the part at some places along dimensions: a number, which takes the dimension away, a slice, or an array."""
        places = dict(indexers or {}) | more
        around = {name: one._at(places) for name, one in self._around.items()}
        return self._at(places, around)

    def sel(self, **labels: Any) -> DataArray:  # noqa: ANN401, of any type
        """Return the part at labels of coordinates. Raises KeyError for one that is not there."""
        return self.isel({dim: _place_of(self._around[dim].values, label) for dim, label in labels.items()})

    def transpose(self, *dims: Any) -> DataArray:  # noqa: ANN401, names, and an ellipsis for the others
        """Return it with its dimensions in another order."""
        rest = [dim for dim in self.dims if dim not in dims]
        order = [name for dim in dims for name in (rest if dim is Ellipsis else [dim])]
        axes = [self.dims.index(dim) for dim in order]
        return DataArray(self.values.transpose(axes), order, self.attrs, self._around, self.name)

    def min(self, **options: Any) -> Any:  # noqa: ANN401, as NumPy gives it
        """Return the least of all values but NaN."""
        return np.nanmin(self.values, **options)

    def max(self, **options: Any) -> Any:  # noqa: ANN401, as NumPy gives it
        """Return the greatest of all values but NaN."""
        return np.nanmax(self.values, **options)

    def any(self, **options: Any) -> Any:  # noqa: ANN401, as NumPy gives it
        """Return whether one of the values holds."""
        return np.any(self.values, **options)

    def where(self, cond: DataArray, other: Any = np.nan) -> DataArray:  # noqa: ANN401, an array, a number or such an array
        """Return the values where something holds, and elsewhere others."""
        values = np.where(cond._over(self.dims), self.values, other)
        return DataArray(values, self.dims, self.attrs, self._around, self.name)

    def _over(self, dims: Sequence[str]) -> np.ndarray:
        """Return the values with an axis for each of some dimensions, of one place where it is not over it."""
        ordered = self.transpose(*(dim for dim in dims if dim in self.dims)).values
        return ordered[tuple(slice(None) if dim in self.dims else None for dim in dims)]

    def _at(self, places: Mapping[Any, Any], around: Mapping[str, DataArray] | None = None) -> DataArray:
        """Return the part at places along those of its dimensions that are named; each by itself."""
        values, dims = self.values, list(self.dims)
        for axis in reversed(range(len(dims))):  # from behind: a dimension that goes moves none that is still to come
            if dims[axis] in places:
                key = places[dims[axis]]
                values = values[(slice(None),) * axis + (key,)]
                if not isinstance(key, slice) and np.ndim(key) == 0:
                    del dims[axis]
        return DataArray(values, dims, self.attrs, around, self.name)


def _place_of(values: np.ndarray, label: Any) -> Any:  # noqa: ANN401, of any type
    """Return the place of a label among the values of a coordinate, of several labels their places; of a slice the part of
    those that rise, with its ends."""
    if isinstance(label, slice):
        first = None if label.start is None else int(np.searchsorted(values, label.start, "left"))
        last = None if label.stop is None else int(np.searchsorted(values, label.stop, "right"))
        return slice(first, last)
    if isinstance(label, list | np.ndarray):
        return np.array([_place_of(values, one) for one in label], int)
    found = np.flatnonzero(values == label)
    if not len(found):
        raise KeyError(label)
    return int(found[0])


def _variable_of(given: Any, name: str) -> DataArray:  # noqa: ANN401, what Xarray takes for a variable
    """Return a variable given as dimensions, values and attributes, as such an array or, over itself, by its values."""
    if isinstance(given, tuple):
        dims, values, attrs = given if len(given) > 2 else (*given, None)
        return DataArray(values, dims, attrs, name=name)
    if hasattr(given, "dims"):
        return DataArray(given.values, given.dims, given.attrs, name=name)
    return DataArray(given, (name,) * np.ndim(given), name=name)


class Dataset(Mapping[str, Any]):
    """Arrays by name, the coordinates along their dimensions among them, and attributes of them all."""

    def __init__(
        self,
        data_vars: Mapping[Any, Any] | None = None,
        coords: Mapping[Any, Any] | None = None,
        attrs: Mapping[Any, Any] | None = None,
    ) -> None:
        """Take variables as `xarray.Dataset` does. Raises ValueError where two are of different sizes along a dimension."""
        variables = {str(name): _variable_of(one, str(name)) for name, one in (data_vars or {}).items()}
        self.coords = {str(name): _variable_of(one, str(name)) for name, one in (coords or {}).items()}
        self.coords |= {name: one for name, one in variables.items() if one.dims == (name,)}
        self.data_vars = {name: one for name, one in variables.items() if name not in self.coords}
        self.attrs: dict[str, Any] = dict(attrs or {})
        self.encoding: dict[str, Any] = {}
        self.sizes: dict[str, int] = {}
        for name, one in self.variables.items():
            one._around = self.coords
            for dim, size in one.sizes.items():
                if self.sizes.setdefault(dim, size) != size:
                    raise ValueError(f"{name}: has {size} along {dim}; others have {self.sizes[dim]}")

    def to_xarray(self) -> xr.Dataset:
        """Return it as a dataset of Xarray's."""
        import xarray as xr

        data, coords = (
            {name: (one.dims, one.values, one.attrs) for name, one in part.items()}
            for part in (self.data_vars, self.coords)
        )
        made = xr.Dataset(data, coords, self.attrs)
        made.encoding = dict(self.encoding)
        return made

    @property
    def variables(self) -> dict[str, DataArray]:
        return self.data_vars | self.coords

    @property
    def dims(self) -> dict[str, int]:
        return self.sizes

    def __contains__(self, name: object) -> bool:
        return name in self.data_vars or name in self.coords

    def __iter__(self) -> Iterator[str]:
        return iter(self.data_vars)

    def __len__(self) -> int:
        return len(self.data_vars)

    def __bool__(self) -> bool:
        return bool(self.data_vars)

    @overload
    def __getitem__(self, name: str) -> DataArray: ...

    @overload
    def __getitem__(self, name: list[str]) -> Dataset: ...

    def __getitem__(self, name: str | list[str]) -> DataArray | Dataset:
        if isinstance(name, list):
            chosen = {one: self[one] for one in name}
            return self._with(chosen, {key: one for part in chosen.values() for key, one in part.coords.items()})
        if name in self:
            return self.data_vars[name] if name in self.data_vars else self.coords[name]
        if name in self.sizes:  # places along a dimension without labels
            return DataArray(np.arange(self.sizes[name]), name, name=name)
        raise KeyError(name)

    def __getattr__(self, name: str) -> DataArray:
        if not name.startswith("_") and "sizes" in self.__dict__ and (name in self or name in self.sizes):
            return self[name]
        raise AttributeError(f"a dataset has no variable {name!r}")

    def assign_attrs(self, given: Mapping[str, Any] | None = None, **more: Any) -> Dataset:  # noqa: ANN401, of any type
        """Return it with attributes besides, or in place of some."""
        return self._with(self.data_vars, self.coords, self.attrs | dict(given or {}) | more)

    def assign(self, given: Mapping[str, Any]) -> Dataset:
        """Return it with variables besides, or in place of some."""
        return self._with(self.data_vars | dict(given), self.coords)

    def rename(self, names: Mapping[str, str]) -> Dataset:
        """Return it with other names of variables and dimensions."""

        def rename_part(part: Mapping[str, DataArray]) -> dict[str, Any]:
            return {
                names.get(name, name): ([names.get(dim, dim) for dim in one.dims], one.values, one.attrs)
                for name, one in part.items()
            }

        return self._with(rename_part(self.data_vars), rename_part(self.coords))

    def isel(self, indexers: Mapping[Any, Any] | None = None, **more: Any) -> Dataset:  # noqa: ANN401, as of arrays
        """Return the part at some places along dimensions, of all that is over them (`DataArray.isel`)."""
        places = dict(indexers or {}) | more
        data, coords = ({name: one._at(places) for name, one in part.items()} for part in (self.data_vars, self.coords))
        return self._with(data, coords)

    def sel(self, **labels: Any) -> Dataset:  # noqa: ANN401, of any type
        """Return the part at labels of coordinates. Raises KeyError for one that is not there."""
        return self.isel({dim: _place_of(self.coords[dim].values, label) for dim, label in labels.items()})

    def _with(
        self, data: Mapping[str, Any], coords: Mapping[str, Any], attrs: Mapping[str, Any] | None = None
    ) -> Dataset:
        made = Dataset(data, coords, self.attrs if attrs is None else attrs)
        made.encoding = dict(self.encoding)
        return made


type GivenDataset = Dataset | xr.Dataset  # as a user may give one


def is_dataset(given: object) -> TypeGuard[GivenDataset]:
    """Return whether something is a dataset, of this module or of Xarray."""
    known = sys.modules.get("xarray")  # who has one has imported it
    return isinstance(given, Dataset) or (known is not None and isinstance(given, known.Dataset))


def as_dataset(given: GivenDataset) -> Dataset:
    """Return a dataset of Xarray's as one of these; one of these as it is."""
    if isinstance(given, Dataset):
        return given
    made = Dataset(given.data_vars, given.coords, given.attrs)
    made.encoding = dict(given.encoding)
    return made


def in_xarray[**P](made: Callable[P, Dataset]) -> Callable[P, xr.Dataset]:
    """Return a function that returns in a dataset of Xarray's what another does in one of these."""

    @functools.wraps(made)
    def give(*args: P.args, **kwargs: P.kwargs) -> xr.Dataset:
        return made(*args, **kwargs).to_xarray()

    give.__annotations__ = {**made.__annotations__, "return": "xarray.Dataset"}
    return give
