"""A headless browser for tests: Debian's chromium, drawing in software."""

import io
import os
import shutil
from time import monotonic, sleep

import numpy as np
import pytest

# Only what WebGL draws goes through the emulated graphics card: all else is sooner drawn without one.
SOFTWARE = ["--disable-gpu", "--enable-unsafe-swiftshader", "--no-sandbox"]
PATIENCE = 90_000  # ms; shaders are compiled in software
PAUSE = 0.05  # s
WINDOW = {"width": 720, "height": 450}
DRAWS = ("drawArrays", "drawElements", "drawArraysInstanced", "drawElementsInstanced")
NOTHING_DRAWN = "".join(f"WebGL2RenderingContext.prototype.{name} = () => undefined;" for name in DRAWS)


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


def new_context(browser, drawn=False, **options):
    """Windows of a browser; scenes in them have all but their pixels, which take most of the time of a page, unless drawn."""
    context = browser.new_context(**options)
    if not drawn:
        context.add_init_script(NOTHING_DRAWN)
    return context


def wait_until(page, expression: str) -> None:
    """Waits until an expression is true in a page, or a frame; Playwright's own way evaluates texts, which policies forbid."""
    end = monotonic() + PATIENCE / 1000
    while not page.evaluate(f"Boolean({expression})"):
        assert monotonic() < end, f"{expression} has not become true"
        sleep(PAUSE)


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
