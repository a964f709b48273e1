"""The roles that a device of a rig can have: a class of one says its table, its settings in C, and what stands for it."""

from __future__ import annotations

import dataclasses
import inspect
from abc import abstractmethod
from contextlib import AbstractContextManager
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from dockdyn.parameters import Parameter
from dockdyn.realtime.devices.device import ToolPose
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import quantity
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.realtime.connections import Connections
    from dockdyn.realtime.devices.emulated.devices import EmulatedRobot, EmulatedSensor
    from dockdyn.realtime.devices.emulated.sensor import SensorErrors
    from dockdyn.realtime.links import DeviceLink
    from dockdyn.scenario.tables.emulator import EmulatedSensorSection
    from dockdyn.scenario.tables.rig.driven import LimitsSection


def _parse_address(text: str) -> str:
    """Return an address of the Internet's fourth version; names are not looked up in real time."""
    try:
        return str(IPv4Address(text))
    except ValueError:
        refuse(f"{text!r}: must be an address such as 192.168.0.10")


Host = Annotated[str, AfterValidator(_parse_address)]
Port = Annotated[int, Field(ge=1, le=65535)]


class Keys(Section):
    """A table whose numbers with units are declared as `dockdyn.parameter`."""

    def __init_subclass__(cls, **given: Any) -> None:  # noqa: ANN401, those of pydantic
        """Let pydantic read what a class declares with that unit and those bounds."""
        fields = {name: field for name, field in vars(cls).items() if isinstance(field, dataclasses.Field)}
        for name, field in fields.items():
            about: Parameter | None = field.metadata.get("parameter")
            if about is None:
                continue
            bounds = {bound: getattr(about, bound) for bound in ("above", "least", "below", "most")}
            cls.__annotations__[name] = quantity(about.unit, about.what, **bounds)
            delattr(cls, name)
            if field.default is not dataclasses.MISSING:
                setattr(cls, name, field.default)
        super().__init_subclass__(**given)


class Device(Keys):
    """A device of a rig: its fields are the keys of its table, where a `dockdyn.parameter` has its unit and bounds.

    Its C is `STRUCT.h` and `STRUCT.c` beside the file of the class: `struct STRUCT` begins with what `settings` returns, and
    `STRUCT_sensor` or `STRUCT_robot` are its calls, as `calls.h` has them. A device that is `asked` for what it says is at
    `host` and `port`; another one sends to there, on this computer.
    """

    role: ClassVar[Literal["sensor", "robot"]]
    struct: ClassVar[str]
    asked: ClassVar[bool] = False
    connected: ClassVar[bool] = False  # whether it is spoken to through connections, not in datagrams
    controller_settings: ClassVar[tuple[tuple[str, str], ...]] = ()  # what must be set on it, and why
    unconfirmed: ClassVar[tuple[str, ...]] = ()  # what nobody has seen on hardware

    kind: str
    host: Host = "127.0.0.1"
    port: Port

    @abstractmethod
    def settings(self, period: float) -> Any:  # noqa: ANN401, a dataclass of its own
        """Return what its struct in C begins with, a dataclass with those fields, on a rig with a cycle of a `period` (s).

        ValueError for what cannot be.
        """

    def missing_in_space(self, period: float) -> list[str]:
        """Return keys of the table and what, by it, the device does not tell or is not told of loads and poses in space; of a
        rig with a cycle of a `period` (s)."""
        return []

    def stated(self) -> tuple[tuple[str, str], ...]:
        """Return the numbers that the table says are set on the device, each with its key."""
        return ()

    @classmethod
    def c_files(cls) -> dict[str, str]:
        """Return its C by file name. Raises OSError where that is not beside the file of the class."""
        paths = [Path(inspect.getfile(cls)).parent / f"{cls.struct}{ending}" for ending in (".h", ".c")]
        return {path.name: path.read_text(encoding="utf-8") for path in paths}

    @property
    def place(self) -> str:
        """Where it is, or sends to."""
        return f"{self.host}:{self.port}"


class ForceSensor(Device):
    """A force sensor: derive from it for one of your own."""

    role: ClassVar[Literal["sensor", "robot"]] = "sensor"
    counts_measurements: ClassVar[bool] = False  # whether its records tell which measurement they are of

    @abstractmethod
    def emulate(
        self,
        settings: Any,  # noqa: ANN401, as `settings` returns
        errors: SensorErrors,
        period: float,
        stated: EmulatedSensorSection,
    ) -> EmulatedSensor:
        """Return what stands for it on a rig with a cycle of a `period` (s), with `errors`, as `[rig.emulator.sensor]` says."""


class Robot(Device):
    """A robot: derive from it for one of your own. `Emulated` are the keys of `[rig.emulator.robot]`, where it has such."""

    role: ClassVar[Literal["sensor", "robot"]] = "robot"
    tells_status: ClassVar[bool] = True  # whether it says that it is well
    tells_late: ClassVar[bool] = False  # whether its status is how many answers were late since its last pose
    Emulated: ClassVar[type[Section] | None] = None

    @property
    def by_clock(self) -> bool:
        """Whether a command goes out at instants of the clock, not as an answer to a pose."""
        return False

    @abstractmethod
    def emulate(
        self,
        settings: Any,  # noqa: ANN401, as `settings` returns
        start: ToolPose,
        period: float,
        stated: Any,  # noqa: ANN401, an `Emulated`
        connected: bool,
    ) -> EmulatedRobot:
        """Return what stands for it where it starts, on a rig with a cycle of a `period` (s).

        It behaves as `stated`, None: as is known; where it is `connected`, connections agree on how it speaks.
        """

    def hindrances(self, limits: LimitsSection, duration: float) -> list[str]:
        """Return what its controller, set as the table says, would not let it do within `limits` in a run of a duration (s).

        Each is one line: key, value, why, and what to do.
        """
        return []

    def to_start(self) -> str:
        """Return what is to be started on it before it can be connected, in words; empty for nothing."""
        return ""

    def connect(self, settings: Any) -> AbstractContextManager[Connections] | None:  # noqa: ANN401, as `settings` returns
        """Return its connections, which are made before the cycle begins; None where it is spoken to in datagrams."""
        return None

    def emulated_link(self, emulated: Any) -> DeviceLink:  # noqa: ANN401, as `emulate` returns
        """Return the way between what stands for it and the computer. Raises OSError."""
        from dockdyn.realtime.links import Datagrams

        return Datagrams((self.host, self.port), self.asked)
