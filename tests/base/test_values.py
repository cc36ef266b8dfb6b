"""Errors in one line, mappings that never change, and the cache by identity."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest

from ndbplan.base.errors import UserError
from ndbplan.base.frozen import FrozenMap
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


def test_data_files_are_found() -> None:
    assert resource_path("samples/starter.ndbplan").is_file()
    assert read_json("ndb/errors.json")
