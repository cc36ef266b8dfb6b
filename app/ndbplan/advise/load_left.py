"""What load the survivors of a failure carry: each limit of the whole cluster, changed by who took over what.

load_left(Estimation(plan, workload)).per_s(dead={3, 51})

Closed form: processors, links, disks and the nodes that clients come through, at one moment, and whether
rows that the load adds have any room then. How long a load may last while rows grow is what `max_load`
answers. The survivors of a node group read for its dead members and write what they wrote before, for every
replica writes every change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from ndbplan.base.kept import keeping, kept_by_identity, same
from ndbplan.base.quantity import Quantity, Term
from ndbplan.configuration.settings import replicas_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.checkpoint import CheckpointEstimate
from ndbplan.estimate.load.checkpoint_room import sequential_write_bytes_per_s
from ndbplan.estimate.load.checkpoint_speed import checkpoint_share
from ndbplan.estimate.load.cpu import node_cpu
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.network import Written, data_node_link
from ndbplan.estimate.loaded import client_processes, full_rooms, node_loads_by_id
from ndbplan.estimate.narrowed import narrowed
from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.estimate.stored import machines_of
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.processes import ApiSlot, DataNode, DiskRole, Process, SqlNode
from ndbplan.simulate.bottleneck import Bottleneck, full_of
from ndbplan.simulate.model.load_over_time import Service, services

_NOTHING = Quantity.exact(0.0, "tx/s")


class _Use(NamedTuple):
    """What one data node asks of its host, at the workload's rate."""

    ldm: float
    cores: float
    link: float
    reads: float


class _Limit(NamedTuple):
    """One limit of the whole cluster, and whose failure changes it."""

    of: Bottleneck
    whole: Quantity
    field: str
    """What of `_Use` it goes by; clients: their number; log: nothing changes it; nothing: uplinks, rooms."""
    nodes: tuple[int, ...]
    """Data nodes whose work it holds."""
    concerned: tuple[int, ...]
    """Every node on it."""


