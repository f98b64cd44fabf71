"""Copies of functions in which calls of some become something else, and of all functions that call these."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from itertools import count

from rose_core.language.builder import Builder
from rose_core.language.ir import Func
from rose_core.language.queries import derived
from rose_core.language.replay import Replay, Verbatim, copied

_versions = count(1)


def stays(f: Func) -> bool:
    """Whether it is the host's, has a derivative of its own or none, is not made yet, or is run again."""
    return bool(f.host or f.jvp or f.fault or f.opaque or f.origin or f.instance or f.remat)


class Copies:
    """Functions in which calls of some others, of those that are ``chosen``, become something else.

    A copy is remembered until others are chosen under the same name, so that what is known of it stays
    known. None that `stays` may be chosen.
    """

    def __init__(
        self, chosen: Callable[[Func], object], name: str = "in line", small: Container[Func] = ()
    ) -> None:
        self.chosen = chosen
        self.name = name
        self.small = small
        """The bodies of loops that are unrolled."""
        self.versions: dict[Func, _Version] = {}

    def of(self, f: Func) -> Func:
        """``f``, or a copy of it if anything in it changes."""
        if not self._version(f):
            return f
        made = f.memo[self.name]
        assert isinstance(made, _Copy)
        if made.copy is None:
            made.copy = self._derived(f) if f.origin else copied(f, self.replay)
            if f.jvp:
                made.copy.jvp = self.of(f.jvp)
        return made.copy

    def replay(self, f: Func, b: Builder, args: Sequence[int]) -> Replay:
        """What makes a copy of ``f``."""
        raise NotImplementedError

    def _derived(self, f: Func) -> Func:
        """The place-holder ``f`` as that of the derivative of a copy."""
        assert f.origin
        by, of = f.origin
        copy = Func(f.name, f.param_types, f.ret)
        copy.param_names = f.param_names
        if by == "jvp":
            copy.derive_jvp(self.of(of))
        else:
            copy.derive_jet(self.of(of), f.order)
        return copy

    def _version(self, f: Func) -> _Version:
        """A number for what changes in ``f``; 0 if nothing does. Until it has one, what is in it."""
        found = self.versions.get(f)
        if found is None:
            inside: list[_Inside] = []
            if not (f.host or f.fault or f.opaque or f.instance):
                self.versions[f] = 0
                inside += [(self.chosen(g), g in self.small, self._version(g)) for g in f.callees]
                # a rule that calls what it is the derivative of calls the copy of that
                self.versions[f] = tuple(inside) if any(map(any, inside)) else 0
                inside += [(False, False, self._version(g)) for g in derived(f)]
            made = f.memo.get(self.name)
            if not any(map(any, inside)):
                found = 0
            elif isinstance(made, _Copy) and made.inside == inside and made.rule is f.jvp:
                found = made.version
            else:
                found = next(_versions)
                f.memo[self.name] = _Copy(inside, f.jvp, found)
            self.versions[f] = found
        return found


_Version = int | tuple["_Inside", ...]
_Inside = tuple[object, bool, _Version]


@dataclass(slots=True)
class _Copy:
    """A function in which something changes."""

    inside: list[_Inside]
    """Which of its callees are chosen, which are bodies of loops that are unrolled, and their versions."""
    rule: Func | None
    """The derivative that its author gave it, who may give it another one."""
    version: int
    copy: Func | None = None


class Copying(Verbatim):
    """Copies a function with copies of what it calls."""

    def __init__(self, func: Func, b: Builder, args: Sequence[int], copies: Copies) -> None:
        super().__init__(func, b, args)
        self.copies = copies

    def function(self, f: Func) -> Func:
        return self.copies.of(f)
