"""Forward mode: a function on numbers becomes a function on duals (Figures 11 and 12).

    y = sin(x)     →     y = sin(x);  dy = dx * cos(x)

Each op is followed by its tangent, by the op's forward rule. Tangents that are structurally zero are not
computed: a derivative is made for a given set of varying parameters, and says which of its results vary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rose_core.derivatives.adapt import Ids
from rose_core.derivatives.pushforward import Pushed, Pushforward
from rose_core.derivatives.rules import rule_at
from rose_core.language.builder import Builder
from rose_core.language.ir import (
    ACCUM,
    ADD_TO,
    INDEX,
    PARAM,
    REF_INDEX,
    RESOLVE,
    SET,
    VEC,
    Func,
    is_real,
    operands,
)
from rose_core.language.ops import TABLE_END, code
from rose_core.language.queries import remembered
from rose_core.language.replay import Verbatim, copied
from rose_core.language.types import REAL, TAN, UNIT, Array, Ref, Type, leaves, real, replace_scalar

_SELECT = code("select")

Jvps = Callable[[Func, tuple[bool, ...]], Pushed]
"""The forward derivative of a function, for these varying parameters."""


class Jvp(Pushed):
    """The forward derivative of a function for the parameters that vary.

    It takes, for each parameter, its tangent if it varies and then its primal, and gives the same for each
    result: the order of the leaves of a dual type.
    """

    def __init__(self, func: Func, varying: Sequence[bool], jvp: Jvps) -> None:
        self.varying = varying
        self.func = Func(f"jvp_{func.name}", [], UNIT)
        b = Builder(self.func)
        args, tangents = [], []
        for t, varies in zip(func.params, varying, strict=True):
            tangents.append(b.param(replace_scalar(t, TAN)) if varies else None)
            args.append(b.param(real(t)))
        self.sweep = _Sweep(func, b, args, tangents, jvp)


class CustomJvp(Pushed):
    """A derivative given by the author; it takes and gives every tangent."""

    def __init__(self, func: Func, rule: Func) -> None:
        self.func = rule
        self.varying = [is_real(t) for t in func.params]
        self.varying_results = [is_real(t) for t in func.result_types]


class _Sweep(Pushforward):
    """Emits primal and tangent of every instruction, side by side."""

    primal_at = 1

    def __init__(
        self, func: Func, b: Builder, args: Sequence[int], tangents: Sequence[int | None], jvp: Jvps
    ) -> None:
        super().__init__(func, b, args)
        self.arg_tangents = tangents
        self.jvp = jvp
        self.tan: list[int | None] = [None] * len(self.env)
        """Source id → its tangent in ``b``; None where that is zero."""
        self.choices: dict[int, int] = {}
        """Choice between accumulators → that between those of the tangents."""

    def type(self, t: Type) -> Type:
        return real(t)

    def types(self, t: Type) -> list[Type]:
        return [replace_scalar(t, TAN), t]

    def varies(self, v: int) -> bool:
        return self.tan[v] is not None

    def pushed(self, v: int) -> Ids:
        return [self.tangent(v), self.env[v]]

    def pushed_ref(self, r: int) -> Ids:
        return [self.tangent_ref(r), self.env[r]]

    def put_beside(self, v: int, others: Ids) -> None:
        (self.tan[v],) = others

    def constant(self, b: Builder, primal: int) -> Ids:
        return [zero_tangent(b, primal), primal]

    def made(self, f: Func, varying: tuple[bool, ...]) -> Pushed:
        return self.jvp(f, varying)

    def zero(self, t: Type) -> int:
        """The zero tangent of a value of type ``t``."""
        return self.b.const(0.0, replace_scalar(t, TAN))

    def tangent(self, v: int) -> int:
        """The tangent of ``v``, written out even where it is zero."""
        found = self.tan[v]
        return zero_tangent(self.b, self.env[v]) if found is None else found

    def block(self, number: int) -> None:
        code, types, env, tan, b = self.func.code, self.func.types, self.env, self.tan, self.b
        for v in self.func.blocks[number].order:
            ins = code[v]
            op = ins[0]
            if op >= TABLE_END:
                self.structural(v, ins)
                continue
            env[v] = b.op(op, *[env[x] for x in ins[1:]], type=real(types[v]))
            mask = 0
            for k, x in enumerate(ins[1:]):
                if tan[x] is not None:
                    mask |= 1 << k
            if mask:
                tan[v] = self._table_op(v, ins, mask)

    def _table_op(self, v: int, ins: tuple[int, ...], mask: int) -> int | None:
        b, t = self.b, self.func.types[v]
        if isinstance(t, (Array, Ref)):  # a choice between arrays or accumulators
            pair = [self.tangent(x) if isinstance(t, Array) else self.tangent_ref(x) for x in ins[2:]]
            return b.ternary(_SELECT, self.env[ins[1]], pair[0], pair[1], b.func.type_of(pair[0]))
        template = rule_at(self.func, v, mask).forward
        if template is None:
            return None
        values = [self.env[x] for x in ins[1:]]
        values.append(self.env[v])
        values += [self.tan[x] or 0 for x in ins[1:]]
        values += [self.zero(REAL) if c is None else b.real(c) for c in template.consts]
        for opcode, linear, *args in template.instrs:
            values.append(b.op(opcode, *[values[a] for a in args], type=TAN if linear else None))
        return values[template.outputs[0][2]]

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        op, tan, b = ins[0], self.tan, self.b
        super().structural(v, ins)
        if op == PARAM:
            tan[v] = self.arg_tangents[ins[1]]
        elif op == INDEX and tan[ins[1]] is not None:
            tan[v] = b.index(self.tangent(ins[1]), self.env[ins[2]])
        elif op == VEC and any(tan[x] is not None for x in ins[1:]):
            tan[v] = b.vec([self.tangent(x) for x in ins[1:]], replace_scalar(self.func.types[v], TAN))
        elif op == ACCUM and tan[ins[1]] is not None:
            tan[v] = b.accum(self.tangent(ins[1]))
        elif op == ADD_TO and tan[ins[2]] is not None:
            b.add_to(self.tangent_ref(ins[1]), self.tangent(ins[2]))
        elif op == RESOLVE and tan[ins[1]] is not None:
            tan[v] = b.resolve(self.tangent(ins[1]))
        elif op == SET and (tan[ins[1]] is not None or tan[ins[3]] is not None):
            tan[v] = b.set(self.tangent(ins[1]), self.env[ins[2]], self.tangent(ins[3]))

    def tangent_ref(self, r: int) -> int:
        """The accumulator of the tangents of what is added to ``r``, made when it is first needed."""
        ins = self.func.code[r]
        if ins[0] == REF_INDEX:
            return self.b.ref_index(self.tangent_ref(ins[1]), self.env[ins[2]])
        if ins[0] == _SELECT:
            if r not in self.choices:
                a, c = self.tangent_ref(ins[2]), self.tangent_ref(ins[3])
                self.choices[r] = self.b.ternary(_SELECT, self.env[ins[1]], a, c, self.b.types[a])
            return self.choices[r]
        found = self.tan[r]
        if found is None:
            zero = zero_tangent(self.b, self.env[ins[1]])
            found = self.tan[r] = self.b.accum(zero, self.b.home[self.env[r]])
        return found


def zero_tangent(b: Builder, primal: int) -> int:
    """The zero tangent of a value."""
    return b.zero_like(primal, replace_scalar(b.func.type_of(primal), TAN))


def positions(varying: Sequence[bool]) -> list[tuple[int, int]]:
    """Where among values with tangents each tangent (-1: there is none) and primal is."""
    found, at = [], 0
    for varies in varying:
        found.append((at, at + 1) if varies else (-1, at))
        at += 1 + varies
    return found


def has_part(f: Func, varying: Sequence[bool]) -> bool:
    """Whether the derivative that its author gave ``f`` has to do with the tangents of these parameters.

    That of a root has nothing to do with the place that the search starts from.
    """
    assert f.jvp
    used, places = _used_params(f.jvp), positions([is_real(t) for t in f.params])
    return any(varies and place[0] in used for place, varies in zip(places, varying, strict=True))


@remembered
def _used_params(f: Func) -> set[int]:
    """The parameters that ``f`` does anything with."""
    ids = {*f.results}.union(*[operands(ins, f.blocks) for ins in f.code])
    return {f.code[v][1] for v in ids if v >= 0 and f.code[v][0] == PARAM}


def still(rule: Func, func: Func, varying: Sequence[bool]) -> Func:
    """The custom derivative ``rule`` of ``func``, or a copy for when only these parameters vary."""
    if all(varies or not is_real(t) for t, varies in zip(func.params, varying, strict=True)):
        return rule
    return copied(rule, _still, func, varying)


def _still(rule: Func, b: Builder, args: list[int], func: Func, varying: Sequence[bool]) -> Verbatim:
    """What copies the rule, with zeros as the tangents of parameters that do not vary."""
    places = positions([is_real(t) for t in func.params])
    for (tangent, _), varies in zip(places, varying, strict=True):
        if tangent >= 0 and not varies:
            args[tangent] = b.const(0.0, b.func.type_of(args[tangent]))
    return Verbatim(rule, b, args)


def public_jvp(func: Func, origin: Func, jvp: Pushed, forward: Func) -> Func:
    """The derivative as its author sees it: every real parameter and result is a dual.

    ``origin`` is the place-holder that was called, whose signature the result has; ``forward`` is
    ``jvp.func``, or where that signature has numbers for tangents, the same on numbers.
    """
    f = Func(origin.name, origin.param_types, origin.ret)
    b = Builder(f)
    args = [b.param(t) for t in origin.params]
    passed = []
    places = positions([is_real(t) for t in func.params])
    for (tangent, primal), varies in zip(places, jvp.varying, strict=True):
        passed += [args[tangent], args[primal]] if varies else [args[primal]]
    call = b.call(forward, passed)
    types = leaves(origin.ret)
    at = 0
    for t, varies in zip(func.result_types, jvp.varying_results, strict=True):
        if is_real(t) and not varies:
            f.results.append(b.const(0.0, types[len(f.results)]))
        f.results.extend(b.get(call, at + k) for k in range(1 + varies))
        at += 1 + varies
    f.effects = forward.effects
    return f
