"""Rules about timers, and about how long operations take."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ndbplan.base.units import MIB, format_bytes, format_duration, format_ndb_size, how_many
from ndbplan.checks.layouts import disk_beside_redo, uses_disk_data
from ndbplan.checks.parameters import setting, without
from ndbplan.checks.problem import Edit, Look, Problem, Solution, WaysOut
from ndbplan.checks.rule import hint, rule, warning
from ndbplan.checks.solutions import one_of, that_mend, ways_out
from ndbplan.configuration.directories import disks_of_roles
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.settings import no_of_replicas, nodes_alike
from ndbplan.edits.changes import SetField, SetRole, together
from ndbplan.edits.growth import add_node_group
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.hardware import DiskKind
from ndbplan.plan.processes import NODE_GROUP_NONE, DiskRole

_SHORT_HEARTBEAT_MS = 1500
_MISSED_HEARTBEATS = 4
_SLOW_LINK = 2e8
_TEN_GIGABIT = 1.17e9
"""Usable bytes per second of 10 GbE in one direction."""
_MOST_GROUPS = 4
"""Node groups more that anybody would rather have than faster links."""
_MUCH_DATA = 100e9
_LONG_BACKUP_S = 4 * 3600.0
"""Bytes of a node that are much for a slow link, and a backup that is long: judgement."""
_ROOM_OF_SPEED = 1.25
"""More than the share that a backup is too long by: other things write too."""
_NO_SHORTER_BACKUP = (
    "use faster disks, or many more node groups: neither MaxDiskWriteSpeed nor a few groups do"
)


@rule("heartbeat", "Heartbeat interval too short or too long")
def heartbeat(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    name = "HeartbeatIntervalDbDb"
    for alike in nodes_alike(plan):
        interval = alike.settings.number(name)
        if not alike.settings.states(name):
            continue
        shared = any(
            len(plan.processes_of_host[node.host_id]) > 1
            or any(disk.kind is DiskKind.CLOUD for disk in plan.host(node.host_id).disks)
            for node in alike.nodes
        )
        if interval <= _SHORT_HEARTBEAT_MS and shared:
            yield warning(
                alike.where,
                f"{name} is {interval} ms on hosts that do other work too: a pause of "
                f"{_MISSED_HEARTBEATS * interval} ms takes a data node for dead",
                f"set {name} to 5000",
                alike.object_ids,
                setting(alike.scope_of(name), name, 5000),
            )
        inactive = alike.settings.number("TransactionInactiveTimeout")
        if 0 < inactive < _MISSED_HEARTBEATS * interval:
            told = warning(
                alike.where,
                f"it takes {_MISSED_HEARTBEATS * interval} ms to notice a dead data node "
                f"({_MISSED_HEARTBEATS} x "
                f"{name} {interval}), longer than TransactionInactiveTimeout {inactive} ms: clients give "
                f"up first",
                f"lower {name} or raise TransactionInactiveTimeout",
                alike.object_ids,
            )
            longer, shorter = _MISSED_HEARTBEATS * interval, inactive // _MISSED_HEARTBEATS
            patient = setting(
                alike.scope_of("TransactionInactiveTimeout"), "TransactionInactiveTimeout", longer
            )
            ways = [
                Solution(
                    f"Raise TransactionInactiveTimeout to {longer} ms",
                    "no data node is taken for dead sooner",
                    patient,
                ),
                Solution(
                    f"Lower {name} to {shorter} ms",
                    "a dead data node is noticed sooner, and a pause of one too",
                    setting(alike.scope_of(name), name, shorter),
                ),
            ]
            unknown = "how long clients may wait: both values have other limits here"
            yield replace(told, solve=one_of(now, "heartbeat", ways, unknown, alike.object_ids))


@rule("arbitration-timeout", "Arbitration does not wait for two heartbeats")
def arbitration_timeout(now: Estimation) -> Iterator[Problem]:
    for alike in nodes_alike(now.plan):
        if not (
            alike.settings.states("ArbitrationTimeout") or alike.settings.states("HeartbeatIntervalDbDb")
        ):
            continue
        timeout, interval = (
            alike.settings.number("ArbitrationTimeout"),
            alike.settings.number("HeartbeatIntervalDbDb"),
        )
        if timeout < 2 * interval:
            yield warning(
                alike.where,
                f"ArbitrationTimeout {timeout} ms is below two heartbeats (2 x {interval} ms): a node may "
                f"be shut "
                "down before the arbitrator answers",
                f"set ArbitrationTimeout to {2 * interval}",
                alike.object_ids,
                setting(alike.scope_of("ArbitrationTimeout"), "ArbitrationTimeout", 2 * interval),
            )


@rule("global-checkpoints", "Global checkpoints are not every 2 seconds", alone=True)
def global_checkpoints(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    name = "TimeBetweenGlobalCheckpoints"
    for alike in nodes_alike(plan):
        value, default = alike.settings.number(name), catalogue.default("DB", name, plan.version)
        if alike.settings.states(name) and value != default and isinstance(default, int):
            effect = (
                "more committed work is lost when all nodes fail"
                if value > default
                else "the redo log is synced more often"
            )
            yield warning(
                alike.where,
                f"{name} is {value} ms instead of {default}: {effect}",
                f"set it back to {default} unless that is meant",
                alike.object_ids,
                without(alike.scope_of(name), name),
            )


@rule("copy-over-slow-link", "Copying a lost node back takes very long")
def copy_over_slow_link(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    nodes = {node.node_id: node for node in plan.data_nodes}
    search = partial(_faster_links, now)
    for need in now.memory.nodes:
        host = plan.host(nodes[need.node_id].host_id)
        held, link = need.data_memory_bytes.value, host.network_bytes_per_s
        if held > _MUCH_DATA and link < _SLOW_LINK:
            told = warning(
                f"data node {need.node_id}",
                f"data node {need.node_id} holds {format_bytes(held)}, and {host.hostname} has a link of "
                f"{format_bytes(link)}/s: an initial node restart copies for "
                f"{format_duration(held / link)} at least",
                "use 10 GbE or more data nodes",
                [nodes[need.node_id].id, host.id],
            )
            yield replace(told, solve=search)


def _faster_links(now: Estimation, look: Look) -> WaysOut:
    """Faster links for the hosts of data nodes, or less data on each: more node groups."""
    plan = now.plan
    slow = dict.fromkeys(
        node.host_id for node in plan.data_nodes if plan.host(node.host_id).network_bytes_per_s < _TEN_GIGABIT
    )
    links: Edit = together(SetField(host_id, "network_bytes_per_s", _TEN_GIGABIT) for host_id in slow)
    held = max(need.data_memory_bytes.value for need in now.memory.nodes)
    groups = len(node_groups(plan))
    more = math.ceil(groups * held / _MUCH_DATA) - groups
    then = format_duration(held / _TEN_GIGABIT)
    why = f"{how_many(len(slow), 'host')} of data nodes; copying then takes {then}"
    ways = [Solution("Give the hosts 10 GbE", why, links, buys=True)]
    if 0 < more <= _MOST_GROUPS:
        hosts = how_many(more * no_of_replicas(plan), "more host")
        add = partial(add_node_group, groups=more)
        why = f"{hosts} like the last ones; each data node holds less"
        ways.append(Solution(f"Add {how_many(more, 'node group')}", why, add, buys=True))
    return WaysOut(that_mend(look, plan, ways, "copy-over-slow-link"), "")


@rule("backup-duration", "A backup takes many hours")
def backup_duration(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not plan.tables or not plan.data_nodes:
        return
    duration = now.backup().duration_s
    throttled = catalogue.knows("DB", "MaxDiskWriteSpeed", plan.version)
    if duration.value > _LONG_BACKUP_S:
        told = warning(
            "backup",
            f"a backup takes {format_duration(duration.value)}"
            + ("; it gets half of MaxDiskWriteSpeed" if throttled else ""),
            "use more data nodes or faster disks",
        )
        yield replace(told, solve=partial(_shorter_backup, now, throttled))


def _shorter_backup(now: Estimation, throttled: bool, look: Look) -> WaysOut:
    """More of what the disks can write, or node groups that hold less each."""
    plan, longer = now.plan, now.backup().duration_s.value / _LONG_BACKUP_S
    ways = [
        Solution(
            f"Add {how_many(more, 'node group')}",
            "each data node holds less; the tables are reorganised",
            partial(add_node_group, groups=more),
            buys=True,
        )
        for more in dict.fromkeys((1, math.ceil(len(node_groups(plan)) * (longer - 1))))
        if 0 < more <= _MOST_GROUPS
    ]
    if throttled:
        speed = max(alike.settings.number("MaxDiskWriteSpeed") for alike in nodes_alike(plan))
        most = catalogue.parameter("DB", "MaxDiskWriteSpeed", plan.version).maximum
        for wanted in (longer, _ROOM_OF_SPEED * longer):
            faster = math.ceil(speed * wanted / MIB) * MIB
            faster = min(int(most), faster) if most else faster
            edit = setting("data_node", "MaxDiskWriteSpeed", faster)
            title = f"Raise MaxDiskWriteSpeed to {format_ndb_size(faster)}"
            ways.insert(0, Solution(title, "the disks can write as much; a rolling restart does it", edit))
    found = that_mend(look, plan, ways, "backup-duration")
    chosen = {way.buys: way for way in reversed(found)}
    return ways_out([chosen[buys] for buys in (False, True) if buys in chosen], _NO_SHORTER_BACKUP)


@rule("backup-on-redo-disk", "Backups disturb the redo log")
def backup_on_redo_disk(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for node in plan.data_nodes:
        host = plan.host(node.host_id)
        if len(host.disks) < 2:
            continue
        disks = disks_of_roles(plan, node)
        redo, target = disks[DiskRole.REDO], disks[DiskRole.BACKUP]
        if redo is not None and redo is target:
            other = disk_beside_redo(plan, node, last=True)
            yield warning(
                f"data node {node.node_id}",
                f"backups of data node {node.node_id} go to disk {redo.name}, which holds its redo log",
                f"put BACKUP on disk {other.name}",
                [node.id, redo.id],
                _backup_to(node.id, other.id),
            )


def _backup_to(node_id: str, disk_id: str) -> Edit:
    return SetRole(node_id, DiskRole.BACKUP, disk_id)


@rule("growth-at-peak", "The cluster grows in the busy hours")
def growth_at_peak(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    aside = [node for node in plan.data_nodes if node.node_group == NODE_GROUP_NONE]
    if aside and len(aside) < len(plan.data_nodes) and plan.tables and plan.workloads:
        yield hint(
            "reorganisation",
            f"{how_many(len(aside), 'data node')} {'waits' if len(aside) == 1 else 'wait'} for a node group; "
            "reorganising the tables takes processor time and log on the old nodes, and no other DDL or "
            "restart is possible meanwhile",
            "do it outside the busy hours",
            [node.id for node in aside],
            missing="when the busy hours are: the tab Operations proposes the quietest ones of a load",
        )


@rule("initial-start", "A start with --initial leaves disk data files behind")
def initial_start(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if uses_disk_data(plan) and plan.features.initial_start_keeps_disk_data:
        yield hint(
            "disk data",
            "a start of all data nodes with --initial erases redo log and checkpoints, not tablespace and "
            "undo files; CREATE LOGFILE GROUP then fails on the old files",
            "delete the files by hand before such a start, as the part restore of the runbook does",
            [space.id for space in plan.tablespaces],
            missing="nothing of the plan: it holds for every cluster with disk data",
        )
