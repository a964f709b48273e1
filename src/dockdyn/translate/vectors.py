"""A scalar program as text in LLVM's language, whose longest loop takes several turns at once: a lane of a vector each.

Only of a loop whose turns do not depend on each other. What all lanes have in common stays a number. Where they go different
ways, a way is gone as long as some lane goes it, and a mask says whose numbers it changes. Each lane gets the bits that it has
in the scalar program.

Units: none.
Source: LLVM language reference; control flow as masks, Allen et al. 1983.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dockdyn.translate.code import NAME, PREFIX, SIZES, Untranslatable
from dockdyn.translate.divergence import Divergence, Unfit, blocks_in, statements_in
from dockdyn.translate.elementary import FORMULAS
from dockdyn.translate.llvm import (
    ARITHMETIC,
    CLIBRARY,
    COMPARED,
    EXTREMES,
    IN_MEMORY,
    INTRINSICS,
    LOGICAL,
    SHIFTS,
    TYPES,
    Printer,
    write_operand,
)
from dockdyn.translate.scalar_program import (
    Block,
    Branch,
    Builder,
    Compute,
    Copy,
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
    While,
    kind_of,
)

if TYPE_CHECKING:
    from dockdyn.translate.jaxpr import TranslatedProgram

SHARE = 0.5  # of a program's statements that its loop has at least
BRIEF = 12  # statements of a way that is gone by all, which takes less time than to ask
UNROLLED = 8  # elements that are copied without a loop


def vector_text_of(program: TranslatedProgram, lanes: int) -> str | None:
    """Return a program that takes so many turns of its longest loop at once; None of one without such a loop.

    Its working memory is that of the scalar program, and `lanes` times as much behind it.
    """
    body = program.builder.body
    whole = _count_statements(body)
    for loop in _loops_apart(body):
        assert loop.apart is not None
        if loop.apart.count >= lanes and _count_statements(loop.body) > SHARE * whole:
            try:
                return _VectorPrinter(program.builder, loop, lanes).program_text(program)
            except (Unfit, Untranslatable):
                return None
    return None


def _count_statements(block: Block) -> int:
    return sum(1 for _ in statements_in(block))


def _loops_apart(block: Block) -> Iterator[While]:
    """Yield the outermost loops whose turns do not depend on each other."""
    for line in block.lines:
        if isinstance(line, While) and line.apart is not None:
            yield line
        else:
            for inner in blocks_in(line):
                yield from _loops_apart(inner)


class _VectorPrinter(Printer):
    """Collects the lines of a program, one loop of which takes `lanes` turns at once."""

    def __init__(self, builder: Builder, lane_loop: While, lanes: int):
        super().__init__(builder)
        self.lane_loop, self.lanes = lane_loop, lanes
        self.differs = Divergence(builder, lane_loop)
        self.inside = False
        self.mask: str | None = None  # of the lanes that go this way; None: all
        self.masks = 0
        self.counters: list[str] = []  # of copies

    def program_text(self, program: TranslatedProgram) -> str:
        pointers = [*self.addresses("in", program.arguments), *self.addresses("out", program.results)]
        head = f"define i1 @{NAME}(ptr noalias %in, ptr noalias %out, ptr noalias %work) {{"
        self.block(self.builder.body)
        kept = [f"%kept{number} = alloca {self.wide('i1')}" for number in range(self.masks)]
        return self.joined_text(head, [*kept, *self.counters, *pointers], "ret i1 true")

    def slot_type(self, slot: Slot) -> str:
        return self.type_of(slot.kind, slot.name in self.differs.slots)

    def wide(self, type_: str) -> str:
        return f"<{self.lanes} x {type_}>"

    def type_of(self, kind: Kind, wide: bool) -> str:
        return self.wide(TYPES[kind]) if wide else TYPES[kind]

    def given(self, line: str) -> str:
        """Write what gives a new name, and return that."""
        name = self.fresh()
        self.add(f"{name} = {line}")
        return name

    def spread(self, type_: str, word: str) -> str:
        """Return a number as that of all lanes."""
        if not word.startswith("%"):
            return f"splat ({type_} {word})"
        wide = self.wide(type_)
        first = self.given(f"insertelement {wide} poison, {type_} {word}, i64 0")
        return self.given(f"shufflevector {wide} {first}, {wide} poison, {self.wide('i32')} zeroinitializer")

    def operand(self, value: Scalar, wide: bool) -> str:
        word = write_operand(value)
        return self.spread(TYPES[kind_of(value)], word) if wide and not self.differs.of(value) else word

    def statement(self, line: Statement) -> None:
        if not self.inside:
            super().statement(line)
            return
        match line:
            case Compute():
                self.compute(line)
            case Get():
                self.add(f"%v{line.value.name} = load {self.slot_type(line.slot)}, ptr %s{line.slot.name}")
            case Put():
                self.put(line)
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
                super().statement(line)  # some lane that goes this way has come to it

    def put(self, line: Put) -> None:
        if line.slot is self.differs.own:
            return
        wide = line.slot.name in self.differs.slots
        type_, word = self.slot_type(line.slot), self.operand(line.value, wide)
        if wide and self.mask is not None:
            old = self.given(f"load {type_}, ptr %s{line.slot.name}")
            word = self.given(f"select {self.wide('i1')} {self.mask}, {type_} {word}, {type_} {old}")
        self.add(f"store {type_} {word}, ptr %s{line.slot.name}")

    # --- memory

    def index(self, at: Scalar, plus: str | None) -> tuple[str, bool]:
        """Return the place `plus` elements after one, and whether it differs."""
        wide, word = self.differs.of(at), write_operand(at)
        if plus is None:
            return word, wide
        if wide:
            return self.given(f"add {self.wide('i64')} {word}, {self.spread('i64', plus)}"), True
        return self.given(f"add i64 {word}, {plus}"), False

    def element(self, store: MemoryBlock, at: Scalar, plus: str | None = None) -> tuple[str, bool]:
        """Return the address of an element of every lane, and whether it is a vector of addresses."""
        type_, (word, wide) = IN_MEMORY[store.dtype], self.index(at, plus)
        if id(store) not in self.differs.stores:
            base = self.base(store)
            index = f"{self.wide('i64') if wide else 'i64'} {word}"
            return self.given(f"getelementptr {type_}, ptr {base}, {index}"), wide
        base = self.given(f"getelementptr i8, ptr %work, i64 {self.builder.work + store.place * self.lanes}")
        if not wide:
            return self.given(f"getelementptr [{self.lanes} x {type_}], ptr {base}, i64 {word}"), False
        lanes = ", ".join(f"i64 {lane}" for lane in range(self.lanes))
        first = self.given(f"mul {self.wide('i64')} {word}, splat (i64 {self.lanes})")
        place = self.given(f"add {self.wide('i64')} {first}, <{lanes}>")
        return self.given(f"getelementptr {type_}, ptr {base}, {self.wide('i64')} {place}"), True

    def read(self, store: MemoryBlock, at: Scalar, plus: str | None = None) -> tuple[str, bool]:
        """Return an element as it is in memory, and whether it is one for each lane."""
        address, scattered = self.element(store, at, plus)
        type_, size = IN_MEMORY[store.dtype], SIZES[store.dtype]
        if scattered:
            name = f"llvm.masked.gather.v{self.lanes}{_suffix(type_)}.v{self.lanes}p0"
            given = f"{self.wide('ptr')}, i32, {self.wide('i1')}, {self.wide(type_)}"
            self.declared[name] = f"{self.wide(type_)} @{name}({given})"
            mask = self.mask or "splat (i1 true)"
            return (
                self.given(
                    f"call {self.wide(type_)} @{name}({self.wide('ptr')} {address}, i32 {size}, {self.wide('i1')} {mask}, "
                    f"{self.wide(type_)} zeroinitializer)"
                ),
                True,
            )
        wide = id(store) in self.differs.stores
        return self.given(f"load {self.wide(type_) if wide else type_}, ptr {address}, align {size}"), wide

    def write(self, store: MemoryBlock, at: Scalar, word: str, plus: str | None = None) -> None:
        """Write an element of every lane that goes this way; `word` is as it is in memory, one for each lane where that is."""
        address, scattered = self.element(store, at, plus)
        type_, size = IN_MEMORY[store.dtype], SIZES[store.dtype]
        wide = self.wide(type_)
        if scattered:
            name = f"llvm.masked.scatter.v{self.lanes}{_suffix(type_)}.v{self.lanes}p0"
            self.declared[name] = f"void @{name}({wide}, {self.wide('ptr')}, i32, {self.wide('i1')})"
            mask = self.mask or "splat (i1 true)"
            self.add(
                f"call void @{name}({wide} {word}, {self.wide('ptr')} {address}, i32 {size}, {self.wide('i1')} {mask})"
            )
            return
        if id(store) not in self.differs.stores:
            self.add(f"store {type_} {word}, ptr {address}, align {size}")
            return
        if self.mask is not None:
            old = self.given(f"load {wide}, ptr {address}, align {size}")
            word = self.given(f"select {self.wide('i1')} {self.mask}, {wide} {word}, {wide} {old}")
        self.add(f"store {wide} {word}, ptr {address}, align {size}")

    def load(self, line: LoadStatement) -> None:
        if not self.inside:
            super().load(line)
            return
        raw, wide = self.read(line.store, line.at)
        dtype, name = line.store.dtype, f"%v{line.value.name}"
        if dtype == "bool":
            zero = "zeroinitializer" if wide else "0"
            self.add(f"{name} = icmp ne {self.wide('i8') if wide else 'i8'} {raw}, {zero}")
        elif dtype in ("int32", "uint32"):
            change = "sext" if dtype == "int32" else "zext"
            self.add(f"{name} = {change} {self.wide('i32') if wide else 'i32'} {raw} to {self.type_of('int', wide)}")
        else:
            type_ = self.wide(IN_MEMORY[dtype]) if wide else IN_MEMORY[dtype]
            self.add(f"{name} = bitcast {type_} {raw} to {type_}")

    def save(self, line: Save) -> None:
        if not self.inside:
            super().save(line)
            return
        wide, dtype = id(line.store) in self.differs.stores or self.differs.of(line.at), line.store.dtype
        word = self.operand(line.value, wide)
        if dtype == "bool":
            type_ = self.type_of("bool", wide)
            word = self.given(f"zext {type_} {word} to {self.wide('i8') if wide else 'i8'}")
        elif dtype in ("int32", "uint32"):
            word = self.given(f"trunc {self.type_of('int', wide)} {word} to {self.wide('i32') if wide else 'i32'}")
        self.write(line.store, line.at, word)

    def copy(self, line: Copy) -> None:
        if not self.inside:
            super().copy(line)
            return
        if line.count <= UNROLLED:
            for number in range(line.count):
                self.copy_element(line, str(number))
            return
        self.labels += 1
        label, counter = f"copy{self.labels}", f"%counter{self.labels}"
        self.counters.append(f"{counter} = alloca i64")
        self.add(f"store i64 0, ptr {counter}")
        self.add(f"br label %{label}")
        self.label(label)
        place = self.given(f"load i64, ptr {counter}")
        self.copy_element(line, place)
        later = self.given(f"add i64 {place}, 1")
        self.add(f"store i64 {later}, ptr {counter}")
        going = self.given(f"icmp slt i64 {later}, {line.count}")
        self.add(f"br i1 {going}, label %{label}, label %{label}.end")
        self.label(f"{label}.end")

    def copy_element(self, line: Copy, place: str) -> None:
        word, wide = self.read(line.source, line.start, place)
        if not wide and (id(line.store) in self.differs.stores or self.differs.of(line.at)):
            word = self.spread(IN_MEMORY[line.source.dtype], word)
        self.write(line.store, line.at, word, place)

    # --- control

    def loop(self, line: While) -> None:
        if line is self.lane_loop:
            self.turns_at_once(line)
        elif self.inside and self.differs.of(line.condition):
            self.masked_loop(line)
        else:
            super().loop(line)

    def turns_at_once(self, line: While) -> None:
        """Write the loop over lanes, the last ones of which may be done twice, with what is the same both times."""
        assert line.apart is not None
        self.labels += 1
        label, slot, count = f"lanes{self.labels}", f"%s{line.apart.slot.name}", line.apart.count
        self.add(f"br label %{label}")
        self.label(label)
        first = self.given(f"load i64, ptr {slot}")
        going = self.given(f"icmp slt i64 {first}, {count}")
        self.add(f"br i1 {going}, label %{label}.body, label %{label}.end")
        self.label(f"{label}.body")
        self.declared["llvm.smin.i64"] = "i64 @llvm.smin.i64(i64, i64)"
        begun = self.given(f"call i64 @llvm.smin.i64(i64 {first}, i64 {count - self.lanes})")
        all_lanes = ", ".join(f"i64 {lane}" for lane in range(self.lanes))
        self.add(f"%v{line.apart.index.name} = add {self.wide('i64')} {self.spread('i64', begun)}, <{all_lanes}>")
        self.inside = True
        self.block(line.body)
        self.inside = False
        later = self.given(f"add i64 {first}, {self.lanes}")
        self.add(f"store i64 {later}, ptr {slot}")
        self.add(f"br label %{label}")
        self.label(f"{label}.end")

    def masked_loop(self, line: While) -> None:
        """Write a loop that goes on as long as some lane does."""
        self.labels += 1
        label, kept, around = f"loop{self.labels}", f"%kept{self.masks}", self.mask
        self.masks += 1
        flags = self.wide("i1")
        self.add(f"store {flags} {around or 'splat (i1 true)'}, ptr {kept}")
        self.add(f"br label %{label}")
        self.label(label)
        self.mask = self.given(f"load {flags}, ptr {kept}")
        self.block(line.head)
        going = self.given(f"and {flags} {self.mask}, {self.operand(line.condition, True)}")
        self.add(f"store {flags} {going}, ptr {kept}")
        self.add(f"br i1 {self.some(going)}, label %{label}.body, label %{label}.end")
        self.label(f"{label}.body")
        self.mask = going
        self.block(line.body)
        self.add(f"br label %{label}")
        self.label(f"{label}.end")
        self.mask = around

    def some(self, flags: str) -> str:
        """Return whether one of the lanes is flagged."""
        name = f"llvm.vector.reduce.or.v{self.lanes}i1"
        self.declared[name] = f"i1 @{name}({self.wide('i1')})"
        return self.given(f"call i1 @{name}({self.wide('i1')} {flags})")

    def branch(self, line: Branch) -> None:
        if not (self.inside and self.differs.of(line.condition)):
            super().branch(line)
            return
        self.labels += 1
        label, around, flags = f"if{self.labels}", self.mask, self.wide("i1")
        asked = self.operand(line.condition, True)
        for name, block in (("then", line.then), ("else", line.otherwise)):
            if not block.lines:
                continue
            mask = asked if name == "then" else self.given(f"xor {flags} {asked}, splat (i1 true)")
            self.mask = mask if around is None else self.given(f"and {flags} {mask}, {around}")
            if len(block.lines) <= BRIEF and not any(isinstance(one, While | Branch | Leave) for one in block.lines):
                self.block(block)
                continue
            self.add(f"br i1 {self.some(self.mask)}, label %{label}.{name}, label %{label}.{name}.end")
            self.label(f"{label}.{name}")
            self.block(block)
            self.add(f"br label %{label}.{name}.end")
            self.label(f"{label}.{name}.end")
        self.mask = around

    # --- operations

    def compute(self, line: Compute) -> None:
        name, operands, out = line.operation, line.operands, f"%v{line.value.name}"
        if not self.differs.of(line.value):
            self.add(f"{out} = {self.operation(line)}")
            return
        kind = kind_of(operands[0])
        words = [self.operand(one, True) for one in operands]
        type_, whole = self.type_of(kind, True), 0 if kind == "float" else 1
        if name in ("div", "rem") and whole:
            words[1] = self.safe_divisor(words)
        if name in ARITHMETIC:
            found = f"{ARITHMETIC[name][whole]} {type_} {words[0]}, {words[1]}"
        elif name in ("lt", "le") and kind == "bool":  # as a signed number, true would be −1
            found = f"icmp u{name} {type_} {words[0]}, {words[1]}"
        elif name in COMPARED:
            found = f"{COMPARED[name][whole]} {type_} {words[0]}, {words[1]}"
        elif name in LOGICAL or name in SHIFTS:
            found = f"{SHIFTS.get(name, name)} {type_} {words[0]}, {words[1]}"
        elif name == "select":
            own = self.type_of(kind_of(operands[1]), True)
            found = f"select {type_} {words[0]}, {own} {words[1]}, {own} {words[2]}"
        elif name in EXTREMES or name in INTRINSICS:
            scalar = EXTREMES[name][whole] if name in EXTREMES else INTRINSICS[name]
            found = self.called_wide(scalar, kind, type_, words)
        elif name in FORMULAS or name in CLIBRARY:
            found = self.called_lane_by_lane(f"{PREFIX}{name}" if name in FORMULAS else name, words)
        else:
            found = self.changed_wide(name, kind, words[0])
        self.add(f"{out} = {found}")

    def safe_divisor(self, words: list[str]) -> str:
        """Return what integers are divided by, 1 in lanes that do not go this way and might divide by zero."""
        if self.mask is None:
            return words[1]
        type_ = self.wide("i64")
        return self.given(f"select {self.wide('i1')} {self.mask}, {type_} {words[1]}, {type_} splat (i64 1)")

    def called_wide(self, scalar: str, kind: Kind, type_: str, words: list[str]) -> str:
        short = {"float": "f64", "int": "i64", "bool": "i1"}[kind]
        name = scalar.removesuffix(f".{short}") + f".v{self.lanes}{short}"
        self.declared[name] = f"{type_} @{name}({', '.join([type_] * len(words))})"
        return f"call {type_} @{name}({', '.join(f'{type_} {word}' for word in words)})"

    def called_lane_by_lane(self, name: str, words: list[str]) -> str:
        """Return the vector of what a function answers for each lane; the last one is put into it by what is returned."""
        self.declared[name] = f"double @{name}({', '.join(['double'] * len(words))})"
        type_, found = self.wide("double"), "poison"
        for lane in range(self.lanes):
            own = [self.given(f"extractelement {type_} {word}, i64 {lane}") for word in words]
            answer = self.given(f"call double @{name}({', '.join(f'double {one}' for one in own)})")
            last = f"insertelement {type_} {found}, double {answer}, i64 {lane}"
            if lane < self.lanes - 1:
                found = self.given(last)
        return last

    def changed_wide(self, name: str, kind: Kind, word: str) -> str:
        """Write what changes one operand: negations and changes of type."""
        numbers, whole, flags = (self.type_of(one, True) for one in ("float", "int", "bool"))
        same: dict[str, str] = {
            "neg": f"fneg {numbers} {word}",
            "not": f"xor {flags} {word}, splat (i1 true)",
            "is_nan": f"fcmp uno {numbers} {word}, {word}",
            "to_bits": f"bitcast {numbers} {word} to {whole}",
            "from_bits": f"bitcast {whole} {word} to {numbers}",
            "to_float": f"sitofp {whole} {word} to {numbers}"
            if kind == "int"
            else f"uitofp {flags} {word} to {numbers}",
        }
        if name in same:
            return same[name]
        if name == "to_int":
            if kind == "bool":
                return f"zext {flags} {word} to {whole}"
            function = f"llvm.fptosi.sat.v{self.lanes}i64.v{self.lanes}f64"
            self.declared[function] = f"{whole} @{function}({numbers})"
            return f"call {whole} @{function}({numbers} {word})"
        if name in ("narrow", "narrow_unsigned"):
            short = self.given(f"trunc {whole} {word} to {self.wide('i32')}")
            return f"{'sext' if name == 'narrow' else 'zext'} {self.wide('i32')} {short} to {whole}"
        raise Untranslatable(f"the operation {name} of {kind}")


def _suffix(type_: str) -> str:
    """Return how LLVM calls a type in the names of its functions."""
    return "f64" if type_ == "double" else type_
