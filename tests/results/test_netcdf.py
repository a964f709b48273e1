"""Files in netCDF are what Xarray makes of the same dataset, and datasets behave as Xarray's do."""

import io

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from dockdyn.dataset import as_dataset
from dockdyn.netcdf import as_bytes, dataset_in

SIZES = {"time": 4, "axis": 3, "episode": 0, "one": 1}
KINDS = ("<f8", "<f4", "<i8", "<i4", "u1", "?", "U", "O")
TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["units", "long_name", "count", "limit", "ends"]),
    TEXTS | st.integers(-(2**40), 2**40) | st.floats() | st.lists(st.floats(-1, 1), min_size=1, max_size=3),
    max_size=3,
)


@st.composite
def variables(draw, dims=None):
    """Return dimensions, values of some kind and attributes."""
    dims = tuple(draw(st.lists(st.sampled_from(list(SIZES)), unique=True, max_size=3))) if dims is None else dims
    shape, kind = tuple(SIZES[dim] for dim in dims), draw(st.sampled_from(KINDS))
    count = int(np.prod(shape))
    if kind in "UO":
        words = draw(st.lists(TEXTS, min_size=count, max_size=count))
        values = np.array(words, "U8" if kind == "U" else object).reshape(shape)
    else:
        values = np.random.default_rng(draw(st.integers(0, 999))).normal(0, 9, shape).astype(kind)
        if kind == "<f8" and count:
            values.flat[0] = draw(st.sampled_from([np.nan, np.inf, -0.0, 5e-324]))
    return dims, values, draw(ATTRIBUTES)


@st.composite
def datasets(draw):
    """Return a dataset of Xarray's with coordinates along its dimensions and beside them."""
    data = {name: draw(variables()) for name in draw(st.sets(st.sampled_from(["depth", "force", "met"])))}
    coords = {dim: draw(variables((dim,))) for dim in draw(st.sets(st.sampled_from(["time", "axis", "episode"])))}
    coords |= {"label": draw(variables())} if draw(st.booleans()) else {}
    return xr.Dataset(data, coords, draw(ATTRIBUTES))


def by_xarray(content):
    return xr.load_dataset(io.BytesIO(content), decode_times=False, decode_timedelta=False)


def check_same(found, expected):
    """Fail where two differ in anything: values to the bit, types, order, attributes, coordinates."""
    xr.testing.assert_identical(found, expected)
    assert list(found.variables) == list(expected.variables)
    assert list(found.sizes.items()) == list(expected.sizes.items())
    for name, one in expected.variables.items():
        assert found[name].dtype == one.dtype
        assert one.dtype.kind in "UO" or found[name].values.tobytes() == one.values.tobytes()
        assert {key: type(value) for key, value in found[name].attrs.items()} == {
            key: type(value) for key, value in one.attrs.items()
        }


@pytest.mark.full
@settings(deadline=None, max_examples=40)
@given(datasets())
def test_a_file_is_what_xarray_makes_of_the_dataset(dataset):
    theirs = bytes(dataset.to_netcdf(engine="h5netcdf"))
    expected = by_xarray(theirs)
    check_same(by_xarray(as_bytes(as_dataset(dataset))), expected)  # ours, read by Xarray
    check_same(dataset_in(io.BytesIO(theirs)).to_xarray(), expected)  # Xarray's, read by us
    check_same(dataset_in(io.BytesIO(as_bytes(dataset))).to_xarray(), expected)


