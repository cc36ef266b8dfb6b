"""Ways out for disks that do not keep up with a workload: other places, more devices, more disks, more nodes.

ways_to_keep_up(now, workload, look)      # REDO and LCP on two disks; disks of two devices; a node group
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby, islice

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_bytes_per_s, how_many
from ndbplan.checks.fits import misfit
from ndbplan.checks.layouts import Layout, hosts_with_data, layouts, role_name
from ndbplan.checks.problem import Edit, Look, Solution, WaysOut
from ndbplan.checks.solutions import completed, ways_out
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits.changes import together
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.solutions import can_have_devices, faster_disk
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload

BUSY = 0.70
"""Of what a disk can do, from where on every burst has to wait."""
_TIMES = (2, 4, 8)
"""How many times the devices are tried."""
_GROUPS = (1, 2, 3, 4, 6, 8)
_LAYOUTS_TRIED = 24


def ways_to_keep_up(now: Estimation, workload: Workload, look: Look) -> WaysOut:
    """Ways in which no disk is busier than BUSY under a workload, those without new hardware first.

    Each is tried with all rules; of one kind, the first that cures and harms nothing is offered.
    """
    kinds = (_laid_out(now, workload), _more_devices(now, workload), _more_groups(now))
    found = []
    for ways in kinds:
        for way in ways:
            if _busiest(now, workload, way.edit) > BUSY:
                continue
            edit, reason = completed(look, now.plan, way.edit, anywhere=way.buys)
            if not reason:
                found.append(Solution(way.title, way.why, edit, way.buys))
                break
    return ways_out(found, "")


def _busiest(now: Estimation, workload: Workload, edit: Edit) -> float:
    """How busy the busiest disk is after an edit; infinity where there is no room for it."""
    try:
        after = edit(now.plan)
    except UserError:
        return float("inf")
    return float("inf") if misfit(now, after) else _use(now.of(after), after.workload(workload.id))


def _use(now: Estimation, workload: Workload) -> float:
    return max((disk.utilisation.value for disk in now.under(workload).disks.disks), default=0.0)


def _laid_out(now: Estimation, workload: Workload) -> Iterator[Solution]:
    """Other places of what is written: the best of each number of disks that it takes."""
    for more, every in groupby(layouts(now.plan), key=lambda layout: layout.more_disks):
        if not _could_do(now, workload, more):
            continue
        layout = min(islice(every, _LAYOUTS_TRIED), key=lambda one: _busiest(now, workload, one.edit))
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
    for times in _TIMES:
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


def _more_groups(now: Estimation) -> Iterator[Solution]:
    """More node groups, which take a share of the load each."""
    replicas = no_of_replicas(now.plan)
    for groups in _GROUPS:
        title = "Add a node group" if groups == 1 else f"Add {groups} node groups"
        why = (
            f"{groups * replicas} hosts more like the last ones; ALTER TABLE ... REORGANIZE PARTITION moves "
            "rows and load there"
        )
        yield Solution(title, why, partial(add_node_group, groups=groups), buys=True)
