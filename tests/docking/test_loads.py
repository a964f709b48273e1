"""Loads of a run for structural models: cards that are read back, instants, shock response spectra, percentiles."""

import copy
import csv
import io
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
from campaign_data import campaign_dataset
from mechanism_cases import FOUR, simulated
from scipy.integrate import solve_ivp
from scipy.signal import lsim
from scipy.spatial.transform import Rotation
from scipy.stats import binom
from tank_cases import TANKER

import dockdyn
from dockdyn.dataset import Dataset
from dockdyn.docking.loads.histories import Interface
from dockdyn.docking.loads.nastran import slice_cards, transient_cards
from dockdyn.docking.loads.report import loads_of_run
from dockdyn.docking.loads.slices import TimeSlice
from dockdyn.docking.loads.spectra import accelerations_of, ends_under_load, shock_spectrum
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.studies.campaign.load_percentiles import load_percentiles, percentiles_report

SAMPLED = FOUR | {"output": {"interval": 0.008}}  # s: so that samples have the largest forces
COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")


def cards_in(text):
    """The cards of bulk data as lists of fields: of 8 columns, of 16 on cards with an asterisk; comments left out."""
    cards = []
    for line in text.splitlines():
        if line.startswith("$"):
            continue
        width = 16 if line.startswith(("*", *(f"{name}*" for name in ("TABLED1", "FORCE", "MOMENT")))) else 8
        assert len(line) <= 72
        fields = [line[at : at + width].strip() for at in range(8, len(line), width)]
        fields += [""] * ((4 if width == 16 else 8) - len(fields))
        if head := line[:8].strip().rstrip("*"):
            cards.append([head])
        cards[-1] += fields
    return cards


def table_in(text):
    """Headings and numbers of a CSV file."""
    heads, *rows = csv.reader(io.StringIO(text))
    return heads, np.array(rows, float)


@pytest.fixture(scope="module")
def four(load):
    scenario = load(SAMPLED)
    data = simulated(load, SAMPLED)
    return data, loads_of_run(data, scenario.content, [], 10.0)


@pytest.fixture(scope="module")
def tanker(load):
    return simulated(load, TANKER), loads_of_run(simulated(load, TANKER), load(TANKER).content, [], 10.0)


def test_histories_on_cards_are_those_of_the_run(four):
    """TLOAD1, DAREA and TABLED1 by their numbers give each component at its grid point, and one DLOAD has them all."""
    _, told = four
    files = told.files()
    heads, table = table_in(files["loads.csv"])
    cards = cards_in(files["loads.bdf"])
    by_kind = {
        kind: [card[1:] for card in cards if card[0] == kind] for kind in ("DLOAD", "TLOAD1", "DAREA", "TABLED1")
    }
    assert len(cards) == sum(map(len, by_kind.values()))
    areas = {int(one[0]): one[1:] for one in by_kind["DAREA"]}
    tables = {int(one[0]): one[8:] for one in by_kind["TABLED1"]}
    (dload,) = by_kind["DLOAD"]
    summed = [field for field in dload if field]
    assert summed[:2] == ["1", "1.0"]
    assert dict(zip(summed[3::2], summed[2::2], strict=True)) == {one[0]: "1.0" for one in by_kind["TLOAD1"]}
    seen = set()
    for one in by_kind["TLOAD1"]:
        assert (one[2], one[3]) == ("", "0")
        grid, component, scale = areas[int(one[1])][:3]
        assert scale == "1.0"
        fields = tables[int(one[4])]
        pairs = np.array(fields[: fields.index("ENDT")], float).reshape(-1, 2)
        assert (np.diff(pairs[:, 0]) > 0).all()
        interface = next(each for each in told.interfaces if each.grid == int(grid))
        part = COMPONENTS[int(component) - 1]
        column = next(n for n, head in enumerate(heads) if head.startswith(f"{interface.slug}.{part} ["))
        found = np.interp(table[:, 0], *pairs.T)
        np.testing.assert_allclose(found, table[:, column], atol=2e-9 * np.abs(table[:, column]).max())
        seen.add(column)
    carded = [each.slug for each in told.interfaces if not each.name.startswith("port ")]
    loaded = {
        n for n in np.flatnonzero(np.any(table, axis=0)) if any(heads[n].startswith(f"{slug}.") for slug in carded)
    }
    assert seen == loaded


