"""CREATE and DROP DATABASE."""

from __future__ import annotations

from ndbplan.edits.parts import remove
from ndbplan.importing.ddl.stream import Stream
from ndbplan.ndb.console import form
from ndbplan.ndb.version import NdbVersion
from ndbplan.train.sql import character_sets, foreign_keys, local_tables, server
from ndbplan.train.sql.defining import Asked, Done, become, ok
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned


def change(asked: Asked, stream: Stream) -> Done:
    """Carry out CREATE or DROP DATABASE. Raises SqlError and NotSimulated."""
    stream.next()
    verb, only_if = asked.words[0].upper, if_so(stream)
    name = stream.name("database name")
    version = asked.plan.version
    if verb == "CREATE":
        _check_database(stream, version)
    elif not stream.at_end():
        raise stream.unreadable("the end")
    there = name in server.databases(asked.cluster)
    made = asked.cluster.state.databases
    if verb == "CREATE":
        if there and not only_if:
            raise SqlError(1007, "HY000", f"Can't create database '{name}'; database exists")
        if there:
            note = Warned("Note", 1007, f"Can't create database '{name}'; database exists")
            return ok(asked, 1, warnings=(note,))
        become(asked, asked.plan, databases=made | {name})
        return ok(asked, 1)
    if not there:
        if only_if:
            text = f"Can't drop database '{name}'; database doesn't exist"
            return ok(asked, warnings=(Warned("Note", 1008, text),))
        raise SqlError(1008, "HY000", f"Can't drop database '{name}'; database doesn't exist")
    if name in (*server.SYSTEM, "ndbinfo"):
        if name == "mysql" and form(asked.plan.version, "dictionary_of_its_own"):
            raise SqlError(3552, "HY000", f"Access to system schema '{name}' is rejected.")
        raise NotSimulated(f"a server of this version without its database {name} is not simulated")
    gone = [table for table in asked.plan.tables if table.database == name]
    foreign_keys.check_drop(asked.plan, gone, checks=asked.checks)
    local = [table for table in server.local_tables(asked.cluster) if table.database == name]
    local_tables.drop(asked, local)
    become(
        asked,
        asked.plan if not gone else remove(asked.plan, [table.id for table in gone]),
        databases=made - {name},
    )
    return ok(asked, len(gone) + len(local))


_OF_DATABASES = ("DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "ENCRYPTION")


def _check_database(stream: Stream, version: NdbVersion) -> None:
    """Raises SqlError and NotSimulated for options of CREATE DATABASE."""
    if stream.at_end():
        return
    if stream.peek().upper not in _OF_DATABASES:
        raise stream.unreadable("the end")
    if character_sets.stated(stream.rest(), version) is not None:
        usual = character_sets.of_server(version)
        raise NotSimulated(f"databases with another collation than {usual} are not simulated; tables are")


def if_so(stream: Stream) -> bool:
    """Take IF EXISTS or IF NOT EXISTS."""
    if not stream.accept("IF"):
        return False
    stream.accept("NOT")
    stream.expect("EXISTS")
    return True
