"""Tables and workloads drawn by hypothesis, put into drawn plans, for laws about estimates."""

from __future__ import annotations

from hypothesis import strategies as st

from drawn_plans import plans
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.plan.workloads import (
    ClosedLoad,
    OpenLoad,
    Operation,
    OperationKind,
    RatePoint,
    Transaction,
    Workload,
)


@st.composite
def tables(draw: st.DrawFn, number: int = 0) -> Table:
    """A table with an integer key, a few columns and perhaps a blob and indexes."""
    columns = [Column(name="k", type="bigint", nullable=False), Column(name="i", type="int")]
    if draw(st.booleans()):
        mean = draw(st.none() | st.integers(0, 900))
        columns.append(Column(name="v", type="varbinary", length=900, average_bytes=mean))
    if draw(st.booleans()):
        size = draw(st.integers(0, 20_000))
        columns.append(Column(name="b", type="blob", average_bytes=size, null_fraction=draw(st.floats(0, 1))))
    kinds = draw(st.lists(st.sampled_from(["ordered", "unique", "unique_hash"]), max_size=2))
    return Table(
        id=f"t{number}",
        database="d",
        name=f"t{number}",
        columns=tuple(columns),
        primary_key=draw(st.sampled_from([("k",), ()])),
        primary_key_using_hash=draw(st.booleans()),
        indexes=tuple(Index(name=f"x{i}", columns=("i",), kind=kind) for i, kind in enumerate(kinds)),
        rows=draw(st.integers(0, 10**8)),
        logging=draw(st.booleans()),
        fully_replicated=draw(st.booleans()),
    )


@st.composite
def workloads(draw: st.DrawFn, table_ids: tuple[str, ...]) -> Workload:
    """A mix of transactions on these tables, open or closed."""
    operations = st.builds(
        Operation,
        table_id=st.sampled_from(table_ids),
        kind=st.sampled_from(OperationKind),
        rows=st.floats(0.5, 50),
    )
    transactions = st.builds(
        Transaction,
        name=st.just("t"),
        weight=st.floats(0.1, 10),
        operations=st.lists(operations, min_size=1, max_size=3).map(tuple),
    )
    open_load = st.lists(st.floats(0, 1e5), min_size=1, max_size=4).map(
        lambda rates: OpenLoad(
            points=tuple(RatePoint(at_s=3600 * i, rate_per_s=r) for i, r in enumerate(rates))
        )
    )
    closed = st.builds(ClosedLoad, clients=st.integers(1, 500), latency_s=st.floats(0, 0.1))
    return Workload(
        id="w",
        name="w",
        transactions=tuple(draw(st.lists(transactions, min_size=1, max_size=2))),
        load=draw(open_load | closed),
    )


@st.composite
def loaded_plans(draw: st.DrawFn) -> Plan:
    """A drawn plan with one to three tables and a workload."""
    plan = draw(plans())
    own = tuple(draw(tables(number=i)) for i in range(draw(st.integers(1, 3))))
    load = draw(workloads(tuple(table.id for table in own)))
    return plan.replace(tables=own, workloads=(load,))
