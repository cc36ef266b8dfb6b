"""Procedures as timelines: adding nodes, rolling a change out, upgrading. Steps, times, checks, ways back.

    add_nodes(plan, groups=1).steps
    roll_out(plan, ("NoOfFragmentLogFiles",)).duration_s

Step keys are those of the runbook, so that its steps can show how long they take.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ndbplan.base.quantity import Quantity, Term, total, total_of_independent
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.node_parameters import version_of
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.estimate.constants import constant_for, term_of
from ndbplan.estimate.load.log_records import operation_redo
from ndbplan.estimate.storage.node_data import node_data_by_id
from ndbplan.estimate.storage.rows import blob_parts, row_layout
from ndbplan.estimate.times.reorganise import NodePeak, ReorganiseEstimate, TableReorganise, reorganise
from ndbplan.estimate.times.restart import IDLE, Conditions, Kind, restart, start_beside
from ndbplan.estimate.times.restart_phases import Phase
from ndbplan.plan.disk_speed import at_disk_speed
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode, DiskRole
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind

NO_DDL = "DDL"
NO_RESTART = "restarts of data nodes"
ONE_SQL_NODE = "clients of the SQL node that restarts"
NO_NODE_FAILURE = "a second node of the same group must not fail"


@dataclass(frozen=True, slots=True)
class ProcedureStep:
    """One step of a procedure."""

    key: str
    """Name of the same step in the runbook."""
    title: str
    start_s: float
    """When it begins, from the start of the procedure, by the estimate's middle values."""
    duration_s: Quantity
    blocked: tuple[str, ...] = ()
    """What cannot be done, or does not work, meanwhile."""
    check: str = ""
    """How one sees that it has worked."""
    way_back: str = ""
    """How to undo it; empty: there is no way back."""
    if_it_fails: str = ""
    phases: tuple[Phase, ...] = ()
    """Parts of the step that have their own durations."""

    @property
    def end_s(self) -> float:
        """When it ends."""
        return self.start_s + self.duration_s.value

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """One entry of `steps`."""
        return {
            "key": self.key,
            "title": self.title,
            "start_s": self.start_s,
            "duration_s": self.duration_s.to_json(why=why),
            "blocked": list(self.blocked),
            "check": self.check,
            "way_back": self.way_back,
            "if_it_fails": self.if_it_fails,
            "phases": [phase.to_json(why) for phase in self.phases],
        }


@dataclass(frozen=True, slots=True)
class DiskLoad:
    """Redo log that a reorganisation adds on one disk, on average."""

    node_id: int
    disk: str
    redo_bytes_per_s: Quantity
    utilisation: Quantity
    """Share of the disk that this takes by itself."""

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """One entry of `disks`."""
        return {
            "node_id": self.node_id,
            "disk": self.disk,
            "redo_bytes_per_s": self.redo_bytes_per_s.to_json(why=why),
            "utilisation": self.utilisation.to_json(why=why),
        }


