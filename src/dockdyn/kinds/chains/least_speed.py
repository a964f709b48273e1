"""The least speed at which a probe latches, by simulation."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from dockdyn.contact.latch import HELD
from dockdyn.impact.formulas.effective_mass import effective_masses
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import Scalar
from dockdyn.kinds.chains.schema import LatchSection
from dockdyn.parameters import TOLERANCE
from dockdyn.results.plan import DEFAULT_STEP, jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario

HALVINGS = 40  # of the bracket: far below the integrator's error
DOUBLINGS = 20  # of the rigid bodies' speed, before it is said that none latches
PERIODS = 20  # of the motion on the ramp: how long an attempt may take
START = 1e-9  # m before the ramp


def least_latching_speed(scenario: Scenario) -> float:
    """Least speed (m/s) at which the probe of a scenario of kind `latch` is caught at its first attempt.

    Attempts are simulated and the bracket is halved until it is as narrow as numbers allow. For two rigid bodies it is the
    closed form (`dockdyn.impact.minimum_latching_velocity`); masses behind springs need more. NaN where none latches.
    Raises ScenarioError for another kind.
    """
    content = scenario.content
    if content.kind != "latch":
        raise ScenarioError(f"{scenario.name}: kind: {content.kind}; must be latch")
    longest, rigid = PERIODS * np.float64(_period(content)), float(rigid_speed(content))

    def latches(speed: float) -> bool:
        return bool(_attempt(content, np.float64(speed), longest))

    low, high = 0.0, rigid
    for _ in range(DOUBLINGS):
        if latches(high):
            break
        low, high = high, 2 * high
    else:
        return math.nan
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if latches(middle) else (middle, high)
    return high


@jit_once
def rigid_speed(content: LatchSection) -> Scalar:
    """Least speed (m/s) that latches two rigid bodies."""
    return content.ramp().needed_speed(effective_masses(content.chaser.masses, content.target.masses).system)


@jit_once
def _period(content: LatchSection) -> Scalar:
    """Period (s) of two rigid bodies on the ramp."""
    ramp, masses = content.ramp(), effective_masses(content.chaser.masses, content.target.masses)
    return 2 * jnp.pi * jnp.sqrt(masses.system / (ramp.stiffness * ramp.slope * ramp.lever(ramp.friction)))


@jit_once
def _attempt(content: LatchSection, speed: Scalar, duration: Scalar) -> Bool[Array, ""]:
    """Whether a probe that comes at `speed` (m/s) is caught before it leaves the ramp again."""
    attempted = content.model_copy(update={"speed": speed, "gap": jnp.asarray(START)})
    settings = located.Settings(
        duration=duration,
        step=jnp.minimum(jnp.asarray(DEFAULT_STEP), duration),
        tolerance=jnp.asarray(TOLERANCE),
        sampling=duration,
        samples=0,
        max_moments=2,
        line_capacity=16,
        max_iterations=jnp.asarray(1e6),
    )
    solution = located.solve(attempted.model(), settings)
    return jnp.any((solution.log.state.mode[0].stage == HELD) & (jnp.arange(2) < solution.moments))
