"""Laws of a store of answers."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Sequence
from threading import Barrier, Thread

import pytest

from ndbplan.base.kept import Kept, keeping, kept_by_identity, kept_by_value, kept_each_by_identity, owner


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


def test_the_cache_knows_arguments_by_identity() -> None:
    calls: list[object] = []

    @kept_by_identity(size=2)
    def count(thing: list[int], factor: int = 1) -> int:
        calls.append(thing)
        return len(thing) * factor

    one, same = [1, 2], [1, 2]
    assert count(one) == count(one) == 2
    assert len(calls) == 1
    count(same)
    assert len(calls) == 2, "equal is not identical"
    assert count(one, factor=3) == 6
    assert count(one, factor=3) == 6
    assert len(calls) == 3
    count(same)
    count(one)
    assert len(calls) == 4, "the oldest of three was forgotten"


def test_the_cache_keeps_true_and_1_apart() -> None:
    @kept_by_identity(size=8)
    def show(value: object) -> str:
        return repr(value)

    assert [show(True), show(1), show(1.0)] == ["True", "1", "1.0"]


def test_the_cache_does_not_remember_errors() -> None:
    attempts: list[int] = []

    @kept_by_identity(size=2)
    def fail(_thing: str) -> None:
        attempts.append(1)
        raise ValueError("no answer")

    for _ in range(2):
        with pytest.raises(ValueError, match="no answer"):
            fail("x")
    assert len(attempts) == 2


def test_the_cache_is_safe_across_threads() -> None:
    @kept_by_identity(size=4)
    def double(value: int) -> int:
        return value * 2

    wrong: list[int] = []

    def work() -> None:
        wrong.extend(n for n in range(2000) if double(n % 9) != n % 9 * 2)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_of_many_questions_only_new_ones_are_asked_each_once_and_answers_keep_their_order() -> None:
    asked: list[list[int]] = []

    @kept_each_by_identity(size=3)
    def lengths(questions: Sequence[tuple[str, list[int]]]) -> list[int]:
        asked.append([len(things) for _, things in questions])
        return [len(things) for _, things in questions]

    one, two, three, equal = [1], [1, 2], [1, 2, 3], [1]
    assert lengths([("a", two), ("a", one), ("a", two)]) == [2, 1, 2]
    assert lengths([("a", one), ("a", three), ("a", two)]) == [1, 3, 2]
    assert lengths([("a", equal)]) == [1], "equal is not identical"
    assert lengths([("b", three), ("a", three)]) == [3, 3], "texts are told apart by their value"
    assert asked == [[2, 1], [3], [1], [3]]
    assert lengths([("a", one)]) == [1]
    assert asked[-1] == [1], "the oldest was forgotten"
    assert lengths([]) == []
    assert len(asked) == 5


def test_a_failing_answer_to_many_questions_is_not_remembered() -> None:
    attempts: list[int] = []

    @kept_each_by_identity(size=3)
    def fail(questions: Sequence[tuple[str]]) -> list[int]:
        attempts.append(len(questions))
        raise ValueError("no answer")

    for _ in range(2):
        with pytest.raises(ValueError, match="no answer"):
            fail([("x",)])
    assert attempts == [1, 1]


def test_answers_lie_with_whoever_keeps_and_die_with_it() -> None:
    asked: list[int] = []

    @kept_by_value(size=8)
    def double(number: int) -> int:
        asked.append(number)
        return 2 * number

    first = Kept()
    with keeping(first):
        assert [double(1), double(1)] == [2, 2]
        with keeping():
            double(1)
        assert asked == [1]
        with keeping(Kept()):
            double(1)
        assert asked == [1, 1], "another store knows nothing of it"
        assert owner() is first
    first(double, 1)
    assert asked == [1, 1], "it is still known there"
    assert len(first) == 1


def test_where_nobody_keeps_the_outermost_call_does() -> None:
    asked: list[str] = []

    @kept_by_identity(size=8)
    def inner(text: str) -> str:
        asked.append(text)
        return text

    @kept_by_identity(size=8)
    def outer(text: str) -> str:
        return inner(text) + inner(text)

    context = contextvars.Context()
    assert context.run(outer, "a") == "aa"
    assert asked == ["a"]
    context.run(outer, "a")
    assert asked == ["a", "a"]
    assert context.run(owner) is None


def test_a_thread_that_takes_the_context_along_keeps_in_the_same_store() -> None:
    seen: list[Kept | None] = []
    with keeping(Kept()) as mine:
        for work in (owner, contextvars.copy_context().run):
            arguments = () if work is owner else (owner,)
            thread = Thread(target=lambda work=work, arguments=arguments: seen.append(work(*arguments)))
            thread.start()
            thread.join()
    assert seen == [None, mine]
