"""Margins and charts of a loop whose boundary has a closed form, made up.

The loop is m s² + (b s + k) exp(−s h) = 0 (Sazawal et al., eqs. 143, 150, 151).
"""

import json

import numpy as np
import tomlkit
import xarray as xr

MASS, STIFFNESS = 375.0, 1000.0  # kg, N/m
TITLE = '<b>bold</b> & "quoted" {{ 7 * 7 }} </title><script>alert(1)</script>'
KEY = 'contact.<i>&"$x$'
DELAYS, DAMPINGS = np.linspace(0, 0.6, 13), np.linspace(0, 800, 11)  # s, N s/m

NOTHING = "spectral_radius contact_matrix normal_dynamics radial_dynamics tangential_dynamics apparent_restitution"
MARGINS = dict.fromkeys([*NOTHING.split(), "pade", "nominal"]) | {
    "stable": True,
    "growth_rate_1_s": -0.247277,
    "rightmost_roots": [[-0.247277, 1.620998], [-417.1, 0.0], [-442.0, 441.4], [-442.0, -441.4]],
    "delay_s": 0.016,
    "critical_delay_s": 0.192968,
    "crossing_frequency_rad_s": 1.677104,
    "delay_margin_s": 0.176968,
    "stable_delays_s": [[0.0, 0.192968]],
    "effective_mass_kg": MASS,
    "stiffness_N_m": STIFFNESS,
    "damping_N_s_m": 200.0,
    "stabilising_gains_N_s_m": [[-183.9, None]],
    "sensitivities": {},
    "sensitivity_of": "delay_margin_s",
    "loop": "delay",
    "warnings": [],
    "drift_modes": 0,
}
UNSTABLE = {
    "stable": False,
    "growth_rate_1_s": 0.0104091,
    "rightmost_roots": [[0.0104091, 1.676883]],
    "delay_s": 0.2,
    "delay_margin_s": None,
    "sensitivity_of": "growth_rate_1_s",
}
GAINS = {"conditions": ["row s^2: 1.2 > 0 holds"], "stabilising_gains_N_s_m": [[5.5, 230090.0], [3e5, None]]}
REASONS = ["order 1 of the approximation is too low here", None]
FULL = {
    "contact_matrix": [[0.00117, 0, 0.00087], [0, 0.00217, 0], [0.00087, 0, 0.00267]],
    "normal_dynamics": [200 / MASS, STIFFNESS / MASS],
    "radial_dynamics": [-0.12, -0.6],
    "tangential_dynamics": [0.0, 0.0],
    "apparent_restitution": 1.12,
    "sensitivities": {
        KEY: 0.18,
        **{f"chaser.key{i}": (-1) ** i * 10.0**-i for i in range(2, 15)},
        "body.target.mass": 0.0,
    },
    "pade": {
        n: {"growth_rate_1_s": -0.2473 if n > "1" else 0.001, "stable": n > "1", "reason": REASONS[n > "1"]} | GAINS
        for n in ("1", "12", "2")
    },
    "nominal": {"position_m": [0.433, 0.0, 0.25], "azimuth_deg": 0.0, "distance_m": 0.5, "depth_m": 0.003},
    "warnings": ["the rim is near"],
    "drift_modes": 4,
}


def critical_delay(damping, mass=MASS):
    """Equations 150 and 151, s."""
    b, k = np.asarray(damping) / mass, STIFFNESS / mass
    crossing = np.sqrt(b**2 / 2 + np.sqrt(b**4 / 4 + k**2))
    return np.arctan2(crossing * b, k) / crossing


def result(sweep: xr.Dataset | None = None, **changes) -> xr.Dataset:
    dataset = xr.Dataset() if sweep is None else sweep
    scenario = tomlkit.dumps({"schema": 2, "title": TITLE})
    attributes = {"title": TITLE, "setup": "mechanism", "scenario": scenario, "dockdyn_version": "9.8.7"}
    return dataset.assign_attrs(attributes | {"source": "loop.toml", "margins": json.dumps(MARGINS | changes)})


def key(dim, values, name, units):
    return (dim, values, {"long_name": name, "units": units})


def chart(masses=(MASS,), dampings=DAMPINGS) -> xr.Dataset:
    """Growth that only has the right sign, and the boundary in closed form."""
    fine = np.linspace(dampings[0], dampings[-1], 41)
    growth = [DELAYS - critical_delay(dampings, mass)[:, None] for mass in masses]
    lines = np.stack([critical_delay(fine, mass) for mass in masses])
    inside = lines <= DELAYS[-1]
    family = key("family", list(masses), "body.chaser.mass" if len(masses) > 1 else "", "kg")
    return xr.Dataset(
        {
            "growth_rate": (("family", "y", "x"), np.array(growth)),
            "boundary_x": (("family", "vertex"), np.where(inside, lines, np.nan)),
            "boundary_y": (("family", "vertex"), np.where(inside, fine, np.nan)),
        },
        {"x": key("x", DELAYS, "loop.delay", "s"), "y": key("y", dampings, KEY, "N*s/m"), "family": family},
        {"operating_point": json.dumps([0.016, 200.0]), "boundary_tolerance": 1e-9},
    )


def line() -> xr.Dataset:
    return xr.Dataset(
        {"growth_rate": ("x", DELAYS - 0.192968), "boundary_x": ("crossing", [0.192968])},
        {"x": key("x", DELAYS, "loop.delay", "s")},
        {"operating_point": json.dumps([0.016]), "boundary_tolerance": 1e-9},
    )


RESULTS = {
    "bare": result(),
    "full": result(**FULL),
    "chart": result(chart(), **FULL),
    "family": result(chart((240.0, 375.0, 600.0)), **FULL),
    "line": result(line()),
    "unstable": result(chart(), **FULL | UNSTABLE),
}
