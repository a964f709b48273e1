"""Devices of a rig: the bytes of force sensors and robots, in Python as the reference and in C for the cycle."""
