"""Compiled programs in the browser's cache: a program that was compiled once needs no Python again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page

NewPage = Callable[..., Page]

BODY = """async ([name, options]) => {
    const rose = await import("../rose.js");
    const { Real, Vec, compile, configure, fn, mul, add, sin, vjp } = rose;
    if (options) configure(options);
    const programs = {
        sine: () => {
            const f = fn([Real], Real, (x) => mul(3, sin(x)));
            return fn([Real], Real, (x) => vjp(f)(x).grad(1));
        },
        // the same, after something that it does not need, its types named before
        again: () => {
            const types = [Vec(5, Real), Vec(2, Vec(3, Real))];
            const other = fn(types, Real, ([x]) => x);
            const f = fn([Real], Real, (x) => mul(3, sin(x)));
            fn(types, Real, (...v) => other(...v));
            return fn([Real], Real, (x) => vjp(f)(x).grad(1));
        },
        // another number in it
        other: () => {
            const f = fn([Real], Real, (x) => mul(5, sin(x)));
            return fn([Real], Real, (x) => vjp(f)(x).grad(1));
        },
        nan: () => fn([Real], Real, (x) => add(x, 0 / 0)),
        minusNan: () => fn([Real], Real, (x) => add(x, -(0 / 0))),
    };
    return (await compile(programs[name]()))(0);
}"""

DATABASE = """async (action) => {
    const known = await indexedDB.databases();
    if (!known.some(({ name }) => name === "rose programs")) return undefined;
    const request = indexedDB.open("rose programs");
    await new Promise((done) => { request.onsuccess = done; });
    const transaction = request.result.transaction(["files", "uses"], "readwrite");
    const [files, uses] = ["files", "uses"].map((name) => transaction.objectStore(name));
    let result;
    Function("files", "uses", "done", action)(files, uses, (found) => { result = found; });
    await new Promise((done) => { transaction.oncomplete = done; });
    request.result.close();
    return result;
}"""


LAST_USE = """uses.index("used").openCursor(null, "prev").onsuccess =
    ({ target: { result } }) => done(result?.key ?? 0);"""


class Visitor:
    """A reader, who comes back."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context = context
        self.url = url
        self.requests: list[str] = []
        context.on("request", lambda request: self.requests.append(request.url))

    def visit(self, program: str, options: object = None, keeps: bool = True) -> object:
        """Open a page that compiles a program, and close it when that is noted; what it gives at 0."""
        self.requests.clear()
        page = self.context.new_page()
        page.goto(f"{self.url}pages/blank.html")
        start = page.evaluate("Date.now()")
        value = page.evaluate(BODY, [program, options])
        if keeps:
            page.evaluate(
                f"async (start) => {{ while (!(await ({DATABASE})({LAST_USE!r}) >= start)); }}", start
            )
        page.close()
        return value

    @property
    def loaded_python(self) -> bool:
        return any("/pyodide/" in url or "worker" in url for url in self.requests)

    def database(self, action: str) -> object:
        """Look into the database, or change it."""
        page = self.context.new_page()
        page.goto(f"{self.url}pages/blank.html")
        found = page.evaluate(DATABASE, action)
        page.close()
        return found

    def kept(self) -> list[str]:
        """What is kept, least recently used first."""
        action = "uses.index('used').getAllKeys().onsuccess = (e) => done(e.target.result)"
        return self.database(action) or []  # type: ignore[return-value]


@pytest.fixture
def visitor(new_page: NewPage, site_url: str) -> Visitor:
    return Visitor(new_page().context, site_url)


def test_a_second_visit_loads_no_python(visitor: Visitor) -> None:
    assert visitor.visit("sine") == 3
    assert visitor.loaded_python
    assert visitor.visit("sine") == 3
    assert not visitor.loaded_python


def test_a_program_is_what_it_does_and_not_how_the_page_came_to_it(visitor: Visitor) -> None:
    visitor.visit("sine")
    assert visitor.visit("again") == 3
    assert not visitor.loaded_python
    assert visitor.visit("other") == 5
    assert visitor.loaded_python
    assert len(visitor.kept()) == 2


def test_a_precise_program_is_another(visitor: Visitor) -> None:
    for options in (None, {"precise": True}):
        visitor.visit("sine", options)
        assert visitor.loaded_python
    visitor.visit("sine", {"precise": True})
    assert not visitor.loaded_python


def test_every_nan_is_the_same_number(visitor: Visitor) -> None:
    visitor.visit("nan")
    visitor.visit("minusNan")
    assert not visitor.loaded_python


def test_a_tab_uses_what_another_compiled(visitor: Visitor) -> None:
    other = visitor.context.new_page()
    other.goto(f"{visitor.url}pages/blank.html")
    other.evaluate(BODY, ["other", None])
    visitor.visit("sine")
    visitor.requests.clear()
    assert other.evaluate(BODY, ["sine", None]) == 3
    assert not visitor.loaded_python


def test_without_a_cache_nothing_is_kept(visitor: Visitor) -> None:
    for _ in range(2):
        assert visitor.visit("sine", {"cache": False}, keeps=False) == 3
        assert visitor.loaded_python
    assert visitor.kept() == []


