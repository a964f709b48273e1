"""The discrete law of an elastic impact: energies of the steps before and after it balance (Gibson and Murphey, eq. 4c).

With E = −∂L_d/∂h of a step and forces F that have no potential

    E₂ − E₁ = ½ (F₁·Δq₁ + F₂·Δq₂) − ½ (h₁ ∂L/∂t₁ + h₂ ∂L/∂t₂)

The paper's remark that forcing enters (4c) as it enters the other equations cannot be: the units differ. Momentum reflection is
its limit for short steps. No impulse at all solves it nearly as well, so the search starts from the reflection.

Units: energies J, impulses N s, times s.
Source: as named above, the forcing term corrected.
"""

from __future__ import annotations

from dockdyn.deferred import Array, Int, PyTree, jax, jnp
from dockdyn.integrate.model import Flag, Scalar
from dockdyn.integrate.variational.mechanical import Mechanical, Numbers, PhasePoint, Row
from dockdyn.integrate.variational.step import Newton, StepStart, variational_step
from dockdyn.mechanics.retraction import retract_configuration, to_stated_axes

ATTEMPTS = 40
EXACT = 1e-14  # of the impulse


def _energy_and_work(
    model: Mechanical, t: Scalar, q: Numbers, v: Row, h: Scalar, mode: PyTree
) -> tuple[Scalar, Scalar]:
    """Return the energy (J) of a step from q along h v, and the half of the work that comes in along it."""
    middle, halfway = t + 0.5 * h, retract_configuration(model.attitudes, q, 0.5 * h * v)
    value, momentum = jax.value_and_grad(lambda v: model.lagrangian(middle, halfway, v, mode))(v)
    _, rate = jax.jvp(lambda t: model.lagrangian(t, halfway, v, mode), (middle,), (jnp.ones(()),))
    work = h * (model.force(middle, halfway, v, mode) @ v)
    energy = momentum @ v - value
    if model.stored(middle, halfway, mode) is not None:  # what `force` has of it is no work then
        keeps = lambda t, x: model.stored(t, retract_configuration(model.attitudes, halfway, x), mode)  # noqa: E731
        still = jnp.zeros_like(v)
        own, gone = jax.jvp(lambda x: keeps(middle, x), (still,), (v,))
        energy, work = energy + own, work + h * gone
        rate = rate - jax.jvp(lambda t: keeps(t, still), (middle,), (jnp.ones(()),))[1]
    return energy, 0.5 * (work - h * rate)


def balancing_share(
    model: Mechanical,
    start: StepStart,
    v: Row,
    length: Scalar,
    at: PhasePoint,
    impulse: Row,
    after: Row,
    rest: Scalar,
    newton: Newton,
) -> Scalar:
    """Return the multiple of an impulse at `at` that balances the step `length` before with the step `rest` that follows.

    `v` are the velocities of the step before, from `start`; `after` those just after the impulse taken once.
    """
    time = start.t + length
    before, gained = _energy_and_work(model, start.t, start.at.q, v, length, at.mode)
    push = to_stated_axes(model.attitudes, at.q, impulse)
    slope = impulse @ after

    def going(carry: tuple[Scalar, Scalar, Int[Array, ""]]) -> Flag:
        _, change, count = carry
        return (jnp.abs(change) > EXACT) & (count < ATTEMPTS)

    def attempt(carry: tuple[Scalar, Scalar, Int[Array, ""]]) -> tuple[Scalar, Scalar, Int[Array, ""]]:
        factor, _, count = carry
        init = StepStart.of(model, time, at._replace(p=at.p + factor * push))
        found = variational_step(model, init, rest, after, newton)
        energy, coming = _energy_and_work(model, time, at.q, found.v, rest, at.mode)
        change = -(energy - before - gained - coming) / slope
        return factor + change, change, count + 1

    factor = jax.lax.while_loop(going, attempt, (jnp.ones(()), jnp.ones(()), jnp.zeros((), int)))[0]
    return jnp.where(jnp.isfinite(factor), factor, 1.0)  # where no multiple balances them, the reflection itself
