"""`rose freeze --offline`: sites that work without a network, and their service worker."""

from __future__ import annotations

import functools
import http.server
import os
import threading
from typing import Any

import pytest
from playwright.sync_api import Error, Page, Route, expect

from e2e.frozen import PAGE, SCRIPT, Frozen, slide, wait_for_service_worker
from e2e.server import Server


def test_what_an_offline_page_loads_is_checked(frozen: Frozen) -> None:
    script = frozen.root / "rose.offline.js"
    content = script.read_text()
    script.write_text(content.replace('"rose/rose.js"', '"rose/other.js"'))
    checked = frozen.freeze("--check")
    assert checked.returncode == 1
    assert "  rose.offline.js is out of date\n" in checked.stdout
    script.unlink()
    assert "  rose.offline.js is new\n" in frozen.freeze("--check").stdout
    assert not script.exists()
    assert frozen.freeze("--offline").returncode == 0
    assert script.read_text() == content
    assert frozen.freeze("--check").returncode == 0


def test_another_file_is_another_service_worker(frozen: Frozen) -> None:
    """Though its name is the same: browsers take all files anew then."""
    script = frozen.root / "rose.offline.js"
    content = script.read_text()
    frozen.write("pages/page.js", SCRIPT + "// once more")
    assert "rose.offline.js is out of date" in frozen.freeze("--check").stdout
    assert frozen.freeze("--offline").returncode == 0
    assert script.read_text() != content


LONG = "{ for (let k = 0; k < 2000; ++k) x = mul(sin(x), k % 2 ? 2 : 0.5); return mul(factor, x); }"
"""Too many operations for a place in the index."""

ASKS = "globalThis.ask = async (k) => (await fetch(`data?set=${k}`)).text();"


