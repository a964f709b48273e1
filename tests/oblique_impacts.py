"""Oblique impacts of a ball on an anvil as Kharaz, Gorham and Salman measured them (Powder Technology 120:281, 2001).

Numbers as digitised in the examples of the programs that are compared with them; the ball as in Chung and Ooi's test 4 (2011),
the anvil of soda-lime glass, whose stiffness is recalled.
"""

import numpy as np

import dockdyn

RADIUS, DENSITY, SPEED = 2.5e-3, 4000.0, 3.9  # m, kg/m³, m/s
COEFFICIENT, RESTITUTION = 0.092, 0.98
BALL, ANVIL = (380e9, 0.23), (70e9, 0.25)  # Young's modulus (Pa), Poisson's number
# angle from the normal (deg): velocity along the anvil after the impact over that before
TANGENTIAL = {
    1.84: 0.79344,
    3.703: 0.74533,
    9.496: 0.67257,
    20.012: 0.59691,
    30.127: 0.68756,
    39.382: 0.77148,
    49.694: 0.84761,
    60.02: 0.90142,
}
# and spin after it (rad/s)
SPIN = {
    6.143: 136.18,
    10.991: 265.69,
    21.251: 577.65,
    31.157: 612.88,
    39.143: 595.49,
    50.348: 453.21,
    60.328: 382.09,
}


def impact(angle, friction=None):
    """Return the tables of an impact, and its velocity along the anvil (m/s); by default Hertz's contact sticks by Mindlin's
    stiffness."""
    elastic = 1 / sum((1 - ratio**2) / modulus for modulus, ratio in (BALL, ANVIL))
    shear = 1 / sum((2 - ratio) * 2 * (1 + ratio) / modulus for modulus, ratio in (BALL, ANVIL))
    mass = DENSITY * 4 / 3 * np.pi * RADIUS**3
    along, into = SPEED * np.sin(np.radians(angle)), SPEED * np.cos(np.radians(angle))
    sticks = {"law": "stick-slip", "coefficient": COEFFICIENT, "stiffness_ratio": 4 * shear / elastic}
    scenario = {
        "schema": 2,
        "duration": 8e-5,
        "body": {
            "ball": {
                "mass": mass,
                "inertia": [0.4 * mass * RADIUS**2] * 3,
                "position": [0.0, 0.0, RADIUS * (1 + 1e-6)],
                "velocity": [along, 0.0, -into],
                "feature": {"skin": {"position": [0.0, 0.0, 0.0], "radius": RADIUS}},
            },
            "anvil": {
                "fixed": True,
                "position": [0.0, 0.0, 0.0],
                "surface": {"top": {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [0.0, 0.0, 1.0]}},
            },
        },
        "contact": {
            "impact": {
                "between": ["ball.skin", "anvil.top"],
                "normal": {
                    "law": "hunt-crossley",
                    "exponent": 1.5,
                    "stiffness": 4 / 3 * elastic * np.sqrt(RADIUS),
                    "restitution": RESTITUTION,
                    "speed": into,
                },
                "friction": sticks if friction is None else friction,
            }
        },
    }
    return scenario, along


def rebound(load, angle, friction=None):
    """Return the share of the velocity along the anvil that is left, and the spin (rad/s), by a run of what `load` makes of
    tables."""
    scenario, along = impact(angle, friction)
    last = dockdyn.simulate(load(scenario)).isel(time=-1).sel(body="ball")
    return float(last["velocity"].sel(axis="x")) / along, float(last["rate"].sel(axis="y"))
