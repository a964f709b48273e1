"""Scenes show what the result says: bodies, gear, ghosts, forces, at every sample within what they promise."""

import json

import numpy as np
import pytest
from replay_cases import CASES

from dockdyn.api import scene_of
from dockdyn.packing import SETTINGS
from dockdyn.report.columns import PageColumns
from dockdyn.report.scene.data import FORCE, WITHIN, fewest_rows, scene_data
from dockdyn.report.scene.page import page_of
from dockdyn.report.scene.rotation import exponential, interpolate_attitudes, multiply, rotate
from dockdyn.report.scene.times import shown_times

KINDS = pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.full if kind == "mock-ups" else ()) for kind in CASES]
)


@pytest.fixture(scope="session")
def results(shared_run):
    """A result of every kind."""
    return lambda kind: shared_run(*CASES[kind][:2])


@pytest.mark.full_cases("mechanism", "rig")
@KINDS
def test_bodies_are_where_the_result_says(results, kind):
    """At the run's own instants; of a rig the robot, the model and what would be without rig."""
    dataset, scene = results(kind), scene_of(results(kind))
    rows = np.searchsorted(scene.time, dataset.time.values - 1e-12)
    np.testing.assert_allclose(scene.time[rows], dataset.time.values, rtol=0, atol=1e-9)
    if kind == "rig":
        for name, key in {
            "model (computed)": "position",
            "robot": "robot_position",
            "without rig": "ideal_position",
        }.items():
            found = scene.bodies[name].position[rows, 0]
            np.testing.assert_allclose(found, dataset[key].values[:, 0], atol=1e-12)
    elif kind == "mock-ups":
        found = scene.bodies["without rig"].position[rows]
        np.testing.assert_allclose(found, dataset.ideal_pose.values[:, :3], atol=1e-12)
    else:
        for index, name in enumerate(dataset.body.values):
            found, given = scene.bodies[str(name)].position[rows], dataset.position.values[:, index]
            np.testing.assert_allclose(found[:, : given.shape[1]], given, atol=1e-12)


@pytest.mark.full_cases("mechanism", "line", "rig")
@KINDS
def test_columns_are_as_near_to_the_run_as_they_say(results, kind):
    """Straight lines between the few times that are kept, and the columns' own steps, at all of the run's times."""
    scene = scene_of(results(kind))
    columns = PageColumns()
    found = scene_data(scene, columns)
    packed = columns.packed()
    assert json.dumps([found, packed], allow_nan=False)
    time = numbers(packed, found["time"])
    assert len(time) < len(scene.time) and time[0] == scene.time[0]
    base = scene.bodies.get(scene.seen_from)
    size = scene.focus.reach
    for name, motion in scene.bodies.items():
        given = motion.position - (0.0 if base is None else base.position)
        coded = np.stack([numbers(packed, place) for place in found["motions"][found["bodies"][name]]["p"]], axis=1)
        drawn = np.stack([np.interp(scene.time, time, column) for column in coded.T], axis=1)
        assert np.abs(drawn - given).max() <= 1.5 * WITHIN * size + 1e-6 * np.abs(given).max(), name
    largest = max(np.abs(one.vector).max() for one in scene.forces)
    for one, told in zip(
        (one for one in scene.forces if np.abs(one.vector).max() > 1e-9), found["forces"], strict=True
    ):
        drawn = np.stack([np.interp(scene.time, time, numbers(packed, place)) for place in told["vector"]], axis=1)
        assert np.abs(drawn - one.vector).max() <= 1.1 * FORCE * largest


def unpacked(text):
    """Bytes that a page carries."""
    import base64
    import lzma

    filters = [{"id": lzma.FILTER_LZMA1, **SETTINGS}]
    return lzma.decompress(base64.b64decode(text)[:-4], format=lzma.FORMAT_RAW, filters=filters)


def numbers(packed, place):
    """A column, unpacked as the page does."""
    data, at = unpacked(packed["data"]), 0
    for number, (kind, length, *ends) in enumerate(packed["columns"]):
        if kind == "even":
            if number == place:
                return np.linspace(ends[0], ends[1], length)
            continue
        wide = 4 if kind == "single" else 2
        if number == place:
            planes = np.frombuffer(data[at : at + wide * length], np.uint8).reshape(wide, length).T.copy()
            if kind == "grid":
                return ends[0] + ends[1] * np.cumsum(planes.view("<u2")[:, 0].astype(np.int64))
            *ends, order = ends
            parts = planes.view(f"<u{wide}")[:, 0].astype(np.int64)
            found = (parts >> 1) ^ -(parts & 1)  # the signs are in the last bits
            for _ in range(order):
                found = np.cumsum(found)
            found = found.astype(f"<i{wide}")  # it wraps round
            if kind == "single":
                return (found ^ ((found >> 31) & 0x7FFFFFFF)).view("<f4").astype(float)
            return ends[0] + found.view("<u2") * ((ends[1] - ends[0]) / 65534)
        at += wide * length
    raise IndexError(place)


