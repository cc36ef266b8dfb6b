"""Ways out for what does not keep up with a workload: disks, and the hosts that clients come through.

ways_to_keep_up(now, workload, look)      # REDO and LCP on two disks; disks of two devices; a node group
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby, islice

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_bytes_per_s, how_many
from ndbplan.checks.fits import misfit
from ndbplan.checks.layouts import Layout, hosts_with_data, layouts, role_name
from ndbplan.checks.problem import Edit, Look, Solution, WaysOut
from ndbplan.checks.solutions import completed, ways_out
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits import offers
from ndbplan.edits import parts as edits
from ndbplan.edits.changes import together
from ndbplan.edits.growth import add_node_group, twin_host
from ndbplan.edits.solutions import MOST_CORES, can_have_devices, faster_disk, times_connections
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.cpu import HostCpu
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload

BUSY = 0.70
"""Of what a disk can do, from where on every burst has to wait."""
TIMES_AS_FAST = (2, 4, 8)
"""How many times the devices are tried."""
_GROUPS = (1, 2, 3, 4, 6, 8)
_MOST_CLIENTS = 16
"""Nodes more that anybody would read of: a load that needs more of them is another one."""
_LAYOUTS_TRIED = 24
"""Layouts of disks that are estimated: judgement."""


def ways_to_keep_up(now: Estimation, workload: Workload, look: Look) -> WaysOut:
    """Ways in which no disk is busier than BUSY under a workload, those without new hardware first.

    Each is tried with all rules; of one kind, the first that cures and harms nothing is offered.
    """
    kinds = (_laid_out(now, workload), _more_devices(now, workload), more_groups(now))
    return ways_out(first_of_each(now, kinds, partial(_disk_use, workload=workload), look), "")


def ways_for_clients(now: Estimation, workload: Workload, look: Look) -> WaysOut:
    """Ways in which no host of SQL or API nodes is busier than BUSY under a workload; all are bought."""
    use = partial(_client_use, workload=workload)
    kinds = (_more_cores(now, workload), _more_clients(now, workload, use))
    return ways_out(first_of_each(now, kinds, use, look), "")


def ways_for_connections(now: Estimation, workload: Workload, look: Look) -> WaysOut:
    """Ways in which no cluster connection of SQL or API nodes is busier than BUSY under a workload."""
    use = partial(_connection_use, workload=workload)
    kinds = (_more_connections(now, workload), _more_clients(now, workload, use))
    return ways_out(first_of_each(now, kinds, use, look), "")


def first_of_each(
    now: Estimation,
    kinds: Iterable[Iterator[Solution]],
    use: Callable[[Estimation], float],
    look: Look,
    most: float = BUSY,
) -> tuple[Solution, ...]:
    """Of each kind of ways the first after which nothing is busier than `most`, and that harms nothing."""
    found = []
    for ways in kinds:
        for way in ways:
            if _busiest(now, way.edit, use) > most:
                continue
            edit, reason = completed(look, now.plan, way.edit, anywhere=way.buys)
            if not reason:
                found.append(Solution(way.title, way.why, edit, way.buys))
                break
    return tuple(found)


def _busiest(now: Estimation, edit: Edit, use: Callable[[Estimation], float]) -> float:
    """How busy the busiest of its kind is after an edit; infinity where there is no room for it."""
    try:
        after = edit(now.plan)
    except UserError:
        return math.inf
    return math.inf if misfit(now, after) else use(now.of(after))


def _disk_use(now: Estimation, workload: Workload) -> float:
    demand = now.under(now.plan.workload(workload.id)).disks
    return max((disk.utilisation.value for disk in demand.disks), default=0.0)


def _client_use(now: Estimation, workload: Workload) -> float:
    hosts = _client_hosts(now, now.plan.workload(workload.id))
    return max((host.utilisation.value for host in hosts), default=0.0)


def _connection_use(now: Estimation, workload: Workload) -> float:
    coming = now.under(now.plan.workload(workload.id)).cpu.clients
    nodes = coming.nodes if coming is not None else ()
    return max((node.connection_utilisation.value for node in nodes), default=0.0)


def _client_hosts(now: Estimation, workload: Workload) -> list[HostCpu]:
    """Hosts of the nodes that a workload comes through, the busiest first; those of data nodes aside."""
    cpu = now.under(workload).cpu
    used = {node.host_id for node in cpu.clients.nodes} if cpu.clients is not None else set()
    hosts = [host for host in cpu.hosts if host.host_id in used and not host.data_nodes]
    return sorted(hosts, key=lambda host: -host.utilisation.value)


def _more_cores(now: Estimation, workload: Workload) -> Iterator[Solution]:
    busy = [host for host in _client_hosts(now, workload) if host.utilisation.value > BUSY]
    for times in TIMES_AS_FAST:
        edit: Edit = together(partial(_with_cores, host_id=host.host_id, times=times) for host in busy)
        whose = now.plan.host(busy[0].host_id).hostname if len(busy) == 1 else f"{len(busy)} hosts"
        cores = times * now.plan.host(busy[0].host_id).cores
        title = f"Give {whose} {times} times the cores"
        yield Solution(title, f"{cores} cores; no client has to change", edit, buys=True)


def _with_cores(plan: Plan, host_id: str, times: int) -> Plan:
    return edits.update(plan, host_id, cores=min(MOST_CORES, times * plan.host(host_id).cores))


def _more_connections(now: Estimation, workload: Workload) -> Iterator[Solution]:
    """Larger pools of the SQL nodes that clients come through; an API slot is one connection."""
    coming = now.under(workload).cpu.clients
    if coming is None or coming.through != "sql":
        return
    most = max(node.connections for node in coming.nodes)
    for times in TIMES_AS_FAST:
        title = f"Give each SQL node {how_many(times * most, 'cluster connection')}"
        why = "ndb-cluster-connection-pool with as many node ids; they restart one after the other"
        yield Solution(title, why, partial(times_connections, times=times))


def _more_clients(
    now: Estimation, workload: Workload, use: Callable[[Estimation], float]
) -> Iterator[Solution]:
    """More nodes that clients come through, each on a host like that of the busiest."""
    coming = now.under(workload).cpu.clients
    assert coming is not None
    enough = math.ceil(len(coming.nodes) * use(now) / BUSY) - len(coming.nodes)
    what = "SQL node" if coming.through == "sql" else "API node"
    hosts = _client_hosts(now, workload)
    like = now.plan.host(hosts[0].host_id if hosts else coming.nodes[0].host_id)
    for count in sorted({*(n for n in _GROUPS if n < enough), enough}):
        if count <= _MOST_CLIENTS:
            edit = partial(_with_clients, kind=coming.through, like_id=like.id, count=count)
            each = "" if count == 1 else ", each"
            title = f"Add {how_many(count, what)}{each} on a host like {like.hostname}"
            yield Solution(title, "clients have to be spread over them", edit, buys=True)


def _with_clients(plan: Plan, kind: str, like_id: str, count: int) -> Plan:
    for _ in range(count):
        plan, host_id = twin_host(plan, plan.host(like_id))
        plan = edits.add(plan, offers.make_process(plan, kind, host_id))
    return plan


def _laid_out(now: Estimation, workload: Workload) -> Iterator[Solution]:
    """Other places of what is written: the best of each number of disks that it takes."""
    for more, every in groupby(layouts(now.plan), key=lambda layout: layout.more_disks):
        if not _could_do(now, workload, more):
            continue
        use = partial(_disk_use, workload=workload)
        layout = min(islice(every, _LAYOUTS_TRIED), key=lambda one: _busiest(now, one.edit, use))
        title = _on_disks(now.plan, layout) or layout.title[:1].upper() + layout.title[1:]
        why = f"{how_many(more, 'disk')} more in each host" if more else "it takes no new hardware"
        yield Solution(title, why, layout.edit, buys=more > 0)


def _on_disks(plan: Plan, layout: Layout) -> str:
    """Which roles go to which disk, where these are called alike on all hosts; nothing otherwise."""
    names = {tuple(disk.name for disk in host.disks) for host in hosts_with_data(plan)}
    if layout.more_disks or len(names) != 1:
        return ""
    [called] = names
    parts = (
        f"{', '.join(map(role_name, group))} on {called[place]}"
        for group, place in zip(layout.groups, layout.order, strict=True)
    )
    return f"Put {' and '.join(parts)} of each host"


def _could_do(now: Estimation, workload: Workload, more: int) -> bool:
    """Whether the disks of a host, and so many more, could do its work if it were spread over all alike.

    Only of equal disks that is known beforehand.
    """
    disks = now.under(workload).disks.disks
    for host in {disk.host_id: now.plan.host(disk.host_id) for disk in disks}.values():
        if len({disk.sequential_write_bytes_per_s for disk in host.disks}) > 1:
            continue
        work = sum(disk.utilisation.value for disk in disks if disk.host_id == host.id)
        if work > BUSY * (len(host.disks) + more):
            return False
    return True


def _more_devices(now: Estimation, workload: Workload) -> Iterator[Solution]:
    """The busy disks of more devices, or as fast as that."""
    busy = [disk for disk in now.under(workload).disks.disks if disk.utilisation.value > BUSY]
    for times in TIMES_AS_FAST:
        edit: Edit = together(partial(faster_disk, disk_id=disk.disk_id, times=times) for disk in busy)
        disk = now.plan.by_id[busy[0].disk_id]
        speed = format_bytes_per_s(times * disk.sequential_write_bytes_per_s)
        whose = f"disk {disk.name} of {busy[0].host}" if len(busy) == 1 else f"the {len(busy)} busy disks"
        if can_have_devices(disk, times):
            title = f"Make {whose} of {how_many(times * disk.devices, 'device')}, RAID {_level(disk.raid)}"
        else:
            title = f"Make {whose} {times} times as fast"
        yield Solution(title, f"{speed} each; everything stays where it is", edit, buys=True)


def _level(raid: str | None) -> str:
    return raid or "0"


def more_groups(now: Estimation) -> Iterator[Solution]:
    """More node groups, which take a share of the load each."""
    replicas = no_of_replicas(now.plan)
    for groups in _GROUPS:
        title = "Add a node group" if groups == 1 else f"Add {groups} node groups"
        why = (
            f"{groups * replicas} more hosts like the last ones; ALTER TABLE ... REORGANIZE PARTITION moves "
            "rows and load there"
        )
        yield Solution(title, why, partial(add_node_group, groups=groups), buys=True)
