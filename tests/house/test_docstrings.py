"""What the physics says of itself: shapes, units, errors and source, in every module of the rooms that hold it."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from places import SOURCE

ROOMS = ("mechanics", "contact", "impact", "integrate", "elements", "stability", "control", "loop", "models")
MODULES = [path for room in ROOMS for path in sorted((SOURCE / room).rglob("*.py")) if path.stat().st_size]

# arrays whose shape a signature leaves out; inside these the names or rows are told in words
LOOSE = {"dict", "Callable", "list", "Sequence", "Mapping"}
BARE = {"Array", "jax.Array", "np.ndarray"}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def public(path: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef, str]]:
    """Public functions, classes and their public methods: name, node, docstring (a method's with that of its class)."""
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node, ast.get_docstring(node) or ""
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
                    words = f"{ast.get_docstring(inner) or ''} {ast.get_docstring(node) or ''}"
                    yield f"{node.name}.{inner.name}", inner, words


def bare(annotation: ast.expr) -> bool:
    """Whether an annotation has an array without its shape."""
    if isinstance(annotation, ast.Subscript):
        if ast.unparse(annotation.value) in LOOSE:
            return False
        parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        shaped = len(parts) == 2 and isinstance(parts[1], ast.Constant)  # Float[Array, "n 3"]
        return not shaped and any(map(bare, parts))
    if isinstance(annotation, ast.BinOp):
        return bare(annotation.left) or bare(annotation.right)
    return ast.unparse(annotation) in BARE


def raised(node: ast.AST) -> set[str]:
    """The exceptions that the code of a function names in `raise`."""
    found = {n.exc for n in ast.walk(node) if isinstance(n, ast.Raise) and n.exc is not None}
    return {ast.unparse(exc.func if isinstance(exc, ast.Call) else exc) for exc in found}


def where(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").as_posix()


@pytest.mark.parametrize("path", MODULES, ids=where)
def test_physics_states_shapes_units_errors_and_source(path):
    module = ast.get_docstring(tree(path)) or ""
    assert re.search(r"^Units: \S", module, re.M), "a line of the module's docstring names its units"
    assert re.search(r"^Source: \S", module, re.M), (
        "a line of the module's docstring names paper, textbook or derivation"
    )
    for name, node, words in public(path):
        assert words.strip(), f"{name}: has no docstring"
        if isinstance(node, ast.ClassDef):
            continue
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        given = [argument for argument in every if argument.arg not in ("self", "cls")]
        unsaid = [argument.arg for argument in given if argument.annotation is None]
        assert not unsaid and node.returns is not None, f"{name}: not annotated: {unsaid or 'what it returns'}"
        annotations = {argument.arg: argument.annotation for argument in given} | {"return": node.returns}
        assert not [what for what, said in annotations.items() if said and bare(said)], f"{name}: arrays without shape"
        assert not [error for error in raised(node) if error not in words], f"{name}: raises what its docstring hides"
