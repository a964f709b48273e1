"""One step of every model and integrator of the product, with trees of numbers that occur in its runs.

A case is a function of trees, to be compared over rows near them: of the content of a scenario, from which it makes the
model as a run does, or of the model, and of a state. The trees are those of a run of the scenario, on its way.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

import dockdyn
from dockdyn.contact.surfaces.distance_field import NODES, DistanceField
from dockdyn.docking.regulators import with_gain
from dockdyn.hil.sensor import Draws, draw_noise
from dockdyn.impact.laws.by_name import LAWS
from dockdyn.impact.laws.simultaneous import simultaneous_impact
from dockdyn.integrate.hybrid import fixed, located
from dockdyn.integrate.model import Model, State
from dockdyn.integrate.solution import Status
from dockdyn.integrate.variational import colliding
from dockdyn.mechanics.vector import Vector
from dockdyn.programs import Program
from dockdyn.results import adaptive_run, unit, variational_run
from dockdyn.results.plan import WATCH_ONLY, settings_for
from dockdyn.rig.build import rig_of
from dockdyn.rig.compensator import CompensatorMaker
from dockdyn.rig.model.delayed_reads import ages_of
from dockdyn.rig.model.rig import IdealContact, Rig, RigState
from dockdyn.rig.resting import loop_of
from dockdyn.scenario.load import Scenario

TREES = 40  # of a run
TOLERANCE = 1e-8  # of a step: an estimate of its error has eight digits left of those of the motion
STEP = 20e-3  # s, longer than delays


class Case(NamedTuple):
    """A function and trees that it takes."""

    function: Callable[..., PyTree]
    trees: list[PyTree]


def _spread(count: int) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, TREES).astype(int))


def _rows(tree: PyTree, places: Any) -> list[PyTree]:
    arrays = jax.tree.map(np.asarray, tree)
    return [jax.tree.map(lambda a, at=at: a[at], arrays) for at in places]


# --- contacts that come and go -----------------------------------------------------------------------------------------


def _states(scenario: Scenario) -> list[State]:
    """States of a run, at samples and just after events."""
    content = scenario.content
    settings = settings_for(content)
    solver = unit.advance(content, settings, jnp.asarray(10**7), unit.begin(content, settings))
    found = jax.tree.map(np.asarray, located.solution_of(solver))
    assert found.status == Status.FINISHED
    after = _rows(found.log.state, range(min(int(found.moments), TREES)))
    return _rows(found.samples.state, _spread(int(found.sampled))) + after


def _located_step(model: Model, state: State) -> Any:
    """A zero-length iteration, which brings the rates, and a step whose error is judged. With a delay further steps, of a
    length that no error decides, until the delayed force acts."""
    delayed = model.delay is not None
    tolerance, iterations = (WATCH_ONLY, 4) if delayed else (TOLERANCE, 2)
    settings = located.Settings(STEP * 1e3, STEP, tolerance, samples=2, max_moments=iterations + 1, line_capacity=16)
    solver = located.advance_located(model, settings, located.initial_solver(model, settings, state), iterations)
    return solver._replace(log=solver.log[:-1], samples=solver.samples[:-1])  # without scratch rows


def located_case(scenario: Scenario) -> Case:
    """A step, the jump by any events, and what is observed."""

    def function(content: Any, state: State, fired: Any) -> PyTree:
        model = content.model()
        solver = _located_step(model, state)
        outputs = model.outputs(jnp.zeros(()), state)
        after = model.jump(jnp.zeros(()), state, fired)
        return solver, outputs, after, model.observe(state, outputs.signal)

    content, rng = scenario.content, np.random.default_rng(0)
    guards = len(content.model().outputs(jnp.zeros(()), content.model().initial()).guards)
    states = _states(scenario)
    return Case(function, [(content, state, tuple(rng.random(guards) < 0.4)) for state in states])


class _From:
    """A model that begins with a state of one's own."""

    def __init__(self, model: Model, state: State):
        self.model, self.state = model, state

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def initial(self) -> State:
        return self.state


def fixed_case(scenario: Scenario) -> Case:
    """Steps of one length."""

    def function(content: Any, state: State) -> PyTree:
        mesh = fixed.StepMesh(jnp.asarray(STEP), steps=6, stride=1, line_capacity=16)
        return fixed.solve_fixed(_From(content.model(), state), mesh)

    return Case(function, [(scenario.content, state) for state in _states(scenario)])


# --- rigs ----------------------------------------------------------------------------------------------------------------


def rig_case(scenario: Scenario) -> Case:
    """Two cycles of a rig; what its sensor draws, which XLA does, is given."""
    loop = loop_of(scenario)
    maker = CompensatorMaker(scenario, loop)
    section = maker.complete(scenario.content.loop.compensator)
    rig = rig_of(scenario, loop, maker.make(section), None if section is None else section.period)
    asks, samples = sum(rig.schedule.asks), sum(rig.schedule.samples)
    axes = rig.plant.port_axes

    def function(rig: Rig, moving: RigState, oracle: IdealContact, drawn: Draws | None) -> Any:
        ages = ages_of(rig)
        return jax.lax.scan(lambda m, d: rig.cycle(ages, m, oracle, d), moving, drawn, length=2)

    noise = None if rig.sensor.position_noise is None else np.full((asks, axes), 0.3)
    oracle = IdealContact(np.full((asks, axes), -1e-3), np.full((asks, axes), 20.0), noise)
    go, trees = Program(function), []
    moving = rig.begin()
    for place in range(TREES * 4):
        drawn = draw_noise(place, (2, samples), axes) if rig.sensor.random else None
        if place % 4 == 0:
            trees.append((rig, moving, oracle, drawn))
        moving, _ = go(rig, moving, oracle, drawn)
    return Case(function, trees)


