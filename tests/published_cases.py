"""Numbers that others print, of cases that are not of the five papers: what dockdyn makes of the same inputs.

Each yields (what it is, ours, theirs, unit, source, by how much the two may differ). Inputs and numbers that were recalled and
not looked up say so.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from contact_benchmarks import elastic_impact
from finite_elements import assembled, beam_element
from scipy.optimize import brentq
from test_spinning_link import SPAN, UNIT, lowest, turning

import dockdyn
from dockdyn.stability import rightmost_roots, sampled_loop, stable_windows

NEAR = 1e-9  # m apart at the start

type Row = tuple[str, float, float, str, str, float]
type Load = Callable[[dict[str, Any]], dockdyn.Scenario]


def of_delays() -> Iterator[Row]:
    """Delays and gains at which systems with delay begin to swing."""
    mass, damping, stiffness, delayed = 2.2, 15.0, 2250.0, 2250.0
    own = [[0.0, 1.0], [-stiffness / mass, -damping / mass]]
    windows = stable_windows([own, [[0.0, 0.0], [-delayed / mass, 0.0]]], [0.0])
    name = "actuated spring beside a spring and a damper: critical delay"
    yield name, 1e3 * windows.critical_delay, 6.8, "ms", "Wallace et al. 2005, recalled", 0.05
    swinging = stable_windows([[[0.0, 1.0], [-2.0, 0.1]], [[0.0, 0.0], [1.0, 0.0]]], [0.0], longest=2.0)
    ((first, last),) = swinging.stable
    source = "Gu, Kharitonov and Chen 2003, recalled"
    yield "x″ − 0.1 x′ + 2 x = x(t − h): stable from", first, 0.1002, "s", source, 5e-5
    yield "x″ − 0.1 x′ + 2 x = x(t − h): stable until", last, 1.7178, "s", source, 1e-4

    def neuron(coupling: float) -> complex:
        """The rightmost root of two neurons, linearised: κ = 0.5, β = −1, a₁₂ = 1, delays of 0.2, 0.2 and 1.5 s."""
        decay, alone = -0.5 * np.eye(2), -1.0 * np.eye(2)
        first, second = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [coupling, 0.0]])
        return complex(rightmost_roots([decay, second, first, alone], [0.2, 0.2, 1.5], count=1)[0])

    coupling = float(brentq(lambda each: neuron(each).real, 0.5, 1.2, xtol=1e-12))
    source = "manual of DDE-BIFTOOL"
    yield "two neurons with three delays: coupling at which they swing", coupling, 0.80712, "1", source, 5e-6
    yield "two neurons with three delays: frequency there", abs(neuron(coupling).imag), 0.78197, "rad/s", source, 5e-6
    for delay in (16e-3, 2e-3):  # s, beside a hold of 4 ms; a damper of 100 N s/m on 500 kg
        limit = 100.0 / (delay + 2e-3)

        def growth(stiffness: float, delay: float = delay) -> float:
            return sampled_loop(500.0, stiffness, delay=delay, hold=4e-3, gain=100.0).growth_rate()

        stiffest = float(brentq(growth, limit / 2, 2 * limit, xtol=1e-6))
        source = "Gil et al. 2009, to first order; recalled"
        yield (
            f"virtual wall, felt {1e3 * delay:g} ms late: stiffest stable",
            stiffest,
            limit,
            "N/m",
            source,
            1e-3 * limit,
        )


def of_runs(load: Load) -> Iterator[Row]:
    """What runs end with."""
    run = dockdyn.simulate(load(mass_on_spring_against_stop()))
    source = "code_aster V5.01.101, closed form"
    yield "mass on a spring against a stop: peak force", float(run.episode_peak_force[0]), 9950.3719, "N", source, 1e-4
    lasted = 1e3 * float(run.episode_release[0] - run.episode_onset[0])
    yield "mass on a spring against a stop: duration", lasted, 31.26002, "ms", source, 1e-5
    impulse = float(run.episode_impulse[0])
    yield "mass on a spring against a stop: impulse", impulse, 198.0198, "N s", source, 1e-4
    speeds = dockdyn.simulate(load(three_balls()))["velocity"].sel(axis="x").values[-1]
    for number, (speed, known) in enumerate(zip(speeds, (-0.071, 0.076, 0.995), strict=True), 1):
        name = f"three equal balls in a row, by Hertz: velocity of ball {number} afterwards"
        yield name, float(speed), known, "m/s", "Herrmann and Schmälzle 1981, recalled", 6e-4
    speeds = dockdyn.simulate(load(late_spring()))["velocity"].sel(body="ball", axis="x").values
    known = float(np.exp(np.pi * 0.064 / 2))
    name = "ball on a spring that acts 0.064/ω late: restitution"
    yield name, float(-speeds[-1] / speeds[0]), known, "1", "Horiuchi et al. 1999, to first order; recalled", 3e-4


def of_balls(load: Load) -> Iterator[Row]:
    """Tests 1 and 2 of Chung and Ooi, Poisson's number of aluminium as it fits what was recalled."""
    for name, force, time in (
        ("glass ball on its like", 10696.889, 40.33945),
        ("aluminium ball of ν = 0.33 on a rigid plane", 11465.712, 725.5399),
    ):
        run = dockdyn.simulate(load(elastic_impact(name)[0]))
        source, lasted = "Chung and Ooi 2011, recalled", float(run.episode_release[0] - run.episode_onset[0])
        yield f"{name}: peak force", float(run.episode_peak_force[0]), force, "N", source, 1e-6 * force
        yield f"{name}: duration", 1e6 * lasted, time, "µs", source, 1e-6 * time


