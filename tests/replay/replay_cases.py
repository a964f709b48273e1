"""A case of every kind whose replay is looked at."""

# name: preset, overrides, instant (s) at which an arrow must be seen, instant at which it must not
CASES = {
    "probe": ("sazawal-compliance", {"duration": "7 s"}, 5.6, 0.0),
    "line": ("paraskevas-a", {"duration": "0.1 s"}, 0.032, 0.0),
    "line, latch": ("paraskevas-latch", {}, 0.55, 0.0),
    "rig": ("sits", {"duration": "1 s"}, 0.2, None),
    "mechanism": ("soyuz-like-probe", {"duration": "3 s"}, 1.9, 0.0),
    "mock-ups": ("epos-like", {}, 8.0, 0.0),
}
