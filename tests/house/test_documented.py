"""Pages: no key, variable, option or table of a scenario, a result or a command is left out."""

import json
import re
from pathlib import Path

import pytest
import typer
from places import DOCS, results_pages

import dockdyn
from dockdyn.cli import main as cli
from dockdyn.docking.data import ELEMENT_LOADS, ELEMENT_VARIABLES, JOINT_VARIABLES, PORT_UNITS, VARIABLES
from dockdyn.docking.key_figures import FIGURES
from dockdyn.results import plan
from dockdyn.results.exchange.log_roles import OF_CONTACT, OF_ROBOT
from dockdyn.results.requirements import is_of_member, judge_requirements
from dockdyn.rig.schema import RigLineSection
from dockdyn.scenario.distributions.distribution import LAWS as DISTRIBUTIONS
from dockdyn.scenario.language.requirement import RELATIONS, requirements_of
from dockdyn.scenario.setups import SETUPS, setup_named
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


SCHEMAS = {name: setup_named(name).schema({}, name) for name in SETUPS} | {
    "mechanism on a line": setup_named("mechanism").schema({"motion": "line"}, "mechanism"),
    "rig on a line": RigLineSection,
}


def test_every_distribution_and_relation_is_documented():
    text = (DOCS / "scenario.md").read_text(encoding="utf-8")
    distributions = text.split("\n## Distributions")[1].split("\n## ")[0]
    for word, law in DISTRIBUTIONS.items():
        (row,) = re.findall(rf'^\| `"{word}"` \|.*$', distributions, re.M)
        keys = set(law.model_fields) - {"distribution", "nominal"}
        assert keys and not [key for key in keys if f"`{key}`" not in row], word
    section = text.split("\n## `[requirements]`")[1].split("\n## ")[0]
    assert not [relation for relation in RELATIONS if f"`{relation}`" not in section]