def test_instants_on_cards_are_the_largest_loads(four):
    """Each slice has the loads of all interfaces at its time; its reasons are true, and no load is larger at another."""
    data, told = four
    cards = cards_in(told.files()["slices.bdf"])
    for number, one in enumerate(told.slices, start=1):
        for interface in (each for each in told.interfaces if each.on_cards):
            for kind, part in (("FORCE", interface.loads[:, :3]), ("MOMENT", interface.loads[:, 3:])):
                own = [card[1:] for card in cards if card[:3] == [kind, str(number), str(interface.grid)]]
                if not np.any(part[one.sample]):
                    assert not own
                    continue
                assert own[0][2:4] == ["0", "1.000000000E+00"]
                np.testing.assert_allclose(np.array(own[0][4:7], float), part[one.sample], rtol=1e-9)
    reasons = {words.rpartition(", ")[0]: one.sample for one in told.slices for words in one.reasons}
    tips = data.contact_force.sel(contact="tips").values
    assert reasons["largest force at contact tips"] == np.linalg.norm(tips, axis=1).argmax()
    assert (
        reasons["largest force at strut tether"] == np.abs(data.element_tension.sel(element="tether")).values.argmax()
    )


def test_ports_are_on_cards_only_where_they_are_asked_for(four, load):
    """What acts on their bodies is there already; the files say which are left out, and a run of ports alone has no cards."""
    data, told = four
    (port,) = (one for one in told.interfaces if one.name.startswith("port "))
    for name in ("loads.bdf", "slices.bdf"):
        text = told.files()[name]
        assert f"interface names it: {port.name}" in " ".join(text.replace("$", "").split())
        grids = {card[2] for card in cards_in(text) if card[0] in ("DAREA", "FORCE", "MOMENT")}
        assert grids == {str(one.grid) for one in told.interfaces if one is not port}
    assert f"{port.slug}.fx [N]" in told.files()["loads.csv"].partition("\n")[0]
    asked = loads_of_run(data, load(SAMPLED).content, ["port arm.wrist=900"], 10.0)
    assert {card[2] for card in cards_in(asked.files()["loads.bdf"]) if card[0] == "DAREA"} == {"900"}
    ports = replace(told, interfaces=[port])
    assert not [name for name in ports.files() if name.endswith(".bdf")]


def test_peaks_between_samples_are_refused(four, load):
    """A contact whose largest force the samples miss by more than a tenth, with the interval that has 20 samples in it."""
    data, _ = four
    peaks = np.array([data.episode_peak_force.values[data.episode_contact.values == n].max() for n in (0, 1)])
    for scale, number in ((0.85, 0), (0.0, 1)):
        forces = data.normal_force.values.copy()
        forces[:, number] = np.minimum(forces[:, number], scale * peaks[number])
        missed = data.assign(normal_force=(("time", "contact"), forces))
        own = (data.episode_contact.values == number) & (data.episode_peak_force.values > 0.1 * peaks[number])
        shortest = (data.episode_release.values - data.episode_onset.values)[own].min()
        name = ("tips", "feet")[number]
        with pytest.raises(ScenarioError, match=rf"contact {name}: its samples reach .* output\.interval=") as refused:
            loads_of_run(missed, load(SAMPLED).content, [], 10.0)
        interval = float(str(refused.value).partition('interval="')[2].split()[0])
        assert interval == pytest.approx(min(shortest / 20, 0.004), rel=0.05)


SNAPS = {
    "schema": 2,
    "duration": 1.5,
    "body": {
        "a": {"mass": 500.0, "inertia": [100.0] * 3, "port": {"p": {"position": [0.5, 0, 0], "axis": [1, 0, 0]}}},
        "b": {"mass": 800.0, "inertia": [100.0] * 3, "position": [2.0, 0, 0], "velocity": [0.1, 0, 0]},
    },
    "cable": {
        "tether": {
            "between": ["a", "b"],
            "anchor": [[0.5, 0, 0], [-0.5, 0, 0]],
            "stiffness": 5e7,
            "damping": 0.0,
            "free_length": 1.1043,
        }
    },
    "output": {"interval": 0.01},
}


def test_elements_without_loads_are_named(four, load):
    """Of a result that an earlier dockdyn made."""
    data, _ = four
    earlier = data.drop_vars([f"element_{part}" for part in ("force", "moment", "peak_force")])
    told = loads_of_run(earlier, load(SAMPLED).content, [], 10.0)
    assert {one.name.split()[0] for one in told.interfaces} == {"port", "contact"}
    assert "run again: 'tether', 'rod', 'mount'" in told.warning


