"""The scene in a browser: things are where the result has them, arrows are as long as forces are large."""

import numpy as np
import pytest
from browser import PATIENCE, WINDOW, new_context, wait_until
from replay_cases import CASES
from scene_policy import HELD, TRIES

from dockdyn.api import scene_of
from dockdyn.report.scene.page import page_of
from dockdyn.report.scene.rotation import rotate

KINDS = pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=() if kind in ("probe", "mechanism") else pytest.mark.full) for kind in CASES]
)


@pytest.fixture
def opened(browser, tmp_path):
    """Open the page of a scene; its errors are looked at in the end."""
    contexts, problems = [], []

    def open_scene(scene, **options):
        context = new_context(browser, **{"offline": True, "viewport": WINDOW, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        (tmp_path / "scene.html").write_text(page_of(scene), encoding="utf-8")
        page.goto(f"file://{tmp_path}/scene.html")
        wait_until(page, "document.documentElement.dataset.ready !== undefined")
        return page

    yield open_scene
    for context in contexts:
        context.close()
    assert not problems


@pytest.mark.full
@KINDS
def test_places_and_forces_are_those_of_the_result(shared_run, opened, kind):
    """A place of each body as seen from the body whose axes it is shown in, and each arrow, at times of the result."""
    scene = scene_of(shared_run(*CASES[kind][:2]))
    page = opened(scene)
    place, size = np.array([0.3, -0.2, 0.1]), scene.focus.reach
    base = scene.bodies.get(scene.seen_from)
    for row in np.linspace(0, len(scene.time) - 1, 7).astype(int):
        page.evaluate(f"dockdynClock.seek({float(scene.time[row])!r})")
        for name, motion in scene.bodies.items():
            wanted = motion.position[row] + rotate(motion.attitude[row], place)
            if base is not None:
                back = base.attitude[row] * np.array([1.0, -1.0, -1.0, -1.0])
                wanted = rotate(back, wanted - base.position[row])
            found = page.evaluate("([name, place]) => dockdynView.placeOf(name, place)", [name, place.tolist()])
            far = 1e-4 * max(size, 1.0) + 1e-6 * np.abs(wanted).max()
            np.testing.assert_allclose(found, wanted, rtol=0, atol=2 * far, err_msg=f"{name}, {scene.time[row]}")
    strongest = max(scene.forces, key=lambda one: np.linalg.norm(one.vector, axis=1).max())
    sizes = np.linalg.norm(strongest.vector, axis=1)
    row = int(sizes.argmax())
    page.evaluate(f"dockdynClock.seek({float(scene.time[row])!r})")
    told = [one for one in page.evaluate("dockdynView.forces()") if one["size"] > 0]
    most = max(told, key=lambda one: one["size"])
    assert most["size"] == pytest.approx(sizes[row], rel=0.02)
    lengths = {one["length"] / one["size"] for one in told if one["length"] < 0.99 * most["length"]}
    assert (
        all(ratio == pytest.approx(most["length"] / most["size"], rel=1e-6) for ratio in lengths) or len(lengths) == 0
    )


@pytest.mark.full
def test_keys_set_the_time_and_the_view_and_a_press_saves_a_picture(shared_run, opened):
    page = opened(scene_of(shared_run(*CASES["probe"][:2])), accept_downloads=True)
    page.locator("canvas").first.focus()
    page.keyboard.press("End")
    assert page.evaluate("dockdynClock.time") == pytest.approx(7.0)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("dockdynClock.time") == pytest.approx(7.0 - 7.0 / 600)
    page.keyboard.press("Home")
    page.keyboard.press("Shift+ArrowRight")
    assert 4.0 < page.evaluate("dockdynClock.time") < 7.0  # the first contact begins
    page.keyboard.press("2")
    assert page.get_by_role("button", name="whole").get_attribute("aria-pressed") == "true"
    page.keyboard.press(" ")
    wait_until(page, "dockdynClock.playing")
    page.keyboard.press(" ")
    with page.expect_download() as saved:
        page.get_by_role("button", name="PNG").click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")


@pytest.mark.full
def test_a_film_of_the_run_is_saved(shared_run, opened):
    page = opened(scene_of(shared_run(*CASES["probe"][:2])), accept_downloads=True)
    page.evaluate("dockdynClock.speed = 20")
    with page.expect_download() as saved:
        page.get_by_role("button", name="film").click()
    assert saved.value.path().read_bytes().startswith(b"\x1a\x45\xdf\xa3")  # of WebM (EBML)


@pytest.mark.full
def test_what_can_be_hidden_is_hidden(shared_run, opened):
    """Without the cone fewer pixels differ from the background."""
    page = opened(scene_of(shared_run(*CASES["probe"][:2])), viewport={"width": 1000, "height": 640}, drawn=True)
    if not page.locator(".dds-tree[open]").count():
        page.get_by_text("Scene", exact=True).click()
    before = page.evaluate("dockdynView.picture().toDataURL()")
    box = page.get_by_label("cone")
    box.uncheck()
    assert page.evaluate("dockdynView.picture().toDataURL()") != before
    box.check()
    assert page.evaluate("dockdynView.picture().toDataURL()") == before


def test_a_page_reaches_nothing_else(shared_run, browser, tmp_path):
    (tmp_path / "scene.html").write_text(page_of(scene_of(shared_run(*CASES["line, latch"][:2]))), encoding="utf-8")
    context = new_context(browser, viewport=WINDOW)
    page = context.new_page()
    page.goto(f"file://{tmp_path}/scene.html")
    wait_until(page, "document.documentElement.dataset.ready !== undefined")
    assert page.evaluate(TRIES) == HELD
    context.close()


def test_without_webgl_it_says_so_and_time_still_runs(shared_run, browser, tmp_path):
    (tmp_path / "scene.html").write_text(page_of(scene_of(shared_run(*CASES["line, latch"][:2]))), encoding="utf-8")
    context = new_context(browser, viewport=WINDOW)
    context.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    page = context.new_page()
    page.goto(f"file://{tmp_path}/scene.html")
    wait_until(page, "document.documentElement.dataset.ready !== undefined")
    assert page.get_by_text("needs WebGL").is_visible()
    page.evaluate("dockdynClock.seek(0.5)")
    assert page.locator(".dds-bar output").inner_text().startswith("0.50")
    context.close()
