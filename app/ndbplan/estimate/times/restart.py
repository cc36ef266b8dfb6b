"""How long a start of data nodes takes, by phase, for every kind of start and every era of the product.

restart(cluster, "node", node_id=3).duration_s
restart(cluster, "rolling", conditions=Conditions(workload=workload)).phases

Source: engine model 6 and 16.3; constants by name in resources/ndb/constants.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity, largest, total, total_of_independent
from ndbplan.base.shapes import Shape
from ndbplan.configuration.settings import is_diskless
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.demand import at_rate
from ndbplan.estimate.load.processors import against_timed
from ndbplan.estimate.storage.machines import Machine, Machines
from ndbplan.estimate.storage.node_data import LdmData, NodeData
from ndbplan.estimate.storage.placement import is_classic
from ndbplan.estimate.times import restart_logs as logs
from ndbplan.estimate.times import restart_phases as phases
from ndbplan.estimate.times import restart_waits as waits
from ndbplan.estimate.times.copy_links import SlowLink, copy_links, sources_of
from ndbplan.estimate.times.disk_files import files_to_create
from ndbplan.estimate.times.restart_alike import hardware, others_of, told_by
from ndbplan.estimate.times.restart_copy import copied_bytes, copies_in_two_passes, copy_fragments
from ndbplan.estimate.times.restart_indexes import rebuild_indexes
from ndbplan.estimate.times.restart_phases import Phase, Starting
from ndbplan.estimate.times.running import Running
from ndbplan.ndb.nearness import Nearness
from ndbplan.plan.processes import DiskRole
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
    crashed: bool = False
    """The nodes went down by themselves: nothing was handed over before."""
    restarting: tuple[int, ...] = ()
    """Ids of other data nodes that restart in the same way at the same time: they share links and disks."""
    slow_links: tuple[SlowLink, ...] = ()
    """Links that carry less than the plan says."""

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

    JSON = "kind node_ids phases duration_s bytes_moved=whole_bytes_moved notes nearness"

    kind: Kind
    node_ids: tuple[int, ...]
    phases: tuple[Phase, ...]
    duration_s: Quantity
    """Sum of the phases."""
    notes: tuple[str, ...]
    bytes_moved: float
    """Bytes of rows that other nodes send to each node that starts, columns on disk included."""
    nearness: Nearness | None = None
    """How near it lies to starts that were measured."""

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
    each: list[Phase],
    notes: tuple[str, ...] = (),
    bytes_moved: float = 0.0,
) -> RestartEstimate:
    return RestartEstimate(kind, node_ids, tuple(each), phases.in_turn(each), notes, bytes_moved)


def _fullest(data: NodeData | None, conditions: Conditions) -> LdmData:
    """The most that any LDM thread holds; with other threads than the plan's as uneven as with those."""
    if data is None:
        return LdmData()
    fullest = data.fullest_ldm
    if conditions.ldm_threads is None or not data.by_ldm:
        return fullest
    share = len(data.by_ldm) / max(1, conditions.ldm_threads)
    whole = (
        data.rows, data.row_bytes, data.index_entries, data.random_entries, data.disk_row_bytes,
        data.saved_rows, data.saved_bytes,
    )  # fmt: skip
    names = LdmData.__dataclass_fields__
    each = (getattr(fullest, name) for name in names)
    return LdmData(*(min(all_of, share * one) for one, all_of in zip(each, whole, strict=True)))


def busy_threads(
    machine: Machine, data: NodeData | None, conditions: Conditions = IDLE, together: int = 1
) -> float:
    """LDM threads that can work at once in a start: those with rows, no more than there are cores.

    More threads than log parts may stay empty. `together`: data nodes that start at once on the host and
    share its cores.
    """
    cores = machine.host.cores / max(1, together)
    threads = conditions.ldm_threads
    if threads is None:
        with_rows = 0 if data is None else min(machine.ldm_threads, len(data.by_ldm))
        threads = with_rows or machine.ldm_threads
    return min(float(max(1, threads)), max(_LEAST_CORES, cores))


