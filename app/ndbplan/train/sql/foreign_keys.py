"""Foreign keys: what the clauses that a table keeps say, and which ones a server refuses.

    keys_of(plan, table)                   # those that the table has
    referring_to(plan, table)              # those of others, and of its own, that refer to it

A table keeps each as a clause among what a plan holds in words alone (`left_out`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ndbplan.base.quoting import sql_identifier
from ndbplan.edits import validated
from ndbplan.importing.ddl.stream import Stream, Unreadable
from ndbplan.importing.ddl.tokens import words
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.console import form
from ndbplan.ndb.errors import said as said_of
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table
from ndbplan.train.object_ids import Ids, Thing, ids_of, key_of
from ndbplan.train.sql.objects import supporting
from ndbplan.train.sql.problem import NotSimulated, SqlError, Warned

NO_ACTION, CASCADE, SET_NULL = "NO ACTION", "CASCADE", "SET NULL"
ACTIONS = (NO_ACTION, "RESTRICT", CASCADE, SET_NULL)
"""What ON DELETE and ON UPDATE may do here; a server without either word does nothing of its own."""
_NO_SUCH_TABLE, _CASCADES_TO_KEY, _NOT_UNIQUE, _REFERENCED = 723, 21000, 21026, 21080
ORPHANS = 21033
"""What NDB says of a new key that rows of the table do not meet."""
_LONGEST = 300


class ForeignKey(NamedTuple):
    """FOREIGN KEY (columns) REFERENCES parent (referenced)."""

    name: str
    """Empty: nobody gave it one."""
    child: tuple[str, str]
    """Database and name."""
    columns: tuple[str, ...]
    parent: tuple[str, str]
    referenced: tuple[str, ...]
    on_delete: str = NO_ACTION
    on_update: str = NO_ACTION

    def text(self, *, whole: bool, with_database: bool = False) -> str:
        """As a server writes it.

        `whole`: with both actions, as errors and older servers have it, else without the usual ones [8.4.8,
        7.4.10]. `with_database`: the parent's too where it is the child's.
        """
        parent = sql_identifier(self.parent[1])
        if with_database or self.parent[0] != self.child[0]:
            parent = f"{sql_identifier(self.parent[0])}.{parent}"
        said = [("DELETE", self.on_delete), ("UPDATE", self.on_update)]
        actions = "".join(f" ON {when} {what}" for when, what in said if whole or what != NO_ACTION)
        body = f"FOREIGN KEY ({_names(self.columns)}) REFERENCES {parent} ({_names(self.referenced)})"
        return f"CONSTRAINT {sql_identifier(self.name)} {body}{actions}"


def _names(names: Iterable[str]) -> str:
    return ",".join(map(sql_identifier, names))


def _read(clause: str, child: tuple[str, str], version: NdbVersion) -> ForeignKey | None:
    """What a clause says; None: it is about something else, or cut off."""
    if "FOREIGN" not in clause.upper():
        return None
    try:
        stream = Stream(words(clause, 0), len(clause))
        name = ""
        if stream.accept("CONSTRAINT") and stream.peek().upper != "FOREIGN":
            name = stream.name("a name")
        if not stream.accept("FOREIGN"):
            return None
        stream.expect("KEY")
        if stream.peek().upper != "(":
            index = stream.name("a name")
            name = index if form(version, "index_names_key") else name
        columns = _listed(stream)
        stream.expect("REFERENCES")
        database, parent = child[0], stream.name("a table")
        if stream.accept("."):
            database, parent = parent, stream.name("a table")
        referenced = _listed(stream)
        if stream.accept("MATCH"):
            stream.next()
        actions = {"DELETE": NO_ACTION, "UPDATE": NO_ACTION}
        while stream.accept("ON"):
            when, what = stream.next().upper, stream.next().upper
            actions[when] = f"{what} {stream.next().upper}" if what in ("SET", "NO") else what
    except (Unreadable, ValueError):
        return None
    if not stream.at_end():
        return None
    return ForeignKey(
        name, child, columns, (database, parent), referenced, actions["DELETE"], actions["UPDATE"]
    )


def _listed(stream: Stream) -> tuple[str, ...]:
    stream.expect("(")
    return tuple(item.name("a column") for item in stream.items())


def keys_of(plan: Plan, table: Table, ids: Ids | None = None) -> tuple[ForeignKey, ...]:
    """The foreign keys of a table, in their order; those without a name get the one that a server gives.

    `ids`: numbers of tables and indexes, where they are not those of the plan made anew.
    """
    return tuple(_named(plan, table, unnamed(table, plan.version), ids))


def numbered_keys(plan: Plan, table: Table, ids: Ids) -> Iterator[tuple[int, ForeignKey]]:
    """The same with their numbers."""
    own = (table.database, table.name)
    clauses = [one for one in table.left_out if _read(one, own, plan.version) is not None]
    for clause, key in zip(clauses, keys_of(plan, table, ids), strict=True):
        yield ids[key_of(table, clause)], key


def unnamed(table: Table, version: NdbVersion) -> list[ForeignKey]:
    """The same as they were typed: a name that nobody gave is empty."""
    found = (_read(clause, (table.database, table.name), version) for clause in table.left_out)
    return [key for key in found if key is not None]


def _named(plan: Plan, table: Table, keys: Sequence[ForeignKey], ids: Ids | None) -> Iterator[ForeignKey]:
    taken = {key.name for key in keys}
    for key in keys:
        name = key.name
        if not name and form(plan.version, "index_names_key"):
            name = _by_numbers(plan, table, key, ids_of(plan) if ids is None else ids)
        number = 1
        while not name or (not key.name and name in taken):
            name, number = f"{table.name}_fk_{number}", number + 1
        taken.add(name)
        yield key._replace(name=name)


def _by_numbers(plan: Plan, table: Table, key: ForeignKey, ids: Ids) -> str:
    """What older servers call a key without a name, by the numbers of what it goes by [7.4.10]."""
    numbers = []
    for side, columns in ((table_of(plan, key.parent), key.referenced), (table, key.columns)):
        index = None if side is None else supporting(plan, ids, side, columns)
        own = 0 if side is None else ids[Thing("table", side.id)]
        numbers.append(own if index is None else index.number)
    return "FK_{}_{}".format(*numbers)


def referring_to(plan: Plan, table: Table) -> list[ForeignKey]:
    """The foreign keys that refer to a table."""
    own = (table.database, table.name)
    return [key for one in plan.tables if one.left_out for key in keys_of(plan, one) if key.parent == own]


def with_keys(table: Table, keys: Iterable[ForeignKey], version: NdbVersion) -> Table:
    """The table with these foreign keys and no others. Raises NotSimulated for one that is too long."""
    own = (table.database, table.name)
    kept = [clause for clause in table.left_out if _read(clause, own, version) is None]
    said = []
    for key in keys:
        text = key.text(whole=False, with_database=True)
        said.append(text if key.name else text.replace("CONSTRAINT `` ", "", 1))
        if len(said[-1]) > _LONGEST:
            raise NotSimulated(f"a foreign key of more than {_LONGEST} letters is not simulated")
    clauses = tuple(kept + said)
    return table if clauses == table.left_out else validated.changed(table, left_out=clauses)


def renamed(key: ForeignKey, was: tuple[str, str], now: tuple[str, str], version: NdbVersion) -> ForeignKey:
    """The key when a table has got another name; a newer server renames its own names of keys too."""
    if key.parent == was:
        key = key._replace(parent=now)
    if key.child != was:
        return key
    own, _, number = key.name.rpartition("_fk_")
    made = own == was[1] and number.isdecimal() and not form(version, "index_names_key")
    return key._replace(child=now, name=f"{now[1]}_fk_{number}" if made else key.name)


def table_of(plan: Plan, name: tuple[str, str]) -> Table | None:
    """The table of NDB that is called so."""
    return next((one for one in plan.tables if (one.database, one.name) == name), None)


# What a server refuses.


def check_new(plan: Plan, table: Table, key: ForeignKey, typed: str, *, checks: bool, alters: bool) -> None:
    """Raises what a server says of a foreign key that cannot be.

    `typed`: the name that somebody gave it. `checks`: foreign_key_checks is on.
    """
    version = plan.version
    is_new_server = bool(form(version, "dictionary_of_its_own"))
    if len(key.columns) != len(key.referenced):
        text = f"Incorrect foreign key definition for '{typed or 'foreign key without name'}': "
        raise SqlError(1239, "42000", f"{text}Key reference and table reference don't match")
    own = {column.name.lower(): column for column in table.columns}
    for name in key.columns:
        if name.lower() not in own:
            raise SqlError(1072, "42000", f"Key column '{name}' doesn't exist in table")
    for action in (key.on_delete, key.on_update):
        if action not in ACTIONS:
            raise NotSimulated(f"what {action} of a foreign key does is not simulated")
        if action == SET_NULL:
            for name in key.columns:
                if not own[name.lower()].nullable or own[name.lower()].name in table.primary_key:
                    if not is_new_server:
                        raise NotSimulated("SET NULL of a column that is NOT NULL is not simulated")
                    text = f"Column '{name}' cannot be NOT NULL: needed in a foreign key constraint"
                    raise SqlError(1830, "HY000", f"{text} '{key.name}' SET NULL")
    parent = table if key.parent == (table.database, table.name) else table_of(plan, key.parent)
    if parent is None:
        if not checks:
            raise NotSimulated("a foreign key to a table that is not there yet is not simulated")
        if is_new_server:
            raise SqlError(1824, "HY000", f"Failed to open the referenced table '{key.parent[1]}'")
        said = f"not found in NDB: {_NO_SUCH_TABLE}: {said_of(_NO_SUCH_TABLE, plan.version).text}"
        raise cannot_add(f"Parent table {key.parent[1]} {said}")
    _check_parent(plan, table, key if is_new_server else key._replace(name=typed), parent, own)
    if key.on_update == CASCADE and set(_own_names(parent, key.referenced)) == set(parent.primary_key):
        text = "parent key is a primary key, and ON UPDATE CASCADE is not allowed with it"
        if is_new_server and not alters:
            raise NotSimulated(
                f"NDB refuses this ({_CASCADES_TO_KEY}: {text}); how the server says it is not known here"
            )
        raise cannot_add(f"Got error {_CASCADES_TO_KEY} '{text}' from NDB", 1296)


def _own_names(table: Table, names: Iterable[str]) -> list[str]:
    own = {column.name.lower(): column.name for column in table.columns}
    return [own.get(name.lower(), name) for name in names]


def _check_parent(plan: Plan, table: Table, key: ForeignKey, parent: Table, own: dict[str, Column]) -> None:
    """Raises what is wrong with what a foreign key refers to."""
    is_new_server = bool(form(plan.version, "dictionary_of_its_own"))
    theirs = {column.name.lower(): column for column in parent.columns}
    for name in key.referenced:
        if name.lower() not in theirs:
            if is_new_server:
                what = f"Missing column '{name}' for constraint '{key.name}' in the referenced table"
                text = f"Failed to add the foreign key constraint. {what} '{parent.name}'"
                raise SqlError(3734, "HY000", text)
            raise cannot_add(f"Parent table {parent.name} has no column {name} in NDB")
    wanted = set(_own_names(parent, key.referenced))
    unique = [set(parent.primary_key), *(set(i.columns) for i in parent.indexes if i.kind != "ordered")]
    is_unique = wanted in [one for one in unique if one]
    if not is_unique and is_new_server:
        code, text = form(plan.version, "no_parent_key")
        raise SqlError(code, "HY000", text.format(name=key.name, table=parent.name))
    for mine, other in zip(key.columns, key.referenced, strict=True):
        if _compares(own[mine.lower()]) == _compares(theirs[other.lower()]):
            continue
        if is_new_server:
            raise SqlError(
                3780, "HY000",
                f"Referencing column '{mine}' and referenced column '{other}' in foreign key constraint "
                f"'{key.name}' are incompatible.",
            )  # fmt: skip
        theirs_named = f"Parent column {parent.name}.{other} is incompatible with child column"
        raise cannot_add(f"{theirs_named} {table.name}.{mine} in NDB")
    if not is_unique:
        begins = any(i.columns[: len(wanted)] and i.columns[0] in wanted for i in parent.indexes)
        if begins:
            raise cannot_add(
                f"Got error {_NOT_UNIQUE} 'the index of the parent is not unique' from NDB", 1296
            )
        code, text = form(plan.version, "no_parent_key")
        raise SqlError(code, "HY000", text.format(name=key.name, table=parent.name))


def _compares(column: Column) -> tuple[object, ...]:
    """What two columns have in common that refer to one another."""
    kind = COLUMN_TYPES[column.type]
    has_length = column.type in ("char", "binary", "decimal", "bit", "time", "datetime", "timestamp")
    length = (column.length, column.scale) if has_length else ()
    return (column.type, column.unsigned, length, column.collation if kind.is_text else None)


def cannot_add(why: str, code: int = 1215) -> SqlError:
    """The error that a key cannot be added, with the reason in a warning."""
    return SqlError(1215, "HY000", "Cannot add foreign key constraint", (Warned("Warning", code, why),))


def check_names(plan: Plan, keys: Sequence[ForeignKey], but: Table | None = None) -> None:
    """Raises what is said of a name that a foreign key of the database has already."""
    there = {
        (one.database, key.name.lower())
        for one in plan.tables
        if one.left_out and (but is None or one.id != but.id)
        for key in keys_of(plan, one)
    }
    for key in keys:
        named = (key.child[0], key.name.lower())
        if named in there:
            raise SqlError(1826, "HY000", f"Duplicate foreign key constraint name '{key.name}'")
        there.add(named)


def check_drop(plan: Plan, gone: Sequence[Table], *, checks: bool) -> None:
    """Raises what is said of tables that cannot go, since others refer to them."""
    if not checks:
        return
    names = {(one.database, one.name) for one in gone}
    for table in gone:
        for key in referring_to(plan, table):
            if key.child in names:
                continue
            if form(plan.version, "dictionary_of_its_own"):
                text = f"Cannot drop table '{table.name}' referenced by a foreign key constraint"
                raise SqlError(3730, "HY000", f"{text} '{key.name}' on table '{key.child[1]}'.")
            inside = f"Got error {_REFERENCED} 'a foreign key of another table refers to the table' from NDB"
            text = "Cannot delete or update a parent row: a foreign key constraint fails"
            raise SqlError(1217, "23000", text, (Warned("Warning", 1296, inside),))


def check_truncate(plan: Plan, table: Table, *, checks: bool) -> None:
    """Raises what is said of a table that cannot be emptied at once, since another refers to it."""
    for key in referring_to(plan, table) if checks else ():
        if key.child == (table.database, table.name):
            continue
        what = f"{'.'.join(map(sql_identifier, key.child))}, CONSTRAINT {sql_identifier(key.name)}"
        if not form(plan.version, "dictionary_of_its_own"):
            parent = ".".join(map(sql_identifier, key.parent))
            what += f" FOREIGN KEY ({_names(key.columns)}) REFERENCES {parent} ({_names(key.referenced)})"
        text = f"Cannot truncate a table referenced in a foreign key constraint ({what})"
        raise SqlError(1701, "42000", text)


def check_altered(plan: Plan, old: Table, new: Table, keys: Sequence[ForeignKey], *, checks: bool) -> None:
    """Raises what is said of columns and indexes that foreign keys need; `keys`: those that stay."""
    names = {column.name.lower() for column in new.columns}
    before = {column.name.lower(): column for column in old.columns}
    after = {column.name.lower(): column for column in new.columns}
    sides = [(key, key.columns, "") for key in keys]
    own = (old.database, old.name)
    sides += [(k, k.referenced, k.child[1]) for k in referring_to(plan, old) if k.child != own]
    for key, columns, child in sides:
        of_child = f" of table '{child}'" if child else ""
        for name in columns:
            if name.lower() not in names:
                text = (
                    f"Cannot drop column '{name}': needed in a foreign key constraint '{key.name}'{of_child}"
                )
                raise SqlError(1829 if child else 1828, "HY000", text)
            if checks and _compares(before[name.lower()]) != _compares(after[name.lower()]):
                of_child = f" of table '{key.child[0]}.{child}'" if child else ""
                text = (
                    f"Cannot change column '{name}': used in a foreign key constraint '{key.name}'{of_child}"
                )
                raise SqlError(1833 if child else 1832, "HY000", text)
        lost = [one for one in old.indexes if one not in new.indexes and one.name not in _index_names(new)]
        for index in lost:
            if _serves(index.columns, columns, old) and not _is_served(new, columns, is_parent=bool(child)):
                text = f"Cannot drop index '{index.name}': needed in a foreign key constraint"
                raise SqlError(1553, "HY000", text)
        if old.primary_key and not new.primary_key and set(old.primary_key) == set(columns):
            raise SqlError(1553, "HY000", "Cannot drop index 'PRIMARY': needed in a foreign key constraint")


def _index_names(table: Table) -> set[str]:
    return {one.name for one in table.indexes}


def _serves(index: Sequence[str], columns: Sequence[str], table: Table) -> bool:
    wanted = _own_names(table, columns)
    return set(index[: len(wanted)]) == set(wanted)


def _is_served(table: Table, columns: Sequence[str], *, is_parent: bool) -> bool:
    """Whether a key of the table is one that a foreign key of these columns can go by."""
    if _serves(table.primary_key, columns, table):
        return True
    indexes = (one for one in table.indexes if not is_parent or one.kind != "ordered")
    return any(_serves(one.columns, columns, table) for one in indexes)