@dataclass(frozen=True)
class Procedure:
    """Steps one after the other."""

    name: str
    title: str
    steps: tuple[ProcedureStep, ...]
    duration_s: Quantity
    """Sum of the steps."""
    point_of_no_return: str = ""
    """Key of the first step that cannot be undone; empty: every step can."""
    notes: tuple[str, ...] = ()
    peaks: tuple[NodePeak, ...] = ()
    disks: tuple[DiskLoad, ...] = ()
    reorganisation: ReorganiseEstimate | None = field(default=None, repr=False)

    def step(self, key: str) -> ProcedureStep | None:
        """The step with this key."""
        return next((step for step in self.steps if step.key == key), None)

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape the command line prints."""
        return {
            "name": self.name,
            "title": self.title,
            "steps": [step.to_json(why) for step in self.steps],
            "duration_s": self.duration_s.to_json(why=why),
            "point_of_no_return": self.point_of_no_return or None,
            "notes": list(self.notes),
            "nodes": [peak.to_json(why) for peak in self.peaks],
            "disks": [disk.to_json(why) for disk in self.disks],
        }


class Builder:
    """Collects steps; each begins when the one before has ended."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.steps: list[ProcedureStep] = []
        self._now = 0.0

    def add(self, key: str, title: str, duration: Quantity, **fields: Any) -> None:
        """Append a step."""
        self.steps.append(ProcedureStep(key, title, self._now, duration, **fields))
        self._now += duration.value

    def constant(self, name: str, times: float = 1.0) -> Quantity:
        """A constant duration, so many times."""
        found = constant_for(self.plan, name)
        why = (term_of(found), Term("times", times, "", "plan")) if times != 1 else (term_of(found),)
        return Quantity(times * found.value, times * found.low, times * found.high, "s", why)

    def procedure(self, name: str, title: str, **fields: Any) -> Procedure:
        """The whole procedure."""
        return Procedure(name, title, tuple(self.steps), self._whole(), **fields)

    def _whole(self) -> Quantity:
        """Sum of the steps: those of one kind err together, different kinds independently."""
        kinds: dict[str, list[ProcedureStep]] = {}
        for step in self.steps:
            kinds.setdefault(step.key.split("-")[0], []).append(step)
        parts = []
        for steps in kinds.values():
            title = steps[0].title if len(steps) == 1 else f"{steps[0].title} and {len(steps) - 1} more"
            parts.append((title, total(((s.title, s.duration_s) for s in steps), "s")))
        return total_of_independent(parts, "s")


def reload_configuration(build: Builder) -> None:
    """Copy config.ini and restart the management nodes one after the other."""
    count = max(1, len(build.plan.management_nodes))
    build.add(
        "configuration",
        "Edit the configuration",
        build.constant("edit_configuration_s"),
        check="the new file lies on every management host",
        way_back="put the old file back",
    )
    build.add(
        "management",
        f"Restart {count} management node{'s' if count > 1 else ''} with --reload",
        build.constant("management_restart_s", count),
        blocked=("starts of nodes while no management node runs",),
        check="SHOW lists the nodes as configured, in the same way on every management node",
        way_back="put the old file back and restart with --reload",
        if_it_fails="ndb_mgmd keeps the old configuration and says why; correct the file and try again",
    )


def restart_each(build: Builder, kind: Kind, conditions: Conditions) -> None:
    """Restart the data nodes in rounds."""
    plan = build.plan
    rounds: list[list[DataNode]]
    groups = node_groups(plan)
    if conditions.one_of_each_group:
        most = max((len(g) for g in groups), default=0)
        rounds = [[group[i] for group in groups if i < len(group)] for i in range(most)]
    else:
        rounds = [[node] for node in sorted((n for g in groups for n in g), key=lambda n: n.node_id)]
    stop, gap = build.constant("stop_handover_s"), build.constant("operator_gap_s")
    for nodes in rounds:
        ids_now = tuple(node.node_id for node in nodes)
        at_once = replace(conditions, restarting=ids_now)
        slowest = max(
            (restart(plan, kind, node.node_id, at_once) for node in nodes),
            key=lambda found: found.duration_s.value,
        )
        ids = ", ".join(str(node.node_id) for node in nodes)
        name = f"node {ids}" if len(nodes) == 1 else f"nodes {ids}"
        initial = " with --initial" if kind == "initial" else ""
        parts = (("stop", stop), ("start", slowest.duration_s), ("look at it", gap))
        whole = total_of_independent(parts, "s")
        build.add(
            f"restart-{nodes[0].node_id}",
            f"Restart data {name}{initial}",
            whole,
            blocked=(NO_DDL, NO_NODE_FAILURE),
            check=f"ALL STATUS: {name} started",
            way_back="restart once more with the old configuration",
            if_it_fails="the cluster works without the node; read its error log, correct, start it again",
            phases=slowest.phases,
        )


