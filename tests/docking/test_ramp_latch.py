"""Latches behind a ramp in a mechanism: beside SciPy, a line and free flight; held, let go, closed again."""

import copy
import math

import numpy as np
import pytest
from held_against_pusher import HELD, check_parting, held_against_pusher
from helpers.refusals import refused
from latched_docking import MASS, SLOPE, latched
from line_of_masses import LineOfMasses
from on_a_line import latching
from plain_tables import acting, by_name

import dockdyn
from dockdyn.scenario.load import parse


def drawn_ramp(draw):
    """A ramp at random, with preload and friction or without."""
    return {
        "stiffness": draw.uniform(200, 900),
        "angle": draw.uniform(0.4, 0.9),
        "axial_length": draw.uniform(0.01, 0.03),
        "preload": draw.choice([0.0, draw.uniform(1, 4)]),
        "friction": draw.choice([0.0, draw.uniform(0.05, 0.3)]),
    }


def on_a_line(masses, stiffness, speed, gap, ramp, grip="weld"):
    """Four masses on a line, two and two joined by a strut; between the middle ones the latch."""
    bodies = {
        name: {"mass": mass, "inertia": [mass] * 3, "position": [x, 0, 0], "velocity": [v, 0, 0]}
        for name, mass, x, v in zip("abcd", masses, (-1.0, 0.0, 1.0, 2.0), (speed, speed, 0.0, 0.0), strict=True)
    }
    struts = [
        {
            "kind": "strut",
            "name": "".join(pair),
            "between": list(pair),
            "anchor": [[0, 0, 0], [0, 0, 0]],
            "free_length": 1.0,
            "stiffness": k,
        }
        for pair, k in zip((("a", "b"), ("c", "d")), stiffness, strict=True)
    ]
    seat = -1.0 + gap + ramp["axial_length"]
    latch = {
        "kind": "latch",
        "name": "hook",
        "between": ["b", "c"],
        "anchor": [[0, 0, 0], [seat, 0, 0]],
        "axis": [-1, 0, 0],
        "lateral": 0.01,
        "ramp": ramp,
        "grip": grip,
    }
    return {"schema": 2, "duration": 3.0, "body": bodies, **acting(*struts, latch)}


@pytest.mark.full
@pytest.mark.parametrize("seed", range(12))
def test_masses_behind_springs_are_caught_as_on_paper(seed):
    """The same by SciPy, with two masses that move as one once they are caught; in space and on a line."""
    draw = np.random.default_rng([61, seed])
    masses, stiffness = 10 ** draw.uniform(0.3, 1.3, 4), 10 ** draw.uniform(2, 3, 2)
    ramp, gap, speed = drawn_ramp(draw), 2e-3, draw.uniform(0.08, 0.3)
    springs = tuple({"stiffness": float(one)} for one in stiffness)
    both = masses[:2].tolist(), masses[2:].tolist()
    chains = latching(*both, ramp, speed=float(speed), gap=gap, inside=springs, duration=3.0)
    paper = LineOfMasses(
        masses=masses.tolist(),
        springs={(0, 1): (float(stiffness[0]), 0.0), (2, 3): (float(stiffness[1]), 0.0)},
        probe=1,
        stiffness=ramp["stiffness"],
        angle=ramp["angle"],
        length=ramp["axial_length"],
        preload=ramp["preload"],
        friction=ramp["friction"],
    )
    for content in (chains, on_a_line(masses, stiffness, speed, gap, ramp)):
        run = dockdyn.simulate(dockdyn.load(content))
        expected = paper.run([-gap, -gap, 0, 0], [speed, speed, 0, 0], 3.0, run.time.values)
        summary, places = dockdyn.summarise(run), np.concatenate(expected.samples)[:, :4]
        assert summary["captured"] == (expected.capture_time is not None)
        if summary["captured"]:
            assert summary["capture_time_s"] == pytest.approx(expected.capture_time, abs=1e-9)
        moved = run.position.values[:, :, 0] - run.position.values[0, :, 0] + places[0]
        assert np.abs(moved - places).max() < 1e-8
        assert summary["linear_momentum_error"] < 1e-12
        total = run.kinetic_energy.values + run.internal_energy.values - run.work.values
        assert np.ptp(total) < 1e-9 * run.kinetic_energy.values[0]


GRIPS = [("pin", True), ("weld", True), ("pin", False), ("weld", False)]


