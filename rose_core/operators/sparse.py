"""Sparse Jacobians and Hessians: the pattern once, from the program, and the values in few passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rose_core.deep import deep_recursion
from rose_core.derivatives.expand import Expansion
from rose_core.language.types import REAL, Array, Fin, Struct, Type, array, fin, leaves
from rose_core.operators.colouring import in_fewer_passes, of_symmetric, symmetric, transposed
from rose_core.operators.gradients import Selection, derived, grad, push
from rose_core.operators.pattern import Sets, dependencies, unknown
from rose_core.tracing.constructs import select, vec
from rose_core.tracing.control import fori
from rose_core.tracing.functions import Function, function_of, vjp
from rose_core.tracing.indices import index_operation
from rose_core.tracing.lifting import symbolic
from rose_core.tracing.places import at, each, need_reals, over
from rose_core.tracing.values import build

_ieq = index_operation("ieq")


@dataclass(frozen=True)
class Sparse:
    """A matrix of derivatives of which most elements are always zero.

    Reals count in the order in which they are written: arguments as ``argnums`` has them, fields as
    declared, elements from the first on.
    """

    rows: list[int]
    """For each element that may not be zero, the number of its row, in ascending order."""
    columns: list[int]
    """And that of its column, in ascending order in each row."""
    shape: tuple[int, int]
    """How many rows and columns there are."""
    passes: int
    """How many derivatives along a direction, or of a weighted sum, the values take."""
    values: Function
    """The elements, as a function of the arguments of the function that was differentiated."""


def sparse_jacobian(
    f: Function, argnums: int | Sequence[int] = 0, written: Sequence[Type] | None = None
) -> Sparse:
    """The Jacobian of ``f`` as a `Sparse` matrix, forward or in reverse, whichever takes fewer passes.

    The pattern is that of the program: what its loops and indices say, whatever the numbers are. ``written``
    are the types of the parameters and of the result with their fields in the order that counts, if that is
    another.
    """
    function = function_of(f, "sparse_jacobian")
    by = Selection(function, argnums, "sparse_jacobian")
    ret = function.func.ret
    need_reals(ret, f"sparse_jacobian: the result of {function.func.name}")
    args, result = _sides(function, by, written)
    rows = pattern(function, by, args, result.written)
    columns = transposed(rows, len(list(paths(args.written))))
    forward, colours = in_fewer_passes(rows, columns)
    if forward:
        reads = [(colours[j], i) for i, row in enumerate(rows) for j in row]

        def change(args: Sequence[Any], seed: Any) -> Any:
            return push(function, args, by.scattered(seed))[1]

        values = _values(function, "sparse_jacobian", args, by.of, result, colours, reads, change)
    else:
        reads = [(colours[i], j) for i, row in enumerate(rows) for j in row]

        def pulled(args: Sequence[Any], seed: Any) -> Any:
            return by.pulled(vjp(function)(*args), seed)

        def value(args: Sequence[Any]) -> Any:
            return function(*args)

        values = _values(function, "sparse_jacobian", result, value, args, colours, reads, pulled)
    return _sparse(rows, len(columns), colours, values)


def sparse_hessian(
    f: Function, argnums: int | Sequence[int] = 0, written: Sequence[Type] | None = None
) -> Sparse:
    """The Hessian of ``f``, which gives a Real, as a `Sparse` matrix, computed as a symmetric one."""
    function = function_of(f, "sparse_hessian")
    by = Selection(function, argnums, "sparse_hessian")
    gradient = grad(function, argnums)
    args, _ = _sides(function, by, written)
    rows = symmetric(pattern(gradient, by, args, args.written))
    colours = of_symmetric(rows)
    reads = []
    for i, row in enumerate(rows):
        count: dict[int, int] = {}
        for j in row:
            count[colours[j]] = count.get(colours[j], 0) + 1
        # where an element does not stand alone, its mirror image does
        reads += [(colours[j], i) if count[colours[j]] == 1 else (colours[i], j) for j in row]

    def change(args: Sequence[Any], seed: Any) -> Any:
        return push(gradient, args, by.scattered(seed))[1]

    values = _values(function, "sparse_hessian", args, by.of, args, colours, reads, change)
    return _sparse(rows, len(rows), colours, values)


class _Side(NamedTuple):
    """What has the rows or the columns of a matrix: its type, and that as it is written."""

    type: Type
    written: Type


def _sides(f: Function, by: Selection, written: Sequence[Type] | None) -> tuple[_Side, _Side]:
    """The arguments that the derivative is by, and the result."""
    *params, ret = written or [*f.func.param_types, f.func.ret]
    (first, *_) = chosen = [params[k] for k in by.numbers]
    fields = dict(zip(map(str, by.numbers), chosen, strict=True))
    return _Side(by.type, first if by.alone else Struct(fields)), _Side(f.func.ret, ret)


def pattern(f: Function, by: Selection, args: _Side, result: Type) -> list[list[int]]:
    """For each Real of the result, the numbers of the Reals that it depends on, in ascending order."""
    counter = iter(range(1 << 62))
    numbered = by.scattered(_filled(args.written, lambda: next(counter), unknown))
    given: list[Any] = []
    for k, t in enumerate(f.func.param_types):
        given += _leaves_of(numbered[k], t) if k in numbered else [unknown(leaf) for leaf in leaves(t)]
    given += [unknown(leaf) for leaf in f.func.params[len(given) :]]
    sets = Sets()
    with deep_recursion():
        found = build(dependencies(sets, Expansion(f.func).root, given), f.func.ret)
    return [sorted(sets.members(at(found, path))) for path in paths(result)]


def paths(t: Type) -> Iterator[tuple[Any, ...]]:
    """The places of all Reals, in the order in which they are written."""
    if isinstance(t, Array):
        for i in range(t.size):
            for path in paths(t.elem):
                yield (i, *path)
    elif isinstance(t, Struct):
        for name, field in t.fields.items():
            for path in paths(field):
                yield (name, *path)
    elif t is REAL:
        yield ()


def _filled(t: Type, real: Callable[[], Any], other: Callable[[Type], Any]) -> Any:
    """A value of type ``t`` with what ``real`` gives, in order, for the Reals."""
    if isinstance(t, Array):
        return [_filled(t.elem, real, other) for _ in range(t.size)]
    if isinstance(t, Struct):
        return {name: _filled(field, real, other) for name, field in t.fields.items()}
    return real() if t is REAL else other(t)


def _leaves_of(x: Any, t: Type) -> list[Any]:
    """The leaves of a value."""
    if isinstance(t, Array):
        rows = [_leaves_of(y, t.elem) for y in x]
        return [[row[k] for row in rows] for k in range(len(leaves(t.elem)))]
    if isinstance(t, Struct):
        return [leaf for name, field in t.sorted_fields() for leaf in _leaves_of(x[name], field)]
    return [x] if leaves(t) else []


def _sparse(rows: Sequence[Sequence[int]], columns: int, colours: Sequence[int], values: Function) -> Sparse:
    return Sparse(
        [i for i, row in enumerate(rows) for _ in row],
        [j for row in rows for j in row],
        (len(rows), columns),
        1 + max(colours, default=-1),
        values,
    )


def _values(
    f: Function,
    what: str,
    seeds: _Side,
    of: Callable[[Sequence[Any]], Any],
    sums: _Side,
    colours: Sequence[int],
    reads: Sequence[tuple[int, int]],
    derivative: Callable[[Sequence[Any], Any], Any],
) -> Function:
    """The elements of a matrix: each is read in the sum of one colour, at the place with one number.

    A seed is a value of the type of ``seeds`` with 1 at the places of a colour; what is not Real in it is as
    in ``of(args)``. The ``derivative`` along it is of the type of ``sums``.
    """
    passes = fin(1 + max(colours, default=-1))
    places = list(paths(sums.written))
    groups: dict[tuple[Any, ...], list[tuple[int, int, tuple[Any, ...]]]] = {}
    for k, (colour, number) in enumerate(reads):
        path = places[number]
        kind = tuple(step if isinstance(step, str) else None for step in path)
        groups.setdefault(kind, []).append((k, colour, path))

    def body(*args: Any) -> Any:
        colour = iter(colours)
        table = _table(_filled(seeds.written, lambda: next(colour), _nothing), over(seeds.type, passes))
        x = of(args)

        def summed(c: Any) -> Any:
            seed = each(
                seeds.type, REAL, lambda place: select(_ieq(passes, at(table, place), c), 1.0, 0.0), x
            )
            return derivative(args, seed)

        compressed = vec(passes, sums.type, summed)
        size = fin(len(reads))
        values: Any = vec(size, REAL, lambda _: 0.0)
        for kind, group in groups.items():
            piece = _gathered(compressed, sums.type, kind, group)
            if len(group) == len(reads):
                return piece
            where = _table([k for k, _, _ in group], array(fin(len(group)), size))
            values = _scattered(values, where, piece)
        return values

    return derived(f, what, f.func.param_types, array(fin(len(reads)), REAL), body)


def _scattered(values: Any, where: Any, piece: Any) -> Any:
    """``values`` with the elements of ``piece`` at the places ``where``."""
    return fori(len(piece), values._type, values, lambda e, into: into.set(where[e], piece[e]))


def _gathered(
    compressed: Any, sums: Type, kind: tuple[Any, ...], group: Sequence[tuple[int, int, tuple[Any, ...]]]
) -> Any:
    """The elements that are read in one field, by tables of the indices on the way there."""
    size = fin(len(group))
    tables = [_table([colour for _, colour, _ in group], array(size, compressed.type.index))]
    t = sums
    for level, step in enumerate(kind):
        if isinstance(t, Array):
            tables.append(_table([path[level] for _, _, path in group], array(size, t.index)))
            t = t.elem
        else:
            assert isinstance(t, Struct)
            t = t.fields[step]

    def read(e: Any) -> Any:
        index = iter(tables)
        x = compressed[next(index)[e]]
        for step in kind:
            x = x[next(index)[e]] if step is None else x[step]
        return x

    return vec(size, REAL, read)


def _table(x: Any, t: Type) -> Any:
    """Constants as a symbolic value."""
    return symbolic(x, t, "a table")


def _nothing(t: Type) -> Any:
    """Any value of a type that is not Real."""
    return 0 if isinstance(t, Fin) else False if leaves(t) else None
