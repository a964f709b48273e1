"""The limits of a rig's robot and sensor: whether its approach is within them, and since when they hold something back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dockdyn.deferred import Array
from dockdyn.hil.robot import BEYOND
from dockdyn.results.plan import jit_once
from dockdyn.rig.model.limits import NEVER, LimitsReached
from dockdyn.rig.model.plant import Plant
from dockdyn.rig.model.rig import Rig
from dockdyn.rig.schema import RigContent
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.rig.robot import AXES

RANGE = "loop.sensor.range"


def _key_of(content: RigContent, limit: str, axis: int) -> str:
    """Return the key of one of the limits of `LimitsReached`, of an axis."""
    if limit == "range":
        return RANGE
    own = f".{AXES[axis]}" if content.loop.robot is not None and AXES[axis] in content.loop.robot.of_axes() else ""
    return f"loop.robot{own}.{limit}_limit"


def stated_limits(content: RigContent) -> list[str]:
    """Return the keys of the limits that a rig states."""
    robot, sensor = content.loop.robot, content.loop.sensor
    tables = {} if robot is None else {"": robot} | {f".{axis}": own for axis, own in robot.of_axes().items()}
    found = [
        f"loop.robot{where}.{key}"
        for where, table in tables.items()
        for key in ("rate_limit", "position_limit")
        if getattr(table, key) is not None
    ]
    return found if sensor is None or sensor.range is None else [*found, RANGE]


def first_times(content: RigContent, reached: LimitsReached | None, tick: float, end: float) -> dict[str, float]:
    """Return when (s) each limit first held something back in a run up to its `end` (s), by key; those that did."""
    found: dict[str, float] = {}
    for limit, ticks in ({} if reached is None else reached._asdict()).items():
        for axis, number in enumerate([] if ticks is None else np.asarray(ticks).tolist()):
            if number != NEVER and number * tick <= end * (1 + 1e-9):
                key = _key_of(content, limit, axis)
                found[key] = min(found.get(key, np.inf), number * tick)
    return found


def limit_words(key: str, when: str) -> str:
    """Return what a limit does to a rig, and `when`, for a warning."""
    if key == RANGE:
        return f"{key} cuts what the sensor tells, {when}: from then on the model feels less than acts"
    return (
        f"{key} holds the robot's commands back, {when}: from then on the robot does not go where the model is, and what is "
        "off is not of the delay alone"
    )


def limit_warnings(times: dict[str, float]) -> list[str]:
    """Return a warning for every limit that held something back, from the `first_times` of a run."""
    return [limit_words(key, f"first at t = {time:.6g} s") for key, time in times.items()]


@jit_once
def _first_motion(plant: Plant) -> tuple[Array, Array]:
    """Return the pose and rate of the robot's axes at t = 0, where it follows the approach."""
    motion = plant.initial()
    return plant.pose(motion), plant.rate(motion)


def refuse_beyond_limits(scenario: Scenario, rig: Rig) -> None:
    """Raise ScenarioError where a rig begins beyond its robot's `position_limit`, or follows an approach that is faster than
    its `rate_limit`."""
    robot = rig.robot
    if robot.rate_limit is None and robot.position_limit is None:
        return
    content = scenario.content
    pose, rate = (np.abs(np.asarray(part)) for part in _first_motion(rig.plant))
    for axis, most in _exceeded(pose, robot.position_limit):
        unit = "m" if axis < len(AXES) // 2 else "rad"
        raise ScenarioError(
            f"{scenario.name}: {_key_of(content, 'position', axis)} = {most:g} {unit}: the run begins {pose[axis]:.6g} {unit} "
            f"away along {AXES[axis]}; must be at least that"
        )
    for axis, most in _exceeded(rate, robot.rate_limit) if content.rig.robot == "following" else ():
        unit = "m/s" if axis < len(AXES) // 2 else "rad/s"
        raise ScenarioError(
            f"{scenario.name}: {_key_of(content, 'rate', axis)} = {most:g} {unit}: the approach is at {rate[axis]:.6g} {unit} "
            f"along {AXES[axis]}, which no such robot follows; must be at least that, or rig.robot = 'at-rest'"
        )


def _exceeded(sizes: np.ndarray, limit: Array | None) -> Iterator[tuple[int, float]]:
    """Yield the axes along which a size is beyond its limit, and that."""
    most = np.broadcast_to(np.inf if limit is None else np.asarray(limit), sizes.shape)
    yield from ((int(axis), float(most[axis])) for axis in np.flatnonzero(sizes > most * BEYOND))
