"""Every text of a page stands out from what it stands on, in both themes: WCAG 2.2, success criterion 1.4.3."""

import pytest
from live_page import move_key

TEXT, LARGE = 4.5, 3.0  # AA; large: from 24 px on, or 18.66 px where it is bold
# Colours are read as a canvas paints them, whatever a style calls them; grounds and texts that let through are laid over
# each other. What stands on a picture stands on the colour of its place.
FAINT = """([text, large]) => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], ground) => [r, g, b].map((one, i) => one * a + ground[i] * (1 - a));
  const linear = (one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4);
  const light = (rgb) => rgb.reduce((sum, one, i) => sum + [0.2126, 0.7152, 0.0722][i] * linear(one), 0);
  const groundOf = (node) => {
    const grounds = [];
    for (let at = node; at; at = at.parentElement) {
      const [r, g, b, a] = rgba(getComputedStyle(at).backgroundColor);
      if (a) grounds.push([r, g, b, a]);
      if (a === 1) break;
    }
    return grounds.reverse().reduce((below, one) => over(one, below), [255, 255, 255]);
  };
  const opacityOf = (node) => {
    let all = 1;
    for (let at = node; at; at = at.parentElement) all *= Number(getComputedStyle(at).opacity);
    return all;
  };
  const called = (node) => `${node.tagName}.${node.className.baseVal ?? node.className}`;
  const found = {}, walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let count = 0;
  while (walk.nextNode()) {
    const node = walk.currentNode.parentElement, words = walk.currentNode.data.trim();
    if (!words || !node.checkVisibility() || node.closest("script, style, noscript, :disabled, .metadata")) continue;
    const style = getComputedStyle(node), inside = node.closest("svg"), [r, g, b, a] = rgba(inside ? style.fill : style.color);
    const ground = groundOf(inside ? inside.parentElement : node), seen = over([r, g, b, a * opacityOf(node)], ground);
    const [low, high] = [light(seen), light(ground)].sort((x, y) => x - y), ratio = (high + 0.05) / (low + 0.05);
    const size = parseFloat(style.fontSize), bold = Number(style.fontWeight) >= 700;
    const asked = size >= 24 || (size >= 18.66 && bold) ? large : text;
    count += 1;
    const where = `${called(node)} in ${called(node.parentElement)}: ${words.slice(0, 30)}`;
    if (ratio < asked) found[where] = Math.round(100 * ratio) / 100;
  }
  return [count, found];
}"""


def faint_texts(page):
    count, found = page.evaluate(FAINT, [TEXT, LARGE])
    assert count > 40
    return found


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", ["run", "rig", "tree", "stability", "campaign", "envelope"])
def test_every_text_stands_out_from_what_it_stands_on(whole_page, kind, scheme):
    assert faint_texts(whole_page(kind, scheme=scheme)) == {}


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("kind", "key", "times"), [("run", "loop.delay", 1.5), ("campaign", "requirements.peak_force", 1.1)]
)
def test_texts_stand_out_when_a_number_has_been_moved(whole_page, kind, key, times, scheme):
    page = whole_page(kind, scheme=scheme)
    move_key(page, key, lambda shown: times * shown)
    assert page.locator("html.what-if").count()
    assert faint_texts(page) == {}


@pytest.mark.full_cases("color: #8a8a8a", "opacity: .5")
@pytest.mark.parametrize("faint", ["color: #8a8a8a", "opacity: .5", "background: #888"])
def test_a_text_that_does_not_is_found(whole_page, faint):
    page = whole_page("envelope")
    page.evaluate("(style) => document.querySelector('.eyebrow').setAttribute('style', style)", faint)
    assert any(one.startswith("H1.eyebrow") for one in faint_texts(page))
