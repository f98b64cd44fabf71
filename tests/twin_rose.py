"""The library of `twin_programs` by this one, and what is computed of a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from twin_programs import Body, Kind, State, TwinProgram

import rose_core as rose
from rose_core import Real, Vec


def type_of(kind: Kind) -> Any:
    return Vec(kind, Real) if kind else Real


def state_of(state: State) -> Any:
    return {"a": Real, "v": type_of(state.kind)} if state.struct else type_of(state.kind)


class Rose:
    """See `twin_programs.Library`."""

    def unary(self, name: str, x: Any) -> Any:
        return getattr(rose, name)(x)

    def binary(self, name: str, x: Any, y: Any) -> Any:
        return getattr(rose, name)(x, y)

    def less(self, x: Any, y: Any) -> Any:
        return x < y if hasattr(x, "type") or hasattr(y, "type") else bool(x < y)

    def select(self, p: Any, kind: Kind, x: Any, y: Any) -> Any:
        return rose.select(p, type_of(kind), x, y)

    def cond(self, p: Any, kind: Kind, yes: Body, no: Body) -> Any:
        return rose.cond(p, type_of(kind), yes, no)

    def vector(self, xs: Sequence[Any]) -> Any:
        t = type_of(len(xs))
        return rose.fn([t], t, lambda v: v)(xs)

    def vec(self, n: int, body: Body) -> Any:
        return rose.vec(n, Real, body)

    def sum(self, n: int, body: Body) -> Any:
        return rose.sum(n, body)

    def get(self, v: Any, n: int, i: Any) -> Any:
        return v[i if isinstance(i, int) else rose.imod(n, i)]

    def set(self, v: Any, n: int, i: Any, x: Any) -> Any:
        return v.at[i if isinstance(i, int) else rose.imod(n, i)].set(x)

    def real(self, i: Any) -> Any:
        return rose.real(i)

    def fori(self, n: int, state: State, start: Any, body: Body, checkpoint: int) -> Any:
        return rose.fori(n, state_of(state), start, body, checkpoint=checkpoint or "none")

    def up_to(self, most: int, count: Any, state: State, start: Any, body: Body) -> Any:
        return rose.fori(count, state_of(state), start, body)

    def while_loop(self, most: int, state: State, start: Any, test: Body, body: Body) -> Any:
        return rose.while_loop(state_of(state), start, test, body, limit=most)

    def scan(self, n: int, state: State, start: Any, body: Body) -> Any:
        return rose.scan(n, state_of(state), start, body)[1]

    def call(self, kinds: Sequence[Kind], kind: Kind, body: Body, args: Sequence[Any], again: bool) -> Any:
        f = rose.fn([type_of(k) for k in kinds], type_of(kind), body)
        return (rose.checkpoint(f) if again else f)(*args)

    def grad(self, kind: Kind, body: Body, x: Any) -> Any:
        return rose.grad(rose.fn([type_of(kind)], Real, body))(x)

    def tangent(self, kind: Kind, result: Kind, body: Body, x: Any, dx: Any) -> Any:
        return rose.linearize(rose.fn([type_of(kind)], type_of(result), body))(x).push(dx)


def results(program: TwinProgram) -> dict[str, Callable[..., Any]]:
    """What is compared, as compiled functions of the program's argument, of another, and of a cotangent."""
    t, ret = type_of(program.length), type_of(program.result)
    f = rose.fn([t], ret, lambda x: program.run(Rose(), x))
    params = [t, t, ret]

    def of(t: Any, body: Callable[..., Any]) -> Any:
        return rose.compile(rose.fn(params, t, body))

    rows = Vec(program.length, Real)
    matrix = Vec(program.result, rows) if program.result else rows
    found = {
        "value": of(ret, lambda x, y, c: f(x)),
        "jvp": of(ret, lambda x, y, c: rose.linearize(f)(x).push(y)),
        "vjp": of(t, lambda x, y, c: rose.vjp(f)(x).grad(c)),
        "forward": of(matrix, lambda x, y, c: rose.jacobian(f, mode="forward")(x)),
        "reverse": of(matrix, lambda x, y, c: rose.jacobian(f, mode="reverse")(x)),
        "vmap": of(Vec(2, t), lambda x, y, c: rose.vmap(pulled(f, t, ret), [0, None])([x, y], c)),
    }
    if not program.result:
        hessian = Vec(program.length, t)
        found["hessian"] = of(hessian, lambda x, y, c: rose.hessian(f)(x))
        found["reverse over reverse"] = of(
            hessian, lambda x, y, c: rose.jacobian(rose.grad(f), mode="reverse")(x)
        )
        found["hvp"] = of(t, lambda x, y, c: rose.hvp(f)(x, y))
    return found


def pulled(f: Any, t: Any, ret: Any) -> Any:
    """The pullback of ``f`` as a function of its argument and a cotangent."""
    return rose.fn([t, ret], t, lambda x, c: rose.vjp(f)(x).grad(c))
