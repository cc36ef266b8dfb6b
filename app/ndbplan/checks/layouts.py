"""Ways to lay what data nodes write onto the disks of their hosts: every sensible one, symmetric ones once.

for layout in layouts(plan):
    layout.title, layout.edit, layout.more_disks
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations

from ndbplan.base.units import how_many
from ndbplan.configuration.directories import disk_for
from ndbplan.edits import parts as edits
from ndbplan.edits.ids import NewIds
from ndbplan.edits.validated import changed
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole

_MOST_MORE_DISKS = 3
"""Disks that a layout may add: judgement."""
Groups = tuple[tuple[DiskRole, ...], ...]
"""Roles that share a disk, disk by disk."""


@dataclass(frozen=True)
class Layout:
    """Which roles share which disk on every host with data nodes."""

    groups: Groups
    order: tuple[int, ...]
    """Place, among the host's disks, of the disk of each group; past the last one: a new disk."""
    more_disks: int
    """New disks that each host needs."""

    @property
    def title(self) -> str:
        """The layout in words."""
        parts = [" with ".join(role_name(role) for role in group) for group in self.groups]
        if self.more_disks == 0:
            return f"{' | '.join(parts)} on {how_many(len(parts), 'disk')} of each host"
        alone = "a disk of its own" if len(parts[1:]) == 1 else "disks of their own"
        count = f"{how_many(self.more_disks, 'more disk')} in each host"
        return f"{' and '.join(parts[1:])} on {alone}, apart from {parts[0]} ({count})"

    def edit(self, plan: Plan) -> Plan:
        """The plan with this layout; new disks are like the one that holds the redo log now."""
        ids = NewIds(plan)
        plan = edits.update_each(
            plan, {host.id: partial(self._with_disks, plan, ids) for host in hosts_with_data(plan)}
        )
        given = {node.id: self._roles(plan.host(node.host_id)) for node in plan.data_nodes}
        plan = _with_roles(plan, given)
        return _with_roles(plan, {node.id: _backup_apart(plan, node) for node in plan.data_nodes})

    def _with_disks(self, plan: Plan, ids: NewIds, host: Host) -> Host:
        """A host of the plan with the new disks."""
        nodes = [p for p in plan.processes_of_host[host.id] if isinstance(p, DataNode)]
        model = disk_for(plan, nodes[0], DiskRole.REDO)
        assert model is not None
        for _ in range(self.more_disks):
            roles = self.groups[self.order.index(len(host.disks))]
            host = changed(host, disks=(*host.disks, _like(host, ids, model, roles[0].value)))
        return host

    def _roles(self, host: Host) -> dict[str, str]:
        """The disk of each role on such a host."""
        pairs = zip(self.groups, self.order, strict=True)
        return {role.value: host.disks[place].id for group, place in pairs for role in group}


def _with_roles(plan: Plan, given: Mapping[str, dict[str, str]]) -> Plan:
    """The plan whose data nodes write these roles to these disks; by node and role."""

    def change(node: DataNode) -> DataNode:
        roles = given[node.id]
        return changed(node, disk_roles=node.disk_roles.model_copy(update=roles)) if roles else node

    return edits.update_each(plan, dict.fromkeys(given, change))


def _backup_apart(plan: Plan, node: DataNode) -> dict[str, str]:
    """A disk of backups beside that of the redo log, where they share one and there is another."""
    redo = disk_for(plan, node, DiskRole.REDO)
    if len(plan.host(node.host_id).disks) < 2 or disk_for(plan, node, DiskRole.BACKUP) is not redo:
        return {}
    return {"backup": disk_beside_redo(plan, node, last=True).id}


def role_name(role: DiskRole) -> str:
    """The role as people call it: DATA FILES."""
    return role.value.replace("_", " ").upper()


def _like(host: Host, ids: NewIds, model: Disk, wish: str) -> Disk:
    names = {disk.name for disk in host.disks} | {disk.mount_point for disk in host.disks}
    name = next(
        n for n in (f"{wish}{i or ''}" for i in range(1000)) if n not in names and f"/{n}" not in names
    )
    return model.model_copy(update={"id": ids.of(Disk), "name": name, "mount_point": f"/{name}"})


def hosts_with_data(plan: Plan) -> tuple[Host, ...]:
    """Hosts with data nodes, in the order of the plan."""
    used = {node.host_id for node in plan.data_nodes}
    return tuple(host for host in plan.hosts if host.id in used)


