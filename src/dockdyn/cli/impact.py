"""`dockdyn impact`: what the masses decide in an impact, and the speed it takes to latch."""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import typer

from dockdyn.cli.common import Refusal, echo_json, help_example, quantity_option

app = typer.Typer(
    help="Effective masses, motion after impact, least latching speed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Mass = quantity_option(
    "--masses",
    "kg",
    "a mass",
    "The chaser's two masses and the target's two, in the order in which they stand: the second meets the third.",
    "M1 M2 M3 M4",
    above=0,
)


def _mass_option(flag: str, words: str) -> Any:  # noqa: ANN401, as Typer says of its options
    return quantity_option(flag, "kg", "a mass", words, above=0)


def _stiffness_option(flag: str, words: str) -> Any:  # noqa: ANN401, as Typer says of its options
    return quantity_option(flag, "N/m", "a stiffness", words, above=0)


def _length_option(flag: str, words: str) -> Any:  # noqa: ANN401, as Typer says of its options
    return quantity_option(flag, "m", "a length", words, above=0)


class TwoSystemImpact(NamedTuple):
    """Two systems of two masses that meet: the chaser's second mass the target's first."""

    chaser: tuple[float, float]  # kg
    target: tuple[float, float]  # kg
    speed: float  # m/s, of the chaser's centre of mass; the target rests
    restitution: float
    internal_speed: float  # m/s, by how much the masses that meet close faster than the centres of mass


class Stiffnesses(NamedTuple):
    """How stiff the contact and the two systems are, and what else decides how long the contact lasts."""

    elastic: tuple[float, float, float]  # N/m, of the contact, between the chaser's masses, between the target's
    contact_damping: float  # N s/m
    size: float | None  # m, of the larger system


class LatchOnRamp(NamedTuple):
    """A spring latch that a probe pushes aside on a ramp."""

    masses: tuple[float, float]  # kg, of the whole chaser and of the whole target
    stiffness: float  # N/m, of the latch's spring, across the line of motion
    angle: float  # rad, of the ramp to the line of motion
    axial_length: float | None  # m, of the ramp along the line of motion; None: the next is given
    lateral_length: float | None  # m, of the ramp across it
    friction: float
    preload: float  # N


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


