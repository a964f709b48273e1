"""Where the contacts of a scenario rest while its loop is judged, and what follows from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dockdyn.contact.laws.relative_damping import RelativeLaw
from dockdyn.deferred import Array, Float, jax, jnp
from dockdyn.docking.operating_point import (
    TOGETHER,
    Judged,
    Nominal,
    acts_alone,
    contact_gaps,
    model_where,
    nominal_of_run,
    refuse_sampled,
)
from dockdyn.integrate.model import Scalar, State, unpack_tree
from dockdyn.mechanism.interface_plant import plant_behind
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.observed import place_on_surface
from dockdyn.mechanism.rest import (
    RestingContact,
    at_rest,
    changing_numbers,
    held_force,
    resting_contact,
    resting_contacts,
    resting_depth,
)
from dockdyn.results.plan import jit_once
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.scenario.setups import setup_named
from dockdyn.scenario.tables.part import Shape
from dockdyn.stability.characteristic import characteristic_matrix
from dockdyn.stability.linearise import Linear, linearise_model, split_by_delayed_terms
from dockdyn.stability.loop import Loop
from dockdyn.stability.windows import rightmost_growth
from dockdyn.trees import leaves_of, map_leaves

BORNE = 1e-3  # N: less is rounding
PRESSED, SLOW = 1e-3, 1e-3  # m and m/s, at which a law is asked whether it damps

Judgement = tuple[Loop, RestingContact]  # the loop, and what its contact feels


def model_at_rest(content: Judged, nominal: Nominal) -> tuple[Mechanism, State]:
    """Return the model at rest in its nominal contact and those closed with it; can be traced."""
    model, state = model_where(content, nominal.state)
    depth = content.stability.depth
    own = None if depth is None else jnp.asarray(depth, float)
    return at_rest(model, state, nominal.members, jnp.asarray(nominal.pressed), own)


def normal_loop(content: Judged, nominal: Nominal, model: Mechanism, state: State) -> tuple[Loop, RestingContact]:
    """Return the loop along the contact normal of a model at rest, and what the contact feels; can be traced."""
    contact = resting_contact(model, state, jnp.asarray(nominal.number))
    return content.loop.make(contact.effective_mass, contact.stiffness, contact.damping), contact


def loop_of_contacts(
    content: Judged, nominal: Nominal, measured: Sequence[int] | None = None, port: int = 0
) -> Judgement:
    """Return the loop along the contact normal, and what the contact feels; can be traced.

    Where more acts than one contact, a loop with more in it than a delay has what is behind the contacts that are `measured`,
    by number, by default all; a compensator acts at the reference point of the contact `port`.
    """
    model, state = model_at_rest(content, nominal)
    loop, contact = normal_loop(content, nominal, model, state)
    if nominal.lone or not content.loop.beyond_delay():
        return loop, contact
    law, numbers = content.loop.compensator, range(len(content.contact)) if measured is None else measured
    acts = law is not None and law.made.in_margins
    return replace(loop, behind=plant_behind(model, state, numbers, port if acts else None)), contact


class Resting(NamedTuple):
    """How the nominal contact of a scenario is found, and the loop about it, which can be traced."""

    find: Callable[[Scenario], Nominal] = nominal_of_run
    loop: Callable[[Judged, Nominal], Judgement] = loop_of_contacts


def resting_of(content: Judged) -> Resting:
    """Return how contacts rest in a scenario with this content."""
    return setup_named(content.setup).resting(content.title, content)


def nominal_of(scenario: Scenario) -> Nominal:
    """Return the nominal contact of a scenario.

    Raises ScenarioError when there is none: no loop to judge, control, no contact in the scenario or none within its duration.
    """
    resting = setup_named(scenario.setup).resting(scenario.name, scenario.content)
    refuse_sampled(scenario)
    return resting.find(scenario)


def resting_state(scenario: Scenario | str | Path) -> tuple[Mechanism, State]:
    """Return the model of a scenario and its state at rest in the nominal contact, as `dockdyn.stability.linearise` takes them.

    Contacts that close together with the nominal one, or are closed with it at the start, are closed here, too.

    Raises ScenarioError when there is no contact to rest in: what `margins` raises.
    """
    scenario = scenario_from(scenario)
    nominal = nominal_of(scenario)
    return model_at_rest(scenario.content, nominal)


@jit_once
def _loop_once(content: Judged, nominal: Nominal) -> Judgement:
    return resting_of(content).loop(content, nominal)


def loop_in_numbers(content: Judged, nominal: Nominal) -> Judgement:
    """Return the loop, along the contact normal or with what is behind its contacts, and what the contact feels."""
    loop, contact = map_leaves(np.asarray, _loop_once(content, nominal))
    return loop.reduce_plant(), contact


def nominal_loop(scenario: Scenario, nominal: Nominal) -> Judgement:
    """Return the loop in numbers, and what the contact feels; ScenarioError where the contact has no stiffness."""
    loop, contact = loop_in_numbers(scenario.content, nominal)
    refuse_slack(scenario, loop)
    return loop, contact


def refuse_slack(scenario: Scenario, loop: Loop) -> None:
    """Raise ScenarioError where the contact of a loop has no stiffness."""
    if not float(loop.stiffness) > 0:
        depth = scenario.content.stability.depth
        where = "where contact begins" if depth is None else f"{depth:g} m"
        raise ScenarioError(
            f"{scenario.name}: stability.depth: {where}: the contact's stiffness there is {float(loop.stiffness):g} N/m; "
            "must be a depth where it is positive"
        )


def of_whole_model(content: Judged, nominal: Nominal) -> bool:
    """Return whether roots and delays are those of the whole model: with more in the loop than a delay it is taken along a
    normal."""
    return not setup_named(content.setup).along_normal and not content.loop.beyond_delay()


def counts_all(content: Judged, nominal: Nominal) -> bool:
    """Return whether the loop is of more than one contact between free bodies, which a normal would stand for."""
    return not nominal.lone and of_whole_model(content, nominal)


def delayed_loop(content: Judged, nominal: Nominal) -> Loop | Linear:
    """Return what margins are of, with its matrices and its delay (s): all closed contacts, or one normal; can be traced."""
    if counts_all(content, nominal):
        return linear_form(content, nominal)
    return resting_of(content).loop(content, nominal)[0]


def linear_form(content: Judged, nominal: Nominal) -> Linear:
    """Return the linear form of the motion of the whole model: what elements remember is held; can be traced."""
    model, state = model_at_rest(content, nominal)
    return linearise_model(model, state).of(changing_numbers(state))


@jit_once
def _matrices_once(content: Judged, nominal: Nominal) -> Float[Array, "2 n n"]:
    return linear_form(content, nominal).matrices()


def whole_matrices(content: Judged, nominal: Nominal) -> Float[np.ndarray, "2 n n"]:
    """Return A₀ and A₁ (1/s) of all bodies with all closed contacts, whose forces are one delay late."""
    return np.asarray(_matrices_once(content, nominal))


def seen_matrices(content: Judged, nominal: Nominal) -> Float[np.ndarray, "2 n n"]:
    """Return the same of what the delayed forces depend on; drift left out."""
    return split_by_delayed_terms(whole_matrices(content, nominal))[0]


def growth_of_linears(linears: Linear) -> Float[np.ndarray, "systems"]:
    """Return the growth rates (1/s) of many linear forms, drift left out; zero where no delayed force is seen."""
    parts = [split_by_delayed_terms(matrices)[0] for matrices in np.asarray(linears.matrices())]
    delays, sizes = np.asarray(linears.delay)[:, None], np.array([part.shape[-1] for part in parts])
    found = np.zeros(len(parts))
    for size in np.unique(sizes[sizes > 0]):
        these = np.flatnonzero(sizes == size)
        stack = np.stack([parts[i] for i in these])
        found[these] = rightmost_growth(stack, delays[these])
    return found


@jit_once
def _felt_once(content: Judged, nominal: Nominal) -> tuple[Array, ...]:
    found = resting_contacts(*model_at_rest(content, nominal))
    return found.depth, found.effective_mass, found.stiffness, found.damping


def closed_contacts(content: Judged, nominal: Nominal) -> list[dict[str, Any]]:
    """Return what each of several closed contacts is by itself, the nominal one first."""
    keys = ("depth_m", "effective_mass_kg", "stiffness_N_m", "damping_N_s_m")
    felt = dict(zip(keys, _felt_once(content, nominal), strict=True))
    return [
        dict(zip(("feature", "surface"), content.contact[i].between, strict=True))
        | {key: float(values[i]) for key, values in felt.items()}
        for i in nominal.closed
    ]


def names_of(content: Judged, nominal: Nominal) -> list[str]:
    """Return the closed contacts by their names."""
    names = content.contact_names()
    return [names[i] for i in nominal.closed]


def nominal_place(content: Judged, nominal: Nominal) -> dict[str, Any]:
    """Return where the nominal contact is, for JSON."""
    section, flags = content.contact[nominal.contact], nominal.members[nominal.contact]
    position, azimuth, depth = map(np.asarray, _place_once(content, nominal, number=nominal.contact))
    found: dict[str, Any] = dict(zip(("feature", "surface"), section.between, strict=True))
    if len(flags) == 1 and isinstance(content.sides(section)[1][1], Shape):
        found |= {
            "position_m": position.tolist(),
            "azimuth_deg": float(np.degrees(azimuth) % 360),
            "distance_m": float(np.linalg.norm(position)),
        }
    return found | {"members": len(flags), "members_closed": int(np.sum(flags)), "depth_m": float(depth)}


@partial(jit_once, static=("number",))
def _place_once(content: Judged, nominal: Nominal, number: int) -> tuple[Array, Scalar, Scalar]:
    """Return a contact's feature from the surface's reference point (m), its azimuth (rad) and its depth (m)."""
    model, state = model_at_rest(content, nominal)
    group, places = model.computed[number], model.placement(state).bodies
    position, azimuth = place_on_surface(group, places[group.first], places[group.second])
    return position.array(), azimuth, resting_depth(group)


def rest_remarks(content: Judged, nominal: Nominal) -> list[str]:
    """Return what a reader should know of the state that was taken."""
    names, found, ask = content.contact_names(), [], content.stability
    if ask.closed is not None:
        found = [
            f"{names[i]} is taken as closed where it is {1e3 * gap:.3g} mm apart"
            for i, gap in zip(nominal.closed, contact_gaps(content, nominal), strict=True)
            if gap > TOGETHER
        ]
    if not acts_alone(content, nominal.state) and (force := float(_held_force_once(content, nominal))) > BORNE:
        found.append(
            f"elements or control bear up to {force:.3g} N where the loop is linearised: that is taken to be balanced, as "
            "at rest"
        )
    if content.loop.beyond_delay() and ask.after_contact:
        without = "the motion without rig" if setup_named(content.setup).along_normal else "a run with loop.delay alone"
        found.append(f"the state is that of {without}, without the rest of the loop")
    return found


def undamped_remark(content: Judged, number: int, damping: float) -> str:
    """Return that a contact, by number, has no `damping` (N s/m) where its loop is judged though it damps once it is pressed,
    and how to judge it there; empty where that is not so."""
    if damping or not _damps_when_pressed(content.contacts[number].normal):
        return ""
    ask = content.stability
    where = (
        "at depth 0, where contact begins and" if not ask.depth else f"at a depth of {ask.depth * 1e3:.4g} mm, where"
    )
    moment = "" if ask.distance is not None else ', or stability.at = "peak-force"'
    return (
        f"{content.contact_names()[number]} has no damping {where} the loop is judged: its law damps only what is pressed "
        f"in; state stability.depth{moment} to judge it pressed"
    )


def _damps_when_pressed(section: Any) -> bool:  # noqa: ANN401, the table of a normal law, or None
    """Return whether the force of a law depends on the rate at a depth, whatever it does where contact begins."""
    if section is None or (law := section.make()).lossless():
        return False
    if isinstance(law, RelativeLaw):  # whose damper is found from the bodies
        law = replace(law.law, damping=jnp.ones(()))
    pressed = law.at_rest(jnp.asarray(PRESSED))
    still, moving = (float(pressed.force(jnp.asarray(PRESSED), jnp.asarray(rate))) for rate in (0.0, SLOW))
    return moving > still


@jit_once
def _held_force_once(content: Judged, nominal: Nominal) -> Scalar:
    return held_force(model_at_rest(content, nominal)[0])


@jit_once
def _energies_once(content: Judged, nominal: Nominal, motions: Float[Array, "2 n"]) -> Float[Array, "bodies"]:
    """Return kinetic energies (J) of the bodies, summed over two `motions`: velocities as they are packed."""
    model, state = model_at_rest(content, nominal)

    def energies(row: Float[Array, "n"]) -> Float[Array, "bodies"]:
        return model.kinetic_energies(state.q, unpack_tree(row, state.v))

    return energies(motions[0]) + energies(motions[1])


def motion_shares(content: Judged, nominal: Nominal, root: complex, delay: float) -> list[dict[str, Any]]:
    """Return how the bodies share the kinetic energy of the motion with a `root` (1/s), the largest share first."""
    matrices = whole_matrices(content, nominal)
    shift = characteristic_matrix(root, matrices, np.array([delay]))
    motion = np.linalg.svd(shift)[2][-1].conj()
    first, count = _state_sizes(content, nominal)
    velocities = motion[first : first + count]
    energies = np.asarray(_energies_once(content, nominal, np.stack([velocities.real, velocities.imag])))
    shares = energies / energies.sum()
    names = content.names()
    order = np.argsort(-shares, kind="stable")
    return [{"body": names[i], "energy_share": float(shares[i])} for i in order]


def motion_count(content: Judged, nominal: Nominal) -> int:
    """Return positions and velocities of the model together: twice its degrees of freedom."""
    return 2 * _state_sizes(content, nominal)[1]


def _state_sizes(content: Judged, nominal: Nominal) -> tuple[int, int]:
    """Return how many numbers a configuration and a velocity of the model have."""
    state: Any = nominal.state
    if state is None:
        state = jax.eval_shape(lambda *given: model_at_rest(*given)[1], content, nominal)
    return tuple(sum(leaf.size for leaf in leaves_of(part)) for part in (state.q, state.v))
