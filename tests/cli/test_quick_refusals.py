"""What is no scenario is refused before anything that computes is imported: most of a command's time goes there."""

from helpers.processes import answers_and_imports

HEAVY = ("jax", "scipy", "xarray", "dockdyn.scenario.load")


def test_no_command_imports_what_computes_to_refuse_a_name(tmp_path):
    """A preset misspelt, a file that is not there, a folder: whichever command is asked."""
    commands = ("run", "stability", "envelope", "sensitivity", "compare", "design", "campaign run", "fmu export")
    names = {"probe-con": "did you mean 'probe-cone'", "not/there.toml": "no such file", str(tmp_path): "is a folder"}
    given = [[*command.split(), name] for command in commands for name in names]
    answers, imported = answers_and_imports(given, HEAVY, tmp_path)
    for one, (status, words) in zip(given, answers, strict=True):
        assert status == 2 and names[one[-1]] in words and words.count("\n") == 1, one
    assert not imported
