"""The model of a mechanism, with gravity in orbit and what steers a body.

Units: SI.
Source: definition.
"""

from __future__ import annotations

from dataclasses import replace

from dockdyn.docking.schema.control import make_steered
from dockdyn.docking.schema.multibody import SeveralBodiesSection
from dockdyn.mechanism.gravity import Gravity
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.programs import trace_once


@trace_once
def whole_model(section: SeveralBodiesSection) -> Mechanism:
    """Return the model that a section describes, also of traced numbers."""
    model = section.acting_in_pairs()
    if section.orbit is None and section.control is None:
        return model
    starts = section.starts()
    return replace(
        model,
        gravity=None if section.orbit is None else Gravity(section.orbit.make(), starts[section.base()][0].position),
        steered=None if section.control is None else make_steered(section.control, section, starts, model),
    )
