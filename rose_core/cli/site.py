"""A site whose pages' programs are compiled ahead of time: what is there, and what should be.

Next to the pages of each folder, a folder `frozen` holds one file per program, `HASH.wasm`, and
`manifest.json`, which says what they are. Where the pages' Rose looks, in the folder of its `rose.js`,
`rose.frozen.json` names them all.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from rose_core.cli import offline as offline_worker
from rose_core.cli.artifact import Artifact
from rose_core.cli.errors import CommandError
from rose_core.cli.serve import address_of
from rose_core.cli.visit import INDEX, Visit

FOLDER = "frozen"
MANIFEST = "manifest.json"
ROOM = 16384
"""How many bytes of files an index holds itself, so that they need not be asked for: what, compressed, a host
sends at once."""

PACKAGE = "rose-web"
"""The name of the package that a copy of Rose is."""

_FILE = re.compile(r"[0-9a-f]{16}\.wasm")
"""The name of a program's file."""


@dataclass
class Frozen:
    """What belongs into the folder `frozen` next to pages."""

    artifacts: dict[str, Artifact] = field(default_factory=dict)
    pages: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """By key, the names of the pages that compile it."""

    def add(self, page: str, artifact: Artifact) -> None:
        self.artifacts[artifact.key] = artifact
        self.pages[artifact.key].add(page)

    @property
    def manifest(self) -> str:
        programs = {
            a.file_name: {
                "name": a.name,
                "bytes": len(a.data),
                "build": a.build,
                "pages": sorted(self.pages[k]),
            }
            for k, a in sorted(self.artifacts.items())
        }
        return json.dumps(programs, indent=1, ensure_ascii=False) + "\n"


@dataclass
class Change:
    """A difference between what is there and what should be."""

    path: Path
    data: bytes | None
    """What should be there, if anything."""
    text: str

    def make(self) -> None:
        if self.data is None:
            self.path.unlink(missing_ok=True)  # a leftover may have been written anew
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # at once, since the site may be a live one
        temporary = _temporary(self.path)
        try:
            temporary.write_bytes(self.data)
            os.replace(temporary, self.path)
        except BaseException:  # also of who stops it
            temporary.unlink(missing_ok=True)
            raise


