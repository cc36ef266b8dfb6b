"""Log file groups and tablespaces: what makes, changes and drops them, and what the product refuses.

Texts, codes and warnings: recorded on a running 8.4.8 cluster; 2810 of a full disk: read in the source.
"""

from __future__ import annotations

from typing import NamedTuple

from ndbplan.base.units import KIB, MIB, whole_number
from ndbplan.configuration.directories import disk_for, disk_of_path
from ndbplan.configuration.settings import is_diskless, node_settings
from ndbplan.configuration.space_files import named_files
from ndbplan.edits import validated
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.importing.ddl.stream import Stream
from ndbplan.ndb.console import form
from ndbplan.ndb.rows import PAGE_BYTES
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.tables import LogfileGroup, SpaceFile, Tablespace
from ndbplan.simulate.events.full_disks import EXIT_FULL, is_full
from ndbplan.train.sql.defining import NDB, Asked, Done, become, exchanged, ok, taken
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned
from ndbplan.train.sql.refused import inside_of
from ndbplan.train.sql.storage import named_space, with_file, without_file

_NOT_COMMITTED = "Failed to commit NDB schema transaction"
_NO_ROOM, _NO_PATH, _NO_FILES, _NO_SUCH = EXIT_FULL, 1509, 775, 723


class _What(NamedTuple):
    """What a statement is about."""

    verb: str
    kind: str
    """`LOGFILE GROUP` or `TABLESPACE`."""
    name: str
    known: LogfileGroup | Tablespace | None
    """What the plan has by this name."""

    @property
    def is_group(self) -> bool:
        return self.kind == "LOGFILE GROUP"

    @property
    def lost(self) -> str:
        return f"Failed to get {self.kind.lower()} '{self.name}' from NDB"


_SYNTAX = (
    "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version "
    "for the right syntax to use"
)
_DEPRECATED = Warned(
    "Warning", 1681, "'ENGINE tablespace option' is deprecated and will be removed in a future release."
)


def disk_data(asked: Asked, stream: Stream) -> Done:
    """Carry out a statement about disk data. Raises SqlError, NotSimulated and Unreadable."""
    is_group = stream.accept("LOGFILE")
    stream.expect("GROUP" if is_group else "TABLESPACE")
    name = stream.name("a name")
    parts: tuple[LogfileGroup | Tablespace, ...]
    parts = asked.plan.logfile_groups if is_group else asked.plan.tablespaces
    known = next((one for one in parts if one.name == name), None)
    what = _What(asked.words[0].upper, "LOGFILE GROUP" if is_group else "TABLESPACE", name, known)
    _of_ndb(asked, what)
    drops = what.verb == "ALTER" and not is_group and stream.accept("DROP")
    # From 8.0 on a server knows the engine of a tablespace [8.4.8].
    knows = not (is_group or asked.plan.features.tablespace_engine_named)
    needless = knows and what.verb != "CREATE" and asked.option("ENGINE") is not None
    if needless and (drops or what.verb == "DROP"):
        raise SqlError(1149, "42000", _SYNTAX)
    if what.verb == "DROP":
        return _drop(asked, what)
    if not drops:
        stream.expect("ADD")
    stream.expect("UNDOFILE" if is_group else "DATAFILE")
    if stream.peek().kind != "string":
        raise stream.unreadable("the name of a file")
    file = stream.next().text
    if what.verb == "CREATE":
        _may_create(asked, what, file)
        _may_have_file(asked, what, file)
    elif what.known is None and (emptied := _emptied(asked, what)) is not None:
        if drops:
            raise _no_such_file(asked, name, file)
        _may_add(asked, what, file)
        return _filled(asked, emptied, (_DEPRECATED,) if needless else ())
    elif what.known is None:
        if is_group:
            raise _failed(asked, 1533, "Failed to alter: CREATE UNDOFILE FAILED", what.lost, ndb=_NO_SUCH)
        if not form(asked.plan.version, "dictionary_of_its_own"):
            raise SqlError(1533, "HY000", f"Failed to alter:  {'DROP' if drops else 'CREATE'} DATAFILE")
        raise SqlError(3510, "HY000", f"Tablespace {name} doesn't exist.")
    elif drops:
        return _drop_file(asked, what, file)
    else:
        _may_add(asked, what, file)
    read = read_ddl(asked.sql, asked.plan.version, asked.database or "test")
    if read.problems:
        raise NotSimulated(f"a plan cannot hold this: {read.problems[0].message}")
    become(asked, taken(asked, read))
    return ok(asked, warnings=(_DEPRECATED,) if needless else ())


