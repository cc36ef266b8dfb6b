"""Few-valued distribution keys on many clusters: every answer speaks of the same rows in the same places."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drawn_keys import COUNTS, ROWS, clusters, with_values
from ndbplan.estimate.constants import constant_for
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.loaded import cpu, node_loads, redo
from ndbplan.estimate.storage.fragments import TableDistribution
from ndbplan.estimate.storage.row_cost import row_cost
from ndbplan.estimate.storage.skew import skew_report
from ndbplan.estimate.storage.spread import fullest
from ndbplan.estimate.stored import distribute, memory, node_data
from ndbplan.estimate.timed import backup, restart
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Operation, OperationKind, Transaction
from ndbplan.simulate.model.scenario import build

_READING = Transaction(name="r", operations=(Operation(table_id="t", kind=OperationKind.READ),))


def _of(plan: Plan) -> TableDistribution:
    return distribute(plan, plan.tables[0])


@settings(deadline=None, max_examples=30)
@given(clusters(), st.sampled_from(COUNTS))
def test_all_answers_speak_of_the_same_rows(plan: Plan, count: int) -> None:
    plan = with_values(plan, count)
    table, workload, found = plan.tables[0], plan.workloads[0], _of(plan)
    copies = found.placement.nodes.shape[1] * (found.placement.fragments // found.placement.partitions)
    cost = row_cost(table, plan.version)
    assert int(found.rows.sum()) == ROWS * found.placement.fragments // found.placement.partitions
    held = {data.node_id: data for data in node_data(plan)}
    # Rows and bytes are conserved, whatever the values.
    assert sum(d.rows for d in held.values()) == pytest.approx(copies * ROWS)
    assert sum(d.row_bytes for d in held.values()) == pytest.approx(copies * ROWS * cost.row_bytes)
    # Each row is once in a backup.
    assert sum(d.primary_rows for d in held.values()) == pytest.approx(ROWS)
    report = skew_report(found)
    for share in report.nodes:
        node_id = int(share.name.split()[1])
        assert held[node_id].rows == pytest.approx(share.rows, abs=2)
    ldms: dict[int, int] = {}
    for share in report.ldms:
        node_id = int(share.name.split()[1])
        ldms[node_id] = max(ldms.get(node_id, 0), share.rows)
    for node_id, rows in ldms.items():
        assert held[node_id].fullest_ldm.rows == pytest.approx(rows, abs=2)
    # A row is read once, wherever it has copies.
    reads = workload.model_copy(update={"transactions": (_READING,)})
    assert sum(load.reads_per_s for load in node_loads(plan, reads)) == pytest.approx(1000)
    # The log of inserts goes where the rows are.
    loads = {load.node_id: load for load in node_loads(plan, workload)}
    whole = sum(load.redo_bytes_per_s.value for load in loads.values())
    for node_id, load in loads.items():
        assert load.redo_bytes_per_s.value == pytest.approx(
            whole * held[node_id].rows / (copies * ROWS), rel=1e-3
        )
        assert sum(rate for _, rate in load.redo_by_log_part) == pytest.approx(load.redo_bytes_per_s.value)
        hottest = load.hottest_ldm_share * load.write_operations_per_s
        assert hottest == pytest.approx(1000 * held[node_id].fullest_ldm.rows / ROWS, rel=1e-3)
    logs = redo(plan, workload)
    for one in logs.nodes:
        assert one.hottest_part_bytes_per_s.value == pytest.approx(loads[one.node_id].hottest_log_part[1])
        assert one.hottest_part_bytes_per_s.low <= one.hottest_part_bytes_per_s.value
    saved = {one.node_id: one.written_bytes.value for one in backup(plan).nodes}
    for node_id, size in saved.items():
        # The head of a row in memory stays behind.
        bare = held[node_id].primary_row_bytes - 28 * held[node_id].primary_rows
        assert size >= bare * (1 - 1e-9)
    used = memory(plan)
    fullest_node = max(held.values(), key=lambda d: d.rows)
    most = max(used.nodes, key=lambda n: n.data_memory_bytes.value)
    mine = next(n for n in used.nodes if n.node_id == fullest_node.node_id)
    assert mine.data_memory_bytes.value >= 0.98 * most.data_memory_bytes.value


@settings(deadline=None, max_examples=20)
@given(clusters())
def test_one_value_is_one_fragment_and_more_values_never_fill_it_more(plan: Plan) -> None:
    found = _of(with_values(plan, 1))
    if found.is_full_copy:
        assert np.ptp(found.rows) <= max(1, ROWS // found.placement.partitions // 100)
        return
    assert int(found.rows.max()) == ROWS
    assert np.count_nonzero(found.rows) == 1
    alone = with_values(plan, 1)
    loads = [load for load in node_loads(alone, alone.workloads[0]) if load.redo_bytes_per_s.value]
    assert len(loads) == len(set(found.placement.nodes[int(found.rows.argmax())].tolist()))
    for load in loads:
        assert load.hottest_ldm_share == pytest.approx(1.0)
        assert load.hottest_log_part[1] == pytest.approx(load.redo_bytes_per_s.value)
    shares = [float(_of(with_values(plan, count)).rows.max()) / ROWS for count in COUNTS]
    for before, after in pairwise(shares):
        assert after <= before * (1 + 1e-6) + 2 / ROWS
    nodes = [max(d.rows for d in node_data(with_values(plan, count))) for count in COUNTS]
    for before, after in pairwise(nodes):
        assert after <= before * 1.03 + 2


@settings(deadline=None, max_examples=12)
@given(clusters())
def test_times_and_loads_fall_with_more_values(plan: Plan) -> None:
    def worst(count: int) -> tuple[float, float, float]:
        now = with_values(plan, count)
        seconds = max(restart(now, "node", node_id=d.node_id).duration_s.value for d in node_data(now))
        busy = max(node.ldm_utilisation.value for node in cpu(now, now.workloads[0]).nodes)
        full = redo(now, now.workloads[0]).time_to_full_s
        assert full is not None
        return seconds, busy, -full.value

    found = [worst(count) for count in COUNTS]
    for before, after in pairwise(found):
        for more, less in zip(before, after, strict=True):
            assert less <= more + 0.03 * abs(more) + 0.1


@settings(deadline=None, max_examples=20)
@given(clusters(), st.sampled_from(COUNTS[:-1]))
def test_what_is_said_of_the_fullest_is_what_sets_of_values_do(plan: Plan, count: int) -> None:
    """The fullest partition is that of the mean set of values, and its range holds the middle one."""
    found = _of(with_values(plan, count))
    if found.is_full_copy or found.placement.partitions < 2:
        return
    owners = np.array(found.hash_map)
    partitions = found.placement.partitions
    random = np.random.default_rng(1)
    tried = [
        np.bincount(owners[random.integers(0, len(owners), count)], minlength=partitions).max() / count
        for _ in range(200)
    ]
    shown = float(found.rows[:partitions].max()) / ROWS
    assert shown == pytest.approx(float(np.mean(tried)), rel=0.16)
    assert shown >= 1 / count - 1e-5
    band = fullest(count, np.bincount(owners, minlength=partitions) / len(owners))
    assert band.low <= np.median(tried) * 1.001
    assert np.median(tried) <= band.high * 1.001


@settings(deadline=None, max_examples=10)
@given(clusters(), st.sampled_from(COUNTS))
def test_the_simulation_writes_to_the_log_parts_that_the_estimate_names(plan: Plan, count: int) -> None:
    plan = with_values(plan, count)
    workload = plan.workloads[0]
    scenario = build(Estimation(plan, workload), duration_s=10, step_s=0.1, seed=1)
    page = constant_for(plan, "redo_page_overhead").value
    loads = {load.node_id: load for load in node_loads(plan, workload)}
    for n, node_class in enumerate(scenario.node_classes):
        for node in node_class.nodes:
            rates = dict(loads[node.node_id].redo_by_log_part) if node.node_id in loads else {}
            for part in range(node_class.log_parts):
                log = scenario.laws.load[n, part] * 1000
                assert log == pytest.approx(rates.get(part, 0.0) * page, abs=1e-6)
