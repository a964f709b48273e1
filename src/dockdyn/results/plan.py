"""Steps and sizes of a run."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Protocol

import numpy as np

from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import ContactModel
from dockdyn.programs import Program
from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.tables.rig.loop import loop_of
from dockdyn.scenario.tables.run import IntegratorSection, OutputSection

DEFAULT_STEP = located.STEP  # when the scenario states none
WATCH_ONLY = 1e300  # a tolerance that estimates errors and never shortens a step
DEFAULT_SAMPLES = 2000  # samples over a run when the scenario does not say
NO_LIMIT = 2**62
MOST_ROWS = 2_000_000  # samples, or fixed steps, that fit into memory

# What runs once is compiled in a hurry.
jit_once = partial(Program, compiler_options={"xla_backend_optimization_level": 0})
# Large programs that run for seconds: what LLVM's costly passes gain is less than what they take.
jit_large = partial(
    Program, compiler_options={"xla_backend_optimization_level": 1, "xla_llvm_disable_expensive_passes": True}
)


@record
class RunPlan:
    """Steps and sizes of a run."""

    step: float  # s
    interval: float  # s, between samples
    samples: int  # besides the one at t = 0
    line_capacity: int


class Planned(Protocol):
    """The content of a scenario whose run is located or has fixed steps, of whatever setup."""

    @property
    def duration(self) -> float: ...

    @property
    def integrator(self) -> IntegratorSection: ...

    @property
    def output(self) -> OutputSection: ...


class Simulated(Planned, Protocol):
    """Such a content with the model that runs."""

    def model(self) -> ContactModel: ...


def delay_of(content: Any) -> float:  # noqa: ANN401, of any setup's schema
    """Return the loop delay (s) of a scenario; zero for a setup without a loop."""
    loop = loop_of(content)
    return 0.0 if loop is None else float(loop.delay)


def with_events(content: Planned) -> bool:
    """Return whether the method of a scenario goes through events, so that it runs in batches and step by step."""
    return content.integrator.method in ("located", "fixed", "variational")


def plan_run(content: Planned, delay: float) -> RunPlan:
    """Return steps and sizes that fit a scenario with this loop delay (s): the sampling interval caps the step."""
    duration = content.duration
    step = min(content.integrator.step or DEFAULT_STEP, duration)
    interval = content.output.interval or max(step, duration / DEFAULT_SAMPLES)
    samples = max(1, int(duration / interval * (1 + 1e-12)))
    step = min(step, interval)
    if samples > MOST_ROWS:
        raise ScenarioError(f"output.interval = {interval} s: gives {samples} samples; must give at most {MOST_ROWS}")
    if content.integrator.step is not None:
        refuse_too_many_steps(content.integrator.step, content.integrator.max_steps, duration)
    # past steps within one delay, and room for the shorter ones of stiff contacts and for images of events
    line_capacity = power_of_two(2 * min(delay, duration) / step + 4096)
    return RunPlan(step, interval, samples, line_capacity)


def refuse_too_many_steps(step: float, max_steps: int, duration: float) -> None:
    """Refuse a `step` (s) of which a run of this duration (s) takes more than `max_steps`."""
    if (count := duration / step * (1 - 1e-9)) > max_steps:
        raise ScenarioError(
            f"integrator.step = {step:g} s: takes {count:.3g} steps for a duration of {duration:g} s; "
            f"must take at most integrator.max_steps = {max_steps}"
        )


def power_of_two(least: float) -> int:
    """Return the next power of two: few sizes, so few compilations."""
    return 2 ** math.ceil(math.log2(least))


def settings_for(
    content: Planned, sampled: bool = True, most_moments: int = NO_LIMIT, most_rows: int = NO_LIMIT
) -> located.Settings:
    """Return settings of a located run of a scenario; the log and the delay line at most so long. Steps are the same in any
    case."""
    return settings_with(delay_of(content), content, sampled, most_moments, most_rows)


def settings_with(delay: float, content: Planned, sampled: bool, most_moments: int, most_rows: int) -> located.Settings:
    """Return the same of a scenario with this loop delay (s); of its `content` duration, integrator and output count."""
    steps = plan_run(content, delay)
    if content.integrator.method == "fixed":
        return _fixed_settings(steps, delay, content, sampled, most_moments)
    return located.Settings(
        duration=np.float64(content.duration),
        step=np.float64(steps.step),
        tolerance=np.float64(content.integrator.tolerance if content.integrator.step is None else WATCH_ONLY),
        sampling=np.float64(steps.interval),
        samples=power_of_two(max(steps.samples + 2, 2048)) if sampled else 0,
        max_moments=min(content.integrator.max_events, most_moments),
        line_capacity=min(steps.line_capacity, most_rows),
        max_iterations=np.float64(content.integrator.max_steps),
    )


def _fixed_settings(
    steps: RunPlan, delay: float, content: Planned, sampled: bool, most_moments: int
) -> located.Settings:
    """Return settings with steps of one length, none longer than a delay: a whole number of them is the duration."""
    longest = min(steps.step, delay or steps.step)
    count = math.ceil(content.duration / longest * (1 - 1e-12))
    refuse_too_many_steps(longest, content.integrator.max_steps, content.duration)
    step = content.duration / count
    stride = max(1, round(steps.interval / step))
    return located.Settings(
        duration=np.float64(content.duration),
        step=np.float64(step),
        tolerance=np.float64(math.inf),
        sampling=np.float64(stride * step),
        samples=power_of_two(max(count // stride + 2, 2048)) if sampled else 0,
        max_moments=min(content.integrator.max_events, most_moments),
        line_capacity=power_of_two(delay / step + 8),
        max_iterations=np.float64(content.integrator.max_steps),
        fixed=True,
    )
