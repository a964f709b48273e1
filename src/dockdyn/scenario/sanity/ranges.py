"""Sizes that numbers of docking usually have, by what they are: larger and smaller ones are told."""

from __future__ import annotations

from fnmatch import fnmatchcase

from dockdyn.records import record
from dockdyn.scenario.sanity.likely import LARGER, SMALLER, amount, likely


@record
class Usual:
    """The usual sizes of the numbers whose keys, without names and indices, fit one of the patterns."""

    keys: tuple[str, ...]  # patterns; the first entry of `USUAL` that fits decides
    unit: str  # SI
    least: float
    most: float
    large: str  # what is unusual about a larger one
    small: str = ""  # likewise

    def fits(self, key: str, unit: str) -> bool:
        """Tell whether a key with this unit is meant."""
        return unit == self.unit and any(fnmatchcase(key, pattern) for pattern in self.keys)


NONE = 0.0
ALWAYS = float("inf")
NO_FORCE, NO_TORQUE = "no part of a spacecraft bears that force", "no part of a spacecraft bears that torque"
STOPS = "the rig would stop at once"
USUAL = (
    Usual(
        ("orbit.semi_major_axis",), "m", 6.4e6, 1e9, "no spacecraft docks so far out", "that orbit is inside the Earth"
    ),
    Usual(("*.lateral_offset",), "m", NONE, 5.0, "bodies that begin so far off do not meet"),
    Usual(("rig.limits.*", "loop.robot*.position_limit"), "m", 1e-3, 20.0, "no rig reaches so far", STOPS),
    Usual(("*feature.radius",), "m", 2e-5, 3.0, "no part that touches is so large", "no part that touches is so small"),
    Usual(("*.rolling", "*.spinning"), "m", NONE, 0.1, "nothing resists turning so much"),
    Usual(("*believed*",), "m", NONE, ALWAYS, ""),
    Usual(("approach.*",), "m", NONE, 45.0, "docking spacecraft are not so large, nor so far apart"),
    Usual(("*",), "m", NONE, 150.0, "docking spacecraft are not so large, nor so far apart"),
    Usual(("*gravity", "*.acceleration"), "m/s**2", NONE, 300.0, "nothing here is accelerated so much"),
    Usual(("rig.limits.*", "*rate_limit"), "m/s", 1e-4, 5.0, "no rig moves at that speed", STOPS),
    Usual(("*.regularisation",), "m/s", NONE, 0.3, "friction would be full at no speed of a docking"),
    Usual(("*",), "m/s", NONE, 3.0, "spacecraft dock at millimetres to decimetres a second"),
    Usual(("rig.limits.*", "*rate_limit"), "rad/s", 1e-4, 10.0, "no rig turns at that speed", STOPS),
    Usual(("arm.*", "*.joint.*"), "rad/s", NONE, 5.0, "no joint turns so fast"),
    Usual(("*",), "rad/s", NONE, 0.6, "spacecraft that dock do not turn so fast"),
    Usual(("*.pitch", "*.yaw"), "rad", NONE, 1.2, "bodies that are tilted so far do not meet"),
    Usual(("*",), "rad", NONE, 12.6, "that is more than two turns"),
    Usual(("duration",), "s", 0.02, 2e4, "no docking takes so long", "no docking is over so soon"),
    Usual(("loop.hold.period", "loop.sensor.*", "loop.dynamics.period"), "s", NONE, 0.3, "no rig is so slow"),
    Usual(("loop.compensator.period", "*patience"), "s", NONE, 0.3, "no rig is so slow"),
    Usual(("loop.delay",), "s", NONE, 5.0, "no loop is so late"),
    Usual(("integrator.step",), "s", NONE, 1.0, "a whole contact lies between two such steps"),
    Usual(("control.period", "*.control.period"), "s", NONE, 20.0, "no control is so slow"),
    Usual(("loop.robot*.bandwidth",), "Hz", 0.1, 3000.0, "no robot is so quick", "no robot is so slow"),
    Usual(("loop.robot*.time_constant",), "s", NONE, 2.0, "no robot is so slow"),
    Usual(("loop.robot*.damping",), "", 1e-4, 10.0, "no robot is damped so much", "no robot is damped so little"),
    Usual(("*damping_ratio",), "", 1e-4, 10.0, "no structure is damped so much", "no structure is damped so little"),
    Usual(("*friction*.coefficient",), "", NONE, 2.5, "nothing rubs so much"),
    Usual(
        ("*.mass", "mass", "*_mass"),
        "kg",
        0.01,
        2e6,
        "no spacecraft weighs that",
        "nothing that docks weighs so little",
    ),
    Usual(("rig.limits.*",), "N", 0.1, 1e5, "no rig bears that force", STOPS),
    Usual(("*",), "N", NONE, 1e6, NO_FORCE),
    Usual(("rig.limits.*",), "N*m", 0.01, 1e5, "no rig bears that torque", STOPS),
    Usual(("*",), "N*m", NONE, 1e6, NO_TORQUE),
)


def usual_of(key: str, unit: str) -> Usual | None:
    """Return the usual sizes of a key without names and indices; None where none are known."""
    return next((usual for usual in USUAL if usual.fits(key, unit)), None)


def unusual(path: str, key: str, value: float, unit: str) -> str:
    """Return what is unusual about the size of a number, with the unit that is likely meant; empty for one that is usual.

    `path` is the `key` without names and indices.
    """
    usual = usual_of(path, unit)
    size = abs(value)
    if usual is None or size == 0 or usual.least <= size <= usual.most:
        return ""
    units = (SMALLER if size > usual.most else LARGER).get(unit, ())
    meant = likely(value, unit, units, lambda other: max(usual.least, 1e-6 * usual.most) <= abs(other) <= usual.most)
    return f"{key} = {amount(value, unit)}: {usual.large if size > usual.most else usual.small}{meant}"
