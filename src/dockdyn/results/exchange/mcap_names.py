"""What the writer and the reader of MCAP files share: names in the file of a run, and what both need."""

from __future__ import annotations

RUN = "/run"  # the channel with all variables over time
ABOUT = "dockdyn"  # the metadata record that says what the file is
COLUMNS = "columns"  # its entry: JSON, headings by field
NEEDED = "needs the packages mcap, mcap-ros2-support and mcap-protobuf-support; pip install 'dockdyn[mcap]'"
