"""Latches: caught at the right instant, held as a damped oscillator with play, energy and momenta accounted for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from element_system import Run, body, numbers, pose, system
from scipy.spatial.transform import Rotation

from dockdyn.contact.latch import HELD, OUT, Reach
from dockdyn.elements import Compliant, ElementGroup, Latch, Rigid
from dockdyn.mechanics.rigid_body import Placed, Twist
from dockdyn.mechanics.vector import Vector

REACH, CLOSING, GAP = 0.05, 0.12, 0.3  # m, m/s, m
RING, STATION = body(40.0, (3.0, 4.0, 5.0)), body(120.0, (30.0, 40.0, 50.0))
REDUCED = 40.0 * 120.0 / 160.0  # kg


def latch(
    play=0.0, damping=0.0, stiffness=3e3, lateral=0.02, striker=(-0.7, 0.0, 0.0), seat=(0.5, 0.0, 0.0), speed=None
):
    speed = None if speed is None else jnp.asarray(speed)
    grip = Compliant(**numbers(stiffness=stiffness, damping=damping, play=play), speed=speed)
    return at_seat(grip, lateral, striker, seat)


def pin(lateral):
    return at_seat(Rigid("pin"), lateral, (-0.7, 0, 0), (0.5, 0, 0))


def at_seat(grip, lateral, striker, seat):
    places = (jnp.asarray(place, float) for place in (striker, seat, (1, 0, 0)))
    return Latch(*places, jnp.asarray(lateral), Reach(jnp.asarray(REACH)), grip)


def along_a_line(one, duration=4.0, samples=801):
    """The striker comes along the seat's axis, through both centres of mass; nothing turns."""
    poses = pose([0.5 + GAP + 0.7, 0, 0]), pose([0, 0, 0])
    twists = Twist.of([0.02 - CLOSING, 0, 0]), Twist.of([0.02, 0, 0])
    return Run(system((RING, STATION), poses, twists, (one, 0, 1)), duration, samples=samples)


def event_times(run):
    return np.asarray(run.solution.log.time[: run.events])


def oscillator(play, damping, stiffness, until):
    """Way of the striker (m) as a function of time (s) since it was caught, and the instants at which the play ends.

    Uniform across the play; beyond it the free motion of a damped oscillator from zero, half a period long.
    """
    omega = np.sqrt(stiffness / REDUCED)
    zeta = damping / (2 * REDUCED * omega)
    damped = omega * np.sqrt(1 - zeta**2)
    pieces, events, time, side, speed, way = [], [], 0.0, -1.0, CLOSING, 0.0
    while time < until:
        free = (play - way) / speed
        pieces.append((time, lambda t, a=way, v=speed, s=side: s * (a + v * t)))
        time += free
        events.append(time)
        pieces.append(
            (time, lambda t, v=speed, s=side: s * (play + v / damped * np.exp(-zeta * omega * t) * np.sin(damped * t)))
        )
        time += np.pi / damped
        events.append(time)
        speed *= np.exp(-zeta * omega * np.pi / damped)
        side, way = -side, -play

    def at(times):
        starts = np.array([start for start, _ in pieces])
        which = np.searchsorted(starts, times, side="right") - 1
        return np.array([pieces[i][1](t - starts[i]) for i, t in zip(which, times, strict=True)])

    return at, np.array(events)


@pytest.mark.full_cases("0.002-0.0", "0.002-60.0")
@pytest.mark.parametrize(("play", "damping"), [(0.002, 0.0), (0.002, 60.0), (0.01, 150.0)])
def test_a_caught_striker_is_a_damped_oscillator_with_play(play, damping):
    """Caught where uniform motion says, then bouncing between the ends of the play, each instant an event."""
    run = along_a_line(latch(play, damping))
    caught = (GAP - REACH) / CLOSING
    way, ends = oscillator(play, damping, 3e3, 4.0 - caught)
    expected = np.concatenate([[caught], caught + ends[ends < 4.0 - caught]])
    np.testing.assert_allclose(event_times(run), expected, rtol=0, atol=1e-9)
    x = run.solution.samples.state
    striker = np.asarray(x.q[0].position.x - x.q[1].position.x) - 1.2
    late = run.times > caught
    np.testing.assert_allclose(striker[late], REACH + way(run.times[late] - caught), rtol=0, atol=1e-9)
    np.testing.assert_allclose(striker[~late], GAP - CLOSING * run.times[~late], rtol=0, atol=1e-12)


