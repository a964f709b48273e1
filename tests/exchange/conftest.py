"""FMUs that several files of tests share, each made once."""

from __future__ import annotations

import pytest
from fmu_files import exported


@pytest.fixture(scope="session")
def cone(tmp_path_factory):
    """Probe and cone with a delay of 16 ms and four contacts, FMI 3.0: the scenario and its file."""
    return exported("probe-cone", 3, tmp_path_factory.mktemp("cone"))


@pytest.fixture(scope="session")
def latch(tmp_path_factory):
    """Probe and cone with a latch, FMI 2.0."""
    return exported("probe-cone-latch", 2, tmp_path_factory.mktemp("latch"))


@pytest.fixture(scope="session")
def sits(tmp_path_factory):
    """A rig that bounces for a minute, FMI 3.0."""
    return exported("sits", 3, tmp_path_factory.mktemp("sits"))
