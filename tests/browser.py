"""A headless browser for tests: Debian's chromium, drawing in software."""

import io
import os
import shutil
from time import monotonic

import numpy as np
import pytest

# Only what WebGL draws goes through the emulated graphics card: all else is sooner drawn without one.
SOFTWARE = ["--disable-gpu", "--enable-unsafe-swiftshader", "--no-sandbox"]
PATIENCE = 90_000  # ms; shaders are compiled in software
DRAWN = 30.0  # s
WINDOW = {"width": 720, "height": 450}
SMOOTH = """new Promise(done => { let quick = 0, before = performance.now(); const frame = () => {
  const now = performance.now(); quick = now - before < 250 ? quick + 1 : 0; before = now;
  quick > 4 ? done() : requestAnimationFrame(frame); }; frame(); })"""


def missing(why: str) -> None:
    """Skips, or fails where a browser is required, as on CI."""
    if os.environ.get("CI"):
        pytest.fail(f"{why}; CI requires it")
    pytest.skip(why)


def launch():
    """Playwright and a running browser; skips without one."""
    chromium = shutil.which("chromium")
    if chromium is None:
        missing("no chromium here")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    playwright = sync_playwright().start()
    return playwright, playwright.chromium.launch(executable_path=chromium, args=SOFTWARE)


class Page:
    """A replay in the browser."""

    def __init__(self, context, address: str):
        self.problems: list[str] = []
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", lambda m: self.problems.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.goto(address)
        self.page.wait_for_function("window.__DOCKDYN__?.ready")
        self.page.evaluate(SMOOTH)

    def at(self, time: float, view: int | None = None, unlike: np.ndarray | None = None) -> np.ndarray:
        """The picture (height, width, 3) of the scene at a time (s), without what lies over it.

        A page that draws in software takes its time: the picture is waited for until it shows something, stands still and,
        with `unlike`, differs from an earlier one; after `DRAWN` seconds it is what it is.
        """
        self.page.bring_to_front()  # a tab behind another draws nothing
        if view is not None:
            self.page.evaluate(f"__DOCKDYN__.look({view})")
        self.page.evaluate(f"__DOCKDYN__.seek({time})")
        self.page.evaluate("__DOCKDYN__.drawn()")
        self.page.evaluate("document.getElementById('dd').style.visibility = 'hidden'")
        end, before = monotonic() + DRAWN, None
        while True:
            self.page.wait_for_timeout(120)
            shot = picture(self.page.screenshot())
            calm = before is not None and not changed(before, shot)
            if (calm and np.ptp(shot) > 60 and (unlike is None or changed(unlike, shot))) or monotonic() > end:
                break
            before = shot
        self.page.evaluate("document.getElementById('dd').style.visibility = 'visible'")
        return shot

    def cursors(self) -> list[str]:
        return self.page.evaluate("[...document.querySelectorAll('.dd-cursor')].map(n => n.getAttribute('x1'))")

    def close(self) -> None:
        self.page.close()


def changed(one: np.ndarray, other: np.ndarray) -> int:
    """How many pixels differ clearly."""
    return int((np.abs(other - one).max(axis=2) > 40).sum())


def picture(shot: bytes) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(shot)).convert("RGB")).astype(int)


def hue(image: np.ndarray, colour: str) -> np.ndarray:
    """Which pixels (height, width) have the hue of a colour: brighter and darker by light, but of no other hue."""
    from matplotlib.colors import rgb_to_hsv, to_rgb

    wanted, found = rgb_to_hsv(to_rgb(colour)), rgb_to_hsv(image / 255)
    off = np.abs(found[..., 0] - wanted[0])
    return (np.minimum(off, 1 - off) < 0.02) & (found[..., 1] > 0.6 * wanted[1]) & (found[..., 2] > 0.25)
