"""The least or largest of several numbers that are computed alike, in every iteration of a loop, in reverse.

    for i:  s += min(f(x[i], a), f(x[i], b))
        →     m, k = [for i: the less, and which it is];  for i:  s += m[i], whose derivative is
              that of f(x[i], [a, b][k[i]])

Where an author's own loop has written out the distances to all centres, reverse mode would go back into each
of them, with a cotangent of 0 into all but one. So a loop before finds in each iteration which one it is, as
a number, so that it can run in lanes; only that one is computed on the way back, of operands that are picked
by its number from vectors. Where several are the least, or one is no number, each has its share as in
`DERIVATIVES.md`.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from rose_core.derivatives.alike import MAX, MIN, Alike, all_alike, needed_for
from rose_core.derivatives.compared import few_compared
from rose_core.derivatives.iterations import gives_first, is_of_one, new_function, numbered, stays_as_it_is
from rose_core.language.builder import Builder
from rose_core.language.ir import ADD_TO, CALL, COND, FOR, INDEX, LOOP, RESOLVE, Func, operands
from rose_core.language.ops import TABLE_END, code
from rose_core.language.queries import opcodes, remembered
from rose_core.language.replay import Replacing, copied
from rose_core.language.types import BOOL, REAL, Fin, Type, array, fin
from rose_core.optimise.written import short_sums, written_out

_FEW = 4
"""Up to so many other operations of an iteration stay with the choice. More are left in a loop of their own,
which may run in lanes."""

MOST_TERMS, MOST_ROWS = 8, 64
"""The most iterations of a loop that adds up a number, and the most instructions that it may become."""

_LT, _LEQ, _GT, _GEQ, _EQ = map(code, ("lt", "leq", "gt", "geq", "eq"))
_SELECT = code("select")


def by_nearest(f: Func) -> Func:
    """``f``, in whose loops only the least or largest of such numbers is computed."""
    if len(f.blocks) == 1 or opcodes(f).isdisjoint((MIN, MAX)) or stays_as_it_is(f):
        return f
    return _by_nearest(f)


@remembered
def _by_nearest(f: Func) -> Func:
    of_sums = [k for k in range(1, len(f.blocks)) if _has_extremes_of_sums(f, k)]
    written = written_out(f, short_sums(f, of_sums, MOST_TERMS, MOST_ROWS) | few_compared(f))
    found_in = all_alike(written)
    return copied(written, _ByNearest, found_in) if found_in else f


def _has_extremes_of_sums(f: Func, number: int) -> bool:
    """Whether an iteration takes the least or largest of what loops in it add up."""
    of_sums: set[int] = set()
    for v in f.blocks[number].order:
        ins = f.code[v]
        if ins[0] == RESOLVE or not of_sums.isdisjoint(operands(ins, f.blocks)):
            if ins[0] in (MIN, MAX):
                return True
            of_sums.add(v)
    return False


# -- the loops ------------------------------------------------------------------------------------------


class _ByNearest(Replacing):
    def __init__(
        self, func: Func, b: Builder, args: Sequence[int], all_alike: Mapping[int, Sequence[Alike]]
    ) -> None:
        super().__init__(func, b, args)
        self.all_alike = all_alike
        """Block → the numbers in it of which one is chosen."""
        self.others = self.found = dict[int, tuple[Alike, int, int]]()
        """What is chosen → from what, and the vectors of it and of its numbers in all iterations."""
        self.made: dict[int, int] = {}
        """What is chosen → the vector of it in all iterations, where that is made before."""

    def loop(self, v: int, number: int) -> None:
        if number in self.all_alike:
            self._search(number)
        super().loop(v, number)

    def _search(self, number: int) -> None:
        """A loop that finds in all iterations which one is chosen."""
        func, b, found = self.func, self.b, self.all_alike[number]
        block = func.blocks[number]
        inside = {block.index: b.open_for(block.size)}
        self._repeat([x for alike in found for x in (*alike.members, *alike.beside)], number, inside)
        ends = [v for alike in found for v in self._searched(alike, inside)]
        loop = b.close_for(ends)
        for k, alike in enumerate(found):
            self.found[alike.root] = alike, b.get(loop, 2 * k), b.get(loop, 2 * k + 1)
        if _others(func, number, self.found) > _FEW:
            inside = {block.index: b.open_for(block.size)}
            self._repeat([x for alike in found for x in (*alike.given, *alike.beside)], number, inside)
            loop = b.close_for([self._choice(alike.root, inside) for alike in found])
            self.made.update((alike.root, b.get(loop, k)) for k, alike in enumerate(found))

    def _searched(self, alike: Alike, inside: Mapping[int, int]) -> tuple[int, int]:
        """The least or largest, and which it is; where not one alone is, how many there are."""
        b, made = self.b, {x: self._in(inside, x) for x in (*alike.members, *alike.beside)}
        best, *others = (made[x] for x in alike.members)
        first = last = b.real(0.0)
        compare = (_LT, _LEQ) if alike.is_least else (_GT, _GEQ)
        for k, x in enumerate(others, 1):
            is_better, is_as_good = (b.binary(op, x, best, BOOL) for op in compare)
            first = b.ternary(_SELECT, is_better, b.real(float(k)), first, REAL)
            last = b.ternary(_SELECT, is_as_good, b.real(float(k)), last, REAL)
            best = b.ternary(_SELECT, is_better, x, best, REAL)
        found, beside = _extreme(b, self.func, alike, made), [made[x] for x in alike.beside]
        is_one = is_of_one(b, alike.is_least, found, beside, best, b.binary(_EQ, first, last, BOOL))
        return found, b.ternary(_SELECT, is_one, first, b.real(float(len(alike.members))), REAL)

    def _repeat(self, values: Sequence[int], number: int, inside: dict[int, int]) -> None:
        """Compute some values of an iteration in another loop; ``inside``: what there is in this so far."""
        func, b = self.func, self.b
        for v in needed_for(func, number, values):
            op, *given = func.code[v]
            args = [self._in(inside, x) for x in given]
            inside[v] = b.index(*args) if op == INDEX else b.op(op, *args, type=func.types[v])

    def _in(self, inside: Mapping[int, int], x: int) -> int:
        return inside[x] if x in inside else self.env[x]

    def instead(self, v: int) -> int:
        iteration = self.env[self.func.blocks[self.func.home[v]].index]
        return self.b.index(self.made[v], iteration) if v in self.made else self._choice(v, {})

    def _choice(self, root: int, inside: Mapping[int, int]) -> int:
        """What is chosen in an iteration; ``inside``: what there is in its loop, if that is another one."""
        (alike, *vectors), func, b = self.found[root], self.func, self.b
        iteration = self._in(inside, func.blocks[alike.number].index)
        best, number = (b.index(x, iteration) for x in vectors)
        count = len(alike.members)
        is_one = b.binary(_LT, number, b.real(float(count)), BOOL)
        column = array(fin(count), REAL)
        given = [self._in(inside, x) for x in (*alike.beside, *alike.given)]
        given += [b.vec([self.env[x] for x in values], column) for values in alike.columns]
        types = [b.func.type_of(x) for x in given]
        one, every = _one(func, alike, types), _every(func, alike, types)
        return b.get(b.cond(is_one, one, [best, number, *given], every, [best, *given]), 0)


def _others(f: Func, number: int, roots: Container[int]) -> int:
    """How many operations an iteration takes besides what is chosen; none if there are loops in it."""
    block = f.blocks[number]
    used = [*block.results]
    for v in block.order:
        if f.code[v][0] in (FOR, CALL, COND, LOOP):
            return 0
        if f.code[v][0] == ADD_TO:
            used.append(f.code[v][2])
    return sum(f.code[v][0] < TABLE_END for v in needed_for(f, number, used, roots))


def _one(f: Func, alike: Alike, types: Sequence[Type]) -> Func:
    """The number that is given first: of a member, whose number is given, and what is beside them."""
    b, (_, number, *args) = new_function("nearest", [REAL, REAL, *types])
    gives_first(b.func)
    beside = args[: len(alike.beside)]
    found = _member(b, f, alike, args[len(beside) :], numbered(b, number, fin(len(alike.members))))
    for x in beside:
        found = b.binary(f.code[alike.root][0], x, found)
    b.func.blocks[0].results = [found]
    return b.func


def _every(f: Func, alike: Alike, types: Sequence[Type]) -> Func:
    """The least or largest as it was, which is given first."""
    b, (_, *args) = new_function("every", [REAL, *types])
    gives_first(b.func)
    made = dict(zip(alike.beside, args, strict=False))
    given, index = args[len(made) :], fin(len(alike.members))
    for k, v in enumerate(alike.members):
        made[v] = _member(b, f, alike, given, b.const(k, index))
    b.func.blocks[0].results = [_extreme(b, f, alike, made)]
    return b.func


def _extreme(b: Builder, f: Func, alike: Alike, made: dict[int, int]) -> int:
    """The least or largest, in the order in which it was taken, of the numbers that are ``made``."""
    for v in sorted(alike.inner):
        op, x, y = f.code[v]
        made[v] = b.binary(op, made[x], made[y])
    return made[alike.root]


def _member(b: Builder, f: Func, alike: Alike, given: Sequence[int], number: int) -> int:
    """The steps by which a member is computed."""
    count = len(alike.members)
    made = {(x,) * count: v for x, v in zip(alike.given, given, strict=False)}
    for values, v in zip(alike.columns, given[len(alike.given) :], strict=True):
        made[values] = b.index(v, _as_index(b, number, fin(count)))
    for values, keys in alike.steps.items():
        op = f.code[values[0]][0]
        args = [made[key] if key in made else b.const(*f.pool[~key[0]]) for key in keys]
        if op != INDEX:
            made[values] = b.op(op, *args, type=f.types[values[0]])
        elif keys[1] in made or len({*keys[1]}) == 1:
            made[values] = b.index(*args)
        else:
            made[values] = b.index(args[0], _as_index(b, number, b.func.array_type_of(args[0]).index))
    return made[tuple(alike.members)]


def _as_index(b: Builder, number: int, type: Type) -> int:
    """The number of a member as an index of this type."""
    if number < 0:
        return b.const(b.pool[~number][0], type)
    assert isinstance(type, Fin)
    return b.narrow(number, type)
