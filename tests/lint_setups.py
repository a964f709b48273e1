"""A rule of `make lint`: outside their rooms nothing asks whether a scenario sets up a mechanism or a rig."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "dockdyn"
MAY = ("docking/", "rig/", "scenario/setups.py")  # where the names are at home


def asks_for_setup(node: ast.AST) -> bool:
    """Whether an expression is the name of a scenario's or result's setup: `x.setup`, `x["setup"]`, `x.get("setup")`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "setup"
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "setup"
    if isinstance(node, ast.Call):
        return any(asks_for_setup(part) or getattr(part, "value", None) == "setup" for part in (node.func, *node.args))
    return isinstance(node, ast.Name) and node.id == "setup"


def constants(node: ast.AST) -> Iterator[str]:
    """The texts in an expression."""
    yield from (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))


def offences(source: str, names: set[str]) -> Iterator[int]:
    """Lines of `source` that compare a setup with one of the `names`, or look one up by it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(asks_for_setup, sides)) and names & {text for side in sides for text in constants(side)}:
                yield node.lineno
        elif isinstance(node, ast.Match) and asks_for_setup(node.subject):
            yield node.lineno
        elif (
            isinstance(node, ast.Dict)
            and len(names & {text for key in node.keys if key for text in constants(key)}) > 1
        ):
            yield node.lineno


def main() -> int:
    from dockdyn.scenario.setups import SETUPS

    found = [
        f"{path}:{line}: asks for a setup by its name; must be a method of dockdyn.docking.setup.Setup"
        for path in sorted(ROOT.rglob("*.py"))
        if not path.relative_to(ROOT).as_posix().startswith(MAY)
        for line in offences(path.read_text(encoding="utf-8"), set(SETUPS))
    ]
    print("\n".join(found) or "No setup is asked for by its name.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
