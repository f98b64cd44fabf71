"""One function of `rose_core.libm` as WebAssembly.

`rose_core.libm.floats` says which part of Python they are written in. Types are known throughout: f64,
i64 and, for conditions, i32, as the letters f, l and i. What does not fit is refused, with its line.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from rose_core.encode import (
    ELSE,
    END,
    F64_ADD,
    I32_SHL,
    IF,
    RETURN,
    SELECT,
    i32_const,
    local_get,
    local_set,
    local_tee,
    sint,
)
from rose_core.libm import floats

Function = Callable[..., Any]

Piece = bytes | float | int | str | tuple[float, ...]
"""As in ``code.py``."""


@dataclass(frozen=True)
class Get:
    variable: int


@dataclass(frozen=True)
class Set:
    variable: int


_TYPES = {"float": "f", "int": "l", "bool": "i"}

_BINARY: dict[tuple[str, type[ast.AST]], bytes] = {
    ("f", ast.Add): b"\xa0", ("f", ast.Sub): b"\xa1", ("f", ast.Mult): b"\xa2", ("f", ast.Div): b"\xa3",
    ("l", ast.Add): b"\x7c", ("l", ast.Sub): b"\x7d", ("l", ast.Mult): b"\x7e", ("l", ast.BitAnd): b"\x83",
    ("l", ast.BitOr): b"\x84", ("l", ast.BitXor): b"\x85", ("l", ast.LShift): b"\x86",
    ("l", ast.RShift): b"\x87",
    ("i", ast.And): b"\x71", ("i", ast.Or): b"\x72",
    ("f", ast.Eq): b"\x61", ("f", ast.NotEq): b"\x62", ("f", ast.Lt): b"\x63", ("f", ast.Gt): b"\x64",
    ("f", ast.LtE): b"\x65", ("f", ast.GtE): b"\x66",
    ("l", ast.Eq): b"\x51", ("l", ast.NotEq): b"\x52", ("l", ast.Lt): b"\x53", ("l", ast.Gt): b"\x55",
    ("l", ast.LtE): b"\x57", ("l", ast.GtE): b"\x59",
}  # fmt: skip

_UNARY: dict[tuple[str, type[ast.AST]], bytes] = {("f", ast.USub): b"\x9a", ("i", ast.Not): b"\x45"}

_CALLS: dict[Function, tuple[str, str, bytes]] = {
    abs: ("f", "f", b"\x99"),
    float: ("l", "f", b"\xb9"),
    floats.bits: ("f", "l", b"\xbd"),
    floats.from_bits: ("l", "f", b"\xbf"),
    floats.sqrt: ("f", "f", b"\x9f"),
    floats.copysign: ("ff", "f", b"\xa6"),
    floats.larger: ("ff", "f", b"\xa5"),
    floats.smaller: ("ff", "f", b"\xa4"),
    floats.wrap: ("l", "l", b""),
}
"""Functions that are an instruction, or none: operands, result, code."""

F64_MUL, I32_WRAP, I64_CONST = b"\xa2", b"\xa7", b"\x42"

Give = Callable[["Scope", ast.expr, bool], None]
"""What to do with the expression that a function returns, and whether nothing follows there."""


class Translation:
    """One function's code."""

    wasm: Mapping[str, str] = {"f": "f", "l": "l", "i": "i"}
    """The type of a variable in the module, in a letter."""

    def __init__(self, f: Function) -> None:
        self.code: list[Piece | Get | Set] = []
        self.calls: list[Function] = []
        self.types: list[str] = []
        """The type of each variable, parameters first."""
        self.name = f.__name__
        definition = definition_of(f)
        names = {a.arg: self.variable(letters_of(a.annotation)) for a in definition.args.args}
        self.params = "".join(self.types)
        self.results = letters_of(definition.returns)
        self.body(f, names, definition)

    def body(self, f: Function, names: dict[str, int], definition: ast.FunctionDef) -> None:
        Scope(self, f, names).run(definition.body, self._return)

    def variable(self, letter: str) -> int:
        """A new one."""
        self.types.append(letter)
        return len(self.types) - 1

    def _return(self, scope: Scope, value: ast.expr, last: bool) -> None:
        scope.expect(value, self.results)
        if not last:
            self.code.append(RETURN)

    def finish(self) -> tuple[str, list[Piece]]:
        """The types of the variables after the parameters, in runs; and the code."""
        count = len(self.params)
        types = [self.wasm[letter] for letter in self.types]
        order = [*range(count), *sorted(range(count, len(types)), key=types.__getitem__)]
        number = {variable: n for n, variable in enumerate(order)}
        pieces: list[Piece] = []
        run = b""
        previous: Piece | Get | Set = b""
        for item in self.code:
            if isinstance(item, Get) and previous == Set(item.variable):
                n = number[item.variable]
                run = run[: -len(local_set(n))] + local_tee(n)
            elif isinstance(item, (Get, Set)):
                run += (local_get if isinstance(item, Get) else local_set)(number[item.variable])
            elif isinstance(item, bytes):
                run += item
            else:
                pieces += [run, item] if run else [item]
                run = b""
            previous = item
        return "".join(types[n] for n in order[count:]), [*pieces, run]

    def lines(self) -> tuple[str, list[Piece]]:
        """The first line of an entry of ``CODE``, and the pieces."""
        variables, pieces = self.finish()
        params, results = ("".join(self.wasm[x] for x in of) for of in (self.params, self.results))
        return f'"{self.name}": ("{params}", "{results}", "{variables}", (', pieces


