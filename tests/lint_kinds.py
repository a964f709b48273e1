"""A rule of `make lint`: outside `kinds/` nothing asks for the name of a kind of scenario."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "dockdyn"
MAY = ("kinds/", "scenario/kinds.py")  # where the names are at home


def asks_for_kind(node: ast.AST) -> bool:
    """Whether an expression is the name of a scenario's or result's kind: `x.kind`, `x["kind"]`, `x.get("kind")`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "kind" and not (isinstance(node.value, ast.Attribute) and node.value.attr == "dtype")
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and node.slice.value == "kind"
    if isinstance(node, ast.Call):
        return any(asks_for_kind(part) or getattr(part, "value", None) == "kind" for part in (node.func, *node.args))
    return isinstance(node, ast.Name) and node.id == "kind"


def constants(node: ast.AST) -> Iterator[str]:
    """The texts in an expression."""
    yield from (part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str))


def offences(source: str, names: set[str]) -> Iterator[int]:
    """Lines of `source` that compare a kind with one of the `names`, or look one up by it."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(asks_for_kind, sides)) and names & {text for side in sides for text in constants(side)}:
                yield node.lineno
        elif isinstance(node, ast.Match) and asks_for_kind(node.subject):
            yield node.lineno
        elif (
            isinstance(node, ast.Dict)
            and len(names & {text for key in node.keys if key for text in constants(key)}) > 1
        ):
            yield node.lineno


def main() -> int:
    from dockdyn.scenario.kinds import KINDS

    found = [
        f"{path}:{line}: asks for a kind by its name; must be a method of dockdyn.kinds.kind.Kind"
        for path in sorted(ROOT.rglob("*.py"))
        if not path.relative_to(ROOT).as_posix().startswith(MAY)
        for line in offences(path.read_text(encoding="utf-8"), set(KINDS))
    ]
    print("\n".join(found) or "No kind is asked for by its name.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
