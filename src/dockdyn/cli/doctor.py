"""`dockdyn doctor`: what is installed, where it computes, and whether it computes rightly."""

from __future__ import annotations

import os
import platform
import re
import textwrap
import time
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import NamedTuple

import typer

from dockdyn.deferred import jax, jnp
from dockdyn.kept import is_usable

EXTRAS = ("campaign", "mcap", "parquet")  # what a user may want besides the core
PRESET, SPEED = "paraskevas-latch", "body.chaser.velocity"
APART = 1e-3  # share of the least latching speed by which the two runs of the self-check lie above and below it
UNWELL = 1
WIDTH = 80
TIED = "\u00a0"  # a space at which no line is broken


class Check(NamedTuple):
    """The self-check: whether it came out right, and what it saw."""

    right: bool
    words: str


def doctor() -> None:
    """Print versions, devices and folders; check a result.

    The check simulates a latch a little above and below the speed at which a closed form says that it begins to catch.
    Exit code 1 where something is missing or wrong.
    """
    from dockdyn import backend

    began = time.perf_counter()
    lines, missing = _package_lines()
    typer.echo(
        f"dockdyn {version('dockdyn')}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    )
    typer.echo("\n".join(lines))
    typer.echo(f"computes on: {', '.join(_device_lines())}; {os.cpu_count()} processors here")
    typer.echo(f"compiles with: {_compiler_words()}")
    typer.echo(f"compiled code: {describe_cache(backend.cache_folder())}")
    check = _self_check()
    typer.echo(f"self-check: {check.words} ({time.perf_counter() - began:.1f} s in all)")
    if missing or not check.right:
        typer.echo(f"Not well: {', '.join([*missing, *([] if check.right else ['the self-check'])])}")
        raise typer.Exit(UNWELL)
    typer.echo("All well.")


def _compiler_words() -> str:
    """Return what makes machine code here, and how many cases of a campaign it computes at once."""
    from dockdyn import backend
    from dockdyn.translate.machine import count_lanes

    if not backend.is_native():
        return "XLA"
    lanes = count_lanes()
    at_once = (
        f"up to {lanes} cases at once in a vector"
        if lanes
        else "case by case, as this processor has no vectors that pay"
    )
    return f"its own translator, and XLA what that does not know; {at_once}"


def _package_lines() -> tuple[list[str], list[str]]:
    """Return lines with the versions of the packages that dockdyn needs or can use, and which that it needs are missing."""
    lines, missing = [], []
    stated = requires("dockdyn") or []
    for extra in ("", *EXTRAS):
        found = []
        for requirement in stated:
            name = re.split(r"[\s<>=!~;\[(]", requirement, maxsplit=1)[0]
            condition = re.search(r"extra\s*==\s*['\"]([\w-]+)", requirement)
            if (condition[1] if condition else "") != extra:
                continue
            try:
                found.append(f"{name}{TIED}{version(name)}")
            except PackageNotFoundError:
                found.append(f"{name}{TIED}not{TIED}installed")
                missing += [f"{name} is not installed"] * (not extra)
        text = textwrap.fill(f"{extra or 'core'}: {', '.join(found)}", WIDTH, subsequent_indent="  ")
        lines.append(text.replace(TIED, " "))
    return lines, missing


def _device_lines() -> list[str]:
    """Return the name what JAX computes on."""

    return [f"{device.platform} ({device.device_kind})" for device in jax.devices()]


def describe_cache(place: Path) -> str:
    """Return the folder of compiled code: how much is in it, and whether it can be written to."""
    held = sum(file.stat().st_size for file in place.rglob("*") if file.is_file()) if place.is_dir() else 0
    above = next(parent for parent in (place, *place.parents) if parent.exists())
    written = os.access(above, os.W_OK) and above.is_dir()
    refused = "" if written and is_usable(place) else "used" if written else "written to"
    words = f"cannot be {refused}: every start compiles again" if refused else f"{held / 1e6:.0f} MB"
    return f"{place}, {words}"


def _self_check() -> Check:
    """Return simulated latching against its closed form."""

    import dockdyn

    if jnp.zeros(()).dtype != "float64":
        return Check(False, "JAX computes in single precision; dockdyn needs JAX_ENABLE_X64=1")
    scenario = dockdyn.load(PRESET)
    (chaser, target), ramp = scenario.content.body, scenario.content.latch[0].ramp
    given = (chaser.mass, target.mass, ramp.stiffness, ramp.angle, ramp.axial_length)
    least = float(dockdyn.impact.minimum_latching_velocity(*given))
    caught = {
        share: dockdyn.summarise(dockdyn.simulate(dockdyn.load(PRESET, {SPEED: (1 + share) * least})))["captured"]
        for share in (APART, -APART)
    }
    told = {share: "is" if held else "is not" for share, held in caught.items()}
    words = (
        f"a latch that closes at {least:.6f} m/s {told[APART]} caught {APART:.1%} above it and {told[-APART]} below it"
    )
    return Check(caught == {APART: True, -APART: False}, words)
