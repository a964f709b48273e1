"""Contacts whose outcome is known in closed form: tables of scenarios, what a run of them says, and what it should say.

Inputs of Chung and Ooi's benchmarks (Granular Matter 13:643, 2011) are as the examples of Yade and PySPH state them, those of
tests 3, 7 and 8 as recalled.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gamma
from typing import Any

import numpy as np
import xarray as xr
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from sticking_ball import INERTIA, MASS, RADIUS, ball_on_plane

import dockdyn

type Tables = dict[str, Any]
type Load = Callable[[Tables], dockdyn.Scenario]

STIFFNESS, OVERLAP = 2e5, 5e-5  # N/m, m: each rail presses on the ball by 10 N
FORCE = STIFFNESS * OVERLAP
REGULARISATION = 0.02  # rad/s
GRAVITY, SPEED, LENGTH = 5.0, 0.2, 1e-3  # m/s², m/s, m: of a ball that rolls, and its rolling resistance

# radius (m), density (kg/m³), Young's modulus (Pa), Poisson's number, speed (m/s): two balls alike, or one on a rigid plane
ELASTIC = {
    "glass ball on its like": (0.01, 2800.0, 48e9, 0.20, 10.0),
    "limestone ball on its like": (0.01, 2500.0, 20e9, 0.25, 10.0),
    "aluminium ball on a rigid plane": (0.1, 2699.0, 70e9, 0.30, 0.2),
    "aluminium ball of ν = 0.33 on a rigid plane": (0.1, 2699.0, 70e9, 0.33, 0.2),
    "magnesium ball on a rigid plane": (0.1, 1800.0, 40e9, 0.35, 0.2),
}


def ball_of(radius: float, density: float, **others: Any) -> Tables:
    """Return the table of a ball."""
    mass = density * 4 / 3 * np.pi * radius**3
    skin = {"position": [0.0, 0.0, 0.0], "radius": radius}
    return {"mass": mass, "inertia": [0.4 * mass * radius**2] * 3, "feature": {"skin": skin}, **others}


def plane_along(normal: list[float], *, name: str = "top") -> Tables:
    """Return the table of what is fixed, with a plane through the origin."""
    surface = {name: {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": normal}}
    return {"fixed": True, "position": [0.0, 0.0, 0.0], "surface": surface}


def elastic_impact(name: str) -> tuple[Tables, float, float]:
    """Return the tables of an impact head on by Hertz's law, its peak force (N) and its duration (s)."""
    radius, density, modulus, ratio, speed = ELASTIC[name]
    alike = "like" in name
    gap = 1e-6 * radius
    ball = ball_of(radius, density, position=[0.0, 0.0, radius + gap], velocity=[0.0, 0.0, -speed])
    elastic, round_by, mass = modulus / (1 - ratio**2), radius, ball["mass"]
    other: Tables = plane_along([0.0, 0.0, 1.0])
    if alike:
        elastic, round_by, mass = elastic / 2, radius / 2, mass / 2
        other = ball_of(radius, density, position=[0.0, 0.0, -radius - gap], velocity=[0.0, 0.0, speed])
        speed *= 2
    stiffness = 4 / 3 * elastic * np.sqrt(round_by)
    depth = (5 / 4 * mass * speed**2 / stiffness) ** 0.4
    duration = 2 * depth / speed * np.sqrt(np.pi) * gamma(1.4) / gamma(0.9)
    tables = {
        "schema": 2,
        "duration": 1.2 * duration,
        "body": {"ball": ball, "other": other},
        "contact": {
            "hit": {
                "between": ["ball.skin", f"other.{'skin' if alike else 'top'}"],
                "normal": {"law": "hertz", "exponent": 1.5, "stiffness": stiffness},
            }
        },
    }
    return tables, stiffness * depth**1.5, duration


