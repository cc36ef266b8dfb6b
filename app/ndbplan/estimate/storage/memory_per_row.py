"""How much room one more row takes: DataMemory and IndexMemory of one replica.

    memory_per_row(table, None, cluster, around, rules)       # (bytes of DataMemory, bytes of IndexMemory)

Pages are filled by whole fragments, so that a row takes what one of very many takes on average.

Source: engine model 2.1 to 2.6, by the formulas of `table_memory`.
"""

from __future__ import annotations

from itertools import chain

from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.estimate.storage.distribution import Surroundings, distribute_rows
from ndbplan.estimate.storage.key_values import key_values
from ndbplan.estimate.storage.memory import data_memory_kinds
from ndbplan.estimate.storage.placement import place
from ndbplan.estimate.storage.rows import unique_tables
from ndbplan.estimate.storage.table_memory import Rules, table_memory
from ndbplan.ndb.features import features
from ndbplan.ndb.placement.fragment_counts import Cluster
from ndbplan.plan.tables import Table

_SAMPLE_ROWS = 1_000_000
"""Rows of a table of which a row's share of memory is asked: enough that pages begun do not matter."""


@kept_by_identity(size=512)
def memory_per_row(
    table: Table, unique_index: int | None, cluster: Cluster, around: Surroundings, rules: Rules
) -> tuple[float, float]:
    """(DataMemory, IndexMemory) of a row, ordered indexes and blob parts included; of an entry of a unique
    index where one is named."""
    unique = [index for index in table.indexes if index.kind != "ordered"]
    others = tuple(index for index in table.indexes if index.kind == "ordered")
    # UNIQUE without USING HASH has an ordered index too, which lies with the rows.
    kept = tuple(index.model_copy(update={"kind": "ordered"}) for index in unique if index.kind == "unique")
    alone = table.model_copy(update={"indexes": (*others, *kept)})
    own = _of_sample(alone, cluster, around, rules)
    if unique_index is None:
        return own
    entries = unique_tables(table, cluster.version)[unique_index].rows_fraction
    index = unique[unique_index].model_copy(update={"kind": "unique_hash"})
    with_it = alone.model_copy(update={"indexes": (*alone.indexes, index)})
    both = _of_sample(with_it, cluster, around, rules)
    return (both[0] - own[0]) / entries, (both[1] - own[1]) / entries


def _of_sample(table: Table, cluster: Cluster, around: Surroundings, rules: Rules) -> tuple[float, float]:
    sample = table.model_copy(update={"rows": _SAMPLE_ROWS, "partition_rows": ()})
    return _worked_out(_the_same(sample), cluster, around, rules)


@kept_by_value(512)
def _the_same(sample: Table) -> Table:
    """One object for a table however many rows it has in the months and changes that are looked at."""
    return sample


@kept_by_identity(size=512)
def _worked_out(sample: Table, cluster: Cluster, around: Surroundings, rules: Rules) -> tuple[float, float]:
    placed, *unique = place((sample,), cluster)[sample.id]
    where = distribute_rows(sample, placed, around, key_values((sample,), sample))
    (sizes,) = table_memory([(sample, where, rules, *unique)])
    in_data = data_memory_kinds(features(cluster.version).index_memory_joined)
    group_of = {node_id: i for i, group in enumerate(cluster.groups) for node_id in group}
    groups = [group_of[node_id] for node_id in sorted(chain(*cluster.groups))]
    rows = max(1, sizes.memory.replicas) * _SAMPLE_ROWS
    data = sizes.by_group[in_data].sum(axis=0).tolist()
    index = sizes.by_group[[not inside for inside in in_data]].sum(axis=0).tolist()
    return sum(data[i] for i in groups) / rows, sum(index[i] for i in groups) / rows
