"""Paths into a JSON document: what one leads to, and what is wrong with it.

    [value for _, value in places({"a": [1, 2]}, steps_of("$.a[1]"))]      # [2]

Source: manual 8.4, Searching and Modifying JSON Values; sql-common/json_path.cc (place of a fault).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Any, NoReturn

from ndbplan.train.sql.problem import SqlError

Place = tuple[str | int, ...]
"""Names and numbers that lead to a value within a document."""


class Every(Enum):
    """Steps to more than one value."""

    MEMBER = ".*"
    CELL = "[*]"
    DEEP = "**"


class Cells(tuple[int, int]):
    """A range of cells, with both ends; below 0 counted from the last."""


Step = str | int | Every | Cells
_BLANKS = re.compile(r"\s*+")
_NAME = re.compile(r'"(?:[^"\\]|\\.)*+"|[^\s.\[*]*+')
_IDENTIFIER = re.compile(r"(?:[^\W0-9]|\$)[\w$]*+")
_CELL = re.compile(r"([0-9]++)|last(?:\s*+-\s*+([0-9]++))?")


def steps_of(path: Any) -> list[Step]:
    """Steps of a path. Raises SqlError."""
    text = str(path)
    at = _skip(text, 0)
    if text[at : at + 1] != "$":
        _wrong(min(at + 1, len(text)))
    at, found = _skip(text, at + 1), list[Step]()
    while at < len(text):
        at, step = _leg(text, at)
        found.append(step)
        at = _skip(text, at)
    if found and found[-1] is Every.DEEP:
        _wrong(at)
    return found


def one_of(path: Any) -> list[Step]:
    """Steps of a path that leads to one value. Raises SqlError."""
    found = steps_of(path)
    if any(isinstance(one, Every | Cells) for one in found):
        tokens = "path expressions may not contain the * and ** tokens or an array range"
        raise SqlError(3149, "42000", f"In this situation, {tokens}.")
    return found


def _wrong(at: int) -> NoReturn:
    told = f"Invalid JSON path expression. The error is around character position {at}."
    raise SqlError(3143, "42000", told)


def _skip(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return at if found is None else found.end()


def _leg(text: str, at: int) -> tuple[int, Step]:
    if text[at] == ".":
        return _member(text, _skip(text, at + 1))
    if text[at] == "[":
        return _cell(text, _skip(text, at + 1))
    if text[at] != "*":
        _wrong(at)
    if text[at + 1 : at + 2] != "*":
        _wrong(min(at + 2, len(text)))
    if text[at + 2 : at + 3] in ("", "*"):
        _wrong(at + 2)
    return at + 2, Every.DEEP


def _member(text: str, at: int) -> tuple[int, Step]:
    if text[at : at + 1] == "*":
        return at + 1, Every.MEMBER
    found = _NAME.match(text, at)
    name = "" if found is None else found[0]
    end = at + len(name)
    if name.startswith('"'):
        try:
            return end, str(json.loads(name))
        except ValueError:
            _wrong(end)
    if not _IDENTIFIER.fullmatch(name):
        _wrong(end)
    return end, name


def _cell(text: str, at: int) -> tuple[int, Step]:
    if text[at : at + 1] == "*":
        return _closed(text, at + 1), Every.CELL
    at, first = _number(text, at)
    at = _skip(text, at)
    if text[at : at + 2] != "to" or text[at - 1] != " ":
        return _closed(text, at), first
    at, last = _number(text, _skip(text, at + 2))
    return _closed(text, at), Cells((first, last))


def _number(text: str, at: int) -> tuple[int, int]:
    """The number of a cell, -1 and below counted from the last."""
    found = _CELL.match(text, at)
    if found is None:
        _wrong(at)
    return found.end(), int(found[1]) if found[1] is not None else -1 - int(found[2] or 0)


def _closed(text: str, at: int) -> int:
    at = _skip(text, at)
    if text[at : at + 1] != "]":
        _wrong(min(at + 1, len(text)))
    return at + 1


def places(value: Any, steps: Sequence[Step], before: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Where a path leads, with what is there: each place once."""
    seen = set[Place]()
    for place, one in _places(value, steps, before):
        if place not in seen:
            seen.add(place)
            yield place, one


def _places(value: Any, steps: Sequence[Step], before: Place) -> Iterator[tuple[Place, Any]]:
    if not steps:
        yield before, value
        return
    step, rest = steps[0], steps[1:]
    if step is Every.DEEP:
        yield from _places(value, rest, before)
        for name, one in _inside(value):
            yield from _places(one, steps, (*before, name))
        return
    if isinstance(value, dict) and (step is Every.MEMBER or isinstance(step, str)):
        names = list(value) if step is Every.MEMBER else [step] if step in value else []
        for name in names:
            yield from _places(value[name], rest, (*before, name))
        return
    if isinstance(step, str) or step is Every.MEMBER:
        return
    if isinstance(value, list):
        for cell in _cells(step, len(value)):
            yield from _places(value[cell], rest, (*before, cell))
    elif step is not Every.CELL and 0 in _cells(step, 1):
        # What is no array is an array of one.
        yield from _places(value, rest, before)


def _inside(value: Any) -> Iterator[tuple[str | int, Any]]:
    yield from (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )


def _cells(step: Step, count: int) -> range:
    if step is Every.CELL:
        return range(count)
    if isinstance(step, Cells):
        first, last = (one + count * (one < 0) for one in step)
        return range(max(0, first), min(count, last + 1))
    cell = step + count * (step < 0) if isinstance(step, int) else -1
    return range(cell, cell + 1) if 0 <= cell < count else range(0)
