"""Tables of InnoDB at an SQL node: made, altered and dropped there, and moved to NDB and back.

No other server knows them, and no data node holds their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits import validated
from ndbplan.estimate.load.log_records import operation_redo
from ndbplan.importing.ddl.into_plan import with_tables
from ndbplan.importing.ddl.statements import read_ddl
from ndbplan.ndb.console import form
from ndbplan.operations.schema import create_table
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind
from ndbplan.train.contents import NOTHING, Contents, carried
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import SetLocal, Wrote
from ndbplan.train.sql import finding, foreign_keys, server
from ndbplan.train.sql.altering import (
    COPIED_ROWS_PER_S,
    OF_FOREIGN_KEY,
    TWICE,
    check_altered,
    check_types,
    check_words,
    refused,
)
from ndbplan.train.sql.defining import DEFINED_S, NDB, Asked, Done, Name, become, ok
from ndbplan.train.sql.problem import NotSimulated, SqlError
from ndbplan.train.state import LOCAL_ID, LocalTable

INNODB = "innodb"
_LOCAL_S = 0.02
"""What making or altering one takes [8.4.8: 0.02 s]."""
_OF_ENGINE = "planned as a table of NDB Cluster"


def _node(cluster: LiveCluster) -> int:
    node = server.answering(cluster)
    assert node is not None
    return node.node_id


def read_one(asked: Asked, text: str, database: str) -> Table:
    """The table that a text makes. Raises SqlError, and NotSimulated for what is not known of InnoDB here."""
    if any(word.upper in ("FOREIGN", "PARTITION", "FULLTEXT", "SPATIAL") for word in asked.words):
        raise NotSimulated("foreign keys, partitions and such indexes of InnoDB are not simulated; NDB's are")
    read = read_ddl(text, asked.plan.version, database)
    said = [one.message for one in read.problems if _OF_ENGINE not in one.message]
    for message in said:
        if TWICE.search(message) or OF_FOREIGN_KEY.search(message):
            refused(asked, message)
    if said or not read.tables:
        check_types(asked)
        check_words(asked, said)
        raise NotSimulated(
            f"a table of InnoDB with this is not simulated: {said[0] if said else 'no columns'}"
        )
    return read.tables[-1]


def _local(asked: Asked, table: Table, database: str, name: str) -> LocalTable:
    node_id = _node(asked.cluster)
    taken = {one.table.id for one in asked.cluster.state.local}
    number = next(n for n in range(1, len(taken) + 2) if f"{LOCAL_ID}{node_id}-{n}" not in taken)
    own = validated.changed(
        table, id=f"{LOCAL_ID}{node_id}-{number}", database=database, name=name, tablespace_id=None, rows=0,
        assumed=(), partition_rows=(), partition_variable_bytes=(), distribution_key_table_id=None,
    )  # fmt: skip
    return LocalTable(node_id, own, asked.cluster.clock)


def set_local(
    cluster: LiveCluster, local: Sequence[LocalTable], contents: Mapping[str, Contents] | None = None
) -> None:
    """Give the SQL nodes these tables of their own."""
    cluster.act(SetLocal(tuple(local), contents or {}))


def create(asked: Asked, database: str, name: str) -> Done:
    """CREATE TABLE ... ENGINE=InnoDB."""
    new = _local(asked, read_one(asked, asked.sql, database), database, name)
    set_local(asked.cluster, (*asked.cluster.state.local, new))
    return ok(asked, lasts_s=_LOCAL_S)


def _others(asked: Asked, gone: Sequence[Table]) -> list[LocalTable]:
    ids = {table.id for table in gone}
    return [one for one in asked.cluster.state.local if one.table.id not in ids]


def drop(asked: Asked, gone: Sequence[Table]) -> None:
    """Take tables away."""
    if gone:
        set_local(asked.cluster, _others(asked, gone))


def truncate(asked: Asked, table: Table) -> Done:
    """TRUNCATE: its numbers begin anew."""
    set_local(asked.cluster, asked.cluster.state.local, {table.id: NOTHING})
    return ok(asked, lasts_s=_LOCAL_S)


def _put(asked: Asked, old: Table, new: Table, contents: Mapping[str, Contents] | None = None) -> None:
    local = [one._replace(table=new) if one.table.id == old.id else one for one in asked.cluster.state.local]
    set_local(asked.cluster, local, contents)


def rename(asked: Asked, table: Table, database: str, name: str) -> Done:
    """Another name."""
    _put(asked, table, validated.changed(table, database=database, name=name))
    return ok(asked, lasts_s=_LOCAL_S)


def alter(asked: Asked, table: Table) -> Done:
    """ALTER TABLE of a table of InnoDB; ENGINE=NDB gives it to the data nodes."""
    engine = (asked.option("ENGINE") or "").lower()
    if engine in NDB:
        return _to_ndb(asked, table)
    if engine not in ("", INNODB):
        raise NotSimulated("tables of NDB and InnoDB are simulated, and of no other engine")
    text = f"{create_table(asked.plan, table)}\n{asked.sql}"
    read = read_ddl(text, asked.plan.version, table.database)
    for problem in read.problems:
        if _OF_ENGINE in problem.message:
            continue
        refused(asked, problem.message, table.name)
        check_altered(asked)
        raise NotSimulated(f"this is not simulated for InnoDB: {problem.message}")
    new = validated.changed(read.tables[-1], id=table.id)
    rows = asked.cluster.rows_of(table)
    held = asked.cluster.state.contents.get(table.id, NOTHING)
    before = {column.name: column for column in table.columns}
    changed = any(column != before[column.name] for column in new.columns if column.name in before)
    copies = changed or engine == INNODB or new.primary_key != table.primary_key
    copied = rows if copies and engine != INNODB else 0
    done = ok(asked, copied, _LOCAL_S + copied / COPIED_ROWS_PER_S, counts=True)
    _put(asked, table, new, {table.id: carried(held, table, new)})
    return done


def _to_ndb(asked: Asked, table: Table) -> Done:
    """The rows go to the data nodes."""
    cluster = asked.cluster
    contents = cluster.state.contents.get(table.id, NOTHING)
    after = with_tables(asked.plan, [table])
    new = after.tables[-1]
    become(asked, after)
    copies = len(contents.rows) * no_of_replicas(after)
    log_bytes = copies * operation_redo(new, OperationKind.INSERT, after.version).value
    cluster.act(Wrote(new.id, len(contents.rows), log_bytes, contents))
    set_local(cluster, _others(asked, [table]))
    rows = len(contents.rows)
    return ok(asked, rows, DEFINED_S + rows / COPIED_ROWS_PER_S, counts=True)


def from_ndb(asked: Asked, table: Table, without: Callable[[Plan], Plan]) -> Done:
    """ALTER TABLE ... ENGINE=InnoDB of a table of NDB; `without`: the plan when it is gone."""
    plan, cluster = asked.plan, asked.cluster
    if foreign_keys.keys_of(plan, table) or foreign_keys.referring_to(plan, table):
        raise _takes_part(asked)
    if sum(word.text == "," for word in asked.words):
        raise NotSimulated("another engine and other changes at once are not simulated")
    try:
        rows = finding.read(cluster, table, finding.Wanted())
    except finding.TooMany as many:
        raise NotSimulated(f"its rows would have to be written down one by one: {many}") from None
    held = cluster.held(table)
    columns = tuple(column.name for column in table.columns)
    values = {key: tuple(row[name] for name in columns) for key, row in rows}
    number = server.next_number(cluster, table)
    counter = max(held.contents.counter, (number or 1) - 1)
    new = _local(asked, table, table.database, table.name)
    become(asked, without(plan), databases=cluster.state.databases | {table.database})
    kept = Contents(columns, values, counter=counter)
    set_local(cluster, (*cluster.state.local, new), {new.table.id: kept})
    return ok(asked, len(rows), DEFINED_S + len(rows) / COPIED_ROWS_PER_S, counts=True)


def _takes_part(asked: Asked) -> SqlError:
    if asked.plan.features.algorithm_inplace and form(asked.plan.version, "dictionary_of_its_own"):
        text = (
            "Cannot change table's storage engine because the table participates in a foreign key constraint."
        )
        return SqlError(3776, "HY000", text)
    text = "Cannot delete or update a parent row: a foreign key constraint fails"
    return SqlError(1217, "23000", text)


def known(asked: Asked, typed: Name) -> Table | None:
    """The table that is called so, of NDB or of the server."""
    return asked.known(typed) or asked.local(typed)
