"""Expressions as text: ``expr("x**y + sin(x)")`` is a function of ``x`` and ``y``.

The text is read as Python reads it, and only what stands in the tables here has a meaning: nothing of it
is ever run. So text from a stranger can do no more than compute.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from keyword import iskeyword
from typing import Any
from unicodedata import normalize

from rose_core.deep import deep_recursion
from rose_core.errors import counted
from rose_core.language.ops import OPS, by_name
from rose_core.language.types import REAL
from rose_core.tracing.control import cond
from rose_core.tracing.declare import describe
from rose_core.tracing.functions import Function, fn
from rose_core.tracing.operations import operation


class ExpressionError(ValueError):
    """Text that is no expression; the message shows where."""


CONSTANTS = {"pi": math.pi, "tau": math.tau, "e": math.e}

FUNCTIONS = {
    op.name: operation(op.name)
    for op in OPS
    if op.name.isalnum() and set(op.ins) == {"R"} and op.out == "R" and not op.sized
}
"""The operations from Reals to a Real, by their names in Python."""

_floor, _sub, _mul, _div = (FUNCTIONS[name] for name in ("floor", "sub", "mul", "div"))

_BINARY: dict[type[ast.operator], Callable[..., Any]] = {
    ast.Add: FUNCTIONS["add"],
    ast.Sub: _sub,
    ast.Mult: _mul,
    ast.Div: _div,
    ast.Pow: FUNCTIONS["pow"],
    ast.FloorDiv: lambda x, y: _floor(_div(x, y)),
    ast.Mod: lambda x, y: _sub(x, _mul(y, _floor(_div(x, y)))),
}

_COMPARE: dict[type[ast.cmpop], Callable[..., Any]] = {
    ast.Eq: operation("eq"),
    ast.NotEq: operation("neq"),
    ast.Lt: operation("lt"),
    ast.LtE: operation("leq"),
    ast.Gt: operation("gt"),
    ast.GtE: operation("geq"),
}

_LOGIC: dict[type[ast.boolop], Callable[..., Any]] = {ast.And: operation("and"), ast.Or: operation("or")}

_not = operation("not")

_DEEPEST = 20_000
"""The limit of recursion while a tree is made, of which each level takes space on the machine's stack."""

_LINE_END = re.compile("\r\n?|\n")
"""Where Python is told that an expression goes on, be it in parentheses or not."""

_TOKEN = re.compile(r"0[xob]\w+|\d[\d_]*(\.\d*)?(e[+-]?\d+)?|\w+|\S", re.IGNORECASE)
_VALUE = re.compile(r"\w|\(")
"""How what has a value begins."""

_PRODUCT = "; the product is *"

_ASSOCIATIVE = ("min", "max")
"""The functions that take any number of arguments."""


def expr(text: str, names: Sequence[str] | None = None) -> Function:
    """The function that ``text`` writes down, of Reals and with a Real as its result.

    Its parameters are ``names``, or else the free names of the text in the order in which they first
    appear. ``pi``, ``tau`` and ``e`` are constants where they are not among ``names``. There are the
    operators of Python on numbers (``**`` is the power), ``a if x < y else b`` and the functions of
    this package from Reals to a Real; the end of a line is a space.

    Raises:
        ExpressionError: the text is none; the message shows the place.
    """
    if not isinstance(text, str):
        raise TypeError(f"expr: expected a text, got {describe(text)}")
    reader = _Reader(text)
    free = reader.free_names() if names is None else _checked(names)
    types = [REAL] * len(free)
    with deep_recursion():
        function = fn(types, REAL, lambda *args: reader.number(dict(zip(free, args, strict=True))))
    assert isinstance(function, Function)
    function.func.name = function.__name__ = "expr"
    function.func.param_names = free
    return function


def _checked(names: Sequence[str]) -> list[str]:
    if isinstance(names, str):
        names = [names]
    found: list[str] = []
    for name in names:
        if not isinstance(name, str) or not name.isidentifier():
            raise TypeError(f"expr: expected names of parameters, got {describe(name)}")
        read = normalize("NFKC", name)  # as Python reads it: there are two signs µ
        if read in found:
            raise ValueError(f"expr: there are two parameters {name}")
        found.append(read)
    return found


