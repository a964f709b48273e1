"""Mechanisms on a line: the same as in space, where all is on the x axis; closed forms; what is refused."""

import copy
import math

import numpy as np
import pytest
from helpers.refusals import refused
from plain_tables import KINDS, acting, without_elements

import dockdyn

LAWS = (
    {"law": "spring-dashpot", "stiffness": 4e3, "damping": 30.0},
    {"law": "hertz", "stiffness": 2e5},
    {"law": "hunt-crossley", "stiffness": 3e5, "exponent": 1.5, "damping": 2.0},
)


def along(number):
    return [float(number), 0.0, 0.0]


def drawn(seed):
    """Three bodies, the first with another one on a slide, the last with one welded to it; what acts between them at random."""
    draw = np.random.default_rng([7, seed])

    def number(low, high):
        return float(draw.uniform(low, high))

    slide = {"stiffness": number(200, 900), "damping": number(0, 5), "axis": int(draw.choice([1, -1]))}
    if draw.random() < 0.5:
        slide |= {"stroke": [-0.004, 0.004], "stop_stiffness": 2e4, "stop_damping": 10.0}
    bodies = {
        "bus": {"mass": number(20, 60), "on": "probe", "position": -0.4, "joint": slide},
        "probe": {
            "mass": number(2, 9),
            "position": -0.31 - number(2e-3, 6e-3),
            "velocity": number(0.05, 0.12),
            "port": {"tip": {"position": 0.3, "axis": 1}},
        },
        "drogue": {"mass": number(3, 12), "port": {"mouth": {"position": -0.01, "axis": -1}}},
        "lid": {"mass": number(1, 4), "on": "drogue", "position": 0.1, "joint": {"kind": "locked"}},
        "target": {"mass": number(30, 90), "position": 0.5},
    }
    between = {"between": ["drogue", "target"]}
    elements = [
        {"kind": "bushing", "name": "mount", **between, "stiffness": number(300, 900), "damping": number(0, 20)},
        {"kind": "strut", "name": "strut", "between": ["lid", "target"], "stiffness": 80.0, "damping": 3.0},
        {"kind": "cable", "name": "cable", **between, "anchor": [0.02, 0.1], "stiffness": 500.0, "free_length": 0.585},
        {"kind": "magnet", "name": "magnet", "between": ["bus", "target"], "force": 2.0, "gap": 0.4},
        {"kind": "thruster", "name": "jet", "body": "bus", "force": number(0.1, 1.0), "direction": -1},
        {
            "kind": "latch",
            "name": "hook",
            "between": ["probe", "drogue"],
            "anchor": [0.3, -0.009],
            "reach": 2e-4,
            "stiffness": 3e3,
            "damping": 40.0,
        },
    ]
    chosen = [one for one in elements if draw.random() < 0.6]
    tables = {
        "schema": 2,
        "motion": "line",
        "duration": 0.5,
        "body": bodies,
        "contact": {"touch": {"between": ["tip", "drogue.mouth"], "normal": LAWS[seed % len(LAWS)]}},
        **acting(*chosen),
    }
    if any(one["name"] == "jet" for one in chosen):
        tables["phase"] = {"quiet": {}, "push": {"when": "contact", "set": {"thruster.jet.force": 2.0}}}
    if seed % 2:
        tables["loop"] = {"delay": 2e-3}
    if draw.random() < 0.5:
        tables["control"] = {"body": "bus", "position_stiffness": 3.0, "velocity_damping": 4.0, "velocity": 0.02}
    return tables


