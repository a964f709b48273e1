"""Flexible links that spin, beside finite elements and print: frequencies with hub, payload and a second beam behind."""

import numpy as np
import pytest
from flexible_cases import cantilever, integral, restoring
from places import DOCS
from plain_tables import by_name
from rotating_beam import NO_PAYLOAD, Payload, Span, squared_frequencies

WIDE = 1e12  # kg and kg m² of a hub that a beam does not move
PLANES = {"across": 1, "inside": 0}  # the direction of bending, of a beam that turns about z


def beam(span, modes):
    """A beam along x that bends along y, then along z."""
    return {
        "kind": "beam",
        "root": [-span.length / 2, 0, 0],
        "axis": [1, 0, 0],
        "across": [0, 1, 0],
        "length": span.length,
        "mass_per_length": span.line_mass,
        "bending_stiffness": [span.stiffness] * 2,
        "bending_modes": [modes, modes],
    }


def turning(spans, hub, rate, modes, payload=NO_PAYLOAD):
    """Spans one behind the other on a wide hub of a radius (m) that turns about z at a `rate` (rad/s)."""
    bodies, carrier, end = [{"name": "hub", "mass": WIDE, "inertia": [WIDE] * 3, "rate": [0, 0, rate]}], "hub", hub
    for n, span in enumerate(spans):
        mass, name = span.line_mass * span.length, f"span{n}"
        across = mass * span.length**2 / 12
        held = {"position": [end + span.length / 2, 0, 0], "joint": {"kind": "locked", "position": [end, 0, 0]}}
        own = {
            "name": name,
            "on": carrier,
            "mass": mass,
            "inertia": [1e-6, across, across],
            "flexible": beam(span, modes),
        }
        bodies.append(own | held)
        carrier, end = name, span.length / 2
    if payload.mass:
        held = {"position": [end + payload.beyond, 0, 0], "joint": {"kind": "locked", "position": [end, 0, 0]}}
        own = {"name": "payload", "on": carrier, "mass": payload.mass, "inertia": [payload.inertia] * 3}
        bodies.append(own | held)
    return {"schema": 2, "duration": 1.0, "body": by_name(bodies)}


def lowest(load, case, plane, count):
    """The lowest squares of frequencies of bending in a plane."""
    content = load(case).content
    matrix = -np.asarray(restoring(content)[0])
    each = [body.flexible.bending_modes[0] for body in content.body if body.flexible is not None]
    kept = np.concatenate([np.repeat(np.array([0, 1]), modes) for modes in each]) == PLANES[plane]
    np.testing.assert_allclose(matrix[np.ix_(kept, ~kept)], 0, rtol=0, atol=1e-6 * np.abs(matrix).max())
    return np.sort(np.linalg.eigvals(matrix[np.ix_(kept, kept)]).real)[:count]


SPAN, SECOND = Span(4.0, 3.0, 900.0), Span(3.0, 2.0, 400.0)
UNIT = np.sqrt(SPAN.stiffness / SPAN.line_mass) / SPAN.length**2  # rad/s

# Wright, Smith, Thresher and Wang, Journal of Applied Mechanics 49 (1982): frequencies across, uniform beam without hub
PUBLISHED = {3: (4.7973, 23.3203), 6: (7.3604, 26.8091), 12: (13.1702, 37.6031)}


@pytest.mark.full
@pytest.mark.parametrize(
    "speed", [3, pytest.param(6, marks=pytest.mark.full), pytest.param(12, marks=pytest.mark.full)]
)
@pytest.mark.parametrize("plane", PLANES)
def test_spin_stiffens_a_beam_as_in_print(load, speed, plane):
    """Four modes give the first two frequencies within a few thousandths; in the plane of the spin ω² is less by Ω²."""
    exact = np.square(PUBLISHED[speed]) - (speed**2 if plane == "inside" else 0.0)
    np.testing.assert_allclose(squared_frequencies([SPAN], 0.0, speed * UNIT, plane)[:2] / UNIT**2, exact, rtol=1e-4)
    found = lowest(load, turning([SPAN], 0.0, speed * UNIT, 4), plane, 2) / UNIT**2
    np.testing.assert_allclose(np.sqrt(found), np.sqrt(exact), rtol=0.007)
    assert (found > exact - 1e-3).all()  # as of every assumed shape


