"""What tests do with a page that computes."""

import shlex

import browser


def complaints(said):
    """What a page has said less what the drawing of scenes in software always says."""
    return [one for one in said if "GL Driver Message" not in one]


OWN = "of the report’s own numbers"


def check_advice(page, advice, settings):
    """What a page advises after its numbers are moved is what the report of these numbers advises, its commands with their
    settings; all else says that it is the report's own. Gives what follows the numbers, or is said whatever they are."""
    followed = set()
    of_run = {one.follows: one for one in advice}
    shown = page.locator(".guide dd")
    for dd in shown.all():
        follows, words = dd.get_attribute("data-follows"), dd.inner_text()
        if "reported" in (dd.get_attribute("class") or ""):
            assert OWN in words
        else:
            assert follows and words.startswith(of_run[follows].sentence) and OWN not in words
            followed.add(follows)
        if follows == "settings" and follows in followed:
            assert shlex.split(dd.locator("code").inner_text()) == [*shlex.split(of_run[follows].command), *settings]
    lead = page.locator(".verdict .lead")
    assert not lead.count() or OWN in lead.inner_text() or "in the report" in lead.inner_text()
    return followed


def move_key(page, key, changed):
    """Move the number of a key to what `changed` makes of it, in the unit that the page shows it in, as a reader does."""
    row = f"[data-key='{key}']"
    if not page.locator(row).count():
        page.fill(".live-search", key)
        page.press(".live-search", "Enter")
    shown = float(page.input_value(f"{row} input[type=number]"))
    before = page.evaluate("Number(document.getElementById('live').dataset.shown ?? 0)")
    page.fill(f"{row} input[type=number]", repr(changed(shown)))
    page.press(f"{row} input[type=number]", "Enter")
    browser.wait_until(page, f"Number(document.getElementById('live').dataset.shown ?? 0) > {before}")


def move(page, place, value):
    """Move a number to a value in SI units."""
    move_key(page, place.key, lambda shown: shown * value / place.value)
