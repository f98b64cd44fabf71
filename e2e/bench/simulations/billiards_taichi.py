"""The game of billiards in Taichi, on one core.

In two forms: with a kernel for each time step, as the programs of DiffTaichi are written, and with all time
steps in one kernel, which spares thousands of calls. Either has the positions and velocities of all time
steps in fields, and goes on only with pairs of balls that touch. Loops are serial: Taichi's threads, even
one of them, would have to be woken for each.
"""

# Kernels have no annotations as strings, and of results that are none no annotations: Taichi reads them.

from typing import Any

import numpy
import taichi as ti

from e2e.bench.simulations.contender import Contender

DT = 0.003
RADIUS = 0.03
ELASTICITY = 0.8


def prepare(problem: dict[str, Any], is_one: bool) -> Contender:
    ti.init(ti.cpu, cpu_max_num_threads=1, default_fp=ti.f64, offline_cache=False)
    rack = numpy.array(problem["rack"])
    goal = ti.Vector(problem["goal"])
    target, updates = problem["target"], problem["updates"]
    n = len(rack) + 1
    shape = (updates + 1, n)
    x, v = (ti.Vector.field(2, ti.f64, shape, needs_grad=True) for _ in "xv")
    loss = ti.field(ti.f64, (), needs_grad=True)
    start = ti.Vector.field(2, ti.f64, (2, n))
    shot = problem["shot"]
    resting = numpy.zeros_like(rack)
    start.from_numpy(numpy.array([[shot["x"], *rack], [shot["v"], *resting]]))

    @ti.func
    def roll(t: int, i: int) -> None:
        v[t + 1, i] += v[t, i]
        x[t + 1, i] += x[t, i] + DT * v[t, i]

    @ti.func
    def meet(t: int, i: int, j: int) -> None:
        w = v[t, i] - v[t, j]
        d = x[t, i] - x[t, j] + DT * w
        distance = d.norm()
        if distance < 2 * RADIUS:
            normal = d / (distance + 1e-6)
            speed = normal.dot(w)
            if speed < 0:
                dv = -(1 + ELASTICITY) / 2 * speed * normal
                when = (distance - 2 * RADIUS) / ti.min(-1e-3, speed)
                dx = (DT + ti.min(when - DT, 0.0)) * dv
                v[t + 1, i] += dv
                x[t + 1, i] += dx
                v[t + 1, j] -= dv
                x[t + 1, j] -= dx

    # for its derivative Taichi takes the statements of a nest of loops as a whole
    @ti.func
    def act(t: int, i: int, j: int) -> None:
        if i == j:
            roll(t, i)
        else:
            meet(t, i, j)

    @ti.kernel
    def update(t: int):
        ti.loop_config(serialize=True)
        for i in range(n):
            for j in range(i + 1):
                act(t, i, j)

    @ti.kernel
    def play():
        ti.loop_config(serialize=True)
        for _ in range(1):
            for t in range(updates):
                for i in range(n):
                    for j in range(i + 1):
                        act(t, i, j)

    @ti.kernel
    def begin():
        ti.loop_config(serialize=True)
        for t in range(updates + 1):
            for i in range(n):
                for c in ti.static(range(2)):
                    x[t, i][c] = start[0, i][c] if t == 0 else 0.0
                    v[t, i][c] = start[1, i][c] if t == 0 else 0.0
                    x.grad[t, i][c] = v.grad[t, i][c] = 0.0
        loss[None] = 0.0
        loss.grad[None] = 1.0

    @ti.kernel
    def end():
        for _ in range(1):
            miss = x[updates, target] - goal
            loss[None] += miss.dot(miss)

    def gradient() -> None:
        begin()
        if is_one:
            play()
            end()
            end.grad()
            play.grad()
        else:
            for t in range(updates):
                update(t)
            end()
            end.grad()
            for t in reversed(range(updates)):
                update.grad(t)
        ti.sync()

    def found() -> dict[str, Any]:
        grad = {"x": x.grad[0, 0].to_list(), "v": v.grad[0, 0].to_list()}
        return {"loss": loss[None], "grad": grad}

    return Contender(gradient, found)
