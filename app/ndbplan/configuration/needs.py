"""What has to happen to a cluster so that it comes from one plan to another: the change decides.

needs(running, planned).kind      # initial_node: every node it names is started with --initial, one by one
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ndbplan.base.errors import UserError
from ndbplan.configuration.deployment import connect_string, management_port, sql_files
from ndbplan.configuration.difference import MYSQLD, RESTART_DATA_NODES, Difference, diff
from ndbplan.configuration.directories import data_node_paths
from ndbplan.configuration.mysqld import as_read, fixed_otherwise, mysqld_options, unstartable_options
from ndbplan.configuration.node_groups import incomplete_node_group, reserved_nodes
from ndbplan.configuration.own_options import has_own_options
from ndbplan.configuration.services import service_of
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.configuration.stated import Fate, stated
from ndbplan.ndb.features import features
from ndbplan.ndb.version import NdbVersion, release, series_after
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, ManagementNode, SqlNode, process_node_ids

_READ_BY_OTHERS = frozenset(
    {
        "HostName", "PortNumber", "ArbitrationRank", "ArbitrationDelay", "LocationDomainId", "wan",
        "RequireCertificate", "RequireTls",
    }
)  # fmt: skip
"""Parameters of management, SQL and API nodes that data nodes read when they start: who may arbitrate
(Qmgr), where a node is and how it is reached (connections of the transporters)."""
_READ_BY_CLIENTS = ("TCP", "SHM", "SYSTEM")
"""Sections that SQL nodes read too."""


class CannotChangeError(UserError):
    """A change that is not done: it is unknown what it takes, or it cannot be done at all."""


@dataclass(frozen=True)
class Needs:
    """What a change takes, by node ids. Nodes that come or go are in `difference`."""

    difference: Difference
    kind: str
    """nothing, management, sql, node, initial_node, system or initial_system: the heaviest of it."""
    data: tuple[int, ...]
    """Data nodes of both plans that restart."""
    initial: tuple[int, ...]
    """Those of them that need --initial."""
    elsewhere: tuple[int, ...]
    """Those of them whose files lie elsewhere from now on."""
    sql: tuple[int, ...]
    """SQL nodes of both plans that restart."""
    configured: bool
    """config.ini says something else."""
    management_at_once: bool
    """Which management nodes there are, or where, changes: all stop before one starts with the new file."""
    management_lost: bool
    """No management node stays where it is: those that run would find none of them, and be found by none."""
    sql_lost: bool
    """No SQL node stays as it is: those that come can start only when every data node knows them."""
    programs: bool
    """Another release of the product."""


def needs(before: Plan, after: Plan) -> Needs:
    """What it takes to bring a cluster from one plan to another.

    Raises CannotChangeError where that is not known, or where the cluster cannot come there.
    """
    change = diff(before, after)
    _refuse(before, after, change)
    everybody = connect_string(before) != connect_string(after)
    programs = before.ndb_version != after.ndb_version
    at_once = everybody or _ids(before.management_nodes) != _ids(after.management_nodes)
    members = bool(change.added or change.removed)
    data, sql = _touched(before, after, change)
    if everybody or programs or members:
        data = {n.node_id for n in after.data_nodes} & {n.node_id for n in before.data_nodes}
    if everybody or programs or _others_see(change):
        sql = {n.node_id for n in after.sql_nodes} & {n.node_id for n in before.sql_nodes}
    sql |= other_kinds(before, after)
    elsewhere = {i for i in _both(before, after) if _paths_change(before, after, i)}
    initial = elsewhere | {
        i
        for one in change.parameters
        if one.section == "DB" and one.restart == "initial_node"
        for i in one.node_ids
    }
    needed = Needs(
        change,
        "nothing",
        tuple(sorted(data | initial)),
        tuple(sorted(initial)),
        tuple(sorted(elsewhere)),
        tuple(sorted(sql)),
        configured=members or bool(change.links) or any(c.section != MYSQLD for c in change.parameters),
        management_at_once=at_once,
        management_lost=not _addresses(before) & _addresses(after),
        sql_lost=bool(after.sql_nodes and before.sql_nodes) and not _places(before) & _places(after),
        programs=programs,
    )
    needed = replace(needed, kind=_kind(needed))
    if needed.data and no_of_replicas(before) == 1:
        needed = _without_copies(needed)
    _refuse_initial_together(before, after, needed)
    return needed


def _without_copies(needed: Needs) -> Needs:
    """The same where rows have no second copy: the cluster ends with the first data node that stops."""
    if needed.initial and needed.kind == "initial_node":
        raise CannotChangeError(
            "data nodes need --initial, and there is no second copy of their rows (NoOfReplicas 1)",
            where="the change",
            fix="back up, make the cluster anew and restore",
        )
    return replace(needed, kind="system") if needed.kind == "node" else needed


def _addresses(plan: Plan) -> set[tuple[int, str, int]]:
    """Where nodes that run look for each management node, and connect to it themselves."""
    return {
        (node.node_id, plan.host(node.host_id).hostname, management_port(plan, node))
        for node in plan.management_nodes
    }


def other_kinds(before: Plan, after: Plan) -> set[int]:
    """Ids that SQL nodes and API slots take over from one another: to config.ini they are the same."""
    kinds = {node.node_id: type(node) for node in before.processes}
    return {
        node.node_id
        for node in (*after.sql_nodes, *after.api_slots)
        if kinds.get(node.node_id) in {SqlNode, ApiSlot} - {type(node)}
    }


def _places(plan: Plan) -> set[tuple[int, str]]:
    """Id and host of each SQL node."""
    return {(node.node_id, plan.host(node.host_id).hostname) for node in plan.sql_nodes}


def _refuse_initial_together(before: Plan, after: Plan, found: Needs) -> None:
    """Data nodes that stop together start from their own files: some cannot begin anew then."""
    hosts = {node.node_id: before.host(node.host_id).hostname for node in before.data_nodes}
    stay = {n.node_id for n in after.data_nodes if hosts.get(n.node_id) == after.host(n.host_id).hostname}
    if found.kind == "system" and (anew := sorted(stay & set(found.initial))):
        raise CannotChangeError(
            f"all data nodes stop together for it, and data nodes {', '.join(map(str, anew))} need --initial",
            where="the change",
            fix="make two changes of it: first what needs --initial, then the rest",
        )


def _kind(found: Needs) -> str:
    if found.difference.restart in ("system", "initial_system"):
        return found.difference.restart
    if found.management_lost or found.sql_lost:
        return "system"
    if found.initial:
        return "initial_node"
    if found.data:
        return "node"
    if found.sql:
        return "sql"
    return "management" if found.configured else "nothing"


def _ids(nodes: tuple[ManagementNode, ...]) -> tuple[int, ...]:
    return tuple(node.node_id for node in nodes)


def _both(before: Plan, after: Plan) -> Iterator[int]:
    old = {node.node_id for node in before.data_nodes}
    yield from (node.node_id for node in after.data_nodes if node.node_id in old)


def _others_see(change: Difference) -> bool:
    """Whether something changes that every SQL node reads."""
    nodes = (*change.added, *change.removed)
    return any(node.section in ("DB", "MGM") for node in nodes) or any(
        one.section in _READ_BY_CLIENTS or one.name == "HostName" for one in change.parameters
    )


def _includes(plan: Plan, node: SqlNode) -> bool:
    return has_own_options(plan, plan.host(node.host_id))


def _touched(before: Plan, after: Plan, change: Difference) -> tuple[set[int], set[int]]:
    """Data nodes and SQL nodes that something of their own, or something that they read, changes for."""
    data_ids = set(_both(before, after))
    sql_of = {i: node.node_id for node in after.sql_nodes for i in process_node_ids(node)}
    data: set[int] = {i for pair in change.links for i in pair if i in data_ids}
    sql: set[int] = {sql_of[i] for pair in change.links for i in pair if i in sql_of}
    for one in change.parameters:
        if one.section in RESTART_DATA_NODES:
            data |= data_ids & set(one.node_ids)
        elif one.name in _READ_BY_OTHERS:
            data |= data_ids
        if one.section in ("API", MYSQLD):
            sql |= {sql_of[i] for i in one.node_ids if i in sql_of}
    old_data = {node.node_id: node for node in before.data_nodes}
    for node in after.data_nodes:
        if node.node_id in old_data and _service_changes(before, after, old_data[node.node_id], node):
            data.add(node.node_id)
    old_sql = {node.node_id: node for node in before.sql_nodes}
    for mysqld in after.sql_nodes:
        was = old_sql.get(mysqld.node_id)
        if was is not None and (
            as_read(before, mysqld_options(before, was)) != as_read(after, mysqld_options(after, mysqld))
            or sql_files(before, was) != sql_files(after, mysqld)
            or _includes(before, was) != _includes(after, mysqld)
            or _service_changes(before, after, was, mysqld)
        ):
            sql.add(mysqld.node_id)
    return data, sql & old_sql.keys()


def _service_changes(before: Plan, after: Plan, old: DataNode | SqlNode, new: DataNode | SqlNode) -> bool:
    return service_of(before, old).command != service_of(after, new).command


def _paths_change(before: Plan, after: Plan, node_id: int) -> bool:
    """Whether the files of a data node lie elsewhere; links count where the old plan says on which disks."""
    old, new = ({n.node_id: n for n in plan.data_nodes}[node_id] for plan in (before, after))
    was, will_be = data_node_paths(before, old), data_node_paths(after, new)
    if was.file_system != will_be.file_system:
        return True
    stated = old.disk_roles.lcp is not None or old.disk_roles.redo is not None
    return stated and (was.lcp, was.redo) != (will_be.lcp, will_be.redo)


# What is refused.


def _refuse(before: Plan, after: Plan, change: Difference) -> None:
    for why, fix in _refusals(before, after, change):
        raise CannotChangeError(why, where="the change", fix=fix)


def _refusals(before: Plan, after: Plan, change: Difference) -> Iterator[tuple[str, str]]:
    for one in stated(after):
        if one.reading.fate is Fate.REFUSED:
            what = f"{one.reading.name}={one.reading.raw} of {one.where}"
            yield f"ndb_mgmd refuses {what}: {one.reading.reason}", "correct it; ndbplan check says more"
    runs = {node.node_id: node for node in before.sql_nodes if before.version == after.version}
    for node in after.sql_nodes:
        # What it runs with already, in this very release, it starts with.
        was = runs.get(node.node_id)
        known = unstartable_options(before, was) if was else {}
        for option, why in unstartable_options(after, node).items():
            if known.get(option) != why:
                yield (
                    f"mysqld of SQL node {node.node_id} would not start: {why}",
                    f"remove {option}, or correct it; ndbplan check says more",
                )
    ran = {node.node_id: node for node in before.sql_nodes}
    for node in after.sql_nodes:
        for why in fixed_otherwise(after, node, before, ran[node.node_id]) if node.node_id in ran else ():
            yield (
                f"mysqld of SQL node {node.node_id} would not start: {why}",
                "leave it; an SQL node on another host fills its data directory with another value",
            )
    for plan, name in ((before, "what runs"), (after, "the plan")):
        if not (plan.data_nodes and plan.management_nodes):
            yield f"{name} has no data node or no management node", "compare two whole clusters"
        elif broken := incomplete_node_group(plan):
            yield f"in {name}, {broken}", "complete the node group"
    if before.version != after.version:
        yield from not_upgraded(before.version, after.version)
    managers = {host.hostname: host.service_manager for host in before.hosts}
    for host in after.hosts:
        if managers.get(host.hostname, host.service_manager) is not host.service_manager:
            yield (
                f"{host.hostname} starts services otherwise than before: it is another operating system",
                "state it for what runs too, and bring the host up anew: part replace-host",
            )
    ids = {node.node_id for node in change.removed if node.section == "DB"}
    kept = {node.node_id for node in after.data_nodes} - {node.node_id for node in change.added}
    if ids and not kept:
        yield "every data node goes, and no data with it", "export the plan as a new cluster"
    new = nodes_for_new_groups(before, after)
    if new and change.restart not in ("system", "initial_system"):
        replicas = no_of_replicas(after)
        if not after.features.add_nodes_online:
            yield f"NDB {after.ndb_version} cannot add data nodes online (7.0 and later can)", "upgrade first"
        if len(new) % replicas:
            yield (
                f"{len(new)} new data nodes make no whole node group of {replicas}",
                f"add {replicas} for each node group, or reserve them with NodeGroup 65536",
            )


def nodes_for_new_groups(before: Plan, after: Plan) -> list[DataNode]:
    """Data nodes of node groups that are made: new nodes, and nodes that were reserved before."""
    had = {node.node_id for node in before.data_nodes} - {n.node_id for n in reserved_nodes(before)}
    reserved = reserved_nodes(after)
    return [node for node in after.data_nodes if node.node_id not in had and node not in reserved]


def not_upgraded(before: NdbVersion, after: NdbVersion) -> Iterator[tuple[str, str]]:
    """Why a cluster that works is not brought from one release to another, each with what to do instead."""
    whole = next((one for one in (before, after) if one.names_series), None)
    if whole is not None and before.series == after.series and before != after:
        # Programs of any release of the series would count as its own.
        other = after if whole == before else before
        yield (
            f"NDB {whole} names a series: which of its releases is meant beside {other} is not known",
            f"state a release, as {other} is one, for what runs and for the plan",
        )
    if after < before:
        yield (
            f"a downgrade from NDB {before} to {after} is not planned",
            "install the older release as a new cluster and load the rows from a dump",
        )
    oldest = features(after).upgraded_from
    if before < release(oldest):
        yield (
            f"a cluster of NDB {before} is not brought to {after} while it works",
            f"upgrade to {oldest} or later of that series first",
        )


def upgrades(version: NdbVersion) -> tuple[str, ...]:
    """The series that a cluster of a release is brought to while it works, oldest first."""
    later = ((series, NdbVersion.parse(series)) for series in series_after(version))
    return tuple(series for series, one in later if not list(not_upgraded(version, one)))
