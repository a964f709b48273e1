"""A rule of `make lint`: docstrings of functions begin with a verb, functions are short, a class name means one thing.

What is not so yet stands below, and must be taken out once it is.
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "dockdyn"
NO_VERBS = {  # words with which a docstring begins that says no sentence
    *"A About After All An Any As At Before Both By Each Every For From How If In Into It Its No Of On One Same Some".split(),
    *"That The These They This Those To What When Where Whether Which While Who Why With Without".split(),
}
NAMED = {"property", "cached_property", "setter"}  # what is called as a noun
LINES, PARAMETERS = 60, 10
LONG = {  # functions with more lines or parameters
    "integrate/hybrid/fixed.py:iterate",
    "integrate/hybrid/located.py:_iterate",
    "integrate/variational/colliding.py:_follow",
    "kinds/rig/model/driven.py:drive",
    "kinds/rig/model/schedule.py:rig_schedule",
    "kinds/rig/start.py:_text",
    "mechanism/regulated_arm.py:captured",
    "results/variational_run.py:solution_of",
    "stability/loop.py:loop",
    "stability/pade.py:loop_polynomial",
    "stability/windows.py:stable_windows",
    "studies/margins/answer.py:margins",
    "studies/margins/report.py:blocks",
}
COMMANDS = ("cli/",)  # where a function has a parameter for each option, and its docstring is what --help says
MOST_SHARED = 7  # class names of two classes or more


def called(node: ast.expr) -> str:
    """Return the last word of what decorates a function."""
    inner = node.func if isinstance(node, ast.Call) else node
    return inner.attr if isinstance(inner, ast.Attribute) else getattr(inner, "id", "")


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions of a module that are called as verbs."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
            if not NAMED & set(map(called, node.decorator_list)):
                yield node


def nouns(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and first word of docstrings of functions that begin with no verb."""
    for node in functions(ast.parse(source)):
        first = (ast.get_docstring(node) or "Return").split()[0].strip(".,:;")
        if first in NO_VERBS or not first[0].isupper():
            yield node.lineno, first


def long_functions(source: str) -> Iterator[str]:
    """Yield the names of functions with more lines or parameters than one takes in at once."""
    for node in functions(ast.parse(source)):
        given = node.args
        count = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
        if (node.end_lineno or node.lineno) - node.lineno >= LINES or count > PARAMETERS:
            yield node.name


def main() -> int:
    """Print what breaks the rules, and return how the process ends."""
    found, long, classes = [], set(), Counter[str]()
    for path in sorted(ROOT.rglob("*.py")):
        source, place = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        classes.update(node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
        if not place.startswith(COMMANDS):
            found += [
                f"{path}:{line}: a docstring begins with {word!r}; must with a verb" for line, word in nouns(source)
            ]
            long |= {f"{place}:{name}" for name in long_functions(source)}
    found += [f"{place}: has more than {LINES} lines or {PARAMETERS} parameters" for place in sorted(long - LONG)]
    found += [f"{place}: is short now; take it out of LONG" for place in sorted(LONG - long)]
    shared = sorted(name for name, count in classes.items() if count > 1)
    if len(shared) != MOST_SHARED:
        found.append(
            f"{len(shared)} class names are of several classes, {MOST_SHARED} in MOST_SHARED: {', '.join(shared)}"
        )
    print("\n".join(found) or "Names and docstrings are as they should be.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
