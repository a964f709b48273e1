"""The physics of any docking: bodies in trees, contacts, what acts between and on them, connections that close and open."""