@pytest.mark.parametrize(
    "dataset",
    [
        xr.Dataset({"scaled": ("x", [0.5, 1.0], {}, {"scale_factor": 0.5, "dtype": "i2", "_FillValue": -1})}),
        xr.Dataset({"holes": ("x", [1.0, np.nan], {}, {"_FillValue": -9.0})}),
        xr.Dataset({"turned": ("x", [1.0, 2.0], {}, {"dtype": ">f8"})}),
        xr.Dataset({"packed": ("x", np.zeros(99), {}, {"zlib": True, "complevel": 4})}),
        xr.Dataset({"letters": ("x", np.array([b"a", b"bc"]))}),
        xr.Dataset({"pole": ("x", [1 + 2j])}),
        xr.Dataset({"days": ("x", np.array(["2026-01-01", "2026-01-03"], "datetime64[ns]"))}),
        xr.Dataset({"a": ("x", [1.0])}, {"two words": ("x", [3])}),
        xr.Dataset({"a": ("x", [1.0])}, attrs={"names": ["b", "c"], "none": np.array([], float)}),
    ],
    ids=lambda dataset: next(iter(dataset.data_vars)),
)
@pytest.mark.filterwarnings("ignore::xarray.SerializationWarning")
def test_what_is_no_plain_number_or_text_goes_through_xarray(dataset):
    theirs = bytes(dataset.to_netcdf(engine="h5netcdf"))
    check_same(dataset_in(io.BytesIO(theirs)).to_xarray(), by_xarray(theirs))
    plain = dataset.drop_encoding()
    check_same(by_xarray(as_bytes(plain)), by_xarray(bytes(plain.to_netcdf(engine="h5netcdf"))))


RUN = xr.Dataset(
    {
        "place": (("time", "body", "axis"), np.arange(24.0).reshape(4, 2, 3), {"units": "m"}),
        "mass": ("body", [1.0, np.nan]),
        "scale": ((), 3.0),
    },
    {"time": [0.0, 0.5, 0.5, 2.0], "body": ["chaser", "target"], "kind": ("body", ["a", "b"])},
    {"title": "run"},
)


@pytest.mark.parametrize(
    "use",
    [
        lambda d: d.isel(time=slice(1, 3)),
        lambda d: d.isel(body=1),
        lambda d: d.isel({"time": [0, 3], "body": np.array([False, True])}),
        lambda d: d.isel(time=-1, body=[1]).place[..., 0],
        lambda d: d.sel(body="target"),
        lambda d: d.sel(time=slice(0.2, 0.5)),
        lambda d: d.sel(time=slice(0.5, np.nan)),
        lambda d: d.place.sel(body="chaser").transpose("axis", ...),
        lambda d: d.place[1:, 0],
        lambda d: d.place - d.place[0],
        lambda d: 2.0 * d.mass + d.place.isel(time=0),
        lambda d: np.degrees(d.place) > d.scale,
        lambda d: d.mass.where(d.mass > 0, -1.0),
        lambda d: d.assign({"mass": d.mass + 1, "more": ("time", [1, 2, 3, 4])}),
        lambda d: d.assign_attrs(status="finished"),
        lambda d: d.rename({"time": "t"}),
        lambda d: d[["mass", "scale"]],
        lambda d: d["axis"],
    ],
)
def test_a_dataset_gives_what_xarrays_gives(use):
    found, expected = use(as_dataset(RUN)), use(RUN)
    if isinstance(expected, xr.Dataset):
        xr.testing.assert_identical(found.to_xarray().drop_attrs(), expected.drop_attrs())
        assert found.attrs == expected.attrs and list(found) == list(expected) and len(found) == len(expected)
    else:
        assert found.dims == expected.dims and found.name == expected.name
        np.testing.assert_array_equal(found.values, expected.values)
        assert set(found.coords) == set(expected.coords)
        for name, one in expected.coords.items():
            np.testing.assert_array_equal(found.coords[name].values, one.values)


def test_a_dataset_refuses_what_xarrays_refuses():
    ours = as_dataset(RUN)
    for dataset in (ours, RUN):
        assert "mass" in dataset and "axis" not in dataset and "absent" not in dataset
        for use in (lambda d: d["absent"], lambda d: d.sel(body="third")):
            with pytest.raises(KeyError):
                use(dataset)
        with pytest.raises(AttributeError):
            dataset.absent  # noqa: B018
        with pytest.raises(ValueError, match=r"time|dimension"):
            dataset.assign({"short": ("time", [1.0])})
    assert float(ours.mass.max()) == float(RUN.mass.max()) and float(ours.place.min()) == 0.0
