"""The kinds of files that are read: how each is told from the others, and what it puts into the plan.

Another kind is a function that reads it, in a file of its own, and a row of KINDS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ndbplan.base.units import how_many
from ndbplan.importing.imported import Finding, Imported

if TYPE_CHECKING:
    from ndbplan.importing.measurements import Measurement

_SECTION = re.compile(
    r"^[ \t]*\[\s*(?:ndbd|ndb_mgmd|mgm|mysqld|api|tcp|shm|db|computer|system)(?:\s+default)?\s*\]",
    re.I | re.M,
)
_CREATE = re.compile(r"\bCREATE\s+(?:TEMPORARY\s+)?TABLE\b", re.I)
_SLICE = 1_000_000
_LONGEST_MARK = 100


class Ask(NamedTuple):
    """What else was said of the files."""

    disk_ids: Sequence[str]
    """The disks that fio or iostat measured."""
    devices: Mapping[str, Sequence[str]]
    """Disks of a device of iostat, by its name there."""
    cancelled: Callable[[], bool]


@dataclass(frozen=True)
class Reader:
    """A kind of file that is read."""

    title: str
    """What it is, for people."""
    is_it: Callable[[str], bool] = lambda _text: False
    """Whether a text is one; asked where the file's name does not say."""
    read: Callable[[Imported, Ask, str, str], None] | None = None
    """Puts a file, its name and its text, into the plan; None: the configuration, which makes the plan."""
    suffix: str = ""
    """Files whose names end so are of this kind, whatever they hold."""
    is_large: bool = False
    """It may have more than a measurement or a pasted text."""
    also_measured: bool = False
    """Measurements may stand in the same text."""


def _is_config(text: str) -> bool:
    return _is_in(text, _SECTION) and not _is_in(text, _CREATE)


def _is_status(text: str) -> bool:
    from ndbplan.importing.management_client import read_answers

    return read_answers(text) is not None and not _is_statistics(text)


def _is_statistics(text: str) -> bool:
    from ndbplan.importing.ndb_desc_tables import statements_of
    from ndbplan.importing.statistics import read_statistics

    return "\0" not in text and bool(read_statistics(text).tables or statements_of(text))


def _is_measured(text: str) -> bool:
    from ndbplan.importing.measurements import NoMeasurementError, read_measurements

    try:
        read_measurements(text)
    except NoMeasurementError:
        return False
    return True


def _is_in(text: str, pattern: re.Pattern[str]) -> bool:
    # In slices: one search through tens of megabytes would keep other threads from their turn.
    return any(
        pattern.search(text, start, start + _SLICE + _LONGEST_MARK) for start in range(0, len(text), _SLICE)
    )


def _options(done: Imported, _ask: Ask, name: str, text: str) -> None:
    from ndbplan.importing.my_cnf import MyCnfError, with_options

    try:
        done.plan, changes, noticed = with_options(done.plan, text, name)
    except MyCnfError as error:
        if len(done.kinds) == 1:
            raise
        done.findings.append(Finding(name, None, "warning", f"skipped: {error.what}", error.fix or None))
        return
    done.changes += changes
    done.findings += [Finding(name, line, "warning", message) for line, message in noticed]


def _status(done: Imported, _ask: Ask, name: str, text: str) -> None:
    from ndbplan.importing.management_client import apply_answers, read_answers

    answers = read_answers(text)
    if answers is None:
        return
    done.plan, changes, notes = apply_answers(done.plan, answers, name)
    done.changes += changes
    done.findings += [Finding(name, None, "warning", note) for note in notes]


def _tables(done: Imported, ask: Ask, name: str, text: str) -> None:
    from ndbplan.importing.ddl.into_plan import with_ddl
    from ndbplan.importing.ddl.statements import read_ddl

    ddl = read_ddl(text, done.plan.version, cancelled=ask.cancelled)
    done.plan, changes, missing = with_ddl(done.plan, ddl)
    done.changes += changes
    for problem in sorted((*ddl.problems, *missing), key=lambda one: (one.line, one.column)):
        message = f"column {problem.column}: {problem.message}"
        done.findings.append(Finding(name, problem.line, "warning", message))
    if ddl.is_empty:
        done.findings.append(Finding(name, None, "warning", "no table could be read"))


def _statistics(done: Imported, ask: Ask, name: str, text: str) -> None:
    from ndbplan.importing.statistics import apply_statistics, read_statistics

    _described_tables(done, name, text)
    statistics = read_statistics(text)
    _status(done, ask, name, text)
    for problem in statistics.problems:
        done.findings.append(Finding(name, None, "warning", problem))
    done.plan, said = apply_statistics(done.plan, statistics.tables)
    done.changes += said


