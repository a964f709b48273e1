"""Runs on a rig: one with one compensator, or lanes of many stiffnesses at once."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import numpy as np

from dockdyn.deferred import Array, Int, jnp
from dockdyn.hil.compensators.linear import LinearCompensator
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import Model, Scalar, State, over_rows
from dockdyn.integrate.solution import Status
from dockdyn.programs import Program
from dockdyn.records import record
from dockdyn.results.drive import Progress, report_while_running
from dockdyn.results.plan import jit_once, power_of_two
from dockdyn.rig.build import rig_at_rest
from dockdyn.rig.model.limits import LimitsReached
from dockdyn.rig.model.plant import Plant
from dockdyn.rig.model.rig import IdealContact, Rig, RigState
from dockdyn.rig.model.run import draw_chances, monodromy_matrix, run_cycles, spectral_radius
from dockdyn.rig.schema import MOST_EVENTS, MOST_STEPS
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.stability.loop import Loop
from dockdyn.trees import map_leaves

LONG = 256  # ticks remembered, beyond which no spectral radius is computed
KEPT = 60_000  # samples of a run at most
MOST_TICKS = 20_000_000  # of a run
Arrays = dict[str, np.ndarray]


@record
class Grid:
    """Instants of a run: those at which the compensator is asked, and those that are kept."""

    period: float  # s, between instants
    instants: int
    rows: int  # cycles or, for long runs, groups of `stride` cycles
    stride: int
    asks: int  # instants in a cycle

    @staticmethod
    def of(rig: Rig, duration: float) -> Grid:
        """Return the grid that covers a duration (s)."""
        asks = sum(rig.schedule.asks)
        cycle = float(rig.hold) * rig.schedule.hyperperiod.holds
        cycles = max(1, int(np.ceil(duration / cycle * (1 - 1e-12)))) + 1
        if cycles * rig.schedule.ticks > MOST_TICKS:
            longest = (MOST_TICKS // rig.schedule.ticks - 1) * cycle * (1 - 1e-5)  # is no less in six digits
            raise ScenarioError(
                f"duration = {duration:g} s: has {cycles * rig.schedule.ticks:.3g} instants of the loop, {cycle:g} s a cycle "
                f"of {rig.schedule.ticks}; must have at most {MOST_TICKS}: a duration of at most {longest:.6g} s"
            )
        stride = int(np.ceil(cycles * asks / KEPT)) if cycles * asks > KEPT else 1
        rows = int(np.ceil(cycles / stride))
        return Grid(cycle / asks, rows * stride * asks, rows, stride, asks)

    def kept(self) -> np.ndarray:
        """Return which instants are kept."""
        return np.arange(self.instants) if self.stride == 1 else np.arange(self.rows) * self.stride * self.asks

    def within(self, duration: float) -> np.ndarray:
        """Return those of them that a duration (s) contains."""
        kept = self.kept()
        return kept[kept * self.period <= duration * (1 + 1e-9)]


@record
class Course:
    """What a rig did, and what it would have done without loop; leading lanes where there are many."""

    time: np.ndarray  # s
    seen: Arrays  # by name, over time
    ideal: Arrays  # likewise
    wall_time: float  # s
    reached: LimitsReached | None  # likewise, without time


@partial(Program, static=("samples",))
def motion_without_rig(
    model: Model, plant: Plant, period: Scalar, tolerance: Scalar, samples: int
) -> tuple[dict[str, Array], Int[Array, ""]]:
    """Return the motion without rig at `samples` instants, a `period` (s) apart, and how its run ended.

    `tolerance` is the relative error of its steps.
    """
    settings = located.Settings(
        duration=period * (samples - 1) * (1 + 1e-12),
        step=period,
        tolerance=tolerance,
        sampling=period,
        samples=power_of_two(samples + 1),
        max_moments=MOST_EVENTS,
        line_capacity=8,
        max_iterations=jnp.asarray(MOST_STEPS + 2.0 * samples),
    )
    solution = located.solve_located(model, settings)
    assert solution.samples is not None
    states = map_leaves(lambda rows: rows[:samples], solution.samples.state)

    def look(motion: State) -> dict[str, Array]:
        pose, rate = plant.pose(motion), plant.rate(motion)
        position, velocity = plant.port(pose, rate)
        kept = motion.memory.contacts[: len(plant.first_memories())]  # those of the mock-ups are the first
        found = {
            "ideal_position": position,
            "ideal_velocity": velocity,
            "ideal_force": (plant.load(pose, rate, None, kept) + plant.virtual_load(pose, rate))[: plant.port_axes],
            "ideal_kinetic_energy": plant.kinetic_energy(motion),
        }
        return found | ({"ideal_pose": pose} if plant.axes > 1 else {})

    return over_rows(look, states), solution.status


simulated = Program(run_cycles, static=("rows", "stride"))
moves = jit_once(monodromy_matrix)


def run_with_seed(
    rig: Rig, oracle: IdealContact, seed: int, rows: int, stride: int
) -> tuple[RigState, dict[str, Array]]:
    """Return `run_cycles` with the random numbers of a seed."""
    return simulated(rig, oracle, draw_chances(rig, seed, rows, stride), rows, stride)


def cycle_map(still: Rig) -> np.ndarray:
    """Return the `monodromy_matrix` of a rig at rest."""
    return np.asarray(moves(still))


def radius_of_cycle_map(rig: Rig, loop: Loop) -> float:
    """Return spectral radius of a rig's map over a cycle, for small motions in its contact as the run begins.

    NaN where the loop remembers so many ticks that the map's eigenvalues would take longer than the run, and where the
    contact feels more than a mass, springs and dampers behind what touches, or is more than stiffness and damping along its
    normal: what sticks or creeps.
    """
    if rig.schedule.rows > LONG or not rig.plant.of_one_normal:
        return float("nan")
    compensator = LinearCompensator.of() if rig.compensator is None else rig.compensator.small()
    return spectral_radius(cycle_map(replace(rig_at_rest(rig, loop), compensator=compensator)))


def simulate_course(scenario: Scenario, rig: Rig, progress: Progress | None = None) -> Course:
    """Simulate a rig, in two pieces: of each is told that it goes on where it does long.

    Raises ScenarioError where the duration is too long, and where the motion without rig cannot be found.
    """
    content = scenario.content
    grid = Grid.of(rig, content.duration)
    if progress is not None:
        progress(0.0)
    began = time.perf_counter()
    with report_while_running(f"the motion without rig, at {grid.instants} instants,"):
        ideal, oracle = without_rig(scenario, rig, grid)
    with report_while_running(f"the motion of the rig, of {grid.instants} instants,"):
        end, shown = run_with_seed(rig, oracle, content.seed, grid.rows, grid.stride)
        seen = {name: np.asarray(values) for name, values in shown.items()}  # which waits for it
    kept = grid.within(content.duration)
    return Course(
        time=kept * grid.period,
        seen={name: values[: len(kept)] for name, values in seen.items()},
        ideal={name: np.asarray(values)[kept] for name, values in ideal.items()},
        wall_time=time.perf_counter() - began,
        reached=end.reached,
    )


def without_rig(scenario: Scenario, rig: Rig, grid: Grid) -> tuple[dict[str, Array], IdealContact]:
    """Return the motion without rig at the instants of a run; ScenarioError where it cannot be found."""
    tolerance = np.float64(scenario.content.integrator.tolerance)
    ideal, status = motion_without_rig(
        rig.plant.without_rig(), rig.plant, np.float64(grid.period), tolerance, grid.instants
    )
    refuse_without_ideal(scenario, status)
    return ideal, IdealContact(ideal["ideal_position"], ideal["ideal_force"])


def refuse_without_ideal(scenario: Scenario, status: Int[Array, "..."]) -> None:
    """Refuse what has no motion without rig to compare with."""
    bad = np.asarray(status)[np.asarray(status) != Status.FINISHED]
    if bad.size:
        reason = Status(int(np.ravel(bad)[0])).name.lower().replace("_", " ")
        raise ScenarioError(f"{scenario.name}: duration: the motion without rig does not reach its end ({reason})")
