"""What pages claim in prose: a number is shown by a block of the page or has its source named, an absolute word has a test.

Notes stand in the source of a page behind the paragraph, list entry or table that they are of, where readers do not see them:

- `<!-- test: tests/…/test_x.py::test_y -->`: that test fails where the claim is wrong;
- `<!-- so: 100 * (1 - 0.9148) -->`: computed from numbers that the page shows;
- `<!-- shown: README.md -->`: printed by a block of that page;
- `<!-- measured: … -->`, `<!-- source: … -->`: on which day or machine; from which standard, paper or definition.
"""

import ast
import operator
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from places import DOCS, ROOT

PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
WITHOUT_CLAIMS = (
    "devices",
    "safety",
    "errata",
    "scenario-keys",
    "options",
)  # name their tests in tables of their own, or are generated
NUMBERED = ("README", "quickstart", "rig", "mechanism", "stability", "cli", "envelope", *("tutorial-" + name for name in (
    "arm", "capture", "design", "fmu", "mesh", "rig", "rig-real-time")))  # fmt: skip
FENCED = re.compile(r"^(```|\$\$).*?^\1 *$", re.MULTILINE | re.DOTALL)
NOTE = re.compile(r"<!-- (test|so|shown|measured|source): (.+?) -->")
CODE = re.compile(r"(`+).+?\1", re.DOTALL)
ABSOLUTE = re.compile(r"\b(never|always|refuse[sd]?)\b", re.IGNORECASE)
UNITS = r"(?:[kmµMG]?(?:N|m|s|g|J|W|Hz|B|rad)|min|h|minutes|seconds|deg|GiB|MiB|cases|runs|designs|steps)\b|%|°"
PLAIN = r"[−-]?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
MEASURED = re.compile(
    rf"(?<![\w.^/−-]){PLAIN}(?=[ \u00a0]?(?:{UNITS}))|(?<![\w.^/:−-])[−-]?\d+\.\d+(?:e-?\d+)?(?![\w.])"
)
ANY = re.compile(rf"(?<![\w.]){PLAIN}")
PREFIXES = (0, 3, -3, 6, -6, 2, -2)  # powers of ten between units and their multiples, per cent among them
WORKED = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


@dataclass
class Prose:
    """A paragraph, list entry or table, and the notes behind it."""

    text: str
    notes: list[tuple[str, str]]

    def noted(self, sort: str) -> list[str]:
        return [what for kind, what in self.notes if kind == sort]


def prose(page: Path) -> list[Prose]:
    """All prose of a page without code, links' places and headings' marks."""
    text = re.sub(r"\]\([^)]*\)", "]", FENCED.sub("\n", page.read_text(encoding="utf-8")))
    found: list[Prose] = []
    for part in re.split(r"\n\s*\n|\n(?=\s*- )", text):
        words, notes = CODE.sub("", NOTE.sub("", part)).strip(), NOTE.findall(part)
        if words:
            found.append(Prose(words, notes))
        elif notes:
            found[-1].notes += notes
    return found


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-"))


def shown(page: Path) -> list[float]:
    """Every number in the blocks of a page."""
    return [
        number(text) for block in FENCED.finditer(page.read_text(encoding="utf-8")) for text in ANY.findall(block[0])
    ]


def is_among(text: str, values: list[float]) -> bool:
    """Whether one of the values, in this unit or a multiple, is written so with as many digits."""
    wanted = abs(number(text))
    mantissa = text.lstrip("−-").replace(",", "").partition("e")[0]
    digits = mantissa.replace(".", "").lstrip("0")
    count = max(1, len(digits if "." in mantissa else digits.rstrip("0")))
    scaled = (abs(value) * 10.0**power for value in values for power in PREFIXES)
    return wanted == 0 or any(float(f"{value:.{count}g}") == wanted for value in scaled)


def worked_out(term: ast.expr) -> tuple[float, list[float]]:
    """The value of a sum, product or power, and the numbers with a decimal point in it."""
    if isinstance(term, ast.Constant):
        return float(term.value), [term.value] if isinstance(term.value, float) else []
    assert isinstance(term, ast.BinOp), ast.dump(term)
    (left, first), (right, second) = worked_out(term.left), worked_out(term.right)
    return WORKED[type(term.op)](left, right), first + second


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_named_tests_are_there(page):
    for part in prose(page):
        for name in part.noted("test"):
            file, _, function = name.partition("::")
            source = ROOT / file
            assert source.is_file() and re.search(rf"^def {function}\(", source.read_text(encoding="utf-8"), re.M), name


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.stem not in WITHOUT_CLAIMS], ids=lambda page: page.stem
)
def test_absolute_words_have_a_test(page):
    """`never`, `always`, `refused` are promises."""
    bare = [part.text for part in prose(page) if ABSOLUTE.search(part.text) and not part.noted("test")]
    assert not bare


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem in NUMBERED], ids=lambda page: page.stem)
def test_numbers_in_prose_are_shown_or_have_a_source(page):
    blocks = shown(page)
    lost = []
    for part in prose(page):
        values = list(blocks)
        for other in part.noted("shown"):
            values += shown(next(file for file in PAGES if file.name == other))
        for formula in part.noted("so"):
            value, from_page = worked_out(ast.parse(formula, mode="eval").body)
            assert all(is_among(f"{one:g}", values) for one in from_page), formula
            values.append(value)
        unknown = [text for text in MEASURED.findall(part.text) if not is_among(text, values)]
        if unknown and not any(part.noted(sort) for sort in ("test", "measured", "source")):
            lost.append(f"{', '.join(unknown)} in: {' '.join(part.text.split())[:100]}")
    assert not lost, "\n" + "\n".join(lost)
