"""Paraskevas et al., Figures 3–5: the ratio of effective masses over the mass ratios λ_c = m₁/m₂, λ_i = m₂/m₃, λ_t = m₄/m₃."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import xarray as xr

from dockdyn.impact.formulas.effective_mass import (
    chain_mass_ratio,
    mass_ratio_coefficient,
    velocity_after_impact,
    zero_velocity_target_ratio,
)
from dockdyn.papers.table import Row
from dockdyn.stability.chart import chart_growth, locate_sign_changes

LEAST, MOST = 0.1, 10.0  # mass ratios of the planes
VALUES = 101  # along an axis
FAMILY = (0.2, 0.5, 1.0, 2.0, 5.0)  # λ_c, or λ_i, of the curves
CONTACT = 1.5  # λ_i of the rows of equal ratios, which does not matter there
CELLS, SHARP = 48, 1e-9  # of the traced line: details, and its place, as shares of an axis


def _ratios_of(points: np.ndarray) -> np.ndarray:
    """Return points of the unit square on the logarithmic axes."""
    return LEAST * (MOST / LEAST) ** points


@lru_cache(maxsize=2)
def plane(target: float) -> xr.Dataset:
    """Return e_l over λ_i and λ_c for one λ_t (0: a single mass, inf: a wall behind m₃), and the line e_l = ½, traced."""
    axis = _ratios_of(np.linspace(0, 1, VALUES))

    def excess_over_half(points: np.ndarray) -> np.ndarray:
        contact, chaser = _ratios_of(points).T
        return 2 * np.asarray(mass_ratio_coefficient(chaser, contact, target)) - 1

    (line,) = (_ratios_of(piece) for piece in chart_growth(excess_over_half, CELLS, SHARP).boundary)
    coefficient = np.asarray(mass_ratio_coefficient(axis[:, None], axis[None, :], target))
    curves = np.asarray(mass_ratio_coefficient(np.array(FAMILY)[:, None], axis[None, :], target))
    words = "ratio of effective masses e_l"
    return xr.Dataset(
        {
            "coefficient": (("chaser_ratio", "contact_ratio"), coefficient, {"units": "1", "long_name": words}),
            "curve": (("family", "contact_ratio"), curves, {"units": "1", "long_name": words}),
            "zero_contact_ratio": ("vertex", line[:, 0], {"units": "1", "long_name": "λ_i where e_l is one half"}),
            "zero_chaser_ratio": ("vertex", line[:, 1], {"units": "1", "long_name": "λ_c where e_l is one half"}),
        },
        coords={
            "contact_ratio": ("contact_ratio", axis, {"units": "1", "long_name": "λ_i = m2/m3"}),
            "chaser_ratio": ("chaser_ratio", axis, {"units": "1", "long_name": "λ_c = m1/m2"}),
            "family": ("family", list(FAMILY), {"units": "1", "long_name": "λ_c of the curves"}),
        },
        attrs={"target_ratio": target},
    )


@lru_cache(maxsize=1)
def locus() -> xr.Dataset:
    """Return the mass ratios that leave no relative velocity, one of the three known (eq. 33 and the two after it).

    λ_t over λ_i for some λ_c, λ_t over λ_c for some λ_i, and λ_c over λ_i for some λ_t.
    """
    axis = _ratios_of(np.linspace(0, 1, 10 * VALUES))
    family = np.array(FAMILY)

    def curves(values: object, found: str, known: str) -> tuple[tuple[str, str], np.ndarray, dict[str, str]]:
        words = f"{found} that leaves no relative velocity, {known} the family's"
        return (("family", "ratio"), np.asarray(values), {"units": "1", "long_name": words})

    return xr.Dataset(
        {
            "of_chaser_ratio": curves(zero_velocity_target_ratio(family[:, None], axis), "λ_t = m4/m3", "λ_c"),
            "of_contact_ratio": curves(zero_velocity_target_ratio(axis, family[:, None]), "λ_t = m4/m3", "λ_i"),
            "of_target_ratio": curves(_zero_velocity_chaser_ratio(family[:, None], axis), "λ_c = m1/m2", "λ_t"),
        },
        coords={
            "ratio": ("ratio", axis, {"units": "1", "long_name": "λ_i, and λ_c where λ_i is the family's"}),
            "family": ("family", family, {"units": "1", "long_name": "λ_c, λ_i or λ_t, which is known"}),
        },
    )


def _zero_velocity_chaser_ratio(target: np.ndarray, contact: np.ndarray) -> np.ndarray:
    """Return the λ_c that leaves no relative velocity: chaser and target change places, and λ_i = m₂/m₃ is turned over."""
    return np.asarray(zero_velocity_target_ratio(target, 1 / contact))


def _even_contact_ratio(chaser: float, target: float) -> float:
    """Return λ_i with which e_l = ½."""
    ends = np.array([[0.0]]), np.array([[1.0]])

    def excess_over_half(points: np.ndarray) -> np.ndarray:
        return 2 * np.asarray(mass_ratio_coefficient(chaser, _ratios_of(points[:, 0]), target)) - 1

    return float(
        _ratios_of(
            locate_sign_changes(excess_over_half, *ends, excess_over_half(ends[0]), excess_over_half(ends[1]), SHARP)
        )[0, 0]
    )


def distance(data: xr.Dataset, chaser_ratio: np.ndarray) -> Row:
    """Return the traced line against its closed form."""
    worst = float(np.abs(data.zero_chaser_ratio.values / chaser_ratio - 1).max())
    return Row("traced line against the closed form, largest relative distance", None, worst, "1")


def single_mass_rows(data: xr.Dataset) -> list[Row]:
    """Return figure 3."""
    contact = data.zero_contact_ratio.values
    closed = (1 + contact) / (1 - contact)
    rows = [
        Row("e_l, λ_c = λ_i = 1", None, float(mass_ratio_coefficient(1, 1, 0)), "1"),
        Row("least e_l with λ_i above 1", "> 0.5", float(mass_ratio_coefficient(np.inf, 1.0, 0)), "1", LIGHTER),
    ]
    for chaser in (2.0, 5.0):
        words = "Closed form: (λ_c − 1)/(λ_c + 1)."
        name = f"largest λ_i that keeps the direction, λ_c = {chaser:g}"
        rows.append(Row(name, None, _even_contact_ratio(chaser, 0.0), "1", words))
    rows.append(distance(data, closed))
    wrong = Row(
        "eq. 28: e_l of a single chaser mass, λ_i = λ_t = 1",
        "0.5",
        float(chain_mass_ratio((1.0,), (1.0, 1.0))),
        "1",
        "Eq. 28 is the limit λ_t → ∞; right is (λ_i + λ_t + 1)/((λ_i + 1)(λ_t + 1)).",
    )
    return [*rows, wrong]


LIGHTER = "Approached for λ_c → ∞, λ_i → 1: a direction is kept only where m₃ is heavier than m₂ and m₁ than m₂."


def wall_rows(data: xr.Dataset) -> list[Row]:
    """Return figure 4."""
    contact = data.zero_contact_ratio.values
    rows = [Row("e_l, λ_c = λ_i = 1", None, float(mass_ratio_coefficient(1, 1, np.inf)), "1")]
    for chaser in (0.2, 0.5):
        words = "Closed form: (1 − λ_c)/(1 + λ_c). Below it the chaser turns round."
        name = f"least λ_i that keeps the direction, λ_c = {chaser:g}"
        rows.append(Row(name, None, _even_contact_ratio(chaser, np.inf), "1", words))
    return [*rows, distance(data, (1 - contact) / (1 + contact))]


def locus_rows(data: xr.Dataset) -> list[Row]:
    """Return Figure 5's rows: λ_t where λ_c is known, and λ_c where λ_t is."""
    rows = []
    for found, known, curves in (("λ_t", "λ_c", data.of_chaser_ratio), ("λ_c", "λ_t", data.of_target_ratio)):
        far = float(np.abs(curves.sel(family=1.0) - 1).max())
        rows.append(Row(f"{found} for {known} = 1, largest distance from 1 over all λ_i", "0", far, "1"))
        for family in (2.0, 0.5):
            curve = curves.sel(family=family)
            heavy = family > 1
            extreme, word = (curve.max(), "largest") if heavy else (curve.min(), "least")
            printed = "< 1" if heavy else "> 1"
            words = f"λ_i from {LEAST:g} to {MOST:g}."
            rows.append(Row(f"{word} {found} for {known} = {family:g}", printed, float(extreme), "1", words))
    for contact in (0.5, 2.0):
        target = float(zero_velocity_target_ratio(2.0, contact))
        chaser = float(_zero_velocity_chaser_ratio(np.array(2.0), np.array(contact)))
        rows.append(Row(f"λ_t for λ_c = 2, λ_i = {contact:g}", None, target, "1"))
        rows.append(Row(f"λ_c for λ_t = 2, λ_i = {contact:g}", None, chaser, "1"))
    return rows


