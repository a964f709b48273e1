"""What a reader asks of a page is answered by its words alone, and as the command that wrote it answers in JSON."""

import json
import re

import pytest
from browser import wait_until

from dockdyn.report.wording import capitalise_first, name_in_words
from dockdyn.report.wording import format_significant as written
from dockdyn.scenario.preset_files import preset_text

WORDS = """([selector]) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility())
  .map((one) => one.innerText.replace(/\\s+/g, " ").trim())"""
SCATTERED = 'closing_speed = { distribution = "normal", mean = "30 mm/s", std = "4 mm/s" }'
REQUIRED = """
[requirements]
peak_force = "< 75 N"
"contact.approach_speed" = "> 7.5 mm/s"
"""
LIMITS = ("--set", "requirements.peak_force=< 90 N", "--set", "requirements.contact.approach_speed=> 1 mm/s")


class Reader:
    """A page as it is read, and what the command that wrote it said."""

    def __init__(self, dock, browse, tmp_path):
        self._dock, self._browse, self._folder = dock, browse, tmp_path

    def answer(self, *command):
        """Return what a command prints as JSON."""
        ended = self._dock(*command, "--json")
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    def open_page(self, *command, name="report.html", until=None):
        """Run a command, open its page, and return what the command said."""
        said = self.answer(*command, "--out", "out")
        self.page, _ = self._browse(self._folder / "out" / name, 1440, 900)
        wait_until(self.page, "'ready' in document.documentElement.dataset")
        if until:
            wait_until(self.page, f"document.getElementById('live').dataset.{until} !== undefined")
        return said

    def read(self, selector):
        return self.page.evaluate(WORDS, [selector])

    def read_tile(self, label):
        (found,) = (one for one in self.read(".tile") if one.startswith(label))
        return found.removeprefix(label).strip()

    def read_row(self, first, head=""):
        """Return the cells of the row that begins with these words, of the table whose head begins with others."""
        tables = [
            one
            for one in self.page.locator("table:has(thead)").all()
            if one.locator("th").first.inner_text().startswith(head)
        ]
        rows = [row for one in tables for row in one.locator("tbody tr").all()]
        (row,) = (one for one in rows if one.locator("td").first.inner_text().startswith(first))
        return [" ".join(cell.split()) for cell in row.locator("td").all_inner_texts()]


@pytest.fixture
def reader(dock, browse, tmp_path):
    return Reader(dock, browse, tmp_path)


def number(words):
    return float(re.search(r"[-−+]?\d+(\.\d+)?", words)[0].replace("−", "-"))


@pytest.mark.full
def test_a_run_with_requirements(reader):
    """Which requirement is closest to its limit, by how much; the peak force, when and in which contact; the energy taken."""
    said = reader.open_page("run", "probe-cone", *LIMITS, until="limited")
    force, speed = said["peak_force_N"], min(one["approach_speed_m_s"] for one in said["contacts"])
    used = {"peak force": force / 90, "contact.approach speed": 1e-3 / speed}
    closest = max(used, key=used.get)
    first = reader.read(".requirement")[0]
    assert closest.split(".")[-1] in first and f"{written(100 * used[closest], 2)} % used" in first
    assert reader.read_tile("Largest normal force").startswith(
        f"{written(force)} N at {written(said['peak_time_s'])} s"
    )
    peaks = [one["peak_force_N"] for one in said["contacts"]]
    strongest = f"Q{peaks.index(max(peaks)) + 1}"
    assert f"{written(force)} N in {strongest}" in reader.read(".lead")[0]
    assert written(max(peaks)) in reader.read_row(strongest)
    taken = said["kinetic_energy_start_J"] - said["kinetic_energy_end_J"]
    assert reader.read_tile("Kinetic energy taken").startswith(f"{written(taken)} J")

    # the largest delay at which the third contact is passive
    limit = number(reader.read_row("delay up to which contact Q3 takes energy")[2])
    for factor, energy in ((0.99, "passive"), (1.01, "active")):
        again = reader.answer("run", "probe-cone", "--set", f"loop.delay={factor * limit} ms")
        assert again["energy_class"][2] == energy

    # which number is most felt, and by how much
    effects = {
        one.get_attribute("data-key"): number(one.locator(".effect").inner_text().rpartition("force")[2])
        for one in reader.page.locator(".slider").all()
    }
    ordered = sorted(effects, key=lambda key: -abs(effects[key]))
    found = {}
    for key in ordered[:2]:
        value = {"approach.closing_speed": "33 mm/s", "contact.probe.normal.stiffness": "8800 N/m"}[key]
        found[key] = reader.answer("run", "probe-cone", "--set", f"{key}={value}")["peak_force_N"] - force
        assert effects[key] == float(written(found[key], 2))
    assert abs(found[ordered[0]]) > abs(found[ordered[1]])


