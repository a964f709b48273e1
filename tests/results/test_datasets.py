"""Parts of datasets, as Xarray selects them."""

import numpy as np
import pytest
import xarray as xr

from dockdyn.dataset import Dataset

VARIABLES = {"wanted": (("time", "motor"), np.arange(15.0).reshape(5, 3))}
COORDINATES = {"time": np.linspace(0, 1, 5), "motor": np.array(["elbow", "wrist", "hand"])}


@pytest.mark.parametrize("labels", ["wrist", ["hand"], ["hand", "elbow"], [], np.array(["wrist", "hand"])])
def test_labels_select_what_xarray_does(labels):
    own, other = (kind(VARIABLES, COORDINATES) for kind in (Dataset, xr.Dataset))
    for found, expected in ((own.wanted, other.wanted), (own, other)):
        part, wanted = found.sel(motor=labels), expected.sel(motor=labels)
        np.testing.assert_array_equal(getattr(part, "wanted", part).values, getattr(wanted, "wanted", wanted).values)


def test_a_label_that_is_not_there_is_refused():
    with pytest.raises(KeyError, match="foot"):
        Dataset(VARIABLES, COORDINATES).sel(motor=["wrist", "foot"])
