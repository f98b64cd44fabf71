"""The service worker with which a frozen site works without a network."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

SCRIPT = "rose.offline.js"
"""Its name at the root of the site: it serves what is below it."""


FAREWELL = """// Written by `rose freeze`: this site does not work offline any more.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(registration.unregister()));
"""
"""What takes its place where it is not wanted any more: browsers keep what they have until another comes."""


def script(addresses: Iterable[str], origin: str) -> str:
    """Its source, for pages that load these addresses."""
    paths = {address.removeprefix(origin) for address in addresses if address.startswith(origin)}
    paths |= {path.removesuffix("index.html") for path in paths if path.endswith("/index.html")}
    if "index.html" in paths:
        paths.add(".")
    source = (Path(__file__).parent / "offline.js").read_text()
    return source.replace('["FILES"]', json.dumps(sorted(paths), indent=2))