def lifted(tables):
    """The same in space, written out from what the page of scenarios says of a line."""
    found = copy.deepcopy(tables)
    del found["motion"]
    for body in found["body"].values():
        body["inertia"] = [1.0, 1.0, 1.0]
        for key in ("position", "velocity"):
            if key in body:
                body[key] = along(body[key])
        if "joint" in body:
            body["joint"].setdefault("kind", "prismatic")
            if body["joint"]["kind"] == "prismatic":
                body["joint"]["axis"] = along(body["joint"].get("axis", 1))
        for point in body.get("port", {}).values():
            point |= {"position": along(point["position"]), "axis": along(point["axis"])}
    probe, drogue = found["body"]["probe"], found["body"]["drogue"]
    probe["feature"] = {"ball": {"position": along(0.3)}}
    drogue["surface"] = {"plate": {"shape": "plane", "point": along(-0.01), "normal": along(-1)}}
    for contact in found["contact"].values():
        contact["between"] = ["ball", "plate"]
    for kind, one in [(sort, one) for sort in KINDS for one in found.get(sort, {}).values()]:
        if kind == "bushing":
            one |= {"position": along(0), "stiffness": along(one["stiffness"]), "turning_stiffness": along(0)}
            one |= {"damping": along(one["damping"]), "turning_damping": along(0)}
        elif kind == "thruster":
            one |= {"position": along(0), "direction": along(one["direction"])}
        else:
            one["anchor"] = [along(end) for end in one.get("anchor", [0, 0])]
        if kind == "latch":
            one |= {"axis": along(-1), "lateral": 1.0}
    if "control" in found:
        held = found["control"]
        held |= {
            "law": "attitude-hold",
            "base_stiffness": 1.0,
            "base_damping": 1.0,
            "velocity": along(held["velocity"]),
        }
    return found


@pytest.mark.full
@pytest.mark.parametrize("seed", range(12))
def test_a_line_is_space_along_x(seed):
    """Everything on the x axis, with a mass matrix of six freedoms a body in space and of one on the line."""
    tables = drawn(seed)
    line, space = (dockdyn.simulate(dockdyn.load(one)) for one in (tables, lifted(tables)))
    assert line.attrs["finished"] and line.sizes["episode"] >= 1
    for name in ("episode_onset", "episode_release", "episode_peak_force"):
        np.testing.assert_allclose(line[name], space[name], rtol=1e-7, atol=1e-9, err_msg=name)
    for name in ("position", "velocity", "contact_force", "load_force", "joint_force"):
        scale = float(np.abs(space[name]).max()) or 1.0
        np.testing.assert_allclose(line[name], space[name], rtol=0, atol=1e-7 * scale, err_msg=name)
    summary = dockdyn.summarise(line)
    assert summary["linear_momentum_error"] < 1e-11 and summary["work_energy_error"] < 1e-8


@pytest.mark.full
def test_an_approach_is_between_ports():
    """The tip is as far out of the mouth as stated, and comes as fast, wherever and however the target moves."""
    tables = without_elements(drawn(0)) | {"phase": {}}
    del tables["body"]["probe"]["position"], tables["body"]["probe"]["velocity"]
    tables["body"]["drogue"] |= {"position": 0.7, "velocity": -0.02}
    tables["approach"] = {"of": "tip", "to": "mouth", "distance": 0.05, "closing_speed": 0.1}
    run = dockdyn.simulate(dockdyn.load(tables | {"duration": 0.2}))
    place, speed = (run[name].sel(axis="x").values[0] for name in ("position", "velocity"))
    assert (place[2] - 0.01) - (place[1] + 0.3) == pytest.approx(0.05, abs=1e-15)
    assert speed[1] == pytest.approx(-0.02 + 0.1, abs=1e-15)


@pytest.mark.full
def test_welded_masses_move_as_one():
    """Two welded masses on a spring swing at √(k/μ), as their sum does."""
    tables = {
        "schema": 2,
        "motion": "line",
        "duration": 2.0,
        "body": {
            "one": {"mass": 3.0, "velocity": 0.1},
            "welded": {"mass": 2.0, "on": "one", "position": 0.2, "joint": {"kind": "locked"}},
            "other": {"mass": 7.0, "position": 1.0},
        },
        "bushing": {"spring": {"between": ["welded", "other"], "stiffness": 40.0}},
    }
    run = dockdyn.simulate(dockdyn.load(tables))
    fast = math.sqrt(40.0 * (1 / 5 + 1 / 7))
    swing = 0.1 * np.sin(fast * run.time.values) / fast
    place = run.position.sel(axis="x").values
    np.testing.assert_allclose(place[:, 1] - place[:, 2] + 0.8, swing, atol=1e-9)
    through = 2.0 * np.gradient(run.velocity.values[:, 1, 0], run.time.values, edge_order=2)
    pushed = -40.0 * swing
    np.testing.assert_allclose(run.joint_force.values[5:-5, 0, 0], (through - pushed)[5:-5], atol=1e-3)