def _of_ndb(asked: Asked, what: _What) -> None:
    """Raises what a statement meets that speaks of another engine."""
    is_ndb = (asked.option("ENGINE") or "").lower() in NDB
    own = form(asked.plan.version, "dictionary_of_its_own")
    if is_ndb or (own and not what.is_group and what.verb != "CREATE"):
        return
    if not own and asked.option("ENGINE") is None:
        text = (
            "Table storage engine 'InnoDB' does not support the create option 'TABLESPACE or LOGFILE GROUP'"
        )
        raise SqlError(1478, "HY000", text)
    if what.is_group and form(asked.plan.version, "logfile_groups_of_ndb"):
        text = "The storage engine for the table doesn't support CREATE/ALTER/DROP LOGFILE GROUP"
        error = SqlError(3658, "HY000", "Feature LOGFILE GROUP is unsupported (by InnoDB).")
        error.warnings = (*error.warnings, Warned("Error", 1178, text))
        raise error
    raise NotSimulated("only disk data of NDB is simulated: write ENGINE NDB")


def _failed(asked: Asked, code: int, said: str, then: str, *, ndb: int) -> SqlError:
    """What data nodes refuse; servers without a dictionary of their own say it in fewer words [7.4.10]."""
    inside = inside_of(ndb, asked.plan.version)
    if not form(asked.plan.version, "dictionary_of_its_own"):
        return SqlError(code, "HY000", said.removesuffix(" FAILED"), (inside,))
    return SqlError(code, "HY000", said, (inside, Warned("Warning", 1296, then)))


def _may_create(asked: Asked, what: _What, file: str) -> None:
    plan, said = asked.plan, f"Failed to create {what.kind}"
    failed = f"Failed to create {what.kind.lower()} '{what.name}' in NDB"
    if what.known is not None and not what.is_group and form(plan.version, "dictionary_of_its_own"):
        # Source: the product's own tests (ndb_dd_ddl), and sql/sql_tablespace.cc.
        raise SqlError(1813, "HY000", f"Tablespace '{what.name}' exists.")
    if what.known is not None:
        raise _failed(asked, 1528, said, failed, ndb=721)
    if what.is_group and plan.logfile_groups:
        raise _failed(asked, 1528, said, _NOT_COMMITTED, ndb=1514)
    words = [word.upper for word in asked.words]
    used = asked.words[words.index("GROUP") + 1].text if "GROUP" in words[:-1] else ""
    groups = [one.name for one in plan.logfile_groups]
    if not what.is_group and used not in groups and not form(plan.version, "dictionary_of_its_own"):
        raise SqlError(1528, "HY000", said)
    if not what.is_group and used not in groups:
        raise _failed(asked, 1528, said, failed, ndb=789)
    if (lacks := _lacks(asked, what, file)) is not None:
        raise _failed(asked, 1528, said, _NOT_COMMITTED, ndb=lacks)


def _files(what: _What) -> dict[str, int]:
    if isinstance(what.known, LogfileGroup):
        return dict(named_files(what.known.undo_files, None))
    return dict(named_files(what.known.data_files, None)) if what.known is not None else {}


def _may_add(asked: Asked, what: _What, file: str) -> None:
    word = "UNDOFILE" if what.is_group else "DATAFILE"
    said = f"Failed to alter: CREATE {word} FAILED"
    if file in _files(what):
        failed = f"Failed to create {word.lower()} '{file}' in NDB"
        raise _failed(asked, 1533, said, failed, ndb=760)
    if (lacks := _lacks(asked, what, file)) is not None:
        raise _failed(asked, 1533, said, _NOT_COMMITTED, ndb=lacks)


