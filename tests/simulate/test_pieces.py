"""Pieces of the simulation by themselves, with numbers that can be checked by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, update
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.log_records import transaction_redo
from ndbplan.plan.events import NodeFailure, NodesAdded
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import process_node_ids
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OperationKind
from ndbplan.simulate.drawn_runs import log_range_of
from ndbplan.simulate.events.growth import NodesCome
from ndbplan.simulate.model.loaders import Loader
from ndbplan.simulate.model.scenario import set_step
from ndbplan.simulate.ndbinfo import _cluster_operations, _restart_info
from ndbplan.simulate.outage import Outage, clients_of
from ndbplan.simulate.run import Course
from ndbplan.simulate.series import Restart
from ndbplan.simulate.session import Session
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.laws import Run

PLAN = sample_plan("redo-overload")


@pytest.mark.parametrize(
    ("step_s", "per_second", "per_gcp", "pieces"),
    [(0.1, 10, 20, 4), (0.025, 40, 80, 1), (0.03, 33, 67, 2), (1.0, 1, 2, 40), (4.0, 1, 1, 160)],
)
def test_what_hangs_on_the_length_of_a_step(
    step_s: float, per_second: int, per_gcp: int, pieces: int
) -> None:
    run = Run()
    plan = set_parameter(PLAN.replace(ndb_version="8.4"), "sql", "DefaultOperationRedoProblemAction", "queue")
    plan = set_parameter(plan, "data_node", "TransactionDeadlockDetectionTimeout", 5_000_000)
    set_step(run, plan, step_s)
    assert (run.steps_per_second, run.steps_per_gcp, run.pieces) == (per_second, per_gcp, pieces)
    assert run.step_s == step_s
    assert run.gcp_s == pytest.approx(per_gcp * step_s)
    assert run.piece_s == pytest.approx(step_s / pieces)
    assert run.queue_slots == round(5000.0 / step_s * pieces)
    plan = set_parameter(plan, "data_node", "TransactionDeadlockDetectionTimeout", 50_000_000)
    plan = set_parameter(plan, "data_node", "TimeBetweenGlobalCheckpoints", 32_000)
    set_step(run, plan, step_s)
    assert (run.queue_slots, run.steps_per_gcp) == (400_000, round(32 / step_s))


def _loader(threads: int, run_rows: float, values: int = 8) -> Loader:
    """Values lie on partitions in turn; a transaction has 10 rows."""
    nothing = np.zeros((values, 1), dtype=np.int64)
    return Loader(
        nodes=nothing, group=nothing[:, 0], part=nothing[:, 0], mean=np.full(values, 1 / values),
        owners=np.arange(values), log_bytes=1.0, row_share=1.0, rows=10.0, run_rows=run_rows, threads=threads,
    )  # fmt: skip


def test_a_loader_works_where_its_threads_are() -> None:
    one = _loader(1, 100.0)
    # Ten transactions to a value.
    for begin, end, places in (
        (0.0, 1.0, [0]),
        (9.0, 9.9, [0]),
        (10.0, 11.0, [1]),
        (79.0, 79.9, [7]),
        (80.0, 81.0, [0]),
    ):
        assert np.flatnonzero(one.where(begin, end)).tolist() == places
    assert one.where(5.0, 15.0) == pytest.approx([0.5, 0.5, 0, 0, 0, 0, 0, 0], abs=0.11)
    # Four looks at each value, and one more; 64 at most, and beyond 64 values all of them alike.
    for upto, looks in ((10.1, 6), (33.0, 15), (157.0, 64), (640.0, 64)):
        counts = _loader(1, 100.0, 7).where(0.0, upto) * looks
        assert counts == pytest.approx(counts.round())
        assert counts.round().sum() == looks
        exact = np.bincount(np.arange(0, upto, 0.1).astype(int) // 10 % 7, minlength=7) / (10 * upto)
        assert counts / looks == pytest.approx(exact, abs=1.5 / looks)
    assert one.where(0.0, 641.0) == pytest.approx(one.mean)
    assert np.flatnonzero(_loader(4, 100.0).where(0.0, 1.0)).tolist() == [0, 1, 2, 3]
    assert [one.until_next(at) for at in (0.0, 3.0, 10.0)] == pytest.approx([10.0, 7.0, 10.0])
    four = _loader(4, 100.0)
    assert [four.until_next(at) for at in (0.0, 3.0, 10.0)] == pytest.approx([10.0, 7.0, 10.0])
    before = four.where(0.0, 9.9)
    assert four.where(9.9, 9.99) == pytest.approx(before)
    assert four.where(10.0, 10.1) != pytest.approx(before)


def test_the_log_of_a_mix_is_as_uncertain_as_its_transactions() -> None:
    plan = sample_plan("starter")
    for table in plan.tables:
        columns = tuple(one.model_copy(update={"average_bytes": None}) for one in table.columns)
        plan = update(plan, table.id, columns=columns)
    workload = plan.workloads[0]
    logs = [(t.weight, transaction_redo(plan.tables, t, plan.version)) for t in workload.transactions]
    value = sum(weight * log.value for weight, log in logs)
    low, high = log_range_of(SimpleNamespace(plan=plan, workload=workload))
    assert low == pytest.approx(sum(weight * log.low for weight, log in logs) / value, rel=1e-12)
    assert high == pytest.approx(sum(weight * log.high for weight, log in logs) / value, rel=1e-12)
    assert low < 1.0 < high
    none = workload.model_copy(update={"transactions": ()})
    assert log_range_of(SimpleNamespace(plan=plan, workload=none)) == (1.0, 1.0)


def test_rows_of_restart_info_follow_the_phases() -> None:
    phases = (("allocate memory", 10.0), ("restore from local checkpoint", 20.0), ("something else", 5.0))
    restart = Restart(node_id=3, failed_at_s=10.0, started_at_s=20.0, phases=phases)

    def row(at_s: float) -> dict[str, Any]:
        result: Any = SimpleNamespace(times_s=np.array([at_s - 1.0]), bucket_s=1.0, restarts=(restart,))
        (found,) = _restart_info(result, PLAN, 0)
        return found

    def seconds(at_s: float) -> tuple[int, int, int, int]:
        found = row(at_s)
        names = (
            "secs_to_allocate_node_id",
            "secs_restore_fragments",
            "secs_for_local_recovery",
            "total_restart_secs",
        )
        return tuple(found[name] for name in names)

    assert seconds(19.0) == (0, 0, 0, 0)
    assert seconds(24.0) == (4, 0, 0, 4)
    assert seconds(30.0) == (10, 0, 0, 10)
    assert seconds(37.0) == (10, 7, 7, 17)
    assert seconds(53.0) == (10, 20, 23, 33)
    assert seconds(90.0) == (10, 20, 25, 35)
    states = [row(at_s)["node_restart_status_int"] for at_s in (19.0, 24.0, 37.0, 90.0)]
    assert len(set(states)) == 4
    assert all(isinstance(state, int) for state in states)
    # Each begins at its moment.
    assert [row(at_s)["node_restart_status_int"] for at_s in (19.9, 20.0, 30.0, 55.0)] == states
    restart = Restart(node_id=3, failed_at_s=10.0, started_at_s=None, phases=phases)
    assert row(90.0)["node_restart_status_int"] == states[0]


def test_operations_that_wait_are_spread_over_nodes_and_clients() -> None:
    nodes = tuple(SimpleNamespace(node_ids=(node.node_id,), dead=np.array([0.0])) for node in PLAN.data_nodes)
    result: Any = SimpleNamespace(nodes=nodes, workload=PLAN.workloads[0].name, waiting=np.array([5.4]))
    found = list(_cluster_operations(result, PLAN, 0))
    ids = sorted(node.node_id for node in PLAN.data_nodes)
    count = len(ids)
    assert len(found) == 5
    assert [row["node_id"] for row in found] == [ids[i % count] for i in range(5)]
    assert [row["tc_node_id"] for row in found] == [ids[i // count % count] for i in range(5)]
    assert [row["fragmentid"] for row in found] == [i % count for i in range(5)]
    assert [row["block_instance"] for row in found] == [1, 2, 3, 4, 1]
    assert [row["tc_block_instance"] for row in found] == [1, 2, 1, 2, 1]
    assert len({row["transid"] for row in found}) == 5
    assert all(row["transid"] >> 52 == row["client_node_id"] for row in found)
    # Of those that are connected: a slot that no program takes has no transactions.
    clients = [node_id for one in clients_of(PLAN) for node_id in process_node_ids(one)]
    assert [row["client_node_id"] for row in found] == [clients[i % len(clients)] for i in range(5)]
    bare = remove(PLAN, [one.id for one in (*PLAN.sql_nodes, *PLAN.api_slots)])
    assert {row["client_node_id"] for row in _cluster_operations(result, bare, 0)} == {0}
    assert all((row["transid"] >> 40) & 0xFFF == row["tc_node_id"] for row in found)
    first = PLAN.table(PLAN.workloads[0].transactions[0].operations[0].table_id)
    assert found[0]["tableid"] == PLAN.tables.index(first) + 10
    result.waiting = np.array([1.0])
    assert len(list(_cluster_operations(result, PLAN, 0))) == 1
    result.workload = "another"
    assert not list(_cluster_operations(result, PLAN, 0))
    result.workload, result.nodes = PLAN.workloads[0].name, ()
    assert not list(_cluster_operations(result, PLAN, 0))
    result.nodes = nodes
    result.waiting = np.array([0.4])
    assert not list(_cluster_operations(result, PLAN, 0))


def test_the_largest_side_that_goes_on_wins_and_of_equal_ones_that_of_the_lowest_node() -> None:
    def side(*nodes: int, goes_on: bool = True) -> Any:
        return SimpleNamespace(survivors=frozenset(nodes), after=object() if goes_on else None)

    def winner(*sides: Any) -> Any:
        judged: Any = SimpleNamespace(sides=sides)
        return Outage.winner(SimpleNamespace(), judged)

    small, large, low = side(1), side(3, 4), side(2, 5)
    assert winner(small, large) is large
    assert winner(large, low) is winner(low, large) is low
    assert winner(side(1, 2, 3, goes_on=False), small) is small
    assert winner(side(1, goes_on=False)) is None


def test_rows_that_move_are_logged_evenly_while_they_do() -> None:
    plan: Plan = sample_plan("add-nodes")
    dead = plan.data_nodes[0]
    happens = (NodeFailure(at_s=0.5, object_id=dead.id), NodesAdded(at_s=15.0))
    plan = update(plan, plan.workloads[0].id, events=())
    session = Session(Course(Estimation(plan, plan.workloads[0]), happens, 0.1, 1).story(20.0))
    event = next(due.event for due in session.simulation.due if isinstance(due.event, NodesCome))
    session.advance(16.0)
    sim = session.simulation
    steps = event.seconds / 0.1
    old_bytes, new_bytes = (sum(getattr(m, name) for m in event.moves) for name in ("old_bytes", "new_bytes"))
    for n, node_class in enumerate(sim.scenario.node_classes):
        node = node_class.nodes[0]
        moved = 0.0 if node.id == dead.id else old_bytes if node.id in event.old else new_bytes
        assert float(sim.laws.base[n].sum()) == pytest.approx(moved / steps)
    assert old_bytes > new_bytes > 0


def test_rows_that_move_without_a_load_are_logged_nowhere() -> None:
    plan: Plan = sample_plan("add-nodes")
    reads = tuple(
        one.model_copy(update={"kind": OperationKind.READ})
        for one in plan.workloads[0].transactions[0].operations
    )
    only = plan.workloads[0].transactions[0].model_copy(update={"operations": reads})
    plan = update(plan, plan.workloads[0].id, events=(), transactions=(only,))
    session = Session(Course(Estimation(plan, plan.workloads[0]), (NodesAdded(at_s=1.0),), 0.1, 1).story(5.0))
    session.advance(2.0)
    assert float(session.simulation.laws.base.sum()) == 0
    assert session.simulation.reorganising


def test_transactions_run_up_to_a_stop_and_from_the_moment_they_move_on() -> None:
    """Of ten buckets of 0.1 s, whose sums are a rounding error off."""
    sim: Any = SimpleNamespace(bucket_lengths_s=lambda: np.full(10, 0.1), stopped_s=np.inf, standing=[])
    assert Simulation.running(sim).all()
    sim.standing = [(0.3, 0.8)]
    assert Simulation.running(sim).tolist() == [n < 3 or n >= 8 for n in range(10)]
    sim.standing, sim.stopped_s = [(0.29, 0.31), (0.5, 0.5)], 0.7
    assert Simulation.running(sim).tolist() == [n < 7 and n not in (2, 3) for n in range(10)]
