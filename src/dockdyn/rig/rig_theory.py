"""What theory says of a rig: where its delay comes from, whether the gains it visits are stable, how far amplitudes can go."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import expm

from dockdyn.dataset import Dataset
from dockdyn.deferred import Float
from dockdyn.docking.resting import undamped_remark
from dockdyn.docking.schema.contacts import ContactSection
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.hil.tuning import robot_lag
from dockdyn.hil.velocity_sources import ModelVelocity
from dockdyn.rig.build import rig_of
from dockdyn.rig.measures import force_is_active, vector_size
from dockdyn.rig.numbers import number
from dockdyn.rig.run import radius_of_cycle_map
from dockdyn.rig.schema import RigContent
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.rig.compensators import CompensatorLaw, WithVelocity
from dockdyn.scenario.tables.rig.loop import DynamicsSection, LoopSection, SensorSection, aliasing
from dockdyn.stability.bounce import apparent_restitution
from dockdyn.stability.growth import batch_of_one, loop_roots
from dockdyn.stability.loop import Loop
from dockdyn.stability.loop_margins import ideal_root
from dockdyn.stability.multirate import EDGE, hyperperiod_of
from dockdyn.stability.pade import approximate_loop
from dockdyn.stability.routh import routh_array

# share of its period that an integrator lags
INTEGRATOR = {"half-period": 0.5, "zero-order-hold": 0.5, "explicit-euler": 1.0, "semi-implicit-euler": 0.0}
PADE_ORDER = 1  # as the paper
AGES = 16  # that a position may have, of each that varies
CHANCE = 0.01  # probability that noise alone is larger than what is said of it


def contact_frequency(loop: Loop) -> float:
    """Return the frequency (rad/s) at which the contact alone oscillates; NaN where it does not."""
    root = ideal_root(loop)
    return float("nan") if root is None else float(root.imag)


def delay_budget(content: RigContent, loop: Loop) -> dict[str, float]:
    """Return what each part of the loop delays the force by (s), to first order at the contact's own frequency."""
    section = content.loop
    sensor = section.sensor or SensorSection()
    dynamics = section.dynamics or DynamicsSection(method="continuous")
    step = dynamics.period or 0.0
    steps = step if dynamics.stepped else 0.0
    omega = float(np.sqrt(float(loop.stiffness + loop.virtual_stiffness) / float(loop.effective_mass)))
    found = {
        "delay": section.delay,
        "sensor": sensor.delay,
        "sampling": max((sensor.period or steps) - steps, 0.0) / 2,
        "jitter": sensor.jitter / 2,
        "hold": 0.0 if loop.hold is None else hold_lag(loop, _ages(section, sensor), omega),
        "waiting": 0.0 if loop.hold is None else loop.applies_after * float(loop.hold),
        "robot": 0.0 if section.robot is None else -float(np.angle(section.robot.transfer().at(1j * omega))) / omega,
        "integrator": INTEGRATOR.get(dynamics.method, 0.0) * step,
    }
    return {part: float(late) for part, late in found.items() if late}


def _ages(section: LoopSection, sensor: SensorSection) -> Float[np.ndarray, "ages"]:
    """Return ages (s) that positions have when the sensor tells of them, evenly over what they vary by."""
    over = (np.arange(AGES) + 0.5) / AGES
    swings = sensor.delay_amplitude * np.sin(2 * np.pi * over)
    later = np.add.outer(sensor.jitter * over, (sensor.averaging or 0.0) * (over - 0.5))
    return section.delay + sensor.delay + np.add.outer(swings, later).ravel()


def hold_lag(loop: Loop, ages: Float[np.ndarray, "ages"], omega: float) -> float:
    """Return by how much (s) the hold delays a motion at `omega` (rad/s), positions of which are read at these `ages` (s).

    That is half its period where they are read at any time. By a clock that keeps step with the hold they are read as long
    after it each time: of a robot that follows at once the command is then whole periods old, less the age.
    """
    assert loop.hold is not None
    hold, hyperperiod = float(loop.hold), hyperperiod_of(loop)
    count = hyperperiod.samples or hyperperiod.steps
    if not count:
        return hold / 2
    read = np.subtract.outer([float(at) for at in hyperperiod.instants(count)], ages / hold).ravel()
    renewed = np.ceil(read - EDGE) - 1  # the command that is held then; one that is renewed just then comes after
    place, late, robot = np.exp(1j * omega * hold * renewed), robot_lag(loop, omega), loop.robot
    if robot is not None:
        drive, output = np.asarray(robot.input, float), np.asarray(robot.output, float)
        size = drive.shape[0]
        rates = np.block([[np.asarray(robot.state, float), drive[:, None]], [np.zeros((1, size + 1))]])
        whole = expm(rates * hold)
        resting = np.linalg.solve(np.exp(1j * omega * hold) * np.eye(size) - whole[:size, :size], whole[:size, size])
        shares, which = np.unique(read - renewed, return_inverse=True)
        moved = expm(rates * hold * shares[:, None, None])[:, :size] @ np.append(resting, 1.0)
        place = place * (moved @ output)[which]
    ahead = np.mean(place * np.exp(-1j * omega * ((read - 0.5) * hold - late)))
    return hold / 2 - float(np.angle(ahead)) / omega


def delay_restitution(budget: dict[str, float], loop: Loop) -> float | None:
    """Return the restitution of a conservative bounce under the whole delay, nothing compensated; None where software helps."""
    if loop.virtual_stiffness or loop.virtual_damping:
        return None
    whole = sum(budget.values())
    return apparent_restitution(whole, float(loop.stiffness), float(loop.effective_mass)) if whole >= 0 else None


