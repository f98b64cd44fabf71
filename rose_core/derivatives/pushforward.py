"""What both forward modes have in common: that of tangents (`derivatives.jvp`), and of series (`jet`).

Either gives every value that varies some others beside it: its tangent, or its further coefficients. What
takes the value takes these, too, and what gives it gives them. So a call becomes one of the derivative, a
choice one between the derivatives of its sides, on the same condition, and a loop runs the derivative of its
body; its test sees the primal state alone. Which leaves of a state vary is known beforehand
(`derivatives.activity`); if the derivative has more, it is made again with these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rose_core.derivatives.activity import taking_part, varying_state
from rose_core.derivatives.adapt import Ids, adapted
from rose_core.language.builder import Builder
from rose_core.language.ir import CondSite, Func, LoopSite, operands
from rose_core.language.replay import Replay
from rose_core.language.types import TAN, Ref, Type, scalar_of


class Pushed:
    """A function whose parameters and results, as far as they vary, have others beside them."""

    func: Func
    """The derivative itself."""
    varying: Sequence[bool]
    """Which parameters of the original vary."""
    varying_results: list[bool]
    """Which of its results do."""
    sweep: Pushforward

    def run(self) -> None:
        """Make it: not inside of the making of the object, see `deep.py`."""
        sweep, func, results = self.sweep, self.func, self.sweep.func.results
        sweep.run()
        self.varying_results = [sweep.varies(v) for v in results]
        func.blocks[0].results = sweep.leaves(results, self.varying_results)
        func.effects = any(f.effects for f in func.callees)
        func.remat = sweep.func.remat


class Constant(Pushed):
    """The derivative of a function for constant arguments: the function."""

    def __init__(self, func: Func) -> None:
        self.func = func
        self.varying = [False] * len(func.params)
        self.varying_results = [False] * len(func.result_types)


class Pushforward(Replay):
    """Emits every value of a function, and beside it those that it has if it varies."""

    order = 1
    """How many others there are beside a value that varies."""
    primal_at = 0
    """Where the value itself is among these."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int]) -> None:
        super().__init__(func, b, args)
        self.results: dict[int, list[tuple[int, bool]]] = {}
        """Loop or call → for each result, where in the copy its leaves begin, and whether it varies."""

    def varies(self, v: int) -> bool:
        raise NotImplementedError

    def pushed(self, v: int) -> Ids:
        """A value, and what is beside it, in their order, even where that is zero."""
        raise NotImplementedError

    def pushed_ref(self, r: int) -> Ids:
        """An accumulator, and what is beside it, in their order, which are there from now on."""
        raise NotImplementedError

    def put_beside(self, v: int, others: Ids) -> None:
        """Have these beside a value, which varies."""
        raise NotImplementedError

    def constant(self, b: Builder, primal: int) -> Ids:
        """As `pushed`, of a value in ``b`` that does not vary."""
        raise NotImplementedError

    def types(self, t: Type) -> list[Type]:
        """The types of `pushed`."""
        raise NotImplementedError

    def made(self, f: Func, varying: tuple[bool, ...]) -> Pushed:
        """The derivative of ``f`` for these varying parameters."""
        raise NotImplementedError

    def passed(self, derivative: Pushed, args: Sequence[int], params: Sequence[Type]) -> Ids:
        """What to pass to a derivative for these arguments, which are the last that the function takes."""
        found: Ids = []
        varying = derivative.varying[len(derivative.varying) - len(args) :]
        for a, t, varies in zip(args, params, varying, strict=True):
            if not varies:
                found.append(self.env[a])
            else:
                found += self.pushed_ref(a) if isinstance(t, Ref) else self.pushed(a)
        return found

    def derivative_of(self, f: Func, args: Sequence[bool]) -> Pushed:
        """The derivative of ``f`` for arguments of which these vary."""
        return self.made(f, taking_part(f, args))

    def leaves(self, ids: Sequence[int], varying: Sequence[bool]) -> Ids:
        """These values, with what is beside those that vary."""
        found: Ids = []
        for v, varies in zip(ids, varying, strict=True):
            found += self.pushed(v) if varies else [self.env[v]]
        return found

    def starts(self, varying: Sequence[bool]) -> list[tuple[int, bool]]:
        """Where among such leaves each value begins, and whether it varies."""
        found, at = [], 0
        for varies in varying:
            found.append((at, varies))
            at += 1 + varies * self.order
        return found

    def loop(self, v: int, number: int) -> None:
        block = self.iteration(number)
        varying = [self.varies(r) for r in block.results]
        self.results[v] = self.starts(varying)
        self.env[v] = self.b.close_for(self.leaves(block.results, varying))

    def get(self, v: int, of: int, k: int) -> None:
        if of not in self.results:
            super().get(v, of, k)
            return
        at, varies = self.results[of][k]
        primal = self.primal_at * varies
        self.env[v] = self.b.get(self.env[of], at + primal)
        if varies:
            beside = [j for j in range(1 + self.order) if j != primal]
            self.put_beside(v, [self.b.get(self.env[of], at + j) for j in beside])

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        varying = [self.varies(a) for a in args]
        if not any(varying):
            super().call(v, callee, args)
            return
        derivative = self.derivative_of(callee, varying)
        self.env[v] = self.b.call(derivative.func, self.passed(derivative, args, callee.params))
        self.results[v] = self.starts(derivative.varying_results)

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        if not self._any_varies(ins):
            super().cond(v, ins)
            return
        site = CondSite(self.func, ins)
        sides = list(zip(site.functions, site.args, strict=True))
        made = [self.derivative_of(f, [self.varies(a) for a in args]) for f, args in sides]
        varying = [x or y for x, y in zip(*(d.varying_results for d in made), strict=True)]
        f, g = [self._completed(d, varying) for d in made]
        f_args, g_args = [self.passed(d, args, f.params) for d, (f, args) in zip(made, sides, strict=True)]
        self.env[v] = self.b.cond(self.env[site.p], f, f_args, g, g_args)
        self.results[v] = self.starts(varying)

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        if not self._any_varies(ins):
            super().control_loop(v, ins)
            return
        site, env = LoopSite(self.func, ins), self.env
        spec, of_args = site.spec, [self.varies(x) for x in site.args]
        varying = varying_state(site, [self.varies(x) for x in site.state], of_args)
        while True:  # what varies after an iteration varies before the next
            derivative = self.derivative_of(site.body, [False, *varying, *of_args])
            after = [x or y for x, y in zip(varying, derivative.varying_results, strict=False)]
            if after == varying:
                break
            varying = after
        kept = derivative.varying_results[spec.carries :]
        new = replace(
            spec,
            carries=spec.carries + sum(varying) * self.order,
            outputs=spec.outputs_after(kept, self.order),
        )
        body = self._completed(derivative, varying + kept)
        state = self.leaves(site.state, varying)
        test = self._of_primals(site.test, varying) if site.test else None
        args = self.passed(derivative, site.args, site.body.params[1 + spec.carries :])
        env[v] = self.b.loop(new, env[site.count], body, state, args, test, [env[x] for x in site.test_args])
        self.results[v] = self.starts([*varying, False, *kept])

    def _any_varies(self, ins: tuple[int, ...]) -> bool:
        return any(self.varies(x) for x in operands(ins, self.func.blocks))

    def _of_primals(self, test: Func, varying: Sequence[bool]) -> Func:
        """The test of a loop, for a state of which these leaves vary."""
        if any(scalar_of(t) is TAN for t in test.params):
            test = self.derivative_of(test, [False] * len(test.params)).func
        if not any(varying):
            return test
        params: list[Type] = []
        primals = []
        for k, t in enumerate(test.params):
            varies = k < len(varying) and varying[k]
            primals.append(len(params) + self.primal_at * varies)
            params += self.types(t) if varies else [t]
        return adapted(test, params, lambda _, ids: [ids[k] for k in primals])

    def _completed(self, derivative: Pushed, varying: Sequence[bool]) -> Func:
        """The derivative, with zeros beside those of these results that it has nothing beside."""
        if list(varying) == derivative.varying_results:
            return derivative.func

        def results(b: Builder, ids: Ids) -> Ids:
            given: Ids = []
            for (at, has), varies in zip(self.starts(derivative.varying_results), varying, strict=True):
                if varies and not has:
                    given += self.constant(b, ids[at])
                else:
                    given += ids[at : at + 1 + has * self.order]
            return given

        return adapted(derivative.func, derivative.func.params, results=results)
