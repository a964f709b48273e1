"""A scenario of one's own to begin with: what it is of, what is asked, and the file that follows."""

from __future__ import annotations

from collections.abc import Callable

from dockdyn.records import record
from dockdyn.scenario.starters.question import Answers, Rule, StarterQuestion


@record
class Starter:
    """A mechanism that `dockdyn new` knows."""

    words: str  # what it is; up to a comma, the title of its file
    questions: tuple[StarterQuestion, ...]  # in the order in which they are asked
    tables: Callable[[Answers], str]  # all of the file below its title
    result: str  # what a run of it says
    mock_ups: Rule[tuple[str, str]] = lambda answers: ("", "")  # bodies that meet on a rig, where one is asked for
