"""A compiled program's file, as `js_bridge/src/known/artifact.ts` makes it: what it says of itself."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path

_DIGITS = 16
"""Of the hash at the end, before which the lengths of the module, the descriptor and the recording are."""


@dataclass(frozen=True)
class Artifact:
    """A program's file."""

    key: str
    """The hash of its recording."""
    data: bytes

    @staticmethod
    def read(path: Path) -> Artifact | None:
        """What a file holds; nothing if it is not there, or damaged."""
        try:
            artifact = Artifact(path.stem, path.read_bytes())
            return artifact if artifact.name and artifact.build else None
        except (OSError, ValueError, LookupError, struct.error):
            return None

    @property
    def file_name(self) -> str:
        return f"{self.key}.wasm"

    @property
    def _text(self) -> list[str]:
        """The recording's last part: a line of the build and the kind of memory, and the header."""
        end = len(self.data) - _DIGITS - 12
        _, _, length = struct.unpack_from("<3I", self.data, end)
        start = end - length
        reals, ints = struct.unpack_from("<2I", self.data, start)
        return self.data[start + 8 + 8 * reals + 4 * ints : end].decode().split("\n", 1)

    @property
    def build(self) -> str:
        """The build of Rose that compiled it."""
        return self._text[0].partition(" ")[0]

    @property
    def name(self) -> str:
        """What the author calls the function; or that it is the page's scripts in Python."""
        header = json.loads(self._text[1])
        if isinstance(header, list):
            return "the scripts in Python"
        return str(header["functions"][header["root"]]["name"])
