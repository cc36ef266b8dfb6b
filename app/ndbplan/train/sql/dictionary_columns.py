"""Rows of ndbinfo that tell of columns: of tables, of indexes, and of blobs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ndbplan.estimate.storage.rows import stored_column
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.train.api_columns import ApiColumn, columns_of, columns_of_parts
from ndbplan.train.live import LiveCluster
from ndbplan.train.object_ids import Thing, blob_columns
from ndbplan.train.sql.dictionary import indexes_of, tables_of
from ndbplan.train.system_tables import system_objects

Row = dict[str, Any]
_UNIQUE_INDEX, _ORDERED_INDEX = 3, 6
"""Numbers of kinds, as dict_obj_types has them."""


def dictionary_columns(cluster: LiveCluster) -> Iterator[Row]:
    """The columns of tables and of the parts of their blobs."""
    version = cluster.plan.version
    for one in system_objects(cluster.plan):
        yield from _columns(one.number, one.columns)
    for number, table in tables_of(cluster):
        yield from _columns(number, columns_of(table, version, number))
        for _, column in blob_columns(table):
            own = cluster.state.ids[Thing("blob", table.id, column.name)]
            yield from _columns(own, columns_of_parts(table, column, version, number))


def _columns(number: int, columns: Iterable[ApiColumn]) -> Iterator[Row]:
    for place, one in enumerate(columns):
        yield {
            "table_id": number, "column_id": place, "name": one.name, "column_type": one.type,
            "default_value": one.default, "nullable": "NULL" if one.nullable else "NOT NULL",
            "array_type": one.array, "storage_type": one.storage, "primary_key": int(one.in_key),
            "partition_key": int(one.in_distribution), "dynamic": int(one.dynamic),
            "auto_inc": int(one.auto_increment),
        }  # fmt: skip


def index_columns(cluster: LiveCluster) -> Iterator[Row]:
    """The columns of each index."""
    own = {one.name: one for one in system_objects(cluster.plan) if one.told}
    for index in system_objects(cluster.plan):
        if index.of and index.parent in own:
            database, _, name = index.parent.split("/")
            yield {
                "table_id": own[index.parent].number, "database_name": database, "table_name": name,
                "index_object_id": index.number, "index_name": index.name.rpartition("/")[2],
                "index_type": _ORDERED_INDEX, "status": "Retrieved", "columns": ",".join(index.of),
            }  # fmt: skip
    for one in indexes_of(cluster):
        yield {
            "table_id": one.table_number, "database_name": one.table.database, "table_name": one.table.name,
            "index_object_id": one.number, "index_name": one.name,
            "index_type": _UNIQUE_INDEX if one.is_unique else _ORDERED_INDEX, "status": "Retrieved",
            "columns": ",".join(one.columns),
        }  # fmt: skip


def blobs(cluster: LiveCluster) -> Iterator[Row]:
    """Columns of which a part lies in a table of its own."""
    version = cluster.plan.version
    for one in system_objects(cluster.plan):
        for place, held in enumerate(one.columns):
            if held.parts:
                database, _, name = one.name.split("/")
                inline, part, stripe = held.type.partition("(")[2].rstrip(")").split(",")
                yield {
                    "table_id": one.number, "database_name": database, "table_name": name,
                    "column_id": place, "column_name": held.name, "inline_size": int(inline),
                    "part_size": int(part), "stripe_size": int(stripe), "blob_table_name": held.parts,
                }  # fmt: skip
    for number, table in tables_of(cluster):
        for place, column in enumerate(table.columns):
            if COLUMN_TYPES[column.type].is_blob:
                stored = stored_column(column, version).type
                has_parts = bool(stored.part_bytes)
                yield {
                    "table_id": number, "database_name": table.database, "table_name": table.name,
                    "column_id": place, "column_name": column.name, "inline_size": stored.inline_bytes,
                    "part_size": stored.part_bytes, "stripe_size": 0,
                    "blob_table_name": f"NDB$BLOB_{number}_{place}" if has_parts else "",
                }  # fmt: skip
