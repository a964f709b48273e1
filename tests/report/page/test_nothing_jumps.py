"""What is read stays where it is: scene and what computes, which arrive after a page's curves, have room from the first."""

import pytest
from browser import wait_until

# places as they are in the very moment in which the curves stand: what is awaited then has not come
NOTE_PLACES = """
window.placesNow = () => Object.fromEntries([...document.querySelectorAll(
  ".hero, .verdict, .tile, main section, .bench > *, .transport, figure, table, .requirement, .pairs, details")]
  .filter((one) => !one.closest("#live, #live-numbers, #live-case, #scene") && one.checkVisibility())
  .map((one, i) => {
    const { top, height } = one.getBoundingClientRect();
    return [`${i} ${one.id || one.className || one.tagName}`, [top + scrollY, height]];
  }));
new MutationObserver((_, observer) => {
  if (!("ready" in document.documentElement.dataset)) return;
  observer.disconnect();
  window.placesThen = placesNow();
  window.computedThen = document.getElementById("live-numbers")?.childElementCount ?? 0;
}).observe(document, { attributes: true, attributeFilter: ["data-ready"], subtree: true });
window.chartHeights = () => [...document.querySelectorAll("figure[data-chart] .chart")]
  .map((one) => one.getBoundingClientRect().height);
addEventListener("DOMContentLoaded", () => { window.heightsFirst = chartHeights(); });
"""
SETTLED = "'settled' in document.documentElement.dataset"
ROUNDED = 1.5  # px


@pytest.mark.full_cases(
    "390-rig",
    "390-tree",
    "390-stability",
    "1440-rig",
    "1440-tree",
    "1440-stability",
    "1440-run",
    "390-campaign",
    "390-run",
)
@pytest.mark.parametrize("kind", ["run", "campaign", "rig", "tree", "stability"])
@pytest.mark.parametrize("width", [390, 1440])
def test_what_is_read_stays_where_it_is(page_file, browse, kind, width):
    page, _ = browse(page_file(kind), width, 900, script=NOTE_PLACES)
    wait_until(page, SETTLED)
    then, now = page.evaluate("[placesThen, placesNow()]")
    assert then.keys() == now.keys() and len(then) > 10
    moved = {
        name: (then[name], now[name])
        for name in then
        if any(abs(a - b) > ROUNDED for a, b in zip(then[name], now[name], strict=True))
    }
    assert moved == {}
    first, last = page.evaluate("[heightsFirst, chartHeights()]")  # before the curves are unpacked, and with them
    assert len(first) > 1 and first == pytest.approx(last, abs=ROUNDED)
    if page.evaluate("document.getElementById('live-numbers') !== null"):
        assert (
            page.evaluate("computedThen")
            == 0
            < page.evaluate("document.getElementById('live-numbers').childElementCount")
        )
