"""Questions of a lesson: what is accepted, and what an answer is worth."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from ndbplan.base.errors import UserError, readable
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_value, parse_bytes, parse_bytes_per_s, parse_duration_s, parse_factor
from ndbplan.estimate.estimation import Estimation
from ndbplan.train.lessons.figures import figure
from ndbplan.train.lessons.model import Question

_NO_UNIT = re.compile(r"[0-9]{1,4}(?:\.[0-9]*)?")
"""A number of bytes that only has a meaning with a unit."""
ROUNDED = 0.005
"""Share by which a number without a range may be rounded."""


_EXAMPLES = {"s": "90s", "bytes": "48M", "bytes/s": "48MB/s"}


class AnswerError(UserError):
    """An answer that is none."""


@dataclass
class Asked:
    """A question and the answers so far."""

    question: Question
    expected: Quantity | None
    """None: it is a choice."""
    wrong_costs: float
    wrong: int = 0
    is_right: bool = False
    given: list[str] = field(default_factory=list)

    @property
    def points(self) -> float:
        """What a right answer is worth now."""
        return round(max(0.0, self.question.points * (1.0 - self.wrong * self.wrong_costs)), 1)

    @property
    def is_closed(self) -> bool:
        """It is answered, or wrong so often that it is worth nothing."""
        return self.is_right or (self.wrong > 0 and self.points <= 0)

    @property
    def solution(self) -> str:
        """What a trainee would type."""
        if self.expected is None:
            return next(option.name for option in self.question.options if option.right)
        return f"{self.expected.value:.10g}"

    @property
    def example(self) -> str:
        """How an answer may look: with the unit of what is asked for."""
        return _EXAMPLES.get("" if self.expected is None else self.expected.unit, "a number")

    @property
    def truth(self) -> str:
        """What is right, for whoever has answered: the option, or the number with what is accepted."""
        if self.expected is None:
            right = next(option for option in self.question.options if option.right)
            return f"{right.name}) {right.text}"
        low, high = self.expected.low, self.expected.high
        value, least, most = (
            format_value(one, self.expected.unit) for one in (self.expected.value, low, high)
        )
        return value if low == high else f"{value} (accepted: {least} to {most})"

    def give(self, text: str) -> str:
        """An answer; what is said to it. Raises UserError, at no cost, for one that cannot be read."""
        if self.is_closed:
            return "That is answered already."
        is_right, why = self._judged(text)
        self.given = [*self.given, text]
        if is_right:
            self.is_right = True
            return f"Right. {why}".strip()
        self.wrong += 1
        over = f"It is worth nothing any more: right is {self.truth}."
        left = over if self.is_closed else f"{self.points:g} points are left."
        return " ".join(f"No. {why} {left}".split())

    def _judged(self, text: str) -> tuple[bool, str]:
        if self.expected is None:
            names = {option.name: option for option in self.question.options}
            chosen = names.get(text.lower())
            if chosen is None:
                raise AnswerError(
                    f"'{readable(text, 40)}' is not an option", fix=f"one of {', '.join(names)}"
                )
            return chosen.right, chosen.why
        number = _number(text, self.expected.unit)
        low, high = self.expected.low, self.expected.high
        is_right = low * (1 - ROUNDED) <= number <= high * (1 + ROUNDED)
        return is_right, f"The estimate is {self.truth}." if is_right else ""


def _number(text: str, unit: str) -> float:
    parse = {"s": parse_duration_s, "bytes": parse_bytes, "bytes/s": parse_bytes_per_s}.get(
        unit, parse_factor
    )
    if parse in (parse_bytes, parse_bytes_per_s) and _NO_UNIT.fullmatch(text.strip()):
        each = "a second" if unit == "bytes/s" else "in all"
        raise AnswerError(
            f"'{readable(text, 40)}' has no unit, and so few bytes {each} cannot be meant",
            fix=f"type a unit, such as {_EXAMPLES[unit]}",
        )
    try:
        number = float(parse(text.strip().rstrip("%").strip()))
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise AnswerError(
            f"'{readable(text, 40)}' is not a number", fix="type a number, with a unit if it has one"
        )
    return number


def asked(question: Question, now: Estimation, wrong_costs: float) -> Asked:
    """A question on a plan. Raises FigureError."""
    return Asked(question, figure(question.figure, now) if question.figure else None, wrong_costs)
