"""The tables that one CREATE TABLE makes, and where the fragments of each go."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.base.frozen import FrozenMap
from ndbplan.estimate.stored import memory, placements
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Index, PartitionBalance, Table


def _table(name: str = "t", **changes: Any) -> Table:
    columns = (Column(name="a", type="int", nullable=False), Column(name="b", type="int", nullable=False))
    unique = (Index(name="b", columns=("b",), kind="unique_hash"),)
    return Table(
        id=name, database="d", name=name, columns=columns, primary_key=("a",), indexes=unique, rows=10_000
    ).model_copy(update=changes)


def _plan(*tables: Table, version: str = "8.4", nodes: int = 4, **parameters: int) -> Plan:
    return Plan(
        ndb_version=version,
        hosts=(Host(id="h", hostname="h", memory_bytes=2**34, cores=8),),
        processes=tuple(DataNode(id=f"n{i}", node_id=1 + i, host_id="h") for i in range(nodes)),
        parameters=ClusterParameters(data_node=FrozenMap({"NoOfReplicas": 2, **parameters})),
        tables=tables,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"partitions": 6},
        {"max_rows": 200_000_000},
        {"partition_balance": PartitionBalance.FOR_RA_BY_NODE},
        {"partition_balance": PartitionBalance.FOR_RA_BY_LDM_X_3},
        {"fully_replicated": True},
    ],
)
def test_a_unique_index_has_as_many_partitions_and_copies_as_its_table(changes: dict[str, Any]) -> None:
    # Dbdict::createIndex_toCreateTable: FragmentCount, PartitionCount and PartitionBalance are inherited.
    own, unique = placements(_plan(_table(**changes)))["t"]
    assert (unique.fragments, unique.partitions) == (own.fragments, own.partitions)
    (default, unique_of_default) = placements(_plan(_table()))["t"]
    assert default.fragments == unique_of_default.fragments


@pytest.mark.parametrize(("version", "fragments"), [("7.3", 4), ("7.4", 6), ("7.6", 6)])
def test_since_when_a_unique_index_inherits_the_partitions(version: str, fragments: int) -> None:
    # "Inherit fragment count" of Dbdict is in the text of NDB 7.4 that the 5.7 server came with.
    _, unique = placements(_plan(_table(partitions=6), version=version))["t"]
    assert unique.fragments == fragments


def test_the_unique_index_of_a_fully_replicated_table_is_in_every_node_group() -> None:
    # NdbDictInterface::createIndex sends FullyReplicatedFlag of the table with the index.
    once, everywhere = (memory(_plan(_table(fully_replicated=full))) for full in (False, True))
    assert everywhere.tables[0].unique_index_bytes.value == pytest.approx(
        once.tables[0].unique_index_bytes.value, rel=0.5
    )
    groups = {n.node_id: n.data_memory_bytes.value for n in everywhere.nodes}
    assert len(set(groups.values())) == 1
    assert groups[1] > 1.5 * once.nodes[0].data_memory_bytes.value


def test_a_unique_index_stays_where_it_was_when_its_table_was_reorganised() -> None:
    own, unique = placements(_plan(_table(grown_from=(2,)), MaxNoOfExecutionThreads=2))["t"]
    assert own.node_group.tolist() == [0, 0, 1, 1]
    assert unique.node_group.tolist() == [0, 0]


def test_tables_of_blob_parts_take_instance_keys_too() -> None:
    blob = Column(name="c", type="blob")
    plain, with_blob = _table("x", indexes=()), _table("x", indexes=())
    with_blob = with_blob.model_copy(update={"columns": (*with_blob.columns, blob)})
    keys = []
    for first in (plain, with_blob):
        plan = _plan(first, _table("y", indexes=()), nodes=2, ClassicFragmentation=0, PartitionsPerNode=3)
        keys.append(placements(plan)["y"][0].log_part_id.tolist())
    # SYSTAB_0, x and its parts: six keys each.
    assert keys[0] == list(range(12, 18))
    assert keys[1] == list(range(18, 24))
