"""A run of the kind `berthing`: the impact, and the motion after it by whichever integrator suits."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int

from dockdyn.impact.laws.by_name import check
from dockdyn.integrate import adaptive
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import Scalar, State
from dockdyn.integrate.solution import Solution, Status
from dockdyn.kinds.berthing.data import Motion, dataset_of
from dockdyn.kinds.berthing.model import COMPLIANT, Berthing, Struck
from dockdyn.kinds.berthing.model_captured import Design
from dockdyn.kinds.berthing.model_observed import observe
from dockdyn.kinds.berthing.schema import BerthingSection
from dockdyn.kinds.berthing.stiffness import STIFF, stiffness
from dockdyn.mechanism.impact_contact import ImpactContact
from dockdyn.programs import Program
from dockdyn.results.dataset import reason_of, shortness
from dockdyn.results.drive import Progress, drive, finite_rows, name_of_nonfinite
from dockdyn.results.plan import DEFAULT_STEP, MOST_ROWS, jit_large, jit_once, power_of_two
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario

SAMPLES = 1000  # over a run, when the scenario does not say
SINGULAR = 1e-13  # smallest eigenvalue of the mass matrix, its diagonal scaled to 1
IMPLICIT = 10  # steps of an explicit method that one of an implicit one counts for: it takes longer still
PIECES = 20  # a run is integrated in, between which progress is told
SLICE = 2_000  # iterations of the located integrator between reports of progress

CHATTER = (
    "stopped at t = {time:.6g} s: more than {events} events (integrator.max_events); the two meet and part too often"
)


@jit_once
def build(content: BerthingSection) -> Berthing:
    return content.model()


@jit_once
def strike(model: Berthing) -> tuple[Struck, Any]:
    """What the impact did, and the state just after."""
    struck = model.struck()
    return struck, model.begun(struck)


def _check_impact(scenario: Scenario, model: Berthing, struck: Struck) -> None:
    """Refuses, with numbers at hand, what the impact law cannot do, and joints that turn the same mass twice."""
    _check_mass(scenario, model, np.asarray(struck.mass))
    law = model.law
    if law.name == COMPLIANT:
        if (parting := float(struck.before[0])) > 0:
            words = f"they part at {parting:.4g} m/s along the contact's normal; must not part"
            raise ScenarioError(f"{scenario.name}: impact: the contact does not approach: {words}")
        return
    try:
        check(law.own or law.name, struck.matrix, struck.before, law.parameters)
    except ValueError as error:
        raise ScenarioError(f"{scenario.name}: impact: {error}") from None


def _check_mass(scenario: Scenario, model: Berthing, mass: np.ndarray) -> None:
    """Refuses a mass matrix (both trees) that is singular at t = 0, and names the velocities that move nothing."""
    names = [f"{owner} {v}" for owner, s in zip(("chaser", "target"), model.sides, strict=True) for v in s.tree.names()]
    own = np.diag(mass)
    if not (np.isfinite(mass).all() and (own > 0).all()):
        still = [name for name, part in zip(names, own, strict=True) if not 0 < part < np.inf] or names
        raise ScenarioError(
            f"{scenario.name}: link: {', '.join(still)} move no mass that is a number; must have a mass"
        )
    size = np.sqrt(own)
    values, vectors = np.linalg.eigh(mass / size / size[:, None])
    if values[0] > SINGULAR:
        return
    still = [name for name, part in zip(names, vectors[:, 0], strict=True) if abs(part) > 0.1]
    raise ScenarioError(
        f"{scenario.name}: link: {', '.join(still)} together move no mass at t = 0; must have a mass between them"
    )


@jit_once
def regulate(content: BerthingSection) -> Design:
    model = content.uncontrolled()
    return content.control.design(model, content.control.free(content.motors(), content.joints()[1]))


def with_gain(scenario: Scenario) -> BerthingSection:
    """The content of a scenario; a regulator's gain made once, so that what is compiled later takes it as numbers."""
    content = scenario.content
    if content.control.law != "lqr":
        return content
    if content.control.gain is not None:
        given = [len(row) for row in content.control.gain]
        rows, columns = content.gain_size()
        if given != [columns] * rows:
            counts = str(max(given)) if len(set(given)) == 1 else "unequal"
            words = f"has {len(given)} × {counts} numbers; must have {rows} × {columns}"
            raise ScenarioError(f"{scenario.name}: control.gain: {words}")
        return content
    made = jax.tree.map(np.asarray, regulate(content))
    gain = made.gain
    if not np.isfinite(gain).all() or np.linalg.eigvals(made.plant.a - made.plant.b @ gain).real.max() >= 0:
        raise ScenarioError(f"{scenario.name}: control.law: lqr: its Riccati equation has no stabilising solution")
    return content.model_copy(update={"control": content.control.model_copy(update={"gain": gain})})


