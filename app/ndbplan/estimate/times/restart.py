"""How long a start of data nodes takes, by phase, for every kind of start and every era of the product.

restart(plan, "node", node_id=3).duration_s
restart(plan, "rolling", conditions=Conditions(workload=plan.workloads[0])).phases
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity, largest, total, total_of_independent
from ndbplan.base.shapes import Shape
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.node_groups import node_groups
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.load.checkpoint import checkpoint
from ndbplan.estimate.load.demand import at_rate, node_loads
from ndbplan.estimate.load.disk_data import disk_data
from ndbplan.estimate.load.disks import disk_demand
from ndbplan.estimate.storage.node_data import LdmData, NodeData
from ndbplan.estimate.stored import ldm_threads, node_data_by_id
from ndbplan.estimate.times import restart_phases as phases
from ndbplan.estimate.times.copy_links import copy_links, sources_of
from ndbplan.estimate.times.disk_files import disk_left
from ndbplan.estimate.times.restart_copy import copied_share, copies_in_two_passes, copy_fragments
from ndbplan.estimate.times.restart_phases import OtherNode, Phase, Starting
from ndbplan.estimate.times.speed_terms import change_term
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.workloads import Workload

Kind = Literal["node", "initial", "system", "rolling", "start"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""node: node restart; initial: of one node with --initial; system: all nodes at once; rolling: all nodes one
after the other; start: first start of the cluster."""

_LEAST_CORES = 0.25
"""Share of a core that a node has at least, however many start on its host."""


class RestartError(UserError):
    """A restart that the plan does not allow to estimate."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What may be varied without changing the plan: the sliders of the restart panel."""

    workload: Workload | None = None
    """Traffic during the restart; None: idle."""
    traffic_factor: float = 1.0
    """The workload's rate against what the plan says."""
    ldm_threads: int | None = None
    """LDM threads instead of the plan's."""
    disk_factor: float = 1.0
    """Speed of the disks against the plan's."""
    sql_nodes_down: int = 0
    """SQL nodes that are configured but do not answer."""
    redo_bytes: float | None = None
    """Log of the fullest part to run again instead of what the workload leaves."""
    one_of_each_group: bool = False
    """Rolling: restart one node of every group at the same time instead of node after node."""
    restarting: tuple[int, ...] = ()
    """Ids of other data nodes that restart in the same way at the same time: they share links and disks."""

    @property
    def load(self) -> Workload | None:
        """The traffic at the rate that is asked for; None: idle."""
        if self.workload is None or self.traffic_factor == 1.0:
            return self.workload
        return at_rate(self.workload, self.traffic_factor)


IDLE = Conditions()


@dataclass(frozen=True, slots=True)
class RestartEstimate(Shape):
    """A start of one or more data nodes."""

    JSON = "kind node_ids phases duration_s bytes_moved=whole_bytes_moved notes"

    kind: Kind
    node_ids: tuple[int, ...]
    phases: tuple[Phase, ...]
    duration_s: Quantity
    """Sum of the phases."""
    notes: tuple[str, ...] = ()
    bytes_moved: float = 0.0
    """Bytes of rows that other nodes send to each node that starts, columns on disk included."""

    @property
    def whole_bytes_moved(self) -> int:
        """The same as a whole number."""
        return round(self.bytes_moved)


@dataclass(frozen=True, slots=True)
class _Found:
    """Phases of the start of one node."""

    phases: list[Phase]
    bytes_moved: float = 0.0

    @property
    def seconds(self) -> float:
        return sum(phase.duration_s.value for phase in self.phases)


def _estimate(
    kind: Kind,
    node_ids: tuple[int, ...],
    in_turn: list[Phase],
    notes: tuple[str, ...] = (),
    bytes_moved: float = 0.0,
) -> RestartEstimate:
    named = ((phase.name, phase.duration_s) for phase in in_turn)
    return RestartEstimate(kind, node_ids, tuple(in_turn), total(named, "s"), notes, bytes_moved)