def layouts(plan: Plan) -> Iterator[Layout]:
    """Every layout but those in use: first on the disks that are there, then with more of them.

    Hosts are treated alike, by the places of their disks; nothing comes where hosts differ in disks, or have
    none. Of layouts that differ only by which of several equal disks is used, the first comes.
    """
    hosts = hosts_with_data(plan)
    if not hosts or not all(host.disks for host in hosts):
        return
    kinds = [tuple(_kind(disk) for disk in host.disks) for host in hosts]
    if len({*kinds}) > 1:
        return
    there = len(hosts[0].disks)
    roles = [DiskRole.REDO, DiskRole.LCP]
    if uses_disk_data(plan):
        roles += [DiskRole.UNDO, DiskRole.DATA_FILES]
    in_use = _in_use(plan, roles)
    seen = {_shape(layout, kinds[0]) for layout in in_use if layout.groups}
    first = min((layout.order[0] for layout in in_use), default=0)
    for groups in _partitions(roles):
        for order in _orders(len(groups), there, first):
            layout = Layout(groups, order, max(0, len(groups) - there))
            shape = _shape(layout, kinds[0])
            if layout.more_disks <= _MOST_MORE_DISKS and shape not in seen:
                seen.add(shape)
                yield layout


def _kind(disk: Disk) -> tuple[object, ...]:
    """What tells disks apart for a load."""
    return (
        disk.kind,
        disk.capacity_bytes,
        disk.sequential_read_bytes_per_s,
        disk.sequential_write_bytes_per_s,
        disk.random_read_iops,
        disk.random_write_iops,
        disk.sync_write_latency_s,
        disk.other_load,
    )


def _shape(layout: Layout, kinds: tuple[tuple[object, ...], ...]) -> frozenset[tuple[object, ...]]:
    """The layout without the names of equal disks."""
    return frozenset(
        (group, kinds[place] if place < len(kinds) else "new")
        for group, place in zip(layout.groups, layout.order, strict=True)
    )


def _in_use(plan: Plan, roles: list[DiskRole]) -> list[Layout]:
    used = []
    for node in plan.data_nodes:
        disks = plan.host(node.host_id).disks
        groups: dict[int, list[DiskRole]] = {}
        for role in roles:
            disk = disk_for(plan, node, role)
            assert disk is not None
            groups.setdefault(disks.index(disk), []).append(role)
        used.append(Layout(tuple(tuple(g) for g in groups.values()), tuple(groups), 0))
    # Only what all nodes do alike is what the plan has already.
    return used if len({(each.groups, each.order) for each in used}) == 1 else [replace(used[0], groups=())]


def _partitions(roles: list[DiskRole]) -> Iterator[Groups]:
    """Every way to put the roles into groups, REDO in the first one; fewest groups first."""

    def grown(left: list[DiskRole], groups: Groups) -> Iterator[Groups]:
        if not left:
            yield groups
            return
        role, *rest = left
        for i in range(len(groups)):
            yield from grown(rest, (*groups[:i], (*groups[i], role), *groups[i + 1 :]))
        yield from grown(rest, (*groups, (role,)))

    yield from sorted(grown(roles[1:], ((roles[0],),)), key=len)


def _orders(groups: int, disks: int, redo: int) -> Iterator[tuple[int, ...]]:
    """Disks for so many groups; the redo log stays first where it is, then anywhere. New disks come last."""
    places = [redo, *(place for place in range(disks) if place != redo)]
    new = tuple(range(disks, max(disks, groups)))
    for chosen in permutations(places, min(groups, disks)):
        yield (*chosen, *new)


def uses_disk_data(plan: Plan) -> bool:
    """Whether the plan has tablespaces or tables with columns on disk."""
    return bool(plan.tablespaces) or any(c.storage == "disk" for t in plan.tables for c in t.columns)


def disk_beside_redo(plan: Plan, node: DataNode, last: bool = False) -> Disk:
    """A disk for what must not share the node's REDO disk: best one that no REDO or LCP of the host is on.

    The nodes of a host take such disks in turn. It depends on REDO and LCP only, which no fix moves, so
    whatever else has been moved meanwhile, the same disk comes out. `last`: counted from the end.
    """
    others = [n for n in plan.data_nodes if n.host_id == node.host_id]
    disks = plan.host(node.host_id).disks[:: -1 if last else 1]
    own = disk_for(plan, node, DiskRole.REDO)
    logs = {d.id for n in others if (d := disk_for(plan, n, DiskRole.REDO)) is not None}
    busy = logs | {d.id for n in others if (d := disk_for(plan, n, DiskRole.LCP)) is not None}
    for taken in (busy, logs, {own.id} if own is not None else set()):
        free = [disk for disk in disks if disk.id not in taken]
        if free:
            return free[others.index(node) % len(free)]
    return disks[0]
