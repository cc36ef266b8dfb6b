"""A cluster brought from one plan to another: what differs decides on the steps and their order.

change(Estimation(planned), running).steps
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ndbplan.base.quantity import Quantity, total
from ndbplan.base.quoting import shell_quoted
from ndbplan.configuration.difference import in_words
from ndbplan.configuration.directories import data_node_paths
from ndbplan.configuration.needs import CannotChangeError, Needs, needs, nodes_for_new_groups, other_kinds
from ndbplan.configuration.node_groups import node_groups, reserved_nodes
from ndbplan.configuration.services import service_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.times.restart import IDLE, Conditions, Kind
from ndbplan.estimate.times.restart_phases import STOP, Phase
from ndbplan.operations.add_nodes import grow_by, start_new
from ndbplan.operations.change_on_hosts import (
    data_nodes_elsewhere,
    in_order_of_ports,
    leaving,
    prepare,
    served,
    serving_meanwhile,
    sql_files_elsewhere,
    with_ids,
)
from ndbplan.operations.commands import (
    BackUpAgain,
    Command,
    Shell,
    StopDataNode,
    restart_management_at_once,
    start_empty,
    start_service,
    start_sql_nodes,
    stop_all_data_nodes,
    stop_data_node,
    stop_service,
    wait_sql,
    wait_started,
)
from ndbplan.operations.files import (
    copy_configuration,
    copy_my_cnf,
    move_sql_files,
    node_directories,
    not_with_its_host,
)
from ndbplan.operations.hosts import new_programs, no_return, system_tables_step, way_back, with_new_programs
from ndbplan.operations.meanwhile import NOBODY, sql_nodes_named, who_is_cut_off
from ndbplan.operations.operation import Operation, Step, Times
from ndbplan.operations.restoring import (
    backup_folders,
    empty_data_nodes,
    encrypting,
    fill_again,
    no_way_to_back_up,
    no_way_to_restore,
    stop_sql,
    take_backup,
)
from ndbplan.operations.roll_out import with_disks_asked
from ndbplan.operations.steps import (
    DATA_NODE_STAYS_AWAY,
    SQL_NODE_STAYS_AWAY,
    kind_of_start,
    lost_with_all,
    move_redo_logs,
    new_configuration,
    reload_management_nodes,
    restart_nodes,
    restart_sql_nodes,
    slowest_restart,
    verify,
)
from ndbplan.operations.table_changes import left_to_people, stay, table_steps
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, ManagementNode, SqlNode

BEFORE_FOLDER = "before/"
"""What ran before, inside the exported folder: the script compares with it, and it is the way back."""

_NONE_STAYS = (
    " No management node stays where it is, and nodes that run would find none of the new ones: to keep the "
    "cluster up, add one in a change of its own before."
)
_NO_SQL_STAYS = (
    " No SQL node keeps its id and host, and new ones can start only when every data node knows them: to "
    "keep the cluster up, add one in a change of its own before."
)
KINDS = {
    "nothing": "nothing restarts",
    "management": "management nodes restart, and nothing else",
    "sql": "SQL nodes restart one after the other; data nodes are left alone",
    "node": "a rolling restart: the cluster serves all the time",
    "initial_node": "a rolling restart with --initial: the cluster serves all the time",
    "system": "a restart of all data nodes together: the cluster is down meanwhile",
    "initial_system": "a new cluster that gets its rows from a backup: it is down meanwhile",
}
"""What each kind of change means for those who use the cluster."""


def change(now: Estimation, before: Plan, conditions: Conditions = IDLE, *, timed: bool = True) -> Operation:
    """What brings a cluster that runs as `before` to the plan of the estimation.

    Raises CannotChangeError where that is unknown or impossible. `timed`: with durations; raises what the
    estimates raise then.
    """
    now, conditions = with_disks_asked(now, conditions)
    needed = needs(before, now.plan)
    work = _Work(now.plan, before, needed, Times(now, known=timed), conditions)
    steps = tuple(map(with_new_programs, work.steps()) if needed.programs else work.steps())
    serves = KINDS[needed.kind] + who_is_cut_off(now.plan, work.serving, needed)
    notes = [serves] + [
        f"{one.name} of {one.where} needs: {one.restart.replace('_', ' ')} restart"
        for one in needed.difference.parameters
        if one.section in ("DB", "SYSTEM")
    ]
    notes += left_to_people(before, now.plan)
    text = (
        f"From what the folder {BEFORE_FOLDER.rstrip('/')} holds to what this folder holds: "
        f"{serves}. The script refuses a cluster that runs by anything else. No DDL and no "
        f"backup meanwhile but its own. {way_back(before, now.plan)}"
        f"{_NONE_STAYS if needed.management_lost else ''}"
        f"{_NO_SQL_STAYS if needed.sql_lost else ''}"
        f"{in_words(needed.difference)}"
    )
    lost = "empty" if needed.kind == "initial_system" else no_return(steps) if needed.programs else None
    return Operation(
        "change", "Bring the cluster to this plan", steps, text, point_of_no_return=lost, notes=tuple(notes)
    )


class _Work:
    """The steps of one change."""

    def __init__(self, plan: Plan, before: Plan, found: Needs, times: Times, conditions: Conditions) -> None:
        self.plan, self.before, self.needs = plan, before, found
        self.times, self.conditions = times, conditions
        moved = (*self._on_another_host(), *other_kinds(before, plan))
        self.added = with_ids(plan.processes, (*found.difference.added_node_ids, *moved))
        self.removed = with_ids(before.processes, (*found.difference.removed_node_ids, *moved))
        self.moved: list[DataNode] = []
        self.sql_files = sql_files_elsewhere(before, plan, self.added)
        self.serving = serving_meanwhile(before, plan, self.added)

    def steps(self) -> Iterator[Step]:
        """All of them, in order."""
        kind = self.needs.kind
        tables = tuple(table_steps(self.times, self.before, self.plan))
        if kind == "nothing" and not tables:
            return
        if self.needs.programs:
            yield from new_programs(self.before, self.plan)
        moved = [] if kind == "initial_system" else self._moved()
        yield from prepare(self.before, self.plan, self.needs, self.added, moved)
        if kind == "initial_system":
            yield from self._new_cluster()
        elif kind == "system":
            yield from self._together()
        else:
            yield from self._rolling()
        if self.needs.programs:
            yield from system_tables_step(self.times, self.plan, self.added)
        yield from tables
        yield verify(self.plan)

    def _on_another_host(self) -> Iterator[int]:
        """Management and SQL nodes that go from one host and come to another, by id."""
        old = {node.node_id: service_of(self.before, node).host for node in served(self.before)}
        for node in served(self.plan):
            here = service_of(self.plan, node).host
            if not isinstance(node, DataNode) and old.get(node.node_id, here) != here:
                yield node.node_id

    def _configuration(self) -> Iterator[Step]:
        if not (self.needs.configured or self.needs.management_at_once or self.needs.programs):
            return
        yield new_configuration(
            self.times,
            "Copy the changed configuration",
            "To every management host; all of them must have the same file.",
            copy_configuration(self.plan),
        )
        if not self.needs.management_at_once:
            yield reload_management_nodes(
                self.times,
                self.plan,
                "Restart the management nodes with the new file",
                "One after the other, with --reload, so that the cached configuration is replaced.",
            )
            return
        yield Step(
            "management",
            "Restart all management nodes together",
            "Which management nodes there are changes, so all stop before one starts with the new file.",
            tuple(restart_management_at_once(self.plan, self.before)),
            self.times.constant("management_restart_s", len(self.plan.management_nodes)),
            blocked=("starts of nodes while no management node runs",),
            check="SHOW lists all of them as connected",
            rollback="the same with the old file",
        )

    def _leave(self) -> Iterator[Step]:
        """Nodes that go: stopped, and their units disabled."""
        commands: list[Command] = []
        old = {node.node_id: node for node in self.before.data_nodes}
        together = self.needs.kind in ("system", "initial_system")
        moved = (
            [old[node.node_id] for node in data_nodes_elsewhere(self.before, self.plan)] if together else []
        )
        for node in (*self.removed, *moved):
            if isinstance(node, ManagementNode | DataNode | SqlNode):
                service = service_of(self.before, node)
                if isinstance(node, SqlNode):
                    commands.append(stop_service(self.before, node))
                elif isinstance(node, DataNode) and self.needs.kind in ("node", "initial_node"):
                    commands.append(stop_data_node(self.before, node))
                commands.append(not_with_its_host(service))
        if commands:
            gone = sql_nodes_named(self.before, self.removed)
            stopped = [node for node in self.removed if isinstance(node, SqlNode | DataNode)]
            yield Step(
                "leave",
                "Take nodes out of service",
                "Their units no longer start with the host. Their files stay where they are.",
                tuple(commands),
                None if together else self.times.ask(leaving, self.times.now.of(self.before), stopped),
                destructive=f"Clients of {gone} are cut off." if gone else "",
            )

    # The three ways.

    def _rolling(self) -> Iterator[Step]:
        yield from self._leave()
        yield from self._configuration()
        yield from self._data_nodes()
        new = [node for node in self.added if isinstance(node, SqlNode)]
        changed = [n for n in self.plan.sql_nodes if n.node_id in self.needs.sql and n not in new]
        if changed:
            yield from self._my_cnf(changed)
            order = in_order_of_ports(self.before, self.plan, changed)
            for step in restart_sql_nodes(self.times, self.plan, order, self.sql_files, self.serving):
                yield replace(step, rollback="put the old my.cnf back and restart once more")
        if new:
            commands: list[Command] = []
            for node in new:
                commands += (start_service(self.plan, node), wait_sql(self.plan, node))
            yield Step(
                "new-sql-nodes",
                "Start the new SQL nodes",
                "Each must answer a query.",
                tuple(commands),
                self.times.constant("sql_restart_s", len(new)),
            )
        yield from self._new_groups()

    def _data_nodes(self) -> Iterator[Step]:
        wanted = [node for node in self.plan.data_nodes if node.node_id in self.needs.data]
        if not wanted:
            return
        self.moved = self._moved()
        for nodes in self._rounds(wanted):
            initial = self._is_initial(nodes[0])
            kind: Kind = "initial" if initial else "node"
            times = self._times_of(nodes[0])
            ways = self._while_down, self._stop_elsewhere, self._again
            yield restart_nodes(times, self.plan, kind, nodes, self.conditions, *ways)
        yield from move_redo_logs(self.times, self.plan, [node for node in wanted if self._is_initial(node)])

    def _times_of(self, node: DataNode) -> Times:
        """How long it takes to restart a node; one that is in no group yet holds no rows meanwhile."""
        if any(node.node_id == one.node_id for one in reserved_nodes(self.before)):
            return Times(self.times.now.of(self.before), known=self.times.known)
        return self.times

    def _is_initial(self, node: DataNode) -> bool:
        """Whether a data node starts with --initial: its files are made anew, or lie on another host."""
        return node.node_id in self.needs.initial or node in self.moved

    def _again(self, node: DataNode) -> Iterator[Command]:
        """A node that was left stopped, started as its own step does it; not one whose files go elsewhere."""
        if node not in self.moved and node.node_id not in self.needs.elsewhere:
            start = start_empty if self._is_initial(node) else start_service
            yield start(self.plan, node)

    def _stop_elsewhere(self, node: DataNode, start_s: Quantity | None) -> StopDataNode | None:
        """How a data node is stopped that goes to another host; None for one that stays."""
        if node not in self.moved:
            return None
        return stop_data_node(self.before, self._as_before(node), start_s)

    def _as_before(self, node: DataNode) -> DataNode:
        return next(one for one in self.before.data_nodes if one.node_id == node.node_id)

    def _rounds(self, wanted: list[DataNode]) -> list[list[DataNode]]:
        """One node at a time, or one of each group, of one kind, at a time."""
        if not self.conditions.one_of_each_group:
            return [[node] for node in wanted]
        rounds: dict[tuple[int, bool], list[DataNode]] = {}
        groups = node_groups(self.plan)
        for group in groups:
            for place, node in enumerate(one for one in group if one in wanted):
                rounds.setdefault((place, self._is_initial(node)), []).append(node)
        in_none = [node for node in wanted if not any(node in group for group in groups)]
        return [*rounds.values(), *([node] for node in in_none)]

    def _while_down(self, node: DataNode) -> Iterator[Command]:
        """Files that lie elsewhere from now on: an old folder of checkpoints must not be in the way."""
        if node in self.moved:
            yield not_with_its_host(service_of(self.before, self._as_before(node)))
            yield from node_directories(self.plan, [node])
            return
        if node.node_id not in self.needs.elsewhere:
            return
        paths = data_node_paths(self.plan, node)
        link = f"{paths.file_system}/ndb_{node.node_id}_fs/LCP"
        if paths.lcp is not None:
            host = self.plan.host(node.host_id).hostname
            gone = f"{{ test -L {shell_quoted(link)} || test ! -e {shell_quoted(link)}; }}"
            yield Shell(host, f"rm -rf -- {shell_quoted(link)}", unless=gone)
        yield from node_directories(self.plan, [node])

    def _my_cnf(self, nodes: list[SqlNode], *, stopped: bool = False) -> Iterator[Step]:
        """Their my.cnf; and their files moved, where they are stopped already."""
        commands = list(copy_my_cnf(self.plan, nodes))
        text = "A file that it replaces is kept beside it with the time in its name."
        if moved := [node for node in nodes if node.node_id in self.sql_files]:
            ids = ", ".join(str(node.node_id) for node in moved)
            text += (
                f" The data directory of SQL node {ids} has another name from now on, as its host runs more "
                "or fewer of them; it is moved while the node is stopped. Run the part schema afterwards: it "
                "makes the login for mysqldump anew."
            )
        if stopped:
            for node in moved:
                commands += move_sql_files(self.sql_files[node.node_id], self.plan, node)
        yield Step("my-cnf", "Copy my.cnf", text, tuple(commands))

    def _new_groups(self) -> Iterator[Step]:
        if come := [node for node in self.added if isinstance(node, DataNode)]:
            yield start_new(self.times, self.plan, come, self.conditions)
        if new := nodes_for_new_groups(self.before, self.plan):
            tables = stay(self.before, self.plan)
            yield from grow_by(self.times, self.plan, new, tables, self.conditions)

    def _together(self) -> Iterator[Step]:
        moved = self._moved()
        phases = self.times.ask(self._phases_together, moved) or ()
        duration = total(((one.name, one.duration_s) for one in phases), "s") if phases else None
        yield from stop_sql(self.times, self.before)
        yield Step(
            "data-stop",
            "Stop the data nodes",
            "All together. The new file is loaded only now, so that no node starts with it beside others.",
            (stop_all_data_nodes(self.before),),
            self.times.constant("cluster_stop_s"),
            destructive=f"The cluster is down until its data nodes are started.{lost_with_all(self.before)}",
            blocked=(NOBODY,),
        )
        yield from self._leave()
        yield from self._configuration()
        old = [node for node in self.plan.data_nodes if node not in self.added]
        stay = [node for node in old if node not in moved]
        starts: list[Command] = [*node_directories(self.plan, moved)]
        without = f"--nowait-nodes={','.join(str(node.node_id) for node in moved)}" if moved else ""
        starts += [start_service(self.plan, node, without) for node in stay]
        starts.append(wait_started(stay, duration))
        if moved:
            starts += [start_empty(self.plan, node) for node in moved]
            starts.append(wait_started(moved, duration))
        yield Step(
            "start-all",
            "Start all data nodes",
            "Each from its own files."
            + (" Nodes on another host come last, as they copy their rows from the others." if moved else ""),
            tuple(starts),
            duration,
            label="Shut down and start all data nodes",
            blocked=(NOBODY,),
            check="ALL STATUS: all started",
            if_it_fails=DATA_NODE_STAYS_AWAY,
            phases=phases,
        )
        yield from self._start_sql()
        yield from self._new_groups()

    def _phases_together(self, moved: list[DataNode]) -> tuple[Phase, ...]:
        """A start of all; nodes that moved copy their rows when the others are started."""
        now = self.times.now
        phases = now.restart(kind_of_start(self.plan), None, self.conditions).phases
        if not moved:
            return phases
        copied = slowest_restart(now, "initial", moved, self.conditions).phases
        return (*phases, *(one for one in copied if one.name != STOP))

    def _moved(self) -> list[DataNode]:
        """Those on another host, where they copy their rows from their node group."""
        moved = data_nodes_elsewhere(self.before, self.plan)
        for group in node_groups(self.plan):
            if all(node in moved for node in group):
                raise CannotChangeError(
                    f"all data nodes of a node group ({', '.join(str(n.node_id) for n in group)}) move to "
                    "another host, and none would have its rows",
                    where="the change",
                    fix="move one of each group first; or keep the names when only addresses change",
                )
        return moved

    def _start_sql(self) -> Iterator[Step]:
        if self.plan.sql_nodes:
            yield from self._my_cnf(list(self.plan.sql_nodes), stopped=True)
            yield Step(
                "sql-nodes",
                "Start the SQL nodes",
                "Clients can come back as soon as the first of them answers.",
                tuple(start_sql_nodes(self.plan)),
                self.times.constant("sql_restart_s", len(self.plan.sql_nodes)),
                if_it_fails=SQL_NODE_STAYS_AWAY,
            )

    def _new_cluster(self) -> Iterator[Step]:
        if why := no_way_to_back_up(self.before) or no_way_to_back_up(self.plan):
            raise CannotChangeError(
                f"all rows would go through a backup, and {why}",
                where="the change",
                fix="change that before, or load the rows into a new cluster from a dump",
            )
        if why := no_way_to_restore(self.plan):
            raise CannotChangeError(why, where="the change", fix="add an API slot without a host")
        yield from stop_sql(self.times, self.before)
        yield replace(
            take_backup(self.times, self.before),
            destructive="Rows that programs of the NDB API write from here on are lost: stop them first.",
        )
        # Where this was broken off in between, somebody may have let clients come back.
        again: list[Command] = [stop_service(self.before, node) for node in self.before.sql_nodes]
        again.append(BackUpAgain(encrypting(self.before), backup_folders(self.before)))
        yield empty_data_nodes(self.times, self.before, self.plan, again)
        yield from self._leave()
        yield from self._configuration()
        if self.plan.sql_nodes:
            yield from self._my_cnf(list(self.plan.sql_nodes), stopped=True)
        yield from fill_again(self.times, self.before, self.plan)
