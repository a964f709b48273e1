"""The devices of a rig, emulated in real time on this computer: robot, contact and sensor behind their protocols.

Units: SI; times s.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable

from dockdyn.realtime.bench import EmulatedBench
from dockdyn.realtime.laboratory import LaboratoryInSteps
from dockdyn.realtime.links import Datagrams, DeviceLink
from dockdyn.realtime.rig_devices import Devices
from dockdyn.scenario.tables.emulator import EmulatorSection

RESET = 1.0  # s after which its operator has reset a robot that has stopped


class EmulatedRig:
    """A sensor and a robot, which asks for a command once a cycle.

    A robot that was answered and then is not, for some cycles, stops as that kind of robot does, and is silent until its
    operator resets it.
    """

    def __init__(self, laboratory: LaboratoryInSteps, devices: Devices, trouble: EmulatorSection):
        """With sockets at the addresses of the devices. Raises OSError; ScenarioError for trouble that a robot cannot have."""
        self.period = devices.period
        self.bench = EmulatedBench(laboratory, devices, trouble, devices.robot.connected)
        self.stops = self.late = 0
        self.resets: float | None = None  # when the operator resets a robot that has stopped
        self.stamped = trouble.network.latency > 0 or trouble.network.jitter > 0  # when a packet comes counts
        self.to_sensor: DeviceLink = Datagrams((devices.sensor.host, devices.sensor.port), devices.sensor.asked)
        try:
            self.to_robot: DeviceLink = devices.robot.emulated_link(self.bench.robot)
        except OSError:
            self.to_sensor.close()
            raise

    def run(self, cycles: int | None, stop_asked: Callable[[], bool]) -> None:
        """Run so many cycles, or without end until `stop_asked`."""
        laboratory = self.bench.laboratory
        try:
            due = time.monotonic()
            while (cycles is None or laboratory.cycle < cycles) and not stop_asked():
                due = self._run_cycle(laboratory.cycle * self.period, due)
        finally:
            self.to_sensor.close()
            self.to_robot.close()

    def _run_cycle(self, now: float, begun: float) -> float:
        """Return a cycle at a time (s) of the laboratory that begins at one of this computer's; when the next one does."""
        bench, due = self.bench, begun + self.period
        self._exchange_packets(now)
        self._reset_robot(now)
        bench.begin(now)
        self._exchange_packets(now)
        left = due - time.monotonic()
        if left < self.period / 2:  # this computer stood still, and the robot's clock with it
            self.late += 1
            due, left = time.monotonic() + self.period, self.period
        while left > 0:
            self._wait_for_event(min(left, max(bench.next - now - self.period + left, 0.0)))
            left = due - time.monotonic()
            at = now + min(self.period - left, self.period * (1 - 1e-9))
            bench.measure(at)
            self._exchange_packets(at)
        self._exchange_packets(now + self.period * (1 - 1e-9))
        bench.end(now + self.period)
        return due

    def _wait_for_event(self, seconds: float) -> None:
        """Wait until something happens by itself, or comes where it counts when."""
        if self.stamped:
            select.select([*self.to_sensor.sockets(), *self.to_robot.sockets()], [], [], seconds)
        else:
            time.sleep(seconds)

    def _exchange_packets(self, now: float) -> None:
        """Send what has come on its way to the devices; what has arrived at the computer's end is sent."""
        bench = self.bench
        for link, wire in ((self.to_sensor, bench.to_sensor), (self.to_robot, bench.to_robot)):
            for packet in link.received(now):
                wire.send(now, packet)
        for link, packets in zip((self.to_sensor, self.to_robot), bench.deliver(now), strict=True):
            for packet in packets:
                link.send(packet)

    def _reset_robot(self, now: float) -> None:
        """Switch a robot that has stopped on again where it is, once nobody has to wait for that."""
        if not self.bench.robot.cycle.stopped:
            return
        if self.resets is None:
            self.stops, self.resets = self.stops + 1, now + RESET
        elif now >= self.resets and "emergency-stop" not in self.bench.active:
            self.resets = None
            self.to_robot.reset()
            self.bench.reset(now)
