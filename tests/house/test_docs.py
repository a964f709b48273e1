"""README and pages: what they show runs, and prints what they say; no key, variable or option is left out."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest
import tomlkit
import typer
from places import DOCS, ROOT, SOURCE

import dockdyn
from dockdyn.cli import main as cli
from dockdyn.kinds.assembly.data import ELEMENT_VARIABLES, JOINT_VARIABLES, PORT_UNITS, VARIABLES
from dockdyn.kinds.assembly.key_figures import FIGURES
from dockdyn.kinds.rig.schema import MODES
from dockdyn.results import plan
from dockdyn.results.requirements import judge
from dockdyn.scenario.distributions.distribution import LAWS as DISTRIBUTIONS
from dockdyn.scenario.kinds import kind_named, known_kinds
from dockdyn.scenario.language.requirement import RELATIONS, requirements_of
from dockdyn.scenario.load import parse
from dockdyn.scenario.preset_files import PRESETS, preset_text
from dockdyn.scenario.tables.campaign import CampaignSection
from dockdyn.scenario.tables.rig.compensators import LAWS
from dockdyn.scenario.tables.run import IntegratorSection
from dockdyn.studies.margins.sweep import parse_sweep, stability_dataset

PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
BLOCK = re.compile(r"^```(python|toml|console|text|xml|c)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"(?:#|<!--|/\*) (\w+\.(?:py|toml|urdf|xml|c))(?: -->| \*/)?\n")
PART = re.compile(r"# in (the scenario|[\w-]+)\n")
PRINTED = re.compile(r"^ *print\(.*\)  # (.+)$", re.MULTILINE)
ROUND_OFF = re.compile(r"\b\d(\.\d+)?e-1\d\b")
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


def check_console(block: Block, monkeypatch, capsys) -> None:
    """Runs the `dockdyn` lines; what is shown below each has to be printed, however its lines are broken (an ellipsis
    stands for more)."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        if not line.startswith("dockdyn"):
            continue
        code, printed = run_command(line, monkeypatch, capsys)
        assert code == (cli.BAD_INPUT if shown.startswith("error:") else 0), printed
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
    """Loads a whole scenario, or puts the tables of a part in the place of the demo's or of the preset that it names."""
    part = PART.match(block.text)
    if not part:
        parse(block.text, "page")
        return
    data = tomlkit.parse(preset_text("probe-cone" if part[1] == "the scenario" else part[1])).unwrap()
    for key, value in tomllib.loads(block.text).items():
        data[key] = data.get(key, {}) | value if isinstance(value, dict) else value
    own = (
        None if part[1] == "the scenario" else PRESETS
    )  # meshes of a preset are beside it, those of a user are not there
    parse(tomlkit.dumps(data), "page", meshes=own)


# what takes longest is run by `make verify` alone
LONG = (
    "fmu",
    "stepping",
    "stability",
    "results",
    "tutorial-fmu",
    "tutorial-rig",
    "tutorial-rig-real-time",
    "tutorial-capture",
    "tutorial-mesh",
    "tutorial-arm",
    "own-compensator",
    "cluster",
)
DRAWN = ("quickstart", "own-parts")  # with replays in their reports
COMPILED = ("fmu", "tutorial-fmu")  # by the C compiler of this machine
NO_COMPILER = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
SHOWN = [
    pytest.param(
        page,
        id=page.stem,
        marks=[pytest.mark.full] * (page.stem in LONG)
        + [pytest.mark.replay] * (page.stem in DRAWN)
        + [NO_COMPILER] * (page.stem in COMPILED),
    )
    for page in PAGES
    if blocks(page)
]


@pytest.mark.parametrize("page", SHOWN)
def test_what_a_page_shows_runs(page, tmp_path, monkeypatch, capsys):
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
                check_console(block, monkeypatch, capsys)
            elif block.language == "toml":
                check_toml(block)
            elif block.language == "python" and not named:
                check_python(block, names, capsys)
    finally:
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
                del sys.modules[name]


def rows(page: Path) -> dict[str, str]:
    """Rows of a page's tables by the names in their first cell."""
    found: dict[str, str] = {}
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            first = re.split(r"(?<!\\)\|", line)[1]
            found |= dict.fromkeys(re.findall(r"`([^`]+)`", first), line)
    return found


SCHEMAS = {name: kind_named(name).schema({}, name) for name in known_kinds()} | {
    "rig in space": MODES["6-dof"],
    "rig with an assembly": MODES["assembly"],
}
WORDS = (
    "form",
    "hold",
    "kind",
    "law",
    "method",
    "mode",
    "model",
    "robot",
    "shape",
    "velocity",
)  # keys that take one of several words


def words_of(schema: object) -> set[str]:
    """All words that the schema of a key allows."""
    if isinstance(schema, list):
        return set().union(*map(words_of, schema))
    if not isinstance(schema, dict):
        return set()
    found = {schema["const"]} if "const" in schema else set(schema.get("enum", []))
    return found | words_of(list(schema.values()))


