"""The rooms of the package: rules against asking for a kind's name, and for names."""

import lint_names
import pytest
from lint_setups import offences

NAMES = {"rig", "latch", "mechanism"}


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ('if scenario.setup == "rig": pass', [1]),
        ('x = 1\nif dataset.attrs["setup"] in ("rig", "latch"): pass', [2]),
        ('if str(data.get("setup")) != "mechanism": pass', [1]),
        ('TABLE = {"rig": 1, "latch": 2}', [1]),
        ('if name == "latch": pass', []),
        ("if scenario.setup == other.setup: pass", []),
    ],
)
def test_the_rule_against_asking_for_a_setup(source, lines):
    assert list(offences(source, NAMES)) == lines


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("Return the mass (kg).", []),
        ("Refuse what is too heavy.", []),
        ("The mass (kg).", ["The"]),
        ("What is heavy.", ["What"]),
        ("mass, kg", ["mass"]),
    ],
)
def test_the_rule_of_docstrings(words, first):
    """Functions of all depths, not what is called as a noun."""
    source = (
        f'class A:\n    @property\n    def b(self):\n        """The b."""\n\n    def c(self):\n        """{words}"""\n'
    )
    assert [word for _, word in lint_names.nouns(source)] == first


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("told", True),
        ("linearised", True),
        ("between", True),
        ("once", True),
        ("speed", False),  # -ed, but a noun
        ("linearise", False),
        ("load_told", False),
        ("_told", False),
    ],
)
def test_the_rule_of_names(name, refused):
    """Participles, prepositions and numerals are no names of functions; a property may be one."""
    source = f"class A:\n    def {name}(self): ...\n\n    @property\n    def kept(self): ...\n"
    assert [found for _, found in lint_names.nameless(source)] == [name] * refused


@pytest.mark.parametrize(
    ("lines", "parameters", "too_long"), [(59, 1, False), (60, 1, True), (3, 10, False), (3, 11, True)]
)
def test_the_rule_of_length(lines, parameters, too_long):
    given = ", ".join(f"a{number}" for number in range(parameters))
    source = f"def f({given}):\n" + "    print()\n" * lines
    assert list(lint_names.long_functions(source)) == ["f"] * too_long
