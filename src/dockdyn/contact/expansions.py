"""Distances of the members that touch, in powers of what they move, kept while both bodies move little.

Where faces lie flat on each other thousands of members touch at once, and what takes time is to look up their distances, whose
numbers lie scattered over a field. From one step to the next they move by micrometres: within that, powers up to the third say
what a cubic spline does, but for a jump of its jerk between cells. So the field is looked up once for many steps, and a step
reads numbers that lie one after another. Sums of forces differ from those of all looked up by less than a millionth.

Units: m.
Source: Taylor's theorem; lists of neighbours with a skin, Verlet 1967, Phys. Rev. 159:98; own construction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dockdyn.contact.bound_tree import read_row
from dockdyn.contact.relative_pose import RelativePose
from dockdyn.contact.surfaces.surface import ExpandedSurface
from dockdyn.contact.touch import Touch
from dockdyn.deferred import Array, Bool, Float, Int, jax, jnp
from dockdyn.mechanics.rigid_body import Placed
from dockdyn.mechanics.vector import Matrix, Scalar, Vector, once, unit_vectors
from dockdyn.trees import map_leaves

type Flag = Bool[Array, ""]

MOST = 16_384  # members: what more of a cloud touches is looked up
AGAIN = 1.5  # times what bodies have moved in a step, they may move in the next one


class ExpansionFrame(NamedTuple):
    """Where two bodies are, as expansions of a surface of the second one need it: computed once for all members."""

    origin: Vector  # m, of the first body, in the frame of the expansions
    axes: Matrix  # those of the first body there, one a row
    inertial: Matrix  # those of the frame, inertial, one a row

    @staticmethod
    def of(surface: ExpandedSurface, own: Placed, other: Placed) -> ExpansionFrame:
        """Return it of a `surface` of the body `other`."""
        start, turn = surface.expansion_frame()
        units = unit_vectors()
        axes = (turn.transposed_times(other.rotation.transposed_times(own.rotation @ unit)) for unit in units)
        origin = turn.transposed_times(other.local(own.pose.position) - start)
        return once(ExpansionFrame(origin, Matrix(*axes), Matrix(*(other.rotation @ (turn @ unit) for unit in units))))

    def touch(self, surface: ExpandedSurface, numbers: list[Scalar], ball: tuple[Vector, Scalar], own: Placed) -> Touch:
        """Return how a `ball`, its centre (m, axes of the first body) and its radius (m), meets the surface, by the `numbers`
        of its expansion nearby."""
        centre, radius = ball
        distance, slopes = surface.near_expansion(numbers, self.origin + self.axes.transposed_times(centre))
        normal = once(self.inertial.transposed_times(slopes))
        return Touch(radius - distance, normal, once(own.point(centre)) - normal * radius)


class Expansions(NamedTuple):
    """What is known of members around where the bodies were when they were `seen`."""

    many: Int[Array, ""]  # how many there are; 0 where nothing is known
    seen: RelativePose
    last: RelativePose  # where they were when that was last looked at
    members: Int[Array, "most"]  # by number, in their order
    numbers: Float[Array, "most numbers"]  # of the surface, of each

    @staticmethod
    def none(members: int, numbers: int) -> Expansions:
        """Return it, for a group of so many members on a surface whose expansions have so many numbers, before anything is
        known."""
        most = min(members, MOST) + 1  # the last one is scratch
        return Expansions(
            jnp.zeros((), int),
            RelativePose.nowhere(),
            RelativePose.nowhere(),
            jnp.zeros(most, int),
            jnp.zeros((most, numbers)),
        )

    def hold(self, now: RelativePose, reach: Scalar, within: Scalar) -> Flag:
        """Return whether it is known where the bodies are `now`: whether members within `reach` (m) of the place that poses are
        counted from have moved by less than `within` (m)."""
        return (self.many > 0) & (now.motion(self.seen, reach) < within)

    def visit[State](self, take: Callable[[Array, list[Scalar], State], State], state: State) -> State:
        """Return the `state` after all that are known; `take` makes it after one, by its number in the group and those of its
        expansion."""

        def turn(given: tuple[Array, State]) -> tuple[Array, State]:
            place, state = given
            number = jax.lax.dynamic_slice(self.members, (place,), (1,))[0]
            return place + 1, take(number, read_row(self.numbers, place, 0, self.numbers.shape[1]), state)

        start = jnp.zeros((), int), state
        return jax.lax.while_loop(lambda given: given[0] < self.many, turn, start)[1]

    def renewed(
        self,
        due: Flag,
        now: RelativePose,
        visit: Callable[[Callable[[Array, Expansions], Expansions], Expansions], Expansions],
        expand: Callable[[Array], tuple[Scalar, list[Scalar]]],
        within: Scalar,
    ) -> Expansions:
        """Return what is known once the bodies are `now`: where that is `due`, anew of the members that `visit` takes and that
        are within a distance (m). `expand` gives distance and numbers of one. Nothing, if they are too many."""
        most = self.members.shape[0] - 1

        def take(number: Array, known: Expansions) -> Expansions:
            distance, numbers = expand(number)
            place = jnp.minimum(known.many, most)
            return known._replace(
                many=known.many + (distance < within),
                members=jax.lax.dynamic_update_slice(known.members, number[None], (place,)),
                numbers=jax.lax.dynamic_update_slice(
                    known.numbers, jnp.stack(numbers)[None], (place, jnp.zeros_like(place))
                ),
            )

        seen = map_leaves(lambda new, old: jnp.where(due, new, old), now, self.seen)
        found = visit(take, self._replace(many=jnp.where(due, 0, self.many), seen=seen))
        return found._replace(many=jnp.where(found.many > most, 0, found.many))
