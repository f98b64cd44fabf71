"""How a page is opened: with other queries, and with what it has stored, as it reloads itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

_STORED = (Path(__file__).parent / "stored.js").read_text("utf-8").strip().rstrip(";")


class Opening(NamedTuple):
    """An address of a page, and what is stored there when it is opened, as `navigation.js` tells it."""

    address: str
    stored: str = ""

    @property
    def names(self) -> frozenset[str]:
        """The names of what has values in it."""
        found = re.findall(r"[^&=]+(?==)", urlsplit(self.address).query)
        if self.stored:
            all_stored = json.loads(self.stored)
            found += (name for names in (all_stored["local"], all_stored["session"]) for name, _ in names)
            found += re.findall(r"[^; =]+(?==)", all_stored["cookie"])
        return frozenset(found)

    def prepare(self, context: BrowserContext) -> None:
        """Have it be stored before the page is opened."""
        if self.stored:
            context.add_init_script(f"({_STORED})({self.stored})")
