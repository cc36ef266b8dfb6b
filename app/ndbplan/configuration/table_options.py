"""What SQL nodes refuse of the options of a table, and what they leave aside without a word.

for one in refused_options(plan):
    print(one.table.full_name, one.why)     # d.t FULLY_REPLICATED with PARTITIONS 4 (error 797)
for one in ignored_options(plan):
    print(one.table.full_name, one.why)     # d.t it is made with logging, as it has a tablespace

Sources: mysql-server 8.4, storage/ndb/plugin/ha_ndbcluster.cc: create, ndb_column_is_dynamic,
create_ndb_column; manual 5.6 to 8.4, user-defined partitioning and NDB (error 1503), setting NDB comment
options.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.features import features
from ndbplan.ndb.mysqld_options import in_effect
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import PartitionBalance, Table

_INLINE_ONLY = ("tinyblob", "tinytext")
"""They have no parts, and their size in the row is fixed."""
MAX_ROWS_MOST = 2**32 - 1
"""Manual 5.6 to 8.4, CREATE TABLE, table options: larger values are truncated."""
_PREFETCHED = "ndb-autoincrement-prefetch-sz"


class OddOption(NamedTuple):
    """One option of a table that is not taken, or not as it stands."""

    table: Table
    why: str
    option: str
    """The field of the table, or of its column, that says it."""
    column: str = ""

    @property
    def where(self) -> str:
        """The place in words."""
        place = f"table {self.table.full_name}"
        return f"column {self.column} of {self.table.full_name}" if self.column else place


def refused_options(plan: Plan) -> Iterator[OddOption]:
    """Options with which CREATE TABLE fails."""
    for table in plan.tables:
        if table.fully_replicated and plan.features.read_backup:
            if table.read_backup is False:
                why = "READ_BACKUP=0 of a fully replicated table (error 1478)"
                yield OddOption(table, why, "read_backup")
            if table.partitions is not None:
                why = f"PARTITIONS {table.partitions} of a fully replicated table (error 797)"
                yield OddOption(table, why, "partitions")
        if table.distribution_key and not table.primary_key:
            why = "it is distributed by columns and has no primary key (error 1503)"
            yield OddOption(table, why, "distribution_key")
        elif others := _outside(table):
            why = f"it is distributed by {', '.join(others)}, outside its primary key (error 1503)"
            yield OddOption(table, why, "distribution_key")


def _outside(table: Table) -> list[str]:
    """Columns of the distribution key that the primary key lacks; capitals make no difference."""
    inside = {name.casefold() for name in table.primary_key}
    return [name for name in table.distribution_key if name.casefold() not in inside]


def ignored_options(plan: Plan) -> Iterator[OddOption]:
    """Options that CREATE TABLE takes, and that mean nothing or break later."""
    for table in plan.tables:
        yield from _of_table(plan, table)
        yield from _of_columns(plan, table)


def _of_table(plan: Plan, table: Table) -> Iterator[OddOption]:
    if not table.logging and table.tablespace_id is not None:
        yield OddOption(table, "it is made with logging, as every table with a tablespace", "logging")
    if table.max_rows is None:
        return
    if table.max_rows > MAX_ROWS_MOST:
        why = f"MAX_ROWS={table.max_rows} is taken as {MAX_ROWS_MOST}, the most that there is"
        yield OddOption(table, why, "max_rows_most")
    if has_own_balance(table, plan.version):
        stronger = "FULLY_REPLICATED" if table.fully_replicated else "PARTITION_BALANCE"
        yield OddOption(
            table,
            f"MAX_ROWS={table.max_rows} means nothing beside {stronger}, and new node groups get no rows "
            "of the table online, as REORGANIZE PARTITION refuses tables with MAX_ROWS",
            "max_rows",
        )


def has_own_balance(table: Table, version: NdbVersion) -> bool:
    """Whether something stronger than MAX_ROWS says how many partitions a table has."""
    known = features(version)
    told = table.partition_balance is not PartitionBalance.FOR_RP_BY_LDM and known.partition_balance
    return told or (table.fully_replicated and known.read_backup)


def _of_columns(plan: Plan, table: Table) -> Iterator[OddOption]:
    for column in table.columns:
        if column.storage == "disk" and column.column_format == "dynamic":
            why = "COLUMN_FORMAT DYNAMIC of a column on disk, which is made FIXED (warning 1478)"
            yield OddOption(table, why, "column_format", column.name)
        if column.type in _INLINE_ONLY and (column.blob_inline_bytes or column.blob_part_bytes):
            why = f"sizes of {column.type.upper()}, which has 256 bytes in the row and no parts"
            yield OddOption(table, why, "blob_sizes", column.name)
        most = _highest(column.type, unsigned=column.unsigned)
        if column.auto_increment and most is not None and (fetched := _prefetched(plan)) > most:
            why = (
                f"AUTO_INCREMENT of {column.type.upper()}, which ends at {most}, while an SQL node takes "
                f"{fetched} values at once ({_PREFETCHED}): the second one to insert has none left"
            )
            yield OddOption(table, why, "auto_increment", column.name)


def _highest(kind: str, *, unsigned: bool) -> int | None:
    """The highest whole number of a type; None: it has no whole numbers."""
    size = COLUMN_TYPES[kind].integer_bytes
    return None if not size else 2 ** (8 * size - (0 if unsigned else 1)) - 1


def _prefetched(plan: Plan) -> int:
    """The most values of AUTO_INCREMENT that one of several SQL nodes takes at once; 0: one is alone."""
    if len(plan.sql_nodes) < 2:
        return 0
    return max(in_effect(node.options, _PREFETCHED, plan.version) for node in plan.sql_nodes)