@pytest.mark.full
def test_velocities_that_jump():
    """Of two masses by a restitution e: the relative velocity after is −e of that before."""
    tables = {
        "schema": 2,
        "motion": "line",
        "duration": 0.3,
        "body": {"one": {"mass": 3.0, "position": -0.01, "velocity": 0.1}, "other": {"mass": 7.0}},
        "contact": {"one": {"between": ["one", "other"], "impact": {"law": "frictionless", "restitution": 0.6}}},
    }
    run = dockdyn.simulate(dockdyn.load(tables))
    after = run.velocity.sel(axis="x").values[-1]
    assert after[1] - after[0] == pytest.approx(0.6 * 0.1, rel=1e-12)
    assert 3 * after[0] + 7 * after[1] == pytest.approx(3 * 0.1, rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"body.probe.joint": {"stiffness": 1.0}}, "joint: holds a body on another one; state on"),
        ({"body.bus.velocity": 0.1}, "velocity: a body that is on another one begins with its motion"),
        ({"body.bus.flexible": {"kind": "beam"}}, "flexible: on a line nothing bends"),
        ({"tree": {"arm": {"urdf": "arm.urdf"}}}, "the links of a URDF file are in space"),
        ({"body.bus.joint.kind": "mimic"}, "joint"),
        (
            {"contact.touch.normal": None, "contact.touch.impact": {"law": "newton", "restitution": 1, "friction": 0}},
            "impact",
        ),
        ({"contact.touch.between": ["tip", "mooth"]}, "'mooth': no such body or port; allowed: "),
        ({"strut.strut.hexapod": {}}, "hexapod: on a line nothing is across it"),
        ({"strut.strut.anchors": [[0, 1]]}, "anchors: on a line several alike are one of the sum"),
        ({"strut.strut.anchor": [0.5, 0.0]}, "both ends begin at one place"),
        (
            {"control": {"body": "bus", "law": "rate-damping", "base_damping": 1}},
            "base_damping: on a line nothing turns",
        ),
        ({"control": {"body": "bus"}}, "law pose needs position_stiffness or velocity_damping"),
        ({"approach": {"of": "tip", "to": "mouth", "closing_speed": 0.1, "roll": 0.1}}, "roll: on a line nothing"),
    ],
)
def test_what_cannot_be_said_is_refused_in_one_line(changes, words):
    tables = drawn(0) | {"phase": {}}
    tables |= {"strut": {"strut": {"between": ["drogue", "target"], "stiffness": 80.0}}}
    if "approach" in changes:
        del tables["body"]["probe"]["position"], tables["body"]["probe"]["velocity"]
    with refused(match=words):
        dockdyn.load(tables, changes)


def test_two_points_of_one_name_are_told_apart():
    tables = drawn(0)
    tables["body"]["target"]["port"] = {"tip": {"position": 0.0}}
    with pytest.raises(dockdyn.ScenarioError, match="probe and target have such a port"):
        dockdyn.load(tables)


def test_what_is_written_out_is_read_again():
    scenario = dockdyn.load(drawn(3))
    assert dockdyn.load(scenario.text()).text() == scenario.text()
    assert "inertia" not in scenario.text() and 'motion = "line"' in scenario.text()


@pytest.mark.full
def test_an_environment_of_gymnasium_sees_the_approach():
    """Distance out of the port and its rate, as stated; nothing across, nothing that turns."""
    from dockdyn.learning import DockingEnv

    tables = without_elements(drawn(0)) | {"phase": {}}
    del tables["body"]["probe"]["position"], tables["body"]["probe"]["velocity"]
    tables["approach"] = {"of": "tip", "to": "mouth", "distance": 0.05, "closing_speed": 0.1}
    tables.pop("control", None)
    seen, _ = DockingEnv(dockdyn.load(tables), period=0.05).reset(seed=0)
    expected = np.zeros(seen.size)
    expected[[0, 3]] = 0.05, -0.1
    np.testing.assert_allclose(seen, expected, atol=1e-7)
