"""dist/ as it is served: from the root of a host, from a folder of it, and in Node."""

import re
import subprocess
from zipfile import ZipFile

import pytest

from e2e.server import Server
from js_bridge.build.paths import BRIDGE, DIST
from js_bridge.build.tools import node

HEAD = "<!doctype html><meta charset=utf-8><link rel=icon href=data:,>"


@pytest.mark.parametrize("place", ["site_url", "folder_url"])
def test_the_index_page_opens(page, place, request):
    page.goto(request.getfixturevalue(place) + "site/index.html")
    assert page.title()


def test_the_host_s_root_leads_to_the_site(page, folder_url):
    page.goto(folder_url)
    assert page.url == folder_url + "site/"


def test_the_classic_script_defines_rose(page, folder_url):
    page.goto(folder_url + "site/index.html")
    page.add_script_tag(url="../rose.global.js")
    assert page.evaluate("typeof window.rose") == "object"


def bundle(folder, *options):
    """Put into a folder a script that esbuild has made of a page's module as it does by itself: no module."""
    main = 'import { Real, compile, configure, fn, mul } from "ROSE"; configure({ assets: "../rose/" });'
    main += "window.six = compile(fn([Real], Real, (x) => mul(2, x))).then((f) => f(3));"
    (folder / "main.js").write_text(main.replace("ROSE", (DIST / "rose.js").as_posix()))
    esbuild = BRIDGE / "node_modules" / "esbuild" / "bin" / "esbuild"
    words = [esbuild, folder / "main.js", "--bundle", f"--outfile={folder / 'out' / 'app.js'}", *options]
    subprocess.run([node(), *words, "--log-level=error"], check=True)
    (folder / "page.html").write_text(f"{HEAD}<script src='out/app.js'></script>")


def test_in_a_classic_script_of_a_bundler(page, tmp_path):
    bundle(tmp_path)
    with Server({"/rose/": DIST, "/": tmp_path}, quiet=True) as server:
        page.goto(f"{server.origin}/page.html")
        assert page.evaluate("six") == 6


def test_where_a_bundler_tells_the_address_of_its_own_disk(page, tmp_path):
    """As webpack and Parcel do."""
    caught = "--footer:js=six.catch(() => {});"  # before it is asked for
    bundle(tmp_path, '--define:import.meta.url="file:///source/rose.js"', caught)
    page.route("**/rose.worker.js", lambda route: route.fulfill(body="", content_type="text/javascript"))
    with Server({"/rose/": DIST, "/": tmp_path}, quiet=True) as server:
        page.goto(f"{server.origin}/page.html")
        told = page.evaluate("six.catch(String)")
        assert told.startswith(f"Error: {server.origin}/rose/rose.worker.js is empty, or none of Rose's")


def test_the_classic_script_may_stand_in_the_page(page, tmp_path):
    text = (DIST / "rose.global.js").read_text().replace("</script", "<\\/script")
    (tmp_path / "page.html").write_text(f"{HEAD}<script>{text}</script>")
    work = """() => {
        const { Real, compile, fn, mul } = rose;
        rose.configure({ assets: "rose" });
        return compile(fn([Real], Real, (x) => mul(2, x))).then((f) => f(3));
    }"""
    with Server({"/rose/": DIST, "/": tmp_path}, quiet=True) as server:
        page.goto(f"{server.origin}/page.html")
        assert page.evaluate(work) == 6


def test_a_classic_worker_may_import_the_classic_script(page, tmp_path):
    """From a folder that is not its own."""
    (tmp_path / "page.html").write_text(HEAD)
    (tmp_path / "worker.js").write_text("""
        importScripts("../rose/rose.global.js");
        const { Real, compile, fn, mul } = rose;
        const told = ({ message }) => postMessage(message);
        compile(fn([Real], Real, (x) => mul(2, x))).then((f) => postMessage(f(3)), told);
    """)
    work = """() => new Promise((done, failed) => {
        const worker = new Worker("worker.js");
        worker.onmessage = ({ data }) => done(data);
        worker.onerror = ({ message }) => failed(message);
    })"""
    with Server({"/rose/": DIST, "/pages/": tmp_path}, quiet=True) as server:
        page.goto(f"{server.origin}/pages/page.html")
        assert page.evaluate(work) == 6
        assert not [path for path in server.asked if not path.startswith(("/rose/", "/pages/"))]


def test_the_module_loads_in_node(node):
    assert node("import * as rose from './rose.js'; console.log(typeof rose)").strip() == "object"


def test_pages_have_of_the_core_what_they_can_come_to():
    with ZipFile(DIST / "pyodide" / "rose_core.zip") as archive:
        names = {name.removeprefix("rose_core/").removesuffix(".pyc") for name in archive.namelist()}
    assert {"__init__", "bridge", "practice", "language/ops", "solvers/ode", "wasm/wat"} <= names
    of_tests, of_the_command = {"language/check", "language/parse"}, {"cli/__init__", "operators/derived"}
    assert not names & (of_tests | of_the_command | {"export"})


def test_what_goes_wrong_on_a_page_is_noticed(page, site_url, problems):
    page.goto(site_url + "site/index.html")
    page.evaluate("console.error('on the console')")
    page.evaluate("setTimeout(() => { throw new Error('an exception') })")
    page.evaluate("new Promise(done => { new Worker('gone.js').onerror = done })")
    page.wait_for_timeout(100)
    for problem in (
        "console: on the console",
        "uncaught: an exception",
        "404 .*/gone.js",
        "failed .*/gone.js",
    ):
        assert any(re.match(problem, line) for line in problems), problem
    problems.clear()


@pytest.mark.provokes("console: expected")
def test_what_a_test_provokes_does_not_fail_it(page, site_url):
    page.goto(site_url + "site/index.html")
    page.evaluate("console.error('expected')")
