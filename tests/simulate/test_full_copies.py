"""Fully replicated tables: a row is written in every node group, and is one row."""

from __future__ import annotations

import pytest

from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import PartitionBalance
from ndbplan.plan.workloads import OpenLoad, RatePoint
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate


def _plan(groups: int, exponent: float) -> Plan:
    """Inserts into a fully replicated table of few keys, with little log."""
    plan = edits.set_plan(sample_plan("tick-store-8.4"), ndb_version="7.5")
    for _ in range(groups - 1):
        plan = add_node_group(plan)
    plan = set_parameter(plan, "data_node", "NoOfFragmentLogFiles", 4)
    plan = set_parameter(plan, "data_node", "FragmentLogFileSize", 2**24)
    plan = set_parameter(plan, "data_node", "IndexMemory", 2**36)
    table, workload = plan.tables[0], plan.workloads[0]
    plan = edits.update(
        plan,
        table.id,
        fully_replicated=True,
        partition_balance=PartitionBalance.FOR_RP_BY_LDM,
        distribution_key_values=100,
    )
    (transaction,) = workload.transactions
    skewed = tuple(
        one.model_copy(update={"key_choice": "power_law", "key_exponent": exponent})
        for one in transaction.operations
    )
    return edits.update(
        plan,
        workload.id,
        transactions=(transaction.model_copy(update={"operations": skewed}),),
        load=OpenLoad(points=(RatePoint(at_s=0, rate_per_s=63_000),)),
    )


@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("exponent", [0.5, 2.0])
def test_no_more_is_accepted_than_offered_when_a_log_part_is_full(groups: int, exponent: float) -> None:
    plan = _plan(groups, exponent)
    result = simulate(estimation_of(plan, plan.workloads[0].id), duration_s=60)
    assert (result.accepted <= result.offered * (1 + 1e-6)).all()
    assert result.first_error is not None
    assert result.first_error.code == 410
