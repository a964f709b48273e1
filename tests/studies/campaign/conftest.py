"""The small campaign that several files look at."""

import pytest
from small_campaign import docking_in, whole_campaign


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return docking_in(tmp_path_factory.mktemp("campaign"))


@pytest.fixture(scope="module")
def whole(file):
    return whole_campaign(file)
