"""How many modes bodies by finite elements have where none states it: peaks are those with many more modes."""

import numpy as np
import pytest
from component_cases import vehicle
from finite_elements import boom, frame_model
from mechanism_cases import simulated

import dockdyn

LAWS = (
    {"law": "spring-dashpot", "damping": 0.0},
    {"law": "hertz", "exponent": 1.5},
    {"law": "hunt-crossley", "exponent": 1.0, "damping": 1.0},
)
DEEP = 1e-3  # m, at which laws with another exponent are as stiff as one with exponent 1


def struck(folder, seed, **flexible):
    """A boom with an outrigger and a bus on it, struck by a block at its tip or its side: law, place, stiffness, way drawn."""
    draw = np.random.default_rng([58, seed])
    body, tip, side = boom_of(folder, seed, draw, **flexible)
    place = (tip, side)[draw.integers(2)]
    normal = draw.normal(size=3)
    normal /= np.linalg.norm(normal)
    law = dict(LAWS[seed % 3])
    law["stiffness"] = float(np.exp(draw.uniform(np.log(1e4), np.log(3e6)))) * (DEEP**-0.5 if seed % 3 == 1 else 1.0)
    block = {"mass": float(np.exp(draw.uniform(np.log(2.0), np.log(200.0)))), "inertia": [50.0] * 3}
    block |= {"position": (place + 0.0101 * normal).tolist(), "velocity": (-0.1 * normal).tolist()}
    face = {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": (-normal).tolist()}
    late = {"loop": {"delay": float(draw.uniform(2e-4, 2e-3))}} if draw.uniform() < 0.3 else {}
    return {
        "schema": 2,
        "duration": 0.08,
        "body": {
            "boom": body | {"feature": {"knob": {"position": place.tolist(), "radius": 0.01}}},
            "block": block | {"surface": {"face": face}},
        },
        "contact": {"hit": {"between": ["knob", "face"], "normal": law}},
        "output": {"interval": 1e-3},
    } | late


def boom_of(folder, seed, draw, **flexible):
    """A boom with an outrigger and a bus on it, and where its tip and side are (m)."""
    nodes, bars = boom(6, 3.0)
    nodes = np.concatenate([nodes, [[1.0, 1.2, 0.1]]])
    lumps = [(0, draw.uniform(50.0, 200.0), 30.0), (7, draw.uniform(5.0, 20.0), 1.0)]
    model = frame_model(nodes, [*bars, (2, 7)], radius=0.05, wall=0.002, lumps=lumps)
    body, centre = vehicle(nodes, *model, {"tip": 6, "side": 7}, folder, f"boom{seed}", modes=20, **flexible)
    return body, nodes[6] - centre, nodes[7] - centre


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 12))])
def test_the_peak_with_as_many_modes_as_it_needs_is_that_with_all(load, tmp_path, seed):
    own = simulated(load, struck(tmp_path, seed, peak_error=0.02))
    every = simulated(load, struck(tmp_path, seed, static_error=1e-9))
    assert own.sizes["mode"] <= every.sizes["mode"] == 26
    peaks = [float(data.episode_peak_force[0]) for data in (own, every)]
    assert peaks[0] == pytest.approx(peaks[1], rel=0.02)
    assert not any("too few modes" in words for words in dockdyn.summarise(own)["warnings"])


def direction(draw):
    found = draw.normal(size=3)
    return found / np.linalg.norm(found)


def log_uniform(draw, low, high):
    return float(np.exp(draw.uniform(np.log(low), np.log(high))))


def carrying(folder, seed, kind, **flexible):
    """A boom, struck at its tip, with a box at its side on a strut or a bushing."""
    draw = np.random.default_rng([59, seed])
    body, tip, side = boom_of(folder, seed, draw, **flexible)
    normal, way = direction(draw), direction(draw)
    block = {"mass": log_uniform(draw, 2.0, 50.0), "inertia": [5.0] * 3}
    block |= {"position": (tip + 0.0101 * normal).tolist(), "velocity": (-0.1 * normal).tolist()}
    face = {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": (-normal).tolist()}
    box = {"mass": log_uniform(draw, 2.0, 50.0), "inertia": [2.0] * 3, "position": (side + 0.5 * way).tolist()}
    law = {"law": "spring-dashpot", "damping": 0.0, "stiffness": log_uniform(draw, 1e4, 1e6)}
    stiffness = log_uniform(draw, 1e4, 1e6)
    mounts = {
        "strut": {"between": ["boom", "box"], "anchor": [side.tolist(), [0.0] * 3], "stiffness": stiffness},
        "bushing": {"between": ["box", "boom"], "position": side.tolist()}
        | {"stiffness": [stiffness] * 3, "turning_stiffness": [stiffness] * 3},
    }
    return {
        "schema": 2,
        "duration": 0.04,
        "body": {
            "boom": body | {"feature": {"knob": {"position": tip.tolist(), "radius": 0.01}}},
            "block": block | {"surface": {"face": face}},
            "box": box,
        },
        "contact": {"hit": {"between": ["knob", "face"], "normal": law}},
        kind: {"mount": mounts[kind]},
        "output": {"interval": 1e-4},
    }


def peaks_of(data):
    """The first peak of the contact (N), and the largest force in the mount until it is touched again."""
    again = data.episode_onset.values[1] if data.sizes["episode"] > 1 else np.inf
    force = np.linalg.norm(data.element_force.values[:, 0], axis=-1)
    return np.array([float(data.episode_peak_force[0]), force[data.time.values < again].max()])


@pytest.mark.full
@pytest.mark.parametrize("kind", ["strut", "bushing"])
@pytest.mark.parametrize("seed", range(9))
def test_mounts_feel_with_as_many_modes_as_they_need_what_they_do_with_all(load, tmp_path, kind, seed):
    own, few, every = (
        simulated(load, carrying(tmp_path, seed, kind, **keys))
        for keys in ({}, {"mode_count": 7}, {"static_error": 1e-9})
    )
    assert own.sizes["mode"] < every.sizes["mode"] == 26
    contact, mount = peaks_of(own) / peaks_of(every) - 1
    assert abs(contact) < 0.02 and abs(mount) < 0.04  # of one strut of nine 0.032, of all else below 0.02
    contact, _ = peaks_of(few) / peaks_of(every) - 1
    assert float(few.mode_excess[0]) == pytest.approx(contact, rel=0.01, abs=1e-4)
    warned = [words for words in dockdyn.summarise(few)["warnings"] if "too few" in words]
    assert len(warned) == (abs(contact) > 0.02)
    assert not any("too few" in words for words in dockdyn.summarise(own)["warnings"])
