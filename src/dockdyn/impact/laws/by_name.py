"""The impact laws by name, and `resolve_impact`, which checks what it is given.

Units: u in m/s, W in 1/kg, impulses N s, energies J.
Source: that of each law, named in its own file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from dockdyn.deferred import Array, ArrayLike, Float, jnp
from dockdyn.impact.laws import checks
from dockdyn.impact.laws.energy_pair import TOLERANCE, admissible_wedge, energy_pair
from dockdyn.impact.laws.newton import frictionless_impact
from dockdyn.impact.laws.plastic import plastic_impact
from dockdyn.impact.laws.result import Impact
from dockdyn.impact.laws.routh import routh_impact
from dockdyn.impact.laws.simultaneous import simultaneous_impact
from dockdyn.programs import Program
from dockdyn.trees import Module, field

SINGULAR = 1e-12  # smallest eigenvalue of W scaled to a unit diagonal


Parameters = Mapping[str, ArrayLike]
type Numbers = dict[str, Float[Array, ""]]


class Law(NamedTuple):
    """An impact law: what it computes, and what it says of itself."""

    function: Callable[..., Impact]  # of W, u and the parameters, by name
    parameters: tuple[str, ...]
    rows: tuple[int, ...] | None  # numbers of rows of W that it takes; None: any
    safe: bool  # never creates energy
    meaning: str
    lossless: Callable[[Parameters], bool]  # whether, with these parameters, it never takes energy
    name: str = ""
    check: Callable[[Float[Array, "rows rows"], Float[Array, "rows"], Parameters], None] | None = None  # ValueErrors


def _is_elastic(given: Parameters) -> bool:
    """Return whether restitution is one and friction, where there is any, zero."""
    return bool(np.equal(given["restitution"], 1) and np.equal(given.get("friction", 0), 0))


def _check_pair(matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"], given: Parameters) -> None:
    """Raise ValueError for ratios (r_E, r_f) outside the wedge, which the message names, or whose impulse would pull."""
    energy_ratio, friction_ratio = given["energy_ratio"], given["friction_ratio"]
    if not checks.is_concrete(matrix, velocity, energy_ratio, friction_ratio):
        return
    found = _wedge(matrix, velocity, jnp.asarray(friction_ratio, float))
    least, greatest = float(found.least), float(found.greatest)
    pair = f"(r_E, r_f) = ({checks.format_number(energy_ratio)}, {checks.format_number(friction_ratio)})"
    kappa = f"κ = {float(found.sliding_share):.6g}"
    if least > greatest:
        raise ValueError(
            f"{pair} cannot be: no r_E goes with this r_f ({kappa}, where 1 − κ (1 − r_f)² must not be below 0)"
        )
    if not least - TOLERANCE <= float(jnp.asarray(energy_ratio)) <= greatest + TOLERANCE:
        raise ValueError(
            f"{pair} cannot be: at this r_f, r_E must lie between max(0, κ r_f (2 − r_f)) = {least:.6g} and "
            f"1 − κ (1 − r_f)² = {greatest:.6g} ({kappa})"
        )
    numbers = {name: jnp.asarray(given[name], float) for name in ("energy_ratio", "friction_ratio")}
    normal = _resolve_by_law("energy-pair", matrix, velocity, numbers).impulse[0]
    if not normal >= 0:
        raise ValueError(f"{pair} would take a normal impulse that pulls ({checks.format_number(normal)} N s)")


FRICTION = ("restitution", "friction")
POINT = (1, 2, 3)  # rows of a contact point: the normal and up to two tangents

LAWS = {
    law.name: law
    for law in (
        Law(
            routh_impact,
            FRICTION,
            POINT,
            True,
            "Routh's path with Coulomb friction, Stronge's energetic restitution",
            _is_elastic,
            "energetic",
        ),
        Law(
            partial(routh_impact, end="poisson"),
            FRICTION,
            POINT,
            True,
            "Routh's path with Coulomb friction, Poisson's restitution",
            _is_elastic,
            "poisson",
        ),
        Law(
            partial(routh_impact, end="newton"),
            FRICTION,
            POINT,
            False,
            "Routh's path with Coulomb friction, Newton's restitution: may create energy",
            _is_elastic,
            "newton",
        ),
        Law(
            frictionless_impact,
            ("restitution",),
            None,
            True,
            "normal impulse only, Newton's restitution",
            _is_elastic,
            "frictionless",
        ),
        Law(
            plastic_impact, (), POINT, True, "plastic: the points that touch stay together", lambda given: False, "pin"
        ),
        Law(
            plastic_impact,
            (),
            (3, 6),
            True,
            "plastic, rows of moment too: the bodies stay together",
            lambda given: False,
            "weld",
        ),
        Law(
            energy_pair,
            ("energy_ratio", "friction_ratio"),
            POINT,
            True,
            "energy loss and friction impulse as parts of the pin's (Cyril et al.)",
            lambda given: bool(np.equal(given["energy_ratio"], 0)),
            "energy-pair",
            _check_pair,
        ),
    )
}


class StatedLaw(Module):
    """An impact law with its parameters, as a model holds it."""

    parameters: dict[str, Float[Array, ""]]
    name: str = field(static=True)  # of a law of `LAWS`, or of what a model knows besides
    own: Law | None = field(static=True, default=None)  # one of the user's own

    def resolve(self, matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"]) -> Impact:
        """Return the impact by this law, from W (1/kg) and u (m/s); raises ValueError as `resolve_impact`."""
        return resolve_impact(self.own or self.name, matrix, velocity, **self.parameters)

    def lossless(self) -> bool:
        """Return whether it never takes energy; asked of numbers, never while JAX traces."""
        return (self.own or LAWS[self.name]).lossless(self.parameters)

    def passive(self) -> bool:
        """Return whether it never gives energy."""
        return (self.own or LAWS[self.name]).safe


def resolve_impact(
    law: str | Law, matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"], **parameters: ArrayLike | None
) -> Impact:
    """Return the impact of one contact by a law.

    Args:
        law: the name of one of `LAWS`, or a `Law` itself.
        matrix: W (1/kg), from `contact_matrix` or `constrained_contact_matrix`.
        velocity: u (m/s), of the first body relative to the second. Rows as in `Impact`.
        **parameters: those of the law: `restitution` e in [0, 1], `friction` μ ≥ 0, `energy_ratio` and `friction_ratio`
            r_E and r_f of `energy-pair`. None is a parameter that is not given.

    ValueError, in one line, for an unknown law, a parameter that is missing or that the law does not have, a contact that
    does not approach, a W that is not symmetric and positive definite, numbers out of range. Works inside `jit` and
    `vmap`, where values are not checked; outside of them it is machine code, made once for each law and number of rows.
    """
    matrix, velocity = jnp.asarray(matrix, float), jnp.asarray(velocity, float)
    values = {name: value for name, value in parameters.items() if value is not None}
    check_impact(law, matrix, velocity, values)
    numbers = {name: jnp.asarray(value, float) for name, value in values.items()}
    if isinstance(law, str):
        return _resolve_by_law(law, matrix, velocity, numbers)
    return law.function(matrix, velocity, **numbers)


@partial(Program, static=("law",))
def _resolve_by_law(
    law: str, matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"], numbers: Numbers
) -> Impact:
    """Return the impact by one of `LAWS`."""
    return LAWS[law].function(matrix, velocity, **numbers)


def _law_named(law: str | Law) -> Law:
    """Return the law of a name; ValueError where there is none."""
    if isinstance(law, str) and law not in LAWS:
        raise ValueError(f"no impact law is called {law!r}; there are {', '.join(LAWS)}")
    return LAWS[law] if isinstance(law, str) else law


def check_impact(
    law: str | Law, matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"], given: Parameters
) -> None:
    """Raise the ValueErrors of `resolve_impact`; `given` are the parameters by name."""
    found = _law_named(law)
    takes = f"its parameters: {', '.join(found.parameters) or 'none'}"
    for problem, words in (
        ([name for name in found.parameters if name not in given], "needs"),
        ([name for name in given if name not in found.parameters], "has no"),
    ):
        if problem:
            raise ValueError(f"law {found.name!r} {words} {', '.join(problem)}; {takes}")
    _check_contact(matrix, velocity)
    if found.rows is not None and velocity.shape[0] not in found.rows:
        allowed = " or ".join(map(str, found.rows))
        raise ValueError(
            f"law {found.name!r} takes {allowed} rows (normal, tangents, moments); got {velocity.shape[0]}"
        )
    if checks.is_concrete(velocity) and not velocity[0] < 0:
        raise ValueError(
            f"the contact does not approach: u_n must be below 0; got {checks.format_number(velocity[0])} m/s"
        )
    _check_parameters(given.get("restitution"), given.get("friction"))
    if found.check is not None:
        found.check(matrix, velocity, given)


def resolve_simultaneous(
    matrix: Float[Array, "rows rows"],
    velocity: Float[Array, "rows"],
    contacts: int,
    *,
    restitution: ArrayLike,
    friction: ArrayLike = 0.0,
) -> Impact:
    """Return the impact of several contacts at once (`simultaneous_impact`), each with the same number of rows.

    Restitution and friction are numbers, or one for each contact; no energy is created if restitution is one number.
    ValueError as in `resolve_impact`; a contact may rest (u_n = 0) but not part, and one at least must approach.
    """
    matrix, velocity = jnp.asarray(matrix, float), jnp.asarray(velocity, float)
    _check_contact(matrix, velocity)
    rows = velocity.shape[0]
    if contacts < 1 or rows % contacts or rows // contacts not in POINT:
        raise ValueError(f"{rows} rows are not {contacts} contacts of 1, 2 or 3 rows each")
    normal = velocity[:: rows // contacts]
    if checks.is_concrete(velocity):
        for index, speed in enumerate(np.asarray(normal)):
            if speed > 0:
                raise ValueError(f"contact {index} parts: u_n must not be above 0; got {speed:.6g} m/s; leave it out")
        if not np.any(np.asarray(normal) < 0):
            raise ValueError("no contact approaches: one u_n at least must be below 0")
    _check_parameters(restitution, friction)
    numbers = jnp.asarray(restitution, float), jnp.asarray(friction, float)
    impact = _resolved_together(matrix, velocity, contacts, *numbers)
    if checks.is_concrete(impact.impulse) and not np.all(np.isfinite(impact.impulse)):
        raise ValueError("no impulse was found that meets all contacts' conditions: the search did not converge")
    return impact


_wedge = Program(admissible_wedge)
_resolved_together = Program(simultaneous_impact, static=("contacts",))


def _check_contact(matrix: Float[Array, "rows rows"], velocity: Float[Array, "rows"]) -> None:
    """Raise ValueError unless W and u fit together and W is symmetric and positive definite."""
    if velocity.ndim != 1 or matrix.shape != (velocity.shape[0],) * 2 or velocity.shape[0] == 0:
        raise ValueError(f"W must be rows × rows and u of as many rows; got {matrix.shape} and {velocity.shape}")
    if not checks.is_concrete(matrix, velocity):
        return
    w = np.asarray(matrix)
    if not (np.all(np.isfinite(w)) and np.all(np.isfinite(velocity))):
        raise ValueError("W and u must be finite numbers")
    if np.abs(w - w.T).max() > 1e-9 * np.abs(w).max():
        raise ValueError("W is not symmetric")
    size = np.sqrt(np.maximum(np.diag(w), 0.0))
    if size.min() == 0 or np.linalg.eigvalsh(w / np.outer(size, size))[0] < SINGULAR:
        raise ValueError("W is singular or not positive definite: some direction of the contact cannot move")


def _check_parameters(restitution: ArrayLike | None, friction: ArrayLike | None) -> None:
    """Raise ValueError for restitution outside [0, 1] or negative friction."""
    if restitution is not None:
        checks.check_range("restitution", restitution, 0.0, 1.0)
    if friction is not None:
        checks.check_range("friction", friction, 0.0)
