"""Rows of ndbinfo that tell of the dictionary: tables, their columns and fragments, files of disk data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ndbplan.estimate.load.disk_data import reads_backup
from ndbplan.estimate.storage.fragments import Partition
from ndbplan.estimate.stored import distribute
from ndbplan.plan.tables import PartitionBalance, Table
from ndbplan.train.api_columns import balance_of, part_row_bytes, row_bytes
from ndbplan.train.live import LiveCluster
from ndbplan.train.object_ids import Thing, blob_columns, first_map, things_of
from ndbplan.train.schema import partitions_of
from ndbplan.train.space import file_uses
from ndbplan.train.sql.foreign_keys import ForeignKey, numbered_keys, table_of
from ndbplan.train.sql.objects import Indexed, indexes, numbered, supporting
from ndbplan.train.system_tables import SystemObject, system_objects, system_partitions

Row = dict[str, Any]


def tables_of(cluster: LiveCluster) -> list[tuple[int, Table]]:
    return numbered(cluster.plan, cluster.state.ids)


def indexes_of(cluster: LiveCluster) -> Iterator[Indexed]:
    return indexes(cluster.plan, cluster.state.ids)


def partitions(cluster: LiveCluster, table: Table) -> list[Partition]:
    """Fragments of a table with the rows that they have now."""
    return partitions_of(cluster.session.simulation, cluster.plan_of(table), table)


def _read_backup(cluster: LiveCluster, table: Table) -> int:
    return int(reads_backup(table, cluster.plan.version))


def _on_disk(table: Table) -> bool:
    return any(column.storage == "disk" for column in table.columns)


def _tables_in_fragments(cluster: LiveCluster) -> Iterator[tuple[int, list[Partition]]]:
    """Numbers of all that has rows, hidden tables too, and their fragments."""
    of_system = [part for _, part in system_partitions(cluster.plan)]
    for one in system_objects(cluster.plan):
        if one.is_table:
            yield one.number, of_system
    hidden: dict[int, list[int]] = {}
    for blob in blob_tables(cluster):
        hidden.setdefault(blob.table_number, []).append(blob.number)
    for index in indexes_of(cluster):
        if index.is_unique:
            hidden.setdefault(index.table_number, []).append(index.number)
    for number, table in tables_of(cluster):
        parts = partitions(cluster, table)
        for own in (number, *hidden.get(number, ())):
            yield own, parts


def table_fragments(cluster: LiveCluster) -> Iterator[Row]:
    """Where each fragment is, as the master says it [8.4.8]."""
    alive = cluster.state.alive()
    up_now = set(alive)
    for number, parts in _tables_in_fragments(cluster) if alive else ():
        for part in parts:
            there = [part.primary, *(i for i in part.nodes if i != part.primary)]
            up = [i for i in there if i in up_now]
            backups = [*up[1:], 0, 0, 0]
            yield {
                "node_id": cluster.state.president, "table_id": number, "partition_id": part.partition,
                "fragment_id": part.fragment, "log_part_id": part.log_part,
                "no_of_replicas": len(there), "current_primary": up[0] if up else 0,
                "preferred_primary": part.primary, "current_first_backup": backups[0],
                "current_second_backup": backups[1], "current_third_backup": backups[2],
                "num_alive_replicas": len(up), "num_dead_replicas": len(there) - len(up),
                "num_lcp_replicas": len(up) if cluster.state.lcp_writes else 0,
            }  # fmt: skip


def table_distribution_status(cluster: LiveCluster) -> Iterator[Row]:
    """Whether a table or an index is copied, written or moved, as the master says it [8.4.8]."""
    if not cluster.state.alive():
        return
    moving = cluster.session.simulation.is_moving
    parts: dict[int, list[Partition]] = {}
    logged, moved = dict[int, bool](), dict[int, bool]()
    of_system = [part for _, part in system_partitions(cluster.plan)]
    for one in system_objects(cluster.plan):
        parts[one.number], logged[one.number], moved[one.number] = of_system, True, False
    for _, table in tables_of(cluster):
        found, moves = partitions(cluster, table), moving and table.id in cluster.state.moved
        for own in (cluster.state.ids[one] for one in things_of(table) if one.kind != "key"):
            parts[own], logged[own], moved[own] = found, table.logging, moves
    for number, found in parts.items():
        yield {
            "node_id": cluster.state.president, "table_id": number, "tab_copy_status": "IDLE",
            "tab_update_status": "IDLE",
            "tab_lcp_status": "ACTIVE" if cluster.state.lcp_writes else "COMPLETED",
            "tab_status": "ACTIVE", "tab_storage": "NORMAL" if logged[number] else "NOLOGGING",
            "tab_partitions": len({part.partition for part in found}), "tab_fragments": len(found),
            "is_reorg_ongoing": int(moved[number]),
        }  # fmt: skip


def table_info(cluster: LiveCluster) -> Iterator[Row]:
    """What a table was made with; parts of blobs have rows of their own."""
    of_map = cluster.state.ids[first_map(cluster.state.ids)]
    common = {
        "row_contains_gci": 1, "row_contains_checksum": 1, "create_gci": 2,
        "read_backup": 0, "fully_replicated": 0, "storage_type": "MEMORY",
        "partition_balance": PartitionBalance.FOR_RP_BY_LDM.value,
    }  # fmt: skip
    for one in system_objects(cluster.plan):
        if one.is_table:
            read_backup = one.told.get("read_backup", 0)
            own = {"table_id": one.number, "read_backup": read_backup}
            yield {**common, **own, "logged_table": 1, "hashmap_id": of_map}
    for number, table in tables_of(cluster):
        name = distribute(cluster.plan_of(table), table).hash_map_name
        made = {
            "logged_table": int(table.logging), "read_backup": _read_backup(cluster, table),
            "fully_replicated": int(table.fully_replicated),
            "storage_type": "DISK" if _on_disk(table) else "MEMORY",
            "hashmap_id": cluster.state.ids.get(Thing("map", name or ""), 0),
            "partition_balance": balance_of(table),
        }  # fmt: skip
        yield {**common, **made, "table_id": number}
        for _, column in blob_columns(table):
            yield {**common, **made, "table_id": cluster.state.ids[Thing("blob", table.id, column.name)]}


def dictionary_tables(cluster: LiveCluster) -> Iterator[Row]:
    """The same, with keys and fragments."""
    of_system = [part for _, part in system_partitions(cluster.plan)]
    for one in system_objects(cluster.plan):
        if one.told:
            yield _told(one, of_system, first_map(cluster.state.ids).owner)
    for number, table in tables_of(cluster):
        plan = cluster.plan_of(table)
        found = partitions(cluster, table)
        yield {
            "table_id": number, "database_name": table.database, "table_name": table.name,
            "status": "Retrieved", "attributes": len(table.columns) + (not table.primary_key),
            "primary_key_cols": len(table.primary_key) or 1,
            "primary_key": ",".join(table.primary_key) or "$PK",
            "storage": "disk" if _on_disk(table) else "default", "logging": int(table.logging),
            "dynamic": 1, "read_backup": _read_backup(cluster, table),
            "fully_replicated": int(table.fully_replicated), "checksum": 1,
            "row_size": row_bytes(table, plan.version),
            "max_rows": table.max_rows or 0, "fragment_type": "HashMapPartition",
            "hash_map": distribute(plan, table).hash_map_name or "", "fragments": len(found),
            "partitions": len({part.partition for part in found}),
            "partition_balance": balance_of(table), "contains_GCI": 1,
            "single_user_mode": "locked", "force_var_part": 1, "extra_metadata_version": "SDI",
            "extra_metadata": None,
        }  # fmt: skip
        yield from _told_of_parts(cluster, number, table, len(found))


def _told(one: SystemObject, parts: list[Partition], first_map: str) -> Row:
    database, _, name = one.name.split("/")
    return {
        "table_id": one.number, "database_name": database, "table_name": name, "status": "Retrieved",
        "primary_key_cols": len(one.told["primary_key"].split(",")), "storage": "default", "logging": 1,
        "checksum": 1, "fragment_type": "HashMapPartition", "hash_map": first_map,
        "fragments": len(parts), "partitions": len(parts), "partition_balance": "FOR_RP_BY_LDM",
        "contains_GCI": 1, "extra_metadata": None, **one.told,
    }  # fmt: skip


def _told_of_parts(cluster: LiveCluster, number: int, table: Table, fragments: int) -> Iterator[Row]:
    """The hidden tables of its blobs: their key is that of the table and the number of the part [8.4.8]."""
    key = [*(table.primary_key or ("$PK",)), "NDB$PART"]
    for place, column in blob_columns(table):
        yield {
            "table_id": cluster.state.ids[Thing("blob", table.id, column.name)],
            "database_name": table.database,
            "table_name": f"NDB$BLOB_{number}_{place}", "status": "Retrieved", "attributes": len(key) + 2,
            "primary_key_cols": len(key), "primary_key": ",".join(key), "storage": "default",
            "logging": int(table.logging), "dynamic": 0, "read_backup": _read_backup(cluster, table),
            "fully_replicated": int(table.fully_replicated), "checksum": 1,
            "row_size": part_row_bytes(table, column, cluster.plan.version),
            "fragment_type": "HashMapPartition",
            "hash_map": distribute(cluster.plan_of(table), table).hash_map_name or "",
            "fragments": fragments, "partitions": fragments,
            "partition_balance": balance_of(table), "contains_GCI": 1,
            "single_user_mode": "locked", "force_var_part": 0, "extra_metadata_version": None,
            "extra_metadata": None,
        }  # fmt: skip


def hash_maps(cluster: LiveCluster) -> Iterator[Row]:
    """The maps that tables lie by, or lay by."""
    for number, name in sorted((n, one.owner) for one, n in cluster.state.ids.items() if one.kind == "map"):
        yield {"id": number, "version": 1, "state": 4, "fq_name": name}


class BlobTable(NamedTuple):
    """The hidden table of the parts of a column, with its number."""

    number: int
    table_number: int
    database: str
    column: str
    name: str
    """`NDB$BLOB_10_3`: numbers of the table and of the column."""


def blob_tables(cluster: LiveCluster) -> Iterator[BlobTable]:
    """Those of BLOB, TEXT and JSON columns."""
    for own, table in tables_of(cluster):
        for place, column in blob_columns(table):
            number = cluster.state.ids[Thing("blob", table.id, column.name)]
            yield BlobTable(number, own, table.database, column.name, f"NDB$BLOB_{own}_{place}")


class _Object(NamedTuple):
    """Something that the dictionary knows."""

    kind: int
    number: int
    name: str
    parent_kind: int = 0
    parent: int = 0


_SYSTEM_TABLE, _USER_TABLE, _UNIQUE_INDEX, _ORDERED_INDEX, _HASH_MAP, _FOREIGN_KEY = 1, 2, 3, 6, 24, 25
_HASH_TRIGGER, _INDEX_TRIGGER = 11, 18
_OF_DISK_DATA = {
    "Tablespace": (20, 0),
    "Log file group": (21, 0),
    "Data file": (22, 20),
    "Undo file": (23, 21),
}
"""Numbers of kinds, as dict_obj_types has them; of disk data also what they belong to."""
_KINDS = {"System table": _SYSTEM_TABLE, "User table": _USER_TABLE, "Ordered index": _ORDERED_INDEX}


def _objects(cluster: LiveCluster) -> Iterator[_Object]:
    """Each index has a trigger that keeps it, which has a number of its own kind [8.4.8]."""
    kept = 0
    for one in _held(cluster):
        yield one
        if one.kind in (_UNIQUE_INDEX, _ORDERED_INDEX):
            kind, how = (_HASH_TRIGGER, "UI") if one.kind == _UNIQUE_INDEX else (_INDEX_TRIGGER, "CUSTOM")
            yield _Object(kind, kept, f"NDB$INDEX_{one.number}_{how}", one.kind, one.number)
            kept += 1


def _held(cluster: LiveCluster) -> Iterator[_Object]:
    own = system_objects(cluster.plan)
    numbers = {one.name: one.number for one in own}
    for thing in own:
        above = (0, 0) if thing.parent is None else (_USER_TABLE, numbers[thing.parent])
        yield _Object(_KINDS[thing.type], thing.number, thing.name, *above)
    for number, table in tables_of(cluster):
        yield _Object(_USER_TABLE, number, f"{table.database}/def/{table.name}")
    for one in indexes_of(cluster):
        kind = _UNIQUE_INDEX if one.is_unique else _ORDERED_INDEX
        yield _Object(kind, one.number, one.full_name, _USER_TABLE, one.table_number)
    for blob in blob_tables(cluster):
        name = f"{blob.database}/def/{blob.name}"
        yield _Object(_USER_TABLE, blob.number, name, _USER_TABLE, blob.table_number)
    for row in hash_maps(cluster):
        yield _Object(_HASH_MAP, row["id"], row["fq_name"])
    for row in foreign_keys(cluster):
        yield _Object(_FOREIGN_KEY, row["object_id"], row["name"])
    for row in files(cluster):
        kind, parent_kind = _OF_DISK_DATA[row["type"]]
        yield _Object(kind, row["id"], row["name"], parent_kind, row["parent"])


def foreign_keys(cluster: LiveCluster) -> Iterator[Row]:
    """Foreign keys; the product swaps the names of the two indexes [8.4.8]."""
    plan, ids = cluster.plan, cluster.state.ids
    numbers = {table.id: number for number, table in tables_of(cluster)}
    for _, child in tables_of(cluster):
        for number, key in numbered_keys(plan, child, ids):
            parent = table_of(plan, key.parent)
            if parent is not None:
                yield _foreign_key(cluster, key, number, (parent, child), numbers)


def _foreign_key(
    cluster: LiveCluster, key: ForeignKey, number: int, tables: tuple[Table, Table], numbers: dict[str, int]
) -> Row:
    parent, child = tables
    of_parent, of_child = (
        "PK" if index is None else index.full_name
        for index in (
            supporting(cluster.plan, cluster.state.ids, table, columns)
            for table, columns in ((parent, key.referenced), (child, key.columns))
        )
    )  # fmt: skip
    return {
        "object_id": number, "name": f"{numbers[parent.id]}/{numbers[child.id]}/{key.name}",
        "parent_table": f"{parent.database}/def/{parent.name}",
        "parent_columns": _places(parent, key.referenced),
        "child_table": f"{child.database}/def/{child.name}", "child_columns": _places(child, key.columns),
        "parent_index": of_child, "child_index": of_parent,
        "on_update_action": key.on_update.title(), "on_delete_action": key.on_delete.title(),
    }  # fmt: skip


def _places(table: Table, names: Sequence[str]) -> str:
    """Numbers of columns."""
    own = [column.name.lower() for column in table.columns]
    return ",".join(str(own.index(name.lower())) for name in names if name.lower() in own)


def dict_obj_info(cluster: LiveCluster) -> Iterator[Row]:
    """Tables, indexes and their triggers, hash maps, foreign keys without their triggers, disk data."""
    for one in _objects(cluster):
        yield {
            "type": one.kind, "id": one.number, "version": 1, "state": 4,
            "parent_obj_type": one.parent_kind, "parent_obj_id": one.parent, "fq_name": one.name,
        }  # fmt: skip


def dict_obj_tree(cluster: LiveCluster) -> Iterator[Row]:
    """The same as a tree: what belongs to what."""
    objects = list(_objects(cluster))
    named = {(one.kind, one.number): one for one in objects}
    for one in objects:
        above, line = named.get((one.parent_kind, one.parent)), [one]
        while (parent := named.get((line[0].parent_kind, line[0].parent))) is not None:
            line.insert(0, parent)
        yield {
            "type": one.kind, "id": one.number, "name": one.name,
            "parent_type": above.kind if above else None, "parent_id": above.number if above else None,
            "parent_name": above.name if above else None, "root_type": line[0].kind,
            "root_id": line[0].number, "root_name": line[0].name, "level": len(line),
            "path": " -> ".join(each.name for each in line),
            "indented_name": f"{'  ' * (len(line) - 1)}{'-> ' * (len(line) > 1)}{one.name}",
        }  # fmt: skip


_NO_GCI = 2**32 - 1
"""last_replica_gci of a replica that lives [8.4.8]."""


def table_replicas(cluster: LiveCluster) -> Iterator[Row]:
    """Each replica of each fragment, with the checkpoints that it is in, as the master says it [8.4.8]."""
    alive, state = cluster.state.alive(), cluster.state
    cluster_state = cluster.session.simulation.state.cluster
    lcp, gci = int(cluster_state.lcp_number), max(0, state.gci)
    for node_id in alive[:1]:
        for number, parts in _tables_in_fragments(cluster):
            for part in parts:
                for replica in part.nodes:
                    lives = replica in alive
                    yield {
                        "node_id": node_id, "table_id": number, "fragment_id": part.fragment,
                        "initial_gci": 2, "replica_node_id": replica,
                        "is_lcp_ongoing": int(lives and bool(state.lcp_writes)),
                        "num_crashed_replicas": int(not lives), "last_max_gci_started": gci,
                        "last_max_gci_completed": gci, "last_lcp_id": lcp, "prev_lcp_id": max(0, lcp - 1),
                        "prev_max_gci_started": max(0, gci - 1),
                        "prev_max_gci_completed": max(0, gci - 1), "last_create_gci": 2,
                        "last_replica_gci": _NO_GCI if lives else gci, "is_replica_alive": int(lives),
                    }  # fmt: skip


def files(cluster: LiveCluster) -> Iterator[Row]:
    """Log file groups and tablespaces, then the files that they consist of [8.4.8]."""
    state, ids = cluster.state, cluster.state.ids
    none = dict.fromkeys(
        ("free_extents", "total_extents", "extent_size", "initial_size", "maximum_size", "autoextend_size")
    )
    parents = {group.name: ids[Thing("group", group.id)] for group in cluster.plan.logfile_groups}
    spaces = {
        space.name: ids[Thing("space", space.id)] for space in (*cluster.plan.tablespaces, *state.emptied)
    }
    for kind, named in (("Log file group", parents), ("Tablespace", spaces)):
        for name, number in named.items():
            yield {"id": number, "type": kind, "name": name, "parent": 0, "parent_name": None, **none}
    owners = {one.name: one.id for one in cluster.plan.logfile_groups}
    owners |= {one.name: one.id for one in cluster.plan.tablespaces}
    for use in file_uses(cluster):
        of_kind = parents if use.is_undo else spaces
        yield {
            "id": ids[Thing("undo" if use.is_undo else "data", owners[use.parent], use.name)],
            "type": "Undo file" if use.is_undo else "Data file", "name": use.name,
            "parent": of_kind[use.parent], "parent_name": use.parent, "free_extents": use.free_extents or 0,
            "total_extents": use.extents, "extent_size": use.extent_bytes,
            "initial_size": use.size_bytes, "maximum_size": use.size_bytes, "autoextend_size": 0,
        }  # fmt: skip
