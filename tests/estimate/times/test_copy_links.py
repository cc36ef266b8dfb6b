"""From whom a starting data node fetches its rows."""

from __future__ import annotations

from ndbplan.estimate.stored import machines_of
from ndbplan.estimate.times.copy_links import sources_of
from ndbplan.plan.samples import sample_plan


def test_rows_come_from_started_members_of_the_group_else_from_the_others() -> None:
    machines = machines_of(sample_plan("add-nodes"))
    first = machines.groups[0]
    one, two, *more = (each.node_id for each in first)

    def known(*starting: int) -> dict[int, set[int]]:
        return {of: {mate.node_id for mate in mates} for of, mates in sources_of(machines, starting).items()}

    assert known(one) == {one: {two, *more}}
    everybody = {one, two, *more}
    assert known(*everybody) == {each: everybody - {each} for each in everybody}
