"""The presets `flexible-arm-touch` and `flexible-arm-rig`: margins beside what grows or dies, and a late touch by own steps."""

import numpy as np
import pytest
import tomlkit
from flexible_cases import cantilever, integral

import dockdyn
from dockdyn.scenario.preset_files import preset_text

pytestmark = pytest.mark.full
CONTACT = "ball-on-plate"


def test_the_touch_keeps_momenta_and_energy():
    run = dockdyn.simulate(dockdyn.load("flexible-arm-touch"))
    summary = dockdyn.summarise(run)
    assert summary["status"] == "finished" and summary["contact.count"] == 1
    assert max(summary["linear_momentum_error"], summary["angular_momentum_error"]) < 1e-10
    assert summary["work_energy_error"] < 1e-6
    assert np.abs(run.modal_coordinate.values).max() > 1e-5  # m: the links have bent


def pressed(delay):
    """The client is pressed against the grapple, harder and harder so that they stay in contact: the depth over time."""
    content = tomlkit.parse(preset_text("flexible-arm-touch")).unwrap()
    content["approach"] |= {"distance": 1e-6, "closing_speed": 2e-3, "lateral_velocity": [0, 0], "pitch": 0, "yaw": 0}
    del content["contact"][CONTACT]["friction"]  # as margins have it
    push = {"body": "client", "position": [0, 0, 0], "direction": [-1, 0, 0], "force": 6.0}
    more = {str(n): {"when": {"lasting": 0.3}, "set": {"thruster.push.force": 6.0 * n}} for n in range(2, 11)}
    content |= {"thruster": {"push": push}, "phase": {"1": {}, **more}, "loop": {"delay": delay}}
    run = dockdyn.simulate(dockdyn.load(content | {"duration": 12.0, "output": {"interval": 0.01}}))
    return run.time.values, run.depth.values[:, 0]


def swing(time, depth, begin):
    """How much a depth swings about its drift in 3.4 s from a time on."""
    part = (time > begin) & (time < begin + 3.4)
    return np.std(depth[part] - np.polyval(np.polyfit(time[part], depth[part], 2), time[part]))


def late_touch(case):
    """Own steps of the fourth order for a base, a clamped beam's modes and a ball, between which a late force acts; in a line.

    M q̈ + C q̇ + K q = a F(t − h), F = k d (1 + c ḋ) where both are above 0; returns the depth after each h.
    """
    base, mass, line, length, bending, count = (
        case[key] for key in ("base", "ball", "line", "length", "bending", "modes")
    )
    shapes = cantilever(count)
    size = count + 2
    matrix, damp, stiff = np.diag([base + line * length, *[0.0] * count, mass]), np.zeros(size), np.zeros(size)
    along = np.array(
        [1.0, *[shape(1.0) for shape, *_ in shapes], -1.0]
    )  # of the tip over the ball, which comes towards it
    for k, (shape, _, beta) in enumerate(shapes, start=1):
        own = line * length * integral(lambda s, f=shape: f(s) ** 2)
        frequency = beta**2 * np.sqrt(bending / line / length**4)
        matrix[k, k], stiff[k], damp[k] = own, own * frequency**2, 2 * case["ratio"] * own * frequency
        matrix[0, k] = matrix[k, 0] = line * length * integral(shape)
    inverse = np.linalg.inv(matrix)

    def force(q, v):
        depth = -(along @ q) - case["gap"]
        return case["stiffness"] * max(0.0, depth) * max(0.0, 1 - case["damping"] * (along @ v))

    parts, delay = case["parts"], case["delay"]
    step, steps = delay / parts, round(case["duration"] / delay) * parts
    q, v, ends, middles, depths = np.zeros(size), np.zeros(size), [], [], []
    v[-1] = case["speed"]

    def rate(q, v, late):
        return inverse @ (along * late - stiff * q - damp * v)

    for n in range(steps):
        ends.append(force(q, v))
        late = [0.0] * 3 if n < parts else [ends[n - parts], middles[n - parts], ends[n - parts + 1]]
        a1 = rate(q, v, late[0])
        a2 = rate(q + step / 2 * v, v + step / 2 * a1, late[1])
        a3 = rate(q + step / 2 * v + step**2 / 4 * a1, v + step / 2 * a2, late[1])
        a4 = rate(q + step * v + step**2 / 2 * a2, v + step * a3, late[2])
        new = q + step * v + step**2 / 6 * (a1 + a2 + a3), v + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        a5 = rate(*new, late[2])
        half = (q + new[0]) / 2 + step / 8 * (v - new[1]), (v + new[1]) / 2 + step / 8 * (a1 - a5)
        middles.append(force(*half))
        if n % parts == 0:
            depths.append(-(along @ q) - case["gap"])
        q, v = new
    return np.array(depths)


