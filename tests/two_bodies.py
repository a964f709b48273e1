"""A mechanism of two bodies, stated by their names."""

BODIES = ("chaser", "target")


def two_bodies(tables):
    """Return `tables` with the bodies `chaser` and `target`, which they state by these names, as those of a mechanism.

    The pair of the first contact is where they approach; without an approach control acts on the chaser.
    """
    found = {key: value for key, value in tables.items() if key not in BODIES}
    found["body"] = {name: tables[name] for name in BODIES}
    if "approach" in tables:
        own, to = next(iter(tables["contact"].values()))["between"]
        found["approach"] = {"of": own, "to": to, **tables["approach"]}
    elif "control" in tables:
        found["control"] = {"body": "chaser", **tables["control"]}
    return found
