"""A vehicle whose beams stiffen as it spins: what it keeps, and its motion beside trees of links."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from mechanism_cases import energy_error, momentum_error, simulated
from plain_tables import by_name
from scipy.integrate import solve_ivp

from dockdyn.mechanics.trees.beam import Beam
from dockdyn.mechanics.trees.composite_bodies import Configuration
from dockdyn.mechanics.trees.tree_building import Link, tree_of
from dockdyn.programs import Program

LENGTH, LINE_MASS, STIFFNESS = 4.0, 3.0, [900.0, 1500.0]  # m, kg/m, N m² along y and along z
LOWEST = 3.516015 * np.sqrt(STIFFNESS[0] / LINE_MASS) / LENGTH**2  # rad/s
MASS = LINE_MASS * LENGTH
ACROSS = MASS * LENGTH**2 / 12
RATE = [0.8, -1.1, 0.8 * LOWEST]  # rad/s
SIDES = {"left": 1.0, "right": -1.0}
INERTIA = [9.0, 10.0, 14.0]


def wing(name, side, on="bus", root=0.5):
    """A beam along ±x, which bends along y, then along z; clamped."""
    return {
        "name": name,
        "on": on,
        "mass": MASS,
        "inertia": [1e-6, ACROSS, ACROSS],
        "position": [side * (root + LENGTH / 2), 0, 0],
        "joint": {"kind": "locked", "position": [side * root, 0, 0]},
        "flexible": {
            "kind": "beam",
            "root": [-side * LENGTH / 2, 0, 0],
            "axis": [side, 0, 0],
            "across": [0, 1, 0],
            "length": LENGTH,
            "mass_per_length": LINE_MASS,
            "bending_stiffness": STIFFNESS,
            "bending_modes": [2, 2],
        },
    }


VEHICLE = {
    "schema": 2,
    "duration": 4.0,
    "body": by_name(
        [
            {"name": "bus", "mass": 60.0, "inertia": INERTIA, "rate": RATE},
            *(wing(name, side) for name, side in SIDES.items()),
            {
                "name": "load",
                "on": "left",
                "mass": 4.0,
                "inertia": [0.3, 0.2, 0.4],
                "position": [LENGTH / 2 + 0.3, 0, 0],
                "joint": {"kind": "locked", "position": [LENGTH / 2, 0, 0]},
            },
        ]
    ),
    "integrator": {"tolerance": 1e-11},
    "output": {"interval": 0.1},
}


@pytest.fixture(scope="module")
def spun(load):
    """A free vehicle that tumbles at 0.9 of the lowest frequency of its wings."""
    return simulated(load, VEHICLE)


def cantilever(counts):
    """A wing as trees of links have it, with the modes of a cantilever."""
    numbers = {"length": LENGTH, "mass": MASS, "bending_y": STIFFNESS[0], "bending_z": STIFFNESS[1], "torsion": 1.0}
    still = {"polar_inertia": 0.0, "damping": 0.0}
    leaves = {name: jnp.asarray(number) for name, number in (numbers | still).items()}
    return Beam(modes=counts, basis="cantilever", stiffening=True, **leaves)


def moved(tree, start, v, times, pushed=lambda t: 0.0):
    """Configurations of a tree under a load on the first of its velocities."""
    begun, back = ravel_pytree((start, jnp.asarray(v)))

    @Program
    def flow(load, y):
        q, v = back(y)
        mass, h, _ = tree.dynamics(q, v)
        return ravel_pytree((tree.rate(q, v), jnp.linalg.solve(mass, jnp.zeros(len(v)).at[0].set(load) - h)))[0]

    found = solve_ivp(
        lambda t, y: np.asarray(flow(pushed(t), y)), (0, times[-1]), begun, "DOP853", times, rtol=1e-9, atol=1e-10
    )
    return [back(jnp.asarray(y))[0] for y in found.y.T]


@pytest.mark.full
def test_a_free_vehicle_keeps_what_it_has(spun):
    """Energy and both momenta, while its wings swing by centimetres along both directions."""
    assert momentum_error(spun) < 1e-10
    assert energy_error(spun) < 1e-9
    largest = np.abs(spun.modal_coordinate.values).max(axis=0)
    assert largest[[0, 2, 4, 6]].min() > 0.01


@pytest.mark.full
def test_a_free_vehicle_moves_as_a_tree_of_links(spun):
    """The tree has deflections to any order."""
    links = [Link("bus", mass=60.0, inertia=np.diag(INERTIA))]
    for name, side in SIDES.items():
        turn = np.diag([side, 1.0, side])
        beam = cantilever((2, 2, 0))
        links.append(Link(name, "bus", joint="locked", mount=(side * 0.5, 0, 0), mount_turn=turn, beam=beam))
    links.append(
        Link("load", "left", joint="locked", at=1.0, mount=(0.3, 0, 0), mass=4.0, inertia=np.diag([0.3, 0.2, 0.4]))
    )
    tree = tree_of(links, "free")
    start = Configuration(jnp.zeros(3), jnp.array([1.0, 0, 0, 0]), jnp.zeros(0), jnp.zeros((0, 4)), jnp.zeros(8))
    found = moved(tree, start, np.concatenate([np.zeros(3), RATE, np.zeros(8)]), spun.time.values)
    modes, places = (np.array([getattr(q, part) for q in found]) for part in ("modes", "position"))
    own = spun.modal_coordinate.values
    np.testing.assert_allclose(own, modes, rtol=0, atol=1e-3 * np.abs(modes).max())
    np.testing.assert_allclose(spun.position.sel(body="bus"), places, rtol=0, atol=1e-6 * np.abs(places).max())


HUB, FASTEST, RISE = 5e3, 5 * LOWEST / 3.516015, 15 * 3.516015 / LOWEST  # kg m², rad/s, s
TORQUE = (HUB + MASS * LENGTH**2 / 3) * FASTEST / RISE  # N m
JET = {"body": "bus", "force": TORQUE / 2}
SPIN_UP = {
    "schema": 2,
    "duration": RISE + 8.0,
    "body": by_name([{"name": "bus", "mass": 1e9, "inertia": [1e9, 1e9, HUB]}, wing("boom", 1.0, root=0.0)]),
    "thruster": {f"jet{side:g}": JET | {"position": [side, 0, 0], "direction": [0, side, 0]} for side in (1.0, -1.0)},
    "phase": {
        "up": {},
        "on": {"when": {"lasting": RISE}, "set": {f"thruster.jet{side:g}.force": 0.0 for side in (1.0, -1.0)}},
    },
    "integrator": {"tolerance": 1e-9},
    "output": {"interval": 0.1},
}


def spun_up_tree(times):
    """The deflection of the tip (m) of the same boom on a hub of a tree of links."""
    links = [
        Link("ground"),
        Link("hub", "ground", inertia=np.diag([1.0, 1.0, HUB])),
        Link("boom", "hub", joint="locked", beam=cantilever((2, 2, 0))),
    ]
    start = Configuration(jnp.zeros(3), jnp.array([1.0, 0, 0, 0]), jnp.zeros(1), jnp.zeros((0, 4)), jnp.zeros(4))
    found = moved(tree_of(links, "fixed"), start, np.zeros(5), times, lambda t: TORQUE if t < RISE else 0.0)
    return np.array([q.modes[:2].sum() for q in found])


@pytest.mark.full
def test_a_boom_that_is_spun_up_comes_back(load):
    """Kane, Ryan and Banerjee: it lags while the hub speeds up, to 1.4 of the boom's lowest frequency, and then swings about
    straight; without the shortening it would leave for good past 1.28 of it. Beside a tree of links."""
    data = simulated(load, SPIN_UP)
    tip = data.modal_coordinate.sel(mode=["boom bend1", "boom bend2"]).values.sum(axis=1)
    time = data.time.values
    expected = spun_up_tree(time)
    largest, after = np.abs(expected).max(), time > RISE
    assert data.rate.values[-1, 0, 2] == pytest.approx(FASTEST, rel=1e-3)
    assert 0.05 * LENGTH < largest < 0.07 * LENGTH
    # the square of the largest deflection over the length is 4e-3; in 8 periods it shows in the phase
    np.testing.assert_allclose(tip, expected, rtol=0, atol=0.02 * largest)
    assert np.abs(tip[after]).max() < 0.25 * largest