def test_without_play_it_is_a_damped_oscillator_at_once():
    run = along_a_line(latch(0.0, 60.0))
    omega = np.sqrt(3e3 / REDUCED)
    zeta = 60.0 / (2 * REDUCED * omega)
    damped = omega * np.sqrt(1 - zeta**2)
    caught = (GAP - REACH) / CLOSING
    assert run.events == 1
    late = run.times > caught
    time = run.times[late] - caught
    x = run.solution.samples.state
    striker = np.asarray(x.q[0].position.x - x.q[1].position.x)[late] - 1.2
    expected = REACH - CLOSING / damped * np.exp(-zeta * omega * time) * np.sin(damped * time)
    np.testing.assert_allclose(striker, expected, rtol=0, atol=1e-9)


def swing(way, rate, damping, times):
    """Way and rate after `times` of a damped oscillator that begins so."""
    omega = np.sqrt(3e3 / REDUCED)
    zeta = damping / (2 * REDUCED * omega)
    damped = omega * np.sqrt(1 - zeta**2)
    a, b, fall = way, (rate + zeta * omega * way) / damped, np.exp(-zeta * omega * times)
    c, s = np.cos(damped * times), np.sin(damped * times)
    return fall * (a * c + b * s), fall * ((b * damped - zeta * omega * a) * c - (a * damped + zeta * omega * b) * s)


@pytest.mark.full
def test_a_striker_is_drawn_to_the_depth_of_the_seat():
    """In the frame of the place that moves with the motor an oscillator; the motor's start and end are jumps of its rate."""
    speed, damping = 0.04, 60.0
    run = along_a_line(latch(0.0, damping, speed=speed))
    caught, drawing = (GAP - REACH) / CLOSING, REACH / speed
    np.testing.assert_allclose(event_times(run), [caught, caught + drawing], rtol=0, atol=1e-9)
    x = run.solution.samples.state
    striker = np.asarray(x.q[0].position.x - x.q[1].position.x) - 1.2
    during = (run.times > caught) & (run.times < caught + drawing)
    time = run.times[during] - caught
    way, _ = swing(0.0, speed - CLOSING, damping, time)
    np.testing.assert_allclose(striker[during], REACH - speed * time + way, rtol=0, atol=1e-9)
    end = swing(0.0, speed - CLOSING, damping, drawing)
    after = run.times > caught + drawing
    way, _ = swing(end[0], end[1] - speed, damping, run.times[after] - caught - drawing)
    np.testing.assert_allclose(striker[after], way, rtol=0, atol=1e-9)
    assert run.energy_error() < 1e-9


