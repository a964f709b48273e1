"""A scenario before it is run: what overlaps, what touches first and when, masses, what it costs."""