def _may_have_file(asked: Asked, what: _What, file: str) -> None:
    """Raises what the file of a new tablespace is refused with: another has its name, or it is too small."""
    if what.is_group:
        _may_have_undo(asked, what)
        return
    said, failed = "Failed to create DATAFILE", f"Failed to create datafile '{file}' in NDB"
    if any(file == name for one in asked.plan.tablespaces for name, _ in named_files(one.data_files, None)):
        raise _failed(asked, 1528, said, failed, ndb=760)
    stated = _stated_bytes(asked, "INITIAL_SIZE")
    if stated is not None and stated < MIB:
        raise _failed(asked, 1528, said, failed, ndb=1516)


def _may_have_undo(asked: Asked, what: _What) -> None:
    """Raises what a log file group is refused with whose file or buffer is no page long [8.4.8]."""
    said = f"Failed to create {what.kind}"
    stated = _stated_bytes(asked, "UNDO_BUFFER_SIZE")
    if stated is not None and stated < PAGE_BYTES:
        failed = f"Failed to create {what.kind.lower()} '{what.name}' in NDB"
        raise _failed(asked, 1528, said, failed, ndb=779)
    stated = _stated_bytes(asked, "INITIAL_SIZE")
    if stated is not None and stated < PAGE_BYTES:
        error = _failed(asked, 1528, said, _NOT_COMMITTED, ndb=1516)
        if form(asked.plan.version, "dictionary_of_its_own"):
            rounded = Warned("Warning", 1296, "Undofile size rounded down to kernel page size")
            error.warnings = (rounded, *error.warnings)
        raise error


def _stated_bytes(asked: Asked, name: str) -> int | None:
    """A size in bytes or with K; None: it is not stated, or with a larger unit."""
    size = (asked.option(name) or "").upper()
    number = whole_number(size.removesuffix("K")) if size else None
    return None if number is None else number * (KIB if size.endswith("K") else 1)


def _lacks(asked: Asked, what: _What, file: str) -> int | None:
    """Why a data node cannot make such a file, which each of them makes in full; None: all can."""
    plan, sim = asked.plan, asked.cluster.session.simulation
    role = DiskRole.UNDO if what.is_group else DiskRole.DATA_FILES
    if any(is_diskless(node_settings(plan, node)) for node in plan.data_nodes):
        return _NO_FILES
    if file.startswith("/"):
        hosts = {node.host_id: plan.host(node.host_id) for node in plan.data_nodes}
        # What lies on no disk of the plan came with the machine, and has no folder for it.
        disks = [disk_of_path(host.disks, file) for host in hosts.values()]
        if None in disks:
            return _NO_PATH
        return _NO_ROOM if any(is_full(sim, disk_id) for disk_id in disks if disk_id) else None
    own = (disk_for(plan, node, role) for node in plan.data_nodes)
    return _NO_ROOM if any(disk is not None and is_full(sim, disk.id) for disk in own) else None


def _in_use(plan: Plan, space: Tablespace) -> bool:
    return any(table.tablespace_id == space.id for table in plan.tables)


def _emptied(asked: Asked, what: _What) -> Tablespace | None:
    """The tablespace of that name that has lost its last file; None: there is none."""
    if what.is_group:
        return None
    return next((one for one in asked.cluster.state.emptied if one.name == what.name), None)


def _no_such_file(asked: Asked, space: str, file: str) -> SqlError:
    """Source of the older words: ha_ndbcluster.cc of 7.4."""
    if not form(asked.plan.version, "dictionary_of_its_own"):
        return SqlError(1533, "HY000", "Failed to alter:  NO SUCH FILE")
    return SqlError(3629, "HY000", f"Tablespace '{space}' does not have a file named '{file}'")