class Site:
    """A folder of pages, used page by page."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        files = sorted(_files(self.root))
        self.pages = [path for path in files if path.suffix.lower() in (".html", ".htm")]
        if not self.pages:
            raise CommandError(f"{root} holds no pages")
        # where there are no pages any more, there is nothing to be frozen any more
        old = (path.parent for path in files if path.match(f"{FOLDER}/{MANIFEST}"))
        left = sorted(folder.parent for folder in old if _made(folder))
        folders = dict.fromkeys((*(page.parent for page in self.pages), *left))
        self.frozen: dict[Path, Frozen] = {folder: Frozen() for folder in folders}
        self.indices: dict[Path, set[Path]] = defaultdict(set)
        """By the path of an index, the folders of the pages that look there."""
        self.asks = False
        """Whether any page looks there, and not in workers alone."""
        self.workers: dict[str, Path] = {}
        """The addresses of service workers for the site as a whole, and a page that registers each."""
        self.failed: set[Path] = set()
        """The pages on which something went wrong."""
        self.problems: list[str] = []

    def name(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()

    def known(self) -> dict[str, Artifact]:
        """The programs that are frozen already, of any build; some may be damaged, which pages notice."""
        return {a.key: a for folder in self.frozen for a, _ in _programs(folder / FOLDER)}

    def take(self, page: Path, visit: Visit, origin: str) -> int:
        """Note what a page compiles; how many programs it keeps besides."""
        self.problems += [f"{self.name(page)}: {error.replace(origin, '')}" for error in visit.errors]
        kept: set[str] = set()
        if visit.errors:
            self.failed.add(page)
            kept = self._keep(page) - {artifact.key for artifact in visit.artifacts}
        for artifact in visit.artifacts:
            self.frozen[page.parent].add(page.name, artifact)
        if visit.artifacts and not visit.indices:
            self.problems.append(
                f'{self.name(page)} looks nowhere for what is frozen: say configure({{ frozen: "." }}) in it'
            )
        self.asks |= visit.asks
        if origin in visit.workers:
            self.workers.setdefault(visit.workers[origin], page)
        for url in visit.indices:
            if url.startswith(origin):
                path = self.root / unquote(urlsplit(url.removeprefix(origin)).path)
                self.indices[path].add(page.parent)
            elif visit.artifacts:
                self.problems.append(
                    f"{self.name(page)} looks for {url}, which is elsewhere: "
                    'say configure({ frozen: "." }) in it, or serve Rose from this site'
                )
        return len(kept)

    def _keep(self, page: Path) -> set[str]:
        """Leave a page what it had: where something went wrong, nobody knows what else it compiles."""
        folder = page.parent / FOLDER
        kept = set()
        for artifact, pages in _programs(folder):
            if not pages or page.name in pages:
                self.frozen[page.parent].add(page.name, artifact)
                kept.add(artifact.key)
        # wherever that is: npm installs Rose, too
        for path in self.root.rglob(INDEX):
            if f"{_relative(folder, path)}/" in (_json_of(path).get("folders") or {}):
                self.indices[path].add(page.parent)
        return kept

    def index(self, path: Path, offline: bool) -> str:
        """The content of an index."""
        folders = {}
        builds = {a.build for _, a in self._named(path)}
        for folder in sorted(self.indices[path]):
            frozen = self.frozen[folder].artifacts
            if frozen:
                folders[_relative(folder / FOLDER, path) + "/"] = sorted(frozen)
        content: dict[str, object] = {}
        if len(builds) == 1:
            content |= {"build": builds.pop()}
        if folders:
            content |= {"folders": folders, "small": _small(a for _, a in self._named(path))}
        if offline:
            content |= {"offline": _relative(self.root / offline_worker.SCRIPT, path)}
        return json.dumps(content, separators=(",", ":")) + "\n"

    def changes(self, offline: bool) -> list[Change]:
        """All that has to be done, or undone; indices come after the files that they name."""
        found: list[Change] = []
        for folder, frozen in self.frozen.items():
            found += self._folder_changes(folder / FOLDER, frozen)
        for path in self.indices:
            found += self.text_change(path, self.index(path, offline))
        for path in sorted(_files(self.root)):
            if path.name == INDEX and path not in self.indices and _json_of(path):
                found += self.text_change(path, "{}\n")  # nobody looks there any more
        script = self.root / offline_worker.SCRIPT
        if script.exists() and not offline:
            text = "ends what --offline has begun: the site no longer works without a network"
            found += self.text_change(script, offline_worker.FAREWELL, text)
        for path in map(_temporary, (*self.indices, script)):
            if path.exists():
                found.append(self._leftover(path))
        return found

    def separate(self) -> Iterator[Path]:
        """The files that indices do not hold, which are asked for when a page needs them."""
        for path in self.indices:
            yield path
            held = _small(a for _, a in self._named(path))
            yield from (folder / FOLDER / a.file_name for folder, a in self._named(path) if a.key not in held)

    def _named(self, path: Path) -> Iterator[tuple[Path, Artifact]]:
        """What an index names, with the folders of the pages that compile it."""
        for folder in self.indices[path]:
            for artifact in self.frozen[folder].artifacts.values():
                yield folder, artifact

    def note_look(self, page: Path, visit: Visit) -> None:
        """Note what came of opening a page when all is frozen."""
        if visit.started_python and page not in self.failed:
            self.problems.append(
                f"{self.name(page)} starts Python when it is opened, though its programs are frozen: "
                "does it call ready(), or compile what changes from visit to visit?"
            )

    def tell_of_workers(self, origin: str) -> None:
        """Of a scope, browsers have one service worker: the site's own may have that for offline in it.

        Pages register the latter when they ask for what is frozen; their workers cannot.
        """
        if not (self.asks or self.workers or self.failed):
            self.problems.append(
                "no page itself loads frozen programs, so none registers the service worker for offline use; "
                f'if workers do, write navigator.serviceWorker.register("{offline_worker.SCRIPT}") in a page'
            )
        for address, page in self.workers.items():
            name = urlsplit(address).path.removeprefix(urlsplit(origin).path)
            script = self.root / unquote(name)
            if script == self.root / offline_worker.SCRIPT:
                continue
            if script.is_file() and offline_worker.SCRIPT in script.read_text("utf-8", "replace"):
                continue
            self.problems.append(
                f"{self.name(page)} registers {name}, a service worker of the site's own, in place of that "
                f'for offline use: write importScripts("{offline_worker.SCRIPT}") at the end of {name}, or '
                "leave out --offline"
            )

    def works_offline(self) -> bool:
        """Whether it was frozen so."""
        return any("offline" in _json_of(path) for path in self.indices)

    def _folder_changes(self, folder: Path, frozen: Frozen) -> list[Change]:
        found: list[Change] = []
        manifest = folder / MANIFEST
        old = _made(folder)
        if not old and _json_of(manifest):
            if not frozen.artifacts:
                return []
            raise CommandError(
                f"freezing has to write {self.name(manifest)}, but there is one that it did not make: "
                "rename that, or its folder"
            )
        for key, artifact in frozen.artifacts.items():
            path = folder / artifact.file_name
            if path.exists() and path.read_bytes() == artifact.data:
                continue
            state = "is damaged" if path.exists() else "is new"
            pages = self.names(folder, frozen.pages[key])
            text = f"{self.name(path)} {state}: {artifact.name} of {pages}, {len(artifact.data)} bytes"
            found.append(Change(path, artifact.data, text))
        for name, entry in old.items():
            path = folder / name
            if path.stem not in frozen.artifacts and path.exists():
                text = f"{self.name(path)} is stale: {entry['name']}, which {self._left(folder, entry)}"
                found.append(Change(path, None, text))
        for path in sorted(folder.glob("*")):
            is_program = _FILE.fullmatch(path.name) and path.name not in old and Artifact.read(path)
            if (is_program and path.stem not in frozen.artifacts) or _is_temporary(path):
                found.append(self._leftover(path))
        if frozen.artifacts:
            found += self.text_change(manifest, frozen.manifest)
        elif old:
            found.append(Change(manifest, None, f"{self.name(manifest)} is stale"))
        return found

    def _leftover(self, path: Path) -> Change:
        """Remove what was on its way, or was to go, when freezing was stopped."""
        return Change(path, None, f"{self.name(path)} was left when freezing was stopped")

    def _left(self, folder: Path, entry: Mapping[str, Any]) -> str:
        """Who does what no longer with a program."""
        pages = self.names(folder, entry["pages"])
        if not pages:
            return "no page compiles any more"
        return f"{pages} no longer compile" + ("" if "," in pages else "s")

    def names(self, folder: Path, pages: Iterable[str]) -> str:
        """The pages next to a folder `frozen`, as the site knows them."""
        return ", ".join(self.name(folder.parent / page) for page in sorted(pages))

    def text_change(self, path: Path, text: str, state: str = "is out of date") -> list[Change]:
        if path.exists() and path.read_bytes() == text.encode():
            return []
        if not path.exists():
            state = "is new"
        return [Change(path, text.encode(), f"{self.name(path)} {state}")]


def _files(root: Path) -> Iterator[Path]:
    """The files of a site: not what is hidden or npm installed, nor the folders that come with Rose.

    Next to ``rose.js`` itself, an author may have pages.
    """
    for place, folders, names in os.walk(root):
        folder = Path(place)
        is_rose = folder != root and _json_of(folder / "package.json").get("name") == PACKAGE
        seen = {FOLDER} if is_rose else {name for name in folders if not name.startswith(".")}
        folders[:] = seen.intersection(folders) - {"node_modules"}
        yield from (folder / name for name in names)


def _json_of(path: Path) -> dict[str, Any]:
    """What a file of ours holds; nothing if it is not there, or damaged."""
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _made(folder: Path) -> dict[str, Any]:
    """The entries of the manifest in a folder; of one that is damaged, what can be known of the files.

    Only what is named here was made by freezing, and may be removed.
    """
    manifest = folder / MANIFEST
    if not manifest.exists():
        return {}
    if found := _json_of(manifest):
        return {name: entry for name, entry in found.items() if _FILE.fullmatch(name)}
    files = filter(_FILE.fullmatch, sorted(path.name for path in folder.iterdir()))
    return {name: {"name": "a program", "pages": []} for name in files}


def _programs(folder: Path) -> Iterator[tuple[Artifact, list[str]]]:
    """The programs that the manifest in a folder names, and the pages that compile each, if known."""
    for name, entry in _made(folder).items():
        if artifact := Artifact.read(folder / name):
            yield artifact, entry["pages"]


def _temporary(path: Path) -> Path:
    """Where a file is written before it takes its place."""
    return path.with_name(f"{path.name}.new")


def _is_temporary(path: Path) -> bool:
    """Whether a file in a folder ``frozen`` was to become one of ours."""
    return path.suffix == ".new" and bool(path.stem == MANIFEST or _FILE.fullmatch(path.stem))


def _small(artifacts: Iterable[Artifact]) -> dict[str, str]:
    """The smallest of these files in base 64: as many as hardly make the index slower to load."""
    found: dict[str, str] = {}
    room = ROOM
    for a in sorted(artifacts, key=lambda a: (len(a.data), a.key)):
        if a.key in found:
            continue
        room -= len(a.data)
        if room < 0:
            break
        found[a.key] = base64.b64encode(a.data).decode()
    return found


def _relative(path: Path, index: Path) -> str:
    """The address of a file or folder, as seen from an index."""
    return address_of(os.path.relpath(path, index.parent).replace(os.sep, "/"))