@partial(Program, static=("method", "most"))
def advance(
    model: Berthing, state: State, times: Float[Array, "times"], tolerance: Scalar, method: adaptive.Method, most: int
) -> adaptive.Adapted:
    return adaptive.solve(model, times, tolerance, state, method, most)


@jit_once
def _observed_at(model: Berthing, states: State) -> dict[str, Array]:
    return jax.lax.map(lambda x: observe(model, x), states)


def simulate_berthing(scenario: Scenario, progress: Progress | None = None) -> xr.Dataset:
    """Run a scenario of kind `berthing`; what `simulate` returns."""
    began = time.perf_counter()
    content = scenario.content
    interval, count = samples_of(content)
    content = with_gain(scenario)
    model = build(content)
    struck, state = strike(model)
    _check_impact(scenario, model, struck)
    if model.contact is None:
        stiff = stiffness(model, struck, content.duration)
        motion = smooth(content, model, state, stiff, interval, count, progress)
    else:
        motion = touching(content, model, state, interval, count, progress)
    seen = jax.tree.map(np.asarray, _observed_at(model, _all_states(motion)))
    return dataset_of_run(scenario, model, struck, motion, seen, time.perf_counter() - began)


def samples_of(content: BerthingSection) -> tuple[float, int]:
    """The interval between samples (s), and how many there are besides the first."""
    interval = content.output.interval or content.duration / SAMPLES
    count = int(content.duration / interval * (1 + 1e-12))
    if not 1 <= count <= MOST_ROWS:
        raise ScenarioError(f"output.interval = {interval} s: gives {count} samples; must give 1 to {MOST_ROWS}")
    return interval, count


def _all_states(motion: Motion) -> Any:  # noqa: ANN401, a tree of arrays
    """States at the samples, then those at the moments of the log."""
    if motion.log is None:
        return motion.states
    return jax.tree.map(lambda a, b: np.concatenate([a, b]), motion.states, motion.log.state)


def dataset_of_run(
    scenario: Scenario, model: Berthing, struck: Struck, motion: Motion, seen: dict[str, Any], wall_time: float
) -> xr.Dataset:
    """The dataset of a run, from what was `seen` at samples and moments."""
    count = len(motion.states.v[0])
    sampled, logged = ({name: rows[part] for name, rows in seen.items()} for part in (slice(count), slice(count, None)))
    return dataset_of(scenario, model, struck, motion, sampled, logged, wall_time)


def method_of(content: BerthingSection, stiff: float) -> adaptive.Method:
    """The adaptive method that a scenario states, or the one that suits."""
    stated = content.integrator.method
    assert stated != "located", "a run without further contact is not located"
    return stated or ("kvaerno5" if stiff >= STIFF else "dopri8")


@dataclass(frozen=True)
class Pieces:
    """An adaptive run between two of its pieces."""

    status: Status
    state: Any  # where the next piece begins
    asked: int  # samples so far, besides the first, whether there or not
    kept: tuple[Any, ...]  # states at the samples that are there, piece by piece
    steps: int = 0
    rejected: int = 0


