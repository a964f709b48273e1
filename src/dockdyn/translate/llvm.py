"""A scalar program as text in LLVM's language.

One function, of three lists of addresses: arguments, results, working memory. No operation is contracted or reordered.
Elementary functions are called by their names; each is a text of its own, which targets without a loader put beside it.

Units: none.
Source: LLVM language reference.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dockdyn.translate.code import NAME, PREFIX, SIZES, Untranslatable
from dockdyn.translate.elementary import FORMULAS
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
    Slot,
    Statement,
    Value,
    While,
    kind_of,
)

if TYPE_CHECKING:
    from dockdyn.translate.jaxpr import TranslatedProgram

TYPES: dict[Kind, str] = {"float": "double", "int": "i64", "bool": "i1"}
IN_MEMORY = {"float64": "double", "int64": "i64", "int32": "i32", "uint32": "i32", "bool": "i8"}
ARITHMETIC = {
    "add": ("fadd", "add"),
    "sub": ("fsub", "sub"),
    "mul": ("fmul", "mul"),
    "div": ("fdiv", "sdiv"),
    "rem": ("frem", "srem"),
}
COMPARED = {
    "eq": ("fcmp oeq", "icmp eq"),
    "ne": ("fcmp une", "icmp ne"),
    "lt": ("fcmp olt", "icmp slt"),
    "le": ("fcmp ole", "icmp sle"),
}
INTRINSICS = {
    "sqrt": "llvm.sqrt.f64",
    "abs": "llvm.fabs.f64",
    "floor": "llvm.floor.f64",
    "ceil": "llvm.ceil.f64",
    "round_even": "llvm.roundeven.f64",
}
EXTREMES = {"max": ("llvm.maximum.f64", "llvm.smax.i64"), "min": ("llvm.minimum.f64", "llvm.smin.i64")}
CLIBRARY = ("lgamma",)  # which no model calls
SHIFTS = {"shift_left": "shl", "shift_right": "ashr"}
LOGICAL = {"and", "or", "xor"}
LONGEST_BLOCK = 1000  # lines without a label: LLVM's unoptimised code takes a time that grows with a block's square


def text_of(program: TranslatedProgram) -> str:
    """Return the program in LLVM's language. Raises Untranslatable for an operation without a word in it."""
    printer = Printer(program.builder)
    pointers = [*printer.addresses("in", program.arguments), *printer.addresses("out", program.results)]
    head = f"define i1 @{NAME}(ptr noalias %in, ptr noalias %out, ptr noalias %work) {{"
    return printer.text(head, pointers, "ret i1 true")


def function_text(function: Function) -> str:
    """Return an elementary function in LLVM's language."""
    printer = Printer(function.builder, f"{PREFIX}{function.name}_")
    given = ", ".join(f"double {write_operand(one)}" for one in function.parameters)
    tables = [_table_text(f"{printer.prefix}{table.name}", table) for table in function.builder.tables.values()]
    head = f"define double @{PREFIX}{function.name}({given}) {{"
    return "\n".join([*tables, printer.text(head, [], f"ret double {write_operand(function.result)}")])


def _table_text(name: str, table: ConstantTable) -> str:
    """Return constant numbers in LLVM's language."""
    type_ = IN_MEMORY[table.dtype]
    numbers = ", ".join(f"{type_} {write_operand(one)}" for one in table.values)
    return f"@{name} = private unnamed_addr constant [{table.count} x {type_}] [{numbers}]"


def write_operand(value: Scalar) -> str:
    """Return an operand: floats by their bits."""
    if isinstance(value, Value):
        return f"%v{value.name}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return f"0x{struct.unpack('Q', struct.pack('d', value))[0]:016X}"


