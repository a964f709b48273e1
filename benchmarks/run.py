"""Steps per second beside a hand-written Numba kernel and MuJoCo, and error against cost. Ratios are of one process."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import dockdyn

os.environ.setdefault("NUMBA_NUM_THREADS", str(os.cpu_count()))

import equinox as eqx
import jax
import jax.numpy as jnp
import mujoco
import numba_kernel
import numpy as np

from dockdyn.backend import BACKENDS, VARIABLE
from dockdyn.integrate.hybrid import fixed, located
from dockdyn.programs import Program

STEP = 1e-3  # s
DELAY = 16e-3  # s
LANES = 1024
REPEATS = 5
SCENARIO = dockdyn.load("sazawal-spring-dashpot", {"contact.probe.friction.coefficient": 0.1, "loop.delay": DELAY})
MODEL = SCENARIO.model()


def best(work, count: float) -> float:
    """Seconds per unit of `work` when it is done in `count` units: the best of several."""
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times) / count


def backends() -> Iterator[str]:
    """Each way of compiling, while programs are compiled by it."""
    for name in BACKENDS:
        os.environ[VARIABLE] = name
        yield name
    del os.environ[VARIABLE]


def row(state) -> np.ndarray:
    """A model's state in the kernel's order."""
    parts = []
    for pose, twist in zip(state.q.roots, state.v.roots, strict=True):
        parts += [pose.position.array(), pose.attitude.array(), twist.velocity.array(), twist.rate.array()]
    return np.concatenate([*map(np.asarray, parts), [float(state.memory.work)]])


def numba_arguments():
    chaser, target = MODEL.bodies
    contact = MODEL.groups[0]
    cone, law, friction = contact.surface, contact.law, contact.friction
    angle = np.arctan2(float(cone.sine), float(cone.cosine))
    masses = [float(chaser.mass), float(target.mass)]
    pair = np.array([*contact.place, *cone.apex, angle, *masses], float)
    spring = np.array([law.stiffness, law.damping, friction.coefficient, friction.regularisation], float)
    tensors = [
        tuple(float(x) for x in np.asarray(matrix).ravel())
        for body in (chaser, target)
        for matrix in (body.inertia, body.inverse_inertia)
    ]
    return (STEP, DELAY, pair, spring, *tensors)


def mesh(steps: int) -> fixed.StepMesh:
    return fixed.StepMesh(step=jnp.asarray(STEP), steps=steps, stride=steps, line_capacity=32)


def settings(duration: float, step: float) -> located.Settings:
    return located.Settings(
        duration=jnp.asarray(duration),
        step=jnp.asarray(step),
        tolerance=jnp.asarray(jnp.inf),
        sampling=jnp.asarray(1.0),
        samples=0,
        max_moments=64,
        line_capacity=1024,
        max_iterations=jnp.asarray(1e9),
    )


def moved(model, speed):
    """The model with another closing speed: one lane of a batch."""
    return eqx.tree_at(lambda model: model.twists[0].velocity.x, model, speed)


def single() -> tuple[float, dict[str, tuple[float, float]]]:
    """Seconds a step by Numba and, by backend, with fixed steps and located."""
    steps = 100_000
    start = row(MODEL.initial())
    arguments = numba_arguments()
    numba_kernel.simulate(start.copy(), 10, *arguments)
    last = start.copy()
    numba_kernel.simulate(last, steps, *arguments)
    numba = best(lambda: numba_kernel.simulate(start.copy(), steps, *arguments), steps)
    advance, solve, chosen = (
        Program(lambda model: fixed.solve_fixed(model, mesh(steps))[0]),
        Program(located.solve_located),
        settings(40.0, 5e-3),
    )
    found = {}
    for name in backends():
        difference = np.abs(row(advance(MODEL)) - last).max()
        print(f"{name}: same states after {steps} steps, to {difference:.1e}")
        ours = best(lambda: jax.block_until_ready(advance(MODEL)), steps)
        taken = int(solve(MODEL, chosen).steps)
        for _ in range(100):  # until better machine code is written
            jax.block_until_ready(solve(MODEL, chosen))
        found[name] = ours, best(lambda: jax.block_until_ready(solve(MODEL, chosen)), taken)
    return numba, found


def batch() -> tuple[float, dict[str, tuple[float, float]]]:
    """As `single`, of a step of a lane."""
    steps = 2_000
    cores = os.cpu_count() or 1
    speeds = jnp.linspace(-0.022, -0.018, LANES)
    start = np.tile(row(MODEL.initial()), (LANES, 1))
    start[:, 7] = speeds
    arguments = numba_arguments()
    numba_kernel.simulate_batch(start.copy(), 10, *arguments)

    def compiled(run, together):
        return Program(lambda part: jax.lax.map(run, part, batch_size=together))

    parts = jnp.split(speeds, cores)
    pool = ThreadPoolExecutor(cores)

    def all_lanes(program):
        return list(pool.map(lambda part: jax.block_until_ready(program(part)), parts))

    def fixed_lane(speed):
        return fixed.solve_fixed(moved(MODEL, speed), mesh(steps))[0].memory

    def located_lane(speed):
        solution = located.solve_located(moved(MODEL, speed), settings(10.0, 5e-3))
        return solution.steps, solution.status

    numba = best(lambda: numba_kernel.simulate_batch(start.copy(), steps, *arguments), steps * LANES)
    found = {}
    for name in backends():
        fixed_program, located_program = (
            compiled(fixed_lane, 64 if name == "xla" else None),
            compiled(located_lane, None),
        )
        for _ in range(3):  # until better machine code is written
            all_lanes(fixed_program)
            taken = sum(int(count.sum()) for count, _ in all_lanes(located_program))
        ours = best(partial(all_lanes, fixed_program), steps * LANES)
        found[name] = ours, best(partial(all_lanes, located_program), taken)
    return numba, found


MUJOCO = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0" integrator="RK4"/>
  <worldbody>
    <body name="chaser" pos="0 0 0.0499">
      <freejoint/>
      <inertial pos="0 0 0.5" mass="3000" diaginertia="500 500 500"/>
      <geom type="sphere" size="0.05" solref="-1000 -200"/>
    </body>
    <body name="target">
      <freejoint/>
      <inertial pos="0 0 -1" mass="3000" diaginertia="500 500 500"/>
      <geom type="box" size="1 1 0.1" pos="0 0 -0.1" solref="-1000 -200"/>
    </body>
  </worldbody>
</mujoco>
"""


