"""What to type to get a result again, from the result alone."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator

from dockdyn.dataset import Dataset
from dockdyn.results.store import study_of


def reproduce_command(dataset: Dataset) -> str:
    """Return the command line that gives a result again from the scenario in it, written to `scenario.toml`."""
    study = study_of(dataset) or "run"
    words = ["dockdyn", *study.split(), *(["run"] if study == "campaign" else []), "scenario.toml"]
    return shlex.join([*words, *OPTIONS[study](dataset), "--out", "again"])


def _no_options(dataset: Dataset) -> Iterator[str]:
    return iter(())


def _stability_options(dataset: Dataset) -> Iterator[str]:
    for sweep in json.loads(dataset.attrs.get("sweeps", "[]")):
        yield from ("--sweep", sweep)


def _compare_options(dataset: Dataset) -> Iterator[str]:
    stiffnesses = ", ".join(repr(float(value)) for value in dataset.stiffness.values)
    yield from ("--compensators", ",".join(map(str, dataset.compensator.values)))
    yield from ("--set", f"{dataset.stiffness.attrs['long_name']}=[{stiffnesses}]")


def _envelope_options(dataset: Dataset) -> Iterator[str]:
    answer = json.loads(dataset.attrs["envelope"])
    for key, (low, high) in zip(answer["keys"], answer["ranges"], strict=True):
        yield from ("--over", f"{key}={low!r}:{high!r}")
    yield from ("--of", answer["of"], "--tolerance", repr(answer["tolerance"]))


def _campaign_options(dataset: Dataset) -> Iterator[str]:
    for name in ("runs", "seed"):
        if name in dataset.attrs:
            yield from (f"--{name}", str(int(dataset.attrs[name])))


OPTIONS: dict[str, Callable[[Dataset], Iterator[str]]] = {
    "run": _no_options,
    "stability": _stability_options,
    "compare": _compare_options,
    "envelope": _envelope_options,
    "campaign": _campaign_options,
}
