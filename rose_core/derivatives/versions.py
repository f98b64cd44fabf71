"""Arrays that loops update in their place: the backward pass takes the updates back, last to first.

What an iteration reads of such an array is kept where it is little (`derivatives.kept`). Where it is much, as
when a matrix is factored, only what updates write over is kept. The array itself goes along with the
iterations: the backward loop begins with what the loop ended with, and each iteration puts back what it has
written over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import proxy

from rose_core.derivatives.updates import chains, overwriting, updates_of_element
from rose_core.language.ir import INDEX, SET

if TYPE_CHECKING:
    from rose_core.derivatives.cotangents import Cotangents


class Versions:
    """The versions of arrays, in a forward function, that a backward function gets back to.

    ``restored`` are the numbers of the results, the last versions, that it is given for that; the first
    versions are parameters. Versions are ids of the forward function.
    """

    def __init__(self, reverse: Cotangents, restored: Sequence[int]) -> None:
        lin = reverse.lin
        self.reverse: Cotangents = proxy(reverse)  # which has this: a cycle would stay for some time
        self.overwritten = {lin.overwritten[v] for v in overwriting(lin.func)} if restored else set()
        """What updates write over, which is kept."""
        self.first: list[int] = []
        """For each result the first version."""
        self.result: dict[int, int] = {}
        """Version → the number of the result that it becomes."""
        self.demanded: set[int] = set()
        """The results of which an earlier version is needed, other than to be given back."""
        self._last: dict[int, int] = {}
        """The last versions, and the numbers of the results."""
        self._update: dict[int, int] = {}
        """Version → the update, an id of the source, that makes the next one from it."""
        self._known: dict[int, int] = {}
        """Version → the id of the backward function."""
        self._sought: set[int] = set()
        """The versions that are being got back to: nothing can be read of them yet."""
        for k in restored:
            versions = chains(lin.func)[k].versions
            ids = [lin.env[v] for v in versions]
            self.first.append(ids[0])
            self._last[ids[-1]] = k
            self.result.update(dict.fromkeys(ids, k))
            for w, after, v in zip(ids, ids[1:], versions[1:], strict=False):
                if lin.func.code[v][0] == SET and after != w:
                    self._update[w] = v

    def of(self, w: int) -> int | None:
        """The version that ``w``, of the forward function, is or is a part of."""
        code = self.reverse.fb.code
        while w >= 0 and w not in self.result and code[w][0] == INDEX:
            w = code[w][1]
        return w if w in self.result else None

    def is_there(self, w: int) -> bool:
        """Whether a version can be got back to by now: loops give theirs back when they are visited."""
        while w not in self._known and w in self._update and w not in self._sought:
            w = self.reverse.lin.env[self._update[w]]
        return w in self._known or w in self._last

    def demand(self, w: int) -> int:
        """The version ``w``, which is needed."""
        self.demanded.add(self.result[w])
        return self.get(w)

    def get(self, w: int) -> int:
        """The version ``w``: by taking back the updates after it, or kept where that is not possible."""
        updates = []
        while w not in self._known and w in self._update:
            updates.append((w, self._update[w]))
            w = self.reverse.lin.env[self._update[w]]
        if w not in self._known:
            self._known[w] = self.reverse.carry(w, self._last.get(w))
        found = self._known[w]
        self._sought.update(before for before, _ in updates)
        for before, v in reversed(updates):
            found = self._known[before] = self._taken_back(v, found)
        self._sought.difference_update(before for before, _ in updates)
        return found

    def _taken_back(self, v: int, after: int) -> int:
        """The array before the update ``v``, from that after it."""
        reverse = self.reverse
        i = reverse.value(reverse.func.code[v][2])
        inner = updates_of_element(reverse.func, v)
        old = reverse.b.index(after, i) if inner else reverse.fetch(reverse.lin.overwritten[v])
        for u in inner:
            old = self._taken_back(u, old)
        return reverse.b.set(after, i, old)

    # -- loops, choices and calls that take updates back ----------------------------------------------------

    def after(self, w: int, is_demanded: bool) -> int:
        """The array ``w`` of the forward pass, for them to take updates back from."""
        return self.get(w) if w in self.result and not is_demanded else self.reverse.fetch(w)

    def give_back(self, x: int, before: int) -> None:
        """Note ``before``, with which they have got back to their argument ``x``, an id of the source."""
        w = self.reverse.lin.env[x]
        if w in self.result:
            self._known.setdefault(w, before)
