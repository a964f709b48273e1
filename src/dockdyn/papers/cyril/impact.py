"""Impacts of Cyril et al.: the state of Tables 1 and 2, plastic pins, the printed equations beside the right ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import eigh

from dockdyn.deferred import Array, jax, jnp
from dockdyn.impact.laws.contact_matrix import velocity_jump
from dockdyn.impact.laws.result import Impact
from dockdyn.mechanics.trees.beam import Beam
from dockdyn.mechanics.trees.composite_bodies import Configuration, Tree
from dockdyn.mechanics.trees.tree_bodies import TreeBodies
from dockdyn.mechanics.trees.tree_building import Link, tree_of
from dockdyn.papers.cyril.meeting import FREE, HAND, Meeting, case, of_law, with_modes
from dockdyn.papers.reproduction import Made, Progress
from dockdyn.papers.table import Row
from dockdyn.results.plan import jit_once
from dockdyn.scenario.load import load

CONVERGED = 8  # modes a link, for frequencies
DURATION = 1e-4  # s, of an impact, as printed


def _after_impact(found: Meeting, impact: Impact) -> np.ndarray:
    """Return all velocities after it."""
    rows, mass, v = found.approach.rows[: len(impact.impulse)], found.approach.mass, found.approach.velocities
    locks = found.locks if len(found.locks) else None
    return np.asarray(v + velocity_jump(rows, mass, impact.impulse, locks))


# --- Tables 1 and 2 --------------------------------------------------------------------------------------------------


def start(progress: Progress) -> Made:
    """Return what Tables 1 and 2 make of the state before the impact."""
    content = load("cyril-plastic").content
    found = case(FREE, 0)
    mass, v = np.asarray(found.approach.mass), np.asarray(found.approach.velocities)
    count = len(v) - 3
    beam = content.named("link1").flexible.beam()
    normal, tangent = found.approach.rows[:2, :count] @ v[:count]
    energies = [0.5 * v[part] @ mass[part, part] @ v[part] for part in (slice(count), slice(count, None))]
    linear = found.linear.sum(0)
    rows = [
        Row(
            "inertia of a link about its joint, m L²/3",
            "440.65",
            float(beam.mass * beam.length**2 / 3),
            "kg m²",
            "Table 1's I_zz, of links and hand, is about the joint.",
        ),
        Row("inertia of the hand about its joint", "0.00267", float(mass[count - 1, count - 1]), "kg m²"),
        Row("velocity of the hand's tip, x", None, float(tangent), "m/s", "The normal N_y is (0, −1)."),
        Row("velocity of the hand's tip, y", None, float(-normal), "m/s"),
        Row("kinetic energy of the chaser", None, energies[0], "J"),
        Row("kinetic energy of the payload", None, energies[1], "J"),
        Row("linear momentum, x", None, float(linear[0]), "N s"),
        Row("linear momentum, y", None, float(linear[1]), "N s"),
        Row(
            "angular momentum about the centre of mass",
            None,
            _about_centre(found),
            "N m s",
            "A wheel at rest holds it.",
        ),
    ]
    return None, rows


def _about_centre(found: Meeting) -> float:
    """Return the angular momentum about z of both about their common centre of mass (N m s); bases not turned."""
    mass = np.asarray(found.approach.mass)
    count = len(mass) - 3
    masses, moments = [], []
    for first, place in zip((0, count), found.position, strict=True):
        own = mass[first : first + 3, first : first + 3]
        masses.append(own[0, 0])
        moments.append(own[0, 0] * place[:2] + [own[1, 2], -own[0, 2]])  # kg m, of the mass
    centre = np.sum(moments, axis=0) / np.sum(masses)
    linear = found.linear.sum(0)
    return float(found.angular[:, 2].sum() - (centre[0] * linear[1] - centre[1] * linear[0]))


# --- plastic impacts -------------------------------------------------------------------------------------------------


def plastic(progress: Progress) -> Made:
    """Return pins, rigid and flexible; welds; the printed equations 9–12 and 16–20."""
    rows = []
    for name in (FREE, HAND):
        for modes in (0, 3):
            rows += _pin_rows(name, modes)
            progress(len(rows) / 30)
    words = "Eq. 8 joins “rigidly”, yet without a moment it is a pin. A weld adds the moment."
    for modes in (0, 3):
        weld = of_law(case(FREE, modes), "weld")
        label = f"weld, {FREE}, n = {modes}"
        moment = abs(float(weld.impulse[2]))
        rows.append(Row(f"{label}: energy lost", None, float(weld.energy_loss), "J", words))
        rows.append(Row(f"{label}: moment impulse", "of the order of 0.01", moment, "N m s", "Printed of other cases."))
        mean = moment / DURATION
        rows.append(
            Row(f"{label}: mean moment over 1e-4 s", "of the order of 100", mean, "N m", "The duration as printed.")
        )
        words = ""
    for modes in (0, 3):
        rows += _printed_rows(modes)
    return None, rows


def _pin_rows(name: str, modes: int) -> list[Row]:
    """Return loss, impulses and velocities after a plastic pin."""
    found = case(name, modes)
    pin = of_law(found, "pin")
    v = _after_impact(found, pin)
    label = f"pin, {name}, n = {modes}"
    loss = float(pin.energy_loss + found.approach.lock_loss)
    rows = [
        Row(f"{label}: energy lost", None, loss, "J"),
        Row(f"{label}: normal impulse", None, float(pin.impulse[0]), "N s"),
        Row(f"{label}: tangential impulse", None, abs(float(pin.impulse[1])), "N s"),
        Row(f"{label}: payload's rate after", None, float(np.degrees(v[-1])), "deg/s"),
    ]
    if modes == 0:
        words = "Of flexible links it is their roots' and never settles as modes are added."
        for number, rate in zip("₁₂₃₄", np.degrees(v[2:6]), strict=True):
            rows.append(Row(f"{label}: rate of θ{number} after", None, float(rate), "deg/s", words))
            words = ""
    return rows


def _printed_rows(modes: int) -> list[Row]:
    """Return eqs. 9–12 with the pseudo-inverse that a singular Q leaves, and eqs. 16–20, beside the pin."""
    found = case(FREE, modes)
    loss = float(of_law(found, "pin").energy_loss)
    wrong, right = (_loss_of(found, after) for after in (_general_after(found), _rigid_payload_after(found)))
    words = "Q = J_pᵀJ_p is 3 × 3 of rank 2 and has no inverse."
    label = f"{FREE}, n = {modes}: energy lost"
    return [
        Row(f"{label}, eqs. 9–12 with Q's pseudo-inverse", None, wrong, "J", words),
        Row(f"{label}, over that of the pin", None, wrong / loss, "1"),
        Row(f"{label}, eqs. 16–20", None, right, "J", "For a rigid payload; they hold."),
    ]


Velocities = tuple[np.ndarray, np.ndarray]


def parts(found: Meeting) -> tuple[np.ndarray, ...]:
    """Return J, J_p, M, M_p, ψ̇, ψ̇_p in the axes of the contact; the payload one rigid body in the plane."""
    mass, rows, _, v, _ = (np.asarray(part) for part in found.approach)
    rows = rows[:2]
    count = len(v) - 3
    return rows[:, :count], -rows[:, count:], mass[:count, :count], mass[count:, count:], v[:count], v[count:]


def _general_after(found: Meeting) -> Velocities:
    """Return eqs. 9–12 as printed, with the pseudo-inverse of Q, which has no inverse unless J_p is square."""
    j, jp, m, mp, v, vp = parts(found)
    lift = j.T @ np.linalg.inv(jp @ jp.T) @ jp @ mp
    back = np.linalg.pinv(jp.T @ jp, rcond=1e-10) @ jp.T @ j
    after = np.linalg.solve(lift @ back + m, lift @ vp + m @ v)
    return after, back @ after


def _rigid_payload_after(found: Meeting) -> Velocities:
    """Return eqs. 10 and 16–20 as printed, in the plane's x and y."""
    j, jp, m, mp, v, vp = parts(found)
    n = found.normal[:2]
    axes = np.array([n, [-n[1], n[0]]])
    j, lever = axes.T @ j, (axes.T @ jp)[:, 2]  # ω × r_pb per ω
    mass, inertia = mp[0, 0], mp[2, 2]
    k = np.eye(2) + mass / inertia * np.outer(
        lever, lever
    )  # eq. 18; in the plane R_pb v = lever · v, R_pb ω = −lever ω
    pushed = mass / inertia * lever * (lever @ vp[:2]) - lever * vp[2]
    g = mass * j.T @ np.linalg.solve(k, j) + m
    h = -mass * j.T @ (np.linalg.solve(k, pushed) - vp[:2]) + m @ v
    after = np.linalg.solve(g, h)
    moved = np.linalg.solve(k, j @ after + pushed)
    return after, np.append(moved, vp[2] + mass / inertia * lever @ (moved - vp[:2]))