def of_spinning_beam(load: Load) -> Iterator[Row]:
    """Frequencies of a beam that spins."""
    for speed, known in {3: (4.7973, 23.3203), 6: (7.3604, 26.8091), 12: (13.1702, 37.6031)}.items():
        found = np.sqrt(lowest(load, turning([SPAN], 0.0, speed * UNIT, 4), "across", 2)) / UNIT
        for which, (ours, theirs) in enumerate(zip(found, known, strict=True)):
            name = f"cantilever that spins at {speed:g} √(EI/ρA l⁴), four modes: frequency {which + 1} across"
            yield name, float(ours), theirs, "√(EI/ρA l⁴)", "Wright et al. 1982", 0.007 * theirs
    for speed, theirs in {0.35: 3.5369, 1: 3.6816, 2: 4.1373, 4: 5.5850}.items():
        ours = float(np.sqrt(lowest(load, turning([SPAN], 0.0, speed * UNIT, 4), "across", 1)[0]) / UNIT)
        name = f"cantilever that spins at {speed:g} √(EI/ρA l⁴), four modes: frequency 1 across"
        yield name, ours, theirs, "√(EI/ρA l⁴)", "Wright et al. 1982, recalled", 1e-4 * theirs


def of_hinged_beam(load: Load) -> Iterator[Row]:
    """What a spring feels that the tip of a beam meets, which turns about a hinge: a reference by 20 exact modes."""
    source, name = "VPCS SDNL32 (code_aster V5.02.032)", "hinged beam that meets a spring of {:g} kN/m at its tip: "
    for stiffness, known in (
        (18e3, {"peak force": 89.62, "until": 12.317}),
        (45e3, {"peak force": 120.82, "until": 5.240, "again at": 5.489, "second peak force": 128.12}),
    ):
        run = dockdyn.simulate(load(hinged_beam(stiffness)))
        ours = {"peak force": float(run.episode_peak_force[0]), "until": 1e3 * float(run.episode_release[0])}
        if "again at" in known:
            ours |= {
                "again at": 1e3 * float(run.episode_onset[1]),
                "second peak force": float(run.episode_peak_force[1]),
            }
        for key, theirs in known.items():
            unit = "N" if key.endswith("peak force") else "ms"
            yield name.format(stiffness / 1e3) + key, ours[key], theirs, unit, source, 0.01 * theirs


