"""A function of `rose_core.libm` on two numbers at a time, in the lanes of WebAssembly.

Each lane does what the function does with its number, to the bit. Of a branch both sides are computed, with
no effect on the lanes that do not take it, unless no lane does. Where a lane needs a function that is called,
which is for the ends of the range, the numbers go one after the other to the function for one.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from rose_core.encode import (
    END,
    F64X2_SPLAT,
    I32_SHL,
    IF,
    IN_LANES,
    RETURN,
    extract_lane,
    i32_const,
    simd,
)
from tests.libm.translation import (
    I32_WRAP,
    Function,
    Get,
    Give,
    Scope,
    Set,
    Translation,
    refuse,
)

ANY_TRUE, BITSELECT, NOT, AND, ANDNOT, OR = map(simd, (0x53, 0x52, 0x4D, 0x4E, 0x4F, 0x50))
REPLACE_LANE_1 = simd(0x22) + b"\x01"
F64_CONVERT, F64_COPYSIGN = b"\xb9", b"\xa6"
SHIFTS = {b"\x86": simd(0xCB), b"\x87": simd(0xCC)}
NOT_THE_SIGN = (1 << 63) - 1

INSTRUCTIONS: Mapping[bytes, bytes] = {
    **{bytes([code]): in_lanes for code, in_lanes in IN_LANES.items()},
    # add, sub, mul; and, or, xor; eq, ne, lt, gt, le, ge of integers
    b"\x7c": simd(0xCE),
    b"\x7d": simd(0xD1),
    b"\x7e": simd(0xD5),
    b"\x83": AND,
    b"\x84": OR,
    b"\x85": simd(0x51),
    b"\x51": simd(0xD6),
    b"\x52": simd(0xD7),
    b"\x53": simd(0xD8),
    b"\x55": simd(0xD9),
    b"\x57": simd(0xDA),
    b"\x59": simd(0xDB),
    # what a number and its bits are is the same
    b"\xbd": b"",
    b"\xbf": b"",
}
"""Instruction on one number, integer or condition → on those of two lanes."""


def lane_of_integer(lane: int) -> bytes:
    return simd(0x1D) + bytes([lane])


class LanesTranslation(Translation):
    """One function's code for two numbers: numbers, integers and conditions are a v128 each."""

    wasm: Mapping[str, str] = {"f": "v", "l": "v", "i": "v", "s": "f"}
    """``s`` is a single number."""

    def body(self, f: Function, names: dict[str, int], definition: ast.FunctionDef) -> None:
        self.one = f.__name__
        self.name = f"{f.__name__}_in_lanes"
        self.given: list[int] = []
        """The variables of the results of lanes that have returned, if some may have."""
        self.returned = -1
        """The variable that tells which those are."""
        self.returns = 0
        """How many places there are so far where lanes return."""
        LanesScope(self, f, names).run(definition.body, self._return)

    def one_by_one(self) -> None:
        """Write code that returns what the function for one number gives in each lane."""
        singles = []
        for lane in range(2):
            for n in range(len(self.params)):
                self.code += [Get(n), extract_lane(lane)]
            self.code.append(self.one)
            singles.append([self.variable("s") for _ in self.results])
            self.code += [Set(n) for n in reversed(singles[-1])]
        for first, second in zip(*singles, strict=True):
            self.code += [Get(first), F64X2_SPLAT, Get(second), REPLACE_LANE_1]
        self.code.append(RETURN)

    def _return(self, scope: Scope, value: ast.expr, last: bool) -> None:
        assert isinstance(scope, LanesScope)
        if last and self.returned < 0:
            scope.expect(value, self.results)
            return
        if self.returned < 0:
            self.given = [self.variable(letter) for letter in self.results]
            self.returned = self.variable("i")
        if last:
            self.code += [Get(scope.active), ANY_TRUE, IF]
        scope.expect(value, self.results)
        for n in reversed(self.given):
            self.code += [Get(n), Get(scope.active), BITSELECT, Set(n)]
        if last:
            self.code += [END, *(Get(n) for n in self.given)]
        else:
            self.code += [Get(self.returned), Get(scope.active), OR, Set(self.returned)]
            self.returns += 1