def sliding_impact(tangential: float, spin: float) -> tuple[Tables, dict[str, float]]:
    """Return the tables of a ball that slides on a plane as long as it touches, and its motion afterwards.

    It comes at a speed along the plane (m/s), or with a spin (rad/s) that turns what touches forwards.
    """
    if tangential:  # Chung and Ooi's test 5: steel
        radius, density, modulus, ratio, speed, friction, kept = 1e-5, 7850.0, 208e9, 0.3, 5.0, 0.3, 1.0
        elastic = modulus / (1 - ratio**2) / 2
    else:  # test 6: aluminium on what is rigid
        radius, density, modulus, ratio, speed, friction, kept = 0.1, 2700.0, 70e9, 0.33, 0.2, 0.4, 0.5
        elastic = modulus / (1 - ratio**2)
    stiffness = 4 / 3 * elastic * np.sqrt(radius)
    place, velocity = [0.0, 0.0, radius * (1 + 1e-7)], [tangential, 0.0, -speed]
    ball = ball_of(radius, density, position=place, velocity=velocity, rate=[0.0, -spin, 0.0])
    depth = (5 / 4 * ball["mass"] * speed**2 / stiffness) ** 0.4
    law: Tables = {"law": "hertz"} if kept == 1 else {"law": "hunt-crossley", "restitution": kept, "speed": speed}
    sticks = {"law": "stick-slip", "coefficient": friction, "stiffness_ratio": 2 * (1 - ratio) / (2 - ratio)}
    tables = {
        "schema": 2,
        "duration": 6 * depth / speed,
        "body": {"ball": ball, "anvil": plane_along([0.0, 0.0, 1.0])},
        "contact": {
            "hit": {
                "between": ["ball.skin", "anvil.top"],
                "normal": law | {"exponent": 1.5, "stiffness": stiffness},
                "friction": sticks,
            }
        },
    }
    push = friction * (1 + kept) * speed  # m/s, that sliding takes
    return tables, {"velocity": tangential - push, "spin": 2.5 * push / radius - spin}


def restituted_impact(kept: float) -> tuple[Tables, float]:
    """Return the tables of a ball that meets a plane head on and keeps this share of its speed, and its speed afterwards: Chung
    and Ooi's test 3."""
    radius, speed, stiffness = 2.5e-3, 3.9, 4 / 3 * 380e9 / (1 - 0.23**2) * np.sqrt(2.5e-3)
    ball = ball_of(radius, 4000.0, position=[0.0, 0.0, radius * (1 + 1e-7)], velocity=[0.0, 0.0, -speed])
    depth = (5 / 4 * ball["mass"] * speed**2 / stiffness) ** 0.4
    law = {"law": "hunt-crossley", "exponent": 1.5, "stiffness": stiffness, "restitution": kept, "speed": speed}
    tables = {
        "schema": 2,
        "duration": 6 * depth / speed / kept,
        "body": {"ball": ball, "anvil": plane_along([0.0, 0.0, 1.0])},
        "contact": {"hit": {"between": ["ball.skin", "anvil.top"], "normal": law}},
    }
    return tables, kept * speed


def spinning_impact(ratio: float, spin: float, stiffer: float = 1.0) -> tuple[Tables, dict[str, dict[str, float]]]:
    """Return the tables of two aluminium balls that meet head on and spin (rad/s) alike, so that they slide on each other while
    they touch, and the motion of each afterwards: Chung and Ooi's tests 7, of balls alike, and 8, where the radius of the lower
    one is this `ratio` of the other one's.

    The motion is that of balls that touch for an instant; while they do they are nearer than their radii, by 1e-3 of these if
    they are not `stiffer`, and the line of their centres turns.
    """
    radii, density, modulus, poisson, speed, friction, kept = (0.1, 0.1 * ratio), 2700.0, 70e9, 0.33, 0.2, 0.4, 0.5
    sides = {"ball": 1.0, "other": -1.0}
    body = {
        name: ball_of(
            radius,
            density,
            position=[0.0, 0.0, side * radius * (1 + 1e-9)],
            velocity=[0.0, 0.0, -side * speed],
            rate=[0.0, -spin, 0.0],
        )
        for (name, side), radius in zip(sides.items(), radii, strict=True)
    }
    masses = [one["mass"] for one in body.values()]
    mass, round_by = 1 / sum(1 / one for one in masses), 1 / sum(1 / one for one in radii)
    stiffness = stiffer * 4 / 3 * modulus / (1 - poisson**2) / 2 * np.sqrt(round_by)
    depth = (5 / 4 * mass * (2 * speed) ** 2 / stiffness) ** 0.4
    normal = {"law": "hunt-crossley", "exponent": 1.5, "stiffness": stiffness, "restitution": kept, "speed": 2 * speed}
    sticks = {"law": "stick-slip", "coefficient": friction, "stiffness_ratio": 2 * (1 - poisson) / (2 - poisson)}
    tables = {
        "schema": 2,
        "duration": 4 * depth / speed,
        "body": body,
        "contact": {"hit": {"between": ["ball.skin", "other.skin"], "normal": normal, "friction": sticks}},
    }
    push = friction * (1 + kept) * mass * 2 * speed  # N s, that sliding gives along
    after = {
        name: {"velocity": -side * push / one, "spin": 2.5 * push / (one * radius) - spin}
        for (name, side), one, radius in zip(sides.items(), masses, radii, strict=True)
    }
    return tables, after


