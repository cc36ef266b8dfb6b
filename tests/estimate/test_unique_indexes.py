"""Unique hash indexes are hidden tables: their rows, log and work go where their own keys say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndbplan.base.resources import resource_path
from ndbplan.edits import parts as edits
from ndbplan.edits.validated import changed
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.loaded import chosen_loads, node_loads, stored_loads, table_loads
from ndbplan.estimate.storage.node_data import NodeData
from ndbplan.estimate.storage.row_cost import row_cost, stored_costs
from ndbplan.estimate.stored import distribute, lying, node_data, stored_shares_of
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Index, Table
from ndbplan.plan.workloads import (
    EVENLY,
    OpenLoad,
    Operation,
    OperationKind,
    RatePoint,
    Transaction,
    Workload,
)

_ROWS = 600_000


def _table(*indexes: Index, values: int | None, **fields: Any) -> Table:
    columns = (
        Column(name="w", type="int", nullable=False),
        Column(name="n", type="bigint", nullable=False),
        Column(name="code", type="bigint", nullable=False),
        Column(name="text", type="varchar", length=200, average_bytes=100),
    )
    return Table(
        id="t",
        database="d",
        name="t",
        columns=columns,
        primary_key=("w", "n"),
        distribution_key=("w",),
        distribution_key_values=values,
        indexes=indexes,
        rows=_ROWS,
        **fields,
    )


_UNIQUE = Index(name="by_code", columns=("code",), kind="unique_hash")


def _workload(kind: OperationKind, **fields: Any) -> Workload:
    one = Operation(kind=kind, table_id="t", rows=1, **fields)
    transaction = Transaction(name="one", operations=(one,))
    rate = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=1000),))
    return Workload(id="w", name="w", transactions=(transaction,), load=rate)


def _plan(table: Table, kind: OperationKind = OperationKind.INSERT, **more: Any) -> Plan:
    plan = load(resource_path("samples/terabyte-load.ndbplan"))
    return plan.replace(tables=(table,), workloads=(_workload(kind, **more),))


def _loads(plan: Plan) -> tuple[NodeLoad, ...]:
    return node_loads(plan, plan.workload("w"))


def _hottest(nodes: tuple[NodeLoad, ...]) -> float:
    return max(load.hottest_log_part[1] for load in nodes)


def _fullest(nodes: tuple[NodeData, ...]) -> float:
    return max(data.fullest_ldm.rows for data in nodes)


@pytest.mark.parametrize("kind", [OperationKind.INSERT, OperationKind.UPDATE, OperationKind.DELETE])
def test_entries_are_logged_all_over_the_cluster_though_all_rows_have_one_distribution_key(
    kind: OperationKind,
) -> None:
    bare, indexed = _plan(_table(values=1), kind), _plan(_table(_UNIQUE, values=1), kind)
    before, after = _loads(bare), _loads(indexed)
    # One value: everything in one fragment, so on the members of one node group only.
    assert len([load for load in before if load.redo_bytes_per_s.value]) == 2
    assert len([load for load in after if load.redo_bytes_per_s.value]) == len(indexed.data_nodes)
    more = sum(x.redo_bytes_per_s.value for x in after) - sum(x.redo_bytes_per_s.value for x in before)
    assert more > 0
    # The fullest log part gets its even share of the index's log, not all of it.
    parts = len(indexed.data_nodes) * 4
    assert _hottest(after) - _hottest(before) < 3 * more / parts


def test_rows_of_the_index_lie_evenly_beside_a_table_in_one_fragment() -> None:
    bare, indexed = node_data(_plan(_table(values=1))), node_data(_plan(_table(_UNIQUE, values=1)))
    copies = 2
    assert sum(data.rows for data in indexed) == pytest.approx(2 * copies * _ROWS, rel=1e-6)
    assert _fullest(bare) == pytest.approx(_ROWS, rel=1e-6)
    assert _ROWS < _fullest(indexed) < 1.2 * _ROWS


def test_a_loader_that_takes_values_in_turn_writes_entries_everywhere_all_the_time() -> None:
    plan = _plan(_table(_UNIQUE, values=600), key_choice="in_turn")
    by_index = {load.unique_index: (load, shares) for load, shares in chosen_loads(plan, plan.workload("w"))}
    assert by_index[None][0].choice.kind == "in_turn"
    entries, shares = by_index[0]
    assert entries.choice == EVENLY
    assert not any(share.at_once for share in shares.values())
    assert entries.inserts_per_s == pytest.approx(1000)


def test_an_update_of_another_column_leaves_the_index_alone() -> None:
    plan = _plan(_table(_UNIQUE, values=600), OperationKind.UPDATE, columns=("text",))
    assert [load.unique_index for load in stored_loads(plan, plan.workload("w"))] == [None]


_KINDS = st.sampled_from([OperationKind.INSERT, OperationKind.UPDATE, OperationKind.DELETE])


@settings(deadline=None, max_examples=12)
@given(
    values=st.sampled_from([None, 1, 2, 7, 100, 6000]),
    kind=_KINDS,
    null=st.sampled_from([0.0, 0.3, 1.0]),
    copied=st.booleans(),
    logging=st.booleans(),
)
def test_what_is_told_apart_adds_up(
    values: int | None, kind: OperationKind, null: float, copied: bool, logging: bool
) -> None:
    indexes = (_UNIQUE, Index(name="by_text", columns=("text",), kind="unique"))
    table = _table(*indexes, values=values, fully_replicated=copied, logging=logging)
    text = table.columns[3].model_copy(update={"null_fraction": null})
    table = table.model_copy(update={"columns": (*table.columns[:3], text)})
    plan = _plan(table, kind)
    table, workload = plan.tables[0], plan.workload("w")
    (whole,), apart = table_loads(plan, workload), stored_loads(plan, workload)
    for name in ("write_operations_per_s", "payload_bytes_per_s"):
        assert sum(getattr(one, name) for one in apart) == pytest.approx(getattr(whole, name))
    assert sum(x.redo_bytes_per_s.value for x in apart) == pytest.approx(whole.redo_bytes_per_s.value)
    cost, costs = row_cost(table, plan.version), stored_costs(table, plan.version)
    for name in ("rows", "row_bytes", "checkpoint_bytes"):
        assert sum(getattr(one, name) for one in costs) == pytest.approx(getattr(cost, name))
    copies = len(plan.data_nodes) if copied else 2
    held = node_data(plan)
    assert sum(data.row_bytes for data in held) == pytest.approx(copies * _ROWS * cost.row_bytes)
    for shares in stored_shares_of(plan, table):
        assert sum(share.replicas for share in shares.values()) == pytest.approx(copies)


def test_the_index_of_a_reorganised_table_stays_on_the_map_it_was_made_with() -> None:
    table = _table(_UNIQUE, values=None)
    plan = _plan(table)
    partitions = distribute(plan, plan.tables[0]).placement.partitions
    grown = plan.replace(tables=(table.model_copy(update={"grown_from": (partitions // 2,)}),))
    found = lying(grown)
    assert found is not None
    _, index = found.rows[grown.tables[0].id]
    counts = np.bincount(np.array(index.hash_map))
    assert counts.max() - counts.min() <= 1
    assert int(index.rows.sum()) == _ROWS


def test_a_restart_restores_no_thread_more_than_it_holds() -> None:
    """The fullest LDM thread holds the fragment and its part of the index, not the whole index."""
    from ndbplan.estimate.timed import restart

    bare, indexed = _plan(_table(values=1)), _plan(_table(_UNIQUE, values=1))
    node_id = next(d.node_id for d in node_data(bare) if d.rows)
    lumped = edits.update(bare, "t", rows=2 * _ROWS)

    def seconds(plan: Plan) -> float:
        return restart(plan, "node", node_id=node_id).duration_s.value

    assert seconds(bare) <= seconds(indexed) < seconds(lumped)


@pytest.mark.parametrize("null", [0.0, 0.5, 1.0])
def test_rows_without_a_key_are_in_no_page_of_its_index(null: float) -> None:
    """The hidden table of a unique index has a row for each key: half as many where half are NULL."""
    table = _table(Index(name="by_text", columns=("text",), kind="unique_hash"), values=None)
    text = table.columns[3].model_copy(update={"null_fraction": null, "nullable": True})
    table = table.model_copy(update={"columns": (*table.columns[:3], text)})
    plan, bare = _plan(table), _plan(table.model_copy(update={"indexes": ()}))
    (indexed,), (without,) = Estimation(plan).memory.tables, Estimation(bare).memory.tables
    full = plan.replace(
        tables=(changed(table, columns=(*table.columns[:3], changed(text, null_fraction=0.0))),)
    )
    (whole,) = Estimation(full).memory.tables
    assert without.unique_index_bytes.value == 0 < whole.unique_index_bytes.value
    share = indexed.unique_index_bytes.value / whole.unique_index_bytes.value
    assert share == pytest.approx(1 - null, abs=0.04)
