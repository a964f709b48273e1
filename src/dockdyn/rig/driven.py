"""From a scenario to the two programs of a rig that is driven: its computer's cycle, and what stands for its devices."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dockdyn.deferred import Array, PyTree, jnp
from dockdyn.hil.operation import OperationState
from dockdyn.hil.sensor import Draws
from dockdyn.hil.supervisor import PLACES, Envelope, Limits
from dockdyn.hil.velocity_sources import RobotVelocity
from dockdyn.programs import Program
from dockdyn.results.driver import Laboratory
from dockdyn.rig.compensator import join_rig
from dockdyn.rig.model.delayed_reads import Ages, ages_of
from dockdyn.rig.model.driven import Driven, Driving, begin_driving, drive_cycle, driven_of, silent_inputs
from dockdyn.rig.model.halves import (
    begin_laboratory,
    carry_tick,
    laboratory_at_rest,
    laboratory_measurement,
    measure_load,
)
from dockdyn.rig.model.rig import Rig, RigState
from dockdyn.rig.model.run import draw_chances
from dockdyn.rig.numbers import number
from dockdyn.rig.run import Grid
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.rig.driven import LimitsSection
from dockdyn.translate.c_step import CStep, c_step
from dockdyn.translate.code import Untranslatable
from dockdyn.trees import leaves_of, map_leaves

if TYPE_CHECKING:
    from dockdyn.report.scene.live import LiveScene


class Chance(NamedTuple):
    """Random numbers of a cycle of the laboratory, a row a sample but for the encoders."""

    force: Any  # standard normal
    lost: Any  # 0 … 1
    jitter: Any  # 0 … 1
    encoder: Any  # standard normal


class RigDriver:
    """A rig that is driven: what a computer needs of its scenario."""

    def __init__(self, scenario: Scenario, rig: Rig):
        self.scenario, self.rig = scenario, rig

    @property
    def axes(self) -> int:
        """How many axes the robot has."""
        return self.rig.plant.axes

    @property
    def period(self) -> float:
        """The cycle (s)."""
        return float(self.rig.hold)

    def cycle(self, running: bool = False) -> CStep:
        """Return the computer's cycle as C, idle at first or, for a run in lockstep, `running` at t = 0.

        ScenarioError for a rig without limits, one that begins outside of them, and what C cannot do.
        """
        scenario, driven = self.scenario, self._driven()
        _check_start(scenario, driven)
        return _as_c(
            scenario.name, "cycle", drive_cycle, driven, _first_state(driven, running), silent_inputs(self.axes)
        )

    def _driven(self) -> Driven:
        """Return the rig with its limits, ready to be driven; ScenarioError where it has none."""
        scenario, section = self.scenario, self.scenario.content.rig
        if section.limits is None:
            raise ScenarioError(
                f"{scenario.name}: rig.limits: missing; a rig that is driven has them, as the preset epos-like-driven"
            )
        devices = {} if self.axes == 1 or section.device is None else dict(section.device)
        for role, device in devices.items():
            for words in device.missing_in_space(self.period):
                raise ScenarioError(
                    f"{scenario.name}: rig.device.{role}.{words}; a rig in space must have all axes, what is not told is zero"
                )
        duration = number(scenario.content.duration)
        return _driven(self.rig, limits_of(section.limits, self.period), number(section.settle), duration)

    def first_pose(self) -> np.ndarray:
        """Return where the robot goes when it is armed (m, rad), by axis. ScenarioError for a rig without limits."""
        return np.asarray(self._driven().start)

    def live_scene(self) -> LiveScene:
        """Return what browsers are shown while it runs. ScenarioError for a rig without limits."""
        from dockdyn.rig.live_scene import live_rig

        return live_rig(self.scenario, self.rig, self.first_pose())

    def laboratory(self, following: bool = False) -> Laboratory:
        """Return the laboratory of the scenario: robot with its lag, contact of the mock-ups, delayed sensor.

        Its robot follows the approach at t = 0, or stands where that begins. ScenarioError where the scenario has no robot,
        and for what C cannot do.
        """
        rig, name = self.rig, self.scenario.name
        if rig.robot.robot is None:
            raise ScenarioError(f"{name}: loop.robot: missing; a laboratory has a robot that takes time")
        chances = self._draw_random_numbers()
        first, later = (None, None) if chances is None else chances
        ages, begun, tells = _initial_laboratory(rig, first, following)
        given = {"command": np.zeros(self.axes), "send": np.zeros((), int)}
        given |= {} if later is None else {"chance": map_leaves(lambda rows: rows[0], later)}
        step = _as_c(name, "laboratory", _exchange_cycle, (rig, ages), begun, given)
        rows = None if later is None else {f"chance_{part}": values for part, values in later._asdict().items()}
        return Laboratory(step, {part: np.asarray(value) for part, value in tells.items()}, rows)

    def _draw_random_numbers(self) -> tuple[Chance, Chance] | None:
        """Return random numbers of a run of the scenario: before its first cycle, and in each; None for an ideal sensor.

        A cycle has those of the samples behind its start, the one at its end included.
        """
        rig, content = self.rig, self.scenario.content
        if not rig.sensor.random:
            return None
        cycles, samples = Grid.of(rig, content.duration).rows, sum(rig.schedule.samples)
        drawn, noise = draw_chances(rig, content.seed, cycles, 1)
        assert drawn is not None
        flat = map_leaves(lambda part: np.asarray(part).reshape(cycles * samples, *part.shape[3:]), drawn)
        encoder = np.zeros((cycles, rig.plant.port_axes)) if noise is None else np.asarray(noise)[:, 0, 0]
        first = Chance(flat.force[:1], flat.lost[:1], flat.jitter[:1], encoder[0])
        rest = map_leaves(lambda part: part[1 : 1 + (cycles - 1) * samples], flat)
        rest = map_leaves(lambda part: part.reshape(cycles - 1, samples, *part.shape[1:]), rest)
        return first, Chance(rest.force, rest.lost, rest.jitter, encoder[1:])


def driver_of(scenario: Scenario) -> RigDriver:
    """Return the rig of a scenario, if a computer can drive it: one period, nothing that only a simulation knows.

    ScenarioError, in words, where it cannot.
    """
    rig = join_rig(scenario).rig
    check_driven(scenario.name, rig, scenario.content.rig.limits is not None)
    return RigDriver(scenario, rig)


def check_driven(name: str, rig: Rig, limited: bool = True) -> None:
    """Refuse what no rig has: raises ScenarioError for several periods, and for what only a simulation knows."""
    if not rig.schedule.hyperperiod.steps:
        missing = f'loop.dynamics.period = "{1e3 * float(rig.hold):g} ms", the cycle'
        missing += "" if limited else ", and [rig.limits]"
        raise ScenarioError(
            f"{name}: loop.dynamics: continuous; a rig that is driven steps: state {missing}; the preset epos-like-driven "
            "has all that is needed"
        )
    if (asks := sum(rig.schedule.asks)) > 1 or sum(rig.schedule.holds) > 1:
        raise ScenarioError(
            f"{name}: loop: dynamics and compensator have {asks} instants in {sum(rig.schedule.holds)} periods of the hold; "
            "a rig that is driven has one cycle: state the same period for all three"
        )
    if rig.compensator is not None and rig.compensator.oracle:
        words = "needs the motion without rig, which only a simulation has, and cannot drive a rig; choose another law"
        raise ScenarioError(f"{name}: loop.compensator: {words}")
    parts = leaves_of(rig.compensator, is_leaf=lambda part: isinstance(part, RobotVelocity))
    if any(isinstance(part, RobotVelocity) for part in parts):
        raise ScenarioError(
            f"{name}: loop.compensator.velocity = 'robot': no rig measures it; must be 'model', 'tracking-differentiator' "
            "or 'filtered-difference'"
        )


def _axis_envelope(*given: Any) -> Envelope:  # noqa: ANN401, numbers of a table that is checked
    """Return what axes of one unit may do, from plain numbers."""
    return Envelope(*(number(each) for each in given))


def limits_of(section: LimitsSection, period: float) -> Limits:
    """Return the limits of a table, on a rig with this cycle (s)."""

    def cycles(time: float) -> Any:  # noqa: ANN401, as `number`
        return np.asarray(int(np.ceil(time / period * (1 - 1e-9))))

    def count(value: int | None) -> Any:  # noqa: ANN401, as `number`
        return None if value is None else np.asarray(value)

    places = _axis_envelope(section.lowest, section.highest, section.speed, section.acceleration, section.tracking)
    turns = None
    if section.turn is not None:
        lowest, highest = [-section.turn] * PLACES, [section.turn] * PLACES
        rates = (section.turning_speed, section.turning_acceleration, section.tracking_turn)
        turns = _axis_envelope(lowest, highest, *rates)
    return Limits(
        places=places,
        turns=turns,
        force=number(section.force),
        torque=number(section.torque),
        saturation=number(section.saturation),
        sensor_silence=cycles(section.sensor_silence),
        sensor_frozen=count(section.sensor_frozen),
        robot_silence=cycles(section.robot_silence),
        late=count(section.late_cycles),
        injected_energy=number(section.injected_energy),
        passivity=number(section.passivity),
    )


_driven = Program(driven_of)


@partial(Program, static=("running",))
def _first_state(driven: Driven, running: bool) -> Driving:
    """Return a cycle's first state: idle, or running at t = 0 already."""
    begun = begin_driving(driven)
    if not running:
        return begun
    sent = driven.start + driven.rate * driven.rig.hold * ((driven.ramp + 1) / 2 + driven.settle)
    return begun._replace(
        state=jnp.asarray(int(OperationState.RUNNING)), ran=driven.ramp + driven.settle, sent=sent, rate=driven.rate
    )


