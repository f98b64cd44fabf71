"""The site that `build.py build` has frozen: its readers load no Python until they make something new."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from e2e.noted import asked
from e2e.test_site_index import DONE, PAGES, wait


def needs_python(urls: list[str]) -> list[str]:
    return [url for url in urls if "/pyodide/" in url or url.endswith("rose.worker.js")]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_no_python(page: Page, frozen_url: str, name: str) -> None:
    urls = asked(page.context)
    page.goto(f"{frozen_url}site/{name}.html")
    wait(page, name)
    assert any(url.endswith("/site/rose.frozen.json") for url in urls)
    assert needs_python(urls) == []


def test_what_the_text_offers_is_frozen_and_what_is_typed_is_not(page: Page, frozen_url: str) -> None:
    urls = asked(page.context)
    page.goto(f"{frozen_url}site/quadratic.html")
    wait(page, "quadratic")
    for button in page.locator("[data-act^=preset]").all():
        before = page.locator("#expression").input_value()
        button.click()
        if page.locator("#expression").input_value() != before:
            expect(page.locator("#status")).to_have_text(re.compile("Derived"))
    assert needs_python(urls) == []
    page.locator("#expression").fill("x*x*y + 0.125")
    expect(page.locator("[data-show=hxx]").last).not_to_have_text(DONE["quadratic"][1])
    assert needs_python(urls)
