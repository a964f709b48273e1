"""A beam on a free hub that is spun up, beside one of absolute nodal coordinates, which knows no modes and no small bending."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from tree_cases import made

from dockdyn.mechanics.trees.beam import Beam
from dockdyn.mechanics.trees.composite_bodies import Configuration
from dockdyn.mechanics.trees.tree_building import Link
from dockdyn.programs import Program

HUB, TURNING, ARM = 60.0, 120.0, 0.5  # kg, kg m², m from its centre to the beam's root
LENGTH, MASS, BENDING, AXIAL = 8.0, 10.0, 500.0, 2e5  # m, kg, N m², N
SPIN, DURATION = 0.8, 2.5  # rad/s, s
TIMES = np.linspace(0, DURATION, 26)


def with_modes(torque, stiffening, basis, modes=3):
    """Angle of the hub (rad) under a torque (N m), and how far the tip is from its place at rest (m, the hub's axes)."""
    beam = {"length": LENGTH, "mass": MASS, "bending_y": BENDING, "bending_z": BENDING, "torsion": 1.0}
    numbers = {name: jnp.asarray(value) for name, value in (beam | {"polar_inertia": 0.0, "damping": 0.0}).items()}
    bent = Beam(modes=(modes, 0, 0), basis=basis, stiffening=stiffening, **numbers)
    hub = Link("hub", mass=HUB, inertia=np.diag([1.0, 1.0, TURNING]))
    tree = made([hub, Link("beam", "hub", joint="locked", mount=(ARM, 0, 0), beam=bent)], "planar")
    load = jnp.zeros(3 + modes).at[2].set(torque)
    shapes = bent.shapes(np.array(1.0))

    @Program
    def flow(_, y):
        q = Configuration(
            jnp.array([y[0], y[1], 0.0]),
            jnp.array([jnp.cos(y[2] / 2), 0.0, 0.0, jnp.sin(y[2] / 2)]),
            jnp.zeros(0),
            jnp.zeros((0, 4)),
            y[3 : 3 + modes],
        )
        v = y[3 + modes :]
        mass, bias, _ = tree.dynamics(q, v)
        rate = tree.rate(q, v)
        return jnp.concatenate([rate.position[:2], v[2:3], rate.modes, jnp.linalg.solve(mass, load - bias)])

    start = np.zeros(6 + 2 * modes)
    start[3 + modes + 2] = SPIN
    found = solve_ivp(flow, (0, DURATION), start, "DOP853", TIMES, rtol=1e-9, atol=1e-9).y
    eta = found[3 : 3 + modes]
    across = np.asarray(shapes.shift)[1] @ eta
    along = -0.5 * np.einsum("it,ij,jt->t", eta, np.asarray(shapes.shortening), eta)
    return found[2], np.stack([along, across])


def hermite(share, length):
    """Shape functions of an element and their first two derivatives along it, at `share` of its length."""
    s = share
    values = [1 - 3 * s**2 + 2 * s**3, length * (s - 2 * s**2 + s**3), 3 * s**2 - 2 * s**3, length * (s**3 - s**2)]
    slopes = [-6 * s + 6 * s**2, length * (1 - 4 * s + 3 * s**2), 6 * s - 6 * s**2, length * (3 * s**2 - 2 * s)]
    bends = [-6 + 12 * s, length * (-4 + 6 * s), 6 - 12 * s, length * (6 * s - 2)]
    return np.array(values), np.array(slopes) / length, np.array(bends) / length**2


@cache
def by_nodes(torque, elements=5):
    """The same of nodes that have a place and a slope vector each (Berzeri and Shabana 2000): the root's slope is along the
    hub's axis, and as long as it likes."""
    length = LENGTH / elements
    points, weights = np.polynomial.legendre.leggauss(5)
    at, weights = (points + 1) / 2, weights / 2 * length
    shapes = np.array([hermite(share, length) for share in at])  # points, derivatives, 4
    own = np.einsum("p,pi,pj->ij", weights * MASS / LENGTH, shapes[:, 0], shapes[:, 0])
    mass = np.zeros((2 * elements + 2,) * 2)
    for k in range(elements):
        mass[2 * k : 2 * k + 4, 2 * k : 2 * k + 4] += own
    mass = jnp.asarray(np.kron(mass, np.eye(2)))

    def nodes(q):
        """Places and slope vectors, from the hub's place and angle, the length of the root's slope vector and the others."""
        axis = jnp.array([jnp.cos(q[2]), jnp.sin(q[2])])
        return jnp.concatenate([q[:2] + ARM * axis, q[3] * axis, q[4:]])

    def stored(q):
        rows = nodes(q).reshape(-1, 2)
        energy = 0.0
        for k in range(elements):
            first, second = (shapes[:, order] @ rows[2 * k : 2 * k + 4] for order in (1, 2))
            size = jnp.sqrt(jnp.sum(first**2, axis=1))
            strain = (size**2 - 1) / 2
            curvature = (first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]) / size**3
            energy += 0.5 * jnp.sum(weights * (AXIAL * strain**2 + BENDING * curvature**2))
        return energy

    hub = jnp.zeros((4 * elements + 4,)).at[:3].set(jnp.array([HUB, HUB, TURNING]))

    @Program
    def flow(_, y):
        q, v = jnp.split(y, 2)
        moved = jax.jacfwd(nodes)(q)
        drift = jax.jvp(lambda q: jax.jvp(nodes, (q,), (v,))[1], (q,), (v,))[1]
        force = jnp.zeros_like(q).at[2].set(torque) - jax.grad(stored)(q) - moved.T @ mass @ drift
        return jnp.concatenate([v, jnp.linalg.solve(jnp.diag(hub) + moved.T @ mass @ moved, force)])

    start = np.zeros(4 * elements + 4)
    start[3] = 1.0
    for k in range(elements):
        start[4 + 4 * k : 8 + 4 * k] = [ARM + (k + 1) * length, 0.0, 1.0, 0.0]
    rates = np.zeros_like(start)
    rates[2] = SPIN
    rates[4:] = SPIN * np.stack([-start[5::2], start[4::2]], axis=1).ravel()
    found = solve_ivp(flow, (0, DURATION), np.concatenate([start, rates]), "DOP853", TIMES, rtol=1e-8, atol=1e-9).y
    angle, tip = found[2], found[4 * elements : 4 * elements + 2]
    axis = np.stack([np.cos(angle), np.sin(angle)])
    away = tip - found[:2] - (ARM + LENGTH) * axis
    return angle, np.stack([(away * axis).sum(axis=0), axis[0] * away[1] - axis[1] * away[0]])


def differences(torque, stiffening, basis):
    """The largest differences of the hub's angle (rad) and of the tip across (m), and how far that goes (m)."""
    (angle, tip), (known, known_tip) = with_modes(torque, stiffening, basis), by_nodes(torque)
    return np.abs(angle - known).max(), np.abs(tip - known_tip)[1].max(), np.abs(known_tip[1]).max()


@pytest.mark.full
@pytest.mark.parametrize("basis", ["cantilever", "polynomial", "craig-bampton"])
def test_a_spun_up_beam_bends_as_one_of_absolute_nodal_coordinates(basis):
    """The tip goes 5.5 % of the length; without stiffening it would go three times as far."""
    angle, across, size = differences(12.0, True, basis)
    assert 0.05 * LENGTH < size < 0.06 * LENGTH
    assert angle < 6e-4 and across < 0.007 * size
    assert differences(12.0, False, basis)[1] > 2 * size


@pytest.mark.full
def test_what_a_tree_leaves_out_is_of_third_order_in_the_bending():
    small, large = (differences(torque, True, "cantilever") for torque in (12.0, 24.0))
    assert large[1] / small[1] == pytest.approx((large[2] / small[2]) ** 3, rel=0.15)
