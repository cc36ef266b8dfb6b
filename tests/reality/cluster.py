"""The cluster of NDB 7.4.10 that was run to be measured, for tests: data nodes on one host of two cores."""

from __future__ import annotations

from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Index, Table

VERSION = NdbVersion.parse("7.4.10")
MIB = 2**20


def _key(name: str = "a", kind: str = "int") -> Column:
    return Column(name=name, type=kind, nullable=False)


def _blob(name: str, size: float) -> Column:
    return Column(name=name, type="blob", average_bytes=size)


def _table(*columns: Column, rows: int = 0, indexes: tuple[Index, ...] = ()) -> Table:
    return Table(
        id="t1", database="test", name="t1", columns=columns, primary_key=(columns[0].name,),
        indexes=indexes, rows=rows,
    )  # fmt: skip


def table_t1(rows: int, payload_bytes: float = 640, ordered_indexes: int = 1) -> Table:
    """The table of most runs: a key, two small columns, a long one, ordered indexes beside the key's."""
    return _table(
        _key("a", "bigint"),
        Column(name="b", type="int"),
        Column(name="c", type="timestamp", nullable=False),
        Column(name="d", type="varbinary", length=1024, average_bytes=payload_bytes),
        rows=rows,
        indexes=tuple(Index(name=f"c{i}", columns=("c",)) for i in range(ordered_indexes)),
    )


def cluster_plan(table: Table, nodes: int = 2, **parameters: int) -> Plan:
    """Data nodes on one host with two cores, two LDM threads each, default disk write speeds."""
    disk = Disk(
        id="disk", name="disk", kind="nvme", capacity_bytes=10**12, sequential_read_bytes_per_s=1e9,
        sequential_write_bytes_per_s=1e9, random_read_iops=1e5, random_write_iops=1e5,
        sync_write_latency_s=1e-4,
    )  # fmt: skip
    host = Host(id="host", hostname="host", cores=2, memory_bytes=24 * 2**30, disks=(disk,))
    stated = {
        "NoOfReplicas": 2,
        "MaxNoOfExecutionThreads": 4,
        "DataMemory": 1536 * MIB,
        "IndexMemory": 128 * MIB,
    }
    return Plan(
        ndb_version="7.4.10",
        hosts=(host,),
        processes=tuple(DataNode(id=f"n{i}", node_id=i, host_id="host") for i in range(1, nodes + 1)),
        parameters=ClusterParameters(data_node={**stated, **parameters}),
        tables=(table,),
    )
