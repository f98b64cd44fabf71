"""The order of additions in loops that run in lanes: every element gets the same ones, in the same order.

What iterations side by side add to elements of their own may come in any order. Where several iterations add
to one element, as in a stencil, it depends on how the elements move, and on which accumulators they are in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import combinations, starmap
from typing import TYPE_CHECKING

from rose_core.language.ir import ACCUM, REF_INDEX, Func
from rose_core.language.queries import path_of
from rose_core.wasm.apart import differ, is_beyond
from rose_core.wasm.strides import STEP

if TYPE_CHECKING:
    from rose_core.wasm.lanes import Beside, Column, Lanes
    from rose_core.wasm.lower import Body

_MOST_OWN = 16
"""The most numbers in memory that are added to in local variables instead."""

_MOST_UNSURE = 3
"""The most rows of an accumulator that are told apart while the program runs."""

WIDEST = 8
"""The most neighbours that are added to at once."""


def keeps_order(body: Body, lanes: Lanes) -> bool:
    """Whether each element gets the same additions in the same order if iterations run side by side.

    What is added to elements of several iterations, lane by lane, comes first where its element is farthest:
    what an iteration adds to an element has been done then before a later iteration adds to it. Elements that
    are the same one in one iteration only get what they get in the order of that.
    """
    func, accumulators = body.func, body.demand.accumulators
    alone = func.blocks[lanes.number].trips - (lanes.last - lanes.first)
    offsets: dict[int, set[_Steps]] = {}
    for v in lanes.sites:
        r = func.code[v][1]
        site = lanes.elements[r]
        for root in accumulators(r):
            offsets.setdefault(root, set()).add((site.step, site.ahead, site.beside))
    may_meet = partial(body.given.may_meet, func)
    sites_of = {root: [v for v in lanes.sites if root in accumulators(func.code[v][1])] for root in offsets}
    shared = {
        root
        for root, at in offsets.items()
        if len(at) > 1
        and not _meet_in_one_iteration(body, lanes.number, [func.code[v][1] for v in sites_of[root]])
    }
    for root in shared:
        sites = sites_of[root]
        lanes.shared.update(sites)
        columns: dict[Column, list[int]] = {}
        for v in sites:
            columns.setdefault(lanes.elements[func.code[v][1]].column, []).append(v)
        are_its_own = all(accumulators(func.code[v][1]) == [root] for v in sites)
        are_flows = all(_is_flow(lanes, func, column) for column in columns.values())
        rows = {of for of, *_ in columns}
        by_lanes = _apart(offsets[root])
        if (
            are_its_own
            and are_flows
            and (_are_apart(body, rows) or (not by_lanes and _may_be_apart(body, lanes, rows)))
        ):
            lanes.flows.update(
                (column, of) for column, of in columns.items() if _are_several(lanes, func, of)
            )
        elif not by_lanes:
            lanes.single.update(sites)
    for root in offsets.keys() - shared:
        lanes.repeated |= _repeated(body, root, [func.code[v][1] for v in sites_of[root]])
    return (
        (func.blocks[lanes.number].is_whole or not shared)
        and all(_alike(offsets[root]) for root in shared)
        and (alone > 0 or not lanes.single)
        and all(len(offsets[r] | offsets[s]) == 1 for r, s in combinations(offsets, 2) if may_meet([r], [s]))
        and _sums_are_apart(body, lanes)
        and _recurrences_are_apart(body, lanes)
    )


def add_in_turn(body: Body, lanes: Lanes) -> None:
    """Have the loop add what each iteration adds by itself, and one iteration after the other."""
    lanes.in_turn = _in_turn(body, body.demand.anchors[lanes.number])
    lanes.flows, lanes.repeated, lanes.unsure = {}, {}, []
    for of in (lanes.shared, lanes.single, lanes.own):
        of.clear()


def _in_turn(body: Body, sites: Sequence[int]) -> list[int]:
    """Of what is added in an iteration, all but what goes to numbers by themselves, and only there."""
    code = body.func.code
    parts = [v for v in sites if code[code[v][1]][0] != ACCUM]
    shared = {root for v in parts for root in body.demand.accumulators(code[v][1])}
    return [v for v in sites if code[code[v][1]][0] != ACCUM or code[v][1] in shared]


def _sums_are_apart(body: Body, lanes: Lanes) -> bool:
    """Whether what stays is never an element that moves. Finds those of these that nothing else is."""
    code, accumulators = body.func.code, body.demand.accumulators
    sites, sums = ({code[v][1] for v in of} for of in (lanes.sites, lanes.sums))
    are_few = len(sums) <= _MOST_OWN
    of_sites, of_sums = ({root for r in of for root in accumulators(r)} for of in (sites, sums))
    if body.given.may_meet(body.func, of_sites, of_sums) and not (
        are_few and not any(_may_be(body, lanes.number, r, site) for r in sums for site in sites)
    ):
        return False
    once = [r for r, count in Counter(code[v][1] for v in lanes.sums).items() if count == 1]
    for r in once if are_few else ():
        if code[r][0] == REF_INDEX and not any(_may_be(body, lanes.number, r, other) for other in sums - {r}):
            lanes.own.add(r)
    return True


def _recurrences_are_apart(body: Body, lanes: Lanes) -> bool:
    """Whether nothing else is added to what a step of a recurrence adds to, whose order that has seen to."""
    accumulators, down = body.demand.accumulators, body.func.blocks[lanes.number].down
    added = [
        accumulators(found.operands[found.elements[place].of - 1])
        for found in lanes.recurrences.values()
        for place in found.places()
    ]
    others = {root for v in (*lanes.sites, *lanes.sums) for root in accumulators(body.func.code[v][1])}
    may_meet = partial(body.given.may_meet, body.func)
    return (
        not (added and down)
        and not any(may_meet(roots, others) for roots in added)
        and not any(may_meet(one, other) for one, other in combinations(added, 2))
    )


def _may_be(body: Body, number: int, r: int, other: int) -> bool:
    """Whether a number that stays while a loop runs may be another one, or an element that moves."""
    func, accumulators = body.func, body.demand.accumulators
    if not body.given.may_meet(func, accumulators(r), accumulators(other)):
        return False
    (path, root), (others, other_root) = path_of(func, r), path_of(func, other)
    return root != other_root or not any(
        is_beyond(body, number, i, j) if j >= 0 and func.home[j] == number else differ(body, i, j)
        for i, j in zip(path, others, strict=False)
    )


def _are_apart(body: Body, rows: Collection[int]) -> bool:
    """Whether these are different rows of one accumulator."""
    paths = [path_of(body.func, r) for r in rows]
    return all(
        root == other_root and any(starmap(partial(differ, body), zip(path, other, strict=False)))
        for (path, root), (other, other_root) in combinations(paths, 2)
    )


def _may_be_apart(body: Body, lanes: Lanes, rows: Collection[int]) -> bool:
    """Whether rows of which it is not known, as at clamped indices, are different if their addresses are.

    That the loop has to look at these is noted then.
    """
    types = {body.func.types[r] for r in rows}
    paths = [path_of(body.func, r) for r in rows]
    if len(types) > 1 or len({(root, len(path)) for path, root in paths}) > 1 or len(rows) > _MOST_UNSURE:
        return False
    lanes.unsure += combinations(sorted(rows), 2)
    return True


def _meet_in_one_iteration(body: Body, number: int, elements: Collection[int]) -> bool:
    """Whether no two of these elements of an accumulator are the same one, but in one and the same iteration.

    Those of a row and of a column are that where these cross, as ``g[i][j]`` and ``g[j][i]``.
    """
    paths = [path_of(body.func, r) for r in elements]
    return all(
        root == other_root and _cross(body, number, path, other)
        for (path, root), (other, other_root) in combinations(paths, 2)
    )


def _cross(body: Body, number: int, path: Sequence[int], other: Sequence[int]) -> bool:
    """Whether elements at these indices are the same one in the same iteration only.

    An index follows the iteration in one of them as one does in the other; these are at the same place, or
    each is compared with one that is the same in both.
    """
    iteration = body.func.blocks[number].index
    lines, others = ([_line(body, number, i) for i in of] for of in (path, other))
    return any(
        line
        and line[0] == iteration
        and line[1] > 0
        and line == others[j]
        and lines[j]
        and lines[j] == others[k]
        for k, line in enumerate(lines)
        for j in range(len(others))
    )


def _line(body: Body, number: int, i: int) -> tuple[int, int, int] | None:
    """An index as `Body.affine` has it, or if it is from outside of a loop, as itself."""
    if i < 0:
        return -1, 0, int(body.func.pool[~i][0])
    return body.affine(i) or ((i, 1, 0) if body.func.home[i] != number else None)


def _repeated(body: Body, root: int, sites: Sequence[int]) -> dict[int, int]:
    """The elements of an accumulator that are added to several times, if all of them are different ones."""
    often = Counter(sites)
    fits = len(often) < len(sites) and len(often) <= _MOST_OWN and body.func.code[root][0] == ACCUM
    if not fits or any(path_of(body.func, r)[1] != root for r in often) or not _are_apart(body, often):
        return {}
    return {r: count for r, count in often.items() if count > 1}


_Steps = tuple[int, int, "Beside"]
"""Of an element, its step, how far it is ahead, and what else goes into where it is."""


def _alike(places: Iterable[_Steps]) -> bool:
    """Whether different elements move alike, and nothing else is in their indices."""
    return len({step for step, _, _ in places}) == 1 and all(not beside for _, _, beside in places)


def _is_flow(lanes: Lanes, func: Func, sites: Sequence[int]) -> bool:
    """Whether these sites of a column add to neighbours."""
    elements = [lanes.elements[func.code[v][1]] for v in sites]
    steps = {e.step for e in elements}
    ahead = [e.ahead for e in elements]
    return steps == {elements[0].size} and max(ahead) - min(ahead) < WIDEST


def _are_several(lanes: Lanes, func: Func, sites: Sequence[int]) -> bool:
    """Whether these sites of a column add to several elements in an iteration, and not to one."""
    return len({lanes.elements[func.code[v][1]].ahead for v in sites}) > 1


def _apart(places: Iterable[_Steps]) -> bool:
    """Whether elements, of which there are the steps, are read and written lane by lane in the same way."""
    (step, *others) = {step for step, _, _ in places}
    return step != STEP and not others
