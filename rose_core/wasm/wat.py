"""WebAssembly modules as text, with the bytes of each instruction beside it.

Source: WebAssembly Core Specification 2.0, chapters 5 (the binary format) and 6 (the text), as far as
compiled programs use them. What is printed is text that an assembler takes, and makes the same code of.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_TYPES = {0x7C: "f64", 0x7D: "f32", 0x7E: "i64", 0x7F: "i32", 0x7B: "v128"}

_COMPARISONS = "eq ne lt_s lt_u gt_s gt_u le_s le_u ge_s ge_u".split()
_FLOAT_COMPARISONS = "eq ne lt gt le ge".split()
_INT = "clz ctz popcnt add sub mul div_s div_u rem_s rem_u and or xor shl shr_s shr_u rotl rotr".split()
_FLOAT = "abs neg ceil floor trunc nearest sqrt add sub mul div min max copysign".split()
_CONVERSIONS = """
    i32.wrap_i64 i32.trunc_f32_s i32.trunc_f32_u i32.trunc_f64_s i32.trunc_f64_u i64.extend_i32_s
    i64.extend_i32_u i64.trunc_f32_s i64.trunc_f32_u i64.trunc_f64_s i64.trunc_f64_u f32.convert_i32_s
    f32.convert_i32_u f32.convert_i64_s f32.convert_i64_u f32.demote_f64 f64.convert_i32_s f64.convert_i32_u
    f64.convert_i64_s f64.convert_i64_u f64.promote_f32 i32.reinterpret_f32 i64.reinterpret_f64
    f32.reinterpret_i32 f64.reinterpret_i64 i32.extend8_s i32.extend16_s i64.extend8_s i64.extend16_s
    i64.extend32_s
