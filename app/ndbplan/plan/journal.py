"""The journal of a plan that is being edited: one line for each edit, so that a crash loses none.

    log = JournalFile.begin(folder, Heading("starter", None), project)
    log.append(after)                    # one line; it survives the end of the program
    log.flush()                          # it survives a loss of power too
    found = read(log.path)               # Left: the newest state that a file may hold

A line holds what changed since the line before: of a collection only the parts that are new, the others by
their places. Each line has its checksum; what follows a line that was cut or damaged is not read. Where
variants come, go or change their names, a line lists them all, each with the one that it is made of.
"""

from __future__ import annotations

import json
import os
import platform
from collections import deque
from collections.abc import Generator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

from pydantic import ValidationError

from ndbplan.base.files import flush_folder, hold, is_held, make_private
from ndbplan.plan import file
from ndbplan.plan.fields import Part
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import MAIN, Project, Variant, sharing
from ndbplan.plan.project_json import whole

SUFFIX = ".journal"
MAX_BYTES = 2_000_000_000
_STATES_TRIED = 200
"""So many of the last states are tried when the newest is none that a plan file may hold."""

Document = dict[str, Any]


class Heading(NamedTuple):
    """Which plan a journal is about."""

    name: str
    path: Path | None
    """Its file; None: it was never saved."""


@dataclass(frozen=True)
class Left:
    """What a journal holds."""

    heading: Heading
    project: Project
    edited_at: datetime

    @property
    def plan(self) -> Plan:
        """Its main plan."""
        return self.project.main


