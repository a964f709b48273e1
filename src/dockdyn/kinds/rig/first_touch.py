"""The loop along the normal of the first contact of a rig's mock-ups, where they are bodies of an assembly."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np

from dockdyn.contact.gate import APART
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import State
from dockdyn.integrate.solution import Solution, Status
from dockdyn.kinds.nominal import Nominal, nominal_at
from dockdyn.kinds.resting import normal_loop, refuse_slack, rest
from dockdyn.kinds.rig.schema import RigAssemblySection
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.results.drive import watching
from dockdyn.results.plan import jit_once, settings_for
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop import Loop


def assembly_loop(scenario: Scenario) -> Loop:
    """The loop of plain numbers.

    Raises ScenarioError where the mock-ups do not touch within the duration, and where the contact has no stiffness.
    """
    loop: Loop = jax.tree.map(np.asarray, _loop_at(scenario.content, first_touch(scenario)))
    refuse_slack(scenario, loop)
    return loop


def first_touch(scenario: Scenario) -> Nominal:
    """Return where the mock-ups first touch, without rig.

    Raises ScenarioError where they do not within the duration.
    """
    content = scenario.content
    state = _begun(content)
    touching = _touching(content, state)
    if not touching:
        with watching("the motion until the first contact"):
            found = jax.block_until_ready(_until_contact(content, replace(settings_for(content), samples=0)))
        state = found.state
        touching = _touching(content, state) if int(found.status) == Status.FINISHED else []
    if not touching:
        names = " and ".join(content.mock_ups)
        raise ScenarioError(
            f"{scenario.name}: duration = {content.duration:g} s: {names} do not touch each other within it, without rig; "
            "a rig is judged along the normal of their first contact"
        )
    nominal = nominal_at(content, jax.tree.map(np.asarray, state), touching)
    assert nominal is not None
    return nominal


def _touching(content: RigAssemblySection, state: State) -> list[int]:
    """The contacts of the mock-ups that touch."""
    return [number for number in content.hardware() if int(state.mode[number]) != APART]


def _alone(content: RigAssemblySection) -> Mechanism:
    """The assembly without rig, as far as the mock-ups touch."""
    return replace(content.model(), delay=None, ending=tuple(content.hardware()))


@jit_once
def _begun(content: RigAssemblySection) -> State:
    return _alone(content).initial()


@jit_once
def _until_contact(content: RigAssemblySection, settings: located.Settings) -> Solution:
    return located.solve(_alone(content), settings)


@jit_once
def _loop_at(content: RigAssemblySection, nominal: Nominal) -> Loop:
    return normal_loop(content, nominal, *rest(content, nominal))[0]
