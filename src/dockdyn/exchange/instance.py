"""An FMU that runs here, of FMI 2.0 or 3.0, by its variables' names."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from dockdyn.scenario.language.errors import ScenarioError

TOLERANCE = 1e-10  # relative, of CVode
NEEDED = "needs the package fmpy; pip install 'dockdyn[fmu]'"


class Fmu:
    """An FMU in a file, unpacked as long as the block lasts. Raises ScenarioError for what is none."""

    def __init__(self, file: Path):
        self.file = file

    def __enter__(self) -> Fmu:
        fmpy = _fmpy(self.file)
        try:
            self.description = fmpy.read_model_description(str(self.file), validate=False)
            self.folder = fmpy.extract(str(self.file))
        except Exception as error:  # of whatever the file holds
            raise _unreadable(self.file, error) from None
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def named(self, causality: str) -> dict[str, Any]:
        """Variables of a causality by name."""
        return {one.name: one for one in self.description.modelVariables if one.causality == causality}

    @property
    def steps(self) -> bool:
        """Whether it is for co-simulation; else another program integrates it."""
        return self.description.coSimulation is not None

    def integrated(
        self, values: Mapping[str, float], names: Sequence[str], times: Float[np.ndarray, "times"]
    ) -> dict[str, Float[np.ndarray, "times"]]:
        """Outputs at equidistant times (s), integrated by CVode with parameters set to these values."""
        try:
            found = _fmpy(self.file).simulate_fmu(
                self.folder,
                validate=False,
                model_description=self.description,
                fmi_type="ModelExchange",
                start_time=float(times[0]),
                stop_time=float(times[-1]),
                output_interval=float(times[1] - times[0]),
                relative_tolerance=TOLERANCE,
                record_events=False,
                start_values=dict(values),
                output=list(names),
            )
        except Exception as error:  # of fmpy or of the FMU, which have no class for it
            words = str(error).partition("\n")[0]
            raise ScenarioError(f"{self.file}: cannot be integrated here: {words}") from None
        if len(found) < len(times):
            raise ScenarioError(f"{self.file}: ends at t = {found['time'][-1]:g} s, its scenario at {times[-1]:g} s")
        return {name: np.asarray(found[name][: len(times)], float) for name in names}

    def instance(self, values: Mapping[str, float], start: float = 0.0) -> Instance:
        """A new instance that has begun at a time (s), parameters or inputs set to these values."""
        return Instance(self, values, start)


class Instance:
    """One instance of an FMU that goes on step by step."""

    def __init__(self, fmu: Fmu, values: Mapping[str, float], start: float):
        description, self.name = fmu.description, str(fmu.file)
        if not fmu.steps:
            raise ScenarioError(f"{fmu.file}: has no co-simulation")
        self.known = {one.name: one for one in description.modelVariables}
        self.slave, self.time = _slave(fmu), start
        self.set(values)
        if hasattr(self.slave, "setupExperiment"):  # as FMI 2.0 has it
            self.call("setupExperiment", startTime=start)
            self.call("enterInitializationMode")
        else:
            self.call("enterInitializationMode", startTime=start)
        self.call("exitInitializationMode")

    def call(self, name: str, *given: Any, **named: Any) -> Any:  # noqa: ANN401, what fmpy takes and gives
        """Call a function of fmpy's; ScenarioError where the FMU says that it has failed."""
        try:
            return getattr(self.slave, name)(*given, **named)
        except Exception as error:  # fmpy's own, which has no class for it
            words = str(error).partition("\n")[0]
            raise ScenarioError(f"{self.name}: {name} at t = {self.time:g} s: {words}") from None

    def set(self, values: Mapping[str, float]) -> None:
        """Set real variables by name."""
        for name, value in values.items():
            if name not in self.known:
                raise ScenarioError(f"{self.name}: has no variable {name}")
            self.call(self._named("set"), [self.known[name].valueReference], [float(value)])

    def read(self, names: Sequence[str]) -> Float[np.ndarray, "names"]:
        """The values of real variables, yes as 1 and no as 0."""
        flags = [self.known[name].type == "Boolean" for name in names]
        found = np.zeros(len(names))
        for flag in (False, True):
            places = [index for index, own in enumerate(flags) if own == flag]
            references = [self.known[names[index]].valueReference for index in places]
            if references:
                found[places] = self.call("getBoolean" if flag else self._named("get"), references)
        return found

    def step_to(self, time: float) -> None:
        """Go on to a time (s)."""
        self.call("doStep", currentCommunicationPoint=self.time, communicationStepSize=time - self.time)
        self.time = time

    def close(self) -> None:
        """End it."""
        self.slave.terminate()
        self.slave.freeInstance()

    def _named(self, verb: str) -> str:
        """The function of real numbers that this version of FMI has."""
        return verb + ("Real" if hasattr(self.slave, "getReal") else "Float64")


def findings_of(file: Path) -> list[str]:
    """What fmpy's validator finds in an FMU. Raises ScenarioError for a file that is none."""
    try:
        return list(_fmpy(file).validation.validate_fmu(str(file)))
    except (OSError, zipfile.BadZipFile) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: Path, error: Exception) -> ScenarioError:
    words = str(error).partition("\n")[0]
    return ScenarioError(f"{file}: is no FMU that can be read: {words}")


def _fmpy(file: Path) -> Any:  # noqa: ANN401, the package
    """The package that reads FMUs; ScenarioError where it is not installed."""
    try:
        import fmpy
        import fmpy.validation
    except ImportError:
        raise ScenarioError(f"{file}: {NEEDED}") from None
    return fmpy


def _slave(fmu: Fmu) -> Any:  # noqa: ANN401, fmpy's
    """An instance as fmpy has it."""
    description = fmu.description
    given = {
        "guid": description.guid,
        "unzipDirectory": fmu.folder,
        "modelIdentifier": description.coSimulation.modelIdentifier,
        "instanceName": description.coSimulation.modelIdentifier,
    }
    try:
        if description.fmiVersion.startswith("2"):
            from fmpy.fmi2 import FMU2Slave

            slave = FMU2Slave(**given)
        else:
            from fmpy.fmi3 import FMU3Slave

            slave = FMU3Slave(**given)
        slave.instantiate(loggingOn=False)
    except Exception as error:  # no library for this platform, or one that refuses
        words = str(error).partition("\n")[0]
        raise ScenarioError(f"{fmu.file}: cannot be started here: {words}") from None
    return slave
