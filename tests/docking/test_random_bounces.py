"""Arms with springs that a payload is driven against, again and again: every run ends, and what is kept is kept."""

import numpy as np
import pytest
from plain_tables import acting
from struck_states import struck_arm

import dockdyn

LAWS = {"frictionless": {"restitution": 0.8}, "newton": {"restitution": 0.4, "friction": 0.2}}
CASES = [(law, seed) for law in LAWS for seed in range(24)]


@pytest.mark.full
@pytest.mark.parametrize(("law", "seed"), CASES)
def test_what_is_driven_together_bounces_rests_and_parts(law, seed):
    draw = np.random.default_rng([77, seed])
    content = struck_arm(draw, {"law": law, "rest_speed": 1e-4} | LAWS[law], joints=2)
    for body in [*content["body"].values()][1:-1]:
        body["joint"] |= {"stiffness": 10 ** draw.uniform(0, 2), "damping": draw.uniform(0, 2)}
    name, payload = list(content["body"].items())[-1]
    (surface,) = payload["surface"].values()
    push = {"kind": "thruster", "name": "push", "body": name, "position": [0, 0, 0]}
    push |= {"direction": surface["normal"], "force": 10 ** draw.uniform(-1, 1)}
    run = dockdyn.simulate(dockdyn.load(content | {**acting(push), "duration": 10.0}))
    summary = dockdyn.summarise(run)
    assert run.attrs["status"] == "finished" and summary["contact.count"] >= 1
    assert summary["linear_momentum_error"] < 1e-12 and summary["angular_momentum_error"] < 1e-9
    assert summary["work_energy_error"] < 1e-9
    assert run.depth.values.max() < 1e-9 and run.normal_force.values.min() > -1e-6