def restart_sql_nodes(build: Builder) -> None:
    """Restart the SQL nodes one after the other."""
    count = len(build.plan.sql_nodes)
    if count:
        build.add(
            "sql-nodes",
            f"Restart {count} SQL node{'s' if count > 1 else ''}, one after the other",
            build.constant("sql_restart_s", count),
            blocked=(ONE_SQL_NODE, NO_DDL),
            check="SHOW lists every SQL node with its address",
            way_back="nothing has changed for them",
            if_it_fails="keep clients away until it is back; do not start new data nodes before",
        )


def _kept_aside(plan: Plan) -> bool:
    aside = sum(1 for node in plan.data_nodes if node.node_group == NODE_GROUP_NONE)
    return aside >= no_of_replicas(plan)


def add_nodes(plan: Plan, groups: int = 1, conditions: Conditions = IDLE) -> Procedure:
    """Adding node groups online, from the configuration to the verification.

    With nodes kept aside (NodeGroup 65536) in the plan nothing that runs has to be restarted. SQL nodes come
    before the new data nodes: else those wait two minutes for subscriptions and then force the SQL nodes off
    (measured on 7.4.10). Raises what `reorganise` raises.
    """
    stated = plan
    plan, conditions = _at_disk_speed(plan, conditions)
    build = Builder(plan)
    change = reorganise(plan, groups, conditions.load)
    grown = change.plan_after
    old = {node.node_id for group in node_groups(plan) for node in group}
    new = [node for group in node_groups(grown) for node in group if node.node_id not in old]
    notes = []
    if _kept_aside(plan):
        notes.append("nodes kept aside (NodeGroup 65536) are known already: no restart of what runs")
    else:
        reload_configuration(build)
        restart_each(build, "node", conditions)
        restart_sql_nodes(build)
        notes.append("future nodes listed as NodeGroup 65536 from the start would spare the rolling restart")
    _start_new(build, grown, new, conditions)
    build.add(
        "create-nodegroup",
        f"CREATE NODEGROUP for {groups} group{'s' if groups > 1 else ''}",
        build.constant("create_nodegroup_s", groups),
        blocked=(NO_DDL,),
        check="SHOW gives the new nodes their node group",
        way_back="DROP NODEGROUP, as long as no table has been reorganised",
        if_it_fails="all nodes of the group must be started; then try again",
    )
    first = _reorganise_steps(build, change)
    if plan.tables:
        build.add(
            "verify",
            "Verify with ndb_desc",
            build.constant("verify_s", len(plan.tables)),
            check="every table has partitions on the new nodes with about the same row count",
        )
    notes += [f"{t.table}: {note}" for t in change.tables for note in t.notes]
    notes += change.problems
    return build.procedure(
        "add-nodes",
        f"Add {groups} node group{'s' if groups > 1 else ''} online",
        point_of_no_return=first,
        notes=tuple(notes),
        peaks=change.node_peaks,
        disks=_disk_loads(plan, change),
        reorganisation=change
        if plan is stated
        else replace(change, plan_after=reorganise(stated, groups, conditions.load).plan_after),
    )


def _at_disk_speed(plan: Plan, conditions: Conditions) -> tuple[Plan, Conditions]:
    """The plan with the speed of disks that is asked for: it holds for every step, restarts or not."""
    if conditions.disk_factor == 1.0:
        return plan, conditions
    return at_disk_speed(plan, conditions.disk_factor), replace(conditions, disk_factor=1.0)


def _start_new(build: Builder, grown: Plan, new: list[DataNode], conditions: Conditions) -> None:
    found = start_beside(grown, new, build.plan, conditions)
    ids = ", ".join(str(node.node_id) for node in new)
    build.add(
        "start-new",
        f"Start the new data nodes {ids} with --initial",
        found.duration_s,
        blocked=(NO_DDL,),
        check=f"ALL STATUS: nodes {ids} started; SHOW: no node group yet",
        way_back="stop them; the cluster does not need them",
        if_it_fails="stop the new nodes, correct, start them again with --initial; the others are untouched",
        phases=found.phases,
    )


