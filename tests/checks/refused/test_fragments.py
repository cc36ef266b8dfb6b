"""How many partitions a table may have, as running clusters took and refused them (error 1224)."""

from __future__ import annotations

import pytest

from ndbplan.edits.parts import set_plan, update
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, Table
from one_rule import of_rule
from reality.cluster import cluster_plan


def table(name: str, partitions: int | None) -> Table:
    key = Column(name="id", type="int", nullable=False)
    return Table(
        id=name, database="test", name=name, columns=(key,), primary_key=("id",), partitions=partitions
    )


def refused(plan: Plan) -> list[str]:
    return [problem.where for problem in of_rule(plan, "too-many-fragments")]


@pytest.mark.parametrize(
    ("nodes", "threads", "taken", "not_taken"), [(2, 3, 8, 16), (2, 3, 8, 9), (2, 8, 32, 33)]
)
def test_numbers_that_7_4_10_took_and_refused(nodes: int, threads: int, taken: int, not_taken: int) -> None:
    """MaxNoOfExecutionThreads of 3 and 8 make 1 and 4 LDM threads."""
    for partitions, answer in ((taken, []), (not_taken, ["table test.t"])):
        plan = cluster_plan(table("t", partitions), nodes, MaxNoOfExecutionThreads=threads)
        assert refused(plan) == answer


def test_groups_that_get_unequal_shares_take_less() -> None:
    """6 nodes with 2 LDM threads took 40 and refused 48: the first fragment is in the first group again."""
    plan = cluster_plan(table("a", 40), nodes=6)
    assert refused(plan) == []
    assert refused(plan.replace(tables=(*plan.tables, table("b", 48)))) == ["table test.b"]


def test_8_4_8_takes_twice_as_many() -> None:
    """4 nodes with 1 LDM thread refused 40; 16 of a table in an LDM thread make 32."""
    of_4 = set_plan(cluster_plan(table("t", 40), nodes=4, MaxNoOfExecutionThreads=2), ndb_version="8.4.8")
    assert refused(of_4) == ["table test.t"]
    assert refused(update(of_4, "t", partitions=32)) == []
    assert refused(update(of_4, "t", partitions=33)) == ["table test.t"]
    assert refused(set_plan(update(of_4, "t", partitions=32), ndb_version="7.4.10")) == ["table test.t"]


def test_what_is_offered_is_the_most_that_is_taken() -> None:
    plan = cluster_plan(table("t", 1000), MaxNoOfExecutionThreads=8)
    (found,) = of_rule(plan, "too-many-fragments")
    assert [one.title for one in found.solutions] == ["Leave PARTITIONS out", "Have 32 partitions"]
    assert all(refused(one.edit(plan)) == [] for one in found.solutions if one.edit is not None)
    assert not refused(cluster_plan(table("t", None), nodes=6))
