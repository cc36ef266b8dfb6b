"""Parameters that the program sizes for the hardware when it is asked to: each from the hosts alone.

    plan = hand_over(plan, "data_node", "DataMemory")     # stated, with the program as who set it

The values follow the hardware from then on (follow.py); a value set by hand or imported does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ndbplan.base.errors import UserError
from ndbplan.base.units import MIB
from ndbplan.checks.rule import RULES
from ndbplan.checks.run import load_rules
from ndbplan.checks.unwise.redo import wanted_log
from ndbplan.configuration.settings import node_settings, nodes_alike
from ndbplan.configuration.stated import stated
from ndbplan.edits import parts as edits
from ndbplan.edits.from_host import settled_anew
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.origins import SetByProgram
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode

_STEP_BYTES = 64 * MIB
"""DataMemory is given in steps that people read well."""
_OF_MEMORY = ("memory-of-host", "data-memory-of-host")
"""Rules that say how much of a host data nodes may take."""


@dataclass(frozen=True)
class Sizing:
    """How the program decides on one parameter of data nodes."""

    rule: str
    """By which origins name it."""
    name: str
    reason: str
    value: Callable[[Plan, str], int]
    """At a scope: all data nodes, or one. Raises UserError where nothing can be decided."""


def _data_memory(plan: Plan, scope: str) -> int:
    """The most that the rules about the memory of hosts find nothing to say about, in bytes."""
    load_rules()
    hosts = {node.host_id for node in _nodes(plan, scope, "DataMemory")}

    def fits(steps: int) -> bool:
        now = Estimation(edits.set_parameter(plan, scope, "DataMemory", steps * _STEP_BYTES))
        found = (problem for name in _OF_MEMORY for problem in RULES[name].problems(now))
        return not any(hosts & set(problem.object_ids) for problem in found)

    least, most = 1, min(plan.host(host_id).memory_bytes for host_id in hosts) // _STEP_BYTES + 1
    most = min(most, (catalogue.parameter("DB", "DataMemory", plan.version).maximum or 0) // _STEP_BYTES + 1)
    if most <= 1 or not fits(least):
        raise UserError("the hosts have no memory left for DataMemory", fix="give them more, or fewer nodes")
    held = next(_held(plan, scope)) // _STEP_BYTES
    if least < held < most and fits(held):
        # Most changes of hosts leave it the most there is.
        least, most = (held, most) if fits(held + 1) else (held, held + 1)
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (middle, most) if fits(middle) else (least, middle)
    return least * _STEP_BYTES


def _held(plan: Plan, scope: str) -> Iterator[int]:
    """DataMemory as it is now, in bytes."""
    for node in _nodes(plan, scope, "DataMemory"):
        yield node_settings(plan, node).number("DataMemory")


def _threads(plan: Plan, scope: str) -> int:
    """As many as the host with fewest processors for each of its data nodes has, within the range."""
    nodes = list(_nodes(plan, scope, "MaxNoOfExecutionThreads"))
    for other in ("AutomaticThreadConfig", "ThreadConfig"):
        if any(node_settings(plan, node).value(other) for node in nodes):
            raise UserError(f"{other} decides on the threads", fix=f"take {other} out first")
    on_host = Counter(node.host_id for node in plan.data_nodes)
    cores = min(plan.host(node.host_id).cores // on_host[node.host_id] for node in nodes)
    parameter = catalogue.parameter("DB", "MaxNoOfExecutionThreads", plan.version)
    return max(parameter.minimum or 0, min(cores, parameter.maximum or cores))


def _redo_files(plan: Plan, scope: str) -> int:
    """As many as the rules about the redo log want for DataMemory and the loads of the plan."""
    name = "NoOfFragmentLogFiles"
    wanted = {node.id for node in _nodes(plan, scope, name)}
    least = catalogue.parameter("DB", name, plan.version).minimum or 0
    # From the fewest on: a log that is large enough already must not stay so when less is needed.
    now = Estimation(edits.set_parameter(plan, scope, name, least))
    groups = (alike for alike in nodes_alike(now.plan) if wanted & {node.id for node in alike.nodes})
    files = (
        wanted_log(now, alike)[0]
        * wanted_log(now, alike)[1]
        / max(1, alike.settings.number("FragmentLogFileSize"))
        for alike in groups
    )
    return max(least, *(-int(-each // 1) for each in files))


def _nodes(plan: Plan, scope: str, name: str) -> Iterator[DataNode]:
    """Data nodes that a value at a scope holds for. Raises UserError without any."""
    found = [
        node
        for node in plan.data_nodes
        if node.id == scope or (scope == "data_node" and name not in node.parameters)
    ]
    if not found:
        raise UserError(f"{name} of {scope} holds for no data node", fix="add data nodes first")
    yield from found


SIZINGS = {
    sizing.rule: sizing
    for sizing in (
        Sizing(
            "size-threads",
            "MaxNoOfExecutionThreads",
            "as many threads as the hosts have processors for each data node",
            _threads,
        ),
        Sizing("size-data-memory", "DataMemory", "as much as the hosts have room for", _data_memory),
        Sizing(
            "size-redo-log", "NoOfFragmentLogFiles", "the log that DataMemory and loads need", _redo_files
        ),
    )
}
"""By rule, in the order in which one builds on another."""

SIZED = {sizing.name: sizing for sizing in SIZINGS.values()}
"""The same by parameter."""


def hand_over(plan: Plan, scope: str, name: str) -> Plan:
    """The plan in which the program decides on a parameter. Raises UserError where it has no way to."""
    sizing = SIZED.get(name)
    if sizing is None or (scope != "data_node" and not isinstance(plan.by_id.get(scope), DataNode)):
        raise UserError(
            f"the program has no way to decide on {name} there",
            fix=f"it decides on {', '.join(SIZED)} of data nodes",
        )
    if not catalogue.knows("DB", name, plan.version):
        raise UserError(f"NDB {plan.ndb_version} has no {name}", fix="choose another version")
    return sized_again(_sized(plan, scope, sizing))


def _sized(plan: Plan, scope: str, sizing: Sizing) -> Plan:
    """The plan with the value that a sizing finds at a scope."""
    origin = SetByProgram(rule=sizing.rule, reason=sizing.reason)
    return edits.set_parameter(plan, scope, sizing.name, sizing.value(plan, scope), origin)


def sized_again(plan: Plan) -> Plan:
    """The plan in which every value that was sized is what its sizing says now; one builds on another."""
    plan = settled_anew(plan)
    sized = [(one.scope, one.origin.rule) for one in stated(plan) if isinstance(one.origin, SetByProgram)]
    for rule, sizing in SIZINGS.items():
        for scope in (scope for scope, of in sized if of == rule):
            try:
                plan = _sized(plan, scope, sizing)
            except UserError:
                # What it said of the hardware before is the best there is.
                continue
    return plan
