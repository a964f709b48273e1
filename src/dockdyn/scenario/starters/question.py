"""What `dockdyn new` asks, and how an answer is read: an amount with its unit, one of several names, a file."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pydantic_core import PydanticCustomError

from dockdyn.records import record
from dockdyn.scenario.language.errors import ScenarioError, nearest
from dockdyn.scenario.language.units import Bounds, number_of

SCALES = {"mm": 1e-3, "mm/s": 1e-3, "deg": math.radians(1), "deg/s": math.radians(1), "ms": 1e-3}  # in SI units
FEW = 7  # names that a question shows


@dataclass
class Answers:
    """What has been answered so far: as the file has it, in SI units, and the files that were read."""

    folder: Path = Path()  # of the scenario, from which it counts paths
    texts: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    files: dict[str, object] = field(default_factory=dict)

    def __getitem__(self, name: str) -> float:
        """Return the number (SI) that was answered to a question about an amount."""
        return self.numbers[name]

    def says(self, name: str, answer: str) -> bool:
        """Return whether a question was asked and answered so."""
        return self.texts.get(name) == answer


type Rule[T] = Callable[[Answers], T]  # what follows from the answers so far


def _with_blanks(name: str) -> str:
    return name.replace("-", " ")


def always(answers: Answers) -> bool:
    """Return true: the question is asked whatever was answered before."""
    return True


def digits(value: float) -> str:
    """Return a number that was chosen, three digits of it, as a file has it."""
    return plain(float(f"{value:.3g}"))


def plain(value: float) -> str:
    """Return a number that was given, as a file has it."""
    return f"{value:.10g}"


def fixed_bounds(least: float, most: float) -> Rule[Bounds]:
    """Return bounds (SI) that do not depend on other answers."""
    return lambda answers: Bounds(least=least, most=most)


def round_bounds(least: float, most: float) -> Bounds:
    """Return bounds (SI) of three digits, so that a message says them as they are."""
    return Bounds(least=float(digits(least)), most=float(digits(most)))


class StarterQuestion(Protocol):
    """One question: its name on the command line, and what it does with an answer."""

    @property
    def name(self) -> str: ...

    @property
    def applies(self) -> Rule[bool]: ...

    def usual_answer(self, answers: Answers) -> str | None:
        """Return what is taken where nothing is answered; None where something must be."""

    def record(self, text: str, answers: Answers) -> str:
        """Keep an answer, and return what is to be said of it, mostly nothing. Raises ScenarioError with the reason."""

    def prompt(self, answers: Answers) -> str:
        """Return the question, in a word or two."""

    def explain(self, answers: Answers) -> str:
        """Return a sentence about what is asked, and what is allowed."""


@record
class Amount:
    """A question about a number with a unit."""

    name: str
    why: str  # a sentence
    unit: str  # SI
    what: str  # the quantity in words
    usual: Rule[float]  # SI
    bounds: Rule[Bounds]
    told_in: str = ""  # unit of the usual answer; SI without it
    applies: Rule[bool] = always

    def usual_answer(self, answers: Answers) -> str:
        scale, bounds = SCALES.get(self.told_in, 1.0), self.bounds(answers)
        wanted = min(max(self.usual(answers), bounds.least), bounds.most)
        value = float(f"{wanted / scale:.4g}")
        if not bounds.hold(value * scale):
            value = wanted / scale
        return f"{plain(value)} {self.told_in or self.unit}".strip()

    def record(self, text: str, answers: Answers) -> str:
        try:
            answers.numbers[self.name] = number_of(text, self.unit, self.what, self.bounds(answers))
        except PydanticCustomError as error:
            raise ScenarioError(str(error)) from None
        bare = not self.unit or text.strip().lower().replace("e", "").strip("+-.0123456789_") == ""
        number = plain(answers.numbers[self.name])
        answers.texts[self.name] = f"{number} {self.unit}".strip() if bare else text.strip()
        return f"That is {number} {self.unit}." if bare and self.unit else ""

    def prompt(self, answers: Answers) -> str:
        return _with_blanks(self.name)

    def explain(self, answers: Answers) -> str:
        allowed = self.bounds(answers).words(self.unit)
        return f"{self.why} {self.what.capitalize()}{f' {allowed}' if allowed else ''}."


@record
class Choice:
    """A question that one of several names answers, the first of them where nothing is said."""

    name: str
    why: str
    options: Rule[Mapping[str, str]]  # what each means
    applies: Rule[bool] = always
    usual: Callable[[Mapping[str, str]], str] = lambda options: next(iter(options))
    tell: Callable[[Mapping[str, str], str], str] = lambda options, chosen: ""  # what is said of the answer

    def usual_answer(self, answers: Answers) -> str:
        return self.usual(self.options(answers))

    def record(self, text: str, answers: Answers) -> str:
        options = self.options(answers)
        if text not in options:
            raise ScenarioError(f"is none of them; {nearest(text, options)}")
        answers.texts[self.name] = text
        return self.tell(options, text)

    def prompt(self, answers: Answers) -> str:
        options = self.options(answers)
        return f"{_with_blanks(self.name)} ({', '.join(options)})" if len(options) <= FEW else _with_blanks(self.name)

    def explain(self, answers: Answers) -> str:
        options = self.options(answers)
        return f"{self.why} {'; '.join(f'{name}: {words}' if words else name for name, words in options.items())}."


@record
class GivenFile:
    """A question for a file that must be there."""

    name: str
    why: str
    read: Callable[[Path], object]  # raises ScenarioError for one that cannot be used
    tell: Callable[[str, object], str]  # what is said of what it holds, by the name it was given
    applies: Rule[bool] = always

    def usual_answer(self, answers: Answers) -> None:
        return None

    def record(self, text: str, answers: Answers) -> str:
        path = Path(text).expanduser()
        answers.files[self.name] = found = self.read(path)
        beside = answers.folder.is_dir() and not path.is_absolute()
        answers.texts[self.name] = Path(os.path.relpath(path, answers.folder) if beside else path.resolve()).as_posix()
        return self.tell(text, found)

    def prompt(self, answers: Answers) -> str:
        return f"{_with_blanks(self.name)}, a file"

    def explain(self, answers: Answers) -> str:
        return self.why


def yes_or_no(name: str, why: str, usual: str = "yes", applies: Rule[bool] = always) -> Choice:
    """Return a question that is answered with yes or no."""
    answers = ("yes", "no") if usual == "yes" else ("no", "yes")
    return Choice(name, why, lambda so_far: dict.fromkeys(answers, ""), applies)


def refuse_unknown(name: str, questions: tuple[StarterQuestion, ...], mechanism: str) -> None:
    """Refuse an answer to a question that a mechanism does not ask. Raises ScenarioError."""
    names = [question.name for question in questions]
    if name in names:
        raise ScenarioError("is not asked for with the other answers; leave it out")
    raise ScenarioError(f"no such question of {mechanism}; {nearest(name, names)}")
