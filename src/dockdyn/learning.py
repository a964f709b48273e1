"""Docking as a Gymnasium environment: a learning loop, or any other, gives the commands of a chaser.

Gymnasium comes with the extra `gym`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from scipy.spatial.transform import Rotation

from dockdyn.api import stepper
from dockdyn.docking.stepping import MechanismStepper
from dockdyn.integrate.solution import Status
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.language.given import number_from, table_from
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.scenario.setups import setup_named
from dockdyn.studies.cases.sampling import sample

Seen = Mapping[str, np.ndarray]  # of a step, by the names of results, perhaps with a leading axis
Reward = Callable[[Seen], Any]  # a number, or one for each run
Info = dict[str, Any]

PARTS = (  # of an observation, with the size of each, the least and the greatest that it can be
    ("port_position", 3, -np.inf, np.inf),  # m
    ("port_velocity", 3, -np.inf, np.inf),  # m/s
    ("port_rotation", 3, -math.pi, math.pi),  # rad, a rotation vector of the shorter way
    ("port_rate", 3, -np.inf, np.inf),  # rad/s
    ("contact", 3, -np.inf, np.inf),  # N
    ("captured", 1, 0.0, 1.0),
)
NAME = "dockdyn/Docking-v0"  # among Gymnasium's environments
CAPTURE = 100.0  # reward of a capture
FORCE, TORQUE = 10.0, 10.0  # N and N m: what an action of 1 is, where nothing else is said


def docking_reward(seen: Seen) -> np.ndarray:
    """Return what a step earns: 100 for a capture, else minus the distance from the port (m) and the angle from face to face
    (rad)."""
    off = sum(np.linalg.norm(seen[name], axis=-1) for name in ("port_position", "port_rotation"))
    return np.where(seen["captured"], CAPTURE, -off)


class Docking:
    """What environments of one docking and of many share: the scenario, its stepper, what actions and observations are."""

    def __init__(
        self,
        scenario: Scenario | str | Path,
        period: float | str | None,
        batch: int | None,
        force: float | str,
        torque: float | str,
        reward: Reward,
    ):
        given = scenario_from(scenario)
        self.scenario = setup_named(given.setup).ended_by_capture(given)
        simulation = stepper(self.scenario, period=period, batch=batch)
        if not isinstance(simulation, MechanismStepper):
            raise ScenarioError(f"{given.name}: rig: a rig has no chaser that is commanded")
        if "port_position" not in simulation.observation:
            raise ScenarioError(f"{given.name}: no port: needs an [approach] of the body that is commanded")
        self.simulation, self.reward = simulation, reward
        self.dispersed = given if given.dispersions else None
        scales = [
            number_from("force", force, "N", "a force", least=0),
            number_from("torque", torque, "N*m", "a torque", least=0),
        ]
        self.limits = np.repeat(scales, 3)
        least, greatest = (np.repeat([part[at] for part in PARTS], [part[1] for part in PARTS]) for at in (2, 3))
        self.actions = spaces.Box(-1.0, 1.0, (6,), np.float32)
        self.observations = spaces.Box(least.astype(np.float32), greatest.astype(np.float32), dtype=np.float32)

    def draw_values(self, generator: np.random.Generator, options: Mapping[str, Any] | None) -> Info:
        """Return values of what the scenario has distributed, and the `options` on top of them."""
        if options is not None:
            table_from("options", options, "a mapping from dotted keys to values")
        if self.dispersed is None:
            return dict(options or {})
        found = sample(self.dispersed, 1, int(generator.integers(2**31)), "random")
        return dict(zip(found.keys, map(float, found.values[0]), strict=True)) | dict(options or {})

    def act(self, action: np.ndarray) -> Seen:
        """Hold an action, or one for each run, for one period."""
        runs = self.simulation.runs
        shares = runs.plain(runs.for_each("action", action, self.limits.shape))
        force, torque = np.split(np.clip(shares, -1.0, 1.0) * self.limits, 2, axis=-1)
        turn = Rotation.from_quat(self.simulation.measured.chaser.attitude, scalar_first=True)
        return self.simulation.step((turn.apply(force), torque))

    def observation(self, seen: Seen) -> np.ndarray:
        """Return the parts in one row, or a row for each run."""
        values = {**seen, "contact": seen["contact_load"], "captured": seen["captured"][..., None]}
        return np.concatenate([values[name] for name, *_ in PARTS], axis=-1).astype(np.float32)

    def ends(self, seen: Seen) -> tuple[np.ndarray, np.ndarray]:
        """Return whether episodes are terminated, by a capture or a run that cannot go on, and whether they are cut off in
        time."""
        terminated = seen["captured"] | (self.simulation.status > Status.FINISHED)
        return terminated, self.simulation.done & ~terminated

    def further_info(self, seen: Seen) -> Info:
        """Return what else there is to know."""
        return {"time": seen["time"], "peak_force": seen["peak_force"].max(axis=-1, initial=0.0)}


class DockingEnv(gymnasium.Env):
    """A chaser before its port, which is told a force and a torque once a period.

    Action: six numbers from −1 to 1, shares of `force` (10 N by default) and `torque` (10 N m) along and about the chaser's
    own axes; both may be given with a unit. What its wheel and thrusters cannot give of it, they do not. Observation: place
    and velocity of the chaser's port before the target's, rotation from face to face and its rate, the force of all
    contacts on the chaser (N, inertial axes), and whether it is captured. An episode ends with the capture, and is cut off
    at the scenario's duration. What the scenario has distributed is drawn at every reset. `reward` is a function of what a
    step of `dockdyn.stepper` sees.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        scenario: Scenario | str | Path,
        *,
        period: float | str | None = None,
        force: float | str = FORCE,
        torque: float | str = TORQUE,
        reward: Reward = docking_reward,
    ):
        self.docking = Docking(scenario, period, None, force, torque, reward)
        self.action_space, self.observation_space = self.docking.actions, self.docking.observations
        given = {"scenario": scenario, "period": period, "force": force, "torque": torque, "reward": reward}
        self.spec = replace(gymnasium.spec(NAME), kwargs=given)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[np.ndarray, Info]:
        """Begin an episode; `options` are values by dotted keys of the scenario, on top of what is drawn."""
        super().reset(seed=seed)
        docking = self.docking
        seen = docking.simulation.reset(docking.draw_values(self.np_random, options))
        return docking.observation(seen), docking.further_info(seen)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, Info]:
        """Hold an action for one period."""
        docking = self.docking
        seen = docking.act(action)
        terminated, truncated = docking.ends(seen)
        reward = float(docking.reward(seen))
        return docking.observation(seen), reward, bool(terminated), bool(truncated), docking.further_info(seen)


