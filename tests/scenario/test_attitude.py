"""Attitudes as a user writes them."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import TypeAdapter
from scipy.spatial.transform import Rotation

import dockdyn
from dockdyn.scenario.language.places import places_of
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.tables.attitude import Attitude, quaternion_of


@pytest.mark.parametrize("length", [0.0, 0.998, 1.002, 3.0])
def test_what_is_no_unit_quaternion_is_refused_in_one_line(length):
    with pytest.raises(dockdyn.ScenarioError, match=r"chaser\.attitude.*1e-3") as told:
        dockdyn.load("probe-cone", {"body.chaser.attitude": [0.6 * length, 0.8 * length, 0.0, 0.0]})
    assert "\n" not in str(told.value)


ORDERS = ["xyz", "xzy", "yxz", "yzx", "zxy", "zyx", "xyx", "xzx", "yxy", "yzy", "zxz", "zyz"]
ATTITUDE = TypeAdapter(Attitude)


def forms_of(turn, chance):
    """One attitude in each form; axes have lengths of any size."""
    matrix, vector = turn.as_matrix(), turn.as_rotvec()
    order = ORDERS[chance.integers(len(ORDERS))]
    first, second = sorted(chance.choice(3, 2, replace=False))
    axes = {"xyz"[axis]: (10 ** chance.uniform(-2, 2) * matrix[:, axis]).tolist() for axis in (first, second)}
    return {
        "quaternion": turn.as_quat(scalar_first=True).tolist(),
        "euler": {"euler": turn.as_euler(order.upper()).tolist(), "order": order},
        "axis": {"axis": (3 * vector).tolist(), "angle": float(np.linalg.norm(vector))},
        "two axes": axes,
        "matrix": {"matrix": matrix.tolist()},
    }


@pytest.mark.parametrize("seed", range(30))
def test_every_form_is_the_same_turn(seed):
    """Beside SciPy's rotations."""
    chance = np.random.default_rng(seed)
    turn = Rotation.random(random_state=seed)
    for form, stated in forms_of(turn, chance).items():
        found = np.asarray(quaternion_of(ATTITUDE.validate_python(stated)))
        apart = (Rotation.from_quat(found, scalar_first=True).inv() * turn).magnitude()
        assert apart < (3e-8 if form == "euler" else 1e-13), form  # near gimbal lock angles are not told apart


def attitudes_of_sections(section=Section):
    """Every key of the language, section by section, that is an attitude or takes four numbers by its annotation."""
    for name, field in section.model_fields.items():
        if name.endswith("attitude") or "min_length=4" in repr(field):
            yield f"{section.__module__}.{section.__name__}.{name}", field
    for below in section.__subclasses__():
        yield from attitudes_of_sections(below)


def test_every_attitude_of_a_scenario_takes_every_form():
    dockdyn.load("probe-cone")  # which imports the language
    stated = forms_of(Rotation.random(random_state=1), np.random.default_rng(1))
    keys = dict(attitudes_of_sections())
    assert len(keys) >= 9  # of bodies, meshes, clouds, looks, bushings, control, mountings
    for key, field in keys.items():
        adapter = TypeAdapter(field.rebuild_annotation())
        found = [np.asarray(quaternion_of(adapter.validate_python(one))) for one in stated.values()]
        for quaternion in found[1:]:
            assert abs(quaternion @ found[0]) == pytest.approx(1, abs=1e-13), key


def test_angles_are_drawn_set_and_derived_by_their_keys():
    turned = {"euler": [{"distribution": "uniform", "low": "-2 deg", "high": "2 deg"}, 0.0, "3 deg"], "order": "zyx"}
    scenario = dockdyn.load("probe-cone", {"body.target.attitude": turned, "body.target.attitude.euler.1": "1 deg"})
    assert scenario.dispersions[0].keys == ("body.target.attitude.euler.0",)
    assert scenario.content.body[1].attitude.euler == pytest.approx(np.radians([0.0, 1.0, 3.0]))
    assert dockdyn.load(scenario.text()).text() == scenario.text()
    keys = [place.key for place in places_of(scenario) if "attitude" in place.key]
    assert keys == [f"body.target.attitude.euler.{number}" for number in range(3)]


WRONG = [
    ([1, 0, 0], r" = \[1, 0, 0\]: must have 4 entries, has 3"),
    ({"angel": 3}, r": must be a quaternion \[w, x, y, z\], \{euler, order\}, .*"),
    (3, r" = 3: must be a quaternion .*"),
    ({"angle": "3 deg"}, r"\.axis: missing; must be a list of 3 entries, each a number"),
    ({"axis": [0, 0, 1], "angle": "3 m"}, r"\.angle = '3 m': must be an angle in rad, .*; m is a length"),
    ({"euler": ["3 deg", 0, 0]}, r"\.order: missing; must be 'xyz' or 'xzy'.*"),
    ({"euler": [0, 0, 0], "order": "abc"}, r"\.order = 'abc': must be 'xyz', .*"),
    ({"x": [1, 0, 0]}, r": must state two of x, y and z, .*"),
    ({"x": [1, 0, 0], "z": [1, 1, 0]}, r": x and z must be at right angles; they are 45 deg apart"),
    ({"matrix": [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}, r": matrix must be a rotation: .*"),
]


@pytest.mark.parametrize(("stated", "words"), WRONG, ids=[str(stated) for stated, _ in WRONG])
def test_what_is_no_attitude_is_refused_by_its_key(stated, words):
    with pytest.raises(dockdyn.ScenarioError, match=rf"^probe-cone: body\.target\.attitude{words}$"):
        dockdyn.load("probe-cone", {"body.target.attitude": stated})
