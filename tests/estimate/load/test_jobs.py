"""Jobs that load a fixed number of rows: what they are, how long they take, what limits them."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.advise.max_load import NOT_LOADED, max_load
from ndbplan.base.units import format_duration
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.clipboard import copy, paste
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.demand import at_rate
from ndbplan.estimate.loaded import job_of, rate_of
from ndbplan.plan.events import Burst, NodeFailure
from ndbplan.plan.file import dumps, loads
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import ClosedLoad, JobLoad, JobRows, OpenLoad, RatePoint
from ndbplan.simulate import run
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate
from ndbplan.simulate.simulation import Simulation, Story

JOB = "load-6000"


@pytest.fixture(scope="module")
def terabyte() -> Plan:
    return sample_plan("terabyte-load")


def job(plan: Plan, **fields: Any) -> Plan:
    return edits.update(plan, JOB, load=JobLoad(**fields))


def takes(plan: Plan) -> float:
    found = max_load(estimation_of(plan, JOB))
    assert found.takes_s is not None
    return found.takes_s.value


def test_the_tables_end_with_the_rows_they_state(terabyte: Plan) -> None:
    result = simulate(estimation_of(terabyte, JOB))
    assert result.loaded_after_s is not None
    assert result.duration_s == pytest.approx(result.loaded_after_s.value, abs=2.0), "it ends when loaded"
    node = result.nodes[0]
    held = Estimation(terabyte).memory.nodes[0].data_memory_bytes.value
    assert node.memory[0] < 0.01 * held
    assert node.memory[-1] == pytest.approx(held, rel=0.01)
    found = job_of(terabyte, terabyte.workload(JOB))
    assert found is not None
    accepted = float((result.accepted * result.bucket_s).sum())
    assert accepted == pytest.approx(found.transactions, rel=0.002)


def test_twice_the_threads_or_the_source_take_half_the_time_until_the_cluster_limits(terabyte: Plan) -> None:
    one = job(terabyte, threads=1)
    assert takes(one) == pytest.approx(2 * takes(job(terabyte, threads=2)), rel=0.01)
    slow = job(terabyte, threads=50, source_bytes_per_s=10e6)
    faster = job(terabyte, threads=50, source_bytes_per_s=20e6)
    assert takes(slow) == pytest.approx(2 * takes(faster), rel=0.01)
    found = max_load(estimation_of(slow, JOB))
    assert found.limited_by.resource == "source disk"
    assert max_load(estimation_of(one, JOB)).limited_by.resource == "loader"
    many = max_load(estimation_of(job(terabyte, threads=200), JOB))
    assert many.limited_by.resource not in ("loader", "source disk")
    assert many.max_per_s.value < rate_of(terabyte, job(terabyte, threads=200).workload(JOB))


@pytest.mark.parametrize("rows_per_s", [9_000.0, 30_000.0, 90_000.0])
def test_a_quick_thread_that_sends_one_row_at_a_time_is_as_quick_as_estimated(
    terabyte: Plan, rows_per_s: float
) -> None:
    """A tenth of a millisecond for each transaction was the quickest that was simulated."""
    plan = job(terabyte, threads=1, rows_per_s_per_thread=rows_per_s)
    (transaction,) = plan.workload(JOB).transactions
    operation = validated.changed(transaction.operations[-1], rows=1.0)
    plan = edits.update(plan, JOB, transactions=(validated.changed(transaction, operations=(operation,)),))
    found = job_of(plan, plan.workload(JOB))
    assert found is not None
    result = simulate(estimation_of(plan, JOB), duration_s=20)
    assert float(result.accepted.max()) == pytest.approx(found.rate_per_s.value, rel=0.001)


def test_load_data_is_slower_than_ndb_import(terabyte: Plan) -> None:
    assert takes(job(terabyte, tool="load_data")) > takes(job(terabyte, tool="ndb_import"))
    measured = job(terabyte, tool="load_data", rows_per_s_per_thread=37_000)
    found = job_of(measured, measured.workload(JOB))
    assert found is not None
    assert found.rate_per_s.value == pytest.approx(100, rel=0.01), "370 rows in a transaction"
    assert found.workload.through == "sql"


def test_rows_that_do_not_fit_are_not_loaded(terabyte: Plan) -> None:
    full = max_load(estimation_of(job(terabyte, threads=8, total_bytes=2 * 10**12), JOB))
    assert full.takes_s is None
    assert full.error_code == 827
    assert full.limited_by.resource == "memory"
    assert not full.is_enough


def test_rows_of_one_table_alone(terabyte: Plan) -> None:
    table = terabyte.table("dbt2.stock")
    other = terabyte.table("dbt2.customer")
    plan = job(terabyte, threads=4, rows=(JobRows(table_id=table.id, rows=10_000_000),))
    found = job_of(plan, plan.workload(JOB))
    assert found is not None
    assert dict(found.rows) == {table.id: pytest.approx(10_000_000)}
    before = plan.replace(tables=found.before(plan.tables))
    assert before.table(table.id).rows == table.rows - 10_000_000
    assert before.table(other.id).rows == other.rows
    two = (JobRows(table_id=table.id, rows=10_000_000), JobRows(table_id=other.id, rows=1_000))
    both = job(terabyte, rows=two)
    found = job_of(both, both.workload(JOB))
    assert found is not None
    assert dict(found.rows)[table.id] == pytest.approx(10_000_000)


def test_a_job_goes_through_the_file_and_follows_its_tables(terabyte: Plan) -> None:
    table = terabyte.table("dbt2.stock")
    plan = job(
        terabyte,
        tool="ndb_restore",
        threads=3,
        rows=(JobRows(table_id=table.id, rows=5),),
        source_bytes_per_s=1e8,
    )
    assert loads(dumps(plan)) == plan
    renamed = edits.update(plan, table.id, id="stock2")
    assert renamed.workload(JOB).load.rows[0].table_id == "stock2"
    gone = edits.remove(plan, [table.id])
    assert gone.workload(JOB).load.rows == ()
    pasted, _ = paste(plan, copy(plan, [JOB]))
    assert pasted.workloads[-1].load == plan.workload(JOB).load
    lost = JobLoad(rows=(JobRows(table_id="nothing", rows=1),))
    broken = plan.workload(JOB).model_copy(update={"load": lost})
    with pytest.raises(ValueError, match="no table 'nothing'"):
        Plan.model_validate(plan.model_dump() | {"workloads": [broken.model_dump()]})


def test_every_estimate_takes_a_job(terabyte: Plan) -> None:
    found = Estimation(terabyte, terabyte.workload(JOB))
    assert found.redo.time_to_full_s is not None
    assert found.cpu.clients is not None
    assert found.cpu.clients.through == "api"


def test_a_job_takes_as_long_as_its_events_make_it(terabyte: Plan) -> None:
    small = job(terabyte, threads=4, rows=(JobRows(table_id="stock", rows=20_000_000),))
    alone = takes(small)
    for pause_s in (300.0, 3 * alone):
        event = Burst(at_s=alone / 2, factor=0.0, duration_s=pause_s)
        delayed = edits.update(small, JOB, events=(event,))
        assert takes(delayed) == pytest.approx(alone + pause_s, rel=0.02)


@pytest.mark.parametrize("factor", [0.02, 1e-6])
def test_a_slow_job_is_simulated_in_bounded_steps(
    terabyte: Plan, monkeypatch: pytest.MonkeyPatch, factor: float
) -> None:
    """A load over so many days is answered, or refused with how long it was waited for."""
    taken: list[int] = []
    whole = run.to_the_end

    def counted(story: Story, *rest: Any) -> Simulation:
        taken.append(story.scenario.steps)
        return whole(story, *rest)

    monkeypatch.setattr(run, "to_the_end", counted)
    slow = job(terabyte, threads=1, source_bytes_per_s=65e6 * factor)
    found = max_load(estimation_of(slow, JOB))
    assert sum(taken) < 5_000_000
    asked = job_of(slow, slow.workload(JOB))
    assert asked is not None
    if factor == 1e-6:
        assert found.note == f"{NOT_LOADED} within {format_duration(run.LONGEST_JOB_S)}"
    else:
        assert found.takes_s is not None
        assert found.takes_s.value == pytest.approx(asked.transactions / asked.rate_per_s.value, rel=0.01)


def test_a_job_whose_cluster_stops_never_ends(terabyte: Plan) -> None:
    small = job(terabyte, threads=4, rows=(JobRows(table_id="stock", rows=20_000_000),))
    events = tuple(NodeFailure(at_s=10.0, object_id=node.id) for node in small.data_nodes)
    found = max_load(estimation_of(edits.update(small, JOB, events=events), JOB))
    assert found.takes_s is None
    assert (found.note or "").startswith(NOT_LOADED)
    assert found.limited_by.resource == "nodes"


@pytest.mark.parametrize(("factor", "rate", "count"), [(2.0, 200.0, 20), (0.5, 50.0, 5), (0.01, 1.0, 1)])
def test_a_load_times_a_factor_has_so_many_more_transactions_clients_or_threads(
    terabyte: Plan, factor: float, rate: float, count: int
) -> None:
    def times(load: OpenLoad | ClosedLoad | JobLoad) -> Any:
        return at_rate(terabyte.workload(JOB).model_copy(update={"load": load}), factor).load

    assert times(OpenLoad(points=(RatePoint(at_s=0, rate_per_s=100.0),))).points[0].rate_per_s == rate
    assert times(ClosedLoad(clients=10, latency_s=0.01)).clients == count, "at least one"
    assert times(JobLoad(threads=10)).threads == count


@pytest.mark.parametrize(
    ("alone_s", "most_s"), [(1.0, 2 * 86_400.0), (8640.0, 172_800.0), (10_000.0, 200_000.0), (1e9, 2e6)]
)
def test_a_job_is_waited_for_twenty_times_its_loader_two_days_at_least_and_23_at_most(
    terabyte: Plan, alone_s: float, most_s: float
) -> None:
    assert run.Course(estimation_of(terabyte, JOB), (), 1.0, 1).longest_job_s(alone_s) == most_s
