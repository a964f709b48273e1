"""Where the contacts of a scenario rest while its loop is judged: what kinds say of it, and what follows for all of them."""

from __future__ import annotations

import abc
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from dockdyn.integrate.model import Model, State, pack, unpack
from dockdyn.results.plan import jit_once
from dockdyn.results.run import Run
from dockdyn.scenario.kinds import kind_named
from dockdyn.scenario.language.errors import ScenarioError
from dockdyn.scenario.load import Scenario, scenario_from
from dockdyn.stability.characteristic import characteristic_matrix
from dockdyn.stability.linearise import Linear, linearise, seen
from dockdyn.stability.loop import Loop
from dockdyn.stability.roots import rightmost_roots

if TYPE_CHECKING:
    from dockdyn.kinds.free_flight.model_resting_contact import RestingContact

Judged = Any  # the content of a scenario with margins, of whatever kind
TOGETHER = 1e-6  # m: contacts with no wider gap at the nominal state are closed with the nominal one
LOOKED_AT = 64  # moments of the run from the first onset on
LONGEST_LOOK = 200_000  # steps of it


class Nominal(Protocol):
    """The state in which a loop is judged, of a kind's own class: which contact is closed, and which others with it."""

    @property
    def contact(self) -> int: ...

    @property
    def others(self) -> tuple[int, ...]: ...

    @property
    def closed(self) -> tuple[int, ...]: ...


class LaterSet(NamedTuple):
    """Contacts that are closed together from some time after the first onset on."""

    after: float  # s
    nominal: Nominal  # as they are then


class ContactSlopes(NamedTuple):
    """What a closed contact is by itself."""

    depth: Float[Array, ""]  # m
    effective_mass: Float[Array, ""]  # kg
    stiffness: Float[Array, ""]  # N/m
    damping: Float[Array, ""]  # N s/m


class Naming(NamedTuple):
    """What a contact is called, and the names of what touches in it."""

    contact: str
    feature: str
    surface: str


class Resting(abc.ABC):
    """How the contacts of a kind rest. What takes the `content` of a scenario can be traced, unless it says otherwise."""

    as_a_whole: ClassVar[bool] = False  # a single contact, too, is judged with all that its bodies are tied to

    @abc.abstractmethod
    def nominal(self, scenario: Scenario) -> Any | None:  # noqa: ANN401, a `Nominal` of the kind's own
        """The nominal contact; None for a loop that has only one. Raises ScenarioError where there is none."""

    @abc.abstractmethod
    def alone(self, nominal: Any) -> Any:  # noqa: ANN401, a `Nominal` of the kind's own
        """The nominal contact without those that are closed with it; not traced."""

    @abc.abstractmethod
    def rest(self, content: Judged, nominal: Any) -> tuple[Model, State]:  # noqa: ANN401, the kind's own
        """The model at rest in its nominal contact and those closed with it."""

    @abc.abstractmethod
    def loop(self, content: Judged, nominal: Any) -> tuple[Loop, RestingContact | None]:  # noqa: ANN401, the kind's own
        """The loop along the contact normal, and what the contact feels, where its bodies are free."""

    @abc.abstractmethod
    def slopes(self, content: Judged, nominal: Any) -> list[ContactSlopes]:  # noqa: ANN401, the kind's own
        """What each contact that may be closed is by itself, in the order of `numbered`."""

    @abc.abstractmethod
    def numbered(self, content: Judged, nominal: Any) -> list[int]:  # noqa: ANN401, the kind's own
        """The numbers of the contacts of `slopes`; not traced."""

    @abc.abstractmethod
    def kinetic_energies(self, model: Any, state: State) -> Float[Array, "bodies"]:  # noqa: ANN401, the kind's own
        """Kinetic energies (J) of the bodies, quadratic in the velocities of the state."""

    @abc.abstractmethod
    def bodies(self, content: Judged) -> list[str]:
        """The names of the bodies; not traced."""

    @abc.abstractmethod
    def contacts(self, content: Judged) -> list[Naming]:
        """What the contacts are called; not traced."""

    @abc.abstractmethod
    def place(self, content: Judged, nominal: Any) -> dict[str, Any]:  # noqa: ANN401, the kind's own
        """Where the nominal contact is; not traced."""

    @abc.abstractmethod
    def later_sets(self, scenario: Scenario, nominal: Any) -> list[LaterSet]:  # noqa: ANN401, the kind's own
        """The sets of contacts that a run closes, one after the other, while a contact of the nominal set is still closed.

        Each once, as it is when it is first closed, without those that are part of the nominal set.
        """

    @abc.abstractmethod
    def in_run(self, content: Judged, run: Run, row: int, closed: tuple[int, ...], pressed: bool) -> Any | None:  # noqa: ANN401, a `Nominal` of the kind's own
        """The state at a moment of a run with these contacts closed, as deep as they are then if `pressed`; None where the
        run has not kept it."""

    def linear(self, content: Judged, nominal: Any) -> Linear:  # noqa: ANN401, the kind's own
        """The linear form of the whole model."""
        return linearise(*self.rest(content, nominal))

    def remarks(self, content: Judged, nominal: Any) -> list[str]:  # noqa: ANN401, the kind's own
        """What a reader should know of the state that was taken; not traced."""
        return []