def test_every_distribution_and_the_campaign_are_documented():
    text = (DOCS / "scenario.md").read_text(encoding="utf-8")
    distributions = text.split("\n## Distributions")[1].split("\n## ")[0]
    for word, law in DISTRIBUTIONS.items():
        (row,) = re.findall(rf'^\| `"{word}"` \|.*$', distributions, re.M)
        keys = set(law.model_fields) - {"distribution", "nominal"}
        assert keys and not [key for key in keys if f"`{key}`" not in row], word
    described = text.split("\n## `[campaign]`")[1].split("\n## ")[0]
    keys = CampaignSection.model_json_schema()["properties"]
    assert not [key for key in keys if f"\n| `{key}` |" not in described]
    assert not [word for word in keys["sampling"]["enum"] if f'`"{word}"`' not in described]
    section = text.split("\n## `[requirements]`")[1].split("\n## ")[0]
    assert not [relation for relation in RELATIONS if f"`{relation}`" not in section]


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_key_of_a_scenario_is_documented(kind):
    text = (DOCS / "scenario.md").read_text(encoding="utf-8")
    schema = SCHEMAS[kind].model_json_schema()
    keys = set()
    for section in [schema, *schema["$defs"].values()]:
        properties = section.get("properties", {})
        keys |= set(properties)
        allowed = words_of([properties.get(name, {}) for name in WORDS])
        assert not sorted(word for word in allowed if f'`"{word}"`' not in text)
    loop = {"transition_rate", "denominator", "compensator", "depth"}
    of_this_kind = {
        "free-flight": {"duration", "rim_radius", "max_events", "entry"} | loop,
        "assembly": {"on", "against", "copies", "hexapod", "moved_mass", "turning_stiffness", "pole_radius", "lasting"},
        "rig": {"mode", "bilateral", "jitter", "switch_time"} | loop,
        "rig in space": {"mode", "half_angle", "jitter", "switch_time"} | loop,
        "rig with an assembly": {"mock_ups", "on", "against", "turning_stiffness", "jitter"} | loop,
        "four-mass": {"gap", "masses", "transition_rate"},
        "latch": {"gap", "lateral_length", "preload"},
        "berthing": {"target_radius", "twist_modes", "base_limit", "r_f"},
        "orbital-arm": {"gravity_gradient", "points", "set_point", "max_iterations"},
    }
    assert of_this_kind[kind] <= keys
    assert not sorted(key for key in keys if not re.search(rf"`(\w+\.)*{key}`|\[{key}\]", text))


def test_tables_of_the_loop_have_a_heading_and_rows_of_their_own():
    text = (DOCS / "scenario.md").read_text(encoding="utf-8")
    for table, section in loop_tables().items():
        described = text.split(f"\n`[loop.{table}]`: ")[1].split("\n`[")[0].split("\n## ")[0]
        assert not [key for key in section["properties"] if not re.search(rf"^\|.*`{key}`", described, re.M)], table


def loop_tables() -> dict[str, dict]:
    """The schemas of the tables inside `[loop]`."""
    definitions = SCHEMAS["rig"].model_json_schema()["$defs"]
    found = {}
    for name, place in definitions["RigLoopSection"]["properties"].items():
        for option in [place, *place.get("anyOf", [])]:
            if "$ref" in option:
                found[name] = definitions[option["$ref"].rsplit("/", 1)[1]]
    found["compensator"] = {
        "properties": {key: None for law in LAWS.values() for key in law.model_json_schema()["properties"]}
    }
    carried = {"tool", "sensor_frame"}
    assert {"hold", "sensor", "robot", "dynamics", "virtual_contact", "tuning", "compensator"} | carried <= set(found)
    return found


def test_every_compensator_is_described_with_its_keys():
    text = (DOCS / "scenario.md").read_text(encoding="utf-8")
    for law, section in LAWS.items():
        (row,) = re.findall(rf'^\| `"{law}"` \|.*$', text, re.M)
        shared = {"law", "period", "differentiator_rate", "differentiator_step", "filter_time"}
        assert not [
            key for key in section.model_json_schema()["properties"] if f"`{key}`" not in row and key not in shared
        ]


def test_default_step_and_tolerance_are_those_of_the_code():
    text = (DOCS / "scenario.md").read_text(encoding="utf-8")
    chosen = text.split("**`step` left out.**")[1].split("\n\n")[0]
    assert f"{1000 * plan.DEFAULT_STEP:g} ms" in chosen
    assert f"{IntegratorSection().tolerance:g}" in chosen


@pytest.fixture(scope="module")
def result():
    return dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", {"duration": "10 s"}))


