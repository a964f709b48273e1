"""The ratios r_E and r_f of Cyril et al., section 3.2: which pairs exist, and what eqs. 49–53 say of the impulse.

With n from the payload to the end-effector, the payload's mass centre goes from x n to −e n along the normal, so
e + x = Λ_n/m_p, with Λ_n the normal impulse. Eq. 52 thus says that Λ_n falls as the energy loss grows, eq. 53 that it grows
with the friction impulse. By the larger root of eq. 49,
W_nn Λ_n = √(2 W_nn ΔE_p (1 − r_E − κ (1 − r_f)²)) − u_n − W_nt r_f Λ_t,
Λ_t that of the plastic impact: it always falls with r_E, and near r_f = 1 it falls with r_f, too, where W_nt Λ_t > 0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import xarray as xr

from dockdyn.deferred import jax, jnp
from dockdyn.impact.laws.contact_matrix import contact_matrix, velocity_jump
from dockdyn.impact.laws.energy_pair import admissible_wedge, energy_pair
from dockdyn.impact.laws.plastic import plastic_impact
from dockdyn.papers.cyril.meeting import FREE, HAND, SIDE, Meeting, case, contact, meet, of_law
from dockdyn.papers.cyril.runs import ELASTIC, PAIRS
from dockdyn.papers.table import Row
from dockdyn.results.run import Variable

ORDER = (HAND, SIDE, FREE)  # cases shown
SYSTEMS, SEED, JOINTS = 2000, 52, 6  # of the random family: how many, and velocities of each chaser
SHIFT = 0.1  # m/s, of the frame of reference along the normal
FRICTION_RATIOS = np.linspace(0, 2, 201)
SHOWN_LOSSES, SHOWN_FRICTIONS = (0.2, 0.5, 0.8), (0.2, 0.5, 0.8)  # curves of the picture


# --- which pairs exist -----------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def feasible() -> xr.Dataset:
    """Return the wedge of pairs that exist, over r_f, three modes a link."""
    edges = [
        jax.vmap(admissible_wedge, (None, None, 0))(*contact(case(name, 3)), jnp.asarray(FRICTION_RATIOS))
        for name in ORDER
    ]

    def over_cases(values: list[Any], words: str) -> Variable:
        return (("case", "friction_ratio"), np.stack(values), {"units": "1", "long_name": words})

    return xr.Dataset(
        {
            "least": over_cases([edge.least for edge in edges], "least r_E: Newton's coefficient is 1"),
            "greatest": over_cases([edge.greatest for edge in edges], "greatest r_E: what an impulse can take"),
            "sliding_share": ("case", [float(e.sliding_share[0]) for e in edges], {"units": "1", "long_name": "κ"}),
            "exists": (
                ("case", "pair"),
                np.array([[_refusal(name, *pair) is None for pair in PAIRS.values()] for name in ORDER], int),
                {"units": "1", "long_name": "1 where the pair exists"},
            ),
        },
        coords={
            "case": list(ORDER),
            "friction_ratio": ("friction_ratio", FRICTION_RATIOS, {"units": "1", "long_name": "r_f"}),
            "pair_loss": ("pair", [pair[0] for pair in PAIRS.values()], {"units": "1", "long_name": "r_E"}),
            "pair_friction": ("pair", [pair[1] for pair in PAIRS.values()], {"units": "1", "long_name": "r_f"}),
        },
    )


def _refusal(name: str, loss: float, friction: float) -> str | None:
    """Return what the package says of a pair that cannot be; None of one that can."""
    try:
        of_law(case(name, 3), "energy-pair", energy_ratio=loss, friction_ratio=friction)
    except ValueError as error:
        return str(error)
    return None


def feasible_rows(data: xr.Dataset) -> list[Row]:
    rows = []
    for name in ORDER:
        share = float(data.sliding_share.sel(case=name))
        rows.append(Row(f"{name}: κ", None, share, "1", "Of the plastic loss, what no frictionless impact can take."))
        for number, pair in PAIRS.items():
            said = _refusal(name, *pair)
            words = f"{name}: 1 if Fig. {number}'s (r_E, r_f) = {pair} exists"
            rows.append(Row(words, "1", float(said is None), "1", "" if said is None else f"{said}."))
    double = of_law(case(HAND, 3), "energy-pair", energy_ratio=0.0, friction_ratio=2.0)
    words = "Twice the plastic impulse turns the contact's velocity round and takes nothing, of any two systems."
    rows.append(Row("r_f of an impact with friction that loses nothing", "0", 2.0, "1", words))
    rows.append(Row(f"its energy loss, {HAND}", None, float(double.energy_loss), "J"))
    for name in (HAND, SIDE):
        found = case(name, 3)
        pin = of_law(found, "pin")
        stuck = of_law(found, "energetic", restitution=1.0, friction=10.0)
        ratio = float(stuck.impulse[1] / pin.impulse[1])
        words = "Energetic restitution 1, friction 10; friction takes some energy. The paper: 0, and never above 1."
        rows.append(Row(f"r_f of an elastic impact that sticks, {name}", "0", ratio, "1", words))
    return rows


# --- eqs. 49–53 ------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def payload_change() -> xr.Dataset:
    """Return |e + x| over r_E and over r_f: the paper's system, flexible and rigid, where the pairs exist."""
    ratios = np.linspace(0, 1, 201)
    found = {label: case(HAND, modes) for label, modes in (("flexible", 3), ("rigid", 0))}

    def changes(meeting: Meeting, losses: np.ndarray, frictions: np.ndarray) -> np.ndarray:
        matrix, velocity = contact(meeting)
        edge = admissible_wedge(matrix, velocity, jnp.asarray(frictions))
        inside = (losses >= np.asarray(edge.least)) & (losses <= np.asarray(edge.greatest))
        impulse = jax.vmap(energy_pair, (None, None, 0, 0))(matrix, velocity, losses, frictions).impulse[:, 0]
        return np.where(inside, np.abs(np.asarray(impulse)) / _payload_mass(meeting), np.nan)

    shape = ratios.shape
    return xr.Dataset(
        {
            "over_loss": (
                ("links", "friction", "ratio"),
                np.array([[changes(m, ratios, np.full(shape, f)) for f in SHOWN_FRICTIONS] for m in found.values()]),
                {"units": "m/s", "long_name": "change of the payload's normal velocity, over r_E"},
            ),
            "over_friction": (
                ("links", "loss", "ratio"),
                np.array([[changes(m, np.full(shape, r), ratios) for r in SHOWN_LOSSES] for m in found.values()]),
                {"units": "m/s", "long_name": "change of the payload's normal velocity, over r_f"},
            ),
        },
        coords={
            "links": list(found),
            "friction": ("friction", list(SHOWN_FRICTIONS), {"units": "1", "long_name": "r_f"}),
            "loss": ("loss", list(SHOWN_LOSSES), {"units": "1", "long_name": "r_E"}),
            "ratio": ("ratio", ratios, {"units": "1", "long_name": "r_E or r_f"}),
        },
    )


