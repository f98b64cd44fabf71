"""Functions that are edited while they are used."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

BODY = """async (work) => {
    const rose = await import("../rose.js");
    rose.configure({ cache: false });
    const times = (k) => rose.fn([rose.Real], rose.Real, (x) => rose.mul(k, x));
    const wrong = rose.fn([rose.Real], rose.Real, (x) => {
        const secret = rose.opaque([rose.Real], rose.Real, (y) => y);
        return rose.vjp(secret)(x).grad(1);
    });
    const told = (action) => { try { return action(); } catch (error) { return error.message; } };
    return await Function("rose", "times", "wrong", "told", `return (async () => { ${work} })()`)(
        rose, times, wrong, told);
}"""


def run(page: Page, url: str, work: str) -> Any:
    page.goto(f"{url}pages/blank.html")
    return page.evaluate(BODY, work)


def test_the_last_good_one_serves_until_the_next_is_ready(page: Page, site_url: str) -> None:
    work = """
        const f = rose.hot();
        const seen = [told(() => f(2))];
        seen.push(await f.update(times(3)), f(2));
        const next = f.update(times(4));
        seen.push(f(2), await next, f(2));
        seen.push(await f.update(wrong).catch((error) => error.message), f(2));
        seen.push(await f.update(5).catch((error) => error.message), f(2));
        seen.push(await f.update(times(6)), f(2), f.current(2));
        return seen;"""
    first, *served, bad, still, worse, at_last, mended, six, current = run(page, site_url, work)
    assert first == "hot: nothing has compiled yet"
    assert served == [True, 6, 6, True, 8]
    assert "has no derivative" in bad and "expected a function" in worse
    assert (still, at_last) == (8, 8)
    assert (mended, six, current) == (True, 12, 12)


def test_only_the_latest_edit_is_compiled(page: Page, site_url: str) -> None:
    work = """
        await rose.ready();
        let count = 0;
        const construct = (...args) => (++count, Reflect.construct(...args));
        WebAssembly.Instance = new Proxy(WebAssembly.Instance, { construct });
        const f = rose.hot();
        const edits = [1, 2, 3, 4, 5].map((k) => f.update(times(k)));
        const replaced = await edits[0].then(() => f.current);
        const done = await Promise.all(edits);
        return [done, f(2), count, told(() => replaced(2))];"""
    done, value, count, replaced = run(page, site_url, work)
    assert done == [True, False, False, False, True]
    assert (value, count) == (10, 2)
    assert "disposed" in replaced


def test_after_dispose(page: Page, site_url: str) -> None:
    work = """
        const f = rose.hot();
        await f.update(times(2));
        const edits = [f.update(times(3)), f.update(times(4))];
        f.dispose();
        const late = f.update(times(5)).catch((error) => error.message);
        return [...await Promise.all(edits), await late, told(() => f(1))];"""
    first, second, late, call = run(page, site_url, work)
    assert (first, second) == (False, False)
    assert late == "hot: it was disposed of"
    assert "disposed" in call
