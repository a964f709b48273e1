"""The C codecs answer with the numbers of the Python codecs, to whole and to mutated packets, and touch no other memory."""

import os
import random

import pytest
from c_codecs import GCC, CCodecs, attempt, mutated, nothing, packed, values_of
from codec_cases import CASES, chances

PACKETS = int(os.environ.get("DOCKDYN_FUZZ_PACKETS", "3000000"))  # to all codecs together, in `make verify`
AT_ONCE = 10_000
SEED = int(os.environ.get("DOCKDYN_FUZZ_SEED", "26")) * 1000
pytestmark = pytest.mark.skipif(GCC is None, reason="no C compiler here")


@pytest.fixture(scope="module")
def in_c(tmp_path_factory):
    return CCodecs(tmp_path_factory.mktemp("codecs"), tuple(case.c for case in CASES.values()))


def steps_of(case, total, seed):
    """What is done to a codec: mutated packets, now and then a connection that begins anew, commands between."""
    chance, things = random.Random(seed), chances(seed)
    streams = [mutated(packets, seed + i) for i, packets in enumerate(case.packets)]
    for _ in range(total):
        if chance.random() < 0.6:
            yield 99, None
        which = chance.randrange(len(streams))
        yield which, next(streams[which])
        if chance.random() < 0.3:
            yield 10 + chance.randrange(len(case.encode)), next(things)


def in_python(case, codec, step, given):
    """What the Python codec answers, as the C program tells it."""
    if step == 99:
        case.forget(codec)
        return None
    if step >= 10:
        error, written = attempt(case.encode[step - 10], codec, *given)
        return b"" if error else written
    error, told = attempt(case.decode[step], codec, given)
    return (error, nothing() if error else values_of(*told[0], number=told[1]))


def compare(name, in_c, total, seed):
    case = CASES[name]
    codec = case.make()
    steps = list(steps_of(case, total, seed))
    given = [
        (op, b"" if what is None else what if op < 10 else packed(*what[:3], number=what[3])) for op, what in steps
    ]
    found, counts = in_c.run(name, given)
    expected = [told for told in (in_python(case, codec, *step) for step in steps) if told is not None]
    asked = [step for step in steps if step[0] != 99]
    for one, other, step in zip(found, expected, asked, strict=True):
        assert one == other, step
    assert counts == codec.counts
    return codec.counts


@pytest.mark.full_cases("netft", "rsi_absolute", "rsi_relative")
@pytest.mark.parametrize("name", CASES)
def test_mutated_packets(name, in_c):
    counts = compare(name, in_c, 2000, 1)
    assert counts.good > 100 and sum(counts.bad.values()) > 500


@pytest.mark.full
@pytest.mark.parametrize("name", CASES)
def test_many_mutated_packets(name, in_c):
    for part in range(-(-PACKETS // (AT_ONCE * len(CASES)))):
        compare(name, in_c, AT_ONCE, SEED + part)


@pytest.mark.parametrize("name", CASES)
def test_what_does_not_fit_is_not_written(name, in_c):
    """An encoder with one byte less than it needs writes nothing, and one with just enough writes all."""
    case = CASES[name]
    reading, pose, command, number = next(chances(3))
    first = [(0, case.packets[0][0])] if name.startswith(("rsi", "fanuc")) else []
    for which in range(len(case.encode)):
        steps = [*first, (10 + which, packed(reading, pose, command, number=number))]
        whole = in_c.run(name, steps)[0][-1]
        if name == "fanuc" and not whole:  # with nothing in advance nothing is to be filled
            continue
        assert len(whole) > 7
        assert in_c.run(name, steps, room=len(whole))[0][-1] == whole
        for room in {0, 1, len(whole) // 2, len(whole) - 1}:
            assert in_c.run(name, steps, room=room)[0][-1] == b""
