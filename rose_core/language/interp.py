"""The interpreter: what a program means, said in Python.

It executes instructions as they stand, one at a time, if a result or an effect needs them, with
`language.reals` for arithmetic: what a compiled program computes is compared with this, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from rose_core import errors
from rose_core.language.demand import Demand
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    CALL,
    COND,
    FOR,
    GET,
    IDX,
    INDEX,
    LOOP,
    MEMBER,
    PARAM,
    REF_INDEX,
    REF_MEMBER,
    RESOLVE,
    SET,
    TUPLE,
    VEC,
    ZEROS,
    CondSite,
    Func,
    LoopSite,
    zero_of,
)
from rose_core.language.ops import OPS, TABLE_END
from rose_core.language.queries import remembered
from rose_core.language.tables import nested, table_of
from rose_core.language.types import Array, Type, is_tape


class Cell:
    """An accumulator: a place in a container whose value can be added to."""

    __slots__ = ("at", "container")

    def __init__(self, container: list[Any], at: int) -> None:
        self.container = container
        self.at = at

    def add(self, x: object) -> None:
        add_at(self.container, self.at, x)


def add_at(container: list[Any], at: int, x: Any) -> None:
    """Add ``x`` in place, as there may be cells for parts; what has no sum (a Bool, an index) stays."""
    old = container[at]
    if isinstance(old, list):
        for k, y in enumerate(x):
            add_at(old, k, y)
    elif isinstance(old, float):
        container[at] = old + x


def filled(value: object, t: Type) -> object:
    """The constant of type ``t``: an array is filled with ``value``, or has its numbers, if it is a table."""
    if isinstance(value, bytes):
        return nested(value, t)
    if is_tape(t):
        return []
    return [filled(value, t.elem) for _ in range(t.size)] if isinstance(t, Array) else value


def copied(x: object) -> object:
    return [copied(y) for y in x] if isinstance(x, list) else x


def call(f: Func, args: list[Any]) -> list[Any]:
    """The results (leaves) of ``f`` on ``args`` (leaves): floats, bools, ints and lists of them."""
    if f.host is not None:
        return f.host(*args)
    n = len(f.code)
    env: list[Any] = [None] * n + [filled(value, t) for value, t in reversed(f.pool)]
    # of what text has, and is not flattened, all is needed
    run_block(f, 0, [1] * n if f.structured else _needed(f), env, args)
    return [env[v] for v in f.results]


@remembered
def _needed(f: Func) -> Sequence[int]:
    """For each instruction whether it is needed: what nobody needs may fail."""
    demand = Demand(f)
    for v in chain.from_iterable(demand.anchors):
        demand.uses[v] += 1
    return demand.uses


def run_block(f: Func, number: int, needed: Sequence[int], env: list[Any], args: list[Any]) -> None:
    code = f.code
    for v in f.blocks[number].order:
        if not needed[v]:
            continue
        ins = code[v]
        op = ins[0]
        if op < TABLE_END:
            env[v] = OPS[op].evaluate(*[env[x] for x in ins[1:]])
        elif op == PARAM:
            env[v] = args[ins[1]]
        elif op in (VEC, TUPLE):
            env[v] = [env[x] for x in ins[1:]] if table_of(f, v) is None else env[ins[1]]
        elif op == INDEX:
            env[v] = env[ins[1]][env[ins[2]]]
        elif op in (GET, MEMBER):
            env[v] = env[ins[1]][ins[2]]
        elif op == FOR:
            env[v] = run_loop(f, ins[1], needed, env, args)
        elif op == CALL:
            env[v] = call(f.callees[ins[1]], [env[x] for x in ins[2:]])
        elif op == COND:
            site = CondSite(f, ins)
            side = not env[site.p]
            env[v] = call(site.functions[side], [env[x] for x in site.args[side]])
        elif op == LOOP:
            env[v] = run_control_loop(LoopSite(f, ins), env)
        elif op == SET:
            env[v] = list(env[ins[1]])
            env[v][env[ins[2]]] = env[ins[3]]
        elif op == ZEROS:
            env[v] = zeros(env[ins[1]])
        elif op == ACCUM:
            env[v] = Cell([copied(env[ins[1]])], 0)
        elif op == ADD_TO:
            env[ins[1]].add(env[ins[2]])
        elif op == REF_INDEX:
            cell = env[ins[1]]
            env[v] = Cell(cell.container[cell.at], env[ins[2]])
        elif op == REF_MEMBER:
            cell = env[ins[1]]
            env[v] = Cell(cell.container[cell.at], ins[2])
        elif op == RESOLVE:
            cell = env[ins[1]]
            env[v] = cell.container[cell.at]
        else:
            assert op == IDX, f"cannot interpret {ins}"


def run_loop(f: Func, number: int, needed: Sequence[int], env: list[Any], args: list[Any]) -> list[Any]:
    block = f.blocks[number]
    columns: list[list[Any]] = [[] for _ in block.results]
    for i in range(block.trips):
        env[block.index] = i
        run_block(f, number, needed, env, args)
        for column, r in zip(columns, block.results, strict=True):
            column.append(env[r])
    return columns


def run_control_loop(site: LoopSite, env: list[Any]) -> list[Any]:
    """The results of a ``LOOP``."""
    spec, count = site.spec, env[site.count]
    state = [env[x] for x in site.state]
    args, test_args = [env[x] for x in site.args], [env[x] for x in site.test_args]
    types = site.body.result_types[spec.carries :]
    kept: list[list[Any]] = [[] for _ in types]
    trips = 0
    while trips < count and (site.test is None or call(site.test, [*state, *test_args])[0]):
        i = count - 1 - trips if spec.down else trips
        results = call(site.body, [i, *state, *args])
        state = results[: spec.carries]
        for column, x in zip(kept, results[spec.carries :], strict=True):
            column.append(x)
        trips += 1
    if spec.must_end and site.test and trips == count and call(site.test, [*state, *test_args])[0]:
        raise (
            errors.failure(errors.NOTED + spec.note, 0, 0)
            if spec.note >= 0
            else errors.failure(errors.ENDLESS, count, 0)
        )
    for k, (column, t) in enumerate(zip(kept, types, strict=True)):
        if spec.down:
            column.reverse()
        if spec.is_output(k):
            column += [filled(zero_of(t), t) for _ in range(spec.trips - trips)]
    return [*state, trips, *kept]


def zeros(x: object) -> object:
    """``x`` with every number zero."""
    return [zeros(y) for y in x] if isinstance(x, list) else 0.0
