"""From the estimates, and from a moment of a simulation, to the loads of each thing on the canvas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.describe.colouring import NOTHING, Colouring, Known, colour_by, disks_written
from ndbplan.describe.overlay import NO_LOADS, Loads
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import JobLoad, Workload

if TYPE_CHECKING:
    from ndbplan.checks.problem import Problem
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.plan.processes import DataNode
    from ndbplan.simulate.moment import Moment


def known_of(plan: Plan) -> Known:
    """What there is to colour a plan by, all but what losses mean and variants, computed here and now."""
    from ndbplan.checks.run import check
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    now: Estimation | None = None
    with keeping():
        try:
            now = Estimation(plan, chosen_workload(plan)).work_out()
        except UserError:
            now = None
        problems = tuple(check(plan))
        return Known(plan, loads_of(plan, now, problems), problems, written=disks_written(plan))


def coloured(plan: Plan, name: str) -> tuple[Loads, Colouring]:
    """A plan coloured by one of the WAYS, computed here and now; KeyError for a name that is none."""
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    known = known_of(plan)
    now = Estimation(plan, chosen_workload(plan))
    return known.loads, colour_by(name, with_searched(name, known, now)) if name else NOTHING


def with_searched(
    name: str, known: Known, now: Estimation | None, cancelled: Callable[[], bool] = lambda: False
) -> Known:
    """The same with what takes a search for this way to colour. Raises Cancelled when told to stop."""
    if now is None or not known.plan.data_nodes:
        return known
    if name == "loss" and not known.losses:
        from ndbplan.describe.losses import judged_losses

        return replace(known, losses=judged_losses(known.plan, cancelled))
    if name == "doubling":
        from ndbplan.advise.doubling import doublings

        with suppress(UserError):
            return replace(known, doublings=doublings(now, cancelled))
    return known


def loads_at_rest(plan: Plan) -> Loads:
    """Loads of a plan without its problems, computed here and now."""
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    with keeping():
        try:
            return loads_of(plan, Estimation(plan, chosen_workload(plan)).work_out(), ())
        except UserError:
            return NO_LOADS


def loads_at(moment: Moment, plan: Plan, at_rest: Loads, carried: float = 1.0) -> Loads:
    """Loads at a moment of a simulation: what it tells replaces the estimates.

    `carried`: transactions at the moment as a share of those that `at_rest` is estimated for; processors and
    network do so much of that.
    """
    by_number = {process.node_id: process.id for process in plan.processes}
    fills = {by_number[n]: fill for n, fill in moment.redo_buffer_fill.items() if n in by_number}
    errors = {by_number[n]: "error" for n in moment.errors if n in by_number}
    idle = _idle_hosts(moment, plan)
    return at_rest._replace(
        disks={**at_rest.disks, **moment.disk_utilisation},
        cpu=_carrying(_without(at_rest.cpu, idle), carried, at_rest.cpu_without_work),
        memory=_without(at_rest.memory, idle),
        network=_carrying(_without(at_rest.network, idle), carried),
        redo_buffers={i: fill for i, fill in fills.items() if i not in moment.down},
        redo_logs={by_number[n]: fill for n, fill in moment.redo_log_fill.items() if n in by_number},
        problems={**at_rest.problems, **errors},
        down=dict.fromkeys((*moment.down, *_disks_of(moment.down, plan)), True),
        starting={by_number[n]: start for n, start in moment.starting.items() if n in by_number},
        slow=moment.disk_speed,
        links=moment.links,
        space={**at_rest.space, **dict.fromkeys(moment.full_disks, 1.0)},
        reorganised=moment.reorganised,
        stopped=moment.stopped,
        stands_still=moment.stands_still,
    )


def carried_at(moment: Moment, workload: Workload | None) -> float:
    """Transactions at a moment as a share of those that the estimates of a workload are for: its most.

    Of a job, which has no rate of its own, all.
    """
    from ndbplan.estimate.load.demand import offered_per_s

    if workload is None or isinstance(workload.load, JobLoad):
        return 1.0
    most_per_s = offered_per_s(workload.load)
    return moment.accepted_per_s / most_per_s if most_per_s > 0 else 1.0


def _without(shares: Mapping[str, float], idle: set[str]) -> dict[str, float]:
    return {object_id: share for object_id, share in shares.items() if object_id not in idle}


def _carrying(
    shares: dict[str, float], carried: float, always: Mapping[str, float] = NO_LOADS.cpu
) -> dict[str, float]:
    """`always`: what of a share no load changes."""

    def at_load(name: str, share: float) -> float:
        still = always.get(name, 0.0)
        return min(1.0, (share - still) * carried + still)

    return {name: at_load(name, share) for name, share in shares.items()}


def _disks_of(down: Iterable[str], plan: Plan) -> list[str]:
    """Disks of hosts that are down."""
    hosts = [part for i in down if isinstance(part := plan.by_id.get(i), Host)]
    return [disk.id for host in hosts for disk in host.disks]


def _idle_hosts(moment: Moment, plan: Plan) -> set[str]:
    """What does not work, and hosts on which nothing does: what the estimates say of them is not so."""
    if moment.stopped:
        return set(plan.by_id)
    idle = set(moment.down)
    for host_id, processes in plan.processes_of_host.items():
        if processes and all(process.id in moment.down for process in processes):
            idle.add(host_id)
    return idle


def loads_of(plan: Plan, now: Estimation | None, problems: Iterable[Problem]) -> Loads:
    """Loads by what was found; without an estimation of the plan there are only its problems."""
    worst: dict[str, str] = {}
    for problem in sorted(problems, key=lambda p: -p.severity.rank):
        if not problem.waived:
            worst.update(dict.fromkeys(problem.object_ids, problem.severity.value))
    if now is None:
        return NO_LOADS._replace(problems=worst)
    nodes = {node.node_id: node for node in plan.data_nodes}
    return Loads(
        disks={demand.disk_id: demand.utilisation.value for demand in now.disks.disks},
        space={disk.disk_id: disk.fill.value for disk in now.disk_space.disks},
        cpu={host.host_id: host.utilisation.value for host in now.cpu.hosts}
        | {nodes[cpu.node_id].id: cpu.ldm_utilisation.value for cpu in now.cpu.nodes},
        cpu_without_work={host.host_id: host.utilisation.value - host.work.value for host in now.cpu.hosts},
        memory=_memory(plan, now, nodes),
        network=_network(now),
        problems=worst,
    )


def _memory(plan: Plan, now: Estimation, nodes: Mapping[int, DataNode]) -> dict[str, float]:
    """Share of each host's memory that its data nodes take, and of each node's DataMemory that rows take."""
    used: dict[str, float] = {}
    fills: dict[str, float] = {}
    for memory in now.memory.nodes:
        node = nodes[memory.node_id]
        if node.host_id is not None:
            used[node.host_id] = used.get(node.host_id, 0.0) + memory.ram_bytes.value
        if memory.data_memory_limit_bytes:
            fills[node.id] = memory.data_memory_bytes.value / memory.data_memory_limit_bytes
    return {host_id: taken / plan.host(host_id).memory_bytes for host_id, taken in used.items()} | fills


def _network(now: Estimation) -> dict[str, float]:
    """Of the link of every host, and of every uplink whose speed is stated."""
    from ndbplan.estimate.loaded import uplinks

    of_hosts = {host.host_id: host.utilisation.value for host in now.network.hosts}
    if now.workload is None:
        return of_hosts
    stated = now.kept(uplinks, now.plan, now.workload)
    return of_hosts | {use.location_id: use.utilisation.value for use in stated}