def test_every_variable_of_a_result_is_documented_with_its_unit(result):
    documented = rows(DOCS / "results.md")
    for name, variable in result.data_vars.items():
        assert f"| {variable.attrs['units']} |" in documented[name], name
    assert not set(result.attrs) - set(documented)
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    assert not [name for name in result.sizes if f"`{name}`" not in text]


def test_every_variable_of_an_assembly_is_documented_with_its_unit():
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    documented = rows(DOCS / "results.md")
    for name, (_, unit, _) in (VARIABLES | ELEMENT_VARIABLES | JOINT_VARIABLES).items():
        words = "rad" if unit == "SI" else f"| {unit} |"  # rad or m, by joint
        assert words in documented[name], name
    for name, unit in PORT_UNITS.items():
        assert f"| {unit} |" in documented[f"interface_{name}"], name
    assert not [one.name for one in FIGURES if one.name.startswith("interface") and f"`{one.name}`" not in text]


def test_every_key_of_a_summary_is_documented(result):
    documented = rows(DOCS / "results.md")
    summary = dockdyn.summarise(result)
    assert not set(summary) - set(documented)
    assert not set(summary["contacts"][0]) - set(documented)
    (judged,) = judge(requirements_of({"peak_normal_force": "< 4 kN"}, "here"), summary)
    assert not set(judged) - set(documented)


@pytest.mark.parametrize(
    ("scenario", "sweeps"),
    [
        ("sazawal-spring-dashpot", ["loop.delay=0:0.4:4"]),
        ("sits", ["mass=400:500:3", "contact.normal.damping=0:50:3", "loop.sensor.delay=0:1ms:2"]),
    ],
)
def test_margins_and_the_file_of_a_chart_are_documented(scenario, sweeps):
    page = DOCS / "stability.md"
    documented = rows(page)
    chart = stability_dataset(dockdyn.load(scenario), [parse_sweep(text) for text in sweeps])
    margins = json.loads(chart.attrs["margins"])
    for keys in (margins, margins["pade"]["1"], margins["nominal"], chart.variables, chart.attrs):
        assert not set(keys) - set(documented)
    for key in margins:  # a unit in the name is that of the table
        unit = re.search(r"_(N_s_m|rad_s|1_s|N_m|kg|s)$", key)
        if unit:
            words = {"N_s_m": "N s/m", "rad_s": "rad/s", "1_s": "1/s", "N_m": "N/m"}.get(unit[1], unit[1])
            assert words in re.split(r"(?<!\\)\|", documented[key])[2], key
    assert not set(map(str, chart.sizes)) - set(re.findall(r"\w+", page.read_text(encoding="utf-8")))


def test_every_command_and_option_is_documented():
    text = (DOCS / "cli.md").read_text(encoding="utf-8")
    for name, command in typer.main.get_command(cli.app).commands.items():
        assert f"## `dockdyn {name}" in text
        section = text.split(f"## `dockdyn {name}")[1].split("\n## ")[0]
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
        assert not [option for option in options if option not in section and option != "--help"], name


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
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    listed = {line for block in re.findall(r"^```{toctree}\n(.*?)^```", index, re.M | re.S) for line in block.split()}
    assert {page.stem for page in PAGES if page.parent == DOCS} - listed == {"index"}


def test_python_reference_names_everything():
    """Every public name of the package, and every module with physics."""
    api = (DOCS / "api.md").read_text(encoding="utf-8")
    for module in (dockdyn, dockdyn.stability, dockdyn.impact):
        names = [name for name in module.__all__ if name not in ("impact", "stability", "Vector")]
        assert not [name for name in names if f" {module.__name__}.{name}\n" not in api], module.__name__
    for room in ("mechanics", "contact", "impact", "integrate", "elements", "stability", "control", "hil", "kinds"):
        page = (DOCS / f"api-{room}.md").read_text(encoding="utf-8")
        source = SOURCE
        modules = [file for file in (source / room).rglob("*.py") if file.name != "__init__.py"]
        if room == "kinds":
            modules = [
                file
                for file in modules
                if file.name.startswith("model")
                or file.parent.name == "model"
                or (file.name == "kind.py" and file.parent.name == "kinds")
            ]
        names = [".".join(("dockdyn", *file.relative_to(source).with_suffix("").parts)) for file in modules]
        assert not [name for name in names if f"automodule:: {name}\n" not in page], room


def test_the_tables_of_keys_are_those_of_the_schema(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import make_keys

    assert make_keys.page() == make_keys.PAGE.read_text(encoding="utf-8"), "run: python docs/make_keys.py"


def test_pictures_are_there_and_small():
    images = DOCS / "images"
    named = {name for page in PAGES for name in re.findall(r"images/([\w.-]+)\)", page.read_text(encoding="utf-8"))}
    assert named == {file.name for file in images.iterdir()}
    assert sum(file.stat().st_size for file in images.iterdir()) < 3e6
