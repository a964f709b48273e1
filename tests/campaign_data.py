"""Datasets of campaigns, made of numbers that a test chooses."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tomlkit
import xarray as xr

UNITS = {"N_s": "N s", "m_s": "m/s", "N_m": "N m", "N": "N", "s": "s", "m": "m", "J": "J"}

SCENARIO = """
schema = 2
title = "Synthetic"
"""


def unit_of(name: str) -> str:
    return next((unit for suffix, unit in UNITS.items() if name.endswith(f"_{suffix}")), "1")


def campaign_dataset(
    keys: Mapping[str, Any], figures: Mapping[str, Any], reasons: Sequence[str] | None = None, **attributes: Any
) -> xr.Dataset:
    """The dataset of a campaign with these values of its keys and figures; keys may be given with a unit, (values, unit).

    Other attributes as given; `requirements` are a table of the scenario.
    """
    required = tomlkit.dumps({"requirements": attributes.pop("requirements", {})})
    scenario = attributes.pop("scenario", SCENARIO) + required
    given = {key: value if isinstance(value, tuple) else (value, "1") for key, value in keys.items()}
    count = len(next(iter([*(values for values, _ in given.values()), *figures.values()])))
    variables: dict[str, Any] = {
        key: ("case", np.asarray(values), {"units": unit, "long_name": key}) for key, (values, unit) in given.items()
    }
    for name, values in figures.items():
        described = {"units": unit_of(name), "long_name": name.replace("_", " ")}
        variables[name] = ("case", np.asarray(values, dtype=float), described)
    variables["reason"] = ("case", np.array(reasons or [""] * count, dtype=object))
    about = {
        "campaign": 1,
        "setup": "mechanism",
        "title": "Synthetic",
        "scenario": scenario,
        "dockdyn_version": "0",
        "runs": count,
        "seed": 1,
        "sampling": "random",
        "wall_time_s": 2.0,
        "dispersed": json.dumps(list(keys)),
        "figures": json.dumps(list(figures)),
    }
    return xr.Dataset(variables, {"case": np.arange(count)}, about | attributes)
