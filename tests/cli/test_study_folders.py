"""Folders of studies that were given none: named as the scenario, or as the result whose scenario it is."""

import pytest
from on_a_line import SPREAD_MASSES

LINE = SPREAD_MASSES
DESIGN = """
[design]
minimise = "peak_force"
evaluations = 2
variable.damping = { key = "contact.fronts.normal.damping", low = 5, high = 200 }
"""


@pytest.mark.full_cases("command0--campaign--my/docking.toml-docking", "command0--campaign--my/idss/scenario.toml-idss")
@pytest.mark.parametrize(("file", "name"), [("my/docking.toml", "docking"), ("my/idss/scenario.toml", "idss")])
@pytest.mark.parametrize(
    ("command", "ending", "design"),
    [
        (("campaign", "run", "--runs", "1"), "-campaign", ""),
        (
            (
                "envelope",
                "--over",
                "body.chaser.velocity=40mm/s:60mm/s",
                "--of",
                "peak_force",
                "--set",
                "requirements.peak_force=<4 N",
            ),
            "-envelope",
            "",
        ),
        (("design",), "-design", DESIGN),
    ],
)
def test_a_study_of_a_results_scenario_goes_by_its_folder(command, ending, design, file, name, dock, tmp_path):
    place = tmp_path / file
    place.parent.mkdir(parents=True)
    place.write_text(LINE + design)
    position = 2 if command[0] == "campaign" else 1
    ended = dock(*command[:position], file, *command[position:], "--quiet")
    assert ended.returncode == 0, ended.stderr
    assert sorted(each.name for each in tmp_path.iterdir()) == [f"{name}{ending}", "my"]


@pytest.mark.full
def test_a_run_goes_by_the_file_alone(dock, tmp_path):
    place = tmp_path / "idss" / "scenario.toml"
    place.parent.mkdir()
    place.write_text(LINE)
    assert dock("run", "idss/scenario.toml").returncode == 0
    assert (tmp_path / "scenario" / "result.nc").is_file()
