"""The pictures of the tutorials, from the scenarios that their pages show."""

from __future__ import annotations

import contextlib
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from shown_scenarios import PAGES, shown_on

import dockdyn
from dockdyn.exchange.fmu import fmu_of, unit_of
from dockdyn.report.charts.chart import Chart
from dockdyn.report.charts.print_chart import print_chart
from dockdyn.report.palette import COLOURS
from dockdyn.rig.comparison.compare import compare
from dockdyn.rig.comparison.report import amplitude_chart
from dockdyn.rig.compensator import CompensatorMaker
from dockdyn.rig.resting import loop_of
from dockdyn.scenario.load import parse
from dockdyn.scenario.preset_files import preset_text
from dockdyn.studies.campaign.capture_map import capture_map
from dockdyn.studies.campaign.cases import campaign_cases
from dockdyn.studies.campaign.first_failure import judge_cases
from dockdyn.studies.campaign.map_plot import map_figure
from dockdyn.studies.design.conduct import run_design
from dockdyn.studies.design.plan import plan_design
from dockdyn.studies.design.plots import convergence_figure
from dockdyn.studies.design.trail import Trail

FIRST = (6.9, 9.5)  # s, about the first push
LAWS = ["none", "fixed-gain", "force-lead", "passivity", "command-lead", "lead-energy"]


def compensators() -> Figure:
    return print_chart(amplitude_chart(compare(shown_on("tutorial-rig"), LAWS, np.geomspace(2e3, 5e4, 13).tolist())))


def rebounds() -> Figure:
    """The rig of the tutorial with its true robot, without a compensator and with leads for two robots."""
    preset, true = "epos-like-driven", {"loop.robot.bandwidth": "10.4 Hz"}

    def lead_for(robot: dict[str, str]) -> dict[str, object]:
        believed = dockdyn.load(preset, {"loop.compensator.law": "command-lead", **robot})
        table = CompensatorMaker(believed, loop_of(believed)).complete(believed.content.loop.compensator)
        assert table is not None
        return {"loop.compensator": table.model_dump(exclude_none=True)}

    runs = {
        "no compensator": ("orange", {}),
        "lead for 8 Hz, as assumed": ("green", lead_for({})),
        "lead for 10.4 Hz, as identified": ("blue", lead_for(true)),
    }
    figure = Figure(figsize=(7, 4.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for name, (colour, changes) in runs.items():
        run = dockdyn.simulate(dockdyn.load(preset, true | changes))
        push = run.ideal_force.values[run.time.values < FIRST[1]].sum(0)
        way = push / np.linalg.norm(push)
        if not changes:
            above.plot(
                run.time, 1e3 * run.ideal_velocity.values @ way, color="black", linewidth=2.4, label="without rig"
            )
            below.plot(run.time, run.ideal_force.values @ way, color="black", linewidth=2.4)
        above.plot(run.time, 1e3 * run.velocity.values @ way, color=COLOURS[colour], linewidth=1.1, label=name)
        below.plot(run.time, run.contact_force.values @ way, color=COLOURS[colour], linewidth=1.1)
    above.set_ylabel("speed, mm/s")
    below.set_ylabel("force, N")
    below.set_xlabel("time, s")
    below.set_xlim(*FIRST)
    for ax in (above, below):
        ax.grid(alpha=0.3)
    above.legend(fontsize=8, frameon=False)
    return figure


def captured() -> Figure:
    with tempfile.TemporaryDirectory() as folder:
        cases = campaign_cases(dockdyn.campaign(shown_on("tutorial-capture"), Path(folder) / "campaign"))
    judged = judge_cases(cases)
    found = capture_map(cases, judged, ["approach.closing_speed", "approach.lateral_velocity.1"])
    assert found is not None
    drawn = map_figure(cases, found)
    return print_chart(drawn) if isinstance(drawn, Chart) else drawn


def designed() -> Figure:
    """The search of the design that the tutorial shows, on the preset above it."""
    page = (PAGES / "tutorial-design.md").read_text(encoding="utf-8")
    (stated,) = re.findall(r"^```toml\n# in idss-probe-cone\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    plan = plan_design(parse(f"{preset_text('idss-probe-cone')}\n{stated}", "tutorial-design"))
    with tempfile.TemporaryDirectory() as folder:
        evaluations = run_design(plan, Trail(Path(folder)), lambda share: None)
    return print_chart(convergence_figure(plan, evaluations, ["N"]))


def after_the_catch() -> Figure:
    """Joint rates and the booms' deflection, without control and with it."""
    figure = Figure(figsize=(7, 4.6), layout="constrained")
    panels = figure.subplots(2, 2, sharex="col", sharey="col")
    for row, changes in zip(panels, ({"control": {"law": "none", "body": "spacecraft"}}, {}), strict=True):
        run = dockdyn.simulate(dockdyn.load("berthing-3d", {"duration": "8 s", "output.interval": "5 ms", **changes}))
        for name in run.joint.values:
            rate = np.degrees(run.joint_rate.sel(joint=name).values)
            row[0].plot(run.time, rate, linewidth=0.8, label=str(name))
        for name, colour in (("boom1", "blue"), ("boom2", "orange")):
            shapes = run.modal_coordinate.sel(mode=[f"{name} bend1", f"{name} side1"]).values  # m, of the tip
            bent = 1000 * np.linalg.norm(shapes, axis=1)
            row[1].plot(run.time, bent, linewidth=0.8, color=COLOURS[colour], label=name)
        row[0].set_ylabel("without control" if changes else "with control")
        for ax in row:
            ax.grid(alpha=0.3)
    panels[0, 0].set_title("joint rates, deg/s", fontsize=10)
    panels[0, 1].set_title("deflection of the booms' tips, mm", fontsize=10)
    panels[1, 0].legend(fontsize=7, frameon=False, ncols=2, loc="lower right")
    panels[1, 1].legend(fontsize=7, frameon=False)
    for ax in panels[1]:
        ax.set_xlabel("time since the impact, s")
    return figure


def beside_an_autopilot() -> Figure:
    """What the page on an autopilot's FMU finds with its own code, with the autopilot and without."""
    text = (PAGES / "tutorial-fmu.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(c|xml|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("docking.fmu").write_bytes(fmu_of(unit_of(dockdyn.load("probe-cone-latch"))))
        for language, block in blocks:
            if language == "python":
                exec(compile(block, "page", "exec"), found)
            else:
                Path(block.split()[1]).write_text(block)
    figure = Figure(figsize=(7.2, 3.0), layout="constrained")
    panels = figure.subplots(1, 2)
    for name, label, colour, dash in (("rows", "autopilot", "blue", "-"), ("alone", "alone", "orange", "--")):
        times, speeds, forces = np.array(found[name]).T
        panels[0].plot(times, -1e3 * speeds, dash, color=COLOURS[colour], label=label)
        panels[1].step(times, forces, dash, where="post", color=COLOURS[colour], label=label)
    panels[0].set_title("closing speed, mm/s", fontsize=10)
    panels[1].set_title("commanded force, N", fontsize=10)
    panels[0].legend(fontsize=8, frameon=False, loc="lower left")
    for ax in panels:
        ax.grid(alpha=0.3)
        ax.set_xlabel("time until the latch falls in, s")
    return figure
