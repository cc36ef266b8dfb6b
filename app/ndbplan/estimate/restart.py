"""How long a start of data nodes takes, by phase, for every kind of start and every era of the product.

restart(plan, "node", node_id=3).duration_s
restart(plan, "rolling", conditions=Conditions(workload=plan.workloads[0])).phases
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from ndbplan.base.errors import UserError
from ndbplan.estimate import restart_phases as phases
from ndbplan.estimate.checkpoint import checkpoint
from ndbplan.estimate.constants import calibration_of, constant_for, term_of
from ndbplan.estimate.disk_data import disk_data
from ndbplan.estimate.load import at_rate, node_loads
from ndbplan.estimate.node_data import node_data_by_id
from ndbplan.estimate.processors import core_speed
from ndbplan.estimate.quantity import Quantity, Term, total, total_of_independent
from ndbplan.estimate.restart_phases import Phase, Starting
from ndbplan.estimate.shares import shares_of
from ndbplan.estimate.topology import ldm_threads
from ndbplan.plan.node_groups import node_groups
from ndbplan.plan.paths import disk_for
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.workloads import Workload

Kind = Literal["node", "initial", "system", "rolling", "start"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""node: node restart; initial: of one node with --initial; system: all nodes at once; rolling: all nodes one
after the other; start: first start of the cluster."""

PHASED_SINCE = (7, 1)
"""Older versions have figures for whole restarts only (articles of the sample node-restart)."""
FASTER_UNDER_TRAFFIC_SINCE = ((6, 3, 28), (7, 0, 9))
_LDM_OF_2009 = 2
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

    @property
    def load(self) -> Workload | None:
        """The traffic at the rate that is asked for; None: idle."""
        if self.workload is None or self.traffic_factor == 1.0:
            return self.workload
        return at_rate(self.workload, self.traffic_factor)


IDLE = Conditions()


@dataclass(frozen=True, slots=True)
class RestartEstimate:
    """A start of one or more data nodes."""

    kind: Kind
    node_ids: tuple[int, ...]
    phases: tuple[Phase, ...]
    duration_s: Quantity
    """Sum of the phases."""
    notes: tuple[str, ...] = ()

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape of design.md."""
        return {
            "kind": self.kind,
            "node_ids": list(self.node_ids),
            "phases": [phase.to_json(why) for phase in self.phases],
            "duration_s": self.duration_s.to_json(why=why),
            "notes": list(self.notes),
        }


def _estimate(
    kind: Kind, node_ids: tuple[int, ...], found: list[Phase], notes: tuple[str, ...] = ()
) -> RestartEstimate:
    named = ((phase.name, phase.duration_s) for phase in found)
    return RestartEstimate(kind, node_ids, tuple(found), total(named, "s"), notes)


def _ldm_with_rows(plan: Plan, node: DataNode, conditions: Conditions) -> int:
    """LDM threads of the node that hold partitions: more threads than log parts may stay empty."""
    if conditions.ldm_threads is not None:
        return max(1, conditions.ldm_threads)
    used: set[int] = set()
    for table in plan.tables:
        share = shares_of(plan, table).get(node.node_id)
        if share is not None:
            used.update(ldm for ldm, part in share.by_ldm if part)
    return max(1, min(ldm_threads(plan, node), len(used)) if used else ldm_threads(plan, node))


def busy_threads(plan: Plan, node: DataNode, conditions: Conditions = IDLE, together: int = 1) -> float:
    """LDM threads that can work at once in a start: those with rows, no more than there are cores.

    `together`: data nodes that start at once on the host and share its cores.
    """
    cores = plan.host(node.host_id).cores / max(1, together)
    return min(float(_ldm_with_rows(plan, node, conditions)), max(_LEAST_CORES, cores))


def _starting(plan: Plan, node: DataNode, conditions: Conditions, together: int = 1) -> Starting:
    """What a start of the node depends on. `together`: nodes that start at once on its host."""
    held = node_data_by_id(plan)
    workload = conditions.load
    load = None
    if workload is not None:
        load = next((one for one in node_loads(plan, workload) if one.node_id == node.node_id), None)
    lcp = checkpoint(plan, workload).node(node.node_id)
    others = [d.checkpoint_bytes for node_id, d in held.items() if node_id != node.node_id]
    return Starting(
        plan=plan,
        node=node,
        data=held.get(node.node_id),
        ldm=busy_threads(plan, node, conditions, together),
        network_bytes_per_s=plan.host(node.host_id).network_bytes_per_s,
        checkpoint_disk=disk_for(plan, node, DiskRole.LCP),
        redo_disk=disk_for(plan, node, DiskRole.REDO),
        disk_factor=max(1e-6, conditions.disk_factor),
        load=load,
        checkpoint=lcp,
        disk_data=disk_data(plan, workload).node(node.node_id),
        other_checkpoint_bytes=max(others, default=0.0),
        sql_nodes_down=conditions.sql_nodes_down,
        redo_bytes=conditions.redo_bytes,
    )


def _phases(start: Starting, kind: Kind) -> list[Phase]:
    """Phases of one node's start in the versions that report them."""
    found = [phases.allocate_memory(start)]
    if kind == "start":
        return [*found, phases.create_files(start), phases.early_phases(start), _first_checkpoint(start)]
    if kind == "initial":
        found += [phases.create_files(start), phases.early_phases(start)]
    else:
        found += [phases.early_phases(start), phases.restore(start)]
        undo = phases.apply_undo(start)
        if undo is not None:
            found.append(undo)
        found += [phases.replay_redo(start), phases.rebuild_indexes(start)]
    if kind in ("node", "initial"):
        away = sum(phase.duration_s.value for phase in found)
        found.append(phases.copy_fragments(start, initial=kind == "initial", before_s=away))
    if kind == "initial" and phases.copies_in_two_passes(start.plan, start.node):
        found.append(phases.rebuild_indexes(start))
    found.append(phases.wait_for_checkpoint(start))
    if kind != "system":
        found.append(phases.hand_over_subscriptions(start))
    return found


