"""From instructions to WebAssembly: values get places, and demand decides the order.

Starting from what must happen and what is returned, each value's code is written where it is first
needed: an expression tree runs on the operand stack, and a value with several users is computed in a
statement of its own ahead of the first, and kept in a local variable until the last. In a gradient
this puts the backward part of every term next to its forward part, so few variables are alive at a
time. Arrays live in memory, at fixed addresses where possible, and are made where they are wanted.

A statement's code goes to the end of what has been written for its block. Code that is still being
put together (an expression, the body of a loop) runs after that, so a variable is given back only
when the statements of all its users are complete, and for users inside a loop when the loop is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rose_core.demand import Demand
from rose_core.encode import (
    BR_IF_0,
    DROP,
    END,
    F64_ADD,
    I32_ADD,
    I32_LT_U,
    I32_MUL,
    LOOP,
    MEMORY_COPY,
    MEMORY_FILL,
    SELECT,
    call,
    f64_const,
    i32_const,
    load,
    local_get,
    local_set,
    local_tee,
    store,
)
from rose_core.ir import ACCUM, ADD_TO, CALL, FOR, GET, INDEX, PARAM, REF_INDEX, RESOLVE, VEC, Func
from rose_core.layout import BASE, Convention, Place, aligned, is_i32, is_memory, kind_of, letter, size_of
from rose_core.ops import BINARY_END, OPS, UNARY_END
from rose_core.types import Array, Fin, Ref, Type

TABLE_END = len(OPS)

_WRITE, _FINISH = 1 << 32, 1 << 33
"""Added to an id on the work list: write its operation now; and finish its statement with that."""

_IS_INT = [op.out in "BI" for op in OPS]
"""Whether an op of the table gives an i32; ``select`` is not among those that are asked for."""

_GETS = [local_get(n) for n in range(4096)]
_SETS = [local_set(n) for n in range(4096)]


def _get(n: int) -> bytes:
    return _GETS[n] if n < 4096 else local_get(n)


def _set(n: int) -> bytes:
    return _SETS[n] if n < 4096 else local_set(n)


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
        self.demand = Demand(func)
        self.frame_end = frame
        self.data = data
        self.suffixes = suffixes
        self.callees = callees
        self.out: list[list[bytes]] = [[] for _ in func.blocks]
        """For each block, the code of its finished statements."""
        self.runs: list[tuple[int, str]] = []
        """The local variables after the parameters, in runs of one type."""
        self.free: list[tuple[list[int], list[int]]] = [([], [])]
        """Free local variables, f64 and i32: those of the function's body, then of each loop being written."""
        self.loops = [0]
        """The blocks being written, outermost first."""
        constants = [self._constant(value, t, zeros) for value, t in func.pool]
        self.expr: list[bytes | None] = [None] * len(func.code)
        """Code that pushes a value, once there is one; for what lives in memory, the base of its address."""
        self.expr += [place.base for place in reversed(constants)]
        self.offset: dict[int, int] = {~k: place.offset for k, place in enumerate(constants)}
        """What to add to the base."""
        self.left = self.demand.uses
        """The uses of each value whose statements are not complete."""
        self.local_of = [-1] * len(func.code)
        """The local variable that holds a value, times two, plus one for an i32; -1 for none."""
        self.name_of: dict[int, int] = {}
        """Value → the value that it is a part, or another name, of."""
        self.delayed: list[list[int]] = [[] for _ in func.blocks]
        """Uses, inside each loop being written, of values from outside of it."""
        self.wanted: dict[int, Place] = {}
        """Array or accumulator → where it is to be made."""
        self.addressed = self._addressed()
        self.result_places: list[Place | None]
        self.params, self.results = self._bind_entry(*entry) if entry else self._bind_params()
        for v, place in zip(func.results, self.result_places, strict=True):
            if place is not None and v >= 0 and is_memory(func.types[v]):
                self.want(v, place, 0)
        self.done: set[int] = set()
        """Loops and calls that have been written."""
        self.anchors(0)
        self._return()
        self.code = b"".join(self.out[0])

    # -- parameters and results -----------------------------------------------------------------------

    def _addressed(self) -> set[int]:
        """Scalar accumulators that something else needs the address of."""
        func, found = self.func, set()
        if not func.straight:
            for ins in func.code:
                if ins[0] == CALL or BINARY_END <= ins[0] < TABLE_END:
                    found.update(x for x in ins[2:] if x >= 0 and isinstance(func.types[x], Ref))
        return found

    def _param_ids(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for v, ins in enumerate(self.func.code):
            if ins[0] == PARAM:
                found[ins[1]] = v
            if len(found) == len(self.func.params):
                break
        return found

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
        out = self.out[0]
        for v, place in zip(self.func.results, self.result_places, strict=True):
            t = self.func.type_of(v)
            if place is None:
                returned.append(v)
            elif is_memory(t):
                self.copy(0, place, v, t)
            else:
                code = self.expression([v], 0)
                out += [place.base, *code, store(kind_of(t), place.offset)]
        out += self.expression(returned, 0)

    # -- places ------------------------------------------------------------------------------------------

    @staticmethod
    def _constant(value: object, t: Type, zeros: int) -> Place:
        if is_memory(t):
            return Place(BASE, zeros)  # constant arrays are zeros
        return Place(f64_const(value) if letter(t) == "f" else i32_const(int(value)), 0)  # type: ignore[arg-type, call-overload]

    def reserve(self, size: int) -> Place:
        """Room in the frame."""
        place = Place(BASE, self.frame_end)
        self.frame_end = aligned(self.frame_end + size)
        return place

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
        if size and (at.base != to.base or at.offset != to.offset):
            self.out[block] += [to.push(), at.push(), i32_const(size), MEMORY_COPY]
        self.used(v, block)

    # -- local variables ----------------------------------------------------------------------------------

    def new_local(self, is_int: bool, depth: int = -1) -> int:
        """A local variable, for the block being written or for the enclosing one at ``depth``."""
        for free in self.free[depth % len(self.free) :: -1]:
            if free[is_int]:
                return free[is_int].pop()
        kind = "fi"[is_int]
        if self.runs and self.runs[-1][1] == kind:
            self.runs[-1] = (self.runs[-1][0] + 1, kind)
        else:
            self.runs.append((1, kind))
        self.local_count += 1
        return self.local_count - 1

    def keep(self, v: int, is_int: bool) -> bytes:
        """Code that stores ``v`` in a local variable, which is its own until its last use."""
        home = self.func.home[v]
        n = self.new_local(is_int, self.loops.index(home) if home else 0)
        self.expr[v] = _get(n)
        self.local_of[v] = 2 * n + is_int
        return _set(n)

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

    def release(self, x: int, block: int) -> None:
        """Give back the local variable of ``x``, or its share in what it is a name of."""
        local = self.local_of[x]
        if local >= 0:
            self.free[self.loops.index(block) if block else 0][local & 1].append(local >> 1)
        elif x in self.name_of:
            self.used(self.name_of[x], block)

    # -- expressions --------------------------------------------------------------------------------------

    def expression(self, values: Sequence[int], block: int) -> list[bytes]:
        """Code that pushes these scalars, to be put at the end of ``block``.

        What they need computed ahead has been written when this returns.
        """
        func, expr, rooted, suffixes = self.func, self.expr, self.demand.rooted, self.suffixes
        code, home, types, left = func.code, func.home, func.types, self.left
        flat, is_int = len(func.blocks) == 1, _IS_INT
        work = list(reversed(values))
        pop, push = work.pop, work.append
        cur: list[bytes] = []
        used: list[int] = []
        write, use = cur.append, used.append
        suspended: list[tuple[list[bytes], list[int], int]] = []
        while work:
            v = pop()
            if v < _WRITE:
                known = expr[v]
                if known is not None:
                    write(known)
                    if v >= 0:
                        use(v)
                    continue
                ins = code[v]
                op = ins[0]
                if op >= TABLE_END and op != INDEX:
                    _STATEMENT[op](self, v, ins)
                    push(v)
                    continue
                finish = rooted[v]
                if finish:
                    push(v)  # for the user that asked
                    suspended.append((cur, used, block))
                    cur, used, block = [], [], home[v]
                    write, use = cur.append, used.append
                if op < BINARY_END:
                    # operands that are there already need no turn on the work list
                    x = ins[1]
                    known = expr[x]
                    if op >= UNARY_END:
                        y = ins[2]
                        if known is None:
                            push(v + (_FINISH if finish else _WRITE))
                            push(y)
                            push(x)
                            continue
                        write(known)
                        if x >= 0:
                            use(x)
                        x, known = y, expr[y]
                    if known is None:
                        push(v + (_FINISH if finish else _WRITE))
                        push(x)
                        continue
                    write(known)
                    if x >= 0:
                        use(x)
                elif op < TABLE_END:
                    push(v + (_FINISH if finish else _WRITE))
                    push(ins[1])
                    push(ins[3])
                    push(ins[2])
                    continue
                else:
                    base = self.place(ins[1]).base
                    if finish and base is BASE and ins[2] < 0:  # as cheap to read again as to keep
                        cur, used, block = suspended.pop()
                        write, use = cur.append, used.append
                        expr[v] = BASE + self._load(v, ins)
                        continue
                    use(ins[1])
                    if ins[2] < 0 or base is not BASE:
                        write(base)
                    if ins[2] >= 0:
                        push(v + (_FINISH if finish else _WRITE))
                        push(ins[2])
                        continue
            else:
                finish = v >= _FINISH
                v -= _FINISH if finish else _WRITE
                ins = code[v]
                op = ins[0]
            write(suffixes[op] if op < TABLE_END else self._load(v, ins))
            if finish:
                out = self.out[block]
                out += cur
                if flat:
                    for x in used:
                        left[x] -= 1
                        if not left[x]:
                            self.release(x, 0)
                else:
                    for x in used:
                        self.used(x, block)
                out.append(self.keep(v, is_int[op] if op < BINARY_END else is_i32(types[v])))
                cur, used, block = suspended.pop()
                write, use = cur.append, used.append
        for x in used:
            self.used(x, block)
        return cur

    def _load(self, v: int, ins: tuple[int, ...]) -> bytes:
        """The end of an element read, after the array's base and a symbolic index."""
        t = self.func.types[v]
        kind, step, offset = kind_of(t), size_of(t), self.offset.get(ins[1], 0)
        if ins[2] < 0:
            return load(kind, offset + int(self.func.pool[~ins[2]][0]) * step)  # type: ignore[call-overload, no-any-return]
        return self._scaled(self.expr[ins[1]], step) + load(kind, offset)

    @staticmethod
    def _scaled(base: bytes | None, step: int) -> bytes:
        """From an array's base, if that is not 0, and an index to the address of the element."""
        scaled = b"" if step == 1 else i32_const(step) + I32_MUL
        return scaled if base is BASE else scaled + I32_ADD

    # -- statements ---------------------------------------------------------------------------------------

    def anchors(self, number: int) -> None:
        """Write what must happen in a block, in its order."""
        for v in self.demand.anchors[number]:
            self.statement(v)

    def statement(self, v: int) -> None:
        """Write ``v`` as a statement of its own, unless that has been done."""
        if v not in self.done and self.expr[v] is None:
            ins = self.func.code[v]
            _STATEMENT[ins[0]](self, v, ins)

    def select(self, v: int, ins: tuple[int, ...]) -> None:
        """A choice between arrays or accumulators: of addresses."""
        block = self.func.home[v]
        sides = [self.place(ins[2]).push(), self.place(ins[3]).push()]
        code = self.expression([ins[1]], block)
        self.out[block] += [*sides, *code, SELECT]
        self.used(ins[2], block)
        self.used(ins[3], block)
        self.out[block].append(self.keep(v, True))

    def part(self, v: int, ins: tuple[int, ...]) -> None:
        """A row of a matrix, or the place of an element in an accumulator."""
        block = self.func.home[v]
        t = self.func.types[v]
        step = size_of(t.inner if isinstance(t, Ref) else t)
        whole = self.place(ins[1])
        if ins[2] < 0:
            self.put(v, whole.at(int(self.func.pool[~ins[2]][0]) * step))  # type: ignore[call-overload]
            self.name_of[v] = ins[1]
            return
        code = self.expression([ins[2]], block)
        before = [] if whole.base is BASE else [whole.base]
        self.out[block] += [*before, *code, self._scaled(whole.base, step)]
        self.used(ins[1], block)
        self.out[block].append(self.keep(v, True))
        self.offset[v] = whole.offset

    def vec(self, v: int, ins: tuple[int, ...]) -> None:
        t = self.func.types[v]
        assert isinstance(t, Array)
        block = self.func.home[v]
        if v in self.data:
            self.put(v, Place(BASE, self.data[v]))
            return
        place, step, kind = self.room_for(v, t), size_of(t.elem), kind_of(t)
        for k, x in enumerate(ins[1:]):
            if is_memory(t.elem):
                self.want(x, place.at(k * step), block)
                self.copy(block, place.at(k * step), x, t.elem)
            else:
                code = self.expression([x], block)
                self.out[block] += [place.base, *code, store(kind, place.offset + k * step)]
        self.put(v, place)

    def get(self, v: int, ins: tuple[int, ...]) -> None:
        """A result of a loop or a call, whose statement says where it is."""
        self.statement(ins[1])
        self.used(ins[1], self.func.home[v])

    def accum(self, v: int, ins: tuple[int, ...]) -> None:
        inner = self.func.types[v].inner  # type: ignore[attr-defined]
        init, block = ins[1], self.func.home[v]
        out = self.out[block]
        if is_memory(inner):
            place = self.room_for(v, inner)
            if init >= 0:
                self.copy(block, place, init, inner)
            elif size_of(inner):
                out += [place.push(), BASE, i32_const(size_of(inner)), MEMORY_FILL]
            self.put(v, place)
            return
        code = self.expression([init], block)
        if v in self.addressed:
            place = self.room_for(v, inner)
            out += [place.base, *code, store(kind_of(inner), place.offset)]
            self.put(v, place)
        else:
            out += code
            out.append(self.keep(v, is_i32(inner)))

    def add_to(self, v: int, ins: tuple[int, ...]) -> None:
        _, r, x = ins
        self.done.add(v)
        block = self.func.home[v]
        t = self.func.type_of(x)
        out = self.out[block]
        place = self.place(r)
        if isinstance(t, Array):
            self._add_arrays(block, place, self.place(x), size_of(t))
            self.used(x, block)
        elif self.func.code[r][0] == ACCUM and self.local_of[r] >= 0:
            code = self.expression([x], block)
            out += [place.base, *code, F64_ADD, _set(self.local_of[r] >> 1)]
        else:
            code = self.expression([x], block)
            out += [place.base, place.base, load("f", place.offset), *code, F64_ADD, store("f", place.offset)]
        self.used(r, block)

    def _add_arrays(self, block: int, to: Place, x: Place, size: int) -> None:
        """``to[k] += x[k]`` for every number."""
        if not size:
            return
        n = self.new_local(True)
        at = _get(n)
        here = [at if p.base is BASE else p.base + at + I32_ADD for p in (to, x)]
        self.out[block] += [
            BASE, _set(n), LOOP,
            here[0], here[0], load("f", to.offset), here[1], load("f", x.offset), F64_ADD, store("f", to.offset),
            at, i32_const(8), I32_ADD, local_tee(n), i32_const(size), I32_LT_U, BR_IF_0, END,
        ]  # fmt: skip
        self.free[-1][1].append(n)

    def resolve(self, v: int, ins: tuple[int, ...]) -> None:
        r, t = ins[1], self.func.types[v]
        if self.local_of[r] >= 0 or is_memory(t):
            self.put(v, self.place(r))
            self.name_of[v] = r
        else:
            place, block = self.place(r), self.func.home[v]
            self.out[block] += [place.base, load(kind_of(t), place.offset), self.keep(v, is_i32(t))]
            self.used(r, block)

    def loop(self, v: int, ins: tuple[int, ...]) -> None:
        """``[for i: n, …]``: each turn writes its results into the rows of the arrays."""
        number, home = ins[1], self.func.home[v]
        block = self.func.blocks[number]
        self.done.add(v)
        columns = self.demand.columns.get(v, {})
        places = {k: self.room_for(get, self.func.types[get]) for k, get in columns.items()}
        assert isinstance(block.size, Fin)
        n = block.size.size
        if n:
            self.loops.append(number)
            self.free.append(([], []))
            i = self.new_local(True)
            self.expr[block.index] = _get(i)
            rows = [self._row(number, i, block.results[k], place) for k, place in places.items()]
            self.anchors(number)
            for k, row in zip(places, rows, strict=True):
                r = block.results[k]
                t = self.func.type_of(r)
                if is_memory(t):
                    self.copy(number, row, r, t)
                else:
                    code = self.expression([r], number)
                    self.out[number] += [row.base, *code, store(kind_of(t), row.offset)]
            self.loops.pop()
            for inner, outer in zip(self.free.pop(), self.free[-1], strict=True):
                outer += inner
            step = [_get(i), i32_const(1), I32_ADD, local_tee(i), i32_const(n), I32_LT_U, BR_IF_0, END]
            self.out[home] += [BASE, _set(i), LOOP, *self.out[number], *step]
            self.out[number] = []
            self.free[-1][1].append(i)
            delayed, self.delayed[number] = self.delayed[number], []
            for x in delayed:
                self.used(x, home)
        for k, get in columns.items():
            self.put(get, places[k])

    def _row(self, number: int, i: int, r: int, place: Place) -> Place:
        """Where this turn's result ``r`` of a loop goes, in an array at ``place``."""
        t = self.func.type_of(r)
        step = size_of(t)
        at = _get(i) if place.base is BASE else place.base + _get(i)
        at += self._scaled(place.base, step)
        if is_memory(t):
            n = self.new_local(True)
            self.out[number] += [at, _set(n)]
            row = Place(_get(n), place.offset)
            self.want(r, row, number)
            return row
        return Place(at, place.offset)

    def call(self, v: int, ins: tuple[int, ...]) -> None:
        callee, block = self.func.callees[ins[1]], self.func.home[v]
        self.done.add(v)
        args, gets = ins[2:], self.demand.columns.get(v, {})
        index, convention = self.callees[callee]
        out = self.out[block]
        if convention is None:
            code = self.expression(args, block)
            out += [*code, call(index)]
            self._take(gets.get(0), out)
            return
        types = callee.result_types
        pointers = [self.place(args[k]).push() for k in convention.pointers]
        if convention.blocked:
            extra = self.reserve(8 * len(convention.blocked))
            for j, k in enumerate(convention.blocked):
                code = self.expression([args[k]], block)
                out += [extra.base, *code, store(kind_of(callee.params[k]), extra.offset + 8 * j)]
            pointers.append(extra.push())
        for k in convention.written:
            place = self.room_for(gets[k], types[k]) if k in gets else self.reserve(size_of(types[k]))
            pointers.append(place.push())
            if k in gets:
                self.put(gets[k], place)
        if convention.blocked_results:
            extra = self.reserve(8 * len(convention.blocked_results))
            for j, k in enumerate(convention.blocked_results):
                if k in gets:
                    self.expr[gets[k]] = extra.base + load(kind_of(types[k]), extra.offset + 8 * j)
            pointers.append(extra.push())
        code = self.expression([args[k] for k in convention.scalars], block)
        out += [*code, *pointers, call(index)]
        for k in convention.pointers:
            self.used(args[k], block)
        for k in reversed(convention.returned):
            self._take(gets.get(k), out)

    def _take(self, get: int | None, out: list[bytes]) -> None:
        """Store or drop the value on top of the stack."""
        out.append(DROP if get is None else self.keep(get, is_i32(self.func.types[get])))


_STATEMENT: dict[int, Callable[[Body, int, tuple[int, ...]], None]] = {
    INDEX: Body.part, REF_INDEX: Body.part, VEC: Body.vec, GET: Body.get, ACCUM: Body.accum, ADD_TO: Body.add_to,
    RESOLVE: Body.resolve, FOR: Body.loop, CALL: Body.call, OPS[-1].code: Body.select,
}  # fmt: skip
