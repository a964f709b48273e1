"""A run of the kind `berthing`: the impact, the motion after it, its dataset and summary."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from dockdyn.impact.laws import resolve
from dockdyn.integrate import adaptive
from dockdyn.models.berthing import HOLDS, observe
from dockdyn.scenario.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.study.berthing_control import control_attributes, control_warnings, detumbling, settling
from dockdyn.study.measures import drift, number
from dockdyn.study.plan import MOST_ROWS, jit_once

SAMPLES = 1000  # over a run, when the scenario does not say
PIECES = 20  # a run is integrated in, between which progress is told

# name: (dimensions after time, units, long name)
VARIABLES: dict[str, tuple[tuple[str, ...], str, str]] = {
    "joint_angle": (("joint",), "rad", "joint angle"),
    "coordinate_rate": (("coordinate",), "SI", "velocity of the chaser, by coordinate: m/s, rad/s, 1/s of modes"),
    "target_coordinate_rate": (("target_coordinate",), "SI", "velocity of the target, by coordinate"),
    "base_position": (("system", "axis"), "m", "position of the base, inertial"),
    "base_attitude": (("system", "quaternion"), "1", "attitude of the base, body to inertial, scalar first"),
    "modal_coordinate": (("mode",), "SI", "modal coordinate"),
    "outline": (("system", "frame", "axis"), "m", "origins of link frames in the order of the tree, inertial"),
    "tip_deflection": (("link",), "m", "deflection of a link's end across it"),
    "hold_force": (("axis",), "N", "force that holds chaser and target together, on the chaser, inertial"),
    "torque": (("coordinate",), "N m", "torque of control"),
    "kinetic_energy": ((), "J", "kinetic energy of both"),
    "potential_energy": ((), "J", "energy of bent links and joint springs"),
    "work": ((), "J", "work of control since the impact"),
    "wheel_torque": (("axis",), "N m", "torque of the wheel on the base, base axes"),
    "wheel_momentum": (("axis",), "N m s", "angular momentum of the base's wheel, base axes"),
    "thruster_force": (("axis",), "N", "force of thrusters on the base, base axes"),
    "thruster_torque": (("axis",), "N m", "torque of thrusters on the base, base axes"),
    "thruster_impulse": (("axis",), "N s", "impulse of thrusters, inertial"),
    "thruster_turning_impulse": (("axis",), "N m s", "angular impulse of thrusters about the inertial origin"),
    "thruster_use": (("use",), "SI", "what thrusters have given, by size over the base's axes: N s, N m s"),
    "spin_momentum": (("axis",), "N m s", "angular momentum of both about their centre of mass, without the wheel's"),
    "linear_momentum": (("axis",), "N s", "linear momentum of both, inertial"),
    "angular_momentum": (("axis",), "N m s", "angular momentum of both and the wheel about the inertial origin"),
    "linear_momentum_scale": ((), "N s", "sum of both linear momenta by magnitude"),
    "angular_momentum_scale": ((), "N m s", "sum of both angular momenta and the wheel's by magnitude"),
}


@jit_once
def strike(content: Any) -> Any:
    """What the impact did, and the state just after."""
    model = content.model()
    return model.struck(), model.initial()


@jit_once
def meet(content: Any) -> tuple[Any, Any]:
    found = content.model().approach()
    return found.matrix, found.rows @ found.velocities


def check_impact(scenario: Scenario) -> None:
    """Refuses, with numbers at hand, what the impact law cannot do."""
    law = scenario.content.impact.make()
    try:
        resolve(law.name, *meet(scenario.content), **law.parameters)
    except ValueError as error:
        raise ScenarioError(f"{scenario.name}: impact: {error}") from None


@jit_once
def regulate(content: Any) -> Any:
    model = content.uncontrolled()
    return content.control.design(model, content.control.columns(model, *content.joints()))


def with_gain(scenario: Scenario) -> Any:
    """The content of a scenario; a regulator's gain made once, so that what is compiled later takes it as numbers."""
    content = scenario.content
    if content.control.law != "lqr":
        return content
    if content.control.gain is not None:
        given = [len(row) for row in content.control.gain]
        rows, columns = content.gain_size()
        if given != [columns] * rows:
            counts = str(max(given)) if len(set(given)) == 1 else "unequal"
            words = f"has {len(given)} × {counts} numbers; must have {rows} × {columns}"
            raise ScenarioError(f"{scenario.name}: control.gain: {words}")
        return content
    made = jax.tree.map(np.asarray, regulate(content))
    gain = made.gain
    if not np.isfinite(gain).all() or np.linalg.eigvals(made.plant.a - made.plant.b @ gain).real.max() >= 0:
        raise ScenarioError(f"{scenario.name}: control.law: lqr: its Riccati equation has no stabilising solution")
    return content.model_copy(update={"control": content.control.model_copy(update={"gain": gain})})