def _reorganise_steps(build: Builder, change: ReorganiseEstimate) -> str:
    """Adds REORGANIZE and OPTIMIZE of every table; the key of the first one that moves rows."""
    first = ""
    for number, table in enumerate(change.tables, 1):
        if not table.moves:
            continue
        first = first or f"reorganise-{number}"
        build.add(
            f"reorganise-{number}",
            f"REORGANIZE {table.table}",
            table.duration_s,
            blocked=(NO_DDL, NO_RESTART),
            check="ndb_desc: partitions on the new nodes",
            if_it_fails=(
                "the statement rolls back by itself and the table is as before; when a data node has died, "
                "wait until it is started again and repeat the statement"
            ),
            phases=_passes(build.plan, table),
        )
        build.add(
            f"optimise-{number}",
            f"OPTIMIZE {table.table}",
            optimise(build.plan, build.plan.table(table.table)),
            check="ALL REPORT MEMORYUSAGE: less on the old nodes",
            way_back="nothing to undo",
            if_it_fails="repeat it at any time; until then old nodes keep the memory",
        )
    return first


def _passes(plan: Plan, table: TableReorganise) -> tuple[Phase, ...]:
    """Scan and copy, wait, delete: the passes of one reorganisation, as shares of its time."""
    fixed = constant_for(plan, "reorganise_table_s")
    fixed_s = min(fixed.value, table.duration_s.value)
    rest = table.duration_s.value - fixed_s
    # Of the work on a moved row the prior gives 150 to writing and copying, 100 to deleting.
    shares = (
        ("scan and copy", 0.6 * rest),
        ("prepare, wait for a global checkpoint", fixed_s),
        ("delete moved rows", 0.4 * rest),
    )
    whole = table.duration_s
    found = []
    for name, seconds in shares:
        share = seconds / whole.value
        why = (Term("share of the whole", share, "fraction", "assumption: prior 150 : 100"),)
        found.append(Phase(name, whole.scaled(share, why=why), table.bound, ""))
    return tuple(found)


def optimise(plan: Plan, table: Table) -> Quantity:
    """Duration of OPTIMIZE TABLE: one client sends every row back in batches, with a pause after each.

    Only variable parts are moved together, so a table that has none is left at once. Source: NDB API of 7.4
    (OptimizeTableHandle) and one published run.
    """
    each, fixed = constant_for(plan, "optimise_row_s"), constant_for(plan, "optimise_table_s")
    version = version_of(plan)
    parts = sum(part.parts_per_row for part in blob_parts(table, version))
    touched = table.rows * (1 + parts) if row_layout(table, version).variable_words else 0.0
    why = (
        Term("rows with a variable part, blob parts included", touched, "rows", "plan"),
        term_of(each),
        term_of(fixed),
    )
    return Quantity(
        fixed.value + touched * each.value,
        fixed.low + touched * each.low,
        fixed.high + touched * each.high,
        "s",
        why,
    )


