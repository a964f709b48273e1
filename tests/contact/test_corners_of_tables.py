"""A force by a table of strokes has corners: steps end beside them, so that what a run adds up, and derivatives, are right."""

import numpy as np
import pytest

import dockdyn

FIGURES = ("contacts.0.impulse_N_s", "kinetic_energy_end_J")


def thrown(seed, friction=0.0, delay=0.0):
    """A ball that flies square, or with friction askew, onto a plate which gives way by a table."""
    random = np.random.default_rng(seed)
    stroke = [0.0, *np.cumsum(random.uniform(0.5e-3, 2e-3, 3)).tolist()]
    force = [0.0, *np.cumsum(random.uniform(10, 90, 3)).tolist()]
    law = {
        "law": "force-stroke",
        "stroke": stroke,
        "force": force,
        "preload": 6.0 * (seed % 2),
        "bottoming_stiffness": 3e5,
    }
    contact = {"between": ["tip", "plate"], "normal": law}
    if friction:
        contact["friction"] = {"law": "coulomb", "coefficient": friction}
    return {
        "duration": 1.0,
        "body": {
            "a": {
                "mass": float(random.uniform(5, 40)),
                "inertia": [3.0, 4.0, 5.0],
                "position": [-0.03, 0.0, 0.0],
                "velocity": [float(random.uniform(0.1, 0.25)), 0.06 * (friction > 0), 0.0],
                "feature": {"tip": {"position": [0.0, 0.0, 0.0], "radius": 0.009}},
            },
            "b": {
                "mass": 113.0,
                "inertia": [19.0, 23.0, 29.0],
                "surface": {"plate": {"shape": "plane", "point": [0.0, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}},
            },
        },
        "contact": {"c": contact},
    } | ({"loop": {"delay": delay}} if delay else {})


@pytest.mark.parametrize("seed", range(4))
def test_what_a_table_gives_back_is_what_it_took(run, seed):
    """Without friction or a delay: twice the momentum."""
    content = thrown(seed)
    masses = [content["body"][name]["mass"] for name in "ab"]
    (contact,) = dockdyn.summarise(run(content))["contacts"]
    momentum = np.prod(masses) / np.sum(masses) * content["body"]["a"]["velocity"][0]
    assert contact["peak_force_N"] > content["contact"]["c"]["normal"]["force"][1]
    assert contact["impulse_N_s"] == pytest.approx(2 * momentum, rel=1e-9)


@pytest.mark.parametrize(
    ("seed", "friction", "delay"),
    [
        (0, 0.1, 0.0),
        *(pytest.param(*row, marks=pytest.mark.full) for row in ((1, 0.1, 0.0), (1, 0.0, 4e-3), (2, 0.2, 4e-3))),
    ],
)
def test_derivatives_go_across_corners(load, seed, friction, delay):
    """Against differences of the fourth order, of runs at 1e-13."""
    content = thrown(seed, friction, delay)
    law = content["contact"]["c"]["normal"]
    numbers = {"stroke.1": law["stroke"][1], "force.2": law["force"][2]} | ({"preload": 6.0} if law["preload"] else {})
    numbers = {f"contact.c.normal.{key}": value for key, value in numbers.items()}
    for figure in FIGURES:
        found = dockdyn.sensitivity(load({"schema": 2, **content}), of=figure, to=list(numbers))
        assert found["differentiable"]
        rows = {row["key"]: row["derivative"] for row in found["to"]}
        for key, value in numbers.items():

            def value_at(share, key=key, value=value, figure=figure):
                changes = {key: value * (1 + share), "integrator.tolerance": 1e-13}
                told = dockdyn.summarise(dockdyn.simulate(load({"schema": 2, **content}, changes)))
                return told["contacts"][0]["impulse_N_s"] if "impulse" in figure else told["kinetic_energy_end_J"]

            step, most = 1e-3, abs(value_at(0.0)) / value
            near, far = ((value_at(size) - value_at(-size)) / (2 * size * value) for size in (step, 2 * step))
            assert rows[key] == pytest.approx((4 * near - far) / 3, rel=1e-4, abs=1e-7 * most)
