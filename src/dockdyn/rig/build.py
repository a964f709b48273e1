"""From a scenario of a rig to the rig that is simulated, and to what it would show without loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dockdyn.contact.laws.spring_dashpot import SpringDashpot
from dockdyn.hil.compensators.compensator import Compensator
from dockdyn.hil.robot import RobotAxes, side_by_side
from dockdyn.hil.sensor import SensorModel
from dockdyn.results.plan import jit_once
from dockdyn.rig.limits import refuse_beyond_limits
from dockdyn.rig.model.in_space import PlantInSpace
from dockdyn.rig.model.on_line import PlantOnLine
from dockdyn.rig.model.plant import LinearPlant, Plant
from dockdyn.rig.model.rig import Rig
from dockdyn.rig.model.schedule import RigSchedule, rig_schedule
from dockdyn.rig.mounting import along_normal, mounting_of
from dockdyn.rig.numbers import number
from dockdyn.rig.schema import RigContent
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.made import made, model_of
from dockdyn.scenario.tables.rig.loop import SensorSection
from dockdyn.scenario.tables.rig.robot import AXES, RobotSection
from dockdyn.stability.loop import Loop, RobotStateSpace
from dockdyn.trees import map_leaves


def sensor_of(content: RigContent, forces: int) -> SensorModel:
    """Return the sensor of a loop; imperfections of size zero are left out."""
    section = content.loop.sensor or SensorSection()

    def stated(name: str) -> Any:  # noqa: ANN401, as `number`
        return number(getattr(section, name) or None)

    return SensorModel(
        delay=number(content.loop.delay + section.delay),
        **{name: stated(name) for name in ("jitter", "noise", "bias", "range", "resolution", "drop_rate")},
        **{name: stated(name) for name in ("averaging", "delay_amplitude", "delay_period", "position_noise")},
        threshold=number(section.threshold),
        forces=forces,
    )


def _virtual_law(content: RigContent) -> SpringDashpot | None:
    """Return the contact that is computed in software."""
    section = content.loop.virtual_contact
    return None if section is None else SpringDashpot(number(section.stiffness), number(section.damping), True)


def plant_of(content: RigContent, loop: Loop) -> Plant:
    """Return virtual bodies and mock-ups."""
    virtual = _virtual_law(content)
    whole, hardware, mock_ups = model_of(content), content.measured_contacts(), content.mounted_bodies()
    port = whole.groups[content.port_contact()]
    places = port.place, number(content.partner_place())
    place, other = places if port.first == mock_ups[0] else places[::-1]
    meeting = () if virtual is None else tuple(whole.groups[number] for number in hardware)
    soft = tuple(replace(group, law=virtual, friction=None) for group in meeting)
    mass = number(loop.effective_mass)
    if whole.on_line:
        return PlantOnLine.of(whole, hardware, mock_ups, place[0] - other[0], mass, soft)
    return PlantInSpace.of(whole, hardware, mock_ups, place, mass, soft)


@jit_once
def _combined_robots(sections: list[RobotSection]) -> RobotStateSpace:
    """Return one robot of the axes' own ones."""
    return side_by_side([section.make() for section in sections])


def _robot_of(content: RigContent) -> RobotAxes:
    """Return the robot behind the axes: the loop's own, and where an axis states another one, that."""
    section = content.loop.robot
    if section is None:
        return RobotAxes(None)
    own = section.of_axes()
    if not own:
        return RobotAxes(made(section), number(section.rate_limit), number(section.position_limit))
    sections = [own.get(axis, section) for axis in AXES]

    def limits(name: str) -> Any:  # noqa: ANN401, as `number`
        stated = [getattr(each, name) for each in sections]
        return None if stated == [None] * len(stated) else number([np.inf if one is None else one for one in stated])

    robot = _combined_robots(sections)
    return RobotAxes(robot, limits("rate_limit"), limits("position_limit"))


def rig_of(scenario: Scenario, loop: Loop, compensator: Compensator | None, asked: float | None = None) -> Rig:
    """Return the rig of a scenario, with `loop` along the contact normal; its compensator is asked every `asked` seconds.

    ScenarioError where its instants never meet, and where it begins beyond its robot's limits.
    """
    content = scenario.content
    plant = plant_of(content, loop)
    sensor = sensor_of(content, plant.port_axes)

    def scheduled(sensor: SensorModel) -> RigSchedule:
        longest, window = float(sensor.longest_delay()), float(sensor.averaging or 0.0)
        finer, steady = content.integrator.finer, sensor.has_steady_delay
        return rig_schedule(loop, longest, window, asked, steady, finer, plant.remembers)

    try:
        found = scheduled(sensor)
        if found.continuous_force:
            sensor = _averaging_sensor(sensor, float(np.asarray(loop.hold)) * found.hyperperiod.holds / sum(found.asks))
            found = scheduled(sensor)
    except ValueError as error:
        raise ScenarioError(f"{scenario.name}: {content.loop.key_of_timing(error)}: {error}") from None
    assert loop.hold is not None  # or there would be no schedule
    rig = Rig(
        plant=plant,
        robot=_robot_of(content),
        sensor=sensor,
        hold=number(loop.hold),
        period=number(loop.dynamics_period),
        compensator=compensator,
        following=number(1.0 if content.rig.robot == "following" else 0.0),
        held=asked is not None or loop.is_stepped(),
        dynamics=loop.dynamics,
        schedule=found,
        mounting=mounting_of(content, float(sensor.delay), loop),
        applies_after=loop.applies_after,
    )
    refuse_beyond_limits(scenario, rig)
    return rig


def _averaging_sensor(sensor: SensorModel, period: float) -> SensorModel:
    """Return a sensor whose force acts continuously: compensators, asked every `period` (s), see its mean over as long,
    whose middle is as old as the delay."""
    window = min(period, 2 * float(sensor.delay))
    return replace(sensor, averaging=number(window or None))


def rig_at_rest(rig: Rig, loop: Loop) -> Rig:
    """Return the rig at rest in a contact that is linear and never parts, along its normal: what decides on its stability."""
    plant = LinearPlant(
        mass=number(loop.effective_mass),
        law=SpringDashpot(number(loop.stiffness), number(loop.damping), True),
        virtual=SpringDashpot(number(loop.virtual_stiffness), number(loop.virtual_damping), True),
    )
    robot = RobotAxes(None if loop.robot is None else map_leaves(number, loop.robot))
    exact = replace(rig, plant=plant, robot=robot)
    sensor = SensorModel(rig.sensor.delay, averaging=rig.sensor.averaging)
    return replace(exact, sensor=sensor, mounting=along_normal(rig.mounting, loop))