def test_a_motor_that_draws_nothing_changes_nothing():
    still, drawn = (along_a_line(latch(0.002, 60.0, speed=speed)) for speed in (None, 0.0))
    np.testing.assert_array_equal(event_times(still), event_times(drawn))
    for one, other in zip(
        jax.tree.leaves(still.solution.state.q), jax.tree.leaves(drawn.solution.state.q), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.full
def test_it_is_caught_when_both_limits_hold():
    """From aside: within reach long before, caught as it comes near the axis; and not at all where it passes by."""
    speed, aside = np.array([0.0, -0.2, 0.05]), np.array([0.0, 0.3, -0.065])
    poses = pose(np.array([0.5 + 0.7 + 0.01, 0, 0]) + aside), pose([0, 0, 0])

    def passing(lateral):
        twists = Twist.of(speed), Twist.of([0.0, 0.0, 0.0])
        return Run(system((RING, STATION), poses, twists, (latch(lateral=lateral, play=0.001), 0, 1)), 1.6)

    # |aside + speed t| = lateral
    a, b, c = speed @ speed, 2 * aside @ speed, aside @ aside - 0.02**2
    first = (-b - np.sqrt(b * b - 4 * a * c)) / (2 * a)
    assert event_times(passing(0.02))[0] == pytest.approx(first, abs=1e-11)
    nearest = np.sqrt(aside @ aside - (aside @ speed) ** 2 / a)
    assert passing(0.9 * nearest).events == 0
    assert passing(1.1 * nearest).events > 0


@pytest.mark.full
@pytest.mark.parametrize("kind", [latch, pin])
def test_how_deep_a_striker_is_does_not_count(kind):
    """Strikers at random before, in and behind the seat of bodies turned at random: `reach` bounds them outwards alone."""
    draw = np.random.default_rng(30)
    for _ in range(25):
        along, across, angle = REACH * draw.uniform(-40, 5), draw.uniform(0, 0.04), draw.uniform(0, 6)
        place = np.array([0.5 + along, across * np.cos(angle), across * np.sin(angle)])  # m, axes of the station
        turns = Rotation.random(2, rng=draw)
        here = turns[1].apply(place) - turns[0].apply([-0.7, 0, 0])
        own, other = (
            Placed.of(pose(at, turn.as_rotvec()), Twist.of([0.0, 0, 0]))
            for at, turn in zip((here, [0.0, 0, 0]), turns, strict=True)
        )
        one = kind(lateral=0.02)
        _, memory = one.settle(one.init(own, other), own, other)
        assert float(memory.held) == (along < REACH and across < 0.02), (along, across)


@pytest.fixture(scope="module", params=[None, 0.02], ids=["hold", "draw in"])
def tumbling(request):
    """Three latches with play and damper, caught one after another, on bodies that turn."""
    strikers = [(-0.7, 0.3 * np.cos(a), 0.3 * np.sin(a)) for a in 2 * np.pi * np.arange(3) / 3]
    seats = [(0.5, y, z) for _, y, z in strikers]
    group = ElementGroup.of(
        [
            latch(0.002, 40.0, 2e3, 0.1, striker, seat, request.param)
            for striker, seat in zip(strikers, seats, strict=True)
        ]
    )
    poses = pose([1.45, 0.01, -0.01], [0.05, 0.03, -0.02]), pose([0, 0, 0], [0.1, 0.0, 0.0])
    twists = Twist.of([-0.12, 0.002, 0.0], [0.01, 0.01, -0.01]), Twist.of([0.01, 0, 0], [0.01, 0.002, -0.002])
    return Run(system((RING, STATION), poses, twists, (group, 0, 1)), 8.0, moments=2000)


@pytest.mark.full
def test_energy_and_momenta_are_accounted_for(tumbling):
    assert tumbling.energy_error() < 1e-9
    assert max(tumbling.momentum_errors()) < 1e-12
    assert np.diff(tumbling.balance["lost"]).min() >= -1e-12
    assert tumbling.balance["lost"][-1] > 0.1 * tumbling.balance["moving"][0]


@pytest.mark.full_cases("hold")
def test_each_is_caught_once_and_held_for_good(tumbling):
    held = np.asarray(tumbling.after_events().memory[0].held)
    mode = tumbling.after_events().mode[0]
    assert (np.diff(held, axis=0) >= 0).all() and held[-1].all() and not held[0].all()
    assert set(np.unique(mode.stage)) == {OUT, HELD} and set(np.unique(mode.taut[held == 1])) == {0, 1}
    np.testing.assert_array_equal(mode.stage == OUT, held == 0)
    caught = np.stack(jax.tree.leaves(tumbling.after_events().memory[0].caught), axis=-1)
    for i in range(3):
        places = caught[held[:, i] == 1, i]
        np.testing.assert_array_equal(places, places[:1].repeat(len(places), axis=0))
        # within the space of its seat, on its edge
        assert places[0, 0] <= 0.5 + REACH + 1e-9


def test_to_settle_keeps_what_is_held():
    """As when a phase begins: a latch that holds goes on from where it caught; an open one catches what is there."""
    one = latch(play=0.01, damping=5.0)
    near = Placed.of(pose([1.22, 0, 0]), Twist.of([0, 0, 0])), Placed.of(pose([0, 0, 0]), Twist.of([0, 0, 0]))
    far = Placed.of(pose([2.0, 0, 0]), Twist.of([0, 0, 0])), near[1]
    mode, memory = one.settle(one.init(*near), *near)
    assert (int(mode.stage), int(mode.taut), float(memory.held)) == (HELD, 0, 1.0)
    assert memory.caught.array().tolist() == pytest.approx([0.52, 0.0, 0.0])
    mode, kept = one.settle(memory._replace(dissipated=jnp.asarray(3.0)), *far)
    assert int(mode.taut) == 1 and float(kept.dissipated) == 3.0
    assert kept.caught.array().tolist() == memory.caught.array().tolist()
    mode, still = one.settle(one.init(*far), *far)
    assert (int(mode.stage), float(still.held)) == (OUT, 0.0)
    # a striker that was caught elsewhere stays caught there, though it is in the seat's space again
    elsewhere = memory._replace(caught=Vector.of(jnp.array([0.53, 0.0, 0.0])))
    _, after = one.settle(elsewhere, *near)
    assert after.caught.array().tolist() == pytest.approx([0.53, 0.0, 0.0])
