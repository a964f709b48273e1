"""Bad input of the kind `mechanism`: one line that says what is wrong, exit code 2."""

import numpy as np
import pytest
from mechanism_cases import FOUR, THREE, at, pressing
from test_phases import CAPTURE

TIPS = "body.arm.feature.tips.position.0"
CIRCLE = {"shape": "circle", "centre": [0, 0, 0], "normal": [1, 0, 0], "major_radius": 0.3}
LATCH = {"between": ["ring", "target"], "reach": 0.01, "lateral": 0.02, "stiffness": 1e4}


RIM = {"body.ring.feature.rim": CIRCLE}
ROUND = pressing(1e4, 1.0, 0.5)
OWN = {"own": FOUR["body"]["target"]["surface"]["dome"]}
JET = {"body": "tug", "position": [0, 0, 0], "direction": [1, 0, 0], "force": 2.0}
TETHER = FOUR["strut"]["tether"]
WRONG = {
    "delay of nothing": (FOUR, {"contact": {}, "loop": {"delay": 0.01}}, ["loop.delay", "there is no [contact.NAME]"]),
    "body of an element": (
        FOUR,
        {"strut.tether.between": ["visitr", "tug"]},
        ["strut.tether.between", "'visitr'", "'visitor'"],
    ),
    "carrier": (FOUR, {"body.arm.on": "tgu"}, ["body.arm.on", "'tgu'", "'tug'"]),
    "first end": (FOUR, {"contact.tips.between.0": "tip"}, ["contact.tips.between", "'tip'", "'tips'"]),
    "second end": (FOUR, {"contact.feet.between.1": "decks"}, ["contact.feet.between", "'decks'", "'deck'"]),
    "second feature": (THREE, {"contact.petals.between.1": "target.petal"}, ["'target.petal'", "petals"]),
    "name of two": (THREE, {"contact.petals.between.0": "petals"}, ["'petals'", "ring", "target", "body.name"]),
    "port": (THREE, {"approach.of": "ring.fce"}, ["'ring.fce'", "face"]),
    "port without axis": (THREE, {"body.target.port.port.axis": None}, ["approach.to", "'target.port'", "axis"]),
    "same elements": (FOUR, {"cable": {"tether": TETHER}}, ["elements", "same name"]),
    "feature called as a port": (THREE, {"body.ring.port.tip": {"position": [0, 0, 0]}}, ["tip", "same name"]),
    "phase called by what is no name": (
        CAPTURE,
        {"phase.on hold": {"when": "latched"}},
        ["phase", "'on hold' is no name"],
    ),
    "phase called twice": (CAPTURE, {"phase.hold.name": "kept"}, ["[phase.hold] has a key 'name'", "must be left out"]),
    "circle of carriers": (THREE, {"approach": None, "body.chaser.on": "ring"}, ["on", "circle", "chaser", "ring"]),
    "own body": (
        FOUR,
        {"body.arm.surface": OWN, "contact.tips.between": ["tips", "own"]},
        ["'tips'", "'own'", "'arm'"],
    ),
    "circle on a cone": (
        THREE,
        RIM | {"contact.petals": {"between": ["rim", "drogue"], **ROUND}},
        ["'rim'", "circle", "planes", "'drogue'"],
    ),
    "circle on a circle": (
        THREE,
        RIM | {"body.target.feature.rim": CIRCLE, "contact.petals": {"between": ["ring.rim", "target.rim"], **ROUND}},
        ["'rim'", "circle", "cannot touch"],
    ),
    "the other way round": (
        THREE,
        RIM | {"contact.petals": {"between": ["ring.rim", "target.petals"], **ROUND}},
        ["'rim'", "'petals'", "other way round"],
    ),
    "latch without anchors": (THREE, {"latch": {"hook": LATCH}}, ["latch.hook", "anchor", "anchors"]),
    "unknown element": (FOUR, {"sprig": {"tether": TETHER}}, ["sprig: unknown key"]),
    "element of one's own without a class": (FOUR, {"element": {"tether": TETHER}}, ["element.tether.kind: missing"]),
    "kind of an element stated twice": (FOUR, {"strut.tether.kind": "strut"}, ["strut.tether.kind: unknown key"]),
    "unknown key": (FOUR, {"strut.tether.stifness": 3.0}, ["stifness", "unknown key", "'stiffness'"]),
    "unknown shape": (FOUR, {"body.arm.feature.tips.shape": "bll"}, ["body.arm.feature.tips.shape", "'bll'", "'ball'"]),
    "key of another element": (
        FOUR,
        {"bushing.mount.anchor": [[0, 0, 0], [0, 0, 0]]},
        ["bushing.mount.anchor", "unknown key"],
    ),
    "unknown key of a bushing": (FOUR, {"bushing.mount.turning_damp": [0, 0, 0]}, ["unknown key", "'turning_damping'"]),
    "thruster of an unknown body": (
        FOUR,
        {"thruster": {"jet": JET | {"body": "tgu"}}},
        ["thruster.jet.body", "'tgu'", "'tug'"],
    ),
    "thruster that pulls": (
        FOUR,
        {"thruster": {"jet": JET | {"force": -1.0}}},
        ["thruster.jet.force", "-1", "at least 0"],
    ),
    "thruster between bodies": (
        FOUR,
        {"thruster": {"jet": JET | {"between": ["tug", "arm"]}}},
        ["thruster.jet.between", "unknown key"],
    ),
    "thruster that pushes nowhere": (
        FOUR,
        {"thruster": {"jet": JET | {"direction": [0, 0, 0]}}},
        ["thruster.jet.direction"],
    ),
    "element of one body": (FOUR, {"strut.tether.between": ["tug", "tug"]}, ["strut.tether.between", "two bodies"]),
    "negative mass": (FOUR, {"body.visitor.mass": -1.0}, ["mass", "-1", "greater than 0"]),
    "stiffness of no stops": (FOUR, {"strut.tether.stop_stiffness": 3.0}, ["stop_stiffness", "stroke", "not stated"]),
    "damping of no stops": (FOUR, {"strut.tether.stop_damping": 3.0}, ["stop_damping", "stroke", "not stated"]),
    "restitution of no stops": (
        FOUR,
        {"strut.tether.stop_restitution": 0.4},
        ["stop_restitution", "stroke", "not stated"],
    ),
    "wrong unit": (FOUR, {"strut.tether.stiffness": "3 kg"}, ["stiffness", "'3 kg'", "N/m"]),
    "phase sets an unknown element": (
        CAPTURE,
        {"phase.lunge.set": {"strut.strut.speed": 0.1}},
        ["phase.lunge.set", "'strut.strut'", "'strut.struts'"],
    ),
    "phase sets an unknown key": (
        CAPTURE,
        {"phase.lunge.set": {"strut.struts.sped": 0.1}},
        ["phase.lunge.set.strut.struts.sped", "'speed'"],
    ),
    "phase sets what is not stated": (
        CAPTURE,
        {"phase.lunge.set": {"strut.struts.free_length": 0.1}},
        ["struts.free_length", "states"],
    ),
    "phase with a wrong unit": (
        CAPTURE,
        {"phase.lunge.set": {"strut.struts.speed": "3 kg"}},
        ["struts.speed", "'3 kg'", "m/s"],
    ),
    "phase with a wrong number": (
        CAPTURE,
        {"phase.hold.set": {"strut.struts.slip": -3.0}},
        ["struts.slip", "-3", "greater than 0"],
    ),
    "phase that waits for an unknown body": (
        CAPTURE,
        {"phase.calm.when.between": ["chaser", "tarjet"]},
        ["phase.calm", "'tarjet'", "'target'"],
    ),
    "phase that waits for nothing": (CAPTURE, {"phase.hold.when": None}, ["phase.hold", "when"]),
    "phase that waits for one body": (
        CAPTURE,
        {"phase.calm.when.between": ["target", "target"]},
        ["phase.calm.when.between = ['target', 'target']", "two bodies"],
    ),
    "phase that waits for no contact": (
        THREE,
        {"contact": {}, "phase": {"a": {}, "b": {"when": "contact"}}},
        ["phase.b", "waits for a contact", "no [contact.NAME]"],
    ),
    "body on itself": (FOUR, {"body.arm.on": "arm"}, ["body.arm.on", "in a circle", "arm on arm"]),
    "feature in millimetres": (
        FOUR,
        {"body.arm.feature.tips.position": [300.0, 120.0, 20.0]},
        ["body.arm.feature.tips.position.0 = 300 m", "radius of gyration", "in mm?"],
    ),
    "feature that is distributed in millimetres": (
        FOUR,
        {"dispersion": {"tips": {"keys": [TIPS], "distribution": "uniform", "low": 0.1, "high": 300.0}}},
        ["dispersion.tips.high = 300.0", "body.arm.feature.tips.position.0 = 300 m", "radius of gyration", "in mm?"],
    ),
    "anchor in millimetres": (
        FOUR,
        {"strut.tether.anchor.0": [200.0, 0.0, 0.0]},
        ["strut.tether.anchor.0.0 = 200 m", "radius of gyration", "in mm?"],
    ),
    "empty name": (FOUR, {"body.": FOUR["body"]["visitor"]}, ["body", "'' is no name"]),
    "two moments of inertia": (FOUR, {"body.tug.inertia": [1.0, 2.0]}, ["body.tug.inertia", "three", "has 2"]),
    "stiffness of a law": (
        FOUR,
        {"contact.tips.normal.stiffness": -1.0},
        ["contact.tips.normal.stiffness = -1.0", "greater than 0 N/m"],
    ),
    "feature of a body that has none such": (
        FOUR,
        {"contact.tips.between.0": "arm.tip"},
        ["contact.tips.between", "'arm.tip'", "did you mean 'arm.tips'"],
    ),
    "first phase that waits": (CAPTURE, {"phase.ready.when": "contact"}, ["phase.ready", "first"]),
    "phase that waits for an unknown event": (CAPTURE, {"phase.lunge.when": "touch"}, ["phase", "contact", "latched"]),
    "phase that waits for latches": (THREE, {"phase": {"a": {}, "b": {"when": "latched"}}}, ["phase.b", "latch"]),
    "approach of one body": (
        THREE,
        {"body.target.velocity": None, "body.target.rate": None, "body.target.on": "chaser"},
        ["approach", "begin as one"],
    ),
    "approach and motion": (THREE, {"body.chaser.velocity": [0.1, 0, 0]}, ["body.chaser.velocity", "approach"]),
    "motion of a body on another": (FOUR, {"body.arm.velocity": [0.1, 0, 0]}, ["body", "on another"]),
    "two partners": (FOUR, {"contact.tips.between": ["tips", "dome", "deck"]}, ["contact.tips.between", "2"]),
    "no body": ({"schema": 2, "duration": 1.0, "body": {}}, {}, ["body", "at least 1"]),
    "rigid latch of no body": (
        FOUR,
        {
            "latch": {
                "hook": {
                    "between": ["tug", "nobody"],
                    "anchor": [[0, 0, 0], [0, 0, 0]],
                    "reach": 0.01,
                    "lateral": 0.01,
                    "grip": "weld",
                }
            }
        },
        ["latch.hook.between", "'nobody'"],
    ),
    "ball inside a sphere": (
        FOUR,
        {"body.tug.position": [-2.0, 0.02, 0.03]},
        ["contact 'tips'", "overlap", "at most 0.03 m"],
    ),
    "points behind a plane": (
        FOUR,
        {"body.visitor.position": [0.1, 0.4, 0.1], "body.visitor.feature.feet.radius": 0.0, "output": {}},
        ["contact 'feet'", "overlap", "at most 0.2 m"],
    ),
}