# --- trees of links with large beams -------------------------------------------------------------------------------------


def impact_case(scenario: Scenario) -> Case:
    """From a scenario's content to the model and through what touches at t = 0."""

    def function(content: Any) -> PyTree:
        found = adaptive_run.begun_of(content)
        return found.before, found.after

    return Case(function, [(with_gain(scenario).content,)])


def flow_case(scenario: Scenario) -> Case:
    """Rates, and what is observed. The steps of Diffrax are XLA's: they call Python where they find something wrong."""
    content = with_gain(scenario).content
    begun = adaptive_run.begin(content)
    model, state = adaptive_run.without_contacts(begun.model, begun.after)
    times = jnp.linspace(0.0, 5.0, TREES)
    method = adaptive_run.METHODS[content.integrator.method]
    found = adaptive_run.advance(model, state, times, jnp.asarray(1e-6), method, 10**5)

    def function(model: Any, state: State) -> PyTree:
        signal = model.signal(jnp.zeros(()), state)
        return model.flow(jnp.zeros(()), state, signal), model.observe(state, signal)

    return Case(function, [(model, one) for one in _rows(found.states, range(TREES))])


# --- variational steps -------------------------------------------------------------------------------------------------------


def variational_case(scenario: Scenario) -> Case:
    """An iteration of the variational integrator: a step, the search for an event, or a jump."""
    content, settings = scenario.content, variational_run.variational_settings(scenario.content)
    short = replace(settings, samples=1, max_events=2, stride=10**9)
    solver, solvers = unit.begin(content, short), []
    small = jax.tree.map(np.asarray, unit.begin(content, short))
    every = max(1, int(settings.duration / settings.step / 200))
    for place in range(200):
        fresh = solver._replace(**{name: getattr(small, name) for name in ("log", "events", "samples", "sampled")})
        until = fresh.iterations + (every if place % 4 == 0 else 1)
        solver = unit.advance(content, short, until, fresh)
        if place % 4:
            solvers.append(jax.tree.map(np.asarray, solver))

    def function(content: Any, solver: colliding.VariationalState) -> Any:
        begun = solver._replace(log=small.log, events=small.events, samples=small.samples, sampled=small.sampled)
        after = colliding.advance_variational(
            content.mechanical(), short, begun._replace(status=small.status), begun.iterations + 1
        )
        return after._replace(log=after.log[:-1], samples=after.samples[:-1])  # without scratch rows

    bare = dict.fromkeys(("log", "events", "samples", "sampled", "status"), ())
    return Case(function, [(content, one._replace(**bare)) for one in solvers])


# --- impact laws -----------------------------------------------------------------------------------------------------------


def law_case(name: str, rows: int) -> Case:
    """A law of impact at contacts at random."""
    law, rng = LAWS[name], np.random.default_rng(rows)

    def function(matrix: Any, velocity: Any, given: dict[str, Any]) -> PyTree:
        return law.function(matrix, velocity, **given)

    trees = []
    for _ in range(10 * TREES):
        matrix, velocity = _contact(rng, rows)
        trees.append((matrix, velocity, {one: np.asarray(rng.uniform(0, 1)) for one in law.parameters}))
    return Case(function, trees)


def _contact(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    turn = np.linalg.qr(rng.normal(size=(rows, rows)))[0]
    velocity = rng.normal(size=rows) * 10 ** rng.uniform(-2, 1)
    velocity[0] = -abs(velocity[0])
    return turn @ np.diag(10 ** rng.uniform(-2, 0, rows)) @ turn.T, velocity


def distance_field_case() -> Case:
    """Distance, a bound of it, normal and expansion of places in and around bricks of distances at random."""
    rng, trees = np.random.default_rng(0), []

    def function(surface: DistanceField, place: Any) -> PyTree:
        distance, numbers = surface.expand(Vector.of(place))
        near = surface.near_expansion(numbers, Vector.of(place))
        return (
            surface.distance_and_normal(Vector.of(place)),
            surface.least_distance(Vector.of(place), 0.1),
            distance,
            near,
        )

    attitude, axis = np.array([0.5, -0.5, 0.1, 0.7]), np.array([0.0, 0.6, 0.8])
    for _ in range(TREES):
        counts, place = np.array([1.0, 2.0, 1.0]), rng.uniform(-1, 6, 3)
        values, children = rng.normal(size=(5, NODES, NODES, NODES)), np.zeros((5, 8), np.int32)
        children[1, 3], children[0, 6], children[2, rng.integers(8)] = 2, 3, 4
        numbers = values, children, counts, np.array([-0.5, -1, 0.1]), *map(np.asarray, (0.6, 0.15, 1.5))
        surface = DistanceField(*numbers, rng.normal(size=3), attitude, axis)
        trees.append((surface, place))
    return Case(function, trees)


def simultaneous_case(contacts: int) -> Case:
    """Several contacts at once, three rows each."""
    rng, trees = np.random.default_rng(contacts), []
    for _ in range(10 * TREES):
        matrix, velocity = _contact(rng, 3 * contacts)
        velocity[::3] = -np.abs(velocity[::3])
        trees.append((matrix, velocity, np.asarray(rng.uniform(0, 1)), np.asarray(rng.uniform(0, 1))))
    return Case(lambda matrix, velocity, e, f: simultaneous_impact(matrix, velocity, contacts, e, f), trees)


def preset(name: str, **changes: Any) -> Scenario:
    return dockdyn.load(name, changes)