def test_the_margins_of_a_loop(reader):
    """Whether the loop is stable, up to which delay, and which number matters most."""
    said = reader.open_page("stability", "probe-cone")
    assert said["delay_margin_s"] > 0 and reader.read(".headline")[0].startswith("Stable, with")
    assert reader.read_tile("Delay to spare").startswith(f"{written(1e3 * said['delay_margin_s'], 3)} ms")
    assert f"critical delay {written(1e3 * said['critical_delay_s'], 3)} ms" in reader.read(".lead")[0]
    assert reader.read_tile("Growth rate").startswith(f"{written(said['growth_rate_1_s'], 4).replace('-', '−')} 1/s")
    most = max(said["sensitivities"], key=lambda key: abs(said["sensitivities"][key]))
    assert f"{most} matters most" in reader.read(".guide dd")[0]


@pytest.mark.full
def test_the_cases_of_a_campaign(reader, tmp_path):
    """How many cases meet all, which miss what first, which is the worst, and what decides."""
    text = preset_text("probe-cone").replace('closing_speed = "30 mm/s"', SCATTERED) + REQUIRED
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    said = reader.open_page("campaign", "run", "mine.toml", "--runs", "40", "--seed", "4", name="campaign-report.html")
    share = said["requirements_probability"]
    assert reader.read(".headline")[0].startswith(f"{round(100 * share)} % of cases meet")
    missed = {one["name"]: one["failed_first"] for one in said["requirements"] if one["failed_first"]}
    assert missed and {name: int(reader.read_row(name, "first requirement missed")[1]) for name in missed} == missed
    assert f"worst case, {said['worst'][0]['case']}" in " ".join(reader.read(".guide dd"))
    decided = said["sensitivity"]["requirements"]
    key = next(key for key, one in decided.items() if one["significant"])
    words = capitalise_first(name_in_words(key))
    assert reader.read(".guide dd")[0].startswith(f"{words} explains {100 * decided[key]['first_order']:.0f} %")
    assert reader.read_tile("Peak force, 95 % of cases").startswith(
        f"{written(said['peak_force_percentiles_N']['95'])} N"
    )


@pytest.mark.full
def test_a_rig_and_the_truth(reader):
    """How true the rig is, how much delay it has, and where most of that comes from."""
    said = reader.open_page("run", "sits-scvg")
    assert reader.read_tile("Amplitude over that without rig").startswith(written(said["amplitude_ratio"]))
    assert reader.read_tile("Delay, all in all").startswith(f"{written(said['delay_total_ms'], 3)} ms")
    assert f"{written(said['phase_error_rad'], 3)} rad" in reader.read(".lead")[0]
    parts = said["delay_budget_ms"]
    largest = max(parts, key=parts.get)
    decides = (
        f"The {largest}'s delay: {written(parts[largest], 3)} ms, {100 * parts[largest] / said['delay_total_ms']:.0f} %"
    )
    assert reader.read(".guide dd")[0].startswith(decides)
