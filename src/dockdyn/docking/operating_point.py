"""The state around which margins are asked for: the first contact of a run, another moment of it, a place on a cone's wall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from dockdyn.contact.contact_modes import APART
from dockdyn.contact.latch import OUT
from dockdyn.contact.surfaces.cone import Cone
from dockdyn.deferred import Array, Bool, Float, jnp
from dockdyn.docking.first_contact_run import SLICE, after_first, first_touching, solution_so_far, without_rest
from dockdyn.integrate.model import State
from dockdyn.integrate.solution import Solution, Status
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.rest import Members, on_wall
from dockdyn.results.dataset import reason_of
from dockdyn.results.delay_cost import affordable_delay
from dockdyn.results.drive import drive_run
from dockdyn.results.plan import jit_once, settings_for
from dockdyn.results.run import Run
from dockdyn.results.unit import advance, begin
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.made import made
from dockdyn.scenario.tables.part import Shape
from dockdyn.scenario.tables.parts import creeps, remembers
from dockdyn.trees import Module, field, map_leaves

Judged = Any  # the content of a scenario with margins, of whatever setup
TOGETHER = 1e-6  # m: contacts with no wider gap at the nominal state are closed with the nominal one


class Nominal(Module):
    """Where the bodies are, and which members of which contacts are closed there; no number of it is another program."""

    state: State | None  # None: at the start, but for the first contact, which `[stability]` places on its wall
    members: Members
    number: Array  # of the nominal contact
    pressed: Array  # 1 where contacts are as deep as they are there, 0 where they begin
    # whether nothing but one contact of a single member acts, that does not stick, between free bodies: its normal stands for
    # all
    lone: bool = field(static=True)

    @property
    def contact(self) -> int:
        """The nominal contact."""
        return int(self.number)

    @property
    def others(self) -> tuple[int, ...]:
        """The contacts that are closed with it."""
        return tuple(i for i, flags in enumerate(self.members) if np.any(flags) and i != self.contact)

    @property
    def closed(self) -> tuple[int, ...]:
        """All contacts that are closed."""
        return (self.contact, *self.others)

    def without_others(self) -> Nominal:
        """Return the nominal contact without those that are closed with it."""
        members: Any = tuple(np.asarray(flags) * (i == self.contact) for i, flags in enumerate(self.members))
        return replace(self, members=members)


class LaterSet(NamedTuple):
    """Contacts that are closed together from some time after the first onset on."""

    after: float  # s
    nominal: Nominal  # as they are then


def nominal_of_run(scenario: Scenario) -> Nominal:
    """Return the nominal contact of a scenario.

    Raises ScenarioError when there is none: no contact in the scenario, none within its duration or at the time that
    `[stability]` states, or a place on the wall of what is no cone; where a loop with more than a delay measures contacts of
    several pairs of bodies; and where the run does not get there.
    """
    scenario = replace(scenario, content=scenario.content.at_rest())
    content, ask = scenario.content, scenario.content.stability
    _refuse_unjudged(scenario)
    measured = content.measured_contacts()
    if ask.distance is not None:
        _refuse_unplaced(scenario)
        return _nominal_contact(content, None, measured[:1], None, pressed=False)
    names, peak, pressed = content.contact_names(), None, True
    if ask.at == "peak-force":
        time, peak = _peak_of(scenario)
        state = _state_at(scenario, time)
    elif ask.time is not None:
        state = _state_at(scenario, ask.time)
    else:
        time, state = first_touching(scenario, measured)
        pressed = time == 0 or ask.closed is not None
    touching = [i for i in measured if int(state.mode[i]) != APART]
    stated = touching if ask.first_contact and len(names) == 1 else None
    if ask.closed is not None:
        stated = [names.index(name) for name in ask.closed]
    found = nominal_at(content, state, touching if peak is None else [peak], stated, pressed)
    if found is None:
        raise ScenarioError(
            f"{scenario.name}: stability.time = {ask.time:g} s: no contact is closed then; must be a time at which one is, or "
            "state stability.closed"
        )
    return found


def refuse_sampled(scenario: Scenario) -> None:
    """Raise ScenarioError where control acts at samples, which have no linear form in continuous time."""
    content = scenario.content
    if getattr(content, "controlled", False) and content.control.period is not None:
        raise ScenarioError(
            f"{scenario.name}: control.period = {content.control.period:g} s: what a computer holds between samples counts in "
            "runs only; must be left out, for control at every instant, or control.law = 'none', for margins and linear forms"
        )


def acts_alone(content: Judged, state: State | None) -> bool:
    """Return whether nothing but contacts acts, between free bodies, in what margins are of, in a `state` with latches open."""
    controlled = getattr(content, "controlled", False) and content.control.period is None
    if controlled or not content.only_contacts():
        return False
    latches = len(getattr(content, "latch", ()))
    if state is None:
        return not latches
    first = len(content.contact)
    return all(np.all(np.asarray(mode.stage) == OUT) for mode in state.mode[first : first + latches])


def _refuse_unjudged(scenario: Scenario) -> None:
    """Raise ScenarioError for no contact, and for contacts of several pairs of bodies in a loop that measures one."""
    content = scenario.content
    if not content.contact:
        raise ScenarioError(f"{scenario.name}: contact: missing; margins need a [contact.NAME]")
    measured = [content.contact[number] for number in content.measured_contacts()]
    pairs = {frozenset(name for name, _ in content.sides(contact)) for contact in measured}
    if (others := content.loop.beyond_delay()) and len(pairs) > 1:
        raise ScenarioError(
            f"{scenario.name}: loop.{others[0]}: contacts are between {len(pairs)} pairs of bodies, of which a loop measures "
            "one; must be left out, or a [rig] say which body it carries, against which"
        )


def _refuse_unplaced(scenario: Scenario) -> None:
    """Raise ScenarioError where the first contact that is measured cannot be placed on the wall of a cone."""
    content, where = scenario.content, f"{scenario.name}: stability.distance"
    first = content.measured_contacts()[0]
    (own, feature), (other, section) = content.sides(content.contact[first])
    surface = made(section) if isinstance(section, Shape) else None
    if not isinstance(surface, Cone):
        raise ScenarioError(f"{where}: the first contact's surface is a {section.shape}; must be a cone")
    if content.contact_sizes()[first] > 1 or getattr(feature, "shape", "point") not in ("ball", "point"):
        raise ScenarioError(f"{where}: the first contact's feature {feature.name!r} must be a single ball or point")
    if content.root_of(own) == content.root_of(other):
        raise ScenarioError(f"{where}: joints hold {own} and {other} together; must be left out")
    rim, distance = surface.rim_radius, content.stability.distance
    if rim is not None and distance > (slant := float(rim / surface.sine)):
        raise ScenarioError(
            f"{where} = {distance:g} m: beyond the cone's rim; must be at most {slant:g} m from the apex"
        )


def nominal_at(
    content: Judged, state: State, first: Sequence[int], closed: Sequence[int] | None = None, pressed: bool = True
) -> Nominal | None:
    """Return the nominal contact in a state: those `closed`, or those that touch there within `TOGETHER`; the first of `first`
    that is among them is the nominal one. None where no contact that is measured is closed."""
    if closed is None:
        depths = _depths_once(without_rest(content), state)
        closed = [i for i, own in enumerate(depths) if np.max(own) >= -TOGETHER]
    found = set(closed) & set(content.measured_contacts())
    return _nominal_contact(content, state, first, closed, pressed) if found else None


def _nominal_contact(
    content: Judged, state: State | None, first: Sequence[int], closed: Sequence[int] | None, pressed: bool
) -> Nominal:
    """Return the nominal contact; by default those are closed that touch where it is placed."""
    sizes = content.contact_sizes()
    depths = [np.zeros(size) for size in sizes]
    if max(sizes) > 1 or (closed is None and len(sizes) > 1):
        placed = content if state is None else without_rest(content)
        depths = [np.asarray(own) for own in _depths_once(placed, state)]
    if closed is None:
        closed = [i for i, own in enumerate(depths) if i in first or own.max() >= -TOGETHER]
    members: Any = tuple(
        np.where((i in closed) & (own >= min(0.0, own.max()) - TOGETHER), 1.0, 0.0) for i, own in enumerate(depths)
    )
    measured = content.measured_contacts()
    number = next(i for i in (*first, *closed) if i in closed and i in measured)
    lone = acts_alone(content, state) and len(closed) == 1 and sizes[number] == 1
    normal, friction = content.contacts[number].normal, content.contacts[number].friction
    lone = lone and not creeps(normal) and not (friction is not None and remembers(friction))
    numbers: Any = np.asarray(number), np.asarray(float(pressed))
    return Nominal(state, members, numbers[0], numbers[1], lone)


@jit_once
def _depths_once(content: Judged, state: State | None) -> list[Float[Array, "_"]]:
    """Return how deep (m) the members of each group are."""
    model, state = model_where(content, state)
    places = model.placement(state).bodies
    return [group.depths(places[group.first], places[group.second]) for group in model.computed]


def model_where(content: Judged, state: State | None) -> tuple[Mechanism, State]:
    """Return the model and where its bodies are: in a state, or where `[stability]` places them; can be traced."""
    model, ask = content.at_rest().model(), content.stability
    if state is not None:
        return model, state
    azimuth = 0.0 if ask.azimuth is None else ask.azimuth
    first = content.measured_contacts()[0]
    return model, on_wall(model, model.initial(), first, jnp.asarray(azimuth, float), jnp.asarray(ask.distance, float))


def contact_gaps(content: Judged, nominal: Nominal) -> list[float]:
    """Return how far (m) each closed contact is apart where it is taken as closed; zero where it touches."""
    assert nominal.state is not None
    depths = _depths_once(without_rest(content), nominal.state)
    return [max(0.0, -float(np.max(depths[i]))) for i in nominal.closed]


def later_sets(scenario: Scenario, nominal: Nominal) -> list[LaterSet]:
    """Return the sets of contacts that a run closes, one after the other, while a contact of the nominal set is still closed.

    Each once, as it is when it is first closed, without those that are part of the nominal set; none where the nominal state
    is not that of the first contact, and where not all contacts are measured, since one delay is then not that of all.
    """
    scenario = replace(scenario, content=scenario.content.at_rest())
    several = 1 < len(nominal.members) == len(scenario.content.measured_contacts())
    if not scenario.content.stability.first_contact or not several:
        return []
    moments, found = after_first(scenario, nominal.closed), []
    for row, closed in _later_rows(moments.touching, nominal):
        then = _nominal_contact(scenario.content, moments.at(row), closed, closed, pressed=True)
        found.append(LaterSet(float(moments.time[row] - moments.time[0]), then))
    return found


def _later_rows(closed: Bool[np.ndarray, "rows contacts"], nominal: Nominal) -> list[tuple[int, tuple[int, ...]]]:
    """Return the rows in which a set of contacts that is no part of the nominal one is first `closed`, while a contact of that
    is, with the numbers of the set."""
    found: dict[frozenset[int], int] = {}
    own = nominal.closed
    for row, flags in enumerate(closed):
        now = frozenset(map(int, np.flatnonzero(flags)))
        if not now & set(own):
            break
        if not now <= set(own) and now not in found:
            found[now] = row
    return [(row, (*(i for i in own if i in now), *sorted(now - set(own)))) for now, row in found.items()]


def nominal_in_run(content: Judged, run: Run, row: int, closed: Sequence[int], pressed: bool) -> Nominal:
    """Return the state at a moment of a run with these contacts closed, as deep as they are then if `pressed`."""
    state: State = map_leaves(lambda rows: rows[row], run.states)
    return _nominal_contact(content, state, closed, closed, pressed)


def _run_to_end(scenario: Scenario, duration: float) -> Solution:
    """Return the run at the end of a `duration` (s). Raises ScenarioError where it stops before."""
    affordable_delay(scenario)
    content = without_rest(scenario.content)
    settings = replace(settings_for(content), duration=np.float64(duration))
    solver = drive_run(
        begin(content, settings),
        lambda solver, until: advance(content, settings, until, solver),
        lambda solver: float(solver.point.time) / duration,
        SLICE,
        None,
    )
    solution: Solution = map_leaves(np.asarray, solution_so_far(solver))
    if (status := Status(int(solution.status))) != Status.FINISHED:
        words = reason_of(content, status, float(solution.time), "a number")
        raise ScenarioError(f"{scenario.name}: {words}; must run to the moment at which margins are asked for")
    return solution


def _state_at(scenario: Scenario, time: float) -> State:
    """Return the state of the run at a time (s)."""
    if time == 0:
        content = without_rest(scenario.content)
        start: State = map_leaves(np.asarray, begin(content, settings_for(content)).point.state)
        return start
    state: State = _run_to_end(scenario, time).state
    return state


def _peak_of(scenario: Scenario) -> tuple[float, int]:
    """Return when (s) in the run a contact presses hardest, and which."""
    solution = _run_to_end(scenario, scenario.content.duration)
    rows, measured = int(solution.moments), scenario.content.measured_contacts()
    peaks = solution.log.peaks[:rows, measured]
    if not (peaks > 0).any():
        raise ScenarioError(
            f"{scenario.name}: stability.at = 'peak-force': nothing presses in this run; must be a run with a contact, or "
            "state stability.time and stability.closed"
        )
    row, number = np.unravel_index(np.argmax(peaks), peaks.shape)
    return float(solution.log.peak_times[row, measured[number]]), measured[number]
