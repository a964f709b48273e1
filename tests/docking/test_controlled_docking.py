"""A chaser with panels on hinges that control steers to a dock: balances, its attitude, campaigns, report, refusals."""

import copy

import numpy as np
import pytest
from helpers.refusals import refused
from mechanism_cases import pressing
from places import results_pages
from plain_tables import by_name, without_elements

import dockdyn
from dockdyn.pages import report_html
from dockdyn.results.requirements import is_of_member
from dockdyn.studies.cases.batch import run_cases, runs_in_batches

PITCH = np.radians(3.0)


def panel(name, side):
    """A solar array on a hinge that lets it swing in the plane of the approach."""
    return {
        "name": name,
        "on": "bus",
        "mass": 20.0,
        "inertia": [10.0, 0.5, 10.0],
        "position": [0.0, 2.0 * side, 0.0],
        "joint": {
            "kind": "revolute",
            "position": [0.0, 0.8 * side, 0.0],
            "axis": [0, 0, 1],
            "stiffness": 140.0,
            "damping": 0.7,
        },
    }


def docking(**control):
    """A chaser with two panels, its attitude held by a wheel, that a latch catches in a cone, forces of contacts delayed."""
    bus = {
        "name": "bus",
        "mass": 400.0,
        "inertia": [80.0, 120.0, 130.0],
        "feature": {"head": {"position": [1.5, 0.0, 0.0], "radius": 0.03}},
        "port": {"tip": {"position": [1.53, 0.0, 0.0], "axis": [1, 0, 0]}},
    }
    cone = {"shape": "cone", "apex": [1.6, 0, 0], "axis": [1, 0, 0], "half_angle": 0.7, "depth": 0.2}
    target = {
        "name": "target",
        "mass": 900.0,
        "inertia": [300.0, 400.0, 410.0],
        "surface": {"cone": cone},
        "port": {"mouth": {"position": [1.8, 0.0, 0.0], "axis": [1, 0, 0]}},
    }
    latch = {
        "between": ["bus", "target"],
        "anchor": [[1.5, 0.0, 0.0], [1.66, 0.0, 0.0]],
        "reach": 0.02,
        "lateral": 0.03,
        "stiffness": 2e4,
        "damping": 2000.0,
    }
    hold = {"law": "attitude-hold", "frame": "port", "base_stiffness": 60.0, "base_damping": 300.0, "base_limit": 8.0}
    return {
        "schema": 2,
        "duration": 60.0,
        "approach": {
            "of": "tip",
            "to": "mouth",
            "distance": 0.05,
            "closing_speed": 0.05,
            "lateral_offset": [0.03, -0.02],
            "pitch": PITCH,
        },
        "body": by_name([bus, panel("left", 1), panel("right", -1), target]),
        "contact": {"head": {"between": ["head", "cone"], **pressing(2e4, 1.0, 1.0, 0.1, 2e-3)}},
        "latch": {"latch": latch},
        "control": hold | control,
        "loop": {"delay": 0.005},
        "integrator": {"tolerance": 1e-9},
        "output": {"interval": 0.01},
    }


@pytest.fixture(scope="module")
def docked(load):
    return dockdyn.simulate(load(docking()))


@pytest.mark.full
def test_a_latched_chaser_is_turned_back_face_to_face(docked):
    """Control rights it through contact and capture, panels swinging."""
    summary = dockdyn.summarise(docked)
    assert summary["captured"] and summary["contact.count"] >= 1
    assert float(np.linalg.norm(docked.attitude_error[0])) == pytest.approx(PITCH, abs=1e-9)
    assert summary["control.attitude_error_rad"] < PITCH / 50
    assert abs(docked.joint_angle).max() > 1e-3
    assert docked.attrs["steered_body"] == "bus"


@pytest.mark.full
def test_without_control_the_misalignment_stays(load):
    free = dockdyn.simulate(load(docking(law="none")))
    turned = free.rotation.values[-1, 0] - free.rotation.values[-1, 3]
    assert np.linalg.norm(turned) > PITCH / 10 and "control_work" not in free
    assert "control.work_J" not in dockdyn.summarise(free)