class LanesScope(Scope):
    """The names of a function whose numbers are in lanes."""

    to: LanesTranslation
    active = -1
    """The variable that tells which lanes are computed here, if not all are."""
    is_late = False
    """Whether some of these may have returned since."""

    # -- statements -----------------------------------------------------------------------------------

    def statement(self, s: ast.stmt, give: Give, last: bool) -> None:
        if self.is_late:
            self.is_late = False
            self.active = self._but(self.to.returned)
        super().statement(s, give, last)

    def _but(self, mask: int) -> int:
        """A variable that tells which lanes are active but for some."""
        rest = self.to.variable("i")
        if self.active < 0:
            self.to.code += [Get(mask), NOT, Set(rest)]
        else:
            self.to.code += [Get(self.active), Get(mask), ANDNOT, Set(rest)]
        return rest

    def branch(self, s: ast.If, give: Give) -> None:
        outer, returns = self.active, self.to.returns
        self.expect(s.test, "i")
        mask = self.to.variable("i")
        if outer >= 0:
            self.to.code += [Get(outer), AND]
        self.write(Set(mask))
        sides = [(mask, s.body)]
        if s.orelse:
            sides.append((self._but(mask), s.orelse))
        for lanes, statements in sides:
            self.to.code += [Get(lanes), ANY_TRUE, IF]
            if any(map(self._calls, statements)):
                self.to.one_by_one()
            else:
                self.active = lanes
                for inner in statements:
                    self.statement(inner, give, False)
            self.write(END)
        self.active, self.is_late = outer, self.to.returns > returns

    def _calls(self, s: ast.stmt) -> bool:
        """Whether a statement calls a function."""
        calls = [node.func for node in ast.walk(s) if isinstance(node, ast.Call)]
        called = [self.function(f.id) for f in calls if isinstance(f, ast.Name)]
        return any(f is not None and self.is_called(f) for f in called)

    def set(self, variable: int, is_new: bool) -> None:
        if not is_new and self.active >= 0:
            self.to.code += [Get(variable), Get(self.active), BITSELECT]
        self.write(Set(variable))

    # -- expressions ----------------------------------------------------------------------------------

    def instruction(self, code: bytes) -> None:
        to = self.to
        if code in SHIFTS:
            count = to.code.pop()
            assert isinstance(count, int), "only by a constant"
            self.write(i32_const(count) + SHIFTS[code])
        elif code == F64_COPYSIGN:
            self.number(NOT_THE_SIGN)
            self.write(BITSELECT)
        elif code == F64_CONVERT:
            n = to.variable("l")
            to.code += [Set(n), Get(n), lane_of_integer(0) + F64_CONVERT + F64X2_SPLAT]
            to.code += [Get(n), lane_of_integer(1) + F64_CONVERT + REPLACE_LANE_1]
        elif INSTRUCTIONS[code]:
            self.write(INSTRUCTIONS[code])

    def number(self, x: float | int) -> None:
        self.write(x)

    def look_up(self, table: tuple[float, ...]) -> None:
        n = self.to.variable("l")
        self.write(Set(n))
        for lane in (1, 0):
            self.to.code += [Get(n), lane_of_integer(lane) + I32_WRAP + i32_const(3) + I32_SHL]
        self.to.code += [table, table]

    # -- calls ----------------------------------------------------------------------------------------

    def call(self, f: Function, args: list[ast.expr]) -> str:
        refuse(args[0], "a function is called in a branch only")

    def inside(self, f: Function, names: dict[str, int]) -> Scope:
        scope = LanesScope(self.to, f, names)
        scope.active = self.active
        return scope
