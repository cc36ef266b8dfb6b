from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.frozen import FrozenMap
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import KIB, MIB, parse_bytes
from ndbplan.configuration.link_buffers import link_buffers
from ndbplan.configuration.settings import node_settings
from ndbplan.edits.parts import update
from ndbplan.estimate.storage.node_memory import (
    disk_page_buffer_bytes,
    job_buffer_pages,
    overallocated_send_bytes,
    receive_buffer_bytes,
    redo_memory_bytes,
    send_buffer_bytes,
)
from ndbplan.estimate.storage.rows import ASSUMED_BLOB_BYTES
from ndbplan.estimate.stored import ldm_threads, memory, threads_of
from ndbplan.ndb.parameters import parameter
from ndbplan.ndb.threads.layout import thread_counts
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import ClusterParameters, Plan
from ndbplan.plan.processes import ApiSlot, DataNode, Link, ManagementNode, SqlNode
from ndbplan.plan.tables import Column, Index, LogfileGroup, SpaceFile, Table

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


@pytest.mark.parametrize(
    ("column", "of_random"),
    [
        # Nodes of random keys hold 19.8 entries, full ones 28: 20.5 and 29 where a key is too long to keep.
        (Column(name="v", type="int", nullable=False), 1.0),
        (Column(name="v", type="int", nullable=False, null_fraction=0.5), 1.0),
        (Column(name="v", type="int", null_fraction=0.5), 19.8 / 23.2),
        (Column(name="v", type="enum", length=20, nullable=False), 19.8 / 26.8),
        (Column(name="v", type="tinyint", nullable=False), 19.8 / 27.4),
        (Column(name="v", type="varchar", length=100, nullable=False), 19.8 / 20.5),
        (Column(name="v", type="varchar", length=12, nullable=False), 19.8 / 19.1),
    ],
)
def test_few_values_and_nulls_fill_the_nodes_of_an_ordered_index(column: Column, of_random: float) -> None:
    key = Column(name="id", type="int", nullable=False)
    index = Index(name="v", columns=("v",))
    table = Table(
        id="t", database="d", name="t", columns=(key, column), primary_key=("id",),
        primary_key_using_hash=True, indexes=(index,), rows=1_000_000,
    )  # fmt: skip
    (found,) = memory(_plan(table)).tables
    whole = found.ordered_index_bytes
    per_row = 272 / 19.8 * 32768 / (120 * 272)
    assert whole.value / table.rows == pytest.approx(per_row * of_random, rel=0.01)
    # Numbers that several clients take in turn fill their nodes; one that counts leaves them half full.
    assert whole.low / table.rows <= 272 / 27 * 1.01
    assert whole.high / table.rows >= 272 / 15


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
    """All but what lies outside the pool: message, receive and backup buffers and the program itself."""
    outside = (
        "buffers for messages",
        "receive buffers",
        "buffers for backup",
        "program and its other memory",
    )
    for row, plan in _reported_nodes():
        ram = memory(plan).nodes[0].ram_bytes
        pool = sum(term.value for term in ram.why if term.term not in outside) / MIB
        assert pool == pytest.approx(int(row["memory_initial_MB"]), rel=0.03), row["settings"]


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
        Column(name="note", type="varchar", length=400, null_fraction=0.5),
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
            some, share = ("50 % of the rows", 0.5) if name == "note" else ("every row", 1.0)
            assert of_column.term.endswith(f" bytes in {some}")
            # Two node groups: half of the rows.
            assert of_column.value == pytest.approx(0.5e6 * share * means[name], rel=0.01)


def _reported_nodes() -> Iterator[tuple[dict[str, str], Plan]]:
    """Rows with a plan of theirs; what ExtraSendBufferMemory adds to tells that they had three links."""
    with (REALITY / "datanode-memory-report.csv").open() as file:
        for row in csv.DictReader(file):
            parameters: dict[str, int | str] = {"NoOfReplicas": 1, "DataMemory": 32 * MIB}
            for name, value in _settings(row["settings"]).items():
                is_size = re.fullmatch(r"[0-9]+[KMG]?", value)
                parameters[parameter("DB", name).name] = parse_bytes(value) if is_size else value
            yield (
                row,
                Plan(
                    ndb_version="8.4.8",
                    hosts=(Host(id="h", hostname="h", memory_bytes=2**34, cores=2),),
                    processes=(
                        ManagementNode(id="m", node_id=2, host_id="h"),
                        DataNode(id="n", node_id=1, host_id="h"),
                        *(ApiSlot(id=f"a{i}", node_id=3 + i, host_id="h") for i in range(2)),
                    ),
                    parameters=ClusterParameters(data_node=FrozenMap(parameters)),
                ),
            )


def test_each_part_of_what_a_node_reports_at_start() -> None:
    """Whole MiB, as printed: redo, send and page buffers, and what send buffers may take beyond."""
    checked = 0
    for row, plan in _reported_nodes():
        settings, threads = node_settings(plan, plan.data_nodes[0]), threads_of(plan, plan.data_nodes[0])
        sends = send_buffer_bytes(settings, threads, link_buffers(plan)[1])
        found = {
            "redo_buffers_MB": redo_memory_bytes(settings, threads),
            "send_buffers_MB": sends,
            "send_overallocation_MB": overallocated_send_bytes(settings, sends),
            "disk_page_buffer_MB": disk_page_buffer_bytes(settings, threads),
        }
        for column, size in found.items():
            assert size // MIB == int(row[column]), (row["settings"], column)
        checked += 1
    assert checked == 196


