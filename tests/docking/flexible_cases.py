"""A spacecraft with a flexible wing, for tests of the kind `mechanism`, and a cantilever from the textbook."""

import copy

import jax.numpy as jnp
import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq

from dockdyn.integrate.model import jacobian_by_columns
from dockdyn.results.plan import jit_once

ROOT, LENGTH, MASS_PER_LENGTH, BENDING = [0.0, -2.9, 0.0], 5.8, 3.0, [90.0, 150.0]
TORSION, POLAR, RATIO = 30.0, 0.2, 0.01
TIP = [0.1, 2.9, 0.3]  # beside the beam's end
KAPPA = np.pi / 2  # of the first mode of twist, sin κξ
BEAM = {
    "kind": "beam",
    "root": ROOT,
    "axis": [0.0, 1.0, 0.0],
    "across": [1.0, 0.0, 0.0],
    "length": LENGTH,
    "mass_per_length": MASS_PER_LENGTH,
    "bending_stiffness": BENDING,
    "torsional_stiffness": TORSION,
    "polar_inertia": POLAR,
    "damping_ratio": RATIO,
    "bending_modes": [2, 1],
    "twist_modes": 1,
}
HINGE = {
    "kind": "revolute",
    "position": [0.0, 1.0, 0.0],
    "axis": [0.0, 1.0, 0.0],
    "start": 0.2,
    "start_rate": 0.1,
    "stiffness": 15.0,
}
SPRING = {"normal": {"law": "hunt-crossley", "stiffness": 900.0, "exponent": 1.5, "damping": 0.0}}
WINGED = {
    "schema": 2,
    "duration": 2.5,
    "body": {
        "bus": {
            "mass": 300.0,
            "inertia": [[60.0, 3.0, -2.0], [3.0, 70.0, 1.0], [-2.0, 1.0, 80.0]],
            "velocity": [0.1, 0.0, 0.02],
            "rate": [0.1, -0.2, -0.4],
        },
        "wing": {
            "on": "bus",
            "mass": 20.0,
            "inertia": [62.0, 5.0, 60.0],
            "position": [0.1, 4.0, 0.2],
            "joint": HINGE,
            "flexible": BEAM,
            "feature": {"tip": {"position": TIP, "radius": 0.05}},
            "port": {"end": {"position": TIP, "axis": [0.0, 1.0, 0.0]}},
        },
        "ball": {
            "mass": 10.0,
            "inertia": [1.0, 1.0, 1.0],
            "position": [1.2, 7.0, 0.5],
            "velocity": [0.8, 0.0, 0.0],
            "surface": {"skin": {"shape": "sphere", "centre": [0.0, 0.0, 0.0], "radius": 0.4}},
        },
    },
    "contact": {"tip": {"between": ["tip", "skin"], **SPRING}},
    "output": {"interval": 0.05},
}


def with_flexible(case, **keys):
    """A case of its own whose wing has other keys."""
    found = copy.deepcopy(case)
    found["body"]["wing"]["flexible"] |= keys
    return found


def cantilever(count):
    """Shapes of a clamped beam of length 1 over ξ with a tip at 1, their slopes and β, by cosh and cos."""
    found = []
    for k in range(count):
        beta = brentq(lambda x: np.cos(x) + 1 / np.cosh(x), (k + 0.1) * np.pi, (k + 0.9) * np.pi, xtol=1e-15)
        sigma = (np.cosh(beta) + np.cos(beta)) / (np.sinh(beta) + np.sin(beta))
        size = 2 * (-1) ** k

        def shape(s, beta=beta, sigma=sigma, size=size):
            x = beta * s
            return (np.cosh(x) - np.cos(x) - sigma * (np.sinh(x) - np.sin(x))) / size

        def slope(s, beta=beta, sigma=sigma, size=size):
            x = beta * s
            return beta * (np.sinh(x) + np.sin(x) - sigma * (np.cosh(x) - np.cos(x))) / size

        found.append((shape, slope, beta))
    return found


def integral(function):
    """Over ξ from 0 to 1."""
    return quad(function, 0, 1, epsabs=1e-14, epsrel=1e-13, limit=200)[0]


def textbook():
    """Masses, frequencies, momenta about the root, shapes at the tip of the wing's modes."""
    (one, slope_one, beta_one), (two, slope_two, beta_two) = cantilever(2)
    x, y = np.eye(3)[:2]
    rows = []
    for shape, slope, beta, along, stiff in (
        (one, slope_one, beta_one, x, BENDING[0]),
        (two, slope_two, beta_two, x, BENDING[0]),
        (one, slope_one, beta_one, np.cross(y, x), BENDING[1]),
    ):
        mass = MASS_PER_LENGTH * LENGTH * integral(lambda s, f=shape: f(s) ** 2)
        linear = MASS_PER_LENGTH * LENGTH * integral(shape) * along
        angular = MASS_PER_LENGTH * LENGTH**2 * integral(lambda s, f=shape: s * f(s)) * np.cross(y, along)
        tip, turn = shape(1.0) * along, slope(1.0) / LENGTH * np.cross(y, along)
        rows.append((mass, beta**2 * np.sqrt(stiff / MASS_PER_LENGTH / LENGTH**4), linear, angular, tip, turn))
    polar = POLAR * LENGTH
    rate = KAPPA * np.sqrt(TORSION / POLAR) / LENGTH
    rows.append((polar / 2, rate, np.zeros(3), polar * integral(lambda s: np.sin(KAPPA * s)) * y, np.zeros(3), y))
    return [np.array(column) for column in zip(*rows, strict=True)]


@jit_once
def restoring(content):
    """∂η̈/∂η of all modes where bodies move as at the start, and η̈ there under what thrusters give."""
    model = content.model()
    x = model.initial()

    def accelerated(eta):
        q = x.q._replace(joints=tuple(eta))
        here = model.moving.placed(q, x.v)
        return jnp.stack(model.acting(type(x)(q, x.v, x.mode, x.memory), here, ()).rates.joints)

    start = jnp.stack(x.q.joints)
    return jacobian_by_columns(accelerated, start), accelerated(start)
