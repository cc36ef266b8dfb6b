"""Files of any kind that the program reads, put into one plan: config.ini, SQL, statistics, measurements.

done = import_files({"config.ini": b"...", "schema.sql": b"..."})
done.plan, done.findings
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_bytes
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan import edits
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.tables import Table

MOST_BYTES = 64_000_000
"""A schema, a configuration or statistics are far smaller; dumps with data are not read."""
Kind = Literal["config", "options", "ddl", "statistics", "measurements"]
_SECTION = re.compile(
    r"^\s*\[\s*(?:ndbd|ndb_mgmd|mgm|mysqld|api|tcp|shm|db|computer|system)(?:\s+default)?\s*\]", re.I | re.M
)
_CREATE = re.compile(r"\bCREATE\s+(?:TEMPORARY\s+)?TABLE\b", re.I)
_KEPT_OF_A_KNOWN_TABLE = ("id", "rows", "growth_rows_per_month", "partition_rows", "tablespace_id")


class FileKindError(UserError):
    """A file that is none of those the program reads."""


@dataclass(frozen=True)
class Finding:
    """Something noticed in a file."""

    file: str
    line: int | None
    severity: Literal["error", "warning"]
    """error: a management server would refuse the file for it."""
    message: str
    fix: str | None = None

    def to_json(self) -> dict[str, Any]:
        """One entry of `findings`."""
        return {
            "file": self.file,
            "line": self.line,
            "severity": self.severity,
            "message": self.message,
            "fix": self.fix,
        }


@dataclass
class Imported:
    """The plan so far, what went into it and what was noticed."""

    plan: Plan
    kinds: dict[str, Kind] = field(default_factory=dict)
    """What each file was taken for."""
    findings: list[Finding] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    """What measurements and statistics changed, in words."""

    @property
    def accepted(self) -> bool:
        """Whether a management server would take the configuration."""
        return all(finding.severity != "error" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """What `ndbplan import --json` prints beside the file written."""
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
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise FileKindError(
                f"the file has {format_bytes(size)}; at most {format_bytes(MOST_BYTES)} are read",
                where=str(path),
                fix="dump without data (mysqldump --no-data)",
            )
        return path.read_bytes()
    except OSError as error:
        raise FileKindError(
            f"cannot be read ({error.strerror})", where=str(path), fix="check the name and the permissions"
        ) from None


def kind_of(name: str, content: bytes) -> Kind:
    """What a file is, by its name and content. Raises FileKindError when it is nothing that is read."""
    from ndbplan.exchange.measurements import MeasurementError, read_measurements
    from ndbplan.exchange.statistics import read_statistics

    text = content.decode("utf-8", "replace")
    lower = name.lower()
    if lower.endswith(".cnf"):
        return "options"
    if lower.endswith(".sql") or (_CREATE.search(text) and not lower.endswith(".ini")):
        return "ddl"
    if lower.endswith(".ini") or _SECTION.search(text):
        return "config"
    if read_statistics(text).tables:
        return "statistics"
    try:
        read_measurements(text)
    except MeasurementError:
        raise FileKindError(
            "this is no config.ini, no CREATE TABLE, no statistics and no measurement",
            where=name,
            fix="give one of those; see the guide's page on export",
        ) from None
    return "measurements"


def import_files(
    contents: Mapping[str, bytes],
    base: Plan | None = None,
    version: str | None = None,
    disk_ids: Sequence[str] = (),
    *,
    lenient: bool = False,
) -> Imported:
    """One plan of several files; `base`: add to this plan.

    The configuration comes first, then tables, then what was counted and measured. `version`: aimed at;
    None: guessed from the configuration, else that of `base`. `disk_ids`: the disks that fio or iostat
    measured. `lenient`: a file that cannot be read or used is a finding and the others are read. Otherwise
    raises FileKindError, BadVersionError, and what the readers of each kind raise.
    """
    kinds: dict[str, Kind] = {}
    unread: list[Finding] = []
    for name, content in contents.items():
        try:
            kinds[name] = kind_of(name, content)
        except FileKindError as error:
            if not lenient:
                raise
            unread.append(Finding(name, None, "error", error.what, error.fix))
    configs = [name for name, kind in kinds.items() if kind == "config"]
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
            done.findings.append(Finding(name, None, "warning", "left aside; one config.ini makes the plan"))
        else:
            _config(done, name, contents[name], version)
    read: dict[Kind, Callable[[str, str], None]] = {
        "options": partial(_options, done),
        "ddl": partial(_tables, done),
        "statistics": partial(_statistics, done),
        "measurements": partial(_measurements, done, disk_ids),
    }
    for kind, reader in read.items():
        for name in [name for name, its_kind in kinds.items() if its_kind == kind]:
            try:
                reader(name, contents[name].decode("utf-8", "replace"))
            except UserError as error:
                if not lenient:
                    raise
                done.findings.append(Finding(name, None, "error", error.what, error.fix or None))
    return done


def _config(done: Imported, name: str, content: bytes, version: str | None) -> None:
    from ndbplan.exchange.import_config import import_config

    done.plan, report = import_config({name: content}, version)
    nodes = (("data", "data_nodes"), ("management", "management_nodes"), ("SQL", "sql_nodes"))
    counts = [_counted(len(getattr(done.plan, field)), f"{kind} node") for kind, field in nodes]
    hosts = _counted(len(done.plan.hosts), "host")
    done.changes.append(f"{', '.join(counts)} on {hosts}, NDB {done.plan.ndb_version}")
    for found in report.findings:
        severity: Literal["error", "warning"] = "error" if found.refused else "warning"
        done.findings.append(Finding(name, found.line, severity, found.message, found.fix or None))


def _options(done: Imported, name: str, _text: str) -> None:
    message = "left aside; SQL nodes and their ids come from config.ini"
    done.findings.append(Finding(name, None, "warning", message))


def _tables(done: Imported, name: str, text: str) -> None:
    from ndbplan.exchange.ddl import read_ddl

    found = read_ddl(text, done.plan.version)
    for problem in found.problems:
        message = f"column {problem.column}: {problem.message}"
        done.findings.append(Finding(name, problem.line, "warning", message))
    spaces = {space.name: space.id for space in done.plan.tablespaces}
    for table in found.tables:
        space = spaces.get(found.tablespaces.get(table.id, ""))
        before = len(done.plan.tables)
        done.plan = with_table(done.plan, table, space)
        what = "added" if len(done.plan.tables) > before else "redefined, rows kept"
        done.changes.append(f"{table.full_name}: {what}, {_counted(len(table.columns), 'column')}")
    if not found.tables:
        done.findings.append(Finding(name, None, "warning", "no table could be read"))


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' if number != 1 else ''}"


def with_table(plan: Plan, table: Table, tablespace_id: str | None = None) -> Plan:
    """The plan with the table added; one of the same name gets its definition and keeps its rows."""
    known = next((t for t in plan.tables if t.full_name == table.full_name), None)
    if known is None:
        wish = {"id": edits.free_id(plan, table.id), "tablespace_id": tablespace_id}
        return edits.add(plan, edits.changed(table, **wish))
    told = (name for name in Table.model_fields if name not in _KEPT_OF_A_KNOWN_TABLE)
    fields = {n: getattr(table, n) for n in told if getattr(table, n) != getattr(known, n)}
    return edits.update(plan, known.id, **fields)


def _statistics(done: Imported, name: str, text: str) -> None:
    from ndbplan.exchange.statistics import apply_statistics, read_statistics

    found = read_statistics(text)
    for problem in found.problems:
        done.findings.append(Finding(name, None, "warning", problem))
    done.plan, said = apply_statistics(done.plan, found.tables)
    done.changes += said


def _measurements(done: Imported, disk_ids: Sequence[str], _name: str, text: str) -> None:
    from ndbplan.exchange.calibrate import calibrate
    from ndbplan.exchange.measurements import read_measurements

    for measurement in read_measurements(text):
        of_a_disk = measurement.kind in ("fio", "iostat")
        for target in disk_ids or (None,) if of_a_disk else (None,):
            done.plan, changes = calibrate(done.plan, measurement, target)
            done.changes += [f"{change.what}: {change.before} → {change.after}" for change in changes]