def _ldm_with_rows(plan: Plan, node: DataNode, conditions: Conditions) -> int:
    """LDM threads of the node that hold partitions: more threads than log parts may stay empty."""
    if conditions.ldm_threads is not None:
        return max(1, conditions.ldm_threads)
    return max(1, _threads_with_rows(plan, node) or ldm_threads(plan, node))


def _threads_with_rows(plan: Plan, node: DataNode) -> int:
    data = node_data_by_id(plan).get(node.node_id)
    return 0 if data is None else min(ldm_threads(plan, node), len(data.by_ldm))


def _fullest(plan: Plan, node: DataNode, conditions: Conditions) -> LdmData:
    """The most that any LDM thread holds; with other threads than the plan's as uneven as with those."""
    data = node_data_by_id(plan).get(node.node_id)
    if data is None:
        return LdmData()
    fullest = data.fullest_ldm
    if conditions.ldm_threads is None or not data.by_ldm:
        return fullest
    share = len(data.by_ldm) / max(1, conditions.ldm_threads)
    whole = (
        data.rows, data.row_bytes, data.index_entries, data.indexed_row_bytes, data.disk_row_bytes,
        data.primary_bytes, data.primary_rows,
    )  # fmt: skip
    names = LdmData.__dataclass_fields__
    each = (getattr(fullest, name) for name in names)
    return LdmData(*(min(all_of, share * one) for one, all_of in zip(each, whole, strict=True)))


def busy_threads(plan: Plan, node: DataNode, conditions: Conditions = IDLE, together: int = 1) -> float:
    """LDM threads that can work at once in a start: those with rows, no more than there are cores.

    `together`: data nodes that start at once on the host and share its cores.
    """
    cores = plan.host(node.host_id).cores / max(1, together)
    return min(float(_ldm_with_rows(plan, node, conditions)), max(_LEAST_CORES, cores))


def _disks_of(plan: Plan, node: DataNode) -> dict[str, Disk]:
    """Disks that a node uses, by id."""
    disks = (disk_for(plan, node, role) for role in DiskRole)
    return {disk.id: disk for disk in disks if disk is not None}


def busy_disks(plan: Plan, workload: Workload | None, starting: Collection[int] = ()) -> dict[str, float]:
    """Share of the time of each disk that the traffic of nodes which do not start takes."""
    if workload is None:
        return {}
    busy: dict[str, float] = {}
    for demand in disk_demand(plan, workload).disks:
        disk = next(d for d in plan.host(demand.host_id).disks if d.id == demand.disk_id)
        for stream in demand.streams:
            if stream.node_id not in starting:
                busy[disk.id] = (
                    busy.get(disk.id, 0.0)
                    + stream.write_bytes_per_s.value / disk.sequential_write_bytes_per_s
                    + stream.random_reads_per_s.value / disk.random_read_iops
                    + stream.random_writes_per_s.value / disk.random_write_iops
                )
    return busy


def _others(plan: Plan, held: dict[int, NodeData], starting: set[int], wanted: bool) -> tuple[OtherNode, ...]:
    """Nodes whose checkpoint a start waits for: those that do not start, or all of them when all do."""
    others: dict[object, OtherNode] = {}
    on_disk: dict[str, int] = {}
    for other in _members(plan):
        disk = disk_for(plan, other, DiskRole.LCP)
        if disk is not None:
            on_disk[disk.id] = on_disk.get(disk.id, 0) + 1
    for other in _members(plan):
        data = held.get(other.node_id)
        if data is None or (other.node_id in starting and not wanted):
            continue
        disk = disk_for(plan, other, DiskRole.LCP)
        speed, name = float("inf"), ""
        if disk is not None:
            speed = disk.sequential_write_bytes_per_s * disk_left(disk) / on_disk[disk.id]
            name = disk.name
        one = OtherNode(other, data.checkpoint_bytes, speed, name)
        key = (speed, other.parameters)
        if key not in others or others[key].checkpoint_bytes < one.checkpoint_bytes:
            others[key] = one
    return tuple(others.values())