@pytest.mark.provokes(r"ERR_CONNECTION_REFUSED", r"/data\?set=3")
def test_offline_there_is_all_that_was_frozen_and_asked_for(site: Frozen, page: Page) -> None:
    """Choices that nobody made, and what differs by its query; not what the host wants nobody to keep."""
    choices = "".join(f"<option>{k}" for k in range(1, 4))
    site.write(
        "pages/page.html", PAGE.replace(PAGE.split("\n")[4], f'<select id="factor">{choices}</select>')
    )
    site.write("pages/page.js", SCRIPT.replace("mul(factor, sin(x))", LONG) + ASKS)
    done = site.freeze("--offline")
    assert done.returncode == 0, done.stdout + done.stderr

    def answer(route: Route) -> None:
        k = route.request.url.rpartition("=")[2]
        route.fulfill(body=k, headers={"Cache-Control": "no-store"} if k == "3" else {})

    page.context.route("**/data?*", answer)
    with Server({"/": site.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        wait_for_service_worker(page)
        page.reload()
        for k in (1, 2, 3):
            assert page.evaluate("ask", k) == f"{k}"
    page.context.unroute("**/data?*")
    page.reload()
    for k in (2, 3, 1):
        page.locator("#factor").select_option(f"{k}")
        expect(page).to_have_title(f"slope {k}")
    for k in (1, 2):
        assert page.evaluate("ask", k) == f"{k}"
    with pytest.raises(Error, match="Failed to fetch"):
        page.evaluate("ask", 3)


@pytest.mark.provokes(r"ERR_CONNECTION_REFUSED")
def test_what_is_asked_for_without_end_is_not_all_kept(frozen: Frozen, page: Page) -> None:
    """The last is, and what has been asked for again; and all that is the site's own."""
    frozen.write("pages/data.json", "[]")
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        wait_for_service_worker(page)
        page.reload()
        page.evaluate(
            """async () => {
                await fetch("data.json?again");
                for (let k = 0; k < 560; ++k) {
                    await (await fetch(`data.json?${k}`)).text();
                    if (k % 100 === 0) await fetch("data.json?again");
                }
            }"""
        )
        kept = """async () => {
            const [name] = (await caches.keys()).filter((name) => name.startsWith("rose-offline"));
            const all = await (await caches.open(name)).keys();
            return all.map(({ url }) => url.split("?")[1]).filter((query) => query !== undefined);
        }"""
        while len(found := page.evaluate(kept)) > 500:
            page.wait_for_timeout(100)
        assert {"559", "again"} < set(found)
        assert len(found) == 500
    page.reload()
    slide(page, 2)


@pytest.mark.provokes(r"ERR_CONNECTION_REFUSED")
def test_two_sites_of_one_host_work_offline(frozen: Frozen, page: Page) -> None:
    with Server({"/one/": frozen.root, "/two/": frozen.root}, quiet=True) as server:
        addresses = [f"{server.origin}/{name}/pages/page.html" for name in ("one", "two")]
        for address in addresses:
            page.goto(address)
            wait_for_service_worker(page)
            page.wait_for_function("navigator.serviceWorker.controller")
    for address in addresses:
        page.goto(address)
        expect(page).to_have_title("slope 2")


@pytest.mark.provokes(r"ERR_CONNECTION_REFUSED")
def test_an_offline_page_needs_no_host(frozen: Frozen, page: Page) -> None:
    with Server({"/": frozen.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        wait_for_service_worker(page)
    page.goto(f"{server.origin}/pages/page.html?again")
    expect(page).to_have_title("slope 2")
    slide(page, 3)


@pytest.mark.provokes(r"ERR_CONNECTION_REFUSED")
def test_trusted_types_allow_its_service_worker(frozen: Frozen, page: Page) -> None:
    policy = "script-src 'self' 'wasm-unsafe-eval'; trusted-types rose; require-trusted-types-for 'script'"
    headers = {"Content-Security-Policy": policy}
    with Server({"/": frozen.root}, headers=headers, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        wait_for_service_worker(page)
    page.goto(f"{server.origin}/pages/page.html")
    slide(page, 3)


@pytest.mark.provokes(r"ERR_CONNECTION_REFUSED")
def test_pages_of_any_names_work_offline(site: Frozen, page: Page) -> None:
    names = ["it's (1), a+b;c=d@e!", "ä & [x] | {y}", "one: two", "100%"]
    for name in names:
        site.write(f"pages/{name}.HTML" if "%" in name else f"pages/{name}.html", PAGE)
    (site.root / "pages" / "inner").mkdir()
    site.write("pages/inner/index.html", PAGE.replace("page.js", "../page.js"))
    done = site.freeze("--offline")
    assert done.returncode == 0, done.stdout + done.stderr
    with Server({"/": site.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        wait_for_service_worker(page)
    for name in names:
        ending = "HTML" if "%" in name else "html"
        # as the browser writes what is in a link
        address = page.evaluate(
            "(name) => new URL(`./${name.replaceAll('%', '%25')}`, location.href).href", f"{name}.{ending}"
        )
        page.goto(f"{address}?query")
        expect(page).to_have_title("slope 2")
    page.goto(f"{server.origin}/pages/inner?query")
    expect(page).to_have_title("slope 2")
    assert page.url.endswith("/pages/inner/?query")


class Renaming(http.server.SimpleHTTPRequestHandler):
    """Calls pages by names without an ending, and does not publish all of them."""

    protocol_version = "HTTP/1.1"

    def send_head(self) -> Any:
        path, ending = os.path.splitext(self.path)
        if path == "/pages/draft":
            self.send_error(404)
            return None
        if ending == ".html":
            self.send_response(308)
            self.send_header("Location", path)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return None
        if not ending and path != "/":
            self.path += ".html"
        return super().send_head()

    def log_message(self, format: str, *args: object) -> None: ...


@pytest.mark.provokes(r"ERR_INTERNET_DISCONNECTED", r"pages/.*ERR_ABORTED", r"404 .*/pages/draft")
def test_hosts_may_name_pages_as_they_like(site: Frozen, page: Page) -> None:
    """What they do not publish is missed offline, and nothing else."""
    for name in ("other", "draft"):
        site.write(f"pages/{name}.html", PAGE)
    done = site.freeze("--offline")
    assert done.returncode == 0, done.stdout + done.stderr
    handler = functools.partial(Renaming, directory=str(site.root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_address[1]}"
        page.goto(f"{origin}/pages/page.html")
        expect(page).to_have_title("slope 2")
        wait_for_service_worker(page)
        page.wait_for_function("navigator.serviceWorker.controller")
        server.shutdown()
    page.context.set_offline(True)
    for name in ("page", "other", "other.html", "page.html"):
        page.goto(f"{origin}/pages/{name}")
        expect(page).to_have_title("slope 2")
