"""Flexible links in replays: what is drawn is where the run has what sits there, and a cantilever's closed form."""

import numpy as np
import pytest
from plain_tables import acting

import dockdyn
from dockdyn.docking.views.scene import mechanism_scene
from dockdyn.report.scene.rotation import rotate

EVEN = 400  # samples
LENGTH, PER_METRE, STIFF, SIDE = 4.0, 1.5, 900.0, 1500.0  # m, kg/m, N m²
ROOT = np.array([0.5, 0.0, 0.0])  # m, on the base
KINDS = ("uniform", "polynomial", "craig-bampton", "cantilever")


def mast(kind, elements, duration, damping, modes=(2, 2), speed=0.0):
    """A beam on a heavy base, with a small body at its tip that carries a ball."""
    mass = PER_METRE * LENGTH
    beam = {"kind": "beam", "length": LENGTH, "mass_per_length": PER_METRE, "bending_stiffness": [STIFF, SIDE]}
    beam["bending_modes"] = [max(one - (kind == "craig-bampton"), 0) for one in modes]
    if kind == "uniform":
        beam |= {"root": [-LENGTH / 2, 0, 0], "axis": [1, 0, 0], "across": [0, 1, 0], "damping_ratio": damping}
    else:
        beam |= {"basis": kind, "damping": damping / 2.5}  # s: the lowest mode, of 5.4 rad/s, as much as by the ratio
    joint = {"kind": "revolute", "axis": [0.0, 0.0, 1.0], "position": ROOT.tolist(), "start_rate": speed}
    if speed == 0:
        joint = {"kind": "locked", "position": ROOT.tolist()}
    bodies = {
        "base": {"mass": 1e9, "inertia": [1e12] * 3, "position": [0.3, -0.2, 0.1]},
        "mast": {
            "on": "base",
            "mass": mass,
            "inertia": [0.3, mass * LENGTH**2 / 12, mass * LENGTH**2 / 12],
            "position": (ROOT + np.array([LENGTH / 2, 0, 0])).tolist(),
            "flexible": beam,
            "joint": joint,
            "feature": {"knob": {"position": [LENGTH / 2, 0.0, 0.1], "radius": 0.02}},
        },
        "tip": {
            "on": "mast",
            "mass": 1e-3,
            "inertia": [1e-4] * 3,
            "position": [LENGTH / 2, 0.0, 0.1],
            "joint": {"kind": "locked", "position": [LENGTH / 2, 0.0, 0.1]},
        },
    }
    content = {"schema": 2, "duration": duration, "body": bodies, **acting(*elements)}
    return dockdyn.load(content | {"output": {"interval": duration / (EVEN - 1)}})


def push(force, direction):
    return {
        "kind": "thruster",
        "name": "jet",
        "body": "tip",
        "position": [0, 0, -0.1],
        "direction": direction,
        "force": force,
    }


def drawn(scenario):
    """The run, and what is drawn of it."""
    run = dockdyn.simulate(scenario)
    return run, mechanism_scene(run, scenario.content)


def places(motion, place):
    """A place of a body at all times."""
    return motion.position + rotate(motion.attitude, np.broadcast_to(place, motion.position.shape))


def line_of(found):
    """The sections of the beam (times, sections, 3), by its modes as the page bends it."""
    (beam,) = found.beams
    at = beam.place + np.einsum("tm,smc->tsc", beam.eta, beam.shift)
    if beam.bow is not None:
        at = at - 0.5 * np.einsum("tm,smn,tn->ts", beam.eta, beam.bow, beam.eta)[..., None] * beam.along
    return beam.rest.position[:, None] + rotate(np.broadcast_to(beam.rest.attitude[:, None], (*at.shape[:2], 4)), at)


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_drawn_on_a_beam_is_where_the_run_has_it(kind):
    """While it swings far, on a joint that turns: the body at the tip, and what the beam itself touches with."""
    run, found = drawn(mast(kind, [push(30.0, [0.0, 1.0, 0.5])], 1.2, 0.01, speed=0.8))
    line = line_of(found)
    assert line.shape == (len(found.time), line.shape[1], 3)
    parts = {part.name: part for part in found.parts}
    knob = parts["mast/knob"]
    there = places(knob.motion, np.array([LENGTH / 2, 0.0, 0.1]))
    tip, out = found.bodies["tip"], np.array([0.0, 0.0, -0.1])
    np.testing.assert_allclose(found.time, run.time, rtol=0, atol=1e-9)  # a frame a sample
    np.testing.assert_allclose(there, tip.position, rtol=0, atol=1e-9)
    np.testing.assert_allclose(line[:, -1], places(tip, out), rtol=0, atol=1e-9)
    np.testing.assert_allclose(line[:, 0], places(found.bodies["base"], ROOT), rtol=0, atol=1e-6)
    straight = np.linalg.norm(line[:, -1] - line[:, 0], axis=1)
    assert straight.max() < LENGTH + 1e-9 and straight.min() < LENGTH - 1e-3
    np.testing.assert_allclose(np.linalg.norm(np.diff(line, axis=1), axis=2).sum(axis=1), LENGTH, rtol=2e-3)


@pytest.mark.parametrize(
    ("kind", "share"),
    [
        pytest.param("uniform", 0.01, marks=pytest.mark.full),
        pytest.param("polynomial", 1e-3, marks=pytest.mark.full),
        pytest.param("craig-bampton", 1e-3, marks=pytest.mark.full),
        pytest.param("cantilever", 0.01, marks=pytest.mark.full),
    ],
)
def test_a_beam_pushed_at_its_tip_is_drawn_as_the_cantilever_of_the_textbook(kind, share):
    """y = F x² (3 L − x)/(6 E I); of a beam by its first two modes, all but 1 − 0.9949 of it at the tip (sum of 12/β⁴)."""
    force = 5.0
    _, found = drawn(mast(kind, [push(force, [0.0, 1.0, 0.0])], 6.0, 0.5, modes=(2, 0)))
    bent = line_of(found)[-1] - [0.3, -0.2, 0.1] - ROOT
    x = np.linspace(0, LENGTH, len(bent))
    wanted = force * x**2 * (3 * LENGTH - x) / (6 * STIFF)
    np.testing.assert_allclose(bent[:, 1], wanted, rtol=0, atol=share * wanted[-1])
    assert abs(bent[:, 2]).max() < 1e-9
