"""Rows of ndbinfo.memory_per_fragment: what tables, their indexes and parts of blobs take in each fragment.

Of pages of fixed size: what is free is what else would fit into them, without their heads [7.4.10, 8.4.8].
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.storage.fragments import Partition
from ndbplan.estimate.storage.index_keys import index_keys
from ndbplan.estimate.storage.rows import RowLayout, blob_parts, row_layout, unique_tables
from ndbplan.estimate.storage.table_memory import Rules, entries_of_nodes, rules_with
from ndbplan.ndb.hash_index import hash_index_pages
from ndbplan.ndb.rows import FIXED_PAGE_WORDS, PAGE_BYTES, WORD_BYTES
from ndbplan.plan.tables import Table
from ndbplan.train.live import LiveCluster
from ndbplan.train.schema import partitions_of
from ndbplan.train.sql.dictionary import blob_tables
from ndbplan.train.sql.objects import Indexed, indexes, numbered
from ndbplan.train.system_tables import SystemObject, in_fragments

Row = dict[str, Any]
_NODE = "ordered_index_node_bytes"


class _Kind(NamedTuple):
    """A table of the data nodes, as its fragments are told of."""

    name: str
    parent: str | None
    type: str
    number: int


class Held(NamedTuple):
    """Elements of one fragment: how many, how large, how many in a page, and pages of each kind in bytes."""

    elements: int
    size: int
    of_page: int
    fixed_bytes: int
    variable_bytes: int = 0
    variable_used: float = 0.0
    hash_bytes: int = 0


def memory_per_fragment(cluster: LiveCluster) -> Iterator[Row]:
    """The fragments of tables, unique and ordered indexes and blob parts on data nodes that run."""
    plan, alive = cluster.plan, set(cluster.state.alive())
    rules = rules_with(plan.version, constants_of(plan))
    node_bytes = int(constants_of(plan).constant(_NODE).value)
    of_table: dict[int, list[Indexed]] = {}
    for index in indexes(plan, cluster.state.ids):
        of_table.setdefault(index.table_number, []).append(index)
    parts_of = {(own.table_number, own.column): own for own in blob_tables(cluster)}
    found = []
    for one, place, part in in_fragments(plan):
        kind = _Kind(one.name, one.parent, one.type, one.number)
        own = _of_system(one, place, rules)
        found += [_row(kind, part, node_id, own) for node_id in part.nodes if node_id in alive]
    for number, table in numbered(plan, cluster.state.ids):
        parts = partitions_of(cluster.session.simulation, cluster.plan_of(table), table)
        held: list[tuple[_Kind, list[Held]]] = [
            (_Kind(f"{table.database}/def/{table.name}", None, "User table", number),
             [_of_table(row_layout(table, plan.version), rules, part) for part in parts])
        ]  # fmt: skip
        full = f"{table.database}/def/{table.name}"
        for blob in blob_parts(table, plan.version):
            hidden = parts_of[number, blob.column]
            kind = _Kind(f"{table.database}/def/{hidden.name}", full, "User table", hidden.number)
            held.append(
                (kind, [_hidden(blob.layout, rules, round(p.rows * blob.parts_per_row)) for p in parts])
            )
        held += _indexes(table, of_table.get(number, []), parts, rules, node_bytes)
        for kind, rows in held:
            for part, held_there in zip(parts, rows, strict=True):
                found += [_row(kind, part, node_id, held_there) for node_id in part.nodes if node_id in alive]
    yield from sorted(found, key=lambda row: (row["node_id"], row["table_id"], row["fragment_num"]))


def _of_system(one: SystemObject, place: int, rules: Rules) -> Held:
    of_page, rows = FIXED_PAGE_WORDS * WORD_BYTES // one.element_bytes, one.rows_of(place)
    variable = one.variable_bytes_of(place)
    return Held(
        rows, one.element_bytes, of_page, -(-rows // of_page) * PAGE_BYTES,
        -(-variable // PAGE_BYTES) * PAGE_BYTES, variable,
        one.hash_pages_of(place) * rules.hash_index.page_bytes,
    )  # fmt: skip


def free_elements(one: Held) -> int:
    """How many more would fit into the pages that it has."""
    return max(0, one.fixed_bytes // PAGE_BYTES * one.of_page - one.elements)


def _row(kind: _Kind, part: Partition, node_id: int, one: Held) -> Row:
    free = free_elements(one)
    return {
        "fq_name": kind.name, "parent_fq_name": kind.parent, "type": kind.type, "table_id": kind.number,
        "node_id": node_id, "block_instance": part.ldm, "fragment_num": part.fragment,
        "fixed_elem_alloc_bytes": one.fixed_bytes, "fixed_elem_free_bytes": free * one.size,
        "fixed_elem_size_bytes": one.size, "fixed_elem_count": one.elements, "fixed_elem_free_count": free,
        "var_elem_alloc_bytes": one.variable_bytes,
        "var_elem_free_bytes": round(max(0.0, one.variable_bytes - one.variable_used)),
        "var_elem_count": one.elements if one.variable_used else 0, "hash_index_alloc_bytes": one.hash_bytes,
    }  # fmt: skip


def _of_table(layout: RowLayout, rules: Rules, part: Partition) -> Held:
    used = part.rows * layout.variable_bytes
    return Held(part.rows, layout.fixed_bytes, layout.rows_per_fixed_page, part.fixed_bytes,
                 part.variable_bytes, used, _hash_bytes(rules, part.rows))  # fmt: skip


def _hidden(layout: RowLayout, rules: Rules, count: int) -> Held:
    variable = ceil(layout.variable_pages(count)) if layout.rows_per_variable_page else 0
    fixed = layout.fixed_pages(count) * PAGE_BYTES
    return Held(count, layout.fixed_bytes, layout.rows_per_fixed_page, fixed, variable * PAGE_BYTES,
                 count * layout.variable_bytes, _hash_bytes(rules, count))  # fmt: skip


def _hash_bytes(rules: Rules, rows: int) -> int:
    """One page where there is no row [8.4.8, 7.4.10]."""
    part = rules.hash_index
    pages = round(float(hash_index_pages(np.array([float(rows)]))[0]) * part.row)
    return max(1, pages) * part.page_bytes


def _indexes(
    table: Table, listed: list[Indexed], parts: list[Partition], rules: Rules, node_bytes: int
) -> Iterator[tuple[_Kind, list[Held]]]:
    names = [index.name for index in table.indexes if index.kind != "unique_hash"]
    if table.primary_key and not table.primary_key_using_hash:
        names.append("PRIMARY")
    keys = dict(zip(names, index_keys(table, rules.version), strict=True))
    unique = {one.index.name: one for one in unique_tables(table, rules.version)}
    full = f"{table.database}/def/{table.name}"
    of_page = FIXED_PAGE_WORDS * WORD_BYTES // node_bytes
    for one in listed:
        if one.is_unique:
            hidden = unique[one.name.removesuffix("$unique")]
            whole, rows = sum(part.rows for part in parts) * hidden.rows_fraction, []
            for at in range(len(parts)):
                count = round(whole * (at + 1) / len(parts)) - round(whole * at / len(parts))
                rows.append(_hidden(hidden.layout, rules, count))
            yield _Kind(one.full_name, full, "Unique hash index", one.number), rows
            continue
        own = keys[one.name]
        counts = [ceil(part.rows / entries_of_nodes(own, rules, part.rows)) for part in parts]
        pages = [-(-count // of_page) * PAGE_BYTES for count in counts]
        yield (
            _Kind(one.full_name, full, "Ordered index", one.number),
            [Held(count, node_bytes, of_page, size) for count, size in zip(counts, pages, strict=True)],
        )
