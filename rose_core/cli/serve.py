"""A folder as a static host serves it, on this machine and while a command runs."""

from __future__ import annotations

import http.server
import io
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote, urlsplit

_WATCH = "/?rose-freeze=watch"
"""The address of what comes in front of modules, as `worker.js` has it, too: policies allow to import
what is of the site itself."""


def address_of(path: str) -> str:
    """The address of a file, from where its path is from, as browsers ask for it: they leave most signs."""
    address = quote(path, safe="/!$&'()*+,;=:@[]|~")
    return f"./{address}" if ":" in address else address  # or what is before that were a protocol


def unmarked(address: str) -> str:
    """An address, or a text with one, without what `worker.js` puts behind that of a worker."""
    return re.sub(r"[?&]rose-freeze(=module)?", "", address)


class _Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the content waits until the headers are confirmed
    extensions_map = {  # noqa: RUF012 - as in the base class
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".js": "text/javascript; charset=utf-8",  # the system's own table may say anything
        ".mjs": "text/javascript; charset=utf-8",
        ".wasm": "application/wasm",
    }

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def answer(self, content: bytes, kind: str) -> io.BytesIO:
        """Send what is no file, of this type."""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        return io.BytesIO(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: what goes wrong is told by the page that asked."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that leaves in the middle of an answer is no event."""


@contextmanager
def serve(folder: Path, base: str = "/", worker: str = "", answered: set[str] | None = None) -> Iterator[str]:
    """The address of the folder, which ends with a slash; ``base``: where it is on its host, or with that.

    ``worker``: what comes in front of the scripts of workers; ``answered``: where to note what is asked for
    and is there.
    """
    path = unquote(urlsplit(base).path).strip("/")
    base = urlsplit(address_of(f"/{path}/".replace("//", "/"))).path

    class Based(_Handler):
        def send_head(self) -> io.BytesIO | BinaryIO | None:
            if self.path == _WATCH:
                return self.answer(worker.encode(), "text/javascript")
            if not self.path.startswith(base):
                self.send_error(404)  # what lies elsewhere on the host is not here
                return None
            script = Path(self.translate_path(self.path))
            if unmarked(self.path) == self.path or not script.is_file():
                return super().send_head()
            # what a module imports runs before it
            is_module = self.path.endswith("=module")
            first = f'import "{_WATCH}"; ' if is_module else worker
            content = first.encode() + script.read_bytes()
            return self.answer(content, self.guess_type(script))

        def send_response(self, code: int, message: str | None = None) -> None:
            is_file = self.command == "GET" and code in (200, 304) and self.path != _WATCH
            if answered is not None and is_file:
                answered.add(unmarked(self.path))
            super().send_response(code, message)

        def translate_path(self, path: str) -> str:
            return super().translate_path(path.removeprefix(base[:-1]))

    def handler(*args: object) -> _Handler:
        return Based(*args, directory=str(folder))  # type: ignore[arg-type]

    with _Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}{base}"
        finally:
            server.shutdown()
