from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.units import KIB, MIB, parse_bytes
from ndbplan.edits.parts import update
from ndbplan.estimate.storage.node_memory import job_buffer_pages
from ndbplan.estimate.storage.rows import ASSUMED_BLOB_BYTES
from ndbplan.estimate.stored import ldm_threads, memory
from ndbplan.ndb.parameters import parameter
from ndbplan.ndb.threads.layout import thread_counts
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Column, Index, Table

REALITY = Path(__file__).parent.parent.parent / "reality" / "clusters"
T1 = Table(
    id="t1",
    database="big",
    name="t1",
    columns=(
        Column(name="a", type="bigint", unsigned=True, nullable=False),
        Column(name="b", type="int", unsigned=True),
        Column(name="c", type="timestamp", nullable=False),
        Column(name="d", type="varbinary", length=1024, average_bytes=640),
    ),
    primary_key=("a",),
    indexes=(Index(name="c", columns=("c",)),),
    rows=1_000_000,
    partition_rows=(249710, 250135, 250154, 250001),
)


def _plan(*tables: Table, version: str = "7.4.10", nodes: int = 2, **parameters: Any) -> Plan:
    return Plan(
        ndb_version=version,
        hosts=(Host(id="h", hostname="h", memory_bytes=24 * 2**30, cores=2),),
        processes=tuple(DataNode(id=f"n{i}", node_id=2 + i, host_id="h") for i in range(nodes)),
        parameters=ClusterParameters(
            data_node=FrozenMap({"NoOfReplicas": 2, "MaxNoOfExecutionThreads": 4} | parameters)
        ),
        tables=tables,
    )


def _reported(column: str, kind: str) -> int:
    with (REALITY / "memory-per-fragment-t1-1m-node2.tsv").open() as file:
        rows = csv.DictReader(file, delimiter="\t")
        return sum(int(row[column]) for row in rows if row["type"] == kind)


def test_the_million_row_table_as_memory_per_fragment_reported_it() -> None:
    (found,) = memory(_plan(T1)).tables
    assert found.fixed_bytes == _reported("fixed_elem_alloc_bytes", "User table")
    assert found.variable_bytes.value == _reported("var_elem_alloc_bytes", "User table")
    hashed = _reported("hash_index_alloc_bytes", "User table")
    assert found.hash_index_bytes.value == pytest.approx(hashed, rel=0.01)
    ordered = _reported("fixed_elem_alloc_bytes", "Ordered index")
    assert found.ordered_index_bytes.value == pytest.approx(ordered, rel=0.01)


def test_a_node_of_the_million_row_table() -> None:
    first, second = memory(_plan(T1)).nodes
    # 750 852 824 bytes of DataMemory and 15 228 928 of IndexMemory came with the load.
    assert first.data_memory_bytes.value == pytest.approx(756678656 - 5832704, rel=0.01)
    assert first.index_memory_bytes.value == pytest.approx(16506880 - 1277952, rel=0.01)
    assert second.data_memory_bytes == first.data_memory_bytes


@pytest.mark.parametrize(("arrival", "per_row"), [("in_order", 19.0), ("random", 14.2)])
def test_ordered_index_by_key_arrival(arrival: str, per_row: float) -> None:
    column = Column(name="id", type="int", nullable=False)
    table = Table(
        id="t",
        database="d",
        name="t",
        columns=(column,),
        primary_key=("id",),
        key_arrival=arrival,
        rows=1_000_000,
    )
    (found,) = memory(_plan(table)).tables
    assert found.ordered_index_bytes.value / table.rows == pytest.approx(per_row, rel=0.03)


def test_hash_indexes_lie_in_data_memory_from_7_6_on() -> None:
    plan = _plan(T1, version="7.5", IndexMemory=64 * MIB, DataMemory=1024 * MIB)
    old, new = (memory(plan.replace(ndb_version=v)).nodes[0] for v in ("7.5", "7.6"))
    assert old.index_memory_bytes.value > 0
    assert new.index_memory_bytes.value == 0
    assert old.index_memory_limit_bytes == 64 * MIB + ldm_threads(plan, plan.data_nodes[0]) * 256 * KIB
    assert new.data_memory_limit_bytes == old.data_memory_limit_bytes + old.index_memory_limit_bytes


def test_parts_of_blobs_and_hidden_unique_tables_count() -> None:
    table = Table(
        id="t",
        database="d",
        name="t",
        columns=(
            Column(name="id", type="int", nullable=False),
            Column(name="u", type="int", nullable=False),
            Column(name="b", type="blob", average_bytes=5120),
        ),
        primary_key=("id",),
        indexes=(Index(name="u", columns=("u",), kind="unique_hash"),),
        rows=10_000,
    )
    (found,) = memory(_plan(table)).tables
    assert found.blob_bytes.value > 10_000 * (5120 - 256)
    assert found.unique_index_bytes.value > 10_000 * 28
    total = memory(_plan(table)).nodes[0]
    assert total.data_memory_bytes.value + total.index_memory_bytes.value == pytest.approx(
        found.total_bytes.value
    )


