"""Files of any kind that the program reads, put into one plan: config.ini, SQL, statistics, measurements.

done = import_files({"config.ini": b"...", "schema.sql": b"..."})
done.plan, done.findings
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ndbplan.base.errors import UserError
from ndbplan.base.files import read_at_most
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_bytes
from ndbplan.edits import parts as edits
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import refusal
from ndbplan.plan.file import SUFFIX
from ndbplan.plan.plan import EMPTY_PLAN, Plan

if TYPE_CHECKING:
    from ndbplan.importing.measurements import Measurement

MOST_BYTES = 64_000_000
"""A schema, a configuration or statistics are far smaller; dumps with data are not read."""
Kind = Literal["config", "options", "status", "ddl", "statistics", "measurements"]
_SECTION = re.compile(
    r"^[ \t]*\[\s*(?:ndbd|ndb_mgmd|mgm|mysqld|api|tcp|shm|db|computer|system)(?:\s+default)?\s*\]",
    re.I | re.M,
)
_CREATE = re.compile(r"\bCREATE\s+(?:TEMPORARY\s+)?TABLE\b", re.I)
_SLICE = 1_000_000
_LONGEST_MARK = 100


class FileKindError(UserError):
    """A file that is none of those the program reads."""


@dataclass(frozen=True)
class Finding(Shape):
    """Something noticed in a file."""

    JSON = "file line severity message fix"

    file: str
    line: int | None
    severity: Literal["error", "warning"]
    """error: a management server would refuse the file for it."""
    message: str
    fix: str | None = None


@dataclass
class Imported:
    """The plan so far, what went into it and what was noticed."""

    plan: Plan
    kinds: dict[str, Kind]
    """What each file was taken for."""
    findings: list[Finding]
    changes: list[str] = field(default_factory=list)
    """What measurements and statistics changed, in words."""
    devices: list[str] = field(default_factory=list)
    """Devices that iostat shows busy enough to say what they can do."""
    fits: tuple[str, ...] = ()
    """Versions that know as much of a config.ini, where nobody said which it is for; one: nothing to ask."""
    measured: dict[str, Measurement] = field(default_factory=dict)
    """The device of iostat that each disk got its speed from."""

    @property
    def accepted(self) -> bool:
        """Whether a management server would take the configuration."""
        return all(finding.severity != "error" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """What `ndbplan import --json` prints beside the file written; written out: a map becomes a list."""
        return {
            "read": [{"file": name, "kind": kind} for name, kind in self.kinds.items()],
            "version": self.plan.ndb_version,
            "accepted": self.accepted,
            "findings": [finding.to_json() for finding in self.findings],
            "changes": list(self.changes),
        }


def read_file(path: Path) -> bytes:
    """The content of a file to import. Raises FileKindError when it cannot be read or is too large."""
    try:
        content = read_at_most(path, MOST_BYTES, of_a_pipe=True)
    except OSError as error:
        raise FileKindError(
            f"cannot be read ({error.strerror})", where=str(path), fix="check the name and the permissions"
        ) from None
    if content is None:
        raise FileKindError(
            f"the file has more than {format_bytes(MOST_BYTES)}, the most that is read",
            where=str(path),
            fix="dump without data (mysqldump --no-data)",
        )
    return content


def kind_of(name: str, content: bytes) -> Kind:
    """What a file is, by its name and content. Raises FileKindError when it is nothing that is read."""
    from ndbplan.importing.management_client import read_answers
    from ndbplan.importing.measurements import MOST_BYTES as MOST_MEASURED
    from ndbplan.importing.measurements import MeasurementError, NoMeasurementError, read_measurements
    from ndbplan.importing.ndb_desc_tables import statements_of
    from ndbplan.importing.statistics import read_statistics

    text = content.decode("utf-8", "replace")
    lower = name.lower()
    if lower.endswith(SUFFIX):
        raise FileKindError("this is a plan", where=name, fix="open it by itself, or copy from its window")
    if lower.endswith(".cnf"):
        return "options"
    if lower.endswith(".sql") or (not lower.endswith(".ini") and _is_in(text, _CREATE)):
        return "ddl"
    if lower.endswith(".ini") or _is_in(text, _SECTION):
        return "config"
    if len(content) > MOST_MEASURED:
        raise FileKindError(
            f"the file has {format_bytes(len(content))} and no CREATE TABLE; of statistics and measurements "
            f"at most {format_bytes(MOST_MEASURED)} are read",
            where=name,
            fix="give the part that matters",
        )
    if "\0" not in text and (read_statistics(text).tables or statements_of(text)):
        return "statistics"
    if read_answers(text) is not None:
        return "status"
    try:
        read_measurements(text)
    except NoMeasurementError:
        raise FileKindError(
            "this is neither a config.ini nor CREATE TABLE, statistics, status or measurements",
            where=name,
            fix="give one of those; see the guide on import",
        ) from None
    except MeasurementError as error:
        raise FileKindError(error.what, where=name, fix=error.fix) from None
    return "measurements"


def _utf_8(content: bytes) -> bytes:
    # PowerShell writes what it redirects as UTF-16, with a mark in front.
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace").encode()
    return content.removeprefix(codecs.BOM_UTF8)


def _is_in(text: str, pattern: re.Pattern[str]) -> bool:
    # In slices: one search through tens of megabytes would keep other threads from their turn.
    return any(
        pattern.search(text, start, start + _SLICE + _LONGEST_MARK) for start in range(0, len(text), _SLICE)
    )


def import_files(
    contents: Mapping[str, bytes],
    base: Plan | None = None,
    version: str | None = None,
    disk_ids: Sequence[str] = (),
    *,
    devices: Mapping[str, Sequence[str]] | None = None,
    lenient: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> Imported:
    """One plan of several files; `base`: add to this plan.

    The configuration comes first, then tables, then what was counted and measured. `version`: aimed at;
    None: guessed from the configuration, else that of `base`. `disk_ids`: the disks that fio or iostat
    measured; `devices`: disks of a device of iostat, by its name there.
    `lenient`: a file that cannot be read or used is a finding and the others are read, and beside a
    configuration `base` is left aside. Otherwise raises FileKindError, BadVersionError, and what the readers
    of each kind raise. When `cancelled()` turns true the answer holds what was read so far.
    """
    contents = {name: _utf_8(content) for name, content in contents.items()}
    kinds: dict[str, Kind] = {}
    unread: list[Finding] = []
    for name, content in contents.items():
        if cancelled():
            break
        try:
            kinds[name] = kind_of(name, content)
        except FileKindError as error:
            if not lenient:
                raise
            unread.append(Finding(name, None, "error", error.what, error.fix))
    configs = [name for name, kind in kinds.items() if kind == "config"]
    if configs and lenient:
        base = None
    if configs and base is not None:
        raise FileKindError(
            "a config.ini makes a plan of its own",
            where=configs[0],
            fix="leave out --into, or compare with diff",
        )
    if version is not None:
        NdbVersion.parse(version)
    done = Imported(base or EMPTY_PLAN, kinds, unread)
    if version is not None and not configs:
        done.plan = edits.set_plan(done.plan, ndb_version=version)
    for number, name in enumerate(configs):
        if number:
            done.findings.append(Finding(name, None, "warning", "skipped; one config.ini makes the plan"))
        else:
            with _within_limits(name):
                _config(done, name, contents[name], version)
    measured = partial(_measurements, done, disk_ids, devices or {})
    read: dict[Kind, Callable[[str, str], None]] = {
        "options": partial(_options, done),
        "status": partial(_status, done),
        "ddl": partial(_tables, done, cancelled),
        "statistics": partial(_statistics, done),
        "measurements": measured,
    }
    for kind, reader in read.items():
        for name in [name for name, its_kind in kinds.items() if its_kind == kind]:
            if cancelled():
                break
            try:
                with _within_limits(name):
                    reader(name, contents[name].decode("utf-8", "replace"))
            except UserError as error:
                if not lenient:
                    raise
                done.findings.append(Finding(name, None, "error", error.what, error.fix or None))
            else:
                if kind in ("status", "statistics"):
                    _also_measured(done, measured, name, contents[name].decode("utf-8", "replace"))
    _all_devices_seen(done, devices or {}, lenient=lenient)
    return done


@contextmanager
def _within_limits(name: str) -> Iterator[None]:
    """What is larger, longer or otherwise than a plan can hold is said of the file."""
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        what = f"{place} is {first['input']!r:.60}, which no plan can hold: {refusal(first)}"
        raise FileKindError(what, where=name, fix="correct it in the file") from None


def _config(done: Imported, name: str, content: bytes, version: str | None) -> None:
    from ndbplan.importing.config.plan import import_config

    done.plan, report = import_config({name: content}, version)
    done.fits = report.fits
    nodes = (("data", "data_nodes"), ("management", "management_nodes"), ("SQL", "sql_nodes"))
    counts = [_counted(len(getattr(done.plan, field)), f"{kind} node") for kind, field in nodes]
    hosts = _counted(len(done.plan.hosts), "host")
    # [mysqld] and [api] without a HostName: SQL nodes or programs from any host take them.
    slots = len(done.plan.api_slots)
    free = f" and {_counted(slots, 'slot')} for SQL or API nodes" if slots else ""
    done.changes.append(f"{', '.join(counts)} on {hosts}{free}, NDB {done.plan.ndb_version}")
    for finding in report.findings:
        severity: Literal["error", "warning"] = "error" if finding.refused else "warning"
        done.findings.append(Finding(name, finding.line, severity, finding.message, finding.fix or None))


def _options(done: Imported, name: str, text: str) -> None:
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


def _status(done: Imported, name: str, text: str) -> None:
    from ndbplan.importing.management_client import apply_answers, read_answers

    answers = read_answers(text)
    if answers is None:
        return
    done.plan, changes, notes = apply_answers(done.plan, answers, name)
    done.changes += changes
    done.findings += [Finding(name, None, "warning", note) for note in notes]


def _tables(done: Imported, cancelled: Callable[[], bool], name: str, text: str) -> None:
    from ndbplan.importing.ddl.into_plan import with_ddl
    from ndbplan.importing.ddl.statements import read_ddl

    ddl = read_ddl(text, done.plan.version, cancelled=cancelled)
    done.plan, changes, missing = with_ddl(done.plan, ddl)
    done.changes += changes
    for problem in sorted((*ddl.problems, *missing), key=lambda one: (one.line, one.column)):
        message = f"column {problem.column}: {problem.message}"
        done.findings.append(Finding(name, problem.line, "warning", message))
    if ddl.is_empty:
        done.findings.append(Finding(name, None, "warning", "no table could be read"))


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' if number != 1 else ''}"


def _statistics(done: Imported, name: str, text: str) -> None:
    from ndbplan.importing.statistics import apply_statistics, read_statistics

    _described_tables(done, name, text)
    statistics = read_statistics(text)
    _status(done, name, text)
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
        done.changes.append(f"{table.full_name}: added, {_counted(len(table.columns), 'column')} (ndb_desc)")
    for problem in described.problems:
        done.findings.append(Finding(name, None, "warning", problem.message))


def _also_measured(done: Imported, measured: Callable[[str, str], None], name: str, text: str) -> None:
    """What else was measured in a pasted text; what cannot be used of it is a finding."""
    from ndbplan.importing.measurements import MeasurementError, NoMeasurementError

    try:
        measured(name, text)
    except NoMeasurementError:
        return
    except MeasurementError as error:
        done.findings.append(Finding(name, None, "warning", error.what, error.fix or None))


def _all_devices_seen(done: Imported, devices: Mapping[str, Sequence[str]], *, lenient: bool) -> None:
    """Raise MeasurementError for a device that is named and that no file shows busy."""
    from ndbplan.importing.measurements import MeasurementError

    unseen = sorted(set(devices) - set(done.devices))
    if unseen and done.devices:
        what, fix = f"iostat shows no busy device '{unseen[0][:40]}'", f"name {', '.join(done.devices[:6])}"
        if not lenient:
            raise MeasurementError(what, fix=fix)
        done.findings.append(Finding("iostat", None, "error", what, fix))


def _measurements(
    done: Imported, disk_ids: Sequence[str], devices: Mapping[str, Sequence[str]], name: str, text: str
) -> None:
    from ndbplan.importing.calibrate import busy_devices, calibrate, disks_of_devices
    from ndbplan.importing.measurements import MeasurementError, read_measurements

    measured = read_measurements(text)
    pairs: list[tuple[Measurement, str | None]] = []
    of_iostat = [one for one in measured if one.kind == "iostat"]
    if of_iostat:
        busy = busy_devices(of_iostat)
        done.devices += busy
        mine = {device: disks for device, disks in devices.items() if device in busy}
        if devices and not mine:
            message = f"iostat shows {', '.join(busy[:6]) or 'no busy device'}: not named, skipped"
            done.findings.append(Finding(name, None, "warning", message))
        else:
            of_disks, aside = disks_of_devices(done.plan, of_iostat, disk_ids, mine)
            pairs += _of_this_file(done, of_disks)
            if aside:
                message = f"{', '.join(aside)} skipped: the bytes are those of the devices below"
                done.findings.append(Finding(name, None, "warning", message))
    for one in measured:
        if one.kind != "iostat":
            targets = disk_ids or (None,) if one.kind == "fio" else (None,)
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
                fix="say which one it is, with --disk DISK=DEVICE, or name the hosts like the machines",
            )
        if before is None or before.values["utilisation"] <= one.values["utilisation"]:
            done.measured[disk_id] = one
            taken.append((one, disk_id))
    return taken
