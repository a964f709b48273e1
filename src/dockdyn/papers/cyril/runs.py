"""Motions after the impact, of Cyril et al.: the runs that figures and rows share, and what is measured on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import xarray as xr

from dockdyn import simulate
from dockdyn.papers.cyril.meeting import CASES, HAND, LINKS, TIP, WRIST, meet, of_law, with_modes
from dockdyn.scenario.load import load

RIGID = with_modes(0)
PAIRS = {8: (0.5, 0.5), 9: (0.5, 0.8), 10: (0.2, 0.5)}  # (r_E, r_f) by figure
ELASTIC = (0.0, 0.0)
SHARES = (1.0, 0.75, 0.5, 0.25, 0.0)  # r_E = r_f, from plastic to elastic
SAMPLES = 4000  # of the runs under control: as many of each, so that they share what is compiled

# scheme: stiffness (N m/rad) and damping (N m s/rad) of base, shoulder, elbow, wrist; duration (s)
SCHEMES: dict[str, tuple[list[float], list[float], float]] = {
    "none": ([0, 0, 0, 0], [0, 0, 0, 0], 120),
    "joint PD + wheel": ([1000, 200, 200, 20], [9000, 3000, 2000, 150], 320),
    "rate damping + wheel": ([1000, 0, 0, 0], [9000, 1500, 800, 80], 120),
    "rate damping, no wheel": ([0, 0, 0, 0], [0, 1500, 800, 80], 120),
}
JOINTS_REST, BASE_REST, TIP_REST = 0.05, 0.05, 10.0  # deg/s, deg, mm: below this counts as at rest


def run(preset: str, changes: dict[str, Any]) -> xr.Dataset:
    """Return a preset with changes, its arm's deflections with their sign added, and what locking took before the impact."""
    scenario = load(preset, changes)
    dataset = simulate(scenario)
    content = scenario.content
    names, values = [], []
    for name in LINKS:
        beam = content.named(name).flexible
        names.append(name)
        # m per unit of each modal coordinate, along y; none without modes
        shift = np.asarray(beam.beam().shapes(np.asarray(1.0)).shift)[1]
        own = [f"{name} {mode}" for mode in beam.mode_names()]
        bent = dataset.modal_coordinate.sel(mode=own).values if own else np.zeros((dataset.sizes["time"], 0))
        values.append(bent @ shift)
    attributes = {"units": "m", "long_name": "deflection of a link's end along its y axis"}
    return dataset.assign_coords(beam=names).assign(
        signed_deflection=(("time", "beam"), np.stack(values, axis=1), attributes),
        lock_loss=(
            (),
            float(meet(preset, changes).approach.lock_loss),
            {"units": "J", "long_name": "taken by locking"},
        ),
    )


@lru_cache(maxsize=1)
def plastic_capture() -> xr.Dataset:
    """Return the plastic capture: a weld, wrist free, normal along −y."""
    return run("cyril-plastic", {})


@lru_cache(maxsize=1)
def captured_rigid() -> xr.Dataset:
    return run("cyril-plastic", RIGID)


@lru_cache(maxsize=1)
def captured_locked() -> xr.Dataset:
    return run("cyril-plastic", WRIST)


@lru_cache(maxsize=len(PAIRS) + len(SHARES))
def rebound(energy_ratio: float, friction_ratio: float) -> xr.Dataset:
    """Return wrist locked, normal against the hand, by the ratios of energy loss and friction impulse."""
    changes = {
        "contact.hand-on-payload.impact.energy_ratio": energy_ratio,
        "contact.hand-on-payload.impact.friction_ratio": friction_ratio,
    }
    impact = of_law(meet(*CASES[HAND]), "energy-pair", energy_ratio=energy_ratio, friction_ratio=friction_ratio)
    words = {"units": "N s", "long_name": "impulse on the hand, along the normal and across it"}
    found = run("cyril-r-e-r-f", changes).assign(impulse=(("row",), np.asarray(impact.impulse), words))
    return found.assign(newton=((), float(impact.newton), {"units": "1", "long_name": "Newton's coefficient"}))


