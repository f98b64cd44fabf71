"""What compiled programs need at run time: memory for arrays of unknown size, and a way to fail.

Memory above the frames of all functions is a stack. A *tape*, an array over the index type ``?``, is
known by the address of its descriptor: where its elements start, how many bytes they are apart, and how
many there are. The elements of all tapes that a loop writes lie side by side, one record per iteration. A
function that takes memory gives it back when it returns, unless it returns tapes; the next call of the
program takes it again. The address 0 is that of a tape that was never made.
"""

from __future__ import annotations

from rose_core.encode import (
    BR_IF_0,
    END,
    F64_ADD,
    I32_ADD,
    I32_EQ,
    I32_EQZ,
    I32_GE_U,
    I32_GT_U,
    I32_LT_U,
    I32_MUL,
    I32_SHL,
    I32_SHR_U,
    I32_SUB,
    IF,
    LOOP,
    MEMORY_COPY,
    MEMORY_FILL,
    MEMORY_GROW,
    MEMORY_SIZE,
    RETURN,
    SELECT,
    UNREACHABLE,
    Function,
    Helper,
    call,
    f64_const,
    global_get,
    global_set,
    i32_const,
    load,
    local_get,
    local_set,
    local_tee,
    store,
)
from rose_core.errors import MEMORY
from rose_core.language.types import Array, Type, has_tape, is_memory, is_tape
from rose_core.wasm.layout import aligned, size_of

DESCRIPTOR = 16
"""Bytes of a tape's descriptor."""

DATA, STRIDE, COUNT = 0, 4, 8
"""Where in a descriptor the elements' address, their distance and their number are."""

F64_CONVERT_U, F64_MUL, F64_GT = b"\xb8", b"\xa2", b"\x64"

TOP = 0
"""The global variable that holds the first free address."""


