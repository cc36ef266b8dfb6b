"""A load over time from a CSV file: a moment and a rate in each line.

    read_load_schedule("seconds,transactions per second\\n0,100\\n60,4000\\n")

Moments are seconds, durations such as `5min`, clock times (`08:30`, `08:30:15`) or dates with a time
(`2024-05-01 08:30:15`), counted from the first line; numbers of seconds count as they are.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Literal

from ndbplan.base.errors import UserError
from ndbplan.base.files import read_whole
from ndbplan.base.units import TwoReadingsError, refuse_group
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.importing.moments import moment_s
from ndbplan.plan.fields import MAX_RATE
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad, RatePoint

MOST_LINES = 100_000
LARGEST_BYTES = 20_000_000
LONGEST_S = 1e9


class LoadScheduleError(UserError):
    """A schedule that cannot be read."""


def read_load_schedule(
    text: str, shape: Literal["step", "linear"] = "linear", repeat_s: float = 0.0
) -> OpenLoad:
    """The open load that a CSV text describes; a first line without numbers is a heading.

    Between two moments the rate slides (`linear`) or stays (`step`). Raises LoadScheduleError, which names
    the line.
    """
    rows = [(n, row) for n, row in enumerate(_rows(text), start=1) if any(cell.strip() for cell in row)]
    rows = [(n, row) for n, row in rows if not row[0].lstrip().startswith("#")]
    time_at, rate_at = 0, 1
    if rows and _is_heading(rows[0][1]):
        time_at, rate_at = _columns(rows[0][1])
        rows = rows[1:]
    if not rows:
        raise LoadScheduleError(
            "there is no line with a moment and a rate", fix="write lines such as 0,100 and 60,4000"
        )
    if len(rows) > MOST_LINES:
        raise LoadScheduleError(
            f"{len(rows)} lines are more than {MOST_LINES}, the most that is read", fix="thin the file out"
        )
    schedule = [_point(n, row, time_at, rate_at) for n, row in rows]
    begin = schedule[0][0] if schedule[0][1] else 0.0
    points: list[RatePoint] = []
    for (n, _), (at_s, _, rate) in zip(rows, schedule, strict=True):
        if points and at_s - begin <= points[-1].at_s:
            raise LoadScheduleError(
                f"the moment {at_s - begin:g} s does not come after {points[-1].at_s:g} s",
                where=f"line {n}",
                fix="sort the lines by time",
            )
        if not 0 <= at_s - begin <= LONGEST_S:
            raise LoadScheduleError(
                f"the moment lies {at_s - begin:g} s after the first, outside 0 to {LONGEST_S:g} s",
                where=f"line {n}",
                fix="write every moment in the same way",
            )
        points.append(RatePoint(at_s=at_s - begin, rate_per_s=rate))
    if repeat_s and repeat_s <= points[-1].at_s:
        raise LoadScheduleError(
            f"a schedule of {points[-1].at_s:g} s cannot start again after {repeat_s:g} s",
            fix="repeat it after its last moment",
        )
    return OpenLoad(points=tuple(points), shape=shape, repeat_s=repeat_s)


def read_schedule_file(path: Path) -> str:
    """The text of a file. Raises LoadScheduleError when it cannot be read, is too large or no UTF-8."""
    content = read_whole(path, LARGEST_BYTES, refused=LoadScheduleError, fix="thin the file out")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise LoadScheduleError(f"byte {error.start} is not UTF-8 text", fix="choose a CSV file") from None


def with_schedule(plan: Plan, workload_id: str, text: str, shape: str = "linear") -> Plan:
    """The plan whose workload arrives as a CSV text says, for as long as it says when that is longer.

    What an open load says beside its points (clients, retries) stays. Raises LoadScheduleError.
    """
    workload = plan.workload(workload_id)
    schedule = read_load_schedule(text, "step" if shape == "step" else "linear")
    load = schedule
    if isinstance(workload.load, OpenLoad):
        load = validated.changed(workload.load, points=schedule.points, shape=schedule.shape, repeat_s=0.0)
    duration_s = max(workload.duration_s, schedule.points[-1].at_s)
    return edits.update(plan, workload.id, load=load, duration_s=duration_s)


def _rows(text: str) -> list[list[str]]:
    head = text.lstrip("\ufeff").split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    try:
        return list(csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=None), delimiter=delimiter))
    except csv.Error as error:
        raise LoadScheduleError(f"the text is not CSV ({error})") from None


def _is_heading(row: list[str]) -> bool:
    return not any(cell.strip()[:1].isdigit() for cell in row)


def _columns(row: list[str]) -> tuple[int, int]:
    """Which columns hold moment and rate, by their headings; else the first two."""
    names = [cell.strip().lower() for cell in row]

    def first(words: tuple[str, ...], other: int) -> int:
        return next((i for i, name in enumerate(names) if any(w in name for w in words) and i != other), -1)

    rate = first(("offered", "rate", "per_s", "per s", "tps", "qps", "/s"), -1)
    moment = first(("time", "at_s", "t_s", "second", "date", "clock", "moment"), rate)
    return moment if moment >= 0 else int(rate == 0), rate if rate >= 0 else 1


def _point(n: int, row: list[str], time_at: int, rate_at: int) -> tuple[float, bool, float]:
    """(seconds, whether they count from the first line, rate)."""
    if len(row) <= max(time_at, rate_at):
        raise LoadScheduleError(
            f"{len(row)} value is not a moment and a rate",
            where=f"line {n}",
            fix="write a line such as 60,4000",
        )
    at_s, relative = _moment(row[time_at].strip(), n)
    text = row[rate_at].strip()
    try:
        refuse_group(text.replace(".", " "))
        rate = float(text)
    except TwoReadingsError as error:
        raise LoadScheduleError(error.what, where=f"line {n}", fix=error.fix) from None
    except ValueError:
        rate = math.nan
    if not 0 <= rate <= MAX_RATE:
        raise LoadScheduleError(
            f"'{text[:40]}' is not a rate",
            where=f"line {n}",
            fix="write transactions per second, such as 4000",
        )
    return at_s, relative, rate


def _moment(text: str, n: int) -> tuple[float, bool]:
    found = moment_s(text)
    if found is None:
        raise LoadScheduleError(
            f"'{text[:40]}' is not a moment",
            where=f"line {n}",
            fix="write seconds, a duration such as 5min, or a time such as 08:30",
        )
    return found
