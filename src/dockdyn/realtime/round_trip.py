"""How long a datagram takes to another process on this computer and back, through UDP on the loopback interface.

Units: s.
"""

from __future__ import annotations

import math
import socket
import threading
import time
from array import array
from contextlib import closing

LOOPBACK = "127.0.0.1"
SIZE = 1024  # bytes, more than the datagrams of robots and sensors have
PATIENCE = 1.0  # s


def measure_round_trips(count: int) -> array[float]:
    """Return times (s) of `count` datagrams to a thread that sends them back; NaN for one that is lost."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as far:
        far.bind((LOOPBACK, 0))
        far.settimeout(PATIENCE)
        echo = threading.Thread(target=_send_back, args=(far, count), daemon=True)
        echo.start()
        with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as near:
            near.settimeout(PATIENCE)
            near.connect(far.getsockname())
            times = array("d", (_exchange_packet(near, number) for number in range(count)))
        echo.join()
    return times


def _send_back(far: socket.socket, count: int) -> None:
    for _ in range(count):
        try:
            data, sender = far.recvfrom(2 * SIZE)
        except TimeoutError:
            return
        far.sendto(data, sender)


def _exchange_packet(near: socket.socket, number: int) -> float:
    sent = number.to_bytes(8, "big") + bytes(SIZE - 8)
    began = time.perf_counter()
    near.send(sent)
    try:
        while near.recv(2 * SIZE) != sent:  # of one before, late
            pass
    except TimeoutError:
        return math.nan
    return time.perf_counter() - began
