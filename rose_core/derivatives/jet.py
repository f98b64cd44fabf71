"""Taylor series: a function on numbers becomes a function on truncated power series.

As `derivatives.jvp` does for tangents, but every Real that varies has coefficients up to an order, and the
work grows with the square of that. Calls, choices and loops become those of the series of their functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rose_core.derivatives.adapt import Ids, inlined
from rose_core.derivatives.pushforward import Pushed, Pushforward
from rose_core.derivatives.series import Arithmetic, Series
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
)
from rose_core.language.ops import OPS, TABLE_END, code
from rose_core.language.types import UNIT, Array, Fin, Ref, Type, array, fin, leaves

_SELECT = code("select")
_DIV, _MUL = code("div"), code("mul")

Jets = Callable[[Func, tuple[bool, ...], int], Pushed]
"""The Taylor series of a function, for these varying parameters, up to an order."""


class Jet(Pushed):
    """A function on series: a varying parameter or result is as many leaves as it has coefficients."""

    def __init__(self, func: Func, varying: Sequence[bool], order: int, jets: Jets) -> None:
        self.varying = varying
        self.func = Func(f"jet_{func.name}", [], UNIT)
        b = Builder(self.func)
        args = [
            Series(b, [b.param(t) for _ in range(1 + varies * order)])
            for t, varies in zip(func.params, varying, strict=True)
        ]
        self.sweep = _Sweep(func, b, args, order, jets)


class CustomJet(Pushed):
    """By a derivative that the author gave, which is differentiated further: ``y' = rule(x, x')``.

    ``rule`` gives its jet of one order less, for parameters and results that are duals of numbers.
    """

    def __init__(self, func: Func, varying: Sequence[bool], order: int, rule: Callable[..., Pushed]) -> None:
        self.varying = varying
        self.varying_results = [is_real(t) for t in func.result_types]
        self.func = Func(f"jet_{func.name}", [], UNIT)
        b = Builder(self.func)
        passed: list[int] = []
        vary: list[bool] = []
        for t, varies in zip(func.params, varying, strict=True):
            x = [b.param(t) for _ in range(1 + varies * order)]
            if not is_real(t):
                passed += x
                vary.append(False)
            elif varies:
                passed += [_scaled(b, x[j + 1], _MUL, j + 1) for j in range(order)] + x[:order]
                vary += [True, True]
            else:
                passed += [b.zero_like(x[0]), x[0]]
                vary += [False, False]
        jet = rule(tuple(vary))
        given = iter(inlined(b, jet.func, passed))
        varying_results = iter(jet.varying_results)

        def series() -> Ids:
            known = [next(given) for _ in range(1 + next(varying_results) * (order - 1))]
            return known + [b.zero_like(known[0])] * (order - len(known))

        for t in func.result_types:
            if is_real(t):
                rate, primal = series(), series()
                self.func.results.append(primal[0])
                self.func.results.extend(_scaled(b, x, _DIV, j + 1) for j, x in enumerate(rate))
            else:
                self.func.results.append(series()[0])
        self.func.effects = jet.func.effects


class _Sweep(Pushforward):
    """Emits the coefficients of every value: the first, which is the primal, in ``env``."""

    def __init__(self, func: Func, b: Builder, args: Sequence[Series], order: int, jets: Jets) -> None:
        super().__init__(func, b, [_first(x) for x in args])
        self.given = args
        self.order = order
        self.jets = jets
        self.arithmetic = Arithmetic(b)
        self.series: list[Series | None] = [None] * len(self.env)
        """Source id → its series; None where it does not vary."""
        self.refs: dict[int, Ids] = {}
        """Accumulator → those of the further coefficients, once there are any."""

    def types(self, t: Type) -> list[Type]:
        return [t] * (1 + self.order)

    def varies(self, v: int) -> bool:
        return self.series[v] is not None

    def pushed_ref(self, r: int) -> Ids:
        return [self.env[r], *self.further_refs(r)]

    def put_beside(self, v: int, others: Ids) -> None:
        self.series[v] = Series(self.b, [self.env[v], *others])

    def constant(self, b: Builder, primal: int) -> Ids:
        return [primal, *([b.zero_like(primal)] * self.order)]

    def made(self, f: Func, varying: tuple[bool, ...]) -> Pushed:
        return self.jets(f, varying, self.order)

    def pushed(self, v: int) -> Ids:
        return [self.env[v], *(self.coefficient(v, j) for j in range(1, self.order + 1))]

    def coefficient(self, v: int, j: int) -> int:
        """Coefficient ``j`` of ``v``, written out even where it is zero."""
        series = self.series[v]
        found = None if series is None else series[j]
        return self.b.zero_like(self.env[v]) if found is None else found

    def keep(self, v: int, series: Series) -> None:
        """Note the series of ``v``, with all its coefficients computed."""
        self.env[v] = _first(series)
        if series.varies(self.order):
            self.series[v] = series

    def each(self, v: int, of: Sequence[int], make: Callable[[int], int]) -> None:
        """Note the series whose further coefficients ``make`` gives, where ``of`` has any."""
        known = [s for s in (self.series[x] for x in of) if s is not None]
        further = [
            make(j) if any(s[j] is not None for s in known) else None for j in range(1, self.order + 1)
        ]
        if known:
            self.keep(v, Series(self.b, [self.env[v], *further]))

    def block(self, number: int) -> None:
        code, types, env, b = self.func.code, self.func.types, self.env, self.b
        for v in self.func.blocks[number].order:
            ins = code[v]
            if ins[0] >= TABLE_END:
                self.structural(v, ins)
            elif OPS[ins[0]].jvp is None or not any(self.varies(x) for x in ins[1:]):
                env[v] = b.op(ins[0], *[env[x] for x in ins[1:]], type=types[v])
            elif isinstance(types[v], Array):
                self.choice(v, *ins[1:])
            else:
                args = [self.series[x] or self.arithmetic.fixed(env[x]) for x in ins[1:]]
                self.keep(v, self.arithmetic.op(ins[0], args))

    def choice(self, v: int, p: int, x: int, y: int) -> None:
        """A choice between vectors."""
        b, env, t = self.b, self.env, self.func.types[v]

        def chosen(first: int, second: int) -> int:
            return b.ternary(_SELECT, env[p], first, second, t)

        env[v] = chosen(env[x], env[y])
        self.each(v, (x, y), lambda j: chosen(self.coefficient(x, j), self.coefficient(y, j)))

    def structural(self, v: int, ins: tuple[int, ...]) -> None:
        op, b, env = ins[0], self.b, self.env
        super().structural(v, ins)
        if op == PARAM:
            if not isinstance(self.func.types[v], Ref):
                self.keep(v, self.given[ins[1]])
            elif self.given[ins[1]].varies(self.order):
                self.refs[v] = [_at(self.given[ins[1]], j) for j in range(1, self.order + 1)]
        elif op == INDEX:
            self.each(v, ins[1:2], lambda j: b.index(self.coefficient(ins[1], j), env[ins[2]]))
        elif op == VEC:
            self.each(
                v, ins[1:], lambda j: b.vec([self.coefficient(x, j) for x in ins[1:]], self.func.types[v])
            )
        elif op == SET:
            x, y = ins[1], ins[3]
            self.each(v, (x, y), lambda j: b.set(self.coefficient(x, j), env[ins[2]], self.coefficient(y, j)))
        elif op == ACCUM and self.varies(ins[1]):
            self.refs[v] = [b.accum(x) for x in self.pushed(ins[1])[1:]]
        elif op == ADD_TO and self.varies(ins[2]):
            series = self.series[ins[2]]
            assert series is not None
            for j, r in enumerate(self.further_refs(ins[1]), 1):
                term = series[j]
                if term is not None:
                    b.add_to(r, term)
        elif op == RESOLVE and ins[1] in self.refs:
            self.keep(v, Series(b, [env[v], *map(b.resolve, self.refs[ins[1]])]))

    def further_refs(self, r: int) -> Ids:
        """The accumulators of the further coefficients of what is added to ``r``, made when first needed."""
        ins, b = self.func.code[r], self.b
        if ins[0] == REF_INDEX:
            return [b.ref_index(x, self.env[ins[2]]) for x in self.further_refs(ins[1])]
        if r in self.refs:
            return self.refs[r]
        if ins[0] == _SELECT:
            pairs = zip(self.further_refs(ins[2]), self.further_refs(ins[3]), strict=True)
            self.refs[r] = [b.ternary(_SELECT, self.env[ins[1]], x, y, b.types[x]) for x, y in pairs]
        else:
            zero, home = b.zero_like(self.env[ins[1]]), b.home[self.env[r]]
            self.refs[r] = [b.accum(zero, home) for _ in range(self.order)]
        return self.refs[r]


def public_jet(placeholder: Func, func: Func, jet: Pushed, order: int) -> Func:
    """The series as their author sees them: of every value a vector of as many as there are coefficients.

    ``placeholder`` is the function that was called, whose signature the result has.
    """
    f = Func(placeholder.name, placeholder.param_types, placeholder.ret)
    b = Builder(f)
    args: Ids = []
    size = fin(order + 1)
    declared = sum(len(leaves(t)) for t in func.param_types)
    for k, (t, varies) in enumerate(zip(placeholder.params, jet.varying, strict=True)):
        x = b.param(t)
        coefficients = 1 + varies * order
        args += [b.index(x, b.const(j, size)) for j in range(coefficients)] if k < declared else [x]
    call = b.call(jet.func, args)
    at = 0
    for t, varies in zip(func.result_types, jet.varying_results, strict=True):
        first = b.get(call, at)
        further = (
            [b.get(call, at + j) for j in range(1, order + 1)]
            if varies
            else [b.zero_like(first) if is_real(t) else first] * order
        )
        f.results.append(b.vec([first, *further], array(size, t)))
        at += 1 + varies * order
    f.effects = jet.func.effects
    return f


def _first(x: Series) -> int:
    return _at(x, 0)


def _at(x: Series, j: int) -> int:
    found = x[j]
    assert found is not None
    return found


def _scaled(b: Builder, v: int, op: int, factor: int) -> int:
    """``v`` of any shape, times or divided by ``factor``."""
    t = b.func.type_of(v)
    if factor == 1:
        return v
    if not isinstance(t, Array):
        return b.op(op, v, b.real(float(factor)))
    assert isinstance(t.index, Fin)
    i = b.open_for(t.index)
    return b.get(b.close_for([_scaled(b, b.index(v, i), op, factor)]), 0)
