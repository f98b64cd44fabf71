"""Value numbering beyond operations: sums of the same, and vectors of the same, are one.

    mean(x) * mean(x)     →     m = mean(x);  m * m

The builder has one value for equal operations. But a mean that a program has as a function is a loop wherever
it is mentioned. So values get numbers, of which those in loops are functions of the iterations around them,
the same for loops side by side: what adds up a value of the same number in as many iterations, or has it as
elements, is the same.
"""

from __future__ import annotations

from rose_core.language.builder import Builder
from rose_core.language.ir import ACCUM, ADD_TO, FOR, GET, IDX, INDEX, RESOLVE, VEC, Func
from rose_core.language.ops import TABLE_END, computation
from rose_core.language.queries import among, places, remembered, users_of_accumulators
from rose_core.language.replay import Verbatim, copied
from rose_core.optimise.copies import stays

_GIVEN = among((GET, RESOLVE))

_MOST_ROUNDS = 4
"""How often it is done: what is computed of the same is the same from then on."""


def numbered(f: Func) -> Func:
    """``f``, or a copy in which such loops give nothing that one before them gives."""
    loops = {(block.parent, block.size) for block in f.blocks[1:]}
    return f if len(loops) == len(f.blocks) - 1 or stays(f) else _numbered(f)


@remembered
def _numbered(f: Func) -> Func:
    for _ in range(_MOST_ROUNDS):
        same = _same(f)
        if not same:
            break
        f = copied(f, _Sharing, same)
    return f


def _same(f: Func) -> dict[int, int]:
    """Sums and vectors that loops give → the same of a loop before, in the same block."""
    number = numbers(f)
    first: dict[tuple[int, int], int] = {}
    of = {v: first.setdefault((number[v], f.home[v]), v) for v in places(f, _GIVEN) if v in number}
    return {v: before for v, before in of.items() if v != before}


def numbers(f: Func) -> dict[int, int]:
    """The numbers of values in loops, all of them whole, and of what these give; others are their own."""
    code, blocks, home = f.code, f.blocks, f.home
    users = users_of_accumulators(f)
    known: dict[object, int] = {}
    number: dict[int, int] = {}
    # of the outermost block, the builder has numbered the operations
    inside = [v for block in blocks[1:] for v in block.order]
    for v in sorted({*places(f, _GIVEN), *inside}):
        op, *given = code[v]
        key: object = None
        if op < TABLE_END or op in (INDEX, VEC):
            key = f.types[v], computation(op, [number.get(x, x) for x in given])
        elif op == IDX:
            key = IDX, *_sizes(f, home[v], 0)
        elif op == GET and code[given[0]][0] == FOR:
            block = blocks[code[given[0]][1]]
            result = block.results[given[1]]
            key = GET, _depth(f, home[v]), block.size, number.get(result, result)
        elif op == RESOLVE and code[given[0]][0] == ACCUM:
            r = given[0]
            adding = [w for w in users[r] if code[w][0] != RESOLVE]
            if len(adding) == 1 and code[adding[0]][0] == ADD_TO:
                (w,) = adding
                both = code[r][1], code[w][2]
                values = (number.get(x, x) for x in both)
                key = RESOLVE, _depth(f, home[r]), *values, *_sizes(f, home[w], home[r])
        if key:
            number[v] = known.setdefault(key, v)
    return number


def _depth(f: Func, number: int) -> int:
    """How many loops a block is in: a value that varies by one of these is the same in all iterations of one
    that is further in."""
    return len(_sizes(f, number, 0))


def _sizes(f: Func, number: int, outer: int) -> list[object]:
    """The sizes of the loops around a block, up to an outer one."""
    found = list[object]()
    while number != outer:
        found.append(f.blocks[number].size)
        number = f.blocks[number].parent
    return found


class _Sharing(Verbatim):
    def __init__(self, func: Func, b: Builder, args: list[int], same: dict[int, int]) -> None:
        super().__init__(func, b, args)
        self.same = same

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        if v in self.same:
            self.env[v] = self.env[self.same[v]]
        else:
            super().structural(v, ins)
