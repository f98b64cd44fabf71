"""A static host for `build.py serve` and for the browser tests, of the standard library alone."""

from __future__ import annotations

import http.server
import socket
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves folders as a plain static host does, but never a stale file.

    A file's ETag changes with every write; browsers are told to ask each time.
    """

    protocol_version = "HTTP/1.1"
    # Headers and content are written one after the other: the system would hold back the content until the
    # browser has confirmed the headers, which takes it 40 ms.
    disable_nagle_algorithm = True
    extensions_map = {  # noqa: RUF012 - the system's own table may say anything
        "": "application/octet-stream",
        ".css": "text/css; charset=utf-8",
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".json": "application/json",
        ".mjs": "text/javascript; charset=utf-8",
        ".png": "image/png",
        ".svg": "image/svg+xml",
        ".ts": "text/plain; charset=utf-8",
        ".txt": "text/plain; charset=utf-8",
        ".wasm": "application/wasm",
        ".zip": "application/zip",
    }
    server: Server

    def translate_path(self, path: str) -> str:
        path = urllib.parse.urlsplit(path).path
        for prefix, folder in self.server.mounts.items():
            if path.startswith(prefix):
                if folder.is_file():
                    return str(folder)
                self.directory = str(folder)
                return super().translate_path("/" + path[len(prefix) :])
        return "/nothing/is/mounted/here"

    def send_head(self) -> Any:
        self.etag = ""
        path = Path(self.translate_path(self.path))
        if path.is_file():
            stat = path.stat()
            self.etag = f'"{stat.st_mtime_ns:x}-{stat.st_size:x}"'
            if self.headers.get("If-None-Match") == self.etag:
                self.send_response(304)
                self.end_headers()
                return None
            if self.server.pack and "br" in self.headers.get("Accept-Encoding", ""):
                packed = self.server.pack(path)
                self.send_response(200)
                self.send_header("Content-Type", self.guess_type(path.name))
                self.send_header("Content-Encoding", "br")
                self.send_header("Content-Length", str(packed.stat().st_size))
                self.end_headers()
                return packed.open("rb")
        return super().send_head()

    def copyfile(self, source: Any, outputfile: Any) -> None:
        line = self.server.line
        if line is None:
            return super().copyfile(source, outputfile)
        line.wait()
        while data := source.read(line.PIECE):
            line.take(len(data))
            outputfile.write(data)
        return None

    def list_directory(self, path: Any) -> None:
        if (Path(path) / "site" / "index.html").exists():
            self.send_response(302)
            self.send_header("Location", "site/")
            self.send_header("Content-Length", "0")
            self.end_headers()
        else:
            self.send_error(404)

    def end_headers(self) -> None:
        if self.etag:
            self.send_header("ETag", self.etag)
        self.send_header("Cache-Control", "no-cache")
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of what goes well; errors come through `log_error`."""

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        self.server.asked.append(urllib.parse.urlsplit(self.path).path)

    def log_error(self, format: str, *args: Any) -> None:
        if not self.server.quiet:
            print(f"  {self.path}: {format % args}", flush=True)


class Line:
    """A slow connection, which all that is sent at the same time shares.

    It is here, and not in the browser, whose own throttling leaves out what workers ask for.
    """

    PIECE = 1 << 14

    def __init__(self, bytes_per_second: float, seconds_to_answer: float) -> None:
        self.rate = bytes_per_second
        self.latency = seconds_to_answer
        self.free = 0.0
        self.lock = threading.Lock()

    def wait(self) -> None:
        time.sleep(self.latency)

    def take(self, count: int) -> None:
        """Wait until so many bytes have gone through."""
        with self.lock:
            self.free = max(self.free, time.monotonic()) + count / self.rate
            left = self.free - time.monotonic()
        time.sleep(max(0.0, left))


class Server(http.server.ThreadingHTTPServer):
    """A static host: `mounts` maps address prefixes to folders or files, e.g. {"/": DIST}."""

    def __init__(
        self,
        mounts: Mapping[str, Path],
        host: str = "127.0.0.1",
        port: int = 0,
        headers: Mapping[str, str] | None = None,
        quiet: bool = False,
        pack: Callable[[Path], Path] | None = None,
        line: Line | None = None,
    ) -> None:
        """`pack` gives the file that holds another one compressed by brotli."""
        self.pack = pack
        self.line = line
        self.mounts = dict(sorted(mounts.items(), key=lambda item: -len(item[0])))
        self.headers = dict(headers or {})
        self.quiet = quiet
        self.asked: list[str] = []
        """The addresses on this host that were asked for so far."""
        self.connections: set[socket.socket] = set()
        super().__init__((host, port), Handler)
        self.origin = f"http://{host}:{self.server_address[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self.connections.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves in the middle of an answer is no event."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def __enter__(self) -> Server:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.shutdown()
        # a browser keeps its connections, and would be served on through them
        for connection in self.connections.copy():
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()