class Printer:
    """Collects the lines of a function."""

    def __init__(self, builder: Builder, prefix: str = ""):
        self.builder, self.prefix = builder, prefix  # of the names of tables
        self.lines: list[str] = []
        self.declared: dict[str, str] = {}
        self.labels = 0
        self.names = 0
        self.label_at = 0  # the line of the last one

    def text(self, head: str, first: Sequence[str], last: str) -> str:
        self.block(self.builder.body)
        return self.joined_text(head, first, last)

    def joined_text(self, head: str, first: Sequence[str], last: str) -> str:
        slots = [f"%s{slot.name} = alloca {self.slot_type(slot)}" for slot in self.builder.slots]
        declared = [f"declare {line}" for line in self.declared.values()]
        return "\n".join([*declared, head, "entry:", *slots, *first, *self.lines, last, "}", ""])

    def slot_type(self, slot: Slot) -> str:
        return TYPES[slot.kind]

    def addresses(self, role: str, stores: list[MemoryBlock]) -> list[str]:
        found = []
        for store in stores:
            found.append(f"%{role}_at{store.place} = getelementptr ptr, ptr %{role}, i64 {store.place}")
            found.append(f"%{role}{store.place} = load ptr, ptr %{role}_at{store.place}")
        return found

    def block(self, block: Block) -> None:
        for line in block.lines:
            self.statement(line)
            if len(self.lines) - self.label_at > LONGEST_BLOCK:
                self.labels += 1
                self.add(f"br label %part{self.labels}")
                self.label(f"part{self.labels}")

    def add(self, line: str) -> None:
        self.lines.append(line)

    def label(self, name: str) -> None:
        self.add(f"{name}:")
        self.label_at = len(self.lines)

    def fresh(self) -> str:
        self.names += 1
        return f"%t{self.names}"

    def statement(self, line: Statement) -> None:
        match line:
            case Compute():
                self.add(f"%v{line.value.name} = {self.operation(line)}")
            case Get():
                self.add(f"%v{line.value.name} = load {TYPES[line.slot.kind]}, ptr %s{line.slot.name}")
            case Put():
                self.add(f"store {TYPES[line.slot.kind]} {write_operand(line.value)}, ptr %s{line.slot.name}")
            case LoadStatement():
                self.load(line)
            case Save():
                self.save(line)
            case Copy():
                self.copy(line)
            case While():
                self.loop(line)
            case Branch():
                self.branch(line)
            case Leave():
                self.labels += 1
                self.add("ret i1 false")
                self.label(f"left{self.labels}")  # never reached, as what follows

    def address(self, store: MemoryBlock, at: Scalar) -> str:
        name = self.fresh()
        if store.role == "work" and not isinstance(at, Value):
            self.add(f"{name} = getelementptr i8, ptr %work, i64 {store.place + int(at) * SIZES[store.dtype]}")
            return name
        self.add(f"{name} = getelementptr {IN_MEMORY[store.dtype]}, ptr {self.base(store)}, i64 {write_operand(at)}")
        return name

    def base(self, store: MemoryBlock) -> str:
        """Return the address of the first element."""
        if store.role == "work":
            base = self.fresh()
            self.add(f"{base} = getelementptr i8, ptr %work, i64 {store.place}")
            return base
        return f"@{self.prefix}{store.name}" if isinstance(store, ConstantTable) else f"%{store.role}{store.place}"

    def load(self, line: LoadStatement) -> None:
        address, dtype, name = self.address(line.store, line.at), line.store.dtype, f"%v{line.value.name}"
        if dtype in ("float64", "int64"):
            self.add(f"{name} = load {IN_MEMORY[dtype]}, ptr {address}")
            return
        raw = self.fresh()
        self.add(f"{raw} = load {IN_MEMORY[dtype]}, ptr {address}")
        change = {"int32": "sext i32 {} to i64", "uint32": "zext i32 {} to i64", "bool": "icmp ne i8 {}, 0"}[dtype]
        self.add(f"{name} = {change.format(raw)}")

    def save(self, line: Save) -> None:
        address, dtype, value = self.address(line.store, line.at), line.store.dtype, write_operand(line.value)
        if dtype not in ("float64", "int64"):
            short = self.fresh()
            change = "zext i1 {} to i8" if dtype == "bool" else "trunc i64 {} to i32"
            self.add(f"{short} = {change.format(value)}")
            value = short
        self.add(f"store {IN_MEMORY[dtype]} {value}, ptr {address}")

    def copy(self, line: Copy) -> None:
        if not line.count:
            return
        self.declared["memcpy"] = "void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"
        size = line.count * SIZES[line.store.dtype]
        into, source = self.address(line.store, line.at), self.address(line.source, line.start)
        self.add(f"call void @llvm.memcpy.p0.p0.i64(ptr {into}, ptr {source}, i64 {size}, i1 false)")

    def loop(self, line: While) -> None:
        self.labels += 1
        label = f"loop{self.labels}"
        self.add(f"br label %{label}")
        self.label(label)
        self.block(line.head)
        self.add(f"br i1 {write_operand(line.condition)}, label %{label}.body, label %{label}.end")
        self.label(f"{label}.body")
        self.block(line.body)
        self.add(f"br label %{label}")
        self.label(f"{label}.end")

    def branch(self, line: Branch) -> None:
        self.labels += 1
        label = f"if{self.labels}"
        self.add(f"br i1 {write_operand(line.condition)}, label %{label}.then, label %{label}.else")
        for name, block in (("then", line.then), ("else", line.otherwise)):
            self.label(f"{label}.{name}")
            self.block(block)
            self.add(f"br label %{label}.end")
        self.label(f"{label}.end")

    def operation(self, line: Compute) -> str:
        name, operands = line.operation, line.operands
        kind, words = kind_of(operands[0]), [write_operand(one) for one in operands]
        whole = 0 if kind == "float" else 1
        if name in ARITHMETIC:
            return f"{ARITHMETIC[name][whole]} {TYPES[kind]} {words[0]}, {words[1]}"
        if name in ("lt", "le") and kind == "bool":  # as a signed number, true would be −1
            return f"icmp u{name} i1 {words[0]}, {words[1]}"
        if name in COMPARED:
            return f"{COMPARED[name][whole]} {TYPES[kind]} {words[0]}, {words[1]}"
        if name in LOGICAL:
            return f"{name} {TYPES[kind]} {words[0]}, {words[1]}"
        if name in SHIFTS:
            return f"{SHIFTS[name]} i64 {words[0]}, {words[1]}"
        if name == "select":
            return f"select i1 {words[0]}, " + ", ".join(f"{TYPES[kind_of(operands[1])]} {word}" for word in words[1:])
        if name in EXTREMES:
            return self.called(EXTREMES[name][whole], kind, words)
        if name in INTRINSICS:
            return self.called(INTRINSICS[name], kind, words)
        if name in FORMULAS:
            return self.called(f"{PREFIX}{name}", kind, words)
        if name in CLIBRARY:
            return self.called(name, kind, words)
        return self.changed(name, kind, words[0])

    def changed(self, name: str, kind: Kind, word: str) -> str:
        """Write what changes one operand: negations and changes of type."""
        if name == "neg":
            return f"fneg double {word}"
        if name == "not":
            return f"xor i1 {word}, true"
        if name == "is_nan":
            return f"fcmp uno double {word}, {word}"
        if name == "to_bits":
            return f"bitcast double {word} to i64"
        if name == "from_bits":
            return f"bitcast i64 {word} to double"
        if name == "to_float":
            return f"sitofp i64 {word} to double" if kind == "int" else f"uitofp i1 {word} to double"
        if name == "to_int":
            if kind == "bool":
                return f"zext i1 {word} to i64"
            self.declared["fptosi"] = "i64 @llvm.fptosi.sat.i64.f64(double)"
            return f"call i64 @llvm.fptosi.sat.i64.f64(double {word})"
        if name in ("narrow", "narrow_unsigned"):
            short = self.fresh()
            self.add(f"{short} = trunc i64 {word} to i32")
            return f"{'sext' if name == 'narrow' else 'zext'} i32 {short} to i64"
        raise Untranslatable(f"the operation {name} of {kind}")

    def called(self, name: str, kind: Kind, words: list[str]) -> str:
        type_ = TYPES[kind]
        self.declared[name] = f"{type_} @{name}({', '.join([type_] * len(words))})"
        return f"call {type_} @{name}({', '.join(f'{type_} {word}' for word in words)})"
