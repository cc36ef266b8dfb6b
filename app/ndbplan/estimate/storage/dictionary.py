"""What a schema takes of the dictionary of data nodes, and what the settings of a node leave it.

    room_in_dictionary(tables, placed, cluster, settings)      # tables and indexes, ordered indexes, columns

Tables, tables of blob parts and indexes share one set of numbers, whichever parameter they are counted by;
columns of indexes count beside those of tables, with one that the product adds to each; of ordered indexes
it is the fragments in an LDM thread that are limited. What is beyond is refused when it is created, in every
version: these are no hints.

Source: Configuration::calcSizeAlt in trees of 7.2 and 8.0 (two tables and nine attributes beside what is
stated; CFG_DICT_TABLE, CFG_DICT_ATTRIBUTE, CFG_TUX_FRAGMENT); NDB$TNODE and NDB$PK of indexes in
NdbDictionaryImpl.cpp. A running 7.4.10 with MaxNoOfTables=20, MaxNoOfOrderedIndexes=10 and
MaxNoOfUniqueHashIndexes=5 took 27 tables and refused the next with 707: 37 numbers, 10 of its own. A running
8.4.8 took 60 tables with MaxNoOfTables=40, and refused with 904 and 708 what MaxNoOfOrderedIndexes and
MaxNoOfAttributes do not hold. Columns of parts of blobs: ndbinfo.dictionary_tables of that cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.settings import NodeSettings
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.features import features
from ndbplan.ndb.parameters import parameter
from ndbplan.ndb.placement.fragment_counts import Cluster
from ndbplan.ndb.placement.fragments import Placement
from ndbplan.plan.tables import Table

_SHARED = ("MaxNoOfTables", "MaxNoOfOrderedIndexes", "MaxNoOfUniqueHashIndexes")
_ADDED_TABLES, _ADDED_ATTRIBUTES = 2, 9
"""What a data node has beside what is stated."""
_PART_COLUMNS = 3
"""Columns of a table of blob parts beside the key of its table."""


class DictionaryRoom(NamedTuple):
    """What the tables take of something, and how much of it there is; in units of the parameter."""

    parameter: str
    """The one to raise."""
    source: str
    """What makes the limit, in words."""
    what: str
    needed: int
    second: int
    """What a second copy of the largest table takes besides: ALTER TABLE with ALGORITHM=COPY makes one."""
    limit: int
    error: int
    """Of what is created beyond it."""

    @property
    def lacks(self) -> int:
        """By how much the parameter must be raised, for a second copy of the largest table too; 0: enough."""
        return max(0, self.needed + self.second - self.limit)


def objects_of(table: Table) -> int:
    """Numbers of the dictionary that a table takes: its own, those of blob parts and those of indexes."""
    return 1 + _blobs(table) + ordered_indexes_of(table) + _unique_indexes(table)


def ordered_indexes_of(table: Table) -> int:
    """Ordered indexes of a table; a primary key and a unique index have one, unless they are USING HASH."""
    primary = bool(table.primary_key) and not table.primary_key_using_hash
    return primary + sum(index.kind != "unique_hash" for index in table.indexes)


def attributes_of(table: Table) -> int:
    """Columns of a table, of its blob parts and of its indexes, hidden ones included."""
    key = len(table.primary_key) or 1
    own = len(table.columns) + (not table.primary_key)
    of_indexes = sum((1 + (index.kind == "unique")) * (len(index.columns) + 1) for index in table.indexes) + (
        key + 1 if table.primary_key and not table.primary_key_using_hash else 0
    )
    return own + of_indexes + _blobs(table) * (key + _PART_COLUMNS)


def room_in_dictionary(
    tables: tuple[Table, ...],
    placed: Mapping[str, tuple[Placement, ...]],
    cluster: Cluster,
    settings: NodeSettings,
) -> tuple[DictionaryRoom, ...]:
    """What tables take of the dictionary of nodes with these settings."""
    known = features(cluster.version)
    fragments, again = _ordered_fragments(tables, placed, cluster)
    replicas = cluster.replicas
    most = parameter("DB", "MaxNoOfTables", cluster.version).maximum or 0
    return (
        DictionaryRoom(
            "MaxNoOfTables",
            f"{', '.join(_SHARED[:-1])} and {_SHARED[-1]} together",
            "tables and indexes",
            sum(map(objects_of, tables)) + known.dictionary_of_system - _ADDED_TABLES,
            max(map(objects_of, tables), default=0),
            min(sum(settings.number(name) for name in _SHARED), most - _ADDED_TABLES),
            707,
        ),
        DictionaryRoom(
            "MaxNoOfOrderedIndexes",
            "MaxNoOfOrderedIndexes",
            "ordered indexes",
            -(-fragments // replicas),
            -(-again // replicas),
            settings.number("MaxNoOfOrderedIndexes"),
            904,
        ),
        DictionaryRoom(
            "MaxNoOfAttributes",
            "MaxNoOfAttributes",
            "columns of tables and indexes",
            sum(map(attributes_of, tables)) + known.attributes_of_system - _ADDED_ATTRIBUTES,
            max(map(attributes_of, tables), default=0),
            settings.number("MaxNoOfAttributes"),
            708,
        ),
    )


@kept_by_identity(16)
def _ordered_fragments(
    tables: tuple[Table, ...], placed: Mapping[str, tuple[Placement, ...]], cluster: Cluster
) -> tuple[int, int]:
    """Most fragments of ordered indexes in an LDM thread, and those of the table that has most of them."""
    import numpy as np

    own = features(cluster.version).ordered_indexes_of_system
    if not cluster.groups:
        counts = list(map(ordered_indexes_of, tables))
        return sum(counts) + own, max(counts, default=0)
    most = int(cluster.ldm_by_node.max())
    whole, largest = np.zeros((cluster.ldm_by_node.size, most + 1), dtype=np.int64), 0
    for table in tables:
        if count := ordered_indexes_of(table):
            one = np.zeros_like(whole)
            placement = placed[table.id][0]
            np.add.at(one, (placement.nodes, placement.ldm), count)
            whole += one
            largest = max(largest, int(one.max()))
    least = int(cluster.ldm_by_node[[node for group in cluster.groups for node in group]].min())
    system = own * cluster.replicas * -(-cluster.fragments_per_node // least)
    return int(whole.max()) + system, largest


def _blobs(table: Table) -> int:
    return sum(COLUMN_TYPES[column.type].has_parts for column in table.columns)


def _unique_indexes(table: Table) -> int:
    return sum(index.kind != "ordered" for index in table.indexes)