@pytest.mark.parametrize("told", ["port", "cable"])
def test_what_snaps_between_samples_is_refused(load, told):
    """A tether that is taut for a few milliseconds bears v √(k m) at most, m the reduced mass, which samples miss: at a port of
    its body, and without one."""
    case = copy.deepcopy(SNAPS)
    if told == "cable":
        del case["body"]["a"]["port"]
    data = simulated(load, case)
    most = 0.1 * np.sqrt(5e7 * 500 * 800 / 1300)
    assert data.element_peak_force.values == pytest.approx([most], rel=1e-6)
    if told == "port":
        assert data.interface_tension.values == pytest.approx([most], rel=1e-6)
        data = data.assign(element_peak_force=0.0 * data.element_peak_force)
    name = {"port": "port a.p", "cable": "cable tether"}[told]
    with pytest.raises(
        ScenarioError, match=rf"{name}: its samples reach .* is 12403 N; .*output\.interval="
    ) as refused:
        loads_of_run(data, load(case).content, [], 10.0)
    interval = float(str(refused.value).partition('interval="')[2].split()[0])
    close = case | {"output": {"interval": interval}}
    found = {
        one.name: one.loads for one in loads_of_run(simulated(load, close), load(close).content, [], 10.0).interfaces
    }
    assert 0.9 * most < np.linalg.norm(found[name][:, :3], axis=1).max() <= most * (1 + 1e-9)


def test_a_run_that_is_over_as_it_begins_has_no_loads_and_warns_of_nothing(load):
    """Held at once by a latch that ends it: one sample."""
    body, latch = {"mass": 10.0, "inertia": [1.0] * 3}, {"reach": 0.1, "lateral": 0.1, "grip": "pin", "ends_run": True}
    bodies = {"a": body, "b": {"fixed": True, "position": [0.3, 0, 0]}}
    latch |= {"between": ["a", "b"], "anchor": [[0.15, 0, 0], [-0.15, 0, 0]]}
    case = load({"schema": 2, "duration": 1.0, "body": bodies, "latch": {"l": latch}})
    run = dockdyn.simulate(case)
    assert run.sizes["time"] == 1
    with warnings.catch_warnings(), pytest.raises(ScenarioError, match="no loads: nothing passes"):
        warnings.simplefilter("error")
        loads_of_run(run, case.content, [], 10.0)


@pytest.mark.full
def test_contacts_by_impact_laws_are_no_interfaces(shared_run):
    """They have impulses, which a warning says; the joints of the balls stay."""
    data = shared_run("newtons-cradle")
    content = dockdyn.load("newtons-cradle").content
    told = loads_of_run(data, content, [], 10.0)
    assert {one.name.split()[0] for one in told.interfaces} == {"joint"}
    assert told.warning.startswith("contacts by impact laws have impulses, not loads: '1-on-2', ")
    with pytest.raises(ScenarioError, match=r"no such interface.*impulses, not loads"):
        loads_of_run(data, content, ["contact 1-on-2"], 10.0)
    without = data.assign(
        {name: 0.0 * data[name] for name in ("joint_force", "joint_moment", "load_force", "load_moment")}
    )
    with pytest.raises(ScenarioError, match=r"no loads: contacts by impact laws .* nothing passes"):
        loads_of_run(without, content, [], 10.0)


def test_noise_has_no_cards_and_numbers_fit_their_fields():
    """A component that is rounding beside the others is left out; a number of three digits in its exponent fits, too."""
    time = np.linspace(0.0, 1.0, 3)
    loads = np.zeros((3, 6))
    loads[:, 0], loads[:, 1], loads[:, 5] = [0.0, 5.0, -1.5e-100], [0.0, 3e-12, 0.0], [0.0, -4e-15, 1e-14]
    one = Interface("joint a", "b", "axes of b", loads, grid=3)
    cards = cards_in(transient_cards([one], time, "t"))  # which judges how long lines are
    assert [card[3] for card in cards if card[0] == "DAREA"] == ["1"]
    (table,) = (card for card in cards if card[0] == "TABLED1")
    assert [float(field) for field in table[9 : table.index("ENDT")]] == [0.0, 0.0, 0.5, 5.0, 1.0, 0.0]
    static = cards_in(slice_cards([one], time, [TimeSlice(1, ("most",))], "t"))
    assert [(card[0], *map(float, card[5:8])) for card in static] == [("FORCE", 5.0, 0.0, 0.0)]