def _starting(
    cluster: Running, machine: Machine, conditions: Conditions, together: Iterable[Machine]
) -> Starting:
    """What a start of the node depends on. `together`: all nodes that start at once, itself included."""
    machines, held, node_id = cluster.machines, cluster.held, machine.node_id
    nodes = list(together)
    ids = {other.node_id for other in nodes}
    sharing = {
        disk_id: sum(1 for other in nodes if disk_id in other.used_disks) for disk_id in machine.used_disks
    }
    fetched = {i: held[i].moved_bytes for i in ids if i in held}
    everyone = len(ids) >= len(machines.members) > 1
    links = () if everyone else copy_links(machines, fetched, conditions.slow_links).get(node_id, ())
    sources = () if everyone else sources_of(machines, ids).get(node_id, ())
    source_disks = ((disk, share / len(sources)) for one in sources
                    for disk, share in one.on_disks(DiskRole.DATA_FILES))  # fmt: skip
    on_host = sum(1 for other in nodes if other.host.id == machine.host.id)
    cores = [against_timed(one.host, machines.constants) for one in (machine, *sources)]
    return Starting(
        machine=machine,
        constants=machines.constants,
        classic=is_classic(machines.settings),
        tables_and_indexes=cluster.tables_and_indexes,
        files=files_to_create(cluster.files, machine),
        data=(data := held.get(node_id)),
        fullest=_fullest(data, conditions),
        ldm=busy_threads(machine, data, conditions, max(1, on_host)),
        core=cores[0],
        slowest_core=min(cores, key=lambda one: one.value),
        links=links,
        source_disks=tuple(source_disks),
        disk_factor=max(1e-6, conditions.disk_factor),
        sharing=sharing,
        busy=cluster.disks.busy(ids),
        load=cluster.loads.get(node_id),
        checkpoint=cluster.checkpoint.node(node_id),
        disk_data=cluster.disk_data.node(node_id),
        others=others_of(cluster, ids, everyone),
        sql_nodes_down=conditions.sql_nodes_down,
        redo_bytes=conditions.redo_bytes,
    )


def _brought_back(
    cluster: Running, machine: Machine, kind: Kind, conditions: Conditions, together: Iterable[Machine]
) -> Starting:
    """The same for a kind of start: files bring back tables with logging only."""
    nodes = list(together)
    if cluster.logged is None or kind not in ("node", "system") or is_diskless(machine.settings):
        return _starting(cluster, machine, conditions, nodes)
    start = _starting(replace(cluster, held=cluster.logged), machine, conditions, nodes)
    if kind == "node" and cluster.unlogged:
        beside = _starting(replace(cluster, held=cluster.unlogged), machine, conditions, nodes)
        start = replace(start, unlogged=beside)
    return start


def _phases(start: Starting, kind: Kind, *, crashed: bool) -> _Found:
    """Phases of one node's start, its stop before it included unless it crashed."""
    own = [phases.allocate_memory(start)]
    if kind == "start":
        return _Found(_first_start(start, own[0]))
    if kind != "system" and not crashed:
        own.insert(0, phases.stop(start))
    moved = 0.0
    diskless = is_diskless(start.settings)
    if diskless and kind == "node":
        # It kept no files: all rows come from its node group.
        kind = "initial"
    if kind == "initial":
        files = [] if diskless else [phases.create_files(start), phases.create_disk_files(start)]
        own += [phase for phase in files if phase is not None]
        own.append(phases.early_phases(start))
    else:
        own += [phases.early_phases(start), phases.restore(start)]
        undo = logs.apply_undo(start)
        if undo is not None:
            own.append(undo)
        own += [logs.replay_redo(start), rebuild_indexes(start)]
    if kind in ("node", "initial"):
        initial = kind == "initial"
        away = sum(phase.duration_s.value for phase in own if phase.name != phases.STOP)
        own.append(copy_fragments(start, initial=initial, before_s=away))
        moved = copied_bytes(start, initial=initial, before_s=away)
    if kind == "initial" and copies_in_two_passes(start.settings):
        own.append(rebuild_indexes(start))
    own.append(waits.wait_for_checkpoint(start, kind))
    if kind != "system":
        slowed = waits.slowed_by_traffic(start, own)
        if slowed is not None:
            own.append(slowed)
        own.append(waits.hand_over_subscriptions(start))
    return _Found(own, moved)


