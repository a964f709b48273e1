"""Dockings for other simulators: functional mock-up units."""
