"""How long many parts take to compile is told before, in every command; they are refused where memory does not suffice."""

import random
import resource
import subprocess
import sys
import time

import pytest

import dockdyn
from dockdyn import backend, programs
from dockdyn.scenario import compile_cost
from dockdyn.translate import jaxpr
from dockdyn.trees import structure_of

HEAD = """schema = 2
title = "Many parts"
duration = "1 s"
"""
BODY = """[body.{name}]
mass = "{mass} t"
inertia = [500, 600, 700]
position = [{x}, 0, 0]
velocity = [{speed}, 0, 0]
"""
CONTACT = """[contact.{0}]
between = ["{1}", "plane"]
[contact.{0}.normal]
law = "hunt-crossley"
stiffness = "1e6 N/m"
exponent = 1
damping = 0.5
[contact.{0}.friction]
law = "coulomb"
coefficient = 0.1
"""
FEATURE = '[body.chaser.feature.f{}]\n{}\nradius = "1 cm"\n'
STUDY = """
[design]
minimise = "peak_force"
evaluations = 20
[design.variable.stiffness]
key = "contact.f0.normal.stiffness"
low = "1e5 N/m"
high = "1e6 N/m"
"""


def places(count):
    return [f"[1, {-1 + 2 * i / count:.6f}, {0.05 * (i * 7 % 11):.3f}]" for i in range(count)]


def unnamed(count):
    """So many contacts of two bodies that begin 50 mm apart, with a velocity that is distributed."""
    made = mechanism(
        [FEATURE.format(i, f"position = {place}") for i, place in enumerate(places(count))],
        [CONTACT.format(f"f{i}", f"f{i}") for i in range(count)],
    )
    return made.replace(
        "velocity = [0.1, 0, 0]", 'velocity = [{ distribution = "uniform", low = 0.09, high = 0.11 }, 0, 0]'
    )


def mechanism(features, contacts, elements=()):
    """Two bodies of a mechanism, the features of the first, contacts of these with a plane, and elements between both."""
    first, second = (
        BODY.format(name=name, mass=mass, x=x, speed=speed)
        for name, mass, x, speed in (("chaser", 1, 0, 0.1), ("target", 3, 2.06, 0))
    )
    surface = '[body.target.surface.plane]\nshape = "plane"\npoint = [-1, 0, 0]\nnormal = [-1, 0, 0]\n'
    return "".join([HEAD, first, *features, second, surface, *contacts, *elements])


def named(count):
    features = [FEATURE.format(i, f"position = {place}") for i, place in enumerate(places(count))]
    contacts = [CONTACT.format(f"c{i}", f"f{i}") + 'regularisation = "1 mm/s"\n' for i in range(count)]
    return mechanism(features, contacts)


def grouped(count):
    feature = FEATURE.format("", f"positions = [{', '.join(places(count))}]")
    return mechanism([feature], [CONTACT.format("f", "f") + 'regularisation = "1 mm/s"\n'])


def struts(count):
    strut = '[strut.s{}]\nbetween = ["chaser", "target"]\nstiffness = "1 kN/m"\nanchor = {}\n'
    return mechanism([], [], [strut.format(i, f"[{place}, [-1, 0, 0]]") for i, place in enumerate(places(count))])


def chain(count):
    """So many bodies one behind the other, on hinges."""
    bodies = [
        f'[body.b{i}]\nmass = "10 kg"\ninertia = [2, 2, 2]\non = "b{i - 1}"\nposition = [2, 0, 0]\n'
        f'[body.b{i}.joint]\nkind = "revolute"\naxis = [0, 0, 1]\nposition = [1, 0, 0]\nstart_rate = 0.01\n'
        for i in range(1, count)
    ]
    first = BODY.format(name="b0", mass=1, x=0, speed=0.1)
    return "".join([HEAD, first, *bodies])


def cost_of(text, tmp_path):
    file = tmp_path / "many.toml"
    file.write_text(text)
    return compile_cost.compile_cost([structure_of(dockdyn.load(file).content)], by_xla=False)


COMMANDS = {
    "run": "run many.toml",
    "stability": "stability many.toml",
    "sensitivity": "sensitivity many.toml --of peak_force_N",
    "campaign": "campaign run many.toml --runs 20",
    "design": "design many.toml",
    "FMU": "fmu export many.toml --out many.fmu",
}


