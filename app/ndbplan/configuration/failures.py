"""What dead parts of a plan do to its nodes: hosts, disks, racks, links become dead nodes and sides.

failures = Failures(plan)
failures.judge(parse_parts(plan, "host:a1,disk:b1/nvme0"))          # sides with their verdicts
course(plan, [Step(parse_parts(plan, "node:1")), Step(cut=(parse_parts(plan, "rack:B"),))])

Which nodes go on is decided by `ndb.survival`; nothing here knows a rule of the product.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ndbplan.base.kept import keeping, kept_by_identity
from ndbplan.base.units import whole_number
from ndbplan.configuration.arrays import may_lose
from ndbplan.configuration.directories import data_node_paths, disk_of_path, disks_of_roles
from ndbplan.configuration.failing_parts import Part, called_in, called_so
from ndbplan.configuration.node_groups import groups_by_number, node_group_ids
from ndbplan.configuration.settings import node_settings
from ndbplan.configuration.space_files import folders_of_files, shares_of_files
from ndbplan.configuration.stated import text_of
from ndbplan.ndb.survival import (
    Arbitration,
    Candidate,
    Cluster,
    Outcome,
    Running,
    Side,
    fail,
    rule_of,
    started_up,
)
from ndbplan.plan.fields import Parameters
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.processes import (
    NODE_GROUP_NONE,
    DataNode,
    DiskRole,
    ManagementNode,
    Process,
    process_node_ids,
)


class Damage(NamedTuple):
    """What dead and cut parts do, before the product decides anything."""

    dead: frozenset[int]
    """Node ids of every kind that are gone."""
    apart: frozenset[frozenset[int]] = frozenset()
    """Sets of node ids that see each other and nobody else."""
    links: frozenset[frozenset[str]] = frozenset()
    """Pairs of host ids that do not reach one another."""


Effect = tuple[frozenset[int], frozenset[frozenset[int]], frozenset[frozenset[frozenset[int]]]]
"""A damage with, in place of hosts that do not reach one another, the node ids on them."""


class Step(NamedTuple):
    """One failure of a course: parts that die at once, and parts that lose sight of the rest."""

    dead: tuple[Part, ...] = ()
    cut: tuple[tuple[Part, ...], ...] = ()
    """Each set of parts loses sight of everything else and stays together."""
    at_s: float | None = None
    """When; None: late enough after the failure before for another arbitrator to be elected."""


class Judged(NamedTuple):
    """What one failure ends in."""

    sides: tuple[Side, ...]
    shut_out: frozenset[int] = frozenset()
    """Data nodes that one other does not reach though the rest reaches both: heartbeats shut them out."""

    @property
    def best(self) -> Side:
        """The side that decides for the cluster: one that goes on, else that asks, else that stops."""
        order = (Outcome.GOES_ON, Outcome.ASKS, Outcome.STOPS)
        return min(self.sides, key=lambda side: order.index(side.verdict.outcome))

    @property
    def stops(self) -> bool:
        """Whether no side goes on."""
        return self.best.verdict.outcome is Outcome.STOPS

    @property
    def split_brain(self) -> bool:
        """Whether more than one side goes on: two living clusters with the same data."""
        return sum(side.after is not None for side in self.sides) > 1


def cluster_of(plan: Plan) -> Cluster:
    """What the product knows of the plan's cluster: groups, who may arbitrate, the rule of its version."""
    groups = {
        number: frozenset(node.node_id for node in members)
        for number, members in groups_by_number(plan).items()
    }
    ids = node_group_ids(plan)
    spare = frozenset(node_id for node_id, group in ids.items() if group == NODE_GROUP_NONE)
    text = str(node_settings(plan).value("Arbitration") or Arbitration.DEFAULT)
    mode = next((m for m in Arbitration if m.lower() == text.lower()), Arbitration.DEFAULT)
    return Cluster(rule_of(plan.version), groups, spare, tuple(_candidates(plan)), mode)


