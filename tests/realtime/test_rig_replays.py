"""Packets of the past, sent again by whoever has heard them: a rig takes none of them for news, whatever its protocol."""

import numpy as np
import pytest
from driven_rigs import in_space, needs_compiler
from protocol_rigs import SAMPLED, Rigs

from dockdyn.hil.operation import OperationState
from dockdyn.hil.supervisor import Cause

pytestmark = needs_compiler
LIMITS = {
    "rig__limits__sensor_silence": "8 ms",
    "rig__limits__robot_silence": "4 ms",
    "loop__sensor__period": "4 ms",
    "loop__sensor__noise": "10 mN",
}


@pytest.fixture(scope="module")
def rigs():
    return Rigs(in_space(duration="30 s", **LIMITS))


class Replayed:
    """A wire to the computer on which, at random, packets of before come again, each behind those that are true."""

    def __init__(self, wire, rng, keep=lambda role: True):
        self.deliver, self.rng, self.keep = wire.bench.deliver, rng, keep
        self.heard, self.sent_again = ([], []), 0
        wire.bench.deliver = self

    def __call__(self, time):
        found = []
        for role, (packets, before) in enumerate(zip(self.deliver(time), self.heard, strict=True)):
            again = [before[n] for n in self.rng.integers(0, len(before), self.rng.integers(0, 4))] if before else []
            before.extend(packets)
            self.sent_again += len(again)
            found.append([*(packets if self.keep(role) else []), *again])
        return found


def run(rigs, protocol, cycles, replayed=None):
    computer, wire = rigs.begun(protocol)
    replays = replayed(wire) if replayed else None
    return np.array([wire.cycle(computer) for _ in range(cycles)]), replays


@pytest.mark.full
@pytest.mark.parametrize("protocol", SAMPLED)
def test_packets_of_the_past_change_nothing(rigs, protocol):
    """To the last bit."""
    sound, _ = run(rigs, protocol, 200)
    found, replays = run(rigs, protocol, 200, lambda wire: Replayed(wire, np.random.default_rng(3)))
    assert replays.sent_again > 200
    for name in ("command", "load", "position", "state"):
        np.testing.assert_array_equal(found[name], sound[name])


@pytest.mark.full_cases("plain-sensor")
@pytest.mark.parametrize("role", [0, 1], ids=["sensor", "robot"])
@pytest.mark.parametrize("protocol", SAMPLED)
def test_packets_of_the_past_do_not_stand_for_a_device_that_is_silent(rigs, protocol, role):
    """It is found silent in the same cycle as without them."""
    cycles = iter(range(10_000))
    begins = 100

    def replayed(wire):
        return Replayed(wire, np.random.default_rng(4), lambda which: which != role or next(cycles) < begins)

    found, replays = run(rigs, protocol, begins + 10, replayed)
    assert replays.sent_again > 100
    tripped = int(np.argmax(found["state"] != OperationState.RUNNING))
    silence, cause = ((2, Cause.SENSOR_STALE), (1, Cause.ROBOT_STALE))[role]
    assert (tripped - begins, Cause(int(found["cause"][tripped]))) == (silence, cause)
