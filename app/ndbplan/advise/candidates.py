"""Every legal single change of a plan that a figure may depend on: what is tried to find what matters.

    for change in single_changes(plan):
        change.title, change.edit(plan)

A parameter goes one sensible step up and down (twice and half of what it is, the next of its choices) and a
kind of threads by one, of all nodes and of one alone; a table gets other partitions; a piece of hardware
becomes the next that can be had, of all hosts of a kind and of one alone; a purpose moves to another disk;
node groups, replicas, SQL nodes and the version change by one. What remedies try against a limit is among
them, and so are the fixes and ways out that checks offer. Of hosts that do the same with the same hardware
one stands for all. Whether a change may be made is for `Legal`, here and for remedies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ndbplan.advise.candidate import Change
from ndbplan.advise.candidate_limits import ADD_GROUP, FASTER_NETWORK, further
from ndbplan.advise.candidate_settings import of_parameters, of_threads
from ndbplan.base.units import format_bytes, how_many
from ndbplan.checks.harm import harm
from ndbplan.checks.layouts import hosts_with_data, layouts, role_name, uses_disk_data
from ndbplan.checks.problem import Problem
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import check_all, find
from ndbplan.checks.unwise.disks import MANY_FILES
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.settings import node_settings
from ndbplan.edits import offers
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import twin_host, without_nodes
from ndbplan.edits.roles import assign_role
from ndbplan.edits.solutions import (
    MOST_CORES,
    NEXT_NETWORK,
    can_have_devices,
    faster_each,
    more_space,
    set_everywhere,
    times_connections,
    times_each,
)
from ndbplan.edits.steps import times_of
from ndbplan.edits.validated import changed
from ndbplan.estimate.load.disk_data import reads_backup
from ndbplan.ndb.version import series_after, series_before
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, DiskRole, SqlNode, process_node_ids
from ndbplan.plan.tables import PartitionBalance
from ndbplan.plan.workloads import OpenLoad, RatePoint, Workload

if TYPE_CHECKING:
    from ndbplan.advise.max_load import MaxLoad

_ROLES = (DiskRole.REDO, DiskRole.LCP, DiskRole.UNDO, DiskRole.DATA_FILES, DiskRole.BACKUP)
_HOST_FIELDS = ("cores", "sockets", "clock_ghz", "core_gain_per_clock", "memory_bytes", "network_bytes_per_s")
_DISK_FIELDS = (
    "kind", "raid", "devices", "capacity_bytes", "sequential_read_bytes_per_s",
    "sequential_write_bytes_per_s", "random_read_iops", "random_write_iops", "sync_write_latency_s",
)  # fmt: skip


_BALANCES = (
    PartitionBalance.FOR_RP_BY_NODE,
    PartitionBalance.FOR_RA_BY_NODE,
    PartitionBalance.FOR_RP_BY_LDM,
    PartitionBalance.FOR_RA_BY_LDM,
    PartitionBalance.FOR_RA_BY_LDM_X_2,
    PartitionBalance.FOR_RA_BY_LDM_X_3,
    PartitionBalance.FOR_RA_BY_LDM_X_4,
)
"""Fewest partitions first."""
_PRICES = ("purchase_price", "monthly_price", "watts")
_THROUGH = ("sql nodes", "api nodes")
_BEYOND = 1.25
"""Times the highest load at which its limit is a problem."""
_RULES = {
    "memory": ("data-memory-fill", "index-memory-fill"),
    "sql nodes": ("client-nodes",),
    "api nodes": ("client-nodes",),
}
"""Rules that offer ways out of what limits a load, by its resource."""


class Legal:
    """Which changes of a plan may be made: no rule finds an error or a warning that it did not find anywhere
    before, nor a worse one.

    The place does not count: a new host has what its twin has, and load moves between disks.
    """

    def __init__(self, plan: Plan) -> None:
        self.problems = find(plan)
        """Of the plan as it is."""

    def __call__(self, after: Plan) -> bool:
        """Whether a changed plan is no worse."""
        return self.hints(after) is not None

    def hints(self, after: Plan) -> int | None:
        """Of how many rules, not found before, a changed plan has hints; None: it may not be made."""
        problems = find(after)
        if harm(self.problems, problems, anywhere=True):
            return None
        return len({one.rule for one in problems} - {one.rule for one in self.problems})


def single_changes(plan: Plan) -> Iterator[Change]:
    """Every change, those of all nodes or hosts before those of one; what cannot be done raises EditError."""
    nodes = [_first_data_node(plan, host) for host in _one_of_each(plan, hosts_with_data(plan))]
    yield from _of_the_whole(plan)
    yield from further(plan)
    yield from of_parameters(plan, nodes)
    yield from of_threads(plan, nodes)
    yield from _of_tables(plan)
    yield from _of_hosts(plan)
    yield from _of_disks(plan)
    yield from _of_roles(plan)
    yield from ways_out(check_all(plan))


def _of_the_whole(plan: Plan) -> Iterator[Change]:
    if plan.data_nodes:
        yield ADD_GROUP
        groups = node_groups(plan)
        if len(groups) > 1:
            edit = partial(without_nodes, node_ids=tuple(node.id for node in groups[-1]))
            yield Change("Without the last node group", edit, "group")
        replicas = node_settings(plan).number("NoOfReplicas")
        for other in (replicas + 1, replicas - 1):
            if 1 <= other <= 4:
                edit = partial(set_everywhere, name="NoOfReplicas", value=other)
                yield Change(f"NoOfReplicas {other}", edit, "replica")
    yield from _of_clients(plan)
    used = {node.host_id for node in plan.management_nodes}
    for host in [host for host in plan.hosts if host.id not in used][-1:]:
        edit = partial(_one_more_management_node, host_id=host.id)
        yield Change(f"One more management node, on {host.hostname}", edit, "management")
    for kept in (plan.backups_kept + 1, plan.backups_kept - 1):
        if kept >= 0:
            edit = partial(edits.set_plan, backups_kept=kept)
            yield Change(f"{how_many(kept, 'backup')} kept at a time", edit, "backup")
    if plan.tablespaces:
        files = partial(more_space, factor=2.0, most_files=MANY_FILES)
        yield Change("Twice as much space in data files", files, "disk")
    for series in (*series_after(plan.version)[:1], *series_before(plan.version)[-1:]):
        edit = partial(edits.set_plan, ndb_version=series)
        yield Change(f"NDB {series} instead of {plan.version}", edit, "version")


def _of_clients(plan: Plan) -> Iterator[Change]:
    """Nodes without data, and the cluster connections of SQL nodes."""
    if plan.sql_nodes:
        yield Change("One more SQL node, on a host like the last one's", _one_more_sql_node, "sql")
        most = max(len(process_node_ids(node)) for node in plan.sql_nodes)
        for times in (2, 0.5) if most > 1 else (2,):
            title = f"Give each SQL node {how_many(int(times * most), 'cluster connection')}"
            doubled = tuple(node.id for node in plan.sql_nodes) if times > 1 else ()
            yield Change(title, partial(times_connections, times=times), "sql", doubles=doubled)
    api_nodes = [slot for slot in plan.api_slots if slot.host_id is not None]
    if api_nodes:
        title = "One more API node, on a host like the last one's"
        yield Change(title, partial(_one_more_api_node, like=api_nodes[-1]), "api")
    for kind, nodes in (("SQL", plan.sql_nodes), ("API", api_nodes), ("management", plan.management_nodes)):
        if len(nodes) > 1:
            edit = partial(without_nodes, node_ids=(nodes[-1].id,))
            yield Change(f"Without {kind} node {nodes[-1].node_id}", edit, kind.lower())


def _one_more_sql_node(plan: Plan) -> Plan:
    last = plan.sql_nodes[-1]
    plan, host_id = twin_host(plan, plan.host(last.host_id))
    new = offers.make_process(plan, "sql", host_id)
    assert isinstance(new, SqlNode)
    return edits.add(plan, new.model_copy(update={"parameters": last.parameters, "options": last.options}))


def _one_more_api_node(plan: Plan, like: ApiSlot) -> Plan:
    assert like.host_id is not None
    plan, host_id = twin_host(plan, plan.host(like.host_id))
    new = offers.make_process(plan, "api", host_id)
    return edits.add(plan, new.model_copy(update={"parameters": like.parameters}))


def _first_data_node(plan: Plan, host: Host) -> DataNode:
    return next(one for one in plan.processes_of_host[host.id] if isinstance(one, DataNode))


def _one_more_management_node(plan: Plan, host_id: str) -> Plan:
    return edits.add(plan, offers.make_process(plan, "management", host_id))


# Tables.


def _of_tables(plan: Plan) -> Iterator[Change]:
    """How many partitions a table has, and which of its replicas are read: what ALTER TABLE changes."""
    for table in plan.tables:
        if plan.features.partition_balance and not table.fully_replicated and table.partitions is None:
            at = _BALANCES.index(table.partition_balance)
            for balance in (*_BALANCES[at + 1 : at + 2], *_BALANCES[max(0, at - 1) : at]):
                title = f"PARTITION_BALANCE {balance.value} of {table.full_name}"
                yield Change(
                    title, partial(edits.update, object_id=table.id, partition_balance=balance), "table"
                )
        if plan.features.read_backup:
            whole = "no" if table.fully_replicated else "yes"
            edit = partial(edits.update, object_id=table.id, fully_replicated=not table.fully_replicated)
            yield Change(f"FULLY_REPLICATED {whole} of {table.full_name}", edit, "table")
        if plan.features.read_backup and not table.fully_replicated:
            other = not reads_backup(table, plan.version)
            title = f"READ_BACKUP {int(other)} of {table.full_name}"
            yield Change(title, partial(edits.update, object_id=table.id, read_backup=other), "table")


# Hardware.


def _of_hosts(plan: Plan) -> Iterator[Change]:
    data = hosts_with_data(plan)
    clients = tuple(
        host for host in plan.hosts if any(p.kind in ("sql", "api") for p in plan.processes_of_host[host.id])
    )
    for name, hosts in (("data nodes", data), ("SQL and API nodes", clients)):
        if len(hosts) > 1:
            yield from _machines(hosts, f"of all {name}")
    if plan.hosts:
        yield FASTER_NETWORK
    for host in _one_of_each(plan, (*data, *clients)):
        yield from _machines((host,), f"of {host.hostname}")


def _one_of_each(plan: Plan, hosts: Iterable[Host]) -> Iterator[Host]:
    """The first of hosts that are equal in hardware and in what runs on them."""
    seen = set()
    for host in hosts:
        runs = tuple(sorted(process.kind for process in plan.processes_of_host[host.id]))
        machine = tuple(getattr(host, name) for name in _HOST_FIELDS)
        disks = tuple(tuple(getattr(disk, name) for name in _DISK_FIELDS) for disk in host.disks)
        if (runs, machine, disks) not in seen:
            seen.add((runs, machine, disks))
            yield host


def _machines(hosts: tuple[Host, ...], whose: str) -> Iterator[Change]:
    first, ids = hosts[0], tuple(host.id for host in hosts)
    for times, word in ((2.0, "Twice"), (0.5, "Half")):
        doubled = ids if times > 1 else ()
        cores = int(min(MOST_CORES, first.cores * times))
        if cores >= 1 and cores != first.cores:
            yield Change(
                f"{word} the cores {whose} ({cores})",
                partial(times_each, hosts=hosts, field="cores", times=times),
                "cores",
                doubles=doubled,
            )
        memory = format_bytes(first.memory_bytes * times)
        yield Change(
            f"{word} the memory {whose} ({memory})",
            partial(times_each, hosts=hosts, field="memory_bytes", times=times),
            "memory",
            doubles=doubled,
        )
    next_clock = times_of("clock_ghz")
    gain = partial(times_each, hosts=hosts, field="clock_ghz", times=next_clock)
    yield Change(f"A clock a quarter faster {whose} ({next_clock * first.clock_ghz:g} GHz)", gain, "cores")
    if len(hosts) == 1:
        faster = partial(times_each, hosts=hosts, field="network_bytes_per_s", times=NEXT_NETWORK)
        yield Change(f"A network link ten times as fast {whose}", faster, "network")


def _of_disks(plan: Plan) -> Iterator[Change]:
    roles = _ROLES if uses_disk_data(plan) else (DiskRole.REDO, DiskRole.LCP, DiskRole.BACKUP)
    seen: set[frozenset[str]] = set()
    for role in roles:
        disks = {d.id: d for node in plan.data_nodes if (d := disk_for(plan, node, role)) is not None}
        if len(disks) > 1 and frozenset(disks) not in seen:
            seen.add(frozenset(disks))
            yield from _swaps(tuple(disks.values()), f"of {role_name(role)} everywhere")
    for host in _one_of_each(plan, hosts_with_data(plan)):
        for disk in host.disks:
            yield from _swaps((disk,), f"{host.hostname}/{disk.name}")


def _swaps(disks: tuple[Disk, ...], which: str) -> Iterator[Change]:
    what = f"the disk {which}" if len(disks) == 1 else f"the disks {which}"
    doubled = f"Twice the devices in {what}"
    if not all(can_have_devices(disk, 2) for disk in disks):
        doubled = f"{what[0].upper()}{what[1:]} twice as fast"
    ids = tuple(disk.id for disk in disks)
    yield Change(doubled, partial(faster_each, disk_ids=ids, times=2), "disk", doubles=ids)
    for model in offers.hardware()["disks"]:
        if any(_differs(disk, model) for disk in disks):
            title = f"{offers.class_text(model)} as {what}"
            yield Change(title, partial(_swapped, ids=[disk.id for disk in disks], key=model["key"]), "disk")


def _differs(disk: Disk, model: dict[str, object]) -> bool:
    return any(name in model and getattr(disk, name) != model[name] for name in _DISK_FIELDS)


def _swapped(plan: Plan, ids: list[str], key: str) -> Plan:
    """Disks that become of another class; names, mount points and roles stay, what they cost is not known."""

    def become(disk: Disk) -> Disk:
        new = offers.make_disk(plan, plan.host_of_disk[disk.id], key)
        return changed(disk, **{name: getattr(new, name) for name in (*_DISK_FIELDS, *_PRICES, "assumed")})

    return edits.update_disks(plan, dict.fromkeys(ids, become))


# Purposes of disks.


def _of_roles(plan: Plan) -> Iterator[Change]:
    for layout in layouts(plan):
        if layout.more_disks <= 1:
            yield Change(layout.title, layout.edit, "role")
    for host in _one_of_each(plan, hosts_with_data(plan)):
        for process in plan.processes_of_host[host.id]:
            if isinstance(process, DataNode):
                yield from _moves(plan, process)


def _moves(plan: Plan, node: DataNode) -> Iterator[Change]:
    for role in _ROLES if uses_disk_data(plan) else (DiskRole.REDO, DiskRole.LCP, DiskRole.BACKUP):
        here = disk_for(plan, node, role)
        for disk in plan.host(node.host_id).disks:
            if disk is not here:
                title = f"{role_name(role)} of data node {node.node_id} on {disk.name}"
                edit = partial(assign_role, process_id=node.id, role=role, disk_id=disk.id)
                yield Change(title, edit, "role")


# What checks offer.


def ways_beyond(plan: Plan, workload: Workload, highest: MaxLoad) -> Iterator[Change]:
    """What checks would offer against what the highest load comes through, were more asked of it.

    They judge the load that is asked: what ends a higher one is no problem of the plan yet.
    """
    resource = highest.limited_by.resource
    if resource in _THROUGH and not highest.is_job and highest.is_enough:
        load = OpenLoad(points=(RatePoint(at_s=0.0, rate_per_s=highest.max_per_s.value * _BEYOND),))
        yield from ways_against(find(edits.update(plan, workload.id, load=load, events=())), resource)


def ways_against(problems: Iterable[Problem], resource: str) -> Iterator[Change]:
    """What checks offer against the problems of what limits a load."""
    for problem in problems:
        if problem.rule in _RULES.get(resource, ()) and problem.solve is not None:
            for way in problem.solve(find).solutions:
                yield Change(way.title, way.edit, "fix", one_of=way.title)


def ways_out(problems: Iterable[Problem]) -> Iterator[Change]:
    """The fix of each problem that is solved, and its ways out."""
    told: set[int] = set()
    for problem in problems:
        ways = [(way.title, way.edit) for way in problem.solutions]
        if problem.edit is not None:
            ways.insert(0, (problem.fix or RULES[problem.rule].title, problem.edit))
        for title, edit in ways:
            # One edit may mend several problems.
            if id(edit) not in told:
                told.add(id(edit))
                yield Change(f"{title[0].upper()}{title[1:]}", edit, "fix")