@dataclass(frozen=True, eq=False)
class LoadLeft:
    """The limits of one plan under one workload; what is asked again is answered from before."""

    machines: Machines
    """With what figures of loads read of them."""
    offered_per_s: float
    """The workload's peak."""
    processes: tuple[Process, ...]
    """All of the plan."""
    _loads: Mapping[int, NodeLoad]
    _services: tuple[Service, ...]
    _full_rooms: tuple[tuple[int, int], ...]
    """Error code and node id of data nodes that have no room for a row."""
    _checkpoint: CheckpointEstimate | None
    """None: no node writes its log to a disk of its checkpoints."""
    _coming: tuple[SqlNode | ApiSlot, ...]
    """What clients come through."""

    @cached_property
    def _nodes(self) -> dict[int, DataNode]:
        return {machine.node_id: machine.node for machine in self.machines.nodes}

    @cached_property
    def _processes(self) -> dict[str, Process]:
        return {process.id: process for process in self.processes}

    @cached_property
    def _hosts(self) -> dict[str, Host]:
        """Of data nodes, by the ids of their disks."""
        return {disk.id: one.host for one in self.machines.nodes for disk in one.host.disks}

    @cached_property
    def _on_host(self) -> dict[str | None, list[Process]]:
        found: dict[str | None, list[Process]] = {}
        for process in self.processes:
            found.setdefault(process.host_id, []).append(process)
        return found

    @cached_property
    def _mates(self) -> dict[int, frozenset[int]]:
        """The other members of each data node's group."""
        groups = [frozenset(node.node_id for node in group) for group in self.machines.groups]
        return {node_id: group - {node_id} for group in groups for node_id in group}

    @cached_property
    def _whole(self) -> dict[int, _Use]:
        return {node_id: self._use(node_id, frozenset(), len(self._loads)) for node_id in self._loads}

    @cached_property
    def _uses(self) -> dict[tuple[object, ...], _Use]:
        return {}

    def _load(self, node_id: int, dead_mates: frozenset[int]) -> NodeLoad:
        """The node's load when it and the other survivors of its group share the reads of the dead ones."""
        own = self._loads[node_id]
        if not dead_mates:
            return own
        sharing = len(self._mates[node_id] - dead_mates) + 1
        taken = [self._loads[mate] for mate in dead_mates if mate in self._loads]

        return replace(
            own,
            first=None,
            reads_per_s=own.reads_per_s + sum(mate.reads_per_s for mate in taken) / sharing,
            read_operations_per_s=own.read_operations_per_s
            + sum(mate.read_operations_per_s for mate in taken) / sharing,
            scanned_rows_per_s=own.scanned_rows_per_s
            + sum(mate.scanned_rows_per_s for mate in taken) / sharing,
            write_payload_bytes_per_s=own.write_payload_bytes_per_s
            + sum(mate.write_payload_bytes_per_s for mate in taken) / sharing,
            read_payload_bytes_per_s=own.read_payload_bytes_per_s
            + sum(mate.read_payload_bytes_per_s for mate in taken) / sharing,
        )

    @cached_property
    def _kinds(self) -> dict[int, tuple[object, ...]]:
        """By node id what tells a node apart: those that do the same on such hosts are alike here."""
        kinds: dict[int, tuple[object, ...]] = {}
        for node_id, load in self._loads.items():
            machine = self.machines.by_id[node_id]
            host = machine.host
            speed = host.clock_ghz, host.core_gain_per_clock, host.network_bytes_per_s
            kinds[node_id] = id(load.alike), id(machine.threads), *speed
        return kinds

    def _use(self, node_id: int, dead_mates: frozenset[int], up: int) -> _Use:
        key: tuple[object, ...] = (self._kinds[node_id], up)
        if dead_mates:
            mates = [id(self._loads[mate].alike) if mate in self._loads else 0 for mate in dead_mates]
            key = (*key, len(self._mates[node_id]) - len(dead_mates), *sorted(mates))
        use = self._uses.get(key)
        if use is None:
            machines = self.machines
            machine, load = machines.by_id[node_id], self._load(node_id, dead_mates)
            busy = node_cpu(machine, load, machines.constants)
            link = data_node_link(machines, load, up, self._written)
            reads = load.reads_per_s + load.scanned_rows_per_s
            use = _Use(busy.ldm_utilisation.value, busy.work_cores.value, link.value, reads)
            self._uses[key] = use
        return use

    @cached_property
    def _written(self) -> Written:
        loads = self._loads.values()
        writes = sum(load.writes_per_s for load in loads) / replicas_of(self.machines.settings)
        reads = sum(load.reads_per_s + load.scanned_rows_per_s for load in loads)
        return Written(sum(load.write_payload_bytes_per_s for load in loads), writes, reads)

    @cached_property
    def _limits(self) -> tuple[_Limit, ...]:
        """Every limit of the whole cluster, with what it concerns."""
        of_services = [(one, _of_service(one)) for one in self._services]
        limits = [self._limit(one, whole) for one, whole in [*of_services, *self._log_limits()]]
        return (*self._full(), *limits)

    def _full(self) -> Iterator[_Limit]:
        """Room on data nodes that rows of the load would need and that is used up: none gets in anywhere."""
        for code, node_id in self._full_rooms:
            of = full_of(code, node_id, 1.0, (self._nodes[node_id].id,))
            term = Term(f"{of.text} is full before the first row is added", 0.0, "tx/s", "formula")
            yield _Limit(of, Quantity.exact(0.0, "tx/s", (term,)), "", (), ())

    def _limit(self, service: Service, whole: Quantity) -> _Limit:
        of = Bottleneck(service.resource, service.where, 1.0, service.object_ids)
        subject = self._processes.get(service.object_ids[0]) if service.object_ids else None
        if isinstance(subject, DataNode):
            return _Limit(of, whole, "ldm", (subject.node_id,), (subject.node_id,))
        if isinstance(subject, SqlNode | ApiSlot):
            return _Limit(of, whole, "clients", (), (subject.node_id,))
        host = self._hosts.get(service.object_ids[0])
        host_id = host.id if host is not None else service.object_ids[0]
        on_host = self._on_host.get(host_id, ())  # none: the uplink of a location
        nodes = tuple(p.node_id for p in on_host if p.node_id in self._loads)
        concerned = tuple(process.node_id for process in on_host)
        if not nodes:
            return _Limit(of, whole, "clients" if concerned else "", (), concerned)
        field = {"cpu": "cores", "network": "link", "disk": "log"}.get(service.resource, "reads")
        return _Limit(of, whole, field, nodes, concerned)

    def _log_limits(self) -> Iterator[tuple[Service, Quantity]]:
        """What each disk of the redo log takes, beside a checkpoint that writes to it."""
        rate, constants = self.offered_per_s, self.machines.constants
        written: dict[str, tuple[Disk, list[tuple[DataNode, float]]]] = {}
        shares: set[str] = set()
        for node_id, load in self._loads.items():
            machine, bytes_per_s = self.machines.by_id[node_id], load.redo_bytes_per_s.value
            disk = machine.disks[DiskRole.REDO]
            if disk is not None and bytes_per_s > 0:
                written.setdefault(disk.id, (disk, []))[-1].append((machine.node, bytes_per_s))
                if _shares_disk(machine):
                    shares.add(disk.id)
        for disk_id, (disk, nodes) in written.items():
            shared = disk_id in shares
            speed = sequential_write_bytes_per_s(disk, 2 if shared else 1, constants)
            free = max(0.001, 1.0 - disk.other_load)
            asked = sum(bytes_per_s for _, bytes_per_s in nodes) / rate
            where = f"{self._hosts[disk_id].hostname} {disk.name}"
            left = speed.named(f"writing of {where}") * free
            if shared:
                left *= 1 - self._checkpoint_share([node for node, _ in nodes])
            limit = (left / asked).in_unit("tx/s")
            yield Service("disk", where, limit.value, (disk_id,), limit.low, limit.high), limit

    def _checkpoint_share(self, nodes: Sequence[DataNode]) -> Quantity:
        """Share of a disk that checkpoints of these nodes take from their log."""
        assert self._checkpoint is not None
        checkpoints = (self._checkpoint.node(node.node_id) for node in nodes)
        ldms = sum(one.threads for one in checkpoints if one is not None)
        parts = sum(rate > 0 for node in nodes for _, rate in self._loads[node.node_id].redo_by_log_part)
        first, constants = self.machines.by_id[nodes[0].node_id], self.machines.constants
        return checkpoint_share(first.settings, first.small_log_files, constants, ldms, parts)

    @property
    def refused_by(self) -> Bottleneck | None:
        """What is full before the first row is added; None: rows get in, or nobody sends any."""
        limit = self.lowest(())[1]
        return None if limit is None or limit.whole.value > 0 else limit.of

    def least(self, counts: Callable[[Bottleneck], bool]) -> float:
        """The lowest of those limits of the whole cluster that count, transactions per second."""
        if self.offered_per_s <= 0 or not self._loads:
            return 0.0
        return min((one.whole.value for one in self._limits if counts(one.of)), default=math.inf)

    def per_s(self, dead: Collection[int]) -> Quantity:
        """Highest rate that what is left carries when these nodes (of any kind) are gone, in transactions/s.

        0 when a node group or every client is among them, nobody sends anything, or no row gets in.
        """
        return self.limited(dead)[0]

    def limited(self, dead: Collection[int]) -> tuple[Quantity, Bottleneck | None]:
        """The rate of `per_s`, and what limits it; None: there is nothing that could carry any.

        Where no row gets in the rate is 0 and what is full limits it.
        """
        value, limit = self.lowest(dead)
        if limit is None:
            return _NOTHING, None
        part = value / limit.whole.value if limit.whole.value else 1.0
        why = (
            Term(
                f"limit of the whole cluster: {limit.of.text}",
                limit.whole.value,
                "tx/s",
                "formula",
                limit.whole.why,
            ),
            Term("part of it that is left", part, "fraction", "formula"),
        )
        return limit.whole.scaled(part, "tx/s", why), limit.of

    def lowest(self, dead: Collection[int]) -> tuple[float, _Limit | None]:
        """The value of `per_s` alone, and the limit of the whole cluster that it is a part of; None: 0."""
        gone = frozenset(dead)
        if self.offered_per_s <= 0 or not self._loads:
            return 0.0, None
        if any(self._mates[node_id] <= gone for node_id in gone & self._mates.keys()):
            return 0.0, None
        spread = 1.0 - len(gone & self._clients) / len(self._clients) if self._clients else 1.0
        if spread <= 0.0:
            return 0.0, None
        up = len(self._loads.keys() - gone)
        near = gone.union(*(self._mates.get(node_id, frozenset()) for node_id in gone))
        value, limit = next(
            (
                (value, limit)
                for value, limit in self._undisturbed(up, spread)
                if near.isdisjoint(limit.concerned)
            ),
            (float("inf"), None),
        )
        for number in {number for node_id in near for number in self._limits_of.get(node_id, ())}:
            disturbed = self._limits[number]
            left = disturbed.whole.value * self._share(disturbed, gone, up, spread)
            if left < value:
                value, limit = left, disturbed
        return (value, limit) if limit is not None else (0.0, None)

    def _undisturbed(self, up: int, spread: float) -> tuple[tuple[float, _Limit], ...]:
        """The limits when nobody near them failed, but so many data nodes are up in all; lowest first."""
        limits = self._kept.get((up, spread))
        if limits is None:
            nobody: frozenset[int] = frozenset()
            values = [(one.whole.value * self._share(one, nobody, up, spread), one) for one in self._limits]
            limits = self._kept[up, spread] = tuple(sorted(values, key=lambda pair: pair[0]))
        return limits

    @cached_property
    def _clients(self) -> frozenset[int]:
        """The nodes that clients come through."""
        return frozenset(process.node_id for process in self._coming)

    @cached_property
    def _limits_of(self) -> dict[int, list[int]]:
        """Limits that a node's failure, or its mates', changes; by their number."""
        numbers: dict[int, list[int]] = {}
        for number, limit in enumerate(self._limits):
            for node_id in limit.concerned:
                numbers.setdefault(node_id, []).append(number)
        return numbers

    @cached_property
    def _kept(self) -> dict[tuple[int, float], tuple[tuple[float, _Limit], ...]]:
        return {}

    def _share(self, limit: _Limit, gone: frozenset[int], up: int, spread: float) -> float:
        """What part of a limit is left: infinite when what it limits is gone, so that it limits nothing."""
        if not limit.concerned or (not gone and up == len(self._loads) and spread == 1.0):
            return 1.0
        if gone.issuperset(limit.nodes or limit.concerned):
            return float("inf")
        if limit.field == "clients":
            return spread
        if limit.field == "log":
            return 1.0
        before = after = 0.0
        for node_id in limit.nodes:
            before += getattr(self._whole[node_id], limit.field)
            if node_id not in gone:
                dead_mates = self._mates.get(node_id, frozenset()) & gone
                after += getattr(self._use(node_id, dead_mates, up), limit.field)
        return before / after if after > 0 and before > 0 else 1.0


