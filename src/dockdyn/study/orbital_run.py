"""A run of the kind `orbital-arm`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from dockdyn.integrate import colliding
from dockdyn.integrate.solution import Status
from dockdyn.integrate.variational import Newton
from dockdyn.scenario.errors import ScenarioError
from dockdyn.scenario.load import Scenario
from dockdyn.study.dataset import REASONS
from dockdyn.study.orbital_data import Motion, dataset_of, labels
from dockdyn.study.plan import MOST_ROWS, jit_once

SAMPLES = 4000  # over a run, when the scenario does not say
SLICE = 2_000  # iterations between reports of progress

Progress = Callable[[float], None]


def settings_of(scenario: Scenario) -> colliding.Settings:
    """Steps and sizes; the interval between samples is a whole number of fixed steps."""
    content = scenario.content
    section, duration = content.integrator, content.duration
    step = min(section.step, duration)
    interval = content.output.interval or max(step, duration / SAMPLES)
    stride = 1 if section.error is not None else max(1, int(np.ceil(interval / step * (1 - 1e-9))))
    if section.error is None:
        interval = stride * step
    count = int(np.ceil(duration / interval * (1 - 1e-12)))
    if count > MOST_ROWS:
        raise ScenarioError(f"{scenario.name}: output.interval = {interval} s: gives {count} samples; must give at most {MOST_ROWS}")
    return colliding.Settings(
        duration=jnp.asarray(duration),
        step=jnp.asarray(step),
        newton=Newton(jnp.asarray(section.tolerance), jnp.asarray(section.max_iterations)),
        error=None if section.error is None else jnp.asarray(section.error),
        interval=jnp.asarray(interval),
        stride=stride,
        samples=count,
        max_events=section.max_events,
    )
