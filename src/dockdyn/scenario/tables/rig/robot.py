"""The table `[loop.robot]`: from the command to where the robot is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from dockdyn.deferred import Array, Float, jnp
from dockdyn.scenario.language.also import NUMBER
from dockdyn.scenario.language.or_none import OrNone
from dockdyn.scenario.language.section import Section
from dockdyn.scenario.language.units import Bounds, Number, number_of, quantity
from dockdyn.scenario.tables.part import refuse

if TYPE_CHECKING:
    from dockdyn.stability.lags import Denominator
    from dockdyn.stability.loop import RobotStateSpace
    from dockdyn.stability.transfer_function import TransferFunction

SAMPLED = ("a", "b", "period")  # keys of a robot as it is identified in samples
POLYNOMIALS, PLACES = ("numerator", "denominator"), ("zeros", "poles", "gain")
MOST_LAGS = 10
LAGS = ("bandwidth", "time_constant", "damping", "order")  # of one that data sheets describe
FORMS = (
    "numerator and denominator; poles and gain (and zeros); a, b and period; bandwidth (and order, or damping); "
    "time_constant (and order)"
)


def pair(value: object) -> list[Any]:
    """Return a real pole or zero as a complex one."""
    return value if isinstance(value, list) else [value, 0.0]


Place = Annotated[
    list[Number], Field(min_length=2, max_length=2), BeforeValidator(pair), NUMBER
]  # real and imaginary part, 1/s


class RobotSection(Section):
    """Transfer function from commanded to actual position: as lags, polynomials, zeros and poles with a gain, or in samples.

    One stated in samples (`a`, `b`, `period`) becomes the polynomials of the continuous robot behind a zero-order hold.
    `bandwidth` or `time_constant` are of `order` equal lags, a `bandwidth` with `damping` of a second-order robot.
    """

    numerator: Annotated[list[Number], Field(min_length=1)] | None = None
    denominator: Annotated[list[Number], Field(min_length=2)] | None = None
    zeros: list[Place] | None = None
    poles: Annotated[list[Place], Field(min_length=1)] | None = None
    gain: Number | None = None
    a: Annotated[list[Number], Field(min_length=1)] | None = None
    b: Annotated[list[Number], Field(min_length=1)] | None = None
    period: quantity("s", "a period", above=0) | None = None
    bandwidth: quantity("Hz", "a frequency", above=0) | None = None
    time_constant: quantity("s", "a time", above=0) | None = None
    damping: quantity("", "a damping ratio", above=0) | None = None
    order: Annotated[int, Field(ge=1, le=MOST_LAGS)] | None = None
    rate_limit: quantity("m/s", "a speed", above=0) | None = None
    position_limit: quantity("m", "a length", above=0) | None = None

    @model_validator(mode="before")
    @classmethod
    def from_samples(cls, data: object) -> object:
        """Return the polynomials of a robot stated in samples; what is not well formed is left to the checks of its keys."""
        if not isinstance(data, dict) or not any(data.get(key) is not None for key in SAMPLED):
            return data
        others = [key for key in (*POLYNOMIALS, *PLACES, *LAGS) if data.get(key) is not None]
        missing = [key for key in SAMPLED if data.get(key) is None]
        if others or missing:
            words = f"lacks {missing[0]}" if missing else f"has {others[0]}, too"
            refuse(f"a robot in samples has a, b and their period, and nothing of another form; it {words}")
        lists = [data[key] for key in ("a", "b")]
        if not all(isinstance(given, list) and given for given in lists):
            return data
        rows = [[number_of(value, "", "a number", Bounds()) for value in given] for given in lists]
        from dockdyn.stability.discrete import continuous_equivalent

        period = number_of(data["period"], "s", "a period", Bounds(above=0))
        try:
            transfer = continuous_equivalent(rows[0], rows[1], period)
        except ValueError as error:
            refuse(f"a, b: {error}")
        kept = {key: value for key, value in data.items() if key not in SAMPLED}
        return {**kept, "numerator": list(transfer.numerator), "denominator": list(transfer.denominator)}

    @model_validator(mode="after")
    def check_consistency(self) -> Self:
        self.check_form()
        try:
            transfer = self.transfer()
        except ValueError as error:
            refuse(f"must be a transfer function: {error}")
        if not transfer.proper():
            degrees = f"{len(transfer.numerator) - 1} over {len(transfer.denominator) - 1}"
            refuse(f"must be proper, its numerator of no higher degree than its denominator; it is {degrees}")
        if not transfer.stable():
            worst = max(transfer.poles(), key=lambda pole: pole.real)
            refuse(f"must be stable, all poles left of the imaginary axis; it has one at {worst:.6g} 1/s")
        if not transfer.strictly_proper():
            refuse("must be strictly proper: a robot that jumps with each command has no finite velocity")
        return self

    def check_form(self) -> None:
        """Refuse keys that do not make a robot together."""
        stated = [name for name in (*POLYNOMIALS, *PLACES, *LAGS) if getattr(self, name) is not None]
        polynomials, places, lags = ([name for name in stated if name in form] for form in (POLYNOMIALS, PLACES, LAGS))
        complete = [
            len(polynomials) == len(POLYNOMIALS),
            self.poles is not None and self.gain is not None,
            self.bandwidth is not None or self.time_constant is not None,
        ]
        if sum(complete) != 1 or sum(map(bool, (polynomials, places, lags))) != 1:
            given = f"; it gives {', '.join(stated)}" if stated else ""
            refuse(f"must give one of: {FORMS}{given}")
        if self.bandwidth is not None and self.time_constant is not None:
            refuse("must give bandwidth or time_constant, not both: one follows from the other")
        if self.damping is not None and self.bandwidth is None:
            refuse("damping: goes with a bandwidth; lags with a time_constant have none of their own")
        if self.damping is not None and self.order not in (None, 2):
            refuse(f"order = {self.order}: must be 2 with a damping, or left out; {self.order} equal lags have none")

    def denominator_of_lags(self) -> Denominator:
        """Return the denominator, above which stands 1, of a robot stated by bandwidth or time constant; also traced."""
        from dockdyn.stability.lags import equal_lags, lag_of_bandwidth, second_order

        if self.damping is not None:
            return second_order(self.bandwidth, self.damping)
        order = self.order or 1
        lag = lag_of_bandwidth(self.bandwidth, order) if self.time_constant is None else self.time_constant
        return equal_lags(lag, order)

    def transfer(self) -> TransferFunction:
        from dockdyn.stability.transfer_function import TransferFunction

        if self.numerator is not None:
            return TransferFunction(tuple(self.numerator), tuple(self.denominator or ()))
        if self.poles is None:
            return TransferFunction((1.0,), tuple(self.denominator_of_lags()))
        zeros, poles = ([complex(*place) for place in places or []] for places in (self.zeros, self.poles))
        return TransferFunction.of_zeros(zeros, poles, self.gain or 0.0)

    def make(self) -> RobotStateSpace:
        """Return the robot, also from traced numbers."""

        from dockdyn.stability.loop import RobotStateSpace

        if self.numerator is not None:
            return RobotStateSpace.of_polynomials(
                jnp.asarray(self.numerator, float), jnp.asarray(self.denominator, float)
            )
        if self.poles is None:
            return RobotStateSpace.of_polynomials(
                jnp.ones(1), jnp.stack([jnp.asarray(c, float) for c in self.denominator_of_lags()])
            )
        zeros = [jnp.asarray(place, float) for place in self.zeros or []]
        top = jnp.asarray(self.gain, float) * polynomial(zeros)
        return RobotStateSpace.of_polynomials(top, polynomial([jnp.asarray(place, float) for place in self.poles]))


def polynomial(places: list[Float[Array, "2"]]) -> Float[Array, "n"]:
    """Return coefficients of the monic polynomial with zeros at pairs of real and imaginary part."""

    real, imaginary = jnp.ones(1), jnp.zeros(1)
    for a, b in places:
        less = a * real - b * imaginary, a * imaginary + b * real
        real, imaginary = (
            jnp.pad(one, (0, 1)) - jnp.pad(other, (1, 0)) for one, other in zip((real, imaginary), less, strict=True)
        )
    return real


AXES = (
    "x",
    "y",
    "z",
    "rx",
    "ry",
    "rz",
)  # of the robot: where what is carried is, and how it has turned, seen from what stands


class RobotWithAxesSection(RobotSection):
    """The robot behind all axes; `[loop.robot.rx]` and the like are of single axes that have another one."""

    x: OrNone[RobotSection] = None
    y: OrNone[RobotSection] = None
    z: OrNone[RobotSection] = None
    rx: OrNone[RobotSection] = None
    ry: OrNone[RobotSection] = None
    rz: OrNone[RobotSection] = None

    def of_axes(self) -> dict[str, RobotSection]:
        """Return the robots of single axes that have one of their own."""
        return {axis: robot for axis in AXES if (robot := getattr(self, axis)) is not None}
