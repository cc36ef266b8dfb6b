"""Hosts and locations that a cluster lacks to survive a single failure: each addition tried on the plan.

more_places(now, look)       # a management node in a place of its own, hosts of their own for data nodes
"""

from __future__ import annotations

from collections import Counter

from ndbplan.base.units import how_many
from ndbplan.checks.problem import Look, Solution, WaysOut
from ndbplan.checks.solutions import that_mend
from ndbplan.edits import offers
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import twin_host
from ndbplan.edits.roles import move_process
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode


def more_places(now: Estimation, look: Look) -> WaysOut:
    """The fewest of them after which no single failure stops the cluster; none: in words of the rule."""
    plan, crowded = now.plan, _crowded(now.plan)
    small = "a small host without data nodes"
    place = f"{small} in a location of its own" if plan.locations else small
    hosts = f"{how_many(len(crowded), 'data node')} {'hosts' if len(crowded) > 1 else 'a host'} of "
    hosts += "their own" if len(crowded) > 1 else "its own"
    ways = [
        Solution(f"Add a management node on {place}", "it is asked who goes on", _with_arbitrator, buys=True)
    ]
    if crowded:
        why = "like those that they are on now"
        ways = [
            Solution(f"Give {hosts}", why, _uncrowded, buys=True),
            *ways,
            Solution(f"Give {hosts}, and add a management node on {place}", why, _both, buys=True),
        ]
    return WaysOut(that_mend(look, plan, ways, "what-may-fail"), "")


def _crowded(plan: Plan) -> list[DataNode]:
    """Data nodes on hosts that have others, but for the first on each."""
    seen: Counter[str] = Counter()
    found = []
    for node in plan.data_nodes:
        found += [node] if seen[node.host_id] else []
        seen[node.host_id] += 1
    return found


def _uncrowded(plan: Plan) -> Plan:
    for node in _crowded(plan):
        plan, host_id = twin_host(plan, plan.host(node.host_id))
        plan = move_process(plan, node.id, host_id)
    return plan


def _with_arbitrator(plan: Plan) -> Plan:
    location_id = None
    if plan.locations:
        location = offers.make_location(plan)
        plan, location_id = edits.add(plan, location), location.id
    host = offers.make_host(plan, offers.DEFAULT_HOST, location_id)
    plan = edits.add(plan, host)
    return edits.add(plan, offers.make_process(plan, "management", host.id))


def _both(plan: Plan) -> Plan:
    return _with_arbitrator(_uncrowded(plan))