def _filled(asked: Asked, space: Tablespace, warnings: tuple[Warned, ...]) -> Done:
    """ADD DATAFILE of a tablespace without a file; tables that name it have it again."""
    gone = "gone"
    while gone in asked.sql:
        gone += "."
    held = validated.changed(space, data_files=(SpaceFile(name=gone, size_bytes=MIB),))
    read = read_ddl(asked.sql, asked.plan.version, asked.database or "test")
    if read.problems:
        raise NotSimulated(f"a plan cannot hold this: {read.problems[0].message}")
    plan = taken(asked, read, asked.plan.replace(tablespaces=(*asked.plan.tablespaces, held)))
    new = next(one for one in plan.tablespaces if one.name == space.name)
    files = named_files(new.data_files, None)
    own = tuple(SpaceFile(name=name, size_bytes=size) for name, size in files if name != gone)
    spaces = (validated.changed(new, data_files=own) if one is new else one for one in plan.tablespaces)
    plan = plan.replace(tablespaces=tuple(spaces))
    for table in plan.tables:
        if named_space(table) == space.name:
            plan = exchanged(plan, table, with_file(table, space))
    become(asked, plan, emptied=asked.cluster.state.emptied - {space})
    return ok(asked, warnings=warnings)


def _drop_file(asked: Asked, what: _What, file: str) -> Done:
    """The last one leaves a tablespace without a file."""
    plan, space = asked.plan, what.known
    assert isinstance(space, Tablespace)
    files = _files(what)
    if file not in files:
        raise _no_such_file(asked, space.name, file)
    users = [table for table in plan.tables if table.tablespace_id == space.id]
    # Which file has the extents of a table is not said: as long as one has columns on disk, all files do.
    if any(column.storage == "disk" for table in users for column in table.columns):
        said = "Failed to alter: DROP DATAFILE FAILED"
        raise _failed(asked, 1533, said, _NOT_COMMITTED, ndb=770)
    left = tuple(SpaceFile(name=name, size_bytes=size) for name, size in files.items() if name != file)
    spaces = tuple(
        validated.changed(one, data_files=left) if one is space else one
        for one in plan.tablespaces
        if one is not space or left
    )
    emptied = asked.cluster.state.emptied | (frozenset() if left else {space})
    changed = plan.replace(tablespaces=spaces)
    for table in () if left else users:
        changed = exchanged(changed, table, without_file(table, space.name))
    become(asked, changed, emptied=emptied)
    return ok(asked)


def _drop(asked: Asked, what: _What) -> Done:
    plan, emptied = asked.plan, asked.cluster.state.emptied
    if not what.is_group:
        if isinstance(what.known, Tablespace) and not form(plan.version, "dictionary_of_its_own"):
            space = what.known
            if _in_use(plan, space):
                used = 768
                raise _failed(asked, 1529, "Failed to drop TABLESPACE", "", ndb=used)
            spaces = tuple(one for one in plan.tablespaces if one is not space)
            become(asked, plan.replace(tablespaces=spaces))
            return ok(asked)
        if isinstance(what.known, Tablespace):
            raise SqlError(3120, "HY000", f"Tablespace `{what.name}` is not empty.")
        if _emptied(asked, what) is None:
            if not form(plan.version, "dictionary_of_its_own"):
                # As of other names that are missing [7.4.10].
                raise SqlError(1529, "HY000", "Failed to drop TABLESPACE")
            raise SqlError(3510, "HY000", f"Tablespace {what.name} doesn't exist.")
        if any(named_space(table) == what.name for table in plan.tables):
            raise SqlError(3120, "HY000", f"Tablespace `{what.name}` is not empty.")
        become(asked, plan, emptied=frozenset(one for one in emptied if one.name != what.name))
        return ok(asked)
    said = "Failed to drop LOGFILE GROUP"
    if what.known is None:
        raise _failed(asked, 1529, said, what.lost, ndb=_NO_SUCH)
    users = {space.logfile_group_id for space in (*plan.tablespaces, *emptied)}
    if what.known.id in users:
        used = 768
        raise _failed(asked, 1529, said, f"Failed to drop logfile group '{what.name}' from NDB", ndb=used)
    become(
        asked, plan.replace(logfile_groups=tuple(one for one in plan.logfile_groups if one is not what.known))
    )
    return ok(asked)