def mujoco_step() -> float:
    """Seconds a step for two free bodies in contact, a sphere pressed on a plate, by MuJoCo's own Runge–Kutta."""
    model = mujoco.MjModel.from_xml_string(MUJOCO)
    data = mujoco.MjData(model)
    steps, contacts = 50, 40

    def work():
        for _ in range(contacts):
            mujoco.mj_resetData(model, data)
            data.qvel[2] = -0.01  # m/s
            mujoco.mj_step(model, data, nstep=steps)
            assert data.ncon > 0, "the bodies must still touch"

    work()
    return best(work, steps * contacts)


def error_against_cost() -> None:
    """Error of the final state after the first contact, and the time a run takes."""
    duration = 9.0
    solve = Program(located.solve_located)
    truth = row(solve(MODEL, settings(duration, 1e-4)).state)
    print("\nerror against cost, one contact with friction and delay (largest difference of any state; time of a run)")
    for step in (15e-3, 5e-3, 2e-3, 1e-3):
        chosen = settings(duration, step)
        error = np.abs(row(solve(MODEL, chosen).state) - truth).max()
        cost = best(lambda chosen=chosen: jax.block_until_ready(solve(MODEL, chosen)), 1)
        print(f"  located {step * 1e3:5.1f} ms: error {error:.1e}, {cost * 1e3:7.2f} ms")
    for step in (5e-3, 1e-3, 2e-4, 4e-5):
        steps = round(duration / step)
        capacity = 2 ** int(np.ceil(np.log2(DELAY / step + 8)))
        mesh = fixed.StepMesh(step=jnp.asarray(duration / steps), steps=steps, stride=steps, line_capacity=capacity)
        program = Program(lambda model, mesh: fixed.solve_fixed(model, mesh)[0])
        error = np.abs(row(program(MODEL, mesh)) - truth).max()
        cost = best(lambda program=program, mesh=mesh: jax.block_until_ready(program(MODEL, mesh)), 1)
        print(f"  fixed   {step * 1e3:5.2f} ms: error {error:.1e}, {cost * 1e3:7.2f} ms")


def show(numba: float, found: dict[str, tuple[float, float]]) -> None:
    print(f"  Numba, by hand              {numba * 1e6:7.4f} us")
    for name, times in found.items():
        for way, each in zip(("fixed", "located"), times, strict=True):
            print(f"  dockdyn, {way:7}, {name:6}    {each * 1e6:7.4f} us   {numba / each:5.2f} of Numba's speed")


def main() -> None:
    print(f"{os.cpu_count()} cores; best of {REPEATS}; times of one Runge–Kutta step of one pair of bodies")
    numba, found = single()
    engine = mujoco_step()
    print("\none trajectory")
    show(numba, found)
    quick = min(times[0] for times in found.values())
    print(
        f"  MuJoCo, RK4                 {engine * 1e6:7.4f} us   dockdyn, fixed, is {engine / quick:.1f} times as fast"
    )
    print(f"\n{LANES} trajectories, all cores")
    show(*batch())
    error_against_cost()


if __name__ == "__main__":
    main()
