"""Measured numbers as rows of a table, and how many of them lie in their ranges."""

from __future__ import annotations

from collections.abc import Iterable

from ndbplan.base.quantity import Quantity
from reality.measured import Measured


def judged(
    quantity: str, era: str, run: str, measured: float, answer: Quantity, *, fitted: bool = True
) -> Measured:
    """A row from an answer with a range; `fitted`: a constant was chosen with the number in sight."""
    return Measured(quantity, era, run, answer.unit, measured, answer.low, answer.value, answer.high, fitted)


def is_inside(row: Measured) -> bool:
    """Whether the measurement lies in the range, its ends with what one digit of it says."""
    return row.low * 0.995 <= row.measured <= row.high * 1.005


def error(row: Measured) -> float:
    """Relative error of the answer."""
    return row.value / row.measured - 1 if row.measured else row.value


def width(row: Measured) -> float:
    """The range as a factor."""
    return row.high / row.low if row.low > 0 else float("inf")


def share_inside(rows: Iterable[Measured]) -> float:
    """Share of the measurements that lie in their range."""
    every = list(rows)
    return sum(is_inside(row) for row in every) / len(every) if every else 1.0


def as_table(rows: Iterable[Measured]) -> str:
    """The rows as text: quantity, era, run, measured, low, value, high, error, inside."""
    lines = [
        f"{'quantity':34} {'era':7} {'run':18} {'measured':>11} {'low':>11} {'value':>11} {'high':>11}"
        f" {'error':>7} {'width':>6} inside"
    ]
    lines += [
        f"{row.quantity:34} {row.era:7} {row.run:18} {row.measured:11.4g} {row.low:11.4g} {row.value:11.4g}"
        f" {row.high:11.4g} {100 * error(row):6.1f}% {width(row):6.2f} {'yes' if is_inside(row) else 'NO'}"
        for row in rows
    ]
    return "\n".join(lines)
