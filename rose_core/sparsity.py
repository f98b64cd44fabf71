"""The pattern of a program's derivatives, and how to compute them in few passes: for the bridge.

A request is a word, ``jacobian`` or ``hessian``, and the numbers of the argument leaves that vary. Reals
count leaf after leaf: those of the arguments in the order of the request, those of the results in theirs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from rose_core.colouring import in_fewer_passes, of_symmetric, symmetric, transposed
from rose_core.expand import Expansion
from rose_core.ir import Func, is_real
from rose_core.pattern import Sets, dependencies, unknown
from rose_core.types import Array, Type

EMPTY = b"\0asm\1\0\0\0"
"""The module of a request, which asks for no code."""


def is_request(what: str) -> bool:
    """Whether this asks for a pattern."""
    return what.startswith(("jacobian ", "hessian "))


def answer(root: Func, request: str) -> dict[str, object]:
    """The pattern that ``request`` asks for: the columns of each row, and a colour for each column or row.

    For a Hessian ``root`` is the gradient, and the colours are those of a symmetric matrix.
    """
    what, *varying = request.split()
    number = count()
    args = [unknown(t) for t in root.params]
    for k in map(int, varying):
        if is_real(root.params[k]):
            args[k] = _numbered(root.params[k], number)
    sets = Sets()
    found = dependencies(sets, Expansion(root).root, args)
    reals = [_reals(x) for x, t in zip(found, root.result_types, strict=True) if is_real(t)]
    rows = [sorted(sets.members(x)) for leaf in reals for x in leaf]
    if what == "hessian":
        rows = symmetric(rows)
        return {"rows": rows, "forward": True, "colours": of_symmetric(rows)}
    forward, colours = in_fewer_passes(rows, transposed(rows, next(number)))
    return {"rows": rows, "forward": forward, "colours": colours}


def _numbered(t: Type, number: Iterator[int]) -> Any:
    return [_numbered(t.elem, number) for _ in range(t.size)] if isinstance(t, Array) else next(number)


def _reals(x: Any) -> Iterator[Any]:
    if isinstance(x, list):
        for y in x:
            yield from _reals(y)
    else:
        yield x