def _candidates(plan: Plan) -> Iterator[Candidate]:
    timeout_ms = _number(node_settings(plan).value("ArbitrationTimeout"))
    for process in plan.processes:
        if isinstance(process, DataNode):
            continue
        rank = _number(node_settings(plan, process).value("ArbitrationRank"))
        if rank not in (1, 2):
            continue
        answers = _number(node_settings(plan, process).value("ArbitrationDelay")) <= timeout_ms
        management = isinstance(process, ManagementNode)
        for node_id in process_node_ids(process):
            yield Candidate(node_id, rank, management, answers)


def _number(value: int | str | None) -> int:
    return value if isinstance(value, int) else whole_number(value or "") or 0


_DISK_DATA = (DiskRole.UNDO, DiskRole.DATA_FILES)


def disks_needed(plan: Plan, process: Process) -> frozenset[str]:
    """Ids of the disks without which a process dies.

    A data node needs those of its redo log and checkpoints, and those of undo log and data files where a role
    is given or the plan has disk data; a disk of backups only fails the backup. Of a management node the disk
    of a DataDir that the plan states; else the plan does not say where its files are.
    """
    if isinstance(process, DataNode):
        has_disk_data = bool(plan.tablespaces or plan.logfile_groups)
        host, shared = plan.host(process.host_id), plan.parameters.data_node
        needed = _disks_of_data_node(process, host, shared, has_disk_data, plan.ndb_version)
        folders = folders_of_files(plan.logfile_groups, plan.tablespaces)
        if not folders:
            return needed
        shares = shares_of_files(folders, host.disks, disks_of_roles(plan, process))
        return needed | {disk.id for of_role in shares.values() for disk, _ in of_role}
    stated = text_of(process.parameters, "DataDir") or (
        text_of(plan.parameters.management, "DataDir") if isinstance(process, ManagementNode) else None
    )
    if process.host_id is None or not stated:
        return frozenset()
    disk_id = disk_of_path(plan.host(process.host_id).disks, stated)
    return frozenset() if disk_id is None else frozenset({disk_id})


@kept_by_identity(size=2048)
def _disks_of_data_node(
    node: DataNode, host: Host, shared: Parameters, has_disk_data: bool, ndb_version: str
) -> frozenset[str]:
    """Ids of the disks without which a data node dies, by the parameters that it shares with the others."""
    disks, mounts = host.disks, tuple([disk.mount_point for disk in host.disks])
    places = {disk.id: place for place, disk in enumerate(disks)}
    roles = tuple([places.get(node.disk_roles.disk_of(role) or "") for role in DiskRole])
    # Folders are called after the node, which tells nodes apart where a disk is mounted at one.
    own = node.node_id if any(_OF_A_NODE in mount for mount in mounts) else None
    kind = mounts, roles, own, id(node.parameters), id(shared), has_disk_data, ndb_version

    def work_out() -> tuple[int, ...]:
        parameters = EMPTY_PLAN.parameters.model_copy(update={"data_node": shared})
        alone = EMPTY_PLAN.replace(
            processes=(node,), hosts=(host,), parameters=parameters, ndb_version=ndb_version
        )
        return tuple(places[disk_id] for disk_id in _needed_disks(alone, node, has_disk_data))

    with keeping() as kept:
        asked = (node.parameters, shared)
        needed = kept.answer(_disks_of_data_node, 256, kind, asked, work_out)
    return frozenset(disks[place].id for place in needed)


_OF_A_NODE = "ndb_"
"""How folders begin that are called after a data node."""


def _needed_disks(plan: Plan, node: DataNode, has_disk_data: bool) -> Iterator[str]:
    disks = plan.host(node.host_id).disks
    if not disks:
        return
    paths, by_roles = data_node_paths(plan, node), disks_of_roles(plan, node)
    place = {
        DiskRole.REDO: paths.redo or paths.file_system,
        DiskRole.LCP: paths.lcp or paths.file_system,
        DiskRole.UNDO: paths.undo_files,
        DiskRole.DATA_FILES: paths.data_files,
    }
    for role, path in place.items():
        given = node.disk_roles.disk_of(role)
        if role in _DISK_DATA and not has_disk_data and given is None:
            continue
        by_role = by_roles[role]
        if by_role is not None and f"{path}/".startswith(f"{by_role.mount_point.rstrip('/')}/"):
            yield by_role.id
        elif (by_path := disk_of_path(disks, path)) is not None:
            yield by_path
        elif by_role is not None:
            yield by_role.id


