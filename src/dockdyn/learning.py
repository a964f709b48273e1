"""Docking as a Gymnasium environment: a learning loop, or any other, gives the commands of a chaser in free flight.

Gymnasium comes with the extra `gym`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from scipy.spatial.transform import Rotation

from dockdyn.integrate.solution import Status
from dockdyn.kinds.free_flight.stepping import FlightStepper
from dockdyn.scenario.kinds import kind_named
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario, load
from dockdyn.studies.campaign.sampling import sample

Seen = Mapping[str, np.ndarray]  # of a step, by the names of results
Reward = Callable[[Seen], float]

PARTS = (  # of an observation, with the size of each
    ("port_position", 3),  # m
    ("port_velocity", 3),  # m/s
    ("port_rotation", 3),  # rad
    ("port_rate", 3),  # rad/s
    ("contact", 3),  # N
    ("captured", 1),
)
CAPTURE = 100.0  # reward of a capture


def docking_reward(seen: Seen) -> float:
    """What a step earns: 100 for a capture, else minus the distance from the port (m) and the angle from face to face (rad)."""
    if seen["captured"]:
        return CAPTURE
    return -float(np.linalg.norm(seen["port_position"]) + np.linalg.norm(seen["port_rotation"]))


class DockingEnv(gymnasium.Env):
    """A chaser before its port, which is told a force and a torque once a period.

    Action: six numbers from −1 to 1, shares of `force` (N) and `torque` (N m) along and about the chaser's own axes. What its
    wheel and thrusters cannot give of it, they do not. Observation: place and velocity of the chaser's port before the
    target's, rotation from face to face and its rate, the force of all contacts on the chaser (N, inertial axes), and whether
    it is captured. An episode ends with the capture, and is cut off at the scenario's duration. What the scenario
    has distributed is drawn at every reset. `reward` is a function of what a step of `dockdyn.stepper` sees.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        scenario: Scenario | str | Path,
        *,
        period: float | None = None,
        force: float = 10.0,
        torque: float = 10.0,
        reward: Reward = docking_reward,
    ):
        given = scenario if isinstance(scenario, Scenario) else load(scenario)
        self.scenario = kind_named(given.kind).ended_by_capture(given)
        self.simulation = FlightStepper(self.scenario, period, None)
        if "port_position" not in self.simulation.observation:
            raise ScenarioError(
                f"{given.name}: contact: none of a chaser's feature with a target's surface, so no port"
            )
        self.dispersed = given if given.dispersions else None
        self.limits, self.reward = np.repeat([force, torque], 3), reward
        size = sum(count for _, count in PARTS)
        self.action_space = spaces.Box(-1.0, 1.0, (6,), np.float32)
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode; `options` are values by dotted keys of the scenario, on top of what is drawn."""
        super().reset(seed=seed)
        values: dict[str, Any] = {}
        if self.dispersed is not None:
            drawn = sample(self.dispersed, 1, int(self.np_random.integers(2**31)), "random")
            values = dict(zip(drawn.keys, map(float, drawn.values[0]), strict=True))
        seen = self.simulation.reset(values | (options or {}))
        return self._observation(seen), {"time": float(seen["time"])}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Hold an action for one period."""
        force, torque = np.split(np.clip(np.asarray(action, float), -1.0, 1.0) * self.limits, 2)
        attitude = Rotation.from_quat(self.simulation.measured.chaser.attitude, scalar_first=True)
        seen = self.simulation.step((attitude.apply(force), torque))
        captured = bool(seen["captured"])
        failed = int(self.simulation.status) > Status.FINISHED
        over = bool(self.simulation.done) and not captured
        told = {"time": float(seen["time"]), "peak_normal_force": float(seen["peak_normal_force"].max(initial=0.0))}
        return self._observation(seen), self.reward(seen), captured or failed, over and not failed, told

    def _observation(self, seen: Seen) -> np.ndarray:
        """The parts in one row."""
        values = {**seen, "contact": seen["contact_force"].sum(axis=0)}
        return np.concatenate([np.atleast_1d(values[name]) for name, _ in PARTS]).astype(np.float32)