def _disk_loads(plan: Plan, change: ReorganiseEstimate) -> tuple[DiskLoad, ...]:
    """Mean redo rate that the reorganisation puts on each node's disk."""
    version = version_of(plan)
    after = change.plan_after
    group_of = {n.node_id: i for i, group in enumerate(node_groups(after)) for n in group}
    written: dict[int, float] = {}
    for table, moved in zip(plan.tables, change.tables, strict=True):
        if not moved.moves:
            continue
        insert = operation_redo(table, OperationKind.INSERT, version).value
        delete = operation_redo(table, OperationKind.DELETE, version).value
        old = moved.redistribution.before.placement.nodes[:, 0].tolist()
        new = moved.redistribution.after.placement.nodes[:, 0].tolist()
        for (source, target), rows in moved.redistribution.moved_rows.items():
            out, into = group_of[old[source]], group_of[new[target]]
            written[out] = written.get(out, 0.0) + rows * (insert + delete)
            written[into] = written.get(into, 0.0) + rows * insert
    seconds = change.duration_s
    found = []
    overhead = constant_for(plan, "redo_page_overhead")
    for i, group in enumerate(node_groups(after)):
        log = written.get(i, 0.0) * overhead.value
        for node in group:
            disk = disk_for(after, node, DiskRole.REDO)
            if disk is None or seconds.value <= 0:
                continue
            why = (
                Term("log of the moved rows", log, "bytes", "formula: write in place, insert, delete"),
                seconds.as_term("duration"),
            )
            rate = Quantity(log / seconds.value, log / seconds.high, log / seconds.low, "bytes/s", why)
            speed = disk.sequential_write_bytes_per_s
            stated = Term(f"sequential writing of {disk.name}", speed, "bytes/s", "plan")
            share = rate.scaled(1 / speed, "fraction", (rate.as_term("log"), stated))
            found.append(DiskLoad(node.node_id, disk.name, rate, share))
    return tuple(found)


def upgrade(plan: Plan, to_version: str, conditions: Conditions = IDLE) -> Procedure:
    """Rolling upgrade: management nodes, data nodes, SQL nodes, each with the new programs."""
    build = Builder(plan)
    reload_configuration(build)
    restart_each(build, "node", conditions)
    restart_sql_nodes(build)
    return build.procedure(
        "upgrade",
        f"Upgrade from {plan.ndb_version} to {to_version}",
        notes=(
            "take a backup first; a downgrade is possible only between versions the manual names",
            "no DDL until all nodes run the new version",
        ),
    )


def _all_at_once(build: Builder, kind: Kind, title: str, why: str, conditions: Conditions) -> None:
    found = restart(build.plan, kind, conditions=conditions)
    build.add(
        "start-all",
        title,
        found.duration_s,
        blocked=(f"everything: {why}",),
        check="ALL STATUS: all started",
        phases=found.phases,
    )


def roll_out(plan: Plan, parameters: tuple[str, ...], conditions: Conditions = IDLE) -> Procedure:
    """Bringing changed data node parameters into effect, by what the product needs for each.

    node: rolling restart; initial_node: rolling with --initial; system: all nodes down and up;
    initial_system: backup, new cluster, restore. KeyError for an unknown parameter.
    """
    from ndbplan.estimate.times.backup import backup, restore_backup
    from ndbplan.ndb.catalogue import parameter

    plan, conditions = _at_disk_speed(plan, conditions)
    order = ("node", "initial_node", "system", "initial_system")
    needs = {name: parameter("DB", name).restart for name in parameters}
    need = max(needs.values(), key=order.index, default="node")
    build = Builder(plan)
    if need == "initial_system":
        saved = backup(plan, conditions.load)
        build.add("backup", "START BACKUP", saved.duration_s, check="the management client reports completed")
    reload_configuration(build)
    if need in ("node", "initial_node"):
        restart_each(build, "initial" if need == "initial_node" else "node", conditions)
    elif need == "system":
        _all_at_once(build, "system", "Shut down and start all data nodes", "the cluster is down", conditions)
    else:
        _all_at_once(
            build, "start", "Start all data nodes with --initial", "the cluster is empty", conditions
        )
        build.add(
            "restore",
            "Restore the backup",
            restore_backup(plan).duration_s,
            blocked=("everything: the data is not complete",),
            check="row counts as before",
        )
    notes = tuple(f"{name} needs: {what.replace('_', ' ')} restart" for name, what in needs.items())
    last = "start-all" if need == "initial_system" else ""
    held = node_data_by_id(plan)
    if need == "initial_node" and not held:
        notes = (*notes, "no rows yet: --initial loses nothing")
    return build.procedure(
        "roll-out", f"Change {', '.join(parameters)}", point_of_no_return=last, notes=notes
    )
