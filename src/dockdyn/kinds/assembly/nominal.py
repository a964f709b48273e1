"""The state around which margins of an assembly are asked for: that of its run at the first contact, or another moment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from dockdyn.contact.gate import APART
from dockdyn.integrate.model import State
from dockdyn.integrate.solution import Solution, Status
from dockdyn.kinds.assembly.schema.assembly import AssemblySection
from dockdyn.kinds.followed import SLICE, first_touching, recorded, without_rest
from dockdyn.kinds.resting import TOGETHER
from dockdyn.mechanism.rest import Members
from dockdyn.results.contact_run import advance, init
from dockdyn.results.dataset import reason_of
from dockdyn.results.delay_cost import affordable_delay
from dockdyn.results.drive import drive
from dockdyn.results.plan import jit_once, settings_for
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario


class NominalAssembly(eqx.Module):
    """Where the bodies are, and which members of which groups are in contact there; no number of it is another program."""

    state: State
    members: Members
    number: Array  # of the nominal contact

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


def nominal_assembly(scenario: Scenario) -> NominalAssembly:
    """The nominal contact of an assembly.

    Raises ScenarioError when there is none: no contact in the scenario, none within its duration or at the time that
    `[stability]` states; where a loop with more than a delay measures contacts of several pairs of bodies; and where the run
    does not get there.
    """
    content, ask = scenario.content, scenario.content.stability
    affordable_delay(scenario)
    if not content.contact:
        raise ScenarioError(f"{scenario.name}: contact: missing; margins need a [[contact]]")
    pairs = {tuple(sorted(name for name, _ in content.sides(contact))) for contact in content.contact}
    if (others := content.loop.beyond_delay()) and len(pairs) > 1:
        raise ScenarioError(
            f"{scenario.name}: loop.{others[0]}: contacts are between {len(pairs)} pairs of bodies, of which a loop measures "
            "one; must be left out, or kind = 'rig', mode = 'assembly' with the mock_ups that meet"
        )
    names, peak = content.contact_names(), None
    stated = None if ask.closed is None else [names.index(name) for name in ask.closed]
    if ask.at == "peak-force":
        time, peak = _peak_of(scenario)
        state = _state_at(scenario, time)
    elif ask.time is not None:
        state = _state_at(scenario, ask.time)
    else:
        state = first_touching(scenario)[1]
    touching = [int(mode) != APART for mode in state.mode[: len(names)]]
    first = [peak] if peak is not None else [i for i, touches in enumerate(touching) if touches]
    found = nominal_at(content, state, first, stated)
    if found is None:
        raise ScenarioError(
            f"{scenario.name}: stability.time = {ask.time:g} s: no contact is closed then; must be a time at which one is, or "
            "state stability.closed"
        )
    return found


def nominal_at(
    content: AssemblySection, state: State, first: list[int], closed: list[int] | None = None
) -> NominalAssembly | None:
    """The nominal contact in a state: those `closed`, or those that touch there within `TOGETHER`; the first of `first` that is
    among them is the nominal one. None where no contact is closed."""
    depths = [np.asarray(own) for own in _depths_once(without_rest(content), state)]
    if closed is None:
        closed = [i for i, own in enumerate(depths) if own.max() >= -TOGETHER]
    if not closed:
        return None
    members: Any = tuple(
        np.where((i in closed) & (own >= min(0.0, own.max()) - TOGETHER), 1.0, 0.0) for i, own in enumerate(depths)
    )
    number: Any = np.asarray(next((i for i in first if i in closed), closed[0]))
    return NominalAssembly(state, members, number)


@jit_once
def _depths_once(content: AssemblySection, state: State) -> list[Float[Array, "_"]]:
    """How deep (m) the members of each group are."""
    model = content.model()
    places = model.placement(state).bodies
    return [group.depths(places[group.first], places[group.second]) for group in model.computed]


def gaps(content: AssemblySection, nominal: NominalAssembly) -> list[float]:
    """How far (m) each closed contact is apart where it is taken as closed; zero where it touches."""
    depths = _depths_once(without_rest(content), nominal.state)
    return [max(0.0, -float(np.max(depths[i]))) for i in nominal.closed]


def _ended(scenario: Scenario, duration: float) -> Solution:
    """The run at the end of a `duration` (s). Raises ScenarioError where it stops before."""
    content = without_rest(scenario.content)
    settings = replace(settings_for(content), duration=np.float64(duration))
    solver = drive(
        init(content, settings),
        lambda solver, until: advance(content, settings, until, solver),
        lambda solver: float(solver.point.time) / duration,
        SLICE,
        None,
    )
    solution: Solution = jax.tree.map(np.asarray, recorded(solver))
    if (status := Status(int(solution.status))) != Status.FINISHED:
        words = reason_of(content, status, float(solution.time), "a number")
        raise ScenarioError(f"{scenario.name}: {words}; must run to the moment at which margins are asked for")
    return solution


def _state_at(scenario: Scenario, time: float) -> State:
    """The state of the run at a time (s)."""
    if time == 0:
        content = without_rest(scenario.content)
        start: State = jax.tree.map(np.asarray, init(content, settings_for(content)).point.state)
        return start
    state: State = _ended(scenario, time).state
    return state


def _peak_of(scenario: Scenario) -> tuple[float, int]:
    """When (s) in the run a contact presses hardest, and which."""
    solution = _ended(scenario, scenario.content.duration)
    rows, count = int(solution.moments), len(scenario.content.contact)
    peaks = solution.log.peaks[:rows, :count]
    if not (peaks > 0).any():
        raise ScenarioError(
            f"{scenario.name}: stability.at = 'peak-force': nothing presses in this run; must be a run with a contact, or "
            "state stability.time and stability.closed"
        )
    row, number = np.unravel_index(np.argmax(peaks), peaks.shape)
    return float(solution.log.peak_times[row, number]), int(number)
