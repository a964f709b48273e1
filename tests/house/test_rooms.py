"""The rooms that CONTRIBUTING.md tells of: all that there are, in the order in which they may import."""

import re
import tomllib

from places import ROOT, SOURCE

ROW = re.compile(r"^\| `(\w+)(?:\.py)?` \|", re.MULTILINE)


def test_every_room_is_told_in_the_order_of_import():
    told = ROW.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    rooms = {file.parent.name for file in SOURCE.glob("*/__init__.py")}
    assert rooms - set(told) == set()
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = [re.findall(r"dockdyn\.(\w+)", layer) for layer in reversed(contracts[0]["layers"])]
    height = {room: number for number, layer in enumerate(layers) for room in layer}
    assert [height[room] for room in told] == sorted(height[room] for room in told)
