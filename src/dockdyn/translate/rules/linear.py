"""Rules of the factorisations that linear systems are solved by; small matrices only, in loops.

Units: none.
Source: Golub and Van Loan 2013, algorithms 3.1.2, 3.4.1 and 4.2.1.
"""

from __future__ import annotations

import math
from typing import Any

from dockdyn.translate.arrays import Array, StoredArray, copy_array, dtype_of, flat_index, in_memory, load_array
from dockdyn.translate.jaxpr import Translator, register_rule
from dockdyn.translate.scalar_program import Builder, Scalar


class MatrixTable:
    """A matrix in memory, of many one."""

    def __init__(self, builder: Builder, array: StoredArray, before: Scalar):
        self.builder, self.array = builder, array
        self.rows, self.columns = array.shape[-2:] if len(array.shape) > 1 else (array.shape[-1], 1)
        self.start = builder.compute("add", array.start, builder.compute("mul", before, self.rows * self.columns))

    def place(self, row: Scalar, column: Scalar) -> Scalar:
        inner = flat_index(self.builder, (row, column), (self.rows, self.columns))
        return self.builder.compute("add", self.start, inner)

    def get(self, row: Scalar, column: Scalar) -> Scalar:
        return self.builder.load(self.array.store, self.place(row, column))

    def put(self, row: Scalar, column: Scalar, value: Scalar) -> None:
        self.builder.save(self.array.store, self.place(row, column), value)

    def exchange(self, one: Scalar, other: Scalar) -> None:
        """Exchange two rows."""
        with self.builder.repeat(self.columns) as column:
            first, second = self.get(one, column), self.get(other, column)
            self.put(one, column, second)
            self.put(other, column, first)


@register_rule("lu")
def lower_upper(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    """Return P A = L U by Gaussian elimination with partial pivoting: the factors in one, the pivots, the permutation."""
    builder, whole = translator.builder, copy_array(translator.builder, arrays[0])
    rows, columns = whole.shape[-2:]
    batch = whole.shape[:-2]
    pivots = StoredArray(builder.memory("int32", max(math.prod(outs[1].shape), 1)), 0, tuple(outs[1].shape), "int32")
    order = StoredArray(builder.memory("int32", max(math.prod(outs[2].shape), 1)), 0, tuple(outs[2].shape), "int32")
    with builder.repeat(math.prod(batch)) as one:
        matrix, turned = (
            MatrixTable(builder, whole, one),
            MatrixTable(builder, StoredArray(order.store, 0, (*batch, rows, 1), "int32"), one),
        )
        chosen = MatrixTable(builder, StoredArray(pivots.store, 0, (*batch, min(rows, columns), 1), "int32"), one)
        with builder.repeat(rows) as row:
            turned.put(row, 0, row)
        with builder.repeat(min(rows, columns)) as step:
            pivot = _pivot_row(builder, matrix, step)
            chosen.put(step, 0, pivot)
            matrix.exchange(step, pivot)
            turned.exchange(step, pivot)
            diagonal = matrix.get(step, step)
            with builder.repeat(rows, builder.compute("add", step, 1)) as row:
                nonzero = builder.compute("ne", diagonal, 0.0)  # a singular matrix keeps its column
                factor = builder.select(
                    nonzero, builder.compute("div", matrix.get(row, step), diagonal), matrix.get(row, step)
                )
                matrix.put(row, step, factor)
                with builder.repeat(columns, builder.compute("add", step, 1)) as column:
                    less = builder.compute("mul", factor, matrix.get(step, column))
                    matrix.put(row, column, builder.compute("sub", matrix.get(row, column), less))
    return [load_array(builder, one) for one in (whole, pivots, order)]


def _pivot_row(builder: Builder, matrix: MatrixTable, step: Scalar) -> Scalar:
    """Return the row, from `step` on, with the largest number in the column `step`."""
    best = builder.slot("float", builder.compute("abs", matrix.get(step, step)))
    place = builder.slot("int", step)
    with builder.repeat(matrix.rows, builder.compute("add", step, 1)) as row:
        size = builder.compute("abs", matrix.get(row, step))
        with builder.where(builder.compute("lt", builder.get(best), size)):
            builder.put(best, size)
            builder.put(place, row)
    return builder.get(place)


@register_rule("lu_pivots_to_permutation")
def permutation_rule(
    translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]
) -> list[Array]:
    builder, pivots = translator.builder, in_memory(translator.builder, arrays[0])
    shape = tuple(outs[0].shape)
    order = StoredArray(builder.memory("int32", max(math.prod(shape), 1)), 0, (*shape, 1), "int32")
    with builder.repeat(math.prod(shape[:-1])) as one:
        turned = MatrixTable(builder, order, one)
        chosen = MatrixTable(builder, StoredArray(pivots.store, pivots.start, (*pivots.shape, 1), pivots.dtype), one)
        with builder.repeat(shape[-1]) as row:
            turned.put(row, 0, row)
        with builder.repeat(pivots.shape[-1]) as step:
            turned.exchange(step, chosen.get(step, 0))
    return [load_array(builder, StoredArray(order.store, 0, shape, dtype_of(outs[0].dtype)))]


