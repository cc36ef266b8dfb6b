"""A value that is worked out when it is first asked for."""

from __future__ import annotations

import pickle

from ndbplan.base.later import Later


def test_it_is_worked_out_once_and_not_before() -> None:
    asked: list[int] = []

    def work_out() -> str:
        asked.append(1)
        return "found"

    later = Later(work_out)
    assert not asked
    assert later() == later() == "found"
    assert asked == [1]


def test_it_is_told_apart_by_its_value_and_travels_with_it() -> None:
    assert Later(lambda: 3) == Later(lambda: 3) != Later(lambda: 4)
    assert pickle.loads(pickle.dumps(Later(lambda: 3)))() == 3
