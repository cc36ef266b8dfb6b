"""How plans side by side are told: marks that need no colour beside the numbers, and a line for each plan."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ndbplan.advise.compare import Comparison, Difference, Judgement, Row
from ndbplan.advise.figures import FIGURES
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_value, how_many
from ndbplan.plan.field_words import title_of

MARKS = {Judgement.BETTER: "▲", Judgement.WORSE: "▼", Judgement.WITHIN: "≈"}
LEGEND = "▲ better than the first   ▼ worse   ≈ within the uncertainty   = the same"
_MISSING = {"cost": "not stated"}
_NAMED = 3


def value_text(row: Row, place: int) -> str:
    """The number of a column, without its range; what it means that there is none."""
    value = row.values[place]
    if value is not None:
        return format_value(value.value, value.unit)
    is_best = FIGURES[row.figure].none_is_best and not row.notes[place]
    return "none" if is_best else _MISSING.get(row.figure, "—")


def range_text(value: Quantity | None) -> str:
    """What the number may be; nothing where it is sure."""
    if value is None or value.low == value.high:
        return ""
    return f"{format_value(value.low, value.unit)} … {format_value(value.high, value.unit)}"


def mark(row: Row, place: int) -> str:
    """The sign of the judgement; nothing in the first column, and where nothing can be told."""
    judged, one, two = row.judged[place], row.values[0], row.values[place]
    is_same = one is two or (one is not None and two is not None and _ends(one) == _ends(two))
    return "" if judged is None else "=" if is_same else MARKS[judged]


def spread_text(row: Row, place: int) -> str:
    """That a number varies more or less than that of the first plan about the same middle; else nothing."""
    return f"the same middle, {row.spread[place]} spread" if row.spread[place] else ""


def _ends(value: Quantity) -> tuple[float, float, float]:
    return value.low, value.value, value.high


def verdicts(*found: Comparison) -> Iterator[str]:
    """For each column but the first, how often it is better, worse, or neither can be told."""
    for name, (better, worse, within) in zip(found[0].columns[1:], _counts(found), strict=True):
        told = f"{name}: better in {how_many(better, 'figure')}, worse in {worse}"
        yield f"{told}, the same or within the uncertainty in {within}"


def balance(*found: Comparison) -> Iterator[str]:
    """The same in signs: `2 ▲  1 ▼`."""
    for better, worse, _within in _counts(found):
        yield f"{better} {MARKS[Judgement.BETTER]}  {worse} {MARKS[Judgement.WORSE]}"


def _counts(found: Sequence[Comparison]) -> Iterator[tuple[int, int, int]]:
    """For each column but the first how many figures are better, worse, or neither can be told."""
    for place in range(1, len(found[0].columns)):
        judged = [row.judged[place] for one in found for row in one.rows]
        better, worse, within = (judged.count(one) for one in Judgement)
        yield better, worse, within


def problem_lines(found: Comparison) -> Iterator[str]:
    """For each column but the first which problems of the first it settles, and which it brings."""
    for name, one in zip(found.columns[1:], found.problems, strict=False):
        yield from (f"{name}: {line}" for line in one.lines)


def alike(found: Iterable[Difference]) -> Iterator[Difference]:
    """The differences, those with one name and the same values as one: `cores of 144: host a1, host a2 …`."""
    together: dict[tuple[str, str, tuple[str, ...]], list[Difference]] = {}
    for one in found:
        together.setdefault((one.kind, one.name, one.shown), []).append(one)
    for several in together.values():
        places = [one.place for one in several]
        more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
        one = several[0]
        name = one.name if one.kind == "parameters" else field_in_words(one.name)
        yield replace(several[0], name=name, place=f"{', '.join(places[:_NAMED])}{more}")


def field_in_words(name: str) -> str:
    """What a field is called at the begin of a line."""
    words = title_of(name)
    return words[:1].upper() + words[1:]
