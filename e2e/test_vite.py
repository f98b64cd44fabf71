"""The npm package as authors get it: packed, and used by a page in TypeScript that Vite builds."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from e2e.noted import asked
from e2e.server import Server
from js_bridge.build import tools
from js_bridge.build.paths import BRIDGE, BROWSER, CLIENTS, DIST, PYTHON, ROOT

CLIENT = CLIENTS / "vite"


@pytest.fixture(scope="module", autouse=True)
def package(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Pack dist/ as the README says, and unpack it into the client's node_modules; its files."""
    folder = tmp_path_factory.mktemp("pack")
    (packed,) = re.findall(r"`npm pack (\S+)`", (ROOT / "README.md").read_text())
    name = tools.npm("pack", packed, "--pack-destination", folder).split()[-1]
    # without a slash, it were another's package
    assert name.startswith("rose-web-"), name
    modules = CLIENT / "node_modules"
    place = modules / "rose-web"
    # With what Vite's server keeps of a package, as long as the version is the same.
    for old in (place, modules / ".vite"):
        shutil.rmtree(old, ignore_errors=True)
    with tarfile.open(folder / name) as tarball:
        for member in tarball:
            path = place / member.name.removeprefix("package/")
            path.parent.mkdir(parents=True, exist_ok=True)
            content = tarball.extractfile(member)
            assert content
            path.write_bytes(content.read())
    return {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}


def node(*words: str | Path) -> str:
    done = subprocess.run([tools.node(), *words], cwd=CLIENT, capture_output=True, text=True, timeout=120)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout + done.stderr


def use(page: Page, address: str) -> None:
    """Use the page as a reader does, and check what it says."""
    page.goto(address)
    page.wait_for_function("document.getElementById('pull').textContent !== ''")

    def shown() -> tuple[float, float]:
        energy, pull = (page.text_content(f"#{name}") for name in ("energy", "pull"))
        return float(energy or "nan"), float(pull or "nan")

    slack = shown()
    page.locator("#span").fill("6.5")
    tight = shown()
    # further apart the chain hangs higher, and pulls harder
    assert tight[0] > slack[0]
    assert tight[1] > slack[1] > 0
    # at rest, the pull is how the energy grows with the span
    page.locator("#span").fill("6.51")
    assert (shown()[0] - tight[0]) / 0.01 == pytest.approx(tight[1], rel=0.02)


def test_what_is_packed(package: set[str]) -> None:
    scripts = {"rose.js", "rose.global.js", "rose.worker.js", "rose.python.js"}
    others = {"rose.d.ts", "rose.frozen.json", "package.json", "README.md", "LICENSE"}
    others |= {"DERIVATIVES.md", "site/img/quadratic.png"}
    runtime = {f"pyodide/{path.name}" for path in (DIST / "pyodide").iterdir()}
    assert package == scripts | runtime | others


def test_the_readme_leads_to_what_is_packed(package: set[str]) -> None:
    links = re.findall(r"\]\((?!https?:)([^)]+)\)", (DIST / "README.md").read_text())
    assert len(links) > 1
    assert set(links) <= package


def test_types() -> None:
    compiler = BRIDGE / "node_modules" / "typescript" / "bin" / "tsc"
    assert node(compiler, "-p", CLIENT) == ""


def test_built(page: Page, tmp_path: Path) -> None:
    """In a folder of any host, without a configuration of Vite's."""
    said = node("node_modules/vite/bin/vite.js", "build", "--base=./", f"--outDir={tmp_path}")
    assert "warn" not in said.lower(), said
    # Vite puts a hash of the content into each name; what the page does not load is not there.
    names = [re.sub(r"-.{8}\.", ".", path.name) for path in (tmp_path / "assets").iterdir()]
    loaded = ["pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip"]
    loaded += ["rose_core.zip", "rose_core.snapshot.wasm"]
    assert sorted(names) == sorted(["index.js", "rose.worker.js", "rose.python.js", *loaded])
    with Server({"/some/folder/": tmp_path}, quiet=True) as server:
        use(page, f"{server.origin}/some/folder/")


def test_frozen(page: Page, tmp_path: Path) -> None:
    """The same page, but for a line that says where its frozen programs are: it loads no Python."""
    source, built = tmp_path / "source", tmp_path / "built"
    shutil.copytree(CLIENT, source, ignore=shutil.ignore_patterns("node_modules"))
    (source / "node_modules").symlink_to(CLIENT / "node_modules")
    line = 'import { configure } from "rose-web"; configure({ frozen: "." });'
    (source / "main.ts").write_text(line + (source / "main.ts").read_text())
    node("node_modules/vite/bin/vite.js", "build", source, "--base=./", f"--outDir={built}")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CHROMIUM": json.loads(BROWSER.read_text())["path"]}
    words = [PYTHON, "-m", "rose_core.cli", "freeze", built]
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=120)
    assert not done.returncode, done.stdout + done.stderr
    assert len(list((built / "frozen").glob("*.wasm"))) == 2
    requests = asked(page.context)
    with Server({"/some/folder/": built}, quiet=True) as server:
        use(page, f"{server.origin}/some/folder/")
    assert any(url.endswith("/rose.frozen.json") for url in requests)
    assert not [url for url in requests if "pyodide" in url or "worker" in url]


@pytest.fixture
def dev_server() -> Iterator[str]:
    script = "import { createServer } from 'vite'; const s = await createServer(); await s.listen(0);"
    script += " console.log(s.resolvedUrls.local[0])"
    words = [tools.node(), "--input-type=module", "-e", script]
    with subprocess.Popen(words, cwd=CLIENT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        yield server.stdout.readline().strip()
        server.terminate()


def test_served_by_vite(page: Page, dev_server: str) -> None:
    use(page, dev_server)
