"""From instructions to WebAssembly: values get places, and expressions their bytes.

A value used once, in its own block, is not stored: its bytes wait and become part of its user's, so
expression trees run on the operand stack. Other scalars get a local variable, which is given back
after the last use, so that straight-line code of any length needs few. Arrays live in memory, at
fixed addresses where possible; a result is written where it is wanted, not copied there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rose_core.encode import (
    BR_IF_0, DROP, END, F64_ADD, I32_ADD, I32_LT_U, I32_MUL, LOOP, MEMORY_COPY, MEMORY_FILL, SELECT,
    call, f64_const, i32_const, load, local_get, local_set, local_tee, store,
)  # fmt: skip
from rose_core.ir import ACCUM, ADD_TO, CALL, FOR, GET, IDX, INDEX, PARAM, REF_INDEX, RESOLVE, VEC, Func
from rose_core.layout import BASE, Convention, Place, aligned, is_memory, kind_of, letter, size_of
from rose_core.liveness import Liveness
from rose_core.ops import BINARY_END, OPS, UNARY_END
from rose_core.schedule import Schedule
from rose_core.types import Array, Fin, Ref, Type

TABLE_END = len(OPS)

LONGEST_TREE = 160
"""Bytes of waiting code after which a value gets a local after all, so that none is copied often."""

_GETS = [local_get(n) for n in range(1024)]


def _get(n: int) -> bytes:
    return _GETS[n] if n < 1024 else local_get(n)


class Body:
    """The code of one function: its bytes, its local variables, and the end of its frame."""

    def __init__(
        self,
        func: Func,
        frame: int,
        zeros: int,
        data: dict[int, int],
        suffixes: Sequence[bytes],
        callees: dict[Func, tuple[int, Convention | None]],
        entry: tuple[list[int], list[int]] | None,
    ) -> None:
        """``frame``: where the function's frame starts; ``zeros``: address of zeros for constant arrays;
        ``data``: address of each constant vector; ``suffixes``: the code of each op of the table, after
        its operands; ``callees``: function index and convention, None for an opaque one; ``entry``:
        for the function that the host calls, the addresses of its parameters and results, or -1."""
        self.func = func
        self.schedule = Schedule(func)
        self.live = Liveness(func, self.schedule)
        self.frame_end = frame
        self.data = data
        self.suffixes = suffixes
        self.callees = callees
        self.out: list[bytes] = []
        self.runs: list[tuple[int, str]] = []
        """The local variables after the parameters, in runs of one type."""
        self.free: dict[str, list[int]] = {"f": [], "i": []}
        self.expiring: dict[int, list[tuple[str, int]]] = {}
        """Position → local variables whose last use it is."""
        constants = [self._constant(value, t, zeros) for value, t in func.pool]
        self.expr: list[bytes] = [b""] * len(func.code) + [place.base for place in reversed(constants)]
        """Code that pushes a value; for what lives in memory, the base of its address."""
        self.offset: dict[int, int] = {~k: place.offset for k, place in enumerate(constants)}
        """What to add to the base."""
        self.wanted: dict[int, Place] = {}
        """Array or accumulator → where it is to be made."""
        self.local_of: dict[int, int] = {}
        """Scalar accumulator → its local variable."""
        self.gets: dict[int, dict[int, int]] = {}
        """Loop or call → result number → the ``GET`` of it."""
        self.addressed: set[int] = set()
        """Scalar accumulators that something else needs the address of."""
        self._survey()
        self.result_places: list[Place | None]
        self.params, self.results = self._bind_entry(*entry) if entry else self._bind_params()
        for v, place in zip(func.results, self.result_places, strict=True):
            if place is not None and v >= 0 and is_memory(func.types[v]) and self._makes(v, 0):
                self.wanted.setdefault(v, place)
        self.block(0)
        self._return()
        self.code = b"".join(self.out)

    # -- parameters and results -----------------------------------------------------------------------

    def _survey(self) -> None:
        code = self.func.code
        for order in self.schedule.order:
            for v in order:
                ins = code[v]
                if ins[0] == GET:
                    self.gets.setdefault(ins[1], {})[ins[2]] = v
                elif ins[0] == CALL or (ins[0] < TABLE_END and ins[0] >= BINARY_END):
                    for x in ins[2:]:
                        if x >= 0 and isinstance(self.func.types[x], Ref):
                            self.addressed.add(x)

    def _param_ids(self) -> dict[int, int]:
        return {ins[1]: v for v, ins in enumerate(self.func.code) if ins[0] == PARAM}

    def _bind_params(self) -> tuple[str, str]:
        """Take parameters as the convention says; its WebAssembly signature."""
        convention = Convention(self.func)
        ids = self._param_ids()
        self.local_count = len(convention.params)
        for n, k in enumerate((*convention.scalars, *convention.pointers)):
            self.expr[ids[k]] = _get(n)
        n = len(self.func.params) - len(convention.blocked)
        if convention.blocked:
            for j, k in enumerate(convention.blocked):
                self.expr[ids[k]] = _get(n) + load(kind_of(self.func.params[k]), 8 * j)
            n += 1
        self.result_places = [None] * len(self.func.results)
        for k in convention.written:
            self.result_places[k] = Place(_get(n), 0)
            n += 1
        for j, k in enumerate(convention.blocked_results):
            self.result_places[k] = Place(_get(n), 8 * j)
        return convention.params, convention.results

    def _bind_entry(self, params: list[int], results: list[int]) -> tuple[str, str]:
        """Take parameters from the host, at these addresses; -1 for WebAssembly's own parameters."""
        types = self.func.params
        ids = self._param_ids()
        letters = ""
        for k, (t, address) in enumerate(zip(types, params, strict=True)):
            if is_memory(t):
                self.put(ids[k], Place(BASE, address))
            elif address >= 0:
                self.expr[ids[k]] = BASE + load(kind_of(t), address)
            else:
                self.expr[ids[k]] = _get(len(letters))
                letters += letter(t)
        self.local_count = len(letters)
        self.result_places = [Place(BASE, a) if a >= 0 else None for a in results]
        returned = [letter(t) for t, a in zip(self.func.result_types, results, strict=True) if a < 0]
        return letters, "".join(returned)

    def _return(self) -> None:
        """Write or push the results."""
        returned = []
        for v, place in zip(self.func.results, self.result_places, strict=True):
            t = self.func.type_of(v)
            if place is None:
                returned.append(self.expr[v])
            elif is_memory(t):
                if self.wanted.get(v) is not place:
                    self.copy(place, v, t)
            else:
                self.out.append(place.base + self.expr[v] + store(kind_of(t), place.offset))
        self.out += returned

    # -- places ------------------------------------------------------------------------------------------

    @staticmethod
    def _constant(value: object, t: Type, zeros: int) -> Place:
        if is_memory(t):
            assert value == 0, "constant arrays are zeros"
            return Place(BASE, zeros)
        return Place(f64_const(value) if letter(t) == "f" else i32_const(int(value)), 0)  # type: ignore[arg-type, call-overload]

    def reserve(self, size: int) -> Place:
        """Room in the frame."""
        place = Place(BASE, self.frame_end)
        self.frame_end = aligned(self.frame_end + size)
        return place

    def place(self, x: int) -> Place:
        """The address of an array or accumulator."""
        return Place(self.expr[x], self.offset.get(x, 0))

    def put(self, v: int, place: Place) -> None:
        """Say where the array or accumulator ``v`` is."""
        self.expr[v] = place.base
        self.offset[v] = place.offset

    def _makes(self, v: int, block: int) -> bool:
        """Whether ``block`` itself makes the array ``v``, so that it can be told where."""
        op = self.func.code[v][0]
        if self.func.home[v] != block or v in self.data:
            return False
        if op == RESOLVE:
            r = self.func.code[v][1]
            return self.func.code[r][0] == ACCUM and self.func.home[r] == block and r not in self.wanted
        return op in (VEC, GET)

    def _assign(self, number: int) -> None:
        """Find a place for every array that a block makes, users first."""
        code, types, wanted = self.func.code, self.func.types, self.wanted
        for v in reversed(self.schedule.order[number]):
            op = code[v][0]
            if op < TABLE_END or not is_memory(types[v]) or v in self.data:
                continue
            if op == RESOLVE and v in wanted and self._makes(v, number):
                wanted[code[v][1]] = wanted[v]
            elif op in (VEC, GET) or (op == ACCUM and (v in self.addressed or is_memory(types[v].inner))):  # type: ignore[attr-defined]
                if v not in wanted:
                    wanted[v] = self.reserve(size_of(types[v]))
                if op == VEC and is_memory(types[v].elem):  # type: ignore[attr-defined]
                    step = size_of(types[v].elem)  # type: ignore[attr-defined]
                    for k, x in enumerate(code[v][1:]):
                        if x >= 0 and self.live.uses[x] == 1 and self._makes(x, number):
                            wanted.setdefault(x, wanted[v].at(k * step))

    def copy(self, to: Place, v: int, t: Type) -> None:
        """Copy the whole array ``v``."""
        size = size_of(t)
        if size:
            self.out.append(to.push() + self.place(v).push() + i32_const(size) + MEMORY_COPY)

    # -- local variables ----------------------------------------------------------------------------------

    def new_local(self, kind: str) -> int:
        if self.free[kind]:
            return self.free[kind].pop()
        if self.runs and self.runs[-1][1] == kind:
            self.runs[-1] = (self.runs[-1][0] + 1, kind)
        else:
            self.runs.append((1, kind))
        self.local_count += 1
        return self.local_count - 1

    def keep(self, v: int, kind: str) -> int:
        """A local variable that is ``v`` until its last use."""
        n = self.new_local(kind)
        self.expr[v] = _get(n)
        self.expiring.setdefault(self.live.last[v], []).append((kind, n))
        return n

    def value(self, v: int, code: bytes, kind: str) -> None:
        """Let ``code`` be the value of ``v``: waiting for its only user, or in a local variable."""
        live = self.live
        if live.uses[v] == 1 and not live.escapes[v] and len(code) < LONGEST_TREE:
            self.expr[v] = code
        else:
            self.expire(live.position[v])
            self.out.append(code + local_set(self.keep(v, kind)))

    def expire(self, position: int) -> None:
        """Give back the local variables whose last use this was."""
        for kind, n in self.expiring.pop(position, ()):
            self.free[kind].append(n)

    # -- instructions -------------------------------------------------------------------------------------

    def block(self, number: int) -> None:
        func, expr, suffixes = self.func, self.expr, self.suffixes
        code, types = func.code, func.types
        self._assign(number)
        for v in self.schedule.order[number]:
            ins = code[v]
            op = ins[0]
            if op < UNARY_END:
                self.value(v, expr[ins[1]] + suffixes[op], letter(types[v]))
            elif op < BINARY_END:
                self.value(v, expr[ins[1]] + expr[ins[2]] + suffixes[op], letter(types[v]))
            elif op < TABLE_END:
                self.select(v, ins)
            elif op not in (PARAM, IDX, GET):
                _LOWER[op](self, v, ins)

    def select(self, v: int, ins: tuple[int, ...]) -> None:
        t = self.func.types[v]
        if is_memory(t):
            a, b = self.place(ins[2]).push(), self.place(ins[3]).push()
        else:
            a, b = self.expr[ins[2]], self.expr[ins[3]]
        self.value(v, a + b + self.expr[ins[1]] + SELECT, letter(t))

    def index(self, v: int, ins: tuple[int, ...]) -> None:
        """``v[i]`` and ``&v[i]``: a scalar is loaded, a part is an address."""
        t = self.func.types[v]
        inner = t.inner if isinstance(t, Ref) else t
        step = size_of(inner)
        whole = self.place(ins[1])
        if ins[2] < 0:
            at, offset = whole.base, whole.offset + int(self.func.pool[~ins[2]][0]) * step  # type: ignore[call-overload]
        else:
            at, offset = self.expr[ins[2]], whole.offset
            if step != 1:
                at += i32_const(step) + I32_MUL
            if whole.base is not BASE:
                at = whole.base + at + I32_ADD
        if not is_memory(t):
            self.value(v, at + load(kind_of(t), offset), letter(t))
        elif ins[2] < 0:
            self.put(v, Place(at, offset))
        else:
            self.value(v, at, "i")
            self.offset[v] = offset

    def vec(self, v: int, ins: tuple[int, ...]) -> None:
        t = self.func.types[v]
        assert isinstance(t, Array)
        if v in self.data:
            self.put(v, Place(BASE, self.data[v]))
            if v in self.wanted:
                self.copy(self.wanted[v], v, t)
            return
        place, step, kind = self.wanted[v], size_of(t.elem), kind_of(t)
        for k, x in enumerate(ins[1:]):
            if not is_memory(t.elem):
                self.out.append(place.base + self.expr[x] + store(kind, place.offset + k * step))
            elif self.wanted.get(x) is None or self.wanted[x].offset != place.offset + k * step or self.wanted[x].base is not place.base:
                self.copy(place.at(k * step), x, t.elem)
        self.put(v, place)
        self.expire(self.live.position[v])

    def accum(self, v: int, ins: tuple[int, ...]) -> None:
        inner = self.func.types[v].inner  # type: ignore[attr-defined]
        init = ins[1]
        if is_memory(inner):
            place = self.wanted[v]
            if init >= 0:
                self.copy(place, init, inner)
            elif size_of(inner):
                self.out.append(place.push() + BASE + i32_const(size_of(inner)) + MEMORY_FILL)
            self.put(v, place)
        elif v in self.addressed:
            place = self.wanted[v]
            self.out.append(place.base + self.expr[init] + store(kind_of(inner), place.offset))
            self.put(v, place)
        else:
            code = self.expr[init]
            n = self.local_of[v] = self.keep(v, letter(inner))
            self.out.append(code + local_set(n))
        self.expire(self.live.position[v])

    def add_to(self, v: int, ins: tuple[int, ...]) -> None:
        _, r, x = ins
        t = self.func.type_of(x)
        if r in self.local_of:
            n = self.local_of[r]
            self.out.append(_get(n) + self.expr[x] + F64_ADD + local_set(n))
        elif isinstance(t, Array):
            self._add_arrays(self.place(r), self.place(x), size_of(t))
        else:
            place = self.place(r)
            sum_ = load("f", place.offset) + self.expr[x] + F64_ADD + store("f", place.offset)
            if len(place.base) <= 3:
                self.out.append(place.base + place.base + sum_)
            else:
                n = self.new_local("i")
                self.out.append(place.base + local_tee(n) + _get(n) + sum_)
                self.free["i"].append(n)
        self.expire(self.live.position[v])

    def _add_arrays(self, to: Place, x: Place, size: int) -> None:
        """``to[k] += x[k]`` for every number."""
        if not size:
            return
        n = self.new_local("i")
        at = _get(n)
        here = [at if p.base is BASE else p.base + at + I32_ADD for p in (to, x)]
        self.out.append(
            BASE + local_set(n) + LOOP
            + here[0] + here[0] + load("f", to.offset) + here[1] + load("f", x.offset) + F64_ADD + store("f", to.offset)
            + at + i32_const(8) + I32_ADD + local_tee(n) + i32_const(size) + I32_LT_U + BR_IF_0 + END
        )  # fmt: skip
        self.free["i"].append(n)

    def resolve(self, v: int, ins: tuple[int, ...]) -> None:
        r = ins[1]
        if r in self.local_of:
            self.expr[v] = _get(self.local_of[r])
        elif is_memory(self.func.types[v]):
            self.put(v, self.place(r))
        else:
            place = self.place(r)
            self.value(v, place.base + load(kind_of(self.func.types[v]), place.offset), letter(self.func.types[v]))

    def loop(self, v: int, ins: tuple[int, ...]) -> None:
        """``[for i: n, …]``: each turn writes its results into the rows of the arrays."""
        block = self.func.blocks[ins[1]]
        gets = self.gets.get(v, {})
        for get in gets.values():
            self.put(get, self.wanted[get])
        assert isinstance(block.size, Fin)
        n = block.size.size
        if not n:
            return
        i = self.new_local("i")
        locals_ = [i]
        self.expr[block.index] = _get(i)
        self.out.append(BASE + local_set(i) + LOOP)
        rows: list[tuple[int, Type, Place, int]] = []
        for k, get in gets.items():
            r, t = block.results[k], self.func.type_of(block.results[k])
            place, step = self.wanted[get], size_of(t)
            at = _get(i) if step == 1 else _get(i) + i32_const(step) + I32_MUL
            if place.base is not BASE:
                at = place.base + at + I32_ADD
            row = Place(at, place.offset)
            if is_memory(t) and r >= 0 and self._makes(r, ins[1]):
                local = self.new_local("i")
                locals_.append(local)
                self.out.append(row.base + local_set(local))
                row = Place(_get(local), row.offset)
                self.wanted.setdefault(r, row)
            rows.append((r, t, row, get))
        self.block(ins[1])
        for r, t, row, _ in rows:
            if not is_memory(t):
                self.out.append(row.base + self.expr[r] + store(kind_of(t), row.offset))
            elif self.wanted.get(r) is not row:
                self.copy(row, r, t)
        self.out.append(_get(i) + i32_const(1) + I32_ADD + local_tee(i) + i32_const(n) + I32_LT_U + BR_IF_0 + END)
        self.free["i"] += locals_
        self.expire(self.live.position[v])

    def call(self, v: int, ins: tuple[int, ...]) -> None:
        callee = self.func.callees[ins[1]]
        args, gets = ins[2:], self.gets.get(v, {})
        index, convention = self.callees[callee]
        if convention is None:
            self.out.append(b"".join(self.expr[x] for x in args) + call(index))
            self.expire(self.live.position[v])
            self._take(gets.get(0))
            return
        types, parts = callee.result_types, [self.expr[args[k]] for k in convention.scalars]
        parts += [self.place(args[k]).push() for k in convention.pointers]
        if convention.blocked:
            block = self.reserve(8 * len(convention.blocked))
            for j, k in enumerate(convention.blocked):
                self.out.append(block.base + self.expr[args[k]] + store(kind_of(callee.params[k]), block.offset + 8 * j))
            parts.append(block.push())
        for k in convention.written:
            get = gets.get(k)
            place = self.reserve(size_of(types[k])) if get is None else self.wanted[get]
            parts.append(place.push())
            if get is not None:
                self.put(get, place)
        if convention.blocked_results:
            block = self.reserve(8 * len(convention.blocked_results))
            for j, k in enumerate(convention.blocked_results):
                if k in gets:
                    self.expr[gets[k]] = block.base + load(kind_of(types[k]), block.offset + 8 * j)
            parts.append(block.push())
        self.out.append(b"".join(parts) + call(index))
        self.expire(self.live.position[v])
        for k in reversed(convention.returned):
            self._take(gets.get(k))

    def _take(self, get: int | None) -> None:
        """Store or drop the value on top of the stack."""
        if get is None:
            self.out.append(DROP)
        else:
            self.out.append(local_set(self.keep(get, letter(self.func.types[get]))))


_LOWER: dict[int, Callable[[Body, int, tuple[int, ...]], None]] = {
    INDEX: Body.index, REF_INDEX: Body.index, VEC: Body.vec, ACCUM: Body.accum, ADD_TO: Body.add_to,
    RESOLVE: Body.resolve, FOR: Body.loop, CALL: Body.call,
}  # fmt: skip
