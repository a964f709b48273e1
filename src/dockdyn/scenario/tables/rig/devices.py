"""The tables `[rig.device.sensor]` and `[rig.device.robot]`: each is a device, whose class says its keys.

A device of the user's own is named `kind = "module:Class"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args

from pydantic import BeforeValidator, Discriminator, Field, SerializeAsAny, Tag, create_model

from dockdyn.scenario.language.own_code import Own
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.tables.own_part import import_class, refuse_unfinished
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.realtime.devices.roles import Device, ForceSensor, Robot

ROOM = "dockdyn.realtime.devices"
PLAIN = "raw-udp"  # the devices of a rig that states none


def _devices_by_kind(*places: str) -> dict[str, Any]:
    """Return the classes of devices by what `kind` names them, in their order."""
    found = (resolve_name(f"{ROOM}.{place}") for place in places)
    return {get_args(made.model_fields["kind"].annotation)[0]: made for made in found}


SENSORS: dict[str, type[ForceSensor]] = _devices_by_kind("netft:NetFTSensor", "raw_udp:RawSensor")
ROBOTS: dict[str, type[Robot]] = _devices_by_kind(
    "rsi:RSIRobot", "egm:EGMRobot", "fanuc:FanucRobot", "rtde:URRobot", "raw_udp:RawRobot"
)


class OwnDevice(Section, Own):
    """A table of a device of the user's own; its keys are those of the class."""

    kind: str

    def own_class(self) -> str:
        return self.kind


def _own_section(target: str, role: str) -> type[Section]:
    """Return what checks the table of a device of the user's own. Raises what pydantic tells."""
    base: type[Device] = resolve_name(f"{ROOM}.roles:{role}")
    made: Any = import_class(target, lambda: base)
    refuse_unfinished(target, made, ("settings", "emulate"))
    if not hasattr(made, "struct"):
        refuse(f"{target} must define struct, the name of its struct in C and of the files with it")
    return _with_class(made)


@cache
def _with_class(made: type[Section]) -> type[Section]:
    """Return a class of the user's own that tells, as a table, which one it is."""
    return create_model(made.__name__, __base__=(made, OwnDevice), __module__=made.__module__, __doc__=made.__doc__)


def _device(kinds: Mapping[str, type[Device]], role: str) -> Any:  # noqa: ANN401, a type
    """Return the field type: the table of whichever device its `kind` names, or of one of the user's own in that role."""

    def read(value: object) -> object:
        return _own_section(value["kind"], role).model_validate(value) if isinstance(value, dict) else value

    def kind(value: object) -> str | None:
        given = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
        return "user" if isinstance(given, str) and ":" in given else given

    tagged = [Annotated[made, Tag(name)] for name, made in kinds.items()]
    user = Annotated[SerializeAsAny[OwnDevice], BeforeValidator(read), Tag("user")]
    return Annotated[Union[(*tagged, user)], Discriminator(kind)]


if TYPE_CHECKING:
    type SensorDevice = ForceSensor
    type RobotDevice = Robot
    type EmulatedRobotSection = OwnDevice
else:
    SensorDevice, RobotDevice = _device(SENSORS, "ForceSensor"), _device(ROBOTS, "Robot")
    _emulated = tuple(made.Emulated for made in ROBOTS.values() if made.Emulated)
    EmulatedRobotSection = Annotated[Union[(*_emulated,)], Field(discriminator="kind")]


class DevicesSection(Section):
    """The tables of a rig's devices."""

    sensor: SensorDevice = SENSORS[PLAIN].model_validate({"kind": PLAIN})
    robot: RobotDevice = ROBOTS[PLAIN].model_validate({"kind": PLAIN})