def test_slow_spin_adds_southwells_share(load):
    """1.193 of the square of the spin across its plane, 0.193 in it, with the shape of the first mode alone."""
    for plane, share in (("across", 1.1933), ("inside", 0.1933)):
        found = [lowest(load, turning([SPAN], 0.0, rate * UNIT, 1), plane, 1)[0] for rate in (0.0, 0.1)]
        assert (found[1] - found[0]) / (0.1 * UNIT) ** 2 == pytest.approx(share, abs=1e-4)


CASES = {
    "a hub": ([SPAN], 2.0, NO_PAYLOAD),
    "a mass at the end": ([SPAN], 0.0, Payload(6.0, 1e-3, 0.0)),
    "a payload": ([SPAN], 1.0, Payload(4.0, 2.0, 0.7)),
    "a beam behind a beam": ([SPAN, SECOND], 0.5, Payload(2.0, 0.5, 0.4)),
}


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("plane", PLANES)
def test_what_a_beam_carries_stiffens_it(load, name, plane):
    """Beside finite elements: the same assumed shapes, and all elements for what spin adds to the lowest frequency."""
    spans, hub, payload = CASES[name]
    rates = np.array([0.0, 4.0]) * UNIT
    found = [lowest(load, turning(spans, hub, rate, 4, payload), plane, 4) for rate in rates]
    assumed, exact = (
        [squared_frequencies(spans, hub, rate, plane, payload, modes)[:4] for rate in rates] for modes in (4, None)
    )
    np.testing.assert_allclose(found, assumed, rtol=2e-5)
    assert found[1][0] - found[0][0] == pytest.approx(exact[1][0] - exact[0][0], rel=0.01)


def first_mode():
    """Of a beam of length and mass 1: modal mass, momentum, momentum about the root, tension's work on a hub of no size and per
    radius of the hub, with the first shape, one at the tip."""
    (shape, slope, _), *_ = cantilever(1)
    parts = [integral(lambda s, k=k: shape(s) ** k[0] * s ** k[1]) for k in ((2, 0), (1, 0), (1, 1))]
    return *parts, *(integral(lambda s, w=w: slope(s) ** 2 * w(s)) for w in (lambda s: (1 - s**2) / 2, lambda s: 1 - s))


def by_table(rate):
    """The beam on a wide hub by a table of its first mode in both directions."""
    case = turning([SPAN], 0.0, rate, 1)
    modal, linear, angular, *_ = first_mode()
    mass, across = SPAN.line_mass * SPAN.length, np.eye(3)[1:]
    modes = {
        name: {
            "frequency": cantilever(1)[0][2] ** 2 * UNIT / (2 * np.pi),
            "modal_mass": mass * modal,
            "translation": mass * linear * way,
            "rotation": mass * SPAN.length * angular * np.cross([1, 0, 0], way),
        }
        for name, way in zip(("across", "aside"), across, strict=True)
    }
    root = case["body"]["span0"]["flexible"]["root"]
    case["body"]["span0"]["flexible"] = {"kind": "modes", "root": root, "mode": modes}
    return case


@pytest.mark.full
def test_the_pages_say_what_a_table_of_modes_feels(load):
    """What spin adds to ω², in squares of the spin: by a table what mean axes keep, truly what Southwell says."""
    modal, linear, angular, tension, hub = first_mode()
    inside, across = -(linear**2) / modal, 12 * (angular - linear / 2) ** 2 / modal
    rate = 0.1 * UNIT
    squares = [np.diag(-np.asarray(restoring(load(by_table(one)).content)[0])) for one in (0.0, rate)]
    np.testing.assert_allclose((squares[1] - squares[0]) / rate**2, [inside, across], rtol=0, atol=1e-4)
    page = (DOCS / "theory-contact.md").read_text(encoding="utf-8").replace("−", "-")
    for number in (inside, across, tension / modal, tension / modal - 1, hub / modal):
        assert f"{number:.2f}" in page, number
