"""Control flow in Python: choices of which one side runs, and loops that carry a state.

The bodies are run once, with symbolic values, each as a function of its own; what they use from
outside becomes arguments of that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rose_core.errors import NO_COUNT
from rose_core.language.ir import Func, Spec
from rose_core.language.types import BOOL, LARGEST, REAL, UNIT, Fin, Type, array, fin, leaves
from rose_core.tracing.declare import as_type, describe, exact, type_for, whole
from rose_core.tracing.functions import Function, captured, fn, function_of
from rose_core.tracing.generic import Generic
from rose_core.tracing.lifting import lift, type_of, use, wrap
from rose_core.tracing.sizes import Size
from rose_core.tracing.symbols import Loose, Var
from rose_core.tracing.trace import Trace, current
from rose_core.tracing.where import Construct


def inline(name: str, params: Sequence[Type], body: Callable[..., list[int]]) -> Function:
    """The function of the leaf types ``params`` that a part of an author's program is.

    ``body`` gets the function's trace and the ids of its parameters, and gives the ids of its results.
    """
    func = Func(name, params, UNIT)
    trace = Trace(func, current())
    trace.is_part = True
    with trace:
        func.blocks[0].results = body(trace, *[trace.builder.param(t) for t in params])
    func.param_types = list(func.params)
    return Function(func, trace.captures)


def cond(p: object, t: object, yes: Callable[[], object], no: Callable[[], object]) -> object:
    """``cond(p, T, lambda: a, lambda: b)``: ``a`` where ``p`` holds, else ``b``, both of type ``T``.

    Only the side that is taken runs, and only its derivative is taken.
    """
    result = type_for("cond", t)
    for side in (yes, no):
        if not callable(side):
            raise TypeError(f"cond: expected a function of nothing for each side, got {describe(side)}")
    trace = current()
    (c,) = lift(trace, p, BOOL, "cond")

    def branch(name: str, body: Callable[[], object], what: str) -> Function:
        return inline(name, [], lambda inner: lift(inner, body(), result, what))

    f = branch("then", yes, "the side of cond where the condition holds")
    g = branch("otherwise", no, "the side of cond where the condition does not hold")
    v = trace.builder.cond(c, f.func, captured(trace, f), g.func, captured(trace, g))
    return wrap(trace, [trace.builder.get(v, k) for k in range(len(leaves(result)))], result)


def while_loop(
    t: object,
    init: object,
    test: Callable[[Any], object],
    body: Callable[[Any], object],
    *,
    limit: int = LARGEST - 1,
    checkpoint: int | str = "none",
) -> object:
    """``while_loop(T, init, test, body)``: from the state ``init``, ``body`` as long as ``test`` holds.

    It is an error, found when it runs, if it does so for more than ``limit`` iterations. Reverse mode keeps
    every iteration, or with ``checkpoint=k`` the state of every k-th and computes the others again;
    ``"revolve"`` is for as many iterations between two states as there are states.
    """
    complaint = f"it did not end within its limit of {limit_of('while_loop', limit)} iterations"
    note = Construct("while_loop").note(complaint)
    return iterate_while(t, init, test, body, limit, checkpoint, note)


def limit_of(name: str, limit: object) -> int:
    """A limit of iterations, which the construct of this name is given."""
    trips = whole(limit)
    if trips is None or not 0 <= trips < LARGEST:
        raise ValueError(f"{name}: expected a whole number as the limit, got {describe(limit)}")
    return trips


def iterate_while(
    t: object,
    init: object,
    test: Callable[[Any], object],
    body: Callable[[Any], object],
    limit: int,
    checkpoint: int | str = "none",
    note: int = -1,
) -> object:
    """As `while_loop`; without a note of an error, it may as well end at ``limit``."""
    state = type_for("while_loop", t)
    for part, function in (("test", test), ("body", body)):
        _need_function(f"while_loop: the {part}", function)
    most = limit_of("while_loop", limit)
    trace = current()
    count = trace.builder.const(most, _COUNT)
    start = lift(trace, init, state, "the initial state of while_loop")
    types = leaves(state)

    def iteration(inner: Trace, _: int, *ids: int) -> list[int]:
        return lift(inner, body(wrap(inner, ids, state)), state, "the body of while_loop")

    def again(inner: Trace, *ids: int) -> list[int]:
        return lift(inner, test(wrap(inner, ids, state)), BOOL, "the test of while_loop")

    f = inline("body", [_COUNT, *types], iteration)
    g = inline("test", types, again)
    distance = _distance(checkpoint, most)
    spec = Spec(len(types), _COUNT, must_end=note >= 0, note=note, checkpoint=distance)
    loop = trace.builder.loop(spec, count, f.func, start, captured(trace, f), g.func, captured(trace, g))
    return wrap(trace, [trace.builder.get(loop, k) for k in range(len(types))], state)


def fori(
    n: object,
    t: object,
    init: object,
    body: Callable[[Any, Any], object],
    *,
    checkpoint: int | str = "none",
) -> object:
    """``fori(n, T, init, lambda i, s: …)``: from the state ``init``, the body for ``i`` from 0 up.

    ``n`` is a size, and ``i`` an index below it; or a symbolic index, and ``i`` an index of its type, of
    which a sum such as ``k + 1`` may be the size, too; or a symbolic Real, and ``i`` an index of any size,
    to be narrowed with `index`. ``checkpoint`` is as for `while_loop`.
    """
    _need_function("fori: the body", body)
    final, _ = _counted("fori", n, t, init, lambda i, s: (body(i, s), None), checkpoint)
    return final


def scan(
    n: object,
    t: object,
    init: object,
    body: Callable[[Any, Any], Any],
) -> tuple[object, object]:
    """``scan(n, T, init, lambda s, i: (s, y))``: as `fori`, and a vector of every iteration's ``y``.

    With a symbolic index ``n`` the vector has as many elements as its type, of which those from ``n`` on
    are zero.
    """

    _need_function("scan: the body", body)

    def iteration(i: Any, s: Any) -> tuple[object, object]:
        result = body(s, i)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(f"the body of scan: expected a state and a value, got {describe(result)}")
        return result[0], result[1]

    return _counted("scan", n, t, init, iteration, "none")


def checkpoint(f: Function | Generic) -> Any:
    """``f``, of which reverse mode keeps the arguments only, and computes the rest again."""
    if isinstance(f, Generic):
        return Generic(f.__name__, f.params, f.sizes, lambda: checkpoint(f.instance(f.now())))
    function = function_of(f, "checkpoint")
    params, ret = function.func.param_types, function.func.ret
    marked = fn(params, ret, lambda *args: function(*args))
    assert isinstance(marked, Function)
    marked.func.name = marked.__name__ = function.func.name
    marked.func.remat = True
    marked.func.param_names = list(function.func.param_names)
    marked.defaults = function.defaults
    return marked


def _need_function(what: str, f: object) -> None:
    if not callable(f):
        raise TypeError(f"{what}: expected a function, got {describe(f)}")


_COUNT = fin(LARGEST)
"""The number of an iteration where nothing limits it."""


def _counted(
    name: str,
    n: object,
    t: object,
    init: object,
    body: Callable[[Any, Any], tuple[object, object]],
    checkpoint: int | str,
) -> tuple[object, object]:
    trace = current()
    b = trace.builder
    count, index = _trips(trace, n, name)
    state = type_for(name, t)
    types = leaves(state)
    start = lift(trace, init, state, f"the initial state of {name}")
    kept: list[Type] = []

    def iteration(inner: Trace, i: int, *ids: int) -> list[int]:
        after, y = body(Var(inner, i, index), wrap(inner, ids, state))
        kept.append(type_of(y, f"what the body of {name} gives"))
        return [
            *lift(inner, after, state, f"the state that the body of {name} gives"),
            *lift(inner, y, kept[0], f"what the body of {name} gives"),
        ]

    f = inline("body", [index, *types], iteration)
    whole = array(index, kept[0])
    outputs = len(leaves(whole))
    if outputs and index is _COUNT:
        raise TypeError(
            f"{name}: expected a size or an index as the number of iterations, since it gives a vector"
        )
    spec = Spec(len(types), index, outputs, checkpoint=_distance(checkpoint, index.size))
    loop = b.loop(spec, count, f.func, start, captured(trace, f))
    kinds = ((range(len(types)), state), (range(len(types) + 1, len(types) + 1 + outputs), whole))
    last, ys = (wrap(trace, [b.get(loop, k) for k in numbers], t) for numbers, t in kinds)
    return last, ys


def _trips(trace: Trace, n: object, name: str) -> tuple[int, Fin]:
    """The id of a number of iterations, and the type of their numbers."""
    b = trace.builder
    if isinstance(n, Loose):  # as in ``fori(i + 1, …)``: it may run as often as there are indices
        return n.checked(trace, fin(min(n._type.size + 1, LARGEST))), n._type
    if isinstance(n, Var) and isinstance(n._type, Fin):
        return use(n)[0], n._type
    if isinstance(n, Var) and n._type is REAL:
        return trace.check("index", use(n)[0], _COUNT, name, NO_COUNT), _COUNT
    trips = whole(exact(n))
    if (isinstance(n, float) and trips is None) or (trips is not None and not 0 <= trips < LARGEST):
        found, expected = n if trips is None else trips, f"a whole number from 0 to {LARGEST - 1}"
        raise ValueError(f"{name}: it cannot run {found} times, expected {expected}")
    index = fin(trips) if trips is not None else as_type(n) if isinstance(n, (Size, Fin)) else None
    if not isinstance(index, Fin):
        raise TypeError(
            f"{name}: expected a size, an index or a Real as the number of iterations, got {describe(n)}"
        )
    return b.const(index.size, _COUNT), index


def _distance(checkpoint: object, most: int) -> int:
    """How many iterations are between the states that reverse mode keeps; 0 if it keeps everything."""
    if checkpoint == "none":
        return 0
    if checkpoint == "revolve":
        return _ROOT if most > _ROOT**2 else max(1, round(most**0.5))
    distance = whole(checkpoint)
    if distance is not None and 0 < distance < LARGEST:
        return distance
    raise ValueError(
        f'checkpoint: expected "none", "revolve" or a number of iterations, got {describe(checkpoint)}'
    )


_ROOT = 1024
"""Iterations between the states that are kept where their number is not known: right for a million."""
