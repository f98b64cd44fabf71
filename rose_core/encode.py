"""The binary format of WebAssembly modules, as far as compiled programs use it.

Source: WebAssembly Core Specification 2.0, chapter 5. Sections are put together from finished pieces;
`instruction` gives the bytes of single instructions and knows what each takes and gives, so that the
code templates built from them are checked where they are made.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from math import inf

F64, I32, I64, V128, EMPTY = 0x7C, 0x7F, 0x7E, 0x7B, 0x40

_TYPES = {"f": F64, "i": I32, "l": I64, "v": V128}


_BYTE = [bytes([n]) for n in range(0x80)]
_MORE = [bytes([n | 0x80]) for n in range(0x80)]
"""Seven bits of a number: its last, or others of which more follow."""


def uint(n: int) -> bytes:
    """An unsigned LEB128 integer."""
    if n <= 0x7F:
        return _BYTE[n]
    # most that are longer are two bytes
    return _MORE[n & 0x7F] + (_BYTE[n >> 7] if n <= 0x3FFF else uint(n >> 7))


def sint(n: int) -> bytes:
    """A signed LEB128 integer."""
    return _BYTE[n & 0x7F] if -0x40 <= n < 0x40 else _MORE[n & 0x7F] + sint(n >> 7)


def vector(items: Sequence[bytes]) -> bytes:
    return uint(len(items)) + b"".join(items)


def vector_of_bytes(content: bytes) -> bytes:
    return uint(len(content)) + content


def name(text: str) -> bytes:
    return vector_of_bytes(text.encode(errors="replace"))  # one of JavaScript's may have half a character


def section(number: int, body: bytes) -> bytes:
    return bytes([number]) + uint(len(body)) + body if body else b""


# -- instructions -------------------------------------------------------------------------------------


_packed = struct.Struct("<d").pack


def f64_const(x: float) -> bytes:
    return b"\x44" + _packed(x)


def i32_const(n: int) -> bytes:
    """An i32, signed or unsigned."""
    return b"\x41" + sint(n - (1 << 32) if n >= 1 << 31 else n)


def local_get(n: int) -> bytes:
    return b"\x20" + uint(n)


def local_set(n: int) -> bytes:
    return b"\x21" + uint(n)


def local_tee(n: int) -> bytes:
    return b"\x22" + uint(n)


def global_get(n: int) -> bytes:
    return b"\x23" + uint(n)


def global_set(n: int) -> bytes:
    return b"\x24" + uint(n)


def call(n: int) -> bytes:
    return b"\x10" + uint(n)


def memarg(align: int, offset: int) -> bytes:
    return _BYTE[align] + uint(offset)


LOAD = {"f": (0x2B, 3), "i": (0x28, 2), "l": (0x29, 3), "b": (0x2D, 0)}
STORE = {"f": (0x39, 3), "i": (0x36, 2), "b": (0x3A, 0)}
"""By kind of scalar: opcode and alignment."""


_LOADS, _STORES = ({kind: bytes(code) for kind, code in of.items()} for of in (LOAD, STORE))


def load(kind: str, offset: int) -> bytes:
    return _LOADS[kind] + uint(offset)


def store(kind: str, offset: int) -> bytes:
    return _STORES[kind] + uint(offset)


I32_ADD, I32_MUL, I32_LT_U, F64_ADD, F64_SUB, SELECT, DROP, END = (
    b"\x6a",
    b"\x6c",
    b"\x49",
    b"\xa0",
    b"\xa1",
    b"\x1b",
    b"\x1a",
    b"\x0b",
)
LOOP, BR_IF_0 = b"\x03\x40", b"\x0d\x00"
IF, ELSE, UNREACHABLE, I32_GE_U = b"\x04\x40", b"\x05", b"\x00", b"\x4f"
I32_EQ, I32_EQZ, I32_SUB, I32_SHL = b"\x46", b"\x45", b"\x6b", b"\x74"
I32_NE, I32_AND = b"\x47", b"\x71"
I32_SHR_U, I32_GT_U, RETURN = b"\x76", b"\x4b", b"\x0f"
BLOCK, BR_0, BR_2, BR_IF_1 = b"\x02\x40", b"\x0c\x00", b"\x0c\x02", b"\x0d\x01"
MEMORY_SIZE, MEMORY_GROW = b"\x3f\x00", b"\x40\x00"
MEMORY_COPY, MEMORY_FILL = b"\xfc\x0a\x00\x00", b"\xfc\x0b\x00"


F64_CONVERT_S = b"\xb7"
"""A whole number as a Real."""

# -- two numbers in the lanes of a v128 -----------------------------------------------------------------


def simd(n: int) -> bytes:
    return b"\xfd" + uint(n)


def lanes_const(first: float, second: float) -> bytes:
    return simd(0x0C) + struct.pack("<dd", first, second)


F64X2_SPLAT, I32X4_SPLAT, F64X2_ADD, F64X2_SUB, F64X2_NE = map(simd, (0x14, 0x11, 0xF0, 0xF1, 0x48))
F64X2_PMIN, F64X2_PMAX = map(simd, (0xF6, 0xF7))
"""The second of two numbers where it is less, or greater, and else the first: no less for a NaN."""
V128_AND, V128_ANDNOT, V128_OR = map(simd, (0x4E, 0x4F, 0x50))
F64X2_OF_I32 = I32X4_SPLAT + simd(0xFE)
"""A whole number as an f64 in both lanes, for which nothing is waited that was in a register before."""

IN_LANES = {
    # comparisons, which give masks: eq, ne, lt, gt, le, ge
    **{0x61 + k: simd(0x47 + k) for k in range(6)},
    # add, sub, mul, div, min, max
    **{0xA0 + k: simd(0xF0 + k) for k in range(6)},
    # abs, neg, ceil, floor, trunc, sqrt
    0x99: simd(0xEC),
    0x9A: simd(0xED),
    0x9B: simd(0x74),
    0x9C: simd(0x75),
    0x9D: simd(0x7A),
    0x9F: simd(0xEF),
    # of Bools: eqz, and, or, xor, select
    0x45: simd(0x4D),
    0x71: simd(0x4E),
    0x72: simd(0x50),
    0x73: simd(0x51),
    0x1B: simd(0x52),
}
"""Instruction on f64 → what does the same in both lanes, where a Bool is a mask."""

# the bits of what is negative, and no NaN, are at most those of -infinity, as whole numbers
SIDE = b"".join(
    [b"\xbd\x42", sint(-(1 << 52)), b"\x57", i32_const(-2), I32_MUL, i32_const(1), I32_ADD, F64_CONVERT_S]
)
"""-1 of a negative f64 and of -0, and else 1."""
# likewise, by the sign of the mask in a 1
_MASK = lanes_const(-inf, -inf) + simd(0xDA)
SIDE_IN_LANES = _MASK + lanes_const(-0.0, -0.0) + IN_LANES[0x71] + lanes_const(1, 1) + IN_LANES[0x72]


def pair(first: int, second: int) -> bytes:
    """Of two values in lanes: a lane of the one and a lane of the other."""
    return simd(0x0D) + bytes([*range(8 * first, 8 * first + 8), *range(16 + 8 * second, 24 + 8 * second)])


def extract_lane(lane: int) -> bytes:
    return simd(0x21) + bytes([lane])


class Access:
    """How numbers in memory are read into lanes and written from them."""

    __slots__ = ("_end", "_load", "_load_end", "_store")

    def __init__(self, load: int, store: int = -1, end: bytes = b"", load_end: bytes = b"") -> None:
        self._load, self._store, self._end = simd(load), simd(store) if store >= 0 else b"", end
        self._load_end = load_end

    def load(self, offset: int) -> bytes:
        return self._load + memarg(3, offset) + self._load_end

    def store(self, offset: int) -> bytes:
        return self._store + memarg(3, offset) + self._end


LANES = Access(0x00, 0x0B)
"""Neighbours, a lane each."""
LANE = Access(0x5D, 0x5B, b"\x00")
"""The first lane alone; the second is 0."""
SECOND_LANE = Access(0x57, 0x5B, end=b"\x01", load_end=b"\x01")
"""The second lane alone; what is read goes into what is on the stack behind the address."""
SPLAT = Access(0x0A)
"""One number, into both lanes."""


class Function:
    """A finished function: its type, its code, and names for the name section."""

    __slots__ = ("code", "locals", "name", "params", "results")

    def __init__(
        self, name: str, params: str, results: str, locals: Sequence[tuple[int, str]], code: bytes
    ) -> None:
        self.name = name
        self.params = params
        """The parameter types, a letter each: f for f64, i for i32, l for i64, v for v128."""
        self.results = results
        self.locals = locals
        """Further local variables, in runs of ``(count, letter)``."""
        self.code = code

    @property
    def body(self) -> bytes:
        """Local variables and code, as they stand in a module."""
        letters = groupby(self.locals, lambda run: run[1])
        runs = [uint(sum(n for n, _ in run)) + bytes([_TYPES[letter]]) for letter, run in letters]
        return vector(runs) + self.code + END


class InPlace:
    """Instructions on two i32 operands that need these more than once: what to do with the two on the stack,
    given where they may be put."""

    __slots__ = ("code",)

    def __init__(self, code: Callable[[int, int], bytes]) -> None:
        self.code = code


class Helper:
    """A function that the compiler itself puts into a module, where it is used.

    With ``after``, ``code`` ends in the numbers of a failure (`rose_core.errors`), inside an ``if``;
    ``after`` is what follows where nothing fails. With ``fails``, it is called only where something does.
    """

    __slots__ = ("after", "code", "fails", "locals", "name", "params", "results")

    def __init__(
        self,
        name: str,
        params: str,
        results: str,
        locals: str,
        code: bytes,
        after: bytes = b"",
        fails: Callable[[bytes, int, int], bytes] | None = None,
    ) -> None:
        self.name = name
        self.params = params
        self.results = results
        self.locals = locals
        """Further local variables, a letter each."""
        self.code = code
        self.after = after
        self.fails = fails
        """Where the other operands are known: instructions on the last one, which is on the stack, that tell
        whether it fails, given what pushes the first and where they may put an i32 and the operand itself."""

    def function(self, fail: int) -> Function:
        """The finished function; ``fail``: the number of the function that reports a failure."""
        code = self.code
        if self.after:
            code += call(fail) + UNREACHABLE + END + self.after
        return Function(self.name, self.params, self.results, [(1, letter) for letter in self.locals], code)


class Import:
    """A function that the host brings: ``module.field``."""

    __slots__ = ("field", "module", "params", "results")

    def __init__(self, module: str, field: str, params: str, results: str) -> None:
        self.module = module
        self.field = field
        self.params = params
        self.results = results


def memory_init(segment: int) -> bytes:
    return b"\xfc\x08" + uint(segment) + b"\x00"


def module(
    imports: Sequence[Import],
    functions: Sequence[Function],
    exported: Mapping[str, int],
    pages: int,
    data: Sequence[tuple[int, bytes]],
    memory: str,
    top: int = -1,
) -> bytes:
    """A module that exports some of its ``functions``, by name and number in that list.

    ``memory`` is ``"exported"`` as ``m``, or imported from module ``m``: ``"imported"`` with its data put
    in place once, or ``"shared"``, where the code itself does so, with `memory_init`. ``top`` is the initial
    value of a global variable that is exported as ``t``, or -1 where there is none.
    """
    types: dict[tuple[str, str], int] = {}

    def type_index(params: str, results: str) -> bytes:
        return uint(types.setdefault((params, results), len(types)))

    import_entries = [
        name(i.module) + name(i.field) + b"\x00" + type_index(i.params, i.results) for i in imports
    ]
    limits = b"\x00" + uint(pages)
    exports = [name(key) + b"\x00" + uint(len(imports) + k) for key, k in exported.items()]
    if top >= 0:
        exports.append(name("t") + b"\x03\x00")
    memories = b""
    if memory == "exported":
        memories = section(5, b"\x01" + limits)
        exports.append(name("m") + b"\x02\x00")
    else:
        import_entries.append(name("m") + name("") + b"\x02" + limits)
    function_entries = [type_index(f.params, f.results) for f in functions]
    bodies = [vector_of_bytes(f.body) for f in functions]
    segments = [
        (b"\x01" if memory == "shared" else b"\x00" + i32_const(address) + END) + vector_of_bytes(content)
        for address, content in data
    ]
    type_entries = [
        b"\x60" + vector([bytes([_TYPES[p]]) for p in params]) + vector([bytes([_TYPES[r]]) for r in results])
        for params, results in types
    ]
    names = vector([uint(len(imports) + k) + name(f.name) for k, f in enumerate(functions)])
    return b"".join(
        (
            b"\x00asm\x01\x00\x00\x00",
            section(1, vector(type_entries)),
            section(2, vector(import_entries)) if import_entries else b"",
            section(3, vector(function_entries)),
            memories,
            section(6, b"\x01\x7f\x01" + i32_const(top) + END) if top >= 0 else b"",
            section(7, vector(exports)),
            section(12, uint(len(segments))) if segments else b"",
            section(10, vector(bodies)),
            section(11, vector(segments)) if segments else b"",
            section(0, name("name") + section(1, names)),
        )
    )