DAMAGE = """files.getAllKeys().onsuccess = (e) => {
    const key = e.target.result[0];
    files.get(key).onsuccess = ({ target: { result } }) => {
        %s
        files.put(result, key);
    };
};"""


@pytest.mark.parametrize(
    "damage",
    [
        "result[result.length >> 1] ^= 1;",
        "result = result.slice(0, -100);",
        "result = new Uint8Array(0);",
        "result = 'something else';",
    ],
)
def test_a_damaged_file_is_written_over(visitor: Visitor, damage: str) -> None:
    visitor.visit("nan")
    before = visitor.kept()
    visitor.database(DAMAGE % damage)
    assert visitor.visit("nan") != visitor.visit("nan")  # NaN, both times
    assert visitor.kept() == before


def test_another_program_of_the_same_hash_is_not_taken_for_it(visitor: Visitor) -> None:
    visitor.visit("sine")
    (sine,) = visitor.kept()
    visitor.visit("other")
    (other,) = set(visitor.kept()) - {sine}
    visitor.database(f"files.get('{sine}').onsuccess = (e) => files.put(e.target.result, '{other}')")
    assert visitor.visit("other") == 5
    assert visitor.loaded_python
    assert visitor.visit("other") == 5
    assert not visitor.loaded_python


def test_the_least_recently_used_goes_first(visitor: Visitor) -> None:
    visitor.visit("sine")
    (sine,) = visitor.kept()
    visitor.visit("other")
    (other,) = set(visitor.kept()) - {sine}
    visitor.visit("sine")
    assert visitor.kept() == [other, sine]
    size = visitor.database(f"uses.get('{sine}').onsuccess = (e) => done(e.target.result.size)")
    visitor.visit("nan", {"cache": 2 * int(size) + 20})  # type: ignore[call-overload]
    assert sine in visitor.kept()
    assert other not in visitor.kept()
    assert len(visitor.kept()) == 2
    assert visitor.database(SUMS) == [0, 0]


def test_what_was_kept_before_the_clock_was_set_back_goes_first(visitor: Visitor) -> None:
    visitor.visit("sine")
    (sine,) = visitor.kept()
    visitor.visit("other")
    (other,) = set(visitor.kept()) - {sine}
    later = f"""uses.get("{sine}").onsuccess = ({{ target: {{ result }} }}) => {{
        uses.put({{ ...result, used: Date.now() + 1e9 }});
        done(result.size);
    }};"""
    size = visitor.database(later)
    page = visitor.context.new_page()
    page.goto(f"{visitor.url}pages/blank.html")
    page.evaluate(BODY, ["nan", {"cache": 2 * int(size) + 20}])  # type: ignore[call-overload]
    while set(visitor.kept()) <= {sine, other}:
        pass
    assert sine not in visitor.kept()
    assert other in visitor.kept()
    assert visitor.database(SUMS) == [0, 0]


SUMS = """files.getAll().onsuccess = ({ target: { result } }) => {
    uses.getAll().onsuccess = (e) => {
        const [all, ...each] = e.target.result.map(({ size }) => size);
        const sum = (sizes) => sizes.reduce((a, b) => a + b, 0);
        done([sum(each) - all, sum(result.map(({ length }) => length)) - all]);
    };
};"""


PUSHED_OUT = """const { transaction } = IDBDatabase.prototype;
IDBDatabase.prototype.transaction = function (stores, mode) {
    if (mode === "readwrite") {
        const before = transaction.call(this, stores, mode);
        before.objectStore("files").clear();
        before.objectStore("uses").clear();
        before.objectStore("uses").put({ key: "", size: 0 });
    }
    return transaction.call(this, stores, mode);
};"""


def test_what_is_found_while_it_is_pushed_out_is_not_counted_again(visitor: Visitor) -> None:
    """Between reading a file and noting that, which is for who keeps it another time."""
    visitor.visit("sine")
    page = visitor.context.new_page()
    page.add_init_script(PUSHED_OUT)
    page.goto(f"{visitor.url}pages/blank.html")
    visitor.requests.clear()
    assert page.evaluate(BODY, ["sine", None]) == 3
    assert not visitor.loaded_python
    assert visitor.kept() == []
    assert visitor.database(SUMS) == [0, 0]


def test_what_is_larger_than_the_cache_is_not_kept(visitor: Visitor) -> None:
    assert visitor.visit("sine", {"cache": 100}, keeps=False) == 3
    assert visitor.kept() == []


def test_a_file_that_the_browser_evicted_is_made_again(visitor: Visitor) -> None:
    visitor.visit("sine")
    visitor.database("files.clear()")
    assert visitor.visit("sine") == 3
    assert visitor.loaded_python
    visitor.visit("sine")
    assert not visitor.loaded_python


DENIED = {
    "forbidden": """Object.defineProperty(globalThis, "indexedDB", {
        get() { throw new DOMException("not allowed", "SecurityError"); } });""",
    "silent": "IDBFactory.prototype.open = () => ({});",
    "full": """IDBObjectStore.prototype.put = function () {
        throw new DOMException("full", "QuotaExceededError"); };""",
    "aborted": """const { put } = IDBObjectStore.prototype;
        IDBObjectStore.prototype.put = function (...args) {
            const request = put.apply(this, args);
            this.transaction.abort();
            return request;
        };""",
}


