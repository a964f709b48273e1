"""Cyril et al., Tables 1 and 2: the bodies and their initial conditions as printed, beside those of the presets."""

from __future__ import annotations

import numpy as np

from dockdyn.papers.cyril.meeting import TIP
from dockdyn.papers.reproduction import Made, PaperPart, Progress
from dockdyn.papers.table import Row
from dockdyn.scenario.load import load

ABOUT_JOINT = "About the joint, m L²/3: the preset has masses and lengths."


def _bodies(progress: Progress) -> Made:
    """Return table 1."""
    content = load("cyril-plastic").content
    spacecraft, *links, hand, payload = content.body
    rows = [
        Row("spacecraft: mass", "10,000", spacecraft.mass, "kg"),
        Row("spacecraft: I_zz", "40,000", spacecraft.inertia[2][2], "kg m²"),
    ]
    for number, link in enumerate(links, start=1):
        beam = link.flexible
        rows += [
            Row(f"link {number}: length", "8.13", beam.length, "m"),
            Row(f"link {number}: mass", "20", link.mass, "kg"),
            Row(f"link {number}: EI", "881", beam.bending_stiffness[0], "N m²"),
            Row(f"link {number}: I_zz", "440.65", link.mass * beam.length**2 / 3, "kg m²", ABOUT_JOINT),
        ]
    arm = hand.position[0] - hand.joint.position[0]  # m, of its centre of mass from the joint
    about_joint = hand.inertia[2][2] + hand.mass * arm**2
    return None, [
        *rows,
        Row("hand: length", "0.2", float(arm + TIP[0]), "m"),
        Row("hand: mass", "0.2", hand.mass, "kg"),
        Row("hand: I_zz", "0.00267", about_joint, "kg m²", "About the joint."),
        Row("payload: mass", "1000", payload.mass, "kg"),
        Row("payload: I_zz", "500", payload.inertia[2][2], "kg m²"),
    ]


def _start(progress: Progress) -> Made:
    """Return table 2."""
    content = load("cyril-plastic").content
    angles, rates = ("67.3", "45.4", "0"), ("0.836", "−1.81", "0.903")
    spacecraft, *links, payload = content.body
    base = spacecraft.rate[2] if spacecraft.rate else 0.0
    turned = 0.0 if spacecraft.attitude is None else float(2 * np.degrees(np.arcsin(spacecraft.attitude[3])))
    rows = [
        Row("θ₁, of the spacecraft", "0", turned, "°"),
        Row("its rate", "0", float(np.degrees(base)), "°/s"),
    ]
    for number, link, angle, rate in zip("₂₃₄", links, angles, rates, strict=True):
        rows += [
            Row(
                f"θ{number}, of {link.name}",
                angle,
                float(np.degrees(link.joint.start)),
                "°",
                "From the link before it.",
            ),
            Row(f"rate of θ{number}", rate, float(np.degrees(link.joint.start_rate)), "°/s"),
        ]
    return None, [*rows, Row("ω of the payload", "−3", float(np.degrees(payload.rate[2])), "°/s")]


NOTE = "Computed is what the preset `cyril-plastic` has, and the other presets of this paper."
FIGURES: dict[int | str, PaperPart] = {
    "table-1": PaperPart("Cyril et al., Table 1: the bodies", _bodies, NOTE),
    "table-2": PaperPart("Cyril et al., Table 2: initial conditions", _start, NOTE),
}