def _first_start(start: Starting, memory: Phase) -> list[Phase]:
    waited_s = start.constants["first_checkpoint_s"]
    checkpoint = Phase("first local checkpoint", waited_s, "protocol between the nodes", "")
    return [memory, phases.create_files(start), phases.early_phases(start), checkpoint]


def _waiting_meanwhile(constants: Constants, in_turn: list[Phase]) -> list[Phase]:
    """Phases of a first start: some of the waits go on while the slowest node creates its redo log files."""
    memory, files, early, checkpoint = in_turn
    meanwhile = constants["first_start_overlap_s"].within(most=files.duration_s.value)
    time = (early.duration_s - meanwhile.named("waits while redo log files are created")).within(least=0.0)
    return [memory, files, replace(early, duration_s=time), checkpoint]


def _each_kind(
    cluster: Running, nodes: Sequence[Machine], kind: Kind, conditions: Conditions
) -> list[_Found]:
    """Phases of nodes that start together: of one node of each kind of hardware, the one with most rows."""
    on_host: dict[str, int] = {}
    for node in nodes:
        on_host[node.host.id] = on_host.get(node.host.id, 0) + 1
    # Nodes with the same hardware and settings differ by their rows only.
    alike: dict[object, Machine] = {}
    for node in nodes:
        key: tuple[object, ...] = (hardware(node), on_host[node.host.id], node.node.parameters)
        if kind in ("node", "initial"):
            group = cluster.machines.group_of.get(node.node_id, ())
            others = tuple(hardware(mate) for mate in group if mate.node_id != node.node_id)
            key = (*key, others)
        best = alike.get(key)
        if best is None or _most_rows(cluster, node) > _most_rows(cluster, best):
            alike[key] = node
    starts = (_brought_back(cluster, node, kind, conditions, nodes) for node in alike.values())
    return [_phases(start, kind, crashed=conditions.crashed) for start in starts]


def _most_rows(cluster: Running, node: Machine) -> float:
    """Rows of the node's fullest LDM thread."""
    data = cluster.held.get(node.node_id)
    return 0.0 if data is None else data.fullest_ldm.rows


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


def _round(
    cluster: Running, nodes: Sequence[Machine], conditions: Conditions, label: str, known: dict[object, Phase]
) -> Phase:
    """One round of a rolling restart. A node that cannot be told apart from one before it takes as long;
    `known`: those before it."""
    if len(nodes) > 1:
        return _pass(cluster.machines, _each_kind(cluster, nodes, "node", conditions), label)
    start = _brought_back(cluster, nodes[0], "node", conditions, nodes)
    key = told_by(start)
    like = known.get(key)

    def apart() -> Phase:
        return _pass(cluster.machines, [_phases(start, "node", crashed=conditions.crashed)], label)

    if like is None:
        found = apart()
        # The name of a link is that of a host.
        if found.bound not in {link.name for link in start.links}:
            known[key] = found
        return found
    return replace(like, name=label, duration_s=like.duration_s.as_told(lambda: apart().duration_s.why))


def _pass(machines: Machines, each: Sequence[_Found], label: str) -> Phase:
    slowest = max(each, key=lambda one: one.seconds).phases
    totals = [phases.in_turn(one.phases) for one in each]
    restart_s = largest((("restart", q) for q in totals), "s")
    restart_s = restart_s.because(*max(totals, key=lambda q: q.value).why)
    aside = machines.constants["operator_gap_s"]
    whole = total_of_independent((("checks", aside), ("restart", restart_s)), "s")
    longest = max(slowest, key=lambda p: p.duration_s.value)
    return Phase(label, whole, longest.bound, longest.shorten)