@app.command(epilog=help_example('dockdyn impact multibody --masses 17 2 1.5 15 --speed "0.05 m/s"'))
def multibody(
    masses: Annotated[tuple[float, float, float, float], Mass],
    speed: Annotated[
        float, quantity_option("--speed", "m/s", "a speed", "Of the chaser's centre of mass; the target rests.")
    ],
    restitution: Annotated[
        float,
        quantity_option("--restitution", "", "a coefficient", "Of the masses that meet.", least=0, most=1),
    ] = 1.0,
    internal_speed: Annotated[
        float,
        quantity_option(
            "--internal-speed",
            "m/s",
            "a speed",
            "By how much the masses that meet close faster than the centres of mass.",
        ),
    ] = 0.0,
    contact_stiffness: Annotated[
        float | None,
        _stiffness_option("--contact-stiffness", "Of the contact; with the two below, for correction and warnings."),
    ] = None,
    chaser_stiffness: Annotated[
        float | None, _stiffness_option("--chaser-stiffness", "Between the chaser's masses.")
    ] = None,
    target_stiffness: Annotated[
        float | None, _stiffness_option("--target-stiffness", "Between the target's masses.")
    ] = None,
    contact_damping: Annotated[
        float | None,
        quantity_option(
            "--contact-damping", "N*s/m", "a damping", "Of the contact; it ends the contact earlier.", least=0
        ),
    ] = None,
    size: Annotated[
        float | None,
        _length_option("--size", "Of the larger system: an elastic wave should pass it twice in the contact."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Velocities after an impact of two systems, from four masses."""
    given = [value for value in (contact_stiffness, chaser_stiffness, target_stiffness) if value is not None]
    if len(given) in (1, 2) or (not given and (contact_damping is not None or size is not None)):
        raise Refusal(
            "--contact-stiffness, --chaser-stiffness, --target-stiffness: some are missing: must be given all three, "
            "also for --contact-damping and --size"
        )
    if speed + internal_speed <= 0:
        raise Refusal(
            f"--speed: {speed:g}: must be greater than {0 - internal_speed:g} m/s, or the masses that meet do not approach"
        )
    impact = TwoSystemImpact(masses[:2], masses[2:], speed, restitution, internal_speed)
    stiffnesses = Stiffnesses((given[0], given[1], given[2]), contact_damping or 0.0, size) if given else None
    answer = _predict_impact(impact, stiffnesses)
    if as_json:
        echo_json(answer)
        return
    from dockdyn.cli.impact_console import show_impact

    show_impact(answer, speed)


def _predict_impact(impact: TwoSystemImpact, stiffnesses: Stiffnesses | None) -> dict[str, Any]:
    """Return the answer of `dockdyn impact multibody`: what the masses alone decide, and what stiffnesses change in it."""
    from dockdyn.impact import first_order_correction, motion_class, validity_warnings, velocity_after_impact

    chaser, target, speed, restitution, internal_speed = impact
    after = velocity_after_impact(chaser, target, speed, restitution, internal_speed)
    ratio = float(after.effective_mass_ratio)
    first = internal_speed == 0
    correction: float | None = None
    warnings: tuple[str, ...] = ()
    if stiffnesses is not None:
        elastic, damping, size = stiffnesses
        if first and restitution == 1 and not damping:  # what the formula is for
            correction = float(first_order_correction(chaser, target, speed, *elastic))
        warnings = validity_warnings(chaser, target, *elastic, damping, size)
    return {
        "effective_mass_ratio": ratio,
        "relative_velocity_after_m_s": float(after.relative_velocity),
        "chaser_velocity_after_m_s": float(after.chaser_velocity),
        "target_velocity_after_m_s": float(after.target_velocity),
        "impulse_N_s": float(after.impulse),
        "motion_class": motion_class(ratio, restitution) if first else None,
        "first_order_correction_m_s": correction,
        "warnings": list(warnings),
    }


@app.command(
    epilog=help_example(
        "dockdyn impact latch --chaser-mass 19 --target-mass 16.5 --stiffness 800 \\",
        '    --angle "30 deg" --axial-length "20 mm"',
    )
)
def latch(
    chaser_mass: Annotated[float, _mass_option("--chaser-mass", "Of the whole chaser.")],
    target_mass: Annotated[float, _mass_option("--target-mass", "Of the whole target.")],
    stiffness: Annotated[float, _stiffness_option("--stiffness", "Of the latch's spring, across the line of motion.")],
    angle: Annotated[
        float,
        quantity_option(
            "--angle",
            "rad",
            "a ramp angle (a bare number is in rad)",
            'Of the ramp to the line of motion; in rad, or such as "30 deg".',
            above=0,
            below=math.pi / 2,
        ),
    ],
    axial_length: Annotated[
        float | None, _length_option("--axial-length", "Of the ramp along the line of motion; or give the next.")
    ] = None,
    lateral_length: Annotated[
        float | None, _length_option("--lateral-length", "Of the ramp across the line of motion.")
    ] = None,
    speed: Annotated[
        float | None,
        quantity_option("--speed", "m/s", "a speed", "Of the chaser; the target rests.", above=0),
    ] = None,
    friction: Annotated[
        float, quantity_option("--friction", "", "a coefficient", "Between ramp and latch.", least=0)
    ] = 0.0,
    preload: Annotated[
        float, quantity_option("--preload", "N", "a force", "Of the latch's spring before it moves.", least=0)
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """The least speed at which a spring latch catches a probe."""
    if (axial_length is None) == (lateral_length is None):
        given = "none" if axial_length is None else "both"
        raise Refusal(f"--axial-length, --lateral-length: {given} given: must be one of them")
    if angle + math.atan(friction) > math.pi / 2 - 1e-9:  # rad
        raise Refusal(
            f"--friction: {friction:g}: must be less than 1/tan(angle) = {1 / math.tan(angle):.6g}, or the probe jams"
        )
    latch = LatchOnRamp((chaser_mass, target_mass), stiffness, angle, axial_length, lateral_length, friction, preload)
    answer, reach, travel = _predict_latching(latch, speed)
    if as_json:
        echo_json(answer)
        return
    from dockdyn.cli.impact_console import show_latch

    show_latch(answer, speed, reach, travel)


def _predict_latching(latch: LatchOnRamp, speed: float | None) -> tuple[dict[str, Any], float | None, float]:
    """Return the answer of `dockdyn impact latch`, how far (m) a probe of `speed` gets, and how far (m) it must get."""
    from dockdyn.impact import greatest_travel, latch_frequency, latch_time, latch_travel, minimum_latching_velocity

    masses, stiffness, angle, axial, lateral, friction, preload = latch
    least = minimum_latching_velocity(*masses, stiffness, angle, axial, lateral, friction, preload)
    frequency = latch_frequency(*masses, stiffness, angle, friction)
    travel = float(latch_travel(angle, axial, lateral))
    before = preload / (stiffness * math.tan(angle))
    time = math.nan if speed is None else float(latch_time(speed, frequency, travel, before))
    answer = {
        "minimum_velocity_m_s": float(least),
        "frequency_rad_s": float(frequency),
        "latch_time_s": None if math.isnan(time) else time,
        "latched": None if speed is None else not math.isnan(time),
    }
    return answer, None if speed is None else float(greatest_travel(speed, frequency, before)), travel
