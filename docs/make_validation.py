"""Write validation.md, printed, computed and independent numbers beside each other: `python docs/make_validation.py`.

`make verify` calls it after the tests. It takes a few minutes, needs the packages of the `dev` extra, and ends with an error
where a computed number is further from the independent one than that is trusted to.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tomlkit

import dockdyn

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "validation.md"
sys.path.insert(0, str(ROOT / "tests"))  # independent models that the tests use

SECOND = "second implementation"
ROUNDING = 1e-10  # differences below this are not told apart: they change with the machine
INTRODUCTION = f"""# Validation

Written by `docs/make_validation.py`, which `make verify` runs after the tests. Three numbers a row: what the paper prints,
what dockdyn computes, and what something else computes that shares no code with it.

“By” says what that is. A *closed form* is evaluated here with NumPy. *SciPy*, *tdcpy* and *Pinocchio* were run when this
page was written, on a model written for that purpose. “{SECOND.capitalize()}” is a number from another implementation of
the paper, which shares no code with dockdyn; it is given to the digits shown. What was measured is beside the materials as
published, with no number fitted to it. Where the paper prints another number than
both, [Errata](errata.md) says why. All rows of all papers: `dockdyn reproduce`.
"""
HEAD = "| Quantity | Printed | Computed | Independent | Unit | By | Difference |\n|---|---|---|---|---|---|---|"


class Known(NamedTuple):
    """An independent number for a row of a paper's table."""

    paper: str
    part: int | str
    quantity: str
    value: float | Callable[[], float]
    by: str
    trusted: float  # largest difference


class Line(NamedTuple):
    """A row of the page."""

    quantity: str
    printed: str
    computed: float
    independent: float
    unit: str
    by: str
    trusted: float

    def text(self) -> str:
        numbers = (f"{self.computed:.8g}", f"{self.independent:.8g}")
        gap = abs(self.computed - self.independent)
        told = f"{gap:.1e}" if gap > ROUNDING else f"below {ROUNDING:g}"
        return "| " + " | ".join((self.quantity, self.printed, *numbers, self.unit, self.by, told)) + " |"


def delay_margin(damping: float, stiffness: float = 1000.0, mass: float = 375.0) -> float:
    """Eqs. 150 and 151 of Sazawal et al. (s)."""
    b, k = damping / mass, stiffness / mass
    frequency = np.sqrt(b**2 / 2 + np.sqrt(b**4 / 4 + k**2))
    return float(np.arctan2(frequency * b, k) / frequency)


@cache
def gibson_impacts() -> list[float]:
    """Times of impact by SciPy's DOP853, on equations of motion in complex numbers."""
    import planar_arm_reference as planar

    return [impact.time for impact in planar.solve(planar.Parameters(), 40.0).impacts]


def first_separation(case: str) -> float:
    """Relative velocity (m/s) after the first impact of four masses, by SciPy's DOP853."""
    from four_mass_reference import Line as FourMasses

    masses = {"A": (17, 2, 1.5, 15), "B": (10, 10, 10, 10)}[case]
    return float(FourMasses((1000 / 15000, 200 / 15000), masses).after_first_contact())


PAPERS = {
    "sazawal": "Sazawal et al.",
    "paraskevas": "Paraskevas et al.",
    "sits": "SITS",
    "gibson": "Gibson and Murphey",
    "cyril": "Cyril et al.",
}
PIN = "pin, N_y, θ₄ free, n = 0"
KNOWN = [
    *(
        Known(
            "sazawal", 7, f"critical delay, l₀ = 1 m, k = 1000 N/m, b = {b} N s/m", delay_margin(b), "closed form", 1e-9
        )
        for b in (50, 100, 200, 400, 800)
    ),
    *(Known("paraskevas", "table-1", f"{c}: simulated", lambda c=c: first_separation(c), "SciPy", 1e-8) for c in "AB"),
    Known("paraskevas", "table-1", "C: simulated", 0.0271536, SECOND, 1e-7),
    Known("paraskevas", "table-1", "D: simulated", 0.0412147, SECOND, 1e-7),
    Known(
        "paraskevas", 9, "least speed that latches (eq. 46)", 0.02 * np.sqrt(100 / (15 * 17 / 32)), "closed form", 1e-9
    ),
    Known("sits", "delays", "measurement delay alone, growth rate", 0.0399957, SECOND, 1e-7),
    Known("sits", "delays", "control cycle alone, growth rate", 0.0399936, SECOND, 1e-7),
    Known("sits", "delays", "response of the robot alone, growth rate", 0.011063, SECOND, 1e-6),
    Known("sits", "robot", "delay at ω_n", 0.5526, SECOND, 1e-4),
    Known("gibson", "impacts", "impact 1, side-wall: time", lambda: gibson_impacts()[0], "SciPy", 1e-3),
    Known("gibson", "impacts", "impact 2, floor: time", lambda: gibson_impacts()[1], "SciPy", 1e-3),
    Known("cyril", "start", "kinetic energy of the chaser", 0.137194, SECOND, 1e-6),
    Known("cyril", "start", "linear momentum, x", -2.004428, SECOND, 1e-6),
    Known("cyril", "plastic", f"{PIN}: energy lost", 0.075580, SECOND, 1e-6),
    Known("cyril", "plastic", f"{PIN}: normal impulse", 2.16140, SECOND, 1e-5),
    Known("cyril", "plastic", f"{PIN}: tangential impulse", 0.89548, SECOND, 1e-5),
    Known("cyril", "plastic", "pin, N_h, θ₄ locked, n = 3: energy lost", 0.084504, SECOND, 1e-6),
]