def _rolling(cluster: Running, conditions: Conditions) -> RestartEstimate:
    groups = cluster.machines.groups
    if conditions.one_of_each_group:
        rounds = [
            [group[i] for group in groups if i < len(group)] for i in range(max(len(g) for g in groups))
        ]
    else:
        rounds = [[node] for node in sorted(cluster.machines.members, key=lambda n: n.node_id)]
    passes = []
    known: dict[object, Phase] = {}
    for number, nodes in enumerate(rounds, 1):
        ids = ", ".join(str(node.node_id) for node in nodes)
        label = f"node {ids}" if len(nodes) == 1 else f"round {number}: nodes {ids}"
        passes.append(_round(cluster, nodes, conditions, label, known))
    notes: tuple[str, ...] = ()
    if not conditions.one_of_each_group and len(groups) > 1:
        least = max(len(g) for g in groups)
        notes = (f"one node of each group at a time: {least} rounds instead of {len(rounds)}",)
    ids_all = tuple(node.node_id for nodes in rounds for node in nodes)
    # What makes one node slower than computed is the same at the next one.
    whole = total(((one.name, one.duration_s) for one in passes), "s")
    return RestartEstimate("rolling", ids_all, tuple(passes), whole, notes, 0.0)


def start_beside(
    grown: Running, nodes: Sequence[Machine], running: Running, conditions: Conditions = IDLE
) -> RestartEstimate:
    """First start of new, empty nodes beside a running cluster: they wait for one of its checkpoints.

    `grown`: the cluster with the new nodes, `running`: without them. The nodes start together.
    """
    others = others_of(running, set(), wanted=True)
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
            waits.wait_for_checkpoint(start),
            waits.hand_over_subscriptions(start),
        ]
        if sum(p.duration_s.value for p in own) > sum(p.duration_s.value for p in longest):
            longest = own
    return _estimate("start", tuple(node.node_id for node in nodes), longest)


def _all_at_once(cluster: Running, kind: Kind, conditions: Conditions) -> RestartEstimate:
    """A start of all data nodes, which go through each phase together."""
    members = cluster.machines.members
    in_turn = _in_step(_each_kind(cluster, members, kind, conditions))
    if kind == "start":
        in_turn = _waiting_meanwhile(cluster.machines.constants, in_turn)
    return _estimate(kind, tuple(node.node_id for node in members), in_turn)


def _of_only_copies(cluster: Running, kind: Kind, conditions: Conditions) -> RestartEstimate:
    """A restart of nodes that no other one stands in for: the cluster ends with the first that stops.

    Source: a node group without a node ends the cluster, at every version (recorded cuts).
    """
    lost = kind == "initial" or is_diskless(cluster.machines.settings)
    estimate = _all_at_once(cluster, "start" if lost else "system", conditions)
    note = (
        "no other node holds the same rows: the cluster stops with the node, and all data nodes start again"
    )
    more = "; the rows are lost, and come back from elsewhere only" if lost else ""
    return replace(estimate, kind=kind, notes=(note + more,))


def restart(
    cluster: Running, kind: Kind, node_id: int | None = None, conditions: Conditions = IDLE
) -> RestartEstimate:
    """Phases and duration of a start of a cluster with at least one node group.

    node, initial: of `node_id`, or of the node with most rows; system, start: all nodes together; rolling:
    all nodes, one after the other. Without a second node in the group each is one of the whole cluster.
    """
    machines = cluster.machines
    if kind in ("system", "start"):
        return _all_at_once(cluster, kind, conditions)
    if kind == "rolling":
        if any(len(group) < 2 for group in machines.groups):
            return _of_only_copies(cluster, kind, conditions)
        return _rolling(cluster, conditions)
    members = machines.members
    if node_id is not None:
        node = machines.by_id[node_id]
    else:
        node = max(members, key=lambda one: _most_rows(cluster, one))
    if len(machines.group_of.get(node.node_id, (node, node))) < 2:
        return _of_only_copies(cluster, kind, conditions)
    together = [node, *(n for n in members if n.node_id in conditions.restarting and n is not node)]
    start = _brought_back(cluster, node, kind, conditions, together)
    one = _phases(start, kind, crashed=conditions.crashed)
    return _estimate(kind, (node.node_id,), one.phases, bytes_moved=one.bytes_moved)