def test_loads_are_in_axes_of_their_bodies(four):
    """Of contacts and struts by the attitude of the first body, of ports as told."""
    data, told = four
    loads = {one.name: one.loads for one in told.interfaces}
    turn = Rotation.from_quat(data.attitude.sel(body="arm").values, scalar_first=True)
    np.testing.assert_allclose(
        turn.apply(loads["contact tips"][:, :3]), data.contact_force.sel(contact="tips").values, atol=1e-9
    )
    np.testing.assert_array_equal(loads["port arm.wrist"][:, 3:], data.load_moment.sel(point="arm wrist").values)
    visitor, tug = (
        Rotation.from_quat(data.attitude.sel(body=one).values, scalar_first=True) for one in ("visitor", "tug")
    )
    anchor = data.position.sel(body="visitor").values + visitor.apply([-0.1, 0.05, 0.0])
    along = anchor - data.position.sel(body="tug").values - tug.apply([0.5, 0.4, 0.1])
    along /= np.linalg.norm(along, axis=1)[:, None]
    pull = -along * data.element_tension.sel(element="tether").values[:, None]
    np.testing.assert_allclose(visitor.apply(loads["strut tether"][:, :3]), pull, atol=1e-12)
    assert not loads["strut tether"][:, 3:].any()


@pytest.mark.full
def test_a_tank_loads_its_vehicle(tanker):
    """The opposite of what the vehicle puts on the liquid; guides and masses inside are no interfaces."""
    data, told = tanker
    loads = {one.name: one for one in told.interfaces}
    assert set(loads) == {"tank fuel", "tank oxidiser", "contact probe"}
    assert loads["tank fuel"].on == "chaser"
    np.testing.assert_array_equal(loads["tank fuel"].loads[:, :3], -data.joint_force.sel(joint="fuel").values)


def test_spectra_are_those_of_oscillators_one_by_one():
    """Absolute acceleration of each, integrated in small steps, for a base whose acceleration is linear between samples."""
    random = np.random.default_rng(5)
    step, quality = 2e-3, 12.0
    time = np.arange(300) * step
    base = np.column_stack(
        [np.exp(-(((time - 0.2) / 0.02) ** 2)) * np.sin(200 * time), random.normal(size=300).cumsum()]
    )
    frequencies = np.array([2.0, 11.0, 49.0])
    found = shock_spectrum(base, step, frequencies, quality)
    for number, frequency in enumerate(frequencies):
        rate, ratio = 2 * np.pi * frequency, 1 / (2 * quality)
        for axis, column in enumerate(base.T):

            def moved(t, x, rate=rate, ratio=ratio, column=column):
                return [x[1], -(rate**2) * x[0] - 2 * ratio * rate * x[1] - np.interp(t, time, column) + column[0]]

            looks = np.linspace(0, time[-1], 24001)
            z, u = solve_ivp(moved, (0, time[-1]), [0.0, 0.0], "DOP853", looks, rtol=1e-8, atol=1e-10, max_step=step).y
            largest = np.abs(column[0] - rate**2 * z - 2 * ratio * rate * u).max()
            assert found[number, axis] == pytest.approx(largest, rel=2e-3)


def test_a_base_that_is_accelerated_at_the_end_goes_on_so():
    """A thruster brakes for a second, then hooks pull until the run ends: spectra are those of SciPy's lsim, and the base makes
    no jump that it did not make; the run is told to end under load."""
    step, quality, frequencies = 0.01, 10.0, np.array([2.0, 5.0, 10.0])
    time = np.arange(0.0, 4.0, step)
    base = np.interp(time, [0, 1, 2, 4], [-0.1, -0.1, 0.1, 0.1])
    found = shock_spectrum(base[:, None], step, frequencies, quality)[:, 0]
    for frequency, told in zip(frequencies, found, strict=True):
        rate, damping = 2 * np.pi * frequency, 2 * np.pi * frequency / quality
        looks = np.arange(0.0, time[-1] + 2 / frequency, step / 50)
        moved = np.interp(looks, time, base) - base[0]
        _, response, _ = lsim(([damping, rate**2], [1, damping, rate**2]), moved, looks)
        assert told == pytest.approx(np.abs(response + base[0]).max(), rel=2e-3)
    assert found.max() < 0.11
    assert ends_under_load(base[:, None]) and not ends_under_load((base * (time < 3))[:, None])


