"""How trees of links are put together, and what is refused."""

import re

import numpy as np
import pytest
from tree_cases import random_link

from dockdyn.mechanics.trees.tree_building import Link, tree_of


@pytest.mark.parametrize(
    ("links", "base", "message"),
    [
        ([Link("a")], "flying", "base is 'flying'; must be one of free, planar, fixed"),
        (
            [Link("a"), Link("b", "a", joint="helical")],
            "free",
            "link 'b': joint is 'helical'; must be one of revolute, ",
        ),
        ([Link("a"), Link("b", "c")], "free", "link 'b': its parent 'c' is no link"),
        ([Link("a"), Link("b", "c"), Link("c", "b")], "free", "links b, c form a loop"),
        ([Link("a"), Link("b", "b")], "free", "links b form a loop"),
        ([Link("a"), Link("b")], "free", "2 links have no parent (a, b)"),
        ([Link("a", "b"), Link("b", "a")], "free", "0 links have no parent"),
        ([], "free", "0 links have no parent"),
        ([Link("a"), Link("b", "a"), Link("b", "a")], "free", "two links are called 'b'"),
        ([Link("a"), Link("b", "a", at=0.5)], "free", "link 'b': at = 0.5: its parent 'a' has no beam"),
    ],
)
def test_no_tree(links, base, message):
    """One line that names the link and what is wrong."""
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        tree_of(links, base)
    assert "\n" not in str(caught.value)


def test_links_in_any_order():
    """Parents may come after their children."""
    rng = np.random.default_rng(3)
    links = [random_link(rng, name, parent, "revolute") for name, parent in (("a", None), ("b", "a"), ("c", "b"))]
    straight, mixed = tree_of(links), tree_of([links[2], links[0], links[1]])
    assert straight.layout == mixed.layout
    assert all(np.array_equal(one, other) for one, other in zip(straight.links, mixed.links, strict=True))
