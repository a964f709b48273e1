"""Cyril et al., post-impact dynamics of two multibody systems: Tables 1, 2 and Figures 2–10 recomputed, its equations tried.

The curves of the paper's figures are lost, and so are the arm's place on the spacecraft, the contact normal and the
payload's grapple point. Here stands what the text says of the figures, beside runs of the presets `cyril-plastic`,
`cyril-r-e-r-f` and `cyril-controlled` with changes. Normals: N_y is (0, −1), N_h against the hand; n is the number of modes
a link.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import xarray as xr
from matplotlib.figure import Figure

from dockdyn.papers import reproduction
from dockdyn.papers.cyril import again as cyril_again
from dockdyn.papers.cyril import impact as cyril_impact
from dockdyn.papers.cyril import meeting as cyril_meeting
from dockdyn.papers.cyril import pictures, runs
from dockdyn.papers.cyril import ratios as cyril_ratios
from dockdyn.papers.cyril import tables as cyril_tables
from dockdyn.papers.cyril.meeting import TIP
from dockdyn.papers.reproduction import Made, PaperPart, Progress
from dockdyn.papers.table import PaperTable, Row
from dockdyn.results.measures import momentum_drift
from dockdyn.results.store import write_result

Data = Callable[[], xr.Dataset]
NEVER = "Not within the run."


# --- plastic capture: Figs. 2–4 --------------------------------------------------------------------------------------


def _stretched_rows(run: xr.Dataset, name: str = "") -> list[Row]:
    """Return when the arm is stretched out and the payload turns back, as section 4 describes for the free wrist."""
    stretched = runs.crossings(run, runs.angle(run, "link2"))
    turns_back = runs.crossings(run, runs.payload_rate(run))
    rows = []
    for words, found, printed in (
        ("θ₃ crosses zero", stretched, "“stretches out”"),
        ("the payload's rate reverses", turns_back, "“changes its direction”"),
    ):
        first = float(found[0]) if len(found) else np.inf
        note = f"{len(found)} times, the last at {found[-1]:.4g} s." if len(found) > 1 else ""
        rows.append(Row(f"{name}{words}", None if name else printed, first, "s", note if len(found) else NEVER))
    return rows


def _captured_rows(run: xr.Dataset) -> list[Row]:
    """Return figure 2."""
    pitch = runs.base_turned(run)
    return [
        *_stretched_rows(run),
        Row("payload's rate after the impact", None, float(runs.payload_rate(run)[0]), "deg/s"),
        Row("payload's rate at 60 s", None, float(runs.payload_rate(run)[-1]), "deg/s"),
        Row("pitch of the spacecraft at 60 s", "drifts", float(pitch[-1]), "deg"),
        Row("energy that the impact took", None, runs.energy_loss(run), "J"),
        Row("angular momentum, largest relative change", None, _momentum_drift(run), "1"),
    ]


def _momentum_drift(run: xr.Dataset) -> float:
    return momentum_drift(run.angular_momentum, run.angular_momentum_scale)


def _deflection_rows(run: xr.Dataset) -> list[Row]:
    """Return figures 3 and 6."""
    rows = []
    for number, name in enumerate(run.beam.values, start=1):
        values = 1e3 * run.signed_deflection.sel(beam=name).values
        at = int(np.abs(values).argmax())
        note = f"At {float(run.time[at]):.3g} s."
        rows.append(Row(f"tip of link {number}: largest deflection", None, float(abs(values[at])), "mm", note))
        rows.append(Row(f"tip of link {number}: rms", None, float(np.sqrt(np.mean(values**2))), "mm"))
    return rows


def _place_rows(run: xr.Dataset) -> list[Row]:
    """Return figures 4 and 7 to 10: where the tip goes."""
    path, time = runs.tip(run), float(run.time[-1])
    way = np.linalg.norm(path - path[0], axis=1)
    at = f"at {time:.3g} s"
    return [
        Row(f"tip {at}, x less that at the impact", None, float(path[-1, 0] - path[0, 0]), "m"),
        Row(f"tip {at}, y less that at the impact", None, float(path[-1, 1] - path[0, 1]), "m"),
        Row("farthest of the tip from where it touched", None, float(way.max()), "m"),
    ]


def _captured_places(run: xr.Dataset) -> list[Row]:
    held = runs.place(run, "payload", (0.0, -1.0, 0.0))
    apart = np.linalg.norm(runs.place(run, "hand", TIP) - held, axis=1).max()
    return [*_place_rows(run), Row("hand and payload apart, at most", "0", float(apart), "m", "Joined by a weld.")]


# --- rebound: Figs. 5–10 ---------------------------------------------------------------------------------------------


def _rebound_rows(run: xr.Dataset) -> list[Row]:
    """Return figure 5."""
    bend = runs.angle(run, "link2")
    words = "The angle grows: the arm folds."
    return [
        Row("θ₃ at 20 s less that at the impact", "folds back", float(bend[-1] - bend[0]), "deg", words),
        Row("pitch of the spacecraft at 20 s", None, float(runs.base_turned(run)[-1]), "deg"),
        Row("payload's rate after", None, float(runs.payload_rate(run)[-1]), "deg/s", "Constant: nothing holds it."),
        Row("θ₄, largest change", "0 (locked)", float(np.ptp(runs.angle(run, "hand"))), "deg"),
        Row("energy lost, with that of locking", "0", runs.energy_loss(run), "J"),
        Row("normal impulse", None, float(run.impulse[0]), "N s"),
    ]


def _touch_rows(run: xr.Dataset) -> list[Row]:
    """Return whether hand and payload would meet again."""
    gap = runs.gap(run)[1:]
    touched = bool(gap.min() < 0)
    words = "The vibrating tip comes back; a second contact is not part of the run." if touched else ""
    return [Row("least gap between hand and payload after the impact", None, 1e3 * float(gap.min()), "mm", words)]


def _pair_rows(figure: int) -> Callable[[xr.Dataset], list[Row]]:
    """Return figures 8 to 10; the later two beside Fig. 8, of which the text says what changes."""

    def rows(run: xr.Dataset) -> list[Row]:
        impulse = run.impulse.values
        found = [
            Row("normal impulse", None, float(impulse[0]), "N s"),
            Row("tangential impulse", None, abs(float(impulse[1])), "N s"),
            Row("energy lost, with that of locking", None, runs.energy_loss(run), "J"),
            Row("Newton's coefficient of restitution", None, float(run.newton), "1"),
            *_place_rows(run),
            *_touch_rows(run),
        ]
        if figure == 8:
            return found
        first = runs.rebound(*runs.PAIRS[8])
        turn = np.degrees([np.arctan2(abs(one.impulse.values[1]), one.impulse.values[0]) for one in (first, run)])
        ways = [float(np.linalg.norm(runs.tip(one) - runs.tip(one)[0], axis=1).max()) for one in (first, run)]
        found.append(
            Row("angle of the impulse to the normal, less that of Fig. 8", "another", float(turn[1] - turn[0]), "deg")
        )
        printed, words = ("further", "It loses less.") if figure == 10 else ("another way", "")
        name = "farthest of the tip from where it touched, over that of Fig. 8"
        return [*found, Row(name, printed, ways[1] / ways[0], "1", words)]

    return rows


# --- beside each other -----------------------------------------------------------------------------------------------


def compare_runs(of: dict[str, Data], rows: Callable[[xr.Dataset, str], list[Row]]) -> Callable[[Progress], Made]:
    """Return a picture and rows of several runs."""

    def make(progress: Progress) -> Made:
        found = {}
        for done, (name, data) in enumerate(of.items(), start=1):
            found[name] = data()
            progress(done / (len(of) + 1))
        return pictures.plot_runs(found, "gap"), [row for name, run in found.items() for row in rows(run, name)]

    return make


def _capture_rows(run: xr.Dataset, name: str) -> list[Row]:
    return [
        *_stretched_rows(run, f"{name}: "),
        Row(f"{name}: energy that the impact took", None, runs.energy_loss(run), "J"),
        Row(f"{name}: pitch of the spacecraft at 60 s", None, float(runs.base_turned(run)[-1]), "deg"),
        Row(f"{name}: largest deflection", None, float(runs.largest_deflection(run).max()), "mm"),
    ]


def _rigid_against_flexible(progress: Progress) -> Made:
    """Return motions after a plastic capture, and impulses of an elastic rebound."""
    make = compare_runs({"flexible, n = 3": runs.plastic_capture, "rigid": runs.captured_rigid}, _capture_rows)
    picture, rows = make(progress)
    words = "The paper: flexibility matters most where the impact is not plastic."
    for label, modes in (("flexible, n = 3", 3), ("rigid", 0)):
        found = cyril_meeting.case(cyril_meeting.HAND, modes)
        impact = cyril_meeting.of_law(found, "energy-pair", energy_ratio=0.0, friction_ratio=0.0)
        name = f"{label}: normal impulse of an elastic rebound, {cyril_meeting.HAND}"
        rows.append(Row(name, None, float(impact.impulse[0]), "N s", words))
        words = ""
    return picture, rows


def _from_plastic_to_elastic(progress: Progress) -> Made:
    """Return r_E = r_f from 1 to 0."""
    found = {}
    for done, share in enumerate(runs.SHARES, start=1):
        found[f"$r_E=r_f={share:g}$"] = runs.rebound(share, share)
        progress(done / (len(runs.SHARES) + 1))
    rows = cyril_ratios.line_rows(runs.SHARES)
    for share, run in zip(runs.SHARES, found.values(), strict=True):
        name = f"r_E = r_f = {share:g}"
        rows.append(Row(f"{name}: payload's rate after", None, float(runs.payload_rate(run)[-1]), "deg/s"))
        change = float(runs.angle(run, "link2")[-1] - runs.angle(run, "link2")[0])
        words = "Stretches out." if change < 0 else "Folds."
        rows.append(Row(f"{name}: θ₃ at 20 s less that at the impact", None, change, "deg", words))
    return pictures.plot_runs(found, "payload"), rows


def _compare_control(progress: Progress) -> Made:
    """Return schemes of control right after the capture."""
    measures = (
        (f"joint rates below {runs.JOINTS_REST} °/s", runs.fastest_joint, runs.JOINTS_REST),
        (f"spacecraft within {runs.BASE_REST}°", lambda run: np.abs(runs.base_turned(run)), runs.BASE_REST),
        (f"tips within {runs.TIP_REST:g} mm", runs.largest_deflection, runs.TIP_REST),
    )
    found, rows = {}, []
    for done, name in enumerate(runs.SCHEMES, start=1):
        run = found[name] = runs.controlled_capture(name)
        for words, of, limit in measures:
            since = runs.rest_from(run, of, limit)
            rows.append(Row(f"{name}: {words} from", None, since, "s", "" if np.isfinite(since) else NEVER))
        greatest = float(np.abs(runs.base_turned(run)).max())
        rows.append(Row(f"{name}: greatest pitch", None, greatest, "deg", f"Within {float(run.time[-1]):g} s."))
        progress(done / (len(runs.SCHEMES) + 1))
    rows += _stretched_rows(found["none"], "none, n = 2: ")
    return pictures.control(found, min(duration for *_, duration in runs.SCHEMES.values())), rows


# --- the parts -------------------------------------------------------------------------------------------------------


def _make_figure(
    title: str, data: Data, draw: Callable[[xr.Dataset], Figure], rows: Callable[[xr.Dataset], list[Row]], note: str
) -> PaperPart:
    """Return a figure whose picture and rows come from one dataset."""

    def make(progress: Progress) -> Made:
        found = data()
        progress(0.8)
        return draw(found), rows(found)

    return PaperPart(f"Cyril et al., {title}", make, note)


def _of_pair(figure: int) -> Data:
    return lambda: runs.rebound(*runs.PAIRS[figure])


def elastic() -> xr.Dataset:
    return runs.rebound(*runs.ELASTIC)


LOST = "The paper's curves are lost; printed here is what its text says."
CAPTURED = f"`cyril-plastic`: a weld, N_y, θ₄ free, n = 3, no damping, no torques. {LOST}"
REBOUND = f"`cyril-r-e-r-f` with r_E = r_f = 0, which is `cyril-elastic`: N_h, θ₄ locked, n = 3. {LOST}"
PAIR = f"`cyril-r-e-r-f`: N_h, θ₄ locked, n = 3. {LOST}"
BESIDE = "Not in the paper as a figure."
PLATE = "The square stands for the spacecraft: a plate of its mass and inertia."

FIGURES: dict[int | str, PaperPart] = {
    **cyril_tables.FIGURES,
    "start": PaperPart("Cyril et al., Tables 1 and 2: the state before the impact", cyril_impact.start, "Rigid links."),
    "plastic": PaperPart(
        "Cyril et al., section 3.1: plastic impacts",
        cyril_impact.plastic,
        "The paper prints no such numbers but the moment's size. The payload is gripped 1 m from its centre, along the normal.",
    ),
    "modes": PaperPart(
        "Cyril et al.: natural frequencies of the links",
        cyril_impact.modes,
        "None are printed. Shapes ξ² P_k(2ξ − 1) of Legendre's polynomials; the arm as at the impact.",
    ),
    2: _make_figure(
        "Fig. 2: pitch and joint angles, plastic", runs.plastic_capture, pictures.motion, _captured_rows, CAPTURED
    ),
    3: _make_figure(
        "Fig. 3: deflections, plastic", runs.plastic_capture, pictures.deflections, _deflection_rows, CAPTURED
    ),
    4: _make_figure(
        "Fig. 4: configurations, plastic",
        runs.plastic_capture,
        pictures.configurations,
        _captured_places,
        f"{CAPTURED} {PLATE}",
    ),
    5: _make_figure("Fig. 5: pitch and joint angles, elastic", elastic, pictures.motion, _rebound_rows, REBOUND),
    6: _make_figure("Fig. 6: deflections, elastic", elastic, pictures.deflections, _deflection_rows, REBOUND),
    7: _make_figure(
        "Fig. 7: configurations, elastic",
        elastic,
        pictures.configurations,
        lambda run: [*_place_rows(run), *_touch_rows(run)],
        f"{REBOUND} {PLATE}",
    ),
    **{
        number: _make_figure(
            f"Fig. {number}: configurations, r_E = {loss}, r_f = {friction}",
            _of_pair(number),
            pictures.configurations,
            _pair_rows(number),
            f"{PAIR} {PLATE}",
        )
        for number, (loss, friction) in runs.PAIRS.items()
    },
    "rigid": PaperPart(
        "Cyril et al.: rigid against flexible links, plastic",
        _rigid_against_flexible,
        f"`cyril-plastic`, and the same with bending_modes = [0, 0]. {BESIDE}",
    ),
    "locked": PaperPart(
        "Cyril et al.: end-effector free against locked, plastic",
        compare_runs({"θ₄ free": runs.plastic_capture, "θ₄ locked": runs.captured_locked}, _capture_rows),
        f"`cyril-plastic`, and the same with body.hand.joint.locked = true. {BESIDE}",
    ),
    "elastic": PaperPart(
        "Cyril et al.: from plastic to elastic",
        _from_plastic_to_elastic,
        "`cyril-r-e-r-f` along r_E = r_f: at 1 the impulse is that of a pin, but nothing holds hand and payload together "
        f"after it; a later contact is not part of the runs (shaded: would touch again). {BESIDE}",
    ),
    "wedge": _make_figure(
        "section 3.2: pairs (r_E, r_f) that exist",
        cyril_ratios.feasible,
        pictures.wedges,
        cyril_ratios.feasible_rows,
        "n = 3. The paper says that not all pairs are possible; the bound e_N ≤ 1 it leaves out.",
    ),
    "roots": _make_figure(
        "eqs. 49–53: what becomes of the payload's normal velocity",
        cyril_ratios.payload_change,
        pictures.changes,
        cyril_ratios.change_rows,
        "N_h, θ₄ locked; e + x = Λ_n/m_p. Rings: the greatest value, beyond which more friction makes less of it.",
    ),
    "again": _make_figure(
        "meeting again, and the number of modes",
        cyril_again.impulses,
        pictures.impulses,
        cyril_again.impulse_rows,
        "`cyril-elastic` with N_y and a restitution of 0.5, 1.5 s. With flexible links one impact stops the tip alone: its "
        "impulse falls with every mode, and the arm behind drives the tip into the payload again. What all impacts hand over, "
        f"or a compliant contact ({cyril_again.STIFFNESS / 1e3:g} kN/m, {cyril_again.DAMPING:g} N s/m), does not. {BESIDE}",
    ),
    "control": PaperPart(
        "Cyril et al.: control after a plastic capture",
        _compare_control,
        "`cyril-controlled`: a weld, N_y, n = 2. Kp of base, shoulder, elbow, wrist in N m/rad, Kd in N m s/rad: "
        + "; ".join(
            f"{name} {stiffness}, {damping}" for name, (stiffness, damping, _) in runs.SCHEMES.items() if name != "none"
        )
        + ". Torques at most 5, 30, 30, 10 N m. The paper gives neither gains nor, in what is left of it, curves.",
    ),
}
DATA: dict[int | str, tuple[tuple[str, Data], ...]] = {
    **{number: (("plastic", runs.plastic_capture),) for number in (2, 3, 4)},
    **{number: (("elastic", elastic),) for number in (5, 6, 7)},
    **{number: ((f"figure-{number}", _of_pair(number)),) for number in runs.PAIRS},
    "rigid": (("plastic", runs.plastic_capture), ("plastic-rigid", runs.captured_rigid)),
    "locked": (("plastic", runs.plastic_capture), ("plastic-locked", runs.captured_locked)),
    "again": (("again", cyril_again.impulses),),
    "wedge": (("wedge", cyril_ratios.feasible),),
    "roots": (("roots", cyril_ratios.payload_change),),
}


def reproduce(figure: int | str | None, folder: Path, progress: Progress | None = None) -> list[PaperTable]:
    """Recompute one of `FIGURES`, or all when None: see `reproduction.reproduce`. Writes runs and maps as netCDF, too."""
    tables = reproduction.reproduce(FIGURES, figure, folder, progress)
    files = {stem: data for table in tables for stem, data in DATA.get(table.name, ())}
    for stem, data in files.items():
        write_result(data(), Path(folder) / f"{stem}.nc")
    return tables
