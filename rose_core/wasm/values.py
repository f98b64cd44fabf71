"""Where the values of a function are while it is lowered: in memory, and in local variables.

A statement's code goes to the end of what has been written for its block. Code that is still being
put together (an expression, the body of a loop) runs after that, so a variable is given back only
when the statements of all its users are complete, and for users inside a loop when the loop is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rose_core.encode import f64_const, i32_const, local_get, local_set
from rose_core.language.demand import Demand
from rose_core.language.ir import ACCUM, GET, RESOLVE, VEC, Func
from rose_core.language.types import REAL, Type, is_memory
from rose_core.wasm.bulk import copied
from rose_core.wasm.context import Context
from rose_core.wasm.layout import BASE, Place, letter, placed, size_of

if TYPE_CHECKING:
    from rose_core.wasm.parts import Parts

_GETS = [local_get(n) for n in range(4096)]
_SETS = [local_set(n) for n in range(4096)]


def get_local(n: int) -> bytes:
    return _GETS[n] if n < 4096 else local_get(n)


def set_local(n: int) -> bytes:
    return _SETS[n] if n < 4096 else local_set(n)


class Values:
    """What is known of the values of a function while it is lowered."""

    parts: Parts
    """Which say whose local variables these are."""

    def __init__(
        self,
        func: Func,
        context: Context,
        frame: int,
        data: dict[int, int],
        demand: Demand | None = None,
    ) -> None:
        """``frame``: where the function's frame starts; ``data``: address of each constant vector;
        ``demand``: on the function's values, if it is known."""
        self.func = func
        self.context = context
        self.demand = demand or Demand(func)
        self.frame_end = frame
        self.data = data
        self.out: list[list[bytes]] = [[] for _ in func.blocks]
        """For each block, the code of its finished statements."""
        self.runs: list[tuple[int, str]] = []
        """The local variables after the parameters, in runs of one type."""
        self.local_count = 0
        self.free: list[tuple[list[int], list[int]]] = [([], [])]
        """Free local variables, f64 and i32: of the function's body, then of each loop being written."""
        self.lane_locals: list[int] = []
        """Local variables of two lanes, none of which is in use outside of a loop."""
        self.loops = [0]
        """The blocks being written, outermost first."""
        self.expr: list[bytes | None] = [None] * len(func.code)
        """Code that pushes a value, once there is one; for what lives in memory, the base of its address."""
        self.expr += [self._constant(value, t) for value, t in reversed(func.pool)]
        arrays = [~k for k, (_, t) in enumerate(func.pool) if t is not REAL and is_memory(t)]
        self.offset = dict.fromkeys(arrays, context.zeros)
        """What to add to the base; nothing where there is nothing. Constant arrays are zeros."""
        self.left = self.demand.uses
        """The uses of each value whose statements are not complete."""
        self.local_of = [-1] * len(func.code)
        """The local variable that holds a value, times two, plus one for an i32; -1 for none."""
        self.name_of: dict[int, int] = {}
        """Value → the value that it is a part, or another name, of."""
        self.delayed: list[list[int]] = [[] for _ in func.blocks]
        """Uses, inside each loop being written, of values from outside of it."""
        self.clobbered: set[int] = set()
        """Arrays that will be overwritten; what is read from them must be kept."""
        self.wanted: dict[int, Place] = {}
        """Array or accumulator → where it is to be made."""

    def statement(self, v: int) -> None:
        """Write ``v``, no scalar operation, as a statement of its own, unless that has been done."""
        raise NotImplementedError

    # -- places ------------------------------------------------------------------------------------------

    @staticmethod
    def _constant(value: float, t: Type) -> bytes:
        if t is REAL:
            return f64_const(value)
        if is_memory(t):
            return BASE
        return f64_const(value) if letter(t) == "f" else i32_const(int(value))

    def reserve(self, size: int) -> Place:
        """Room in the frame."""
        address, self.frame_end = placed(self.frame_end, size)
        return Place(BASE, address)

    def put(self, v: int, place: Place) -> None:
        """Say where the array or accumulator ``v`` is."""
        self.expr[v] = place.base
        self.offset[v] = place.offset

    def place(self, x: int) -> Place:
        """The address of the array or accumulator ``x``, which is made now if it was not."""
        if self.expr[x] is None:
            self.statement(x)
        return Place(self.expr[x], self.offset.get(x, 0))  # type: ignore[arg-type]

    def want(self, v: int, place: Place, block: int) -> None:
        """Ask for the array ``v`` to be made at ``place``, if ``block`` makes it and has not done so yet."""
        if v < 0 or self.expr[v] is not None or self.func.home[v] != block or v in self.data:
            return
        ins = self.func.code[v]
        if ins[0] == RESOLVE:
            r = ins[1]
            if self.func.code[r][0] == ACCUM and self.func.home[r] == block and self.expr[r] is None:
                self.wanted.setdefault(r, place)
        elif ins[0] in (VEC, GET):
            self.wanted.setdefault(v, place)

    def room_for(self, v: int, t: Type) -> Place:
        """Where to make ``v``."""
        place = self.wanted.get(v)
        if place is None:
            place = self.wanted[v] = self.reserve(size_of(t))
        return place

    def copy(self, block: int, to: Place, v: int, t: Type) -> None:
        """Copy the whole array ``v``, unless it was made there."""
        at = self.place(v)
        size = size_of(t)
        if at.base != to.base or at.offset != to.offset:
            self.out[block] += copied(to, at, size)
        self.used(v, block)

    # -- local variables ----------------------------------------------------------------------------------

    def new_local(self, is_int: bool, depth: int = -1) -> int:
        """A local variable, for the block being written or for the enclosing one at ``depth``."""
        for free in self.free[depth % len(self.free) :: -1]:
            if free[is_int]:
                return free[is_int].pop()
        return self.unused_local("fi"[is_int])

    def unused_local(self, kind: str) -> int:
        """A local variable that no code uses that has been written so far, of a type in a letter."""
        if self.runs and self.runs[-1][1] == kind:
            self.runs[-1] = (self.runs[-1][0] + 1, kind)
        else:
            self.runs.append((1, kind))
        self.local_count += 1
        return self.local_count - 1

    def kinds_from(self, first: int) -> str:
        """The types of the local variables from number ``first`` on."""
        kinds, missing = "", self.local_count - first
        for count, kind in reversed(self.runs):
            if not missing:
                break
            kinds = kind * min(count, missing) + kinds
            missing -= min(count, missing)
        return kinds

    def keep(self, v: int, is_int: bool) -> bytes:
        """Code that stores ``v`` in a local variable, which is its own until its last use."""
        home = self.func.home[v]
        n = self.new_local(is_int, self.loops.index(home) if home else 0)
        self.hold(v, n, is_int)
        return set_local(n)

    def hold(self, v: int, n: int, is_int: bool) -> None:
        """Say that ``v`` is in that local variable."""
        self.expr[v] = get_local(n)
        self.local_of[v] = 2 * n + is_int
        self.parts.owner[n] = v

    def name(self, v: int, of: int) -> None:
        """Say that ``v`` is a part, or another name, of a value."""
        self.name_of[v] = of
        self.parts.aliases.append(v)

    def used(self, x: int, block: int) -> None:
        """Note that a use of ``x`` by a statement of ``block`` is complete."""
        if x < 0:
            return
        if block != self.func.home[x]:
            self.delayed[block].append(x)
            return
        self.left[x] -= 1
        if not self.left[x]:
            self.release(x, block)

    def all_used(self, values: Sequence[int], block: int) -> None:
        """As `used`, of what are no constants."""
        home, left, local_of = self.func.home, self.left, self.local_of
        free = self.free[self.loops.index(block) if block else 0]
        for x in values:
            if home[x] != block:
                self.delayed[block].append(x)
                continue
            left[x] -= 1
            if not left[x]:
                local = local_of[x]
                if local >= 0:
                    free[local & 1].append(local >> 1)
                else:
                    self.release(x, block)

    def release(self, x: int, block: int) -> None:
        """Give back the local variable of ``x``, or its share in what it is a name of."""
        local = self.local_of[x]
        if local >= 0:
            self.free[self.loops.index(block) if block else 0][local & 1].append(local >> 1)
        elif x in self.name_of:
            self.used(self.name_of[x], block)
        else:
            self.parts.release(x)
