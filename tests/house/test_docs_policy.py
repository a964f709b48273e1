"""Pages of the documentation say that they fetch nothing from elsewhere, and work so from a file."""

import runpy
from pathlib import Path

CONFIGURATION = Path(__file__).parents[2] / "docs/conf.py"
PAGE = """<!doctype html><html><head>{policy}<link rel="stylesheet" href="own.css"></head><body>
<script>document.title = "inline"</script><script src="own.js"></script>
<math><mfrac><mn>1</mn><mi>x</mi></mfrac></math>
<img src="https://elsewhere.invalid/picture.png"><script src="https://elsewhere.invalid/script.js"></script>
</body></html>
"""


def test_a_page_of_the_documentation_fetches_nothing_from_elsewhere(tmp_path, browse):
    context = {"metatags": '<meta name="viewport" content="width=device-width">'}
    runpy.run_path(str(CONFIGURATION))["add_policy"](None, "page", "page.html", context, None)
    (tmp_path / "page.html").write_text(PAGE.format(policy=context["metatags"]))
    (tmp_path / "own.css").write_text("body { color: rgb(1, 2, 3) }")
    (tmp_path / "own.js").write_text('document.title += " and own"')
    page, said = browse(tmp_path / "page.html", 800, 600)
    assert page.title() == "inline and own"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(1, 2, 3)"
    assert page.locator("math").bounding_box()["height"] > 0
    assert page.locator("meta[name=viewport]").count() == 1
    assert len(said) == 2 and all("elsewhere.invalid" in each and "Content Security Policy" in each for each in said)
