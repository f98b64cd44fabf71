"""`rose freeze` of sites that have workers of all pages: service workers of their own, and shared ones."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from e2e.frozen import PAGE, Frozen, slide, wait_for_service_worker
from e2e.server import Server
from rose_core.cli.offline import FAREWELL

OWN = """
const CACHE = "own", FILES = [];
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(clients.claim()));
"""

REGISTERS = """
const own = await navigator.serviceWorker.register("../own.js");
const { scope } = await navigator.serviceWorker.ready;
const found = await navigator.serviceWorker.getRegistration();
if (scope !== own.scope || found !== own) throw Error(`another scope: ${scope}`);
if ((await own.pushManager.getSubscription()) !== null) throw Error("who has subscribed?");
(own.installing ?? own.waiting ?? own.active).postMessage("hello");
own.addEventListener("updatefound", () => {});
await import("./page.js");
"""


def registering(site: Frozen, own: str = OWN) -> Frozen:
    """Whose page registers a service worker for all of the site, and waits for it."""
    site.write("own.js", own)
    site.write("pages/registers.js", REGISTERS)
    site.write("pages/page.html", PAGE.replace("page.js", "registers.js"))
    return site


def test_a_page_that_waits_for_its_own_service_worker_is_frozen(site: Frozen) -> None:
    done = registering(site).freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 3 programs" in done.stdout


def visit(page: Page, origin: str) -> None:
    """Open the page and wait until its service worker is at work."""
    page.goto(f"{origin}/pages/page.html")
    expect(page).to_have_title("slope 2")
    wait_for_service_worker(page)
    page.wait_for_function("navigator.serviceWorker.controller?.state === 'activated'")


def test_offline_leaves_its_place_to_the_own_service_worker(site: Frozen, page: Page) -> None:
    done = registering(site).freeze("--offline")
    assert done.returncode == 1
    (told,) = (line for line in done.stdout.splitlines() if line.startswith("!"))
    assert told.startswith("! pages/page.html registers own.js, a service worker of the site's own")
    assert 'importScripts("rose.offline.js")' in told
    with Server({"/": site.root}, quiet=True) as server:
        for _ in range(2):
            visit(page, server.origin)
        assert "/own.js" in server.asked
        assert "/rose.offline.js" not in server.asked


IMPORTS = f"{OWN}importScripts('rose.offline.js');"


@pytest.mark.provokes(r"ERR_CONNECTION_REFUSED")
def test_the_own_service_worker_may_import_that_for_offline(site: Frozen, page: Page) -> None:
    """Though it has the same names."""
    done = registering(site, IMPORTS).freeze("--offline")
    assert done.returncode == 0, done.stdout + done.stderr
    with Server({"/": site.root}, quiet=True) as server:
        visit(page, server.origin)
    visit(page, server.origin)
    slide(page, 3)


def test_the_own_service_worker_stays_when_that_for_offline_ends(site: Frozen, page: Page) -> None:
    registering(site, IMPORTS)
    site.write("rose.offline.js", FAREWELL)
    with Server({"/": site.root}, quiet=True) as server:
        for _ in range(2):
            visit(page, server.origin)
        registered = page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.length)")
    assert registered == 1


SHARED = """
import { Real, compile, fn, mul } from "../rose/rose.js";
const twice = compile(fn([Real], Real, (x) => mul(2, x)));
onconnect = async ({ ports: [port] }) => port.postMessage((await twice)(4));
"""

CONNECTS = """
navigator.serviceWorker.register("../rose.offline.js");
const { port } = new SharedWorker("shared.js", { type: "module" });
port.onmessage = ({ data }) => (document.title = `twice ${data}`);
"""

ALONE = """<!doctype html>
<link rel="icon" href="data:,">
<script type="module">
    OFFLINE
    const worker = new Worker("alone.js", { type: "module" });
    worker.onmessage = ({ data }) => { document.title = `slope ${data}`; };
</script>
"""

SLOPE = """
import { Real, compile, fn, grad, sin } from "../rose/rose.js";
const slope = await compile(grad(fn([Real], Real, (x) => sin(x))));
postMessage(slope(0));
"""


@pytest.mark.provokes(r"ERR_CONNECTION_REFUSED")
def test_pages_with_rose_in_workers_alone_are_told_how_to_work_offline(site: Frozen, page: Page) -> None:
    site.write("pages/alone.js", SLOPE)
    site.write("pages/page.html", ALONE.replace("OFFLINE", ""))
    done = site.freeze("--offline")
    assert done.returncode == 1
    assert "! no page itself loads frozen programs" in done.stdout
    register = 'navigator.serviceWorker.register("../rose.offline.js");'
    site.write("pages/page.html", ALONE.replace("OFFLINE", register))
    done = site.freeze("--offline")
    assert done.returncode == 0, done.stdout
    with Server({"/": site.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 1")
        wait_for_service_worker(page)
    page.reload()
    expect(page).to_have_title("slope 1")


def test_what_shared_workers_load_is_kept_for_offline(site: Frozen) -> None:
    site.write("pages/page.js", CONNECTS)
    site.write("pages/shared.js", 'import "./part.js";' + SHARED)
    site.write("pages/part.js", "")
    done = site.freeze("--offline")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 1 program" in done.stdout
    script = (site.root / "rose.offline.js").read_text()
    assert '"pages/shared.js"' in script and '"pages/part.js"' in script


STRICT = """<!doctype html>
<link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy"
  content="script-src 'self' 'wasm-unsafe-eval'; trusted-types own rose; require-trusted-types-for 'script'">
<script src="start.js"></script>
"""

START = """
const own = trustedTypes.createPolicy("own", { createScriptURL: (address) => address });
for (const type of ["classic", "module"]) new Worker(own.createScriptURL(`${type}.js`), { type });
"""

COMPILES = """
.then(({ Real, compile, fn, mul }) => compile(fn([Real], Real, (x) => mul(FACTOR, x))));
"""


def test_workers_of_a_page_with_a_strict_policy_are_seen(site: Frozen) -> None:
    site.write("pages/page.html", STRICT)
    site.write("pages/start.js", START)
    for factor, kind in enumerate(["classic", "module"], start=2):
        compiles = COMPILES.strip().replace("FACTOR", str(factor))
        site.write(f"pages/{kind}.js", f'import("../rose/rose.js"){compiles}')
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 2 programs\n" in done.stdout


OF_BLOBS = """<!doctype html>
<link rel="icon" href="data:,">
<script type="module">
    const text = `import "${new URL("alone.js", location)}";`;
    const blob = new Blob([text], { type: "text/javascript" });
    const worker = new Worker(URL.createObjectURL(blob), { type: "module" });
    worker.onmessage = ({ data }) => { document.title = `slope ${data}`; };
</script>
"""


def test_what_a_worker_of_a_blob_imports_is_seen(site: Frozen, page: Page) -> None:
    """As pages have workers of other hosts' scripts: what is imported runs before the rest of the blob."""
    site.write("pages/page.html", OF_BLOBS)
    site.write("pages/alone.js", SLOPE)
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 1 program\n" in done.stdout
    with Server({"/": site.root}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        expect(page).to_have_title("slope 1")
        assert "/rose/rose.worker.js" not in server.asked