def _loss_of(found: Meeting, after: Velocities) -> float:
    """Return the kinetic energy that went (J)."""
    _, _, m, mp, v, vp = parts(found)
    return float(0.5 * (v @ m @ v + vp @ mp @ vp - after[0] @ m @ after[0] - after[1] @ mp @ after[1]))


# --- frequencies -----------------------------------------------------------------------------------------------------


@jit_once
def _vibrating(content: Any) -> tuple[tuple[Array, Array], ...]:  # noqa: ANN401, whose second link is a beam
    """Return the mass and stiffness matrices: of a link on a wall, and of the chaser, its joints locked."""
    beam = content.named("link1").flexible.beam()
    wall = tree_of([Link("wall"), Link("link", "wall", joint="locked", beam=beam)], base="fixed")
    origin, upright = jnp.zeros(3), jnp.array([1.0, 0.0, 0.0, 0.0])
    still = Configuration(origin, upright, jnp.zeros(0), jnp.zeros((0, 4)), jnp.zeros(beam.count))
    model = content.model()
    chaser = next(tree for tree in model.trees if isinstance(tree, TreeBodies))
    return matrices(wall, still), matrices(with_springs(chaser.tree, beam), model.linked[0][0])


def with_springs(tree: Tree, beam: Beam) -> Tree:
    """Return the tree with the stiffness of its beams, all alike, inside it."""
    bent, count = tree.bending(), beam.count
    stiffness = tree.links.stiffness.at[bent, :count, :count].set(beam.stiffness())
    return replace(tree, links=tree.links._replace(stiffness=stiffness))