def test_balances_count_what_control_gives(docked):
    """The wheel's momentum is part of the angular one; contacts, elements, hinges and control give the energy."""
    summary = dockdyn.summarise(docked)
    assert summary["linear_momentum_error"] < 1e-10 and summary["angular_momentum_error"] < 1e-10
    assert summary["work_energy_error"] < 1e-7
    power = np.einsum("ti,ti->t", docked.wheel_torque, docked.rate[:, 0])
    work = np.concatenate([[0.0], np.cumsum((power[1:] + power[:-1]) / 2 * np.diff(docked.time))])
    np.testing.assert_allclose(docked.control_work, work, rtol=0, atol=1e-2 * np.abs(work).max())  # of samples


def test_everything_in_the_result_is_documented(docked):
    text = results_pages()
    names = [*docked.data_vars, *docked.sizes, *docked.attrs, *dockdyn.summarise(docked)]
    assert not [name for name in names if f"`{name}`" not in text and not is_of_member(name)]


@pytest.mark.full
def test_the_report_shows_control(docked):
    page = report_html(docked)
    assert "Control of “bus”" in page and "What control gives “bus”" in page


def jets():
    """Return pairs of thrusters on every side of the bus."""
    places = [(y, z) for y in (0.5, -0.5) for z in (0.5, -0.5)]
    directions = [sign * axis for axis in np.eye(3) for sign in (1.0, -1.0)]
    seats = [(place, direction) for place in places for direction in directions]
    return {
        f"jet-{number}": {"position": [-0.5, *place], "direction": direction, "force": 10.0}
        for number, (place, direction) in enumerate(seats)
    }


@pytest.fixture(scope="module")
def pulsed(load):
    """Steered by pulses of thrusters instead, with an engine of phases beside."""
    case = docking(base_limit=1.0, period=0.5, thruster=jets(), velocity_damping=200.0, velocity=[-0.05, 0.0, 0.0])
    case["control"]["modulation"] = {"law": "pulse-width", "shortest_pulse": 0.02}
    case["duration"] = 6.0
    engine = {"body": "target", "position": [-1.0, 0.1, 0], "direction": [1, 0, 0]}
    case["thruster"] = {"engine": engine | {"force": 5.0}}
    case["phase"] = {"free": {}, "touched": {"when": "contact", "set": {"thruster.engine.force": 0.0}}}
    return dockdyn.simulate(load(case))


@pytest.mark.full
def test_pulses_are_booked_beside_those_of_phases(pulsed):
    """The impulse is that of all on-times and of the engine, in the direction in which each pushed."""
    summary = dockdyn.summarise(pulsed)
    assert summary["control.thruster_pulses"] > 5 and summary["thruster.impulse_N_s"] > 1.0
    assert summary["linear_momentum_error"] < 1e-10 and summary["angular_momentum_error"] < 1e-10
    assert summary["work_energy_error"] < 1e-7
    used = 10.0 * float(pulsed.thruster_on_time[-1].sum())
    assert summary["control.thruster_impulse_N_s"] == pytest.approx(used, rel=1e-9)
    gained = pulsed.linear_momentum.values - pulsed.linear_momentum.values[0]
    np.testing.assert_allclose(pulsed.thruster_impulse, gained, rtol=0, atol=1e-8)


@pytest.mark.full
def test_control_is_no_load_at_named_points(load):
    """What a wheel and thrusters give is not what another body puts on theirs."""
    case = docking(velocity_damping=200.0, velocity=[-0.1, 0.0, 0.0], thruster_force=5.0)
    case |= {"body": {name: case["body"][name] for name in ("bus", "target")}, "duration": 0.5}
    data = dockdyn.simulate(load(case))
    assert np.abs(data.thruster_force).max() > 1 and np.abs(data.wheel_torque).max() > 1
    assert not np.abs(data.load_force[:3]).max() and not np.abs(data.load_moment[:3]).max()


