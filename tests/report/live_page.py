"""What tests do with a page that computes."""

import browser


def complaints(said):
    """What a page has said less what the drawing of scenes in software always says."""
    return [one for one in said if "GL Driver Message" not in one]


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
