"""Changes of a plan as they are drawn: one to three edits of different kinds at once.

    words, after = drawn_change(plan, random.Random(7))

Where the product's own rules are broken by one, the change from the plan to it has to be refused.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from exporting.acted_changes import (
    exchanged,
    moved,
    on_the_lcp_disk,
    with_management_nodes,
    with_other_tables,
)
from ndbplan.checks.problem import Severity
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import load_rules
from ndbplan.edits.growth import add_node_group, twin_host
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import remove, set_plan, update
from ndbplan.edits.roles import move_process
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import SqlNode, process_node_ids

_SCOPES = {"DB": "data_node", "MGM": "management", "API": "sql", "TCP": "tcp"}
_NOT_DRAWN = frozenset({
    "NodeId", "Id", "HostName", "ExecuteOnComputer", "NoOfReplicas", "Nodegroup", "DataDir",
    "ThreadConfig", "InitialLogfileGroup", "InitialTablespace", "LockExecuteThreadToCPU",
})  # fmt: skip
"""Parameters that stand elsewhere in the plan, or whose texts have rules of their own."""

Drawn = Callable[[Plan, Random], tuple[str, Plan]]


def _value(entry: catalogue.Parameter, random: Random) -> int | str:
    """Another value of a parameter that its range allows: near its default, where it has one."""
    if entry.type == "bool":
        return random.randrange(2)
    if entry.allowed_values:
        return random.choice(entry.allowed_values)
    if not entry.is_number:
        return "/var/lib/other"
    low, high = entry.minimum or 0, min(entry.maximum or 2**31, 2**40)
    near = entry.default if isinstance(entry.default, int) and entry.default > 0 else low + 8
    return min(max(random.choice((near * 2, near + 1, near // 2)), low), high)


def _parameter(plan: Plan, random: Random) -> tuple[str, Plan]:
    section = random.choice(("DB", "DB", "DB", "MGM", "API", "TCP"))
    known = [
        one
        for one in catalogue.parameters(section, plan.version)
        if one.status == "used" and one.name not in _NOT_DRAWN
    ]
    entry = random.choice(known)
    scope = _SCOPES[section]
    nodes = {"DB": plan.data_nodes, "MGM": plan.management_nodes, "API": plan.sql_nodes}.get(section, ())
    if nodes and random.random() < 0.3:
        scope = random.choice(nodes).id
    value = _value(entry, random)
    return f"{entry.name}={value} of {scope}", set_parameter(plan, scope, entry.name, value)


def _node_id(plan: Plan, random: Random) -> tuple[str, Plan]:
    process = random.choice([p for p in plan.processes if p.host_id is not None])
    taken = {one.node_id for one in plan.processes}
    node_id = random.choice([i for i in (1, 3, 7, 40, 47, 120, 144, 250) if i not in taken])
    return f"id {process.node_id} to {node_id}", update(plan, process.id, node_id=node_id)


def _another_host(plan: Plan, random: Random) -> tuple[str, Plan]:
    process = random.choice([p for p in plan.processes if p.host_id is not None])
    host = plan.host(process.host_id or "")
    others = [one for one in plan.hosts if one.id != host.id]
    if random.random() < 0.5 or not others:
        plan, host_id = twin_host(plan, host)
    else:
        host_id = random.choice(others).id
    return f"node {process.node_id} to another host", move_process(plan, process.id, host_id)


def _renamed(plan: Plan, random: Random) -> tuple[str, Plan]:
    host = random.choice(plan.hosts)
    return f"{host.hostname} renamed", update(plan, host.id, hostname=f"new-{host.hostname}")


def _exchanged(plan: Plan, random: Random) -> tuple[str, Plan]:
    one, other = random.sample(plan.hosts, 2)
    return f"{one.hostname} and {other.hostname} exchanged", exchanged(plan, one.id, other.id)


def _replicas(plan: Plan, random: Random) -> tuple[str, Plan]:
    count = random.choice((1, 3, 4))
    return f"NoOfReplicas={count}", set_parameter(plan, "data_node", "NoOfReplicas", count)


def _directory(plan: Plan, random: Random) -> tuple[str, Plan]:
    name = random.choice(("DataDir", "FileSystemPath", "BackupDataDir", "FileSystemPathDD"))
    scope = random.choice(("data_node", "management")) if name == "DataDir" else "data_node"
    return f"{name} of {scope}", set_parameter(plan, scope, name, f"/srv/{scope}")


def _servers(plan: Plan, random: Random) -> tuple[str, Plan]:
    count = random.choice([n for n in (1, 2, 3) if n != len(plan.management_nodes)])
    return f"{count} management nodes", with_management_nodes(plan, count)


def _sql_less(plan: Plan, random: Random) -> tuple[str, Plan]:
    node = random.choice(plan.sql_nodes)
    return f"without SQL node {node.node_id}", remove(plan, [node.id])


def _sql_more(plan: Plan, random: Random) -> tuple[str, Plan]:
    """In front of others of a host, between them or behind: ports follow the order of ids."""
    used = {node_id for process in plan.processes for node_id in process_node_ids(process)}
    node_id = random.choice([free for free in range(49, 256) if free not in used])
    host_id = random.choice(
        plan.hosts if random.random() < 0.5 else [plan.host(n.host_id) for n in plan.sql_nodes]
    ).id
    new = SqlNode(id="drawn", node_id=node_id, host_id=host_id)
    return f"SQL node {node_id} on {plan.host(host_id).hostname}", plan.replace(
        processes=(*plan.processes, new)
    )


def _option(plan: Plan, random: Random) -> tuple[str, Plan]:
    node = random.choice(plan.sql_nodes)
    option = random.choice(({"ndb_batch_size": 65536}, {"log_bin": 1}, {"max_connections": 500}))
    return f"{option} of {node.node_id}", update(plan, node.id, options={**node.options, **option})


def _release(plan: Plan, random: Random) -> tuple[str, Plan]:
    to = random.choice(("7.4", "7.5", "7.6", "8.0", "8.4"))
    return f"release {to}", set_plan(plan, ndb_version=to)


EDITS: dict[str, Drawn] = {
    "parameter": _parameter,
    "node id": _node_id,
    "another host": _another_host,
    "renamed": _renamed,
    "exchanged": _exchanged,
    "replicas": _replicas,
    "directory": _directory,
    "servers": _servers,
    "SQL less": _sql_less,
    "SQL more": _sql_more,
    "option": _option,
    "release": _release,
    "tables": lambda plan, _: ("tables", with_other_tables(plan)),
    "grow": lambda plan, _: ("a node group more", add_node_group(plan)),
    "redo": lambda plan, _: ("redo beside checkpoints", on_the_lcp_disk(plan)),
    "moved": lambda plan, _: ("first data host renamed", moved(plan)),
}  # fmt: skip


def is_refused(plan: Plan) -> bool:
    """Whether the product refuses something in a plan, or one of two management nodes with one port ends."""
    load_rules()
    now = Estimation(plan)
    refusing = [one for one in RULES.values() if one.refused]
    return any(
        problem.severity is Severity.ERROR or one.name == "management-ports"
        for one in refusing
        for problem in one.problems(now)
    )


def drawn_change(plan: Plan, random: Random) -> tuple[str, Plan]:
    """What is changed in words, and the plan afterwards."""
    kinds = random.sample(sorted(EDITS), random.choice((1, 1, 2, 2, 3)))
    if random.random() < 0.6 and "parameter" not in kinds:
        kinds[-1] = "parameter"
    words = []
    for kind in kinds:
        # Without an SQL node nobody makes tables.
        if kind in ("SQL less", "option") and len(plan.sql_nodes) < 2:
            continue
        word, plan = EDITS[kind](plan, random)
        words.append(word)
    return "; ".join(words), plan
