"""Foreign keys: what a change of rows meets, and what follows from it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ndbplan.ndb.console import form
from ndbplan.ndb.errors import ndb_error
from ndbplan.plan.tables import Table
from ndbplan.train.contents import ForeignKey, Held, Key, Row
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import held_rows
from ndbplan.train.sql import finding
from ndbplan.train.sql.problem import SqlError, Warned

NO_PARENT, HAS_CHILD = 255, 256
"""What NDB says of a child without a parent, and of a parent with a child."""


def follow(
    cluster: LiveCluster, table: Table, held: Held, put: Mapping[Key, Row], gone: Collection[Key]
) -> list[tuple[Table, Mapping[Key, Row], Collection[Key]]]:
    """What rows of other tables become, as the foreign keys say. Raises SqlError 1451 and 1452."""
    state, found = cluster.state, []
    if not state.foreign_keys:
        return []
    by_id = {one.id: one for one in (*cluster.plan.tables, *state.local_tables)}
    for one in state.foreign_keys:
        if one.child_id == table.id and one.parent_id in by_id:
            _check_parents(cluster, one, table, by_id[one.parent_id], put)
    for one in state.foreign_keys:
        child = by_id.get(one.child_id)
        if one.parent_id != table.id or child is None:
            continue
        before = {key: row for key in (*gone, *put) if (row := held.find(key)) is not None}
        lost = {key: _values(row, one.parent_columns) for key, row in before.items()}
        kept = {_values(row, one.parent_columns) for row in put.values()}
        missing = {values for key, values in lost.items() if values not in kept}
        children = [
            (key, row)
            for key, row in finding.read(cluster, child, finding.Wanted())
            if _values(row, one.columns) in missing
        ] if missing else []  # fmt: skip
        if not children:
            continue
        action = one.on_delete if gone else one.on_update
        child_held = held_rows(cluster.session.simulation, child)
        if action == "CASCADE" and gone:
            keys = [key for key, _ in children]
            found += follow(cluster, child, child_held, {}, keys)
            found.append((child, {}, keys))
        elif action == "SET NULL":
            found.append((child, {key: {**row, **dict.fromkeys(one.columns)} for key, row in children}, ()))
        else:
            text = "Cannot delete or update a parent row: a foreign key constraint fails"
            raise _refused(cluster, 1451, text, HAS_CHILD, described(cluster, one, child, table))
    return found


def _values(row: Row, names: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(one.casefold() if isinstance(one, str) else one for one in (row[name] for name in names))


def _check_parents(
    cluster: LiveCluster, one: ForeignKey, child: Table, parent: Table, put: Mapping[Key, Row]
) -> None:
    asked = {values for row in put.values() if None not in (values := _values(row, one.columns))}
    if not asked:
        return
    held = held_rows(cluster.session.simulation, parent)
    if one.parent_columns == parent.primary_key:
        missing = [values for values in asked if held.find(values) is None]
    else:
        there = {
            _values(row, one.parent_columns) for _, row in finding.read(cluster, parent, finding.Wanted())
        }
        missing = [values for values in asked if values not in there]
    if child.id == parent.id:
        own = {_values(row, one.parent_columns) for row in put.values()}
        missing = [values for values in missing if values not in own]
    if missing:
        text = "Cannot add or update a child row: a foreign key constraint fails"
        raise _refused(cluster, 1452, text, NO_PARENT, described(cluster, one, child, parent))


def _refused(cluster: LiveCluster, code: int, text: str, inside: int, behind: str) -> SqlError:
    error = ndb_error(inside)
    said = "" if error is None else error.text
    if not form(cluster.plan.version, "dictionary_of_its_own"):
        behind = "Unknown error code"
    warned = Warned("Warning", 1296, f"Got error {inside} '{said}' from NDB")
    return SqlError(code, "23000", f"{text} ({behind})", (warned,))


def described(cluster: LiveCluster, one: ForeignKey, child: Table, parent: Table) -> str:
    """How errors name a foreign key [8.4.8]."""
    return (
        f"`{child.database}`.`{child.name}`, CONSTRAINT `{one.name}` FOREIGN KEY ({_listed(one.columns)}) "
        f"REFERENCES `{parent.name}` ({_listed(one.parent_columns)}) "
        f"ON DELETE {one.on_delete} ON UPDATE {one.on_update}"
    )


def _listed(names: tuple[str, ...]) -> str:
    return ",".join(f"`{name}`" for name in names)
