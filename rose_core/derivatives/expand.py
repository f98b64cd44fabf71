"""Programs with derivatives in them become programs of plain instructions.

A traced function calls `jvp` and `vjp` of other functions by name; an `Expansion` makes those
derivatives, each once per set of varying parameters, and puts calls to them (or, where a derivative
is used in one place only, its instructions) where they were asked for. Functions without derivatives
stay the objects they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rose_core.deep import empty
from rose_core.derivatives.chosen import by_choices
from rose_core.derivatives.compared import compared_in_place
from rose_core.derivatives.directions import Directions, call_in_iteration
from rose_core.derivatives.extremes import by_extremes
from rose_core.derivatives.jet import CustomJet, Jet, public_jet
from rose_core.derivatives.jvp import CustomJvp, Jvp, has_part, public_jvp, still
from rose_core.derivatives.known import Key, Known
from rose_core.derivatives.linearize import Linearization
from rose_core.derivatives.linearize_control import most_kept
from rose_core.derivatives.nearest import by_nearest
from rose_core.derivatives.pushforward import Constant, Pushed
from rose_core.derivatives.remat import Recomputed, may_run_again, segmented
from rose_core.derivatives.settled import settled
from rose_core.derivatives.tape import Transposed
from rose_core.derivatives.transpose import Reverse
from rose_core.language.builder import Builder
from rose_core.language.demand import Demand
from rose_core.language.ir import ENDLESS, PARAM, PULL, VJP, Extent, Func, LoopSite, is_real
from rose_core.language.queries import among, callees_first, param_ids, places, remembered
from rose_core.language.replay import Replay, copied
from rose_core.language.types import TAN, leaves, real, scalar_of
from rose_core.optimise.begun import begun
from rose_core.optimise.bounded import bounded
from rose_core.optimise.carried import carried
from rose_core.optimise.common import common
from rose_core.optimise.demanded import demanded
from rose_core.optimise.fused import fused
from rose_core.optimise.guarded import guarded
from rose_core.optimise.hoist import hoisted
from rose_core.optimise.inline import in_line, in_loops
from rose_core.optimise.joined import joined
from rose_core.optimise.narrow import narrowed
from rose_core.optimise.outside import outside
from rose_core.optimise.powers import as_products
from rose_core.optimise.proven import proven
from rose_core.optimise.scalars import in_scalars
from rose_core.optimise.stores import stored

_VJPS, _PULLS = among([VJP]), among([PULL])


class DerivativeError(Exception):
    """A derivative that cannot be made; the message names the function."""


class Expansion:
    """All derivatives of one program. Custom derivatives count as they are set when it is made."""

    def __init__(self, root: Func, known: Known | None = None, precise: bool = False) -> None:
        """``known``: the derivatives of earlier programs; ``precise``: see `optimise.powers`."""
        self.known = known
        if known:
            known.begin(self)
        self._vjp_sites: dict[Func, int] = {}
        # functions may grow: those of another extent are others
        self._expanded: dict[tuple[Func, Extent], Func] = {}
        self._jvps: dict[tuple[Func, Extent, tuple[bool, ...]], Pushed] = {}
        self._along: dict[tuple[Func, Extent, tuple[bool, ...]], Func] = {}
        self._jets: dict[tuple[Func, Extent, tuple[bool, ...], int], Pushed] = {}
        self._transposed: dict[Key, Transposed] = {}
        self._in_progress: dict[Func, None] = {}
        self._plain: dict[tuple[Func, Extent], Func] = {}
        root = in_loops(common(in_line(root)))
        self._count_sites(root)
        self.mixed = False
        """Whether the reverse derivative of a function with tangents in its signature is taken."""
        self.root = self.expand(root if root.host is None else _calling(root))
        if self.mixed:
            self.root = self.plain(self.root)
        self.root = as_products(demanded(self.root), precise)
        for made in (self._transposed, self._jets, self._along, self._jvps, self._plain, self._expanded):
            empty(made)

    def _count_sites(self, root: Func) -> None:
        """Count in how many places each function's reverse derivative is taken."""
        for f in callees_first(root):
            for v in places(f, _VJPS):
                g = f.callees[f.code[v][1]]
                self._vjp_sites[g] = self._vjp_sites.get(g, 0) + 1

    def expand(self, f: Func) -> Func:
        """``f`` without any derivative left to be made."""
        if f.origin and f.origin[0] == "jvp":
            return self.along(f, tuple([is_real(t) for t in f.origin[1].params]))
        key = f, f.extent
        found = self._expanded.get(key)
        if found is None:
            self._enter(f)
            if f.origin:
                found = self._public_jet(f, f.origin[1])
            else:
                found = joined(begun(bounded(guarded(fused(hoisted(proven(f)))))))
                found = narrowed(outside(carried(in_scalars(stored(found)))))
                # of a forward derivative, a call tells which parameters vary
                callees = [None if g.origin else self.expand(g) for g in found.callees]
                plain = callees == found.callees and not places(found, _VJPS)
                if not plain or any(spec.checkpoint for spec in found.specs):
                    found = self._rebuild(found)
            self._expanded[key] = found
            del self._in_progress[f]
        return found

    def along(self, placeholder: Func, varying: tuple[bool, ...]) -> Func:
        """A forward derivative for these varying parameters, which takes zeros as tangents of the others."""
        assert placeholder.origin
        f = placeholder.origin[1]
        key = placeholder, f.extent, varying
        found = self._along.get(key)
        if found is None:
            self._enter(placeholder)
            found = self._along[key] = self._public_jvp(placeholder, f, varying)
            del self._in_progress[placeholder]
        return found

    def plain(self, f: Func) -> Func:
        """``expand(f)`` with its tangents taken as numbers, as all are but a custom rule's.

        Reverse mode of a forward derivative differentiates by primals and tangents alike.
        """
        f = self.expand(f)
        key = f, f.extent
        found = self._plain.get(key)
        if found is None:
            callees = [self.plain(g) for g in f.callees]
            found = _as_numbers(f, callees)
            own = found, found.extent
            self._expanded[own] = self._plain[key] = self._plain[own] = found
        return found

    def _enter(self, f: Func) -> None:
        if f in self._in_progress:
            chain = [g.name for g in self._in_progress]
            names = " → ".join([*chain[chain.index(f.name) :], f.name])
            raise DerivativeError(f"the derivative of {f.name} needs itself: {names}")
        self._in_progress[f] = None

    def _rebuild(self, f: Func) -> Func:
        return settled(copied(f, _Expander, self))

    def _public_jvp(self, placeholder: Func, f: Func, varying: tuple[bool, ...]) -> Func:
        jvp = self.jvp(f, varying)
        forward = jvp.func if placeholder.takes_tangents else self.plain(jvp.func)
        if isinstance(jvp, CustomJvp):
            return forward
        return public_jvp(f, placeholder, jvp, forward)

    def jvp(self, f: Func, varying: tuple[bool, ...]) -> Pushed:
        """The forward derivative of ``f``, for these varying parameters."""
        key = f, f.extent, varying
        found = self._jvps.get(key)
        if found is None:
            rule = f.jvp
            if rule is not None and has_part(f, varying):
                found = CustomJvp(f, self.expand(still(rule, f, varying)))
            elif rule is not None:
                found = Constant(self.expand(f))
            elif f.host is not None and not any(varying):
                found = Constant(f)
            else:
                self.require_derivative(f)
                found = Jvp(self.expand(f), varying, self.jvp)
                found.run()
            self._jvps[key] = found
        return found

    def _public_jet(self, placeholder: Func, f: Func) -> Func:
        declared = sum(len(leaves(t)) for t in f.param_types)
        varying = tuple(k < declared and is_real(t) for k, t in enumerate(f.params))
        return public_jet(placeholder, f, self.jet(f, varying, placeholder.order), placeholder.order)

    def jet(self, f: Func, varying: tuple[bool, ...], order: int) -> Pushed:
        """The Taylor series of ``f``, for these varying parameters, up to an order."""
        key = f, f.extent, varying, order
        found = self._jets.get(key)
        if found is None:
            rule = f.jvp
            if not any(varying) or not order or (rule is not None and not has_part(f, varying)):
                found = Constant(self.plain(f))
            elif rule is not None:
                plain = self.plain(rule)
                found = CustomJet(f, varying, order, lambda vary: self.jet(plain, vary, order - 1))
            else:
                self.require_derivative(f)
                found = Jet(self.plain(f), varying, order, self.jet)
                found.run()
            self._jets[key] = found
        return found

    def transposed(
        self, f: Func, varying: tuple[bool, ...], room: int = ENDLESS, is_part: bool = False
    ) -> Transposed:
        """The reverse derivative of ``f``, for these varying parameters; of a part, one of its own.

        Elsewhere those who call ``f`` share two: one with ``room`` for all that its loops keep, and one
        with none.
        """
        if is_part:
            return self._transposed_anew(f if f.jvp or f.host is None else _calling(f), varying, room)
        no_arrays = room < ENDLESS and most_kept(self.expand(f.jvp or f)) > room
        room = 0 if no_arrays else ENDLESS
        key = f, varying, no_arrays
        is_known = self.known and self.expand(f) is f and (f.jvp is None or self.expand(f.jvp) is f.jvp)
        if self.known and is_known:
            self.known.ask(key)
        found = before = self._transposed.get(key)
        if found is None and self.known and is_known:
            found = self.known.derivative(key, lambda: self._transposed_anew(f, varying, room))
        if found is None or found.is_outgrown:
            found = self._transposed_anew(f, varying, room)
        if found is not before:
            self._transposed[key] = found
            if self.known and is_known:
                self.known.repeat(self.known.events(found))
        return found

    def _transposed_anew(self, f: Func, varying: tuple[bool, ...], room: int) -> Transposed:
        rule = f.jvp
        if rule is None:
            self.require_derivative(f)
        func = f if rule is not None else _for_reverse(self.expand(f))
        body = func if rule is None else self.expand(rule)
        found = Transposed(func, body, varying, self.known or self, room)
        found.run()
        return Recomputed(found) if f.remat and may_run_again(f) else found

    def forward(self, f: Func, varying: tuple[bool, ...]) -> tuple[Func, list[bool]]:
        """The forward derivative of ``f``, with numbers for tangents, and which of its results vary."""
        jvp = self.jvp(f, varying)
        return self.plain(jvp.func), jvp.varying_results

    @staticmethod
    def require_derivative(f: Func) -> None:
        if f.fault:
            raise DerivativeError(f.fault)
        if f.host is not None or f.opaque:
            raise DerivativeError(f"the opaque function {f.name} has no derivative; set {f.name}.jvp")

    def used_once(self, f: Func) -> bool:
        """Whether the reverse derivative of ``f`` is taken in one place of the program only."""
        return self._vjp_sites.get(f, 0) == 1


