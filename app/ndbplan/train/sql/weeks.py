"""Weeks of the year, in the eight ways in which the server counts them.

    week_of(datetime(2024, 1, 1), 3)      # (2024, 1)

Source: manual, WEEK(); mysys/my_time.cc, calc_week.
"""

from __future__ import annotations

from datetime import date

_MONDAY, _OF_YEAR, _FIRST_WHOLE = 1, 2, 4
_LEAST_DAYS = 4
"""A week with so many days in a year is its first, where it need not be whole."""


def week_of(at: date, mode: int) -> tuple[int, int]:
    """Year and number of the week: modes 0, 1, 4 and 5 count days before the first week as week 0."""
    behaviour = mode & 7
    if not behaviour & _MONDAY:
        behaviour ^= _FIRST_WHOLE
    of_year, whole = behaviour & _OF_YEAR, behaviour & _FIRST_WHOLE

    def begins(year: int) -> int:
        """The first day of week 1, as an ordinal."""
        first = date(year, 1, 1)
        into = first.weekday() if behaviour & _MONDAY else first.isoweekday() % 7
        starts_later = into != 0 if whole else into > 7 - _LEAST_DAYS
        return first.toordinal() - into + 7 * starts_later

    year, day = at.year, at.toordinal()
    if day < begins(year):
        if not of_year:
            return year, 0
        year -= 1
    elif of_year and year < date.max.year and day >= begins(year + 1):
        year += 1
    return year, (day - begins(year)) // 7 + 1


def year_and_week(at: date, mode: int = 0) -> int:
    """YEARWEEK: the week of a year that may be the one before or after."""
    year, week = week_of(at, mode | _OF_YEAR)
    return year * 100 + week
