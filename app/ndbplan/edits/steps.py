"""One sensible step of a number up and down: what is tried of a plan, and what a field offers."""

from __future__ import annotations

FEW, TIMES = 7, 2
"""Whole numbers up to this go by one, all others by half and twice."""
_HALF, _FIRST_SHARE = 0.5, 0.1
_TIMES_OF = {"clock_ghz": 1.25}
"""Where less than twice is what can be had instead."""


def times_of(name: str) -> float:
    """How many times as much the next value of a field is; `name`: of the field in the plan."""
    return _TIMES_OF.get(name, TIMES)


def next_up(now: float, name: str = "") -> int | float | None:
    """The next larger value; None: there is none of a fraction that is 0."""
    if isinstance(now, int):
        return now + 1 if abs(now) <= FEW else round(times_of(name) * now)
    return times_of(name) * now if now else None


def next_down(now: float, name: str = "") -> int | float | None:
    """The next smaller value; None: there is none of a fraction that is 0."""
    if isinstance(now, int):
        return now - 1 if abs(now) <= FEW else int(now // times_of(name))
    return now / times_of(name) if now else None


def share_up(now: float) -> float:
    """The next larger share: twice, or half of what is left to the whole, which it never is."""
    if now < _HALF:
        return 2 * now if now else _FIRST_SHARE
    return 1 - (1 - now) / 2


def share_down(now: float) -> float | None:
    """The next smaller share; None: there is none."""
    if now <= _HALF:
        return now / 2 if now else None
    return 1 - 2 * (1 - now)