def _first_checkpoint(start: Starting) -> Phase:
    idle = constant_for(start.plan, "lcp_wait_idle_s")
    time = Quantity(idle.value, idle.low, idle.high, "s", (term_of(idle),))
    return Phase("first local checkpoint", time, "protocol between the nodes", "")


def _whole_of_2009(start: Starting, kind: Kind) -> list[Phase]:
    """Versions up to 7.0: figures for whole restarts, by data, threads, processor, disk and traffic."""
    plan = start.plan
    initial = kind == "initial"
    name = "initial_node_restart_s_per_gb_2009" if initial else "node_restart_s_per_gb_2009"
    rate = constant_for(plan, name)
    speed = core_speed(plan, plan.host(start.node.host_id))
    exponent = constant_for(plan, "restart_ldm_exponent_2009")
    threads = start.ldm / _LDM_OF_2009
    single = constant_for(plan, "ndbd_restart_factor")
    if threads >= 1:
        gain, ends = threads**exponent.value, (threads**exponent.low, threads**exponent.high)
    else:
        gain, ends = 1 / single.value, (1 / single.high, 1 / single.low)
    gigabytes = start.row_bytes / 1e9
    seconds = gigabytes * rate.value / (gain * speed.value)
    low = gigabytes * rate.low / (max(ends) * speed.high)
    high = gigabytes * rate.high / (min(ends) * speed.low)
    if calibration_of(plan, name) is not None:
        # Measured on the plan's own machines: their speed and threads are in the rate already.
        low, high = (gigabytes * r / (gain * speed.value) for r in (rate.low, rate.high))
    why = [
        Term("rows of the node", gigabytes, "GB", "formula"),
        term_of(rate),
        Term("LDM threads against the two of the measurement", threads, "factor", "plan"),
        term_of(exponent if threads >= 1 else single),
        speed.as_term("speed of a core against that of the measurement"),
    ]
    bound, shorten = "LDM threads and protocol of the version", "ndbmtd with more LDM threads; 7.1 or later"
    disk = start.checkpoint_disk
    if disk is not None and not initial:
        reading = start.row_bytes / (disk.sequential_read_bytes_per_s * start.disk_factor)
        why.append(Term(f"reading the checkpoint from {disk.name}", reading, "s", "plan"))
        if reading > seconds:
            bound, shorten = f"disk {disk.name}", "a disk that reads faster"
        seconds, low, high = max(seconds, reading), max(low, reading), max(high, reading)
    found = [
        Phase(
            "copy of all rows" if initial else "restore, log, indexes and catching up",
            Quantity(seconds, low, high, "s", tuple(why)),
            bound,
            shorten,
        )
    ]
    if kind == "system":
        return found
    writes = start.load.writes_per_s if start.load is not None else 0.0
    if writes:
        found.append(_catch_up_of_2009(start, seconds, writes))
    if start.sql_nodes_down:
        found.append(phases.hand_over_subscriptions(start))
    return found


def _catch_up_of_2009(start: Starting, seconds: float, writes: float) -> Phase:
    """What write traffic adds: rows that changed meanwhile, many times as slow before 6.3.28b and 7.0.9b."""
    plan = start.plan
    rate = constant_for(plan, "copy_node_rows_per_s_2009")
    chase = max(0.1, 1 - writes / rate.value)
    rows = min(start.rows, writes * seconds)
    extra = rows / (rate.value * chase)
    low, high = rows / rate.high, 2 * rows / (rate.low * chase)
    why = [
        Term("rows written while the node was away", rows, "rows", "workload"),
        term_of(rate),
        Term("share of the copy speed left by the traffic", chase, "fraction", "formula"),
    ]
    fixed = FASTER_UNDER_TRAFFIC_SINCE[0] if plan.version < (7, 0) else FASTER_UNDER_TRAFFIC_SINCE[1]
    if plan.version < fixed:
        slower = constant_for(plan, "traffic_restart_factor_old")
        whole = seconds + extra
        low, high = (slower.low * whole) - seconds, (slower.high * whole) - seconds
        extra = slower.value * whole - seconds
        why.append(term_of(slower))
    time = Quantity(extra, min(low, extra), max(high, extra), "s", tuple(why))
    return Phase(
        "catching up under traffic", time, "copy from the other nodes", "less traffic; a later version"
    )


