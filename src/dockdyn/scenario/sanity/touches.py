"""What touches: how deep it would sink, how fast it would swing and how it would be damped, against sizes, times and forces.

Units: SI. Source: energy of a mass on a spring F = K δⁿ; for n = 1 all figures are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

from dockdyn.records import record
from dockdyn.scenario.sanity.likely import LARGER, SMALLER, THOUSANDTH, amount, likely, rough
from dockdyn.scenario.sanity.stated import StatedNumber

DEEPEST = 0.25  # m: nothing that docks is pressed in deeper
LONGEST = 8.0  # s, half an oscillation
QUICKEST = 300.0  # Hz
SAMPLES = 10.0  # commands, or steps, that an oscillation needs at least
LEAST_DAMPED, MOST_DAMPED = 1e-4, 10.0  # damping ratio
SLOW, FAST = 0.005, 1.0  # m/s: what speeds are taken to be at least and at most
UNKNOWN = 0.02  # m/s, where none is stated
APART = (
    "loop",
    "limits",
    "device",
    "emulator",
    "friction",
    "strut",
    "cable",
    "magnet",
    "bushing",
    "connection",
    "thruster",
    "element",
    "integrator",
    "impact",
    "stability",
    "control",
    "latch",
    "compare",
    "tool",
)


@record
class DockingMeeting:
    """What is known of a docking whatever its kind: masses and speed."""

    light: float  # kg, the least that a contact may feel
    heavy: float  # kg, the most
    speed: float  # m/s
    slow: float  # s, the longest of the hold and a fixed step; 0 without
    slow_key: str

    @staticmethod
    def of(numbers: list[StatedNumber]) -> DockingMeeting | None:
        """Return what the numbers of a scenario say; None where they name no mass."""
        masses = sorted(
            one.largest
            for one in numbers
            if one.unit == "kg" and one.field.startswith("mass") and not set(one.path) & {*APART, "design"}
        )
        masses = [mass for mass in masses if mass > 0]
        if not masses:
            return None
        speeds = [one.norm for one in numbers if one.unit == "m/s" and not set(one.path[:-1]) & set(APART)]
        speed = max(speeds, default=0.0) or UNKNOWN
        reduced = masses[0] * masses[1] / (masses[0] + masses[1]) if len(masses) == 2 else None
        times = {one.key: one.value for one in numbers if one.key in ("loop.hold.period", "integrator.step")}
        slow = max(times, key=lambda key: times[key], default="")
        return DockingMeeting(
            light=reduced or masses[0] / (1 if len(masses) == 1 else 2),
            heavy=reduced or masses[-1],
            speed=min(max(speed, SLOW), FAST),
            slow=times.get(slow, 0.0),
            slow_key=slow,
        )


@record
class ContactStiffness:
    """A contact's stiffness."""

    stiffness: StatedNumber
    exponent: float

    def depth(self, stiffness: float, mass: float, speed: float) -> float:
        """Return how deep (m) a `mass` (kg) with a `speed` (m/s) sinks in."""
        power = self.exponent + 1
        return float((power * mass * speed**2 / (2 * stiffness)) ** (1 / power))

    def frequency(self, stiffness: float, mass: float, speed: float) -> float:
        """Return how often (Hz) it would swing."""
        return speed / self.depth(stiffness, mass, speed) / (2 * pi)


def laws_of(numbers: list[StatedNumber]) -> list[ContactStiffness]:
    """Return the stiffnesses of all contacts."""
    found = []
    for one in numbers:
        unit, _, power = one.unit.partition("**")
        contact = {"contact", "normal", "touch"} & set(one.path[:-1]) and not {"loop", "compare", "spring"} & set(
            one.path
        )
        if contact and one.field == "stiffness" and unit == "N/m" and isinstance(one.value, float) and one.value > 0:
            found.append(ContactStiffness(one, float(power or 1)))
    return found


def unusual_touches(numbers: list[StatedNumber], depths: dict[str, tuple[float, float]]) -> Iterator[str]:
    """Yield what is unusual about stiffness and damping of contacts, and about forces beside what they reach.

    `depths` are by the beginning of a contact's keys how deep (m) it may be pressed in, and the radius (m) of its feature.
    """
    meeting = DockingMeeting.of(numbers)
    if meeting is None:
        return
    usual = []
    for law in laws_of(numbers):
        own = next((size for key, size in depths.items() if law.stiffness.key.startswith(key)), (DEEPEST, 0.0))
        if words := _stiffness(law, meeting, *own):
            yield words
        else:
            usual.append(law)
    for law in usual:
        yield from _damping(law, numbers, meeting)
    if usual:
        yield from _forces(usual, numbers, meeting)


