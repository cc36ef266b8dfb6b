"""Conditions on a live cluster, as breakpoints and goals of lessons state them.

condition = parsed("redo_log >= 80% and nodes_started = 4")
condition.holds(simulation)
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import NamedTuple

from ndbplan.base.errors import UserError, readable
from ndbplan.base.units import TwoReadingsError, format_percent, parse_bytes, refuse_group
from ndbplan.simulate.simulation import Simulation
from ndbplan.train.quantities import NAMES, OF_ONE, RATES, SHARES, known, value

_TERM = re.compile(r"([A-Za-z_]+(?::[A-Za-z0-9_.\-]+)?+) ?(>=|<=|=|>|<)? ?([0-9.]+) ?(%|[A-Za-z]*)")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt, "=": operator.eq,
}  # fmt: skip


class ConditionError(UserError):
    """A text that is no condition."""


class Term(NamedTuple):
    """One quantity and what it is compared with."""

    name: str
    relation: str
    limit: float

    def holds(self, sim: Simulation) -> bool:
        """Whether it is so now."""
        return _OPERATORS[self.relation](value(self.name, sim), self.limit)

    @property
    def is_share(self) -> bool:
        """Whether people write it in percent."""
        return self.name in SHARES


class Condition(NamedTuple):
    """Terms that hold together."""

    text: str
    terms: tuple[Term, ...]

    def holds(self, sim: Simulation) -> bool:
        """Whether all of it is so now."""
        return all(term.holds(sim) for term in self.terms)

    def found(self, sim: Simulation) -> str:
        """What its quantities are now: `redo_log 81.2 %, nodes_started 4`."""
        return ", ".join(f"{term.name} {shown(term.name, sim)}" for term in self.terms)


def shown(name: str, sim: Simulation) -> str:
    """What a quantity is now, as people read it."""
    number = value(name, sim)
    if name in SHARES:
        return format_percent(number)
    return f"{round(number)}/s" if name in RATES else f"{number:g}"


def parsed(text: str) -> Condition:
    """`redo_log 80%`, `accepted < 10`, several joined by `and`. Raises ConditionError.

    Without a sign it means at least, and `<` alone less.
    """
    plain = " ".join(text.split())
    return Condition(plain, tuple(_term(piece) for piece in plain.split(" and ")))


def _term(text: str) -> Term:
    found = _TERM.fullmatch(text)
    name = text.split(None, 1)[0] if text else ""
    if not known(found[1] if found else name):
        more = ", ".join(f"{one}:…" for one in OF_ONE)
        raise ConditionError(
            f"'{readable(name, 40)}' is not a quantity", fix=f"one of {', '.join(NAMES)}, {more}"
        )
    if found is None:
        try:
            for word in text.split():
                refuse_group(word.lstrip("<>="))
        except TwoReadingsError as error:
            raise ConditionError(error.what, fix=error.fix) from None
        raise ConditionError(f"'{readable(text, 60)}' is not a number", fix="type for example 80% or < 10")
    name, relation, digits, unit = found[1], found[2] or ">=", found[3], found[4]
    try:
        limit = float(parse_bytes(digits + unit)) if unit not in ("", "%") else float(digits)
    except (ValueError, UserError):
        raise ConditionError(
            f"'{readable(digits + unit, 40)}' is not a number", fix="type for example 80% or 64M"
        ) from None
    return Term(name, relation, limit / 100.0 if unit == "%" else limit)
