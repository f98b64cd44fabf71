"""What `rose freeze` writes into a site, keeps there and removes, also of a site below its host's root."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import nullcontext, suppress
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.frozen import ENVIRONMENT, PAGE, SCRIPT, Frozen
from e2e.server import Server
from js_bridge.build.paths import BROWSER
from rose_core.cli import freeze
from rose_core.cli.artifact import Artifact
from rose_core.cli.serve import serve
from rose_core.cli.site import Change, Site
from rose_core.cli.visit import Visit


def test_what_is_stale_is_named_and_put_right(frozen: Frozen) -> None:
    before = frozen.files
    damaged, *_ = sorted(before)
    damaged.write_bytes(damaged.read_bytes()[:-3])
    frozen.write("pages/page.js", SCRIPT.replace("factor = +slider.value", "factor = 1 + +slider.value"))
    checked = frozen.freeze("--check")
    assert checked.returncode == 1
    assert "rose/rose.frozen.json is out of date" in checked.stdout
    assert (
        len(re.findall(r"\.wasm is stale: slope, which pages/page.html no longer compiles", checked.stdout))
        == 1
    )
    assert len(re.findall(r"\.wasm is new: slope of pages/page.html", checked.stdout)) == 1
    assert frozen.files == before
    assert frozen.freeze("--offline").returncode == 0
    assert len(frozen.files) == 3 and len(frozen.files - before) == 1
    checked = frozen.freeze("--check")
    assert checked.returncode == 0, checked.stdout


def test_what_is_frozen_is_not_compiled_again(frozen: Frozen) -> None:
    """Unless the page compiles something else, or it is damaged."""
    before = {path: path.read_bytes() for path in frozen.files}
    python = frozen.root / "rose" / "pyodide"
    place = python.readlink()
    python.unlink()
    done = frozen.freeze("--offline")
    assert done.returncode == 0, done.stdout
    assert done.stdout == "pages/page.html: 3 programs\n"
    python.symlink_to(place)
    damaged, *_ = before
    damaged.write_bytes(before[damaged][:-3])
    done = frozen.freeze("--offline")
    assert done.returncode == 0, done.stdout
    assert {path: path.read_bytes() for path in frozen.files} == before


def test_what_nobody_compiles_any_more_goes(frozen: Frozen) -> None:
    frozen.freeze("--offline")
    for name in ("page.html", "page.js"):
        (frozen.root / "pages" / name).unlink()
    frozen.write("pages/frozen/manifest.json", "{")  # cut off
    frozen.write("index.html", "<!doctype html><link rel=icon href=data:,>")
    checked = frozen.freeze("--check")
    assert checked.returncode == 1
    left = r"pages/frozen/\w+\.wasm is stale: a program, which no page compiles any more\n"
    assert len(re.findall(left, checked.stdout)) == 3
    assert "rose/rose.frozen.json is out of date" in checked.stdout
    assert frozen.freeze().returncode == 0
    assert not frozen.files and not (frozen.root / "pages/frozen/manifest.json").exists()
    assert json.loads(frozen.index.read_text()) == {}
    # whoever has the service worker gets rid of it
    assert "unregister" in (frozen.root / "rose.offline.js").read_text()
    assert frozen.freeze("--check").returncode == 0


class Killed(BaseException):
    """Nothing runs after it, in a process that it ends."""


@pytest.mark.parametrize("error", [Killed(), KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_who_is_stopped_has_a_site_that_works(
    frozen: Frozen, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    """With what was there, or what is new; and nothing stays that the next time does not put right."""
    (data, *_) = (path.read_bytes() for path in frozen.files)
    offline = frozen.root / "rose.offline.js"
    round_, left = 0, -1
    replace, unlink = os.replace, Path.unlink

    def visited(_: object, __: object, address: str) -> Visit:
        artifacts = [Artifact(f"{round_:08}{k:08}", data) for k in range(3)]
        return Visit(artifacts, {address.replace("pages/page.html", "rose/rose.frozen.json")}, asks=True)

    def counted() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise error

    def replacing(*paths: Path) -> None:
        counted()
        replace(*paths)

    def unlinking(path: Path, missing_ok: bool = False) -> None:
        if left == 0 and isinstance(error, Killed):
            return
        if path.suffix != ".new":
            counted()
        unlink(path, missing_ok)

    monkeypatch.setattr(freeze, "chromium", lambda _: nullcontext())
    monkeypatch.setattr(freeze, "first_visit", visited)
    monkeypatch.setattr(freeze, "look", lambda *_: Visit())
    monkeypatch.setattr(os, "replace", replacing)
    monkeypatch.setattr(Path, "unlink", unlinking)
    while left <= 0:
        round_ += 1
        left = round_
        with suppress(type(error)):
            freeze.freeze_site(frozen.root, False, True, None, "/")
        (keys,) = json.loads(frozen.index.read_text())["folders"].values()
        there = {path.stem for path in frozen.files}
        assert len(keys) == 3 and {*keys, *re.findall(r"(\w+)\.wasm", offline.read_text())} <= there
        assert isinstance(error, Killed) or not [*frozen.root.rglob("*.new")]
    assert round_ > 9
    assert len(frozen.files) == 3 and not [*frozen.root.rglob("*.new")]
    assert freeze.freeze_site(frozen.root, True, False, None, "/") == 0


def test_what_was_left_is_named(site: Frozen, frozen_once: Frozen) -> None:
    """Of a first time that was stopped, after which pages compile something else."""
    (left, *_) = frozen_once.files
    (site.root / "pages/frozen").mkdir()
    shutil.copy(left, site.root / "pages/frozen")
    site.write("pages/page.js", SCRIPT.replace("factor =", "factor = 10 +"))
    names = f"pages/frozen/{left.name}", "pages/frozen/manifest.json.new", "rose/rose.frozen.json.new"
    for name in names[1:]:
        site.write(name, "{")
    checked = site.freeze("--check").stdout
    assert all(f"{name} was left when freezing was stopped" in checked for name in names)
    assert site.freeze().returncode == 0
    assert not any((site.root / name).exists() for name in names)


FETCHES = """
import { Real, compile, fn, mul } from "../rose/rose.js";
const factor = await (await fetch("data.json")).json();
await compile(fn([Real], Real, (x) => mul(factor, x)));
"""


def test_a_page_that_fails_keeps_what_it_had(site: Frozen) -> None:
    """Also where it does not come as far as to say where its index is."""
    site.write("pages/page.js", FETCHES)
    site.write("pages/data.json", "3")
    assert site.freeze().returncode == 0
    files, index = site.files, site.index.read_text()
    assert len(files) == 1
    site.write("pages/data.json", "{")
    done = site.freeze()
    assert done.returncode == 1
    assert "pages/page.html: 0 programs, and 1 kept from before, as something went wrong" in done.stdout
    (told,) = (line for line in done.stdout.splitlines() if line[0] != "p")
    assert told.startswith("! pages/page.html: ") and "JSON" in told
    (file,) = files
    file.write_bytes(file.read_bytes()[:9])  # there is nothing to be kept
    assert "is stale" in site.freeze().stdout
    site.write("pages/data.json", "3")
    assert site.freeze().returncode == 0
    assert site.files == files and site.index.read_text() == index


def test_what_others_have_made_stays(frozen: Frozen) -> None:
    """Though it has the same name."""
    others = {"manifest.json": '{"name": "an app", "icons": []}', "0123456789abcdef.wasm": "of others"}
    (frozen.root / "frozen").mkdir()
    for name, text in others.items():
        frozen.write(f"frozen/{name}", text)
    frozen.write("pages/frozen/other.wasm", "not in the manifest")
    assert frozen.freeze("--offline").returncode == 0
    assert {path.name: path.read_text() for path in (frozen.root / "frozen").iterdir()} == others
    assert (frozen.root / "pages" / "frozen" / "other.wasm").exists()


def test_what_is_no_part_of_the_site_stays(tmp_path: Path) -> None:
    """What is hidden, what npm installed, and what Rose comes with, though all of it was frozen once."""
    (tmp_path / "index.html").touch()
    (tmp_path / "rose").mkdir()
    (tmp_path / "rose/package.json").write_text('{"name": "rose-web"}')
    programs = {"0123456789abcdef.wasm": {"name": "f", "bytes": 0, "build": "", "pages": ["page.html"]}}
    for name in ("node_modules/lib", ".cache", "rose/site"):
        folder = tmp_path / name
        (folder / "frozen").mkdir(parents=True)
        (folder / "frozen/manifest.json").write_text(json.dumps(programs))
        (folder / "frozen/0123456789abcdef.wasm").touch()
        (folder / "rose.frozen.json").write_text('{"folders": {"frozen/": ["0123456789abcdef"]}}')
    assert Site(tmp_path).changes(False) == []
    # where its pages have looked, they look no longer
    (tmp_path / "rose/rose.frozen.json").write_text('{"folders": {"../frozen/": ["0123456789abcdef"]}}')
    (change,) = Site(tmp_path).changes(False)
    assert change.path == tmp_path / "rose/rose.frozen.json"


def test_who_freezes_a_site_waits_for_another_who_does(tmp_path: Path) -> None:
    (tmp_path / "index.html").touch()
    words = [sys.executable, "-c", f"from rose_core.cli import main; main(['freeze', {str(tmp_path)!r}])"]
    env = {**ENVIRONMENT, "CHROMIUM": json.loads(BROWSER.read_text())["path"]}
    folder = os.open(tmp_path, os.O_RDONLY)
    flock(folder, LOCK_EX)
    with subprocess.Popen(words, env=env, stderr=subprocess.PIPE, text=True) as second:
        assert second.stderr
        told = second.stderr.readline()
        os.close(folder)
        assert told == f"waiting until another `rose freeze` of {tmp_path} has ended\n"
        assert second.stderr.read() == ""
    assert second.returncode == 0


def test_an_index_may_be_in_a_folder_that_is_to_come(tmp_path: Path) -> None:
    Change(tmp_path / "a/b/rose.frozen.json", b"{}", "is new").make()
    assert (tmp_path / "a/b/rose.frozen.json").read_bytes() == b"{}"


def test_a_folder_of_pages_may_be_called_frozen(site: Frozen) -> None:
    """As those that freezing makes, which is one of them then, unless a file of the pages is in its way."""
    (site.root / "pages/frozen").mkdir()
    site.write("pages/frozen/page.html", PAGE.replace("page.js", "../page.js"))
    done = site.freeze()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/frozen/page.html: 3 programs" in done.stdout
    assert {path.name for path in site.files} == {
        path.name for path in (site.root / "pages/frozen/frozen").glob("*.wasm")
    }
    assert site.freeze("--check").returncode == 0
    theirs = '{"name": "an app", "icons": []}'
    site.write("pages/frozen/manifest.json", theirs)
    done = site.freeze()
    assert done.returncode == 2
    assert done.stderr.startswith("rose: freezing has to write pages/frozen/manifest.json")
    assert (site.root / "pages/frozen/manifest.json").read_text() == theirs


def test_a_site_may_know_where_it_is_on_its_host(site: Frozen, page: Page) -> None:
    site.write("pages/page.html", PAGE.replace("page.js", "/blog/pages/page.js"))
    site.write("pages/page.js", SCRIPT.replace("../rose", "/blog/rose"))
    done = site.freeze("--base", "/blog")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pages/page.html: 3 programs" in done.stdout
    # who forgets it loses nothing
    done = site.freeze()
    assert "could not be loaded" in done.stdout and "3 kept from before" in done.stdout
    with Server({"/blog/": site.root}, quiet=True) as server:
        page.goto(f"{server.origin}/blog/pages/page.html")
        expect(page).to_have_title("slope 2")
    assert not any("pyodide" in address for address in server.asked)


@pytest.mark.parametrize("base", ["/my päge/", "https://example.org/my%20p%C3%A4ge", "~me/a+b"])
def test_a_base_may_be_written_as_one_likes(frozen: Frozen, base: str) -> None:
    with serve(frozen.root, base) as origin:
        assert origin.endswith("/~me/a+b/" if "~" in base else "/my%20p%C3%A4ge/")
        assert urllib.request.urlopen(f"{origin}pages/page.html").status == 200


def test_elsewhere_on_the_host_is_nothing(frozen: Frozen) -> None:
    with serve(frozen.root, "/blog") as origin:
        assert origin.endswith("/blog/")
        assert urllib.request.urlopen(f"{origin}pages/page.html").status == 200
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(origin.replace("/blog/", "/pages/page.html"))