def _of_node(plan: Plan, node: DataNode, kind: Kind, conditions: Conditions) -> list[Phase]:
    together = 1
    if kind in ("system", "start"):
        together = sum(1 for other in _members(plan) if other.host_id == node.host_id)
    start = _starting(plan, node, conditions, together)
    if plan.version < PHASED_SINCE and kind in ("node", "initial", "system"):
        return _whole_of_2009(start, kind)
    return _phases(start, kind)


def _slowest(plan: Plan, nodes: list[DataNode], kind: Kind, conditions: Conditions) -> list[Phase]:
    """Phases of the node that takes longest: nodes that start together wait for one another."""
    held = node_data_by_id(plan)
    # Nodes with the same hardware and settings differ by their rows only.
    alike: dict[object, DataNode] = {}
    for node in nodes:
        host = plan.host(node.host_id)
        disks = tuple(
            (d.sequential_read_bytes_per_s, d.sync_write_latency_s)
            for d in (disk_for(plan, node, role) for role in (DiskRole.LCP, DiskRole.REDO))
            if d is not None
        )
        key = (host.cores, host.clock_ghz, host.network_bytes_per_s, disks, node.parameters)
        rows = held[node.node_id].rows if node.node_id in held else 0.0
        best = alike.get(key)
        if best is None or rows > (held[best.node_id].rows if best.node_id in held else 0.0):
            alike[key] = node
    estimates = [_of_node(plan, node, kind, conditions) for node in alike.values()]
    return max(estimates, key=lambda found: sum(phase.duration_s.value for phase in found))


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
    stop, gap = constant_for(plan, "stop_handover_s"), constant_for(plan, "operator_gap_s")
    aside = Quantity(
        stop.value + gap.value, stop.low + gap.low, stop.high + gap.high, "s", (term_of(stop), term_of(gap))
    )
    found = []
    for number, nodes in enumerate(rounds, 1):
        slowest = _slowest(plan, nodes, "node", conditions)
        restart_s = total(((p.name, p.duration_s) for p in slowest), "s")
        ids = ", ".join(str(node.node_id) for node in nodes)
        whole = total_of_independent((("stop and checks", aside), ("restart", restart_s)), "s")
        longest = max(slowest, key=lambda p: p.duration_s.value)
        label = f"node {ids}" if len(nodes) == 1 else f"round {number}: nodes {ids}"
        found.append(Phase(label, whole, longest.bound, longest.shorten))
    notes: tuple[str, ...] = ()
    if not conditions.one_of_each_group and len(groups) > 1:
        least = max(len(g) for g in groups)
        notes = (f"one node of each group at a time: {least} rounds instead of {len(rounds)}",)
    ids_all = tuple(node.node_id for nodes in rounds for node in nodes)
    return _estimate("rolling", ids_all, found, notes)


def start_beside(
    grown: Plan, nodes: list[DataNode], running: Plan, conditions: Conditions = IDLE
) -> RestartEstimate:
    """First start of new, empty nodes beside a running cluster: they wait for one of its checkpoints.

    `grown`: the plan with the new nodes, `running`: without them. The nodes start together.
    """
    held = node_data_by_id(running)
    largest = max((data.checkpoint_bytes for data in held.values()), default=0.0)
    found: list[Phase] = []
    for node in nodes:
        start = _starting(grown, node, conditions)
        start = replace(start, data=None, load=None, other_checkpoint_bytes=largest)
        own = [
            phases.allocate_memory(start),
            phases.create_files(start),
            phases.early_phases(start),
            phases.wait_for_checkpoint(start),
            phases.hand_over_subscriptions(start),
        ]
        if sum(p.duration_s.value for p in own) > sum(p.duration_s.value for p in found):
            found = own
    return _estimate("start", tuple(node.node_id for node in nodes), found)


def restart(
    plan: Plan, kind: Kind, node_id: int | None = None, conditions: Conditions = IDLE
) -> RestartEstimate:
    """Phases and duration of a start.

    node, initial: of `node_id`, or of the node with most rows; system, start: all nodes together; rolling:
    all nodes, one after the other. Raises RestartError for an unknown kind or node and for a plan without
    node groups.
    """
    if kind not in KINDS:
        raise RestartError(f"'{kind}' is no kind of restart", fix=f"use one of {', '.join(KINDS)}")
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
        found = _slowest(plan, members, kind, conditions)
        return _estimate(kind, tuple(node.node_id for node in members), found)
    if node_id is not None:
        node = next(n for n in plan.data_nodes if n.node_id == node_id)
    else:
        held = node_data_by_id(plan)
        node = max(members, key=lambda n: held[n.node_id].rows if n.node_id in held else 0.0)
    notes: tuple[str, ...] = ()
    if all(len(group) < 2 for group in node_groups(plan)):
        notes = ("NoOfReplicas = 1: without this node the cluster is down, and --initial loses its rows",)
    return _estimate(kind, (node.node_id,), _of_node(plan, node, kind, conditions), notes)