def _starting(plan: Plan, node: DataNode, conditions: Conditions, together: Iterable[DataNode]) -> Starting:
    """What a start of the node depends on. `together`: all nodes that start at once, itself included."""
    held = node_data_by_id(plan)
    nodes = list(together)
    ids = {other.node_id for other in nodes}
    workload = conditions.load
    load = None
    if workload is not None:
        load = next((one for one in node_loads(plan, workload) if one.node_id == node.node_id), None)
    lcp = checkpoint(plan, workload).node(node.node_id)
    sharing = {
        disk_id: sum(1 for other in nodes if disk_id in _disks_of(plan, other))
        for disk_id in _disks_of(plan, node)
    }
    fetched = {i: held[i].moved_bytes for i in ids if i in held}
    everyone = len(ids) >= len(_members(plan)) > 1
    links = () if everyone else copy_links(plan, fetched).get(node.node_id, ())
    by_id = {other.node_id: other for other in plan.data_nodes}
    sources = () if everyone else sources_of(plan, ids).get(node.node_id, ())
    source_disks = (disk_for(plan, by_id[i], DiskRole.DATA_FILES) for i in sources)
    on_host = sum(1 for other in nodes if other.host_id == node.host_id)
    return Starting(
        plan=plan,
        node=node,
        data=held.get(node.node_id),
        fullest=_fullest(plan, node, conditions),
        ldm=busy_threads(plan, node, conditions, max(1, on_host)),
        links=links,
        source_disks=tuple(disk for disk in source_disks if disk is not None),
        checkpoint_disk=disk_for(plan, node, DiskRole.LCP),
        redo_disk=disk_for(plan, node, DiskRole.REDO),
        data_disk=disk_for(plan, node, DiskRole.DATA_FILES),
        undo_disk=disk_for(plan, node, DiskRole.UNDO),
        disk_factor=max(1e-6, conditions.disk_factor),
        sharing=sharing,
        busy=busy_disks(plan, workload, ids),
        load=load,
        checkpoint=lcp,
        disk_data=disk_data(plan, workload).node(node.node_id),
        others=_others(plan, held, ids, everyone),
        sql_nodes_down=conditions.sql_nodes_down,
        redo_bytes=conditions.redo_bytes,
    )


def _phases(start: Starting, kind: Kind) -> _Found:
    """Phases of one node's start."""
    own = [phases.allocate_memory(start)]
    if kind == "start":
        return _Found(
            [*own, phases.create_files(start), phases.early_phases(start), _first_checkpoint(start)]
        )
    moved = 0.0
    if kind == "initial":
        own.append(phases.create_files(start))
        files = phases.create_disk_files(start)
        if files is not None:
            own.append(files)
        own.append(phases.early_phases(start))
    else:
        own += [phases.early_phases(start), phases.restore(start)]
        undo = phases.apply_undo(start)
        if undo is not None:
            own.append(undo)
        own += [phases.replay_redo(start), phases.rebuild_indexes(start)]
    if kind in ("node", "initial"):
        initial = kind == "initial"
        away = sum(phase.duration_s.value for phase in own)
        own.append(copy_fragments(start, initial=initial, before_s=away))
        if start.data is not None:
            moved = start.data.moved_bytes * copied_share(start, initial=initial, before_s=away)
    if kind == "initial" and copies_in_two_passes(start.plan, start.node):
        own.append(phases.rebuild_indexes(start))
    own.append(phases.wait_for_checkpoint(start, kind))
    if kind != "system":
        slowed = _slowed_by_traffic(start, own)
        if slowed is not None:
            own.append(slowed)
        own.append(phases.hand_over_subscriptions(start))
    return _Found(own, moved)