@register_rule("cholesky")
def cholesky_rule(translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]) -> list[Array]:
    """Return a = L Lᵀ, from the lower triangle; zeros above. Where A is not positive definite no number of L is one."""
    builder, whole = translator.builder, copy_array(translator.builder, arrays[0])
    count = whole.shape[-1]
    with builder.repeat(math.prod(whole.shape[:-2])) as one:
        matrix, good = MatrixTable(builder, whole, one), builder.slot("bool", True)
        with builder.repeat(count) as step:
            size = matrix.get(step, step)
            builder.put(good, builder.compute("and", builder.get(good), builder.compute("lt", 0.0, size)))
            root = builder.compute("sqrt", size)
            matrix.put(step, step, root)
            after = builder.compute("add", step, 1)
            with builder.repeat(count, after) as row:
                matrix.put(row, step, builder.compute("div", matrix.get(row, step), root))
            # what is left is independent of each other: the processor need not wait for one sum after another
            with builder.repeat(count, after) as column:
                factor = matrix.get(column, step)
                with builder.repeat(count, column) as row:
                    less = builder.compute("mul", matrix.get(row, step), factor)
                    matrix.put(row, column, builder.compute("sub", matrix.get(row, column), less))
            with builder.repeat(step) as row:
                matrix.put(row, step, 0.0)
        fine = builder.get(good)
        with builder.repeat(count) as column, builder.repeat(count, column) as row:
            matrix.put(row, column, builder.select(fine, matrix.get(row, column), math.nan))
    return [load_array(builder, whole)]


@register_rule("triangular_solve")
def triangular_rule(
    translator: Translator, arrays: list[Array], params: dict[str, Any], outs: list[Any]
) -> list[Array]:
    """Return X of A X = B, or of X A = B, with the lower or upper triangle of A or of its transpose."""
    builder, first = translator.builder, in_memory(translator.builder, arrays[0])
    answer = copy_array(builder, arrays[1])
    left, flip = params["left_side"], params["transpose_a"]
    count = first.shape[-1]
    forward = params["lower"] != (flip == left)  # whether the first unknown stands alone
    columns = answer.shape[-1] if left else answer.shape[-2]
    with builder.repeat(math.prod(answer.shape[:-2])) as one:
        matrix, table = MatrixTable(builder, first, one), MatrixTable(builder, answer, one)

        def coefficient(row: Scalar, column: Scalar) -> Scalar:
            """Return that of the system with the unknowns in a column."""
            turned = bool(flip) == bool(left)
            return matrix.get(column, row) if turned else matrix.get(row, column)

        def at(row: Scalar, column: Scalar) -> tuple[Scalar, Scalar]:
            return (row, column) if left else (column, row)

        with builder.repeat(columns) as column, builder.repeat(count) as step:
            row = step if forward else builder.compute("sub", count - 1, step)
            found: Scalar = table.get(*at(row, column))
            if not params["unit_diagonal"]:
                found = builder.compute("div", found, coefficient(row, row))
                table.put(*at(row, column), found)
            with builder.repeat(count, builder.compute("add", step, 1)) as later:
                other = later if forward else builder.compute("sub", count - 1, later)
                less = builder.compute("mul", coefficient(other, row), found)
                table.put(*at(other, column), builder.compute("sub", table.get(*at(other, column)), less))
    return [load_array(builder, answer)]
