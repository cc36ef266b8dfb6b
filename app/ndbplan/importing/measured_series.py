"""What somebody measured over time, to be laid over a simulated run: CSV, iostat -x, tables of ndbinfo.

    measured = read_measured(text)
    measured.lines[0].quantity, measured.lines[0].times_s

A CSV has a column of moments and columns called like those of `ndbplan simulate --csv`. iostat gives a line
for each device and each of its reports, the first of which (since boot) is left out. Of ndbinfo logbuffers,
logspaces and memoryusage are read, asked for again and again. Without moments in the file its reports are
`every_s` apart. Times count from the first moment; plain seconds are as they stand.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ndbplan.base.errors import UserError
from ndbplan.base.units import TwoReadingsError, format_bytes, how_many, refuse_group
from ndbplan.importing.measurements import MeasurementError, iostat_reports
from ndbplan.importing.moments import Clock
from ndbplan.importing.mysql_output import Row, read_rows

MOST_BYTES = 20_000_000
MOST_POINTS = 2_000_000
"""Values of all lines together."""
MOST_LINES = 4_000
EVERY_S = 1.0
"""Between two reports of a file without moments."""
LONGEST_S = 1e9
_SHOWN = 4


class MeasuredSeriesError(UserError):
    """A file that is no series over time."""


@dataclass(frozen=True)
class Line:
    """One measured quantity over time, in the unit of its simulated counterpart."""

    quantity: str
    """As the columns of `simulate --csv` end: accepted_per_s, latency_s, redo_buffer_bytes, redo_log_bytes,
    data_memory_bytes, write_bytes_per_s, utilisation; redo_bytes of a buffer or a log, see `room_bytes`."""
    times_s: NDArray[np.float64]
    values: NDArray[np.float64]
    node_id: int | None = None
    log_part: int | None = None
    device: str = ""
    """Name of a disk as it was measured; of a CSV HOST_DISK."""
    host: str = ""
    """Name of the machine; nothing: the file does not say."""
    room_bytes: int | None = None
    """Of `redo_bytes`: what the buffer, or the log, has room for: that tells which of them it is."""
    log_id: int = 0
    """Of `redo_bytes`: as ndbinfo numbers it."""


@dataclass(frozen=True)
class Measured:
    """What a file holds."""

    kind: str
    """CSV, iostat or ndbinfo."""
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    """What was taken for granted or left out."""


class _Key(NamedTuple):
    quantity: str
    node_id: int | None = None
    log_part: int | None = None
    device: str = ""
    host: str = ""
    room_bytes: int | None = None
    log_id: int = 0


class _Points:
    """Points of many lines while they are read, within bounds."""

    def __init__(self) -> None:
        self.of: dict[_Key, tuple[list[float], list[float]]] = {}
        self._count = 0

    def add(self, key: _Key, at_s: float, value: float) -> None:
        times, values = self.of.setdefault(key, ([], []))
        self._count += 1
        if self._count > MOST_POINTS or len(self.of) > MOST_LINES:
            raise MeasuredSeriesError(
                f"it has more than {MOST_POINTS} values or {MOST_LINES} lines, the most that is read",
                fix="give the part that matters",
            )
        times.append(at_s)
        values.append(value)

    def lines(self, *, absolute: bool) -> tuple[Line, ...]:
        """Every line, its points in time; absolute moments count from the first of the file."""
        first = min((min(times) for times, _ in self.of.values()), default=0.0) if absolute else 0.0
        return tuple(_line(key, *points, first) for key, points in self.of.items())


def _line(key: _Key, times: Sequence[float], values: Sequence[float], first: float) -> Line:
    at = np.asarray(times, dtype=float) - first
    order = np.argsort(at, kind="stable")
    values_in_time = np.asarray(values, dtype=float)[order]
    return Line(
        key.quantity, at[order], values_in_time, key.node_id, key.log_part, key.device, key.host,
        key.room_bytes, key.log_id,
    )  # fmt: skip


def read_measured(text: str, every_s: float = EVERY_S) -> Measured:
    """The series of a text. Raises MeasuredSeriesError for one that has none, or too many."""
    if len(text) > MOST_BYTES:
        raise MeasuredSeriesError(
            f"it has {format_bytes(len(text))}; at most {format_bytes(MOST_BYTES)} are read",
            fix="give the part that matters",
        )
    text = text.lstrip("\ufeff")
    for reader in (_iostat, _ndbinfo, _csv):
        found = reader(text, every_s)
        if found is not None and found.lines:
            longest = max(float(line.times_s[-1]) for line in found.lines)
            if longest > LONGEST_S:
                raise MeasuredSeriesError(
                    f"it lasts {longest:g} s, more than {LONGEST_S:g} s", fix="write every moment in one way"
                )
            return found
    raise MeasuredSeriesError(
        "this is no series over time: neither a CSV with moments, nor iostat -x, nor logbuffers, logspaces "
        "or memoryusage of ndbinfo",
        fix="name the columns as a simulation does that is saved as CSV; see the guide on simulation",
    )


def is_series(text: str) -> bool:
    """Whether a text has a series over time that is no other measurement."""
    try:
        return read_measured(text[:200_000]).kind != "iostat"
    except MeasuredSeriesError:
        return False


# iostat

_MOST_BUSY = 1.0


def _iostat(text: str, every_s: float) -> Measured | None:
    points = _Points()
    seen: dict[tuple[str, str], int] = {}
    is_dated: bool | None = None
    clock = Clock()
    try:
        for report in iostat_reports(text):
            number = seen.get((report.host, report.device), 0)
            seen[report.host, report.device] = number + 1
            dated = clock.moment_s(report.moment) if report.moment else None
            is_dated = dated is not None
            # The first report is the mean since boot.
            if number == 0 or not report.values:
                continue
            at_s = dated[0] if dated is not None else (number - 1) * every_s
            key = _Key("utilisation", device=report.device, host=report.host)
            points.add(key, at_s, min(_MOST_BUSY, report.values["utilisation"]))
            if "write_bytes_per_s" in report.values:
                written = report.values["write_bytes_per_s"]
                points.add(key._replace(quantity="write_bytes_per_s"), at_s, written)
    except MeasurementError as error:
        raise MeasuredSeriesError(error.what, fix=error.fix) from None
    if not seen:
        return None
    if not points.of:
        raise MeasuredSeriesError(
            "iostat has one report only, which is since boot", fix="let it report again: iostat -xkt 1 60"
        )
    notes = ["the first report of iostat, which is since boot, is left out"]
    if not is_dated:
        notes.append(f"iostat was run without -t: its reports are taken as {every_s:g} s apart")
    return Measured("iostat", points.lines(absolute=bool(is_dated)), tuple(notes))


# ndbinfo

_TIMES = (
    "time", "time_s", "t", "ts", "t_s", "seconds", "elapsed_s", "timestamp", "at", "at_s", "moment", "date",
    "datetime", "now()", "now", "sysdate()", "current_timestamp", "current_timestamp()", "unix_timestamp()",
)  # fmt: skip
"""Columns of a moment, as people call them."""


def _ndbinfo(text: str, every_s: float) -> Measured | None:
    points, seen = _Points(), dict[_Key, int]()
    is_dated, clock = False, Clock()
    other: set[str] = set()
    for row in read_rows(text):
        found = _ndbinfo_value(row)
        if found is None:
            continue
        key, value = found
        if key.quantity.startswith("?"):
            other.add(key.quantity[1:])
            continue
        said = next((row.values[name] for name in _TIMES if row.get(name) is not None), None)
        moment = clock.moment_s(said) if said is not None else None
        number = seen[key] = seen.get(key, -1) + 1
        is_dated = is_dated or moment is not None
        points.add(key, number * every_s if moment is None else moment[0], value)
    if not points.of:
        return None
    notes = [] if is_dated else [f"no column of moments: answers are taken as {every_s:g} s apart"]
    if other:
        notes.append(f"{', '.join(sorted(other)[:_SHOWN])}: nothing simulated to hold it against")
    return Measured("ndbinfo", points.lines(absolute=is_dated), tuple(notes))


def _ndbinfo_value(row: Row) -> tuple[_Key, float] | None:
    """What a row of logbuffers, logspaces or memoryusage says; a name with ? of what is not simulated."""
    node_id, used = row.number("node_id"), row.number("used")
    if node_id is None or used is None:
        return None
    memory = row.get("memory_type")
    if memory is not None:
        is_data = memory.strip().lower() == "data memory"
        return _Key("data_memory_bytes" if is_data else f"?{memory.strip()[:40]}", node_id), float(used)
    log, total, part = row.get("log_type"), row.number("total"), row.number("log_part")
    if log is None or total is None:
        return None
    kind = log.strip().upper()
    if kind != "REDO":
        return _Key(f"?log {kind[:40]}", node_id), float(used)
    # logbuffers and logspaces have the same columns: what there is room for tells them apart.
    log_id = row.number("log_id") or 0
    return _Key("redo_bytes", node_id, part or 0, room_bytes=total, log_id=log_id), float(used)


# CSV

_CLUSTER = {
    "offered_per_s": ("offered_per_s", 1.0), "accepted_per_s": ("accepted_per_s", 1.0),
    "refused_per_s": ("refused_per_s", 1.0), "tps": ("accepted_per_s", 1.0),
    "tx_per_s": ("accepted_per_s", 1.0), "transactions_per_s": ("accepted_per_s", 1.0),
    "transactions/s": ("accepted_per_s", 1.0), "tx/s": ("accepted_per_s", 1.0),
    "latency_s": ("latency_s", 1.0), "latency_ms": ("latency_s", 1e-3), "latency_us": ("latency_s", 1e-6),
}  # fmt: skip
_OF_PART = re.compile(r"node([0-9]{1,5})_part([0-9]{1,3})_(redo_buffer_bytes|redo_log_bytes)$")
_OF_NODE = re.compile(r"node([0-9]{1,5})_(data_memory_bytes)$")
_OF_DISK = re.compile(
    r"(.{1,200}?)_(?:(?:redo|lcp|undo|data_files|backup)_bytes_per_s|write_bytes_per_s|utilisation)$"
)
_NO_LINES = {"waiting", "attempted_per_s", "lcp_writes"}
_OWN_ONLY = re.compile(r"error_[0-9]+_per_s$|node[0-9]+_part[0-9]+_redo_buffer_max_bytes$")


def _csv(text: str, every_s: float) -> Measured | None:
    del every_s
    head = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=head.count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=None), delimiter=delimiter))
    except csv.Error as error:
        raise MeasuredSeriesError(f"the text is not CSV ({error})") from None
    if len(rows) < 2 or len(rows[0]) < 2:
        return None
    names = [cell.strip() for cell in rows[0]]
    time_at = next((i for i, name in enumerate(names) if name.lower() in _TIMES), None)
    keys = {i: found for i, name in enumerate(names) if (found := _column(name)) is not None}
    if time_at is None or not keys:
        return None
    return _of_rows(rows, names, time_at, keys)


def _of_rows(
    rows: Sequence[Sequence[str]], names: Sequence[str], time_at: int, keys: dict[int, tuple[_Key, float]]
) -> Measured:
    points, absolute, clock = _Points(), False, Clock()
    for n, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        said = row[time_at].strip() if len(row) > time_at else ""
        moment = clock.moment_s(said)
        if moment is None:
            raise MeasuredSeriesError(
                f"'{said[:40]}' is not a moment",
                where=f"line {n}",
                fix="write seconds or a date with a time",
            )
        absolute = absolute or moment[1]
        together: dict[_Key, float] = {}
        for i, (key, factor) in keys.items():
            value = _number(row[i], n, names[i]) if i < len(row) else math.nan
            if not math.isnan(value):
                # What is written for several purposes goes to one disk.
                together[key] = together.get(key, 0.0) + value * factor
        for key, value in together.items():
            points.add(key, moment[0], value)
    left = [
        name for i, name in enumerate(names)
        if i != time_at and i not in keys and name not in _NO_LINES and not _OWN_ONLY.match(name)
    ]  # fmt: skip
    notes = []
    if left:
        more = " …" if len(left) > _SHOWN else ""
        shown = ", ".join(name[:40] for name in left[:_SHOWN])
        notes.append(f"{how_many(len(left), 'column')} not known: {shown}{more}")
    return Measured("CSV", points.lines(absolute=absolute), tuple(notes))


def _column(name: str) -> tuple[_Key, float] | None:
    """What a column is of, and the factor to the unit of the simulation; None: it is not known."""
    known = _CLUSTER.get(name.lower())
    if known is not None:
        return _Key(known[0]), known[1]
    if (part := _OF_PART.match(name)) is not None:
        return _Key(part[3], int(part[1]), int(part[2])), 1.0
    if (node := _OF_NODE.match(name)) is not None:
        return _Key(node[2], int(node[1])), 1.0
    if _OWN_ONLY.match(name) is None and (disk := _OF_DISK.match(name)) is not None:
        quantity = "utilisation" if name.endswith("_utilisation") else "write_bytes_per_s"
        return _Key(quantity, device=disk[1]), 1.0
    return None


def _number(text: str, n: int, name: str) -> float:
    """A value; NaN where the cell says nothing."""
    text = text.strip()
    if text.lower() in ("", "nan", "null", "-", "\\n"):
        return math.nan
    try:
        refuse_group(text.replace(".", " "))
        value = float(text)
    except TwoReadingsError as error:
        raise MeasuredSeriesError(error.what, where=f"line {n}", fix=error.fix) from None
    except ValueError:
        value = math.inf
    if not 0 <= value <= 1e18:
        raise MeasuredSeriesError(
            f"'{text[:40]}' of {name[:60]} is not a number from 0 on",
            where=f"line {n}",
            fix="write plain numbers with a point",
        )
    return value