class DockingVectorEnv(VectorEnv):
    """`num_envs` of `DockingEnv` that go on side by side in one call of machine code.

    An episode that has ended begins again with the next step, whose action it does not take. `reward` gives a number
    for each; `force` and `torque` are what an action of 1 is, 10 N and 10 N m by default.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        scenario: Scenario | str | Path,
        num_envs: int,
        *,
        period: float | str | None = None,
        force: float | str = FORCE,
        torque: float | str = TORQUE,
        reward: Reward = docking_reward,
    ):
        self.docking, self.num_envs = Docking(scenario, period, num_envs, force, torque, reward), num_envs
        self.single_action_space, self.single_observation_space = self.docking.actions, self.docking.observations
        self.action_space, self.observation_space = (
            batch_space(space, num_envs) for space in (self.single_action_space, self.single_observation_space)
        )
        self.over = np.zeros(num_envs, bool)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[np.ndarray, Info]:
        """Begin all episodes; `options` as of `DockingEnv.reset`."""
        super().reset(seed=seed)
        self.over = np.zeros(self.num_envs, bool)
        seen = self.docking.simulation.reset(self._draw_all(options))
        return self.docking.observation(seen), self.docking.further_info(seen)

    def _draw_all(self, options: Info | None = None) -> list[Info]:
        """Return values for each of the runs."""
        return [self.docking.draw_values(self.np_random, options) for _ in range(self.num_envs)]

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Info]:
        """Hold an action for each for one period; those that were over begin again."""
        docking, again = self.docking, self.over
        seen = docking.act(actions)
        terminated, truncated = docking.ends(seen)
        reward = np.array(docking.reward(seen), float)
        if again.any():
            seen = docking.simulation.reset(self._draw_all(), only=again)
            reward[again], terminated[again], truncated[again] = 0.0, False, False
        self.over = terminated | truncated
        return docking.observation(seen), reward, terminated, truncated, docking.further_info(seen)


gymnasium.register(
    NAME, entry_point="dockdyn.learning:DockingEnv", vector_entry_point="dockdyn.learning:DockingVectorEnv"
)