def of_stopped_beam(load: Load) -> Iterator[Row]:
    """Where the tip of a cantilever is, and how fast, that a force pushes against an elastic stop: by modes of the continuous
    beam, and by all modes of the ten elements that the reference has."""
    with TemporaryDirectory() as folder:
        yield from _stopped_tip(load(stopped_beam()), "eight modes", 0.03)
        yield from _stopped_tip(load(beam_of_elements(Path(folder) / "beam.npz")), "its ten finite elements", 0.01)


def _stopped_tip(scenario: dockdyn.Scenario, by: str, within: float) -> Iterator[Row]:
    run = dockdyn.simulate(scenario)
    place, velocity = -run["depth"].values[:, 0] - STOP, -run["depth_rate"].values[:, 0]
    source, name = "code_aster V5.02.104", f"cantilever pushed against an elastic stop, {by}: tip's "
    at, then = (int(np.argmin(np.abs(run["time"].values - instant))) for instant in (0.1315, 0.1566))
    yield name + "place at 131.5 ms", 1e6 * float(place[at]), -1.85334, "µm", source, within * 1.85334
    yield name + "velocity at 156.6 ms", 1e3 * float(velocity[then]), -4.63284, "mm/s", source, within * 4.63284


STOP = 1e-4  # m, from the tip at rest


def stopped_beam(modes: int = 8) -> dict[str, Any]:
    """A round cantilever, 1 m long and 0.1 m in radius, of E = 10 GPa and 1e6 kg/m³, that 1 kN pushes from t = 0 at its tip,
    0.1 mm from a spring of 1e8 N/m."""
    length, radius, density, modulus = 1.0, 0.1, 1e6, 10e9
    line_mass = density * np.pi * radius**2
    mass = line_mass * length
    across = mass * length**2 / 12
    bending = {
        "kind": "beam",
        "root": [-length / 2, 0.0, 0.0],
        "axis": [1.0, 0.0, 0.0],
        "across": [0.0, 1.0, 0.0],
        "length": length,
        "mass_per_length": line_mass,
        "bending_stiffness": [modulus * np.pi * radius**4 / 4] * 2,
        "bending_modes": [modes, 0],
    }
    bar = {
        "on": "wall",
        "position": [length / 2, 0.0, 0.0],
        "mass": mass,
        "inertia": [mass * radius**2 / 2, 1.0001 * across, 1.0001 * across],
        "joint": {"kind": "locked", "position": [0.0, 0.0, 0.0]},
        "flexible": bending,
        "feature": {"tip": {"position": [length / 2, 0.0, 0.0], "radius": 0.0}},
    }
    face = {"shape": "plane", "point": [length, -STOP, 0.0], "normal": [0.0, 1.0, 0.0]}
    law = {"law": "spring-dashpot", "stiffness": 1e8, "damping": 0.0}
    push = {"body": "bar", "position": [length / 2, 0.0, 0.0], "direction": [0.0, -1.0, 0.0], "force": 1000.0}
    return {
        "schema": 2,
        "duration": 0.16,
        "body": {"wall": {"fixed": True, "surface": {"face": face}}, "bar": bar},
        "contact": {"stop": {"between": ["bar.tip", "wall.face"], "normal": law}},
        "thruster": {"push": push},
        "output": {"interval": 1e-4},
    }


def beam_of_elements(file: Path, count: int = 10) -> dict[str, Any]:
    """The same with the beam as a free model of so many finite elements, in a file, with all its modes, clamped at its end."""
    found = stopped_beam()
    bar = found["body"]["bar"]
    beam = bar["flexible"]
    length, bending = beam["length"], beam["bending_stiffness"][0]
    area, density, modulus = np.pi * 0.1**2, 1e6, 10e9
    element = beam_element(
        length / count, area, bending / modulus, 2 * bending / modulus, modulus, modulus / 2.6, density
    )
    mass, stiffness = assembled(6 * (count + 1), [(6 * one + np.arange(12), *element) for one in range(count)])
    np.savez(file, mass=mass.toarray(), stiffness=stiffness.toarray())
    matrices = {"file": str(file)}
    ends = {"root": (0, -length / 2), "tip": (count, length / 2)}
    bar["flexible"] = {
        "kind": "finite-elements",
        "mass_matrix": matrices,
        "stiffness_matrix": matrices,
        "length_unit": "m",
        "mass_unit": "kg",
        "mode_count": 6 * count,
        "point": {name: {"row": 6 * node, "position": [place, 0.0, 0.0]} for name, (node, place) in ends.items()},
    }
    return found


