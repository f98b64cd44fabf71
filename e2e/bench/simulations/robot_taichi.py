"""The robot in Taichi, on one core.

In two forms: with a kernel for each time step, as the programs of DiffTaichi are written, and with all time
steps in one kernel. Loops are serial: Taichi's threads, even one of them, would have to be woken for each.
Sums are made term by term: loops of known length, written out, take longer.
"""

# Kernels have no annotations as strings, and of results that are none no annotations: Taichi reads them.

import math
from typing import Any

import numpy
import taichi as ti

from e2e.bench.simulations.contender import Contender

DT = 0.004
GRAVITY = -4.8
GROUND = 0.1
KEPT = math.exp(-15 * DT)
GOAL = (0.9, 0.2)
WAVES = 10


def prepare(problem: dict[str, Any], is_one: bool) -> Contender:
    ti.init(ti.cpu, cpu_max_num_threads=1, default_fp=ti.f64, offline_cache=False)
    contents: list[tuple[Any, Any]] = []

    def given(values: Any, kind: Any = float, needs_grad: bool = False) -> Any:
        array = numpy.array(values, kind)
        field = ti.field(ti.f64 if kind is float else ti.i32, array.shape, needs_grad=needs_grad)
        contents.append((field, array))
        return field

    springs = problem["muscles"] + problem["struts"]
    a, b = (given([spring[end] for spring in springs], numpy.int32) for end in "ab")
    length, stiffness, stretch = (
        given([spring[name] for spring in springs]) for name in ("length", "stiffness", "stretch")
    )
    masses = given(problem["masses"])
    layers = problem["weights"]
    weights = {
        name: {part: given(layers[name][part], needs_grad=True) for part in layers[name]} for name in layers
    }
    w1, b1 = weights["hidden"]["weights"], weights["hidden"]["bias"]
    w2, b2 = weights["output"]["weights"], weights["output"]["bias"]
    updates, n = problem["updates"], len(problem["masses"])
    muscles, inputs, hidden = len(problem["muscles"]), w1.shape[1], w1.shape[0]

    def each_step(*shape: int, more: int = 0) -> Any:
        return ti.field(ti.f64, (updates + more, *shape), needs_grad=True)

    x, v = each_step(n, 2, more=1), each_step(n, 2, more=1)
    centre, senses, dv = each_step(2), each_step(inputs), each_step(n, 2)
    sums1, between = each_step(hidden), each_step(hidden)
    sums2, signals = each_step(muscles), each_step(muscles)
    loss = ti.field(ti.f64, ())
    goal = ti.Vector(GOAL)
    states = [x, v, centre, senses, dv, sums1, between, sums2, signals]
    params = [w1, b1, w2, b2]
    # not before there are all: fields that come later would lie elsewhere, and take longer
    for field, array in contents:
        field.from_numpy(array)

    # what a time step does, in stages; each runs for all i and j
    @ti.func
    def find_centre(t: int, c: int, _: int) -> None:
        total = 0.0
        for i in ti.static(range(n)):
            total += x[t, i, c]
        centre[t, c] += total / n

    @ti.func
    def sense_clock(t: int, i: int, _: int) -> None:
        senses[t, i] += ti.sin(10 * DT * t + 2 * math.pi * i / WAVES)

    @ti.func
    def sense_mass(t: int, i: int, _: int) -> None:
        for c in ti.static(range(2)):
            senses[t, WAVES + 4 * i + c] += 0.05 * (x[t, i, c] - centre[t, c])
            senses[t, WAVES + 4 * i + 2 + c] += 0.05 * v[t, i, c]

    @ti.func
    def sense_goal(t: int, c: int, _: int) -> None:
        senses[t, inputs - 2 + c] += goal[c] - centre[t, c]

    @ti.func
    def sum1(t: int, i: int, j: int) -> None:
        sums1[t, i] += w1[i, j] * senses[t, j]

    @ti.func
    def tanh1(t: int, i: int, _: int) -> None:
        between[t, i] += ti.tanh(sums1[t, i] + b1[i])

    @ti.func
    def sum2(t: int, i: int, j: int) -> None:
        sums2[t, i] += w2[i, j] * between[t, j]

    @ti.func
    def tanh2(t: int, i: int, _: int) -> None:
        signals[t, i] += ti.tanh(sums2[t, i] + b2[i])

    @ti.func
    def pull(t: int, k: int, rest: float) -> None:
        i, j = a[k], b[k]
        dx, dy = x[t, i, 0] - x[t, j, 0], x[t, i, 1] - x[t, j, 1]
        now = ti.sqrt(dx * dx + dy * dy) + 1e-4
        by = DT * stiffness[k] * (now - rest) / now
        dv[t, i, 0] -= by * dx
        dv[t, i, 1] -= by * dy
        dv[t, j, 0] += by * dx
        dv[t, j, 1] += by * dy

    @ti.func
    def muscle(t: int, k: int, _: int) -> None:
        pull(t, k, length[k] * (1 + stretch[k] * signals[t, k]))

    @ti.func
    def strut(t: int, k: int, _: int) -> None:
        pull(t, muscles + k, length[muscles + k])

    @ti.func
    def move(t: int, i: int, _: int) -> None:
        ux = KEPT * v[t, i, 0] + dv[t, i, 0]
        uy = KEPT * v[t, i, 1] + DT * GRAVITY + dv[t, i, 1]
        if x[t, i, 1] + DT * uy < GROUND and uy < -1e-4:
            when = (GROUND - x[t, i, 1]) / uy
            x[t + 1, i, 0] += x[t, i, 0] + when * ux
            x[t + 1, i, 1] += x[t, i, 1] + when * uy
        else:
            x[t + 1, i, 0] += x[t, i, 0] + DT * ux
            x[t + 1, i, 1] += x[t, i, 1] + DT * uy
            v[t + 1, i, 0] += ux
            v[t + 1, i, 1] += uy

    stages = [
        (find_centre, 2, 1),
        (sense_clock, WAVES, 1),
        (sense_mass, n, 1),
        (sense_goal, 2, 1),
        (sum1, hidden, inputs),
        (tanh1, hidden, 1),
        (sum2, muscles, hidden),
        (tanh2, muscles, 1),
        (muscle, muscles, 1),
        (strut, len(springs) - muscles, 1),
        (move, n, 1),
    ]

    @ti.kernel
    def update(t: int):
        for stage, rows, columns in ti.static(stages):
            ti.loop_config(serialize=True)
            for i in range(rows):
                for j in range(columns):
                    stage(t, i, j)

    def walk(order: list[Any]) -> Any:
        @ti.kernel
        def kernel():
            ti.loop_config(serialize=True)
            for _ in range(1):
                for t in range(updates):
                    for stage, rows, columns in ti.static(order):
                        for i in range(rows):
                            for j in range(columns):
                                stage(t, i, j)

        return kernel

    # the derivative of loops in a loop turns that around, but leaves them in their order
    forward, backward = walk(stages), walk(stages[::-1])

    @ti.kernel
    def begin():
        for state in ti.static(states):
            for place in ti.grouped(state):
                state[place] = state.grad[place] = 0.0
        for param in ti.static(params):
            for place in ti.grouped(param):
                param.grad[place] = 0.0
        for i, c in masses:
            x[0, i, c] = masses[i, c]

    @ti.kernel
    def end():
        for _ in range(1):
            loss[None] = -x[updates, 0, 0]
            x.grad[updates, 0, 0] = -1.0

    def gradient() -> None:
        begin()
        if is_one:
            forward()
            end()
            backward.grad()
        else:
            for t in range(updates):
                update(t)
            end()
            for t in reversed(range(updates)):
                update.grad(t)
        ti.sync()

    def found() -> dict[str, Any]:
        grad = {
            name: {part: values.grad.to_numpy().tolist() for part, values in layer.items()}
            for name, layer in weights.items()
        }
        return {"loss": loss[None], "grad": grad}

    return Contender(gradient, found)
