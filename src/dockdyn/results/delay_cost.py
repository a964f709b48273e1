"""What a run with a very short loop delay would cost: while contacts act no step is longer than the delay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dockdyn.deferred import Array, Bool, Float, jax, jnp
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import State
from dockdyn.results.drive import report_while_running
from dockdyn.results.plan import Simulated, delay_of, jit_once, settings_for
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.run import MOST_STEPS
from dockdyn.trees import map_leaves

SURE = 1.2  # times the steps that are allowed: contacts without delay last a little longer or shorter


@jit_once
def _contact_times(
    content: Simulated, settings: located.Settings
) -> tuple[Float[Array, "moments"], Bool[Array, "moments"]]:
    """Return moments (s) of the run without delay, the start and the end among them, and whether contacts act after each."""
    model = replace(content.model(), delay=None)
    solution = located.solve_located(model, settings)
    start = model.initial()
    states: State = map_leaves(lambda a, b: jnp.concatenate([jnp.asarray(a)[None], b]), start, solution.log.state)
    used = jnp.arange(solution.log.time.size) < solution.moments
    times = jnp.where(used, solution.log.time, solution.time)
    return jnp.concatenate([jnp.zeros(1), times, solution.time[None]]), jax.vmap(model.emitting)(states)


def affordable_delay(scenario: Scenario) -> Scenario:
    """Return `scenario`, unless its loop delay is so short that the run would need more steps than it is allowed.

    A run whose every step could be one delay long within `integrator.max_steps` passes untried. For another one the time
    that contacts act is measured in the same run without delay, from which a delay that short differs by little.

    Raises ScenarioError where that time has more delays in it than 1.2 times the steps allowed.
    """
    content, delay = scenario.content, delay_of(scenario.content)
    most = content.integrator.max_steps
    if not 0 < delay < content.duration / most or content.integrator.method != "located":
        return scenario
    settings = replace(settings_for(content), samples=0)
    with report_while_running(
        f"the run without delay, of at most {most} steps, to find out what a delay of {delay:g} s costs,"
    ):
        times, acting = map(np.asarray, _contact_times(content, settings))
    edges = np.flatnonzero(np.diff(np.concatenate([[False], acting, [False]]).astype(int)))
    spans = times[edges[1::2]] - times[edges[::2]]
    total = float(spans.sum())
    steps = total / delay
    if steps <= SURE * most:
        return scenario
    ways = [f"a delay of at least {_rounded_up(total / most)} s"]
    if SURE * steps < MOST_STEPS:
        ways.append(f"integrator.max_steps = {float(_rounded_up(SURE * steps)):.0f}")
    # half an oscillation of ω = π/T on a spring that is late by h comes back exp(π ω h / 2) times as fast
    shortest = spans[spans > 0].min()
    change = np.pi**2 * delay / (2 * shortest)
    ways.append(
        f"loop.delay = 0, which changes the rebound of a contact of {shortest:.2g} s by about {change:.2g} of its speed"
    )
    raise ScenarioError(
        f"{scenario.name}: loop.delay = {delay:g} s: contacts act for {total:.3g} s, in steps no longer than the delay, "
        f"{steps:.2g} or more; must take at most integrator.max_steps = {most}: {', or '.join(ways)}"
    )


def _rounded_up(value: float) -> str:
    """Return two digits, rounded up."""
    size = 10.0 ** (np.floor(np.log10(value)) - 1)
    return f"{np.ceil(value / size) * size:.2g}"
