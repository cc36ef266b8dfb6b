"""Rules about hosts, node groups, arbitration and spare slots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_bytes_binary, format_ndb_size, how_many
from ndbplan.checks.node_cures import (
    another_node,
    apart_from_data_nodes,
    rest_of_group,
    second_replica,
    tested_replicas,
)
from ndbplan.checks.problem import Edit, Look, Problem, Severity, Solution, WaysOut
from ndbplan.checks.refused.threads import is_automatic
from ndbplan.checks.rule import error, hint, problem, rule, warning
from ndbplan.checks.solutions import completed, one_of
from ndbplan.configuration.node_groups import counted_nodes, node_group_ids, stated_group
from ndbplan.configuration.settings import no_of_replicas, node_settings, nodes_alike, redo_log_parts
from ndbplan.edits.changes import FreeApiSlots, SetField, SetParameter, together
from ndbplan.edits.names import next_hostname
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.stored import ldm_threads
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.addresses import is_loopback
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode, Process, process_node_ids

_NODE_IDS = 255
_SPARE_SLOTS = 2
"""Free API slots for ndb_restore and the like: judgement."""


def names(nodes: tuple[DataNode, ...] | list[DataNode]) -> str:
    """`1 and 2`, `1, 2 and 3`."""
    ids = [str(node.node_id) for node in nodes]
    return ids[0] if len(ids) == 1 else f"{', '.join(ids[:-1])} and {ids[-1]}"


def _for_real(plan: Plan, host_id: str) -> Severity:
    """An error, but a warning on a loopback address: such a cluster is there for trying things out."""
    name = plan.host(host_id).hostname
    return Severity.WARNING if is_loopback(name) else Severity.ERROR


def _without_groups(plan: Plan) -> Edit:
    numbered = [n for n in plan.data_nodes if n.node_group not in (None, NODE_GROUP_NONE)]
    edit: Edit = together(SetField(node.id, "node_group", None) for node in numbered)
    return edit


@rule("number-of-replicas", "NoOfReplicas is not 2")
def number_of_replicas(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    replicas = no_of_replicas(plan)
    if not plan.data_nodes:
        return
    if replicas == 1:
        count = len(plan.data_nodes)
        doubled = count > 1 and count % 2 == 0

        told = warning(
            "NoOfReplicas",
            "NoOfReplicas is 1: the failure of any data node stops the cluster, and every restart of one "
            "is an "
            "outage",
            "set NoOfReplicas to 2 (initial start of the whole cluster)"
            if doubled
            else f"set NoOfReplicas to 2 and run {max(2, 2 * count)} data nodes",
            [node.id for node in plan.data_nodes],
            SetParameter("data_node", "NoOfReplicas", 2) if doubled else None,
        )
        yield replace(told, solve=partial(second_replica, now))
    elif replicas > plan.features.replicas_most_tested:
        told = warning(
            "NoOfReplicas",
            f"NoOfReplicas is {replicas}; before 8.0.19 more than 2 were hardly tested",
            "use 2, or NDB 8.0.19 or later",
        )
        yield replace(told, solve=partial(tested_replicas, now))


@rule("node-group-size", "A node group does not have NoOfReplicas members", refused=True)
def node_group_size(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    replicas, ids = no_of_replicas(plan), node_group_ids(plan)
    counted = counted_nodes(plan)
    behind = [n for n in plan.data_nodes[len(counted) :] if stated_group(plan, n) != NODE_GROUP_NONE]
    in_groups = [node for node in counted if stated_group(plan, node) != NODE_GROUP_NONE]
    groups: dict[int, list[DataNode]] = {}
    for node in in_groups:
        groups.setdefault(ids[node.node_id], []).append(node)
    wrong = [(number, members) for number, members in sorted(groups.items()) if len(members) != replicas]
    if behind:
        yield _counting_stops(plan, behind, wrong)
    elif len(in_groups) % replicas:
        missing = replicas - len(in_groups) % replicas
        found = error(
            "data nodes",
            f"{how_many(len(in_groups), 'data node')} {'is' if len(in_groups) == 1 else 'are'} not a "
            f"multiple of NoOfReplicas {replicas}; ndb_mgmd refuses the configuration",
            f"add {how_many(missing, 'data node')} or take {len(in_groups) % replicas} away",
            [node.id for node in in_groups],
        )
        yield replace(found, solve=partial(rest_of_group, "node-group-size", missing, now))
    else:
        for number, members in wrong:
            yield error(
                f"node group {number}",
                f"node group {number} has {len(members)} members ({names(members)}), NoOfReplicas is "
                f"{replicas}; ndb_mgmd refuses the configuration",
                "let the product fill the groups in node-id order",
                [node.id for node in members],
                _without_groups(plan),
            )


def _counting_stops(plan: Plan, behind: list[DataNode], wrong: list[tuple[int, list[DataNode]]]) -> Problem:
    """What an older ndb_mgmd makes of data nodes behind a reserved one, which it no longer counts."""
    first = plan.data_nodes[len(counted_nodes(plan))]
    concerned = [node.id for node in (first, *behind)]
    stands = (
        f"data node{'s' if len(behind) > 1 else ''} {names(behind)} stand{'' if len(behind) > 1 else 's'}"
    )
    stops = (
        f"{stands} behind data node {first.node_id}, which is reserved (NodeGroup {NODE_GROUP_NONE}); "
        f"ndb_mgmd of NDB {plan.ndb_version} stops counting there"
    )
    fix, edit = _reserved_behind(plan)
    if not wrong:
        return warning("data nodes", f"{stops}{_uncounted(plan, behind)}", fix, concerned, edit)
    number, members = wrong[0]
    return error(
        f"node group {number}",
        f"{stops}: node group {number} has {how_many(len(members), 'member')} "
        f"({names(members)}), NoOfReplicas is {no_of_replicas(plan)}; it refuses the configuration",
        fix,
        concerned,
        edit,
    )


def _uncounted(plan: Plan, behind: list[DataNode]) -> str:
    """What becomes of nodes that are not counted: they keep what they state, and get nothing else."""
    without = [node for node in behind if stated_group(plan, node) is None]
    nodes = f"data node{'s' if len(without) > 1 else ''}"
    told = [f" and gives {nodes} {names(without)} no node group"] if without else []
    stating = [node for node in behind if stated_group(plan, node) is not None]
    if stating:
        keeps = "keeps the NodeGroup it states" if len(stating) == 1 else "keep the NodeGroup they state"
        nodes = f"data node{'s' if len(stating) > 1 else ''}"
        told.append(f"{'; ' if without else ' and '}{nodes} {names(stating)} {keeps}, which nothing checks")
    return "".join(told)


def _reserved_behind(plan: Plan) -> tuple[str, Edit | None]:
    """How reserved data nodes come behind all others: in words, and as an edit where that is a cure."""
    last = max(n.node_id for n in plan.data_nodes if stated_group(plan, n) != NODE_GROUP_NONE)
    early = [n for n in plan.data_nodes if n.node_id < last and stated_group(plan, n) == NODE_GROUP_NONE]
    taken = {number for p in plan.processes for number in (p.node_id, *getattr(p, "pool_node_ids", ()))}
    free = [number for number in range(last + 1, plan.features.data_nodes_most + 1) if number not in taken]
    if len(free) < len(early):
        return f"give reserved nodes the highest node ids: {names(early)} behind {last}", None
    edit = together(SetField(n.id, "node_id", number) for n, number in zip(early, free, strict=False))
    to = ", ".join(f"data node {n.node_id} the node id {i}" for n, i in zip(early, free, strict=False))
    rest = next(iter(node_group_size(Estimation(edit(plan)))), None)
    fix = f"reserved nodes take the highest node ids: give {to}"
    return (fix, edit) if rest is None else (f"{fix}; then {rest.fix}", None)


@rule("host-names", "Two hosts have one name")
def host_names(now: Estimation) -> Iterator[Problem]:
    by_name: dict[str, list[Host]] = {}
    for host in now.plan.hosts:
        by_name.setdefault(host.hostname.lower(), []).append(host)
    for hosts in by_name.values():
        if len(hosts) > 1:
            told = error(
                f"host {hosts[0].hostname}",
                f"{len(hosts)} hosts are called {hosts[0].hostname}; in config.ini they are one machine, "
                f"and what "
                "looks like two copies of the data may be on it",
                "give each host its own name",
                [host.id for host in hosts],
            )
            edit, names = _own_names(now.plan, hosts[1:])
            way = Solution(f"Call the others {names}", "the next free names", edit, asks=True)
            unknown = "what the machines are called: only their network knows it"
            ids = [host.id for host in hosts]
            yield replace(told, solve=one_of(now, "host-names", [way], unknown, ids))


def _own_names(plan: Plan, hosts: Sequence[Host]) -> tuple[Edit, str]:
    """The next free names, as for hosts that are added, and the first few of them in words."""
    taken = {host.hostname for host in plan.hosts}
    names: list[str] = []
    for host in hosts:
        names.append(next_hostname(host.hostname, taken))
        taken.add(names[-1])
    edits = (SetField(host.id, "hostname", name) for host, name in zip(hosts, names, strict=True))
    return together(edits), ", ".join(names[:3]) + (" …" if len(names) > 3 else "")


@rule("management-nodes", "Fewer than two management nodes may arbitrate")
def management_nodes(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    nodes = plan.management_nodes
    if not nodes:
        return
    if len(nodes) == 1:
        found = warning(
            "management nodes",
            f"there is one management node ({nodes[0].node_id}); while it is down no node can start and, "
            f"with "
            "two replicas, no arbitrator is left",
            "add a second one on another host",
            [nodes[0].id],
        )
        yield replace(found, solve=partial(another_node, "management", "management-nodes", now))
    if len({node.host_id for node in nodes}) == 1 < len(nodes):
        yield warning(
            f"host {plan.host(nodes[0].host_id).hostname}",
            f"all {len(nodes)} management nodes run on {plan.host(nodes[0].host_id).hostname}; they fail "
            f"together",
            "move one to another host",
            [node.id for node in nodes],
        )
    for node in nodes:
        if node_settings(plan, node).value("ArbitrationRank") == 0:
            yield warning(
                f"management node {node.node_id}",
                f"management node {node.node_id} has ArbitrationRank 0 and never becomes arbitrator",
                "set ArbitrationRank to 1",
                [node.id],
                SetParameter(node.id, "ArbitrationRank", 1),
            )


def sql_and_spare_nodes(plan: Plan) -> tuple[int, int]:
    """(SQL and API nodes, slots left for tools and replacements).

    A [mysqld] or [api] section without HostName takes a program from any host. Where no host is named for any
    SQL or API node, two of them are what the clients use; otherwise all of them are spare ones.
    """
    free = sum(slot.host_id is None for slot in plan.api_slots)
    named = len(plan.sql_nodes) + len(plan.api_slots) - free
    used = 0 if named else min(free, 2)
    return named + used, free - used


@rule("sql-nodes", "There are fewer than two SQL nodes")
def sql_nodes(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    count, _free = sql_and_spare_nodes(plan)
    if plan.data_nodes and count < 2:
        found = warning(
            "SQL nodes",
            f"there {'is one SQL or API node' if count == 1 else 'are no SQL or API nodes'}; fewer "
            "than two mean an outage when one is restarted",
            "add another one on another host",
            [node.id for node in plan.sql_nodes],
        )
        # Of none at all, another rule says so, with the way out.
        solve = partial(another_node, "sql", "sql-nodes", now) if count else None
        yield replace(found, solve=solve)


@rule("spare-api-slots", "No API slot is free for tools and replacements")
def spare_api_slots(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    free = [slot for slot in plan.api_slots if slot.host_id is None]
    count, spare = sql_and_spare_nodes(plan)
    if not plan.data_nodes or spare >= _SPARE_SLOTS:
        return
    # Where no SQL node is named at all, two of the slots are what the clients use.
    missing = _SPARE_SLOTS - spare + (2 - count if count == len(free) - spare else 0)
    are = "slot is" if spare == 1 else "slots are"
    yield warning(
        "API slots",
        f"{spare} API {are} free for any host beside those of SQL nodes; ndb_restore, ndb_desc and a "
        f"replacement SQL node each need one, so {_SPARE_SLOTS} should be",
        f"add {how_many(missing, 'API slot')} without a host",
        [slot.id for slot in free],
        FreeApiSlots(len(free) + missing),
    )


@rule("node-id-room", "No node ids are free for later data nodes")
def node_id_room(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    data, highest = plan.data_nodes, plan.features.data_nodes_most
    if not data:
        return
    room = highest - len(data)
    others = [p for p in plan.processes if p.kind != "data" and p.node_id <= highest]
    next_ids = range(data[-1].node_id + 1, data[-1].node_id + 1 + min(no_of_replicas(plan), max(room, 0)))
    taken = [p for p in others if p.node_id in next_ids]
    if taken:
        shown = ", ".join(str(p.node_id) for p in taken)
        told = hint(
            "node ids",
            f"node ids {shown} right behind the data nodes belong to other nodes; new data nodes will have "
            f"ids "
            f"apart from the rest (1 to {highest} are for data nodes)",
            f"give the other nodes ids above {highest}",
            [p.id for p in taken],
        )
        edit = _ids_above(plan, others)
        why = "before they run: each starts with another id, and config.ini names it"
        ways = [Solution(f"Give the other nodes ids above {highest}", why, edit, asks=True)] if edit else []
        unknown = f"which nodes can go: no ids above {highest} are free"
        yield replace(told, solve=one_of(now, "node-id-room", ways, unknown))


def _ids_above(plan: Plan, processes: Iterable[Process]) -> Edit | None:
    """Ids behind those of data nodes for all of these; None: there are not so many."""
    used = {node_id for process in plan.processes for node_id in process_node_ids(process)}
    free = [i for i in range(plan.features.data_nodes_most + 1, _NODE_IDS + 1) if i not in used]
    edits = [SetField(p.id, "node_id", i) for p, i in zip(processes, free, strict=False)]
    above: Edit | None = together(edits) if edits and len(edits) == len([*processes]) else None
    return above


@rule("uneven-data-nodes", "Data nodes are not alike")
def uneven_data_nodes(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if len(plan.data_nodes) < 2:
        return
    severity = _for_real(plan, plan.data_nodes[0].host_id)
    different: dict[str, set[int]] = {
        "DataMemory": set(),
        "NoOfFragmentLogParts": set(),
        "LDM threads": set(),
    }
    for alike in nodes_alike(plan):
        different["DataMemory"].add(alike.settings.number("DataMemory"))
        different["NoOfFragmentLogParts"].add(redo_log_parts(alike.settings))
        different["LDM threads"].update(ldm_threads(plan, node) for node in alike.nodes)
    for name, values in different.items():
        if len(values) > 1:
            low, high = min(values), max(values)
            shown = format_bytes_binary if name == "DataMemory" else str
            told = problem(
                severity,
                "data nodes",
                f"{name} differs between data nodes ({shown(low)} to {shown(high)}); the smallest decides "
                f"for all",
                f"give all data nodes the same {name}",
                [node.id for node in plan.data_nodes],
            )
            ways = _alike(now, name, low, high)
            unknown = "which size is meant: none of those that are stated suits all hosts"
            yield replace(told, solve=partial(_made_alike, now, name, tuple(ways), unknown))


_THREADS = ("AutomaticThreadConfig", "NumCPUs", "ThreadConfig", "MaxNoOfExecutionThreads")
"""What says how many LDM threads a data node has."""


def _alike(now: Estimation, name: str, low: int, high: int) -> Iterator[Solution]:
    """All as the smallest, which decides anyway, and all as the largest."""
    plan = now.plan
    if name == "LDM threads":
        for count, why in ((low, "it decides for all anyway"), (high, "all threads are used then")):
            model = next(node for node in plan.data_nodes if ldm_threads(plan, node) == count)
            settings = node_settings(plan, model)
            known = [n for n in _THREADS if catalogue.knows("DB", n, plan.version)]
            values = {n: settings.value(n) if settings.states(n) else None for n in known}
            yield Solution(
                f"Give all the thread settings of data node {model.node_id}",
                f"{how_many(count, 'LDM thread')} each; {why}",
                partial(_of_all_nodes, values=values),
                asks=True,
            )
        return
    shown = format_ndb_size if name == "DataMemory" else str
    for value, why in ((low, "it decides for all anyway"), (high, "the hosts have room for it")):
        edit = partial(_of_all_nodes, values={name: value})
        yield Solution(f"Give all {name} {shown(value)}", why, edit, asks=True)


def _made_alike(
    now: Estimation, name: str, ways: tuple[Solution, ...], otherwise: str, look: Look
) -> WaysOut:
    """Those after which they do not differ in this any more; in other things they may."""
    kept = []
    for way in ways:
        try:
            edit, reason = completed(look, now.plan, way.edit)
            left = look(edit(now.plan))
        except UserError:
            continue
        differs = any(p.rule == "uneven-data-nodes" and p.message.startswith(f"{name} ") for p in left)
        kept += [replace(way, edit=edit)] if not reason and not differs else []
    return WaysOut(tuple(kept), "" if kept else otherwise)


def _of_all_nodes(plan: Plan, values: Mapping[str, int | str | None]) -> Plan:
    """The plan whose data nodes all have these values, none of its own."""
    for name, value in values.items():
        for node in plan.data_nodes:
            if name in node.parameters:
                plan = set_parameter(plan, node.id, name, None)
        plan = set_parameter(plan, "data_node", name, value)
    return plan


def _is_bound(plan: Plan, node: DataNode) -> bool:
    """Whether threads of a data node have processors of their own."""
    alike = next(alike for alike in nodes_alike(plan) if node in alike.nodes)
    if alike.settings.states("LockExecuteThreadToCPU") or is_automatic(alike):
        return True
    return "cpu" in str(alike.settings.value("ThreadConfig") or "")


@rule("data-and-sql-together", "Data and SQL nodes compete for processors")
def data_and_sql_together(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    solve = partial(apart_from_data_nodes, "data-and-sql-together", now)
    for host in plan.hosts:
        processes = plan.processes_of_host[host.id]
        data = [p for p in processes if isinstance(p, DataNode)]
        if not data or not any(p.kind == "sql" for p in processes):
            continue
        if all(_is_bound(plan, node) for node in data):
            continue
        together_here = warning(
            f"host {host.hostname}",
            f"a data node and an SQL node share {host.hostname}, and no thread of the data node is bound "
            f"to a "
            "CPU; mysqld can take the processors it needs for heartbeats",
            "bind threads with ThreadConfig or LockExecuteThreadToCPU, or give mysqld another host",
            [p.id for p in processes],
        )
        yield replace(together_here, solve=solve)