def _slowed_by_traffic(start: Starting, done: list[Phase]) -> Phase | None:
    """What write traffic added before 6.3.28b and 7.0.9b; None in later versions and without traffic."""
    writes = start.load.writes_per_s if start.load is not None else 0.0
    if start.has("restart_under_traffic") or not writes:
        return None
    slower = constants_of(start.plan)["traffic_restart_factor_old"]
    before = total(((phase.name, phase.duration_s) for phase in done), "s")
    handed = phases.hand_over_subscriptions(start).duration_s
    whole = total((("phases", before), ("subscriptions", handed)), "s")
    since = change_term("restart_under_traffic", start.plan.version)
    time = ((slower - 1) * whole).because(whole.as_term("the other phases"), *slower.why, since)
    return Phase(
        "catching up under traffic", time, "copy from the other nodes", "less traffic; a later version"
    )


def _first_checkpoint(start: Starting) -> Phase:
    time = constants_of(start.plan)["lcp_wait_idle_s"]
    return Phase("first local checkpoint", time, "protocol between the nodes", "")


def _of_node(
    plan: Plan, node: DataNode, kind: Kind, conditions: Conditions, together: list[DataNode]
) -> _Found:
    return _phases(_starting(plan, node, conditions, together), kind)


def _each_kind(plan: Plan, nodes: list[DataNode], kind: Kind, conditions: Conditions) -> list[_Found]:
    """Phases of nodes that start together: of one node of each kind of hardware, the one with most rows."""
    held = node_data_by_id(plan)
    on_host: dict[str, int] = {}
    for node in nodes:
        on_host[node.host_id] = on_host.get(node.host_id, 0) + 1
    mates = {node.node_id: group for group in node_groups(plan) for node in group}
    # Nodes with the same hardware and settings differ by their rows only.
    alike: dict[object, DataNode] = {}
    for node in nodes:
        key: tuple[object, ...] = (_hardware(plan, node), on_host[node.host_id], node.parameters)
        if kind in ("node", "initial"):
            group = mates.get(node.node_id, ())
            others = tuple(_hardware(plan, mate) for mate in group if mate.node_id != node.node_id)
            key = (*key, others)
        rows = held[node.node_id].fullest_ldm.rows if node.node_id in held else 0.0
        best = alike.get(key)
        if best is None or rows > (held[best.node_id].fullest_ldm.rows if best.node_id in held else 0.0):
            alike[key] = node
    return [_of_node(plan, node, kind, conditions, nodes) for node in alike.values()]


def _in_step(starts: list[_Found]) -> list[Phase]:
    """Phases of nodes that wait for one another after each: the slowest node of every phase counts."""
    by_name: dict[str, list[Phase]] = {}
    for phase in (p for one in sorted(starts, key=lambda one: -len(one.phases)) for p in one.phases):
        by_name.setdefault(phase.name, []).append(phase)
    steps = []
    for same in by_name.values():
        slowest = max(same, key=lambda p: p.duration_s.value)
        time = largest(((p.name, p.duration_s) for p in same), "s").because(*slowest.duration_s.why)
        steps.append(replace(slowest, duration_s=time))
    return steps


def _hardware(plan: Plan, node: DataNode) -> tuple[object, ...]:
    """What of a node's host decides how long its start takes."""
    host = plan.host(node.host_id)
    disks = tuple(
        (
            d.sequential_read_bytes_per_s, d.sequential_write_bytes_per_s, d.sync_write_latency_s,
            d.random_write_iops, d.other_load,
        )
        for d in (disk_for(plan, node, role) for role in DiskRole)
        if d is not None
    )  # fmt: skip
    return (host.cores, host.clock_ghz, host.network_bytes_per_s, host.location_id, disks)


def _members(plan: Plan) -> list[DataNode]:
    return [node for group in node_groups(plan) for node in group]


