"""Warnings of a run: what its reader should know before trusting its numbers, a sentence each."""

from __future__ import annotations

import tomllib

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.docking.loads.sampling import SAMPLES
from dockdyn.docking.port_doubts import port_doubts
from dockdyn.docking.tank_data import LARGE
from dockdyn.results.linear_contact import ACCURACY, ENOUGH, FEW
from dockdyn.scenario.language.requirement import requirements_of

PEAK_FORCE = ("peak_force", "peak_force_N")  # as requirements call that of contacts and catches
TOUCHING = 1e-6  # m: more overlap at the start than rounding makes
MANY_BOUNCES = 100  # in the play of a latch: a damped one settles long before
FAR = 1e-6  # of the end of a table: what is further is beyond it
YIELDING = 0.1  # of what a point yields under a constant load: a contact is as much too hard where nothing else yields
BENT = 0.1  # of a beam's length: by more it should not bend without a basis
FAST = 0.1  # of a link's lowest frequency: its spin adds one to three hundredths to its stiffness


def mechanism_doubts(dataset: Dataset) -> list[str]:
    """Return all of them."""
    found = [
        _begun_in_touch,
        _never_begun,
        _cut_changes,
        _rigid_catches,
        _struck_contacts,
        port_doubts,
        _beyond_measurements,
        _beyond_magnet_tables,
        _turned_bushings,
        _bouncing_latches,
        _spinning_links,
        _bent_beams,
        _joints_beyond,
        _too_few_modes,
        _meeting_again,
        _large_waves,
        _coarse_tank_forces,
        _lost_compliance,
        _limited_steps,
    ]
    return [words for warn in found for words in warn(dataset)]


def required_peak_doubts(dataset: Dataset, peak: float | None) -> list[str]:
    """Return a warning for every latch that bears more than the `peak` (N) of contacts, where that is required to be small."""
    if (
        "latch" not in dataset.coords
        or "element_tension" not in dataset
        or "peak_force" not in dataset.attrs["scenario"]
    ):
        return []
    stated = requirements_of(tomllib.loads(dataset.attrs["scenario"]).get("requirements", {}), "scenario")
    if not any(one.name in PEAK_FORCE for one in stated):
        return []
    borne = {
        str(name): float(np.abs(dataset.element_tension.sel(element=name).values).max()) for name in _held(dataset)
    }
    return [
        f"latch {name!r} bears up to {force:.4g} N, and the required peak_force has nothing of it, as that is of contacts and "
        "catches: require the loads at a port, as port.tension"
        for name, force in borne.items()
        if force > (peak or 0.0)
    ]


def _held(dataset: Dataset) -> list[str]:
    """Return the latches whose force is kept by their own name."""
    return [name for name in dataset.latch.values if name in dataset.element.values]


def _bouncing_latches(dataset: Dataset) -> list[str]:
    """Return a warning for every latch whose striker bounces in its play without settling."""
    if "latch_bounces" not in dataset:
        return []
    return [
        f"latch {str(name)!r} has bounced {int(count)} times in its play: what holds it takes too little energy; state its "
        "damping, a larger one, or no play"
        for name, count in zip(dataset.latch.values, dataset.latch_bounces.values, strict=True)
        if count >= MANY_BOUNCES
    ]


def _rigid_catches(dataset: Dataset) -> list[str]:
    """Return a warning for every latch whose rigid grip has caught something: the loads of that are an impulse."""
    names = str(dataset.attrs.get("rigid_grips", "")).splitlines()
    return [
        f"latch {name!r} holds rigidly and ends the motion of what it catches at once: the largest loads do not have those of "
        "that instant; grip = 'compliant' tells them"
        for name in names
        if dataset.latch_held.sel(latch=name).values.any()
    ]


