"""The key figures of control in space, which only runs with control have."""

from __future__ import annotations

from collections.abc import Callable

from dockdyn.results.key_figures import Data, KeyFigure
from dockdyn.results.measures import Either


def _attitude_error_end(data: Data) -> Either:
    """Return the angle by which the body is off at the end."""
    return (data["attitude_error"][-1] ** 2).sum() ** 0.5


def _peak_wheel_momentum(data: Data) -> Either:
    """Return the largest angular momentum of the wheel along an axis."""
    return abs(data["wheel_momentum"]).max()


def _control_figure(name: str, words: str, of: Callable[[Data], Either], where: str = "") -> KeyFigure:
    """Return a key figure of control, which only runs with control have."""
    return KeyFigure(name, words, of, "samples", needs="control_work", where=where)


CONTROL = (
    _control_figure("control.work_J", "work of control", lambda data: data["control_work"][-1]),
    _control_figure(
        "control.attitude_error_rad", "attitude error at the end", _attitude_error_end, where="attitude-hold"
    ),
    _control_figure("control.wheel_momentum_N_m_s", "peak wheel momentum", _peak_wheel_momentum),
    _control_figure(
        "control.thruster_impulse_N_s", "impulse of the thrusters", lambda data: data["thruster_use"][-1, 0]
    ),
    KeyFigure(
        "control.thruster_pulses",
        "pulses of the thrusters",
        lambda data: data["thruster_pulses"][-1].sum(),
        "samples",
        smooth=False,
        number=int,
        needs="thruster_pulses",
    ),
    _control_figure(
        "control.thruster_turning_impulse_N_m_s",
        "angular impulse of the thrusters",
        lambda data: data["thruster_use"][-1, 1],
    ),
)
