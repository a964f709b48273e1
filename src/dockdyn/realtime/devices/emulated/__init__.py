"""The other end of the wire: devices that speak the real bytes, with the faults that real ones have.

Bytes in, bytes out, time given: no sockets and no clock, so that lockstep and real time run the same code. Seeds are stated.
"""
