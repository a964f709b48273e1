"""The contacts of an assembly at rest, as the margins of its loop ask for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from dockdyn.integrate.model import Scalar, State
from dockdyn.kinds.assembly.nominal import NominalAssembly, gaps, nominal_assembly, nominal_at
from dockdyn.kinds.assembly.schema.assembly import AssemblySection
from dockdyn.kinds.followed import after_first
from dockdyn.kinds.resting import TOGETHER, ContactSlopes, Judged, LaterSet, Naming, Resting, later_rows
from dockdyn.mechanism.behind_contacts import plant_behind
from dockdyn.mechanism.mechanism import Mechanism
from dockdyn.mechanism.rest import GroupSlopes, at_rest, group_slopes, held_force
from dockdyn.results.plan import jit_once
from dockdyn.results.run import Run
from dockdyn.scenario.load import Scenario
from dockdyn.stability.linearise import Linear, linearise
from dockdyn.stability.loop import Loop

BORNE = 1e-3  # N: less is rounding


class RestingAssembly(Resting):
    """Bodies that rest on each other, with all elements and joints between them."""

    as_a_whole: ClassVar = True

    def nominal(self, scenario: Scenario) -> NominalAssembly:
        return nominal_assembly(scenario)

    def alone(self, nominal: NominalAssembly) -> NominalAssembly:
        own = nominal.contact
        members = tuple(flags * (i == own) for i, flags in enumerate(nominal.members))
        return NominalAssembly(nominal.state, members, nominal.number)

    def rest(self, content: AssemblySection, nominal: NominalAssembly) -> tuple[Mechanism, State]:
        depth = content.stability.depth
        own = None if depth is None else jnp.asarray(depth, float)
        return at_rest(content.model(), nominal.state, nominal.members, own)

    def linear(self, content: AssemblySection, nominal: NominalAssembly) -> Linear:
        """Of the motion alone: what elements remember is held."""
        model, state = self.rest(content, nominal)
        return linearise(model, state).of_first(sum(leaf.size for leaf in jax.tree.leaves((state.q, state.v))))

    def loop(self, content: AssemblySection, nominal: NominalAssembly) -> tuple[Loop, None]:
        """With more in it than a delay the loop has what is behind the contacts that it measures."""
        model, state = self.rest(content, nominal)
        found = group_slopes(model, state)
        own = GroupSlopes(*(numbers[nominal.number] for numbers in found))
        loop = content.loop.make(own.effective_mass, own.stiffness, own.damping)
        if not content.loop.beyond_delay():
            return loop, None
        law, measured = content.loop.compensator, self.measured(content)
        acts = law is not None and law.made.in_margins
        return replace(loop, behind=plant_behind(model, state, measured, self.port(content) if acts else None)), None

    def measured(self, content: Judged) -> list[int]:
        """The numbers of the contacts that the loop measures."""
        return list(range(len(content.contact)))

    def port(self, content: Judged) -> int:
        """The contact at whose reference point a compensator acts, by number."""
        return 0

    def slopes(self, content: AssemblySection, nominal: NominalAssembly) -> list[ContactSlopes]:
        found = group_slopes(*self.rest(content, nominal))
        return [ContactSlopes(*(numbers[i] for numbers in found)) for i in range(len(content.contact))]

    def numbered(self, content: AssemblySection, nominal: NominalAssembly) -> list[int]:
        return list(range(len(content.contact)))

    def kinetic_energies(self, model: Mechanism, state: State) -> Float[Array, "bodies"]:
        return model.kinetic_energies(state.q, state.v)

    def bodies(self, content: AssemblySection) -> list[str]:
        return content.names()

    def contacts(self, content: AssemblySection) -> list[Naming]:
        sections = zip(content.contact_names(), content.contact, strict=True)
        return [Naming(name, one.feature, one.partner()) for name, one in sections]

    def place(self, content: AssemblySection, nominal: NominalAssembly) -> dict[str, Any]:
        one, flags = content.contact[nominal.contact], nominal.members[nominal.contact]
        depth = float(np.asarray(_nominal_depth_once(content, nominal)))
        return {
            "feature": one.feature,
            "surface": one.partner(),
            "members": len(flags),
            "members_closed": int(np.sum(flags)),
            "depth_m": depth,
        }

    def later_sets(self, scenario: Scenario, nominal: NominalAssembly) -> list[LaterSet]:
        """None where the state is not that of the first contact."""
        ask = scenario.content.stability
        if ask.at != "first-contact" or ask.time is not None or ask.closed is not None or len(nominal.members) < 2:
            return []
        moments, found = after_first(scenario, nominal), []
        for row, closed in later_rows(moments.touching, nominal, begun=True):
            then = nominal_at(scenario.content, moments.at(row), list(closed), list(closed))
            assert then is not None
            found.append(LaterSet(float(moments.time[row] - moments.time[0]), then))
        return found

    def in_run(
        self, content: AssemblySection, run: Run, row: int, closed: tuple[int, ...], pressed: bool
    ) -> NominalAssembly | None:
        """As deep as contacts are then in any case: at its onset the first is at no depth."""
        if run.states is None:
            return None
        state: State = jax.tree.map(lambda rows: rows[row], run.states)
        return nominal_at(content, state, list(closed), list(closed))

    def remarks(self, content: AssemblySection, nominal: NominalAssembly) -> list[str]:
        names = content.contact_names()
        found = [
            f"{names[i]} is taken as closed where it is {1e3 * gap:.3g} mm apart"
            for i, gap in zip(nominal.closed, gaps(content, nominal), strict=True)
            if gap > TOGETHER
        ]
        if (force := float(_held_force_once(content, nominal))) > BORNE:
            found.append(
                f"elements bear up to {force:.3g} N where the loop is linearised: that is taken to be balanced, as at rest"
            )
        if content.loop.beyond_delay() and self.after_contact(content):
            found.append("the state is that of a run with loop.delay alone, without the rest of the loop")
        return found

    def after_contact(self, content: Judged) -> bool:
        """Whether the state is asked for at a time to which the loop's forces lead."""
        return content.stability.time is not None or content.stability.at != "first-contact"


@jit_once
def _nominal_depth_once(content: AssemblySection, nominal: NominalAssembly) -> Scalar:
    return group_slopes(*RestingAssembly().rest(content, nominal)).depth[nominal.number]


@jit_once
def _held_force_once(content: AssemblySection, nominal: NominalAssembly) -> Scalar:
    return held_force(RestingAssembly().rest(content, nominal)[0])
