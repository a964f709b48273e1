"""The scenarios that come with the package, and the meshes beside them."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from dockdyn.scenario.language.errors import ASKED, COMPARED, ScenarioError, nearest
from dockdyn.scenario.language.mistaken import mistaken
from dockdyn.scenario.language.toml_text import data_of
from dockdyn.scenario.setups import setup_of

ALIKE = 0.6  # of two names, from which on one is the other mistyped
PRESETS = Path(__file__).parent / "presets"


def presets() -> dict[str, str]:
    """Return names and titles of the presets that come with the package."""
    return {name: str(tables["title"]) for name, tables in _presets().items()}


def is_preset(name: str) -> bool:
    """Return whether a scenario of that name comes with the package."""
    return Path(name).name == name and (PRESETS / f"{name}.toml").is_file()


def refuse_missing(source: str | Path) -> None:
    """Raise ScenarioError for what is neither a scenario file nor a preset; nothing that computes is loaded for it."""
    path = Path(source)
    if is_preset(str(source)) or (path.exists() and not path.is_dir()):
        return
    if path.is_dir():
        words = mistaken(path, "scenario") or "is a folder; must be a scenario file or a preset"
        raise ScenarioError(f"{source}: {words}")
    if path.suffix or len(path.parts) > 1:
        meant = _meant(path.name, [file.name for file in _scenarios_beside(path)])
        raise ScenarioError(f"{source}: no such file{meant and f'; {meant}'}")
    names = [*presets(), *(file.name for file in _scenarios_beside(path))]
    raise ScenarioError(
        f"{source}: neither a file nor a preset; {_meant(path.name, names) or nearest(path.name, names)}"
    )


def _scenarios_beside(path: Path) -> list[Path]:
    """Return the files in the folder of a path that may be scenarios."""
    try:
        return sorted(path.parent.glob("*.toml"))
    except OSError:  # no folder that can be read
        return []


def _meant(name: str, names: list[str]) -> str:
    """Return a question for a message: which of the names are like a mistyped one, or begin with it; empty where none does."""
    like = get_close_matches(name[:COMPARED], names, n=1, cutoff=ALIKE)
    begun = [other for other in sorted(names, key=len) if other.startswith(name)]
    found = [*like, *(other for other in begun if other not in like)][:ASKED]
    return f"did you mean {' or '.join(map(repr, found))}?" if found else ""


def preset_setups() -> dict[str, str]:
    """Return the setup of each preset."""
    return {name: setup_of(tables).name for name, tables in _presets().items()}


@cache
def _presets() -> dict[str, dict[str, Any]]:
    """Return the tables of the presets, by name."""
    files = sorted(PRESETS.glob("*.toml"), key=lambda file: file.stem)
    return {file.stem: data_of(file.read_text(), file.stem) for file in files}


def preset_text(name: str) -> str:
    """Return the file of a preset."""
    if not is_preset(name):
        raise ScenarioError(f"{name}: no such preset; {nearest(name, presets())}")
    return (PRESETS / f"{name}.toml").read_text()


def preset_meshes(name: str) -> list[Path]:
    """Return the mesh files that a preset reads."""
    from dockdyn.scenario.language.keys import leaves
    from dockdyn.scenario.tables.look import with_looks

    stated = leaves(with_looks(data_of(preset_text(name), name), name, PRESETS))
    found = [Path(value) for _, value in stated if isinstance(value, str) and Path(value).parent == PRESETS]
    return list(dict.fromkeys(found))