def matrices(tree: Tree, q: Configuration) -> tuple[Array, Array]:
    """Return the mass matrix, joints locked, and stiffness matrix."""

    def energy(modes: Array) -> Array:
        return tree.potential_energy(Configuration(q.position, q.attitude, q.joints, q.balls, modes))

    count = tree.layout.columns()[2]
    kept = jnp.array([column for column in range(count) if column not in tree.joint_columns()])
    bending, rigid = jax.hessian(energy)(q.modes), kept.shape[0] - q.modes.shape[0]
    mass = tree.dynamics(q, jnp.zeros(count))[0]
    return mass[jnp.ix_(kept, kept)], jnp.pad(bending, ((rigid, 0), (rigid, 0)))


def modes(progress: Progress) -> Made:
    """Return those of a link as a cantilever, and of the chaser with its joints locked, without the payload."""
    rows = []
    for count in (3, CONVERGED):
        both = _vibrating(load("cyril-plastic", with_modes(count)).content)
        names = ("a link as a cantilever", "the chaser, joints locked, no payload")
        for name, (mass, stiffness), rigid in zip(names, both, (0, 3), strict=True):
            found = np.sqrt(eigh(np.asarray(stiffness), np.asarray(mass), eigvals_only=True)[rigid:])
            for order, value in enumerate(found[:3], start=1):
                rows.append(Row(f"{name}, frequency {order}, n = {count}", None, float(value), "rad/s"))
        progress(len(rows) / 12)
    return None, rows
