"""The service worker with which a frozen site works without a network."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

SCRIPT = "rose.offline.js"
"""Its name at the root of the site: it serves what is below it."""


FAREWELL = """// Written by `rose freeze`: this site does not work offline any more.
// A service worker of the site's own that imports it goes on.
if (location.pathname.endsWith("/rose.offline.js")) {
  self.addEventListener("install", () => self.skipWaiting());
  self.addEventListener("activate", (event) => event.waitUntil(registration.unregister()));
}
"""
"""What takes its place where it is not wanted any more: browsers keep what they have until another comes."""


def script(addresses: Iterable[str], origin: str, root: Path) -> str:
    """Its source, for pages of the site at ``root`` that load these addresses."""
    paths = {address.removeprefix(origin) for address in addresses if address.startswith(origin)}
    paths |= {path.removesuffix("index.html") for path in paths if path.endswith("/index.html")}
    if "index.html" in paths:
        paths.add(".")
    source = (Path(__file__).parent / "offline.js").read_text("utf-8")
    source = source.replace('["FILES"]', json.dumps(sorted(paths), indent=2))
    files = (root / unquote(urlsplit(f"./{path}").path) for path in sorted(paths))
    return source.replace("DIGEST", _digest(files))


def _digest(files: Iterable[Path]) -> str:
    """Another one where any of the files is another."""
    found = hashlib.sha256()
    for file in files:
        page = file / "index.html" if file.is_dir() else file
        content = page.read_bytes() if page.is_file() else b""
        found.update(len(content).to_bytes(8, "big") + content)
    return found.hexdigest()[:16]