@pytest.mark.full
def test_cases_of_a_campaign_are_those_of_single_runs(load):
    """In compiled batches, with figures of control and gains that differ."""
    case = docking()
    case |= {"duration": 4.0, "body": {name: case["body"][name] for name in ("bus", "target")}}
    scenario = load(case)
    keys, rows = ["control.base_damping", "approach.pitch"], np.array([[300.0, 0.05], [150.0, 0.02], [400.0, -0.03]])
    asked = ["control.attitude_error_rad", "control.work_J", "control.wheel_momentum_N_m_s"]
    assert runs_in_batches(scenario, asked)
    found = run_cases(scenario, keys, rows, figures=asked)
    assert found.reasons == ["", "", ""]
    for row, values in enumerate(rows):
        summary = dockdyn.summarise(dockdyn.simulate(scenario.at(dict(zip(keys, values.tolist(), strict=True)))))
        for name in (*asked, "peak_force_N"):
            assert found.figures[name][row] == pytest.approx(summary[name], rel=1e-6), name


MODULE = '''
import dockdyn
import jax.numpy as jnp
from dockdyn import parameter
from dockdyn.control import Command


class Damp(dockdyn.Controller):
    """Rates are damped, by those over the target's."""

    gain: float = parameter("N*m*s/rad", "a gain", least=0)

    def act(self, memory, seen):
        return memory, Command(jnp.zeros(3), -self.gain * seen.chaser.rate)
'''


@pytest.mark.full
def test_a_controller_of_ones_own_steers_any_body(tmp_path, monkeypatch, load):
    """As the built-in law does, the body that it steers stated beside its own keys."""
    (tmp_path / "damping_panel.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    case = without_elements(docking()) | {"duration": 3.0, "contact": {}, "loop": {}}
    del case["body"]["right"]
    case["body"]["left"]["joint"]["start_rate"] = 0.05
    case["control"] = {"law": "rate-damping", "base_damping": 20.0, "body": "left", "target": "target"}
    built_in = dockdyn.simulate(load(case))
    case["control"] = {"law": "damping_panel:Damp", "gain": 20.0, "body": "left", "target": "target"}
    own = dockdyn.simulate(load(case))
    for name in ("attitude", "wheel_momentum", "control_work"):
        np.testing.assert_allclose(own[name], built_in[name], rtol=0, atol=1e-12, err_msg=name)


def without_approach(control):
    case = docking()
    del case["approach"]
    case["body"]["bus"] |= {"position": [-5.0, 0.0, 0.0]}
    case["body"]["target"] |= {"position": [0.0, 0.0, 0.0]}
    case["control"] = {"law": "rate-damping", "base_damping": 5.0} | control
    return case


def changed(**keys):
    return copy.deepcopy(docking()) | keys


WRONG = {
    "no such body": (docking(body="buss"), "control.body = 'buss': no such body; did you mean 'bus'"),
    "no such target": (docking(target="panel"), "control.target = 'panel': no such body;"),
    "itself": (docking(body="bus", target="bus"), "control.target = 'bus': is the body that control acts on"),
    "no body": (without_approach({}), "control.body is missing: without an [approach] it must name the body"),
    "no port": (without_approach({"body": "bus", "frame": "port"}), "control.frame = 'port' needs an [approach]"),
    "wrong port": (
        docking(body="left"),
        "control.frame = 'port': must act on 'bus', which approaches, with the target",
    ),
    "fixed steps": (
        changed(control={"law": "rate-damping", "base_damping": 5.0, "period": 0.1}, integrator={"method": "fixed"}),
        "integrator.method must be located",
    ),
    "too many samples": (docking(period=1e-6), "samples for a duration of 60 s"),
    "foreign key": (docking(stiffness=3.0), "control.stiffness: unknown key"),
    "key of the law": (
        changed(control={"law": "rate-damping", "base_damping": 5.0, "base_stiffness": 3.0}),
        "law rate-damping has no base_stiffness; it has",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_in_one_line(load, name):
    case, words = WRONG[name]
    with refused(words):
        load(case)
