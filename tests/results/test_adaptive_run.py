"""The methods without events, adaptive and implicit: what is struck at t = 0, in closed form."""

import numpy as np
import pytest

import dockdyn


@pytest.mark.full_cases("implicit")
@pytest.mark.parametrize("method", ["adaptive", "implicit"])
def test_an_impact_at_the_start_leaves_what_closed_forms_say(method, load):
    """A ball off the axis of its body against a plate: velocities after, and the energy that the contact has lost."""
    draw = np.random.default_rng(sum(map(ord, method)))
    masses, restitution, speed = draw.uniform(1, 9, 2), draw.uniform(0.2, 0.9), draw.uniform(0.1, 0.5)
    inertia, lever = draw.uniform(1, 5), draw.uniform(-0.4, 0.4)
    content = {
        "schema": 2,
        "duration": 0.5,
        "body": {
            "chaser": {
                "mass": masses[0],
                "inertia": [inertia] * 3,
                "velocity": [speed, 0, 0],
                "feature": {"tip": {"position": [0, lever, 0], "radius": 0.25}},
            },
            "target": {
                "mass": masses[1],
                "inertia": [1.0, 1.0, 1.0],
                "position": [0.25, lever, 0],
                "surface": {"plate": {"shape": "plane", "point": [0, 0, 0], "normal": [-1, 0, 0]}},
            },
        },
        "contact": {
            "strike": {
                "between": ["tip", "plate"],
                "impact": {"law": "frictionless", "restitution": restitution},
            }
        },
        "integrator": {"method": method, "tolerance": 1e-10},
    }
    run = dockdyn.simulate(load(content))
    effective = 1 / ((1 / masses).sum() + lever**2 / inertia)
    impulse = (1 + restitution) * effective * speed
    last = run.isel(time=-1)
    after = np.array([[speed - impulse / masses[0], 0, 0], [impulse / masses[1], 0, 0]])
    np.testing.assert_allclose(last.velocity, after, atol=1e-9)
    np.testing.assert_allclose(last.rate.values[0], [0, 0, lever * impulse / inertia], atol=1e-9)
    lost = (1 - restitution**2) / 2 * effective * speed**2
    np.testing.assert_allclose(run.contact_loss.values[1:, 0], lost, rtol=1e-9)
