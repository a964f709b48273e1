"""Processes of `dockdyn rig` as a user starts them, for tests: every wait for them has an end."""

import contextlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from driven_rigs import ABB_SET, KUKA_SET, on_a_line

PATIENT = {  # of a computer that others share
    "rig__limits__sensor_silence": "1 s",
    "rig__limits__robot_silence": "1 s",
    "rig__limits__late_cycles": 250,
    "rig__settle": "0.4 s",
}
ASIDE = re.compile(r"\w+: for \d+ s|warning: ")  # what a slow computer, or a number that is strange, adds
LONG = 180.0  # s that a step may take on a computer that others share
DEVICES = {  # sensor, robot; that robot waits 0.4 s or more before it stops by itself, as others share this computer
    "plain": ("raw-udp", {"kind": "raw-udp", "timeout": 100}),
    "plain by the clock": ("raw-udp", {"kind": "raw-udp", "pace": "clock", "timeout": 100}),
    "KUKA": ("ati-netft", {"kind": "kuka-rsi", "timeout": 500} | KUKA_SET),
    "ABB": ("ati-netft", {"kind": "abb-egm"} | ABB_SET | {"comm_timeout": "2 s"}),
    "FANUC": ("ati-netft", {"kind": "fanuc-stream-motion", "version": 3, "lead": 5}),
    "UR": ("ati-netft", {"kind": "ur-rtde", "patience": "2 s"}),
}


def said(printed):
    """Lines of what a command prints, but for those that are told by the way."""
    return [line for line in printed.splitlines() if not ASIDE.match(line)]


def free_ports(count):
    """Ports that nobody has, neither of datagrams nor of connections."""
    with contextlib.ExitStack() as stack:
        found = []
        while len(found) < count:
            one = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            other = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
            with contextlib.suppress(OSError):
                other.bind(("127.0.0.1", port))
                found.append(port)
        return found


class Running:
    """A process, and all that it prints."""

    def __init__(self, words, folder, keyboard=subprocess.PIPE):
        pipes = {"stdin": keyboard, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(words, cwd=folder, text=True, **pipes)
        self.lines, self.problems, self.arrived = [], [], threading.Condition()
        kept = ((self.process.stdout, self.lines), (self.process.stderr, self.problems))
        self.readers = [threading.Thread(target=self._read, args=each, daemon=True) for each in kept]
        for reader in self.readers:
            reader.start()

    def _read(self, pipe, into):
        for line in pipe:
            with self.arrived:
                into.append(line)
                self.arrived.notify_all()

    @property
    def printed(self):
        return "".join([*self.lines, *self.problems])

    @property
    def answered(self):
        """Lines but for those that are told by the way."""
        return said(self.printed)

    def until(self, word, within=LONG):
        """Waits for a line with a word."""
        deadline = time.monotonic() + within
        with self.arrived:
            while not any(word in line for line in self.lines):
                gone = self.process.poll() is not None and not any(reader.is_alive() for reader in self.readers)
                assert not gone and time.monotonic() < deadline, f"{word!r} does not come: {self.printed}"
                self.arrived.wait(0.2)

    def type(self, text):
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def signal(self, number):
        self.process.send_signal(number)

    def end(self, within=LONG):
        """Waits for its end: its exit code."""
        try:
            code = self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"it does not end: {self.printed}") from None
        for reader in self.readers:
            reader.join(10)
        return code

    def kill(self):
        """At once; a pipe that a child still has is not waited for."""
        self.process.kill()
        self.process.wait(10)


class Bench:
    """A scenario in a file, and what is started with it."""

    def __init__(self, folder, stack, devices, **changed):
        self.folder, self.stack, self.devices = folder, stack, devices
        sensor, robot = DEVICES[devices] if isinstance(devices, str) else devices
        ports = free_ports(5)
        at = {"sensor": {"kind": sensor, "port": ports[0]}, "robot": robot | {"port": ports[1]}}
        if robot["kind"] == "ur-rtde":
            names = ("reverse_port", "trajectory_port", "script_command_port")
            at["robot"] |= dict(zip(names, ports[2:], strict=True))
        changed = {
            f"rig__device__{role}__{key}": value for role, keys in at.items() for key, value in keys.items()
        } | changed
        self.scenario = on_a_line(**{"duration": "1.5 s"} | PATIENT | changed)
        self.file = folder / "bench.toml"
        self.file.write_text(self.scenario.text())

    def start(self, command, *words, **options):
        """A process of `dockdyn rig COMMAND` that ends with the test."""
        line = [sys.executable, "-m", "dockdyn", "rig", command, str(self.file), *map(str, words)]
        running = Running(line, self.folder, **options)
        self.stack.callback(running.kill)
        return running

    def emulate(self, seconds=600):
        """The devices, once they are there."""
        emulator = self.start("emulate", "--seconds", f"{seconds} s")
        emulator.until("every 0.004 s")
        return emulator

    def serve(self, log, *words):
        """A server that waits for being armed."""
        server = self.start("serve", "--best-effort", "--log", log, *words)
        server.until("type arm")
        return server

    def run(self, log):
        """A server whose rig runs."""
        server = self.serve(log)
        arm_and_run(server)
        server.until("armed → running")
        return server


def arm_and_run(server):
    """Types what is asked for, each word when it is asked for."""
    server.until("type arm")
    server.type("arm\n")
    server.until("type run")
    server.type("run\n")


def process_of(server, module):
    """A process that a server has started, by the name of its module."""
    words = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    (found,) = (int(word) for word in words if module.encode() in Path(f"/proc/{word}/cmdline").read_bytes())
    return found


def stopped(running):
    """What a process prints that is asked to stop."""
    running.signal(signal.SIGINT)
    running.end()
    return running.printed