@jax.jit
def advance(content: Any, state: Any, times: Any, tolerance: Any) -> Any:
    return adaptive.solve(content.model(), times, tolerance, state, content.integrator.method)


@jit_once
def look(content: Any, states: Any) -> Any:
    model = content.model()
    return jax.vmap(lambda x: observe(model, x))(states)


def simulate_berthing(scenario: Scenario, progress: Callable[[float], None] | None = None) -> xr.Dataset:
    """Run a scenario of kind `berthing`; what `simulate` returns."""
    began = time.perf_counter()
    content = scenario.content
    interval = content.output.interval or content.duration / SAMPLES
    count = int(content.duration / interval * (1 + 1e-12))
    if not 1 <= count <= MOST_ROWS:
        raise ScenarioError(f"output.interval = {interval} s: gives {count} samples; must give 1 to {MOST_ROWS}")
    content = with_gain(scenario)
    check_impact(scenario)
    struck, state = strike(content)
    rows = -(-count // PIECES)
    kept, steps, rejected, finished = [jax.tree.map(lambda a: np.asarray(a)[None], state)], 0, 0, True
    for piece in range(PIECES):
        first = piece * rows
        if first >= count or not finished:
            break
        # pieces of one length, so that one compilation serves; what lies beyond the end is cut off
        times = interval * (first + jnp.arange(rows + 1, dtype=float))
        found = advance(content, state, times, jnp.asarray(content.integrator.tolerance))
        part = jax.tree.map(lambda a: np.asarray(a)[1:], found.states)
        steps, rejected = steps + int(found.steps), rejected + int(found.rejected)
        good = np.isfinite(np.concatenate([leaf.reshape(rows, -1) for leaf in jax.tree.leaves(part)], axis=1)).all(
            axis=1
        )
        finished = bool(good.all())
        stop = rows if finished else int(np.argmin(good))
        kept.append(jax.tree.map(lambda a, stop=stop: a[:stop], part))
        state = jax.tree.map(lambda a: a[-1], found.states)
        if progress is not None:
            progress(min(1.0, (first + rows) / count))
    states = jax.tree.map(lambda *parts: np.concatenate(parts)[: count + 1], *kept)
    return dataset_of(scenario, content, struck, states, interval, (steps, rejected, finished), began)


def dataset_of(
    scenario: Scenario,
    content: Any,
    struck: Any,
    states: Any,
    interval: float,
    done: tuple[int, int, bool],
    began: float,
) -> xr.Dataset:
    """The dataset of a run."""
    model = content.model()
    seen = jax.tree.map(np.asarray, look(content, states))
    chaser, target = (side.tree for side in model.sides)
    names = chaser.names()
    samples = len(seen["work"])
    data = {
        name: (("time", *dims), seen[name], {"units": u, "long_name": w}) for name, (dims, u, w) in VARIABLES.items()
    }
    impact = struck.impact
    rows = ["normal", "tangent", "moment"] if model.planar else ["normal", "tangent 1", "tangent 2", *("moment",) * 3]
    before = [np.asarray(side.velocities) for side in model.sides]
    for name, value, units, words in (
        (
            "impact_energy_loss",
            impact.energy_loss + struck.lock_loss,
            "J",
            "energy that the impact took, locks included",
        ),
        ("lock_energy_loss", struck.lock_loss, "J", "energy that locking joints before it took"),
        ("newton", impact.newton, "1", "Newton's coefficient of restitution that came out"),
        ("poisson", impact.poisson, "1", "Poisson's coefficient of restitution that came out"),
        ("energetic", impact.energetic, "1", "energetic coefficient of restitution that came out"),
        ("sticks", float(impact.stick), "1", "whether the contact sticks at the end of the impact"),
        ("energy_created", float(impact.energy_created), "1", "whether the impact created energy"),
    ):
        data[name] = ((), float(value), {"units": units, "long_name": words})
    size = len(impact.impulse)
    data["impulse"] = (("row",), np.asarray(impact.impulse), {"units": "N s", "long_name": "impulse on the chaser"})
    data["coordinate_rate_before"] = (
        ("coordinate",),
        before[0],
        {"units": "SI", "long_name": "velocity of the chaser before"},
    )
    data["target_coordinate_rate_before"] = (
        ("target_coordinate",),
        before[1],
        {"units": "SI", "long_name": "velocity of the target before"},
    )
    steps, rejected, finished = done
    status = "finished" if finished else f"stopped at t = {(samples - 1) * interval:.6g} s: a state is not finite"
    coordinates = {
        "time": ("time", interval * np.arange(samples), {"units": "s", "long_name": "time since the impact"}),
        "joint": [names[column] for column in chaser.joint_columns()],
        "coordinate": names,
        "target_coordinate": target.names(),
        "mode": names[len(names) - seen["modal_coordinate"].shape[1] :],
        "link": list(chaser.layout.names),
        "system": ["chaser", "target"],
        "use": ["impulse", "angular impulse"],
        "axis": ["x", "y", "z"],
        "quaternion": ["w", "x", "y", "z"],
        "row": rows[:size],
    }
    damped = any(link.damping for link in content.chaser.link) or any(
        link.beam is not None and link.beam.damping for link in [*content.chaser.link, *content.target.link]
    )
    attributes = {
        "kind": scenario.kind,
        "title": scenario.title,
        "scenario": scenario.text(),
        "dockdyn_version": version("dockdyn"),
        "status": status,
        "finished": int(finished),
        "integrator": content.integrator.method,
        "tolerance": content.integrator.tolerance,
        "steps": steps,
        "rejected": rejected,
        "law": content.impact.law,
        "joined": int(model.law.name in HOLDS),
        **control_attributes(content.control),
        "undamped": int(not damped),
        "wall_time_s": time.perf_counter() - began,
    }
    return xr.Dataset(data, coordinates, attributes)


def summarise_berthing(dataset: xr.Dataset) -> dict[str, Any]:
    """The impact, peak deflections, settling, errors of conserved quantities."""
    impulse = dataset.impulse.values
    tangents = impulse[1 : 2 if dataset.sizes["target_coordinate"] == 3 else 3]
    energy = dataset.kinetic_energy + dataset.potential_energy - dataset.work
    after = {
        str(name): float(v)
        for name, v in zip(dataset.coordinate.values, dataset.coordinate_rate.values[0], strict=True)
    }
    after |= {
        f"target.{name}": float(v)
        for name, v in zip(dataset.target_coordinate.values, dataset.target_coordinate_rate.values[0], strict=True)
    }
    joined, controlled = bool(dataset.attrs["joined"]), bool(dataset.attrs["controlled"])
    impact = {
        "time_s": 0.0,
        "law": str(dataset.attrs["law"]),
        "impulse_N_s": {"normal": float(impulse[0]), "tangential": float(np.linalg.norm(tangents))},
        "energy_loss_J": float(dataset.impact_energy_loss),
        "energy_created": bool(dataset.energy_created),
        "stick": bool(dataset.sticks),
        "restitution": {name: number(dataset[name]) for name in ("newton", "poisson", "energetic")},
        "post_impact_velocities": after,
    }
    peaks = dataset.tip_deflection.max("time")
    flexible = {str(m).split(".")[0] for m in dataset.mode.values}
    return {
        "kind": dataset.attrs["kind"],
        "title": dataset.attrs["title"],
        "status": dataset.attrs["status"],
        "contacts": [],
        "impacts": [impact],
        "captured": joined,
        "capture_time_s": 0.0 if joined else None,
        "kinetic_energy_start_J": float(dataset.kinetic_energy[0]) + float(dataset.impact_energy_loss),
        "linear_momentum_error": drift(
            dataset.linear_momentum - dataset.thruster_impulse, dataset.linear_momentum_scale
        ),
        "angular_momentum_error": drift(
            dataset.angular_momentum - dataset.thruster_turning_impulse, dataset.angular_momentum_scale
        ),
        "energy_error": float(abs(energy - energy[0]).max() / dataset.kinetic_energy.max())
        if dataset.attrs["undamped"]
        else None,
        "peak_tip_deflection_m": {str(n): float(peaks.sel(link=n)) for n in dataset.link.values if str(n) in flexible},
        "settling_time_s": settling(dataset) if controlled else None,
        **detumbling(dataset),
        "warnings": warnings(dataset),
        "integrator": dataset.attrs["integrator"],
        "steps": int(dataset.attrs["steps"]),
        "end_time_s": float(dataset.time[-1]),
        "wall_time_s": float(dataset.attrs["wall_time_s"]),
    }


def warnings(dataset: xr.Dataset) -> list[str]:
    """What the reader should know before trusting the numbers."""
    found = []
    if not dataset.attrs["finished"]:
        found.append(str(dataset.attrs["status"]))
    if bool(dataset.energy_created):
        found.append("the impact law created energy")
    if dataset.sizes["mode"]:
        found.append("the impulse of a single impact of flexible links depends on the number of modes (flexible.modes)")
    return found + control_warnings(dataset)