def test_a_stiff_oscillator_moves_with_its_base_and_a_step_doubles():
    """At high frequencies the spectrum is the base's largest acceleration; a step nearly doubles, 1 + e^(−πζ/√(1−ζ²))."""
    step, ratio = 1e-3, 0.01
    slow = np.sin(2 * np.pi * np.arange(1001) * step)[:, None]
    assert shock_spectrum(slow, step, np.array([100.0]), 10.0)[0, 0] == pytest.approx(1.0, rel=1e-3)
    jump = np.ones((1001, 1))
    jump[0] = 0.0
    found = shock_spectrum(jump, step, np.array([5.0]), 1 / (2 * ratio))[0, 0]
    assert found == pytest.approx(1 + np.exp(-np.pi * ratio / np.sqrt(1 - ratio**2)), rel=2e-3)


def test_a_half_sine_has_its_spectrum_wherever_it_is_in_the_record():
    """During the pulse and after, as without damping; a record that ends with the pulse has the same."""
    step, length, count = 1e-4, 0.1, 1000
    pulse = np.sin(np.pi * np.arange(count + 1) * step / length)[:, None]
    slow, fast = np.array([1.25, 2.0, 4.0]), np.array([6.0, 10.0, 14.0])
    found = shock_spectrum(pulse, step, np.concatenate([slow, fast]), 1000.0)[:, 0]
    ratio = 1 / (2 * length * slow)  # of the frequencies: of the pulse and of the oscillator
    np.testing.assert_allclose(found[:3], np.abs(2 * ratio / (1 - ratio**2) * np.cos(np.pi / (2 * ratio))), rtol=3e-3)
    ratio = 1 / (2 * length * fast)
    np.testing.assert_allclose(found[3:], np.sin(2 * np.pi * ratio / (1 + ratio)) / (1 - ratio), rtol=3e-3)
    early, late = (np.pad(pulse, ((before, 3000 - before), (0, 0))) for before in (0, 3000))
    for moved in (early, late):
        again = shock_spectrum(moved, step, np.concatenate([slow, fast]), 1000.0)[:, 0]
        np.testing.assert_allclose(again, found, rtol=1e-9)


def test_accelerations_at_a_place_are_those_of_a_turning_body():
    """A body that turns about z ever faster and is driven: a + α × r + ω × (ω × r), in its axes."""
    time = np.linspace(0, 4, 4001)
    gain, start, drive = 0.3, 0.2, 1.5
    angle, rate = start * time + gain * time**2 / 2, start + gain * time
    turn = Rotation.from_rotvec(np.column_stack([0 * angle, 0 * angle, angle]))
    velocity = np.column_stack([drive * time, 0 * time, 0 * time])
    data = Dataset(
        {
            "attitude": (("time", "body", "quaternion"), turn.as_quat(scalar_first=True)[:, None]),
            "velocity": (("time", "body", "axis"), velocity[:, None]),
            "rate": (("time", "body", "axis"), np.column_stack([0 * rate, 0 * rate, rate])[:, None]),
        },
        {"time": time},
    )
    place = np.array([0.7, -0.2, 0.4])
    step, found = accelerations_of(data, 0, place)
    middle = (time[1:] + time[:-1]) / 2
    assert step == pytest.approx(1e-3)
    spin = np.column_stack([0 * middle, 0 * middle, start + gain * middle])
    exact = np.cross([0.0, 0.0, gain], place) + np.cross(spin, np.cross(spin, place))
    about = Rotation.from_rotvec(np.column_stack([0 * middle, 0 * middle, start * middle + gain * middle**2 / 2]))
    exact = exact + about.inv().apply([drive, 0.0, 0.0])
    np.testing.assert_allclose(found, exact, atol=1e-5)


def test_percentiles_of_loads_are_those_of_the_cases():
    """With the bound of the 99th percentile by the binomial distribution; figures that are no loads are none."""
    random = np.random.default_rng(2)
    force, moment = random.gumbel(100, 10, 500), random.normal(size=500)
    data = campaign_dataset(
        {"mass": force}, {"peak_force_N": force, "port.bending_moment_N_m": moment, "time_s": force}
    )
    found = {one["load"]: one for one in load_percentiles(data)}
    assert set(found) == {"peak_force_N", "port.bending_moment_N_m"}
    one = found["peak_force_N"]
    assert [share["value"] for share in one["percentiles"]] == pytest.approx(np.quantile(force, [0.5, 0.95, 0.99]))
    assert (one["largest"], one["case"]) == (force.max(), force.argmax())
    rank = int(binom.ppf(0.975, 500, 0.99))
    assert one["percentiles"][-1]["most"] == np.sort(force)[rank]