def smooth(
    content: BerthingSection,
    model: Berthing,
    state: State,
    stiff: float,
    interval: float,
    count: int,
    progress: Progress | None,
) -> Motion:
    """Adaptive integration, in pieces of one length, so that one compilation serves; what lies beyond the end is cut off."""
    method = method_of(content, stiff)
    tolerance = np.float64(content.integrator.error(located=False))
    rows = -(-count // PIECES)
    weight = IMPLICIT if method == "kvaerno5" else 1
    most = max(content.integrator.max_steps // weight, 1)

    def advance_piece(run: Pieces, piece: int) -> Pieces:
        if run.steps + run.rejected >= most:
            return replace(run, status=Status.TOO_MANY_ITERATIONS)
        times = interval * (run.asked + np.arange(rows + 1, dtype=float))
        found = jax.tree.map(np.asarray, advance(model, run.state, times, tolerance, method, most))
        part = jax.tree.map(lambda a: a[1:], found.states)
        good, _ = finite_rows({"state": part})
        status = Status.RUNNING if run.asked + rows < count else Status.FINISHED
        if good < rows:
            status = Status.TOO_MANY_ITERATIONS if bool(found.exhausted) else Status.NOT_FINITE
        return Pieces(
            status=status,
            state=jax.tree.map(lambda a: a[-1], found.states),
            asked=run.asked + rows,
            kept=(*run.kept, jax.tree.map(lambda a: a[:good], part)),
            steps=run.steps + int(found.steps),
            rejected=run.rejected + int(found.rejected),
        )

    first = jax.tree.map(lambda a: np.asarray(a)[None], state)
    begun = Pieces(Status.RUNNING, state, 0, (first,))
    run = drive(begun, advance_piece, lambda run: min(1.0, run.asked / count), 1, progress)
    states = jax.tree.map(lambda *parts: np.concatenate(parts)[: count + 1], *run.kept)
    end = (len(jax.tree.leaves(states)[0]) - 1) * interval
    cause = shortness(0.0) + (f"; each of kvaerno5 counts for {IMPLICIT}" if weight > 1 else "")
    words = reason_of(content, run.status, end, "a state", steps=most, cause=cause)
    finished = run.status == Status.FINISHED
    return Motion(states, interval, finished, words, method, run.steps, run.rejected, stiffness=stiff)


@jit_once
def _init_located(model: Berthing, settings: located.Settings, start: State) -> located.SolverState:
    return located.init(model, settings, start)


@partial(jit_large, donate=("solver",))
def _advance_located(
    model: Berthing, settings: located.Settings, until: Int[Array, ""], solver: located.SolverState
) -> located.SolverState:
    return located.advance(model, settings, solver, until)


@jit_once
def _conclude(solver: located.SolverState) -> Solution:
    return located.result(solver)


def touching(
    content: BerthingSection, model: Berthing, state: State, interval: float, count: int, progress: Progress | None
) -> Motion:
    """Located integration: contact comes and goes."""
    settings = settings_of(content, interval, count)
    solver = drive(
        _init_located(model, settings, state),
        lambda solver, until: _advance_located(model, settings, until, solver),
        lambda solver: float(solver.point.time) / content.duration,
        SLICE,
        progress,
        stops_at=content.integrator.max_steps,
    )
    pace = float(np.minimum(solver.step_limit, solver.limit))
    return located_motion(content, model, jax.tree.map(np.asarray, _conclude(solver)), interval, pace)


def settings_of(content: BerthingSection, interval: float, count: int) -> located.Settings:
    """Steps and sizes of a located run with `count` samples, an `interval` (s) apart."""
    return located.Settings(
        duration=np.float64(content.duration),
        step=np.float64(min(DEFAULT_STEP, interval)),
        tolerance=np.float64(content.integrator.error(located=True)),
        sampling=np.float64(interval),
        samples=power_of_two(count + 1),
        max_moments=content.integrator.max_events,
        line_capacity=0,
        max_iterations=np.float64(content.integrator.max_steps),
    )


def located_motion(
    content: BerthingSection, model: Berthing, found: Solution, interval: float, pace: float = float("nan")
) -> Motion:
    """What located integration left, from its solution in NumPy arrays."""
    assert found.samples is not None
    states = jax.tree.map(lambda a: a[: int(found.sampled)], found.samples.state)
    end, first_nonfinite = Status(int(found.status)), name_of_nonfinite(int(found.first_nonfinite), model.names)
    sooner = ", a larger impact.rest_speed ends that sooner" if isinstance(model.contact, ImpactContact) else ""
    status = reason_of(
        content, end, float(found.time), first_nonfinite, pace, {Status.TOO_MANY_EVENTS: CHATTER + sooner}
    )
    steps = int(found.steps)
    log = jax.tree.map(lambda a: a[: int(found.moments)], found.log)
    return Motion(
        states, interval, end == Status.FINISHED, status, "located", steps, int(found.iterations) - steps, log
    )
