"""What is passed within a step is met: thin parts at speed, narrow latches, short stops."""

from itertools import product

import numpy as np
import pytest

BODIES = {
    "a": {"mass": 12.0, "inertia": [1.0, 1.0, 1.0], "feature": {"tip": {"position": [0.0, 0.0, 0.0]}}},
    "b": {"mass": 300.0, "inertia": [90.0, 90.0, 90.0]},
}
HERTZ = {"law": "hertz", "stiffness": 3e10, "exponent": 1.5}


def plate(half):
    sides = ({"shape": "plane", "point": [side * half, 0.0, 0.0], "normal": [side, 0.0, 0.0]} for side in (-1.0, 1.0))
    return {"shape": "intersection", "parts": list(sides)}


def box(folder, thickness):
    """A closed mesh of a plate, as a file."""
    corners = np.array(list(product((-0.5, 0.5), repeat=3))) * [thickness, 0.2, 0.2]
    squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in corners]
    lines += [f"f {a + 1} {b + 1} {c + 1}\nf {a + 1} {c + 1} {d + 1}" for a, b, c, d in squares]
    (folder / "plate.obj").write_text("\n".join(lines))
    return {"shape": "mesh", "file": str(folder / "plate.obj"), "unit": "m", "tip_radius": "3 mm"}


def thrown(kind, random, folder):
    """A scenario in which a small ball meets something small, and how fast it was."""
    speed, radius = float(random.uniform(1, 9)), float(random.uniform(0.002, 0.009))
    ball = BODIES["a"] | {
        "position": [float(random.uniform(-0.6, -0.5)), 0.0, 0.0],
        "velocity": [speed, 0.0, 0.0],
    }
    ball["feature"] = {"tip": {"position": [0.0, 0.0, 0.0], "radius": radius}}
    other, parts = dict(BODIES["b"]), {}
    met = {
        "ball": {"position": [0.0, 0.0, 0.0], "radius": radius},
        "sphere": {"shape": "sphere", "centre": [0.0, 0.0, 0.0], "radius": radius},
        "cylinder": {"shape": "cylinder", "point": [0.0, 0.0, 0.0], "axis": [0.0, 0.0, 1.0], "radius": radius},
        "plate": plate(radius),
        "two plates": {
            "shape": "union",
            "parts": [plate(radius), {"shape": "plane", "point": [5 * radius, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}],
        },
    }
    if kind == "mesh":
        ball["feature"]["tip"]["radius"] = 0.003
        met["mesh"] = box(folder, 4 * radius)
    if kind in met:
        other["feature" if kind == "ball" else "surface"] = {"met": met[kind]}
        parts["contact"] = {"c": {"between": ["tip", "met"], "normal": HERTZ}}
    else:
        far = {"shape": "plane", "point": [9.0, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
        other["surface"] = {"wall": far}
        parts["contact"] = {"c": {"between": ["tip", "wall"], "normal": HERTZ}}
    if kind == "latch":
        ball["position"][1] = 0.004
        parts["latch"] = {
            "l": {
                "between": ["a", "b"],
                "anchor": [[0.0, 0.0, 0.0], [0.0, 0.005, 0.0]],
                "axis": [0.0, 1.0, 0.0],
                "reach": 0.002,
                "lateral": radius,
                "stiffness": 3000.0,
                "damping": 10.0,
            }
        }
    if kind == "strut":
        ball["position"][1] = 0.004
        strut = {"between": ["a", "b"], "anchor": [[0.0] * 3] * 2, "free_length": 0.1}
        parts["strut"] = {"s": strut | {"stroke": [-0.09, 10.0], "stop_stiffness": 200000.0}}
    return {"duration": 0.75, "body": {"a": ball, "b": other}, **parts}, speed


@pytest.mark.parametrize(
    "kind",
    [
        "sphere",
        *(pytest.param(kind, marks=pytest.mark.full) for kind in ("ball", "cylinder", "plate", "two plates", "mesh")),
    ],
)
def test_what_is_passed_within_a_step_is_hit(run, kind, tmp_path):
    """Square and without loss, as any elastic impact of two masses."""
    random, (light, heavy) = np.random.default_rng([*map(ord, kind)]), (BODIES[name]["mass"] for name in "ab")
    for _ in range(8):
        content, speed = thrown(kind, random, tmp_path)
        found = run(content).velocity.values[-1, :, 0] / speed
        expected = np.array([light - heavy, 2 * light]) / (light + heavy)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["latch", pytest.param("strut", marks=pytest.mark.full)])
def test_what_is_passed_within_a_step_takes_hold(run, kind, tmp_path):
    """As in far shorter steps."""
    random = np.random.default_rng([*map(ord, kind)])
    for _ in range(8):
        content, speed = thrown(kind, random, tmp_path)
        found, finely = (run(content, **steps).velocity.values[-1, 0] for steps in ({}, {"integrator.step": 1e-4}))
        assert abs(finely[0] - speed) > 1e-5 * speed
        np.testing.assert_allclose(found, finely, rtol=0, atol=1e-6 * speed)
