"""Compilations that are given up."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from e2e.node import returned

HEAD = """
    const { Real, compile, configure, fn, mul, ready } = rose;
    configure({ cache: false });
    /** Takes long to compile. */
    const lasting = (c) => fn([Real], Real, (x) => {
        const powers = [mul(c, x)];
        for (let k = 0; k < 100_000; ++k) powers.push(mul(powers[k >> 1], powers[k]));
        return powers.at(-1);
    });
    const large = lasting(1);
    const small = (c) => fn([Real], Real, (x) => mul(c, x));
    const outcome = (promise) => promise.then(String, (error) => error);
"""


def in_page(page: Page, url: str, body: str) -> object:
    """What ``body`` returns; in it, ``asked(n)`` waits for the request number ``n`` to a worker,
    and ``times()`` tells how many there were."""
    page.goto(f"{url}pages/blank.html")
    code = """async (body) => {
        let times = 0;
        let heard = () => {};
        const { postMessage } = Worker.prototype;
        Worker.prototype.postMessage = function (message) {
            if (message.request) ++times;
            heard();
            return postMessage.call(this, message);
        };
        const asked = async (n) => { while (times < n) await new Promise((next) => { heard = next; }); };
        const rose = await import("../rose.js");
        const run = new Function("rose", "asked", "times", `return (async () => { ${body} })()`);
        return await run(rose, asked, () => times);
    }"""
    return page.evaluate(code, HEAD + body)


@pytest.fixture
def workers(page: Page) -> list[object]:
    """All workers that the page has started."""
    found: list[object] = []
    page.on("worker", lambda worker: found.append(worker))
    return found


def test_a_busy_worker_is_replaced(page: Page, site_url: str, workers: list[object]) -> None:
    body = """
        await ready();
        const giving = new AbortController();
        const promise = outcome(compile(large, { signal: giving.signal }));
        const others = [compile(small(2)), compile(small(3))];
        await asked(1);
        giving.abort("not needed");
        const reason = await promise;
        return [reason, ...(await Promise.all(others)).map((f) => f(7)), (await compile(small(4)))(7)];"""
    assert in_page(page, site_url, body) == ["not needed", 14, 21, 28]
    assert len(workers) == 2
    while len(page.workers) > 1:  # the browser tells later than the page
        page.wait_for_timeout(20)


def test_others_wait_through_several(page: Page, site_url: str, workers: list[object]) -> None:
    body = """
        const giving = [1, 2].map(() => new AbortController());
        const promises = giving.map(({ signal }, k) => outcome(compile(lasting(k), { signal })));
        const other = compile(small(2));
        const reasons = [];
        for (const k of [0, 1]) {
            await asked(k + 1);
            giving[k].abort(k);
            reasons.push(await promises[k]);
        }
        return [...reasons, (await other)(7)];"""
    assert in_page(page, site_url, body) == [0, 1, 14]
    assert len(workers) == 3


def test_what_waits_its_turn_leaves_the_worker_alone(
    page: Page, site_url: str, workers: list[object]
) -> None:
    body = """
        const giving = new AbortController();
        const first = compile(small(2));
        const promise = outcome(compile(large, { signal: giving.signal }));
        giving.abort("not needed");
        const reason = await promise;
        return [reason, (await first)(7), (await compile(small(3)))(7)];"""
    assert in_page(page, site_url, body) == ["not needed", 14, 21]
    assert len(workers) == 1


def test_what_is_given_up_at_once_starts_nothing(page: Page, site_url: str, workers: list[object]) -> None:
    body = """
        const { name } = await outcome(compile(large, { signal: AbortSignal.abort() }));
        const timeout = await outcome(compile(large, { signal: AbortSignal.timeout(0) }));
        return [name, timeout.name];"""
    assert in_page(page, site_url, body) == ["AbortError", "TimeoutError"]


def test_a_signal_that_stays_silent_changes_nothing(node: Callable[[str], str]) -> None:
    """In Node, where Python is on the same thread: it can be given up between two steps."""
    body = """
        const silent = new AbortController(), giving = new AbortController();
        const f = await compile(small(2), { signal: silent.signal });
        silent.abort();
        const promise = outcome(compile(small(3), { signal: giving.signal }));
        giving.abort("not needed");
        return [f(7), await promise, (await compile(small(4)))(7)];"""
    head = 'import * as rose from "./rose.js";'
    assert returned(node, head, HEAD + body) == [14, "not needed", 28]


def test_what_several_want_is_compiled_once(page: Page, site_url: str, workers: list[object]) -> None:
    """And goes on for the others if one of them gives it up; when all have, nobody waits for it any more."""
    body = """
        await ready();
        const giving = [1, 2, 3].map(() => new AbortController());
        const ask = ({ signal }) => outcome(compile(large, { signal }));
        const promises = giving.slice(0, 2).map(ask);
        const same = [compile(small(2)), compile(small(2))];
        await asked(1);
        giving[0].abort("first");
        const first = await promises[0];
        const late = ask(giving[2]);
        giving[1].abort("second");
        giving[2].abort("third");
        const reasons = [first, await promises[1], await late];
        const values = (await Promise.all(same)).map((f) => f(7));
        return [reasons, values, times()];"""
    assert in_page(page, site_url, body) == [["first", "second", "third"], [14, 14], 2]
    assert len(workers) == 2


@pytest.mark.parametrize("ask", ["inspect(large,", "sparseJacobian(large, 0,"])
def test_what_is_only_told_can_be_given_up(page: Page, site_url: str, ask: str) -> None:
    body = f"""
        await ready();
        const giving = new AbortController();
        const promise = outcome(rose.{ask} {{ signal: giving.signal }}));
        await asked(1);
        giving.abort("not needed");
        return [await promise, (await rose.inspect(small(2))).size > 0];"""
    assert in_page(page, site_url, body) == ["not needed", True]
