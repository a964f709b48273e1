"""The dataset of a run: named dimensions, units and long names on every variable."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Protocol

from dockdyn.dataset import Dataset
from dockdyn.integrate.solution import Status
from dockdyn.integrate.variational.mechanical import PLACES
from dockdyn.results.attributes import run_attributes
from dockdyn.results.bouncing import describe_chatter
from dockdyn.results.plan import DEFAULT_STEP, delay_of
from dockdyn.results.run import Described, Run
from dockdyn.scenario.load import Scenario

REASONS = {
    Status.FINISHED: "finished",
    Status.NOT_FINITE: "stopped at t = {time:.6g} s: {first_nonfinite} is not finite: the motion has grown "
    "without bound, or a number of the scenario is far too large",
    Status.TOO_MANY_EVENTS: "stopped at t = {time:.6g} s: more than {events} events (integrator.max_events); {bounces}",
    Status.DELAY_LINE_FULL: "stopped at t = {time:.6g} s: more contacts open and close within one delay "
    "than can be kept; shorten loop.delay, or damp the contact",
    Status.TOO_MANY_ITERATIONS: "stopped at t = {time:.6g} s: more than {steps} steps (integrator.max_steps); {cause}",
    Status.NOT_CONVERGED: "stopped at t = {time:.6g} s: a step does not converge; a shorter integrator.step may",
    Status.TOO_MANY_AT_REST: "stopped at t = {time:.6g} s: more than {places} contacts rest at once; leave some of them out",
}


class RunLimits(Protocol):
    """The `[integrator]` of any setup: what ends a run before its time."""

    @property
    def max_events(self) -> int: ...

    @property
    def max_steps(self) -> int: ...


class Limited(Protocol):
    """The content of a scenario with an `[integrator]`."""

    @property
    def integrator(self) -> RunLimits: ...


def reason_of(
    content: Limited,
    status: Status,
    time: float,
    first_nonfinite: str,
    pace: float = math.nan,
    reasons: Mapping[Status, str] | None = None,
    **values: object,
) -> str:
    """Return why a run ended at `time` (s), in words; `pace` is how long its last steps were allowed to be (s).

    `reasons` has the words of an integrator for what `REASONS` does not know or says otherwise; `values` stand in them in
    the place of a scenario's own, by name.
    """
    section = content.integrator
    own = {
        "events": section.max_events,
        "steps": section.max_steps,
        "cause": explain_short_steps(delay_of(content), pace),
    }
    own |= {"bounces": "contacts open and close too often", "places": PLACES}
    return (REASONS | dict(reasons or {}))[status].format(time=time, first_nonfinite=first_nonfinite, **own | values)


def explain_short_steps(delay: float, pace: float = math.nan) -> str:
    """Return why steps are short, in words, from a delay (s) and how long the last ones were allowed to be (s)."""
    if 0 < delay < DEFAULT_STEP and not pace < delay:
        return f"while contacts act no step is longer than the delay of {delay:g} s"
    if pace < DEFAULT_STEP:
        return f"steps fell to {pace:.2g} s, as the motion is too fast, or the contact too stiff, for longer ones"
    return "the duration is too long for a motion this fast"


def build_dataset(scenario: Scenario, run: Run, described: Described) -> Dataset:
    """Return the dataset of a run of `scenario`; what is its setup's own is `described`."""
    content = scenario.content
    values: dict[str, Any] = {}
    if run.status == Status.TOO_MANY_EVENTS:
        values["bounces"] = describe_chatter(run, list(described.coordinates.get("contact", [])), delay_of(content))
    reason = reason_of(content, run.status, run.stopped_at, run.first_nonfinite, run.pace, **values)
    coordinates = {"time": ("time", run.time, {"units": "s", "long_name": "time"}), **described.coordinates}
    finished = run.status == Status.FINISHED
    attributes = run_attributes(scenario, reason, finished, content.integrator.method, run.wall_time) | {
        "end_time_s": run.stopped_at,
        "step_s": run.step,
        "steps": run.steps,
        "step_error": run.largest_local_error,
        "iterations": run.iterations,
        "delay_s": delay_of(content),
        "conservative": int(described.conservative),
        "undamped": int(described.undamped),
        "capture_law": described.capture_law,
        "prediction": run.prediction,
        **described.attributes,
    }
    return Dataset(described.variables, coordinates, attributes)
