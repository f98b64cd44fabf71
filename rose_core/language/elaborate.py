"""From the trees of `language.parse` to instructions, by the type that is expected of each.

``2`` is an index where an index is wanted and a Real elsewhere; ``+`` is one op on numbers and another
on indices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from rose_core.language.builder import Builder
from rose_core.language.flatten import flatten, substitute
from rose_core.language.ir import Func, Spec, fields_of, is_real, result_count
from rose_core.language.ops import OPS, Op
from rose_core.language.types import (
    BOOL,
    LARGEST,
    REAL,
    RUN,
    TAN,
    UNIT,
    Array,
    Fin,
    Pair,
    Ref,
    Struct,
    Type,
    array,
    fin,
    is_tape,
    replace_scalar,
)

Tree = tuple[Any, ...]
"""A kind, a position in the text, and parts."""


class Elaboration:
    """Builds a function from trees."""

    def __init__(
        self, func: Func, functions: dict[str, Func], error: Callable[[str, int], Exception]
    ) -> None:
        """``functions``: what may be called; ``error``: makes the exception for a mistake at a position."""
        self.func = func
        self.functions = functions
        self.error_at = error
        self.b = Builder(func)
        self.names: dict[str, int] = {}
        self.pullbacks: dict[str, int] = {}
        """Names of the results of a ``VJP``, and that itself."""
        self._vjp_made = -1

    def error(self, tree: Tree, why: str) -> Exception:
        return self.error_at(why, tree[1])

    def bind(self, pattern: Any, v: int) -> None:
        """Name a value, or its parts."""
        if isinstance(pattern, str):
            self.names[pattern] = v
        elif isinstance(pattern, tuple) and len(pattern) > 1:
            self.bind(pattern[0], self.b.member(v, 0))
            self.bind(pattern[1:] if len(pattern) > 2 else pattern[1], self.b.member(v, 1))
        elif pattern:
            self.bind(pattern[0], v)

    def value(self, tree: Tree, expected: Type | None = None) -> int:
        """The id of a tree's value; of type ``expected``, if that is given."""
        v: int = getattr(self, f"_{tree[0]}")(tree, expected)
        t = self.func.type_of(v)
        if expected is not None and t != expected and not (t is REAL and expected is TAN and v < 0):
            raise self.error(tree, f"expected {expected}, found {t}")
        return v

    def type(self, v: int) -> Type:
        return self.func.type_of(v)

    def _let(self, tree: Tree, expected: Type | None) -> int:
        hidden = dict(self.names)
        while tree[0] == "let":  # one after another: long programs have thousands
            _, _, pattern, t, value, body = tree
            v = self.value(value, t)
            self.bind(pattern, v)
            if value[0] == "vjp":
                self.pullbacks[pattern] = self._vjp_made
            tree = body
        result = self.value(tree, expected)
        self.names = hidden
        return result

    def _number(self, tree: Tree, expected: Type | None) -> int:
        text = str(tree[2])
        if isinstance(expected, Fin) and text.isdigit():
            if int(text) >= expected.size:
                raise self.error(tree, f"{text} is out of range for an index below {expected.size}")
            return self.b.const(int(text), expected)
        return self.b.const(float(text), TAN if expected is TAN else REAL)

    def _bool(self, tree: Tree, _: Type | None) -> int:
        return self.b.const(tree[2], BOOL)

    def _name(self, tree: Tree, _: Type | None) -> int:
        v = self.names.get(str(tree[2]))
        if v is None:
            raise self.error(tree, f"{tree[2]} is not defined")
        return v

    def _tuple(self, tree: Tree, expected: Type | None) -> int:
        return self._pairs(tree[2:], expected)

    def _pairs(self, parts: Sequence[Any], expected: Type | None) -> int:
        if not parts:
            return self.b.const(0, UNIT)
        if len(parts) == 1:
            return self.value(parts[0], expected)
        types = (expected.fst, expected.snd) if isinstance(expected, Pair) else (None, None)
        fst = self.value(parts[0], types[0])
        snd = self._pairs(parts[1:], types[1])
        return self.b.bundle([fst, snd], Pair(self.type(fst), self.type(snd)))

    def _struct(self, tree: Tree, expected: Type | None) -> int:
        fields: dict[str, int] = {}
        for name, value in tree[2:]:
            t = expected.fields.get(name) if isinstance(expected, Struct) else None
            fields[name] = self.value(value, t)
        struct = Struct({name: self.type(v) for name, v in fields.items()})
        return self.b.bundle([fields[name] for name, _ in struct.sorted_fields()], struct)

    def _vec(self, tree: Tree, expected: Type | None) -> int:
        elem = expected.elem if isinstance(expected, Array) else None
        ids = []
        for part in tree[2:]:
            ids.append(self.value(part, elem))
            elem = self.type(ids[-1])
        t = expected if isinstance(expected, Array) else array(fin(len(ids)), elem or UNIT)
        if is_tape(t) and not ids:
            return self.b.const(0.0, t)
        return self.b.vec(ids, t)

    def _for(self, tree: Tree, expected: Type | None) -> int:
        _, _, index, size, body = tree
        hidden = dict(self.names)
        # with a pair expected, the results are not in pairs, but in arrays of their own
        apart = isinstance(expected, Pair)
        self.names[str(index)] = self.b.open_for(size)
        if apart:
            elem: Type | None = _unzipped(expected)
        else:
            elem = expected.elem if isinstance(expected, Array) else None
        result = self.value(body, elem)
        self.names = hidden
        results = [result]
        if apart:
            results = self._parts(result, expected)
        loop = self.b.close_for(results)
        got = [self.b.get(loop, k) for k in range(len(results))]
        return self._pair_up(got, expected) if apart else got[0]

    def _parts(self, v: int, like: Type | None) -> list[int]:
        if not isinstance(like, Pair):
            return [v]
        return self._parts(self.b.member(v, 0), like.fst) + self._parts(self.b.member(v, 1), like.snd)

    def _pair_up(self, ids: list[int], like: Type | None) -> int:
        if not isinstance(like, Pair):
            return ids.pop(0)
        fst = self._pair_up(ids, like.fst)
        return self.b.bundle([fst, self._pair_up(ids, like.snd)], like)

    def _accum(self, tree: Tree, expected: Type | None) -> int:
        _, _, name, start, body = tree
        types = (expected.fst, expected.snd) if isinstance(expected, Pair) else (None, None)
        r = self.b.accum(self.value(start, types[0]))
        hidden = dict(self.names)
        self.names[str(name)] = r
        result = self.value(body, types[1])
        self.names = hidden
        total = self.b.resolve(r)
        return self.b.bundle([total, result], Pair(self.type(total), self.type(result)))

    def _open(self, tree: Tree, expected: Type | None) -> int:
        inner = expected.inner if isinstance(expected, Ref) else None
        return self.b.accum(self.value(tree[2], inner))

    def _resolve(self, tree: Tree, _: Type | None) -> int:
        return self.b.resolve(self.value(tree[2]))

    def _add_to(self, tree: Tree, _: Type | None) -> int:
        r = self.value(tree[2])
        t = self.type(r)
        if not isinstance(t, Ref):
            raise self.error(tree, f"only an accumulator can be added to, not {t}")
        return self.b.add_to(r, self.value(tree[3], t.inner))

    def _index(self, tree: Tree, _: Type | None) -> int:
        v = self.value(tree[2])
        t = self.type(v)
        if isinstance(t, Ref) and isinstance(t.inner, Array):
            return self.b.ref_index(v, self.value(tree[3], None if t.inner.index is RUN else t.inner.index))
        if not isinstance(t, Array):
            raise self.error(tree, f"{t} has no elements")
        return self.b.index(v, self.value(tree[3], None if t.index is RUN else t.index))

    def _field(self, tree: Tree, _: Type | None) -> int:
        v = self.value(tree[2])
        t = self.type(v)
        inner = t.inner if isinstance(t, Ref) else t
        names = [name for name, _ in fields_of(inner)] if isinstance(inner, Struct) else []
        if tree[3] not in names:
            raise self.error(tree, f"{t} has no field {tree[3]}")
        return self.b.member(v, names.index(str(tree[3])))

    def _part(self, tree: Tree, expected: Type | None) -> int:
        """``&x[i]`` and ``&x.name``: of an accumulator, as the same without ``&`` is here."""
        v = self.value(tree[2], expected)
        if not isinstance(self.type(v), Ref):
            raise self.error(tree, "& is for parts of accumulators")
        return v

    def _unary(self, tree: Tree, expected: Type | None) -> int:
        symbol = str(tree[2]).lstrip("&")
        if symbol in ("fst", "snd"):
            v = self.value(tree[3])
            return self.b.member(v, symbol == "snd")
        if _is_number(tree):
            if isinstance(expected, Fin) and str(tree[3][2]).isdigit():  # what is added to an index
                return self.b.const(-int(tree[3][2]), expected)
            return self.b.const(-float(tree[3][2]), TAN if expected is TAN else REAL)
        return self._apply(tree, symbol, [tree[3]], expected)

    def _binary(self, tree: Tree, expected: Type | None) -> int:
        return self._apply(tree, str(tree[2]), tree[3:], expected)

    def _select(self, tree: Tree, expected: Type | None) -> int:
        p = self.value(tree[2], BOOL)
        x = self.value(tree[3], expected)
        y = self.value(tree[4], self.type(x))
        return self.b.ternary(OPS[-1].code, p, x, y)

    def _apply(self, tree: Tree, symbol: str, operands: Sequence[Any], expected: Type | None) -> int:
        """The op of the table with this symbol that takes these operands."""
        rows = [op for op in OPS if op.symbol == symbol and len(op.ins) == len(operands)]
        first_is_number = _is_number(operands[0])
        ids: list[int] = []
        order = [1, 0] if first_is_number and len(operands) == 2 else range(len(operands))
        found: dict[int, int] = {}
        hint: Type | None = expected if isinstance(expected, Fin) else None
        for k in order:
            if hint is None and found:
                t = self.type(next(iter(found.values())))
                hint = (
                    t
                    if isinstance(t, Fin)
                    else TAN
                    if t is TAN and rows and rows[0].tangent == "TT"
                    else None
                )
            sized = k > 0 and rows and all(op.sized or op.ins[k] == "I" for op in rows)
            if sized or isinstance(hint, Fin):  # operands may be indices of any types
                whole = fin(LARGEST + 1) if _is_number(operands[k]) else None
                found[k] = self.value(operands[k], whole)
            else:
                found[k] = self.value(operands[k], hint)
        ids = [found[k] for k in range(len(operands))]
        types = [self.type(v) for v in ids]
        for op in rows:
            out = _typed(op, types, expected)
            if out is not None:
                return self.b.op(op.code, *ids, type=out)
        raise self.error(tree, f"{symbol} does not apply to {', '.join(map(str, types))}")

    def _if(self, tree: Tree, _: Type | None) -> int:
        """A choice of which one side runs; both are calls."""
        p = self.value(tree[2], BOOL)
        (f, yes), (g, no) = (self._flat_call(side, ()) for side in tree[3:])
        if f.result_types != g.result_types:
            raise self.error(tree, f"{f.name} gives {f.result_types}, {g.name} {g.result_types}")
        choice = self.b.cond(p, f, yes, g, no)
        return self._tuple_of([self.b.get(choice, k) for k in range(len(f.result_types))])

    def _loop(self, tree: Tree, _: Type | None) -> int:
        _, _, index, down, count, start, body, test, must_end, outputs, checkpoint, note = tree
        n = self.value(count, None if count[0] != "number" else fin(LARGEST))
        name = body[2]
        types = self._flat(body, str(name)).params
        state = [self.value(x, t) for x, t in zip(start, types[1:], strict=False)]
        given = [index, *map(self.type, state)]
        f, args = self._flat_call(body, given)
        g, test_args = self._flat_call(test, given[1:]) if test else (None, [])
        spec = Spec(len(state), index, outputs, down, must_end, checkpoint, note)
        loop = self.b.loop(spec, n, f, state, args, g, test_args)
        return self._tuple_of(self.b.all_of(loop, spec, len(f.result_types)))

    def _vjp(self, tree: Tree, _: Type | None) -> int:
        f, args = self._flat_call(tree[2], ())
        self._vjp_made = v = self.b.vjp(f, args)
        return self._tuple_of([self.b.get(v, k) for k in range(len(f.result_types))])

    def _pull(self, tree: Tree, _: Type | None) -> int:
        _, _, name, *given = tree
        if name not in self.pullbacks:
            raise self.error(tree, f"{name} is not what a vjp gives")
        vjp = self.pullbacks[name]
        f = self.func.callees[self.func.code[vjp][1]]
        types = [t for t in f.result_types if is_real(t)]
        if len(given) != len(types):
            raise self.error(tree, f"pull {name} takes {len(types)} cotangents, found {len(given)}")
        pull = self.b.pull(vjp, [self.value(x, t) for x, t in zip(given, types, strict=True)])
        return self._tuple_of([self.b.get(pull, k) for k in range(result_count(self.func, pull))])

    def _flat(self, tree: Tree, name: str) -> Func:
        """The function of a branch or a loop, on leaves."""
        f = self.functions.get(name)
        if tree[0] != "call" or f is None or f.generics:
            raise self.error(tree, f"expected a call of a function, found {name}")
        return flatten(f)

    def _flat_call(self, tree: Tree, first: Sequence[Type]) -> tuple[Func, list[int]]:
        """The function of a branch or a loop and its arguments, but for ``first``, which it gets besides."""
        f = self._flat(tree, str(tree[2]))
        types = f.params[len(first) :]
        args = tree[4:]
        if f.params[: len(first)] != list(first) or len(args) != len(types):
            raise self.error(tree, f"{f.name} takes {f.params}")
        return f, [self.value(a, t) for a, t in zip(args, types, strict=True)]

    def _tuple_of(self, ids: Sequence[int]) -> int:
        """Several values as nested pairs, to the right."""
        if not ids:
            return self.b.const(0, UNIT)
        if len(ids) == 1:
            return ids[0]
        rest = self._tuple_of(ids[1:])
        return self.b.bundle([ids[0], rest], Pair(self.type(ids[0]), self.type(rest)))

    def _structural(self, tree: Tree, name: str, args: Sequence[Any], expected: Type | None) -> int:
        """``set(v, i, x)`` and ``zeros(v)``."""
        v = self.value(args[0], expected if name == "set" else None)
        t = self.type(v)
        if not isinstance(t, Array) or len(args) != (3 if name == "set" else 1):
            raise self.error(tree, f"{name} does not apply to these arguments")
        if name == "zeros":
            return self.b.zeros(v, expected or replace_scalar(t, REAL))
        return self.b.set(v, self.value(args[1], t.index), self.value(args[2], t.elem))

    def _call(self, tree: Tree, expected: Type | None) -> int:
        _, _, name, types, *args = tree
        f = self.functions.get(str(name))
        if f is None:
            if any(op.symbol == name for op in OPS):
                return self._apply(tree, str(name), args, expected)
            if name in ("set", "zeros") and args:
                return self._structural(tree, str(name), args, expected)
            raise self.error(tree, f"the function {name} is not defined above")
        if len(types) != len(f.generics):
            raise self.error(tree, f"{name} takes {len(f.generics)} types, found {len(types)}")
        if f.generics:
            f = _instance(f, tuple(types))
        if len(args) != len(f.param_types):
            raise self.error(tree, f"{name} takes {len(f.param_types)} arguments, found {len(args)}")
        ids = [self.value(a, t) for a, t in zip(args, f.param_types, strict=True)]
        call = self.b.call(f, ids)
        count = len(f.result_types) if f.origin or f.host else 1  # whose results are leaves
        return self._tuple_of([self.b.get(call, k) for k in range(count)])


