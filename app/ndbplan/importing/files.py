"""Files of any kind that the program reads, put into one plan: config.ini, SQL, statistics, measurements.

done = import_files({"config.ini": b"...", "schema.sql": b"..."})
done.plan, done.findings
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from ndbplan.base.errors import UserError
from ndbplan.base.files import read_whole
from ndbplan.base.units import format_bytes, how_many
from ndbplan.edits import parts as edits
from ndbplan.importing.imported import FileKindError, Finding, Imported
from ndbplan.importing.kinds import KINDS, Ask, also_measured_in
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import refusal
from ndbplan.plan.file import SUFFIX
from ndbplan.plan.plan import EMPTY_PLAN, Plan

MOST_BYTES = 64_000_000
"""A schema, a configuration or statistics are far smaller; dumps with data are not read."""


def read_file(path: Path, *, of_a_pipe: bool = False) -> bytes:
    """The content of a file to import. Raises FileKindError when it cannot be read or is too large.

    `of_a_pipe`: also what a shell hands over; a window must not wait for the other end of a pipe.
    """
    fix = "dump without data (mysqldump --no-data)"
    return read_whole(path, MOST_BYTES, of_a_pipe=of_a_pipe, refused=FileKindError, fix=fix)


def kind_of(name: str, content: bytes) -> str:
    """What a file is, by its name and content: a name of KINDS. Raises FileKindError for what is not read."""
    from ndbplan.importing.measurements import MOST_BYTES as MOST_MEASURED
    from ndbplan.importing.measurements import MeasurementError

    lower = name.lower()
    if lower.endswith(SUFFIX):
        raise FileKindError("this is a plan", where=name, fix="open it by itself, or copy from its window")
    for kind, reader in KINDS.items():
        if reader.suffix and lower.endswith(reader.suffix):
            return kind
    text, is_small = content.decode("utf-8", "replace"), len(content) <= MOST_MEASURED
    try:
        for kind, reader in KINDS.items():
            if (is_small or reader.is_large) and reader.is_it(text):
                return kind
    except MeasurementError as error:
        raise FileKindError(error.what, where=name, fix=error.fix) from None
    if is_small:
        raise FileKindError(
            "this is neither a config.ini nor CREATE TABLE, statistics, status or measurements",
            where=name,
            fix="give one of those; see the guide on import",
        )
    raise FileKindError(
        f"the file has {format_bytes(len(content))} and no CREATE TABLE; of statistics and measurements "
        f"at most {format_bytes(MOST_MEASURED)} are read",
        where=name,
        fix="give the part that matters",
    )


def _utf_8(content: bytes) -> bytes:
    # PowerShell writes what it redirects as UTF-16, with a mark in front.
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace").encode()
    return content.removeprefix(codecs.BOM_UTF8)


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
    kinds: dict[str, str] = {}
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
    ask = Ask(disk_ids, devices or {}, cancelled)
    for kind, reader in KINDS.items():
        for name in [name for name, its_kind in kinds.items() if its_kind == kind]:
            if reader.read is None:
                continue
            if cancelled():
                break
            text = contents[name].decode("utf-8", "replace")
            try:
                with _within_limits(name):
                    reader.read(done, ask, name, text)
            except UserError as error:
                if not lenient:
                    raise
                done.findings.append(Finding(name, None, "error", error.what, error.fix or None))
            else:
                if reader.also_measured:
                    also_measured_in(done, ask, name, text)
    _all_devices_seen(done, devices or {}, lenient=lenient)
    return done


@contextmanager
def _within_limits(name: str) -> Iterator[None]:
    """What is larger, longer or otherwise than a plan can hold is said of the file."""
    from pydantic import ValidationError

    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        what = f"{place} is {first['input']!r:.60}, which no plan can hold: {refusal(first)}"
        raise FileKindError(what, where=name, fix="correct it in the file") from None


def _config(done: Imported, name: str, content: bytes, version: str | None) -> None:
    from ndbplan.importing.config.plan import import_config

    done.plan, report = import_config({name: content}, version)
    done.fits = report.fits
    nodes = (("data", "data_nodes"), ("management", "management_nodes"), ("SQL", "sql_nodes"))
    counts = [how_many(len(getattr(done.plan, field)), f"{kind} node") for kind, field in nodes]
    hosts = how_many(len(done.plan.hosts), "host")
    # [mysqld] and [api] without a HostName: SQL nodes or programs from any host take them.
    slots = len(done.plan.api_slots)
    free = f" and {how_many(slots, 'slot')} for SQL or API nodes" if slots else ""
    done.changes.append(f"{', '.join(counts)} on {hosts}{free}, NDB {done.plan.ndb_version}")
    for finding in report.findings:
        severity: Literal["error", "warning"] = "error" if finding.refused else "warning"
        done.findings.append(Finding(name, finding.line, severity, finding.message, finding.fix or None))


def _all_devices_seen(done: Imported, devices: Mapping[str, Sequence[str]], *, lenient: bool) -> None:
    """Raise MeasurementError for a device that is named and that no file shows busy."""
    from ndbplan.importing.measurements import MeasurementError

    unseen = sorted(set(devices) - set(done.devices))
    if unseen and done.devices:
        what, fix = f"iostat shows no busy device '{unseen[0][:40]}'", f"name {', '.join(done.devices[:6])}"
        if not lenient:
            raise MeasurementError(what, fix=fix)
        done.findings.append(Finding("iostat", None, "error", what, fix))
