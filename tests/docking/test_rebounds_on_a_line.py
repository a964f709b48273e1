"""Chains of masses on a line that meet again and again: forces and impacts as SciPy has them, event by event.

Equations are Newton's, coordinates the displacements from where the fronts meet; nothing of dockdyn is used.
"""

import numpy as np
import pytest
from on_a_line import chains, colliding, fronts
from scipy.integrate import solve_ivp

import dockdyn

SPEED, DURATION, GAP = 0.1, 1.5, 2e-3  # m/s, s, m
EXACT = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-15}
REST, SLOW = 1e-6, 1e-3  # m/s: of rebounds; impacts that are compared one by one are faster


class Chains:
    """Two chains of one or two masses, drawn at random."""

    def __init__(self, seed):
        draw = np.random.default_rng([91, seed])
        sizes = [[float(10 ** draw.uniform(0, 1.3)) for _ in range(draw.integers(1, 3))] for _ in range(2)]
        if seed % 4 == 0:
            sizes[0] = [30.0, 2.0]  # a light front before a heavy mass meets what it has met again
        self.inside = tuple(
            {"stiffness": float(10 ** draw.uniform(1.5, 3)), "damping": float(draw.uniform(0, 6))} for _ in range(2)
        )
        self.sizes, self.draw = sizes, draw
        self.masses = np.array([*sizes[0], *sizes[1]])  # in their order on the line, the fronts in the middle
        self.front = len(sizes[0]) - 1
        self.coming = np.arange(len(self.masses)) <= self.front
        last = len(self.masses) - 1
        self.springs = ([(0, 1, self.inside[0])] if self.front else []) + (
            [(last - 1, last, self.inside[1])] if len(sizes[1]) == 2 else []
        )

    def tables(self, made, **more):
        return made(*self.sizes, speed=SPEED, gap=GAP, inside=self.inside, duration=DURATION, **more)

    def start(self):
        return np.concatenate([np.where(self.coming, -GAP, 0.0), np.where(self.coming, SPEED, 0.0)])

    def between(self, y):
        """By how much the fronts overlap (m), and the rate of it."""
        count = len(self.masses)
        return y[self.front] - y[self.front + 1], y[count + self.front] - y[count + self.front + 1]

    def flow(self, y, push=0.0):
        """Rates of places and speeds; `push` (N) parts the fronts."""
        count = len(self.masses)
        force = np.zeros(count)
        for one, other, law in self.springs:
            pull = law["stiffness"] * (y[other] - y[one]) + law["damping"] * (y[count + other] - y[count + one])
            force[one] += pull
            force[other] -= pull
        force[self.front] -= push
        force[self.front + 1] += push
        return np.concatenate([y[count:], force / self.masses])

    def reduced(self):
        one, other = self.masses[self.front : self.front + 2]
        return one * other / (one + other)

    def pressing(self, y):
        """The force (N) that keeps the fronts at one velocity."""
        return (
            self.reduced() * self.between(np.concatenate([np.zeros(len(self.masses)), self.flow(y)[len(y) // 2 :]]))[1]
        )


def event(function, direction):
    function.terminal, function.direction = True, direction
    return function


def rebounds(case, restitution):
    """Impacts (time, speed, impulse) and the state at the end."""
    y, t, impacts, count = case.start(), 0.0, [], len(case.masses)
    meets = event(lambda t, y: case.between(y)[0], 1)
    lets_go = event(lambda t, y: case.pressing(y), -1)
    while True:
        # past the instant of contact, where the event function is zero
        begun = solve_ivp(lambda t, y: case.flow(y), (t, t + 1e-8), y, **EXACT)
        run = solve_ivp(lambda t, y: case.flow(y), (t + 1e-8, DURATION), begun.y[:, -1], events=meets, **EXACT)
        t, y = run.t[-1], run.y[:, -1]
        if run.status == 0:
            return np.array(impacts), y
        speed = case.between(y)[1]
        impulse = case.reduced() * speed * (1 + restitution * (restitution * speed >= REST))
        y = y.copy()
        y[count + case.front] -= impulse / case.masses[case.front]
        y[count + case.front + 1] += impulse / case.masses[case.front + 1]
        impacts.append((t, speed, impulse))
        if restitution * speed < REST and case.pressing(y) > 0:
            run = solve_ivp(lambda t, y: case.flow(y, case.pressing(y)), (t, DURATION), y, events=lets_go, **EXACT)
            t, y = run.t[-1], run.y[:, -1]
            if run.status == 0:
                return np.array(impacts), y


def ends(run):
    """Places at the end, from where they were, and speeds."""
    place = run.position.values[:, :, 0]
    return np.concatenate([place[-1] - place[0], run.velocity.values[-1, :, 0]])


def moved(case, y):
    return y - np.concatenate([case.start()[: len(case.masses)], np.zeros(len(case.masses))])


@pytest.mark.full
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 24))])
def test_impacts_come_again_when_scipy_says(seed):
    """Bounces that die away, rest, and what follows once springs pull the fronts apart."""
    case = Chains(seed)
    restitution = float(case.draw.uniform(0.2, 0.8))
    tables = case.tables(chains)
    law = {"law": "frictionless", "restitution": restitution, "rest_speed": REST}
    tables["contact"] = {"fronts": {"between": fronts(tables), "impact": law}}
    run = dockdyn.simulate(dockdyn.load(tables | {"integrator": {"tolerance": 1e-11}}))
    impacts, y = rebounds(case, restitution)
    assert run.attrs["finished"] and len(impacts) > 0
    clear = impacts[impacts[:, 1] > SLOW]
    found = np.stack([run[f"episode_{name}"] for name in ("onset", "approach_speed", "impulse")], axis=1)
    np.testing.assert_allclose(found[found[:, 1] > SLOW], clear, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ends(run), moved(case, y), rtol=0, atol=20 * REST)
    summary = dockdyn.summarise(run)
    assert summary["linear_momentum_error"] < 1e-12 and summary["work_energy_error"] < 1e-8


