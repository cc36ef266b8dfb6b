"""What every connection of a plan is set to, for tests that compare plans."""

from __future__ import annotations

from ndbplan.configuration.connections import connections
from ndbplan.plan.plan import Plan


def effective_connections(plan: Plan) -> dict[tuple[int, int], dict[str, int | str]]:
    """Kind, stated and given values of every connection, by node ids in ascending order."""
    return {
        (min(one.node_ids), max(one.node_ids)): {"section": one.kind, **one.settings.stated, **one.given}
        for one in connections(plan)
    }