def _payload_mass(found: Meeting) -> float:
    return float(found.approach.mass[-3, -3])


class RandomSystems:
    """Random systems: a chaser with six velocities, a payload that is one rigid body in space, a contact with friction."""

    def __init__(self, seed: int = SEED, systems: int = SYSTEMS):
        rng = np.random.default_rng(seed)
        chaser = rng.normal(size=(systems, JOINTS, JOINTS))
        body = rng.normal(size=(systems, 3, 3))
        self.mass = np.zeros((systems, JOINTS + 6, JOINTS + 6))
        self.mass[:, :JOINTS, :JOINTS] = chaser @ chaser.transpose(0, 2, 1) + 0.1 * np.eye(JOINTS)
        self.mass[:, JOINTS : JOINTS + 3, JOINTS : JOINTS + 3] = rng.uniform(0.1, 10, (systems, 1, 1)) * np.eye(3)
        self.mass[:, JOINTS + 3 :, JOINTS + 3 :] = body @ body.transpose(0, 2, 1) + 0.1 * np.eye(3)
        lever = rng.normal(size=(systems, 3))
        # velocity of the payload's contact point: v + ω × r; the normal is the first axis
        spin = np.cross(np.eye(3)[None], lever[:, None]).transpose(0, 2, 1)
        payload = np.concatenate([np.broadcast_to(np.eye(3), (systems, 3, 3)), spin], axis=2)
        self.rows = np.concatenate([rng.normal(size=(systems, 3, JOINTS)), -payload], axis=2)
        self.matrix = jax.vmap(contact_matrix)(jnp.asarray(self.rows), jnp.asarray(self.mass))
        v = rng.normal(size=(systems, JOINTS + 6))
        slip = np.einsum("sij,sj->si", self.rows, v)
        self.velocity = jnp.asarray(slip * np.where(slip[:, :1] < 0, 1.0, -1.0))  # it approaches
        self.rng = rng

    def change(self, losses: np.ndarray, frictions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return −(v_pnf − v_pni) of the payload's mass centre (m/s), which is e + x, and whether it is pushed."""
        impulse = jax.vmap(energy_pair)(self.matrix, self.velocity, losses, frictions).impulse
        jump = jax.vmap(velocity_jump)(jnp.asarray(self.rows), jnp.asarray(self.mass), impulse)
        return -np.asarray(jump[:, JOINTS]), np.asarray(impulse[:, 0] >= 0)

    def edges(self, frictions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = jax.vmap(admissible_wedge)(self.matrix, self.velocity, jnp.asarray(frictions))
        return np.asarray(found.least), np.asarray(found.greatest)

    def losses_matter(self) -> tuple[int, int]:
        """Return how many systems obey eq. 52, and those tried: two random r_E at one random r_f."""
        friction = self.rng.uniform(0, 1, len(self.mass))
        low, high = self.edges(friction)
        shares = np.sort(self.rng.uniform(0, 1, (2, len(low))), axis=0)
        less, more = low + shares * (high - low)
        (little, pushed), (much, also) = self.change(less, friction), self.change(more, friction)
        tried = pushed & also & (low < high)
        return int(np.sum(tried & (np.abs(little) > np.abs(much)))), int(tried.sum())

    def frictions_matter(self) -> tuple[int, int]:
        """Return how many systems obey eq. 53, and those tried: two random r_f at one random r_E that both allow."""
        first, second = np.sort(self.rng.uniform(0, 1, (2, len(self.mass))), axis=0)
        edges = self.edges(first), self.edges(second)
        low = np.maximum(edges[0][0], edges[1][0])
        high = np.minimum(edges[0][1], edges[1][1])
        loss = low + self.rng.uniform(0, 1, len(low)) * (high - low)
        (little, pushed), (much, also) = self.change(loss, first), self.change(loss, second)
        tried = pushed & also & (low < high)
        return int(np.sum(tried & (np.abs(little) < np.abs(much)))), int(tried.sum())


def change_rows(data: xr.Dataset) -> list[Row]:
    """Return rows that show: eq. 52 holds, eq. 53 does not; eqs. 49–51."""
    family = RandomSystems()
    (obeyed, tried), (grown, compared) = family.losses_matter(), family.frictions_matter()
    words = "Six velocities of the chaser, a rigid payload in space; r_f from 0 to 1, two r_E that exist."
    rows = [
        Row("eq. 52: random systems tried", None, tried, "1", words),
        Row("eq. 52: those that obey it", "all", obeyed, "1", "It follows from the larger root of eq. 49."),
        Row("eq. 53: random systems tried", None, compared, "1", "Two r_f from 0 to 1 and an r_E that both allow."),
        Row("eq. 53: those that obey it", "all", grown, "1"),
    ]
    words = "Paper's system, pairs of Figs. 8 and 9."
    for label, modes in (("rigid links", 0), ("three modes a link", 3)):
        found = case(HAND, modes)
        normal = {}
        for number in (8, 9):
            impact = of_law(
                found,
                "energy-pair",
                energy_ratio=PAIRS[number][0],
                friction_ratio=PAIRS[number][1],
            )
            normal[number] = float(impact.impulse[0]) / _payload_mass(found)
            rows.append(Row(f"e + x, {label}, r_f = {PAIRS[number][1]}", None, 1e3 * normal[number], "mm/s", words))
            words = ""
        change = 1e3 * (normal[9] - normal[8])
        said = "A counterexample to eq. 53." if change < 0 else ""
        rows.append(Row(f"e + x, {label}, r_f = 0.8 less r_f = 0.5", "> 0 (eq. 53)", change, "mm/s", said))
    rows += _root_rows()
    return rows


def _root_rows() -> list[Row]:
    """Return which root of eq. 49 is right, and in which frame of reference eqs. 50 and 51 hold."""
    found = case(HAND, 3)
    matrix, _ = contact(found)
    loss, friction = PAIRS[8]
    impact = of_law(found, "energy-pair", energy_ratio=loss, friction_ratio=friction)
    mass = _payload_mass(found)
    after = float(impact.velocity[0])
    smaller = (float(impact.impulse[0]) - 2 * after / float(matrix[0, 0])) / mass
    frame = (-SHIFT * found.normal).tolist()
    shifted = meet("cyril-r-e-r-f", {"body.spacecraft.velocity": frame, "body.payload.velocity": frame})
    moved = of_law(shifted, "energy-pair", energy_ratio=loss, friction_ratio=friction)
    words = "Both roots obey eq. 50: it selects none."
    return [
        Row("eq. 49, pair of Fig. 8: larger root, e + x", "≥ 0", 1e3 * float(impact.impulse[0]) / mass, "mm/s"),
        Row("its normal velocity after", None, 1e3 * after, "mm/s"),
        Row("eq. 49, pair of Fig. 8: smaller root, e + x", "≥ 0", 1e3 * smaller, "mm/s", words),
        Row("its normal velocity after", None, -1e3 * after, "mm/s", "Hand and payload pass into each other."),
        Row(
            "e + x seen from a frame in which x = −0.1 m/s",
            "< 0 (eq. 51)",
            1e3 * float(moved.impulse[0]) / mass,
            "mm/s",
            "The same impact: no frame makes Λ_n/m_p negative.",
        ),
    ]


# --- from plastic to elastic -----------------------------------------------------------------------------------------


def line_rows(shares: tuple[float, ...]) -> list[Row]:
    """Return impacts between plastic (r_E = r_f = 1) and elastic (0, 0), N_h, wrist locked."""
    found = case(HAND, 3)
    pin = plastic_impact(*contact(found))
    rows = []
    for share in shares:
        one = of_law(found, "energy-pair", energy_ratio=share, friction_ratio=share)
        name = f"r_E = r_f = {share:g}"
        rows.append(Row(f"{name}: energy lost", None, float(one.energy_loss), "J"))
        rows.append(Row(f"{name}: normal impulse", None, float(one.impulse[0]), "N s"))
        rows.append(Row(f"{name}: Newton's coefficient", None, float(one.newton), "1"))
    elastic = of_law(found, "energetic", restitution=1.0, friction=0.0)
    pair = of_law(found, "energy-pair", energy_ratio=ELASTIC[0], friction_ratio=ELASTIC[1])
    far = float(np.abs(np.asarray(elastic.impulse - pair.impulse)).max() / np.abs(np.asarray(pin.impulse)).max())
    words = "Restitution 1 without friction, the preset `cyril-elastic`."
    rows.append(
        Row("(0, 0) against the law of `cyril-elastic`, relative difference of impulses", None, far, "1", words)
    )
    return rows
