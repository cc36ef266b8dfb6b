"""Looking for garbage seldom ends with the work, whatever becomes of it."""

from __future__ import annotations

import gc

import pytest

from ndbplan.base.garbage import seldom_collecting


def test_it_is_as_before_afterwards_also_when_the_work_fails() -> None:
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="broken"), seldom_collecting():
        assert gc.get_threshold() > before
        raise ValueError("broken")
    assert gc.get_threshold() == before