def of_papers() -> Iterator[tuple[str, list[Line]]]:
    """Rows of the papers, each part computed once."""
    for paper, title in PAPERS.items():
        source, found = importlib.import_module(f"dockdyn.papers.{paper}.reproduce"), []
        for part in dict.fromkeys(known.part for known in KNOWN if known.paper == paper):
            with tempfile.TemporaryDirectory() as folder:
                rows = {row.quantity: row for table in source.reproduce(part, folder) for row in table.rows}
            for known in KNOWN:
                if (known.paper, known.part) == (paper, part):
                    row, value = rows[known.quantity], known.value() if callable(known.value) else known.value
                    cells = (known.quantity, row.printed or "", row.computed, value, row.unit)
                    found.append(Line(*cells, known.by, known.trusted))
        yield title, found


def engines() -> list[Line]:
    """What no paper prints, beside other programs that are run now."""
    import tdcpy
    import tdcpy.rdde
    from pinocchio_bodies import pair, pin
    from scipy.linalg import solve_continuous_are

    from dockdyn.control.lqr import solve_riccati
    from dockdyn.impact import contact_matrix
    from dockdyn.stability import rightmost_roots

    found = []
    for delay in (0.016, 0.2):  # s; Sazawal et al., k = 1000 N/m, b = 200 N s/m on 375 kg
        matrices = np.array([[[0, 1], [0, 0]], [[0, 0], [-1000 / 375, -200 / 375]]], float)
        root = rightmost_roots(matrices, np.array([delay]), count=1)[0]
        system = tdcpy.rdde.RDDE(A=np.stack(list(matrices), axis=-1), hA=np.array([0.0, delay]))
        known = max(np.asarray(tdcpy.roots(system, r=float(root.real) - 0.1)[0]), key=lambda s: s.real)
        name = f"rightmost root of a delayed spring and dashpot, h = {delay:g} s"
        found.append(Line(f"{name}, real part", "", root.real, known.real, "1/s", "tdcpy", 1e-9))
        found.append(Line(f"{name}, imaginary part", "", abs(root.imag), abs(known.imag), "1/s", "tdcpy", 1e-9))
    two = pair(0)
    decomposition = pin.ConstraintCholeskyDecomposition(two.model, two.data, *two.constraint)
    decomposition.compute(two.model, two.data, *two.constraint, 0.0)
    other = decomposition.getInverseOperationalSpaceInertiaMatrix()[0, 0]
    ours = float(contact_matrix(two.jacobian, two.mass)[0, 0])
    found.append(
        Line("W_nn of two free bodies that meet off their centres", "", ours, other, "1/kg", "Pinocchio", 1e-11)
    )
    random = np.random.default_rng(10)
    a, b = random.normal(size=(6, 6)), random.normal(size=(6, 2))
    ours, other = (
        float(np.trace(np.asarray(f(a, b, np.eye(6), np.eye(2))))) for f in (solve_riccati, solve_continuous_are)
    )
    found.append(Line("trace of the solution of a Riccati equation of six states", "", ours, other, "1", "SciPy", 1e-8))
    return found


def measured() -> list[Line]:
    """Return what was measured, of which no number was fitted."""
    from oblique_impacts import SPIN, TANGENTIAL, rebound

    def load(tables: dict[str, object]) -> dockdyn.Scenario:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "impact.toml"
            file.write_text(tomlkit.dumps(tables), encoding="utf-8")
            return dockdyn.load(file)

    by = "measured, Kharaz et al. 2001"
    kept = "oblique impact, {:g}° from the normal: velocity left along the anvil"
    spin = "oblique impact, {:g}° from the normal: spin"
    return [
        *(
            Line(kept.format(a), "", rebound(load, a)[0], value, "1", by, 0.05 * value)
            for a, value in TANGENTIAL.items()
        ),
        *(Line(spin.format(a), "", rebound(load, a)[1], value, "rad/s", by, 0.15 * value) for a, value in SPIN.items()),
    ]


def main() -> int:
    written, wrong = [INTRODUCTION], []
    tables = [*of_papers(), ("Beside other programs", engines()), ("Beside measurements", measured())]
    for title, lines in tables:
        written.append(f"## {title}\n\n{HEAD}\n" + "\n".join(line.text() for line in lines) + "\n")
        wrong += [line.quantity for line in lines if not abs(line.computed - line.independent) <= line.trusted]
    PAGE.write_text("\n".join(written), encoding="utf-8")
    print(f"Written: {PAGE.relative_to(ROOT)}")
    for quantity in wrong:
        print(f"differs by more than is trusted: {quantity}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