def motion_after(run: xr.Dataset, body: str = "ball") -> dict[str, float]:
    """Return the velocity along the plane (m/s) and the spin (rad/s) of a ball at the end."""
    last = run.isel(time=-1).sel(body=body)
    return {"velocity": float(last["velocity"].sel(axis="x")), "spin": float(last["rate"].sel(axis="y"))}


def inertial_rates(run: xr.Dataset, body: str = "ball") -> np.ndarray:
    """Return the angular velocity of a body (rad/s, inertial) over time."""
    turned = Rotation.from_quat(run["attitude"].sel(body=body).values, scalar_first=True)
    return turned.apply(run["rate"].sel(body=body).values)


def ball_between_rails(rate: Any, friction: Tables, duration: float = 2.0, **tables: Any) -> Tables:
    """Return the tables of a ball that two plates press on from both sides, along z, and that turns."""
    plates = {"low": -1.0, "high": 1.0}
    return {
        "schema": 2,
        "duration": duration,
        "integrator": {"tolerance": 1e-11},
        "output": {"interval": 0.01},
        "body": {
            "ball": {
                "mass": MASS,
                "inertia": [INERTIA] * 3,
                "position": [0.0, 0.0, 0.0],
                "rate": rate,
                "feature": {"skin": {"position": [0.0, 0.0, 0.0], "radius": RADIUS}},
            },
            "frame": {
                "fixed": True,
                "position": [0.0, 0.0, 0.0],
                "surface": {
                    name: {
                        "shape": "plane",
                        "point": [0.0, 0.0, side * (RADIUS - OVERLAP)],
                        "normal": [0.0, 0.0, -side],
                    }
                    for name, side in plates.items()
                },
            },
        },
        "contact": {
            name: {
                "between": ["ball.skin", f"frame.{name}"],
                "normal": {"law": "spring-dashpot", "stiffness": STIFFNESS},
                "friction": friction,
            }
            for name in plates
        },
        **tables,
    }


def slowed_rate(start: float, slowing: float, time: float) -> float:
    """Return the rate (rad/s) that is left of one, of ω̇ = −a ω / √(ω² + ε²), by the time at which that is so."""

    def clock(rate: float) -> float:  # of √(ω² + ε²) / ω
        return np.hypot(rate, REGULARISATION) - REGULARISATION * np.arcsinh(REGULARISATION / rate)

    def missing(logarithm: float) -> float:
        return clock(start) - clock(np.exp(logarithm)) - slowing * time

    return float(np.exp(brentq(missing, -300, np.log(start), xtol=1e-14)))


def rolling_ball(friction: Tables, slip: float, duration: float) -> Tables:
    """Return the tables of a ball that rolls over a plate, which is pushed up, with `slip` (m/s) where it touches."""
    tables = ball_on_plane(
        [SPEED, 0.0, 0.0],
        [0.0, (SPEED - slip) / RADIUS, 0.0],
        {"law": "spring-dashpot", "stiffness": STIFFNESS, "damping": 200.0},
        friction,
    )
    mass = 1e9
    tables["body"]["ball"]["position"] = [0.0, 0.0, RADIUS - MASS * GRAVITY / STIFFNESS]
    tables["body"]["anvil"] |= {"fixed": False, "mass": mass, "inertia": [mass] * 3}
    push = {"body": "anvil", "position": [0.0, 0.0, 0.0], "direction": [0.0, 0.0, 1.0], "force": mass * GRAVITY}
    return tables | {"thruster": {"push": push}, "duration": duration, "output": {"interval": 0.05}}


