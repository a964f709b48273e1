"""A report by the keyboard alone: everything that can be pressed is reached, has a name, and says that it is reached."""

import pytest
from browser import new_context, wait_until

from dockdyn.pages import report_html

REACHED = """() => { const node = document.activeElement;
  if (!node || node === document.body) return null;
  const box = node.getBoundingClientRect(), style = getComputedStyle(node);
  const words = node.getAttribute("aria-label") || node.innerText || node.title || node.value || "";
  return { tag: node.tagName, name: words.trim(),
    labelled: !!(node.labels && node.labels.length), seen: box.width > 0 && box.height > 0,
    outline: parseFloat(style.outlineWidth) > 0 && style.outlineStyle !== "none",
    at: [...document.querySelectorAll("*")].indexOf(node) } }"""
PRESSED = "a[href], button:not([disabled]), select, summary, input, [tabindex='0']"


@pytest.fixture(scope="module")
def page(browser, shared_run, tmp_path_factory):
    file = tmp_path_factory.mktemp("keyboard") / "report.html"
    file.write_text(report_html(shared_run("probe-cone")), encoding="utf-8")
    page = new_context(browser, viewport={"width": 1440, "height": 900}).new_page()
    page.goto(file.as_uri())
    wait_until(page, "'ready' in document.documentElement.dataset")
    wait_until(page, "document.querySelector('#scene button') !== null")
    wait_until(page, "'tried' in document.getElementById('live').dataset")  # nothing more comes to stand in the page
    yield page
    page.context.close()


@pytest.mark.full
def test_everything_is_reached_in_order_with_a_name_and_a_mark(page):
    expected = page.evaluate(
        f"[...document.querySelectorAll({PRESSED!r})].filter(n => n.checkVisibility() && n.tabIndex >= 0).length"
    )
    found = []
    for _ in range(expected + 5):
        page.keyboard.press("Tab")
        one = page.evaluate(REACHED)
        if one is None or (found and one["at"] == found[0]["at"]):
            break
        found.append(one)
    assert len(found) >= 0.9 * expected > 20  # all but what is folded into one stop, as radio buttons are
    places = [one["at"] for one in found]
    assert places == sorted(places)  # as it is read
    assert [one for one in found if not (one["name"] or one["labelled"])] == []
    assert [one for one in found if not one["outline"]] == []
    assert [one for one in found if not one["seen"]] == []


@pytest.mark.full
def test_the_keys_that_the_page_names_do_what_it_says(page):
    page.locator("body").click(position={"x": 5, "y": 400})
    time = "document.querySelector('.time b').textContent"
    page.keyboard.press("Home")
    begin = page.evaluate(time)
    page.keyboard.press("ArrowRight")
    assert float(page.evaluate(time)) > float(begin)
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(time) == begin
    page.keyboard.press("Shift+ArrowRight")
    assert float(page.evaluate(time)) == pytest.approx(8.17, abs=0.02)  # the first contact's onset
    page.keyboard.press("End")
    assert float(page.evaluate(time)) == pytest.approx(30.0)


def test_on_paper_there_is_what_is_read_and_nothing_to_press(page):
    page.emulate_media(media="print")
    try:
        assert not page.locator(".mast, .transport, .copy, .tools").locator("visible=true").count()
        assert page.locator(".headline").is_visible() and page.locator(".tile").first.is_visible()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        cut = (
            "[...document.querySelectorAll('.scroll')].filter(n => getComputedStyle(n).overflowX !== 'visible').length"
        )
        assert page.evaluate(cut) == 0
    finally:
        page.emulate_media(media="screen")
