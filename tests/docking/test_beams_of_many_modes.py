"""Beams with many modes beside the motion of those modes in closed form, and how long their programs are."""

import jax
import numpy as np
import pytest
from flexible_cases import cantilever
from published_cases import STOP, stopped_beam

import dockdyn
from dockdyn.results import unit
from dockdyn.results.methods import settings_of
from dockdyn.translate.jaxpr import translate_function
from dockdyn.translate.llvm import text_of
from dockdyn.translate.native import MOST_LINES
from dockdyn.trees import flatten, unflatten

FORCE, SPRING = -1000.0, 1e8  # N and N/m of `stopped_beam`
MASS, STIFFNESS = 1e6 * np.pi * 0.1**2, 10e9 * np.pi * 0.1**4 / 4  # kg and N m² of its beam, 1 m long


class Phase:
    """Modes between two changes of contact: q̈ + K q = load, in the modes of K."""

    def __init__(self, stiffness, load):
        squares, self.modes = np.linalg.eigh(stiffness)
        self.rates, self.rest = np.sqrt(squares), np.linalg.solve(stiffness, load)

    def after(self, time, q, v):
        """Coordinates and velocities a time later."""
        z, y = self.modes.T @ (q - self.rest), self.modes.T @ v
        c, s = np.cos(self.rates * time), np.sin(self.rates * time)
        return self.rest + self.modes @ (c * z + s / self.rates * y), self.modes @ (c * y - s * self.rates * z)


def exact_places(modes, times):
    """The tip's place (m) at times, by modes of the cantilever of which each is exact between changes of contact."""
    roots = np.array([root for _, _, root in cantilever(modes)])
    squares = roots**4 * STIFFNESS / MASS
    tip = 2 / np.sqrt(MASS) * np.ones(modes)  # of shapes that move the tip forwards, of modal mass 1
    free = Phase(np.diag(squares), FORCE * tip)
    held = Phase(np.diag(squares) + SPRING * np.outer(tip, tip), (FORCE - SPRING * STOP) * tip)
    q, v, touching, found = np.zeros(modes), np.zeros(modes), False, []
    piece = (times[1] - times[0]) / 50  # s, shorter than any touch
    for _ in times:
        found.append(tip @ q)
        for _ in range(50):
            phase, other = (held, free) if touching else (free, held)

            def stays(time, phase=phase, q=q, v=v, touching=touching):
                return (tip @ phase.after(time, q, v)[0] < -STOP) == touching

            if stays(piece):
                q, v = phase.after(piece, q, v)
                continue
            low, high = 0.0, piece
            while high - low > 1e-12 * piece:
                low, high = (low, (low + high) / 2) if not stays((low + high) / 2) else ((low + high) / 2, high)
            q, v = other.after(piece - high, *phase.after(high, q, v))
            touching = not touching
    return np.array(found)


@pytest.mark.parametrize("modes", [1, 9, *(pytest.param(n, marks=pytest.mark.full) for n in (4, 8, 14, 16))])
def test_a_stopped_cantilever_moves_as_its_modes_do(load, modes):
    """Against bars of any number of modes, also more than are written out number by number."""
    run = dockdyn.simulate(load(stopped_beam(modes)))
    times, places = run["time"].values, -run["depth"].values[:, 0] - STOP
    expected = exact_places(modes, times)
    assert (expected < -STOP).any() and (expected[len(times) // 2 :] > -STOP).any()  # it touches and leaves
    np.testing.assert_allclose(places, expected, rtol=0, atol=1e-7 * np.abs(expected).max())


def lines_of(function, given):
    """How many lines the program of a function of trees has."""
    leaves, structure = flatten(given)
    traced = jax.jit(lambda *leaves: function(*unflatten(structure, leaves))).trace(*map(np.asarray, leaves))
    return text_of(translate_function(traced.jaxpr)).count("\n")


def wide_beam(modes):
    """The same beam with so many modes along each direction."""
    case = stopped_beam(modes)
    case["body"]["bar"]["flexible"]["bending_modes"] = [modes, modes]
    return case


def test_a_program_grows_less_than_the_modes_of_its_beam(load):
    """From where matrices of modes are no longer written out."""
    few, many = (load(stopped_beam(modes)).content for modes in (9, 16))
    counts = [lines_of(unit.begin.function, (content, settings_of(content))) for content in (few, many)]
    assert counts[1] < 16 / 9 * counts[0] < MOST_LINES / 2


@pytest.mark.full
def test_programs_of_most_modes_are_written_better(load):
    """Both directions with as many as there may be."""
    content = load(wide_beam(16)).content
    settings = settings_of(content)
    begun = unit.begin(content, settings)
    assert lines_of(unit.advance.function, (content, settings, np.int64(2**62), begun)) < MOST_LINES
