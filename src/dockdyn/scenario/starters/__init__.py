"""Scenarios of one's own to begin with: what `dockdyn new` asks of each mechanism, and the file that it writes."""
