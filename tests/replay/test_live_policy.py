"""What a live view's page may do: show what is in it and listen to its server. It fetches nothing else."""

import numpy as np
from browser import WINDOW, new_context, wait_until
from scene_policy import HELD, TRIES

from dockdyn.report.scene.live import live_page
from dockdyn.report.scene.scene import Focus, RunScene, ShownForce, ShownMotion, ShownPart
from dockdyn.report.scene.solids import BallSolid


class Sliding:
    """A live scene of a ball that is where the robot is along x."""

    def __init__(self):
        ball = ShownMotion(np.zeros((1, 3)), np.eye(4)[:1])
        part = ShownPart("ball/all", [BallSolid(np.zeros(3), 1.0)], ball, "gear", "ball")
        force = ShownForce("measured force", np.zeros((1, 3)), np.zeros((1, 3)), ball)
        focus = Focus(None, np.zeros(3), np.eye(3)[0], 2.0)
        self.scene = RunScene("Live", np.zeros(1), {"ball": ball}, [part], focus, forces=[force], goes_on=True)

    def placed(self, robot, model):
        return np.array([[robot[0], 0.0, 0.0]]), np.eye(4)[:1]

    def acting(self, load):
        return np.array([load[0], 0.0, 0.0])


def test_a_live_view_follows_its_server_and_reaches_nothing_else(browser):
    with live_page(Sliding(), "127.0.0.1", 0) as live:
        live.tell(["waiting"])
        context = new_context(browser, viewport=WINDOW)
        page, problems = context.new_page(), []
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(live.address)
        page.get_by_role("heading", name="waiting").wait_for(timeout=90_000)
        for place, load in ((0.25, -3.0), (0.5, 12.0)):
            live.move(np.array([place]), np.zeros(1), np.array([load]))
            live.tell(["running", f"force {abs(load):g} N", "<b>bold</b>"])
            page.get_by_text(f"force {abs(load):g} N").wait_for()
            assert page.get_by_text("<b>bold</b>").is_visible()  # words are no code
            assert page.evaluate("dockdynView.placeOf('ball', [1, 0, 0])") == [1 + place, 0, 0]
            (force,) = page.evaluate("dockdynView.forces()")
            assert (
                force["size"] == abs(load) and 0.8 < force["length"] < 2.4001
            )  # the largest so far, as long as it may be
        assert not problems
        assert page.evaluate(TRIES) == HELD
        context.close()


def test_what_listens_hears_the_newest_and_a_page_that_comes_late_all_of_it(browser):
    with live_page(Sliding(), "127.0.0.1", 0) as live:
        for number in range(100):
            live.move(np.array([float(number)]), np.zeros(1), np.zeros(1))
            live.tell([f"news {number}"])
        context = new_context(browser, viewport=WINDOW)
        page = context.new_page()
        page.goto(live.address)
        page.get_by_role("heading", name="news 99").wait_for(timeout=90_000)
        wait_until(page, "dockdynView.placeOf('ball', [0, 0, 0])[0] === 99")
        context.close()
