"""Two bodies that a latch holds for a minute against a spring, which parts them once it lets go."""

import numpy as np

HELD = 60.0  # s
PUSHER = {"between": ["chaser", "target"], "anchor": [[0, 0, 0], [0.3, 0, 0]], "stiffness": 1e-9, "free_length": 0.3}


def held_against_pusher(masses, velocity, hook, pusher, longer, **phases):
    """The chaser comes from 50 mm in front; caught, a spring of `pusher` (N/m) is longer (m) than the way between its ends."""
    bodies = {
        name: {"mass": mass, "inertia": [mass / 10] * 3, "position": [x, 0, 0], "velocity": [v, 0, 0]}
        for name, mass, x, v in zip(("chaser", "target"), masses, (-0.05, 0.0), (velocity, 0.0), strict=True)
    }
    pushing = {"strut.pusher.stiffness": pusher, "strut.pusher.free_length": 0.3 + longer}
    latch = {"between": ["chaser", "target"], "anchor": [[0, 0, 0], [0, 0, 0]], "axis": [-1, 0, 0], "lateral": 1e-2}
    return {
        "schema": 2,
        "duration": HELD + 12.0,
        "body": bodies,
        "latch": {"hook": latch | hook},
        "strut": {"pusher": PUSHER},
        "phase": {
            "approach": {},
            "held": {"when": "latched", "set": pushing},
            "apart": {"when": {"lasting": HELD}, "set": {"latch.hook.closed": False}},
            **phases,
        },
    }


def check_parting(run, mass, pusher, compressed, released, until=np.inf):
    """From `released` until a time (s) the bodies, of one reduced mass (kg), swing apart on the spring alone."""
    after = (run.time.values > released) & (run.time.values < until)
    speed = (run.velocity.values[after, 1] - run.velocity.values[after, 0])[:, 0]
    swings = np.sqrt(pusher / mass)
    expected = compressed * swings * np.sin(swings * (run.time.values[after] - released))
    assert np.abs(speed - expected).max() < 1e-8 * np.abs(expected).max()
