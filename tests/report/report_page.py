"""A report's page as tests see it: what it holds, and what every one must be."""

import io
import re
from html import escape
from html.parser import HTMLParser

import numpy as np
from PIL import Image

from dockdyn.report.page import page_part

SCRIPTS = ("page.js", "page-run.js", "page-campaign.js", "page-margins.js")  # of which a page has one


class Page(HTMLParser):
    """What a report holds: every tag with its attributes, all text, scripts, and rows of tables by heading and by class.

    Of tables under one heading those of the first are known by it.
    """

    VOID = ("meta", "img", "br", "wbr", "link")

    def __init__(self, html: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.heading = self.text = ""
        self.region: str | None = None
        self.tables: dict[str | None, list[list[str]]] = {}
        self.rows: list[list[str]] = []
        self.feed(html)
        assert not self.open, "tags left open"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "div":
            self.region = dict(attrs).get("aria-label")
        if tag == "table":
            self.rows = []
            self.tables[dict(attrs).get("class")] = self.rows
            self.tables.setdefault(self.region, self.rows)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
            return
        self.text += data
        if self.open and self.open[-1] == "h1":
            self.heading += data
        if "td" in self.open:
            self.rows[-1][-1] += data.replace("−", "-")  # the sign as a program reads it


# What the browser finds in the page, written into the page around its frame.
PROBE = """<script>addEventListener("load", () => {
  const broken = [...document.images].filter(image => !image.complete || !image.naturalWidth).length;
  const drawn = document.querySelectorAll("figure .plot svg, figure .picture svg");
  const empty = [...drawn].filter(svg => !(svg.getBBox().width > 100)).length;
  const over = document.documentElement.scrollWidth - innerWidth;
  const figures = document.querySelectorAll("figure .picture, figure .chart").length;
  parent.document.body.dataset.found = [broken, empty, over > 0, innerWidth, figures, document.images.length].join(" ");
})</script>"""


def references(page: Page) -> list[str]:
    """What its tags refer to."""
    return [value for _, given in page.tags for key, value in given.items() if key in ("src", "href", "xlink:href")]


def without_scripts(html: str) -> str:
    return re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)


def check_nothing_from_outside(html: str, inside: tuple[str, ...] = ("#", "data:image/png;base64,")) -> Page:
    """Nothing is loaded, only own scripts run, no name is given twice, the user's tags are text; what the page holds."""
    page = Page(html)
    assert not {tag for tag, _ in page.tags} & {"link", "iframe", "object", "embed", "base", "i"}
    own = {page_part(name) for name in SCRIPTS}
    data = [given for tag, given in page.tags if tag == "script" and given]
    assert all(
        given["type"] in ("application/json", "application/octet-stream") and "src" not in given for given in data
    )
    assert len([text for text in page.scripts if text in own]) == len(page.scripts) - len(data) <= 2
    assert all(value.startswith(inside) for value in references(page))
    assert all(target.startswith("#") for target in re.findall(r"url\(['\"]?([^)]*)", without_scripts(html)))
    ids = [given["id"] for _, given in page.tags if "id" in given]
    assert len(set(ids)) == len(ids)
    return page


def check_dark_and_light(browse, html: str, folder, height: int) -> None:
    """The page opens without a complaint, on the paper of either scheme and with text and lines that stand out from it."""
    file = folder / "report.html"
    file.write_text(html, encoding="utf-8")
    for scheme, paper in (("dark", (0x0D, 0x0F, 0x12)), ("light", (0xF7, 0xF7, 0xF5))):
        page, said = browse(file, 900, height, scheme)
        if "data-chart=" in html:
            page.wait_for_selector("html[data-ready]", state="attached")
        shown = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
        assert not said  # nothing refused, nothing missing
        assert tuple(shown[70, 2]) == paper  # beside what is on the page, below its head
        contrast = np.abs(shown.astype(int) - paper).sum(axis=2)
        assert (contrast > 300).mean() > 0.01


def figures_at_width(browse, html: str, folder, width: int) -> tuple[int, int]:
    """How many figures a page shows so wide (pixels), and how many of them are images; none is broken, empty or too wide."""
    html = re.sub(r"<meta http-equiv[^>]*>", "", html).replace("</body>", f"{PROBE}</body>")  # the page forbids scripts
    # a frame, because no window is narrower than 500 pixels
    frame = f'<iframe style="border: 0; width: {width}px; height: 900px" srcdoc="{escape(html)}"></iframe>'
    file = folder / "report.html"
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{frame}</body>", encoding="utf-8")
    page, _ = browse(file, 1200, 1000)
    page.wait_for_selector("body[data-found]", state="attached")
    *faults, wide, figures, images = page.locator("body").get_attribute("data-found").split()
    assert (*faults, wide) == ("0", "0", "false", str(width))
    return int(figures), int(images)
