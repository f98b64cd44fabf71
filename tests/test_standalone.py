"""Functions as files: what they hold, and what is no such file."""

from __future__ import annotations

import pytest

from rose_core import Real, RunError, Vec, fn, grad, index, load, root, while_loop
from rose_core.standalone import to_file

outside = fn([Real, Vec(3, Real)], Real, lambda x, v: v[index(3, x * 1.5)])
chosen = fn([Real, Vec(3, Real)], Real, lambda x, v: v[index(3, x)] * x)
endless = fn([Real], Real, lambda x: while_loop(Real, x, lambda y: y > 0, lambda y: y + 1, limit=5))
solved = fn([Real], Real, lambda x: root(lambda y: y * y - x, 1.0))


def test_a_file_says_only_what_its_function_may_say() -> None:
    data = to_file(grad(chosen).func, "slope")
    assert data.count(b"cannot be an index") == 1
    assert b"while_loop" not in data and b"root" not in data
    with pytest.raises(RunError, match="index: 7 cannot be an index"):
        load(data)(7.0, [1.0, 2.0, 3.0])
    for f, complaint in (endless, "while_loop: it did not end"), (grad(solved), "root: "):
        with pytest.raises(RunError, match=complaint):
            load(to_file(f.func, "f"))(-1.0 if f is not endless else 1.0)


def test_a_file_that_was_cut_off_is_refused() -> None:
    data = to_file(chosen.func, "chosen")
    for end in range(4, len(data), 7):
        with pytest.raises(ValueError):
            load(data[:end])
