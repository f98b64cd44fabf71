"""Reads the text form (`rose_core.text`) and the paper's listings into IR.

The grammar is that of Figure 3 with the paper's sugar: nested expressions, tuple patterns in ``let``
and in parameters, type abbreviations (``type Dual = (Real, Real)``), ``e; e``, and ASCII spellings of
the operators (``*``, ``/``, ``<=``, ``>=``, ``!=``, ``not``, ``and``, ``or``). Types of ``let`` may be left out.

An expression is read into a tree first, and then built with the type that is expected of it, because
``2`` is an index where an index is wanted and a Real elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rose_core.ir import FOR, Builder, Func, fields_of, is_real
from rose_core.ops import OPS, Op
from rose_core.types import (
    BOOL,
    INDEX,
    REAL,
    TAN,
    TYPE,
    UNIT,
    VALUE,
    Array,
    Fin,
    Pair,
    Ref,
    Struct,
    Type,
    TypeVar,
    array,
    fin,
    ref,
)

_TOKEN = re.compile(
    r"(?P<space>\s+|#.*)|(?P<number>\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+)|(?P<name>[^\W\d][\w']*)"
    r"|(?P<mark>\+=|<=|>=|!=|->|[()\[\]{}<>,:;=?+\-*/×÷¬∧∨≠≤≥&.])"
)

_ASCII = {"*": "×", "/": "÷", "<=": "≤", ">=": "≥", "!=": "≠", "not": "¬", "and": "∧", "or": "∨"}

_LEVELS = [
    ["∨"], ["∧"], ["iff", "xor"], ["=", "≠", "<", "≤", ">", "≥"], ["+", "-"], ["×", "÷", "mod"],
]  # fmt: skip
"""Binary operators, weakest first."""

_PREFIX = {"-", "abs", "sgn", "ceil", "floor", "trunc", "sqrt", "¬", "fst", "snd", "&fst", "&snd"}

_KEYWORDS = {"let", "in", "def", "for", "accum", "from", "type", "resolve", "true", "false"} | _PREFIX

Tree = tuple[object, ...]


class ParseError(Exception):
    """Text that is not a program; the message says where."""


def parse(source: str) -> dict[str, Func]:
    """The functions of a program by name, each after those it calls; pairs and structs are still in them.

    Raises:
        ParseError: with line and column of what was not expected.
    """
    return _Parser(source).program()


class _Parser:
    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(source):
            match = _TOKEN.match(source, at)
            if not match:
                raise self.error(f"unexpected {source[at]!r}", at)
            kind = match.lastgroup or ""
            if kind != "space":
                text = _ASCII.get(match[0], match[0])
                self.tokens.append((kind, text, at))
            at = match.end()
        self.tokens.append(("end", "the end", at))
        self.at = 0
        self.functions: dict[str, Func] = {}
        self.aliases: dict[str, Type] = {"Bool": BOOL, "Real": REAL, "Tan": TAN}

    # -- tokens ----------------------------------------------------------------------------------------

    def error(self, why: str, at: int | None = None) -> ParseError:
        at = self.tokens[self.at][2] if at is None else at
        line = self.source.count("\n", 0, at) + 1
        return ParseError(f"line {line}, column {at - self.source.rfind(chr(10), 0, at)}: {why}")

    def peek(self, text: str, ahead: int = 0) -> bool:
        kind, found, _ = self.tokens[min(self.at + ahead, len(self.tokens) - 1)]
        return found == text and kind != "end"

    def accept(self, text: str) -> bool:
        if self.peek(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(f"expected {text!r}, found {self.tokens[self.at][1]!r}")

    def name(self) -> str:
        kind, text, _ = self.tokens[self.at]
        if kind != "name" or text in _KEYWORDS:
            raise self.error(f"expected a name, found {text!r}")
        self.at += 1
        return text

    # -- types and definitions ---------------------------------------------------------------------------

    def program(self) -> dict[str, Func]:
        while self.tokens[self.at][0] != "end":
            if self.accept("type"):
                name = self.name()
                self.expect("=")
                self.aliases[name] = self.type()
            else:
                self.definition()
        return self.functions

    def type(self) -> Type:
        kind, text, _ = self.tokens[self.at]
        if self.accept("&"):
            return ref(self.type())
        if self.accept("["):
            index = self.type()
            self.expect("]")
            return array(index, self.type())
        if self.accept("("):
            parts = []
            while not self.accept(")"):
                parts.append(self.type())
                if not self.peek(")"):
                    self.expect(",")
            return _nested_pairs(parts)
        if self.accept("{"):
            fields = {}
            while not self.accept("}"):
                name = self.name()
                self.expect(":")
                fields[name] = self.type()
                if not self.peek("}"):
                    self.expect(",")
            return Struct(fields)
        self.at += 1
        if kind == "number" and text.isdigit():
            return fin(int(text))
        if text in self.aliases:
            return self.aliases[text]
        self.at -= 1
        raise self.error(f"expected a type, found {text!r}")

    def definition(self) -> None:
        self.expect("def")
        name = self.name()
        outer = dict(self.aliases)
        generics = []
        if self.accept("<"):
            while not self.accept(">"):
                parameter = self.name()
                self.expect(":")
                bound = self.name()
                if bound not in (INDEX, VALUE, TYPE):
                    raise self.error(f"expected {INDEX}, {VALUE} or {TYPE}, found {bound}")
                generics.append(TypeVar(parameter, bound))
                self.aliases[parameter] = generics[-1]
                if not self.peek(">"):
                    self.expect(",")
        self.expect("(")
        patterns, types = [], []
        while not self.accept(")"):
            patterns.append(self.pattern())
            self.expect(":")
            types.append(self.type())
            if not self.peek(")"):
                self.expect(",")
        self.expect(":")
        func = Func(name, types, self.type())
        func.generics = generics
        func.param_names = [p if isinstance(p, str) else f"x{k}" for k, p in enumerate(patterns)]
        func.structured = True
        self.expect("=")
        tree = self.body()
        build = _Build(self, func)
        for pattern, t in zip(patterns, types, strict=True):
            build.bind(pattern, build.b.param(t))
        func.results.append(build.value(tree, func.ret))
        self.aliases = outer
        self.functions[name] = func

    def pattern(self) -> object:
        """A name, or a tuple of patterns."""
        if not self.accept("("):
            return self.name()
        parts: list[object] = []
        while not self.accept(")"):
            parts.append(self.pattern())
            if not self.peek(")"):
                self.expect(",")
        return tuple(parts)

    # -- expressions ---------------------------------------------------------------------------------------

    def body(self) -> Tree:
        """``let … in …``, ``e; …`` or an expression."""
        at = self.tokens[self.at][2]
        if self.accept("let"):
            pattern = self.pattern()
            t = self.type() if self.accept(":") else None
            self.expect("=")
            value = self.body()
            self.expect("in")
            return ("let", at, pattern, t, value, self.body())
        first = self.choice()
        if self.accept(";"):
            return ("let", at, "_", None, first, self.body())
        return first

    def choice(self) -> Tree:
        at = self.tokens[self.at][2]
        tree = self.binary(0)
        if self.accept("?"):
            yes = self.choice()
            self.expect(":")
            return ("select", at, tree, yes, self.choice())
        if self.accept("+="):
            return ("add_to", at, tree, self.choice())
        return tree

    def binary(self, level: int) -> Tree:
        if level == len(_LEVELS):
            return self.unary()
        tree = self.binary(level + 1)
        while self.tokens[self.at][1] in _LEVELS[level] and self.tokens[self.at][0] != "end":
            _, symbol, at = self.tokens[self.at]
            self.at += 1
            tree = ("binary", at, symbol, tree, self.binary(level + 1))
        return tree

    def unary(self) -> Tree:
        _, text, at = self.tokens[self.at]
        if text == "&" and (self.peek("fst", 1) or self.peek("snd", 1)):
            self.at += 1
            text += self.tokens[self.at][1]
        if text in _PREFIX:
            self.at += 1
            return ("unary", at, text, self.unary())
        if self.accept("&"):
            return ("part", at, self.postfix())
        return self.postfix()

    def postfix(self) -> Tree:
        tree = self.atom()
        while True:
            at = self.tokens[self.at][2]
            if self.accept("["):
                tree = ("index", at, tree, self.body())
                self.expect("]")
            elif self.accept("."):
                tree = ("field", at, tree, self.name())
            else:
                return tree

    def atom(self) -> Tree:
        kind, text, at = self.tokens[self.at]
        if kind == "number":
            self.at += 1
            return ("number", at, text)
        if text in ("true", "false"):
            self.at += 1
            return ("bool", at, text == "true")
        if self.accept("("):
            return self.items("tuple", at, ")")
        if self.accept("["):
            if not self.accept("for"):
                return self.items("vec", at, "]")
            index = self.name()
            self.expect(":")
            size = self.type()
            self.expect(",")
            tree: Tree = ("for", at, index, size, self.body())
            self.expect("]")
            return tree
        if self.accept("{"):
            fields: list[object] = []
            while not self.accept("}"):
                name = self.name()
                self.expect(":")
                fields.append((name, self.choice()))
                if not self.peek("}"):
                    self.expect(",")
            return ("struct", at, *fields)
        if self.accept("accum"):
            if not (self.tokens[self.at][0] == "name" and self.peek("from", 1)):
                return ("open", at, self.choice())
            name = self.name()
            self.expect("from")
            start = self.choice()
            self.expect("in")
            return ("accum", at, name, start, self.body())
        if self.accept("resolve"):
            return ("resolve", at, self.postfix())
        name = self.name()
        types: list[Type] = []
        if name in self.functions and self.accept("<"):
            while not self.accept(">"):
                types.append(self.type())
                if not self.peek(">"):
                    self.expect(",")
        if self.accept("("):
            return ("call", at, name, types, *self.items("tuple", at, ")", always=True)[2:])
        return ("name", at, name)

    def items(self, kind: str, at: int, close: str, always: bool = False) -> Tree:
        parts: list[object] = []
        while not self.accept(close):
            parts.append(self.body())
            if not self.peek(close):
                self.expect(",")
        if kind == "tuple" and len(parts) == 1 and not always:
            return parts[0]  # type: ignore[return-value]
        return (kind, at, *parts)


def _nested_pairs(parts: Sequence[Type]) -> Type:
    if not parts:
        return UNIT
    return parts[0] if len(parts) == 1 else Pair(parts[0], _nested_pairs(parts[1:]))


class _Build:
    """Builds a function from trees."""

    def __init__(self, parser: _Parser, func: Func) -> None:
        self.parser = parser
        self.func = func
        self.b = Builder(func)
        self.names: dict[str, int] = {}

    def error(self, tree: Tree, why: str) -> ParseError:
        return self.parser.error(why, int(tree[1]))  # type: ignore[call-overload]

    def bind(self, pattern: object, v: int) -> None:
        """Name a value, or its parts."""
        if isinstance(pattern, str):
            self.names[pattern] = v
        elif isinstance(pattern, tuple) and len(pattern) > 1:
            self.bind(pattern[0], self.b.member(v, 0))
            self.bind(pattern[1:] if len(pattern) > 2 else pattern[1], self.b.member(v, 1))
        elif pattern:
            self.bind(pattern[0], v)  # type: ignore[index]

    def value(self, tree: Tree, expected: Type | None = None) -> int:
        """The id of a tree's value; of type ``expected``, if that is given."""
        v = getattr(self, f"_{tree[0]}")(tree, expected)
        t = self.func.type_of(v)
        if expected is not None and t != expected and not (t is REAL and expected is TAN and v < 0):
            raise self.error(tree, f"expected {expected}, found {t}")
        return v  # type: ignore[no-any-return]

    def type(self, v: int) -> Type:
        return self.func.type_of(v)

    def _let(self, tree: Tree, expected: Type | None) -> int:
        _, _, pattern, t, value, body = tree
        v = self.value(value, t)  # type: ignore[arg-type]
        hidden = dict(self.names)
        self.bind(pattern, v)
        result = self.value(body, expected)  # type: ignore[arg-type]
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

    def _pairs(self, parts: Sequence[object], expected: Type | None) -> int:
        if not parts:
            return self.b.const(0, UNIT)
        if len(parts) == 1:
            return self.value(parts[0], expected)  # type: ignore[arg-type]
        types = (expected.fst, expected.snd) if isinstance(expected, Pair) else (None, None)
        fst = self.value(parts[0], types[0])  # type: ignore[arg-type]
        snd = self._pairs(parts[1:], types[1])
        return self.b.tuple([fst, snd], Pair(self.type(fst), self.type(snd)))

    def _struct(self, tree: Tree, expected: Type | None) -> int:
        fields: dict[str, int] = {}
        for name, value in tree[2:]:  # type: ignore[misc]
            t = expected.fields.get(name) if isinstance(expected, Struct) else None
            fields[name] = self.value(value, t)
        struct = Struct({name: self.type(v) for name, v in fields.items()})
        return self.b.tuple([fields[name] for name, _ in struct.sorted_fields()], struct)

    def _vec(self, tree: Tree, expected: Type | None) -> int:
        elem = expected.elem if isinstance(expected, Array) else None
        ids = []
        for part in tree[2:]:
            ids.append(self.value(part, elem))  # type: ignore[arg-type]
            elem = self.type(ids[-1])
        t = expected if isinstance(expected, Array) else array(fin(len(ids)), elem or UNIT)
        return self.b.vec(ids, t)

    def _for(self, tree: Tree, expected: Type | None) -> int:
        _, _, index, size, body = tree
        hidden = dict(self.names)
        # with a pair expected, the results are not in pairs, but in arrays of their own
        apart = isinstance(expected, Pair)
        self.names[str(index)] = self.b.open_for(size)  # type: ignore[arg-type]
        if apart:
            elem: Type | None = _unzipped(expected)
        else:
            elem = expected.elem if isinstance(expected, Array) else None
        result = self.value(body, elem)  # type: ignore[arg-type]
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
        return self.b.tuple([fst, self._pair_up(ids, like.snd)], like)

    def _accum(self, tree: Tree, expected: Type | None) -> int:
        _, _, name, start, body = tree
        types = (expected.fst, expected.snd) if isinstance(expected, Pair) else (None, None)
        r = self.b.accum(self.value(start, types[0]))  # type: ignore[arg-type]
        hidden = dict(self.names)
        self.names[str(name)] = r
        result = self.value(body, types[1])  # type: ignore[arg-type]
        self.names = hidden
        total = self.b.resolve(r)
        return self.b.tuple([total, result], Pair(self.type(total), self.type(result)))

    def _open(self, tree: Tree, expected: Type | None) -> int:
        inner = expected.inner if isinstance(expected, Ref) else None
        return self.b.accum(self.value(tree[2], inner))  # type: ignore[arg-type]

    def _resolve(self, tree: Tree, _: Type | None) -> int:
        return self.b.resolve(self.value(tree[2]))  # type: ignore[arg-type]

    def _add_to(self, tree: Tree, _: Type | None) -> int:
        r = self.value(tree[2])  # type: ignore[arg-type]
        t = self.type(r)
        if not isinstance(t, Ref):
            raise self.error(tree, f"only an accumulator can be added to, not {t}")
        return self.b.add_to(r, self.value(tree[3], t.inner))  # type: ignore[arg-type]

    def _index(self, tree: Tree, _: Type | None) -> int:
        v = self.value(tree[2])  # type: ignore[arg-type]
        t = self.type(v)
        if isinstance(t, Ref) and isinstance(t.inner, Array):
            return self.b.ref_index(v, self.value(tree[3], t.inner.index))  # type: ignore[arg-type]
        if not isinstance(t, Array):
            raise self.error(tree, f"{t} has no elements")
        return self.b.index(v, self.value(tree[3], t.index))  # type: ignore[arg-type]

    def _field(self, tree: Tree, _: Type | None) -> int:
        v = self.value(tree[2])  # type: ignore[arg-type]
        t = self.type(v)
        inner = t.inner if isinstance(t, Ref) else t
        names = [name for name, _ in fields_of(inner)] if isinstance(inner, Struct) else []
        if tree[3] not in names:
            raise self.error(tree, f"{t} has no field {tree[3]}")
        return self.b.member(v, names.index(str(tree[3])))

    def _part(self, tree: Tree, expected: Type | None) -> int:
        """``&x[i]`` and ``&x.name``: of an accumulator, as the same without ``&`` is here."""
        v = self.value(tree[2], expected)  # type: ignore[arg-type]
        if not isinstance(self.type(v), Ref):
            raise self.error(tree, "& is for parts of accumulators")
        return v

    def _unary(self, tree: Tree, expected: Type | None) -> int:
        symbol = str(tree[2]).lstrip("&")
        if symbol in ("fst", "snd"):
            v = self.value(tree[3])  # type: ignore[arg-type]
            return self.b.member(v, symbol == "snd")
        number = tree[3][0] == "number"  # type: ignore[index]
        if symbol == "-" and number:
            return self.b.const(-float(tree[3][2]), TAN if expected is TAN else REAL)  # type: ignore[index]
        return self._apply(tree, symbol, [tree[3]], expected)

    def _binary(self, tree: Tree, expected: Type | None) -> int:
        return self._apply(tree, str(tree[2]), tree[3:], expected)

    def _select(self, tree: Tree, expected: Type | None) -> int:
        p = self.value(tree[2], BOOL)  # type: ignore[arg-type]
        x = self.value(tree[3], expected)  # type: ignore[arg-type]
        y = self.value(tree[4], self.type(x))  # type: ignore[arg-type]
        return self.b.ternary(OPS[-1].code, p, x, y)

    def _apply(self, tree: Tree, symbol: str, operands: Sequence[object], expected: Type | None) -> int:
        """The op of the table with this symbol that takes these operands."""
        rows = [op for op in OPS if op.symbol == symbol and len(op.ins) == len(operands)]
        first_is_number = operands[0][0] == "number"  # type: ignore[index]
        ids: list[int] = []
        order = [1, 0] if first_is_number and len(operands) == 2 else range(len(operands))
        found: dict[int, int] = {}
        hint = expected if isinstance(expected, Fin) else None
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
            found[k] = self.value(operands[k], hint)  # type: ignore[arg-type]
        ids = [found[k] for k in range(len(operands))]
        types = [self.type(v) for v in ids]
        for op in rows:
            out = _typed(op, types)
            if out is not None:
                return self.b.op(op.code, *ids, type=out)
        raise self.error(tree, f"{symbol} does not apply to {', '.join(map(str, types))}")

    def _call(self, tree: Tree, expected: Type | None) -> int:
        _, _, name, types, *args = tree
        f = self.parser.functions.get(str(name))
        if f is None:
            if any(op.symbol == name for op in OPS):
                return self._apply(tree, str(name), args, expected)
            raise self.error(tree, f"the function {name} is not defined above")
        if len(types) != len(f.generics):  # type: ignore[arg-type]
            raise self.error(tree, f"{name} takes {len(f.generics)} types, found {len(types)}")  # type: ignore[arg-type]
        if f.generics:
            f = _instance(f, tuple(types))  # type: ignore[arg-type]
        if len(args) != len(f.param_types):
            raise self.error(tree, f"{name} takes {len(f.param_types)} arguments, found {len(args)}")
        ids = [self.value(a, t) for a, t in zip(args, f.param_types, strict=True)]  # type: ignore[arg-type]
        return self.b.get(self.b.call(f, ids), 0)


