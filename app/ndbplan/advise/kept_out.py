"""When work on a running cluster is to be kept out of the schedule of a workload, and why.

kept_out(Estimation(plan, workload))[0].why

While a data node is down the others carry its work: none is taken down while more is offered than the cluster
carries without the one whose loss leaves least (the number that `survive` prints of that node). Nor is
anything done beside a backup, which takes the disks, and during which the product starts no node.
"""

from __future__ import annotations

from ndbplan.advise.load_left import load_left
from ndbplan.base.errors import UserError
from ndbplan.base.kept import kept_by_identity
from ndbplan.base.units import format_count
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.maintenance_window import KeptOut, offered
from ndbplan.plan.events import Backup


def kept_out(now: Estimation, traffic_factor: float = 1.0) -> tuple[KeptOut, ...]:
    """Stretches of the workload's schedule; nothing without a schedule, or where estimates lack something.

    `traffic_factor`: what is offered against what the workload states.
    """
    schedule = None if now.workload is None else offered(now.workload)
    if now.workload is None or schedule is None:
        return ()
    found: list[KeptOut] = []
    try:
        left = now.kept(least_load_left_per_s, now)
        if left is not None and traffic_factor > 0:
            why = f"more than the {format_count(round(left))} tx/s carried while a data node is down"
            found = [KeptOut(*stretch, why) for stretch in schedule.above(left / traffic_factor)]
        backups = [event for event in now.workload.events if isinstance(event, Backup)]
        lasts_s = now.backup().duration_s.value if backups else 0.0
    except UserError:
        return tuple(found)
    found += [KeptOut(event.at_s, event.at_s + lasts_s, "backup") for event in backups]
    return tuple(sorted(found, key=lambda one: one.from_s))


@kept_by_identity(8)
def least_load_left_per_s(now: Estimation) -> float | None:
    """Highest load, in tx/s, that is carried without the data node whose absence leaves least.

    None where no data node can be missed: then any work on one stops what it serves, whatever the load. 0
    where rows have no room: no load is carried, with the node or without.
    """
    left = load_left(now)
    each = (left.limited(frozenset({node.node_id})) for node in now.plan.data_nodes)
    return min((rate.value for rate, limit in each if limit is not None), default=None)
