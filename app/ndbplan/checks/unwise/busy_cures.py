"""Ways out for processors of data nodes and networks that do not keep up with a workload.

ways_for_processors(now, workload, look)      # more cores for the hosts of data nodes; a node group
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ndbplan.base.units import format_bytes_per_s
from ndbplan.checks.problem import Edit, Look, Solution, WaysOut
from ndbplan.checks.solutions import ways_out
from ndbplan.checks.unwise.load_cures import TIMES_AS_FAST, first_of_each, more_groups
from ndbplan.edits.solutions import MOST_CORES, NEXT_NETWORK, faster_network, times_each
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.loaded import uplinks
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload


def ways_for_processors(now: Estimation, workload: Workload, look: Look) -> WaysOut:
    """Ways in which no LDM thread, and no host of data nodes, is busier than BUSY under a workload."""
    use = partial(_processor_use, workload=workload)
    return ways_out(first_of_each(now, (_more_cores(now), more_groups(now)), use, look), "")


def ways_for_networks(now: Estimation, workload: Workload, look: Look) -> WaysOut:
    """Ways in which no network of a host or location is busier than BUSY under a workload."""
    use = partial(_network_use, workload=workload)
    return ways_out(first_of_each(now, (_faster_network(now), more_groups(now)), use, look), "")


def _processor_use(now: Estimation, workload: Workload) -> float:
    cpu = now.under(now.plan.workload(workload.id)).cpu
    threads = [node.ldm_utilisation.value for node in cpu.nodes]
    hosts = [host.utilisation.value for host in cpu.hosts if host.data_nodes]
    return max((*threads, *hosts), default=0.0)


def _network_use(now: Estimation, workload: Workload) -> float:
    load = now.plan.workload(workload.id)
    hosts = [host.utilisation.value for host in now.under(load).network.hosts]
    return max((*hosts, *(one.utilisation.value for one in uplinks(now.plan, load))), default=0.0)


def _more_cores(now: Estimation) -> Iterator[Solution]:
    """More cores where the threads of data nodes follow them, as they do by AutomaticThreadConfig."""
    ids = {node.host_id for node in now.plan.data_nodes}
    hosts = [host for host in now.plan.hosts if host.id in ids]
    for times in TIMES_AS_FAST:
        most = max((times * host.cores for host in hosts), default=MOST_CORES + 1)
        if most <= MOST_CORES:
            edit: Edit = partial(_with_cores, ids=frozenset(ids), times=times)
            title = f"Give the hosts of data nodes {times} times the cores"
            yield Solution(title, f"{most} cores at most; threads and log parts follow", edit, buys=True)


def _with_cores(plan: Plan, ids: frozenset[str], times: int) -> Plan:
    return times_each(plan, [host for host in plan.hosts if host.id in ids], "cores", times)


def _faster_network(now: Estimation) -> Iterator[Solution]:
    slowest = min((host.network_bytes_per_s for host in now.plan.hosts), default=0.0)
    for times in (NEXT_NETWORK, NEXT_NETWORK**2):
        title = f"Make all network links {times:g} times as fast"
        why = f"the slowest carries {format_bytes_per_s(times * slowest)} each way then"
        yield Solution(title, why, partial(faster_network, times=times), buys=True)
