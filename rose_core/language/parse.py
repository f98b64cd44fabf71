"""Reads the text form (`language.text`) and the paper's listings into IR.

The grammar is that of Figure 3 with the paper's sugar: nested expressions, tuple patterns in ``let``
and in parameters, type abbreviations (``type Dual = (Real, Real)``), ``e; e``, and ASCII spellings of
the operators (``*``, ``/``, ``<=``, ``>=``, ``!=``, ``not``, ``and``, ``or``). The type of a ``let`` may be
left out.

Expressions are read into trees, tuples of a kind, a position and parts; `language.elaborate` builds
instructions from them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from rose_core.errors import RunError
from rose_core.language.elaborate import Elaboration, Tree
from rose_core.language.flatten import flatten
from rose_core.language.ir import Func
from rose_core.language.types import (
    BOOL,
    INDEX,
    REAL,
    RUN,
    TAN,
    TYPE,
    UNIT,
    VALUE,
    Pair,
    Struct,
    Type,
    TypeVar,
    array,
    fin,
    real,
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

_KEYWORDS = {
    "if",
    "loop",
    "let",
    "in",
    "def",
    "for",
    "accum",
    "from",
    "type",
    "resolve",
    "true",
    "false",
    "inf",
    "nan",
} | _PREFIX


_STARTS = {"def", "type", "rule", "checkpoint"}
"""What definitions begin with."""


def _unknown(*_: object) -> list[Any]:
    """What an opaque function runs, of which a text says no more than that."""
    raise RunError("an opaque function that was read from text cannot be run")


class ParseError(Exception):
    """Text that is not a program; the message says where."""


def parse(source: str) -> dict[str, Func]:
    """The functions of a program by name, each after those it calls; pairs and structs are still in them.

    The last is the one that was printed. A custom derivative is that of the function and of its flat form.

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
            elif self.accept("rule"):
                self.rule()
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
        if text == "?":
            return RUN
        if text in self.aliases:
            return self.aliases[text]
        self.at -= 1
        raise self.error(f"expected a type, found {text!r}")

    def rule(self) -> None:
        """``rule f = g``: the custom derivative of ``f`` is ``g``."""
        f = self.function()
        self.expect("=")
        f.jvp = self.function()
        if not f.generics:
            flatten(f).jvp = flatten(f.jvp)
        self.functions[f.name] = self.functions.pop(f.name)

    def function(self) -> Func:
        """The name of a function that is defined above."""
        name = self.name()
        if name not in self.functions:
            self.at -= 1
            raise self.error(f"the function {name} is not defined above")
        return self.functions[name]

    def definition(self) -> None:
        remat = self.accept("checkpoint")
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
        func.remat = remat
        self.expect("=")
        if self.derived(func):
            self.aliases = outer
            self.functions[name] = func
            return
        func.structured = True
        tree = self.body()
        build = Elaboration(func, self.functions, self.error)
        for pattern, t in zip(patterns, types, strict=True):
            build.bind(pattern, build.b.param(t))
        func.results.append(build.value(tree, func.ret))
        self.aliases = outer
        self.functions[name] = func

    def derived(self, func: Func) -> bool:
        """``jvp f``, ``jet 3 f`` or ``opaque`` in place of a body."""
        _, text, _ = self.tokens[self.at]
        after = self.tokens[self.at + 1 :][:1]
        if text == "opaque" and after and (after[0][0] == "end" or after[0][1] in _STARTS):
            self.at += 1
            func.params = list(func.param_types)
            func.host, func.effects = _unknown, True
        elif text == "jvp" and after and after[0][1] in self.functions:
            self.at += 1
            func.derive_jvp(flatten(self.function()))
        elif text == "jet" and after and after[0][0] == "number":
            self.at += 1
            order = self.number()
            origin = flatten(self.function())
            pairs = list(zip(func.param_types, origin.params, strict=False))
            # what a function takes besides its declared parameters has no series
            declared = sum(t == array(fin(order + 1), real(u)) for t, u in pairs)
            origin.param_types = origin.params[:declared]
            func.derive_jet(origin, order)
        else:
            return False
        return True

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
        lets: list[Tree] = []
        while True:
            at = self.tokens[self.at][2]
            if self.accept("let"):
                pattern = self.pattern()
                t = self.type() if self.accept(":") else None
                self.expect("=")
                lets.append(("let", at, pattern, t, self.body()))
                self.expect("in")
            else:
                tree = self.choice()
                if not self.accept(";"):
                    break
                lets.append(("let", at, "_", None, tree))
        for let in reversed(lets):
            tree = (*let, tree)
        return tree

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
        if kind == "number" or text in ("inf", "nan"):
            self.at += 1
            return ("number", at, text)
        if text in ("true", "false"):
            self.at += 1
            return ("bool", at, text == "true")
        if self.accept("("):
            return self.items("tuple", at, ")")
        if self.accept("["):
            return self.array(at)
        if self.accept("{"):
            return self.struct(at)
        if self.accept("if"):
            p = self.choice()
            self.expect("then")
            yes = self.postfix()
            self.expect("else")
            return ("if", at, p, yes, self.postfix())
        if self.accept("loop"):
            return self.loop(at)
        if self.accept("accum"):
            return self.accum(at)
        if self.accept("resolve"):
            return ("resolve", at, self.postfix())
        after, then = (self.tokens[min(self.at + k, len(self.tokens) - 1)] for k in (1, 2))
        if text == "vjp" and after[1] in self.functions:
            self.at += 1
            return ("vjp", at, self.postfix())
        if text == "pull" and after[0] == "name" and then[1] == "(":
            self.at += 1
            name = self.name()
            self.expect("(")
            return ("pull", at, name, *self.items("tuple", at, ")", always=True)[2:])
        return self.named(at)

    def array(self, at: int) -> Tree:
        """``[x, …]`` or ``[for i: n, x]``, without its first bracket."""
        if not self.accept("for"):
            return self.items("vec", at, "]")
        index = self.name()
        self.expect(":")
        size = self.type()
        self.expect(",")
        tree: Tree = ("for", at, index, size, self.body())
        self.expect("]")
        return tree

    def struct(self, at: int) -> Tree:
        """``{name: x, …}``, without its first brace."""
        fields: list[object] = []
        while not self.accept("}"):
            name = self.name()
            self.expect(":")
            fields.append((name, self.choice()))
            if not self.peek("}"):
                self.expect(",")
        return ("struct", at, *fields)

    def accum(self, at: int) -> Tree:
        """``accum a from x in body``, or ``accum x`` where its scope is no block; without its first word."""
        if not (self.tokens[self.at][0] == "name" and self.peek("from", 1)):
            return ("open", at, self.choice())
        name = self.name()
        self.expect("from")
        start = self.choice()
        self.expect("in")
        return ("accum", at, name, start, self.body())

    def named(self, at: int) -> Tree:
        """A name, or a call of the function that it is of, ``f(x, …)`` or ``f<t, …>(x, …)``."""
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

    def loop(self, at: int) -> Tree:
        """``loop 5 to n from (x, …) do f(y, …) while g(z, …)``, without its first word."""
        index = self.type()
        down = self.accept("down")
        self.expect("to")
        count = self.choice()
        self.expect("from")
        self.expect("(")
        state = self.items("tuple", at, ")", always=True)
        self.expect("do")
        body = self.postfix()
        test, must_end = None, False
        if self.accept("until"):
            self.expect("¬")
            test, must_end = self.postfix(), True
        elif self.accept("while"):
            test = self.postfix()
        outputs = self.number() if self.accept("give") else 0
        checkpoint = self.number() if self.accept("checkpoint") else 0
        note = self.number() if self.accept("note") else -1
        return ("loop", at, index, down, count, state[2:], body, test, must_end, outputs, checkpoint, note)

    def number(self) -> int:
        kind, text, _ = self.tokens[self.at]
        if kind != "number" or not text.isdigit():
            raise self.error(f"expected a whole number, found {text!r}")
        self.at += 1
        return int(text)

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
