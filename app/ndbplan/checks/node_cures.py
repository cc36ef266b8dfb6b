"""Nodes that are missing: where each could run, tried on the plan; hosts that are there come before new ones.

another_node("management", "management-nodes", now, look)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from functools import partial

from ndbplan.base.errors import UserError
from ndbplan.base.units import how_many
from ndbplan.checks.harm import harm
from ndbplan.checks.problem import Edit, Look, Problem, Severity, Solution, WaysOut
from ndbplan.checks.solutions import that_mend, ways_out
from ndbplan.configuration.node_groups import reserved_nodes
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits import offers
from ndbplan.edits import parts as edits
from ndbplan.edits.changes import together
from ndbplan.edits.from_host import with_settings_of
from ndbplan.edits.growth import twin_host, twin_node
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.roles import move_process
from ndbplan.edits.validated import changed
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.hardware import Host
from ndbplan.plan.places import chain
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.processes import NODE_GROUP_NONE, DataNode

_NAMES = {"management": "a management node", "sql": "an SQL node", "data": "a data node"}
_HOSTS_TRIED = 3
"""Free hosts that are tried: judgement."""
_REPLICAS = "number-of-replicas"
_CURRENT = EMPTY_PLAN.ndb_version
"""The version that a new plan is for."""


def another_node(kind: str, rule: str, now: Estimation, look: Look) -> WaysOut:
    """Ways to run one more node of a kind where none of its kind and no data node runs."""
    plan = now.plan
    places: list[Solution] = []
    for host in _free_hosts(plan, kind)[:_HOSTS_TRIED]:
        edit = partial(_on_host, kind=kind, host_id=host.id)
        if _mends(look, plan, edit, rule):
            why = f"{host.hostname} is there and runs no data node"
            places.append(Solution(f"Add {_NAMES[kind]} on {host.hostname}", why, edit))
            break
    # The first data nodes come as a whole node group: one alone is refused.
    count = no_of_replicas(plan) if kind == "data" and not plan.data_nodes else 1
    places += _on_new_hosts(kind, count, rule, plan, look)
    return ways_out(places, f"add {_NAMES[kind]} on a host of its own")


def rest_of_group(rule: str, missing: int, now: Estimation, look: Look) -> WaysOut:
    """The data nodes that the last node group lacks, on hosts like that of the last data node."""
    told = f"add {how_many(missing, 'data node')}"
    return ways_out(_on_new_hosts("data", missing, rule, now.plan, look), told)


def apart_from_data_nodes(rule: str, now: Estimation, look: Look) -> WaysOut:
    """SQL nodes that share a host with a data node go elsewhere: to hosts that are there, or to new ones."""
    plan = now.plan
    shared = [
        node
        for node in plan.sql_nodes
        if any(isinstance(other, DataNode) for other in plan.processes_of_host[node.host_id])
    ]
    found: list[Solution] = []
    free = sorted(_free_hosts(plan, "sql"), key=lambda h: (len(plan.processes_of_host[h.id]), -h.cores))
    count = f"{len(shared)} SQL nodes" if len(shared) > 1 else f"SQL node {shared[0].node_id}"
    ids = tuple(node.id for node in shared)
    if len(free) >= len(shared):
        hosts = tuple(host.id for host in free[: len(shared)])
        names = ", ".join(host.hostname for host in free[: len(shared)])
        edit: Edit = partial(_moved, ids=ids, host_ids=hosts)
        if _mends(look, plan, edit, rule):
            found.append(Solution(f"Move {count} to {names}", "they run no data node", edit))
    edit = partial(_moved, ids=ids, host_ids=())
    if _mends(look, plan, edit, rule):
        where = "hosts of their own" if len(shared) > 1 else "a host of its own"
        why = "hardware of the small class of the palette"
        found.append(Solution(f"Give {count} {where}", why, edit, buys=True))
    return ways_out(found, "bind threads with ThreadConfig, or give mysqld another host")


def second_replica(now: Estimation, look: Look) -> WaysOut:
    """A second copy of all data: a twin for each data node, on a host like its own."""
    count = len(now.plan.data_nodes)
    title = f"Set NoOfReplicas to 2 and add {how_many(count, 'data node')}, each on a host like its twin's"
    why = "each row has a copy on another host; the whole cluster starts anew (initial start)"
    ways = [Solution(title, why, _doubled, buys=True)]
    hosts = {node.host_id for node in now.plan.data_nodes}
    beside = tuple(node.id for node in now.plan.management_nodes if node.host_id in hosts)
    if beside:
        # Who arbitrates must not fail with one of the two copies.
        apart = together([partial(_moved, ids=beside, host_ids=()), _doubled])
        title += "; give the management nodes hosts without a data node"
        ways.append(Solution(title, why, apart, buys=True))
    return WaysOut(that_mend(look, now.plan, ways, _REPLICAS)[:1], "")


def _doubled(plan: Plan) -> Plan:
    for node in plan.data_nodes:
        plan, host_id = twin_host(plan, plan.host(node.host_id))
        plan = edits.update(plan, host_id, location_id=_location_apart(plan))
        plan = twin_node(plan, node, host_id, node.node_group)
    return set_parameter(plan, "data_node", "NoOfReplicas", 2)


def tested_replicas(now: Estimation, look: Look) -> WaysOut:
    """Two replicas, or a version for which more were tested."""
    ways = [
        aimed_at_present("as many replicas as now"),
        Solution("Set NoOfReplicas to 2", "more node groups of two; the cluster starts anew (initial start)",
                 _two_replicas, buys=True),
    ]  # fmt: skip
    return WaysOut(that_mend(look, now.plan, ways, _REPLICAS), "")


def aimed_at_present(why: str) -> Solution:
    """The version that a new plan is for."""
    change = partial(edits.set_plan, ndb_version=_CURRENT)
    return Solution(f"Aim at NDB {_CURRENT}", f"{why}; the hosts run another version", change, buys=True)


def _two_replicas(plan: Plan) -> Plan:
    """Groups of two, which the product forms anew: numbers of groups that were stated for more go."""
    stated = [n for n in plan.data_nodes if n.node_group not in (None, NODE_GROUP_NONE)]
    plan = edits.update_each(plan, {n.id: lambda node: changed(node, node_group=None) for n in stated})
    return set_parameter(plan, "data_node", "NoOfReplicas", 2)


def _moved(plan: Plan, ids: tuple[str, ...], host_ids: tuple[str, ...]) -> Plan:
    """The nodes on these hosts, or each on a new one beside its old one."""
    for number, node_id in enumerate(ids):
        if host_ids:
            plan = move_process(plan, node_id, host_ids[number])
            continue
        old = plan.host(plan.by_id[node_id].host_id)
        host = offers.make_host(plan, offers.DEFAULT_HOST, old.location_id)
        plan = move_process(edits.add(plan, host), node_id, host.id)
    return plan


def _on_new_hosts(kind: str, count: int, rule: str, plan: Plan, look: Look) -> list[Solution]:
    edit = partial(_with_hosts, kind=kind, count=count)
    if not _mends(look, plan, edit, rule):
        return []
    what = _NAMES[kind] if count == 1 else f"{count} data nodes"
    where = "a host" if count == 1 else "hosts"
    like = "the last data node's" if kind == "data" and plan.data_nodes else "the small class of the palette"
    title = f"Add {what} on {where} of {'its' if count == 1 else 'their'} own"
    return [Solution(title, f"hardware of {like}", edit, buys=True)]


def _mends(look: Look, plan: Plan, edit: Edit, rule: str) -> bool:
    """Whether the rule has less to say, and no rule finds a new error.

    New warnings are no harm: a second management node is asked for only when there is a first one.
    """
    try:
        before, after = look(plan), look(edit(plan))
    except UserError:
        return False
    less = sum(problem.rule == rule for problem in after) < sum(problem.rule == rule for problem in before)
    return less and not harm(_errors(before), _errors(after), anywhere=True)


def _errors(problems: Iterable[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.severity is Severity.ERROR]


def _free_hosts(plan: Plan, kind: str) -> list[Host]:
    """Hosts without a data node and without one of the kind, those apart from it by location first."""
    taken = _taken(plan, [p.host_id for p in plan.processes if p.kind == kind and p.host_id])
    free = [
        host
        for host in plan.hosts
        if not any(process.kind in ("data", kind) for process in plan.processes_of_host[host.id])
    ]

    def order(host: Host) -> tuple[int, int]:
        return _shared(plan, host.location_id, taken), len(plan.processes_of_host[host.id])

    return sorted(free, key=order)


def _on_host(plan: Plan, kind: str, host_id: str) -> Plan:
    process = offers.make_process(plan, kind, host_id)
    return with_settings_of(edits.add(plan, process), process.id)[0]


def _with_hosts(plan: Plan, kind: str, count: int) -> Plan:
    for _ in range(count):
        if kind == "data" and len(plan.data_nodes) > len(reserved_nodes(plan)):
            model = _of_short_group(plan)
            apart = _location_apart(plan)
            plan, host_id = twin_host(plan, plan.host(model.host_id))
            plan = edits.update(plan, host_id, location_id=apart)
            plan = twin_node(plan, model, host_id, model.node_group)
        else:
            host = offers.make_host(plan, offers.DEFAULT_HOST)
            plan = _on_host(edits.add(plan, host), kind, host.id)
    return plan


def _of_short_group(plan: Plan) -> DataNode:
    """The last data node of a group that states a number and lacks members, else the last one of any."""
    reserved = reserved_nodes(plan)
    nodes = [node for node in plan.data_nodes if node not in reserved]
    members = Counter(node.node_group for node in nodes)
    short = [node for node in nodes if members[node.node_group] < no_of_replicas(plan)]
    return (short or nodes)[-1]


def _location_apart(plan: Plan) -> str | None:
    """A location without data nodes, so that one failure does not take both copies; None: there is none."""
    taken = _taken(plan, [node.host_id for node in plan.data_nodes])
    apart = [place.id for place in plan.locations if place.id not in taken]
    return min(apart, key=lambda place_id: _shared(plan, place_id, taken), default=None)


def _taken(plan: Plan, host_ids: Iterable[str]) -> frozenset[str | None]:
    """Ids of the locations that these hosts are in, whatever lies in what; None: of those in none."""
    found: set[str | None] = set()
    for host_id in host_ids:
        around = chain(plan.locations, plan.host(host_id).location_id)
        found |= {place.id for place in around} or {None}
    return frozenset(found)


def _shared(plan: Plan, location_id: str | None, taken: Collection[str | None]) -> int:
    """How many of the locations around a place are taken."""
    around = chain(plan.locations, location_id)
    return sum(place.id in taken for place in around) if around else int(None in taken)
