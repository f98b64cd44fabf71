"""The declarations for TypeScript say of the solvers' options what holds if they are left out."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import pytest

from js_bridge.build.paths import BRIDGE
from rose_core import fixed_point, minimize, odeint, quad, root
from rose_core.solvers import minimum

TEXT = (BRIDGE / "rose.d.ts").read_text("utf-8")


def said(interface: str, option: str) -> str:
    """What is said of an option."""
    body = re.search(rf"^export interface {interface} .*?^}}", TEXT, re.DOTALL | re.MULTILINE)
    assert body
    found = re.search(rf"/\*\*((?:(?!\*/).)*)\*/\s*{option}\?:", body[0], re.DOTALL)
    assert found
    return found[1].replace(",", "")


def is_said(value: float, text: str) -> bool:
    """Whether a number is said, be it as 1e-12 or 100,000."""
    return value in map(float, re.findall(r"\d+(?:\.\d+)?(?:e-\d+)?", text))


@pytest.mark.parametrize(
    ("interface", "solver", "options"),
    [
        ("SolveOptions", root, ["tolerance", "limit"]),
        ("SolveOptions", fixed_point, ["tolerance", "limit"]),
        ("SolveOptions", quad, ["tolerance", "limit"]),
        ("SolveOptions", minimize, ["tolerance"]),
        ("MinimizeOptions", minimize, ["rate"]),
        ("OdeOptions", odeint, ["rtol", "atol", "limit"]),
    ],
)
def test_the_defaults_of_solvers_are_those_of_the_core(
    interface: str, solver: Callable[..., object], options: list[str]
) -> None:
    defaults = {name: p.default for name, p in inspect.signature(solver).parameters.items()}
    for option in options:
        assert is_said(defaults[option], said(interface, option)), (option, defaults[option])


def test_the_limits_of_the_methods_of_minimize_are_said() -> None:
    limits = {limit for _, limit in minimum._METHODS.values()}
    assert all(is_said(limit, said("SolveOptions", "limit")) for limit in limits)
