"""SITS, Table 1: the parameters of the simulations as printed, beside those of the preset."""

from __future__ import annotations

from dockdyn.papers.reproduction import Made, PaperPart, Progress
from dockdyn.papers.sits.identification import AMPLITUDE, SAMPLES
from dockdyn.papers.sits.rig import STEP, rig
from dockdyn.papers.table import Row
from dockdyn.scenario.load import load


def _parameters(progress: Progress) -> Made:
    """Return table 1."""
    r = rig()
    return None, [
        Row("V₀", "0.05", load("sits").content.named("target").velocity, "m/s"),
        Row("m_e", "500", r.mass, "kg"),
        Row("K_tc", "20000", r.stiffness, "N/m"),
        Row("τ_s", "0.002", r.delay, "s"),
        Row("T_c", "0.004", r.hold, "s"),
        Row("B_tc", "50", r.damping, "N s/m"),
        Row("Ā_R", "0.025", AMPLITUDE, "m"),
        Row("T", "0.002", STEP, "s"),
        Row("N_R", "1501", float(SAMPLES), "1"),
    ]


FIGURES: dict[int | str, PaperPart] = {
    "table-1": PaperPart(
        "SITS, Table 1: parameters of the simulations",
        _parameters,
        "Computed is what the preset `sits`, the sweep and the sampled compensators have. The value of ω̄_R is not in the "
        "text at hand.",
    )
}
