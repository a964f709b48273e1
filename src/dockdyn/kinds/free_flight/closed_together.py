"""The contacts of two bodies at rest as the margins of a loop ask for them, and which close while the first is closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float

from dockdyn.contact.gate import APART
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import Scalar, State
from dockdyn.integrate.solution import Solution
from dockdyn.kinds.free_flight.model_resting_contact import RestingContact, resting_contact
from dockdyn.kinds.free_flight.nominal import (
    NominalContact,
    contact_loop,
    nominal_contact,
    rest,
    start_of,
    unlatched,
    until_contact,
)
from dockdyn.kinds.free_flight.schema import TwoBodiesSection
from dockdyn.kinds.resting import (
    LONGEST_LOOK,
    LOOKED_AT,
    ContactSlopes,
    Judged,
    LaterSet,
    Naming,
    Resting,
    later_rows,
)
from dockdyn.mechanics.rigid_body import Pose, Twist
from dockdyn.mechanics.rotation import Quaternion
from dockdyn.mechanics.vector import Vector
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.observed import place_on_surface
from dockdyn.results.drive import watching
from dockdyn.results.plan import jit_once, settings_for
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
        solution = _followed(scenario, nominal)
        closed = np.stack(solution.log.state.mode, axis=-1)[: int(solution.moments)] != APART
        found = []
        for row, (first, *others) in later_rows(closed, nominal, begun=nominal.pressed):
            there = jax.tree.map(lambda rows, row=row: rows[row], solution.log.state.q.roots)
            found.append(LaterSet(float(solution.log.time[row]), NominalContact(there, first, True, tuple(others))))
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


@jit_once
def _from_onset(
    content: TwoBodiesSection, poses: tuple[Pose, Pose], twists: tuple[Twist, Twist], settings: located.Settings
) -> Solution:
    return located.solve(replace(unlatched(content), poses=poses, twists=twists), settings)


def _followed(scenario: Scenario, nominal: NominalContact) -> Solution:
    """The run from the nominal contact on, for some time."""
    content = scenario.content
    settings = replace(settings_for(content), samples=0)
    start, duration = start_of(content), content.duration
    poses, twists = start.q.roots, start.v.roots
    if not nominal.pressed:
        with watching("the motion until the first contact"):
            solution = jax.block_until_ready(until_contact(content, replace(settings, max_moments=1)))
        poses, twists = nominal.poses, jax.tree.map(lambda rows: rows[0], solution.log.state.v.roots)
        duration -= float(solution.log.time[0])
    most = min(float(settings.max_iterations), float(LONGEST_LOOK))
    settings = replace(settings, duration=np.float64(duration), max_moments=LOOKED_AT, max_iterations=np.float64(most))
    with watching("the motion from the first contact"):
        found: Solution = jax.tree.map(np.asarray, _from_onset(content, poses, twists, settings))
    return found