def _struck_contacts(dataset: Dataset) -> list[str]:
    """Return a warning of the contacts that have been struck by an impact law: the loads of that are impulses."""
    stated = dict.fromkeys(str(dataset.attrs.get("impact_contacts", "")).splitlines())  # two contacts may have one name
    names = [repr(name) for name in stated if dataset.impact_impulse.values[-1, dataset.contact.values == name].any()]
    if not names:
        return []
    one = len(names) == 1
    where, act, whose, its = (
        ("contact", "acts", "of its impacts", "its") if one else ("contacts", "act", "of their impacts", "their")
    )
    return [
        f"velocities jump at {where} {', '.join(names)}, which {act} at an instant: forces and loads {whose} are not known and "
        f"not among those shown, only {its} impulse (impact_impulse); with 'normal' in place of 'impact' they are"
    ]


def _begun_in_touch(dataset: Dataset) -> list[str]:
    """Return a warning of the contacts of an approach that overlap at t = 0: what that stores comes from nowhere."""
    if "depth" not in dataset or "approach" not in tomllib.loads(dataset.attrs.get("scenario", "")):
        return []
    depths = dataset.depth.transpose("time", ...).values[0]
    found = [
        f"{str(name)!r} by {1e3 * depth:.3g} mm"
        for name, depth in zip(dataset.contact.values, depths, strict=True)
        if depth > TOUCHING
    ]
    if not found:
        return []
    return [
        f"what approaches begins in touch, {', '.join(found)}: the energy stored in that overlap comes from nowhere; raise "
        "approach.distance, dockdyn check shows the start"
    ]


def _never_begun(dataset: Dataset) -> list[str]:
    """Return a warning where a run has phases that never began."""
    if "phase" not in dataset.coords:
        return []
    names = [repr(str(name)) for name in dataset.phase.values[np.isnan(dataset.phase_began.values)]]
    if not names:
        return []
    first, *later = names
    words = f"phase {first} never began: what it waits for did not come"
    return [f"{words}; nor did what comes after it, {', '.join(later)}" if later else words]


def _cut_changes(dataset: Dataset) -> list[str]:
    """Return a warning for every phase that was over before the numbers that it changes smoothly were there."""
    if "phase_change_time" not in dataset:
        return []
    names, began, needed = (dataset[name].values for name in ("phase", "phase_began", "phase_change_time"))
    return [
        f"phase {str(name)!r} was over after {lasted:.4g} s, and what it changes takes {takes:.4g} s: that jumped to its end; "
        "let the next phase wait for longer, or state a shorter over"
        for name, lasted, takes in zip(names, np.diff(began), needed, strict=False)
        if lasted < takes * (1 - 1e-9)
    ]


def _beyond_measurements(dataset: Dataset) -> list[str]:
    """Return a warning for every contact that goes deeper, or closes or opens faster, than its force was measured."""
    found = []
    for line in str(dataset.attrs.get("measured_ranges", "")).splitlines():
        number, *ends = line.split("\t")
        (deepest, slowest, fastest), name = map(float, ends), str(dataset.contact.values[int(number)])
        depth, own = dataset.depth.values[:, int(number)], dataset.episode_contact.values == int(number)
        rate = dataset.depth_rate.values[depth > 0, int(number)]
        onsets = np.nan_to_num(dataset.episode_approach_speed.values[own])  # of what touches at the start there is none
        beyond = []
        if depth.max(initial=0.0) > deepest * (1 + FAR):
            beyond.append(f"{1e3 * depth.max():.3g} mm deep, measured to {1e3 * deepest:.3g} mm")
        opening, closing = rate.min(initial=0.0), max(rate.max(initial=0.0), onsets.max(initial=0.0))
        if closing > fastest * (1 + FAR):
            beyond.append(f"closing with {closing:.3g} m/s, measured to {fastest:.3g} m/s")
        if opening < slowest * (1 + FAR):
            beyond.append(f"opening with {-opening:.3g} m/s, measured to {-slowest:.3g} m/s")
        if beyond:
            found.append(
                f"contact {name!r} goes beyond what was measured of its force: {'; '.join(beyond)}; there the table goes "
                "straight on, so measure further, or let it touch more softly"
            )
    return found


