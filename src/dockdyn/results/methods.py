"""The methods by which a mechanism moves, one interface for runs, batches, steps from outside and FMUs."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from dockdyn.deferred import Array, Float, Int, jnp
from dockdyn.integrate.hybrid import located, solver_state
from dockdyn.integrate.model import ContactModel, Flag, Scalar, State
from dockdyn.integrate.solution import Solution
from dockdyn.integrate.variational import colliding
from dockdyn.integrate.variational.solver_state import VariationalSettings as VariationalSettings
from dockdyn.integrate.variational.solver_state import VariationalState as VariationalState
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.variational import VariationalMechanism
from dockdyn.results import variational_run
from dockdyn.results.plan import NO_LIMIT, Planned, delay_of, settings_with
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario

Settings = located.Settings | VariationalSettings
WHOLE = 1e-9  # relative: so near is a whole number


def settings_of(
    content: Planned,
    sampled: bool = True,
    most_moments: int = NO_LIMIT,
    most_rows: int = NO_LIMIT,
    delay: float | None = None,
) -> Settings:
    """Return how finely the method of a scenario goes, with a `delay` (s) of its loop or that which it has.

    Log and delay line are at most so long; steps are the same in any case.
    """
    method: str = content.integrator.method
    if method == "variational":
        return variational_run.variational_settings(content, sampled, most_moments)
    return settings_with(delay_of(content) if delay is None else delay, content, sampled, most_moments, most_rows)


def refuse_broken_steps(scenario: Scenario, period: float) -> None:
    """Raise ScenarioError for a stepper's period (s) that is no whole number of the steps of a run of one length.

    What a delay line keeps, and energies that do not drift, need steps all alike; and steps to the end are then those of a run.
    """
    settings, content = settings_of(scenario.content), scenario.content
    if isinstance(settings, VariationalSettings):
        if settings.error is not None:
            return
        filled = [period, content.output.interval or period]
    elif settings.fixed:
        filled = [period, content.duration]
    else:
        return
    step = float(settings.step)
    count = period / step
    if abs(count - round(count)) > WHOLE * count:
        whole = _common_part(*(Fraction(repr(float(length))) for length in filled))
        nearest = float(whole / max(1, round(whole / Fraction(step))))
        raise ScenarioError(
            f"{scenario.name}: integrator.step = {step:g} s: the stepper's period of {period:g} s must be a whole number of "
            f"steps, all of one length; the nearest step is {nearest:.12g} s"
        )


def _common_part(first: Fraction, second: Fraction) -> Fraction:
    """Return the largest length of which both are whole numbers."""
    below = first.denominator * second.denominator
    return Fraction(math.gcd(first.numerator * second.denominator, second.numerator * first.denominator), below)


def method_of(settings: Settings) -> Method[Any]:
    """Return the method that such settings are of."""
    return Variational() if isinstance(settings, VariationalSettings) else Hybrid()


class Now(NamedTuple):
    """Where a run is."""

    time: Scalar  # s
    state: State
    acting: Any  # the signal of contacts that acts


class Solver(Protocol):
    """The state of a run between iterations."""

    @property
    def status(self) -> Int[Array, ""]: ...

    @property
    def iterations(self) -> Int[Array, ""]: ...


class Method[S: Solver](Protocol):
    """How a model advances in time; settings say how finely."""

    slice: ClassVar[int]  # iterations between reports of progress at most

    def init(self, model: Any, settings: Any) -> S:  # noqa: ANN401, those of the method
        """Return a run that has not advanced yet."""
        ...

    def advance(self, model: Any, settings: Any, solver: S, until: Scalar | float) -> S:  # noqa: ANN401
        """Go on until the run ends or has made so many iterations."""
        ...

    def advance_to(self, model: Any, settings: Any, solver: S, time: Scalar) -> S:  # noqa: ANN401
        """Go on until the run ends or has reached `time` (s), at which a command ends."""
        ...

    def pass_to(self, model: Any, settings: Any, solver: S, time: Scalar, changed: Flag) -> S:  # noqa: ANN401
        """Go on until exactly `time` (s), and later from there; what acts from outside may have `changed`."""
        ...

    def now(self, model: Any, solver: S) -> Now:  # noqa: ANN401
        """Return where a run is."""
        ...

    def time(self, solver: S) -> Scalar:
        """Return the time (s) that a run has reached."""
        ...

    def interval(self, settings: Any) -> float:  # noqa: ANN401
        """Return the time (s) between samples."""
        ...

    def pace(self, solver: S) -> float:
        """Return how long (s) steps are allowed to be now; NaN where nothing makes them shorter."""
        ...

    def remembering(self, solver: S, memory: Any) -> S:  # noqa: ANN401, of the model
        """Return the run whose model remembers something else."""
        ...

    def emptied(self, solver: S) -> S:
        """Return the run with an empty log."""
        ...

    def largest(self, model: Any, solver: S) -> Float[Array, "monitored"]:  # noqa: ANN401
        """Return the largest of each monitored quantity since the log was emptied."""
        ...

    def result(self, model: Any, settings: Any, solver: S) -> Solution:  # noqa: ANN401
        """Return what a run has left."""
        ...


class Hybrid:
    """Runge and Kutta's method, events located or steps of one length."""

    slice: ClassVar[int] = 200_000

    def init(self, model: ContactModel, settings: located.Settings) -> located.SolverState:
        return located.initial_solver(model, settings)

    def advance(
        self, model: ContactModel, settings: located.Settings, solver: located.SolverState, until: Scalar | float
    ) -> located.SolverState:
        return located.advance_located(model, settings, solver, until)

    def advance_to(
        self, model: ContactModel, settings: located.Settings, solver: located.SolverState, time: Scalar
    ) -> located.SolverState:
        end = jnp.where(time < settings.duration, time, jnp.inf)
        return located.advance_to(model, settings, solver, end)

    def pass_to(
        self,
        model: ContactModel,
        settings: located.Settings,
        solver: located.SolverState,
        time: Scalar,
        changed: Flag,
    ) -> located.SolverState:
        return located.pass_to(model, settings, solver, time, changed)

    def now(self, model: ContactModel, solver: located.SolverState) -> Now:
        return Now(solver.point.time, solver.point.state, located.acting_signal(model, solver))

    def time(self, solver: located.SolverState) -> Scalar:
        return solver.point.time

    def interval(self, settings: located.Settings) -> float:
        return float(settings.sampling)

    def pace(self, solver: located.SolverState) -> float:
        return float(np.minimum(solver.step_limit, solver.limit))

    def remembering(self, solver: located.SolverState, memory: Any) -> located.SolverState:  # noqa: ANN401
        x = solver.point.state
        state = State(x.q, x.v, x.mode, memory)
        return solver._replace(point=solver.point._replace(state=state))

    def emptied(self, solver: located.SolverState) -> located.SolverState:
        return solver_state.empty_log(solver)

    def largest(self, model: ContactModel, solver: located.SolverState) -> Float[Array, "monitored"]:
        return solver_state.monitored_maxima(solver)

    def result(self, model: ContactModel, settings: located.Settings, solver: located.SolverState) -> Solution:
        return solver_state.solution_of(located.sample_end(model, settings, solver))


