"""A damping ratio for each mode: once nothing pushes, each falls as exp(−ζ ω t) while it swings at ω √(1 − ζ²)."""

import numpy as np
import pytest
from component_cases import vehicle
from finite_elements import boom, craig_bampton, frame_model
from mechanism_cases import at, simulated
from scipy.linalg import eigh

from dockdyn.docking.run_warnings import mechanism_doubts
from dockdyn.scenario.language.errors import ScenarioError

RATIOS = [0.002, 0.01, 0.04, 0.15]
QUIET = 0.02  # s
LENGTH, LINE, BENDING, TORSION, POLAR = 2.0, 3.0, (400.0, 900.0), 250.0, 0.02  # m, kg/m, N m², N m², kg m
CANTILEVER = 1.8751040687119611, 4.694091132974175  # roots of cos x cosh x = −1


def pushed(bodies, body, place):
    """A push on a place for a moment, and what swings on after it; a small one, as a beam that bends also shortens."""
    jet = {"body": body, "position": place, "direction": [0.05, 0.6, 0.8], "force": 0.1}
    quiet = {"when": {"lasting": QUIET}, "set": {"thruster.jet.force": 0.0}}
    times = {"duration": 0.5, "output": {"interval": 2e-4}, "integrator": {"tolerance": 1e-11}}
    return {"schema": 2, "body": bodies, "thruster": {"jet": jet}, "phase": {"push": {}, "quiet": quiet}} | times


def free_boom(folder, ratios=RATIOS):
    """A boom by finite elements that floats, with four modes, and their frequencies (rad/s)."""
    nodes, bars = boom(4, 2.0)
    nodes = np.concatenate([nodes, [[1.0, 0.6, 0.2]]])
    model = frame_model(nodes, [*bars, (2, 5)], radius=0.04, lumps=[(0, 8.0, 2.0), (3, 1.0, 0.1), (5, 2.0, 0.1)])
    keys = {"mode_count": 4, "damping_ratio": ratios}
    body, centre = vehicle(nodes, *model, {"tip": 4, "root": 0}, folder, "boom", modes=6, **keys)
    mass, stiffness, *_ = craig_bampton(*model, np.concatenate([24 + np.arange(6), np.arange(6)]), 6)
    squares = eigh(stiffness, mass, eigvals_only=True)[6:10]
    return pushed({"boom": body}, "boom", (nodes[4] - centre).tolist()), np.sqrt(squares)


def held_beam(ratios=RATIOS):
    """A beam that a wall holds, with two modes along one direction, one along the other and one of twist."""
    mass = LINE * LENGTH
    across = mass * LENGTH**2 / 12 + 0.01
    bending = {"kind": "beam", "root": [-LENGTH / 2, 0.0, 0.0], "axis": [1.0, 0.0, 0.0], "across": [0.0, 1.0, 0.0]}
    bending |= {"length": LENGTH, "mass_per_length": LINE, "bending_stiffness": list(BENDING), "bending_modes": [2, 1]}
    bending |= {"twist_modes": 1, "torsional_stiffness": TORSION, "polar_inertia": POLAR, "damping_ratio": ratios}
    beam = {"on": "wall", "mass": mass, "inertia": [0.2, across, across], "position": [LENGTH / 2, 0.0, 0.0]}
    beam |= {"joint": {"kind": "locked", "position": [0.0, 0.0, 0.0]}, "flexible": bending}
    unit = np.sqrt(np.array(BENDING) / (LINE * LENGTH**4))
    bends = [CANTILEVER[0] ** 2 * unit[0], CANTILEVER[1] ** 2 * unit[0], CANTILEVER[0] ** 2 * unit[1]]
    twist = np.pi / 2 / LENGTH * np.sqrt(TORSION / POLAR)
    case = pushed({"wall": {"fixed": True}, "beam": beam}, "beam", [LENGTH / 2, 0.05, 0.0])
    return case, np.array([*bends, twist])


@pytest.mark.full_cases("beam")
@pytest.mark.parametrize("kind", ["finite elements", "beam"])
def test_each_mode_falls_as_its_own_ratio_says(load, tmp_path, kind):
    """Of three samples one as far behind the other η₂ = 2 e^(−ζωτ) cos(ω√(1 − ζ²) τ) η₁ − e^(−2ζωτ) η₀."""
    case, frequency = free_boom(tmp_path) if kind == "finite elements" else held_beam()
    data = simulated(load, case)
    lost = [line for line in mechanism_doubts(data) if "of what its points yield" in line]  # nothing touches it
    assert len(lost) == (kind == "finite elements" and float(data.static_loss[0]) > 0.1)
    eta = data.modal_coordinate.values[data.time.values > QUIET + 1e-3]
    assert eta.shape[1] == 4
    for mode, ratio in enumerate(RATIOS):
        rows = max(1, round(0.7 / frequency[mode] / 2e-4))  # some seventh of a period
        late, rate = rows * 2e-4, frequency[mode]
        falls, turns = np.exp(-ratio * rate * late), np.cos(rate * np.sqrt(1 - ratio**2) * late)
        first, middle, last = eta[: -2 * rows, mode], eta[rows:-rows, mode], eta[2 * rows :, mode]
        size = np.abs(first).max()
        assert size > 1e-9
        np.testing.assert_allclose(last, 2 * falls * turns * middle - falls**2 * first, rtol=0, atol=2e-5 * size)


@pytest.mark.full
def test_a_list_of_one_number_over_again_is_that_number(load, tmp_path):
    one, each = (simulated(load, free_boom(tmp_path, ratios)[0]) for ratios in (0.03, [0.03] * 4))
    np.testing.assert_array_equal(one.modal_coordinate, each.modal_coordinate)


BAD = {
    "too few": (lambda folder: free_boom(folder, [0.01] * 3)[0], "boom.flexible.damping_ratio: has 3 numbers; must have 4"),
    "too many": (lambda _: held_beam([0.01] * 5)[0], "beam.flexible.damping_ratio: has 5 numbers; must have 4, one"),
    "above 1": (lambda _: held_beam([0.01, 0.01, 1.5, 0.0])[0], "damping_ratio"),
    "no number": (lambda _: held_beam("much")[0], "damping_ratio"),
}  # fmt: skip


@pytest.mark.parametrize(("made", "words"), BAD.values(), ids=BAD)
def test_ratios_that_do_not_fit_are_refused_in_one_line(load, tmp_path, made, words):
    with pytest.raises(ScenarioError) as refusal:
        load(made(tmp_path))
    assert words in str(refusal.value) and "\n" not in str(refusal.value)


def test_ratios_are_written_back_as_they_were_stated(load):
    scenario = load(held_beam()[0])
    again = load(at(scenario.nominal(), {}))
    assert again.content.named("beam").flexible.damping_ratio == RATIOS
