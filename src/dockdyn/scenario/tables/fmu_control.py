"""The `[control]` that an FMU decides, another tool's program: its file, its period, which variables are which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from pydantic import Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from dockdyn.deferred import jnp
from dockdyn.scenario.language.errors import nearest, shown
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.tables.actuators import THRUSTERS, WHEEL
from dockdyn.scenario.tables.approach import Port
from dockdyn.scenario.tables.part import refuse, without_computed
from dockdyn.scenario.tables.rig.sampling import SAMPLING, SampledSection

if TYPE_CHECKING:
    from dockdyn.control.sampled import SampledControl
    from dockdyn.mechanics.rigid_body import Pose
    from dockdyn.mechanics.vector import Vector

SCHEME = "fmu:"
WIRES = ("inputs", "outputs", "parameters")
COMMANDS = {"force": "N", "body_force": "N", "torque": "N m"}  # with the unit of each
LARGEST = 1e300


def commands() -> dict[str, str]:
    """Return the names of what can be commanded, component by component, with their units."""
    return {f"{what}.{axis}": unit for what, unit in COMMANDS.items() for axis in "xyz"}


class FmuControlSection(SampledSection):
    """A controller in an FMU, "fmu:FILE.fmu"."""

    unread: ClassVar[tuple[str, ...]] = ("law", "inputs", "outputs", "parameters", "tuned")  # by what is compiled

    law: str
    inputs: dict[str, str] = {}  # noqa: RUF012
    outputs: dict[str, str] = {}  # noqa: RUF012
    parameters: dict[str, Any] = {}  # noqa: RUF012
    tuned: SkipJsonSchema[list[str]] = Field([], exclude=True, repr=False)  # the names of the parameters
    values: SkipJsonSchema[list[float]] = Field([], exclude=True, repr=False)  # and their values

    @model_validator(mode="before")
    @classmethod
    def as_stated(cls, value: object) -> object:
        """Refuse stated numbers, which are those of `parameters`."""
        return without_computed(value, "tuned", "values")

    @model_validator(mode="after")
    def check_completeness(self) -> Self:
        self.check_keys(("period",), (*WHEEL, *THRUSTERS, *SAMPLING, *WIRES, "tuned", "values", *self.placing))
        if not self.law.lower().endswith(".fmu"):
            refuse(f'law = {shown(self.law)}: must be "fmu:FILE", a file that ends in .fmu')
        if not self.outputs:
            refuse(f"outputs is missing: which of the FMU's outputs is which of {', '.join(COMMANDS)}")
        for key, name in self.outputs.items():
            if name not in commands():
                refuse(f"outputs.{key} = {shown(name)}: no such command; {nearest(name, commands())}")
            if list(self.outputs.values()).count(name) > 1:
                refuse(f"outputs.{key} = {shown(name)}: is commanded twice; each command has one output")
        for key, value in self.parameters.items():
            if isinstance(value, str | list | dict) or not abs(value) <= LARGEST:
                refuse(f"parameters.{key} = {shown(value)}: must be a number in the FMU's own unit, or true or false")
        numbers = [float(value) for value in self.parameters.values()]
        return self.model_copy(update={"tuned": list(self.parameters), "values": numbers})

    @property
    def file(self) -> str:
        """The FMU's file."""
        return self.law.removeprefix(SCHEME)

    def data_file(self) -> str | None:
        return self.file

    def dotted_numbers(self) -> dict[str, tuple[str, int, str]]:
        return {f"parameters.{key}": ("values", place, "") for place, key in enumerate(self.tuned)}

    def make(self, start: Pose, origin: Vector, port: Port | None) -> SampledControl:
        """Return control whose samples are taken by whoever asks the FMU; errors of attitude are counted from the `start`."""

        from dockdyn.control.commanded import Idle
        from dockdyn.control.reference import InertialReference
        from dockdyn.control.sampled import SampledControl

        level = InertialReference(start.position.array() - origin.array(), jnp.zeros(3), start.attitude.array())
        period = jnp.asarray(self.period, float)
        return SampledControl(Idle(), self.limits(), level, period, self.thrusters(), told=True)


def fmu_control(control: Section | None) -> FmuControlSection | None:
    """Return the table, where it is one of an FMU."""
    return control if isinstance(control, FmuControlSection) else None