def test_percentiles_are_of_loads_alone():
    """Not of inputs, which may be forces, nor of figures that say by how much another is off; what port loads are smoothed by
    is no load."""
    force = np.array([3.0, 1.0, 2.0])
    figures = {"peak_force_N": force, "peak_force_error_N": force, "sensor_error_N": force}
    smoothed = {"port.shear_N": np.sqrt(np.array([0.0, 1e-30, 4e-10]) ** 2 + 1e-9**2)}
    data = campaign_dataset({"body.chaser.joint.friction": (100 * force, "N")}, figures | smoothed)
    found = {one["load"]: one for one in load_percentiles(data)}
    assert set(found) == {"peak_force_N", "port.shear_N"}
    assert found["port.shear_N"]["largest"] == pytest.approx(np.hypot(4e-10, 1e-9), rel=1e-12)
    assert found["port.shear_N"]["percentiles"][0]["value"] == 0.0


def test_percentiles_tell_how_many_cases_have_the_load():
    """Not how many there were: some have failed."""
    force = np.array([3.0, np.nan, 1.0, np.nan, 2.0])
    data = campaign_dataset({"mass": np.ones(5)}, {"peak_force_N": force})
    report = percentiles_report(data, load_percentiles(data))
    (block,) = report.blocks
    assert [column[0] for column in block.table.columns][:2] == ["load", "cases"]
    assert block.table.rows[0][:2] == ["peak_force_N", "3"]
    assert "5" not in report.verdict.partition(";")[0]


def test_percentiles_leave_out_cases_that_failed():
    """They stopped at some load, mostly before the largest."""
    force = np.array([3.0, 9.0, 1.0, 0.0, 2.0])
    data = campaign_dataset(
        {"mass": np.ones(5)}, {"peak_force_N": force}, ["", "too many steps", "", "too many steps", ""]
    )
    (one,) = load_percentiles(data)
    assert (one["cases"], one["largest"], one["case"]) == (3, 3.0, 0)
    assert one["percentiles"][0]["value"] == 2.0


def test_the_command_writes_what_is_asked_for_and_refuses_the_rest(dock, tmp_path):
    """A run and its loads, of one interface at a grid point; without JAX, wrong words in one line."""
    assert dock("run", "probe-cone", "--quiet", "--out", "run", "--set", "duration=14 s").returncode == 0
    ended = dock("loads", "run", "--interface", "contact probe=1001", "--out", "loads")
    assert ended.returncode == 0, ended.stderr
    assert "largest force at contact probe" in " ".join(ended.stdout.split())
    cards = cards_in((tmp_path / "loads" / "loads.bdf").read_text())
    assert {card[2] for card in cards if card[0] == "DAREA"} == {"1001"}
    assert (tmp_path / "loads" / "spectra.csv").read_text().startswith("frequency [Hz],")
    dock("loads", "run", "--interface", "contact prob").check_refused(
        "contact prob", "no such interface", "'contact probe'"
    )
    for wrong in ("x", "٣"):
        dock("loads", "run", "--interface", f"contact probe={wrong}").check_refused("is no grid point", "whole number")
    twice = [word for number in (7, 8) for word in ("--interface", f"contact probe={number}")]
    dock("loads", "run", *twice).check_refused("contact probe is named twice", "once")
    dock("loads", "run", "--out", "loads").check_refused("loads", "exists", "--force")
    dock("loads", "run", "--q", "0.2").check_refused("--q")
    dock("loads", "none.nc").check_refused("none.nc", "no such file")


@pytest.mark.full
def test_the_command_needs_no_jax(dock, tmp_path):
    """Loads of a result are told without the import that takes longest."""
    import subprocess

    assert dock("run", "probe-cone", "--quiet", "--out", "run", "--set", "duration=14 s").returncode == 0
    code = (
        "import sys; from dockdyn.__main__ import main; sys.argv = ['dockdyn', 'loads', 'run', '--json']; main(); "
        "assert sys.modules.get('jax') is None"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