@dataclass(frozen=True)
class Failures:
    """The plan's cluster at rest, and what any set of its parts does to it; each thing is worked out once."""

    plan: Plan

    @cached_property
    def cluster(self) -> Cluster:
        """What the product knows."""
        return cluster_of(self.plan)

    @cached_property
    def running(self) -> Running:
        """All nodes up, the arbitrator elected. API slots without a host are taken by nobody."""
        nowhere = {
            node_id for p in self.plan.processes if p.host_id is None for node_id in process_node_ids(p)
        }
        return started_up(self.cluster, nowhere)

    @cached_property
    def _host_of_node(self) -> dict[int, str]:
        return {
            node_id: process.host_id
            for process in self.plan.processes
            if process.host_id is not None
            for node_id in process_node_ids(process)
        }

    @cached_property
    def _nodes_at(self) -> dict[str, frozenset[int]]:
        """Node ids by host id."""
        by_host: dict[str, set[int]] = {}
        for node_id, host_id in self._host_of_node.items():
            by_host.setdefault(host_id, set()).add(node_id)
        return {host_id: frozenset(nodes) for host_id, nodes in by_host.items()}

    @cached_property
    def _nodes_of_disk(self) -> dict[str, frozenset[int]]:
        by_disk: dict[str, set[int]] = {}
        for process in self.plan.processes:
            for disk_id in disks_needed(self.plan, process):
                by_disk.setdefault(disk_id, set()).update(process_node_ids(process))
        return {disk_id: frozenset(nodes) for disk_id, nodes in by_disk.items()}

    def _nodes_of_hosts(self, hosts: Iterable[Host]) -> frozenset[int]:
        return frozenset().union(*(self._nodes_at.get(host.id, frozenset()) for host in hosts))

    def nodes_of(self, part: Part) -> frozenset[int]:
        """Node ids of every kind inside a part: those that a dead one takes along (a link has none)."""
        called = called_so(self.plan, part)
        if part.kind == "node":
            return frozenset(n for process in called for n in process_node_ids(process))
        if part.kind in ("disk", "device"):
            disks = [disk for disk in called if isinstance(disk, Disk)]
            ids = [disk.id for disk in disks if part.kind == "disk" or not may_lose(disk)]
            return frozenset().union(*(self._nodes_of_disk.get(disk_id, frozenset()) for disk_id in ids))
        if part.kind == "link":
            return frozenset()
        places = {place.id for place in called if isinstance(place, Location)}
        hosts = [h for h in called if isinstance(h, Host)] or self.plan.hosts_in(places)
        return self._nodes_of_hosts(hosts)

    def damage(self, dead: Iterable[Part] = (), cut: Iterable[Collection[Part]] = ()) -> Damage:
        """What dead and cut parts do together. A dead link or switch kills nobody, it cuts."""
        gone: set[int] = set()
        apart: set[frozenset[int]] = set()
        links: set[frozenset[str]] = set()
        for part in dead:
            if part.kind == "link":
                links |= self._pairs(part)
            elif part.kind == "switch":
                apart.add(self.nodes_of(part))
            else:
                gone |= self.nodes_of(part)
        for together in cut:
            apart.add(frozenset().union(*(self.nodes_of(part) for part in together)))
            for part in together:
                links |= self._pairs(part)
        return Damage(frozenset(gone), frozenset(side for side in apart if side), frozenset(links))

    def _pairs(self, part: Part) -> set[frozenset[str]]:
        if part.kind != "link":
            return set()
        one, other = ([host.id for host in called_in(self.plan).hosts(name)] for name in part.name.split("/"))
        return {frozenset({a, b}) for a in one for b in other if a != b}

    def effect(self, damage: Damage) -> Effect:
        """What a damage does to nodes, wherever they are: only this decides what the cluster then does."""
        if not damage.links:
            return damage.dead, damage.apart, frozenset()
        blind = (frozenset(self._nodes_at.get(host, frozenset()) for host in link) for link in damage.links)
        return damage.dead, damage.apart, frozenset(pair for pair in blind if frozenset() not in pair)

    def judge(
        self, dead: Iterable[Part] = (), cut: Iterable[Collection[Part]] = (), at_s: float | None = None
    ) -> Judged:
        """What the whole cluster does when these parts fail at once."""
        return self.after(self.running, self.damage(dead, cut), at_s)

    def after(self, running: Running, damage: Damage, at_s: float | None = None) -> Judged:
        """What a running cluster does with some damage."""
        if not damage.apart and not damage.links:
            return Judged(fail(self.cluster, running, damage.dead, None, at_s))
        sides, shut_out = self._sides(running, damage)
        return Judged(fail(self.cluster, running, damage.dead | shut_out, sides, at_s), shut_out)

    def unreached(self, damage: Damage, judged: Judged) -> frozenset[int]:
        """Other nodes than data nodes that live and see none of those that go on: they carry no load."""
        up = judged.best.up
        if not up or not (damage.apart or damage.links):
            return frozenset()
        near = [side for side in damage.apart if not up.isdisjoint(side)]
        far = [side for side in damage.apart if up.isdisjoint(side)]
        others = self._host_of_node.keys() - self.cluster.data_nodes - damage.dead
        return frozenset(
            one
            for one in others
            if any(one in side for side in far)
            or any(one not in side for side in near)
            or not any(self._sees(one, node_id, damage.links) for node_id in up)
        )

    def _sides(self, running: Running, damage: Damage) -> tuple[list[frozenset[int]], frozenset[int]]:
        """Node ids that see one another, a set for each side, and data nodes that heartbeats shut out.

        Where a broken link leaves two data nodes that both still see a third, the one that its neighbour in
        the ring of heartbeats watches is shut out (2315; measured 4 of 4). The ring follows the order of
        joining, which no plan knows: the node with the most broken links goes, of equal ones the highest id.
        """
        data = (running.started | running.starting) - damage.dead
        others = running.connected - damage.dead
        by_place: dict[tuple[bool, ...], set[int]] = {}
        apart = sorted(damage.apart, key=sorted)
        for node_id in data | others:
            by_place.setdefault(tuple(node_id in side for side in apart), set()).add(node_id)
        sides: list[frozenset[int]] = []
        shut_out: set[int] = set()
        for place in by_place.values():
            left = place & data
            while left:
                together = self._reached(min(left), left, damage.links)
                left -= together
                while lonely := self._most_alone(together, damage.links):
                    together.discard(lonely)
                    shut_out.add(lonely)
                seen = place & others
                if damage.links:
                    seen = {o for o in seen if all(self._sees(o, n, damage.links) for n in together)}
                sides.append(frozenset(together | seen))
        return sides, frozenset(shut_out)

    def _sees(self, one: int, other: int, links: frozenset[frozenset[str]]) -> bool:
        hosts = frozenset({self._host_of_node.get(one, ""), self._host_of_node.get(other, "")})
        return hosts not in links

    def _reached(self, start: int, among: set[int], links: frozenset[frozenset[str]]) -> set[int]:
        if not links:
            return set(among)
        reached, open_ends = {start}, [start]
        while open_ends:
            node_id = open_ends.pop()
            new = {n for n in among - reached if self._sees(node_id, n, links)}
            reached |= new
            open_ends += new
        return reached

    def _most_alone(self, together: set[int], links: frozenset[frozenset[str]]) -> int:
        """The node of a side that sees the fewest of it; 0 when all see all."""
        if not links:
            return 0
        unseen = {n: sum(not self._sees(n, other, links) for other in together) for n in together}
        worst = max(together, key=lambda n: (unseen[n], n))
        return worst if unseen[worst] else 0


def course(plan: Plan, steps: Sequence[Step]) -> tuple[tuple[Judged, ...], ...]:
    """Failures in turn, each judged on what the one before left: for each step one answer per living cluster.

    More than one lives only after a split brain; none after the cluster has stopped.
    """
    failures = Failures(plan)
    living: tuple[Running, ...] = (failures.running,)
    judgements: list[tuple[Judged, ...]] = []
    for step in steps:
        damage = failures.damage(step.dead, step.cut)
        judged = tuple(failures.after(running, damage, step.at_s) for running in living)
        judgements.append(judged)
        living = tuple(side.after for one in judged for side in one.sides if side.after is not None)
    return tuple(judgements)