@pytest.mark.parametrize("seed", range(3))
def test_a_late_touch_of_a_beam_is_that_of_own_steps(seed):
    """A ball flies onto the tip of a beam on a base that hardly turns; motions are as small as linear equations want them."""
    draw = np.random.default_rng([81, seed])
    case = {"base": draw.uniform(50, 500), "ball": draw.uniform(20, 100), "line": 3.0, "length": 3.0, "modes": 2}
    case |= {"bending": draw.uniform(2e3, 2e4), "ratio": 0.01, "stiffness": draw.uniform(1e3, 4e3), "damping": 400.0}
    case |= {"gap": 1e-5, "speed": 5e-4, "delay": round(draw.uniform(5e-3, 2e-2), 4), "duration": 1.5, "parts": 400}
    expected = late_touch(case)
    length, heavy = case["length"], case["line"] * case["length"]
    slender = heavy * length**2 / 12
    beam = {"kind": "beam", "root": [0, -length / 2, 0], "axis": [0, 1, 0], "across": [1, 0, 0], "length": length}
    beam |= {"mass_per_length": case["line"], "bending_stiffness": [case["bending"]] * 2, "torsional_stiffness": 1e3}
    beam |= {"polar_inertia": 0.01, "damping_ratio": case["ratio"], "bending_modes": [2, 0], "twist_modes": 0}
    content = {
        "schema": 2,
        "duration": case["duration"],
        "body": {
            "base": {"mass": case["base"], "inertia": [1e12] * 3},
            "beam": {
                "on": "base",
                "position": [0, length / 2, 0],
                "mass": heavy,
                "inertia": [slender, 0.03, slender],
                "joint": {"kind": "locked", "position": [0, 0, 0]},
                "flexible": beam,
                "surface": {"end": {"shape": "plane", "point": [0, length / 2, 0], "normal": [-1, 0, 0]}},
            },
            "ball": {
                "mass": case["ball"],
                "inertia": [1.0] * 3,
                "position": [-1e-3 - case["gap"], length, 0],
                "velocity": [case["speed"], 0, 0],
                "feature": {"skin": {"position": [0, 0, 0], "radius": 1e-3}},
            },
        },
        "contact": {
            "skin": {
                "between": ["skin", "end"],
                "normal": {"law": "hunt-crossley", "exponent": 1}
                | {key: case[key] for key in ("stiffness", "damping")},
            }
        },
        "loop": {"delay": case["delay"]},
        "output": {"interval": case["delay"]},
    }
    run = dockdyn.simulate(dockdyn.load(content))
    found = run.depth.values[: len(expected), 0]
    touching = (found > 0) | (expected > 0)
    assert 10 < touching.sum() < len(found) - 10
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * expected.max())


def test_the_loop_grows_beyond_its_critical_delay_alone():
    """Pressed together, motion in contact dies away with 0.7 of the critical delay and grows with 1.3 of it."""
    scenario = dockdyn.load("flexible-arm-touch", {f"contact.{CONTACT}.friction.coefficient": 1e-9})
    critical = dockdyn.margins(scenario)["critical_delay_s"]
    early, late = zip(
        *([swing(*pressed(share * critical), begin) for begin in (3.5, 8.5)] for share in (0.7, 1.3)), strict=True
    )
    assert late[0] < 0.7 * early[0] and late[1] > 3 * early[1]


def test_on_a_rig_the_loop_adds_to_the_rebound():
    """Hold and 10 ms make the grapple's rebound larger; with a tenth of that much less."""
    late = dockdyn.summarise(dockdyn.simulate(dockdyn.load("flexible-arm-rig")))
    short = {"loop.delay": "1 ms", "loop.hold.period": "0.2 ms", "loop.dynamics.period": "0.1 ms", "duration": "2.5 s"}
    prompt = dockdyn.summarise(dockdyn.simulate(dockdyn.load("flexible-arm-rig", short)))
    excess = [one["apparent_restitution"] / one["ideal_restitution"] - 1 for one in (late, prompt)]
    assert late["status"] == prompt["status"] == "finished"
    assert excess[0] > 0.03 and abs(excess[1]) < 0.3 * excess[0]


def test_a_mock_up_of_a_link_that_bends_is_refused():
    content = tomlkit.parse(preset_text("flexible-arm-rig")).unwrap() | {
        "rig": {"carries": "forearm", "against": "client"}
    }
    with pytest.raises(dockdyn.ScenarioError, match=r"rig\.carries = 'forearm': bends, a mock-up does not"):
        dockdyn.load(content)
