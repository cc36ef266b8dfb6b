"""Results as text: one number on a line with its path, long lists as a digest, quantities as one value.

    estimate.redo.nodes[1].fill = 0.36 [0.30, 0.44] s

Digests name how many there are, the smallest, largest, mean and last one and twelve from all over; a changed
number anywhere in them changes at least the mean, a changed text the checksum.
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LONGEST_LIST = 8
"""Lists of more entries are written as a digest."""
POINTS = 12
TOLERANCE = 2e-6
"""Relative difference of two numbers that is still the same number: other processors round otherwise."""

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])")


def lines_of(value: Any, path: str = "") -> Iterator[str]:
    """Every number and text of a result of `json.loads`, each on a line behind its path."""
    if _is_quantity(value):
        yield f"{path} = {_quantity(value)}"
    elif isinstance(value, Mapping):
        if not value:
            yield f"{path} = {{}}"
        for key, part in value.items():
            yield from lines_of(part, f"{path}.{key}" if path else str(key))
    elif not isinstance(value, str) and isinstance(value, Sequence):
        yield from _list_lines(value, path)
    else:
        yield f"{path} = {scalar(value)}"


def scalar(value: Any) -> str:
    """A number with nine digits, a text in quotes, or null, true and false."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:.9g}"
    return '"' + str(value).replace("\n", "\\n") + '"'


def digest(path: str, values: Sequence[Any]) -> str:
    """A long list of numbers or texts in one line."""
    if values and all(isinstance(v, int | float) and not isinstance(v, bool) for v in values):
        mean = math.fsum(values) / len(values)
        step = (len(values) - 1) / (POINTS - 1)
        points = " ".join(scalar(values[round(i * step)]) for i in range(POINTS))
        low, high, last = scalar(min(values)), scalar(max(values)), scalar(values[-1])
        if low == high:
            return f"{path}: {len(values)} times {low}"
        return f"{path}: {len(values)}, min {low}, max {high}, mean {scalar(mean)}, last {last} | {points}"
    texts = [scalar(v) for v in values]
    counted = Counter(texts).most_common(6)
    shown = ", ".join(f"{text} x {count}" for text, count in counted)
    rest = len(set(texts)) - len(counted)
    more = f", {rest} more, checksum {zlib.crc32(' '.join(texts).encode()):08x}" if rest else ""
    return f"{path}: {len(texts)}, {shown}{more}"


def term_line(term: Mapping[str, Any]) -> str:
    """A term of a derivation: its name, its value, where that comes from."""
    span = f" [{scalar(term['low'])}, {scalar(term['high'])}]" if "low" in term else ""
    return f"{term['term']} = {scalar(term['value'])}{span} {term['unit']} ({term['source']})"


def same(before: str, now: str) -> bool:
    """Whether two lines say the same: equal texts, and numbers equal but for rounding."""
    if before == now:
        return True
    if _NUMBER.split(before) != _NUMBER.split(now):
        return False
    pairs = zip(_NUMBER.findall(before), _NUMBER.findall(now), strict=True)
    return all(_close(float(a), float(b)) for a, b in pairs)


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-12)


def _is_quantity(value: Any) -> bool:
    return isinstance(value, Mapping) and {"value", "low", "high", "unit"} <= value.keys()


def _quantity(value: Mapping[str, Any]) -> str:
    middle, low, high = (scalar(value[end]) for end in ("value", "low", "high"))
    span = "" if low == middle == high else f" [{low}, {high}]"
    return f"{middle}{span} {value['unit']}".rstrip()


def _list_lines(values: Sequence[Any], path: str) -> Iterator[str]:
    if len(values) > LONGEST_LIST:
        columns: dict[str, list[Any]] = {}
        for part in values:
            for place, leaf in _leaves(part, f"{path}[*]"):
                columns.setdefault(place, []).append(leaf)
        yield f"{path}: {len(values)} entries"
        for place, column in columns.items():
            yield digest(place, column)
    elif all(isinstance(part, str | int | float | None) for part in values):
        yield f"{path} = [{', '.join(map(scalar, values))}]"
    else:
        for i, part in enumerate(values):
            yield from lines_of(part, f"{path}[{i}]")


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, f"{path}.{key}")
    elif isinstance(value, str) or not isinstance(value, Sequence):
        yield path, value
    else:
        for part in value:
            yield from _leaves(part, f"{path}[*]")