def _described_tables(done: Imported, name: str, text: str) -> None:
    """Add the tables that ndb_desc describes and the plan lacks."""
    from ndbplan.importing.ddl.into_plan import with_tables
    from ndbplan.importing.ddl.statements import read_ddl
    from ndbplan.importing.ndb_desc_tables import statements_of

    statements = statements_of(text)
    if not statements:
        return
    databases = {table.database for table in done.plan.tables}
    # ndb_desc does not print the database; its command line may stand above.
    database = databases.pop() if len(databases) == 1 else "test"
    described = read_ddl(statements, done.plan.version, database)
    known = {table.name for table in done.plan.tables}
    new = [table for table in described.tables if table.name not in known]
    done.plan = with_tables(done.plan, new)
    for table in new:
        done.changes.append(f"{table.full_name}: added, {how_many(len(table.columns), 'column')} (ndb_desc)")
    for problem in described.problems:
        done.findings.append(Finding(name, None, "warning", problem.message))


def also_measured_in(done: Imported, ask: Ask, name: str, text: str) -> None:
    """What else was measured in a pasted text; what cannot be used of it is a finding."""
    from ndbplan.importing.measurements import MeasurementError, NoMeasurementError

    try:
        _measurements(done, ask, name, text)
    except NoMeasurementError:
        return
    except MeasurementError as error:
        done.findings.append(Finding(name, None, "warning", error.what, error.fix or None))


def _measurements(done: Imported, ask: Ask, name: str, text: str) -> None:
    from ndbplan.importing.calibrate import calibrate
    from ndbplan.importing.devices import busy_devices, disks_of_devices
    from ndbplan.importing.measurements import MeasurementError, read_measurements

    measured = read_measurements(text)
    pairs: list[tuple[Measurement, str | None]] = []
    of_iostat = [one for one in measured if one.kind == "iostat"]
    if of_iostat:
        busy = busy_devices(of_iostat)
        done.devices += busy
        mine = {device: disks for device, disks in ask.devices.items() if device in busy}
        if ask.devices and not mine:
            message = f"iostat shows {', '.join(busy[:6]) or 'no busy device'}: not named, skipped"
            done.findings.append(Finding(name, None, "warning", message))
        else:
            of_disks, aside = disks_of_devices(done.plan, of_iostat, ask.disk_ids, mine)
            pairs += _of_this_file(done, of_disks)
            if aside:
                message = f"{', '.join(aside)} skipped: the bytes are those of the devices below"
                done.findings.append(Finding(name, None, "warning", message))
    for one in measured:
        if one.kind != "iostat":
            targets = ask.disk_ids or (None,) if one.kind == "fio" else (None,)
            pairs += [(one, target) for target in targets]
    several = len({measurement.kind for measurement, _ in pairs}) > 1
    for measurement, target in pairs:
        try:
            done.plan, changes = calibrate(done.plan, measurement, target)
        except MeasurementError as error:
            if not several:
                raise
            done.findings.append(Finding(name, None, "warning", error.what, error.fix or None))
            continue
        done.changes += [f"{change.what}: {change.before} → {change.after}" for change in changes]


def _is_series(text: str) -> bool:
    from ndbplan.importing.measured_series import is_series

    return is_series(text)


def _series(done: Imported, _ask: Ask, name: str, _text: str) -> None:
    """A series over time changes no plan: it is laid over a run."""
    message = "a series over time says nothing that a plan holds"
    fix = "drop it on the charts of a simulation, or simulate with --measured"
    done.findings.append(Finding(name, None, "warning", message, fix))


def _of_this_file(
    done: Imported, pairs: Sequence[tuple[Measurement, str]]
) -> list[tuple[Measurement, str | None]]:
    """Devices and disks of one file; of one device in several files the busiest counts.

    Raises MeasurementError when another file showed another device for the same disk.
    """
    from ndbplan.importing.measurements import MeasurementError

    taken: list[tuple[Measurement, str | None]] = []
    for one, disk_id in pairs:
        before = done.measured.get(disk_id)
        if before is not None and (before.host, before.name) != (one.host, one.name):
            shown = " and ".join(f"{m.name[:40]} of {m.host[:60] or 'another file'}" for m in (before, one))
            raise MeasurementError(
                f"disk {disk_id} is two devices of iostat: {shown}",
                fix="choose the device (on the command line: --disk DISK=DEVICE), or name the hosts like the "
                "machines",
            )
        if before is None or before.values["utilisation"] <= one.values["utilisation"]:
            done.measured[disk_id] = one
            taken.append((one, disk_id))
    return taken


KINDS: dict[str, Reader] = {
    "config": Reader("cluster configuration", _is_config, None, ".ini", is_large=True),
    "options": Reader("server options", read=_options, suffix=".cnf"),
    "status": Reader("answers of the management client", _is_status, _status, also_measured=True),
    "ddl": Reader("table definitions", lambda text: _is_in(text, _CREATE), _tables, ".sql", is_large=True),
    "statistics": Reader("row counts and sizes", _is_statistics, _statistics, also_measured=True),
    "measurements": Reader("measurement", _is_measured, _measurements),
    "series": Reader("series over time", _is_series, _series),
}
"""Kinds of files by their names in JSON, in the order in which they are read."""