class Scope:
    """The names of a function: of the one that is translated, or of one that is put into it."""

    def __init__(self, to: Translation, f: Function, names: dict[str, int]) -> None:
        self.to = to
        self.write = to.code.append
        self.globals: dict[str, Any] = f.__globals__
        self.names = names

    # -- statements -----------------------------------------------------------------------------------

    def run(self, body: Sequence[ast.stmt], give: Give) -> None:
        """A function's body."""
        if not isinstance(body[-1], ast.Return):
            refuse(body[-1], "a function ends with what it returns")
        for statement in body:
            self.statement(statement, give, statement is body[-1])

    def statement(self, s: ast.stmt, give: Give, last: bool) -> None:
        match s:
            case ast.Return(value=ast.expr() as value):
                give(self, value, last)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=value):
                self._assign(targets, value)
            case ast.Assign(targets=[target], value=value):
                self._assign([target], value)
            case ast.If():
                self.branch(s, give)
            case ast.Expr(value=ast.Constant()):
                pass  # a docstring
            case _:
                refuse(s, "no such statement")

    def branch(self, s: ast.If, give: Give) -> None:
        self.expect(s.test, "i")
        self.write(IF)
        for inner in s.body:
            self.statement(inner, give, False)
        if s.orelse:
            self.write(ELSE)
        for inner in s.orelse:
            self.statement(inner, give, False)
        self.write(END)

    def _assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        letters = self.expression(value)
        for target, letter in reversed(list(zip(targets, letters, strict=True))):
            if not isinstance(target, ast.Name):
                refuse(target, "not a variable")
            is_new = target.id not in self.names
            if is_new:
                self.names[target.id] = self.to.variable(letter)
            variable = self.names[target.id]
            if self.to.types[variable] != letter:
                refuse(target, "of another type before")
            self.set(variable, is_new)

    def set(self, variable: int, is_new: bool) -> None:
        """Write code that gives a variable what is on the stack."""
        self.write(Set(variable))

    # -- expressions ----------------------------------------------------------------------------------

    def expect(self, e: ast.expr, letters: str) -> None:
        """Write code that pushes what has these types."""
        found = self.expression(e)
        if found != letters:
            refuse(e, f"{found}, and not {letters}")

    def expression(self, e: ast.expr) -> str:
        """Write code that pushes a value (or several, of a tuple or a call); their types."""
        if self._is_constant(e):
            return self._push(e)
        letter = "i"
        match e:
            case ast.Name(id=name) if name in self.names:
                self.write(Get(self.names[name]))
                letter = self.to.types[self.names[name]]
            case ast.Tuple(elts=parts):
                letter = "".join([self.expression(x) for x in parts])
            case ast.BinOp(left, op, right):
                letter = self.expression(left)
                self.expect(right, letter)
                self._operation(e, _BINARY, letter, op)
            case ast.Compare(left, [comparison], [right]):
                operands = self.expression(left)
                self.expect(right, operands)
                self._operation(e, _BINARY, operands, comparison)
            case ast.BoolOp(op, [first, *others]):
                self.expect(first, "i")
                for x in others:
                    self.expect(x, "i")
                    self._operation(e, _BINARY, "i", op)
            case ast.UnaryOp(op, operand):
                letter = self.expression(operand)
                self._operation(e, _UNARY, letter, op)
            case ast.IfExp(test, body, orelse):
                letter = self.expression(body)
                self.expect(orelse, letter)
                self.expect(test, "i")
                self.instruction(SELECT)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                letter = self._call(e, self.function(name), args)
            case _:
                refuse(e, "no such expression")
        return letter

    def _operation(
        self, e: ast.expr, table: Mapping[tuple[str, type[ast.AST]], bytes], letter: str, op: ast.AST
    ) -> None:
        if (letter, type(op)) not in table:
            refuse(e, f"no {type(op).__name__} of {letter}")
        self.instruction(table[letter, type(op)])

    def instruction(self, code: bytes) -> None:
        """Write an instruction on numbers."""
        self.write(code)

    def _is_constant(self, e: ast.expr) -> bool:
        """Whether an expression is made of constants alone."""
        for node in ast.walk(e):
            if isinstance(node, (ast.Call, ast.Tuple, ast.IfExp, ast.Compare, ast.BoolOp)):
                return False
            if isinstance(node, ast.Name) and (node.id in self.names or not node.id.isupper()):
                return False
        return True

    def _constant(self, e: ast.expr) -> Any:
        if not self._is_constant(e):
            refuse(e, "not a constant")
        return eval(compile(ast.Expression(e), "constant", "eval"), self.globals)

    def _push(self, e: ast.expr) -> str:
        value = self._constant(e)
        if not isinstance(value, (float, int)):
            refuse(e, "neither a float nor an int")
        self.number(value)
        return "f" if isinstance(value, float) else "l"

    def number(self, x: float | int) -> None:
        """Write code that pushes a constant."""
        self.write(x if isinstance(x, float) else I64_CONST + sint(x))

    # -- calls ----------------------------------------------------------------------------------------

    def function(self, name: str) -> Function | None:
        found: Function | None = self.globals.get(name, {"abs": abs, "float": float}.get(name))
        return found

    @staticmethod
    def is_called(f: Function) -> bool:
        """Whether a function is called, and not put in its place."""
        return (
            f not in _CALLS
            and f not in floats.INLINE
            and f not in (floats.entry, floats.horner, floats.estrin)
        )

    def _call(self, e: ast.expr, f: Function | None, args: list[ast.expr]) -> str:
        if f is None:
            refuse(e, "not known")
        if f in _CALLS:
            operands, result, code = _CALLS[f]
            for x, letter in zip(args, operands, strict=True):
                self.expect(x, letter)
            if code:
                self.instruction(code)
            return result
        if f is floats.entry:
            table: tuple[float, ...] = self._constant(args[0])
            self.expect(args[1], "l")
            self.look_up(table)
            return "f" if isinstance(table[0], float) else "l"
        if f in (floats.horner, floats.estrin):
            self.expect(args[0], "f")
            (self._horner if f is floats.horner else self._estrin)(self._constant(args[1]))
            return "f"
        if f in floats.INLINE:
            return self._put_in(f, args)
        return self.call(f, args)

    def look_up(self, table: tuple[float, ...]) -> None:
        """Write code that pushes the element of a table whose index is on the stack."""
        self.to.code += [I32_WRAP + i32_const(3) + I32_SHL, table]

    def call(self, f: Function, args: list[ast.expr]) -> str:
        definition = definition_of(f)
        for x, a in zip(args, definition.args.args, strict=True):
            self.expect(x, letters_of(a.annotation))
        self.to.calls.append(f)
        self.write(f.__name__)
        return letters_of(definition.returns)

    def _put_in(self, f: Function, args: list[ast.expr]) -> str:
        """The code of another function, in place of a call."""
        definition = definition_of(f)
        results = letters_of(definition.returns)
        names: dict[str, int] = {}
        for x, a in zip(args, definition.args.args, strict=True):
            letter = letters_of(a.annotation)
            self.expect(x, letter)
            names[a.arg] = self.to.variable(letter)
            self.write(Set(names[a.arg]))

        def give(scope: Scope, value: ast.expr, last: bool) -> None:
            if not last:
                refuse(value, "a function that is put in returns only where it ends")
            scope.expect(value, results)

        self.inside(f, names).run(definition.body, give)
        return results

    def inside(self, f: Function, names: dict[str, int]) -> Scope:
        """The scope of a function that is put in here."""
        return Scope(self.to, f, names)

    def _keep(self) -> int:
        """A new variable for the number on top of the stack."""
        variable = self.to.variable("f")
        self.write(Set(variable))
        return variable

    def _horner(self, coefficients: Sequence[float]) -> None:
        x = self._keep()
        self.number(coefficients[-1])
        for c in coefficients[-2::-1]:
            self.write(Get(x))
            self.instruction(F64_MUL)
            self.number(c)
            self.instruction(F64_ADD)

    def _estrin(self, coefficients: Sequence[float]) -> None:
        powers = [self._keep()]
        while 1 << len(powers) < len(coefficients):
            self.to.code += [Get(powers[-1]), Get(powers[-1])]
            self.instruction(F64_MUL)
            powers.append(self._keep())
        self._halves(coefficients, powers)

    def _halves(self, coefficients: Sequence[float], powers: list[int]) -> None:
        """A polynomial as two, the second times a power of 2^k; ``powers[k]`` holds that."""
        if len(coefficients) == 1:
            self.number(coefficients[0])
            return
        level = (len(coefficients) - 1).bit_length() - 1
        self._halves(coefficients[: 1 << level], powers)
        self._halves(coefficients[1 << level :], powers)
        self.write(Get(powers[level]))
        self.instruction(F64_MUL)
        self.instruction(F64_ADD)


def definition_of(f: Function) -> ast.FunctionDef:
    definition = ast.parse(inspect.getsource(f)).body[0]
    assert isinstance(definition, ast.FunctionDef)
    return definition


def letters_of(annotation: ast.expr | None) -> str:
    """The types of a parameter or of results."""
    match annotation:
        case ast.Name(id=name) if name in _TYPES:
            return _TYPES[name]
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=parts)):
            return "".join(map(letters_of, parts))
    raise TypeError(f"no such type: {ast.dump(annotation) if annotation else annotation}")


def refuse(node: ast.expr | ast.stmt, why: str) -> NoReturn:
    raise TypeError(f"line {node.lineno}: {why}: {ast.unparse(node)}")