class JournalFile:
    """The journal of one document, held by this process for as long as it is open."""

    def __init__(self, path: Path, handle: int, heading: Heading, project: Project) -> None:
        self.path = path
        self.heading = heading
        self.project = project
        """The newest that it holds: where one could not be added, the one before."""
        self.bytes_since_start = 0
        self.start_bytes = 0
        self._handle = handle
        self._is_listed = False

    @classmethod
    def begin(cls, folder: Path, heading: Heading, what: Plan | Project) -> JournalFile:
        """A journal that starts with a whole plan, or all variants. Raises OSError when it cannot be written.

        Nobody but the user can read it, whatever the permissions of the plan's file.
        """
        refusal = make_private(folder)
        if refusal:
            raise PermissionError(1, refusal)
        path = folder / f"{os.getpid()}-{os.urandom(6).hex()}{SUFFIX}"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        project = Project.of(what)
        journal = cls(path, handle, heading, project)
        try:
            # Another start may look at it right now, whether anybody holds it: that takes no time.
            hold(handle, wait=True)
            entry = {"heading": _plain(heading), "plan": whole(project.main), "host": platform.node()}
            main = Project.of(project.main)
            journal._write(entry if project == main else {**entry, **_changed(main, project)})
            journal.start_bytes = journal.bytes_since_start
        except BaseException:
            journal.remove()
            raise
        return journal

    def append(self, what: Plan | Project) -> None:
        """Add what an edit made. Raises OSError when it cannot be written: the journal ends before it."""
        project = Project.of(what)
        self._write(_changed(self.project, project))
        self.project = project

    def rename(self, heading: Heading) -> None:
        """The plan has another name or file. Raises OSError."""
        self._write({"heading": _plain(heading)})
        self.heading = heading

    def flush(self) -> None:
        """All that was added lies on the disk; of a journal that is closed or gone, nothing. Raises OSError.

        A thread may flush while another one closes.
        """
        handle = self._handle
        if handle < 0:
            return
        try:
            os.fsync(handle)
        except OSError:
            if self._handle == handle:
                raise
        if not self._is_listed:
            # Its name lies in the folder, which is flushed by itself.
            flush_folder(self.path.parent)
            self._is_listed = True

    def close(self) -> None:
        """Leave it where it is; whoever looks next finds a journal that nobody holds."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def remove(self) -> None:
        """There is nothing to recover any more."""
        with suppress(OSError):
            self.path.unlink()
        self.close()

    def _write(self, entry: Document) -> None:
        text = json.dumps({"at": datetime.now().isoformat(), **entry}, ensure_ascii=True, allow_nan=False)
        line = f"{crc32(text.encode()):08x} {text}\n".encode()
        if os.fstat(self._handle).st_size != self.bytes_since_start:
            # Half a line that could not be taken back: nothing behind it would be read.
            os.ftruncate(self._handle, self.bytes_since_start)
        written = 0
        try:
            while written < len(line):
                written += os.write(self._handle, line[written:])
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._handle, self.bytes_since_start)
            raise
        self.bytes_since_start += len(line)


def read(path: Path) -> Left | None:
    """The newest state of a journal that a plan file may hold; None: there is none in it. Raises OSError."""
    if path.stat().st_size > MAX_BYTES:
        return None
    heading, states = Heading("", None), deque[tuple[list[Document], datetime]](maxlen=_STATES_TRIED)
    for entry in _entries(path):
        # A line with the right checksum and another content was written by another program.
        with suppress(KeyError, TypeError, ValueError, IndexError, AttributeError):
            # Without a place on earth, as all that are written here.
            at = datetime.fromisoformat(entry["at"]).replace(tzinfo=None)
            if "heading" in entry:
                stated = entry["heading"]
                heading = Heading(str(stated["name"]), Path(stated["path"]) if stated["path"] else None)
            if "plan" in entry:
                started = [{"name": MAIN, "note": "", "plan": dict(entry["plan"])}]
                states.clear()
                states.append((_after(started, entry), at))
            elif "changed" in entry or "variants" in entry:
                states.append((_after(states[-1][0], entry), at))
    for state, at in reversed(states):
        with suppress(file.PlanFileError, ValidationError):
            return Left(heading, _project(state, heading.name), at)
    return None


def is_open(path: Path) -> bool:
    """Whether a program that runs keeps a journal. Raises OSError when it cannot be looked at."""
    return is_held(path, without_locks=lambda: _is_open_in_its_process(path))


def _is_open_in_its_process(path: Path) -> bool:
    """The same where a file system has no locks: nobody but who wrote it has it open.

    What cannot be known, of another host or without /proc, counts as open: it would be taken from a window.
    """
    with closing(_entries(path)) as entries:
        stated = next(entries, {}).get("host", platform.node())
    opened = Path("/proc") / path.name.partition("-")[0] / "fd"
    if stated != platform.node() or not Path("/proc/self/fd").exists():
        return True
    with suppress(OSError):
        # Of a process of another user, which is not a window of ours, nothing can be listed.
        return any(one.exists() and one.samefile(path) for one in opened.iterdir())
    return False


def _entries(path: Path) -> Generator[Document, None, None]:
    """Lines up to the first that is cut or damaged."""
    with path.open("rb") as lines:
        for line in lines:
            checksum, _, text = line.partition(b" ")
            text = text.removesuffix(b"\n")
            if not line.endswith(b"\n") or checksum != f"{crc32(text):08x}".encode():
                return
            try:
                entry = json.loads(text)
            except (ValueError, RecursionError):
                return
            if not isinstance(entry, dict):
                return
            yield entry


def _plain(heading: Heading) -> Document:
    return {"name": heading.name, "path": None if heading.path is None else os.fspath(heading.path)}


def _changed(before: Project, after: Project) -> Document:
    """What a line says: the plan of one variant that changed, else how all of them came to be."""
    pairs = list(zip(before.variants, after.variants, strict=False))
    named_alike = all((a.name, a.note) == (b.name, b.note) for a, b in pairs)
    other = [n for n, (old, new) in enumerate(pairs) if old.plan is not new.plan]
    if named_alike and len(before.variants) == len(after.variants) and len(other) <= 1:
        place = other[0] if other else 0
        changed = _difference(before.variants[place].plan, after.variants[place].plan)
        return {"changed": changed, "in": place} if place else {"changed": changed}
    return {"variants": [_made(before, variant, n) for n, variant in enumerate(after.variants)]}


def _made(before: Project, variant: Variant, place: int) -> Document:
    """A variant as what it is made of, and what is changed of that."""
    same = (n for n, old in enumerate(before.variants) if old.plan is variant.plan)
    source = next(same, min(place, len(before.variants) - 1))
    changed = _difference(before.variants[source].plan, variant.plan)
    return {"name": variant.name, "note": variant.note, "of": source, "changed": changed}


def _after(state: list[Document], entry: Document) -> list[Document]:
    """The variants after a line. Raises TypeError, KeyError or IndexError for what does not fit them."""
    if "variants" in entry:
        return [
            {
                "name": one["name"],
                "note": one["note"],
                "plan": _applied(state[one["of"]]["plan"], one["changed"]),
            }
            for one in entry["variants"]
        ]
    if "changed" not in entry:
        return state
    place = entry.get("in", 0)
    changed = {**state[place], "plan": _applied(state[place]["plan"], entry["changed"])}
    return [*state[:place], changed, *state[place + 1 :]]


def _project(state: list[Document], name: str) -> Project:
    """The variants of a state. Raises PlanFileError or ValidationError."""
    plans: list[Plan] = []
    for one in state:
        plan = file.from_document(one["plan"], name=name).main
        plans.append(sharing(plan, plans[0]) if plans else plan)
    variants = (Variant(name=o["name"], note=o["note"], plan=p) for o, p in zip(state, plans, strict=True))
    return Project(variants=tuple(variants))


def _difference(before: Plan, after: Plan) -> Document:
    """Fields that are other objects: None where the default holds again, collections as runs and parts."""
    fields = [name for name in Plan.model_fields if getattr(before, name) is not getattr(after, name)]
    collections = {name for name in fields if _is_collection(getattr(after, name))}
    plain = after.model_dump(mode="json", exclude_defaults=True, include=set(fields) - collections)
    difference: Document = {name: plain.get(name) for name in fields if name not in collections}
    for name in fields:
        if name in collections:
            difference[name] = _members(getattr(before, name), getattr(after, name))
    return difference


def _is_collection(value: object) -> bool:
    return isinstance(value, tuple) and bool(value) and isinstance(value[0], Part)


def _members(before: tuple[Part, ...], after: tuple[Part, ...]) -> list[Any]:
    """`[3, 9]` are the members 3 to 8 of before, an object is a new one."""
    place = {id(part): number for number, part in enumerate(before)}
    members: list[Any] = []
    for part in after:
        number = place.get(id(part))
        if number is None:
            members.append(part.model_dump(mode="json", exclude_defaults=True))
        elif members and isinstance(members[-1], list) and members[-1][1] == number:
            members[-1][1] = number + 1
        else:
            members.append([number, number + 1])
    return members


def _applied(document: Document, changed: Document) -> Document:
    """The document after a line. Raises TypeError, KeyError or IndexError for what does not fit it."""
    after = dict(document)
    for name, value in changed.items():
        if value is None:
            after.pop(name, None)
        elif isinstance(value, list) and any(_is_run(member) for member in value):
            old = document.get(name, [])
            after[name] = [
                part for member in value for part in (_run(old, member) if _is_run(member) else [member])
            ]
        else:
            after[name] = value
    return after


def _is_run(member: object) -> bool:
    return isinstance(member, list)


def _run(old: list[Any], run: list[int]) -> list[Any]:
    begin, end = run
    if not 0 <= begin < end <= len(old):
        raise IndexError("a run of parts that are not there")
    return old[begin:end]
