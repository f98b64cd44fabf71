"""The parts of build.py and of the static host that other tests would not miss."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

import build
import rose_core
from e2e.server import Server
from js_bridge.build import steps
from js_bridge.build.dist import version


def test_the_version_has_one_source() -> None:
    assert rose_core.__version__ == version()


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0, 0, 0), 0),
        ((1, 0, 0), 1),
        ((0, 1, 0), 1),
        ((0, 0, 1), 1),
        ((0, -9, 0), -9),
        ((0, 5, 0), 0),
        ((5, 5, 1), 1),
        ((5, 5, 5), 5),
    ],
)
def test_all_runs_of_the_tests_count(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    ends: tuple[int, int, int],
    expected: int,
) -> None:
    """Each ends with 0, with 5 where no test is chosen, below 0 by a signal, or else has failed.

    What goes on beside the others is told when they have ended.
    """
    left = list(ends)

    class Beside:
        def __init__(self, words: list[str], stdout: BinaryIO, **_: object) -> None:
            assert "tests" in words
            stdout.write(b"the core's\n")

        def wait(self) -> int:
            return left.pop()

    def call(*_: object, **__: object) -> int:
        print("those of pages", flush=True)
        return left.pop(0)

    monkeypatch.setattr(build.subprocess, "call", call)
    monkeypatch.setattr(build.subprocess, "Popen", Beside)
    assert build.test([]) == expected
    assert not left
    assert capfd.readouterr().out == "those of pages\nthose of pages\nthe core's\n"


@pytest.mark.parametrize(("given", "port"), [(None, 8000), (0, 0), (8123, 8123)])
def test_a_port_is_what_is_asked_for(monkeypatch: pytest.MonkeyPatch, given: int | None, port: int) -> None:
    """0 is any that is free, as for other servers."""
    asked = []

    class Refused(Exception):
        pass

    def server(_mounts: object, _host: str, port: int) -> None:
        asked.append(port)
        raise Refused

    monkeypatch.setattr(build, "Server", server)
    with pytest.raises(Refused):
        build.serve("127.0.0.1", given)
    assert asked == [port]


@pytest.mark.parametrize(
    ("host", "port", "cause"),
    [
        ("127.0.0.1", 99999, "port 99999 of 127.0.0.1: .*0-65535"),
        ("256.0.0.1", None, "port 0 of 256.0.0.1: "),
        ("256.0.0.1", 8000, "port 8000 of 256.0.0.1: "),
    ],
)
def test_where_nothing_can_be_served_is_told(host: str, port: int | None, cause: str) -> None:
    with pytest.raises(steps.BuildError, match=cause):
        build.serve(host, port)


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(steps, "ROOT", tmp_path)
    monkeypatch.setattr(steps, "STATE", tmp_path)
    return tmp_path


def test_a_step_runs_again_when_its_input_or_its_output_changes(workshop: Path) -> None:
    source, output, runs = workshop / "source", workshop / "output", []

    def action() -> str:
        runs.append(source.read_text())
        output.write_text("made")
        return "note"

    def go() -> int:
        steps.step("name", [source, "a setting"], [output], action)
        return len(runs)

    source.write_text("one")
    assert (go(), go()) == (1, 1)
    source.write_text("two")
    assert (go(), go()) == (2, 2)
    output.unlink()
    assert (go(), go()) == (3, 3)


def test_a_step_that_failed_is_not_done_even_when_its_input_is_put_back(workshop: Path) -> None:
    source, runs = workshop / "source", []

    def action() -> None:
        runs.append(source.read_text())
        if runs[-1] == "bad":
            raise steps.BuildError("cause", "advice")

    def go(text: str) -> None:
        source.write_text(text)
        steps.step("name", [source], [], action)

    go("good")
    with pytest.raises(steps.BuildError, match="name: cause"):
        go("bad")
    go("good")
    assert runs == ["good", "bad", "good"]


def test_a_ledger_that_was_cut_off_is_begun_anew(workshop: Path) -> None:
    (workshop / "steps.json").write_text('{"name": "0f3')
    runs: list[str] = []
    for _ in range(2):
        steps.step("name", ["a setting"], [], lambda: runs.append("run"))
    assert runs == ["run"]


def test_a_step_does_not_undo_what_another_process_does_meanwhile(workshop: Path) -> None:
    runs: list[str] = []

    def other() -> None:
        steps.step("other", [], [], lambda: runs.append("other"))

    steps.step("name", [], [], other)
    other()
    assert runs == ["other"]
    assert {path.name for path in workshop.iterdir()} == {"steps.json"}


def test_a_fingerprint_tells_names_from_contents(workshop: Path) -> None:
    folder = workshop / "folder"
    folder.mkdir()
    (folder / "a").write_text("bc")
    before = steps.fingerprint([folder])
    (folder / "a").rename(folder / "ab")
    (folder / "ab").write_text("c")
    assert steps.fingerprint([folder]) != before


def test_a_failed_command_is_reported_with_the_end_of_its_output() -> None:
    with pytest.raises(steps.BuildError, match="the cause") as caught:
        steps.run("sh", "-c", "echo the cause; exit 3", advice="what to do")
    assert caught.value.advice == "what to do"
    with pytest.raises(steps.BuildError, match="not on this machine"):
        steps.run("no-such-program")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "page.html").write_text("a page")
    (tmp_path / "dist" / "code.mjs").write_text("export {}")
    (tmp_path / "dist" / "code.wasm").write_bytes(b"\0asm")
    (tmp_path / "secret").write_text("secret")
    headers = {"Content-Security-Policy": "default-src 'self'"}
    with Server({"/sub/": tmp_path / "dist"}, headers=headers, quiet=True) as server:
        yield server


def get(host: Server, path: str, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(*host.server_address[:2], timeout=10)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    response.body = response.read().decode()
    connection.close()
    return response


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("page.html", "text/html; charset=utf-8"),
        ("code.mjs", "text/javascript; charset=utf-8"),
        ("code.wasm", "application/wasm"),
    ],
)
def test_the_host_knows_the_types_that_browsers_insist_on(host: Server, name: str, kind: str) -> None:
    response = get(host, f"/sub/{name}?query")
    assert (response.status, response.headers["Content-Type"]) == (200, kind)
    assert response.headers["Content-Security-Policy"] == "default-src 'self'"


@pytest.mark.parametrize(
    "path", ["/page.html", "/sub/gone.html", "/sub/../secret", "/sub/%2e%2e/secret", "/"]
)
def test_the_host_serves_what_is_mounted_and_nothing_else(host: Server, path: str) -> None:
    assert get(host, path).status == 404


def test_the_host_never_lets_a_stale_file_pass(host: Server, tmp_path: Path) -> None:
    first = get(host, "/sub/page.html")
    tag = first.headers["ETag"]
    assert first.headers["Cache-Control"] == "no-cache"
    again = get(host, "/sub/page.html", **{"If-None-Match": tag})
    assert (again.status, again.body) == (304, "")
    (tmp_path / "dist" / "page.html").write_text("A page")  # of the same size
    changed = get(host, "/sub/page.html", **{"If-None-Match": tag})
    assert (changed.status, changed.body) == (200, "A page")
