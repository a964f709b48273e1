"""Energy over short and long times: the variational integrator beside Runge–Kutta's method of order four."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import tomlkit
from matplotlib.figure import Figure

import dockdyn
from dockdyn.integrate.hybrid.runge_kutta import rk4_step
from dockdyn.integrate.model import Rate, State
from dockdyn.integrate.variational.mechanical import unconstrained_accelerations
from dockdyn.mechanics.retraction import retract_configuration
from dockdyn.report.drawing import COLOURS
from dockdyn.scenario.load import Scenario, parse

STEP, EXPLICIT_STEP = 0.05, 0.1 / 3  # s: a second of either takes as long to compute
SHORT, LONG = 14.0, 50_000.0  # s; a million of the longer steps
START = {"link1": 2.432, "link2": 0.3, "link3": -0.15}  # rad; the payload 4.3 m from the shoulder, which turns
RATE = 0.5  # rad/s, of the shoulder: once around in some 12 s


def arm(duration: float, interval: float) -> Scenario:
    """The arm of Gibson and Murphey without orbit, bay and control."""
    changed: dict[str, Any] = {f"body.{link}.joint.start": angle for link, angle in START.items()}
    changed |= {"body.link1.joint.start_rate": RATE, "body.station.rate": [0, 0, 0]}
    changed |= {"duration": duration, "integrator.step": STEP, "output.interval": interval}
    content = dockdyn.load("gibson-2d", changed).resolved()
    del content["orbit"], content["contact"], content["control"]
    return parse(tomlkit.dumps(content), "free arm")


def variational(duration: float, interval: float) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and relative errors of the energy."""
    run = dockdyn.simulate(arm(duration, interval))
    print(f"variational: {1e6 * float(run.wall_time_s) / int(run.steps):.2f} us a step, with all that is observed")
    energy = run.kinetic_energy.values
    return run.time.values, energy / energy[0] - 1


def explicit(duration: float, interval: float) -> tuple[np.ndarray, np.ndarray]:
    model = arm(duration, STEP).content.mechanical()
    stride, rows = round(interval / EXPLICIT_STEP), round(duration / interval)
    compiled = kept.lower(model, stride, rows).compile()
    began = time.perf_counter()
    energy = np.asarray(compiled(model))
    print(f"Runge-Kutta: {1e6 * (time.perf_counter() - began) / (stride * rows):.2f} us a step")
    return interval * np.arange(rows + 1), energy / energy[0] - 1


@partial(jax.jit, static_argnums=(1, 2))
def kept(model: Any, stride: int, rows: int) -> Any:
    """Energies (J) every so many steps; no force depends on time here."""
    q, v, mode = model.initial()
    t = jnp.zeros(())

    def rate(_: Any, at: State) -> Rate:
        turning = jax.jvp(lambda x: retract_configuration(model.attitudes, at.q, x), (jnp.zeros_like(at.v),), (at.v,))[
            1
        ]
        return Rate(turning, unconstrained_accelerations(model, t, at.q, at.v, mode), ())

    def advance(_: Any, at: State) -> State:
        return rk4_step(rate, at, jnp.asarray(EXPLICIT_STEP), rate(0.0, at))

    def row(at: State, _: None) -> tuple[State, Any]:
        return jax.lax.fori_loop(0, stride, advance, at), model.lagrangian(t, at.q, at.v, mode)

    end, energies = jax.lax.scan(row, State(q, v, mode, ()), None, length=rows)
    return jnp.append(energies, model.lagrangian(t, end.q, end.v, mode))


def energy_horizons() -> Figure:
    """The error for a turn of the arm, and for thousands."""
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    short, long = figure.subplots(1, 2)
    ways = (("variational", variational, STEP, "blue"), ("Runge–Kutta 4", explicit, EXPLICIT_STEP, "orange"))
    for name, way, step, colour in ways:
        words = f"{name}, {1000 * step:.3g} ms"
        times, errors = way(SHORT, step)
        short.semilogy(times[1:], np.abs(errors[1:]), color=COLOURS[colour], linewidth=1, label=words)
        times, errors = way(LONG, 12.5)  # s; a multiple of both steps
        long.plot(times / 3600, 1e4 * errors, color=COLOURS[colour], linewidth=0.6, label=words)
    short.set(xlabel="time, s", ylabel="|error of the energy|, relative")
    long.set(xlabel="time, h", ylabel="error of the energy, 1e-4")
    long.legend(fontsize=8, frameon=False)
    for ax in (short, long):
        ax.grid(alpha=0.3)
    return figure