def brick_on_incline(duration: float) -> tuple[Tables, np.ndarray]:
    """Return the tables of a brick on four feet that friction holds on an incline of 20°, and the way down (in its axes).

    Its weight is a force at its middle, aslant to the plane: nothing else tells an incline from a level one.
    """
    slope, mass, weight, stiffness = np.radians(20.0), 2.0, 2.0 * 9.81, 2e4
    feet = {f"foot-{x}{y}": {"position": [0.05 * x, 0.03 * y, -0.02]} for x in (-1, 1) for y in (-1, 1)}
    depth = weight * np.cos(slope) / (4 * stiffness)
    friction = {"law": "stick-slip", "coefficient": 0.6, "retardation_time": 2e-3}
    tables = {
        "schema": 2,
        "duration": duration,
        "output": {"interval": min(60.0, duration / 20)},
        "integrator": {"tolerance": 1e-6},
        "body": {
            "brick": {
                "mass": mass,
                "inertia": [8.7e-4, 1.9e-3, 2.3e-3],
                "position": [0.0, 0.0, 0.02 - depth],
                "feature": feet,
            },
            "incline": plane_along([0.0, 0.0, 1.0]),
        },
        "thruster": {
            "weight": {
                "body": "brick",
                "position": [0.0, 0.0, 0.0],
                "direction": [np.sin(slope), 0.0, -np.cos(slope)],
                "force": weight,
            }
        },
        "contact": {
            name: {
                "between": [f"brick.{name}", "incline.top"],
                "normal": {"law": "spring-dashpot", "stiffness": stiffness, "damping": 60.0},
                "friction": friction,
            }
            for name in feet
        },
    }
    return tables, np.array([1.0, 0.0, 0.0])


DEPTH, OFFSET = 0.04, 0.05  # m: how far a peg is in its hole, and how far beside its axis it is pushed