def _rolling(plan: Plan, conditions: Conditions) -> RestartEstimate:
    groups = node_groups(plan)
    if conditions.one_of_each_group:
        rounds = [
            [group[i] for group in groups if i < len(group)] for i in range(max(len(g) for g in groups))
        ]
    else:
        rounds = [[node] for node in sorted(_members(plan), key=lambda n: n.node_id)]
    constants = constants_of(plan)
    aside = constants["stop_handover_s"] + constants["operator_gap_s"]
    passes = []
    for number, nodes in enumerate(rounds, 1):
        each = _each_kind(plan, nodes, "node", conditions)
        slowest = max(each, key=lambda one: one.seconds).phases
        totals = [total(((p.name, p.duration_s) for p in one.phases), "s") for one in each]
        restart_s = largest((("restart", q) for q in totals), "s")
        restart_s = restart_s.because(*max(totals, key=lambda q: q.value).why)
        ids = ", ".join(str(node.node_id) for node in nodes)
        whole = total_of_independent((("stop and checks", aside), ("restart", restart_s)), "s")
        longest = max(slowest, key=lambda p: p.duration_s.value)
        label = f"node {ids}" if len(nodes) == 1 else f"round {number}: nodes {ids}"
        passes.append(Phase(label, whole, longest.bound, longest.shorten))
    notes: tuple[str, ...] = ()
    if not conditions.one_of_each_group and len(groups) > 1:
        least = max(len(g) for g in groups)
        notes = (f"one node of each group at a time: {least} rounds instead of {len(rounds)}",)
    ids_all = tuple(node.node_id for nodes in rounds for node in nodes)
    return _estimate("rolling", ids_all, passes, notes)


def start_beside(
    grown: Plan, nodes: list[DataNode], running: Plan, conditions: Conditions = IDLE
) -> RestartEstimate:
    """First start of new, empty nodes beside a running cluster: they wait for one of its checkpoints.

    `grown`: the plan with the new nodes, `running`: without them. The nodes start together.
    """
    others = _others(running, node_data_by_id(running), set(), wanted=True)
    longest: list[Phase] = []
    for node in nodes:
        start = _starting(grown, node, conditions, nodes)
        start = replace(start, data=None, load=None, others=others)
        files = phases.create_disk_files(start)
        own = [
            phases.allocate_memory(start),
            phases.create_files(start),
            *([files] if files is not None else []),
            phases.early_phases(start),
            phases.wait_for_checkpoint(start),
            phases.hand_over_subscriptions(start),
        ]
        if sum(p.duration_s.value for p in own) > sum(p.duration_s.value for p in longest):
            longest = own
    return _estimate("start", tuple(node.node_id for node in nodes), longest)


def restart(
    plan: Plan, kind: Kind, node_id: int | None = None, conditions: Conditions = IDLE
) -> RestartEstimate:
    """Phases and duration of a start.

    node, initial: of `node_id`, or of the node with most rows; system, start: all nodes together; rolling:
    all nodes, one after the other. Raises RestartError for an unknown kind or node and for a plan without
    node groups.
    """
    if kind not in KINDS:
        raise RestartError(f"'{kind}' is not a kind of restart", fix=f"use one of {', '.join(KINDS)}")
    members = _members(plan)
    if not members:
        raise RestartError("the plan has no node group to start", fix="add data nodes")
    if node_id is not None:
        chosen = [node for node in plan.data_nodes if node.node_id == node_id]
        if not chosen:
            ids = ", ".join(str(node.node_id) for node in plan.data_nodes[:8])
            raise RestartError(f"there is no data node {node_id}", fix=f"use one of {ids}")
    if kind == "rolling":
        return _rolling(plan, conditions)
    if kind in ("system", "start"):
        in_turn = _in_step(_each_kind(plan, members, kind, conditions))
        return _estimate(kind, tuple(node.node_id for node in members), in_turn)
    if node_id is not None:
        node = next(n for n in plan.data_nodes if n.node_id == node_id)
    else:
        held = node_data_by_id(plan)
        node = max(members, key=lambda n: held[n.node_id].fullest_ldm.rows if n.node_id in held else 0.0)
    notes: tuple[str, ...] = ()
    if all(len(group) < 2 for group in node_groups(plan)):
        notes = ("NoOfReplicas = 1: without this node the cluster is down, and --initial loses its rows",)
    together = [node, *(n for n in members if n.node_id in conditions.restarting and n is not node)]
    one = _of_node(plan, node, kind, conditions, together)
    return _estimate(kind, (node.node_id,), one.phases, notes, one.bytes_moved)
