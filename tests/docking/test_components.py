"""Vehicles by finite elements: balances, beside a monolithic integration, with others on them, what is refused."""

import numpy as np
import pytest
from component_cases import docking, full_docking, near_docking, vehicle
from finite_elements import boom, frame_model, plate_model, turned
from mechanism_cases import at, changed, energy_error, momentum_error, simulated
from monolithic_docking import struck_by_spring
from scipy.linalg import block_diag

from dockdyn.docking.run_warnings import mechanism_doubts
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.places import places_of
from dockdyn.studies.objectives.objective import chosen_places

TANK = {"on": "target", "position": [-0.3, 0.4, 0.0], "axis": [1.0, 0.0, 0.0], "radius": 0.3, "fill": 0.3,
        "mass": 40.0, "frequency": 0.6}  # fmt: skip
PANEL = {
    "on": "chaser",
    "mass": 8.0,
    "inertia": [2.0, 0.3, 2.2],
    "position": [-0.2, 2.5, 0.0],
    "joint": {"kind": "revolute", "position": [-0.2, 1.5, 0.0], "axis": [1.0, 0.0, 0.0], "stiffness": 40.0,
              "start_rate": 0.05},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("components")


@pytest.fixture(scope="module")
def docked(load, folder):
    """With friction, delay and what is recovered."""
    case = docking(folder)
    part = {"file": str(folder / "chaser.npz"), "matrix": "part", "unit": "m"}
    case["body"]["chaser"]["flexible"]["recovery"] = {"parting": part}
    return simulated(load, case)


@pytest.fixture(scope="module")
def burdened(load, folder):
    """With a tank on one, and a panel on a hinge on the other: their weights are moved by the modes."""
    case = docking(folder, up_to=30.0)
    return simulated(load, changed(case, body=case["body"] | {"panel": PANEL}, tank={"fuel": TANK}, duration=0.4))


@pytest.mark.full_cases("burdened")
@pytest.mark.parametrize("case", ["docked", "burdened"])
def test_momenta_and_energy(request, case):
    data = request.getfixturevalue(case)
    assert momentum_error(data) < 1e-10
    assert energy_error(data) < 1e-6
    assert float(data.episode_peak_force.max()) > 30.0
    assert (np.abs(data.modal_coordinate.values).max(axis=0) > 1e-9).all()


def test_what_is_recovered_is_told(docked, load, folder):
    """By the matrix and modal coordinates, in the unit that was stated; and its peak as a figure."""
    assert list(docked.recovery.values) == [f"chaser.parting.{row}" for row in range(3)]
    assert list(docked.recovery_unit.values) == ["m"] * 3
    size = np.abs(docked.recovered.values).max(axis=0)
    assert size[1] > 1e-6
    np.testing.assert_allclose(docked.recovered_peak, size, rtol=1e-12)
    assert list(docked.component.values) == ["chaser", "target"]
    assert (docked.highest_frequency.values <= 60.0).all()
    loss = docked.static_loss.values
    assert ((loss > 0) & (loss < 1)).all()
    assert not [line for line in mechanism_doubts(docked) if "leave out up to" in line]  # its contact tells by its peak


@pytest.mark.full
def test_an_impact_is_that_of_monolithic_finite_elements(load, folder):
    """A frame's tip against the middle of a plate, small turns: the history of the force within 1 % of its peak."""
    nodes, bars = boom(10, 4.0)
    nodes = np.concatenate([nodes, [[1.2, 1.5, 0.0], [1.2, -1.5, 0.3]]])
    frame = frame_model(nodes, [*bars, (3, 11), (3, 12)], radius=0.08, lumps=[(3, 60.0, 20.0), (11, 5.0, 1.0)])
    flat = plate_model(8, 6, 1.6, 1.2)
    quarter = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # the plate's z along x
    plate = turned(*flat, quarter)
    keys = {"up_to": 1500.0}
    chaser, own = vehicle(nodes, *frame, {"tip": 10}, folder, "impactor", modes=60, **keys)
    target, _ = vehicle(plate[2], *plate[:2], {"middle": 31}, folder, "plate", modes=120, **keys)
    target["inertia"][0][0] *= 0.999  # of a plate whose sections have no inertia it is all of the two others
    radius, gap, speed, spring = 0.02, 1e-4, 0.05, 4e5
    law = {"law": "spring-dashpot", "stiffness": spring, "damping": 0.0}
    face = {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
    place = plate[2][31] - nodes[10] - [radius + gap, 0.0, 0.0]
    case = {
        "schema": 2,
        "duration": 0.04,
        "body": {
            "chaser": chaser
            | {
                "position": (own + place).tolist(),
                "velocity": [speed, 0.0, 0.0],
                "feature": {"ball": {"position": (nodes[10] - own).tolist(), "radius": radius}},
            },
            "target": target | {"surface": {"face": face}},
        },
        "contact": {"hit": {"between": ["ball", "face"], "normal": law}},
        "output": {"interval": 2e-4},
    }  # fmt: skip
    data = simulated(load, case)
    step, count = 1e-5, 4000
    (mass, stiffness), (more, other) = frame, plate[:2]
    whole = block_diag(mass.toarray(), more.toarray()), block_diag(stiffness.toarray(), other.toarray())
    start, row = np.zeros(len(whole[0])), np.zeros(len(whole[0]))
    start[: 6 * len(nodes) : 6] = speed
    row[60], row[6 * len(nodes) + 6 * 31] = 1.0, -1.0
    force = struck_by_spring(*whole, start, row, gap, spring, step, count)
    seen = np.linalg.norm(data.contact_force.values[:, 0], axis=-1)
    times = data.time.values[1:]
    expected = np.interp(times, step * np.arange(1, count + 1), force)
    assert len(data.episode_peak_force) >= 1
    peak = float(data.episode_peak_force.max())
    assert peak == pytest.approx(force.max(), rel=0.01)
    np.testing.assert_allclose(seen[1:], expected, rtol=0, atol=0.01 * force.max())
    assert energy_error(data) < 1e-6


@pytest.mark.full
def test_a_docking_with_friction_and_delay_is_that_of_monolithic_finite_elements(load, tmp_path):
    """Two vehicles of 78 displacements each, reduced, beside all of these: peak within 1 %, history within 2 % of it."""
    data = simulated(load, near_docking(tmp_path))
    np.testing.assert_array_equal(np.abs(data.attitude.values[0, :, 0]), 1.0)
    assert np.abs(data.rate.values).max() * float(data.time[-1]) < 5e-3  # rad: turns are small
    full = full_docking(data)
    assert float(data.episode_peak_force.max()) == pytest.approx(full.pressed.max(), rel=0.01)
    seen = data.contact_force.values[:, 0]
    expected = np.stack([np.interp(data.time.values, full.time, each) for each in full.acting.T], axis=1)
    np.testing.assert_allclose(seen, expected, rtol=0, atol=0.02 * np.abs(expected).max())
    assert momentum_error(data) < 1e-10
    assert energy_error(data) < 1e-6


@pytest.mark.full
def test_native_is_xla(load, folder, monkeypatch):
    case = changed(docking(folder, up_to=20.0), duration=0.15)
    own = simulated(load, case)
    monkeypatch.setenv("DOCKDYN_BACKEND", "xla")
    other = simulated(load, changed(case, title="by XLA"))
    np.testing.assert_allclose(other.modal_coordinate, own.modal_coordinate, rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.position, own.position, rtol=0, atol=1e-9)


FLEXIBLE = "body.chaser.flexible"
BAD = {
    "another mass": ({"body.chaser.mass": 500.0}, "mass_matrix: is of"),
    "another inertia": ({"body.chaser.inertia": [900.0, 900.0, 900.0]}, "has the inertia"),
    "another centre": ({f"{FLEXIBLE}.point.tip.position": [0.3, 0.1, 0.0]}, "stiffness_matrix: holds the model"),
    "mm": ({f"{FLEXIBLE}.length_unit": "mm"}, "stiffness_matrix: holds the model"),
    "fixed": (
        {"body.target.fixed": True, "body.target.mass": None, "body.target.inertia": None, "approach": None},
        "a body that is fixed does not move; fixed must be left out, or the body be on a fixed one by a joint",
    ),
    "negative masses": ({f"{FLEXIBLE}.mass_matrix.matrix": "less"}, "matrix = 'less': the model moved rigidly has no mass"),
    "rows beyond": ({f"{FLEXIBLE}.point.side.row": 26}, "rows 26 to 31 are beyond those of the matrices, 0 to 27"),
    "rows twice": ({f"{FLEXIBLE}.point.side.row": 3}, "two points have the same rows"),
    "no such matrix": ({f"{FLEXIBLE}.mass_matrix.matrix": "mas"}, "has no matrix 'mas'; did you mean 'mass'?"),
    "variational": ({"integrator": {"method": "variational", "step": 1e-3}, "loop": {}}, "its modes are no joints of a tree"),
    "in the plane": ({"motion": "plane", "approach": None}, "motion = 'plane' asks for a beam with a basis"),
    "only rigid": (
        {
            f"{FLEXIBLE}.mass_matrix.matrix": "lump",
            f"{FLEXIBLE}.stiffness_matrix.matrix": "loose",
            f"{FLEXIBLE}.point": {"tip": {"position": [0.0, 0.0, 0.0]}},
        },
        "matrix = 'lump': the model can move only rigidly",
    ),
    "a mode of negative mass": ({f"{FLEXIBLE}.mass_matrix.matrix": "lacking"}, "has a negative mass in a vibration"),
    "one mass along x": ({f"{FLEXIBLE}.mass_matrix.matrix": "slanted"}, "by the direction it is moved in"),
    "two counts": ({f"{FLEXIBLE}.mode_count": 5}, "mode_count: up_to and static_error say how many modes it has; must be left"),
    "too many": (
        {f"{FLEXIBLE}.mode_count": 23, f"{FLEXIBLE}.up_to": None},
        "mode_count: its matrices have 22 modes; must be at most that",
    ),
    "too low": ({f"{FLEXIBLE}.up_to": 0.1}, "has no mode below 0.1 Hz; its first is at"),
    "another size": ({f"{FLEXIBLE}.stiffness_matrix.matrix": "part"}, "is 3 by 28; must be 28 by 28"),
    "not symmetric": (
        {f"{FLEXIBLE}.stiffness_matrix.matrix": "skew"},
        "stiffness_matrix.file = 'chaser.npz', matrix = 'skew': differs from its transpose by 0.5 of its largest",
    ),
    "the sign of K": (
        {f"{FLEXIBLE}.stiffness_matrix.matrix": "minus"},
        "matrix = 'minus': pushes on where the model is bent (an eigenvalue is negative); its sign may be turned",
    ),
    "no file": ({f"{FLEXIBLE}.mass_matrix.file": "other.npz"}, "other.npz"),
    "no matrices": ({f"{FLEXIBLE}.mass_matrix.file": "mass.txt"}, "must be a file of matrices that ends in .npz"),
}  # fmt: skip


@pytest.mark.parametrize(("values", "words"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_said_in_one_line(load, folder, values, words):
    with pytest.raises(ScenarioError) as refusal:
        load(at(docking(folder), values))
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_that_changes_is_read_again(load, folder):
    case = docking(folder)
    file = folder / "chaser.npz"
    kept = file.read_bytes()
    load(case)
    with np.load(file) as arrays:
        np.savez(file, **{name: 2 * arrays[name] if name == "mass" else arrays[name] for name in arrays})
    try:
        with pytest.raises(ScenarioError, match="mass_matrix: is of"):
            load(case)
    finally:
        file.write_bytes(kept)


def test_what_modes_are_computed_from_has_no_derivatives(load, folder):
    """Campaigns compute modes anew for each case; what is traced has those of the nominal one."""
    scenario = load(docking(folder))
    keys = [place.key for place in places_of(scenario)]
    assert f"{FLEXIBLE}.damping_ratio" in keys
    assert [key for key in keys if key.startswith(f"{FLEXIBLE}.")] == [f"{FLEXIBLE}.damping_ratio"]
    with pytest.raises(ScenarioError, match="is computed with before it"):
        chosen_places(scenario, places_of(scenario), [f"{FLEXIBLE}.up_to"], "--to")
