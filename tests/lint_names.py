"""A rule of `make lint`: functions are named as what they do, their docstrings begin with a verb, they are short, and a class
name means one thing; test files have names of their own, else one of them is not collected.

What is not so yet stands below, and must be taken out once it is.
"""

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
PARTICIPLES = set(  # beside those with -ed; not those that look like the verb, or like a noun
    """begun bent born borne bought broken brought built caught chosen done drawn driven fallen found given gone grown held
    hidden kept known laid lost made met risen said seen sent shown slept sought spent spun struck sunk taken taught thrown told
    torn understood worn woven written""".split()
)
NO_PARTICIPLES = {"bed", "bleed", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"}
PREPOSITIONS_AND_NUMERALS = set(
    """about above across after against along amid among around at before behind below beneath beside between beyond by during
    except for from in inside into like near of off on onto out outside over past per since than through to toward towards
    under until up upon via with within without zero one two three four five six seven eight nine ten both none once""".split()
)
IDIOMS = {"of", "at"}  # of methods: a class made of parts, and what something is at a place or time
NAMES_NOT_YET: set[str] = {  # rooms in which public functions still have names of one word that say nothing
    "contact",
    "docking",
    "elements",
    "hil",
    "integrate",
    "mechanics",
    "mechanism",
    "realtime",
    "report",
    "results",
    "rig",
    "scenario",
    "stability",
    "studies",
    "translate",
}
NAMED = {"property", "cached_property", "setter"}  # what is called as a noun
LINES, PARAMETERS = 60, 10
LONG = {  # functions with more lines or parameters
    "integrate/variational/colliding.py:_accept_move",
    "rig/model/driven.py:drive_cycle",
    "rig/model/schedule.py:rig_schedule",
    "mechanism/regulated_arm.py:linearise_arm",
}
COMMANDS = ("cli/",)  # where a function has a parameter for each option, and its docstring is what --help says
MOST_SHARED = 6  # class names of two classes or more


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


def nameless(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and name of public functions whose name is but a participle, a preposition or a numeral."""
    for node in functions(ast.parse(source)):
        first = node.args.args[0].arg if node.args.args else ""
        if node.name in IDIOMS and (first in ("self", "cls") or "staticmethod" in map(called, node.decorator_list)):
            continue
        participle = node.name in PARTICIPLES or (node.name.endswith("ed") and node.name not in NO_PARTICIPLES)
        if "_" not in node.name and (participle or node.name in PREPOSITIONS_AND_NUMERALS):
            yield node.lineno, node.name


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
    found, long, classes, rooms = [], set(), Counter[str](), set()
    for path in sorted(ROOT.rglob("*.py")):
        source, place = path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix()
        classes.update(node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
        room = place.partition("/")[0]
        for line, name in nameless(source):
            rooms.add(room)
            if room not in NAMES_NOT_YET:
                found.append(f"{path}:{line}: {name} says nothing; must be named as what it does")
        if not place.startswith(COMMANDS):
            found += [
                f"{path}:{line}: a docstring begins with {word!r}; must with a verb" for line, word in nouns(source)
            ]
            long |= {f"{place}:{name}" for name in long_functions(source)}
    found += [f"{place}: has more than {LINES} lines or {PARAMETERS} parameters" for place in sorted(long - LONG)]
    found += [f"{place}: is short now; take it out of LONG" for place in sorted(LONG - long)]
    found += [
        f"{room}: has only names that say something; take it out of NAMES_NOT_YET" for room in NAMES_NOT_YET - rooms
    ]
    shared = sorted(name for name, count in classes.items() if count > 1)
    if len(shared) != MOST_SHARED:
        found.append(
            f"{len(shared)} class names are of several classes, {MOST_SHARED} in MOST_SHARED: {', '.join(shared)}"
        )
    files = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    found += [f"tests/…/{name}: {count} files have this name" for name, count in files.items() if count > 1]
    print("\n".join(found) or "Names and docstrings are as they should be.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
