"""Nothing on a page is out of anyone's reach, as far as axe-core can tell: names, roles, contrast, sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from e2e.explorables import EVALUATES, STRICT, USES
from e2e.tab import PlaywrightTab
from e2e.workbench import be_drawn
from js_bridge.build.paths import BRIDGE

AXE = BRIDGE / "node_modules" / "axe-core" / "axe.min.js"

SIZES = {"phone": (390, 844), "desktop": (1440, 900)}

VIOLATIONS = """async () => (await axe.run()).violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, any, all, none }) =>
        [`${id} (${help})`, html, [...any, ...all, ...none].map(({ message }) => message)]))"""


def violations(page: Page) -> dict[str, Any]:
    """What axe finds, by where: on a phone and on a desktop, in light and in dark."""
    found = {}
    for size, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
            be_drawn(page)
            found[f"{scheme} {size}"] = page.evaluate(VIOLATIONS)
    return found


@pytest.mark.parametrize("name", USES)
def test_axe_finds_nothing(
    new_page: Callable[..., Page], host: Callable[..., str], problems: list[str], name: str
) -> None:
    """When it has been used, in a folder of a host with a strict policy."""
    page = new_page(reduced_motion="reduce")
    url = host("/deep/down/", {} if name in EVALUATES else STRICT, frozen=True)
    page.goto(f"{url}site/{name}.html")
    USES[name](PlaywrightTab(page, problems))
    page.evaluate(AXE.read_text())
    assert violations(page) == {f"{scheme} {size}": [] for size in SIZES for scheme in ("light", "dark")}


def test_axe_finds_what_is_wrong(page: Page, frozen_url: str) -> None:
    page.goto(f"{frozen_url}site/regression.html")
    page.add_script_tag(path=AXE)
    page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<button></button>')")
    for found in violations(page).values():
        ((rule, html, _),) = found
        assert rule.startswith("button-name") and html == "<button></button>"
