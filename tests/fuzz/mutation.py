"""Scenario files made wrong at random: structure, bytes, numbers, units, keys, types, nesting, duplicates, strange signs."""

import random
import re
from collections.abc import Callable

NUMBERS = [
    "0",
    "-0.0",
    "1e400",
    "-1",
    "1e308",
    "5e-324",
    "nan",
    "-inf",
    "9" * 30,
    "1" + "0" * 500,
    "0x10",
    "1_0",
    "007",
]
UNITS = ["0 ** -1", "9**9**9**9 s", "1 m/0", "5 kg", "(1 s", "1 s)", "1 m squared squared squared squared", "9⁹⁹⁹⁹⁹ m"]
UNITS += [
    "1e999 s",
    "nan m",
    "inf N",
    "5 parsec",
    "3 N*s/m",
    "12 deg",
    "1 degC",
    "-5 mm",
    "1 s**s",
    "()",
    "1/3 m",
    "%s",
]
UNITS += ["((((((9**99)**99)**99)**99)**99)**99) m", "{exponent}", "1 " + "m*" * 300, "kg", "1,5 m", "2 m;1", "\\u0000"]
TYPES = ['"text"', "true", "[]", "{}", "[[1], [2]]", "1979-05-27T07:32:00Z", "07:32:00", '""', "[1, 'a']", "{a = 1}"]
TYPES += [
    "[[[[[[[[[[0]]]]]]]]]]",
    "{ distribution = 'uniform', low = 1, high = 2 }",
    "{ distribution = 'disc', radius = 1 }",
]
TYPES += [
    "{ distribution = 'choice', values = [] }",
    "{ distribution = 'normal', mean = 'x', std = -1 }",
    "'module:Class'",
]
TYPES += [
    "{ distribution = 'choice', values = [1, 'two'] }",
    "{ distribution = 'grid' }",
    "{ law = 'hertz' }",
    "'./up.urdf'",
]
SIGNS = ["\x00", "\x1b[31m", "\r", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff", "é", "𝄞", "\ud800"]
SIGNS += ["]", "'", '"""', "=", "\n", "#"]
ESCAPES = [
    "\\u0000",
    "\\u001b[2J",
    "\\n",
    "\\u202e",
    "[/bold]",
    "[red]",
    "$x_{$",
    "<script>",
    "\\u0007",
    "{{7*7}}",
    "\\t",
]
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d.]*(?:e[-+]?\d+)?(?![\w.])")
TEXT = re.compile(r'"[^"\n]*"')
KEY = re.compile(r"^\s*([A-Za-z_.]+)\s*=", re.MULTILINE)


def mutated(text: str, others: list[str], draw: random.Random) -> bytes:
    """A file that is `text`, mutated some times; lines may come from `others`."""
    for _ in range(draw.choice((1, 1, 1, 2, 3, 6))):
        text = draw.choice(WAYS)(text, others, draw)
    content = text.encode("utf-8", "surrogatepass")
    if draw.random() < 0.04:
        at = draw.randrange(len(content) + 1)
        content = content[:at] + draw.randbytes(draw.choice((1, 3, 40))) + content[at + draw.choice((0, 1)) :]
    return content


def replaced(pattern: re.Pattern[str], text: str, new: Callable[[str], str], draw: random.Random) -> str:
    """`text` with one of the matches of a pattern replaced."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = draw.choice(found)
    return text[: match.start()] + new(match[0]) + text[match.end() :]


def number(text: str, others: list[str], draw: random.Random) -> str:
    return replaced(NUMBER, text, lambda _: draw.choice(NUMBERS), draw)


def unit(text: str, others: list[str], draw: random.Random) -> str:
    return replaced(draw.choice((NUMBER, TEXT)), text, lambda _: f'"{draw.choice(UNITS)}"', draw)


def kind(text: str, others: list[str], draw: random.Random) -> str:
    return replaced(draw.choice((NUMBER, TEXT)), text, lambda _: draw.choice(TYPES), draw)


def key(text: str, others: list[str], draw: random.Random) -> str:
    """A key that is another's, mistyped, very long, quoted or dotted."""
    other = draw.choice(KEY.findall(draw.choice(others)))
    word = draw.choice(
        [other, other[:-1], other * 3000, f'"{draw.choice(ESCAPES)}"', f"a.{other}", f"{other}.b", '""', "1"]
    )
    return replaced(KEY, text, lambda _: f"{word} =", draw)


def words(text: str, others: list[str], draw: random.Random) -> str:
    """Another text: of the file, strange, long, or with escapes inside."""
    choices = [
        draw.choice(TEXT.findall(text) or ['""']),
        f'"{draw.choice(ESCAPES)}"',
        f'"{"ab" * draw.choice((40, 20000))}"',
    ]
    return replaced(TEXT, text, lambda old: draw.choice([*choices, f'{old[:-1]}{draw.choice(ESCAPES)}"']), draw)


def signs(text: str, others: list[str], draw: random.Random) -> str:
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(SIGNS) * draw.choice((1, 1, 500)) + text[at + draw.choice((0, 1)) :]


def lines(text: str, others: list[str], draw: random.Random) -> str:
    """Lines lost, stated twice, in another place, from another file; a file that ends early."""
    found = text.split("\n")
    first = draw.randrange(len(found))
    block = found[first : first + draw.choice((1, 1, 4, 12))]
    foreign = draw.choice(others).split("\n")
    start = draw.randrange(len(foreign))
    way = draw.randrange(5)
    if way == 0:
        del found[first : first + len(block)]
    elif way == 4:
        del found[first:]
    else:
        put = draw.randrange(len(found) + 1)
        found[put:put] = block if way < 3 else foreign[start : start + draw.choice((1, 6))]
    return "\n".join(found)


def nested(text: str, others: list[str], draw: random.Random) -> str:
    """Tables and lists inside each other, long lists, many tables."""
    deep, name = draw.choice((5, 60, 3000)), draw.choice(KEY.findall(text) or ["kind"])
    more = [
        f"{name} = {'[' * deep}{']' * deep}",
        f"{name} = {'{a=' * deep}1{'}' * deep}",
        f"[{'.'.join(['a'] * deep)}]",
        f"{'.'.join([name] * deep)} = 1",
        f"{name} = [{'1, ' * deep}]",
        f"{name} = ['{'x' * deep}', {'[], ' * deep}]",
        f"[[{name}]]\n" * deep,
        "".join(f"k{i} = {i}\n" for i in range(deep)),
        f"[requirements]\n{name} = '< {'9' * deep} N'",
        f"[dispersion.all]\nkeys = [{', '.join(repr(name) for _ in range(deep))}]\ndistribution = 'disc'\nradius = 1",
    ]
    put = draw.choice(["", text[: text.find("\n[") + 1]])
    return f"{put}{draw.choice(more)}\n{text[len(put) :]}" if draw.random() < 0.5 else f"{text}\n{draw.choice(more)}\n"


WAYS = (number, unit, kind, key, words, signs, lines, nested)
