"""Matrices in an OUTPUT2 file, as Nastran writes it."""

import numpy as np


def record(*parts):
    """A record of OUTPUT2 between its lengths, of words or of what is given in bytes."""
    content = b"".join(part if isinstance(part, bytes) else np.int32(part).tobytes() for part in parts)
    return np.int32(len(content)).tobytes() + content + np.int32(len(content)).tobytes()


def words(*numbers):
    return b"".join(record(number) for number in numbers)


def block(name, matrix):
    """A matrix as OUTPUT2 has it: name, trailer (columns, rows, square or not, double precision), then column by column."""
    label, (rows, columns) = name.ljust(8).encode(), matrix.shape
    form = 1 if rows == columns else 2
    found = words(2) + record(label) + words(-1, 7) + record(101, columns, rows, form, 2, 0, 0)
    found += words(-2, 1, 0, 2) + record(label) + words(-3, 1)
    for number, column in enumerate(matrix.T):
        found += words(1, 1 + 2 * rows) + record(1, column.tobytes()) + words(-4 - number, 1)
    return found + words(0, 0)


def write_op2(file, matrices):
    """Write matrices (by names of eight characters at most) into a file."""
    heading = words(3) + record(1, 1, 26) + words(7) + record(b"NASTRAN FORT TAPE ID CODE - ") + words(2)
    blocks = b"".join(block(name, matrix) for name, matrix in matrices.items())
    file.write_bytes(heading + record(b"dockdyn ") + words(-1, 0) + blocks + words(0))