def _instance(f: Func, types: tuple[Type, ...]) -> Func:
    """The generic function ``f`` at these types, to be called; `rose_core.flatten` gives it its body."""
    from rose_core.flatten import substitute

    found = f.memo.get(("instance", types))
    if found is None:
        at = dict(zip(f.generics, types, strict=True))
        found = Func(f.name, [substitute(t, at) for t in f.param_types], substitute(f.ret, at))
        found.params = found.param_types
        found.instance = f, types
        f.memo["instance", types] = found
    return found  # type: ignore[return-value]


def _typed(op: Op, types: Sequence[Type]) -> Type | None:
    """The result type of ``op`` on operands of these types; None if it does not take them."""
    if any(t is TAN for t in types):
        fits = len(op.tangent) == len(types) and all(
            (c == "T") == (t is TAN) for c, t in zip(op.tangent, types, strict=True)
        )
        return TAN if fits else None
    for letter, t in zip(op.ins, types, strict=True):
        if {"R": t is REAL, "B": t is BOOL, "I": isinstance(t, Fin)}[letter] is False:
            return None
    return {"R": REAL, "B": BOOL}.get(op.out) or types[0]


def _unzipped(t: Type | None) -> Type:
    """From a pair of arrays to the pair of their elements."""
    if isinstance(t, Pair):
        return Pair(_unzipped(t.fst), _unzipped(t.snd))
    assert isinstance(t, Array)
    return t.elem


__all__ = ["FOR", "ParseError", "is_real", "parse"]
