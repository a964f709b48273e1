"""Compensators compared on one rig: how, what is kept of it, which is recommended, the report."""
