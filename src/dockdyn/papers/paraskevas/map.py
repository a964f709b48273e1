"""How stiff the springs inside may be: where eq. 18 of Paraskevas et al. holds, over the stiffnesses of chaser and target.

While nothing damps, the first impact of given masses depends on two numbers: each of these stiffnesses over that of the
contact. The error is simulated; the line where the first separation is lost follows from the motion of the same model with
its contact kept closed.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import xarray as xr

from dockdyn.contact.contact_modes import APART, PRESSING
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.impact.formulas.contact_duration import STIFFNESS_RATIO, first_order_correction, validity_warnings
from dockdyn.impact.formulas.effective_mass import effective_masses, velocity_after_impact
from dockdyn.integrate.hybrid import located
from dockdyn.integrate.model import State, pack_tree, unpack_tree
from dockdyn.mechanics.trees.moving_bodies import Placement
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.mounts import DrivenJoint
from dockdyn.papers.paraskevas.cases import Case
from dockdyn.papers.table import Row
from dockdyn.results.run import Variable
from dockdyn.stability.chart import chart_growth, locate_sign_changes
from dockdyn.stability.lanes import in_lanes
from dockdyn.stability.linearise import linearise_model
from dockdyn.trees import flatten, map_leaves, unflatten

LEAST, MOST = 1e-3, 3.0  # stiffness inside over that of the contact, both axes
GRID = 121  # values along an axis
CELLS, SHARP = 96, 1e-6  # of the traced line: details, and its place, as shares of an axis
LONGEST = 60.0  # √(μ/k) that a contact may last
GRAZING = 1e-3  # depth over U⁻ √(μ/k), at most, on the traced line
TOLERANCE = 1e-9  # of a step's error
type Ratios = Float[np.ndarray, "points 2"]  # chaser's and target's stiffness over that of the contact


class FirstImpact:
    """The first impact of a case of Table 1 with other stiffnesses inside."""

    def __init__(self, case: str):
        found = Case.of(case)
        self.model = found.model
        self.speed, self.contact = found.speed, found.contact
        self.chains = (found.chaser, found.target)
        masses = effective_masses(*self.chains)
        self.unit = float(np.sqrt(masses.contact / self.contact))  # s
        self.approach = found.gap / found.speed  # s
        self.predicted = float(velocity_after_impact(*self.chains, self.speed).relative_velocity)
        self.closed = jax.jit(jax.vmap(self.closed_matrix))

    def own_ratios(self) -> list[float]:
        """Return those of the case itself."""
        return [float(stiffness) / self.contact for stiffness in _inner_stiffnesses(self.model)]

    def with_ratios(self, ratios: Float[Array, "2"]) -> Mechanism:
        leaves, structure = flatten(self.model)
        own = {id(stiffness): place for place, stiffness in enumerate(_inner_stiffnesses(self.model))}
        moved = [ratios[own[id(leaf)]] * self.contact if id(leaf) in own else leaf for leaf in leaves]
        return unflatten(structure, moved)

    def errors(self, ratios: Ratios) -> Float[np.ndarray, "points"]:
        """Return simulated relative velocity after the first contact less that of eq. 18, over the one before."""
        settings = located.Settings(
            duration=jnp.asarray(self.approach + LONGEST * self.unit),
            step=jnp.asarray(0.5 * self.unit),
            tolerance=jnp.asarray(TOLERANCE),
            sampling=jnp.asarray(1.0),
            samples=0,
            max_moments=2,  # onset and release: the run ends there
            line_capacity=2,
            max_iterations=jnp.asarray(1e5),
        )

        def velocity_after(ratios: Float[Array, "2"]) -> Float[Array, ""]:
            model = self.with_ratios(ratios)
            end = located.solve_located(model, settings).state
            masses, speed = _masses(model), _motion_along_line(model.placement(end))[1]
            chaser, target = (speed[part] @ masses[part] / masses[part].sum() for part in (slice(2), slice(2, 4)))
            return jnp.where(end.mode[0] == APART, chaser - target, jnp.nan)

        return (in_lanes(jax.jit(jax.vmap(velocity_after)), ratios) - self.predicted) / self.speed

    def first_minimum(self, ratios: Ratios) -> Float[np.ndarray, "points"]:
        """Return the depth at its first minimum if the contact could pull, over U⁻ √(μ/k): negative, and the masses part before
        it.

        Positive, and they still touch there: a second maximum follows, and what separates them comes later.
        """
        frequencies, shares = self.modes(ratios)
        times = np.linspace(0, LONGEST / 2, 1500) * self.unit

        def rate(times: np.ndarray) -> np.ndarray:
            return np.einsum("nj,nj...->n...", shares, np.cos(np.einsum("nj,n...->nj...", frequencies, times)))

        low = np.empty(len(ratios))
        for part in np.array_split(np.arange(len(ratios)), len(ratios) // 200 + 1):
            rates = sum(
                s[part, None] * np.cos(f[part, None] * times) for s, f in zip(shares.T, frequencies.T, strict=True)
            )
            low[part] = times[np.argmax((rates[:, :-1] < 0) & (rates[:, 1:] >= 0), axis=1)]
        high = low + times[1]
        for _ in range(40):
            middle = (low + high) / 2
            before = rate(middle) < 0
            low, high = np.where(before, middle, low), np.where(before, high, middle)
        depth = np.sum(shares / frequencies * np.sin(frequencies * low[:, None]), axis=1)
        return depth / (self.speed * self.unit)

    def modes(self, ratios: Ratios) -> tuple[np.ndarray, np.ndarray]:
        """Return frequencies (rad/s) of the masses held together by the contact, and each one's share of the closing speed
        (m/s)."""
        accelerations, root = in_lanes(self.closed, ratios), np.sqrt(np.array(_masses(self.model)))
        squares, shapes = np.linalg.eigh(-accelerations * root[:, None] / root)
        speeds = np.array(_motion_along_line(self.model.placement(self.model.initial()))[1])
        start = np.einsum("nij,i->nj", shapes, root * speeds)
        relative = shapes[:, 1] / root[1] - shapes[:, 2] / root[2]
        return np.sqrt(squares[:, 1:]), (relative * start)[:, 1:]  # the first drifts

    def closed_matrix(self, ratios: Float[Array, "2"]) -> Float[Array, "masses masses"]:
        """Return accelerations of the masses by their places while the contact is closed."""
        model, begun = self.with_ratios(ratios), self.model.initial()
        q, v = map_leaves(jnp.zeros_like, (begun.q, begun.v))
        touching = (jnp.asarray(PRESSING), *begun.mode[1:])
        state = State(q, v, touching, begun.memory)
        places = pack_tree(begun.q)
        moved = jax.jacobian(lambda q: _motion_along_line(model.moving.placed(unpack_tree(q, begun.q), v))[0])(places)
        count = places.size
        closed = jnp.sum(linearise_model(model, state).matrices(), axis=0)[count : 2 * count, :count]
        return moved @ closed @ jnp.linalg.inv(moved)

    def lost_from(self) -> float:
        """Return equal ratios of chaser and target from which on the first separation is lost."""
        low, high = np.array([[LEAST]]), np.array([[1.0]])

        def minimum(points: np.ndarray) -> np.ndarray:
            return self.first_minimum(np.repeat(points, 2, axis=1))

        return float(locate_sign_changes(minimum, low, high, minimum(low), minimum(high), 1e-9)[0, 0])

    def corrections(self, ratios: Ratios) -> Float[np.ndarray, "points"]:
        """Return the first-order correction, over the relative velocity before."""
        inside = (self.contact * ratios).T
        return np.asarray(first_order_correction(*self.chains, 1.0, self.contact, *inside))

    def has_warning(self, ratios: Ratios) -> np.ndarray:
        """Return whether `validity_warnings` says anything."""
        return np.array([bool(validity_warnings(*self.chains, 1.0, *pair)) for pair in ratios.tolist()])


def _inner_stiffnesses(model: Mechanism) -> list[Array]:
    """Return the stiffnesses (N/m) inside chaser and target."""
    drives = [one.element for one in model.elements if isinstance(one, DrivenJoint)]
    return [one.stiffness for one in drives if one.stiffness is not None]


def _masses(model: Mechanism) -> Float[Array, "masses"]:
    return jnp.stack([body.mass for body in model.bodies])


def _motion_along_line(here: Placement) -> tuple[Float[Array, "masses"], Float[Array, "masses"]]:
    """Return places (m) and speeds (m/s) of the masses along the line."""
    places, speeds = zip(*((one.pose.position.x, one.twist.velocity.x) for one in here.bodies), strict=True)
    return jnp.stack(places), jnp.stack(speeds)


def _ratios_of(points: Float[np.ndarray, "points 2"]) -> Ratios:
    """Return points of the unit square on the logarithmic axes."""
    return LEAST * (MOST / LEAST) ** points


def _lost_line(impact: FirstImpact) -> Ratios:
    """Return where the first minimum of the depth comes to zero from below: the masses no longer part there. One line.

    The sign changes also where this minimum merges with the maximum before it and another one, already negative, becomes
    the first. Nothing happens to the motion there, so such places, where the depth jumps, are left out.
    """

    def minimum(points: np.ndarray) -> np.ndarray:
        return impact.first_minimum(_ratios_of(points))

    pieces = chart_growth(minimum, CELLS, SHARP).boundary
    (line,) = (piece for piece in pieces if np.all(np.abs(minimum(piece)) < GRAZING))
    return _ratios_of(line)


@lru_cache(maxsize=1)
def stiffness_map() -> xr.Dataset:
    """Return the error of eq. 18 for the masses of case A, where `validity_warnings` warns, and where the first separation is
    lost."""
    impact = FirstImpact("A")
    axis = _ratios_of(np.linspace(0, 1, GRID))
    ratios = np.stack([grid.ravel() for grid in np.meshgrid(axis, axis)], axis=1)
    line = _lost_line(impact)
    plane = ("target_ratio", "chaser_ratio")

    def over_plane(values: np.ndarray, words: str) -> Variable:
        return (plane, values.reshape(GRID, GRID), {"units": "1", "long_name": words})

    return xr.Dataset(
        {
            "error": over_plane(impact.errors(ratios), "error of eq. 18, over the relative velocity before"),
            "correction": over_plane(impact.corrections(ratios), "first-order correction, over the same"),
            "warned": over_plane(impact.has_warning(ratios).astype(int), "1 where validity_warnings warns"),
            "lost_chaser_ratio": ("vertex", line[:, 0], {"units": "1", "long_name": "line of the lost separation"}),
            "lost_target_ratio": ("vertex", line[:, 1], {"units": "1", "long_name": "line of the lost separation"}),
        },
        coords={
            name: (name, axis, {"units": "1", "long_name": f"{name.split('_')[0]} stiffness over contact stiffness"})
            for name in plane
        },
        attrs={"masses": "case A of Table 1", "warning_from": STIFFNESS_RATIO, "of_case_a": impact.own_ratios()},
    )


def _worst_masses() -> float:
    """Return the least stiffness ratio at which any masses lose the first separation: √(1 − r²) = r (2π − acos(−r)).

    Approached by a light m₃ between m₂ and m₄, whose motion it does not disturb: with τ in √(m₃/(k + k_t)), its depth goes
    with r τ + sin τ. That no others lose it earlier was found by trying, not proved.
    """
    low, high = np.array([[0.05]]), np.array([[0.9]])

    def excess(points: np.ndarray) -> np.ndarray:
        ratio = points[:, 0]
        return ratio * (2 * np.pi - np.arccos(-ratio)) - np.sqrt(1 - ratio**2)

    return float(locate_sign_changes(excess, low, high, excess(low), excess(high), 1e-12)[0, 0])


def map_rows(data: xr.Dataset) -> list[Row]:
    """Return what the map says of the warning."""
    line = np.stack([data.lost_chaser_ratio.values, data.lost_target_ratio.values], axis=1)
    impacts = {case: FirstImpact(case) for case in "ABCD"}
    one = impacts["A"]
    quiet = data.warned.values == 0
    even = one.lost_from()
    inside, outside = (abs(float(one.errors(np.full((1, 2), even * side))[0])) for side in (1 - 1e-6, 1 + 1e-6))
    least = min(float(line.max(axis=1).min()), even)
    rows = [
        Row("larger of both ratios on the line of the lost separation, least", None, least, "1", "Warned from 0.1 on."),
        Row(
            "points of that line without a warning",
            None,
            float((~one.has_warning(line)).sum()),
            "1",
            f"Of {len(line)}.",
        ),
        Row("largest error of eq. 18 without a warning", None, float(np.abs(data.error.values[quiet]).max()), "1"),
    ]
    corrected = np.abs((data.error - data.correction).values[quiet]).max()
    rows.append(Row("the same with the first-order correction", None, float(corrected), "1"))
    rows.append(Row("error just before the line, equal ratios", None, inside, "1"))
    rows.append(Row("error just beyond it", None, outside, "1", "The next separation leaves another motion."))
    for case, impact in impacts.items():
        name = f"equal ratios from which on the first separation is lost, masses of case {case}"
        rows.append(Row(name, None, impact.lost_from(), "1"))
    words = "A light m₃ between heavy masses."
    rows.append(Row("the same, the worst of all masses", None, _worst_masses(), "1", words))
    return rows
