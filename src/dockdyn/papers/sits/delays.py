"""SITS, Figure 7: the undamped target in time, with no delay and under each delay alone.

Measurement delay and the robot's response are continuous and integrated by Runge and Kutta's method on a fine mesh; the
control cycle is the simulated rig of the preset without its other delays.
"""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import numpy as np

from dockdyn.deferred import Array, Float, jnp
from dockdyn.hil.robot import RobotAxes
from dockdyn.integrate.hybrid import fixed
from dockdyn.integrate.model import Model, Outputs, Rate, Scalar, State
from dockdyn.papers.reproduction import Made, Progress
from dockdyn.papers.sits import simulation_pictures as pictures
from dockdyn.papers.sits.rig import STEP, rig, root_of
from dockdyn.papers.table import Row
from dockdyn.rig.measures import at_last_peak
from dockdyn.rig.simulate import simulate_rig
from dockdyn.scenario.load import load
from dockdyn.stability import make_loop
from dockdyn.stability.loop import RobotStateSpace
from dockdyn.trees import map_leaves

SHOWN = 20.0  # s
MESH = 5e-4  # s, a quarter of the delay
SETTLED = 1.0  # s, after which only the slowest motion is left
UNDAMPED = {"contact.spring.normal.damping": 0.0, "duration": SHOWN}


class Target(Model):
    """A mass before a spring that a robot pushes in its place, the force `delay` old; all continuous (SITS, eqs. 2, 18).

    State: its place (m) and velocity (m/s), and the robot's as memory; without `robot` the mass itself touches.
    """

    delay: Scalar | None  # s
    mass: Scalar  # kg
    stiffness: Scalar  # N/m
    velocity: Scalar  # m/s, at t = 0
    robot: RobotStateSpace | None

    def initial(self) -> State:
        place = jnp.zeros(())
        if self.robot is None:
            return State(place, self.velocity, (), ())
        state, _ = RobotAxes(self.robot).follow_long(place[None], self.velocity[None], jnp.zeros(()))
        return State(place, self.velocity, (), state[0])

    def robot_rate(self, x: State) -> Array:
        """Return the rate of the robot's state."""
        assert self.robot is not None
        return self.robot.state @ x.memory + self.robot.input * x.q

    def flow(self, t: Scalar, x: State, delayed: tuple[Scalar]) -> Rate:
        return Rate(x.v, -delayed[0] / self.mass, () if self.robot is None else self.robot_rate(x))

    def outputs(self, t: Scalar, x: State) -> Outputs:
        place = x.q if self.robot is None else self.robot.output @ x.memory
        return Outputs((self.stiffness * place,), (), ())

    def jump(self, t: Scalar, x: State, fired: tuple[Array, ...]) -> State:
        return x


class Swing(NamedTuple):
    """A motion over time: s, m, m/s, and force on the target, N."""

    time: Float[np.ndarray, "time"]
    position: Float[np.ndarray, "time"]
    velocity: Float[np.ndarray, "time"]
    force: Float[np.ndarray, "time"]

    @property
    def power(self) -> Float[np.ndarray, "time"]:
        """Power of the force on the target, W."""
        return self.force * self.velocity

    def mode(self) -> complex:
        """Return the root (1/s) of the motion, which has become a single exponential oscillation.

        From three instants each a quarter of a period apart: x(t + 2n) = p x(t + n) − q x(t), by least squares.
        """
        step = self.time[1] - self.time[0]
        x = self.position[self.time >= SETTLED]
        n = round(np.pi / 2 / rig().frequency / step)
        (p, q), *_ = np.linalg.lstsq(np.stack([x[n:-n], -x[: -2 * n]], axis=1), x[2 * n :])
        root = np.log(np.roots([1, -p, q])[0].astype(complex)) / (n * step)
        return complex(root.real, abs(root.imag))

    def peaks(self) -> dict[str, float]:
        """Return the last peaks of displacement (mm), velocity (mm/s), force (N) and power (W)."""
        series = {"displacement": 1e3 * self.position, "velocity": 1e3 * self.velocity}
        series |= {"force": self.force, "power": self.power}
        return {name: at_last_peak(np.abs(values), np.abs(values), 0)[0] for name, values in series.items()}


def continuous(delay: float | None = None, robot: RobotStateSpace | None = None) -> Swing:
    """Return the target with nothing, a measurement delay (s) or a robot between it and the contact."""
    r, speed = rig(), load("sits").content.named("target").velocity
    mass, stiffness, velocity = map(jnp.asarray, (r.mass, r.stiffness, speed))
    late = None if delay is None else jnp.asarray(delay)
    return _integrate_target(Target(late, mass, stiffness, velocity, robot))


def samples(target: Target, mesh: fixed.StepMesh) -> tuple[Array, Array, Array]:
    _, found = fixed.solve_fixed(target, mesh)
    return found.state.q, found.state.v, -found.delayed[0]


def _integrate_target(target: Target) -> Swing:
    stride = round(STEP / MESH)
    mesh = fixed.StepMesh(jnp.asarray(MESH), round(SHOWN / MESH), stride, 16)
    found = map_leaves(np.asarray, eqx.filter_jit(samples)(target, mesh))
    return Swing(np.arange(len(found[0])) * STEP, *found)


def held_command() -> Swing:
    """Return the target under the control cycle alone."""
    hold = {"hold": {"period": rig().hold}}
    run = simulate_rig(load("sits", {**UNDAMPED, "loop": hold}))
    values = (run[name].values[:, 0] for name in ("position", "velocity", "total_force"))
    return Swing(run.time.values, *values)


def delays_in_time(progress: Progress) -> Made:
    """Return figure 7."""
    r = rig()
    ideal = continuous()
    found = {"measurement delay": continuous(delay=r.delay), "control cycle": held_command()}
    progress(0.6)
    found["response of the robot"] = continuous(robot=load("sits").content.loop.robot.make())
    numbers = (r.mass, r.stiffness)
    exact = {
        "measurement delay": root_of(make_loop(*numbers, delay=r.delay)),
        "control cycle": root_of(make_loop(*numbers, hold=r.hold)),
        "response of the robot": root_of(make_loop(*numbers, robot=r.robot)),
    }
    units = {"displacement": "mm", "velocity": "mm/s", "force": "N", "power": "W"}
    rows = [Row(f"no delay: peak {name}", None, value, units[name]) for name, value in ideal.peaks().items()]
    words = {
        "measurement delay": ("diverges, more than under the control cycle", ""),
        "control cycle": ("diverges", "τ_s = T_c / 2: it ties with the measurement delay, to 5e-5."),
        "response of the robot": ("diverges the slowest", "By the stand-in for the robot that is not printed."),
    }
    rows.append(Row("no delay, growth rate", "0", ideal.mode().real, "1/s"))
    for name, swing in found.items():
        root, (printed, note) = swing.mode(), words[name]
        rows.append(Row(f"{name} alone, growth rate in time", printed, root.real, "1/s", note))
        rows.append(Row(f"{name} alone, growth rate, exact", None, exact[name].real, "1/s"))
        rows.append(Row(f"{name} alone, frequency in time", None, root.imag, "rad/s"))
        rows += [
            Row(f"{name} alone: peak {what} at {SHOWN:g} s over that without delay", "> 1", peak / whole, "1")
            for (what, peak), whole in zip(swing.peaks().items(), ideal.peaks().values(), strict=True)
        ]
    progress(0.9)
    return pictures.delays({"no delay": ideal, **found}), rows
