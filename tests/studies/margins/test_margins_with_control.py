"""Margins count control that acts at every instant: beside characteristic equations by hand, at random."""

import numpy as np
import pytest
import tomlkit
from helpers.refusals import refused
from masses_on_a_spring import DAMPER, SPRING, on_a_spring, open_loop
from plain_tables import by_name
from scipy.optimize import brentq

import dockdyn
from dockdyn.scenario.load import parse

OWN = '''
import dockdyn
import jax.numpy as jnp
from dockdyn import parameter
from dockdyn.control import Command


class Keep(dockdyn.Controller):
    """The place at t = 0 is kept by PID along x, and rates are damped."""

    stiffness: float = parameter("N/m", "a gain", least=0)
    damping: float = parameter("N*s/m", "a gain", least=0)
    integral: float = parameter("N/(m*s)", "a gain", least=0)

    def init(self, seen):
        return {"start": seen.chaser.position, "error": jnp.zeros(3)}

    def act(self, memory, seen):
        error = seen.chaser.position - memory["start"]
        force = -self.stiffness * error - self.damping * seen.chaser.velocity - self.integral * memory["error"]
        return {"start": jnp.zeros(3), "error": error}, Command(force, -200.0 * seen.chaser.rate)
'''
FRONT = 0.7  # m, from the chaser's centre of mass to its tip


class Held:
    """A body before a plate, on the line through both centres of mass, whose place control keeps: numbers at random."""

    def __init__(self, seed):
        draw = np.random.default_rng(seed)
        self.masses = draw.uniform(50, 900, 2)
        reduced = 1 / np.sum(1 / self.masses)
        self.stiffness = draw.uniform(500, 5000)
        self.damping = 2 * draw.uniform(0.1, 0.4) * np.sqrt(reduced * self.stiffness)
        frequency = draw.uniform(0.3, 1.5) * np.sqrt(self.stiffness / self.masses[0])
        self.keeps = self.masses[0] * frequency**2  # N/m
        self.slows = 2 * draw.uniform(0.3, 0.9) * self.masses[0] * frequency  # N s/m
        self.sums = draw.uniform(0.1, 0.4) * self.slows * frequency**2  # N/(m s)

    def open_loop(self, s, sums):
        """What the depth gives back of a depth, but for the delay."""
        held = 1 / (self.masses[0] * s**2 + self.slows * s + self.keeps + sums / s)
        return (self.stiffness + self.damping * s) * (held + 1 / (self.masses[1] * s**2))

    def critical_delay(self, sums):
        """The least delay (s) at which a root is on the imaginary axis, of a loop that is stable without."""
        omega = np.geomspace(1e-3, 1e4, 200_000)
        sizes = np.log(np.abs(self.open_loop(1j * omega, sums)))
        found = []
        for i in np.flatnonzero(np.diff(np.sign(sizes))):
            crossing = brentq(
                lambda w: np.log(np.abs(self.open_loop(1j * w, sums))), omega[i], omega[i + 1], xtol=1e-14, rtol=1e-14
            )
            found.append((np.angle(-self.open_loop(1j * crossing, sums)) % (2 * np.pi)) / crossing)
        return min(found)

    def tables(self, kind, control, loop):
        """The scenario; at t = 0 the tip is 1 mm before the plate."""
        law = {"law": "spring-dashpot", "stiffness": self.stiffness, "damping": self.damping}
        first, second = (
            {"mass": mass, "inertia": [20.0, 30.0, 25.0], "position": place}
            for mass, place in zip(self.masses, ([-1.001 - FRONT, 0.0, 0.0], [0.0] * 3), strict=True)
        )
        first |= {"velocity": [0.02, 0.0, 0.0], "feature": {"tip": {"position": [FRONT, 0.0, 0.0]}}}
        second |= {"surface": {"plate": {"shape": "plane", "point": [-1, 0, 0], "normal": [-1, 0, 0]}}}
        head = {"schema": 2, "duration": 1.0, "loop": loop}
        head |= {"contact": {"tip": {"between": ["tip", "plate"], "normal": law}}}
        mounted = {"rig": {"carries": "chaser", "against": "target"}} if kind == "rig" else {}
        bodies = {"body": by_name([{"name": "chaser"} | first, {"name": "target"} | second])}
        return head | mounted | bodies | {"control": control | {"body": "chaser", "target": "target"}}

    def margins(self, kind, control, loop):
        return dockdyn.margins(parse(tomlkit.dumps(self.tables(kind, control, loop)), "held"))

    @property
    def built_in(self):
        return {
            "law": "attitude-hold",
            "base_stiffness": 50.0,
            "base_damping": 100.0,
            "position_stiffness": self.keeps,
            "velocity_damping": self.slows,
        }


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.full), pytest.param(2, marks=pytest.mark.full)])
def test_a_body_that_is_held_has_the_margins_of_its_characteristic_equation(seed):
    held, delay = Held(seed), 2e-3
    found = held.margins("mechanism", held.built_in, {"delay": delay})
    assert found["stable"]
    assert found["critical_delay_s"] == pytest.approx(held.critical_delay(0.0), rel=1e-9)
    for pair in found["rightmost_roots"][:4]:
        root = complex(*pair)
        on_axis = abs(1 + held.open_loop(root, 0.0) * np.exp(-root * delay)) < 1e-7
        assert on_axis or turning(held, root), root


