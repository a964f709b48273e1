"""Pages: no key, variable, option or table of a scenario, a result or a command is left out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import typer
from places import DOCS

import dockdyn
from dockdyn.cli import main as cli
from dockdyn.kinds.assembly.data import ELEMENT_VARIABLES, JOINT_VARIABLES, PORT_UNITS, VARIABLES
from dockdyn.kinds.assembly.key_figures import FIGURES
from dockdyn.kinds.rig.schema import MODES
from dockdyn.results import plan
from dockdyn.results.exchange.log_roles import OF_CONTACT, OF_ROBOT
from dockdyn.results.requirements import judge
from dockdyn.scenario.distributions.distribution import LAWS as DISTRIBUTIONS
from dockdyn.scenario.kinds import kind_named, known_kinds
from dockdyn.scenario.language.requirement import RELATIONS, requirements_of
from dockdyn.scenario.tables.campaign import CampaignSection
from dockdyn.scenario.tables.rig.compensators import laws
from dockdyn.scenario.tables.run import IntegratorSection
from dockdyn.studies.margins.sweep import parse_sweep, stability_dataset


def rows(page: Path) -> dict[str, str]:
    """Rows of a page's tables by the names in their first cell."""
    return named_in(page.read_text(encoding="utf-8"))


def named_in(text: str) -> dict[str, str]:
    """The same of a part of a page."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if line.startswith("|"):
            first = re.split(r"(?<!\\)\|", line)[1]
            found |= dict.fromkeys(re.findall(r"`([^`]+)`", first), line)
    return found


SCHEMAS = {name: kind_named(name).schema({}, name) for name in known_kinds()} | {
    "assembly on a line": kind_named("assembly").schema({"motion": "line"}, "assembly"),
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
        "assembly": {
            "duration",
            "rim_radius",
            "max_events",
            "entry",
            "on",
            "copies",
            "hexapod",
            "moved_mass",
            "turning_stiffness",
            "pole_radius",
            "lasting",
        }
        | {"gravity_gradient", "set_point", "over"},
        "rig": {"mode", "bilateral", "jitter", "switch_time"} | loop,
        "rig in space": {"mode", "half_angle", "jitter", "switch_time"} | loop,
        "rig with an assembly": {"mock_ups", "on", "turning_stiffness", "jitter"} | loop,
        "assembly on a line": {"motion", "between", "anchor", "lateral_length", "preload", "start_rate"},
    }
    assert of_this_kind[kind] <= keys
    assert not sorted(key for key in keys if not re.search(rf"`(\w+\.)*{key}`|\[{key}\]", text))


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_key_at_the_top_of_a_kind_is_in_a_table_of_its_section(kind):
    text = (DOCS / "scenario.md").read_text(encoding="utf-8")
    heads = {
        "rig in space": ["### A rig in space"],
        "rig with an assembly": ["### A rig with an assembly"],
        "assembly on a line": ["## Kind `assembly`", "### On a line"],
    }.get(kind, [f"## Kind `{kind}`"])
    section = "".join(re.split(r"\n###? ", text.split(f"\n{head}\n")[1])[0] for head in heads)
    named = {name.partition(".")[0] for name in named_in(section)}
    assert not sorted(set(SCHEMAS[kind].model_json_schema()["properties"]) - named)


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
        "properties": {key: None for law in laws().values() for key in law.model_json_schema()["properties"]}
    }
    carried = {"tool", "sensor_frame"}
    assert {"hold", "sensor", "robot", "dynamics", "virtual_contact", "tuning", "compensator"} | carried <= set(found)
    return found


def test_every_compensator_is_described_with_its_keys():
    text = (DOCS / "scenario.md").read_text(encoding="utf-8")
    for law, section in laws().items():
        (row,) = re.findall(rf'^\| `"{law}"` \|.*$', text, re.M)
        shared = {"law", "period", "filter_time"}
        shared |= {f"differentiator_{part}" for part in ("rate", "step", "form")}
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
    dimensions = text.split("\n### Assembly\n")[1].split("\n\n")[0]
    common = {"body", "axis", "quaternion", "contact", "point"}  # with those of free flight
    for name, (over, unit, _) in (VARIABLES | ELEMENT_VARIABLES | JOINT_VARIABLES).items():
        words = "rad" if unit == "SI" else f"| {unit} |"  # rad or m, by joint
        assert words in documented[name], name
        assert not [dimension for dimension in {*over} - common if f"`{dimension}`" not in dimensions], name
    for name, unit in PORT_UNITS.items():
        assert f"| {unit} |" in documented[f"interface_{name}"], name
    assert not [one.name for one in FIGURES if one.name.startswith("interface") and f"`{one.name}`" not in text]


@pytest.mark.parametrize(
    ("scenario", "heading"),
    [
        pytest.param("canadarm-2d", "Assembly", marks=pytest.mark.full),
        pytest.param("sits", "Rig", marks=pytest.mark.full),
    ],
)
def test_dimensions_of_results_are_named_and_in_the_table_of_their_kind(scenario, heading):
    found = dockdyn.simulate(dockdyn.load(scenario, {"duration": "0.1 s"}))
    text = (DOCS / "results.md").read_text(encoding="utf-8")
    section = text.split(f"\n### {heading}\n")[1].split("\n## ")[0].split("\n### ")[0]
    named = set(re.findall(r"`(\w+)`", section.split("\n\n|")[0] + text.split("\nDimensions: ")[1].split("\n\n")[0]))
    assert not set(found.sizes) - named
    for name, row in named_in(section).items():
        if name in found:
            said = set(re.findall(r"\w+", re.split(r"(?<!\\)\|", row)[2]))
            assert not set(found[name].dims) - said, name


def test_every_key_of_a_summary_is_documented(result):
    documented = rows(DOCS / "results.md")
    summary = dockdyn.summarise(result)
    assert not set(summary) - set(documented)
    assert not set(summary["contacts"][0]) - set(documented)
    (judged,) = judge(requirements_of({"peak_normal_force": "< 4 kN"}, "here"), summary)
    assert not set(judged) - set(documented)


def test_figures_of_a_campaign_are_said_to_be_of_the_kinds_that_have_them():
    page = (DOCS / "results.md").read_text(encoding="utf-8")
    table = page.split("has figures of all of them together:\n\n")[1].split("\n\n")[0]
    of_kind = {"of an assembly": {one.name for one in FIGURES}}
    for name, row in named_in(table).items():
        said = [names for words, names in of_kind.items() if words in row] or list(of_kind.values())
        for names in of_kind.values():
            assert (name.partition(".")[0] in names) == (names in said), row


@pytest.mark.full
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


def test_every_heading_of_a_log_that_is_known_is_told():
    rows = re.findall(r"^\| `(--[\w-]+)` \| (.*) \|$", (DOCS / "identify.md").read_text(encoding="utf-8"), re.MULTILINE)
    told = {option: re.findall(r"`(\w+)`", names) for option, names in rows}
    known = {role.option: [name.replace(" ", "_") for name in role.known_as] for role in (*OF_ROBOT, *OF_CONTACT)}
    assert told == known
