"""Charts as data, drawn live in a page and on paper."""