def _settings(text: str) -> dict[str, str]:
    return dict(item.split("=", 1) for item in re.split(r"; ", text) if "=" in item)


def test_job_buffers_of_every_reported_thread_setting() -> None:
    with (REALITY / "datanode-memory-report.csv").open() as file:
        for row in csv.DictReader(file):
            version = NdbVersion.parse("8.4.8")
            threads = thread_counts(version, _settings(row["settings"]), cores=2)
            assert job_buffer_pages(threads, version) // 32 == int(row["job_buffers_MB"]), row["settings"]


def test_memory_that_a_node_reports_at_start() -> None:
    """Everything but what lies outside the pool: message and backup buffers and the program itself."""
    outside = ("buffers for messages", "buffers for backup", "program and its other memory")
    with (REALITY / "datanode-memory-report.csv").open() as file:
        rows = list(csv.DictReader(file))
    checked = 0
    for row in rows:
        given_settings = _settings(row["settings"])
        parameters: dict[str, int | str] = {"NoOfReplicas": 1, "DataMemory": 32 * MIB}
        for name, value in given_settings.items():
            is_size = re.fullmatch(r"[0-9]+[KMG]?", value)
            parameters[parameter("DB", name).name] = parse_bytes(value) if is_size else value
        plan = Plan(
            ndb_version="8.4.8",
            hosts=(Host(id="h", hostname="h", memory_bytes=2**34, cores=2),),
            processes=(DataNode(id="n", node_id=1, host_id="h"),),
            parameters=ClusterParameters(data_node=FrozenMap(parameters)),
        )
        ram = memory(plan).nodes[0].ram_bytes
        pool = sum(term.value for term in ram.why if term.term not in outside) / MIB
        assert pool == pytest.approx(int(row["memory_initial_MB"]), rel=0.03), row["settings"]
        checked += 1
    assert checked == 196


@given(st.integers(0, 5_000_000), st.integers(1, 100_000), st.integers(0, 2000))
def test_memory_never_shrinks_when_rows_grow(rows: int, more: int, length: int) -> None:
    plan = _plan(
        T1.model_copy(
            update={
                "rows": rows,
                "partition_rows": (),
                "columns": (
                    *T1.columns[:3],
                    T1.columns[3].model_copy(update={"average_bytes": float(length)}),
                ),
            }
        ),
        version="8.4",
    )
    small = memory(plan)
    large = memory(update(plan, "t1", rows=rows + more))
    for before, after in zip(small.nodes, large.nodes, strict=True):
        assert after.data_memory_bytes.value >= before.data_memory_bytes.value
    assert large.tables[0].fixed_bytes >= small.tables[0].fixed_bytes


def test_nodes_of_one_host_share_its_memory_and_a_container_limits_a_node() -> None:
    plan = update(_plan(T1), "n0", container_memory_bytes=3 * 2**30)
    found = memory(plan)
    (host,) = found.hosts
    assert host.data_nodes_bytes.value == pytest.approx(sum(n.ram_bytes.value for n in found.nodes))
    assert [node.ram_limit_bytes for node in found.nodes] == [3 * 2**30, 24 * 2**30]


def test_what_a_node_holds_goes_down_to_the_column_and_what_is_assumed_of_it() -> None:
    columns = (
        Column(name="id", type="bigint"),
        Column(name="name", type="varchar", length=100, average_bytes=20),
        Column(name="note", type="varchar", length=400),
        Column(name="body", type="text"),
    )
    tables = [
        Table(id=name, database="d", name=name, columns=columns, primary_key=("id",), rows=10**6)
        for name in "ab"
    ]
    means = {"name": 21, "note": 202, "body": ASSUMED_BLOB_BYTES - 256}
    held = memory(_plan(*tables, nodes=4)).nodes[0].data_memory_bytes
    kinds = {term.term: term for term in held.why}
    assert sum(term.value for term in held.why) == held.value
    for kind, names in (("variable parts", ("note", "name")), ("blob parts", ("body",))):
        of_all = kinds[f"{kind} of all tables"]
        assert sum(term.value for term in of_all.why) == of_all.value
        (one,) = [term for term in of_all.why if term.term == f"{kind} of d.a"]
        told = [term for term in one.why if "values of" in term.term]
        for name in names:
            (of_column,) = [term for term in told if f"values of {name}," in term.term]
            assert of_column.source.startswith("plan" if name == "name" else "assum")
            # Two node groups: half of the rows.
            assert of_column.value == pytest.approx(0.5e6 * means[name], rel=0.01)
