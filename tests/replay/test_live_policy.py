"""What a live view's page may do: show what is in it and talk to its server. It fetches nothing else."""

import numpy as np
from browser import WINDOW
from scene_policy import HELD, TRIES

from dockdyn.report.replay.live import live_page
from dockdyn.report.replay.scale import arrow_scale
from dockdyn.report.replay.scene import Arrow, Scene, ScenePart, SceneView, still_motion
from dockdyn.report.replay.shapes import ball_mesh


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