def _instance(f: Func, types: tuple[Type, ...]) -> Func:
    """The generic function ``f`` at these types, to be called; `language.flatten` gives it its body."""
    found = f.memo.get(("instance", types))
    if not isinstance(found, Func):
        at = dict(zip(f.generics, types, strict=True))
        found = Func(f.name, [substitute(t, at) for t in f.param_types], substitute(f.ret, at))
        found.params = found.param_types
        found.instance = f, types
        f.memo["instance", types] = found
    return found


def _is_number(tree: Tree) -> bool:
    """Whether it is a number, or a negative one."""
    kind = tree[3][0] if tree[0] == "unary" and tree[2] == "-" else tree[0]
    return bool(kind == "number")


def _typed(op: Op, types: Sequence[Type], expected: Type | None) -> Type | None:
    """The result type of ``op`` on operands of these types; None if it does not take them."""
    if any(t is TAN for t in types):
        fits = len(op.tangent) == len(types) and all(
            (c == "T") == (t is TAN) for c, t in zip(op.tangent, types, strict=True)
        )
        return TAN if fits else None
    for letter, t in zip(op.ins, types, strict=True):
        if {"R": t is REAL, "B": t is BOOL, "I": isinstance(t, Fin)}[letter] is False:
            return None
    if op.out == "I" and isinstance(expected, Fin):
        return expected
    return {"R": REAL, "B": BOOL}.get(op.out) or types[0]


def _unzipped(t: Type | None) -> Type:
    """From a pair of arrays to the pair of their elements."""
    if isinstance(t, Pair):
        return Pair(_unzipped(t.fst), _unzipped(t.snd))
    assert isinstance(t, Array)
    return t.elem