def _stable_gains(
    scenario: Scenario, loop: Loop, law: CompensatorLaw, gains: list[float]
) -> dict[str, list[bool] | None]:
    """Tell whether the loop is stable at each of the `gains` (N s/m): exactly, and by Routh's table of the Padé polynomial.

    Exactly is by the spectral radius of the rig that is simulated, with the velocity of the complete `law` as it is
    estimated and sampled; where that is not computed, by the roots of the loop, in which an estimate counts as the robot's
    own velocity. It counts so in Routh's table, too, which knows no velocity of the model.
    """
    content = scenario.content
    source = law.source() if isinstance(law, WithVelocity) else ModelVelocity()
    small = law.make(held=True).small()
    inertia = float(small.inertia) if isinstance(small, LinearCompensator) else 0.0
    model = source.source == "model"
    with_law = replace(loop, inertia=number(inertia), velocity="model" if model else "robot")
    exact = []
    for gain in gains:
        made = rig_of(
            scenario, loop, LinearCompensator.of(source, gain=number(gain), inertia=number(inertia)), law.period
        )
        largest = radius_of_cycle_map(made, loop)
        if np.isfinite(largest):
            exact.append(largest < 1)
        else:
            exact.append(growth_rate(replace(with_law, gain=number(gain))) < 0)
    return {"exact": exact, "routh": None if model else [_routh_stable(content, with_law, gain) for gain in gains]}


def growth_rate(loop: Loop) -> float:
    """Return the growth rate (1/s) of a loop's fastest growing motion."""
    return float(loop_roots(batch_of_one(loop), 1)[0, 0].real)


def _routh_stable(content: RigContent, loop: Loop, gain: float) -> bool:
    robot = None if content.loop.robot is None else content.loop.robot.transfer()
    return routh_array(approximate_loop(loop, robot, PADE_ORDER).at(gain)).stable


def amplitude_bound(spectral_radius: float, loop: Loop, duration: float) -> float | None:
    """Return the factor by which a small motion that stays in contact can grow over a run (s)."""
    if not loop.sampled() or not np.isfinite(spectral_radius):
        return None
    assert loop.hold is not None
    cycle = float(loop.hold) * hyperperiod_of(loop).holds
    with np.errstate(over="ignore"):
        return float(np.exp(np.log(spectral_radius) * duration / cycle)) if spectral_radius > 0 else 0.0


def add_judgement(scenario: Scenario, loop: Loop, dataset: Dataset) -> Dataset:
    """Return the dataset of a run, of `loop` along the contact normal, with all of the above, as JSON, in the attribute
    `judgement`."""
    return dataset.assign_attrs(judgement=json.dumps(_judge_run(scenario, loop, dataset)))


def _judge_run(scenario: Scenario, loop: Loop, dataset: Dataset) -> dict[str, Any]:
    """Return all of the above for a run, ready for JSON; times in s."""
    content = scenario.content
    budget = delay_budget(content, loop)
    law = _law_of_run(content, dataset)
    visited = gains_visited(dataset)
    return {
        "delay_budget": budget,
        "delay_restitution": delay_restitution(budget, loop) if content.of_one_normal else None,
        "gains": visited,
        "stable": None
        if visited is None or law is None or not law.made.steady_gain or not content.of_one_normal
        else _stable_gains(scenario, loop, law, visited),
        "latches": [latch.path for latch in content.latch],
        "undamped": undamped_remark(content, content.measured_contacts()[0], float(loop.damping)),
        "amplitude_bound": amplitude_bound(float(dataset.attrs["spectral_radius"]), loop, float(dataset.time[-1])),
        "aliasing": aliasing(loop),
        "latest_s": latest_action(content),
        "sensor_error_N": _sensor_error(content, dataset),
        "comparable": hasattr(first_contact(content).normal, "stiffness"),
        "robot_gain": None if content.loop.robot is None else content.loop.robot.transfer().dc_gain(),
    }


def _law_of_run(content: RigContent, dataset: Dataset) -> CompensatorLaw | None:
    """Return the compensator's table as a run had it: what the scenario left to the tuning is in it."""
    stated = content.loop.compensator
    return None if stated is None else type(stated).model_validate(json.loads(dataset.attrs["compensator_settings"]))


def first_contact(content: RigContent) -> ContactSection:
    """Return the table of a rig's contact, the first of those in hardware where there are several."""
    return content.contacts[content.measured_contacts()[0]]


def latest_action(content: RigContent) -> float:
    """Return how long (s) a contact can act after it has ended at the robot: through the sensor, hold and dynamics."""
    loop = content.loop
    sensor, dynamics = loop.sensor or SensorSection(), loop.dynamics or DynamicsSection(method="continuous")
    periods = sensor.period, None if loop.hold is None else loop.hold.period, dynamics.period
    return float(loop.latest() + sum(period or 0.0 for period in periods))


def _sensor_error(content: RigContent, dataset: Dataset) -> float:
    """Return how far (N) a perfect loop's force may be off by its sensor alone in a run: noise, bias and resolution.

    The noise's largest of all instants, which chance exceeds in one run of a hundred.
    """
    sensor, (instants, axes) = content.loop.sensor or SensorSection(), dataset.measured_force.shape
    found = np.sqrt(axes) * (abs(sensor.bias) + sensor.resolution / 2)
    if sensor.noise:
        from scipy.special import chdtri  # which takes long to load

        found += sensor.noise * np.sqrt(chdtri(axes, CHANCE / instants))
    return float(found)


def gains_visited(dataset: Dataset) -> list[float] | None:
    """Return the lowest and the highest gain (N s/m) in contact; None where no gain acts."""
    gain = dataset.gain.values[force_is_active(vector_size(dataset.measured_force.values))]
    return [float(gain.min()), float(gain.max())] if np.any(gain) else None