def hinged_beam(stiffness: float) -> dict[str, Any]:
    """A square bar, 14 mm by 783 mm, that turns at 3.8 rad/s about its end and meets a spring (N/m) with the other; with as
    many modes as that needs."""
    length, side, density, modulus = 0.783, 14e-3, 2400.0, 67e9
    line_mass = density * side**2
    mass = line_mass * length
    across = mass * length**2 / 12
    bending = {
        "kind": "beam",
        "root": [-length / 2, 0.0, 0.0],
        "axis": [1.0, 0.0, 0.0],
        "across": [0.0, 1.0, 0.0],
        "length": length,
        "mass_per_length": line_mass,
        "bending_stiffness": [modulus * side**4 / 12] * 2,
    }
    bar = {
        "on": "ground",
        "position": [length / 2, 0.0, 0.0],
        "mass": mass,
        "inertia": [mass * side**2 / 6, across, across],
        "joint": {"kind": "revolute", "position": [0.0, 0.0, 0.0], "axis": [0.0, 0.0, 1.0], "start_rate": -3.8},
        "flexible": bending,
        "feature": {"tip": {"position": [length / 2, 0.0, 0.0], "radius": 0.0}},
    }
    face = {"shape": "plane", "point": [length, -NEAR, 0.0], "normal": [0.0, 1.0, 0.0]}
    law = {"law": "spring-dashpot", "stiffness": stiffness, "damping": 0.0}
    return {
        "schema": 2,
        "duration": 0.02,
        "body": {"ground": {"fixed": True, "surface": {"face": face}}, "bar": bar},
        "contact": {"hit": {"between": ["bar.tip", "ground.face"], "normal": law}},
    }


def on_line(bodies: dict[str, Any], contacts: list[list[str]], normal: dict[str, Any], **others: Any) -> dict[str, Any]:
    """Return the tables of bodies on a line, of which some touch by one law."""
    touching = {f"{one}-on-{two}": {"between": [one, two], "normal": normal} for one, two in contacts}
    return {"schema": 2, "motion": "line", "body": bodies, "contact": touching, **others}


def mass_on_spring_against_stop() -> dict[str, Any]:
    """100 kg on 10 kN/m, at 1 m/s against 1 MN/m."""
    bodies = {"mass": {"mass": 100.0, "position": -NEAR, "velocity": 1.0}, "stop": {"fixed": True}}
    spring = {"spring": {"between": ["mass", "stop"], "stiffness": 1e4}}
    law = {"law": "spring-dashpot", "stiffness": 1e6, "damping": 0.0}
    return on_line(bodies, [["mass", "stop"]], law, duration=0.04, bushing=spring)


def three_balls() -> dict[str, Any]:
    """Three equal balls in a row, two at rest that just touch, by Hertz's law."""
    bodies: dict[str, Any] = {f"ball{n}": {"mass": 1.0, "position": 0.0, "velocity": 0.0} for n in (1, 2, 3)}
    bodies["ball1"] |= {"position": -NEAR, "velocity": 1.0}
    law = {"law": "hertz", "stiffness": 1e9}
    return on_line(bodies, [["ball1", "ball2"], ["ball2", "ball3"]], law, duration=0.02)


def late_spring() -> dict[str, Any]:
    """A ball of 1 kg on a spring of 100 rad/s, whose force comes 0.064/ω late."""
    bodies = {"ball": {"mass": 1.0, "position": -NEAR, "velocity": 1.0}, "wall": {"fixed": True}}
    law = {"law": "spring-dashpot", "stiffness": 1e4, "damping": 0.0}
    return on_line(bodies, [["ball", "wall"]], law, duration=0.1, loop={"delay": 0.064 / 100})
