"""The robot in JAX, vectorised by hand.

Springs read the masses at their ends and add to them by indices, which takes two thirds of the time of
products with the matrix of who hangs on whom. Of a time step nothing is kept but where it began. What else
was tried is no faster: products of all time steps at once for the weights' gradients, and to unroll.
"""

from __future__ import annotations

import os
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy
from jax import lax

from e2e.bench.simulations.contender import Contender

jax.config.update("jax_enable_x64", True)

DT = 0.004
GRAVITY = numpy.array([[0.0], [-4.8]])
GROUND = 0.1
KEPT = numpy.exp(-15 * DT)
GOAL = numpy.array([0.9, 0.2])
WAVES = 10


def layer(values: Any, x: Any) -> Any:
    return jnp.tanh(values["weights"] @ x + values["bias"])


def move(x: Any, u: Any) -> tuple[Any, Any]:
    """Where masses with velocities u get: the ground holds what it catches."""
    is_caught = (x[1] + DT * u[1] < GROUND) & (u[1] < -1e-4)
    # where a mass is not caught, the quotient must have a derivative all the same
    when = jnp.where(is_caught, (GROUND - x[1]) / jnp.where(is_caught, u[1], -1.0), DT)
    return x + when * u, jnp.where(is_caught, 0.0, u)


def prepare(problem: dict[str, Any]) -> Contender:
    springs = problem["muscles"] + problem["struts"]
    a, b = (numpy.array([spring[end] for spring in springs]) for end in "ab")
    length, stiffness, stretch = (
        numpy.array([spring[name] for spring in springs]) for name in ("length", "stiffness", "stretch")
    )
    muscles = len(problem["muscles"])
    masses = numpy.array(problem["masses"]).T
    updates = problem["updates"]
    phases = 2 * numpy.pi * numpy.arange(WAVES) / WAVES
    waves = jnp.array(numpy.sin(10 * DT * numpy.arange(updates)[:, None] + phases))

    def pull(x: Any, signals: Any) -> Any:
        """What the springs do to the velocities."""
        d = x[:, a] - x[:, b]
        now = jnp.sqrt((d * d).sum(0)) + 1e-4
        rest = length * (1 + stretch * jnp.concatenate([signals, jnp.zeros(len(springs) - muscles)]))
        by = DT * stiffness * (now - rest) / now * d
        return jnp.zeros_like(x).at[:, a].add(-by).at[:, b].add(by)

    def loss(network: Any) -> Any:
        @jax.checkpoint
        def update(state: Any, wave: Any) -> tuple[Any, None]:
            x, v = state
            centre = x.mean(1)
            body = jnp.concatenate([0.05 * (x - centre[:, None]), 0.05 * v]).T.ravel()
            senses = jnp.concatenate([wave, body, GOAL - centre])
            signals = layer(network["output"], layer(network["hidden"], senses))
            return move(x, KEPT * v + DT * GRAVITY + pull(x, signals)), None

        start = jnp.array(masses), jnp.zeros(masses.shape)
        (x, _), _ = lax.scan(update, start, waves)
        return -x[0, 0]

    weights = {
        name: {part: jnp.array(numbers, float) for part, numbers in values.items()}
        for name, values in problem["weights"].items()
    }
    both = jax.jit(jax.value_and_grad(loss))

    def found() -> dict[str, Any]:
        value, grad = both(weights)
        return {"loss": value.item(), "grad": jax.tree.map(lambda a: a.tolist(), grad)}

    return Contender(lambda: jax.block_until_ready(both(weights)), found)
