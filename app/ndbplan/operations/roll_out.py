"""A changed configuration or new programs brought to a cluster that works: what restarts, in which order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ndbplan.base.quantity import total
from ndbplan.configuration.needs import CannotChangeError, not_upgraded
from ndbplan.configuration.node_groups import reserved_nodes
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.stored import node_data_by_id
from ndbplan.estimate.times.restart import IDLE, Conditions, Kind
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.version import BadVersionError, NdbVersion
from ndbplan.operations.files import copy_configuration
from ndbplan.operations.hosts import no_return, with_new_programs
from ndbplan.operations.operation import Operation, Step, Times
from ndbplan.operations.steps import (
    STOPS_WITH_ONE,
    move_redo_logs,
    new_configuration,
    reload_management_nodes,
    restart_each,
    restart_sql_nodes,
    verify,
)
from ndbplan.plan.disk_speed import at_disk_speed
from ndbplan.plan.plan import Plan

_EACH_TIME = "Every run restarts all of them."
_VERSION = "--to-version"
"""Where the new version is named."""


def with_disks_asked(now: Estimation, conditions: Conditions) -> tuple[Estimation, Conditions]:
    """Estimates with the speed of disks that is asked for: it holds for every step, restarts or not."""
    if conditions.disk_factor == 1.0:
        return now, conditions
    return now.of(at_disk_speed(now.plan, conditions.disk_factor)), replace(conditions, disk_factor=1.0)


def _reload(times: Times, plan: Plan) -> Iterator[Step]:
    """The changed configuration, known to every management node."""
    yield new_configuration(
        times,
        "Copy the configuration",
        "To every management host; all of them must have the same file.",
        copy_configuration(plan),
    )
    yield reload_management_nodes(
        times,
        plan,
        "Restart the management nodes with the new file",
        "One after the other, with --reload, so that the cached configuration is replaced.",
    )


def rolling_restart(now: Estimation, *, initial: bool = False, timed: bool = True) -> Operation:
    """Every node restarted while the cluster works, data nodes with --initial if asked for.

    `timed`: with durations; raises what `restart` raises.
    """
    plan, times = now.plan, Times(now, known=timed)
    steps = (
        *_reload(times, plan),
        *restart_each(times, plan, "initial" if initial else "node", IDLE, reserved_nodes(plan)),
        *(move_redo_logs(times, plan) if initial else ()),
        *restart_sql_nodes(times, plan),
        verify(plan),
    )
    need = "initial_node" if initial else "node"
    names = ", ".join(sorted(p.name for p in catalogue.parameters("DB", plan.version) if p.restart == need))
    if initial:
        text = (
            f"For parameters whose change the data nodes take with --initial only: {names}. Each node copies "
            "all its rows from its node group. No DDL and no backup meanwhile."
        )
        title = "Rolling restart with --initial"
        return Operation("initial-rolling-restart", title, steps, text, each_time=_EACH_TIME)
    text = (
        "For parameters whose change needs a rolling restart without --initial, and for new programs. "
        "ndbplan diff says what a change needs. No DDL and no backup meanwhile."
        f"{STOPS_WITH_ONE if no_of_replicas(plan) == 1 else ''}"
    )
    return Operation("rolling-restart", "Rolling restart", steps, text, each_time=_EACH_TIME)


def _refuse_version(runs: NdbVersion, to_version: str) -> None:
    try:
        wanted = NdbVersion.parse(to_version)
    except BadVersionError as error:
        raise BadVersionError(error.what, where=_VERSION, fix=error.fix) from None
    if wanted == runs:
        raise CannotChangeError(
            f"the cluster runs NDB {runs} already", where=_VERSION, fix="name a later one"
        )
    for why, fix in not_upgraded(runs, wanted):
        raise CannotChangeError(why, where=_VERSION, fix=fix)


def upgrade(now: Estimation, to_version: str, conditions: Conditions = IDLE) -> Operation:
    """Rolling upgrade: management nodes, data nodes, SQL nodes, each with the new programs.

    Raises BadVersionError for what is no version, CannotChangeError for one that is not in reach.
    """
    plan, times = now.plan, Times(now)
    _refuse_version(plan.version, to_version)
    steps = tuple(
        with_new_programs(step)
        for step in (
            *_reload(times, plan),
            *restart_each(times, plan, "node", conditions, reserved_nodes(plan)),
            *restart_sql_nodes(times, plan),
        )
    )
    notes = (
        "take a backup first; a downgrade is possible only between versions the manual names",
        "no DDL until all nodes run the new version",
    )
    title = f"Upgrade from {plan.ndb_version} to {to_version}"
    return Operation("upgrade", title, steps, point_of_no_return=no_return(steps), notes=notes)


def roll_out(now: Estimation, parameters: tuple[str, ...], conditions: Conditions = IDLE) -> Operation:
    """Bringing changed data node parameters into effect, by what the product needs for each.

    node: rolling restart; initial_node: rolling with --initial; system: all nodes down and up;
    initial_system: backup, new cluster, restore. KeyError for an unknown parameter.
    """
    now, conditions = with_disks_asked(now, conditions)
    plan, times = now.plan, Times(now)
    needs = {name: catalogue.parameter("DB", name).restart for name in parameters}
    need = max(needs.values(), key=catalogue.RESTARTS.index, default="node")
    if need == "initial_node" and no_of_replicas(plan) == 1:
        # No other node has the rows that --initial erases.
        need = "initial_system"
    steps = list(_reload(times, plan))
    if need in ("node", "initial_node"):
        kind: Kind = "initial" if need == "initial_node" else "node"
        steps += restart_each(times, plan, kind, conditions, reserved_nodes(plan))
    elif need == "system":
        title = "Shut down and start all data nodes"
        steps.append(_all_at_once(now, "system", title, "the cluster is down", conditions))
    else:
        title = "Start all data nodes with --initial"
        steps = [
            _save(now, conditions),
            *steps,
            _all_at_once(now, "start", title, "the cluster is empty", conditions),
            _restore(now),
        ]
    stops = [STOPS_WITH_ONE.strip()] if need == "node" and no_of_replicas(plan) == 1 else []
    notes = stops + [f"{name} needs: {what.replace('_', ' ')} restart" for name, what in needs.items()]
    if need == "initial_node" and not node_data_by_id(plan):
        notes.append("no rows yet: --initial loses nothing")
    return Operation(
        "roll-out",
        f"Change {', '.join(parameters)}",
        tuple(steps),
        point_of_no_return="start-all" if need == "initial_system" else None,
        notes=tuple(notes),
    )


def _save(now: Estimation, conditions: Conditions) -> Step:
    return Step(
        "backup",
        "START BACKUP",
        duration_s=now.under(conditions.load).backup().duration_s,
        check="the management client reports completed",
    )


def _restore(now: Estimation) -> Step:
    phases = now.restore(one_by_one=True).phases
    return Step(
        "restore",
        "Restore the backup",
        duration_s=total(((one.name, one.duration_s) for one in phases), "s"),
        blocked=("everything: the data is not complete",),
        check="row counts as before",
        phases=phases,
    )


def _all_at_once(now: Estimation, kind: Kind, title: str, why: str, conditions: Conditions) -> Step:
    estimate = now.restart(kind, None, conditions)
    return Step(
        "start-all",
        title,
        duration_s=estimate.duration_s,
        blocked=(f"everything: {why}",),
        check="ALL STATUS: all started",
        phases=estimate.phases,
    )
