"""Which results of a program depend on which arguments: the pattern of its Jacobian.

An interpreter that computes with dependencies instead of numbers. Indices and what is decided by them are
known, as long as no number of the arguments decides, so loops are followed iteration by iteration; what is
not known may be anything, and then all that could happen counts.

What it computes with:

- for a Real that depends on nothing that varies, ``None``;
- for one that does, an argument's number, or ``~k`` for pair ``k`` of what it depends on (`Sets`): sets are
  made only of results, so a step costs no more than an instruction;
- for an index or a Bool, its value, or `ANY`;
- for an array, a list, or `Each` of what is known of every element.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rose_core.derivatives.rules import rule
from rose_core.errors import RunError
from rose_core.language.interp import filled
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    INDEX,
    LOOP,
    PARAM,
    REF_INDEX,
    RESOLVE,
    SET,
    VEC,
    ZEROS,
    CondSite,
    Func,
    LoopSite,
    is_real,
    zero_of,
)
from rose_core.language.ops import BINARY_END, OPS, TABLE_END, UNARY_END, code
from rose_core.language.tables import table_of
from rose_core.language.types import Array, Type, is_tape

_SELECT = code("select")

_DECIDES = {code("and"): False, code("or"): True}
"""What one operand has to be for the other not to matter."""


class Sets:
    """What Reals depend on; by number, since a long sum would be a deeply nested pair."""

    def __init__(self) -> None:
        self.pairs: list[tuple[int, int]] = []
        self.known: dict[int, frozenset[int]] = {}
        """The members of some, so that they are not looked for through many iterations of a loop again."""

    def both(self, x: Any, y: Any) -> Any:
        """What depends on all that either depends on, or may be either."""
        if x is None:
            return y
        if y is None:
            return x
        if isinstance(x, Each) or isinstance(y, Each) or (isinstance(x, list) and len(x) != len(y)):
            return Each(self.both(self.element(x, ANY), self.element(y, ANY)))
        if isinstance(x, list):
            return [self.both(a, b) for a, b in zip(x, y, strict=True)]
        if isinstance(x, Cells):
            # containers that hold the same are not the same
            return Cells([*{(id(of), at): (of, at) for of, at in (*x.places, *y.places)}.values()])
        if x == y:
            return y
        self.pairs.append((x, y))
        return -len(self.pairs)

    def either(self, x: Any, y: Any, t: Type) -> Any:
        """One of two values of type ``t``, it is not known which."""
        if is_real(t):
            return self.both(x, y)
        if isinstance(t, Array):
            if isinstance(x, list) and isinstance(y, list) and len(x) == len(y):
                return [self.either(a, b, t.elem) for a, b in zip(x, y, strict=True)]
            return Each(self.either(self.element(x, ANY, t.elem), self.element(y, ANY, t.elem), t.elem))
        return x if x is y or (x is not ANY and y is not ANY and x == y) else ANY

    def element(self, x: Any, i: Any, t: Type | None = None) -> Any:
        """Element ``i`` of an array, of type ``t``, or of Reals if none is given."""
        if isinstance(x, Each):
            return x.elem
        if i is not ANY:
            return x[i]
        if not x:
            return None if t is None else self.nothing(t)
        found = x[0]
        for y in x[1:]:
            found = self.both(found, y) if t is None else self.either(found, y, t)
        return found

    def nothing(self, t: Type) -> Any:
        """A value of type ``t`` that nothing has been put into."""
        if isinstance(t, Array):
            return Each(self.nothing(t.elem))
        return None if is_real(t) else ANY

    def add(self, container: Any, at: int, x: Any) -> None:
        """Add ``x`` in place, as there may be cells for parts."""
        old = container[at]
        if isinstance(old, Each):
            self.add(_Slot(old), 0, self.element(x, ANY))
        elif not isinstance(old, list):
            container[at] = self.both(old, x)
        else:
            for k in range(len(old)):
                self.add(old, k, self.element(x, k))

    def all(self, x: Any) -> Any:
        """What a Real depends on, or all Reals of an array."""
        if isinstance(x, Each):
            return self.all(x.elem)
        if not isinstance(x, list):
            return x
        found = None
        for y in x:
            found = self.both(found, self.all(y))
        return found

    def members(self, x: int | None) -> frozenset[int]:
        """The numbers of the arguments that a Real depends on."""
        found: set[int] = set()
        seen: set[int] = set()
        stack = [] if x is None else [x]
        while stack:
            k = stack.pop()
            if k >= 0:
                found.add(k)
            elif k in self.known:
                found |= self.known[k]
            elif k not in seen:
                seen.add(k)
                stack += self.pairs[~k]
        return frozenset(found)

    def same(self, x: Any, y: Any, t: Type) -> bool:
        """Whether two values of type ``t`` depend on the same, or are known to be the same."""
        if isinstance(t, Array):
            if isinstance(x, list) and isinstance(y, list) and len(x) == len(y):
                return all(self.same(a, b, t.elem) for a, b in zip(x, y, strict=True))
            if isinstance(x, Each) and isinstance(y, Each):
                return self.same(x.elem, y.elem, t.elem)
            return False
        if is_real(t):
            return self.members(x) == self.members(y)
        return x is y or (ANY not in (x, y) and x == y)


class _Any:
    """An index or a Bool of which nothing is known."""


ANY = _Any()


class Each:
    """An array of which the same is known of every element, however many there are."""

    __slots__ = ("elem",)

    def __init__(self, elem: Any) -> None:
        self.elem = elem


class Cells:
    """An accumulator, or parts of one: containers and positions that something is added to."""

    __slots__ = ("places",)

    def __init__(self, places: list[tuple[Any, Any]]) -> None:
        self.places = places

    def part(self, i: Any) -> Cells:
        found: list[tuple[Any, Any]] = []
        for container, at in self.places:
            inner = container[at]
            if isinstance(inner, Each):
                found.append((_Slot(inner), 0))
            elif i is ANY:
                found += [(inner, k) for k in range(len(inner))]
            else:
                found.append((inner, i))
        return Cells(found)


class _Slot:
    """The element of an `Each`, as a container of one."""

    __slots__ = ("of",)

    def __init__(self, of: Each) -> None:
        self.of = of

    def __getitem__(self, _: int) -> Any:
        return self.of.elem

    def __setitem__(self, _: int, x: Any) -> None:
        self.of.elem = x


def dependencies(sets: Sets, f: Func, args: Sequence[Any]) -> list[Any]:
    """What the result leaves of ``f`` depend on, for what is known of its argument leaves."""
    if f.host is not None or f.jvp is not None:
        # a derivative that its author gives may use any argument for any result
        reals = [x for x, t in zip(args, f.params, strict=True) if is_real(t)]
        everything = None
        for x in reals:
            everything = sets.both(everything, sets.all(x))
        return [_constant(everything if is_real(t) else ANY, t) for t in f.result_types]
    env = [None] * len(f.code) + [_known(value, t) for value, t in reversed(f.pool)]
    _Run(sets, f, env, args).block(0)
    return [env[v] for v in f.results]


def _constant(x: Any, t: Type) -> Any:
    """A value of type ``t`` with ``x`` everywhere."""
    if not isinstance(t, Array):
        return x
    return Each(_constant(x, t.elem)) if is_tape(t) else [_constant(x, t.elem) for _ in range(t.size)]


def _known(value: float, t: Type) -> Any:
    return _constant(None, t) if is_real(t) else filled(value, t)


def unknown(t: Type) -> Any:
    """A value of type ``t`` that does not vary, and of which nothing is known."""
    return _constant(None if is_real(t) else ANY, t)


class _Run:
    def __init__(self, sets: Sets, func: Func, env: list[Any], args: Sequence[Any]) -> None:
        self.sets, self.func, self.env, self.args = sets, func, env, args

    def block(self, number: int) -> None:
        code, env, types = self.func.code, self.env, self.func.types
        both, either = self.sets.both, self.sets.either
        for v in self.func.blocks[number].order:
            ins = code[v]
            op = ins[0]
            if op < UNARY_END and _DEPENDS[op]:
                env[v] = env[ins[1]]
            elif UNARY_END <= op < BINARY_END and _DEPENDS[op]:
                x, y = env[ins[1]], env[ins[2]]
                if OPS[op].ins == "RR":
                    x = both(x, y)
                env[v] = x
            elif op == _SELECT:
                p, x, y = env[ins[1]], env[ins[2]], env[ins[3]]
                if p is ANY:
                    env[v] = both(x, y) if isinstance(x, Cells) else either(x, y, types[v])
                else:
                    env[v] = x if p else y
            elif op < TABLE_END:
                env[v] = self.plain(op, ins)
            else:
                self.structural(v, ins)

    def plain(self, op: int, ins: tuple[int, ...]) -> Any:
        """An operation that gives an index, a Bool, or a Real that does not vary."""
        if OPS[op].out == "R":
            return None
        given = [self.env[x] for x in ins[1:]]
        if op in _DECIDES and _DECIDES[op] in given:
            return _DECIDES[op]
        if "R" in OPS[op].ins or any(x is ANY for x in given):
            return ANY
        try:
            return OPS[op].evaluate(*given)
        except RunError:  # here it may never run
            return ANY

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        op, env, func = ins[0], self.env, self.func
        if op == PARAM:
            env[v] = self.args[ins[1]]
        elif op == VEC:
            env[v] = [env[x] for x in ins[1:]] if table_of(func, v) is None else env[ins[1]]
        elif op == INDEX:
            env[v] = self.sets.element(env[ins[1]], env[ins[2]], func.types[v])
        elif op == GET:
            env[v] = env[ins[1]][ins[2]]
        elif op == FOR:
            env[v] = self.loop(ins[1])
        elif op == CALL:
            env[v] = dependencies(self.sets, func.callees[ins[1]], [env[x] for x in ins[2:]])
        elif op == COND:
            env[v] = self.cond(CondSite(func, ins))
        elif op == LOOP:
            env[v] = self.control_loop(LoopSite(func, ins))
        elif op == SET:
            env[v] = self.updated(env[ins[1]], env[ins[2]], env[ins[3]], func.types[v])
        elif op == ZEROS:
            env[v] = _zeros(env[ins[1]])
        elif op == ACCUM:
            env[v] = Cells([([_copied(env[ins[1]])], 0)])
        elif op == ADD_TO:
            for container, at in env[ins[1]].places:
                self.sets.add(container, at, env[ins[2]])
        elif op == REF_INDEX:
            env[v] = env[ins[1]].part(env[ins[2]])
        elif op == RESOLVE:
            ((container, at),) = env[ins[1]].places
            env[v] = container[at]

    def loop(self, number: int) -> list[Any]:
        block = self.func.blocks[number]
        columns: list[list[Any]] = [[] for _ in block.results]
        for i in range(block.trips):
            self.env[block.index] = i
            self.block(number)
            for column, r in zip(columns, block.results, strict=True):
                column.append(self.env[r])
        return columns

    def updated(self, x: Any, i: Any, y: Any, t: Type) -> Any:
        assert isinstance(t, Array)
        if isinstance(x, Each):
            return Each(self.sets.either(x.elem, y, t.elem))
        if i is ANY:
            return [self.sets.either(z, y, t.elem) for z in x]
        return [*x[:i], y, *x[i + 1 :]]

    def cond(self, site: CondSite) -> list[Any]:
        p, env = self.env[site.p], self.env
        sides = [k for k in (0, 1) if p is ANY or p == (k == 0)]
        found = [dependencies(self.sets, site.functions[k], [env[x] for x in site.args[k]]) for k in sides]
        if len(found) == 1:
            return found[0]
        types = site.functions[0].result_types
        return [self.sets.either(x, y, t) for x, y, t in zip(*found, types, strict=True)]

    def control_loop(self, site: LoopSite) -> list[Any]:
        spec, env = site.spec, self.env
        count = env[site.count]
        state = [env[x] for x in site.state]
        args, test_args = [env[x] for x in site.args], [env[x] for x in site.test_args]
        types = site.body.result_types
        kept: list[list[Any]] = [[] for _ in types[spec.carries :]]
        iteration = 0
        while count is not ANY and iteration < count:
            goes = dependencies(self.sets, site.test, [*state, *test_args])[0] if site.test else True
            if goes is ANY:
                break
            if not goes:
                count = iteration
                break
            i = count - 1 - iteration if spec.down else iteration
            found = dependencies(self.sets, site.body, [i, *state, *args])
            state = found[: spec.carries]
            for column, x in zip(kept, found[spec.carries :], strict=True):
                column.append(x)
            iteration += 1
        whole = self.outputs(site, kept)
        if iteration == count:
            return [*state, iteration, *whole]
        state, rest = self.any_iterations(site, state, args, types)
        for k, (column, t) in enumerate(zip(kept, types[spec.carries :], strict=True)):
            every = rest[k]
            for x in column:
                every = self.sets.either(every, x, t)
            if spec.is_output(k):
                every = self.sets.either(every, _known(zero_of(t), t), t)
                rest[k] = [every for _ in range(spec.trips)]
            else:
                rest[k] = Each(every)
        return [*state, ANY, *rest]

    def outputs(self, site: LoopSite, kept: list[list[Any]]) -> list[Any]:
        """What was kept of each iteration, as arrays."""
        spec = site.spec
        for k, (column, t) in enumerate(zip(kept, site.body.result_types[spec.carries :], strict=True)):
            if spec.down:
                column = kept[k] = column[::-1]
            if spec.is_output(k):
                size = spec.trips
                column += [_known(zero_of(t), t) for _ in range(size - len(column))]
        return list(kept)

    def any_iterations(
        self, site: LoopSite, state: list[Any], args: list[Any], types: Sequence[Type]
    ) -> tuple[list[Any], list[Any]]:
        """The state after any number of further iterations, and what may be kept of one."""
        carries, sets, before = site.spec.carries, self.sets, dict[int, frozenset[int]]()
        while True:
            found = dependencies(sets, site.body, [ANY, *state, *args])
            after = [sets.either(x, y, t) for x, y, t in zip(state, found[:carries], types, strict=False)]
            reals = [x for x, t in zip(after, types, strict=False) if is_real(t)]
            now = {k: sets.members(k) for k in _pairs(reals)}
            sets.known.update(now)
            if all(sets.same(x, y, t) for x, y, t in zip(state, after, types, strict=False)):
                return after, found[carries:]
            for k in before.keys() - now.keys():
                sets.known.pop(k, None)
            state, before = after, now


def _pairs(x: Any) -> Iterator[int]:
    """The pairs that are in a value of Reals."""
    if isinstance(x, Each):
        yield from _pairs(x.elem)
    elif isinstance(x, list):
        for y in x:
            yield from _pairs(y)
    elif x is not None and x < 0:
        yield x


def _zeros(x: Any) -> Any:
    if isinstance(x, Each):
        return Each(_zeros(x.elem))
    return [_zeros(y) for y in x] if isinstance(x, list) else None


def _copied(x: Any) -> Any:
    if isinstance(x, Each):
        return Each(_copied(x.elem))
    return [_copied(y) for y in x] if isinstance(x, list) else x


def _depends(op: int) -> bool:
    """Whether the result of an operation of the table varies with its Reals."""
    row = OPS[op]
    return (
        row.jvp is not None and row.name != "select" and rule(op, (1 << len(row.ins)) - 1).forward is not None
    )


_DEPENDS = [_depends(op) for op in range(TABLE_END)]
