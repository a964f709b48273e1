"""Campaigns: many cases of a scenario with distributions, chunk by chunk, on this machine or a cluster."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.installed import version
from dockdyn.results.requirements import judge_requirements, with_lists, without_unit
from dockdyn.scenario.language.errors import ScenarioError, shown
from dockdyn.scenario.language.given import path_from, whole_from
from dockdyn.scenario.language.own_modules import own_modules
from dockdyn.scenario.load import Scenario, parse, scenario_from
from dockdyn.studies.campaign.store import MOST_RUNS, Campaign, Store
from dockdyn.studies.cases.batch import LEFT_OUT, Cases, run_cases, runs_in_batches
from dockdyn.studies.cases.cluster import Spread
from dockdyn.studies.cases.resumed import changed_modules, refuse_another, scenario_differences
from dockdyn.studies.cases.sampling import Sampled, sample_cases

# cases in a chunk: of those that run in batches, and of those that run one by one or take long, which are kept sooner
CHUNK, SLOW_CHUNK = 256, 8
SLOW = 0.25  # s of a case, from which it takes long
SOON = 4.0  # s, in which a chunk of those that take long is kept

Done = tuple[int, Sampled, Cases]  # number of a chunk, its cases
Progress = Callable[[int], None]  # told how many cases are done


def plan_campaign(scenario: Scenario, runs: int | None = None, seed: int | None = None) -> Campaign:
    """Return the campaign of a scenario: `runs` and `seed` as stated, else those of its [campaign]. Raises ScenarioError."""
    stated = scenario.campaign
    runs, seed = stated.runs if runs is None else runs, stated.seed if seed is None else seed
    if not 1 <= runs <= MOST_RUNS:
        raise ScenarioError(f"--runs {runs}: must be 1 to {MOST_RUNS}")
    if seed < 0:
        raise ScenarioError(f"--seed {seed}: must be at least 0")
    first = sample_cases(scenario, runs, seed, stated.sampling, 0, 1)
    most = CHUNK if runs_in_batches(scenario) else SLOW_CHUNK
    return Campaign(
        scenario=scenario.text(),
        source=scenario.name,
        folder=None if scenario.folder is None else str(scenario.folder.resolve()),
        setup=scenario.setup,
        title=scenario.title,
        runs=runs,
        seed=seed,
        sampling=stated.sampling,
        chunk=min(most, runs),
        keys=first.keys,
        units=first.units,
        dockdyn_version=version("dockdyn"),
        modules=_modules_of(scenario),
    )


def same_campaign(here: Campaign, asked: Campaign, folder: Path) -> None:
    """Refuse to go on with a campaign that is another one than that asked for; says what differs."""
    found = [
        f"{name} was {shown(getattr(here, name))}, is {shown(getattr(asked, name))}"
        for name in ("dockdyn_version", "runs", "seed", "sampling")
        if getattr(here, name) != getattr(asked, name)
    ]
    found += scenario_differences(here.scenario, asked.scenario) + changed_modules(here.modules, asked.modules)
    refuse_another(found, folder, "campaign")


def resume_campaign(store: Store, asked: Campaign, tell: Callable[[str], None]) -> Campaign:
    """Return the campaign in a store, to go on with, which must be the one that is asked for; its scenario may have moved.

    Files that are damaged are removed, so that they are computed again, and each is told.
    """
    there = store.campaign()
    same_campaign(there, asked, store.folder)
    store.tidy()
    if store.damaged_index():
        tell(f"{store.index}: damaged or lost; made again from its copy beside the chunks")
    found = replace(asked, chunk=there.chunk)
    for words in store.drop_damaged(found):
        tell(f"{words}; computed again")
    return found


@lru_cache(maxsize=4)
def scenario_of(text: str, name: str, folder: str | None) -> Scenario:
    return parse(text, name, folder=None if folder is None else Path(folder))


def _own_scenario(campaign: Campaign) -> Scenario:
    """Return the scenario of a campaign, from its own text."""
    return scenario_of(campaign.scenario, campaign.source, campaign.folder)


def draw_cases(campaign: Campaign, first: int, count: int) -> Sampled:
    """Return cases `first` to `first + count` of a campaign."""
    return sample_cases(_own_scenario(campaign), campaign.runs, campaign.seed, campaign.sampling, first, count)  # type: ignore[arg-type]


def compute_chunk(campaign: Campaign, chunk: int, threads: int | None = None) -> Done:
    """Run one chunk: the task of a worker."""
    sampled = draw_cases(campaign, *campaign.part(chunk))
    return chunk, sampled, run_cases(_own_scenario(campaign), sampled.keys, sampled.values, threads)


def compute_in_process(campaign: Campaign, chunks: Iterable[int]) -> Iterator[Done]:
    """Yield chunks in this process: while one is prepared in Python, others run in compiled code.

    Batches of all chunks share the cores, so that none idles where there are few chunks; other cases run one chunk a core.
    """
    cores = os.cpu_count() or 1
    threads = cores if runs_in_batches(_own_scenario(campaign)) else 1
    waiting = iter(chunks)
    pool = ThreadPoolExecutor(cores)
    running = {pool.submit(compute_chunk, campaign, chunk, threads) for chunk in islice(waiting, cores + 1)}
    try:
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {pool.submit(compute_chunk, campaign, chunk, threads) for chunk in islice(waiting, len(done))}
            for future in done:
                yield future.result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def on_workers(spread: Spread) -> Callable[[Campaign, Iterable[int]], Iterator[Done]]:
    """Return what runs chunks elsewhere, each by one thread of a worker."""
    return lambda campaign, chunks: spread(compute_chunk, ((campaign, chunk, 1) for chunk in chunks))


def run_nominal(scenario: Scenario, campaign: Campaign) -> float:
    """Run the nominal case, so that everything is compiled and a requirement that fits no figure is found early.

    Returns how long (s) a case takes then: the first that is drawn, as a nominal one may touch nothing and be soon over, or the
    nominal one again where that takes longer. Raises ScenarioError for such a requirement.
    """
    for requirement in scenario.requirements:
        if requirement.figure in LEFT_OUT or requirement.figure in map(without_unit, LEFT_OUT):
            where = f"{scenario.name}: requirements.{requirement.name}"
            raise ScenarioError(f"{where}: differs between two runs of one case; must be another figure")
    nominal = scenario.at({})
    key = scenario.dispersions[0].keys[0]
    value = scenario.dispersions[0].nominal[0]
    began = time.perf_counter()
    found = run_cases(nominal, [key], np.array([[value]]))
    if found.figures:
        figures = with_lists({name: float(values[0]) for name, values in found.figures.items()})
        judge_requirements(scenario.requirements, figures, scenario.name)
    if time.perf_counter() - began < SLOW:
        return 0.0
    first = draw_cases(campaign, 0, 1)
    began = time.perf_counter()
    run_cases(nominal, [key], np.array([[value]]))
    between = time.perf_counter()
    run_cases(scenario, first.keys, first.values)
    return max(between - began, time.perf_counter() - between)


def pace_chunks(campaign: Campaign, seconds: float) -> Campaign:
    """Return a campaign whose cases take so long (s) each, with chunks that are kept, and told, in time."""
    if seconds <= SLOW:
        return campaign
    return replace(campaign, chunk=min(campaign.chunk, SLOW_CHUNK, max(1, int(SOON / seconds))))


def run_campaign(
    campaign: Campaign, store: Store, work: Callable[[Campaign, Iterable[int]], Iterator[Done]], progress: Progress
) -> Dataset:
    """Run what is missing of a campaign, each chunk kept as it comes, and put all of it together.

    `work` runs chunks in any order: the store is the same. Whatever interrupts it, what was kept is whole.
    """
    missing = store.missing(campaign)
    done = campaign.runs - sum(campaign.part(chunk)[1] for chunk in missing)
    progress(done)
    before = time.perf_counter()
    for chunk, sampled, cases in work(campaign, missing):
        now = time.perf_counter()
        store.write_chunk(chunk, campaign, sampled, cases, now - before)
        before = now
        done += len(cases.reasons)
        progress(done)
    return store.finish(campaign)


def campaign(
    scenario: Scenario | str | Path, folder: str | Path, runs: int | None = None, seed: int | None = None
) -> Dataset:
    """Run a campaign of `runs` cases on all cores, and keep it in `folder`; go on with it where that has begun.

    Returns the dataset of all cases; `dockdyn.campaign_answers` says what it means. Warns of a damaged file, which is
    computed again. Raises `ScenarioError`: nothing is distributed, another campaign is in the folder, or runs there.
    """
    scenario, kept = scenario_from(scenario), path_from("folder", folder)
    counts = [
        given if given is None else whole_from(name, given, 0) for name, given in (("runs", runs), ("seed", seed))
    ]
    store, planned = Store(kept), plan_campaign(scenario, *counts)
    with store.claimed():
        seconds = run_nominal(scenario, planned)
        if store.blank():
            planned = pace_chunks(planned, seconds)
        else:
            planned = resume_campaign(store, planned, lambda words: warnings.warn(words, stacklevel=3))
        store.create(planned)
        return run_campaign(planned, store, compute_in_process, lambda done: None)


def changes_since(campaign: Campaign) -> list[str]:
    """Return what a case of a campaign is computed by now that is not what the campaign was computed by."""
    own, now = _own_scenario(campaign), version("dockdyn")
    found = [] if campaign.dockdyn_version == now else [f"dockdyn was {campaign.dockdyn_version}, is {now}"]
    return found + changed_modules(campaign.modules, _modules_of(own))


def _modules_of(scenario: Scenario) -> dict[str, str]:
    return own_modules([scenario.content, *(one.law for one in scenario.dispersions)])


def case_of(campaign: Campaign, case: int) -> Scenario:
    """Return one case of a campaign as a scenario of its own; ScenarioError for a number that is none."""
    if not 0 <= case < campaign.runs:
        raise ScenarioError(f"case {case}: must be 0 to {campaign.runs - 1}")
    sampled = draw_cases(campaign, case, 1)
    return _own_scenario(campaign).at(dict(zip(sampled.keys, sampled.values[0].tolist(), strict=True)))