UNITS = (("mm", 1e3), ("deg", 180 / np.pi))  # of places and turns, as people read them


def _check_start(scenario: Scenario, driven: Driven) -> None:
    """Refuse a run that begins outside of its limits, or faster."""
    name, settle = f"{scenario.name}: rig.limits", scenario.content.rig.settle
    axes = scenario.content.rig.limits.lowest
    starts, rates = driven.limits.parts(driven.start), driven.limits.parts(driven.rate)
    for (unit, scale), (envelope, start), (_, rate) in zip(UNITS, starts, rates, strict=False):
        fast, most = f"{scale * float(np.linalg.norm(rate)):.4g} {unit}/s", scale * float(envelope.speed)
        low, place, high = (np.broadcast_to(each, start.shape) for each in (envelope.lowest, start, envelope.highest))
        for axis in np.flatnonzero((place < low) | (place > high))[:1]:
            below = place[axis] < low[axis]
            key = "turn" if unit == "deg" else "lowest" if below else "highest"
            along = "" if len(axes) == 1 else f" along {'xyz'[axis]}"
            limit = f"{scale * (low if below else high)[axis]:g} {unit}"
            raise ScenarioError(
                f"{name}.{key} = {limit}: the run begins at {scale * place[axis]:.4g} {unit}{along}, before its start by what "
                f"it goes at {fast} in rig.settle = {settle:g} s and coming up to that; widen the limit or shorten rig.settle"
            )
        if np.linalg.norm(rate) > envelope.speed:
            key = "turning_speed" if unit == "deg" else "speed"
            raise ScenarioError(f"{name}.{key} = {most:g} {unit}/s: the approach is at {fast}; must be at least that")


