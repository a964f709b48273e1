"""Local variables of WebAssembly that share a place where they are not needed at once.

What LLVM writes in a hurry has a local variable for every number of a program, of which browsers take 50,000 a function; its
own way of sharing them takes the square of their count. Here one pass does: a variable that is set once is needed from there
to where it is read last, or to the end of a loop that begins between and reads it.

Units: none.
Source: WebAssembly Core Specification 2.0, binary format (5.4 instructions, 5.5.13 code section); Poletto, M., Sarkar, V.:
Linear Scan Register Allocation, ACM Transactions on Programming Languages and Systems 21 (1999).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import groupby, pairwise
from typing import NamedTuple

BLOCK, LOOP, IF, END, DROP, LONG = 0x02, 0x03, 0x04, 0x0B, 0x1A, 0xFC
GET, SET, TEE = 0x20, 0x21, 0x22  # local variables
LISTS = {0x0E: 1, 0x1C: 0}  # instructions with a list, and the integers behind it
CONSTANTS = {0x43: 4, 0x44: 8}  # bytes of real ones
INTEGERS = (  # how many integers follow an instruction: of all from this code on, until the next
    *((0x00, 0), (0x02, 1), (0x05, 0), (0x0C, 1), (0x0F, 0), (0x10, 1), (0x11, 2), (0x12, 0), (0x20, 1), (0x27, 0)),
    *((0x28, 2), (0x3F, 1), (0x43, 0)),
)
BEHIND = [[count for first, count in INTEGERS if first <= code][-1] for code in range(256)]
BEHIND_LONG = {8: 2, 9: 1, 10: 2, 11: 1}  # of instructions of two parts
LOW, MORE = 127, 128  # seven bits of an integer, and that there are more


class Use(NamedTuple):
    """An instruction that sets or reads a local variable."""

    at: int  # byte
    end: int
    code: int
    local: int


class Lives(NamedTuple):
    """Where a function uses its local variables."""

    uses: list[Use]
    last: dict[int, int]  # the byte at which a variable that is set once is needed last
    reads: Counter[int]


def share_locals(types: bytes, functions: bytes, code: bytes) -> bytes:
    """Return the code section of a module whose functions have fewer local variables, from this and the sections that tell
    their types."""
    given = list(_parameter_counts(types))
    count, at = read_integer(code, 0)
    bodies, place = [], read_integer(functions, 0)[1]
    for _ in range(count):
        which, place = read_integer(functions, place)
        size, at = read_integer(code, at)
        body = _rewrite_function(code[at : at + size], given[which])
        bodies.append(write_integer(len(body)) + body)
        at += size
    return write_integer(count) + b"".join(bodies)


def _parameter_counts(types: bytes) -> Iterator[int]:
    """Yield how many parameters functions of each type have."""
    count, at = read_integer(types, 0)
    for _ in range(count):
        given, at = read_integer(types, at + 1)
        results, at = read_integer(types, at + given)
        at += results
        yield given


def _rewrite_function(body: bytes, given: int) -> bytes:
    """Return a function with `given` parameters whose local variables share places."""
    kinds = [0] * given
    groups, at = read_integer(body, 0)
    for _ in range(groups):
        count, at = read_integer(body, at)
        kinds += [body[at]] * count
        at += 1
    lives = _lives_of(body, at)
    passed = _passed_on(lives)
    places = _shared_places(lives, passed, kinds, given)
    order = sorted(set(places.values()))
    number = {place: given + index for index, place in enumerate(order)}
    head = [(len(list(same)), kind) for kind, same in groupby(kind for kind, _ in order)]
    parts = [write_integer(len(head)), *(write_integer(count) + bytes([kind]) for count, kind in head)]
    for use in lives.uses:
        parts.append(body[at : use.at])
        at = use.end
        if use.local not in passed:
            place = use.local if use.local < given else number[places[use.local]]
            parts.append(bytes([use.code]) + write_integer(place))
    return b"".join([*parts, body[at:]])


def _lives_of(body: bytes, start: int) -> Lives:
    """Return where a function, whose instructions begin at a byte, uses its local variables."""
    uses: list[Use] = []
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    sets, reads = Counter[int](), Counter[int]()
    blocks: list[
        tuple[int, set[int] | None]
    ] = []  # those that are open: where they begin, and what a loop needs to its end
    at = start
    while at < len(body):
        begins, code, at = at, body[at], at + 1
        if GET <= code <= TEE:
            local, at = read_integer(body, at)
            uses.append(Use(begins, at, code, local))
            last[local] = begins
            if code == GET:
                reads[local] += 1
                needed = (
                    variables for begin, variables in blocks if variables is not None and begin > first.get(local, -1)
                )
                if (variables := next(needed, None)) is not None:
                    variables.add(local)
            else:
                sets[local] += 1
                first.setdefault(local, begins)
            continue
        if code in (BLOCK, LOOP, IF):
            blocks.append((begins, set() if code == LOOP else None))
        elif code == END and blocks:
            last.update(dict.fromkeys(blocks.pop()[1] or (), begins))
        at = end_of_instruction(body, code, at)
    return Lives(uses, {local: last[local] for local in last if sets[local] == 1}, reads)


def end_of_instruction(body: bytes, code: int, at: int) -> int:
    """Return where an instruction ends whose code is followed by what begins there."""
    if code in CONSTANTS:
        return at + CONSTANTS[code]
    more = BEHIND[code]
    if code in LISTS:
        count, at = read_integer(body, at)
        more = count + LISTS[code]
    elif code == LONG:
        second, at = read_integer(body, at)
        more = BEHIND_LONG.get(second, 0)
    for _ in range(more):
        while body[at] & MORE:
            at += 1
        at += 1
    return at


def _passed_on(lives: Lives) -> set[int]:
    """Return the variables that are read once, by the instruction that follows the one that sets them: they need none."""
    return {
        use.local
        for use, after in pairwise(lives.uses)
        if (use.code, after.code, after.at) == (SET, GET, use.end)
        and use.local == after.local
        and use.local in lives.last
        and lives.reads[use.local] == 1
    }


def _shared_places(lives: Lives, passed: set[int], kinds: list[int], given: int) -> dict[int, tuple[int, int]]:
    """Return the place of each variable besides those `passed` on and the parameters: its type, and a number among those of the
    type."""
    places: dict[int, tuple[int, int]] = {}
    counts = Counter[int]()
    free: dict[int, list[int]] = {kind: [] for kind in kinds}
    held: list[tuple[int, int]] = []  # until which byte, and by which variable
    for use in lives.uses:
        if use.local < given or use.local in places or use.local in passed:
            continue
        while held and held[0][0] < use.at:
            kind, place = places[heappop(held)[1]]
            heappush(free[kind], place)
        kind = kinds[use.local]
        if use.local in lives.last and free[kind]:
            places[use.local] = kind, heappop(free[kind])
        else:
            places[use.local] = kind, counts[kind]
            counts[kind] += 1
        if use.local in lives.last:
            heappush(held, (lives.last[use.local], use.local))
    return places


def write_integer(number: int) -> bytes:
    """Return an integer in groups of seven bits."""
    found = []
    while number > LOW:
        found.append(number & LOW | MORE)
        number >>= 7
    return bytes([*found, number])


def read_integer(data: bytes, at: int) -> tuple[int, int]:
    """Return an integer in groups of seven bits, and where it ends."""
    found = shift = 0
    while True:
        found |= (data[at] & LOW) << shift
        shift += 7
        at += 1
        if not data[at - 1] & MORE:
            return found, at