@pytest.mark.full
@pytest.mark.parametrize("delay", [0.0, 0.02])
@pytest.mark.parametrize(("hold", "rigid"), GRIPS[:3])
def test_a_cone_is_a_seat_with_a_ramp(hold, rigid, delay):
    """The throat of a cone is as wide as the way beside the seat's axis that counts; what is delayed is delayed in both."""
    speed = 1.3 * math.sqrt((2 * 3 + 1000 * 0.025 * SLOPE) * 0.025 * SLOPE / MASS)
    grip = {"stiffness": 2000.0, "damping": 300.0}
    more = "" if rigid else f"stiffness = {grip['stiffness']}\ndamping = {grip['damping']}\n"
    named = hold if rigid else "compliant"
    flight = parse(latched(speed, f"{more}[loop]\ndelay = {delay}", named, (0.0, 4e-3, 2e-3), z=5e-3), "cone")
    content = flight.content
    bodies = [
        {key: getattr(body, key) for key in ("mass", "position", "attitude", "velocity", "rate")}
        | {"name": name, "inertia": body.inertia}
        for name, body in (("chaser", content.named("chaser")), ("target", content.named("target")))
    ]
    latch = {
        "between": ["chaser", "target"],
        "anchor": [[0.9, 0, 0], [0.5 + 0.08 - 0.025, 0, 0]],
        "axis": [1, 0, 0],
        "lateral": 0.08 * math.tan(math.radians(40)),
        "ramp": {"stiffness": 1000.0, "angle": math.radians(40), "axial_length": 0.025, "preload": 3.0},
        "grip": hold if rigid else "compliant",
        **({} if rigid else grip),
    }
    other = {"schema": 2, "duration": 3.0, "body": by_name(bodies), "latch": {"hook": latch}}
    if delay:
        other["loop"] = {"delay": delay}
    one, two = dockdyn.simulate(flight), dockdyn.simulate(dockdyn.load(other))
    first, second = dockdyn.summarise(one), dockdyn.summarise(two)
    assert first["captured"] and second["captured"]
    assert second["capture_time_s"] == pytest.approx(first["capture_time_s"], abs=1e-9)
    for name in ("position", "velocity", "attitude"):
        assert np.abs(one[name].values - two[name].values).max() < 1e-8, name


@pytest.mark.full
@pytest.mark.parametrize("grip", ["compliant", "pin", "weld"])
def test_a_ramp_holds_lets_go_and_is_met_again(grip):
    """Caught, held for a minute, let go against a pusher, open on the way out, closed and caught a second time."""
    mass, pusher, longer = 20.0, 40.0, 0.05  # kg, N/m, m
    ramp = {"stiffness": 300.0, "angle": 0.6, "axial_length": 0.02}
    hook = {"ramp": ramp, "grip": grip}
    if grip == "compliant":
        hook |= {"stiffness": 4000.0, "damping": 600.0}
    back = {"when": {"lasting": 1.0}, "set": {"latch.hook.closed": True, "strut.pusher.free_length": 0.2}}
    content = held_against_pusher((2 * mass, 2 * mass), 0.1, hook, pusher, longer, back=back)
    run = dockdyn.simulate(dockdyn.load(content))
    summary, held = dockdyn.summarise(run), run.latch_held.values[:, 0]
    rate = math.sqrt(ramp["stiffness"] / mass) * math.tan(ramp["angle"])
    caught = 0.03 / 0.1 + math.asin(rate * 0.02 / 0.1) / rate
    assert summary["capture_time_s"] == pytest.approx(caught, abs=1e-8)
    assert summary["release_time_s"] == pytest.approx(caught + HELD, abs=1e-8)
    compressed = longer * (4000.0 / (4000.0 + pusher) if grip == "compliant" else 1.0)
    check_parting(run, mass, pusher, compressed, caught + HELD, until=caught + HELD + 1.0)
    assert np.diff(held).tolist().count(1.0) == 2 and held[-1] == 1
    assert summary["linear_momentum_error"] < 1e-12
    total = run.kinetic_energy.values + run.internal_energy.values - run.work.values
    assert np.ptp(total) < 1e-8 * run.kinetic_energy.values.max()


