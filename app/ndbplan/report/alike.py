"""Rows that say the same stand in one: hosts bought alike, nodes with the same figures.

for group in alike(nodes, ("ram_bytes", "data_memory_bytes")):
    group.first["ram_bytes"], group.names("node_id"), group.count()
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ndbplan.report.document import Line, Run
from ndbplan.report.places import Place

_NAMED = 4


@dataclass(frozen=True)
class Group:
    """Rows of a list that are alike."""

    rows: Place
    """The list."""
    numbers: tuple[int, ...]
    keys: tuple[str, ...]
    """In which they are alike."""

    @property
    def first(self) -> Place:
        """The row that stands for all."""
        return self.rows[self.numbers[0]]

    def count(self) -> Run:
        """How many there are."""
        return self.rows.count(f"like({self.numbers[0]};{','.join(self.keys)})")

    def names(self, key: str) -> Line:
        """What they are called: numbers as spans, names by the first ones and the last."""
        places = [self.rows[number][key] for number in self.numbers]
        if all(isinstance(place.value, int) for place in places):
            return _spans(places)
        return some(places)


def alike(rows: Place, keys: tuple[str, ...], read: Callable[[Any], Any] = lambda row: row) -> list[Group]:
    """The rows grouped by the values of these keys, in the order in which they first come."""
    groups: dict[str, list[int]] = {}
    for number, row in enumerate(rows.value):
        told = json.dumps([read(row).get(key) for key in keys], sort_keys=True)
        groups.setdefault(told, []).append(number)
    return [Group(rows, tuple(numbers), keys) for numbers in groups.values()]


def some(places: Sequence[Place]) -> Line:
    """Names with commas between; of many the first ones and the last."""
    shown = list(places) if len(places) <= _NAMED else [*places[: _NAMED - 1], places[-1]]
    line: list[Run] = []
    for number, place in enumerate(shown):
        if number:
            line.append(Run(" … " if len(places) > _NAMED and number == len(shown) - 1 else ", "))
        line.append(place.run())
    return tuple(line)


def _spans(places: Iterable[Place]) -> Line:
    """Numbers, those that follow one another as `1–4`."""
    spans: list[list[Place]] = []
    for place in sorted(places, key=lambda one: int(one.value)):
        if spans and spans[-1][-1].value + 1 == place.value:
            spans[-1].append(place)
        else:
            spans.append([place])
    ends = [(span[0], span[-1]) for span in spans]
    if len(ends) > _NAMED:
        return some([first for first, _ in ends[:-1]] + [ends[-1][1]])
    line: list[Run] = []
    for number, (first, last) in enumerate(ends):
        line += [Run(", ")] if number else []
        line += [first.run()] if first is last else [first.run(), Run("–"), last.run()]
    return tuple(line)
