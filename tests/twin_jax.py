"""The library of `twin_programs` by JAX. Run as a program: the results of the seeds that stdin has."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax import lax
from twin_programs import Body, Kind, State, TwinProgram

jax.config.update("jax_enable_x64", True)

NAMES = {"atan": "arctan", "atan2": "arctan2", "max": "maximum", "min": "minimum", "pow": "power"}


def real(x: Any) -> Any:
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float64), x)


class Jax:
    """See `twin_programs.Library`."""

    def unary(self, name: str, x: Any) -> Any:
        return getattr(jnp, NAMES.get(name, name))(x)

    def binary(self, name: str, x: Any, y: Any) -> Any:
        return getattr(jnp, NAMES.get(name, name))(x, y)

    def less(self, x: Any, y: Any) -> Any:
        return jnp.less(x, y)

    def select(self, p: Any, kind: Kind, x: Any, y: Any) -> Any:
        return jnp.where(p, x, y)

    def cond(self, p: Any, kind: Kind, yes: Body, no: Body) -> Any:
        return lax.cond(p, lambda: real(yes()), lambda: real(no()))

    def vector(self, xs: Sequence[Any]) -> Any:
        return jnp.stack([real(x) for x in xs])

    def vec(self, n: int, body: Body) -> Any:
        return jax.vmap(lambda i: real(body(i)))(jnp.arange(n))

    def sum(self, n: int, body: Body) -> Any:
        return self.vec(n, body).sum()

    def get(self, v: Any, n: int, i: Any) -> Any:
        return v[i % n]

    def set(self, v: Any, n: int, i: Any, x: Any) -> Any:
        return v.at[i % n].set(x)

    def real(self, i: Any) -> Any:
        return real(i)

    def fori(self, n: int, state: State, start: Any, body: Body, checkpoint: int) -> Any:
        return lax.fori_loop(0, n, lambda i, s: real(body(i, s)), real(start))

    def up_to(self, most: int, count: Any, state: State, start: Any, body: Body) -> Any:
        """As many iterations as there can be, since JAX has no reverse mode for fewer."""

        def iteration(s: Any, i: Any) -> Any:
            return lax.cond(i < count, lambda: real(body(i, s)), lambda: s), None

        return lax.scan(iteration, real(start), jnp.arange(most))[0]

    def while_loop(self, most: int, state: State, start: Any, test: Body, body: Body) -> Any:
        def iteration(s: Any, _: Any) -> Any:
            return lax.cond(test(s), lambda: real(body(s)), lambda: s), None

        return lax.scan(iteration, real(start), length=most)[0]

    def scan(self, n: int, state: State, start: Any, body: Body) -> Any:
        return lax.scan(lambda s, i: real(body(s, i)), real(start), jnp.arange(n))[1]

    def call(self, kinds: Sequence[Kind], kind: Kind, body: Body, args: Sequence[Any], again: bool) -> Any:
        f = jax.checkpoint(lambda *xs: real(body(*xs))) if again else body
        return f(*map(real, args))

    def grad(self, kind: Kind, body: Body, x: Any) -> Any:
        return jax.grad(lambda x: real(body(x)))(real(x))

    def tangent(self, kind: Kind, result: Kind, body: Body, x: Any, dx: Any) -> Any:
        return jax.jvp(lambda x: real(body(x)), (real(x),), (real(dx),))[1]


def results(program: TwinProgram, x: Any, y: Any, c: Any) -> dict[str, Any]:
    """What is compared: see `twin_rose.results`."""

    def f(x: Any) -> Any:
        return real(program.run(Jax(), x))

    def pulled(x: Any, c: Any) -> Any:
        return jax.vjp(f, x)[1](c)[0]

    def every(x: Any, y: Any, c: Any) -> dict[str, Any]:
        value, change = jax.jvp(f, (x,), (y,))
        reverse = jax.jacrev(f)(x)
        found = {
            "value": value,
            "jvp": change,
            "vjp": pulled(x, c),
            "forward": reverse,
            "reverse": reverse,
            "vmap": jax.vmap(pulled, (0, None))(jnp.stack([x, y]), c),
        }
        if not program.result:
            hessian = jax.jacfwd(jax.grad(f))(x)
            found |= {"hessian": hessian, "reverse over reverse": hessian, "hvp": hessian @ y}
        return found

    return jax.jit(every)(*map(jnp.asarray, (x, y, c)))


def main() -> None:
    for seed, result, *arguments in json.load(sys.stdin):
        found = results(TwinProgram(seed, result), *arguments)
        print(json.dumps({name: value.tolist() for name, value in found.items()}), flush=True)


if __name__ == "__main__":
    main()