def peg_in_hole(coefficient: float) -> Tables:
    """Return the tables of a peg in a hole, in the plane, that is pushed in more and more beside its axis.

    Its tip and the hole's mouth press by N = F e / l and rub by μ N each: it jams where 2 μ e > l (Whitney 1982).
    """
    across, length, mass = 0.02, 0.1, 0.2
    push = {"body": "peg", "position": [OFFSET, 0.03, 0.0], "direction": [0.0, -1.0, 0.0], "force": 0.5}
    normal = {"law": "spring-dashpot", "stiffness": 1e7, "damping": 1000.0}
    friction = {"law": "stick-slip", "coefficient": coefficient, "retardation_time": 1e-4}
    return {
        "schema": 2,
        "motion": "plane",
        "duration": 0.12,
        "output": {"interval": 0.01},
        "body": {
            "peg": {
                "mass": mass,
                "inertia": [2e-4, 2e-4, 2e-4],
                "position": [0.0, length / 2 - DEPTH, 0.0],
                "feature": {"tip": {"position": [-across / 2, -length / 2, 0.0]}},
                "surface": {"side": {"shape": "plane", "point": [across / 2, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}},
            },
            "hole": {
                "fixed": True,
                "position": [0.0, 0.0, 0.0],
                "feature": {"mouth": {"position": [across / 2, 0.0, 0.0]}},
                "surface": {"wall": {"shape": "plane", "point": [-across / 2, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}},
            },
        },
        "thruster": {"push": push},
        "phase": {
            "touched": {},
            "pushed": {"when": {"lasting": 1e-3}, "set": {"thruster.push.force": 20.0}, "over": 0.1},
        },
        "contact": {
            "tip": {"between": ["peg.tip", "hole.wall"], "normal": normal, "friction": friction},
            "mouth": {"between": ["hole.mouth", "peg.side"], "normal": normal, "friction": friction},
        },
    }


def jams(load: Load, coefficient: float) -> bool:
    """Return whether a peg stays where it is, but for what its contacts give way by."""
    place = dockdyn.simulate(load(peg_in_hole(coefficient)))["position"].sel(body="peg", axis="y").values
    return bool(abs(place[-1] - place[0]) < 1e-4)  # m


def least_friction_that_jams(load: Load) -> float:
    """Return the coefficient above which a peg jams, between 10 % above and below what it should be, to 1e-3 of it."""
    low, high = (share * DEPTH / (2 * OFFSET) for share in (0.9, 1.1))
    assert not jams(load, low)
    assert jams(load, high)
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if jams(load, middle) else (middle, high)
    return (low + high) / 2


def pressed_block(push: float, friction: Tables, duration: float, speed: float = 0.0) -> Tables:
    """Return the tables of a block between two rails, which press on it, pushed along them or moving."""
    sides = {"upper": 1.0, "lower": -1.0}
    thruster: Tables = (
        {"push": {"body": "block", "position": [0, 0, 0], "direction": [1, 0, 0], "force": push}} if push else {}
    )
    return {
        "schema": 2,
        "duration": duration,
        "body": {
            "block": {
                "mass": 2.0,
                "inertia": [0.3, 0.3, 0.3],
                "position": [0.0, 0.0, 0.0],
                "velocity": [speed, 0.0, 0.0],
                "feature": {name: {"position": [0.0, 0.0, side * 0.1]} for name, side in sides.items()},
            },
            "frame": {
                "fixed": True,
                "position": [0.0, 0.0, 0.0],
                "surface": {
                    name: {"shape": "plane", "point": [0, 0, side * 0.0975], "normal": [0, 0, -side]}
                    for name, side in sides.items()
                },
            },
        },
        "thruster": thruster,
        "contact": {
            name: {
                "between": [f"block.{name}", f"frame.{name}"],
                "normal": {"law": "spring-dashpot", "stiffness": 4e4},
                "friction": friction,
            }
            for name in sides
        },
    }


def drawn_block() -> tuple[Tables, float]:
    """Return the tables of a block on a spring of the ground that rails drag along, and the period (s) of its stick–slip.

    It sticks for 2 (F_s − F_k)/(k V) and slips for 2 (π − φ)/ω with tan φ = (F_s − F_k) ω/(k V).
    """
    speed, spring, mass = 0.1, 500.0, 2.0
    friction = {
        "law": "stick-slip",
        "coefficient": 0.2,
        "static_coefficient": 0.3,
        "stribeck_speed": 1e-4,  # 40 times what its stretch grows by while it sticks, 1e-3 of the rails' speed
        "stiffness": 1e7,
        "retardation_time": 3e-5,
    }
    tables = pressed_block(0.0, friction, 6.0, speed)
    tables["output"] = {"interval": 1e-3}
    tables["body"]["frame"] |= {"fixed": False, "mass": 1e9, "inertia": [1e9] * 3, "velocity": [speed, 0.0, 0.0]}
    tables["body"]["ground"] = {"fixed": True, "position": [-1.0, 0.0, 0.0]}
    ends = {"between": ["block", "ground"], "anchor": [[0, 0, 0], [0, 0, 0]]}
    tables["strut"] = {"spring": ends | {"stiffness": spring, "damping": 0.0}}
    frequency, falls = np.sqrt(spring / mass), 2 * (0.3 - 0.2) * 100.0
    phase = np.arctan2(falls * frequency / spring, speed)
    return tables, float(2 * falls / (spring * speed) + 2 * (np.pi - phase) / frequency)


def turning_times(run: xr.Dataset) -> np.ndarray:
    """Return when (s) a block turns back, once a period."""
    time, moves = run["time"].values, run["velocity"].sel(body="block", axis="x").values
    back = np.flatnonzero((moves[:-1] > 0) & (moves[1:] <= 0))
    return time[back] + moves[back] / (moves[back] - moves[back + 1]) * (time[1] - time[0])


ROLLS, SLIPS = 5e-3, 1e-3  # rad/s, m/s: below these resistance and friction of the ball that rolls fade


def ball_that_rolls() -> tuple[Tables, dict[str, float]]:
    """Return the tables of a ball that rolls to rest, and its way (m) and time (s): v²/(2 a) and v/a.

    Rolling resistance c slows it by a = g c R / (R² + I/m). It slips a little, at the speed at which regularised friction gives
    the force that slows it, which is constant while it rolls.
    """
    slowing = GRAVITY * LENGTH * RADIUS / (RADIUS**2 + INERTIA / MASS)
    coefficient = 0.3
    share = slowing / (coefficient * GRAVITY)  # of the largest friction
    slip = SLIPS * share / np.sqrt(1 - share**2)
    friction = {"law": "coulomb", "coefficient": coefficient, "regularisation": SLIPS, "rolling": LENGTH}
    tables = rolling_ball(friction | {"turning_regularisation": ROLLS}, slip, 3.0)
    return tables, {"way": SPEED**2 / (2 * slowing), "time": SPEED / slowing, "slowing": slowing, "slip": slip}


def stopping_time(run: xr.Dataset) -> float:
    """Return when (s) a ball that rolls would rest, by the line through its rates above a tenth of that at the start."""
    time, rates = run.time.values, inertial_rates(run)[:, 1]
    quick = rates > 0.1 * rates[0]
    slope, start = np.polyfit(time[quick], rates[quick], 1)
    return float(-start / slope)


def disc_that_spins() -> tuple[Tables, dict[str, float]]:
    """Return the tables of a disc that spins to rest between two plates, its rate after 0.5 s (rad/s) and angle (rad).

    Of I ω̇ = −2 c N ω / √(ω² + ε²) the angle is the integral of √(ω² + ε²) I / (2 c N) over ω.
    """
    start, length, inertia = 2.0, 6e-5, 8e-4
    friction = {"law": "coulomb", "coefficient": 0.0, "spinning": length, "turning_regularisation": REGULARISATION}
    tables = ball_between_rails([0.0, 0.0, start], friction, 3.0)
    tables["body"]["ball"]["inertia"] = [inertia / 2, inertia / 2, inertia]
    slowing = 2 * length * FORCE / inertia
    primitive = start * np.hypot(start, REGULARISATION) + REGULARISATION**2 * np.arcsinh(start / REGULARISATION)
    return tables, {"rate": slowed_rate(start, slowing, 0.5), "angle": float(primitive / 2 / slowing)}


def ball_against_plane(normal: Tables, speed: float, duration: float) -> tuple[Tables, float]:
    """Return the tables of a steel ball of 20 mm that meets what is fixed head on by a normal law, and its mass (kg)."""
    radius, gap = 0.01, 1e-8
    ball = ball_of(radius, 7850.0, position=[0.0, 0.0, radius + gap], velocity=[0.0, 0.0, -speed])
    contact = {"hit": {"between": ["ball.skin", "anvil.top"], "normal": normal}}
    bodies = {"ball": ball, "anvil": plane_along([0.0, 0.0, 1.0])}
    return {"schema": 2, "duration": duration, "body": bodies, "contact": contact}, ball["mass"]


def plastic_impact() -> tuple[Tables, float]:
    """Return the tables of a ball that yields, and its restitution by Thornton 1997, eq. 34."""
    stiffness, limit, speed = 4 / 3 * 115e9 * np.sqrt(0.01), 80.0, 0.5
    law = {"law": "thornton", "stiffness": stiffness, "yield_force": limit}
    tables, mass = ball_against_plane(law, speed, 1e-3)
    return tables, thornton_restitution(np.sqrt(0.8 * limit * (limit / stiffness) ** (2 / 3) / mass) / speed)


def thornton_restitution(ratio: float) -> float:
    """Return the restitution of an impact of which the speed that just yields is this `ratio`."""
    if ratio >= 1:
        return 1.0
    slower = ratio / (ratio + 2 * np.sqrt((6 - ratio**2) / 5))
    return float(np.sqrt(6 * np.sqrt(3) / 5) * np.sqrt(1 - ratio**2 / 6) * slower**0.25)


def adhering_impact() -> tuple[Tables, float]:
    """Return the tables of a ball that adheres and comes at twice the speed at which it stays, and its restitution.

    That speed is 1.84 ((w/R)⁵/(ρ³ E*²))^(1/6) by Thornton and Ning 1998, eq. 13.
    """
    radius, density, modulus, work = 0.01, 7850.0, 1e7, 2.0
    stays = 1.84 * ((work / radius) ** 5 / (density**3 * modulus**2)) ** (1 / 6)
    law = {
        "law": "jkr",
        "stiffness": 4 / 3 * modulus * np.sqrt(radius),
        "pull_off_force": 1.5 * np.pi * work * radius,
    }
    return ball_against_plane(law, 2 * stays, 0.2)[0], float(np.sqrt(1 - 1 / 4))


def creeping_contact() -> tuple[Tables, float]:
    """Return the tables of a ball on a standard linear solid, and the delay (s) that its contact bears.

    G(i ω) = k + k₁ i ω τ/(1 + i ω τ) has the size m ω² at one ω, and its phase over that is the delay.
    """
    first, second, time = 2e5, 3e5, 3e-4
    law = {"law": "zener", "stiffness": first, "series_stiffness": second, "relaxation_time": time}
    tables, mass = ball_against_plane(law, 0.1, 0.01)

    def answer(frequency: float) -> complex:
        return first + second * 1j * frequency * time / (1 + 1j * frequency * time)

    bounds = np.sqrt(first / mass) / 2, 2 * np.sqrt((first + second) / mass)
    crossing = brentq(lambda frequency: abs(answer(frequency)) - mass * frequency**2, *bounds, xtol=1e-12)
    return tables | {"loop": {"delay": 1e-6}}, float(np.angle(answer(crossing)) / crossing)
