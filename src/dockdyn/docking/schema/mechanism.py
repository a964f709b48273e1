"""The tables of a mechanism: any number of bodies, contacts between any two of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import model_validator

from dockdyn.docking.schema.adaptive_limits import refuse_not_smooth
from dockdyn.docking.schema.control import SteeringSection, steered_bodies
from dockdyn.docking.schema.multibody import SeveralBodiesSection
from dockdyn.docking.schema.variational_limits import ELASTIC, refuse_not_variational
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.control import check_samples
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.run import IntegratorSection, OutputSection
from dockdyn.scenario.tables.stability import StabilitySection

if TYPE_CHECKING:
    from dockdyn.mechanism.mechanism import Mechanism
    from dockdyn.mechanism.steered_body import SteeredBody
    from dockdyn.mechanism.variational import VariationalMechanism
    from dockdyn.results.control.coupling import Coupling
    from dockdyn.scenario.tables.approach import Port


class MechanismIntegratorSection(IntegratorSection):
    """How time advances. `variational`: steps of one length, of which energy does not drift; events are located. With an
    `error` its steps follow the motion, and `step` is the longest.

    `adaptive`, explicit of eighth order, and `implicit`, for what decays much faster than it oscillates: once what touches
    at t = 0 has been struck, nothing else touches. With `conserve` velocities are brought back to the momentum of t = 0, with
    what was given to it from outside.
    """

    method: Literal["located", "fixed", "variational", "adaptive", "implicit"] = "located"  # type: ignore[assignment]
    error: quantity("", "a relative error", above=0, most=1e-2) | None = None
    conserve: Literal["momentum"] | None = None

    @model_validator(mode="after")
    def check_step_error(self) -> Self:
        if self.error is not None and self.method != "variational":
            refuse(
                "error: of steps of the method 'variational'; must be left out, tolerance be stated, or method changed"
            )
        return self


class MechanismSection(SeveralBodiesSection):
    """Bodies, contacts between them."""

    setup: ClassVar = "mechanism"
    title: str = "Mechanism"
    motion: Literal["plane", "space"] = "space"  # type: ignore[assignment]
    stability: StabilitySection = StabilitySection()
    integrator: MechanismIntegratorSection = MechanismIntegratorSection()
    output: OutputSection = OutputSection()

    @property
    def plane(self) -> bool:
        """Whether all moves in the x–y plane."""
        return self.motion == "plane"

    @property
    def linked_in_plane(self) -> bool:
        """Whether all moves in the x–y plane as trees of links do: but, by the variational method, where all are rigid."""
        from dockdyn.docking.linked_trees import linked_roots

        if self.integrator.method != "variational":
            return self.plane
        bends = any(body.flexible is not None for body in self.bodies)
        return self.plane and (bends or bool(linked_roots(self.bodies)))

    @model_validator(mode="after")
    def check_control_samples(self) -> Self:
        if self.control is not None:
            check_samples(self.control, self.duration, self.integrator)
        return self

    @model_validator(mode="after")
    def check_stability_table(self) -> Self:
        self.stability.check(self.contact_names(), self.duration)
        return self

    @model_validator(mode="after")
    def check_conservation(self) -> Self:
        if self.integrator.conserve is None:
            return self
        if self.motion not in ("plane", "space"):
            refuse(
                "integrator.conserve: of bodies in the plane or in space; must be left out where they move on a line"
            )
        if self.orbit is not None:
            refuse("integrator.conserve: gravity along the orbit changes momentum; one of the two must be left out")
        if self.integrator.method == "variational":
            refuse("integrator.conserve: steps of method 'variational' keep momentum by themselves; must be left out")
        return self

    @model_validator(mode="after")
    def check_method(self) -> Self:
        if self.integrator.method == "variational":
            refuse_not_variational(self)
            return self
        for contact in self.contacts:
            if contact.impact is not None and contact.impact.law == ELASTIC:
                refuse(f"{self.law_key(contact, 'impact')}.law = {ELASTIC!r}: integrator.method must be {ELASTIC!r}")
        if self.integrator.method == "located":
            return self
        if self.integrator.method in ("adaptive", "implicit"):
            refuse_not_smooth(self)
            return self
        if any(contact.impact is not None for contact in self.contacts):
            refuse("integrator.method must be located: a contact with an impact law jumps at instants")
        return self

    def model(self) -> Mechanism:
        """Return the model, also from traced numbers."""
        from dataclasses import replace

        from dockdyn.mechanism.momentum_projection import momentum_of

        model = super().model()
        if self.integrator.conserve is None:
            return model
        return replace(model, conserved=momentum_of(model, model.placement(model.uncommanded())))

    def mechanical(self) -> VariationalMechanism:
        """Return the model as the method `variational` takes it, also from traced numbers."""
        from dockdyn.mechanism.variational import VariationalMechanism

        return VariationalMechanism(self.model())

    def coupling(self) -> Coupling | None:
        """Return what an FMU decides of it; None where none does."""
        from dockdyn.docking.functional_unit import mechanism_coupling

        return mechanism_coupling(self)

    def commanded(self) -> tuple[str, str]:
        """Return the body that control or a stepper acts on, and the one that it sees as its target. ValueError where none is
        told."""
        return steered_bodies(self.control or SteeringSection(law="none"), self)

    def steering(self, model: Mechanism) -> SteeredBody:
        """Return what a stepper commands where there is no control, without limits; also from traced numbers."""
        from dockdyn.mechanism.steered_body import SteeredBody
        from dockdyn.scenario.tables.rig.sampling import idle_control

        body, target = map(self.names().index, self.commanded())
        control = idle_control(model.poses[body].attitude.array())
        return SteeredBody(control, model.poses[target].position - model.origin(), body, target)

    def port(self) -> Port | None:
        """Return the port of the body that approaches, where it is the one that control acts on; None without."""
        return self.meeting() if self.approach is not None and self.commanded() == self.approaches() else None