def _beyond_magnet_tables(dataset: Dataset) -> list[str]:
    """Return a warning for every magnet that comes nearer or goes farther than its table has gaps, and pulls there."""
    found = []
    for line in str(dataset.attrs.get("magnet_tables", "")).splitlines():
        name, *numbers = line.split("\t")
        radius, first, last, nearest, farthest = map(float, numbers)
        gaps = np.hypot(dataset.line_length.sel(line=name).values, radius) - radius
        beyond = []
        if nearest and gaps.min() < first * (1 - FAR):
            beyond.append(f"{1e3 * gaps.min():.3g} mm, where it pulls with the first force, {nearest:.4g} N")
        if farthest and gaps.max() > last * (1 + FAR):
            beyond.append(f"{1e3 * gaps.max():.3g} mm, where it pulls with the last force, {farthest:.4g} N")
        if beyond:
            found.append(
                f"magnet {name!r} has gaps that its table, of {1e3 * first:.3g} to {1e3 * last:.3g} mm, does not: "
                f"{' and '.join(beyond)}; state forces there, at the largest gap 0 N"
            )
    return found


def _turned_bushings(dataset: Dataset) -> list[str]:
    """Return a warning for every bushing that turns by more than half a turn, where its law ends."""
    if "bushing_turn" not in dataset:
        return []
    beyond = dataset.bushing_turn.values > np.pi
    return [
        f"bushing {str(name)!r} is turned by more than half a turn at t = {float(dataset.time[first]):.6g} s: its moment and "
        "energy jump there, what follows is not to be trusted"
        for name, first, ever in zip(dataset.bushing.values, beyond.argmax(axis=0), beyond.any(axis=0), strict=True)
        if ever
    ]


def _spinning_links(dataset: Dataset) -> list[str]:
    """Return a warning for every link by modes alone that turns so fast that its spin should stiffen it."""
    if "spin_share" not in dataset:
        return []
    return [
        f"flexible link {str(name)!r} turns at up to {float(share):.2g} of its lowest frequency: what its spin adds to its "
        f"stiffness, of the order of {100 * float(share) ** 2:.2g} %, is left out, as modes alone do not tell it; "
        "kind = 'beam' has it"
        for name, share in zip(dataset.flexible_link.values, dataset.spin_share.values, strict=True)
        if share > FAST
    ]


def _bent_beams(dataset: Dataset) -> list[str]:
    """Return a warning for every beam without a basis whose tip goes aside by more than a small part of its length."""
    modes = [str(name).rsplit(" ", 1) for name in dataset.mode.values] if "small_beams" in dataset.attrs else []
    found = []
    for line in str(dataset.attrs.get("small_beams", "")).splitlines():
        name, length = line.split("\t")
        ways = ([link == name and mode.startswith(way) for link, mode in modes] for way in ("bend", "side"))
        aside = np.hypot(*(dataset.modal_coordinate.values[:, way].sum(axis=1) for way in ways))
        far = aside > BENT * float(length)
        if far.any():
            found.append(
                f"flexible link {name!r} bends by up to {aside.max():.3g} m, {100 * aside.max() / float(length):.2g} % of its "
                f"length, and by more than a tenth first at t = {float(dataset.time[int(far.argmax())]):.6g} s: it leaves out "
                f"what that does; state a basis, body.{name}.flexible.basis, with which a beam may bend far"
            )
    return found


def _joints_beyond(dataset: Dataset) -> list[str]:
    """Return a warning for every joint that leaves its range, where no stops keep it."""
    if "joint_range" not in dataset:
        return []
    found = []
    for index, name in enumerate(dataset.joint.values):
        (low, high), unit = dataset.joint_range.values[index], str(dataset.joint_unit.values[index])
        angle = dataset.joint_angle.values[:, index]
        beyond = (angle < low) | (angle > high)
        if beyond.any():
            first = float(dataset.time[int(beyond.argmax())])
            found.append(
                f"joint {str(name)!r} leaves its range of {low:g} to {high:g} {unit} at t = {first:.6g} s, and no stops keep "
                "it there: state its stop_stiffness"
            )
    return found


