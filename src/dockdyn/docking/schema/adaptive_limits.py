"""What the adaptive methods do not run of a mechanism, and why: events after t = 0, a past, samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dockdyn.docking.schema.elements import LatchSection
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.docking.schema.mechanism import MechanismSection


def refuse_not_smooth(content: MechanismSection) -> None:
    """Refuse what changes at instants after t = 0: contacts by a force law, latches that are not rigid, phases, samples."""
    method = content.integrator.method

    def refused(key: str, why: str) -> None:
        refuse(f"integrator.method = {method!r}: {key}: {why}; integrator.method must be located")

    if content.loop.delay:
        refused("loop.delay", "it knows no past")
    if content.integrator.step is not None:
        refuse(f"integrator.step: of method {method!r} the tolerance alone says how long steps are; must be left out")
    if getattr(content.control, "period", None):
        refused("control.period", "a computer samples at instants")
    if content.phase:
        refused("phase", "phases begin at instants")
    for contact in content.contacts:
        if contact.impact is None:
            refused(content.law_key(contact, "normal"), "its force begins and ends at instants")
    for name, section in content.acts().items():
        if section.has_events() and not (isinstance(section, LatchSection) and section.rigid):
            refused(name, "changes its law at instants")
