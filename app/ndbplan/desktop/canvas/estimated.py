"""From the estimates, and from a moment of a simulation, to what the canvas paints."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.describe.overlay import NO_LOADS, Loads
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.checks.problem import Problem
    from ndbplan.desktop.document.estimates import Estimate
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.simulate.moment import Moment


def loads_of(estimate: Estimate) -> Loads:
    """Loads of an estimate of the window."""
    return _loads(estimate.plan, estimate.now, estimate.problems)


def estimated_loads(plan: Plan) -> Loads:
    """Loads of a plan, computed here and now; a plan too incomplete to estimate has problems only."""
    from ndbplan.checks.run import check
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    now: Estimation | None = None
    with keeping():
        try:
            now = Estimation(plan, chosen_workload(plan)).work_out()
        except UserError:
            now = None
        return _loads(plan, now, check(plan))


def loads_at(moment: Moment, plan: Plan, at_rest: Loads) -> Loads:
    """Loads at a moment of a simulation: what it tells replaces the estimates."""
    by_number = {process.node_id: process.id for process in plan.processes}
    fills = {by_number[n]: fill for n, fill in moment.redo_buffer_fill.items() if n in by_number}
    errors = {by_number[n]: "error" for n in moment.errors if n in by_number}
    idle = _idle_hosts(moment, plan)
    return at_rest._replace(
        disks={**at_rest.disks, **moment.disk_utilisation},
        cpu={host_id: used for host_id, used in at_rest.cpu.items() if host_id not in idle},
        memory={host_id: used for host_id, used in at_rest.memory.items() if host_id not in idle},
        redo_buffers={i: fill for i, fill in fills.items() if i not in moment.down},
        redo_logs={by_number[n]: fill for n, fill in moment.redo_log_fill.items() if n in by_number},
        problems={**at_rest.problems, **errors},
        down=dict.fromkeys((*moment.down, *_disks_of(moment.down, plan)), True),
        starting={by_number[n]: start for n, start in moment.starting.items() if n in by_number},
        slow=moment.disk_speed,
        reorganised=moment.reorganised,
        stopped=moment.stopped,
        stands_still=moment.stands_still,
    )


def _disks_of(down: Iterable[str], plan: Plan) -> list[str]:
    """Disks of hosts that are down."""
    hosts = [part for i in down if isinstance(part := plan.by_id.get(i), Host)]
    return [disk.id for host in hosts for disk in host.disks]


def _idle_hosts(moment: Moment, plan: Plan) -> set[str]:
    """Hosts on which nothing of the cluster works: what the estimates say of them at rest is not so."""
    if moment.stopped:
        return {host.id for host in plan.hosts}
    idle = set(moment.down)
    for host_id, processes in plan.processes_of_host.items():
        if processes and all(process.id in moment.down for process in processes):
            idle.add(host_id)
    return idle


def _loads(plan: Plan, now: Estimation | None, problems: Iterable[Problem]) -> Loads:
    worst: dict[str, str] = {}
    for problem in sorted(problems, key=lambda p: -p.severity.rank):
        if not problem.waived:
            worst.update(dict.fromkeys(problem.object_ids, problem.severity.value))
    if now is None:
        return NO_LOADS._replace(problems=worst)
    return Loads(
        disks={demand.disk_id: demand.utilisation.value for demand in now.disks.disks},
        space={disk.disk_id: disk.fill.value for disk in now.disk_space.disks},
        cpu={host.host_id: host.utilisation.value for host in now.cpu.hosts},
        memory=_memory(plan, now.memory.nodes),
        problems=worst,
    )


def _memory(plan: Plan, nodes: Iterable[Any]) -> dict[str, float]:
    """Share of each host's memory that its data nodes take."""
    hosts = {node.node_id: node.host_id for node in plan.data_nodes}
    used: dict[str, float] = {}
    for node in nodes:
        host_id = hosts.get(node.node_id)
        if host_id is not None:
            used[host_id] = used.get(host_id, 0.0) + node.ram_bytes.value
    return {host_id: taken / plan.host(host_id).memory_bytes for host_id, taken in used.items()}
