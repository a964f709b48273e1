"""Impacts of whole bodies with friction beside Drake, an engine that shares no code: its numbers are kept, and how they came.

A contact with a plane acts for Drake in the middle of the overlap, for dockdyn where the ball is deepest: a lever that differs
by as much as the depth, so that a hundredfold stiffness must bring both ten times nearer. Between two balls both act in the
middle, and agree at any stiffness.
"""

from itertools import pairwise

import numpy as np
import pytest
from impact_scenes import RADIUS, SCENES, SLOW, STIFFNESSES, drake_says, tables_of

import dockdyn

TENFOLD = (6.0, 14.0)  # how much nearer a hundredfold stiffness brings both: 10, to the next order in the depth
OFTEN = "ball that rolls off"
PLANES = [name for name, scene in SCENES.items() if len(scene.bodies) == 1]


def apart(name, stiffness):
    """By how much velocities (m/s), and rates (rad/s), at the end differ, and the largest of each that Drake has."""
    found, said = dockdyn.simulate(dockdyn.load(tables_of(SCENES[name], stiffness))), drake_says(name, stiffness)
    rows = []
    for key in ("velocity", "rate"):
        theirs = np.array([body[key] for body in said])
        rows.append((np.abs(found[key].values[-1][: len(said)] - theirs).max(), np.abs(theirs).max()))
    return np.array(rows).T


@pytest.mark.parametrize(
    "name", [OFTEN, *(pytest.param(name, marks=pytest.mark.full) for name in PLANES if name != OFTEN)]
)
def test_what_hits_a_plane_goes_on_as_drake_says_the_stiffer_the_nearer(name):
    shares = [differ / largest for differ, largest in (apart(name, stiffness) for stiffness in STIFFNESSES)]
    for soft, stiff in pairwise(shares):
        nearer = soft / stiff
        assert ((nearer > TENFOLD[0]) & (nearer < TENFOLD[1])).all(), shares
    assert shares[-1].max() < 3e-4  # at depths of 1e-5 m and levers of 0.05 m


@pytest.mark.full
@pytest.mark.parametrize("stiffness", STIFFNESSES)
def test_two_balls_part_as_drake_says(stiffness):
    """But for the speed below which friction fades, for each by another curve."""
    (velocity, rate), _ = apart("two balls aside", stiffness)
    assert velocity < SLOW / 10 and rate * RADIUS < SLOW / 5
