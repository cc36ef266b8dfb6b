"""A few of the kills of `make attack`."""

from __future__ import annotations

import pytest

from attack.kills import lost


@pytest.mark.parametrize("seed", range(4))
def test_a_kill_loses_nothing_that_was_done(seed: int) -> None:
    assert lost(seed) == ""