def pressed(draw, grip):
    """A ball that presses into a plate when a latch catches it there, and is let go after a minute."""
    masses = 10 ** draw.uniform(1, 2, 2)
    mass, stiffness, speed = masses.prod() / masses.sum(), draw.uniform(2e3, 9e3), draw.uniform(0.02, 0.06)
    deep = draw.uniform(0.2, 0.8) * speed * math.sqrt(mass / stiffness)
    bodies = {
        "chaser": {
            "mass": masses[0],
            "inertia": [1, 1, 1],
            "position": [-0.6, 0, 0],
            "velocity": [speed, 0, 0],
            "feature": {"ball": {"position": [0.5, 0, 0], "radius": 0.05}},
        },
        "target": {
            "mass": masses[1],
            "inertia": [1, 1, 1],
            "surface": {"plate": {"shape": "plane", "point": [0, 0, 0], "normal": [-1, 0, 0]}},
        },
    }
    hook = {
        "between": ["chaser", "target"],
        "anchor": [[0.5, 0, 0], [deep - 0.05 + 1e-3, 0, 0]],
        "axis": [-1, 0, 0],
        "lateral": 0.01,
        "reach": 1e-3,
        "grip": grip,
    }
    content = {
        "schema": 2,
        "duration": HELD + 20.0,
        "body": bodies,
        "contact": {
            "ball": {
                "between": ["chaser.ball", "target.plate"],
                "normal": {"law": "spring-dashpot", "stiffness": stiffness, "damping": 0.0},
            }
        },
        "latch": {"hook": hook},
        "phase": {
            "approach": {},
            "held": {"when": "latched"},
            "apart": {"when": {"lasting": HELD}, "set": {"latch.hook.closed": False}},
        },
    }
    return content, deep * math.sqrt(stiffness / mass)


@pytest.mark.full_cases("0-pin", "1-pin", "2-pin", "0-weld")
@pytest.mark.parametrize("grip", ["pin", "weld"])
@pytest.mark.parametrize("seed", range(3))
def test_what_presses_while_it_is_held_pushes_apart_when_it_is_let_go(seed, grip):
    """The spring of the contact gives back ½ k d², d the depth in which it was held: the speed of parting is d √(k/m)."""
    content, parting = pressed(np.random.default_rng([62, seed]), grip)
    run = dockdyn.simulate(dockdyn.load(content))
    summary = dockdyn.summarise(run)
    assert summary["captured"] and len(summary["contacts"]) == 2
    speed = run.velocity.values[-1, 1, 0] - run.velocity.values[-1, 0, 0]
    assert speed == pytest.approx(parting, rel=1e-8)
    held = run.latch_held.values[:, 0] > 0
    assert (run.normal_force.values[held] == 0).all()
    assert summary["linear_momentum_error"] < 1e-12


def test_ramps_that_cannot_be_are_refused():
    content = on_a_line([1, 2, 3, 4], [100, 100], 0.1, 0.01, drawn_ramp(np.random.default_rng(0)))
    ((name, latch),) = content["latch"].items()
    compliant = {"grip": "compliant", "stiffness": 1e3}
    for keys, words in (
        ({"reach": 0.01}, "must state one of reach and ramp"),
        ({"ramp": None}, "must state one of reach and ramp"),
        ({"anchors": [latch["anchor"], [[0, 0.1, 0], [0, 0.1, 0]]], **compliant}, "a ramp has one striker"),
        ({"draw_speed": 0.1, **compliant}, "draw_speed: a striker behind a ramp"),
        ({"ramp": {"stiffness": 100, "angle": 0.5}}, "give one of them"),
    ):
        stated = {key: value for key, value in (latch | keys).items() if value is not None}
        with refused(words):
            dockdyn.load(content | {"latch": {name: stated}})


@pytest.mark.full
def test_a_ramp_that_is_pushed_at_rest_stiffens_the_contact():
    """On a line the late force of the ramp is k tan²θ per travel, beside that of the contact: one contact as stiff as both."""
    content, _ = pressed(np.random.default_rng([63, 0]), "weld")
    normal = content["contact"]["ball"]["normal"]
    normal |= {"damping": 30.0}
    ramp = {"stiffness": 900.0, "angle": 0.7, "axial_length": 0.012, "preload": 0.1, "friction": 0.2}
    hook = content["latch"]["hook"] | {"ramp": ramp, "grip": "pin", "anchor": [[0.5, 0, 0], [-0.04, 0, 0]]}
    del hook["reach"]
    alone = {key: content[key] for key in ("schema", "body", "contact")} | {"loop": {"delay": 1e-3}}
    stiffer = copy.deepcopy(alone)
    stiffer["contact"]["ball"]["normal"]["stiffness"] += ramp["stiffness"] * math.tan(ramp["angle"]) ** 2
    ramped, expected, without = (
        dockdyn.margins(dockdyn.load(one | {"duration": 5.0}))["critical_delay_s"]
        for one in (alone | {"latch": {"hook": hook}}, stiffer, alone)
    )
    assert ramped == pytest.approx(expected, rel=1e-9)
    assert abs(ramped - without) > 1e-3 * without
