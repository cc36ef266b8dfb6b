"""Looking for garbage seldom ends with the work, whatever becomes of it."""

from __future__ import annotations

import gc

import pytest

from ndbplan.base.garbage import _SELDOM, seldom_collecting


@seldom_collecting()
def broken_work() -> None:
    raise ValueError(gc.get_threshold()[0])


def test_it_is_as_before_afterwards_also_when_the_work_fails() -> None:
    before = gc.get_threshold()
    with pytest.raises(ValueError, match=str(_SELDOM[0])):
        broken_work()
    assert gc.get_threshold() == before
    assert before[0] != _SELDOM[0]


def test_of_two_threads_that_work_the_last_one_to_end_sets_it_back() -> None:
    before = gc.get_threshold()
    first, second = seldom_collecting(), seldom_collecting()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] == _SELDOM[0]
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before
