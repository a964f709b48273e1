"""The contacts of two bodies at rest as the margins of a loop ask for them, and which close while the first is closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Array, Float

from dockdyn.integrate.model import Scalar, State
from dockdyn.kinds.followed import after_first
from dockdyn.kinds.free_flight.model_resting_contact import RestingContact, resting_contact
from dockdyn.kinds.free_flight.nominal import NominalContact, contact_loop, nominal_contact, rest, without_latch
from dockdyn.kinds.free_flight.schema import TwoBodiesSection
from dockdyn.kinds.resting import (
    ContactSlopes,
    Judged,
    LaterSet,
    Naming,
    Resting,
    later_rows,
)
from dockdyn.mechanics.rigid_body import Pose
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.observed import place_on_surface
from dockdyn.results.plan import jit_once
from dockdyn.results.run import Run
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop import Loop


class RestingBodies(Resting):
    """Two bodies that rest on each other, or the contact of a rig along one direction."""

    def nominal(self, scenario: Scenario) -> NominalContact | None:
        return nominal_contact(scenario)

    def alone(self, nominal: NominalContact) -> NominalContact:
        return replace(nominal, others=())

    def rest(self, content: TwoBodiesSection, nominal: NominalContact) -> tuple[Mechanism, State]:
        return rest(content, nominal)

    def loop(self, content: Judged, nominal: NominalContact | None) -> tuple[Loop, RestingContact | None]:
        return contact_loop(content, nominal)

    def slopes(self, content: TwoBodiesSection, nominal: NominalContact) -> list[ContactSlopes]:
        model, state = rest(content, nominal)
        found = [(resting_contact(model, state, i), resting_depth(model, i)) for i in nominal.closed]
        return [ContactSlopes(depth, own.effective_mass, own.stiffness, own.damping) for own, depth in found]

    def numbered(self, content: TwoBodiesSection, nominal: NominalContact) -> list[int]:
        return list(nominal.closed)

    def kinetic_energies(self, model: Mechanism, state: State) -> Float[Array, "bodies"]:
        return model.kinetic_energies(state.q, state.v)

    def bodies(self, content: TwoBodiesSection) -> list[str]:
        return ["chaser", "target"]

    def contacts(self, content: TwoBodiesSection) -> list[Naming]:
        return [Naming(one.name or f"{one.feature}–{one.surface}", one.feature, one.surface) for one in content.contact]

    def place(self, content: TwoBodiesSection, nominal: NominalContact) -> dict[str, Any]:
        position, azimuth, depth = (np.asarray(value) for value in _place_once(content, nominal))
        section = content.contact[nominal.contact]
        return {
            "feature": section.feature,
            "surface": section.surface,
            "position_m": position.tolist(),
            "azimuth_deg": float(np.degrees(azimuth) % 360),
            "distance_m": float(np.linalg.norm(position)),
            "depth_m": float(depth),
        }

    def later_sets(self, scenario: Scenario, nominal: NominalContact) -> list[LaterSet]:
        """None where the contact is placed by `[stability]` and not reached by a motion."""
        if nominal.poses is None or len(scenario.content.contact) < 2:
            return []
        moments, found = after_first(without_latch(scenario), nominal), []
        for row, (first, *others) in later_rows(moments.touching, nominal, begun=True):
            there = NominalContact(moments.at(row).q.roots, first, True, tuple(others))
            found.append(LaterSet(float(moments.time[row] - moments.time[0]), there))
        return found

    def in_run(
        self, content: TwoBodiesSection, run: Run, row: int, closed: tuple[int, ...], pressed: bool
    ) -> NominalContact:
        position, attitude = (run.at_moments[name][row] for name in ("position", "attitude"))
        chaser, target = (
            Pose(Vector.of(place), Quaternion.of(turn)) for place, turn in zip(position, attitude, strict=True)
        )
        return NominalContact((chaser, target), closed[0], pressed, closed[1:])


@jit_once
def _place_once(content: TwoBodiesSection, nominal: NominalContact) -> tuple[Any, Scalar, Scalar]:
    """The nominal contact's feature from the surface's reference point (m), its azimuth (rad) and its depth (m)."""
    model, state = rest(content, nominal)
    group, places = model.computed[nominal.contact], model.placement(state).bodies
    place, azimuth = place_on_surface(group, places[group.first], places[group.second])
    return place.array(), azimuth, resting_depth(model, nominal.contact)


def resting_depth(model: Mechanism, contact: int) -> Scalar:
    """The depth (m) at which a contact of a model at rest does so."""
    found = model.computed[contact].rest
    assert found is not None
    return found.depth[0]
