"""What the columns of a measured log are, and how they are headed: the same for identification and beside a run."""

from __future__ import annotations

from dockdyn.results.exchange.log_file import TIME, Role

CLOCK = Role(TIME, "the time", "s", ("time", "t"), needed=False, option="--time")
COMMAND = Role(
    "command",
    "the commanded position",
    "m",
    (
        "command",
        "commanded",
        "cmd",
        "command position",
        "commanded position",
        "cmd position",
        "position command",
        "position cmd",
        "setpoint",
        "desired",
        "x c",
        "x cmd",
        "q cmd",
    ),
    option="--command",
)
ACTUAL = Role(
    "actual",
    "the actual position",
    "m",
    (
        "actual",
        "act",
        "measured",
        "actual position",
        "act position",
        "measured position",
        "position actual",
        "position act",
        "x r",
        "x act",
        "q act",
    ),
    option="--actual",
)
POSITION = Role(
    "position",
    "the position",
    "m",
    ("position", "pos", "x", "depth", "actual", "act", "actual position", "x act"),
    option="--position",
)
FORCE = Role(
    "measured-force",
    "the contact force",
    "N",
    ("force", "f", "contact force", "measured force"),
    option="--measured-force",
)
VELOCITY = Role("velocity", "the velocity", "m/s", ("velocity", "vel", "v", "speed"), needed=False, option="--velocity")

OF_ROBOT = (CLOCK, COMMAND, ACTUAL)
OF_CONTACT = (CLOCK, POSITION, FORCE, VELOCITY)
POSITIONS = (COMMAND.name, ACTUAL.name, POSITION.name)  # whose unit a bare unit is
