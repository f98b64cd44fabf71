"""A folder as a static host serves it, on this machine and while a command runs."""

from __future__ import annotations

import http.server
import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


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

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: what goes wrong is told by the page that asked."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that leaves in the middle of an answer is no event."""


@contextmanager
def serve(folder: Path, base: str = "/") -> Iterator[str]:
    """The address of the folder, which ends with a slash; ``base``: where it is on its host."""
    base = f"/{base.strip('/')}/".replace("//", "/")

    class Based(_Handler):
        def send_head(self) -> io.BytesIO | BinaryIO | None:
            if self.path.startswith(base):
                return super().send_head()
            self.send_error(404)  # what lies elsewhere on the host is not here
            return None

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
