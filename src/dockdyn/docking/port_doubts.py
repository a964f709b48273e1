"""Loads at ports that are not what goes through them: on a part that others carry, or at two ports of one body.

A load at a port is the sum of all that acts on its body from others.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from typing import Any

import numpy as np

from dockdyn.dataset import Dataset
from dockdyn.docking.schema.mechanism import MechanismSection
from dockdyn.scenario.language.requirement import requirements_of

CARRIES = ("strut", "bushing")  # elements
CANCELS = 0.5  # of a force on its body: a port's load that is less has others against it


def port_actors(content: MechanismSection) -> dict[str, str]:
    """Return, as an attribute of the result, what acts on the body of each port with an axis; nothing without such ports.

    JSON: by port its `body`, whether others carry that (`carried`), the numbers of its `contacts`, and the bodies from which
    contacts and elements act on it (`others`).
    """
    contacts = [{body for body, _ in content.sides(contact)} for contact in content.contacts]
    elements = [(one.kind, set(one.between)) for one in content.ties()]
    jointed = {body.name for body in content.bodies if body.joint is not None}
    found = {}
    for name, place, number in content.points():
        if place.axis is None:
            continue
        body = content.names()[number]
        touching = [index for index, ends in enumerate(contacts) if body in ends]
        others = set[str]().union(*(contacts[i] for i in touching), *(ends for _, ends in elements if body in ends))
        carried = body in jointed or any(kind in CARRIES and body in ends for kind, ends in elements)
        found[name] = {"body": body, "carried": carried, "contacts": touching, "others": sorted(others - {body})}
    return {"port_actors": json.dumps(found)} if found else {}


def port_doubts(dataset: Dataset) -> list[str]:
    """Return a warning for every port whose load is not what goes through it, where loads at it are required to be small."""
    found = json.loads(dataset.attrs.get("port_actors", "{}"))
    stated = (
        requirements_of(tomllib.loads(dataset.attrs["scenario"]).get("requirements", {}), "scenario") if found else []
    )
    asked = {one.figure.rpartition(".")[0] for one in stated}
    doubts = dict(_carried_ports(dataset, found))
    told = [name for name in doubts if "body.{0}.port.{2}".format(*name.rpartition(" ")) in asked]
    if "port" in asked and len(doubts) == len(found):
        told = list(doubts)
    return [*(doubts[name] for name in told), *(_shared_bodies(found) if any("port" in one for one in asked) else ())]


def _carried_ports(dataset: Dataset, ports: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the ports on parts that others carry whose load is far less than what a contact puts there, with what is said of
    them."""
    peaks = np.zeros(dataset.sizes.get("contact", 0))
    np.maximum.at(peaks, dataset.episode_contact.values, np.nan_to_num(dataset.episode_peak_force.values))
    for name, one in ports.items():
        force, number = max(((peaks[index], index) for index in one["contacts"]), default=(0.0, 0))
        load = max(float(dataset[f"interface_{part}"].sel(port=name)) for part in ("tension", "compression", "shear"))
        if one["carried"] and load < CANCELS * force:
            words = (
                f"port {_written(name)!r} has the sum of all that acts on its body, at most {load:.4g} N, while contact "
                f"{str(dataset.contact.values[number])!r} alone puts {force:.4g} N on it, for others carry that body: "
                "`dockdyn loads` tells the loads of each contact, joint and element"
            )
            yield name, words


def _shared_bodies(ports: dict[str, Any]) -> Iterator[str]:
    """Yield the bodies with two ports on which more than one other acts."""
    for body in dict.fromkeys(one["body"] for one in ports.values()):
        names = [repr(_written(name)) for name, one in ports.items() if one["body"] == body]
        others = next(one["others"] for one in ports.values() if one["body"] == body)
        if len(names) > 1 and len(others) > 1:
            yield (
                f"ports {', '.join(names)} are of one body, on which {', '.join(map(repr, others))} act: the load at "
                "each is the sum of all that acts there, not what goes through it: `dockdyn loads` tells that of each contact, "
                "joint and element"
            )


def _written(name: str) -> str:
    """Return a port as a scenario calls it: "chaser.interface"."""
    body, _, port = name.rpartition(" ")
    return f"{body}.{port}"
