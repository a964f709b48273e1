"""How long a scenario of many parts takes to compile, told before that begins, and refused where memory does not suffice.

A program is traced and written part after part, so its cost is that of a table of the scenario times their number: once for
each structure, since what is compiled is kept. All members of a group are one table.

Units: s, bytes.
Source: measured, as stated beside the numbers.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import Any

from dockdyn import backend
from dockdyn.deferred import jax, jnp
from dockdyn.records import record
from dockdyn.scenario.language.printable import one_line, time_in_words
from dockdyn.scenario.language.section import NamedSection, Section, Static
from dockdyn.trees import Structure

SECONDS = (
    0.05  # s of a processor a table, for all programs of a run: 80 and 300 contacts of two kinds (0.037 and 0.065)
)
MEMORY, BASE = 1.2e6, 4e8  # bytes a table, and without any: 80 and 300 contacts of two kinds
BY_XLA, MEMORY_BY_XLA = 12.0, 15.0  # times as much where XLA compiles: 5, 10 and 20 contacts
PROBE = 0.0135  # s of a processor that the probe takes there
SHARE = 0.8  # of the memory that this process may have
PATIENCE = 20.0  # s; what takes less is not told
GROUPED = 15.0  # s that a group takes, of 2,000 places as of one
CONTACT = "contact.NAME"  # the table of a scenario whose places may be of one group


class TooLargeError(MemoryError):
    """A scenario whose programs need more memory than there is; no case of it can run, so that studies end with it."""


@record
class CompileCost:
    """What all programs of a run of a scenario take to be compiled."""

    title: str  # of the scenario
    tables: Counter[str]  # how many tables of the scenario each of its lists has, by the list's key
    work: float  # tables, by what they take
    seconds: float
    memory: float  # bytes

    def parts(self) -> str:
        """Return the most numerous lists in words: `'Ring' with 300 [contact.NAME] and 300 [body.NAME.feature.NAME]`."""
        most = " and ".join(f"{count:,} [{key}]" for key, count in self.tables.most_common(2))
        return f"{self.title!r} with {most}"


def compile_cost(structures: list[Structure], by_xla: bool) -> CompileCost:
    """Return what the programs of the scenarios in trees of these structures take, on this machine as it is now."""
    tables: Counter[str] = Counter()
    titles: list[str] = []
    work = sum(_work(structure, "", tables, titles) for structure in structures)
    seconds = work * SECONDS * (BY_XLA if by_xla else 1.0)
    if seconds > PATIENCE / 4:  # a machine that is slower or has other things to do
        seconds *= _slowness()
    return CompileCost(
        next(iter(titles), ""), tables, work, seconds, BASE + work * MEMORY * (MEMORY_BY_XLA if by_xla else 1.0)
    )


def _work(structure: Structure, key: str, tables: Counter[str], titles: list[str]) -> float:
    """Return how much the tables of a tree take, in tables of a contact; count its lists in `tables`, note `titles`."""
    kind, static, children = structure.kind, structure.static, structure.children
    if kind is None:
        return 0.0
    if not issubclass(kind, Section):
        return sum(_work(child, key, tables, titles) for child in children)
    found = kind.compiled
    assert isinstance(static, Static)
    if isinstance(title := static.fixed.get("title"), str):
        titles.append(title)
    for name, child in zip(static.names, children, strict=True):
        below = f"{key}.{name}".lstrip(".")
        if (item := _table_in(child)) is not None:
            below += ".NAME" if issubclass(item, NamedSection) else ".0"
            tables[below] += child.num_leaves and len(child.children)
        found += _work(child, below, tables, titles)
    return found


def _table_in(structure: Structure) -> type[Section] | None:
    """Return what the tables of a list are; None of anything else."""
    if structure.kind is not list or not structure.children:
        return None
    inside = structure.children[0].kind
    return inside if inside is not None and issubclass(inside, Section) else None


def _slowness() -> float:
    """Return how many times as long as where costs were measured this machine now takes to trace a program."""

    def probe(x: Any) -> Any:  # noqa: ANN401, JAX's
        for number in range(60):
            x = jnp.where(x > number, x * 1.5, x + 1.0)
        return x

    times = []
    for _ in range(3):
        began = time.perf_counter()
        jax.make_jaxpr(lambda x: probe(x))(1.0)
        times.append(time.perf_counter() - began)
    return sorted(times)[1] / PROBE


def allowed_memory() -> float:
    """Return the bytes that this process may have: those of the machine, or fewer where it is limited."""
    import resource

    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        limits.append(soft)
    return float(min(limits))


told: set[Any] = set()  # structures whose cost has been told


def foretell(structures: list[Structure], by_xla: bool) -> None:
    """Tell what a scenario of many parts takes, once for each, before any of its programs is compiled.

    Raises TooLargeError where its programs need more memory than there is.
    """
    cost = compile_cost(structures, by_xla)
    if not cost.tables or cost.seconds < PATIENCE or (key := (tuple(sorted(cost.tables.items())), by_xla)) in told:
        return
    grouped = (
        "; contacts alike as one group, a [contact.NAME] of one feature with many `positions` in a mechanism, take "
        f"about {GROUPED:.0f} s"
        if any(name == CONTACT for name, _ in cost.tables.most_common(2))
        else ""
    )
    if cost.memory > SHARE * allowed_memory():
        words = (
            f"{cost.parts()}: to compile them takes about {cost.memory / 1e9:.2g} GB of memory, of which there are "
            f"{allowed_memory() / 1e9:.2g}; must be fewer{grouped}"
        )
        raise TooLargeError(one_line(words))
    told.add(key)
    backend.announce_wait(
        f"{cost.parts()}: about {time_in_words(cost.seconds)} and {cost.memory / 1e9:.1f} GB of memory to compile for a run, "
        f"the first time{grouped}"
    )


backend.before_compiling.append(foretell)
