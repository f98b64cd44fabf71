"""The game of billiards in JAX, vectorised by hand.

All pairs of balls are computed at once, but only where any two touch: `cond` is a branch inside of `scan`. Of
a time step nothing is kept but where it began, and whether something touched. A scan that carries one
array takes two thirds of the time of one that carries two; without `checkpoint`, or with all pairs in each
step, it takes several times as long, and unrolled it takes no less.
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

DT = 0.003
RADIUS = 0.03
ELASTICITY = 0.8


def differences(x: Any) -> Any:
    """Of each two columns."""
    return x[:, :, None] - x[:, None, :]


def between(state: Any) -> tuple[Any, Any]:
    """How balls are about to lie from others, and how they move from there."""
    x, v = state[:2], state[2:]
    return differences(x + DT * v), differences(v)


def touches(state: Any) -> Any:
    """Whether any two balls are about to touch, and come closer."""
    d, w = between(state)
    is_near = (d * d).sum(0) < (2 * RADIUS) ** 2
    return jnp.any(is_near & ((d * w).sum(0) < 0))


def collide(state: Any) -> Any:
    """A time step in which balls touch."""
    x, v = state[:2], state[2:]
    d, w = between(state)
    # of a ball and itself, the root would have no derivative
    distance = jnp.sqrt(jnp.where(numpy.eye(x.shape[1], dtype=bool), 1.0, (d * d).sum(0)))
    over = 1 / (distance + 1e-6)
    speed = (d * w).sum(0) * over
    is_hit = (distance < 2 * RADIUS) & (speed < 0)
    push = jnp.where(is_hit, -(1 + ELASTICITY) / 2 * speed * over, 0.0) * d
    when = (distance - 2 * RADIUS) / jnp.minimum(-1e-3, speed)
    late = jnp.where(is_hit, jnp.minimum(when - DT, 0), 0.0) * push
    after = v + push.sum(2)
    return jnp.concatenate([x + DT * after + late.sum(2), after])


def roll(state: Any) -> Any:
    """A time step in which no balls touch."""
    x, v = state[:2], state[2:]
    return jnp.concatenate([x + DT * v, v])


def update(state: Any, _: None) -> tuple[Any, None]:
    is_touching = touches(lax.stop_gradient(state))
    return lax.cond(is_touching, jax.checkpoint(collide), roll, state), None


def prepare(problem: dict[str, Any]) -> Contender:
    rack = jnp.array(problem["rack"])
    goal = jnp.array(problem["goal"])
    shot = {name: jnp.array(pair) for name, pair in problem["shot"].items()}

    def loss(shot: Any) -> Any:
        x = jnp.concatenate([shot["x"][None], rack])
        v = jnp.concatenate([shot["v"][None], jnp.zeros_like(rack)])
        start = jnp.concatenate([x.T, v.T])
        end, _ = lax.scan(update, start, length=problem["updates"])
        miss = end[:2, problem["target"]] - goal
        return miss @ miss

    both = jax.jit(jax.value_and_grad(loss))

    def found() -> dict[str, Any]:
        value, grad = both(shot)
        return {"loss": value.item(), "grad": jax.tree.map(lambda a: a.tolist(), grad)}

    return Contender(lambda: jax.block_until_ready(both(shot)), found)
