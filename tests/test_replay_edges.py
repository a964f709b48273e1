"""Replays of what is not as usual: runs that diverged, names that look like paths, laws of the user's own."""

from __future__ import annotations

import numpy as np
import pytest

import dockdyn
from dockdyn.output.replay.build import scene_of
from dockdyn.output.replay.page import page_of


@pytest.fixture(scope="session")
def short():
    """A short free flight that ends in contact."""
    return dockdyn.simulate(dockdyn.load("sazawal-compliance", {"duration": "7 s"}))


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
@pytest.mark.parametrize("name", ["position", "contact_force", "kinetic_energy"])
def test_a_run_that_diverged_is_shown_until_then(short, name, value):
    broken = short.copy(deep=True)
    first = int(np.searchsorted(broken.time.values, 5.6))  # in the first contact
    broken[name].values[first:] = value
    broken["episode_peak_force"].values[:] = value
    broken["episode_release"].values[:] = np.nan
    scene = scene_of(broken)
    last = float(broken.time[first - 1])
    assert scene.time[-1] == last
    assert f"shown until {last:.6g} s" in scene.notes[-1]
    assert all(event.start <= last and event.end <= last for event in scene.events)
    assert len(page_of(scene)) > 100_000


def test_a_run_without_any_sample_to_draw_is_refused_in_one_line(short):
    broken = short.copy(deep=True)
    broken["attitude"].values[:] = np.inf
    with pytest.raises(dockdyn.ScenarioError, match="cannot be replayed") as refusal:
        scene_of(broken)
    assert "\n" not in str(refusal.value)