class Variational:
    """The midpoint variational method."""

    slice: ClassVar[int] = 5_000

    def init(self, model: Mechanism, settings: VariationalSettings) -> VariationalState:
        return colliding.initial_variational(VariationalMechanism(model), settings)

    def advance(
        self, model: Mechanism, settings: VariationalSettings, solver: VariationalState, until: Scalar | float
    ) -> VariationalState:
        return colliding.advance_variational(VariationalMechanism(model), settings, solver, jnp.asarray(until))

    def advance_to(
        self, model: Mechanism, settings: VariationalSettings, solver: VariationalState, time: Scalar
    ) -> VariationalState:
        end = jnp.minimum(time, settings.duration)
        return variational_run.advance_to(VariationalMechanism(model), settings, solver, end)

    def pass_to(
        self, model: Mechanism, settings: VariationalSettings, solver: VariationalState, time: Scalar, changed: Flag
    ) -> VariationalState:
        return variational_run.pass_to(VariationalMechanism(model), settings, solver, time)

    def now(self, model: Mechanism, solver: VariationalState) -> Now:
        x = variational_run.state_of(VariationalMechanism(model), solver)
        return Now(solver.time, x, model.signal(solver.time, x))

    def time(self, solver: VariationalState) -> Scalar:
        return solver.time

    def interval(self, settings: VariationalSettings) -> float:
        return float(settings.interval)

    def pace(self, solver: VariationalState) -> float:
        return math.nan

    def remembering(self, solver: VariationalState, memory: Any) -> VariationalState:  # noqa: ANN401
        return variational_run.with_memory(solver, memory)

    def emptied(self, solver: VariationalState) -> VariationalState:
        return variational_run.empty_log(solver)

    def largest(self, model: Mechanism, solver: VariationalState) -> Float[Array, "monitored"]:
        return variational_run.monitored_maxima(VariationalMechanism(model), solver)

    def result(self, model: Mechanism, settings: VariationalSettings, solver: VariationalState) -> Solution:
        return variational_run.solution_of(VariationalMechanism(model), solver)
