"""Impacts that cannot be: those that their law cannot give, told with its numbers, and all where nothing may jump."""

from __future__ import annotations

from functools import partial

from dockdyn.contact.group import ContactGroup
from dockdyn.deferred import Array, Float
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.impact.laws.by_name import check_impact
from dockdyn.integrate.model import State
from dockdyn.integrate.solution import Status
from dockdyn.mechanism.impact_contact import TOUCHED
from dockdyn.mechanism.impacts import contact_space
from dockdyn.results.plan import jit_once
from dockdyn.results.run import Run
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.trees import map_leaves

MARGINS = "velocities jump there, which has no linear form; must state normal for margins"
EXCHANGE = (
    "bounces may follow each other within a step of a program that integrates the model; must be for co-simulation"
)


def refuse_impacts(name: str, content: MechanismSection, why: str) -> None:
    """Raise ScenarioError with these words where a contact has an impact law."""
    for contact in content.contacts:
        if contact.impact is not None:
            raise ScenarioError(f"{name}: {content.law_key(contact, 'impact')}: {why}")


def refuse_memory(name: str, content: MechanismSection) -> None:
    """Raise ScenarioError where what contacts remember is decided as a step ends, however long that is."""
    for contact, group in zip(content.contacts, content.model().groups, strict=True):
        if isinstance(group, ContactGroup) and group.flowing().asks_for_steps():
            raise ScenarioError(
                f"{name}: {content.remembering(contact)}: decides as steps end what it remembers; a program that "
                "integrates the model may take long ones; must be for co-simulation"
            )


def refuse_impossible(scenario: Scenario, run: Run) -> None:
    """Raise ScenarioError where a run has stopped at an impact that its law does not allow: with the law's own words."""
    struck = [number for number, contact in enumerate(scenario.content.contacts) if contact.impact is not None]
    if run.status != Status.NOT_FINITE or run.states is None or not struck:
        return
    row = len(run.log.time) - 2  # the one after it is of velocities that are no numbers
    if row < 0:
        return
    state: State = map_leaves(lambda rows: rows[row], run.states)
    for number in struck:
        if int(state.mode[number]) != TOUCHED:
            continue
        law = scenario.content.contacts[number].impact.stated_law()
        matrix, velocity = _contact_space_once(scenario.content, state, number=number)
        try:
            check_impact(law.own or law.name, matrix, velocity, law.parameters)
        except ValueError as error:
            where = f"contact {scenario.content.contact_names()[number]!r} at t = {run.log.time[row]:.6g} s"
            raise ScenarioError(f"{scenario.name}: {where}: impact: {error}") from None


@partial(jit_once, static=("number",))
def _contact_space_once(
    content: MechanismSection, state: State, number: int
) -> tuple[Float[Array, "rows rows"], Float[Array, "rows"]]:
    return contact_space(content.model(), state, number)