def equal_rows() -> list[Row]:
    """Return rows of eqs. 25 and 26: chaser and target of one mass ratio λ, beside the general ratio of four masses."""
    rows = []
    for ratio in (0.5, 1.0, 2.0):
        found = float(chain_mass_ratio(*equal_chains(ratio)))
        rows.append(Row(f"eq. 25: e_l, λ = {ratio:g}", f"{1 / (1 + ratio):.6g}", found, "1"))
    for ratio, restitution in ((0.5, 0.5), (0.5, 1.0), (1.0, 1.0), (2.0, 0.5), (2.0, 1.0)):
        after = float(velocity_after_impact(*equal_chains(ratio), 1.0, restitution).relative_velocity)
        name = f"eq. 26: relative velocity after over before, λ = {ratio:g}, e* = {restitution:g}"
        note = "λ = e*: none is left." if ratio == restitution else "λ > e*: kept." if after > 0 else "λ < e*: turned."
        rows.append(Row(name, f"{(ratio - restitution) / (ratio + 1):.6g}", after, "1", note))
    return rows


def equal_chains(ratio: float, contact: float = CONTACT) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return masses (kg) of chaser and target, m₁/m₂ = m₄/m₃ = `ratio` and m₂/m₃ = `contact`."""
    return (ratio * contact, contact), (1.0, ratio)