@pytest.mark.parametrize(("case", "values", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_in_one_line(check_file_refused, case, values, words):
    """With the file, the key or name, and what is allowed."""
    check_file_refused(at(case, values), *words)


def test_cases_drawn_in_millimetres_fail_and_say_so(load):
    from dockdyn.studies.cases.batch import run_cases

    (reason,) = run_cases(load(FOUR), [TIPS], np.array([[300.0]])).reasons
    assert "body.arm.feature.tips.position.0 = 300 m" in reason and "is it in mm?" in reason


@pytest.mark.full
@pytest.mark.parametrize("depth", [0.0, 0.02])
def test_bodies_may_begin_in_touch(load, depth):
    """Less deep than a ball is large, as where something rests under load."""
    case = at(FOUR, {"duration": 0.01, "body.visitor.velocity": [0.0, 0.0, 0.0]})
    target, visitor = case["body"]["target"], case["body"]["visitor"]
    feet = visitor["feature"]["feet"]
    for body in (target, visitor):
        body |= {"attitude": [1.0, 0.0, 0.0, 0.0], "rate": [0.0, 0.0, 0.0], "velocity": [0.0, 0.0, 0.0]}
    target["surface"]["deck"]["normal"] = [0.0, 1.0, 0.0]
    feet["positions"] = [[0.2, -0.3, 0.0], [-0.2, -0.3, 0.0]]
    visitor["position"] = [0.1, 0.5 + 0.3 + feet["radius"] - depth - 1e-6, 0.1]
    import dockdyn

    data = dockdyn.simulate(load(case))
    assert float(data.depth[0, 1]) == pytest.approx(depth + 1e-6, abs=1e-12)
    assert float(data.normal_force[0, 1]) > 0
