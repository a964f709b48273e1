"""Whole pages of each kind, as files, each made once in a process."""

import pytest
from browser import wait_until

import dockdyn
from dockdyn.pages import report_html
from dockdyn.studies.envelope.search import envelope
from dockdyn.studies.margins.sweep import stability_dataset

RUNS = {"run": "probe-cone", "rig": "sits-scvg", "tree": "gibson-2d"}
REQUIRED = {
    "requirements.peak_force": "< 90 N",
    "requirements.contact.approach_speed": "> 1 mm/s",
    "requirements.contact.impulse": "< 90 N s",
    "requirements.contact.count": "< 9",
    "requirements.contact.probe.peak_force": "< 95 N",
    "requirements.contact.friction_loss": "< 1 J",
    "requirements.kinetic_energy_end": "< 2 J",
    "requirements.end_time": "< 100 s",
    "requirements.work_energy_error": "< 0.01",
}  # three rows of bars
SCATTERED = {
    "approach.closing_speed": {"distribution": "normal", "mean": "30 mm/s", "std": "4 mm/s"},
    "approach.lateral_offset": {"distribution": "disc", "radius": "60 mm"},
    "requirements.peak_force": "< 75 N",
    "requirements.contact.approach_speed": "> 1 mm/s",
}
DRAWN = "document.querySelector('#scene .dds-views, #scene .dds-none') !== null"
COMPUTED = "['limited', 'tried', 'ready'].some((one) => one in document.getElementById('live').dataset)"


@pytest.fixture(scope="session")
def result_of(shared_run, tmp_path_factory):
    """Return the result that a page of a kind is of."""
    made = {}

    def result(kind):
        if kind in RUNS:
            return shared_run(RUNS[kind])
        if kind == "required":
            return shared_run("probe-cone", tuple(REQUIRED.items()))
        if kind not in made:
            folder = tmp_path_factory.mktemp(kind)
            made[kind] = {
                "stability": lambda: stability_dataset(dockdyn.load("probe-cone"), []),
                "campaign": lambda: dockdyn.campaign(
                    dockdyn.load("probe-cone", SCATTERED), folder / "cases", runs=24, seed=4
                ),
                "envelope": lambda: envelope(
                    dockdyn.load("probe-cone-latch"), {"approach.closing_speed": ("20 mm/s", "60 mm/s")}, tolerance=0.05
                ),
            }[kind]()
        return made[kind]

    return result


@pytest.fixture(scope="session")
def page_file(result_of, tmp_path_factory):
    """Return the file of a page of a kind."""
    made = {}

    def file_of(kind):
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp(kind) / "report.html"
            made[kind].write_text(report_html(result_of(kind)), encoding="utf-8")
        return made[kind]

    return file_of


@pytest.fixture
def whole_page(page_file, browse):
    """Open a page of a kind in a window; gives it when all that it draws, and computes by itself, is there."""

    def opened(kind, width=1440, height=900, scheme="light", drawn=False):
        page, _ = browse(page_file(kind), width, height, scheme, drawn=drawn)
        wait_until(page, "'ready' in document.documentElement.dataset")
        if page.evaluate("document.getElementById('scene') !== null"):
            wait_until(page, DRAWN)
        if page.evaluate("document.getElementById('live-data') !== null"):
            wait_until(page, COMPUTED)
        return page

    return opened
