"""Long steps while nothing touches: a brief touch of any contact is seen, whatever the others do."""

from __future__ import annotations

import numpy as np
import pytest

import dockdyn

PASSING = """
schema = 1
kind = "assembly"
duration = 8.0
[[body]]
name = "visitor"
mass = 50.0
inertia = [5.0, 5.0, 5.0]
position = [4.0, 0.0, 0.0]
velocity = [-1.0, 0.0, 0.0]
feature = [
  { name = "far", position = [0.0, 3.0, 0.0], radius = 0.05 },
  { name = "near", position = [0.0, 0.0, 0.0], radius = 0.05 },
]
[[body]]
name = "station"
mass = 5000.0
inertia = [900.0, 900.0, 900.0]
surface = [
  { name = "wall", shape = "plane", point = [-6.0, 0.0, 0.0], normal = [1.0, 0.0, 0.0] },
  { name = "knob", shape = "sphere", centre = [0.0, 0.0, -0.14], radius = 0.1 },
]
"""


@pytest.mark.parametrize("order", [0, 1])
def test_a_brief_touch_of_any_contact_is_seen(order):
    """A ball that passes over a knob, 10 mm deep, long before another one comes to a wall, in either order."""
    normal = {"law": "hertz", "stiffness": 1e5}
    contacts = [{"feature": "far", "surface": "wall", "normal": normal}]
    contacts.insert(order, {"feature": "near", "surface": "knob", "normal": normal})
    found = dockdyn.summarise(dockdyn.simulate(dockdyn.load(PASSING, {"contact": contacts})))
    # the centres are 0.15 m apart where they touch
    assert found["first_contact_s"] == pytest.approx(4.0 - np.sqrt(0.15**2 - 0.14**2), abs=1e-9)
