"""How long work on a plan's cluster takes: starts, backups, files that are made.

    restart(plan, "node", node_id=3).duration_s
    restart(plan, "rolling", conditions=Conditions(workload=plan.workloads[0])).phases
    backup(plan).duration_s

Here the plan is taken apart for `times/`, whose functions get data nodes with what they run on, hold and do.

Sources: those of `times/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ndbplan.base.errors import UserError
from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity
from ndbplan.configuration.node_groups import loses_every_row, node_groups
from ndbplan.estimate.beyond import less_certain
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.load.disks import DisksEstimate
from ndbplan.estimate.load.node_settings import KEPT_NODES
from ndbplan.estimate.loaded import checkpoint, disk_data, disk_demand, job_of, node_loads_by_id
from ndbplan.estimate.narrowed import narrowed
from ndbplan.estimate.stored import (
    machines_of,
    node_data,
    node_data_by_id,
    node_data_by_logging,
    reach,
    stored_shares_of,
)
from ndbplan.estimate.times import backup as backups
from ndbplan.estimate.times import restart as restarts
from ndbplan.estimate.times import restore_backup as restores
from ndbplan.estimate.times.backup import BackupEstimate, PhasedEstimate
from ndbplan.estimate.times.copy_links import SlowLink, slowed_links
from ndbplan.estimate.times.restart import IDLE, KINDS, Conditions, Kind, RestartEstimate
from ndbplan.estimate.times.running import Files, Running
from ndbplan.estimate.together import together
from ndbplan.ndb.nearness import Nearness, downwards, upwards
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import LogfileGroup, Tablespace
from ndbplan.plan.workloads import Workload

NO_TRAFFIC = DisksEstimate(())


class RestartError(UserError):
    """A restart that the plan does not allow to estimate."""


def traffic_on_disks(plan: Plan, workload: Workload | None) -> DisksEstimate:
    """What a workload asks of disks; nothing without one."""
    return NO_TRAFFIC if workload is None else disk_demand(plan, workload)


_NAMED = 5
"""Tables that a note names."""


def _running(plan: Plan, workload: Workload | None) -> Running:
    """One object for all plans that agree in it, so that starts are kept by it."""
    all_logged = all(table.logging for table in plan.tables)
    return _running_of(
        narrowed(machines_of(plan)),
        node_data_by_id(plan),
        sum(1 + len(table.indexes) for table in plan.tables),
        _files(plan),
        node_loads_by_id(plan, workload),
        checkpoint(plan, workload),
        disk_data(plan, workload),
        traffic_on_disks(plan, workload),
        None if all_logged else node_data_by_logging(plan, True),
        None if all_logged else node_data_by_logging(plan, False),
    )


@kept_by_identity(48)
def _running_of(*parts: Any) -> Running:
    return Running(*parts)


def _files(plan: Plan) -> Files:
    return _files_of(plan.logfile_groups, plan.tablespaces)


@kept_by_identity(48)
def _files_of(groups: tuple[LogfileGroup, ...], spaces: tuple[Tablespace, ...]) -> Files:
    return Files(groups, spaces)


@kept_by_identity(64)
def _start(running: Running, kind: Kind, node_id: int | None, conditions: Conditions) -> RestartEstimate:
    return restarts.restart(running, kind, node_id, conditions)


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
    if not node_groups(plan):
        raise RestartError("the plan has no node group to start", fix="add data nodes")
    if node_id is not None and all(node.node_id != node_id for node in plan.data_nodes):
        ids = ", ".join(str(node.node_id) for node in plan.data_nodes[:8])
        raise RestartError(f"there is no data node {node_id}", fix=f"use one of {ids}")
    if kind == "system" and loses_every_row(plan):
        raise RestartError(
            "Diskless is 1: when all data nodes stop every row is gone, and none can be restored",
            where="parameters.data_node.Diskless",
            fix="take the first start instead, and fill the tables again",
        )

    def started(of: Plan) -> RestartEstimate:
        return _start(_running(of, conditions.load), kind, node_id, conditions)

    estimate = started(plan)
    duration = together(plan, "start", estimate.duration_s, lambda moved: started(moved).duration_s)
    # Of a node whose rows no other one has, an initial restart is a first start of all.
    of_all = len(estimate.node_ids) == sum(map(len, node_groups(plan)))
    what = "first start" if kind == "start" or (kind == "initial" and of_all) else "restart"
    lasts = less_certain(
        plan, what, duration, lambda moved: restart(moved, kind, node_id, conditions).duration_s
    )
    notes = (*estimate.notes, *filter(None, (come_up_empty(plan),) if kind == "system" else ()))
    near = reach(plan, what)
    phases = upwards(near).widened_throughout(estimate.phases)
    return replace(estimate, phases=phases, duration_s=lasts, nearness=near, notes=notes)


def come_up_empty(plan: Plan) -> str:
    """Which tables have no row after a start of all data nodes from their files; nothing: all keep theirs."""
    names = [table.full_name for table in plan.tables if not table.logging and table.rows]
    if not names:
        return ""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"tables without logging come up empty: {', '.join(names[:_NAMED])}{more}"


@kept_by_identity(64)
def copy_s_per_byte(plan: Plan, node_id: int, slow_links: tuple[SlowLink, ...]) -> float:
    """Seconds that the slowest of these links takes for a byte that a starting node fetches from its group.

    0: it fetches nothing over them. Whole links are part of the time that a restart is estimated to take.
    """
    machines, usable = machines_of(plan), constants_of(plan)["copy_network_share"].value
    links = slowed_links(machines, {node_id: 1.0}, slow_links).get(node_id, ())
    return max((link.crossing_bytes / (link.bytes_per_s * usable) for link in links), default=0.0)


def start_beside(
    grown: Plan, nodes: Sequence[DataNode], running: Plan, conditions: Conditions = IDLE
) -> RestartEstimate:
    """First start of new, empty nodes beside a running cluster: they wait for one of its checkpoints.

    `grown`: the plan with the new nodes, `running`: without them. The nodes start together.
    """
    cluster = _running(grown, conditions.load)
    new = [cluster.machines.by_id[node.node_id] for node in nodes]
    return restarts.start_beside(cluster, new, _running(running, conditions.load), conditions)


@kept_by_identity(size=96)
def backup(plan: Plan, workload: Workload | None = None) -> BackupEstimate:
    """START BACKUP: every node writes the fragments whose primary it holds, under a workload or idle.

    Columns on disk are part of it. No node is faster than its slowest LDM thread, its cores and its disks.
    """
    estimate = _backup(plan, workload)
    duration = together(
        plan, "backup", estimate.duration_s, lambda moved: _backup(moved, workload).duration_s
    )
    lasts = less_certain(plan, "backup", duration, lambda moved: backup(moved, workload).duration_s)
    return _near(estimate, lasts, reach(plan, "backup"), reach(plan, "storage"))


def _backup(plan: Plan, workload: Workload | None) -> BackupEstimate:
    job = None if workload is None else job_of(plan, workload)
    return backups.backup(
        narrowed(machines_of(plan)),
        node_data(plan),
        node_loads_by_id(plan, workload),
        traffic_on_disks(plan, workload),
        checkpoint(plan, workload),
        None if job is None else job.transactions / job.rate_per_s.value,
    )


@kept_by_identity(size=48)
def _near(estimate: BackupEstimate, lasts: Quantity, near: Nearness, held: Nearness) -> BackupEstimate:
    """`near`: to measured backups; `held`: to measured sizes of rows, which a backup writes."""
    nodes = tuple(one.with_figures(*_near_node(*one.figures, near, held)) for one in estimate.nodes)
    return replace(estimate, nodes=nodes, duration_s=lasts, nearness=near)


@kept_by_identity(size=KEPT_NODES)
def _near_node(
    written: Quantity, speed: Quantity, lasts: Quantity, log: Quantity, near: Nearness, held: Nearness
) -> tuple[Quantity, ...]:
    """Once for all nodes that back up alike, so that what depends on it is worked out once too."""
    return (
        upwards(held).widened(written),
        downwards(near).widened(speed),
        upwards(near).widened(lasts),
        near.widened(log),
    )


def restore_backup(plan: Plan, one_by_one: bool = False) -> PhasedEstimate:
    """ndb_restore: undo and data files made anew, all rows at insert speed, then the ordered indexes.

    Each node's backup is read from the disk that it was written to; `one_by_one`: one after the other.
    """
    stored = [(table, stored_shares_of(plan, table)) for table in plan.tables]
    files = create_disk_data(plan)
    machines, saved = narrowed(machines_of(plan)), _backup(plan, None)
    found = restores.restore_backup(machines, stored, node_data(plan), saved, files, one_by_one=one_by_one)
    restored = found.phases[len(files.phases) :]
    near = upwards(reach(plan, "restore"))
    return backups.phased([*files.phases, *near.widened_throughout(restored)])


def create_disk_data(plan: Plan) -> PhasedEstimate:
    """Creating every undo file and data file of the plan, one after the other; the slowest disk counts."""
    found = backups.create_disk_data(constants_of(plan), _files(plan), machines_of(plan).nodes)
    return backups.phased([*upwards(reach(plan, "files")).widened_throughout(found.phases)])
