"""What several test files share."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
import pytest
import tomlkit

import dockdyn
from dockdyn import cli

MAPS = Path("/proc/self/maps")
MOST_MAPS = 30_000  # of the 65,530 that Linux gives a process


@pytest.fixture(autouse=True)
def room_for_compiled_code():
    """Every compiled structure holds some hundred memory maps: what is compiled is dropped before they run out."""
    yield
    if MAPS.exists() and MAPS.read_bytes().count(b"\n") > MOST_MAPS:
        jax.clear_caches()


@pytest.fixture(autouse=True)
def reports_without_replay(request, monkeypatch):
    """A replay takes longer than many a run: only tests marked `replay` put it into reports."""
    if "replay" not in request.keywords:
        monkeypatch.setattr("dockdyn.output.report_of.packed_replay", lambda dataset: "")


def plain(value):
    """`value` with NumPy arrays and numbers as lists and numbers of Python, as TOML needs them."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """Simulates a scenario given as a dictionary, written to a file and read back as a user's would be."""
    file = tmp_path_factory.mktemp("scenario") / "scenario.toml"

    def simulate(content, **overrides):
        file.write_text(tomlkit.dumps(plain({"schema": 1, "kind": "free-flight", **content})))
        return dockdyn.simulate(dockdyn.load(file, overrides))

    return simulate


class Ended(NamedTuple):
    """A command that has ended, as `subprocess` gives it."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def dock(monkeypatch, capsys, tmp_path):
    """Runs a command line of `dockdyn` in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        monkeypatch.setattr(sys, "argv", ["dockdyn", *map(str, arguments)])
        capsys.readouterr()
        try:
            cli.main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        return Ended(code, *capsys.readouterr())

    return command


# Long, and each with a shorter sibling that runs by default: these run in `make verify` only, like those marked `full`.
LONG = (
    "test_docs.py::test_what_a_page_shows_runs[cli]",
    "test_docs.py::test_what_a_page_shows_runs[index]",
    "test_docs.py::test_what_a_page_shows_runs[own-parts]",
    "test_docs.py::test_what_a_page_shows_runs[rig]",
    "test_docs.py::test_what_a_page_shows_runs[campaign]",
    "test_docs.py::test_what_a_page_shows_runs[envelope]",
    "test_derivatives.py::test_forward_derivative_of_the_energy_equals_differences[delay]",
    "test_invariants.py::test_undelayed_contacts_are_passive[force-stroke]",
    "test_invariants.py::test_undelayed_contacts_are_passive[hunt-crossley]",
    "test_orbital_closure.py::test_a_welded_loop_is_stiff",
    "test_laws.py::test_compliance_device_in_a_scenario",
    "test_independent_dop853.py::test_motion_and_contacts_agree[two points, two surfaces-0.001-1e-10-1e-09]",
    "test_linearised_contact.py::test_no_frame_changes_the_margins_of_a_predicted_first_contact",
    "test_orbital_mounts.py::test_the_discrete_law_beside_a_schedule_and_a_latch",
    "test_order.py::test_located_keeps_its_order_across_contacts[full inertias, body rates, delay]",
    "test_order.py::test_the_chosen_step_follows_a_stiff_contact[1.5 s]",
    "test_order.py::test_fixed_step_is_of_fourth_order_where_nothing_jumps",
    "test_docs.py::test_what_a_page_shows_runs[quickstart]",
    "test_campaign.py::test_too_many_events_fail_with_their_reason",
    "test_campaign.py::test_workers_give_the_same_store",
    "test_campaign.py::test_a_full_disk_stops_it_so_that_it_can_go_on",
    "test_sensitivity.py::test_with_friction_and_delay_as_by_central_differences[peak_normal_force_N]",
    "test_sensitivity.py::test_a_contact_about_to_appear[1e-09-False]",
    "test_derivatives.py::test_forward_derivative_of_the_energy_equals_differences[little damping]",
    "test_derivatives.py::test_reverse_derivative_through_fixed_steps_equals_forward",
    "test_rig_bodies.py::test_short_periods_leave_free_flight",
    "test_rig.py::test_imperfections_of_the_sensor",
    "test_identify_command.py::test_folder_holds_a_report_and_a_robot_that_goes_into_a_scenario",
    "test_orbital_arm_motion.py::test_what_the_latch_holds_stays",
    "test_orbital_arm_motion.py::test_second_order_through_impacts[strong gravity, its gradient, contacts that may rest]",
    "test_berthing.py::test_momentum_is_kept_whatever_the_tolerance",
    "test_latch.py::test_loads_of_the_hold_turn_and_push_the_chaser",
    "test_latch.py::test_a_delayed_latch_against_the_method_of_steps",
    "test_control.py::test_the_base_does_not_feel_the_arm",
    "test_chart.py::test_sensitivities_are_differences_of_margins[stable rig]",
    "test_tree.py::test_equations_of_motion_against_lagrange[branches-fixed-given5]",
    "test_docs.py::test_margins_and_the_file_of_a_chart_are_documented[sits-sweeps1]",
    "test_chart.py::test_every_key_with_a_sensitivity_can_be_set[sits-stated1]",
    "test_sampled_loop.py::test_a_simulation_moves_and_grows_as_the_monodromy_says",
    "test_sampled_loop.py::test_leads_and_a_virtual_contact_move_a_simulation_as_the_monodromy_says[0]",
    "test_sampled_loop.py::test_leads_and_a_virtual_contact_move_a_simulation_as_the_monodromy_says[3]",
    "test_orbital_arm_motion.py::test_second_order_through_impacts[discrete energy]",
    "test_orbital_arm_motion.py::test_second_order_through_impacts[latch, release, retreat]",
    "test_chains.py::test_report_and_documentation_of_a_run[probe-cone-latch]",
    "test_derivatives.py::test_forward_derivative_of_the_energy_equals_differences[delay and friction]",
    "test_derivatives.py::test_a_batch_has_every_lane_on_its_own_clock",
    "test_bounce.py::test_a_simulated_bounce_shows_it[0.03]",
    "test_compensators.py::test_lead_and_layer_keep_the_amplitude_of_a_long_contact[50.0]",
    "test_linearised_contact.py::test_a_simulation_grows_as_predicted[5-4]",
    "test_rig_scenario.py::test_a_virtual_contact_counts_in_margins",
    "test_command_line.py::test_a_law_of_ones_own_may_leave_fields_with_a_default_out",
    "test_independent_dop853.py::test_motion_and_contacts_agree[two points, two surfaces-None-1e-08-1e-07]",
    "test_latch.py::test_what_is_caught_off_the_axis_is_held[weld]",
    "test_tree.py::test_equations_of_motion_against_lagrange[branches-free-given3]",
)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.nodeid.endswith(LONG):
            item.add_marker(pytest.mark.full)
