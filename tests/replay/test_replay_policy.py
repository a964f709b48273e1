"""What a replay's page may do: play what is in it and, where it is served, talk to its server. It fetches nothing else."""

from contextlib import contextmanager

import numpy as np
import pytest
from browser import WINDOW, Page

from dockdyn.report.replay.live import live_page
from dockdyn.report.replay.overlay import overlay_script
from dockdyn.report.replay.page import page_of
from dockdyn.report.replay.player import scene_player
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow, Scene, ScenePart, SceneView, Signal, still_motion
from dockdyn.report.replay.shapes import ball_mesh

ELSEWHERE = "http://192.0.2.1"  # a network for documentation, RFC 5737
TRIES = f"""new Promise(done => {{
  const held = []; document.addEventListener("securitypolicyviolation", event => held.push(event.effectiveDirective));
  fetch("{ELSEWHERE}/a").catch(() => 0);
  new Image().src = "{ELSEWHERE}/b.png";
  const script = document.createElement("script"); script.src = "{ELSEWHERE}/c.js"; document.head.append(script);
  const frame = document.createElement("iframe"); frame.src = "{ELSEWHERE}/d"; document.body.append(frame);
  const wait = () => held.length > 3 ? done(held.sort()) : setTimeout(wait, 20); wait(); }})"""
HELD = ["connect-src", "frame-src", "img-src", "script-src-elem"]


def moving() -> Scene:
    time = np.array([0.0, 0.5, 1.0])
    part = ScenePart("ball", ball_mesh(1.0), "#d55e00", still_motion(3), body="ball")
    view = SceneView("overview", np.array([0, -9.0, 0]), np.zeros(3))
    return Scene("Held", time, [part], [view], signals=[Signal("force", "N", time, {"all": 20 * time})])


@contextmanager
def written(folder):
    file = folder / "replay.html"
    file.write_text(page_of(moving()), encoding="utf-8")
    yield f"file://{file}"


@contextmanager
def served(folder):
    with scene_player(moving(), script=overlay_script(moving())) as server:
        yield f"http://127.0.0.1:{server.get_port()}"


@pytest.mark.parametrize("shown", [written, served])
def test_a_replay_plays_and_reaches_nothing_else(shown, browser, tmp_path):
    with shown(tmp_path) as address:
        context = browser.new_context(viewport=WINDOW)
        page = Page(context, address)
        page.page.evaluate("__DOCKDYN__.seek(0.5)")
        assert not page.problems  # which violations are, too
        assert page.page.evaluate(TRIES) == HELD
        context.close()


class Still:
    """A live scene that stays as it is."""

    def __init__(self):
        nothing, scale = np.zeros((1, 3)), arrow_scale([np.ones((1, 3))], 1.0)
        arrow = Arrow("force", nothing, nothing.copy(), "#ffffff", "N", scale, 0.02)
        view = SceneView("overview", np.array([0, -9.0, 0]), np.zeros(3))
        part = ScenePart("ball", ball_mesh(1.0), "#d55e00", still_motion(1), body="ball")
        self.scene = Scene("Live", np.zeros(1), [part], [view], arrows=[arrow])

    def move(self, robot, model):
        pass


def test_a_live_view_shows_and_reaches_nothing_else(browser):
    with live_page(Still(), "127.0.0.1", 0) as live:
        live.tell("## running\n\nforce 3 N")
        context = browser.new_context(viewport=WINDOW)
        page, problems = context.new_page(), []
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(f"http://127.0.0.1:{live.server.get_port()}")
        page.get_by_text("force 3 N").wait_for(timeout=90_000)
        assert not problems
        assert page.evaluate(TRIES) == HELD
        context.close()