@pytest.fixture
def keys(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import make_keys

    return make_keys


def test_every_key_of_a_scenario_is_told(keys):
    """Each has a row in the page of keys, and nothing is told of a key that is not there."""
    page = (DOCS / "scenario-keys.md").read_text(encoding="utf-8")
    told = {(owner, key) for owner, meanings in keys.meanings().items() for key in meanings}
    count = 0
    for section in [*keys.SCHEMAS.values(), *keys.tables_of_all()]:
        for name, field in keys.stated_keys(section).items():
            key = field.alias or name
            owner = next((owner for owner in keys.owners(section) if key in keys.meanings().get(owner, {})), None)
            assert owner is not None, (section.__name__, key)
            assert f"| {keys.meanings()[owner][key]} |" in page, (section.__name__, key)
            told.discard((owner, key))
            count += 1
    assert not told and count > 500


@pytest.mark.parametrize("kind", SCHEMAS)
def test_every_table_at_the_top_of_a_kind_is_in_the_page_of_scenarios(kind, keys):
    text = (DOCS / "scenario.md").read_text(encoding="utf-8")
    tables = [
        field.alias or name
        for name, field in keys.stated_keys(SCHEMAS[kind]).items()
        if keys.sections(field.annotation)
    ]
    assert len(tables) > 5
    written = set(re.findall(r"\[(\w+)[\].]", text)) | set(
        re.findall(r"\[(\w+?)(?:(?<=ch)es|s)\]\(scenario-keys", text)
    )
    assert not set(tables) - written


def test_every_compensator_is_described():
    text = (DOCS / "scenario.md").read_text(encoding="utf-8")
    assert set(laws()) <= set(re.findall(r'^\| `"([\w-]+)"` \|.*\w.*\|$', text.split("### Compensators")[1], re.M))


def test_default_step_and_tolerance_are_those_of_the_code():
    text = (DOCS / "scenario.md").read_text(encoding="utf-8")
    chosen = text.split("**`step` left out.**")[1].split("\n\n")[0]
    assert f"{1000 * plan.DEFAULT_STEP:g} ms" in chosen
    assert f"{IntegratorSection().tolerance:g}" in chosen


@pytest.fixture(scope="module")
def result():
    return dockdyn.simulate(dockdyn.load("sazawal-spring-dashpot", {"duration": "10 s"}))


def test_every_variable_of_a_result_is_documented_with_its_unit(result):
    documented = named_in(results_pages())
    for name, variable in result.data_vars.items():
        assert f"| {variable.attrs['units']} |" in documented[name], name
    assert not set(result.attrs) - set(documented)
    text = results_pages()
    assert not [name for name in result.sizes if f"`{name}`" not in text]


def test_every_variable_of_an_mechanism_is_documented_with_its_unit():
    text = results_pages()
    documented = named_in(results_pages())
    dimensions = text.split("\n### Mechanism\n")[1].split("\n\n")[0]
    common = {"body", "axis", "quaternion", "contact", "point"}  # with those of free flight
    for name, (over, unit, _) in (VARIABLES | ELEMENT_VARIABLES | ELEMENT_LOADS | JOINT_VARIABLES).items():
        words = "rad" if unit == "SI" else f"| {unit} |"  # rad or m, by joint
        assert words in documented[name], name
        assert not [dimension for dimension in {*over} - common if f"`{dimension}`" not in dimensions], name
    for name, unit in PORT_UNITS.items():
        assert f"| {unit} |" in documented[f"interface_{name}"], name
    assert not [one.name for one in FIGURES if one.name.startswith("port.") and f"`{one.name}`" not in text]


@pytest.mark.parametrize(
    ("scenario", "heading"),
    [
        pytest.param("canadarm-2d", "Mechanism", marks=pytest.mark.full),
        pytest.param("sits", "Rig", marks=pytest.mark.full),
    ],
)
def test_dimensions_of_results_are_named_and_in_the_table_of_their_kind(scenario, heading):
    found = dockdyn.simulate(dockdyn.load(scenario, {"duration": "0.1 s"}))
    text = results_pages()
    section = text.split(f"\n### {heading}\n")[1].split("\n## ")[0].split("\n### ")[0]
    named = set(re.findall(r"`(\w+)`", section + text.split("\nDimensions: ")[1].split("\n\n")[0]))
    assert not set(found.sizes) - named
    variables = (DOCS / "variables.md").read_text(encoding="utf-8")
    rig, others = variables.split("\n## Rig\n")[1].split("\n## ")[0], variables.split("\n## Rig\n")[0]
    for name, row in named_in(section + (rig if heading == "Rig" else others)).items():
        if name in found:
            said = set(re.findall(r"\w+", re.split(r"(?<!\\)\|", row)[2]))
            assert not set(found[name].dims) - said, name


def test_every_key_of_a_summary_is_documented(result):
    documented = named_in(results_pages())
    summary = dockdyn.summarise(result)
    single = {key for key in summary if is_of_member(key)}
    assert not summary.keys() - single - set(documented)
    members = next(line for name, line in documented.items() if name.startswith("contact.NAME"))
    assert single and not [key for key in single if f"`{key.rpartition('.')[2]}`" not in members]
    assert not set(summary["contacts"][0]) - set(documented)
    (judged,) = judge_requirements(requirements_of({"peak_force": "< 4 kN"}, "here"), summary)
    assert not set(judged) - set(documented)


def test_the_page_of_variables_is_what_the_code_defines(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import make_variables

    page = make_variables.PAGE.read_text(encoding="utf-8")
    assert make_variables.page() == page, "run: python docs/make_variables.py"
    assert not {one.name for one in FIGURES} - set(named_in(page.split("\n## Key figures\n")[1]))


@pytest.mark.full
@pytest.mark.parametrize(
    ("scenario", "sweeps"),
    [
        ("sazawal-spring-dashpot", ["loop.delay=0:0.4:4"]),
        ("sits", ["body.target.mass=400:500:3", "contact.spring.normal.damping=0:50:3", "loop.sensor.delay=0:1ms:2"]),
    ],
)
def test_margins_and_the_file_of_a_chart_are_documented(scenario, sweeps):
    page = DOCS / "stability.md"
    told = (DOCS / "variables.md").read_text(encoding="utf-8").split("\n## Margins\n")[1]
    documented, of_all = rows(page) | named_in(told), named_in(told.split("\n## ")[0])
    chart = stability_dataset(dockdyn.load(scenario), [parse_sweep(text) for text in sweeps])
    margins = json.loads(chart.attrs["margins"])
    for keys in (margins, margins["pade"]["1"], margins["nominal"], chart.variables, chart.attrs):
        assert not set(keys) - set(documented)
    for key in margins:  # a unit in the name is that of the table
        unit = re.search(r"_(N_s_m|rad_s|1_s|N_m|kg|s)$", key)
        if unit:
            words = {"N_s_m": "N s/m", "rad_s": "rad/s", "1_s": "1/s", "N_m": "N/m"}.get(unit[1], unit[1])
            assert words in re.split(r"(?<!\\)\|", of_all[key])[2], key
    assert not set(map(str, chart.sizes)) - set(re.findall(r"\w+", page.read_text(encoding="utf-8")))


def test_every_command_is_described_and_every_option_told(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    import make_options

    assert make_options.page() == make_options.PAGE.read_text(encoding="utf-8"), "run: python docs/make_options.py"
    text, count = (DOCS / "cli.md").read_text(encoding="utf-8"), 0
    for name, command in make_options.commands(typer.main.get_command(cli.app), "dockdyn"):
        assert f"# `{name}" in text or f"`{name} " in text, name
        for option in make_options.options(command):
            assert option.help, (name, option.name)
            count += 1
    assert count > 100


def test_every_heading_of_a_log_that_is_known_is_told():
    rows = re.findall(r"^\| `(--[\w-]+)` \| (.*) \|$", (DOCS / "identify.md").read_text(encoding="utf-8"), re.MULTILINE)
    told = {option: re.findall(r"`(\w+)`", names) for option, names in rows}
    known = {role.option: [name.replace(" ", "_") for name in role.known_as] for role in (*OF_ROBOT, *OF_CONTACT)}
    assert told == known
