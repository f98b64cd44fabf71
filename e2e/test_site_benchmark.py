"""The page that shows the benchmarks' results."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from statistics import median

import pytest
from playwright.sync_api import Page, expect

from e2e.explorables import STRICT
from e2e.gestures import PHONE
from js_bridge.build.paths import BENCH, DIST, ROOT

RESULTS = json.loads((ROOT / "site" / "benchmark.json").read_text())
NO_WASM = {"Content-Security-Policy": "default-src 'self'"}


def test_it_shows_what_was_measured(page: Page, host: Callable[..., str]) -> None:
    page.goto(host("/deep/", NO_WASM) + "site/benchmark.html")
    expect(page.locator("[data-show=date]")).to_have_text(RESULTS["date"])
    workloads = RESULTS["workloads"].values()
    titles = [workload["title"] for workload in workloads]
    expect(page.locator("#calls figcaption")).to_have_text(titles)
    expect(page.locator("#tables summary")).to_have_text(titles)
    measured = [
        found["gradient"]["median"]
        for workload in workloads
        for size in workload["sizes"]
        for found in size["contenders"].values()
        if "gradient" in found
    ]
    marks = page.locator("#calls circle, #calls .bar")
    expect(marks).to_have_count(len(measured))
    expect(page.locator("#starts .bar")).to_have_count(len(RESULTS["start"]))
    expect(page.locator("#status")).to_be_empty()


def test_it_begins_with_how_many_times_as_long_each_takes(page: Page, site_url: str) -> None:
    multiples: dict[str, list[float]] = {}
    for size in (size for workload in RESULTS["workloads"].values() for size in workload["sizes"]):
        found = {name: times["gradient"] for name, times in size["contenders"].items() if "gradient" in times}
        for name, times in found.items() if "this" in found else ():
            multiples.setdefault(name, []).append(times["median"] / found["this"]["median"])
    page.goto(site_url + "site/benchmark.html")
    expect(page.locator("#summary .beside")).to_have_text(list(multiples))
    written = [text.split() for text in page.locator("#summary .after").all_text_contents()]
    medians = [median(values) for values in multiples.values()]
    assert [float(multiple) for multiple, _ in written] == pytest.approx(medians, rel=0.01)
    assert [count for _, count in written] == [f"({len(values)})" for values in multiples.values()]
    expect(page.get_by_text("JAX and Taichi, outside of the browser")).to_be_visible()


def test_a_mark_stands_where_its_time_is(page: Page, site_url: str) -> None:
    page.goto(site_url + "site/benchmark.html")
    found = page.evaluate(
        """() => import("./benchmark/chart.js").then(({ curves }) => {
          const chart = curves(new Map([["this", [[10, 1], [1000, 10]]], ["other", [[10, 100]]]]), "name");
          return [...chart.querySelectorAll("circle")].map((c) => [
            c.textContent, Number(c.getAttribute("cx")), Number(c.getAttribute("cy"))]);
        })"""
    )
    (other, x0, high), (first, x1, low), (last, x2, middle) = found
    assert (other, first, last) == ("other, n = 10: 100", "this, n = 10: 1", "this, n = 1000: 10")
    assert x0 == x1 < x2
    assert middle == pytest.approx((low + high) / 2) and high < low


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_and_a_desktop(
    new_page: Callable[..., Page], site_url: str, scheme: str, screenshot: Callable[..., object]
) -> None:
    page = new_page(**PHONE, color_scheme=scheme)
    page.goto(site_url + "site/benchmark.html")
    expect(page.locator("#starts .bar")).to_have_count(len(RESULTS["start"]))
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.locator("#tables summary").first.click()
    expect(page.locator("#tables table").first).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 900})
    screenshot(page, f"benchmark-{scheme}", full_page=True)


@pytest.mark.provokes("benchmark.json")
def test_results_are_missing(page: Page, site_url: str) -> None:
    page.route("**/benchmark.json", lambda route: route.fulfill(status=404))
    page.goto(site_url + "site/benchmark.html")
    expect(page.locator("#status.failed")).to_contain_text("could not load benchmark.json")


# ---- on the reader's machine --------------------------------------------------------


def choose(page: Page, *workloads: str) -> None:
    """These workloads, and no others."""
    check(page, "workloads", workloads)


def check(page: Page, where: str, values: Collection[str]) -> None:
    boxes = page.locator(f"#{where} input")
    boxes.first.wait_for()
    for box in boxes.all():
        box.set_checked(box.get_attribute("value") in values)


def measure(page: Page) -> None:
    page.get_by_role("button", name="Measure here").click()


def expect_done(page: Page) -> None:
    expect(page.locator("#measuring")).to_have_text("Done.")


def test_the_reader_measures(page: Page, host: Callable[..., str]) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(host("/deep/", STRICT) + "site/benchmark.html")
    choose(page, "power")
    expect(page.locator("[data-show=jobs]")).to_have_text("3")
    page.get_by_label("Sizes above").check()
    expect(page.locator("[data-show=jobs]")).to_have_text("4")
    choose(page, "sincos", "springs")
    page.get_by_label("Sizes above").uncheck()
    expect(page.locator("[data-show=jobs]")).to_have_text("3")
    choose(page)
    expect(page.get_by_role("button", name="Measure here")).to_be_disabled()
    choose(page, "sincos")
    assert not [url for url in asked if "/pyodide/" in url or ("/bench/" in url and "about" not in url)]
    measure(page)
    expect(page.get_by_role("button", name="Measure here")).to_be_disabled()
    expect_done(page)
    expect(page.locator("#notes")).to_be_empty()
    here, there = page.locator("#pairs figure").all()[:2]
    names = ["JS by hand", "this", "rose 0.4.10", "C -O3", "C -O3 simd", "TensorFlow.js", "jax-js"]
    expect(here.locator("text.beside")).to_have_text(names)
    kept = RESULTS["workloads"]["sincos"]["sizes"][0]["contenders"]
    expect(there.locator("text.beside")).to_have_text(list(kept))
    ticks = [chart.locator("text.below").all_inner_texts() for chart in (here, there)]
    assert ticks[0] == ticks[1]
    expect(page.locator("#ratios th[scope=row]")).to_have_text([name for name in names if name != "this"])
    page.locator("#pairs summary").click()
    expect(page.locator("#pairs tr")).to_have_count(1 + len(names))
    expect(page.get_by_role("button", name="Stop")).to_be_disabled()


def test_what_is_loaded_is_counted(page: Page, site_url: str) -> None:
    page.goto(site_url + "site/benchmark.html")
    kb = json.loads((DIST / "bench" / "about.json").read_text())["kB"]
    shown = page.locator("[data-show=kB]")
    total = sum(kb.values())
    expect(shown).to_have_text(f"{total:,}".replace(",", "\u202f"))
    page.get_by_label("TensorFlow.js (").uncheck()
    expect(shown).to_have_text(f"{total - kb['tensorflow']:,}".replace(",", "\u202f"))


def test_measuring_is_stopped_and_begun_again(page: Page, site_url: str) -> None:
    page.goto(site_url + "site/benchmark.html")
    choose(page, "sincos", "rosenbrock")
    check(page, "peers", [])
    measure(page)
    expect(page.locator("#measuring")).to_contain_text("2 of 4")
    worker = next(worker for worker in page.workers if "/bench/worker.js" in worker.url)
    with worker.expect_event("close"):
        expect(page.get_by_role("button", name="Stop")).to_be_focused()
        page.keyboard.press("Enter")
    expect(page.locator("#measuring")).to_contain_text("Stopped.")
    expect(page.get_by_role("button", name="Measure here")).to_be_focused()
    expect(page.locator("#measuring")).not_to_have_class("failed")
    expect(page.locator("#pairs h3")).to_have_count(1)
    choose(page, "sincos")
    measure(page)
    expect_done(page)
    expect(page.locator("#pairs h3")).to_have_text(["sin(cos(x))"])


@pytest.mark.provokes(r"libraries/jax\.js")
def test_a_library_is_missing(page: Page, site_url: str) -> None:
    page.context.route("**/libraries/jax.js", lambda route: route.fulfill(status=404))
    page.goto(site_url + "site/benchmark.html")
    choose(page, "sincos")
    check(page, "peers", ["jax"])
    measure(page)
    expect_done(page)
    expect(page.locator("#notes")).to_contain_text("jax-js is left out")
    expect(page.locator("#ratios")).not_to_contain_text("jax-js")


def test_whoever_gives_other_numbers_is_left_out(page: Page, site_url: str) -> None:
    text = (BENCH / "workloads" / "sincos.js").read_text()
    wrong = text.replace("tf.sin(tf.cos(x))", "tf.cos(tf.cos(x))")
    assert wrong != text
    page.context.route(
        "**/workloads/sincos.js", lambda route: route.fulfill(content_type="text/javascript", body=wrong)
    )
    page.goto(site_url + "site/benchmark.html")
    choose(page, "sincos")
    check(page, "peers", ["tensorflow"])
    measure(page)
    expect_done(page)
    page.locator("#pairs summary").click()
    row = page.locator("#pairs tr", has_text="TensorFlow.js")
    expect(row).to_contain_text("value[0] is")
    expect(page.locator("#ratios")).not_to_contain_text("TensorFlow.js")


@pytest.mark.provokes("about.json")
def test_there_is_nothing_to_measure(page: Page, site_url: str) -> None:
    page.route("**/about.json", lambda route: route.fulfill(status=404))
    page.goto(site_url + "site/benchmark.html")
    expect(page.locator("#measuring.failed")).to_contain_text("could not load about.json")
    expect(page.get_by_role("button", name="Measure here")).to_be_disabled()


@pytest.mark.provokes("bench/worker.js")
def test_the_measuring_worker_is_missing(page: Page, site_url: str) -> None:
    page.route("**/bench/worker.js", lambda route: route.fulfill(status=404))
    page.goto(site_url + "site/benchmark.html")
    page.locator("#workloads input").first.wait_for()
    measure(page)
    expect(page.locator("#measuring.failed")).to_contain_text("could not load bench/worker.js")
    expect(page.get_by_role("button", name="Measure here")).to_be_enabled()
