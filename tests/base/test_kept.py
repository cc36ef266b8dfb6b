"""Laws of a store of answers."""

from __future__ import annotations

from threading import Barrier, Thread

import pytest

from ndbplan.base.kept import Kept


class Counted:
    """A function that counts how often it is worked out."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, *args: object) -> list[object]:
        self.asked += 1
        return [args]


def test_what_was_asked_is_worked_out_once() -> None:
    kept, function, one = Kept(), Counted(), (1, 2)
    assert kept(function, one, "a", 1.0) is kept(function, one, "a", 1.0)
    assert function.asked == 1
    assert len(kept) == 1


def test_arguments_are_told_apart_by_identity_and_plain_ones_by_type_and_value() -> None:
    kept, function = Kept(), Counted()
    asked: list[tuple[object, ...]] = [([],), ([],), (1,), (1.0,), (True,), ("1",), (None,), (), (1, 1)]
    for args in asked:
        kept(function, *args)
    assert function.asked == len(asked)
    kept(function, int("1"))
    assert function.asked == len(asked)
    other = Counted()
    kept(other, 1)
    assert other.asked == 1


def test_the_answer_asked_for_longest_ago_goes_first() -> None:
    kept, function = Kept(size=2), Counted()
    for number in (1, 2, 1, 3):
        kept(function, number)
    assert (function.asked, len(kept)) == (3, 2)
    kept(function, 1)
    assert function.asked == 3
    kept(function, 2)
    assert function.asked == 4


def test_what_was_asked_stays_alive_with_its_answer() -> None:
    """Else another object could get its identity, and its answer."""
    kept, function = Kept(), Counted()
    for number in range(100):
        kept(function, [number])
    assert function.asked == 100


def test_an_error_is_not_kept() -> None:
    kept, asked = Kept(), []

    def refuses(number: int) -> int:
        asked.append(number)
        raise ValueError(number)

    for _ in range(2):
        with pytest.raises(ValueError, match="1"):
            kept(refuses, 1)
    assert asked == [1, 1]


def test_threads_that_ask_at_once_get_one_object() -> None:
    kept, both, found = Kept(), Barrier(2, timeout=10), []

    def slow(_number: int) -> object:
        both.wait()
        return object()

    threads = [Thread(target=lambda: found.append(kept(slow, 1))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1]
