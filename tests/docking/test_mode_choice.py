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
    nodes, bars = boom(6, 3.0)
    nodes = np.concatenate([nodes, [[1.0, 1.2, 0.1]]])
    lumps = [(0, draw.uniform(50.0, 200.0), 30.0), (7, draw.uniform(5.0, 20.0), 1.0)]
    model = frame_model(nodes, [*bars, (2, 7)], radius=0.05, wall=0.002, lumps=lumps)
    body, centre = vehicle(nodes, *model, {"tip": 6, "side": 7}, folder, f"boom{seed}", modes=20, **flexible)
    place = nodes[(6, 7)[draw.integers(2)]] - centre
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


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(1, 12))])
def test_the_peak_with_as_many_modes_as_it_needs_is_that_with_all(load, tmp_path, seed):
    own = simulated(load, struck(tmp_path, seed, peak_error=0.02))
    every = simulated(load, struck(tmp_path, seed, static_error=1e-9))
    assert own.sizes["mode"] <= every.sizes["mode"] == 26
    peaks = [float(data.episode_peak_force[0]) for data in (own, every)]
    assert peaks[0] == pytest.approx(peaks[1], rel=0.02)
    assert not any("too few modes" in words for words in dockdyn.summarise(own)["warnings"])