@pytest.mark.full_cases("sensitivity")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_what_memory_does_not_suffice_for(command, dock, monkeypatch, tmp_path):
    """In one line, before any contact is compiled; no study takes it for a case that fails."""
    made = jaxpr.translate_function

    def small(traced):
        return made(traced) if len(traced.eqns) < 20 else pytest.fail("was compiled")

    monkeypatch.setattr(compile_cost, "PATIENCE", 0.0)
    monkeypatch.setattr(compile_cost, "allowed_memory", lambda: 1e8)
    monkeypatch.setattr(programs, "load_code", lambda name: None)
    monkeypatch.setattr(programs, "kept", type(programs.kept)())
    monkeypatch.setattr(jaxpr, "translate_function", small)
    (tmp_path / "many.toml").write_text(unnamed(3) + (STUDY if command == "design" else ""))
    ended = dock(*COMMANDS[command].split())
    assert ended.returncode == 2
    (line,) = ended.stderr.strip().splitlines()
    assert line.startswith(
        "error: 'Many parts' with 3 [body.NAME.feature.NAME] and 3 [contact.NAME]: to compile them takes about 0.4"
    )
    assert "of which there are 0.1; must be fewer; contacts alike as one group" in line


@pytest.mark.full
def test_what_takes_long_is_told_once_before_it_is_compiled(dock, monkeypatch, tmp_path):
    said = []
    monkeypatch.setattr(compile_cost, "PATIENCE", 0.0)
    monkeypatch.setattr(compile_cost, "told", set())
    monkeypatch.setattr(programs, "load_code", lambda name: None)
    monkeypatch.setattr(programs, "kept", type(programs.kept)())
    made = jaxpr.translate_function
    monkeypatch.setattr(jaxpr, "translate_function", lambda traced: (said.append("compiled"), made(traced))[1])
    tell = backend.announce_wait
    monkeypatch.setattr(backend, "announce_wait", lambda words: (said.append(words), tell(words)))
    (tmp_path / "many.toml").write_text(unnamed(3).replace('duration = "1 s"', 'duration = "10 ms"'))
    ended = dock("run", "many.toml", "--json")
    assert ended.returncode == 0, ended.stderr
    assert said.count("compiled") > 3 and said[1:].count("compiled") == len(said) - 1
    assert said[0].startswith("'Many parts' with 3 [body.NAME.feature.NAME] and 3 [contact.NAME]: about ")
    assert f"note: {said[0]}\n" in ended.stderr


def test_a_run_from_python_is_warned(monkeypatch, tmp_path):
    monkeypatch.setattr(compile_cost, "PATIENCE", 0.0)
    monkeypatch.setattr(compile_cost, "told", set())
    (tmp_path / "many.toml").write_text(unnamed(2))
    structure = structure_of(dockdyn.load(tmp_path / "many.toml").content)
    with pytest.warns(RuntimeWarning, match="'Many parts' with 2 .* to compile for a run, the first time"):
        backend.ask_before_compiling([structure], by_xla=False)


@pytest.mark.parametrize("made", [unnamed, named, struts, chain])
def test_costs_grow_with_the_number_of_parts(made, tmp_path, monkeypatch):
    count = random.Random(made.__name__).randint(20, 40)
    monkeypatch.setattr(compile_cost, "PATIENCE", 1e9)
    few, many, more = (cost_of(made(times * count), tmp_path).work for times in (1, 2, 3))
    assert many - few == more - many > count / 2
    assert cost_of(grouped(3 * count), tmp_path).work == cost_of(grouped(2), tmp_path).work < few


@pytest.mark.full
@pytest.mark.parametrize("made", [unnamed, named, struts, chain])
def test_the_time_told_is_right_within_a_factor_of_four(made, tmp_path, monkeypatch):
    """Seconds of a processor that the programs of a run take beyond those of one with a quarter of its parts."""
    monkeypatch.setattr(compile_cost, "PATIENCE", 1e9)  # what else the machine has to do is left out
    monkeypatch.setattr(programs, "load_code", lambda name: None)
    count = random.Random().randint(40, 60)
    taken, costs = [], []
    for number in (2, count // 4, count):  # the first has all imported
        (tmp_path / "many.toml").write_text(made(number).replace('duration = "1 s"', 'duration = "10 ms"'))
        scenario = dockdyn.load(tmp_path / "many.toml")
        costs.append(compile_cost.compile_cost([structure_of(scenario.content)], by_xla=False))
        began = time.process_time()
        dockdyn.simulate(scenario)
        taken.append(time.process_time() - began)
    expected = costs[2].seconds * (costs[2].work - costs[1].work) / costs[2].work
    assert expected / 4 < taken[2] - taken[1] < 4 * expected, (count, taken, costs)


@pytest.mark.full
def test_what_memory_does_not_suffice_for_ends_at_once(tmp_path):
    """2,500 contacts in a process that may have 8 GB."""
    (tmp_path / "many.toml").write_text(unnamed(2500))
    limit = 8 * 10**9
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    ended = subprocess.run(
        [sys.executable, "-m", "dockdyn", "run", "many.toml", "--quiet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert ended.returncode == 2, ended.stderr
    assert "2,500 [contact.NAME]" in ended.stderr and "of which there are 8; must be fewer" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 60  # s; compiling takes minutes
