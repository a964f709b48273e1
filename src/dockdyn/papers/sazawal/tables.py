"""Sazawal et al., Tables 1–3: parameters and initial conditions as printed, beside those of the presets."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from dockdyn.papers.reproduction import Made, PaperPart, Progress
from dockdyn.papers.table import Row, vector_rows
from dockdyn.scenario.load import load

SPRINGS = (  # r_RS of Table 2, m
    ("0", "0", "0"),
    ("0.2", "0", "0.2"),
    ("0.2", "0.2 cos 30°", "−0.2 sin 30°"),
    ("0.2", "−0.2 cos 30°", "−0.2 sin 30°"),
)
TURNED = np.diag([-1.0, -1.0, 1.0])  # D_C^G of Table 3
EACH = "3000 kg each."


def _bodies(progress: Progress) -> Made:
    """Return table 1."""
    content = load("sazawal-compliance").content
    chaser, target = content.body
    reduced = chaser.mass * target.mass / (chaser.mass + target.mass)
    rows = [Row("m_r", "1500", reduced, "kg", EACH)]
    for name, body in (("J_C", chaser), ("J_T", target)):
        rows += vector_rows(name, ("500",) * 3, np.diag(body.inertia).tolist(), "kg m²")
    (cone,), (probe,) = target.surface, chaser.feature
    rows += vector_rows("r_TS", ("1", "0", "0"), cone.apex, "m")
    rows += vector_rows("r_CQ", ("2", "0", "0"), probe.position, "m")
    return None, [*rows, Row("θ", "30", float(np.degrees(cone.half_angle)), "°")]


def _laws(progress: Progress) -> Made:
    """Return table 2."""
    (device,), (dashpot,) = (load(f"sazawal-{law}").content.contact for law in ("compliance", "spring-dashpot"))
    law = device.normal
    rows = [
        *(
            Row(f"compliance device: k_{number}", "1000", spring.stiffness, "N/m")
            for number, spring in enumerate(law.springs, start=1)
        ),
        Row("compliance device: μ", "0.1", device.friction.coefficient, "1"),
        Row("compliance device: l₀", "1", law.length, "m", "Of the probe; r_CQ of Table 1 is 2 m."),
        Row("compliance device: N", "4", float(len(law.springs)), "1"),
        Row("compliance device: a", "0.8", law.ratio, "1"),
    ]
    for number, (spring, printed) in enumerate(zip(law.springs, SPRINGS, strict=True), start=1):
        rows += vector_rows(f"compliance device: r_RS{number}", printed, spring.anchor, "m")
    rows += [
        Row("spring dashpot: k", "1000", dashpot.normal.stiffness, "N/m"),
        Row("spring dashpot: b", "200", dashpot.normal.damping, "N s/m"),
        Row("spring dashpot: μ", "0", dashpot.friction.coefficient, "1"),
    ]
    return None, rows


def _start(progress: Progress) -> Made:
    """Return table 3: the chaser's motion, as the target is at rest at the origin."""
    chaser = load("sazawal-compliance").content.named("chaser")
    attitude = Rotation.from_quat(np.roll(chaser.attitude, -1)).as_matrix()  # the scalar last
    rows = vector_rows("r(0)", ("3.533", "0", "0.25"), chaser.position, "m")
    rows += vector_rows("v(0)", ("−0.02", "0.005", "0"), chaser.velocity, "m/s")
    for axis, along, said in zip("xyz", np.diag(attitude), np.diag(TURNED), strict=True):
        rows.append(Row(f"D_C^G(0), {axis}{axis}", f"{said:g}".replace("-", "−"), float(along), "1"))
    far = float(np.abs(attitude - TURNED).max())
    rows.append(Row("D_C^G(0), largest difference from the printed", None, far, "1"))
    return None, [*rows, *vector_rows("ω_C(0)", ("0",) * 3, chaser.rate, "rad/s")]


NOTE = "Computed is what the presets `sazawal-compliance` and `sazawal-spring-dashpot` have."
FIGURES: dict[int | str, PaperPart] = {
    "table-1": PaperPart("Sazawal et al., Table 1: inertia and geometry", _bodies, NOTE),
    "table-2": PaperPart("Sazawal et al., Table 2: compliance device and spring dashpot", _laws, NOTE),
    "table-3": PaperPart(
        "Sazawal et al., Table 3: initial conditions",
        _start,
        f"{NOTE} The target is at rest, its axes the inertial ones.",
    ),
}