def _noise_of_sample(chance: Chance | None, sample: int) -> Draws | None:
    """Return the random numbers of a sample; those of where the force was measured are not told."""
    if chance is None:
        return None
    force = chance.force[sample]
    return Draws(force, jnp.zeros_like(force), chance.jitter[sample], chance.lost[sample])


def _exchange_cycle(
    parameters: tuple[Rig, Ages], laboratory: RigState, given: dict[str, PyTree]
) -> tuple[RigState, dict[str, Array]]:
    """Return a cycle of the laboratory: its robot is told a command, then a cycle later the sensor and the encoders tell."""
    rig, ages = parameters
    chance: Chance | None = given.get("chance")
    last = rig.robot.command(laboratory.past[0])
    command = jnp.where(given["send"] != 0, given["command"], laboratory.pending[0][0] if rig.applies_after else last)
    pending, command, _ = rig.advance_queue(laboratory.pending, command, jnp.zeros_like(command))
    laboratory = laboratory._replace(pending=pending)
    sample = 0
    for samples in (*rig.schedule.samples[1:], True):
        laboratory = carry_tick(rig, ages, laboratory, command)
        if samples:
            laboratory = measure_load(rig, ages, laboratory, _noise_of_sample(chance, sample))
            sample += 1
    return laboratory, laboratory_measurement(
        rig, ages, laboratory, None if chance is None else chance.encoder
    )._asdict()


@partial(Program, static=("following",))
def _initial_laboratory(rig: Rig, chance: Chance | None, following: bool) -> tuple[Ages, RigState, dict[str, Array]]:
    """Return a laboratory at t = 0, its robot following the approach or at rest where that is, and what it tells first."""
    ages = ages_of(rig)
    pose = rig.plant.pose(rig.plant.initial())
    begun = begin_laboratory(rig) if following else laboratory_at_rest(rig, pose)
    begun = measure_load(rig, ages, begun, _noise_of_sample(chance, 0))
    return ages, begun, laboratory_measurement(rig, ages, begun, None if chance is None else chance.encoder)._asdict()


def _as_c(scenario: str, name: str, step: Any, parameters: PyTree, state: PyTree, given: PyTree) -> CStep:  # noqa: ANN401
    """Return a step as C; ScenarioError where it cannot be one."""
    try:
        return c_step(name, step, parameters, state, given)
    except Untranslatable as error:
        raise ScenarioError(f"{scenario}: the rig cannot be driven: {error}, which has no word in C") from None
