"""The page that shows the benchmarks' results."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from build import ROOT
from e2e.gestures import PHONE

RESULTS = json.loads((ROOT / "site" / "benchmark.json").read_text())
STRICT = {"Content-Security-Policy": "default-src 'self'"}


def test_it_shows_what_was_measured(page: Page, host: Callable[..., str]) -> None:
    page.goto(host("/deep/", STRICT) + "site/benchmark.html")
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


def test_a_mark_stands_where_its_time_is(page: Page, site_url: str) -> None:
    page.goto(site_url + "site/benchmark.html")
    found = page.evaluate(
        """() => import("./chart.js").then(({ curves }) => {
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
