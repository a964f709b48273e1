"""A network between two ends: packets come late, twice, in another order, or never.

Units: s.
"""

from __future__ import annotations

import heapq
import random

from dockdyn.records import record


@record
class WireSettings:
    """Delays (s) and the probabilities of what happens to a packet.

    Each packet takes `latency` and a uniform share of `jitter`; packets keep their order. One that is overtaken takes
    `overtaken_by` more while those behind it pass.
    """

    latency: float = 0.0
    jitter: float = 0.0
    loss: float = 0.0
    duplicates: float = 0.0
    reordering: float = 0.0
    overtaken_by: float = 0.0


class NetworkWire:
    """One direction of a network. What happens to the n-th packet depends on the seed and on n, not on time."""

    def __init__(self, settings: WireSettings | None = None, seed: int = 0) -> None:
        self.settings = settings or WireSettings()
        self.lost = self.duplicated = self.overtaken = 0
        self._random = random.Random(seed)
        self._under_way: list[tuple[float, int, bytes]] = []
        self._sent = 0
        self._last = self.arrived = float("-inf")

    def send(self, time: float, packet: bytes) -> None:
        """Give a packet to the network."""
        lost, twice, overtaken, delay, again = (self._random.random() for _ in range(5))
        if lost < self.settings.loss:
            self.lost += 1
            return
        arrival = max(self._last, time + self.settings.latency + delay * self.settings.jitter)
        if overtaken < self.settings.reordering:
            self.overtaken += 1
            arrival += self.settings.overtaken_by
        else:
            self._last = arrival
        self._put(arrival, packet)
        if twice < self.settings.duplicates:
            self.duplicated += 1
            self._put(arrival + again * self.settings.jitter, packet)

    @property
    def next(self) -> float:
        """When the next packet arrives; infinity where none is under way."""
        return self._under_way[0][0] if self._under_way else float("inf")

    def deliver(self, time: float) -> list[bytes]:
        """Take the packets that have arrived, in their order; `arrived` is when the last of them did."""
        arrived = []
        while self._under_way and self._under_way[0][0] <= time:
            self.arrived, _, packet = heapq.heappop(self._under_way)
            arrived.append(packet)
        return arrived

    def _put(self, arrival: float, packet: bytes) -> None:
        self._sent += 1
        heapq.heappush(self._under_way, (arrival, self._sent, packet))
