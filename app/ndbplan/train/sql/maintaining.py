"""ALTER TABLE ... PARTITION of tables of NDB: what a server makes of it, and what it refuses.

Recorded: TRUNCATE PARTITION [7.4.10], ADD PARTITION PARTITIONS n, REORGANIZE ... INTO [8.4.8, 7.4.10]. The
manual and its list of errors: DROP is for ranges and lists, and what is said of unknown partitions.
"""

from __future__ import annotations

from ndbplan.base.units import whole_number
from ndbplan.edits import validated
from ndbplan.importing.ddl.stream import Stream
from ndbplan.ndb.console import form
from ndbplan.plan.tables import Table
from ndbplan.train.schema import partitions_of
from ndbplan.train.sql.altering import COPIED_ROWS_PER_S
from ndbplan.train.sql.defining import DEFINED_S, Asked, Done, exchanged, ok
from ndbplan.train.sql.engine import Result
from ndbplan.train.sql.numbers import TEXT
from ndbplan.train.sql.problem import NotSimulated, SqlError, syntax

_CHECKS = ("ANALYZE", "CHECK", "OPTIMIZE", "REPAIR")
_VERBS = (
    *_CHECKS,
    "ADD",
    "DROP",
    "TRUNCATE",
    "REORGANIZE",
    "COALESCE",
    "REBUILD",
    "EXCHANGE",
    "DISCARD",
    "IMPORT",
)
NOT_PARTITIONED = "Partition management on a not partitioned table is not possible"


def is_next(stream: Stream) -> bool:
    """Whether what stands here is done to partitions; ALGORITHM and LOCK before it are taken then."""
    at = 0
    while stream.peek(at).upper in ("ALGORITHM", "LOCK"):
        at += 3 if stream.peek(at + 1).text == "=" else 2
        if stream.peek(at).text != ",":
            return False
        at += 1
    if stream.peek(at).upper not in _VERBS or stream.peek(at + 1).upper != "PARTITION":
        return False
    for _ in range(at):
        stream.next()
    return True


def not_partitioned() -> SqlError:
    """What is said of tables of InnoDB, and where NDB lacks it."""
    return SqlError(1505, "HY000", NOT_PARTITIONED)


def maintain(asked: Asked, stream: Stream, table: Table) -> Done | Result:
    """Do it. Raises SqlError and NotSimulated."""
    verb = stream.next().upper
    stream.expect("PARTITION")
    if verb in _CHECKS:
        return _checked(asked, stream, table, verb)
    if verb == "TRUNCATE" and form(asked.plan.version, "truncate_partition_refused"):
        _listed(stream)
        raise not_partitioned()
    if verb == "DROP":
        _listed(stream)
        raise SqlError(1512, "HY000", "DROP PARTITION can only be used on RANGE/LIST partitions")
    if verb == "ADD" and stream.peek().upper == "PARTITIONS":
        return _added(asked, stream, table)
    if verb == "REORGANIZE":
        return _into(asked, stream, table)
    raise NotSimulated(f"what {verb} PARTITION does to tables of NDB is not simulated")


def _listed(stream: Stream) -> list[str]:
    """Names of partitions up to the end; none: ALL of them."""
    if stream.accept("ALL"):
        names = []
    else:
        names = [stream.next().text]
        while stream.accept(","):
            names.append(stream.next().text)
    if not stream.at_end():
        raise stream.unreadable("the end")
    return names


def _names(asked: Asked, table: Table) -> list[str]:
    """Names of its partitions: p0, p1 and so on."""
    sim = asked.cluster.session.simulation
    parts = partitions_of(sim, asked.cluster.plan_of(table), table)
    return [f"p{number}" for number in range(len({part.partition for part in parts}))]


def _checked(asked: Asked, stream: Stream, table: Table, verb: str) -> Result:
    known = _names(asked, table)
    op, rows = verb.lower(), list[tuple[str, str, str, str]]()
    if all(name.lower() in known for name in _listed(stream)):
        said = ("note", "The storage engine for the table doesn't support repair")
        rows.append((table.full_name, op, *(said if op == "repair" else ("status", "OK"))))
    else:
        rows.append((table.full_name, op, "error", f"Error in list of partitions to {table.full_name}"))
    asked.cluster.lets_pass(DEFINED_S)
    return Result(("Table", "Op", "Msg_type", "Msg_text"), (TEXT,) * 4, list(rows))


def _added(asked: Asked, stream: Stream, table: Table) -> Done:
    stream.next()
    many = whole_number(stream.next().text)
    if many is None or not stream.at_end():
        # No other change stands beside it [8.4.8].
        raise stream.unreadable("the end")
    if table.partitions is None:
        raise NotSimulated("ADD PARTITION is simulated for tables that were made with PARTITIONS n")
    if many < 1:
        raise SqlError(1504, "HY000", "Number of partitions = 0 is not an allowed value")
    grown = (*table.grown_from, table.partitions)
    new = validated.changed(
        table,
        partitions=table.partitions + many,
        grown_from=grown,
        partition_rows=(),
        partition_variable_bytes=(),
    )
    rows = asked.cluster.rows_of(table)
    lasts_s = DEFINED_S + rows / COPIED_ROWS_PER_S
    return ok(asked, 0, lasts_s, counts=True, then=exchanged(asked.plan, table, new))


def _into(asked: Asked, stream: Stream, table: Table) -> Done:
    """REORGANIZE PARTITION names INTO (PARTITION name ...): the table is copied [7.4.10]."""
    old = [stream.next().text]
    while stream.accept(","):
        old.append(stream.next().text)
    stream.expect("INTO")
    stream.expect("(")
    new, depth = 0, 1
    while depth:
        word = stream.next()
        depth += (word.text == "(") - (word.text == ")")
        new += word.upper == "PARTITION" and depth == 1
        if word.upper == "VALUES":
            kind, words = ("LIST", "IN") if stream.peek().upper == "IN" else ("RANGE", "LESS THAN")
            text = f"Only {kind} PARTITIONING can use VALUES {words} in partition definition"
            raise SqlError(1480, "HY000", text)
    if not new:
        raise syntax(asked.sql[stream.peek(-1).start :])
    known = _names(asked, table)
    if len(old) != new:
        text = "REORGANIZE PARTITION can only be used to reorganize partitions not to change their numbers"
        raise SqlError(1510, "HY000", text)
    if any(name.lower() not in known for name in old):
        raise SqlError(1507, "HY000", "Error in list of partitions to REORGANIZE")
    rows = asked.cluster.rows_of(table)
    return ok(asked, rows, DEFINED_S + rows / COPIED_ROWS_PER_S, counts=True)
