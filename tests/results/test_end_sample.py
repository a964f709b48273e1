"""The last sample of a run is of its end, whatever the interval: what a summary tells of the end is that."""

import numpy as np
import pytest

import dockdyn

BODIES = {
    "a": {"mass": 10.0, "inertia": [1.0, 1.0, 1.0], "velocity": [0.1, 0.0, 0.0]},
    "b": {"mass": 20.0, "inertia": [1.0, 1.0, 1.0], "position": [0.3, 0.0, 0.0]},
}
THRUST = {"body": "a", "position": [0.0, 0.0, 0.0], "direction": [1.0, 0.0, 0.0]}


@pytest.mark.parametrize("method", ["located", "fixed", "variational", "adaptive", "implicit"])
@pytest.mark.parametrize("seed", range(3))
def test_a_thruster_s_impulse_is_that_of_the_whole_run(load, seed, method):
    """By default, and with an interval of no whole part of the duration; velocities are those of the impulse."""
    draw = np.random.default_rng([31, seed])
    force, duration = draw.uniform(0.5, 30.0), draw.uniform(0.05, 1.5)
    stated = {} if seed == 0 else {"interval": duration / draw.uniform(1.5, 9.5)}
    tables = {"schema": 2, "duration": duration, "body": BODIES, "thruster": {"t": THRUST | {"force": force}}}
    integrator = {"method": method} | ({"step": duration / 400} if method in ("fixed", "variational") else {})
    run = dockdyn.simulate(load(tables | {"output": stated, "integrator": integrator}))
    assert run["time"].values[-1] == pytest.approx(duration, rel=1e-12)
    assert dockdyn.summarise(run)["thruster.impulse_N_s"] == pytest.approx(force * duration, rel=1e-9)
    last = run["velocity"].sel(body="a").values[-1]
    assert last == pytest.approx([0.1 + force * duration / 10.0, 0.0, 0.0], rel=1e-9)


@pytest.mark.parametrize("interval", [None, 0.25])
def test_a_latch_that_ends_a_run_holds_in_its_last_sample(load, interval):
    """Which is of the catch: so late as the gap, the speed and the thrust say."""
    latch = {"between": ["a", "b"], "anchor": [[0.12, 0.0, 0.0], [-0.1, 0.0, 0.0]], "axis": [-1.0, 0.0, 0.0]}
    latch |= {"reach": 2e-3, "lateral": 0.1, "stiffness": 5e3, "damping": 50.0, "ends_run": True}
    tables = {"schema": 2, "duration": 20.0, "body": BODIES, "latch": {"l": latch}}
    tables |= {"thruster": {"t": THRUST | {"force": 0.7}}, "output": {} if interval is None else {"interval": interval}}
    run = dockdyn.simulate(load(tables))
    caught = (-0.1 + np.sqrt(0.1**2 + 2 * 0.07 * 0.078)) / 0.07
    assert run["time"].values[-1] == pytest.approx(caught, rel=1e-9)
    assert bool(run["latch_held"].values[-1, 0]) and not run["latch_held"].values[:-1].any()
    assert dockdyn.summarise(run)["thruster.impulse_N_s"] == pytest.approx(0.7 * caught, rel=1e-9)
