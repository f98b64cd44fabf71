"""Recordings: the flat form in which the JavaScript bridge hands over programs.

The bridge writes what a body does as rows of three ints, checks kinds, shapes and scopes while it
does, and sends all functions of a program at once. A row's number is the id of its value; a negative
operand ``~k`` is literal ``k``. Table ops are ``(opcode, x, y)``, with ``y`` unused by unary ones; the
structural opcodes (`rose_core.ir`, and ``END``) and ``select`` have operands in a second list, ``extra``,
from index ``x`` on, ``y`` of them:

===========  ==============================================================
``PARAM``    x: number among the leaves of the parameters and what is captured after them
``INDEX``    x: array, y: index
``VEC``      extra: type, elements…
``FOR``      x: index type; the value is the index; the rows up to ``END`` are the body
``END``      extra: results…; closes the innermost ``FOR`` and stands for it
``GET``      x: loop, call, ``VJP`` or ``PULL``, y: number of the result
``CALL``     extra: function, arguments…
``ACCUM``    x: initial value;  ``ADD_TO`` x: accumulator, y: value;  ``RESOLVE`` x: accumulator
``VJP``      extra: function, arguments…
``PULL``     extra: ``VJP``, cotangents…
===========  ==============================================================

A program is a header (JSON: types, and per function its name, signature, results, derivative, the
types and functions that its rows refer to by number, and the sizes of its lists), the ints of all
functions in a row (rows, extra, types of literals), and their literals' values in a row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from rose_core.builder import Builder
from rose_core.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    FOR,
    GET,
    INDEX,
    PARAM,
    PULL,
    RESOLVE,
    STRUCTURAL_NAMES,
    VEC,
    VJP,
    Func,
    is_real,
)
from rose_core.ops import BINARY_END, OPS, UNARY_END
from rose_core.types import BOOL, REAL, TAN, UNIT, Struct, Type, array, fin, leaves, scalar_of

TABLE_END = len(OPS)
END = TABLE_END + len(STRUCTURAL_NAMES)

_PLAIN = [set(op.ins) == {"R"} and op.out == "R" for op in OPS]
"""Ops from reals to a real."""
_COMMUTES = [op.commutes for op in OPS]

_SIMPLE_TYPES = {"unit": UNIT, "bool": BOOL, "real": REAL, "tan": TAN}


def types_of(rows: Sequence[Any]) -> list[Type]:
    """The type table of a header: names, sizes, ``["vec", size, elem]``, ``["struct", names, types]``."""
    types: list[Type] = []
    for row in rows:
        if isinstance(row, str):
            types.append(_SIMPLE_TYPES[row])
        elif isinstance(row, int):
            types.append(fin(row))
        elif row[0] == "vec":
            types.append(array(fin(row[1]), types[row[2]]))
        else:
            types.append(Struct({name: types[t] for name, t in zip(row[1], row[2], strict=True)}))
    return types


class Recording:
    """A program as it arrived; `functions` are built in order, callees first."""

    def __init__(
        self,
        header: str,
        ints: Sequence[int],
        reals: Sequence[float],
        host: Callable[[Func], Callable[..., list[Any]]] | None = None,
    ) -> None:
        """``host`` gives what an opaque function runs, asked in their order, if they are to be run here."""
        program = json.loads(header)
        self.types = types_of(program["types"])
        self.functions: list[Func] = []
        self._host = host
        at = literals_at = 0
        for entry in program["functions"]:
            f = self._signature(entry)
            self.functions.append(f)
            if entry["kind"] == "fn":
                rows, extra, literals = entry["sizes"]
                values = reals[literals_at : literals_at + literals]
                end = at + 3 * rows
                kinds = ints[end + extra : end + extra + literals]
                own_types = [self.types[t] for t in entry["types"]]
                callees = [self.functions[k] for k in entry["callees"]]
                literals_ = [(value, own_types[kind]) for value, kind in zip(values, kinds, strict=True)]
                body = _Body(f, own_types, callees, literals_, ints[end : end + extra])
                body.take([self.types[t] for t in entry["captures"]])
                body.build(ints[at:end])
                f.blocks[0].results = [body.env[r] for r in entry["results"]]
                at = end + extra + literals
                literals_at += literals
        for f, entry in zip(self.functions, program["functions"], strict=True):
            if entry["jvp"] >= 0:
                f.jvp = self.functions[entry["jvp"]]
        self.root = self.functions[program["root"]]

    def _signature(self, entry: dict[str, Any]) -> Func:
        params = [self.types[t] for t in entry["params"]]
        f = Func(entry["name"], params, self.types[entry["ret"]])
        if entry["kind"] == "fn":
            return f
        f.params = [leaf for t in params for leaf in leaves(t)]
        if entry["kind"] == "opaque":
            f.host = self._host(f) if self._host else _elsewhere
            f.effects = True
        else:
            f.derive_jvp(self.functions[entry["of"]])
        return f


def _constant(value: float, t: Type) -> float:
    """A literal as its type has it; one of an array type fills the array."""
    return value if is_real(t) else value != 0 if t is BOOL else int(value)


def _elsewhere(*_: object) -> list[Any]:
    raise RuntimeError("this function runs on the page only")


class _Body:
    """Builds the body of one function from its rows."""

    def __init__(
        self,
        func: Func,
        types: Sequence[Type],
        callees: Sequence[Func],
        literals: Sequence[tuple[float, Type]],
        extra: Sequence[int],
    ) -> None:
        self.func = func
        self.types = types
        self.callees = callees
        self.b = Builder(func)
        self.extra = extra
        self.params: list[int] = []
        """The ids of the parameters, and of what is captured from enclosing functions."""
        self.has_tangents = False
        constants = []
        for value, t in literals:
            self.has_tangents |= t is TAN
            constants.append(self.b.const(_constant(value, t), t))
        self.env: list[int] = constants[::-1]

    def take(self, captures: Sequence[Type]) -> None:
        """Add the parameters, all before anything else."""
        types = [leaf for t in self.func.param_types for leaf in leaves(t)]
        self.params = [self.b.param(t) for t in (*types, *captures)]
        self.has_tangents |= any(scalar_of(t) is TAN for t in (*types, *captures))

    def build(self, rows: Sequence[int]) -> None:
        constants = len(self.env)
        count = len(rows) // 3
        self.env = env = [0] * count + self.env
        b = self.b
        code, known, append, pad = b.code, b.table.setdefault, b.code.append, b.pad
        straight = not self.has_tangents
        position = -1
        for op, x, y in zip(rows[0::3], rows[1::3], rows[2::3], strict=True):
            position += 1
            if op < BINARY_END and straight and _PLAIN[op]:
                u = env[x]
                if op >= UNARY_END:
                    w = env[y]
                    if u >= 0 and w >= 0:
                        n = len(code)
                        key = (op, w, u) if w < u and _COMMUTES[op] else (op, u, w)
                        v = env[position] = known(key, n)
                        if v == n:
                            append(key)
                        continue
                    pad()
                    env[position] = b.binary(op, u, w)
                    continue
                pad()
                env[position] = b.unary(op, u)
                continue
            pad()
            if op < TABLE_END:
                env[position] = self._table_op(op, x, y)
            else:
                env[position] = self._structural(op, x, y)
                if op == FOR:
                    straight = False
        pad()
        assert len(env) == count + constants

    def _table_op(self, op: int, x: int, y: int) -> int:
        env, b = self.env, self.b
        if op < UNARY_END:
            args = [env[x]]
        elif op < BINARY_END:
            args = [env[x], env[y]]
        else:
            args = [env[k] for k in self.extra[x : x + y]]
            return b.op(op, *args)
        row = OPS[op]
        type_of = self.func.type_of
        if row.out == "R":
            t: Type = TAN if any(type_of(a) is TAN for a in args) else REAL
        else:
            t = (
                BOOL
                if row.out == "B"
                else fin(int(b.pool[~args[1]][0]))
                if row.name == "imod"
                else type_of(args[0])
            )
        return b.op(op, *args, type=t)

    def _structural(self, op: int, x: int, y: int) -> int:
        env, b = self.env, self.b
        operands = self.extra[x : x + y]
        if op == PARAM:
            return self.params[x]
        if op == INDEX:
            return b.index(env[x], env[y])
        if op == VEC:
            return b.vec([env[k] for k in operands[1:]], self.types[operands[0]])
        if op == FOR:
            return b.open_for(self.types[x])
        if op == END:
            return b.close_for([env[k] for k in operands])
        if op == GET:
            return b.get(env[x], y)
        if op == CALL:
            return b.call(self.callees[operands[0]], [env[k] for k in operands[1:]])
        if op == ACCUM:
            return b.accum(env[x])
        if op == ADD_TO:
            return b.add_to(env[x], env[y])
        if op == RESOLVE:
            return b.resolve(env[x])
        if op == VJP:
            return b.vjp(self.callees[operands[0]], [env[k] for k in operands[1:]])
        if op == PULL:
            return b.pull(env[operands[0]], [env[k] for k in operands[1:]])
        raise ValueError(f"not an opcode of a recording: {op}")