class Runtime:
    """The helper functions of one program, each made when it is first asked for."""

    def __init__(self, first: int, fail: int) -> None:
        """``first``: the number that the first helper gets; ``fail``: that of the import `errors.FAIL`."""
        self.first = first
        self.fail = fail
        self.functions: list[Function] = []
        self._numbers: dict[object, int] = {}
        self._gives_back = False

    def _new(self, key: object, function: Function) -> int:
        self.functions.append(function)
        return self._numbers.setdefault(key, self.first + len(self.functions) - 1)

    def helper(self, helper: Helper) -> bytes:
        """The call of a helper of the table of operations."""
        number = self._numbers.get(helper)
        return call(self._new(helper, helper.function(self.fail)) if number is None else number)

    def failure(self, code: int, x: bytes) -> bytes:
        """Code that reports a failure; ``x`` pushes its first number."""
        return i32_const(code) + x + f64_const(0.0) + call(self.fail) + UNREACHABLE

    @property
    def takes_memory(self) -> bool:
        """Whether there is a first free address: something takes memory, or gives it back."""
        return self._gives_back or "take" in self._numbers

    def giving_back(self, code: list[bytes], n: int) -> list[bytes]:
        """``code``, and the memory that it takes given back after it; ``n`` is a free local variable.

        It may take none after all, if what was to be kept there turns out not to be needed.
        """
        self._gives_back = True
        return [global_get(TOP), local_set(n), *code, local_get(n), global_set(TOP)]

    def take(self) -> bytes:
        """The call of ``(bytes) -> address``, which takes memory; the number is a multiple of 8."""
        if "take" not in self._numbers:
            n, at, end, pages = map(local_get, range(4))
            missing = pages + MEMORY_SIZE + I32_SUB
            some = MEMORY_SIZE + i32_const(2) + I32_SHR_U  # a quarter more, since growing costs
            many = some + missing + some + missing + I32_GT_U + SELECT
            code = (
                global_get(TOP) + local_tee(1) + n + I32_ADD + local_tee(2) + at + I32_LT_U
                + IF + self.failure(MEMORY, n + F64_CONVERT_U) + END
                + end + i32_const(1) + I32_SUB + i32_const(16) + I32_SHR_U + i32_const(1) + I32_ADD
                + local_tee(3) + MEMORY_SIZE + I32_GT_U
                + IF + many + MEMORY_GROW + i32_const(-1) + I32_EQ
                + IF + missing + MEMORY_GROW + i32_const(-1) + I32_EQ
                + IF + self.failure(MEMORY, n + F64_CONVERT_U) + END + END + END
                + end + global_set(TOP) + at
            )  # fmt: skip
            self._new("take", Function("take", "i", "i", [(3, "i")], code))
        return call(self._numbers["take"])

    def take_many(self) -> bytes:
        """The call of ``(count, stride) -> address``, which takes memory for so many records."""
        if "take_many" not in self._numbers:
            n, stride = map(local_get, range(2))
            product = n + F64_CONVERT_U + stride + F64_CONVERT_U + F64_MUL
            code = (
                product + f64_const(2.0**32 - 65536) + F64_GT + IF + self.failure(MEMORY, product) + END
                + n + stride + I32_MUL + self.take()
            )  # fmt: skip
            self._new("take_many", Function("take_many", "ii", "i", [], code))
        return call(self._numbers["take_many"])

    def extend(self) -> bytes:
        """The call of ``(start, end, more) -> (start, end)``: records get room for ``more`` bytes at least.

        They stay where they are if nothing has been put behind them, else they move.
        """
        if "extend" not in self._numbers:
            start, end, more, size, moved = map(local_get, range(5))
            code = (
                end + global_get(TOP) + I32_EQ
                + IF + more + self.take() + local_set(3) + start + end + more + I32_ADD + RETURN + END
                + end + start + I32_SUB + local_tee(3) + i32_const(1) + I32_SHL + more + I32_ADD
                + local_tee(2) + self.take() + local_tee(4) + start + size + MEMORY_COPY
                + moved + moved + more + I32_ADD
            )  # fmt: skip
            self._new("extend", Function("extend", "iii", "ii", [(2, "i")], code))
        return call(self._numbers["extend"])

    # -- arithmetic on tapes ------------------------------------------------------------------------------

    def zeros(self, t: Type) -> bytes:
        """The call of ``(tape) -> tape``: a new one of the same shape, of zeros."""
        if ("zeros", t) not in self._numbers:
            assert isinstance(t, Array)
            step = aligned(size_of(t.elem))
            x, new, data = map(local_get, range(3))
            count = x + load("i", COUNT)
            size = count + i32_const(step) + I32_MUL
            code = (
                x + I32_EQZ + IF + i32_const(0) + RETURN + END
                + i32_const(DESCRIPTOR) + self.take() + local_tee(1)
                + count + i32_const(step) + self.take_many() + local_tee(2) + store("i", DATA)
                + new + i32_const(step) + store("i", STRIDE) + new + count + store("i", COUNT)
                + data + i32_const(0) + size + MEMORY_FILL
            )  # fmt: skip
            if has_tape(t.elem):
                code += self._each(0, 1, 3, self._zeros_inside(t.elem))
            self._new(("zeros", t), Function("zeros", "i", "i", [(5, "i")], code + new))
        return call(self._numbers["zeros", t])

    def _each(self, x: int, y: int, free: int, what: bytes) -> bytes:
        """For every element of the tape in local ``x`` and that of ``y``: push both addresses, then ``what``.

        Uses the locals ``free`` to ``free + 2``; the element of ``y`` is pushed first.
        """
        i, p, q = free, free + 1, free + 2
        step = b"".join(
            local_get(at) + local_get(tape) + load("i", STRIDE) + I32_ADD + local_set(at)
            for at, tape in ((p, x), (q, y))
        )
        return (
            local_get(x) + load("i", COUNT) + local_tee(i)
            + IF + local_get(x) + load("i", DATA) + local_set(p)
            + local_get(y) + load("i", DATA) + local_set(q)
            + LOOP + local_get(q) + local_get(p) + what + step
            + local_get(i) + i32_const(1) + I32_SUB + local_tee(i) + BR_IF_0 + END + END
        )  # fmt: skip

    def _zeros_inside(self, t: Type) -> bytes:
        """Code ``(to, from) -> ()`` that puts zeros for the tapes in a value of type ``t`` in memory."""
        if is_tape(t):
            return load("i", 0) + self.zeros(t) + store("i", 0)
        return self._over_array("zeros in", t, self._zeros_inside)

    def zeros_in_memory(self, t: Type) -> bytes:
        """The code ``(to, from) -> ()``: zeros of the shape of an array of tapes."""
        return self._zeros_inside(t)

    def add(self, t: Type) -> bytes:
        """The call of ``(to, x) -> ()``: add the tape ``x`` to the tape ``to``."""
        if ("add", t) not in self._numbers:
            assert isinstance(t, Array)
            code = local_get(1) + IF + self._each(1, 0, 2, self._add_inside(t.elem)) + END
            self._new(("add", t), Function("add", "ii", "", [(3, "i")], code))
        return call(self._numbers["add", t])

    def _add_inside(self, t: Type) -> bytes:
        """Code ``(to, from) -> ()`` that adds a value of type ``t`` in memory to another."""
        if is_tape(t):
            return self._swap_load() + self.add(t)
        if not is_memory(t):
            return self._add_number()
        return self._over_array("add in", t, self._add_inside)

    def add_in_memory(self, t: Type) -> bytes:
        """The code ``(to, from) -> ()``: add an array with tapes in it to another."""
        return self._add_inside(t)

    def _swap_load(self) -> bytes:
        """The call of ``(p, q) -> (tape at p, tape at q)``."""
        if "load tapes" not in self._numbers:
            code = local_get(0) + load("i", 0) + local_get(1) + load("i", 0)
            self._new("load tapes", Function("load_tapes", "ii", "ii", [], code))
        return call(self._numbers["load tapes"])

    def _add_number(self) -> bytes:
        """The call of ``(p, q) -> ()``: add the number at ``q`` to the number at ``p``."""
        if "add number" not in self._numbers:
            p, q = local_get(0), local_get(1)
            code = p + p + load("f", 0) + q + load("f", 0) + F64_ADD + store("f", 0)
            self._new("add number", Function("add_number", "ii", "", [], code))
        return call(self._numbers["add number"])

    def _over_array(self, what: str, t: Type, inside: object) -> bytes:
        """The call of ``(to, from) -> ()`` that does ``inside`` for every element of an array in memory."""
        if (what, t) not in self._numbers:
            assert isinstance(t, Array) and callable(inside)
            step, size = i32_const(size_of(t.elem)), i32_const(size_of(t))
            to, source, end = map(local_get, range(3))
            code = (
                source + size + I32_ADD + local_set(2)
                + source + end + I32_GE_U + I32_EQZ
                + IF + LOOP + to + source + inside(t.elem)
                + to + step + I32_ADD + local_set(0)
                + source + step + I32_ADD + local_tee(1) + end + I32_LT_U + BR_IF_0 + END + END
            )  # fmt: skip
            self._new((what, t), Function("each", "ii", "", [(1, "i")], code))
        return call(self._numbers[what, t])