def expansion(root: Func, known: Known, precise: bool = False) -> Func:
    """A program without derivatives left to be made, of which ``known`` has those of earlier programs."""
    return known.program(lambda: Expansion(root, known, precise).root)


def _for_reverse(f: Func) -> Func:
    """``f`` as reverse mode takes it."""
    return by_choices(by_extremes(by_nearest(compared_in_place(f))))


def _calling(f: Func) -> Func:
    """A function with a body that does nothing but call ``f``."""
    caller = Func(f.name, f.param_types, f.ret)
    b = Builder(caller)
    call = b.call(f, [b.param(t) for t in f.params])
    caller.results.extend(b.get(call, k) for k in range(len(f.result_types)))
    return caller


def _as_numbers(f: Func, callees: list[Func]) -> Func:
    """``f``, which calls ``callees`` now, with every tangent a number."""
    if callees == f.callees and not _has_tangents(f):
        return f
    view = Func(f.name, f.param_types, f.ret)
    view.code, view.home, view.blocks, view.callees = f.code, f.home, f.blocks, callees
    view.specs = f.specs
    view.types = [real(t) for t in f.types]
    view.pool = [(value, real(t)) for value, t in f.pool]
    copy = Func(f.name, f.param_types, f.ret)
    b = Builder(copy)  # constants that were two may be one now, so this is a copy and not the view
    copy.blocks[0].results = Replay(view, b, [b.param(real(t)) for t in f.params]).run()
    copy.param_names = f.param_names
    copy.stand_for(f)
    return copy


