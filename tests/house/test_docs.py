"""README and pages: what they show runs, and prints what they say; links lead somewhere, and nothing is left out of lists."""

import re
import shlex
import shutil
import sys
import tomllib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
import tomlkit
from places import DOCS, ROOT, SOURCE

import dockdyn
from dockdyn.cli import main as cli
from dockdyn.scenario.load import parse
from dockdyn.scenario.preset_files import PRESETS, preset_text

PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
BLOCK = re.compile(r"^```(python|toml|console|text|xml|c)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"(?:#|<!--|/\*) (\w+\.(?:py|toml|urdf|xml|c|h))(?: -->| \*/)?\n")
PART = re.compile(r"# in (the scenario|[\w-]+)\n")
PRINTED = re.compile(r"^ *print\(.*\)  # (.+)$", re.MULTILINE)
ROUND_OFF = re.compile(r"\b\d(\.\d+)?e-1\d\b")
RUNS = re.compile(r"--runs \d+")
NUMBER = re.compile(r"\d+(\.\d+)?")
BORDERS = re.compile(r"[│┃─━┏┓└┘┡┩┳╇┴┴┼|]")


@dataclass
class Block:
    language: str
    text: str
    output: str | None  # the `text` block right behind


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language == "text":
            found[-1].output = text
        else:
            found.append(Block(language, text, None))
    return found


def plain(text: str) -> list[str]:
    """Lines without tables' borders, spacing and the digits of round-off."""
    lines = [" ".join(BORDERS.sub(" ", line).split()) for line in text.splitlines()]
    return [ROUND_OFF.sub("(round-off)", line) for line in lines if line]


def run_command(line: str, monkeypatch, capsys) -> tuple[int, str]:
    """Exit code and everything printed by a `dockdyn …` line."""
    monkeypatch.setattr(sys, "argv", shlex.split(line.partition(" > ")[0], comments=True))  # without its file
    capsys.readouterr()
    try:
        cli.main()
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    printed = capsys.readouterr()
    return code, printed.out + printed.err


def check_console(block: Block, monkeypatch, capsys, runs: int | None = None) -> None:
    """Runs the `dockdyn` lines; what is shown below each has to be printed, however its lines are broken (an ellipsis
    stands for more). With `runs` campaigns have so many cases: then numbers are others than those shown."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        if not line.startswith("dockdyn"):
            continue
        fewer = runs is not None and RUNS.search(line)
        code, printed = run_command(RUNS.sub(f"--runs {runs}", line) if fewer else line, monkeypatch, capsys)
        assert code == (cli.BAD_INPUT if shown.startswith("error:") else 0), printed
        if fewer:
            shown, printed = (NUMBER.sub("(number)", text) for text in (shown, printed))
        whole = " ".join(plain(printed))
        missing = [wanted for wanted in plain(shown) if wanted != "…" and wanted not in whole]
        assert not missing, f"{line}\n{printed}"


def check_python(block: Block, names: dict[str, object], capsys) -> None:
    """Runs the code with the names of the blocks above it; compares what it prints with the comments behind `print` or
    the text block that follows."""
    capsys.readouterr()
    exec(compile(block.text, "block", "exec"), names)
    printed = capsys.readouterr().out.splitlines()
    expected = PRINTED.findall(block.text) if block.output is None else block.output.splitlines()
    assert [line for line in printed if line in expected] == expected, printed


def check_toml(block: Block) -> None:
    """Loads a whole scenario, or puts the tables of a part in the place of the demo's or of the preset that it names; keys of a
    body in that of its name."""
    part = PART.match(block.text)
    if not part:
        parse(block.text, "page")
        return
    data = tomlkit.parse(preset_text("probe-cone" if part[1] == "the scenario" else part[1])).unwrap()
    for key, value in tomllib.loads(block.text).items():
        if key == "body":
            data[key] = {name: body | value.get(name, {}) for name, body in data[key].items()}
        elif key == "phase":  # they follow each other: a part has them all
            data[key] = value
        else:
            data[key] = data.get(key, {}) | value if isinstance(value, dict) else value
    own = (
        None if part[1] == "the scenario" else PRESETS
    )  # meshes of a preset are beside it, those of a user are not there
    parse(tomlkit.dumps(data), "page", meshes=own)


# what takes longest is run by `make verify` alone
LONG = (
    "README",
    "design",
    "own-controller",
    "export",
    "fmu",
    "stepping",
    "stability",
    "results",
    "tutorial-fmu",
    "tutorial-rig",
    "tutorial-rig-real-time",
    "tutorial-capture",
    "tutorial-design",
    "tutorial-mesh",
    "tutorial-arm",
    "own-compensator",
    "cluster",
)
COMPILED = ("fmu", "tutorial-fmu")  # by the C compiler of this machine
NO_COMPILER = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
SHOWN = [
    pytest.param(
        page, id=page.stem, marks=[pytest.mark.full] * (page.stem in LONG) + [NO_COMPILER] * (page.stem in COMPILED)
    )
    for page in PAGES
    if blocks(page)
]


@pytest.mark.full_cases(
    "mechanism",
    "campaign",
    "cli",
    "envelope",
    "identify",
    "impact",
    "index",
    "own-distribution",
    "own-parts",
    "quickstart",
    "rig",
    "view",
    "convergence",
    "in-a-notebook",
    "scenario",
    "api",
)
@pytest.mark.parametrize("page", SHOWN)
def test_what_a_page_shows_runs(page, tmp_path, monkeypatch, capsys):
    check_page(page, tmp_path, monkeypatch, capsys)


def test_what_the_readme_shows_runs_with_fewer_cases_of_its_campaign(tmp_path, monkeypatch, capsys):
    check_page(ROOT / "README.md", tmp_path, monkeypatch, capsys, runs=32)


def check_page(page, tmp_path, monkeypatch, capsys, runs=None):
    """From top to bottom in one folder, as a reader would."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    before = set(sys.modules)
    names: dict[str, object] = {"__name__": "__main__"}
    try:
        for block in blocks(page):
            named = FILE_NAME.match(block.text)
            if named:
                Path(named[1]).write_text(block.text, encoding="utf-8")
            if block.language == "console":
                check_console(block, monkeypatch, capsys, runs)
            elif block.language == "toml":
                check_toml(block)
            elif block.language == "python" and not named:
                check_python(block, names, capsys)
    finally:
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
                del sys.modules[name]


def test_dependencies_are_those_of_the_package():
    def bare(name: str) -> str:
        return re.sub(r"[^a-z0-9]", "", name.lower())

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (DOCS / "dependencies.md").read_text(encoding="utf-8")
    for heading, needed in {"Core": project["dependencies"], **project["optional-dependencies"]}.items():
        section = re.split(
            r"^## ", page.split(f"## {heading}\n" if heading == "Core" else f"## `{heading}`\n")[1], flags=re.M
        )
        listed = re.findall(r"^\| ([^|]+) \|", section[0], re.M)[1:]
        names = [part for need in needed for part in re.findall(r"^[\w.-]+|(?<=\[)[\w.-]+(?=\])", need)]
        assert {bare(name) for name in listed} == {bare(name) for name in names}, heading


HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
FENCED = re.compile(r"^(```|~~~|:::).*?^\1", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """What a link may name behind `#`: headings, as GitHub and the built pages spell them."""
    found = set()
    for heading in HEADING.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        words = re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower())
        found.add(words.replace(" ", "-"))
    return found


LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


@pytest.mark.full_cases("scenario-keys")
@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.stem)
def test_links_inside_the_repository_lead_somewhere(page):
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    lost = []
    for link, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", text):
        file = page.parent / link if link else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            lost.append(f"{link}#{anchor}")
    assert not lost


def test_every_page_is_in_the_contents():
    """In the sidebar, or folded below a page that is."""
    contents = {page.stem: contents_of(page) for page in PAGES if page.parent == DOCS}
    listed = [name for names in contents.values() for name in names]
    assert sorted([*listed, "index"]) == sorted(contents)
    assert len(contents["index"]) < 30


def contents_of(page: Path) -> list[str]:
    """Pages that a page has below it in the sidebar."""
    blocks = re.findall(r"^```{toctree}\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S)
    return [line for block in blocks for line in block.split("\n") if re.fullmatch(r"[\w-]+", line)]


def test_python_reference_names_everything():
    """Every public name of the package, and every module with physics."""
    api = (DOCS / "api.md").read_text(encoding="utf-8")
    for module in (dockdyn, dockdyn.stability, dockdyn.impact):
        names = [name for name in module.__all__ if name not in ("impact", "stability", "Vector")]
        assert not [name for name in names if f" {module.__name__}.{name}\n" not in api], module.__name__
    for room in (
        "mechanics",
        "contact",
        "impact",
        "integrate",
        "elements",
        "stability",
        "control",
        "hil",
        "mechanism",
        "docking",
    ):
        page = (DOCS / f"api-{room}.md").read_text(encoding="utf-8")
        modules = [file for file in (SOURCE / room).rglob("*.py") if file.name != "__init__.py"]
        if room == "docking":
            modules = [SOURCE / "docking" / "setup.py", *(SOURCE / "rig" / "model").glob("[!_]*.py")]
        names = [".".join(("dockdyn", *file.relative_to(SOURCE).with_suffix("").parts)) for file in modules]
        assert not [name for name in names if f"automodule:: {name}\n" not in page], room
        shown = re.findall(r"automodule:: (\S+)", page)
        assert not [name for name in shown if find_spec(name) is None], room


def test_the_tables_of_keys_are_those_of_the_schema(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import make_keys

    assert make_keys.page() == make_keys.PAGE.read_text(encoding="utf-8"), "run: python docs/make_keys.py"


def test_the_table_of_capabilities_is_that_of_its_tests(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import make_capabilities

    written = make_capabilities.PAGE.read_text(encoding="utf-8")
    assert make_capabilities.page() == written, "run: python docs/make_capabilities.py"


def test_pictures_are_there_and_small():
    images = DOCS / "images"
    named = {name for page in PAGES for name in re.findall(r"images/([\w.-]+)\)", page.read_text(encoding="utf-8"))}
    assert named == {file.name for file in images.iterdir()}
    assert sum(file.stat().st_size for file in images.iterdir()) < 3e6
