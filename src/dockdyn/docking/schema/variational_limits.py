"""What the method `variational` does not run of a mechanism, and why: a line each, with the key that states it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dockdyn.scenario.tables.fmu_control import SCHEME
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.docking.schema.contacts import ContactSection
    from dockdyn.docking.schema.phases import PhaseSection
    from dockdyn.scenario.tables.rig.loop import LoopSection

ELASTIC = "variational"  # law of impact that balances the energies of two steps
EVENTS = {  # keys whose parts change their law at instants that velocities or forces tell
    "slip": "a brake slips and sticks at speeds and loads",
    "stroke": "the force of an end stop begins at once and ends before the stop does",
    "ramp": "friction on a ramp turns round at once",
    "friction": "friction turns round at once where the motion does",
}
SPEEDS = (-1.0, 0.0, 1.0)  # m/s, at which the force of a law is asked for zero depth


class Varied(Protocol):
    """A mechanism as far as the method asks of it."""

    body: Sequence[Any]
    phase: list[PhaseSection]
    loop: LoopSection
    control: Any

    @property
    def contacts(self) -> list[ContactSection]:
        """The contacts, with the laws that they share in place."""
        ...

    def law_key(self, contact: ContactSection, part: str) -> str:
        """Return the key of a law of a contact."""
        ...

    def remembering(self, contact: ContactSection) -> str:
        """Return what of a contact's laws remembers what was; empty where none does."""
        ...

    def acts(self) -> dict[str, Any]:
        """Return the sections of what acts, by name."""
        ...


def refuse_not_variational(content: Varied) -> None:
    """Refuse what steps of the variational method cannot have: a past, forces that jump or slip, samples."""
    if content.loop.delay:
        _refuse("loop.delay", "a step knows no past", "be left out")
    for body in content.body:
        if getattr(body.flexible, "kind", "") == "finite-elements":
            _refuse(
                f"body.{body.name}.flexible.kind = 'finite-elements'",
                "its modes are no joints of a tree",
                "be left out",
            )
    _check_control(content.control)
    for name, section in content.acts().items():
        _check_actor(name, section)
    for phase in content.phase:
        if phase.when is not None and phase.when.speed is not None:
            _refuse(f"phase.{phase.name}.when.speed", "speeds are constant along a step", "wait for a time or an event")
    for contact in content.contacts:
        _check_contact(content, contact)


def _refuse(key: str, why: str, allowed: str) -> None:
    refuse(f"integrator.method = 'variational': {key}: {why}; must {allowed}, or method be 'located'")


def _check_control(control: Any) -> None:  # noqa: ANN401, a section of control of any kind
    """Refuse control by another program; that by a computer that samples `check_samples` refuses."""
    if control is not None and control.law.startswith(SCHEME):
        _refuse("control.law", "an FMU answers at instants of its own", "be a law of dockdyn's, without a period")


def _check_actor(where: str, section: Any) -> None:  # noqa: ANN401, an element or a joint
    """Refuse an element, or what acts in a joint, whose force jumps or slips."""
    kind = getattr(section, "kind", "")
    for key, why in EVENTS.items():
        if getattr(section, key, None):
            _refuse(f"{where}.{key}", why, "be left out")
    if kind == "cable":
        _refuse(
            where,
            "its damper jumps as it becomes taut, and it may pull for less than a step",
            "be a strut",
        )
    if kind == "latch":
        if section.draw_speed is not None:
            _refuse(f"{where}.draw_speed", "a motor stops where its own travel tells", "be left out")
        if section.anchors is not None:
            _refuse(f"{where}.anchors", "of several strikers it is not told which falls in", "be one anchor")
    if ":" in kind and section.has_events():
        _refuse(
            f"{where}.kind = {kind!r}",
            "of an element of your own it is not known whether its force jumps",
            "be one of dockdyn's",
        )


def _check_contact(content: Varied, contact: ContactSection) -> None:
    """Refuse a contact with friction, and one whose force jumps as it begins."""
    if contact.impact is not None:
        if getattr(contact.impact, "friction", None):
            _refuse(f"{content.law_key(contact, 'impact')}.friction", "what comes to rest would stick or slip", "be 0")
        return
    if contact.friction is not None:
        _refuse(content.law_key(contact, "friction"), EVENTS["friction"], "be left out")
    if remembers := content.remembering(contact):
        _refuse(remembers, "it remembers what was", "be another law")
    from dockdyn.mechanism.head_on import law_between
    from dockdyn.scenario.made import made

    assert contact.normal is not None
    one: Any = np.float64(1.0)  # kg: with any mass there is a damper, or none
    law: Any = law_between(made(contact.normal), one)
    if any(float(law.force(np.float64(0.0), np.float64(speed))) != 0 for speed in SPEEDS):
        _refuse(
            content.law_key(contact, "normal"),
            "its force jumps as the contact begins and ends",
            "be a law that begins at zero, as hertz",
        )
