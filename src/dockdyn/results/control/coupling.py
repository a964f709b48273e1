"""What of a scenario an FMU decides, and how its variables belong to those of the scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from dockdyn.results.exchange.fmu_instance import REAL, WHOLE, Fmu, refuse_beyond
from dockdyn.results.functional_unit import Output
from dockdyn.scenario.language.errors import ScenarioError, nearest, shown
from dockdyn.scenario.language.own_code import NATIVE, are_fmus_trusted
from dockdyn.scenario.language.units import base_units
from dockdyn.scenario.load import Scenario
from dockdyn.scenario.tables.fmu_control import FmuControlSection, commands

FLAGS = ("Boolean",)


class Coupling(NamedTuple):
    """The part of a scenario that an FMU decides, and what the scenario has to show it."""

    control: FmuControlSection
    shown: Callable[[], Sequence[Output]]  # what it can be shown


class Wires(NamedTuple):
    """Which variables of an FMU are given what, and which say what is commanded."""

    given: dict[str, Output]
    asked: dict[str, str]  # the name of a command by that of the FMU's output
    parameters: dict[str, float]


def coupling_of(scenario: Scenario) -> Coupling | None:
    """Return what an FMU decides of a scenario; None where none does."""
    return scenario.content.coupling() if hasattr(scenario.content, "coupling") else None


def refuse_coupled(scenario: Scenario, words: str) -> None:
    """Refuse a scenario of which an FMU decides a part; `words` say what cannot be done with it."""
    if (found := coupling_of(scenario)) is not None:
        raise ScenarioError(f"{scenario.name}: control.law = {shown(found.control.law)}: {words}")


def check_coupled(scenario: Scenario) -> None:
    """Raise ScenarioError for a scenario with an FMU that is not trusted, cannot run here, or has not the variables that the
    scenario names. Nothing of it is run."""
    if (found := coupling_of(scenario)) is not None:
        refuse_untrusted(found, scenario.name)
        with Fmu(Path(found.control.file)) as fmu:
            wires_of(found, fmu, scenario.name)


def refuse_untrusted(coupling: Coupling, name: str) -> None:
    """Refuse to run an FMU that nobody said is trusted."""
    if not are_fmus_trusted():
        raise ScenarioError(f"{name}: control.law = {shown(coupling.control.law)}: {NATIVE}")


def wires_of(coupling: Coupling, fmu: Fmu, name: str) -> Wires:
    """Return the wires between a scenario called `name` and an FMU; ScenarioError where one has not what the other needs."""
    fmu.check_runs_here()
    control, outputs = coupling.control, {one.name: one for one in coupling.shown()}
    for variable, key in control.inputs.items():
        where = f"{name}: control.inputs.{variable} = {shown(key)}"
        if key not in outputs:
            raise ScenarioError(f"{where}: a run has no such variable; {nearest(key, outputs)}")
        one = outputs[key]
        _check_variable(fmu, variable, "input", (*REAL, *FLAGS) if one.flag else REAL, one.unit, where)
    for variable, key in control.outputs.items():
        _check_variable(
            fmu, variable, "output", REAL, commands()[key], f"{name}: control.outputs.{variable} = {shown(key)}"
        )
    parameters = dict(zip(control.tuned, control.values, strict=True))
    for variable, value in parameters.items():
        where = f"{name}: control.parameters.{variable} = {value:g}"
        _check_variable(fmu, variable, "parameter", (*REAL, *WHOLE, *FLAGS), None, where)
        refuse_beyond(fmu.named("parameter")[variable], value, where)
    given = {variable: outputs[key] for variable, key in control.inputs.items()}
    return Wires(given, dict(control.outputs), parameters)


def _check_variable(
    fmu: Fmu, variable: str, causality: str, types: Sequence[str], unit: str | None, where: str
) -> None:
    """Refuse a variable that an FMU has not, or that is another one than is needed; of a `unit`, where that is known."""
    known = fmu.named(causality)
    if variable not in known:
        raise ScenarioError(f"{where}: {fmu.file} has no {causality} of this name; {nearest(variable, known)}")
    one = known[variable]
    if one.type not in types or one.dimensions:
        sort = f"an array of {one.type}" if one.dimensions else one.type
        raise ScenarioError(f"{where}: is {sort} in {fmu.file}; must be one number")
    if unit is not None and one.unit is not None and not same_unit(one.unit, _unit_powers(fmu, one.unit), unit):
        raise ScenarioError(f"{where}: is in {shown(one.unit)} in {fmu.file}; must be in {unit or '1'}")


def same_unit(theirs: str, powers: Mapping[str, float] | None, ours: str) -> bool:
    """Return whether a unit of an FMU, called `theirs`, is one of ours; `powers` of base units are those that it defines, None
    where it does not say or where the unit is another one by a factor. A radian is a 1."""
    own = base_units(ours) if ours not in ("", "1") else {}
    if powers is None:
        spelled = theirs.replace(".", "*")  # as Modelica has it: N.m
        powers = base_units(spelled)
        if not powers:
            return spelled.replace(" ", "*") == ours.replace(" ", "*") or (
                theirs in ("", "1", "rad") and not _nonzero_powers(own)
            )
    return _nonzero_powers(powers) == _nonzero_powers(own)


def _nonzero_powers(powers: Mapping[str, float]) -> dict[str, float]:
    return {name: float(power) for name, power in powers.items() if power and name != "rad"}


def _unit_powers(fmu: Fmu, unit: str) -> dict[str, float] | None:
    """Return what an FMU says of a unit."""
    for one in fmu.description.unitDefinitions or []:
        if one.name == unit and one.baseUnit is not None:
            base = one.baseUnit
            if float(base.factor or 1.0) != 1.0 or float(base.offset or 0.0) != 0.0:
                return {"a factor": 1.0}
            return {name: float(getattr(base, name)) for name in ("kg", "m", "s", "A", "K", "mol", "cd", "rad")}
    return None