@remembered
def _has_tangents(f: Func) -> bool:
    return any(real(t) is not t for t in {*f.params, *f.types, *(t for _, t in f.pool)})


class _Expander(Replay):
    """Copies a function, making the derivatives it asks for."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], expansion: Expansion) -> None:
        self.func, self.b = func, b
        self.expansion = expansion
        self.pulls: dict[int, list[int]] = {}
        """``VJP`` → its ``PULL``s."""
        for v in places(func, _PULLS):
            self.pulls.setdefault(func.code[v][1], []).append(v)
        self.used = Demand(func).columns if self.pulls else {}
        """``PULL`` → which of its results are used."""
        self.given: dict[int, list[int]] = {}
        """``VJP`` or ``PULL`` → its results in the copy."""
        self.inline: dict[int, Linearization] = {}
        self.forward: dict[int, tuple[Transposed, int, list[int]]] = {}
        self.directions = Directions(func)
        first = func.code[len(args)] if len(args) < len(func.code) else (PARAM,)
        if first[0] == VJP and list(first[2:]) == args == list(range(len(args))):
            # before anything else is in the builder, so that it can take over what is differentiated
            self._vjp(len(args), func.callees[first[1]], args)
        super().__init__(func, b, args)

    def call(self, v: int, callee: Func, args: Sequence[int]) -> None:
        given = [self.env[a] for a in args]
        if callee.origin and callee.origin[0] == "jvp":
            made = self.expansion.along(callee, self.directions.varying(callee, args))
        else:
            made = self.expansion.expand(callee)
        if callee.origin:
            call_in_iteration(self, v, made, given)
        else:
            self.env[v] = self.b.call(made, given)

    def function(self, f: Func) -> Func:
        return self.expansion.expand(f)

    def control_loop(self, v: int, ins: tuple[int, ...]) -> None:
        site = LoopSite(self.func, ins)
        if not site.spec.checkpoint:
            super().control_loop(v, ins)
            return
        state, args, test_args = (
            [self.env[x] for x in ids] for ids in (site.state, site.args, site.test_args)
        )
        self.env[v] = segmented(self.b, site, self.env[site.count], state, args, test_args, self.function)

    def get(self, v: int, of: int, k: int) -> None:
        if of in self.given:
            self.env[v] = self.given[of][k]
        else:
            super().get(v, of, k)

    def derivative(self, v: int, ins: tuple[int, ...]) -> None:
        if ins[0] == VJP and v not in self.given:
            self._vjp(v, self.func.callees[ins[1]], [self.env[x] for x in ins[2:]])
        elif ins[0] == PULL:
            self._pull(
                v, self.func.callees[self.func.code[ins[1]][1]], ins[1], [self.env[x] for x in ins[2:]]
            )

    def _vjp(self, v: int, f: Func, args: list[int]) -> None:
        """The forward pass, for the parameters whose cotangents anyone will look at."""
        self.expansion.mixed |= any(scalar_of(t) is TAN for t in f.params)
        pulls = self.pulls.get(v, [])
        reals = [k for k, t in enumerate(f.params) if is_real(t)]
        wanted = {reals[j] for pull in pulls for j in self.used.get(pull, ())}
        varying = tuple(k in wanted for k in range(len(f.params)))
        if f.jvp is None:
            self.expansion.require_derivative(f)
        if len(pulls) == 1 and f.jvp is None and self.expansion.used_once(f):
            body = _for_reverse(self.expansion.plain(f))
            lin = self.inline[v] = Linearization(body, self.b, args, varying, self.expansion)
            self.given[v] = lin.run()
            return
        transposed = self.expansion.transposed(self.expansion.plain(f), varying)
        call = self.b.call(
            transposed.fwd, [a for a, taken in zip(args, transposed.takes, strict=True) if taken]
        )
        self.forward[v] = transposed, call, args
        self.given[v] = [self.b.get(call, at) if at >= 0 else 0 for at in transposed.result_at]

    def _pull(self, v: int, f: Func, vjp: int, cotangents: list[int]) -> None:
        """The backward pass; what no cotangent reaches is zero."""
        b = self.b
        results = [k for k, t in enumerate(f.result_types) if is_real(t)]
        reals = [k for k, t in enumerate(f.params) if is_real(t)]
        totals: Mapping[int, int | None]
        if vjp in self.inline:
            lin = self.inline[vjp]
            given: list[int | None] = [None] * len(lin.func.results)
            for k, c in zip(results, cotangents, strict=True):
                given[k] = c
            reverse = Reverse(lin, b, None)
            reverse.run(given)
            ids = param_ids(lin.func)
            totals = {k: reverse.total(ids[k]) for k in reals if lin.varying[k]}
        else:
            totals = self._call_backward(vjp, dict(zip(results, cotangents, strict=True)))
        self.given[v] = []
        for k in reals:
            total = totals.get(k)
            if total is None:
                total = b.const(0.0, real(f.params[k]))
            self.given[v].append(total)

    def _call_backward(self, vjp: int, cotangents: dict[int, int]) -> dict[int, int]:
        b = self.b
        transposed, call, args = self.forward[vjp]
        active = tuple(k for k in cotangents if transposed.active_results[k])
        totals: dict[int, int] = {}
        if not active:
            return totals
        back = transposed.backward(active, ())
        passed = []
        for kind, k in back.sources:
            if kind == "cotangent":
                passed.append(cotangents[k])
            elif kind == "tape":
                passed.append(b.get(call, k))
            elif kind == "arg":
                passed.append(args[k])
            else:
                totals[k] = b.accum(b.const(0.0, transposed.func.params[k]))
                passed.append(totals[k])
        result = b.call(back.func, passed)
        for kind, k in back.sources:
            if kind == "ref":
                totals[k] = b.resolve(totals[k])
        for j, k in enumerate(back.outputs):
            totals[k] = b.get(result, j)
        return totals
