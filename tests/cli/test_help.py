"""Help and doctor: what a new user asks first."""

import shlex

import pytest
import typer

import dockdyn
from dockdyn.cli import main as cli

ROOT = typer.main.get_command(cli.app)


def every(command=ROOT, path=()):
    """All commands with the words that call them."""
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from every(child, (*path, name))


COMMANDS = dict(every())
LEAVES = [path for path, command in COMMANDS.items() if not hasattr(command, "commands")]


def helped(dock, monkeypatch, path):
    monkeypatch.setenv("COLUMNS", "80")
    ended = dock(*path, "--help")
    assert ended.returncode == 0
    return ended.stdout


@pytest.mark.parametrize("path", COMMANDS, ids="-".join)
def test_help_fits_80_columns(dock, monkeypatch, path):
    text = helped(dock, monkeypatch, path)
    assert max(map(len, text.splitlines())) <= 80
    assert "..." not in text.partition("Commands:")[2]  # no sentence is cut off


@pytest.mark.parametrize("path", LEAVES, ids="-".join)
def test_every_command_has_an_example_that_it_accepts(dock, monkeypatch, tmp_path, path):
    text = helped(dock, monkeypatch, path)
    monkeypatch.chdir(tmp_path)
    lines = text.partition("Example:\n")[2].replace("\\\n", " ").strip().splitlines()
    assert lines
    calls = [shlex.split(line.partition(" > ")[0]) for line in lines]  # without where it is written to
    assert any(words[1 : 1 + len(path)] == list(path) for words in calls)
    for file in {word for words in calls for word in words if word.endswith(".toml")}:
        (tmp_path / file).touch()  # a scenario that is not there is refused with the words
    for program, *words in calls:
        assert program == "dockdyn"
        command, context = ROOT, None
        while True:
            context = command.make_context("dockdyn", words, parent=context)
            if not hasattr(command, "commands"):
                break
            _, command, words = command.resolve_command(context, [*context._protected_args, *context.args])


def test_the_shell_completes_presets(dock, monkeypatch):
    monkeypatch.setenv("_DOCKDYN_COMPLETE", "complete_bash")
    for words, known in (("dockdyn run sazawal-c", "sazawal-compliance"), ("dockdyn reproduce gi", "gibson")):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", "2")
        assert dock().stdout.split() == [known]


def test_doctor_finds_it_well(dock):
    ended = dock("doctor")
    assert ended.returncode == 0, ended.stdout
    for words in ("jax ", "numpy ", "cpu", "is caught 0.1% above it and is not below it", "All well."):
        assert words in ended.stdout


def test_doctor_finds_a_wrong_result(dock, monkeypatch):
    least = dockdyn.impact.minimum_latching_velocity
    monkeypatch.setattr(dockdyn.impact, "minimum_latching_velocity", lambda *numbers: 1.01 * least(*numbers))
    ended = dock("doctor")
    assert ended.returncode == 1
    assert "is caught 0.1% above it and is below it" in ended.stdout
    assert "Not well: the self-check" in ended.stdout


def test_doctor_says_that_compiled_code_is_not_kept(dock, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert "cannot be written to: every start compiles again" in dock("doctor").stdout