@lru_cache(maxsize=len(SCHEMES))
def controlled_capture(scheme: str) -> xr.Dataset:
    """Return the plastic capture, then control. Rate damping is joint PD without stiffness, so that all schemes are one
    structure."""
    stiffness, damping, duration = SCHEMES[scheme]
    return run(
        "cyril-controlled",
        {
            "control.law": "joint-pd",
            "control.stiffness": stiffness[1:],
            "control.damping": damping[1:],
            "control.base_stiffness": stiffness[0],
            "control.base_damping": damping[0],
            "duration": duration,
            "output.interval": duration / SAMPLES,
        },
    )


# --- what is measured ------------------------------------------------------------------------------------------------


def energy_loss(run: xr.Dataset) -> float:
    """Return what the impact took, with what locking took before it (J)."""
    return float(run.lock_loss - run.work[0])


def place(run: xr.Dataset, body: str, local: tuple[float, float, float]) -> np.ndarray:
    """Return where a place on a body (m, its axes) is at every sample (m, inertial)."""
    w, x, y, z = run.attitude.sel(body=body).values.T
    half, axis = np.stack([x, y, z], axis=1), np.asarray(local)
    turned = 2 * np.cross(half, axis)
    return run.position.sel(body=body).values + axis + w[:, None] * turned + np.cross(half, turned)


def arm(run: xr.Dataset) -> np.ndarray:
    """Return where the spacecraft, the roots of the links and of the hand, and its tip are (m, inertial; samples, places,
    3)."""
    middle = load("cyril-plastic").content.named(LINKS[0]).flexible.length / 2
    roots = [place(run, name, (-middle, 0.0, 0.0)) for name in LINKS]
    hand = [place(run, "hand", (-TIP[0], 0.0, 0.0)), place(run, "hand", TIP)]
    return np.stack([run.position.sel(body="spacecraft").values, *roots, *hand], axis=1)


def base_turned(run: xr.Dataset) -> np.ndarray:
    """Return how far the spacecraft has turned (deg)."""
    attitude = run.attitude.sel(body="spacecraft").values
    return np.degrees(np.unwrap(2 * np.arctan2(attitude[:, 3], attitude[:, 0])))


def angle(run: xr.Dataset, joint: str) -> np.ndarray:
    """Return a joint's angle (deg), by the link that it holds."""
    return np.degrees(run.joint_angle.sel(joint=joint).values)


def payload_rate(run: xr.Dataset) -> np.ndarray:
    """Return deg/s."""
    return np.degrees(run.rate.sel(body="payload").values[:, 2])


def fastest_joint(run: xr.Dataset) -> np.ndarray:
    """Return the largest joint rate (deg/s)."""
    return np.degrees(np.abs(run.joint_rate.values).max(axis=1))


def largest_deflection(run: xr.Dataset) -> np.ndarray:
    """Return that of the links' ends (mm)."""
    return 1e3 * np.abs(run.signed_deflection.values).max(axis=1)


def tip(run: xr.Dataset) -> np.ndarray:
    """Return where the hand touches the payload (m, inertial x and y)."""
    return place(run, "hand", TIP)[:, :2]


def gap(run: xr.Dataset) -> np.ndarray:
    """Return the distance of that point from the payload's rim (m): below zero, and they would have touched again."""
    centre = run.position.sel(body="payload").values[:, :2]
    return np.linalg.norm(tip(run) - centre, axis=1) - 1.0


def crossings(run: xr.Dataset, values: np.ndarray) -> np.ndarray:
    """Return when `values` change their sign (s)."""
    (at,) = np.nonzero(np.diff(np.sign(values)))
    time = run.time.values
    return time[at] - values[at] * (time[at + 1] - time[at]) / (values[at + 1] - values[at])


def rest_from(run: xr.Dataset, of: Callable[[xr.Dataset], np.ndarray], limit: float) -> float:
    """Return from when on a measure is at most `limit` until the run's end (s); infinite where it is not."""
    (beyond,) = np.nonzero(of(run) > limit)
    if not len(beyond):
        return 0.0
    return float(run.time[beyond[-1] + 1]) if beyond[-1] + 1 < run.sizes["time"] else float("inf")
