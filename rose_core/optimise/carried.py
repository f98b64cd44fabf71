"""Elements that the last iterations of a loop have set, as numbers of its state: scalar replacement.

A trajectory is written as a vector in which each element is computed of the one before:

    loop i, state x:  x.set(i + 1, f(x[i]))     →     loop i, state x, y:  x.set(i + 1, f(y)), f(y)

An iteration would wait for memory until it has what the last one set, and on the way back for its cotangent.
So the loop carries that beside the vector (Callahan, Carr and Kennedy, 1990). Where iterations read and set
the same few elements, as those that add up ``c[i][j]``, the loop carries these in place of the array.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rose_core.language.builder import COUNT, Builder
from rose_core.language.demand import Demand
from rose_core.language.ir import COND, INDEX, LOOP, PARAM, SET, VEC, CondSite, Func, LoopSite, operands
from rose_core.language.ops import code
from rose_core.language.queries import among, opcodes, remembered, remembered_for
from rose_core.language.queries import places as places_of
from rose_core.language.replay import copied
from rose_core.language.types import REAL, UNIT, Array, Fin
from rose_core.optimise.copies import stays
from rose_core.optimise.other_loops import OtherLoops
from rose_core.optimise.outside import Knowing, given_values
from rose_core.optimise.ranges import LARGEST
from rose_core.optimise.unchanged import Path, element_path, updates

_IADD, _ISUB, _NARROW = map(code, ("iadd", "isub", "narrow"))

_INDICES = among([INDEX])

_MOST = 8
"""The most numbers that become state, and the most that are set of an array in an iteration."""

_FARTHEST = 4
"""From how many iterations ago they are at most."""

_DEEPEST = 8
"""The most operations in an index."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A linear index: the iteration's number and arguments, so many times each, and a constant."""

    slope: int
    args: frozenset[tuple[int, int]]
    more: int

    def before(self, lag: int) -> _Line:
        """What it was so many iterations ago."""
        return replace(self, more=self.more - self.slope * lag)

    def is_like(self, other: _Line) -> bool:
        """Whether the two differ by a constant."""
        return (self.slope, self.args) == (other.slope, other.args)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an element of an array is, or a part, and what an iteration puts there."""

    path: tuple[_Line | None, ...]
    """The indices that lead there, from the outermost in; None for those that are no such sums."""
    value: int

    def is_apart(self, other: _Place, lag: int) -> bool:
        """Whether this is never where ``other`` was so many iterations ago, nor in it."""
        pairs = zip(self.path, other.path, strict=False)
        return any(x and y and x.is_like(y) and x.more != y.before(lag).more for x, y in pairs)

    def lag(self, other: _Place) -> int | None:
        """How many iterations ago ``other`` was where this is, if that is always the same."""
        lags = set()
        for x, y in zip(self.path, other.path, strict=False):
            if not (x and y and x.is_like(y)):
                return None
            apart = y.more - x.more
            if x.slope:
                lags.add(apart / x.slope)
            elif apart:
                return None
        found = lags.pop() if lags else 1
        is_one = len(self.path) == len(other.path) and not lags
        return int(found) if is_one and found in range(1, 1 + _FARTHEST) else None


@dataclass(frozen=True, slots=True)
class _Carrying:
    """The body of a loop whose state also has elements that the last iterations have set, at its end."""

    body: Func
    starts: list[tuple[int, list[_Line]]]
    """For each element the leaf of the state, and where in that the element is before the first iteration."""
    instead: dict[int, list[int]]
    """Leaf of the state that the body does not get → which of these elements are all that changes in it."""


@dataclass(frozen=True, slots=True)
class _Where:
    """Where something is computed in an iteration."""

    body: Func
    carries: int
    func: Func
    """The body, or the side of a choice in it."""
    args: Sequence[int]
    """The values of the body that this gets as arguments."""


_ITERATION = (-1, 0)
"""In place of a choice and the number of its side, for what is in the body itself."""

_Read = tuple[int, int, int]
"""An element that is read: the choice and the number of its side where that is done, and the value there."""

_Set = tuple[int, int, int]
"""An element that was set: the leaf of the state, the number of the place in it, and the iterations since."""


def carried(f: Func) -> Func:
    """``f``, or a copy whose loops carry such elements; the functions that it calls are left."""
    return f if LOOP not in opcodes(f) or stays(f) else _carried(f)


@remembered
def _carried(f: Func) -> Func:
    sites = {v: LoopSite(f, ins) for v, ins in enumerate(f.code) if ins[0] == LOOP}
    bodies = {v: made for v, site in sites.items() if (made := _of_site(site))}
    return copied(f, _Carried, bodies) if bodies else f


def _of_site(site: LoopSite) -> _Carrying | None:
    body, spec = site.body, site.spec
    if site.test or spec.checkpoint or spec.down or SET not in opcodes(body) or stays(body):
        return None
    return _made(body, spec.carries)


@remembered_for
def _made(body: Func, carries: int) -> _Carrying | None:
    places, reads = _reads(body, carries)
    depth: Counter[tuple[int, int]] = Counter()
    for k, n, lag in reads.values():
        depth[k, n] = max(depth[k, n], lag)
    starts = {at: _starts(body, at[0], places[at[0]][at[1]], lags) for at, lags in depth.items()}
    starts = {at: found for at, found in starts.items() if found}
    if not 0 < sum(map(len, starts.values())) <= _MOST:
        return None
    copy = Func(body.name, [], UNIT)
    copy.effects = body.effects
    b = Builder(copy)
    params = [b.param(t) for t in body.params[: 1 + carries]]
    numbers = {at: [b.param(REAL) for _ in found] for at, found in starts.items()}
    params += [b.param(t) for t in body.params[1 + carries :]]
    known: dict[tuple[int, int], dict[int, int]] = {_ITERATION: {}}
    for (*at, v), (k, n, lag) in reads.items():
        if (k, n) in numbers:
            known.setdefault((at[0], at[1]), {})[v] = numbers[k, n][lag - 1]
    replay = _Iteration(body, b, params, known)
    results = replay.run()
    after = [x for (k, n), ids in numbers.items() for x in (replay.env[places[k][n].value], *ids[:-1])]
    copy.blocks[0].results = [*results[:carries], *after, *results[carries:]]
    flat = [(k, path) for (k, _), found in starts.items() for path in found]
    instead = {}
    for k in dict.fromkeys(k for k, _ in flat):
        own = {tuple(path): n for n, (leaf, path) in enumerate(flat) if leaf == k}
        if own.keys() == {x.path for x in places[k]} and _is_alone(copy, 1 + k):
            instead[k] = list(own.values())
    return _Carrying(_without(copy, instead), flat, instead)


def _is_alone(body: Func, k: int) -> bool:
    """Whether parameter ``k``, a leaf of the state, has a part in no result but its own."""
    demand = Demand(body, [x for n, x in enumerate(body.results) if n != k - 1])
    return body.code[k] == (PARAM, k) and not demand.uses[k]


def _without(body: Func, leaves: Collection[int]) -> Func:
    """The body without these leaves of the state."""
    if not leaves:
        return body
    gone = {1 + k for k in leaves}
    for v, ins in enumerate(body.code):
        if not gone.isdisjoint(operands(ins, body.blocks)):
            gone.add(v)
    return given_values(body, [], gone, [x for k, x in enumerate(body.results) if k not in leaves])


def _reads(body: Func, carries: int) -> tuple[dict[int, list[_Place]], dict[_Read, _Set]]:
    """By leaf of the state, what an iteration sets of it, the last first; and what an iteration reads that
    was set in one before.
    """
    iteration = _Where(body, carries, body, range(len(body.params)))
    places: dict[int, list[_Place]] = {}
    leaves: dict[int, int] = {}
    """Each version of an array in the state → the leaf."""
    reads: dict[_Read, _Set] = {}

    def look(where: _Where, v: int, at: tuple[int, int]) -> None:
        array, path = element_path(where.func, v)
        if where.func is not body:
            if array < 0 or where.func.code[array][0] != PARAM:
                return
            array = where.args[where.func.code[array][1]]
        k = leaves.get(array, -1)
        if k < 0 or not places[k]:
            return
        here = _Place(_lines(where, path), v)
        is_old = body.code[array][0] == PARAM or all(here.is_apart(x, 0) for x in places[k])
        if is_old and (last := _set_before(here, places[k])):
            reads[*at, v] = k, *last

    for v, ins in enumerate(body.code):
        if ins[0] == PARAM and 0 < ins[1] <= carries:
            k = ins[1] - 1
            chain = [*updates(body, body.results[k])]
            found = _places(iteration, body.results[k], v) if 0 < len(chain) <= _MOST else []
            if len(found) <= _MOST:
                leaves |= dict.fromkeys([v, *chain], k)
                places[k] = found
        elif ins[0] == INDEX and body.types[v] is REAL:
            look(iteration, v, _ITERATION)
        elif ins[0] == COND:
            site = CondSite(body, ins)
            for n, side in enumerate(site.functions):
                where = _Where(body, carries, side, site.args[n])
                for w in [] if stays(side) else places_of(side, _INDICES):
                    if side.types[w] is REAL:
                        look(where, w, (v, n))
    return places, reads


def _places(where: _Where, result: int, array: int) -> list[_Place]:
    """The places that an iteration sets to make ``result`` of ``array``, the last first."""
    body = where.body

    def changes(x: int, place: tuple[int, ...], path: tuple[_Line | None, ...]) -> Iterator[_Place]:
        """Where ``x`` differs from what it takes the place of."""
        chain = list(updates(body, x))
        first = body.code[chain[-1]][1] if chain else x
        if first >= 0 and (first == array if not path else body.code[first] == place):
            for v in chain:
                _, before, i, y = body.code[v]
                yield from changes(y, (INDEX, before, i), (*path, *_lines(where, (i,))))
        elif x >= 0 and body.code[x][0] == VEC:
            for n, y in enumerate(body.code[x][1:]):
                yield from changes(y, (), (*path, _Line(0, frozenset(), n)))
        else:
            yield _Place(path, x)

    return list(changes(result, (), ()))


def _lines(where: _Where, path: Path) -> tuple[_Line | None, ...]:
    return tuple([_line(where, i) for i in path])


def _line(where: _Where, i: int) -> _Line | None:
    """The index ``i`` in the body of a loop as a linear one, if it is that, with no large constant."""
    times: Counter[int] = Counter()
    more = 0
    waiting = [(where.func, i, 1)]
    for f, v, sign in waiting:
        t = f.type_of(v)
        assert isinstance(t, Fin)
        if v < 0:
            more += sign * int(f.pool[~v][0])
            continue
        op, *given = f.code[v]
        if op in (_IADD, _ISUB):
            waiting += [(f, given[0], sign), (f, given[1], sign if op == _IADD else -sign)]
        elif op == _NARROW:
            waiting.append((f, given[0], sign))
        elif op == PARAM and f is not where.body:
            waiting.append((where.body, where.args[given[0]], sign))
        elif op == PARAM and not 0 < given[0] <= where.carries and t.size <= LARGEST:
            times[given[0]] += sign
        else:
            return None
        if len(waiting) > 2 * _DEEPEST:
            return None
    args = frozenset((p, n) for p, n in times.items() if p and n)
    return _Line(times[0], args, more) if abs(more) <= LARGEST else None


def _set_before(here: _Place, places: Sequence[_Place]) -> tuple[int, int] | None:
    """In which of the places what is ``here`` was set last, and how many iterations ago, if that is known."""
    for n, place in enumerate(places):
        lag = here.lag(place)
        if lag:
            later = [(other, lag) for other in places[:n]]
            later += [(other, k) for other in places for k in range(1, lag)]
            if all(here.is_apart(other, k) for other, k in later):
                return n, lag
    return None


def _starts(body: Func, k: int, place: _Place, lags: int) -> list[list[_Line]]:
    """Where the elements are that the state begins with; none if that may be beyond the array."""
    found = []
    for lag in range(1, 1 + lags):
        t = body.params[1 + k]
        path = [x.before(lag) for x in place.path if x]
        for line in path:
            assert isinstance(t, Array)
            assert isinstance(t.index, Fin)
            ends = [n * (body.params[p].size - 1) for p, n in line.args]  # type: ignore[attr-defined]
            low, high = (line.more + sum(choose(0, end) for end in ends) for choose in (min, max))
            if low < 0 or high >= t.index.size:
                return []
            t = t.elem
        found.append(path)
    return found


class _Iteration(Knowing):
    """Copies the body of a loop, some of whose values are known, and some in the sides of its choices."""

    def __init__(
        self, func: Func, b: Builder, args: Sequence[int], known: Mapping[tuple[int, int], Mapping[int, int]]
    ) -> None:
        super().__init__(func, b, args, known[_ITERATION])
        self.sides = known

    def cond(self, v: int, ins: tuple[int, ...]) -> None:
        site = CondSite(self.func, ins)
        sides, given = [], []
        for k, side in enumerate(site.functions):
            known = self.sides.get((v, k), {})
            sides.append(given_values(side, list(known)) if known else side)
            given.append([*(self.env[x] for x in site.args[k]), *known.values()])
        self.env[v] = self.b.cond(self.env[site.p], sides[0], given[0], sides[1], given[1])


class _Carried(OtherLoops):
    """Copies a function whose loops carry elements."""

    def other_loop(self, v: int, site: LoopSite, made: _Carrying, state: list[int], args: list[int]) -> None:
        b, carries = self.b, site.spec.carries
        given = [0] * (1 + carries) + args
        ways = [(k, self._way(state[k], path, given)) for k, path in made.starts]
        numbers = [b.index(rows[-1], indices[-1]) for _, (rows, indices) in ways]
        left = [x for k, x in enumerate(state) if k not in made.instead]
        spec = replace(site.spec, carries=len(left) + len(numbers))
        loop = b.loop(spec, self.env[site.count], made.body, [*left, *numbers], args)
        after = iter(range(len(left)))
        found = self.replaced[v] = []
        for k in range(carries):
            if k not in made.instead:
                found.append(b.get(loop, next(after)))
                continue
            array = state[k]
            for n in made.instead[k]:
                rows, indices = self._way(array, made.starts[n][1], given)
                array = b.get(loop, len(left) + n)
                for row, i in zip(reversed(rows), reversed(indices), strict=True):
                    array = b.set(row, i, array)
            found.append(array)
        rest = len(site.body.results) - carries
        found += [b.get(loop, spec.carries + k) for k in range(1 + rest)]

    def _way(self, x: int, path: Sequence[_Line], given: Sequence[int]) -> tuple[list[int], list[int]]:
        """The rows on the way from an array to an element, from the array in, and the index in each."""
        b = self.b
        rows, indices = [x], list[int]()
        for line in path:
            size = b.func.array_type_of(rows[-1]).index
            assert isinstance(size, Fin)
            i = b.const(line.more, COUNT)
            for p, times in sorted(line.args):
                for _ in range(abs(times)):
                    i = b.binary(_IADD if times > 0 else _ISUB, i, given[p], COUNT)
            indices.append(b.narrow(i, size))
            rows.append(b.index(rows[-1], indices[-1]))
        return rows[:-1], indices
