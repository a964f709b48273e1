"""Oblique impact of a ball on an anvil, both elastic half-spaces where they meet, by annuli that stick or slip.

By NumPy alone: no spring stands for the surface. Tractions are sums of √(1 − r²/aⱼ²) over discs of growing radii aⱼ, whose
displacements are Cattaneo's inside and go outside as Hertz's do, for axisymmetric tractions along one line (Maw, Barber and
Fawcett, Wear 38:101, 1976).
"""

import numpy as np


def surface_matrix(radii, edges, compliance):
    """Return displacements (m) at `radii` (m) for tractions (Pa) there, and the force (N) of these, by discs with `edges`
    (m); the compliance (1/Pa) is the sum of (2 − ν) / (4 G) over both bodies."""
    ratio = radii[:, None] / edges
    shapes = np.sqrt(np.clip(1 - ratio**2, 0, None))
    over = 1 / np.maximum(ratio, 1)
    outside = (2 - ratio**2) * np.arcsin(over) + ratio * np.sqrt(1 - over**2)
    inside = np.pi / 2 * (2 - ratio**2)
    moved = compliance * edges / 2 * np.where(ratio <= 1, inside, outside)
    tractions = np.linalg.inv(shapes)
    return moved @ tractions, 2 / 3 * np.pi * edges**2 @ tractions


def pressed(mass, stiffness, speed, damping, step):
    """Return depths (m) and rates (m/s) of F = k d^1.5 (1 + damping ḋ), by Runge and Kutta, from touch to release."""

    def rate(state):
        depth, into = state
        return np.array([into, -stiffness * max(depth, 0) ** 1.5 * (1 + damping * into) / mass])

    states = [np.array([0.0, speed])]
    while states[-1][0] > 0 or len(states) == 1:
        now = states[-1]
        first = rate(now)
        second = rate(now + step / 2 * first)
        third = rate(now + step / 2 * second)
        states.append(now + step / 6 * (first + 2 * second + 2 * third + rate(now + step * third)))
    return np.array(states[:-1]).T


def damping_of(restitution, *given):
    """Return the damping (s/m) that leaves a share of the speed."""
    mass, stiffness, speed, step = given
    low, high = 0.0, 1 / speed
    for _ in range(30):
        middle = (low + high) / 2
        _, rates = pressed(mass, stiffness, speed, middle, step)
        low, high = (middle, high) if -rates[-1] / speed > restitution else (low, middle)
    return middle


def stick_or_slip(influence, wanted, limit, states):
    """Return tractions (Pa) at places in touch and what each does, 0 for sticking and else the direction in which it slips,
    where displacements follow what is `wanted` (m) as far as tractions of the `limit` (Pa) let them."""
    while True:
        sticks = states == 0
        traction = np.where(sticks, 0.0, states * limit)
        left = wanted[sticks] - influence[np.ix_(sticks, ~sticks)] @ traction[~sticks]
        traction[sticks] = np.linalg.solve(influence[np.ix_(sticks, sticks)], left)
        behind = (wanted - influence @ traction) * states < -1e-18
        over = sticks & (np.abs(traction) > limit * (1 + 1e-9))
        if not (behind.any() or over.any()):
            return traction, states
        states = np.where(over, np.sign(traction), np.where(behind, 0.0, states))


def velocity_left(ball, anvil, radius, density, coefficient, restitution, speed, angle, count=60, steps=1200):
    """Return the share of the velocity along the anvil that a ball keeps; bodies as (E, ν)."""
    mass = density * 4 / 3 * np.pi * radius**3
    along, into = speed * np.sin(np.radians(angle)), speed * np.cos(np.radians(angle))
    elastic = 1 / sum((1 - ratio**2) / modulus for modulus, ratio in (ball, anvil))
    compliance = sum((2 - ratio) * (1 + ratio) / 2 / modulus for modulus, ratio in (ball, anvil))
    stiffness = 4 / 3 * elastic * np.sqrt(radius)
    step = 2.94 * (mass**2 / (stiffness**2 * into)) ** 0.2 / steps
    damping = damping_of(restitution, mass, stiffness, into, step)
    depths, rates = pressed(mass, stiffness, into, damping, step)
    edges = np.sqrt(radius * depths.max()) * np.arange(1, count + 1) / count
    places = edges - edges[0] / 2
    influence, force_of = surface_matrix(places, edges, compliance)

    velocity, moved, force = along, 0.0, 0.0
    slipped, tractions, states = np.zeros(count), np.zeros(count), np.zeros(count)
    for depth, rate in zip(depths[1:], rates[1:], strict=True):
        velocity -= 7 / 2 * force / mass * step  # of the ball where it touches
        moved += velocity * step
        edge = np.sqrt(radius * depth)
        inside = np.flatnonzero(places < edge)
        pressing = stiffness * depth**1.5 * (1 + damping * rate) * 3 / (2 * np.pi * edge**2)
        limit = coefficient * pressing * np.sqrt(1 - (places[inside] / edge) ** 2)
        states[places >= edge], tractions[:] = 0.0, 0.0
        wanted = (moved - slipped)[inside]
        tractions[inside], states[inside] = stick_or_slip(
            influence[np.ix_(inside, inside)], wanted, limit, states[inside]
        )
        slipped, force = moved - influence @ tractions, force_of @ tractions
    return 1 - 2 / 7 * (along - velocity + 7 / 2 * force / mass * step) / along