@pytest.mark.parametrize("how", DENIED)
def test_without_storage_programs_are_compiled(page: Page, site_url: str, how: str) -> None:
    page.add_init_script(DENIED[how])
    page.goto(f"{site_url}pages/blank.html")
    assert page.evaluate(BODY, ["sine", None]) == 3
    assert page.evaluate(BODY, ["sine", None]) == 3


def test_who_never_answers_is_waited_for_once(page: Page, site_url: str) -> None:
    page.add_init_script(
        DENIED["silent"]
        + """globalThis.delays = [];
        const { setTimeout: original } = globalThis;
        globalThis.setTimeout = (f, delay, ...rest) => {
            delays.push(delay);
            return original(f, delay, ...rest);
        };"""
    )
    page.goto(f"{site_url}pages/blank.html")
    assert page.evaluate(BODY, ["sine", None]) == 3
    assert page.evaluate(BODY, ["other", None]) == 5
    assert page.evaluate("delays.filter((delay) => delay === 500).length") == 2


BUSY = """const { open } = IDBFactory.prototype;
IDBFactory.prototype.open = function (...args) {
    setTimeout(() => {
        const end = performance.now() + 1200;
        while (performance.now() < end);
    });
    return open.apply(this, args);
};"""
"""The page has something else to do while an answer is on its way."""


def test_a_busy_page_hears_what_is_kept(visitor: Visitor) -> None:
    visitor.visit("sine")
    visitor.context.add_init_script(BUSY)
    assert visitor.visit("sine") == 3
    assert not visitor.loaded_python


def test_a_database_deleted_meanwhile_is_made_again(visitor: Visitor) -> None:
    page = visitor.context.new_page()
    page.goto(f"{visitor.url}pages/blank.html")
    assert page.evaluate(BODY, ["sine", None]) == 3
    delete = """new Promise((resolve, reject) => {
        const request = indexedDB.deleteDatabase("rose programs");
        request.onsuccess = resolve;
        request.onblocked = () => reject("blocked");
    })"""
    page.evaluate(delete)
    assert page.evaluate(BODY, ["sine", None]) == 3
    page.evaluate(f"async () => {{ while (!(await ({DATABASE})({LAST_USE!r}) > 0)); }}")
    assert len(visitor.kept()) == 1


FULL = """let isFull = true;
const { put, delete: forget } = IDBObjectStore.prototype;
IDBObjectStore.prototype.put = function (...args) {
    const request = put.apply(this, args);
    if (isFull && this.name === "files") queueMicrotask(() => this.transaction.abort());
    return request;
};
IDBObjectStore.prototype.delete = function (key) {
    if (/old/.test(key)) isFull = false;
    return forget.call(this, key);
};
Object.defineProperty(IDBTransaction.prototype, "error", {
    get: () => new DOMException("full", "QuotaExceededError"),
});"""

OLD = """for (let k = 0; k < 4; ++k) {
    files.put(new Uint8Array(1e6), `old ${k}`);
    uses.put({ key: `old ${k}`, used: 1 + k, size: 1e6 });
}
uses.get("").onsuccess = (e) => uses.put({ key: "", size: e.target.result.size + 4e6 });"""


def test_where_there_is_little_room_the_oldest_go(visitor: Visitor) -> None:
    """Though the cache may have more."""
    visitor.visit("sine")
    (sine,) = visitor.kept()
    visitor.database(OLD)
    page = visitor.context.new_page()
    page.add_init_script(FULL)
    page.goto(f"{visitor.url}pages/blank.html")
    # where it is the page that keeps what it compiles
    assert page.evaluate(BODY, ["other", {"core": "main"}]) == 5
    while not set(visitor.kept()) - {sine, *(f"old {k}" for k in range(4))}:
        page.wait_for_timeout(20)
    old, *_ = visitor.kept()
    assert old == "old 3"
    assert visitor.database(SUMS) == [0, 0]


def test_a_database_that_others_made_is_made_anew(visitor: Visitor) -> None:
    page = visitor.context.new_page()
    page.goto(f"{visitor.url}pages/blank.html")
    page.evaluate(
        """new Promise((done) => {
            const request = indexedDB.open("rose programs");
            request.onsuccess = () => done(request.result.close());
        })"""
    )
    page.close()
    visitor.visit("sine")
    assert len(visitor.kept()) == 1


def test_what_configure_says_of_a_wrong_cache(page: Page, site_url: str) -> None:
    page.goto(f"{site_url}pages/blank.html")
    told = """async () => {
        const { configure } = await import("../rose.js");
        return [{ cache: "yes" }, { cash: true }].map((options) => {
            try { configure(options); } catch (error) { return error.message; }
        });
    }"""
    wrong, unknown = page.evaluate(told)
    assert wrong == 'configure: expected cache to be true, false or a number of bytes, got the string "yes"'
    assert "no option cash" in unknown