def test_few_rows_keep_a_curve_and_its_corner():
    """A parabola of curvature 2 within 1: pieces no longer than √(8/2) s; a corner is kept itself."""
    time = np.linspace(0.0, 20.0, 2001)
    signals = np.stack([time**2, 100 * np.abs(time - 7.0)], axis=1)
    rows, within = fewest_rows(time, signals, 1000)
    assert within <= 1.0 and 700 in rows
    assert 10 <= len(rows) <= 40
    for column in signals.T:
        assert np.abs(np.interp(time, time[rows], column[rows]) - column).max() <= 1.0 + 1e-9
    few, within = fewest_rows(time, signals, 5)
    assert len(few) == 5 and within > 1.0


def test_peaks_are_among_the_times(results):
    dataset = results("probe")
    time, _ = shown_times(dataset)
    for peak in dataset.episode_peak_time.values:
        assert np.abs(time - peak).min() < 1e-9


def test_turns_are_of_rotation_vectors_and_even():
    """Two quarter turns about z are half of one; half way of a turn by 90° is one by 45°."""
    quarter = exponential(np.array([0.0, 0.0, np.pi / 2]))
    np.testing.assert_allclose(
        rotate(multiply(quarter, quarter), np.array([1.0, 2.0, 3.0])), [-1.0, -2.0, 3.0], atol=1e-12
    )
    turn = np.stack([np.array([1.0, 0, 0, 0]), -quarter])  # the same turn by its other quaternion
    (middle,) = interpolate_attitudes(np.array([0.5]), np.array([0.0, 1.0]), turn)
    np.testing.assert_allclose(np.abs(middle), [np.cos(np.pi / 8), 0, 0, np.sin(np.pi / 8)], atol=1e-12)


def test_the_teeth_of_a_latch_are_pushed_aside_by_the_ramp_and_fall_in(shared_run):
    """A ramp of 45° and 20 mm: as far aside as the tip has travelled, 20 mm at most; the capture frees them."""
    dataset = shared_run("probe-cone-latch", {})
    scene = scene_of(dataset)
    travel = np.interp(scene.time, dataset.time.values, dataset.latch_travel.values)
    captured = float(dataset.capture_time)
    teeth = [part for part in scene.parts if part.name.startswith("capture/tooth")]
    assert len(teeth) == 3
    for tooth in teeth:
        aside = np.linalg.norm(tooth.motion.position - scene.bodies["target"].position, axis=1)
        before = scene.time < captured - 0.02  # samples on either side of the capture are joined
        np.testing.assert_allclose(aside[before], np.clip(travel[before], 0, 0.02), atol=1e-9)
        assert aside[scene.time < captured].max() > 0.015
        np.testing.assert_allclose(aside[scene.time > captured + 0.02], 0, atol=1e-12)


@pytest.mark.full
def test_struts_end_where_they_are_mounted_and_buses_reach_their_mounts(shared_run):
    """The ring of the IDSS: six struts from its circle of 0.60 m to one of 0.63 m on the chaser's face at 2.5 m."""
    scene = scene_of(shared_run("idss-soft-capture", {"duration": "0.05 s"}))
    struts = [tie for tie in scene.ties if tie.kind == "strut"]
    assert len(struts) == 6
    for strut in struts:
        assert np.hypot(*strut.first.place[1:]) == pytest.approx(0.60)
        assert np.hypot(*strut.second.place[1:]) == pytest.approx(0.63) and strut.second.place[0] == pytest.approx(2.5)
    (bus,) = (part for part in scene.parts if part.name == "chaser/bus")
    assert bus.solids[0].high[0] == pytest.approx(2.5)
    petals = next(part for part in scene.parts if part.name == "ring/petals")
    plates = [solid for solid in petals.solids if hasattr(solid, "outline")]
    assert len(plates) == 3 and all(len(plate.outline) == 4 for plate in plates)


def test_words_of_the_user_stay_words(results):
    dataset = results("line, latch").copy()
    dataset.attrs["title"] = "</script><script>alert(1)</script>"
    page = page_of(scene_of(dataset))
    assert "<script>alert(1)" not in page


def test_the_page_is_the_same_again(results):
    one, other = (page_of(scene_of(results("line, latch"))) for _ in range(2))
    assert one == other
    assert len(one) < 400_000


@pytest.mark.full_cases("cyril-controlled-True")
@pytest.mark.parametrize(("name", "arm"), [("flexible-panels", False), ("cyril-controlled", True)])
def test_links_are_an_arm_where_they_lead_to_the_contact(name, arm, shared_run):
    """Only then does a scene open on them: solar arrays beside a contact are not what is looked at first."""
    found = scene_data(scene_of(shared_run(name, {"duration": "0.02 s"})), PageColumns())
    assert found["focus"]["arm"] == arm