def refuse_control(scenario: Scenario) -> None:
    """Raises ScenarioError where control acts, which margins do not know."""
    if scenario.content.controlled:
        raise ScenarioError(
            f"{scenario.name}: control.law = {scenario.content.control.law!r}: counts in runs only; "
            "must be 'none', or left out, for margins and linear forms"
        )


def resting_of(content: Judged) -> Resting:
    """How contacts rest in a scenario with this content."""
    return kind_named(content.kind).resting(content.title, content)


def nominal_of(scenario: Scenario) -> Any | None:  # noqa: ANN401, a `Nominal` of the kind's own
    """The nominal contact of a scenario; None for a rig along one direction, which has only one.

    Raises ScenarioError when there is none: no loop to judge, control, no contact in the scenario or none within its duration.
    """
    refuse_control(scenario)
    return kind_named(scenario.kind).resting(scenario.name, scenario.content).nominal(scenario)


def resting_state(scenario: Scenario | str | Path) -> tuple[Model, State]:
    """The model of a scenario and its state at rest in the nominal contact, as `dockdyn.stability.linearise` takes them.

    Contacts that close together with the nominal one, or are closed with it at the start, are closed here, too.

    Raises ScenarioError when there is no contact to rest in: what `margins` raises, and for a rig, which has no bodies.
    """
    scenario = scenario_from(scenario)
    nominal = nominal_of(scenario)
    if nominal is None:
        raise ScenarioError(f"{scenario.name}: kind: {scenario.kind} has one degree of freedom and no bodies to place")
    return resting_of(scenario.content).rest(scenario.content, nominal)


@jit_once
def _loop_once(content: Judged, nominal: Nominal | None) -> tuple[Loop, RestingContact | None]:
    return resting_of(content).loop(content, nominal)


def loop_in_numbers(content: Judged, nominal: Nominal | None) -> tuple[Loop, RestingContact | None]:
    """The loop, along the contact normal or with what is behind its contacts, and what the contact feels."""
    loop, contact = jax.tree.map(np.asarray, _loop_once(content, nominal))
    return loop.reduced(), contact


def nominal_loop(scenario: Scenario, nominal: Nominal | None) -> tuple[Loop, RestingContact | None]:
    """The same; ScenarioError where the contact has no stiffness."""
    loop, contact = loop_in_numbers(scenario.content, nominal)
    if not float(loop.stiffness) > 0:
        depth = scenario.content.stability.depth
        where = "where contact begins" if depth is None else f"{depth:g} m"
        raise ScenarioError(
            f"{scenario.name}: stability.depth: {where}: the contact's stiffness there is {float(loop.stiffness):g} N/m; "
            "must be a depth where it is positive"
        )
    return loop, contact


def of_whole_model(content: Judged, nominal: Nominal | None) -> bool:
    """Whether roots and delays are those of the whole model: with more in the loop than a delay it is taken along a normal."""
    return nominal is not None and not kind_named(content.kind).along_normal and not content.loop.beyond_delay()


def counts_all(content: Judged, nominal: Nominal | None) -> bool:
    """Whether the loop is of more than one contact between two free bodies, which a normal would stand for."""
    several = nominal is not None and (resting_of(content).as_a_whole or bool(nominal.others))
    return several and of_whole_model(content, nominal)


def delayed_loop(content: Judged, nominal: Nominal | None) -> Loop | Linear:
    """What margins are of, with its matrices and its delay (s): all closed contacts, or one normal; can be traced."""
    if nominal is not None and counts_all(content, nominal):
        return resting_of(content).linear(content, nominal)
    return resting_of(content).loop(content, nominal)[0]


@jit_once
def _matrices_once(content: Judged, nominal: Nominal) -> Float[Array, "2 n n"]:
    return resting_of(content).linear(content, nominal).matrices()


def whole_matrices(content: Judged, nominal: Nominal) -> Float[np.ndarray, "2 n n"]:
    """A₀ and A₁ (1/s) of all bodies with all closed contacts, whose forces are one delay late."""
    return np.asarray(_matrices_once(content, nominal))


