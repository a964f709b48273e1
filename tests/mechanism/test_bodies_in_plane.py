"""Bodies in the plane by three coordinates each: beside trees of links in the plane, and beside bodies in space."""

import jax
import numpy as np
import pytest

from dockdyn.programs import Program
from dockdyn.scenario.load import parse

IN_PLANE = [0, 1, 5]

ARM = """
schema = 2
title = "An arm with a slide, on two heights"
duration = "1 s"
motion = "plane"

[body.base]
mass = "40 kg"
inertia = [[5, 0, 0.4], [0, 6, -0.3], [0.4, -0.3, 7]]
attitude = [0.988771077936042, 0, 0, 0.149438132473599] # 0.3 rad
velocity = [0.2, -0.1, 0]
rate = [0, 0, 0.2]

[body.upper]
on = "base"
position = [1, 0.2, 0.5]
attitude = [0.980066577841242, 0, 0, -0.198669330795061] # -0.4 rad
mass = "6 kg"
inertia = [0.3, 0.9, 1.1]
joint = { kind = "revolute", axis = [0, 0, -1], position = [0.6, 0.1, 0.5], start = 0.7, start_rate = -0.4 }

[body.slide]
on = "upper"
position = [0.5, 0, -0.1]
mass = "3 kg"
inertia = [0.1, 0.2, 0.3]
joint = { kind = "prismatic", axis = [0.8, 0.6, 0], position = [0.4, 0, 0], start = 0.2, start_rate = 0.3 }

[body.tool]
on = "slide"
position = [0.2, 0.1, 0]
mass = "1 kg"
inertia = [0.1, 0.1, 0.1]
joint = { kind = "locked" }

[body.free]
mass = "5 kg"
inertia = [0.4, 0.5, 0.6]
position = [2.5, 0.4, 0.2]
velocity = [-0.3, 0, 0]
rate = [0, 0, -0.5]

[strut.spring]
between = ["tool", "free"]
anchor = [[0, 0.1, 0], [0, 0.2, 0]]
stiffness = "30 N/m"
free_length = "0.4 m"
"""
ORBIT = '[orbit]\nsemi_major_axis = "6800 km"\ngravity_gradient = true\n'


def model(method, text=ARM):
    return parse(f'{text}\n[integrator]\nmethod = "{method}"\n', "arm").content.model()


def known(mechanism, rows):
    """What bodies are and do at the start: twists and their rates, energies, and M⁻¹ of loads, in the plane."""

    def found(rows):
        x = mechanism.initial()
        here = mechanism.placement(x)
        now = mechanism.acting(x, here, mechanism.signal(0.0, x))
        placed = mechanism.moving.placed(x.q, x.v).bodies
        twists = [(one.velocity.array(), one.rate.array()) for one in (*now.bodies, *(b.twist for b in placed))]
        answers = mechanism.moving.answer(here, rows)[:, :, np.array(IN_PLANE)]
        places = [one.pose.position.array() for one in placed]
        attitudes = [one.rotation.array() for one in placed]
        return twists, answers, places, attitudes, mechanism.moving.kinetic_energies(here)

    return Program(found)(rows)


@pytest.mark.full_cases("alone")
@pytest.mark.parametrize("text", [ARM, ARM + ORBIT], ids=["alone", "in orbit"])
def test_bodies_in_the_plane_move_as_trees_of_links_do(text):
    """Two ways to the same equations: three coordinates a body, and composite bodies on a planar base."""
    rows = np.random.default_rng(4).normal(size=(3, 5, 6))
    rows[:, :, 2:5] = 0.0
    own, other = (known(model(method, text), rows) for method in ("variational", "located"))
    for a, b in zip(jax.tree.leaves(own), jax.tree.leaves(other), strict=True):
        assert np.abs(a - b).max() < 1e-11 * max(1.0, np.abs(b).max())


def test_loads_out_of_the_plane_move_nothing():
    """Of a force along z and moments about x and y there is no answer, whatever products of inertia say."""
    rows = np.zeros((3, 5, 6))
    rows[[0, 1, 2], 1, [2, 3, 4]] = 1.0
    assert np.all(known(model("variational"), rows)[1] == 0)