"""


def _of(kind: str, names: Sequence[str]) -> list[str]:
    return [f"{kind}.{name}" for name in names]


_PLAIN = {
    **dict(enumerate(("unreachable", "nop"))),
    0x05: "else",
    0x0B: "end",
    0x0F: "return",
    0x1A: "drop",
    0x1B: "select",
    **dict(
        enumerate(
            [
                *_of("i32", ["eqz", *_COMPARISONS]),
                *_of("i64", ["eqz", *_COMPARISONS]),
                *_of("f32", _FLOAT_COMPARISONS),
                *_of("f64", _FLOAT_COMPARISONS),
                *(name for kind in ("i32", "i64") for name in _of(kind, _INT)),
                *(name for kind in ("f32", "f64") for name in _of(kind, _FLOAT)),
                *_CONVERSIONS.split(),
            ],
            0x45,
        )
    ),
}
"""Instructions that are a byte alone."""

_BLOCKS = {0x02: "block", 0x03: "loop", 0x04: "if"}
_INDEXED = {
    0x0C: "br",
    0x0D: "br_if",
    **dict(enumerate(("local.get", "local.set", "local.tee", "global.get", "global.set"), 0x20)),
}
"""Instructions of a number."""

_ACCESSES = dict(
    enumerate(
        """
        i32.load i64.load f32.load f64.load i32.load8_s i32.load8_u i32.load16_s i32.load16_u i64.load8_s
        i64.load8_u i64.load16_s i64.load16_u i64.load32_s i64.load32_u i32.store i64.store f32.store
        f64.store i32.store8 i32.store16 i64.store8 i64.store16 i64.store32
        """.split(),
        0x28,
    )
)
_MEMORY = {0x3F: "memory.size", 0x40: "memory.grow"}
_CALL = 0x10
_BULK, _BULK_NAMES = 0xFC, {8: "memory.init", 10: "memory.copy", 11: "memory.fill"}
_SATURATING = dict(
    enumerate(
        _of("i32", ("trunc_sat_f32_s", "trunc_sat_f32_u", "trunc_sat_f64_s", "trunc_sat_f64_u"))
        + _of("i64", ("trunc_sat_f32_s", "trunc_sat_f32_u", "trunc_sat_f64_s", "trunc_sat_f64_u"))
    )
)

_SIMD = 0xFD
_SIMD_PLAIN = {
    0x11: "i32x4.splat",
    0x12: "i64x2.splat",
    0x14: "f64x2.splat",
    **dict(enumerate(_of("f64x2", _FLOAT_COMPARISONS), 0x47)),
    0x53: "v128.any_true",
    **dict(enumerate(_of("i64x2", ("shl", "shr_s", "shr_u", "add")), 0xCB)),
    0xD1: "i64x2.sub",
    0xD5: "i64x2.mul",
    **dict(enumerate(_of("i64x2", ("eq", "ne", "lt_s", "gt_s", "le_s", "ge_s")), 0xD6)),
    **dict(enumerate(_of("v128", ("not", "and", "andnot", "or", "xor", "bitselect")), 0x4D)),
    0x74: "f64x2.ceil",
    0x75: "f64x2.floor",
    0x7A: "f64x2.trunc",
    0xEC: "f64x2.abs",
    0xED: "f64x2.neg",
    **dict(enumerate(_of("f64x2", ("sqrt", "add", "sub", "mul", "div", "min", "max", "pmin", "pmax")), 0xEF)),
    0xFE: "f64x2.convert_low_i32x4_s",
}
_SIMD_ACCESSES = {
    0x00: "v128.load",
    0x0A: "v128.load64_splat",
    0x0B: "v128.store",
    0x57: "v128.load64_lane",
    0x5B: "v128.store64_lane",
    0x5D: "v128.load64_zero",
}
_WITH_LANE = {0x1D: "i64x2.extract_lane", 0x21: "f64x2.extract_lane", 0x22: "f64x2.replace_lane"}

_KINDS = ("func", "table", "memory", "global")

_WIDTH = 44
"""Columns before the bytes."""


def wat(module: bytes) -> str:
    """The text of a module; each line of code with its bytes, in hexadecimal, as a comment.

    Raises:
        ValueError: it has something that compiled programs do not have.
    """
    return _Module(module).text()


class _Reader:
    """Reads the parts of the binary format, one after the other."""

    def __init__(self, data: bytes, at: int = 0) -> None:
        self.data = data
        self.at = at

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def uint(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def sint(self) -> int:
        start = self.at
        value = self.uint()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) else value

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]

    def name(self) -> str:
        return self.take(self.uint()).decode()

    def vector(self, item: Callable[[], T]) -> list[T]:
        return [item() for _ in range(self.uint())]

    def types(self) -> list[str]:
        return self.vector(lambda: _TYPES[self.byte()])


class _Module:
    """What is in a module, section by section."""

    def __init__(self, data: bytes) -> None:
        if data[:8] != b"\0asm\1\0\0\0":
            raise ValueError("this is no WebAssembly module")
        self.signatures: list[tuple[list[str], list[str]]] = []
        self.imports: list[str] = []
        self.functions: list[int] = []
        """The number of the signature of each function, those imported first."""
        self.names: dict[int, str] = {}
        self.used: dict[str, int] = {}
        """By name, how many others have been made of it."""
        self.others: list[str] = []
        """Lines that say what memory, globals and exports there are."""
        self.bodies: list[_Reader] = []
        self.data: list[str] = []
        sections: dict[int, _Reader] = {}
        r = _Reader(data, 8)
        while r.at < len(data):
            number = r.byte()
            sections[number] = _Reader(r.take(r.uint()))
        readers = {
            1: self._types,
            2: self._imports,
            3: self._functions,
            5: self._memories,
            6: self._globals,
            0: self._names,
            7: self._exports,
            10: self._code,
            11: self._segments,
        }
        for number, read in readers.items():
            if number in sections:
                read(sections[number])

    # -- sections ------------------------------------------------------------------------------------------

    def _types(self, r: _Reader) -> None:
        def signature() -> tuple[list[str], list[str]]:
            r.byte()
            return r.types(), r.types()

        self.signatures = r.vector(signature)

    def _imports(self, r: _Reader) -> None:
        for _ in range(r.uint()):
            module, field = r.name(), r.name()
            if r.byte() == 0:
                number = len(self.functions)
                self.functions.append(r.uint())
                self.names[number] = self._unused(field)
                what = f"func {self._function(number)}{self._signature(number)}"
            else:
                what = f"memory {self._limits(r)}"
            self.imports.append(f"(import {_string(module.encode())} {_string(field.encode())} ({what}))")

    def _functions(self, r: _Reader) -> None:
        self.functions += r.vector(r.uint)

    def _limits(self, r: _Reader) -> str:
        bounded = r.byte() & 1
        return f"{r.uint()} {r.uint()}" if bounded else f"{r.uint()}"

    def _memories(self, r: _Reader) -> None:
        self.others += [f"(memory {limits})" for limits in r.vector(lambda: self._limits(r))]

    def _globals(self, r: _Reader) -> None:
        for _ in range(r.uint()):
            kind, varies = _TYPES[r.byte()], r.byte()
            self.others.append(f"(global {f'(mut {kind})' if varies else kind} ({self._constant(r)}))")

    def _constant(self, r: _Reader) -> str:
        """An expression of a single constant."""
        value = self._instruction(r)
        r.byte()
        return value

    def _names(self, r: _Reader) -> None:
        if r.name() != "name":
            return
        while r.at < len(r.data):
            kind, size = r.byte(), r.uint()
            end = r.at + size
            if kind == 1:
                for _ in range(r.uint()):
                    number, name = r.uint(), r.name()
                    if name:
                        self.names[number] = self._unused(name)
            r.at = end

    def _unused(self, name: str) -> str:
        """An identifier that is like this name, and that no other function has."""
        name = first = re.sub(r"[^0-9A-Za-z!#$%&'*+\-./:<=>?@\\^_`|~]", "_", name)
        while name in self.used:
            self.used[first] += 1
            name = f"{first}_{self.used[first]}"
        self.used[name] = 0
        return name

    def _exports(self, r: _Reader) -> None:
        for _ in range(r.uint()):
            name, kind, number = _string(r.name().encode()), r.byte(), r.uint()
            what = self._function(number) if kind == 0 else f"{number}"
            self.others.append(f"(export {name} ({_KINDS[kind]} {what}))")

    def _code(self, r: _Reader) -> None:
        self.bodies = [_Reader(r.take(r.uint())) for _ in range(r.uint())]

    def _segments(self, r: _Reader) -> None:
        for _ in range(r.uint()):
            place = "" if r.uint() else f"({self._constant(r)}) "
            self.data.append(f"(data {place}{_string(r.take(r.uint()))})")

    # -- code ----------------------------------------------------------------------------------------------

    def _function(self, number: int) -> str:
        """Its identifier; of one without a name, its number is that."""
        if number not in self.names:
            self.names[number] = self._unused(f"{number}")
        return f"${self.names[number]}"

    def _signature(self, number: int) -> str:
        params, results = self.signatures[self.functions[number]]
        return _list("param", params) + _list("result", results)

    def _instruction(self, r: _Reader) -> str:
        opcode = r.byte()
        if opcode in _PLAIN:
            return _PLAIN[opcode]
        if opcode in _INDEXED:
            return f"{_INDEXED[opcode]} {r.uint()}"
        if opcode == _CALL:
            return f"call {self._function(r.uint())}"
        if opcode in _ACCESSES:
            return self._access(_ACCESSES[opcode], r)
        if opcode == 0x41:
            return f"i32.const {r.sint()}"
        if opcode == 0x42:
            return f"i64.const {r.sint()}"
        if opcode == 0x44:
            return f"f64.const {_float(r.take(8))}"
        if opcode in _BLOCKS:
            kind = r.byte()
            return _BLOCKS[opcode] + ("" if kind == 0x40 else f" (result {_TYPES[kind]})")
        if opcode in _MEMORY:
            r.byte()
            return _MEMORY[opcode]
        if opcode == _BULK:
            return self._bulk(r)
        if opcode == _SIMD:
            return self._simd(r)
        raise ValueError(f"compiled programs do not have the instruction {opcode:#04x}")

    def _access(self, name: str, r: _Reader) -> str:
        align, offset = r.uint(), r.uint()
        return name + (f" offset={offset}" if offset else "") + f" align={1 << align}"

    def _simd(self, r: _Reader) -> str:
        number = r.uint()
        if number in _SIMD_PLAIN:
            return _SIMD_PLAIN[number]
        if number in _SIMD_ACCESSES:
            name = self._access(_SIMD_ACCESSES[number], r)
            return f"{name} {r.uint()}" if "_lane" in name else name
        if number == 0x0C:
            return f"v128.const f64x2 {_float(r.take(8))} {_float(r.take(8))}"
        if number == 0x0D:
            return " ".join(["i8x16.shuffle", *map(str, r.take(16))])
        return f"{_WITH_LANE[number]} {r.uint()}"

    def _bulk(self, r: _Reader) -> str:
        number = r.uint()
        if number in _SATURATING:
            return _SATURATING[number]
        name = _BULK_NAMES[number]
        if name == "memory.init":
            name += f" {r.uint()}"
        r.take(2 if name == "memory.copy" else 1)
        return name

    def _lines(self, r: _Reader) -> Iterator[tuple[str, bytes]]:
        """Each instruction of a body, indented, with its bytes."""
        depth = 1
        while r.at < len(r.data):
            start = r.at
            text = self._instruction(r)
            if text in ("else", "end"):
                depth -= 1
            yield "  " * depth + text, r.data[start : r.at]
            if text == "else" or text.split()[0] in _BLOCKS.values():
                depth += 1

    def _body(self, number: int, r: _Reader) -> Iterator[str]:
        yield f"(func {self._function(number)}{self._signature(number)}"
        runs = [(r.uint(), _TYPES[r.byte()]) for _ in range(r.uint())]
        if runs:
            yield " " + _list("local", [kind for count, kind in runs for _ in range(count)])
        *lines, _ = self._lines(r)
        for text, data in lines:
            yield f"{text:<{_WIDTH}} ;; {data.hex(' ')}"
        yield ")"

    def text(self) -> str:
        """The whole module."""
        imported = len(self.functions) - len(self.bodies)
        parts = [*self.imports, *self.others]
        for k, body in enumerate(self.bodies):
            parts += self._body(imported + k, body)
        return "\n".join(["(module", *(f"  {part}" for part in [*parts, *self.data]), ")", ""])


def _list(what: str, types: Sequence[str]) -> str:
    return f" ({what} {' '.join(types)})" if types else ""


def _string(content: bytes) -> str:
    plain = (chr(b) if 0x20 <= b < 0x7F and b not in b'"\\' else f"\\{b:02x}" for b in content)
    return f'"{"".join(plain)}"'


def _float(data: bytes) -> str:
    """An f64, to the last bit."""
    value = struct.unpack("<d", data)[0]
    if value != value:
        bits = int.from_bytes(data, "little")
        return f"{'-' if bits >> 63 else ''}nan:{bits & (1 << 52) - 1:#x}"
    return repr(value)
