"""Arrays keep their values under all names, whatever is changed in its place: compiled = interpreted."""

from __future__ import annotations

import pytest
from engines import same
from random_names import Names


@pytest.mark.parametrize("seeds", [range(k, k + 50) for k in range(0, 350, 50)], ids=str)
def test_values(seeds) -> None:
    for seed in seeds:
        names = Names(seed)
        same(names.function, *names.args())