def _too_few_modes(dataset: Dataset) -> list[str]:
    """Return a warning for every contact whose first peak would be another if what it bends had more modes."""
    if "mode_excess" not in dataset:
        return []
    allowed = dict(line.split("\t") for line in str(dataset.attrs.get("mode_errors", "")).splitlines())
    found = []
    for name, excess in zip(map(str, dataset.contact.values), dataset.mode_excess.values.tolist(), strict=True):
        size = f"about {100 * abs(excess):.2g} % too {'large' if excess > 0 else 'small'}"
        words = f"contact {name!r}: its first peak force is {size}"
        if name in allowed and abs(excess) > float(allowed[name]):
            found.append(
                f"{words} (estimated), as the bodies by finite elements that it bends have too few modes; leave out their "
                f"up_to, static_error and mode_count, and they have as many as peak_error = {float(allowed[name]):g} asks for"
            )
        elif name not in allowed and abs(excess) > FEW:
            found.append(f"{words}, as what it bends has too few bending_modes; state more, up to {ENOUGH} {ACCURACY}")
    return found


def _meeting_again(dataset: Dataset) -> list[str]:
    """Return a warning for every contact that would touch again, of a run by a method that does not look for it."""
    if dataset.attrs["integrator"] not in ("adaptive", "implicit"):
        return []
    found = []
    for name, depth in zip(dataset.contact.values, dataset.depth.values[1:].T, strict=True):
        if (depth > 0).any():
            first = float(dataset.time[1 + int((depth > 0).argmax())])
            found.append(
                f"contact {str(name)!r} would touch again before t = {first:.6g} s, which integrator.method = "
                f"{dataset.attrs['integrator']!r} does not see: located does"
            )
    return found


def _large_waves(dataset: Dataset) -> list[str]:
    """Return a warning for every tank whose liquid rises so far at the wall that its wave is no small one."""
    if "tank_peak_wave" not in dataset:
        return []
    return [
        f"tank {str(name)!r}: its liquid rises by up to {float(wave):.3g} m at the wall, more than a quarter of the radius of "
        f"{float(radius):.3g} m: its model is of small waves, and what it tells of forces is of their order alone"
        for name, wave, radius in zip(
            dataset.tank.values, dataset.tank_peak_wave.values, dataset.tank_radius.values, strict=True
        )
        if wave > LARGE * radius
    ]


def _coarse_tank_forces(dataset: Dataset) -> list[str]:
    """Return a warning where contacts are shorter than the samples by which the largest forces on liquids are found."""
    if "tank_peak_force" not in dataset or "episode_release" not in dataset:
        return []
    shortest = np.nanmin(dataset.episode_release.values - dataset.episode_onset.values, initial=np.inf)
    interval = float(np.max(np.diff(dataset.time.values), initial=0.0))
    if interval * SAMPLES <= shortest:
        return []
    return [
        f"contacts last {shortest:.2g} s or longer, and forces on the liquids of tanks are of samples {interval:.2g} s apart: "
        f"tank.NAME.peak_force may be too small; state output.interval = {shortest / SAMPLES:.2g}"
    ]


def _lost_compliance(dataset: Dataset) -> list[str]:
    """Return a warning for every body by finite elements whose modes leave out much of what its points yield, where nothing
    touches it: contacts tell by how much their peaks are off."""
    if "static_loss" not in dataset or "mode_errors" in dataset.attrs:
        return []
    return [
        f"body {str(name)!r}: its modes, up to {float(highest):.4g} Hz, leave out up to {100 * float(loss):.2g} % of what its "
        "points yield under a constant load, so that stiff contacts there are too hard; static_error = 0.02 takes as many as "
        "it needs"
        for name, loss, highest in zip(
            dataset.component.values, dataset.static_loss.values, dataset.highest_frequency.values, strict=True
        )
        if loss > YIELDING
    ]


def _limited_steps(dataset: Dataset) -> list[str]:
    """Return which number limited the steps of a run that took very many."""
    return [str(dataset.attrs["step_limit"])] if "step_limit" in dataset.attrs else []
