"""The part of `[control]` that a computer adds: its period, a table of thrusters, how these are switched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import model_validator

from dockdyn.deferred import Array, Float, jnp
from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import NamedSection, Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.actuators import THRUSTERS, ActuatorSection
from dockdyn.scenario.tables.named import named_tables
from dockdyn.scenario.tables.part import refuse
from dockdyn.scenario.tables.parts import Direction, Point
from dockdyn.scenario.tables.rig.gains import Period

if TYPE_CHECKING:
    from dockdyn.control.actuators import Actuators
    from dockdyn.control.body_control import BodyControl
    from dockdyn.control.controller import Controller
    from dockdyn.control.reference import Reference
    from dockdyn.control.sampled import SampledControl
    from dockdyn.control.thrusters import OnOff, PulseWidth, Thrusters

SAMPLING = ("period", "modulation", "thruster")
OF_MODULATION = {"pulse-width": ("shortest_pulse", "deadband"), "on-off": ("switch_on", "switch_off")}
Share = quantity("", "a share of full thrust", above=0, most=1)


class ThrusterSection(NamedSection):
    """One thruster of the body that control acts on."""

    position: Point
    direction: Direction
    force: quantity("N", "a force", above=0)


class ModulationSection(Section):
    """How wanted thrusts become pulses."""

    law: Literal["pulse-width", "on-off"] = "pulse-width"
    shortest_pulse: quantity("s", "a time", least=0) | None = None
    deadband: quantity("s", "a time", least=0) | None = None
    switch_on: Share | None = None
    switch_off: Share | None = None

    @model_validator(mode="after")
    def check_completeness(self) -> Self:
        for law, keys in OF_MODULATION.items():
            for key in keys:
                if law != self.law and getattr(self, key) is not None:
                    refuse(f"law {self.law} has no {key}; it has {', '.join(OF_MODULATION[self.law])}")
        if self.law == "on-off":
            for key in OF_MODULATION[self.law]:
                if getattr(self, key) is None:
                    refuse(f"law {self.law} needs {key}")
            if (self.switch_off or 0.0) > (self.switch_on or 0.0):
                refuse("switch_off is above switch_on; must be at most as much")
        return self

    def make(self) -> PulseWidth | OnOff:
        """Return the modulation, also from traced numbers."""

        from dockdyn.control.thrusters import OnOff, PulseWidth

        def number(value: Any) -> Any:  # noqa: ANN401, a number of a table, or what JAX traces in its place
            return jnp.asarray(value, float)

        if self.law == "on-off":
            return OnOff(number(self.switch_on), number(self.switch_off))
        shortest = number(0.0 if self.shortest_pulse is None else self.shortest_pulse)
        return PulseWidth(shortest, shortest if self.deadband is None else number(self.deadband))


class SampledSection(ActuatorSection):
    """A `[control]` that may be sampled and act through a table of thrusters."""

    period: Period | None = None
    thruster: named_tables(ThrusterSection) | None = None
    modulation: OrNone[ModulationSection] = None
    placing: ClassVar[tuple[str, ...]] = ()  # keys that say which body it acts on

    @model_validator(mode="after")
    def check_thrusters(self) -> Self:
        if self.thruster is None:
            if self.modulation is not None:
                refuse("modulation is that of [control.thruster.NAME], of which there is none")
            return self
        if not self.thruster:
            refuse("thruster is empty; must have one at least, or be left out")
        if self.period is None:
            refuse("[control.thruster] is switched at samples: period is missing")
        for key in THRUSTERS:
            if getattr(self, key) is not None:
                refuse(f"{key} is a limit of ideal thrusters; with [control.thruster] each has its force")
        if self.modulation is not None and (shortest := self.modulation.shortest_pulse) is not None:
            if shortest > self.period:
                refuse(f"modulation.shortest_pulse = {shortest:g} s: must be at most the period, {self.period:g} s")
        return self

    def pushes(self) -> bool:
        """Return whether thrusters may be asked for a force."""
        return True

    def thruster_names(self) -> list[str]:
        """Return the names of the thrusters of the table."""
        return [item.name for item in self.thruster or []]

    def control_by(self, law: Controller, reference: Reference) -> BodyControl | SampledControl:
        """Return control by a law, continuous or sampled, also from traced numbers."""

        from dockdyn.control.body_control import BodyControl
        from dockdyn.control.sampled import SampledControl

        if self.period is None:
            return BodyControl(law, self.limits(), reference)
        period = jnp.asarray(self.period, float)
        return SampledControl(law, self.limits(), reference, period, self.thrusters())

    def limits(self) -> Actuators:
        """Return the wheel and ideal thrusters of a free body, also from traced numbers."""

        only = self.thruster_torque is not None or self.thruster is not None
        axes = [0, 1, 2]
        return self.make_actuators(jnp.zeros(0), axes, axes, 0.0 if only else jnp.inf, jnp.inf)

    def thrusters(self) -> Thrusters | None:
        """Return the table of thrusters, also from traced numbers."""

        from dockdyn.control.thrusters import Thrusters

        if self.thruster is None:
            return None
        directions = jnp.array([item.direction for item in self.thruster], float)
        return Thrusters(
            positions=jnp.array([item.position for item in self.thruster], float),
            directions=directions / jnp.linalg.norm(directions, axis=1, keepdims=True),
            forces=jnp.array([item.force for item in self.thruster], float),
            modulation=(self.modulation or ModulationSection()).make(),
        )


def idle_control(attitude: Float[Array, "4"]) -> BodyControl:
    """Return the control of a body that its own computer leaves alone, `attitude` being its own; without limits."""

    from dockdyn.control.body_control import BodyControl
    from dockdyn.control.commanded import Idle
    from dockdyn.control.reference import InertialReference

    return BodyControl(Idle(), SampledSection().limits(), InertialReference(jnp.zeros(3), jnp.zeros(3), attitude))
