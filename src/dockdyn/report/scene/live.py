"""A scene of one sample that moves while something runs, in browsers that look and can ask for nothing."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from dockdyn.report.scene.data import force_scale
from dockdyn.report.scene.page import page_of
from dockdyn.report.scene.scene import RunScene
from dockdyn.report.scene.serve import served

SILENT = 1.0  # s after which a browser hears a sign of life: one that is closed is noticed by it


class LiveScene(Protocol):
    """A scene of one sample, and how it follows poses."""

    scene: RunScene

    def placed(self, robot: np.ndarray, model: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (bodies, 3) and attitudes (bodies, 4) of the scene's bodies at these poses (axes,), m and rad."""

    def acting(self, load: np.ndarray) -> np.ndarray:
        """Return the scene's force (3,) of a load (axes,), N and N m."""


class News:
    """What browsers are told: the newest, to each that listens."""

    def __init__(self) -> None:
        self._changed, self._said, self._number = threading.Condition(), "", 0

    def say(self, facts: dict[str, Any]) -> None:
        """Tell facts, which are JSON."""
        with self._changed:
            self._said, self._number = json.dumps(facts), self._number + 1
            self._changed.notify_all()

    def lines(self) -> Iterator[str]:
        """Yield events as browsers read them, without end: the newest facts whenever there are others."""
        seen = 0
        while True:
            with self._changed:
                if self._number == seen:
                    self._changed.wait(SILENT)
                new, seen, said = self._number != seen, self._number, self._said
            yield f"data: {said}\n\n" if new else ": still here\n\n"


class LivePage:
    """The page of a live scene: bodies that move, an arrow for the force, words."""

    def __init__(self, live: LiveScene, news: News, address: str):
        self.live, self.news, self.address = live, news, address
        self.words: list[str] = []
        self.largest, self._pose = 0.0, {name: array[0] for name, array in _start_of(live.scene).items()}
        self._force = np.zeros(3)

    def move(self, robot: np.ndarray, model: np.ndarray, load: np.ndarray) -> None:
        """Show the scene at these poses (axes,), with the force of a load (axes,): its arrow is as long as it may be under the
        largest so far."""
        self._pose = dict(zip(("position", "attitude"), self.live.placed(robot, model), strict=True))
        self._force = self.live.acting(load)
        self.largest = max(self.largest, float(np.linalg.norm(self._force)))

    def tell(self, words: Sequence[str]) -> None:
        """Show what `move` set, with words: a heading and lines."""
        self.words = list(words)
        self.news.say(self.facts())

    def facts(self) -> dict[str, Any]:
        """Return what a browser is told, as `web/src/scene/live.ts` reads it."""
        scene = self.live.scene
        return {
            **{name: np.asarray(values).tolist() for name, values in self._pose.items()},
            "force": self._force.tolist(),
            "scale": force_scale([np.array([[self.largest, 0.0, 0.0]])], scene.focus.reach),
            "words": self.words,
        }


def _start_of(scene: RunScene) -> dict[str, np.ndarray]:
    """Return where bodies begin, by time."""
    motions = list(scene.bodies.values())
    return {name: np.stack([getattr(one, name) for one in motions], axis=1) for name in ("position", "attitude")}


@contextmanager
def live_page(live: LiveScene, host: str, port: int) -> Iterator[LivePage]:
    """Yield the page of a live scene, shown to browsers on `host` while the block runs. Raises OSError where it cannot be."""
    news = News()
    with served(page_of(live.scene, live=True), host, port, news.lines) as address:
        yield LivePage(live, news, address)
