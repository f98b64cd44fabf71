"""`rose freeze` of sites that have a service worker of their own."""

from __future__ import annotations


from e2e.frozen import PAGE, Frozen

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