def _stiffness(law: ContactStiffness, meeting: DockingMeeting, deepest: float, radius: float) -> str:
    """Return what is unusual about a stiffness; empty for a usual one."""
    value, speed = law.stiffness.value, meeting.speed
    unit = "N/m" if law.exponent == 1 else law.stiffness.unit

    def too_soft(stiffness: float) -> str:
        depth = law.depth(stiffness, meeting.light, speed)
        half = 0.5 / law.frequency(stiffness, meeting.light, speed)
        if depth > DEEPEST:
            return f"lets what touches at {amount(speed, 'm/s')} sink {rough(depth)} m"
        if depth > deepest:
            times = f"{rough(depth / radius)} times its radius"
            return f"lets what touches at {amount(speed, 'm/s')} sink {rough(depth)} m, {times}"
        if half > LONGEST:
            return f"makes a bounce take {rough(half)} s"
        return ""

    def too_stiff(stiffness: float) -> str:
        frequency = law.frequency(stiffness, meeting.heavy, speed)
        if frequency > QUICKEST:
            return f"makes the contact swing at {rough(frequency)} Hz"
        if frequency * meeting.slow * SAMPLES > 1:
            count = 1 / (frequency * meeting.slow)
            slow = f"{meeting.slow_key} = {amount(meeting.slow, 's')}"
            return f"makes the contact swing at {rough(frequency)} Hz, with {rough(count)} of {slow} in an oscillation"
        return ""

    def is_usual(stiffness: float) -> bool:
        return not too_soft(stiffness) and not too_stiff(stiffness)

    words = too_soft(value)
    if words:
        meant = likely(value, unit, LARGER["N/m"] if law.exponent == 1 else (), is_usual)
    elif words := too_stiff(value):
        usual_part = is_usual(THOUSANDTH * value)
        meant = f"; is it {amount(THOUSANDTH * value, unit)}?" if usual_part else ""
    else:
        return ""
    return f"{law.stiffness.key} = {amount(value, unit)} {words}{meant}"


def _damping(law: ContactStiffness, numbers: list[StatedNumber], meeting: DockingMeeting) -> Iterator[str]:
    """Yield what is unusual about the damping in the table of a stiffness."""
    for one in numbers:
        if one.table is not law.stiffness.table or one.field != "damping" or not one.largest:
            continue

        def ratios(value: float, unit: str = one.unit) -> tuple[float, float]:
            if unit == "s/m":  # Hunt-Crossley: K δⁿ (1 + λ v)
                return value * meeting.speed, value * meeting.speed
            stiff = law.stiffness.value
            swings = [2 * pi * law.frequency(stiff, mass, meeting.speed) for mass in (meeting.light, meeting.heavy)]
            low, high = (
                value / (2 * mass * swing) for mass, swing in zip((meeting.light, meeting.heavy), swings, strict=True)
            )
            return min(low, high), max(low, high)

        def is_usual(value: float, ratios: Any = ratios) -> bool:  # noqa: ANN401, of this number
            low, high = ratios(value)
            return low <= MOST_DAMPED and high >= LEAST_DAMPED

        if one.unit not in ("s/m", "N*s/m") or is_usual(one.value):
            continue
        low, high = ratios(one.value)
        large = low > MOST_DAMPED
        ratio = f"{'' if large else 'only '}with a ratio of {rough(low if large else high)}"
        meant = likely(one.value, one.unit, LARGER[one.unit], is_usual)
        if large:
            less = THOUSANDTH * one.value
            meant = f"; is it {amount(less, one.unit)}?" if is_usual(less) else ""
        yield f"{one.key} = {amount(one.value, one.unit)} damps the contact {ratio}{meant}"


def _forces(laws: list[ContactStiffness], numbers: list[StatedNumber], meeting: DockingMeeting) -> Iterator[str]:
    """Yield what sensors are said to do to forces, where that is far from what contacts reach."""
    peaks = [meeting.speed * 2 * pi * law.frequency(law.stiffness.value, meeting.heavy, meeting.speed) for law in laws]
    peak = meeting.heavy * max(peaks)
    for one in numbers:
        if one.path[:2] != ("loop", "sensor") or one.unit != "N" or not one.largest:
            continue
        if one.field == "range" and one.largest < peak / 50:
            meant = likely(one.value, "N", LARGER["N"], lambda value: value > peak / 50)
            yield f"{one.key} = {amount(one.value, 'N')}: the contact reaches about {rough(peak)} N{meant}"
        elif one.field != "range" and one.largest > peak:
            meant = likely(one.value, "N", SMALLER["N"], lambda value: abs(value) < peak)
            yield f"{one.key} = {amount(one.value, 'N')}: the contact reaches no more than about {rough(peak)} N{meant}"
