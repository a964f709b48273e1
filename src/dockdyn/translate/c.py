"""A scalar program as C, for targets that are not this process: rigs in real time, other tools, embedded computers.

The text needs C99 and its mathematics library, nothing else. Compile it with `-ffp-contract=off` and without any option
that reorders arithmetic: then its bits are those of the other ways. Elementary functions are in the text.

Units: none.
Source: ISO/IEC 9899:1999, with annex F.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from dockdyn.translate.code import SIZES, Untranslatable
from dockdyn.translate.elementary import FORMULAS, functions_among
from dockdyn.translate.jaxpr import TranslatedProgram
from dockdyn.translate.scalar_program import (
    Block,
    Branch,
    Builder,
    Compute,
    ConstantTable,
    Copy,
    Function,
    Get,
    Kind,
    Leave,
    LoadStatement,
    MemoryBlock,
    Put,
    Save,
    Scalar,
    Statement,
    Value,
    While,
    kind_of,
    operations_of,
)

TYPES: dict[Kind, str] = {"float": "double", "int": "int64_t", "bool": "bool"}
IN_MEMORY = {"float64": "double", "int64": "int64_t", "int32": "int32_t", "uint32": "uint32_t", "bool": "uint8_t"}
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%", "eq": "==", "ne": "!=", "lt": "<", "le": "<="}
LOGICAL = {"and": ("&&", "&"), "or": ("||", "|"), "xor": ("!=", "^")}  # of truths, and of bits
FUNCTIONS = {name: name for name in ("sqrt", "floor", "ceil", "lgamma")} | {"abs": "fabs", "round_even": "rint"}
PREFIX = "elementary_"  # of the names of functions
HEAD = """\
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline double larger(double a, double b) {
    if (isnan(a) || isnan(b)) return NAN;
    return a > b || (a == b && !signbit(a)) ? a : b;
}
static inline double smaller(double a, double b) {
    if (isnan(a) || isnan(b)) return NAN;
    return a < b || (a == b && signbit(a)) ? a : b;
}
static inline int64_t whole(double a) {
    if (isnan(a)) return 0;
    if (a >= 9223372036854775808.0) return INT64_MAX;
    return a <= -9223372036854775808.0 ? INT64_MIN : (int64_t)a;
}
static inline int64_t to_bits(double a) {
    int64_t b;
    memcpy(&b, &a, sizeof b);
    return b;
}
static inline double from_bits(int64_t a) {
    double b;
    memcpy(&b, &a, sizeof b);
    return b;
}
"""


def c_text(program: TranslatedProgram, name: str) -> str:
    """Return the program as a text in C with one function, as `c_function` writes it. Raises Untranslatable."""
    return f"{c_head([program])}\n{c_function(program, name)}"


def c_head(programs: Iterable[TranslatedProgram]) -> str:
    """Return what stands in a file above programs: the elementary functions that these call, among others."""
    called = {name for program in programs for name in operations_of(program.builder.body)}
    return "\n".join([HEAD, *map(_elementary_function, functions_among(called))])


def _elementary_function(function: Function) -> str:
    """Return an elementary function in C, with its tables."""
    printer = _Printer(f"{PREFIX}{function.name}_")
    printer.block(function.builder.body)
    tables = [_table_text(f"{printer.prefix}{table.name}", table) for table in function.builder.tables.values()]
    given = ", ".join(f"const double {_write_operand(one)}" for one in function.parameters)
    head = f"static double {PREFIX}{function.name}({given}) {{"
    last = f"    return {_write_operand(function.result)};"
    return "\n".join([*tables, head, *_slot_lines(function.builder), *printer.lines, last, "}", ""])


def _table_text(name: str, table: ConstantTable) -> str:
    """Return constant numbers in C."""
    numbers = ", ".join(map(_write_operand, table.values))
    return f"static const {IN_MEMORY[table.dtype]} {name}[] = {{{numbers}}};"


def _slot_lines(builder: Builder) -> list[str]:
    return [f"    {TYPES[slot.kind]} s{slot.name} = 0;" for slot in builder.slots]


def c_function(program: TranslatedProgram, name: str) -> str:
    """Return the program as the C function `bool name(const void *const *in, void *const *out, void *work)`, below `c_head`.

    `in` and `out` are the addresses of arguments and results, row by row, `work` is that of `name_work_bytes` bytes that
    nobody else writes meanwhile, aligned as a double. Constants of the trace follow the arguments. It answers false where it
    meets what only Python can do, as an error of a library; there are no results then. Raises Untranslatable for an operation
    without a word in C.
    """
    printer = _Printer()
    printer.block(program.builder.body)
    slots = _slot_lines(program.builder)
    head = [f"const int64_t {name}_work_bytes = {max(program.builder.work, 1)};\n"]
    head.append(f"bool {name}(const void *const *in, void *const *out, void *work) {{")
    return "\n".join([*head, *slots, *printer.lines, "    return true;", "}", ""])


def _write_operand(value: Scalar) -> str:
    """Return an operand: floats to their last bit."""
    if isinstance(value, Value):
        return f"v{value.name}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"INT64_C({value})" if value > -(2**63) else "INT64_MIN"
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    return float(value).hex()


class _Printer:
    """Collects the lines of a function."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix  # of the names of tables
        self.lines: list[str] = []
        self.depth = 1

    def add(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def block(self, block: Block) -> None:
        for line in block.lines:
            self.statement(line)

    def inside(self, block: Block) -> None:
        self.depth += 1
        self.block(block)
        self.depth -= 1

    def define(self, value: Value, text: str) -> None:
        self.add(f"const {TYPES[value.kind]} v{value.name} = {text};")

    def statement(self, line: Statement) -> None:
        match line:
            case Compute():
                self.define(line.value, self.operation(line))
            case Get():
                self.define(line.value, f"s{line.slot.name}")
            case Put():
                self.add(f"s{line.slot.name} = {_write_operand(line.value)};")
            case LoadStatement():
                found = f"{self.place(line.store, True)}[{_write_operand(line.at)}]"
                self.define(line.value, f"{found} != 0" if line.store.dtype == "bool" else found)
            case Save():
                type_ = IN_MEMORY[line.store.dtype]
                self.add(
                    f"{self.place(line.store, False)}[{_write_operand(line.at)}] = ({type_}){_write_operand(line.value)};"
                )
            case Copy():
                self.copy(line)
            case While():
                self.add("for (;;) {")
                self.inside(line.head)
                self.add(f"    if (!{_write_operand(line.condition)}) break;")
                self.inside(line.body)
                self.add("}")
            case Branch():
                self.add(f"if ({_write_operand(line.condition)}) {{")
                self.inside(line.then)
                self.add("} else {")
                self.inside(line.otherwise)
                self.add("}")
            case Leave():
                self.add("return false;")

    def place(self, store: MemoryBlock, read: bool) -> str:
        if isinstance(store, ConstantTable):
            return f"{self.prefix}{store.name}"
        type_ = ("const " if read else "") + IN_MEMORY[store.dtype]
        if store.role == "work":
            return f"(({type_} *)((char *)work + {store.place}))"
        return f"(({type_} *){store.role}[{store.place}])"

    def copy(self, line: Copy) -> None:
        into = f"{self.place(line.store, False)} + {_write_operand(line.at)}"
        source = f"{self.place(line.source, True)} + {_write_operand(line.start)}"
        self.add(f"memcpy({into}, {source}, {line.count * SIZES[line.store.dtype]});")

    def operation(self, line: Compute) -> str:
        name, operands = line.operation, line.operands
        kind, words = kind_of(operands[0]), [_write_operand(one) for one in operands]
        if name in ("add", "sub", "mul") and kind == "int":  # which wrap around
            return f"(int64_t)((uint64_t){words[0]} {SIGNS[name]} (uint64_t){words[1]})"
        if name in SIGNS:
            return f"{words[0]} {SIGNS[name]} {words[1]}"
        if name in LOGICAL:
            return f"{words[0]} {LOGICAL[name][kind == 'int']} {words[1]}"
        if name == "shift_left":
            return f"(int64_t)((uint64_t){words[0]} << {words[1]})"
        if name == "shift_right":
            return f"{words[0]} >> {words[1]}"
        if name == "select":
            return f"{words[0]} ? {words[1]} : {words[2]}"
        if name in ("max", "min"):
            sign = ">" if name == "max" else "<"
            chosen = f"{words[0]} {sign} {words[1]} ? {words[0]} : {words[1]}"
            return chosen if kind == "int" else f"{'larger' if name == 'max' else 'smaller'}({', '.join(words)})"
        if name in FORMULAS:
            return f"{PREFIX}{name}({', '.join(words)})"
        if name in FUNCTIONS:
            return f"{FUNCTIONS[name]}({', '.join(words)})"
        return self.changed(name, kind, words[0])

    def changed(self, name: str, kind: Kind, word: str) -> str:
        """Write what changes one operand: negations and changes of type."""
        changes = {"neg": "-{}", "not": "!{}", "is_nan": "isnan({}) != 0", "to_float": "(double){}"}
        changes |= {"to_bits": "to_bits({})", "from_bits": "from_bits({})"}
        changes |= {"narrow": "(int32_t)(uint32_t){}", "narrow_unsigned": "(uint32_t){}"}
        changes["to_int"] = "whole({})" if kind == "float" else "(int64_t){}"
        if name not in changes:
            raise Untranslatable(f"the operation {name} of {kind}")
        return changes[name].format(word)
