"""Predictions for what a running NDB 7.4.10 answered: two to six data nodes on one host of two cores."""

from __future__ import annotations

from ndbplan.estimate.checkpoint import checkpoint
from ndbplan.estimate.redo import operation_redo
from ndbplan.estimate.reorganise import reorganise
from ndbplan.estimate.restart import restart
from ndbplan.estimate.row_cost import row_cost
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan import edits
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.plan.workloads import OperationKind
from reality.facts import Fact

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


def redo_bytes(fact: Fact) -> float:
    """Log bytes of one operation."""
    unique = _table(
        _key(),
        Column(name="u", type="int", nullable=False),
        indexes=(Index(name="u", columns=("u",), kind="unique"),),
    )
    plain = _table(_key(), Column(name="u", type="int", nullable=False))
    insert, update = OperationKind.INSERT, OperationKind.UPDATE
    sized = _table(_key("a", "bigint"), Column(name="d", type="varbinary", length=1000, average_bytes=1000))
    one_kb = _table(_key(), _blob("x", 1024), _blob("y", 1024))
    five_kb = _table(_key(), _blob("x", 5120), _blob("y", 5120))
    cases = {
        "c740-redo-t1": lambda: operation_redo(table_t1(1), insert, VERSION),
        "c740-redo-1000": lambda: operation_redo(sized, insert, VERSION),
        "c740-redo-blob1k": lambda: operation_redo(one_kb, insert, VERSION),
        "c740-redo-blob5k": lambda: operation_redo(five_kb, insert, VERSION),
        "c740-redo-blob100": lambda: operation_redo(_table(_key(), _blob("x", 100)), insert, VERSION),
        "c740-redo-blob5k-update": lambda: operation_redo(five_kb, update, VERSION, ("x",)),
        "c740-redo-unique-update": lambda: operation_redo(unique, update, VERSION, ("u",)),
    }  # fmt: skip
    if fact.id == "c740-redo-unique-insert":
        own = operation_redo(plain, insert, VERSION).value
        return operation_redo(unique, insert, VERSION).value - own
    return cases[fact.id]().value


def checkpoint_row(fact: Fact) -> float:
    """Bytes of a row in a checkpoint."""
    return row_cost(table_t1(1), VERSION).checkpoint_bytes


def checkpoint_seconds(fact: Fact) -> float:
    """Duration of a full checkpoint of so many bytes at a speed limit."""
    limit = int(fact.id.rsplit("-", 1)[1][:-1]) * MIB
    wanted = fact.inputs["checkpoint_s_at_limit"] * limit
    rows = round(wanted / row_cost(table_t1(1), VERSION).checkpoint_bytes)
    plan = cluster_plan(table_t1(rows), MaxDiskWriteSpeed=limit)
    return checkpoint(plan, None).nodes[0].duration_s.value


def _loaded(fact: Fact) -> Plan:
    return cluster_plan(table_t1(fact.inputs["rows"], fact.inputs.get("payload_bytes", 640)))


def checkpoint_wait(fact: Fact) -> float:
    """Wait for a checkpoint in a node restart."""
    phases = restart(_loaded(fact), "node").phases
    return next(p for p in phases if p.name == "wait for local checkpoint").duration_s.value


def node_restart(fact: Fact) -> float:
    """Whole node restart."""
    return restart(_loaded(fact), "node").duration_s.value


def reorganise_seconds(fact: Fact) -> float:
    """Reorganisation from two to four nodes that share two cores."""
    payload = fact.inputs.get("payload_bytes", 100)
    table = table_t1(fact.inputs["rows"], payload, fact.inputs.get("extra_ordered_indexes", 0))
    plan = cluster_plan(table)
    new = (DataNode(id=f"n{i}", node_id=i, host_id="host", node_group=65536) for i in (3, 4))
    plan = edits.add(plan, *new)
    return reorganise(plan).duration_s.value
