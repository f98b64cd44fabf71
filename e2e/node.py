"""JavaScript in Node, as modules whose `./` is dist/: each in a process of its own, or many in one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from itertools import count
from pathlib import Path
from threading import Timer
from typing import Any

from js_bridge.build.paths import DIST
from js_bridge.build.tools import node

PATIENCE = 120
"""Seconds for one module."""


Run = Callable[[str], str]
"""What gives what a module prints."""


def run(code: str) -> str:
    """What a module prints that has a process for itself."""
    words = [node(), "--input-type=module", "--eval", code]
    done = subprocess.run(words, cwd=DIST, capture_output=True, text=True, timeout=PATIENCE)
    assert not done.returncode, done.stderr[-4000:]
    return done.stdout


class Shared:
    """Runs modules in one process, which share what they import from dist/, and the core that it starts.

    After one that fails, the next has a new process. The folder, an empty one, takes the modules.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.said = folder / "stderr"
        self.number = count()
        self.process: subprocess.Popen[str] | None = None
        for path in DIST.iterdir():
            (folder / path.name).symlink_to(path)

    def run(self, code: str) -> str:
        """What a module prints."""
        file = self.folder / f"{next(self.number)}.mjs"
        file.write_text(code)
        process = self.process or self.start()
        assert process.stdin and process.stdout
        timer = Timer(PATIENCE, process.kill)
        timer.start()
        process.stdin.write(f"{file.as_uri()}\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        timer.cancel()
        printed, wrong = json.loads(answer) if answer else ["", self.said.read_text()]
        if wrong is not None:
            self.end()
        assert wrong is None, wrong[-4000:]
        return str(printed)

    def start(self) -> subprocess.Popen[str]:
        words = [node(), Path(__file__).with_name("snippets.mjs")]
        pipe = subprocess.PIPE
        with self.said.open("w") as said:
            self.process = subprocess.Popen(words, cwd=DIST, stdin=pipe, stdout=pipe, stderr=said, text=True)
        return self.process

    def end(self) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.process = None


def returned(node: Run, head: str, body: str) -> Any:
    """What the body of an async function returns, by way of JSON, in a module that begins with ``head``."""
    return json.loads(node(f"{head}\nconsole.log(JSON.stringify(await (async () => {{ {body} }})()));"))


def evaluate(node: Run, body: str) -> object:
    """What ``body`` returns, with the module as ``rose``."""
    head = """
        import * as rose from "./rose.js";
        await rose.ready();
        const same = async (f, ...args) => {
            const a = rose.interp(f)(...args), b = (await rose.compile(f))(...args);
            if (JSON.stringify(a) !== JSON.stringify(b)) throw Error(JSON.stringify([a, b]));
            return b;
        };
        const messages = [];
        const attempt = (action) => {
            try { action(); messages.push("no error"); }
            catch (error) { messages.push(`${error.name}: ${error.message}`); }
        };"""
    return returned(node, head, body)