def test_rebounds_are_worth_it():
    """Of the cases there are some of one impact, of several, and of rest."""
    counts = [len(rebounds(case, float(case.draw.uniform(0.2, 0.8)))[0]) for case in map(Chains, range(12))]
    assert min(counts) == 1 and sorted(counts)[6] > 1 and max(counts) > 8


LAWS = ("spring-dashpot", "adhesive", "hunt-crossley", "hertz")


def law_of(kind, draw):
    """A table of the law, and its force at a depth and rate."""
    stiffness, damping = float(10 ** draw.uniform(3, 4.3)), float(draw.uniform(5, 60))
    if kind in ("spring-dashpot", "adhesive"):
        table = {"law": "spring-dashpot", "stiffness": stiffness, "damping": damping, "adhesion": kind == "adhesive"}
        return table, lambda d, r: stiffness * d + damping * r
    if kind == "hertz":
        return {"law": "hertz", "stiffness": 30 * stiffness, "exponent": 1.5}, lambda d, r: 30 * stiffness * d**1.5
    slows = damping / 10  # s/m
    table = {"law": "hunt-crossley", "stiffness": 30 * stiffness, "exponent": 1.5, "damping": slows}
    return table, lambda d, r: 30 * stiffness * d**1.5 * (1 + slows * r)


def pressed(case, kind, force):
    """Onsets and releases of the contact, and the state at the end."""

    def apart(t, y):
        return case.flow(y)

    def touching(t, y):
        depth, rate = case.between(y)
        raw = force(max(depth, 0.0), rate)
        return case.flow(y, raw if kind == "adhesive" else max(raw, 0.0))

    y, t, onsets, releases = case.start(), 0.0, [], []
    while True:
        for flow, direction, times in ((apart, 1, onsets), (touching, -1, releases)):
            crossing = event(lambda t, y: case.between(y)[0], direction)
            begun = solve_ivp(flow, (t, t + 1e-9), y, **EXACT)
            run = solve_ivp(flow, (t + 1e-9, DURATION), begun.y[:, -1], events=crossing, max_step=5e-4, **EXACT)
            t, y = run.t[-1], run.y[:, -1]
            if run.status == 0:
                return onsets, releases, y
            times.append(t)


@pytest.mark.full
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.full] * (seed not in (0, 1))) for seed in range(16)]
)
def test_forces_come_and_go_when_scipy_says(seed):
    """Contacts that press by a force law, with several onsets."""
    case = Chains(100 + seed)
    kind = LAWS[seed % len(LAWS)]
    table, force = law_of(kind, case.draw)
    tables = case.tables(lambda *sizes, **more: colliding(*sizes, table, **more))
    run = dockdyn.simulate(dockdyn.load(tables | {"integrator": {"tolerance": 1e-11}}))
    onsets, releases, y = pressed(case, kind, force)
    assert len(onsets) > 0
    np.testing.assert_allclose(run.episode_onset, onsets, rtol=0, atol=1e-8)
    np.testing.assert_allclose(run.episode_release[: len(releases)], releases, rtol=0, atol=1e-7)
    np.testing.assert_allclose(ends(run), moved(case, y), rtol=0, atol=1e-8)
