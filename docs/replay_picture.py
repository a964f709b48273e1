"""A replay as a browser shows it, for README: needs Debian's chromium and playwright."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import dockdyn

CONTACT = 3  # the camera close on the contact
SOFTWARE = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-sandbox"]


def replay_picture() -> io.BytesIO:
    """The demo at the peak of its second contact."""
    result = dockdyn.simulate(dockdyn.load("probe-cone"))
    peak = dockdyn.summarise(result)["contacts"][1]["peak_time_s"]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "replay.html"
        page.write_text(dockdyn.replay_html(result), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=SOFTWARE)
        shown = browser.new_page(viewport={"width": 1000, "height": 520}, device_scale_factor=1.25)
        shown.set_default_timeout(90_000)  # ms; shaders are compiled in software
        shown.goto(page.as_uri())
        shown.wait_for_function("window.__DOCKDYN__?.ready")
        shown.evaluate(f"__DOCKDYN__.look({CONTACT})")
        shown.evaluate(f"__DOCKDYN__.seek({peak})")
        shown.wait_for_timeout(8000)
        drawn = shown.screenshot()
        browser.close()
    return io.BytesIO(drawn)


if __name__ == "__main__":
    Path("replay.png").write_bytes(replay_picture().getvalue())
