"""Programs for npm's rose 0.4.10 do the same with ours: its own tests, and random programs."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from js_bridge.build.paths import ROOT
from js_bridge.build.tools import node

ORIGINAL = ROOT / "e2e" / "clients" / "original"

DIFFERENCES: dict[str, str] = json.loads((ORIGINAL / "differences.json").read_text())
"""Mistakes of which ours tells and the original does not, each with what the original does instead; one is
none here, a negative index.

There are no others: what the original throws at, ours throws at, and where it has a value, ours has
the same. All of its own tests pass as they are, messages included.
"""


def vitest(report: Path, rose: str) -> dict[str, str]:
    """Run the tests of the original on the module ``rose``; each test's name and status."""
    program = ORIGINAL / "node_modules" / "vitest" / "vitest.mjs"
    words = [node(), program, "run", "--reporter=json", f"--outputFile={report}"]
    done = subprocess.run(
        words, cwd=ORIGINAL, env={**os.environ, "ROSE": rose}, capture_output=True, text=True, timeout=300
    )
    assert report.exists(), done.stdout[-2000:] + done.stderr[-2000:]
    files = json.loads(report.read_text())["testResults"]
    return {test["fullName"]: test["status"] for file in files for test in file["assertionResults"]}


def test_its_own_tests(tmp_path: Path) -> None:
    found = vitest(tmp_path / "report.json", "dist/rose.js")
    assert len(found) == 85
    assert {name for name, status in found.items() if status != "passed"} == set()


def test_its_own_tests_run_on_ours(tmp_path: Path) -> None:
    """With an error in ours, the tests that meet it fail, and no others."""
    found = vitest(tmp_path / "report.json", "e2e/clients/original/wrong.mjs")
    failed = {name for name, status in found.items() if status != "passed"}
    assert {"valid 2 + 2 = 4", "valid basic arithmetic"} <= failed
    assert len(failed) < 10


def differ(first: int, count: int, kind: str) -> dict[str, Any]:
    words = [str(node()), "differ.mjs", str(first), str(count), kind]
    done = subprocess.run(words, cwd=ORIGINAL, capture_output=True, text=True, timeout=300)
    assert not done.returncode, done.stderr[-4000:]
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def shown(case: dict[str, Any]) -> str:
    return "\n".join(f"{key}: {value}" for key, value in case.items())


def test_random_programs() -> None:
    report = differ(0, 500, "right")
    assert not report["differ"], shown(report["differ"][0])
    assert report["threw"] == 0
    assert report["panicked"] < 50, "most of the programs are to be compared"


def test_random_mistakes() -> None:
    report = differ(0, 800, "wrong")
    unexpected = [case for case in report["differ"] if case["mistake"] not in DIFFERENCES]
    assert not unexpected, shown(unexpected[0])
    for case in report["differ"]:
        refuses, takes = ("theirs", "mine") if case["mistake"] == "negative" else ("mine", "theirs")
        assert "throws" in case[refuses] and "values" in case[takes], shown(case)
    assert report["threw"] > 400
    assert report["panicked"] < 20