def load_left(now: Estimation) -> LoadLeft:
    """Of a plan under a workload: one object for all plans that agree in what limits their load."""
    assert now.workload is not None
    plan, workload, offered_per_s = now.plan, now.workload, now.offered_per_s
    with keeping(now.kept):
        machines, loads = narrowed(machines_of(plan)), node_loads_by_id(plan, workload)
        coming = same(client_processes(plan, workload))
        if offered_per_s <= 0 or not loads:
            return LoadLeft(machines, offered_per_s, plan.processes, loads, (), (), None, coming)
        shared = any(_shares_disk(machines.by_id[node_id]) for node_id in loads)
        return _kept(
            machines,
            offered_per_s,
            plan.processes,
            loads,
            services(plan, workload),
            full_rooms(plan, workload),
            now.checkpoint if shared else None,
            coming,
        )


@kept_by_identity(size=16)
def _kept(*pieces: Any) -> LoadLeft:
    return LoadLeft(*pieces)


def _shares_disk(machine: Machine) -> bool:
    """Whether checkpoints of the node are on the disk of its log."""
    disk = machine.disks[DiskRole.REDO]
    return disk is not None and machine.disks[DiskRole.LCP] is disk


def _of_service(service: Service) -> Quantity:
    return Quantity(service.max_per_s, service.low_per_s, service.high_per_s, "tx/s", service.why)