def _linked(*apis: ApiSlot | SqlNode, version: str = "8.4", nodes: int = 4, **parameters: Any) -> Plan:
    plan = _plan(version=version, nodes=nodes, **parameters)
    return plan.replace(processes=(*plan.processes, ManagementNode(id="m", node_id=1, host_id="h"), *apis))


def _receives(plan: Plan, node: int = 0) -> Quantity:
    one = plan.data_nodes[node]
    buffers = link_buffers(plan)[one.node_id]
    return receive_buffer_bytes(node_settings(plan, one), threads_of(plan, one), buffers)


THREADS = "main,rep,recv,tc={count=2},ldm={count=4},send={count=2}"


@pytest.mark.parametrize(
    ("threads", "transporters", "stated", "most"),
    [
        (THREADS, 4, None, 4),
        (THREADS, 3, 3, 3),
        (THREADS, 4, 9, 4),
        (THREADS.replace("ldm={count=4}", "ldm={count=1}"), 0, None, 1),
        (THREADS.replace("ldm={count=4}", "ldm={count=1}"), 2, 9, 2),
        (THREADS.replace(",send={count=2}", ""), 0, 9, 4),
    ],
)  # fmt: skip
def test_each_transporter_has_a_receive_buffer(
    threads: str, transporters: int, stated: int | None, most: int
) -> None:
    """Links to four others, and transporters beside that of the one other member of the node group."""
    given_transporters = {} if stated is None else {"NodeGroupTransporters": stated}
    plan = _linked(ThreadConfig=threads, **given_transporters)
    assert transporters <= most
    assert _receives(plan).value == (4 + transporters) * 2 * MIB
    before = plan.replace(ndb_version="7.6").replace(parameters=_plan(ThreadConfig=threads).parameters)
    assert _receives(before).value == 4 * 2 * MIB, "8.0.20 has brought them"


def test_receive_buffers_are_a_range_unless_memory_is_locked() -> None:
    assert _receives(_linked()).low == 0 < _receives(_linked()).high
    locked = _receives(_linked(LockPagesInMainMemory=1))
    assert locked.low == locked.value == _receives(_linked()).value


def test_a_large_cluster_takes_its_receive_buffers_of_every_host() -> None:
    small, large = _linked(nodes=2), _linked(nodes=144)
    grown = memory(large).nodes[0].ram_bytes - memory(small).nodes[0].ram_bytes
    more = 142 * 2 * MIB
    assert _receives(large).value - _receives(small).value == more
    assert grown.value == pytest.approx(more + _sends(large) - _sends(small))


def _sends(plan: Plan) -> int:
    node = plan.data_nodes[0]
    buffers = link_buffers(plan)[node.node_id]
    return send_buffer_bytes(node_settings(plan, node), threads_of(plan, node), buffers)


def test_connections_of_their_own_have_their_own_buffers() -> None:
    plan = _linked(ApiSlot(id="a", node_id=9, host_id="h"))
    plain = link_buffers(plan)
    link = Link(
        process_id_1="n0",
        process_id_2="a",
        parameters=FrozenMap({"SendBufferMemory": 5 * MIB, "ReceiveBufferMemory": 7 * MIB}),
    )
    own = link_buffers(plan.replace(links=(link,)))
    assert own[2].send_bytes == plain[2].send_bytes + 3 * MIB
    assert own[2].receive_bytes == plain[2].receive_bytes + 5 * MIB
    assert own[3] == plain[3]
    shared = link_buffers(_linked(ApiSlot(id="a", node_id=9, host_id="h"), UseShm=1))
    assert shared[2].receive_bytes == plain[2].receive_bytes + (4 - 2) * MIB, "ShmSize of 8.x"
    assert shared[2].group_receive_bytes == plain[2].group_receive_bytes == 2 * MIB
    mapped = link_buffers(
        _linked(ApiSlot(id="a", node_id=9, host_id="h", parameters=FrozenMap({"ConnectionMap": "2"})))
    )
    assert (mapped[2].number, mapped[3].number) == (plain[2].number, plain[2].number - 1)


@pytest.mark.parametrize(("version", "buffers"), [("7.4", 2), ("7.6", 2), ("8.0", 4), ("8.4", 4)])
def test_a_redo_buffer_is_of_an_ldm_thread_before_8_0(version: str, buffers: int) -> None:
    """Two LDM threads, four log parts, as ndbinfo.logbuffers of 7.4.10 and 8.4.8 showed them."""
    plan = _plan(version=version)
    node = plan.data_nodes[0]
    found = redo_memory_bytes(node_settings(plan, node), threads_of(plan, node))
    assert found == buffers * 32 * MIB + 4 * MIB


def test_undo_buffers_are_of_shared_memory_but_that_of_the_configuration() -> None:
    def ram(*groups: LogfileGroup, **parameters: Any) -> float:
        plan = _plan(version="8.4", **parameters).replace(logfile_groups=groups)
        return memory(plan).nodes[0].ram_bytes.value

    group = LogfileGroup(
        id="l", name="l", undo_buffer_bytes=32 * MIB, undo_files=(SpaceFile(name="u", size_bytes=64 * MIB),)
    )
    initial = {"InitialLogfileGroup": "undo_buffer_size=48M;u.log:64M"}
    assert ram(group) == ram()
    assert ram(**initial) == ram(group, **initial) == ram() + 48 * MIB
    assert ram(**initial, Diskless=1) == ram(Diskless=1)
