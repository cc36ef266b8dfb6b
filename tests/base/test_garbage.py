"""Looking for garbage seldom ends with the work, whatever becomes of it."""

from __future__ import annotations

import gc

import pytest

from ndbplan.base.garbage import seldom_collecting


@seldom_collecting()
def broken_work() -> None:
    raise ValueError(gc.get_threshold()[0])


def test_it_is_as_before_afterwards_also_when_the_work_fails() -> None:
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="50000"):
        broken_work()
    assert gc.get_threshold() == before
    assert before[0] != 50_000
