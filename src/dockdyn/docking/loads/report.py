"""The loads of a run as files for structural models, and what the terminal says of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.deferred import Float
from dockdyn.docking.loads.histories import (
    COMPONENTS,
    Interface,
    chosen_interfaces,
    earlier_elements,
    impulses_in_words,
    interfaces_of,
    stated_ports,
)
from dockdyn.docking.loads.nastran import slice_cards, transient_cards
from dockdyn.docking.loads.sampling import refuse_missed_peaks
from dockdyn.docking.loads.slices import TimeSlice, worst_slices
from dockdyn.docking.loads.spectra import accelerations_of, ends_under_load, shock_spectrum, spectrum_frequencies
from dockdyn.records import record
from dockdyn.report.report import Report, ReportBlock, Table
from dockdyn.report.wording import NOTHING, count_of, format_significant

UNITS = {"f": "N", "m": "N m"}
AXES = "xyz"


@record
class Spectra:
    """Shock response spectra of places on bodies."""

    frequencies: Float[np.ndarray, "frequencies"]  # Hz
    names: list[str]
    values: Float[np.ndarray, "frequencies places 3"]  # m/s², axes of the bodies
    quality: float
    loaded: list[str]  # the places that are accelerated at the end of the run, too, which spectra take to go on


@record
class RunLoads:
    """What passes at the interfaces of a run, and what is largest of it."""

    title: str
    time: Float[np.ndarray, "time"]
    interfaces: list[Interface]
    slices: list[TimeSlice]
    spectra: Spectra | None  # None where no place is on a rigid body, or samples are too few
    warning: str  # of what has no loads, and of a run that ends under load; nothing where there is neither

    def files(self) -> dict[str, str]:
        """Return the contents of all files by their names; no cards where no interface is on them."""
        found = {"loads.csv": self._histories(), "slices.csv": self._slices()}
        if any(one.on_cards for one in self.interfaces):
            found["loads.bdf"] = transient_cards(self.interfaces, self.time, self.title)
            found["slices.bdf"] = slice_cards(self.interfaces, self.time, self.slices, self.title)
        return found if self.spectra is None else found | {"spectra.csv": _csv_of_spectra(self.spectra)}

    def _histories(self) -> str:
        heads = [f"{one.slug}.{part} [{UNITS[part[0]]}]" for one in self.interfaces for part in COMPONENTS]
        columns = np.column_stack([self.time, *(one.loads for one in self.interfaces)])
        return _csv_text(["time [s]", *heads], columns.tolist())

    def _slices(self) -> str:
        heads = ["slice", "time [s]", "interface", "grid", *(f"{part} [{UNITS[part[0]]}]" for part in COMPONENTS)]
        rows = [
            [
                number,
                float(self.time[one.sample]),
                each.name,
                each.grid if each.on_cards else "",
                *each.loads[one.sample].tolist(),
                "; ".join(one.reasons),
            ]
            for number, one in enumerate(self.slices, start=1)
            for each in self.interfaces
        ]
        return _csv_text([*heads, "reason"], rows)

    def answer(self) -> dict[str, Any]:
        """Return what is largest, as JSON has it."""
        found: dict[str, Any] = {
            "interfaces": [
                {
                    "name": one.name,
                    "on": one.on,
                    "axes": one.axes,
                    "grid": one.grid if one.on_cards else None,
                    "peak_force_N": float(np.linalg.norm(one.loads[:, :3], axis=1).max()),
                    "peak_moment_N_m": float(np.linalg.norm(one.loads[:, 3:], axis=1).max()),
                }
                for one in self.interfaces
            ],
            "slices": [
                {"slice": number, "time_s": float(self.time[one.sample]), "reasons": list(one.reasons)}
                for number, one in enumerate(self.slices, start=1)
            ],
        }
        if self.spectra is None:
            return found
        return found | {
            "spectra": [
                {"place": name, "axis": axis, "quality": self.spectra.quality, "peak_m_s2": value, "frequency_Hz": at}
                for name, axis, value, at in _largest_of_spectra(self.spectra)
            ]
        }

    def report(self) -> Report:
        """Return what the terminal shows."""
        answer = self.answer()
        rows = [
            [
                one["name"],
                NOTHING if one["grid"] is None else str(one["grid"]),
                *(format_significant(one[key], 4) for key in ("peak_force_N", "peak_moment_N_m")),
            ]
            for one in answer["interfaces"]
        ]
        blocks = [
            ReportBlock(
                "Largest loads",
                table=Table([("interface", ""), ("grid", ""), ("force", "N"), ("moment", "N m")], rows, worded={0}),
            ),
            ReportBlock(
                "Slices",
                table=Table(
                    [("slice", ""), ("time", "s"), ("chosen for", "")],
                    [
                        [str(one["slice"]), format_significant(one["time_s"], 6), "; ".join(one["reasons"])]
                        for one in answer["slices"]
                    ],
                    worded={2},
                ),
            ),
        ]
        if self.spectra is not None:
            shown = [
                [name, axis, format_significant(value, 4), format_significant(at, 4)]
                for name, axis, value, at in _largest_of_spectra(self.spectra)
            ]
            columns = [("place", ""), ("axis", ""), ("largest", "m/s²"), ("at", "Hz")]
            title = f"Shock response spectra, Q = {self.spectra.quality:g}"
            blocks.append(ReportBlock(title, table=Table(columns, shown, worded={0, 1})))
        count = len(self.slices)
        verdict = (
            f"{count_of(len(self.interfaces), 'interface')}; {count_of(count, 'instant')} at which a load is largest."
        )
        if not all(one.on_cards for one in self.interfaces):
            verdict += (
                " Cards leave out ports without a grid point, sums of what acts on their bodies; --interface adds them."
            )
        if self.spectra is not None:
            highest = format_significant(float(self.spectra.frequencies[-1]), 3)
            verdict += f" Spectra go up to {highest} Hz, a tenth of the rate of the samples, 1/output.interval."
        return Report(title=self.title, verdict=verdict, blocks=blocks, terminal=[self.title, verdict, *blocks])


def loads_of_run(dataset: Dataset, content: Any, asked: Sequence[str], quality: float) -> RunLoads:  # noqa: ANN401, of its motion
    """Return the loads of a run at the interfaces that are `asked` for, all without, and spectra of a `quality` Q at ports.

    Raises ScenarioError for a run without loads, for one whose samples miss them, and for an interface that it has not.
    """
    refuse_missed_peaks(dataset, content)
    warning = "; ".join(filter(None, (impulses_in_words(content), earlier_elements(dataset))))
    interfaces = chosen_interfaces(interfaces_of(dataset, content), asked, "--interface", warning)
    spectra = _spectra_of(dataset, content, quality)
    if spectra is not None and spectra.loaded:
        ends = f"the run ends under load, and spectra take the last acceleration to go on: {', '.join(spectra.loaded)}"
        warning = "; ".join(filter(None, (warning, ends)))
    return RunLoads(
        title=str(dataset.attrs["title"]),
        time=dataset.time.values,
        interfaces=interfaces,
        slices=worst_slices(interfaces),
        spectra=spectra,
        warning=warning,
    )


def _spectra_of(dataset: Dataset, content: Any, quality: float) -> Spectra | None:  # noqa: ANN401, of its motion
    """Return the spectra at ports, without any at centres of mass, of rigid bodies; None where there is none."""
    rigid = {one.name: number for number, one in enumerate(content.bodies) if getattr(one, "flexible", None) is None}
    ports = [(name, port.position) for name, port, _ in stated_ports(content)]
    places = ports or [(f"{one.name}.centre-of-mass", [0.0, 0.0, 0.0]) for one in content.body]
    points = [(name, place, rigid[body]) for name, place in places if (body := name.rpartition(".")[0]) in rigid]
    if not points or content.motion == "line" or dataset.sizes["time"] < 3:
        return None
    histories = [accelerations_of(dataset, body, place) for _, place, body in points]
    step = histories[0][0]
    frequencies = spectrum_frequencies(step * (len(histories[0][1]) - 1), step)
    if not len(frequencies):
        return None
    values = [shock_spectrum(history, step, frequencies, quality) for _, history in histories]
    names = [name for name, _, _ in points]
    loaded = [name for name, (_, history) in zip(names, histories, strict=True) if ends_under_load(history)]
    return Spectra(frequencies, names, np.stack(values, axis=1), quality, loaded)


def _largest_of_spectra(spectra: Spectra) -> list[tuple[str, str, float, float]]:
    """Return of each place and axis the largest value (m/s²) and its frequency (Hz)."""
    found = []
    for place, name in enumerate(spectra.names):
        for axis in range(3):
            values = spectra.values[:, place, axis]
            at = int(values.argmax())
            found.append((name, AXES[axis], float(values[at]), float(spectra.frequencies[at])))
    return found


def _csv_of_spectra(spectra: Spectra) -> str:
    heads = [f"{'.'.join(name.split())}.{axis} [m/s^2]" for name in spectra.names for axis in AXES]
    columns = np.column_stack([spectra.frequencies, spectra.values.reshape(len(spectra.frequencies), -1)])
    return _csv_text(["frequency [Hz]", *heads], columns.tolist())


def _csv_text(headings: Sequence[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table in CSV; numbers have all their digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return text.getvalue()
