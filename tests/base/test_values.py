"""Errors in one line, mappings that never change, and the cache by identity."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Sequence

import pytest

from ndbplan.base.errors import UserError
from ndbplan.base.frozen import FrozenMap
from ndbplan.base.memo import memo_by_identity, memo_each_by_identity
from ndbplan.base.resources import read_json, resource_path


def test_an_error_is_one_line_with_place_and_remedy() -> None:
    error = UserError("the disk\nis  full", where="a.ndbplan", fix="free\nspace")
    assert error.line == "a.ndbplan: the disk is full — free space"
    assert str(error) == error.line
    assert UserError("bad").line == "bad"


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.__setitem__("a", 2),
        lambda m: m.__delitem__("a"),
        lambda m: m.clear(),
        lambda m: m.pop("a"),
        lambda m: m.popitem(),
        lambda m: m.setdefault("b", 1),
        lambda m: m.update({"b": 1}),
        lambda m: m.__ior__({"b": 1}),
    ],
)
def test_a_frozen_map_cannot_be_changed(change: Callable[[FrozenMap[str, int]], object]) -> None:
    frozen = FrozenMap({"a": 1})
    with pytest.raises(TypeError):
        change(frozen)
    assert frozen == {"a": 1}


def test_a_frozen_map_makes_changed_copies_and_keeps_order() -> None:
    frozen = FrozenMap({"a": 1, "b": 2})
    assert list(frozen.with_("a", 3).items()) == [("a", 3), ("b", 2)]
    assert frozen.without("a") == {"b": 2}
    assert frozen.without("z") == frozen
    assert hash(frozen) == hash(FrozenMap({"b": 2, "a": 1}))
    assert pickle.loads(pickle.dumps(frozen)) == frozen


def test_the_cache_knows_arguments_by_identity() -> None:
    calls: list[object] = []

    @memo_by_identity(size=2)
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
    @memo_by_identity(size=8)
    def show(value: object) -> str:
        return repr(value)

    assert [show(True), show(1), show(1.0)] == ["True", "1", "1.0"]


def test_the_cache_does_not_remember_errors() -> None:
    attempts: list[int] = []

    @memo_by_identity(size=2)
    def fail(_thing: str) -> None:
        attempts.append(1)
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):  # noqa: PT011
            fail("x")
    assert len(attempts) == 2


def test_the_cache_is_safe_across_threads() -> None:
    @memo_by_identity(size=4)
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

    @memo_each_by_identity(size=3)
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

    @memo_each_by_identity(size=3)
    def fail(questions: Sequence[tuple[str]]) -> list[int]:
        attempts.append(len(questions))
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError):  # noqa: PT011
            fail([("x",)])
    assert attempts == [1, 1]


def test_data_files_are_found() -> None:
    assert resource_path("samples/starter.ndbplan").is_file()
    assert read_json("ndb/limits.json")
