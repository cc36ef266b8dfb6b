"""A cluster of so many node groups of one class, laid out by racks, with parameters that suit its hosts.

plan = Builder(begun, client_host).plan(choice, 4, Clients(hosts=2))
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from ndbplan.advise.sizing.choices import Choice
from ndbplan.base.kept import kept_by_identity
from ndbplan.configuration.settings import no_of_replicas, node_settings
from ndbplan.edits import parts as edits
from ndbplan.edits.from_host import CHOSEN, chosen_for, memory_alone
from ndbplan.edits.ids import NewIds
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.validated import EditError
from ndbplan.estimate.stored import dictionary_of
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.origins import SetByProgram
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, DiskRoles, ManagementNode, Process, SqlNode

MOST_NODES = 255
CLIENT_HOST = "sql-"
"""What the names of hosts of SQL nodes begin with."""
MOST_CONNECTIONS = 63
"""Of one SQL node: its own node id and those of its pool."""
_TOOL_SLOTS = 2
"""For programs such as ndb_restore, from anywhere."""
_OF_ITS_HOST = {*CHOSEN, "MaxNoOfExecutionThreads", "ThreadConfig", "IndexMemory"} - {"RedoBuffer", "ODirect"}
"""What a plan states of data nodes and other hosts ask for otherwise."""
_PATHS = frozenset({"DataDir", "FileSystemPath", "FileSystemPathDD", "FileSystemPathDataFiles",
                    "FileSystemPathUndoFiles", "BackupDataDir"})  # fmt: skip
"""Paths on disks that other hosts may not have."""


@dataclass(frozen=True)
class Clients:
    """Hosts that the load comes through, and the cluster connections of each."""

    hosts: int
    connections: int = 1
    """Node ids of the pool of its SQL node, or its API slots."""

    @property
    def nodes(self) -> int:
        """Node ids that they take."""
        return self.hosts * self.connections

    def with_connections(self, times: float) -> Clients:
        """So many times as many in all, by larger pools."""
        return replace(self, connections=min(MOST_CONNECTIONS, _more(self.connections, times)))

    def with_hosts(self, times: float) -> Clients:
        """So many times the hosts, each with one connection until more are needed again."""
        return Clients(_more(self.hosts, times))


def other_hosts(coming: Clients) -> int:
    """Hosts of a cluster beside those of its data nodes: a management node that can arbitrate has its own."""
    return coming.hosts + 1


def _more(count: int, times: float) -> int:
    return max(count + 1, math.ceil(count * times))


@dataclass
class Builder:
    """Makes plans of the same tables and workloads."""

    begun: Plan
    """Without hosts and nodes."""
    clients: Host
    """The class of the hosts of SQL nodes."""
    through_api: bool = False
    """Whether clients come through API slots on those hosts instead."""
    _settled: dict[tuple[Choice, bool], Plan] = field(default_factory=dict)

    def plan(self, choice: Choice, groups: int, clients: Clients, *, most_memory: bool = False) -> Plan:
        """The cluster. Raises EditError where it has more nodes than there are ids.

        `most_memory`: with as much DataMemory as hosts for data nodes alone have room for, which takes longer
        to allocate in a start; else with what fits any host.
        """
        base = self._with_settings(choice, most_memory)
        return _Cluster(base, choice, self.clients, self.through_api).of(groups, clients)

    def data_memory_bytes(self, choice: Choice, *, most_memory: bool = False) -> int:
        """DataMemory that a data node of this class gets."""
        return node_settings(self._with_settings(choice, most_memory)).number("DataMemory")

    def _with_settings(self, choice: Choice, most_memory: bool) -> Plan:
        known = self._settled.get((choice, most_memory))
        if known is None:
            known = self._settled[choice, most_memory] = self._settle(choice, most_memory)
        return known

    def _settle(self, choice: Choice, most_memory: bool) -> Plan:
        """The plan begun, with parameters that the first data node takes from its host."""
        plan = self.begun
        if choice.is_planned:
            return plan
        for name in sorted((_OF_ITS_HOST | _PATHS) & set(plan.parameters.data_node)):
            plan = set_parameter(plan, "data_node", name, None)
        least = _Cluster(plan, choice, self.clients, self.through_api).of(choice.nodes_per_host, Clients(1))
        first = least.data_nodes[0]
        alone = least.replace(processes=tuple(p for p in least.data_nodes if p.host_id == first.host_id))
        larger = memory_alone(alone, first) if most_memory else None
        if larger is not None:
            # What it follows from is the whole cluster, so it does not follow its host later.
            origin = SetByProgram(rule="size", reason=larger.reason)
            alone = set_parameter(alone, "data_node", larger.name, larger.value, origin)
        settled, _ = chosen_for(alone, first)
        settled = _with_room_for_schema(least.replace(parameters=settled.parameters, origins=settled.origins))
        return plan.replace(parameters=settled.parameters, origins=settled.origins)


@dataclass
class _Cluster:
    base: Plan
    choice: Choice
    clients: Host
    through_api: bool

    def of(self, groups: int, coming: Clients) -> Plan:
        count = groups * no_of_replicas(self.base)
        node_ids = self._node_ids(count, coming.nodes + 2 + _TOOL_SLOTS)
        own = _data_nodes(self.base, self.choice, groups)
        ids, racks, near = own.ids.fork(), own.racks, own.racks[:-1]
        hosts, processes = list(own.hosts), list[Process](own.nodes)
        clients = [
            _host(ids, self.clients, f"{CLIENT_HOST}{n + 1}", near[n % len(near)])
            for n in range(coming.hosts)
        ]
        # Away from the data nodes, so that no rack takes the arbitrator along with a replica.
        arbiter = _host(ids, self.clients, "mgm-1", racks[-1])
        hosts += [*clients, arbiter]
        for host in (arbiter, clients[0]):
            node_id = next(node_ids)
            processes.append(
                ManagementNode(id=ids.of_node("management", node_id), node_id=node_id, host_id=host.id)
            )
        for host in clients:
            numbers = [next(node_ids) for _ in range(coming.connections)]
            processes += self._clients_on(ids, numbers, host)
        for _ in range(_TOOL_SLOTS):
            node_id = next(node_ids)
            processes.append(ApiSlot(id=ids.of_node("api", node_id), node_id=node_id))
        return edits.put(self.base, locations=racks, hosts=tuple(hosts), processes=tuple(processes))

    def _clients_on(self, ids: NewIds, node_ids: Sequence[int], host: Host) -> list[Process]:
        """An SQL node with a pool of so many node ids, or as many API slots."""
        if self.through_api:
            return [ApiSlot(id=ids.of_node("api", n), node_id=n, host_id=host.id) for n in node_ids]
        first, *pool = node_ids
        node = SqlNode(
            id=ids.of_node("sql", first), node_id=first, host_id=host.id, pool_node_ids=tuple(pool)
        )
        return [node]

    def _node_ids(self, data: int, others: int) -> Iterator[int]:
        """Of the others: data nodes are from 1, they behind the highest possible one and then below it."""
        most = self.base.features.data_nodes_most
        behind = [*range(most + 1, MOST_NODES + 1), *range(most, data, -1)]
        if data > most:
            raise EditError(f"{data} data nodes; NDB {self.base.version} has {most} at most")
        if others > len(behind):
            raise EditError(f"{data + others} nodes; a cluster has {MOST_NODES} at most")
        return iter(behind)


class _DataNodes(NamedTuple):
    """The data nodes of a cluster, with their hosts."""

    racks: tuple[Location, ...]
    hosts: tuple[Host, ...]
    nodes: tuple[DataNode, ...]
    ids: NewIds
    """For what is not among them."""


@kept_by_identity(size=16)
def _data_nodes(base: Plan, choice: Choice, groups: int) -> _DataNodes:
    """The same objects whatever clients there are, so that what is known of them stays known."""
    ids, replicas = NewIds(base), no_of_replicas(base)
    has_domains = catalogue.knows("DB", "LocationDomainId", base.version)
    racks = tuple(
        Location(
            id=ids.of(Location),
            name=f"Rack {'ABCDEFGHIJ'[n]}",
            location_domain_id=n + 1 if has_domains else None,
        )
        for n in range(max(2, replicas) + 1)
    )
    near = racks[:-1]
    hosts = tuple(
        _host(ids, choice.host, f"data-{n + 1}", near[n % replicas % len(near)])
        for n in range(choice.hosts_for(groups, replicas))
    )
    nodes = []
    for n in range(groups * replicas):
        # Nodes of one group follow one another by their ids: no two of them are on one host.
        group, replica = divmod(n, replicas)
        host = hosts[group // choice.nodes_per_host * replicas + replica]
        roles = DiskRoles(**{role.value: host.disks[place].id for role, place in choice.roles})
        nodes.append(
            DataNode(id=ids.of_node("data", n + 1), node_id=n + 1, host_id=host.id, disk_roles=roles)
        )
    return _DataNodes(racks, hosts, tuple(nodes), ids)


def _with_room_for_schema(plan: Plan) -> Plan:
    """The plan with limits of the dictionary that its tables, and a second copy of one, fit."""
    settings = node_settings(plan)
    for room in dictionary_of(plan, settings):
        highest = catalogue.parameter("DB", room.parameter, plan.version).maximum or 0
        value = min(highest, settings.number(room.parameter) + room.lacks)
        if room.lacks and value > settings.number(room.parameter):
            origin = SetByProgram(rule="size", reason=f"the tables need {room.needed} {room.what}")
            plan = set_parameter(plan, "data_node", room.parameter, value, origin)
    return plan


def _host(ids: NewIds, model: Host, hostname: str, rack: Location) -> Host:
    disks = tuple(disk.model_copy(update={"id": ids.of(Disk)}) for disk in model.disks)
    place: dict[str, Any] = {"id": ids.of(Host), "hostname": hostname, "location_id": rack.id}
    return model.model_copy(update={**place, "disks": disks, "position": None, "slot": None})
