"""What tests of FMUs share: a C compiler, and FMUs of presets."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

import dockdyn
from dockdyn.exchange.fmu import fmu_of, unit_of
from dockdyn.results.functional_unit import FunctionalUnit
from dockdyn.scenario.load import Scenario

GCC = shutil.which("gcc")
needs_compiler = pytest.mark.skipif(GCC is None, reason="no C compiler here")


class Exported(NamedTuple):
    """A scenario and its FMU."""

    scenario: Scenario
    unit: FunctionalUnit
    file: Path


def exported(preset: str, fmi: int, folder: Path, overrides: dict | None = None, integrated: bool = True) -> Exported:
    """The FMU of a preset."""
    scenario = dockdyn.load(preset, overrides)
    unit = unit_of(scenario, integrated)
    file = folder / f"{preset}.fmu"
    file.write_bytes(fmu_of(unit, fmi))
    return Exported(scenario, unit, file)
