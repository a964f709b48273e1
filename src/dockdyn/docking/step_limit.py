"""Which number of a scenario made the steps of a long run as short as they were.

Steps that an explicit method takes through a fast motion are as short as its stability asks, whatever the tolerance: the size
of the motion's root times the step is then near the end of the method's region. A number is named where that is so and the
root falls with it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, Float, jnp
from dockdyn.integrate.model import State
from dockdyn.mechanism.rest import changing_numbers
from dockdyn.report.wording import with_unit
from dockdyn.results.plan import jit_once
from dockdyn.results.run import Run
from dockdyn.scenario.language.places import Place, places_of
from dockdyn.scenario.load import Scenario
from dockdyn.stability.linearise import linearise_model
from dockdyn.trees import map_leaves

MANY = 20_000  # steps of a run that takes seconds: before them nobody asks why
LOOKS = 8  # samples at which the fastest motion is looked at
STABLE = 2.785  # size of a root times the step, at which Runge and Kutta's method of order four is no longer stable
SHARE = 0.5  # of the steps that stability asks for, by which they are those that were taken, or one over that
TIMES = 10.0  # as large, or as small, a number is tried
SLOWER = 2.0  # times, that the fastest motion must become for a number to be what limits
SOFTER = {"N/m", "N*s/m", "N*m/rad", "N*m*s/rad"}  # units of numbers that are tried smaller
LARGER = ("regularisation", "retardation_time")  # last words of keys that are tried larger


class _Trial(NamedTuple):
    """A number, and by how much the fastest motion slows down with another one."""

    place: Place
    times: float
    slower: float


def explain_many_steps(scenario: Scenario, run: Run) -> dict[str, str]:
    """Return a sentence on which number limited the steps of a run, as an attribute of the result; nothing where they are few
    or that is not sure."""
    integrator = scenario.content.integrator
    if run.steps < MANY or integrator.method != "located" or integrator.step is not None or run.sample_states is None:
        return {}
    states = map_leaves(lambda rows: rows[np.linspace(0, len(rows) - 1, LOOKS, dtype=int)], run.sample_states)
    fastest = _fastest_motion(scenario.content, states)
    asked = float(run.stopped_at * np.mean(fastest) / STABLE)  # steps
    if not SHARE <= asked / run.steps <= 1 / SHARE:
        return {}
    trials = [
        _Trial(place, times, float(np.mean(fastest) / np.mean(_fastest_motion(changed.content, states))))
        for place, times in _tried(scenario)
        for changed in [scenario.at(place.written(times * place.value))]
    ]
    limit = max(trials, key=lambda trial: trial.slower, default=None)
    if limit is None or limit.slower < SLOWER:
        return {}
    stated = with_unit(limit.place.value, limit.place.unit, 3)
    how = f"{TIMES:g} times as {'large' if limit.times > 1 else 'small'}"
    words = f"steps were limited by {limit.place.key} = {stated}, which makes a motion that takes {1 / np.max(fastest):.2g} s"
    return {"step_limit": f"{words}: {how}, it would let them be about {limit.slower:.2g} times as long"}


def _tried(scenario: Scenario) -> list[tuple[Place, float]]:
    """Return the numbers that may make a motion fast, and by what each is multiplied to see."""
    found = []
    for place in places_of(scenario):
        larger = place.key.rpartition(".")[2] in LARGER
        times = TIMES if larger else 1 / TIMES
        if (larger or place.unit in SOFTER) and place.value and place.limits.hold(times * place.value):
            found.append((place, times))
    return found


def _fastest_motion(content: Any, states: State) -> Float[np.ndarray, "looks"]:  # noqa: ANN401, of a mechanism
    """Return the size (1/s) of the largest root of small motions around each of these states."""
    own = [map_leaves(lambda rows, at=at: rows[at], states) for at in range(LOOKS)]
    sizes = [np.abs(np.linalg.eigvals(np.asarray(_undelayed_motion(content, state)))).max(initial=0.0) for state in own]
    return np.array(sizes)


@jit_once
def _undelayed_motion(content: Any, state: State) -> Float[Array, "n n"]:  # noqa: ANN401, of a mechanism
    """Return the matrix (1/s) of small motions around a state within a step; what is delayed comes from before it."""
    linear = linearise_model(content.model(), state).of(changing_numbers(state))
    now, late = linear.matrices()
    return now + jnp.where(linear.delay > 0, 0.0, late)
