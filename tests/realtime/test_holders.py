"""A port or a name that another process has: which one it is, and how it is ended."""

import subprocess
import sys

import pytest

from dockdyn.realtime.claims import Taken, claim_names
from dockdyn.realtime.holders import holder_of_port

SOCKET = "import socket\ns = socket.{}\nprint(s.getsockname()[1], flush=True); input()"
NAME = "from dockdyn.realtime.claims import claim_names as claim\n"
NAME += "with claim(['a rig of this test']): print('held', flush=True); input()"
HOLDS = {
    "udp": SOCKET.format("socket(type=socket.SOCK_DGRAM); s.bind(('127.0.0.1', 0))"),
    "tcp": SOCKET.format("create_server(('127.0.0.1', 0))"),
    "name": NAME,
}


@pytest.mark.parametrize("way", HOLDS)
def test_the_process_is_named_and_what_ends_it(way):
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDS[way]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        said = other.stdout.readline().strip()
        if way == "name":
            with pytest.raises(Taken) as taken, claim_names(["a rig of this test"]):
                pass
            words = taken.value.holder
        else:
            words = holder_of_port(int(said))
    finally:
        other.communicate("\n")
    assert words.startswith(f"process {other.pid} has it (") and words.endswith(f"end it with kill {other.pid}")
    assert not (way != "name" and holder_of_port(int(said)))  # it is gone