class _Reader:
    """A text with its syntax tree."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.indent = len(text) - len(text.lstrip())
        """Python takes space before an expression for a mistake, so it is left out."""
        given = text.strip()
        try:
            with deep_recursion(_DEEPEST):
                self.tree = ast.parse(_LINE_END.sub(r"\\\g<0>", given), mode="eval").body
        except SyntaxError as error:
            line, column = error.lineno or 1, (error.offset or 0) - 1
            sentence = error.msg[:1].lower() + error.msg[1:] if given else "there is no expression"
            if sentence.startswith("invalid") and (gap := _gap(given)):
                before = given[:gap].splitlines()
                line, column = len(before), len(before[-1])
                sentence = f"there is no operator here{_PRODUCT}"
            raise self._error(line, column, sentence) from None
        except ValueError as error:  # a null character
            raise self._error(1, 0, str(error)) from None
        except (RecursionError, MemoryError):
            raise self._error(1, 0, "it is nested too deeply") from None

    def _error(self, line: int, column: int, sentence: str) -> ExpressionError:
        """``line`` counts from 1, ``column`` from 0, in characters; both without the indentation.

        A column before the first is what Python says of text that ends too early.
        """
        before, rest = self.text[: self.indent], self.text[self.indent :]
        shown = (rest.splitlines() or [""])[line - 1]
        column = len(shown) if column < 0 else column
        if line == 1:
            start = before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]
            shown, column = start + shown, len(start) + column
        return ExpressionError(f"expr: {sentence}\n  {shown}\n  {' ' * column}^")

    def error(self, node: ast.expr, sentence: str) -> ExpressionError:
        source = self.text.lstrip().splitlines()[node.lineno - 1]
        column = len(source.encode()[: node.col_offset].decode())
        return self._error(node.lineno, column, sentence)

    def _operator_error(self, node: ast.BinOp, sentence: str) -> ExpressionError:
        """Of the operator: the tree has only the place of its left operand, without what closes that."""
        lines = self.text.lstrip().splitlines()
        line, end = node.left.end_lineno, node.left.end_col_offset
        assert line is not None
        rest = lines[line - 1].encode()[end:].decode()
        while (rest := rest.lstrip(" \t\f)\\"))[:1] in ("", "#"):
            rest, line = lines[line], line + 1
        return self._error(line, len(lines[line - 1]) - len(rest), sentence)

    def free_names(self) -> list[str]:
        """The names that are no functions' and no constants', by their first appearance."""
        called = {id(node.func) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        names = [n for n in ast.walk(self.tree) if isinstance(n, ast.Name) and id(n) not in called]
        names.sort(key=lambda n: (n.lineno, n.col_offset))
        return list(dict.fromkeys(n.id for n in names if n.id not in CONSTANTS))

    def number(self, scope: dict[str, object]) -> object:
        """The value of the text, with these values for its names."""
        return self._number(self.tree, scope)

    def _number(self, node: ast.expr, scope: dict[str, object]) -> Any:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
                try:
                    return float(node.value)
                except OverflowError:
                    raise self.error(node, "this number is too large") from None
            raise self.error(node, f"expected a number, got {node.value!r:.60}")
        if isinstance(node, ast.Name):
            return self._name(node, scope)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.UAdd, ast.USub)):
            x = self._number(node.operand, scope)
            return FUNCTIONS["neg"](x) if isinstance(node.op, ast.USub) else x
        if isinstance(node, ast.BinOp):
            left = self._number(node.left, scope)
            operator = _BINARY.get(type(node.op))
            if operator is None:
                advice = "; the power is **" if isinstance(node.op, ast.BitXor) else ""
                raise self._operator_error(node, f"there is no such operator on numbers{advice}")
            return operator(left, self._number(node.right, scope))
        if isinstance(node, ast.IfExp):
            p = self._condition(node.test, scope)
            if isinstance(p, bool):
                return self._number(node.body if p else node.orelse, scope)
            sides = [lambda side=side: self._number(side, scope) for side in (node.body, node.orelse)]
            return cond(p, REAL, *sides)
        if isinstance(node, ast.Call):
            return self._call(node, scope)
        if isinstance(node, (ast.Compare, ast.BoolOp)) or _is_not(node):
            raise self.error(node, "expected a number, got a condition")
        raise self.error(node, "this has no meaning in an expression of numbers")

    def _condition(self, node: ast.expr, scope: dict[str, object]) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, bool):
            return node.value
        if isinstance(node, ast.UnaryOp) and _is_not(node):
            return _not(self._condition(node.operand, scope))
        if isinstance(node, ast.BoolOp):
            return reduce(_LOGIC[type(node.op)], [self._condition(x, scope) for x in node.values])
        if isinstance(node, ast.Compare):
            values = [self._number(x, scope) for x in (node.left, *node.comparators)]
            found = []
            for op, x, y in zip(node.ops, values, values[1:], strict=False):
                if type(op) not in _COMPARE:
                    raise self.error(node, "there is no such comparison of numbers")
                found.append(_COMPARE[type(op)](x, y))
            return reduce(_LOGIC[ast.And], found)
        raise self.error(node, "expected a condition such as x < y")

    def _name(self, node: ast.Name, scope: dict[str, object]) -> object:
        if node.id in scope:
            return scope[node.id]
        if node.id in CONSTANTS:
            return CONSTANTS[node.id]
        known = ", ".join(scope) or "none at all"
        raise self.error(node, f"{node.id} is not among the names of the parameters: {known}")

    def _call(self, node: ast.Call, scope: dict[str, object]) -> object:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name not in FUNCTIONS:
            sentence = f"there is no function {name}" if name else "this is no function"
            raise self.error(node.func, sentence + (_PRODUCT if name in scope or not name else ""))
        starred = [x for x in node.args if isinstance(x, ast.Starred)]
        for place in (*starred, *(keyword.value for keyword in node.keywords)):
            raise self.error(place, f"{name} takes numbers, one after the other")
        arity = len(by_name[name].ins)
        if len(node.args) != arity and not (name in _ASSOCIATIVE and node.args):
            raise self.error(node, f"{name} takes {counted(arity, 'argument')}, got {len(node.args)}")
        args = [self._number(x, scope) for x in node.args]
        return reduce(FUNCTIONS[name], args) if name in _ASSOCIATIVE else FUNCTIONS[name](*args)


def _gap(text: str) -> int | None:
    """Where a value follows another, as in ``2 x``, with nothing between them."""
    for left, right in pairwise(_TOKEN.finditer(text)):
        a, b = left[0], right[0]
        is_call = b == "(" and a[0].isalpha()
        ends = a == ")" or (a[-1].isalnum() and a not in FUNCTIONS)
        if ends and _VALUE.match(b) and not (is_call or iskeyword(a) or iskeyword(b)):
            return right.start()
    return None


def _is_not(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
