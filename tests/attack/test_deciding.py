"""Two plans for each law; `make attack` looks at more."""

from __future__ import annotations

import pytest

from attack.deciding import COUNTED, LAWS


@pytest.mark.parametrize(("law", "seed"), [("first-row", 2), ("cells", 0), ("swapped", 1), ("same", 2)])
def test_what_is_shown_of_a_walked_plan_is_what_is_asked_directly(law: str, seed: int) -> None:
    assert list(LAWS[law](seed)) == []
    assert law != "cells" or COUNTED["figures of cells"] > 5