def turning(held, root):
    """Whether a root is that of the attitude that is held about an axis, which no contact turns."""
    return any(abs(inertia * root**2 + 100.0 * root + 50.0) < 1e-6 for inertia in (20.0, 30.0, 25.0))


@pytest.mark.full
@pytest.mark.parametrize("seed", [3, 4])
def test_what_a_law_of_ones_own_remembers_is_part_of_the_loop(own_files, seed):
    held = Held(seed)
    own = {"law": "own_pid:Keep", "stiffness": held.keeps, "damping": held.slows, "integral": held.sums}
    scenario = tomlkit.dumps(held.tables("mechanism", own, {"delay": 1e-3}))
    found = dockdyn.margins(own_files({"own_pid.py": OWN, "held.toml": scenario}) / "held.toml")
    assert found["critical_delay_s"] == pytest.approx(held.critical_delay(held.sums), rel=1e-9)
    assert found["critical_delay_s"] != pytest.approx(held.critical_delay(0.0), rel=1e-3)


@pytest.mark.full
@pytest.mark.parametrize("seed", [5, 6])
def test_a_rig_that_holds_forces_has_what_control_does_behind_its_contact(seed):
    """A hold of a short period delays by half of it, up to its square."""
    held = Held(seed)
    known = held.critical_delay(0.0)
    loop = {"delay": known / 100, "hold": {"period": known / 15}}
    found = held.margins("rig", held.built_in, loop)
    assert found["critical_delay_s"] + known / 30 == pytest.approx(known, rel=1e-3)
    alone = held.margins("rig", {"law": "none"}, loop)
    assert alone["critical_delay_s"] != pytest.approx(found["critical_delay_s"], rel=1e-2)


@pytest.mark.full
def test_a_joint_that_control_holds_is_one_with_a_spring_and_a_damper(load):
    """Two masses on a slide, whose characteristic equation is known by hand."""
    tables, delay = on_a_spring(0.01, element=False), 0.01
    for key in ("stiffness", "damping"):
        del tables["body"]["buffer"]["joint"][key]
    arm = {"law": "joint-pd", "stiffness": [SPRING], "damping": [DAMPER], "body": "base"}
    found = dockdyn.margins(load(tables | {"control": arm}))
    known = dockdyn.margins(load(on_a_spring(0.01, element=False)))
    assert found["critical_delay_s"] == pytest.approx(known["critical_delay_s"], rel=1e-9)
    for pair in found["rightmost_roots"][:4]:
        root = complex(*pair)
        assert abs(1 + open_loop(root) * np.exp(-root * delay)) < 1e-7


def test_control_at_samples_is_refused_in_one_line():
    held = Held(0)
    with refused(match=r"control.period = 0.1 s: .* must be left out"):
        held.margins("mechanism", held.built_in | {"period": 0.1}, {"delay": 1e-3})
