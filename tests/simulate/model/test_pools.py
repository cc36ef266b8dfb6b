"""Operation records, send buffers and IndexMemory: what runs out refuses, with the error that says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.units import KIB, MIB
from ndbplan.configuration.settings import node_settings
from ndbplan.edits import parts as edits
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.transaction_size import scans_of_node, size_of
from ndbplan.estimate.loaded import idle_latency_s
from ndbplan.estimate.stored import distribute, threads_of
from ndbplan.ndb.constants import constant
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import (
    ClosedLoad,
    OpenLoad,
    Operation,
    OperationKind,
    RatePoint,
    Transaction,
    Workload,
)
from ndbplan.simulate.model.scenario import build
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate
from ndbplan.simulate.world.indices import Error

IDLE_S = constant("idle_latency_s").value

BIG, SMALL = "blobs-5k", "blobs-1k"


def with_load(plan: Plan, kind: OperationKind, rate_per_s: float, rows: float = 1, **load: float) -> Plan:
    """The plan with one workload on its first table."""
    operation = Operation(table_id=plan.tables[0].id, kind=kind, rows=rows)
    workload = Workload(
        id="only", name="only", transactions=(Transaction(name="one", operations=(operation,)),),
        load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=rate_per_s),), **load),
    )  # fmt: skip
    return plan.replace(workloads=(workload,))


def newer(plan: Plan) -> Plan:
    """The plan with version 8.4."""
    return plan.replace(ndb_version="8.4.8")


def links_of(plan: Plan, bytes_per_s: float) -> Plan:
    """The plan with such links of the data nodes, and fast ones of its clients."""
    for host in plan.hosts:
        plan = edits.update(plan, host.id, network_bytes_per_s=1e12)
    for host_id in {node.host_id for node in plan.data_nodes}:
        plan = edits.update(plan, host_id, network_bytes_per_s=bytes_per_s)
    return plan


def test_a_blob_row_needs_a_record_for_each_of_its_operations(overload: Plan) -> None:
    workload = overload.workload(BIG)
    # The row, an update for each of two blobs, three parts of each.
    size = size_of(overload.tables, workload.transactions[0], overload.version)
    assert (size.writes, size.reads) == (pytest.approx(9), 0.0)


@pytest.mark.parametrize(
    ("new", "kind", "codes"),
    [
        (False, OperationKind.READ, [233]),
        (False, OperationKind.DELETE, [233]),
        (True, OperationKind.DELETE, [261]),
        (True, OperationKind.READ, []),
    ],
)
def test_a_transaction_beyond_what_one_may_have_is_refused(
    overload: Plan, new: bool, kind: OperationKind, codes: list[int]
) -> None:
    """8.4.8 refuses the transaction that changes too many rows with 261; what it reads is not counted."""
    plan = with_load(newer(overload) if new else overload, kind, 0.5, rows=3_000)
    assert simulate(estimation_of(plan), duration_s=5).errors == ()
    # The second is not known to 7.1.
    for name in ("MaxNoOfConcurrentOperations", "MaxDMLOperationsPerTransaction")[: 1 + new]:
        small = set_parameter(plan, "data_node", name, 2_000)
        result = simulate(estimation_of(small), duration_s=5)
        assert [error.code for error in result.errors] == codes
        if codes:
            assert result.accepted_per_s.value == 0
            assert result.bottleneck.resource == "operation records"


def test_the_last_write_that_one_transaction_may_have_is_the_limit_itself(overload: Plan) -> None:
    plan = with_load(newer(overload), OperationKind.DELETE, 0.5, rows=3_000)
    writes = round(size_of(plan.tables, plan.workloads[0].transactions[0], plan.version).writes)
    assert writes > 3_000, "parts of blobs are written too"
    for limit, codes in ((writes, []), (writes - 1, [261])):
        one = set_parameter(plan, "data_node", "MaxNoOfConcurrentOperations", limit)
        assert [error.code for error in simulate(estimation_of(one), duration_s=5).errors] == codes


def test_a_table_without_logging_takes_records_too(overload: Plan) -> None:
    plan = with_load(newer(overload), OperationKind.DELETE, 0.5, rows=40_000)
    plain = edits.update(plan, plan.tables[0].id, logging=False)
    for one in (plan, plain):
        assert [e.code for e in simulate(estimation_of(one), duration_s=5).errors] == [261]


def test_many_at_once_share_the_records(overload: Plan) -> None:
    limit, rate = 32, 90_000.0
    plan = with_load(overload, OperationKind.READ, rate)
    bare = tuple(one for one in plan.tables[0].columns if one.name in plan.tables[0].primary_key)
    # Each part of a blob would have a record of its own.
    plan = edits.update(plan, plan.tables[0].id, columns=bare)
    # One mysqld of eight cores does not send so many statements.
    plan = edits.update(plan, plan.workloads[0].id, through="api")
    plan = links_of(plan, 1e12)
    plan = set_parameter(plan, "data_node", "MaxNoOfConcurrentOperations", limit)
    scenario = build(Estimation(plan, plan.workloads[0]), duration_s=5, step_s=0.01, seed=1)
    assert scenario.laws.run.pool == pytest.approx(2 * limit)
    result = simulate(estimation_of(plan), duration_s=5, step_s=0.001)
    # Little's law: as many per second as records, each held for the time of a transaction.
    assert result.accepted_per_s.value == pytest.approx(2 * limit / IDLE_S, rel=0.01)
    assert [error.code for error in result.errors] == [233]
    easy = with_load(plan, OperationKind.READ, 0.99 * 2 * limit / IDLE_S)
    assert simulate(estimation_of(easy), duration_s=5).errors == ()


def test_little_transaction_memory_is_used_up_before_the_count(overload: Plan) -> None:
    plan = with_load(newer(overload), OperationKind.READ, 3000, rows=30_000)
    plan = set_parameter(plan, "data_node", "MaxNoOfConcurrentOperations", 40_000)
    counted = build(Estimation(plan, plan.workloads[0]), duration_s=5, step_s=0.1, seed=1)
    assert int(counted.laws.run.pool_error) == Error.OPERATIONS
    for name, value in (("TransactionMemory", 1), ("SharedGlobalMemory", 0)):
        plan = set_parameter(plan, "data_node", name, value)
    scarce = build(Estimation(plan, plan.workloads[0]), duration_s=5, step_s=0.1, seed=1)
    assert int(scarce.laws.run.pool_error) == Error.RECORDS
    assert scarce.laws.run.pool < counted.laws.run.pool


def test_a_slow_link_fills_the_send_buffers(overload: Plan) -> None:
    plan = links_of(with_load(overload, OperationKind.READ, 2000), 2e6)
    result = simulate(estimation_of(plan), duration_s=60)
    assert [error.code for error in result.errors] == [1218]
    assert result.bottleneck.resource == "network"
    first = result.errors[0].first_at_s.value
    assert first > 0, "the buffers take some of it first"
    more = plan.replace(parameters=plan.parameters.model_copy(update={"tcp": {"SendBufferMemory": 16 * MIB}}))
    later = simulate(estimation_of(more), duration_s=600)
    assert later.errors[0].first_at_s.value > 4 * first
    assert later.accepted_per_s.value == pytest.approx(result.accepted_per_s.value, rel=0.01)


def test_few_clients_wait_for_a_slow_link_without_errors(overload: Plan) -> None:
    result = simulate(
        estimation_of(links_of(with_load(overload, OperationKind.READ, 2000, clients=16), 2e6)), duration_s=60
    )
    assert result.errors == ()
    assert result.accepted_per_s.value < 1000
    assert result.bottleneck.resource == "network"


def test_scans_beyond_what_coordinators_take_are_refused_with_245(overload: Plan) -> None:
    def errors(sessions: int, **settings: int) -> dict[int, float]:
        plan = with_load(newer(overload), OperationKind.SCAN, 1, rows=10)
        load = ClosedLoad(clients=sessions, latency_s=1.0)
        plan = edits.update(plan, plan.workloads[0].id, load=load, through="api")
        for name, value in settings.items():
            plan = set_parameter(plan, "data_node", name, value)
        takes = sum(
            scans_of_node(node_settings(plan, node), threads_of(plan, node)) for node in plan.data_nodes
        )
        assert takes == settings.get("MaxNoOfConcurrentScans", 256) * sum(
            max(1, threads_of(plan, node).tc) for node in plan.data_nodes
        )
        return {e.code: e.count for e in simulate(estimation_of(plan), duration_s=20).errors}

    assert 245 not in errors(100, MaxNoOfConcurrentScans=100)
    assert 245 in errors(2000, MaxNoOfConcurrentScans=100)
    assert 245 not in errors(150)


@given(clients=st.integers(100, 20_000), think_s=st.sampled_from([0.0, 0.001, 0.05]))
def test_each_client_that_data_nodes_hold_back_has_one_transaction_under_way(
    overload: Plan, clients: int, think_s: float
) -> None:
    """As many records are held as there are clients that do not think; on an idle cluster fewer."""
    plan = with_load(newer(overload), OperationKind.READ, 1, rows=10)
    load = ClosedLoad(clients=clients, latency_s=0.0005, think_time_s=think_s)
    plan = edits.update(plan, plan.workloads[0].id, load=load, through="api")
    built = build(Estimation(plan, plan.workloads[0]), duration_s=5, step_s=0.1, seed=1)
    held_s, slowest = float(built.laws.run.held_s), built.services[0]
    idle_s = idle_latency_s(built.plan, built.workload).value
    if slowest.is_clients or clients / (idle_s + think_s) <= slowest.max_per_s:
        assert held_s == pytest.approx(idle_s)
    else:
        assert (held_s + think_s) * slowest.max_per_s == pytest.approx(clients)


def test_clients_that_processors_hold_back_use_up_records(overload: Plan) -> None:
    """5,000 clients of ten rows each all hold records, however few a second the data nodes pass."""
    for parameter, is_short in ((16_384, True), (400_000, False)):
        plan = with_load(overload, OperationKind.READ, 1, rows=10)
        load = ClosedLoad(clients=5_000, latency_s=0.0005)
        plan = edits.update(plan, plan.workloads[0].id, load=load, through="api")
        plan = set_parameter(plan, "data_node", "MaxNoOfConcurrentOperations", parameter)
        result = simulate(estimation_of(plan), duration_s=5)
        assert (233 in [error.code for error in result.errors]) == is_short, parameter


def test_index_memory_of_old_versions_fills_and_refuses_with_625(overload: Plan) -> None:
    """Of empty tables, which have a page of each fragment before any row. Each LDM thread adds 256 KiB."""
    for table in overload.tables:
        overload = edits.update(overload, table.id, rows=0)
    old = with_load(overload.replace(ndb_version="7.4"), OperationKind.INSERT, 1000)
    old = set_parameter(old, "data_node", "DataMemory", 2**40)
    more = 256 * KIB * threads_of(old, old.data_nodes[0]).ldm_instances

    def full_after_s(plan: Plan, **settings: int | None) -> float | None:
        for name, value in settings.items():
            plan = set_parameter(plan, "data_node", name, value)
        errors = simulate(estimation_of(plan), duration_s=300).errors
        return next((error.first_at_s.value for error in errors if error.code == 625), None)

    first, second = full_after_s(old, IndexMemory=MIB), full_after_s(old, IndexMemory=2 * MIB)
    assert first is not None
    assert second is not None
    assert first > 10
    per_byte = (second - first) / (0.95 * MIB)
    empty = 0.95 * (MIB + more) - first / per_byte
    blobs = [column for table in old.tables for column in table.columns if column.type == "blob"]
    fragments = len(distribute(old, old.tables[0]).partitions) * (len(old.tables) + len(blobs))
    assert empty == pytest.approx(8192 * fragments, rel=0.05), "of a node group with both its replicas"
    for settings, size, usable in (
        ({"IndexMemory": None}, 18 * MIB, 0.95),
        ({"IndexMemory": MIB, "MinFreePct": 50}, MIB, 0.50),
    ):
        expected = per_byte * (usable * (size + more) - empty)
        assert full_after_s(old, **settings) == pytest.approx(expected, rel=0.05)
    assert full_after_s(newer(old), IndexMemory=MIB) is None, "from 7.6 on there is one memory"


def test_clients_that_sql_nodes_do_not_let_in_send_nothing(overload: Plan) -> None:
    """A closed load is as fast as max-connections lets clients in, 151 by default; API programs need none."""
    sql = edits.update(overload, overload.sql_nodes[0].id, options={})
    sql = sql.replace(processes=tuple(p for p in sql.processes if p.kind != "sql" or p == sql.sql_nodes[0]))

    def accepted(plan: Plan, clients: int, **of_workload: str) -> float:
        found = with_load(plan, OperationKind.READ, 1)
        load = ClosedLoad(clients=clients, latency_s=1.0)
        found = edits.update(found, "only", load=load, **of_workload)
        return simulate(estimation_of(found), duration_s=5).accepted_per_s.value

    assert accepted(sql, 151) == pytest.approx(151.0, rel=0.01)
    assert accepted(sql, 1000) == accepted(sql, 151)
    more = edits.update(sql, sql.sql_nodes[0].id, options={"max_connections": "600"})
    assert accepted(more, 1000) == pytest.approx(600.0, rel=0.01)
    assert accepted(more, 1000, through="api") == pytest.approx(1000.0, rel=0.01)
    full = with_load(sql, OperationKind.READ, 1)
    full = edits.update(full, "only", load=ClosedLoad(clients=1000, latency_s=1.0))
    assert simulate(estimation_of(full), duration_s=5).bottleneck.resource == "SQL sessions"