def seen_matrices(content: Judged, nominal: Nominal) -> Float[np.ndarray, "2 n n"]:
    """The same of what the delayed forces depend on; drift left out."""
    return seen(whole_matrices(content, nominal))[0]


def growth_of_linears(linears: Linear) -> Float[np.ndarray, "systems"]:
    """Growth rates (1/s) of many linear forms, drift left out; zero where no delayed force is seen."""
    parts = [seen(matrices)[0] for matrices in np.asarray(linears.matrices())]
    delays, sizes = np.asarray(linears.delay)[:, None], np.array([part.shape[-1] for part in parts])
    found = np.zeros(len(parts))
    for size in np.unique(sizes[sizes > 0]):
        these = np.flatnonzero(sizes == size)
        stack = np.stack([parts[i] for i in these])
        found[these] = rightmost_roots(stack, delays[these], count=1)[:, 0].real
    return found


@jit_once
def _slopes_once(content: Judged, nominal: Nominal) -> list[ContactSlopes]:
    return resting_of(content).slopes(content, nominal)


def closed_contacts(content: Judged, nominal: Nominal) -> list[dict[str, Any]]:
    """What each of several closed contacts is by itself, the nominal one first."""
    names, resting = resting_of(content).contacts(content), resting_of(content)
    found = dict(zip(resting.numbered(content, nominal), _slopes_once(content, nominal), strict=True))
    keys = ("depth_m", "effective_mass_kg", "stiffness_N_m", "damping_N_s_m")
    return [
        {"feature": names[i].feature, "surface": names[i].surface}
        | {key: float(value) for key, value in zip(keys, found[i], strict=True)}
        for i in nominal.closed
    ]


def names_of(content: Judged, nominal: Nominal) -> list[str]:
    """The closed contacts by their names."""
    names = resting_of(content).contacts(content)
    return [names[i].contact for i in nominal.closed]


def later_rows(
    closed: Bool[np.ndarray, "rows contacts"], nominal: Nominal, begun: bool
) -> list[tuple[int, tuple[int, ...]]]:
    """The rows in which a set of contacts that is no part of the nominal one is first `closed`, while a contact of that is,
    with the numbers of the set; `begun` says that the nominal contact is closed before the first row."""
    found: dict[frozenset[int], int] = {}
    for row, flags in enumerate(closed):
        now = frozenset(map(int, np.flatnonzero(flags)))
        begun = begun or bool(now & set(nominal.closed))
        if begun and not now & set(nominal.closed):
            break
        if not now <= set(nominal.closed) and now not in found:
            found[now] = row
    own = nominal.closed
    return [(row, (*(i for i in own if i in now), *sorted(now - set(own)))) for now, row in found.items()]


@jit_once
def _energies_once(content: Judged, nominal: Nominal, motions: Float[Array, "2 n"]) -> Float[Array, "bodies"]:
    """Kinetic energies (J) of the bodies, summed over two `motions`: velocities as they are packed."""
    resting = resting_of(content)
    model, state = resting.rest(content, nominal)

    def energies(row: Float[Array, "n"]) -> Float[Array, "bodies"]:
        return resting.kinetic_energies(model, State(state.q, unpack(row, state.v), state.mode, state.memory))

    return energies(motions[0]) + energies(motions[1])


def motion_shares(content: Judged, nominal: Nominal, root: complex, delay: float) -> list[dict[str, Any]]:
    """How the bodies share the kinetic energy of the motion with a `root` (1/s), the largest share first."""
    matrices = whole_matrices(content, nominal)
    shift = characteristic_matrix(root, matrices, np.array([delay]))
    motion = np.linalg.svd(shift)[2][-1].conj()
    first, count = _sizes(content, nominal)
    velocities = motion[first : first + count]
    energies = np.asarray(_energies_once(content, nominal, np.stack([velocities.real, velocities.imag])))
    shares = energies / energies.sum()
    names = resting_of(content).bodies(content)
    order = np.argsort(-shares, kind="stable")
    return [{"body": names[i], "energy_share": float(shares[i])} for i in order]


def motion_count(content: Judged, nominal: Nominal) -> int:
    """Positions and velocities of the model together: twice its degrees of freedom."""
    return 2 * _sizes(content, nominal)[1]


@jit_once
def _sizes_once(content: Judged, nominal: Nominal) -> Int[Array, "2"]:
    state = resting_of(content).rest(content, nominal)[1]
    return jnp.asarray([pack(state.q).size, pack(state.v).size])


def _sizes(content: Judged, nominal: Nominal) -> tuple[int, int]:
    """How many numbers a configuration and a velocity of the model have."""
    first, second = np.asarray(_sizes_once(content, nominal))
    return int(first), int(second)
