"""Options that cannot be meant are refused by their name, before anything is read."""

import pytest


@pytest.mark.parametrize("given", [("--out", ""), ("--out=",)])
@pytest.mark.parametrize("command", [("run", "nothing.toml"), ("campaign", "run", "nothing.toml")])
def test_no_name_is_no_folder(dock, command, given):
    dock(*command, *given).check_refused('error: --out "": must name a folder or file')


@pytest.mark.parametrize(("option", "value", "words"), [("--runs", "0", "at least 1"), ("--seed", "-1", "at least 0")])
def test_a_number_of_cases_is_checked_before_the_scenario_is_read(dock, option, value, words):
    dock("campaign", "run", "probe-cone", option, value).check_refused(option, f"must be {words}")
