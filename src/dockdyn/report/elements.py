"""HTML in Python: elements whose texts are escaped, whatever a user wrote into them."""

from __future__ import annotations

import re
from html import escape

Attribute = str | int | float | bool | None
VOID = {"meta", "img", "br", "wbr"}  # without an end


class Html(str):
    """Text that is HTML already."""


def element(name: str, /, *children: str | None, **attributes: Attribute) -> Html:
    """Return an element; texts among its `children` are escaped, `Html` is taken as it is, None is left out.

    Names of attributes end with an underscore where Python has the word for itself, and have underscores for hyphens.
    """
    given = "".join(
        f" {key.rstrip('_').replace('_', '-')}{'' if value is True else f'="{escape(str(value))}"'}"
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return Html(f"<{name}{given}>{join(*children)}{'' if name in VOID else f'</{name}>'}")


def join(*children: str | None) -> Html:
    """Return children one after the other, texts among them escaped."""
    return Html("".join(child if isinstance(child, Html) else escape(child) for child in children if child is not None))


def breakable(words: str) -> Html:
    """Return words whose long names of keys may be broken after a dot or an underline, and are not anywhere else."""
    first, *others = re.split(r"(?<=\w[._])(?=[a-z])", words)
    return join(first, *(part for other in others for part in (element("wbr"), other)))
