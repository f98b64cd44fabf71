"""Where things are in a clone."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
STATE = ROOT / ".build"
DIST = ROOT / "dist"
RUNTIME = DIST / "pyodide"
BRIDGE = ROOT / "js_bridge"
SCRIPTS = BRIDGE / "build"
BENCH = ROOT / "e2e" / "bench"
CLIENTS = ROOT / "e2e" / "clients"
PENROSE = CLIENTS / "penrose"
PYTHON = VENV / "bin" / "python"
CPYTHON = STATE / "bench" / "venv" / "bin" / "python"
BROWSER = STATE / "browser.json"
"""What `setup` found: {"path", "program", "version", "source"}; `path` starts `program` for the tests."""
