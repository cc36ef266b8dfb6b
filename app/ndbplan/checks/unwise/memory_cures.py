"""What makes room for rows that do not fit into data nodes, and for data nodes that do not fit their hosts.

room_for_rows(rule, now, look) # more DataMemory or IndexMemory, more memory in the hosts, more node groups
room_for_load(now, workload, lasts_s, look)     # the same with the rows that a load brings
room_in_hosts(rule, now, look)  # less DataMemory, more memory in the hosts
room_in_containers(now, look)   # less DataMemory, higher limits of the containers
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from operator import attrgetter

from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_bytes, format_bytes_binary
from ndbplan.checks.fits import ROOM_LEFT, rounded_up
from ndbplan.checks.problem import Edit, Look, Solution, WaysOut
from ndbplan.checks.solutions import completed, ways_out
from ndbplan.configuration.assumed import unknown
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.settings import no_of_replicas, node_settings, scope_of, usable_data_memory
from ndbplan.edits import parts as edits
from ndbplan.edits.changes import SetParameter, together
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.offers import most_memory_bytes
from ndbplan.edits.solutions import host_memory, memory_size, memory_size_within, module_size
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.row_capacity import kept_rows_per_s
from ndbplan.estimate.loaded import table_loads
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.workloads import Workload

DATA_MEMORY_SHARE = 0.80
"""Of the memory of a host, the most that DataMemory should take."""
HEADROOM = 1.05
"""Of what the tables may take at most, what DataMemory is made for."""
_GROUPS_TRIED = 3
"""Numbers of node groups that are tried, from the least on: judgement."""
_FILL, _INDEX_FILL = "data-memory-fill", "index-memory-fill"


_End = Callable[[Quantity], float]
"""For how much of what tables may take there is to be room."""
_likely: _End = attrgetter("value")
_most: _End = attrgetter("high")


def _wanted_bytes(now: Estimation, end: _End) -> Iterator[tuple[DataNode, str, float]]:
    """Data nodes whose DataMemory or IndexMemory does not hold the tables, and how much of it does."""
    nodes = {node.node_id: node for node in now.plan.data_nodes}
    for need in now.memory.nodes:
        usable = usable_share(now.plan, need.node_id)
        for name, fill, taken in (
            ("DataMemory", need.fill, need.data_memory_bytes),
            ("IndexMemory", need.index_fill, need.index_memory_bytes),
        ):
            if fill > usable > 0:
                yield nodes[need.node_id], name, end(taken) / usable * HEADROOM


def usable_share(plan: Plan, node_id: int) -> float:
    """Share of DataMemory that rows can fill: all but MinFreePct."""
    node = next(node for node in plan.data_nodes if node.node_id == node_id)
    return usable_data_memory(node_settings(plan, node))


_FOLLOWS = ("fills-with-load", "fills-with-growth")
"""Rules that say nothing of a memory that is full now, and do once it no longer is."""
_UNSURE = 1.5
"""High end of the memory over its likely value from where on there are ways for each."""
_FOR_THE_LIKELY = "enough for lengths as they are assumed: measure those first"
_FOR_THE_MOST = "enough for the longest that lengths which are assumed may be"


def room_for_rows(rule: str, now: Estimation, look: Look) -> WaysOut:
    """Ways to let the tables fit, each tried, the one that takes least first.

    Where much rests on lengths that are assumed, those that hold the likely ones come before what holds the
    longest, unless the hosts have the memory for these anyway.
    """
    return _room(rule, now, look, _but_for_what_follows(look))


def _but_for_what_follows(look: Look) -> Look:
    """What is found, but for what rules say of memory that is not full yet."""
    return lambda plan: [problem for problem in look(plan) if problem.rule not in _FOLLOWS]


def _room(rule: str, now: Estimation, look: Look, lax: Look) -> WaysOut:
    """`lax`: what is found that more DataMemory in hosts as they are must not bring."""
    free, bought = _ways(rule, now, look, lax, _most)
    if not free and any(
        need.data_memory_bytes.high > _UNSURE * need.data_memory_bytes.value for need in now.memory.nodes
    ):
        free, likely = _ways(rule, now, look, lax, _likely)
        told = [(way, _FOR_THE_LIKELY) for way in (*free, *likely)] + [
            (way, _FOR_THE_MOST) for way in bought[:1]
        ]
        free, bought = [], [replace(way, why=f"{way.why}; {words}") for way, words in told]
    raised = _raised(now, _most)
    if raised is None:
        return WaysOut((), "")
    return ways_out([*free, *bought], f"{_missing(now)}; {_wanting(now, raised)}")


def _ways(
    rule: str, now: Estimation, look: Look, lax: Look, end: _End
) -> tuple[list[Solution], list[Solution]]:
    """What the hosts have room for, and what takes hardware, few and usual hosts first."""
    raised = _raised(now, end)
    if raised is None:
        return [], []
    raised, limits = with_limits(now, raised)
    rising, reason = completed(look, now.plan, raised, rule)
    groups = _more_groups(rule, now, look, end)
    if not reason:
        return [_as_it_is(now, rising, limits)], groups
    barely, harmful = completed(lax, now.plan, raised, rule)
    way = _as_it_is(now, barely, limits)
    free = [] if harmful else [replace(way, why=f"{way.why}; then {reason}")]
    words = f"raise {_sizes(rising, now)}{limits}"
    larger, most = larger_hosts(now, raised, look, rule, words)
    if most <= most_memory_bytes():
        return free, [*larger, *groups]
    return free, [*_more_groups(rule, now, look, end, most_memory_bytes()), *groups, *larger]


def room_for_load(now: Estimation, workload: Workload, lasts_s: float, look: Look) -> WaysOut:
    """Ways to let the tables fit with what a load has added after so long at its highest rate."""
    plan = now.plan
    for load in table_loads(plan, workload):
        added = math.ceil(kept_rows_per_s(load) * lasts_s)
        if added:
            rows = plan.table(load.table.id).rows + added
            plan = edits.update(
                plan, load.table.id, rows=rows, partition_rows=(), partition_variable_bytes=()
            )
    then = now.of(plan)
    rule = _FILL if any(name == "DataMemory" for _, name, _ in _wanted_bytes(then, _most)) else _INDEX_FILL
    return _room(rule, then, look, look)


def _wanting(now: Estimation, raised: Edit) -> str:
    """What would hold the tables in data nodes as they are."""
    over = {name for _, name, wanted in _wanted_bytes(now, _most) if wanted > most_of(now.plan, name)}
    if over:
        name = min(over)
        return f"a data node has at most {format_bytes_binary(most_of(now.plan, name))} of {name}"
    return f"{_sizes(raised, now)} would have to be raised"


def _raised(now: Estimation, end: _End) -> Edit | None:
    """DataMemory and IndexMemory raised wherever the tables do not fit, as far as the version takes them.

    Beyond that the product takes the default, which would look like a small memory that every host has.
    """
    sizes: dict[tuple[str, str], float] = defaultdict(float)
    for node, name, wanted in _wanted_bytes(now, end):
        scope = scope_of(node, name)
        sizes[scope, name] = max(sizes[scope, name], wanted)
    if not sizes:
        return None
    raised: Edit = together(
        SetParameter(scope, name, min(memory_size(size), most_of(now.plan, name)))
        for (scope, name), size in sizes.items()
    )
    return raised


def most_of(plan: Plan, name: str) -> int:
    """Bytes that a memory may have in the version of a plan."""
    return int(catalogue.parameter("DB", name, plan.version).maximum or sys.maxsize)


def _sizes(edit: Edit, now: Estimation, to: str = " to ") -> str:
    """`DataMemory to 4 GiB`: the largest after an edit, of each memory for rows that it changes."""
    after = edit(now.plan)
    told = []
    for name in ("DataMemory", "IndexMemory"):
        before, then = (
            {node.node_id: node_settings(plan, node).number(name) for node in plan.data_nodes}
            for plan in (now.plan, after)
        )
        if any(then[node_id] != size for node_id, size in before.items()):
            told.append(f"{name}{to}{format_bytes_binary(max(then.values()))}")
    return " and ".join(told)


def with_limits(now: Estimation, raised: Edit) -> tuple[Edit, str]:
    """A change that makes data nodes larger with what their containers then need, and that in words."""
    sizes = _short_containers(now.of(raised(now.plan)))
    if not sizes:
        return raised, ""
    larger = together([raised, partial(_limits, sizes=sizes)])
    return larger, f" and the limit of the containers to {format_bytes_binary(max(sizes.values()))}"


def _as_it_is(now: Estimation, edit: Edit, limits: str) -> Solution:
    after = now.of(edit(now.plan)).memory
    tightest = max(after.hosts, key=lambda host: host.fill)
    left = tightest.memory_bytes - tightest.data_nodes_bytes.value
    return Solution(
        f"Raise {_sizes(edit, now)}{limits}",
        f"the hosts have the memory, {now.plan.host(tightest.host_id).hostname} keeps "
        f"{format_bytes_binary(left)} of its {format_bytes_binary(tightest.memory_bytes)}; a rolling restart "
        "does it",
        edit,
    )


def larger_hosts(
    now: Estimation, raised: Edit, look: Look, rule: str, words: str
) -> tuple[list[Solution], float]:
    """More memory for the hosts together with what it is for (`words`), and how much of it a host gets: none
    where they have it, without an end where that is not enough.
    """
    plan = raised(now.plan)
    short = short_of_memory(now.of(plan))
    if not short:
        return [], 0.0
    most = max(short.values())
    larger = together([partial(memories, sizes=short), raised])
    edit, reason = completed(look, now.plan, larger, rule)
    disks = short_of_space(now.of(larger(now.plan))) if reason else {}
    if disks:
        edit, reason = completed(look, now.plan, together([larger, partial(capacities, sizes=disks)]), rule)
        words = f"disks of {format_bytes(max(disks.values()))}, and {words}"
    if reason:
        return [], math.inf
    these = hosts_named(plan, short)
    why = (
        f"no more hosts and no rows to move; {these} with {format_bytes_binary(most)} instead of "
        f"{_had(plan, short)}, one after the other"
    )
    title = f"Give {these} {format_bytes_binary(most)}{',' if disks else ' and'} {words}"
    return [Solution(title, why, edit, buys=True)], most


def memories(plan: Plan, sizes: dict[str, int]) -> Plan:
    """The plan whose hosts have so much memory, by id."""
    for host_id, size in sizes.items():
        plan = host_memory(plan, [host_id], size)
    return plan


def short_of_space(now: Estimation) -> dict[str, int]:
    """Disks that cannot hold what a full DataMemory writes, with the capacity that can."""
    sizes = {}
    for disk in now.disk_space.disks:
        least = max(disk.used_bytes.value / (1 - ROOM_LEFT), disk.memory_full_bytes.value)
        if least > disk.capacity_bytes:
            sizes[disk.disk_id] = math.ceil(rounded_up(least))
    return sizes


def capacities(plan: Plan, sizes: dict[str, int]) -> Plan:
    """The plan whose disks have so much capacity, by id."""
    for disk_id, size in sizes.items():
        plan = edits.update(plan, disk_id, capacity_bytes=size)
    return plan


def hosts_named(plan: Plan, ids: Iterable[str]) -> str:
    """Their name, or how many there are."""
    names = [plan.host(host_id).hostname for host_id in ids]
    return names[0] if len(names) == 1 else f"{len(names)} hosts"


def _had(plan: Plan, ids: Iterable[str]) -> str:
    sizes = sorted({plan.host(host_id).memory_bytes for host_id in ids})
    shown = [format_bytes_binary(size) for size in (sizes if len(sizes) < 3 else [sizes[0], sizes[-1]])]
    return " to ".join(shown)


def _more_groups(rule: str, now: Estimation, look: Look, end: _End, memory_bytes: int = 0) -> list[Solution]:
    """The fewest node groups more with which the tables fit, with DataMemory as large as hosts take.

    `memory_bytes`: after all hosts of data nodes have so much memory at least.
    """
    plan, small = now.plan, _smaller(now.plan, memory_bytes)
    if memory_bytes and not small:
        return []
    have, replicas = len(node_groups(plan)), no_of_replicas(plan)
    most = ((catalogue.parameter("DB", "NodeId", plan.version).maximum or 0) // replicas) - have
    larger: Edit = partial(memories, sizes=small)
    least = max(1, _groups_wanted(now.of(larger(plan)), end) - have) if have else most + 1
    for groups in range(least, min(most, least + _GROUPS_TRIED - 1) + 1):
        add = together([larger, partial(add_node_group, groups=groups)])
        try:
            then = now.of(add(plan))
            raised = _raised(then, end)
            edit, reason = completed(look, plan, together([add, raised or add_nothing]), rule, anywhere=True)
        except UserError:
            return []
        if not reason:
            more = "a node group" if groups == 1 else f"{groups} node groups"
            with_it = f" with {_sizes(edit, now, ' ')}" if raised is not None else ""
            told = (
                f"Give {hosts_named(plan, small)} {format_bytes_binary(memory_bytes)} and add"
                if small
                else "Add"
            )
            hosts = (
                "like them, with what usual ones take at most"
                if small
                else "like the last ones, none with more memory"
            )
            why = (
                f"{groups * replicas} more hosts {hosts}; "
                "ALTER TABLE ... REORGANIZE PARTITION moves rows there, and each node restarts with less"
            )
            return [Solution(f"{told} {more}{with_it}", why, edit, buys=True)]
    return []


def _smaller(plan: Plan, memory_bytes: int) -> dict[str, int]:
    """Hosts of data nodes that have less memory than this, with this."""
    hosts = {node.host_id: plan.host(node.host_id).memory_bytes for node in plan.data_nodes}
    return {host_id: memory_bytes for host_id, has in hosts.items() if has < memory_bytes}


def add_nothing(plan: Plan) -> Plan:
    """The plan as it is."""
    return plan


def _groups_wanted(now: Estimation, end: _End) -> int:
    """Node groups that hold the tables with as much DataMemory as the hosts have room for, roughly."""
    nodes = {node.node_id: node for node in now.plan.data_nodes}
    hosts = {host.host_id: host for host in now.memory.hosts}
    groups = 0.0
    for need in now.memory.nodes:
        host = hosts[nodes[need.node_id].host_id]
        here = len([n for n in nodes.values() if n.host_id == host.host_id])
        room = (1 - ROOM_LEFT) * host.memory_bytes - host.data_nodes_bytes.value
        most = need.data_memory_limit_bytes + max(0.0, room) / max(1, here)
        holds = usable_share(now.plan, need.node_id) * min(
            most, DATA_MEMORY_SHARE * host.memory_bytes / max(1, here)
        )
        groups = max(groups, HEADROOM * end(need.data_memory_bytes) / max(1.0, holds))
    return math.ceil(groups * len(node_groups(now.plan)))


def _missing(now: Estimation) -> str:
    """What is only assumed of what decides here, and so has to be found out first."""
    assumed = unknown(now.plan, "memory")
    if assumed:
        return f"no change that was tried is enough; enter {assumed}: so far assumed"
    return "no change that was tried is enough; take hosts of another kind or keep fewer rows"


def room_in_hosts(rule: str, now: Estimation, look: Look) -> WaysOut:
    """Ways to let the data nodes fit into their hosts: less DataMemory where the tables fit, more memory."""
    rooms = _with_less(rule, now, look)
    short = short_of_memory(now)
    if short:
        edit, reason = completed(look, now.plan, partial(memories, sizes=short), rule)
        why = f"instead of {_had(now.plan, short)}"
        if not rooms:
            why = f"DataMemory is what the tables need; {why}"
        title = f"Give {hosts_named(now.plan, short)} {format_bytes_binary(max(short.values()))}"
        rooms += [] if reason else [Solution(title, why, edit, buys=True)]
    otherwise = f"{_missing(now)}: lower DataMemory or DiskPageBufferMemory, or give the host more memory"
    return ways_out(rooms, otherwise)


def _with_less(rule: str, now: Estimation, look: Look) -> list[Solution]:
    """Less DataMemory, where that cures the rule."""
    lowered = _lowered(now)
    edit, reason = completed(look, now.plan, lowered, rule) if lowered is not None else (None, "")
    if edit is None or reason:
        return []
    why = "the tables fit, and it takes nothing new; a rolling restart does it"
    return [Solution(f"Lower {_sizes(edit, now)}", why, edit)]


def room_in_containers(now: Estimation, look: Look) -> WaysOut:
    """Ways to let the data nodes fit into their containers: less DataMemory, higher limits."""
    rule = "memory-of-container"
    rooms = _with_less(rule, now, look)
    short = _short_containers(now)
    if all(size <= now.plan.host(now.plan.by_id[i].host_id).memory_bytes for i, size in short.items()):
        edit, reason = completed(look, now.plan, partial(_limits, sizes=short), rule)
        most = format_bytes_binary(max(short.values()))
        why = "the hosts have the memory; a container that starts anew gets it"
        rooms += [] if reason else [Solution(f"Raise the limit of the containers to {most}", why, edit)]
    return ways_out(rooms, "less DataMemory, or hosts with more memory: the limit cannot go beyond theirs")


def _short_containers(now: Estimation) -> dict[str, int]:
    """Data nodes whose containers are too small, by the id of the process, with what they should have."""
    nodes = {node.node_id: node for node in now.plan.data_nodes}
    return {
        nodes[need.node_id].id: memory_size(need.ram_bytes.high / (1 - ROOM_LEFT))
        for need in now.memory.nodes
        if (limit := need.container_memory_bytes) and need.ram_bytes.value > (1 - ROOM_LEFT) * limit
    }


def _limits(plan: Plan, sizes: dict[str, int]) -> Plan:
    """The plan whose containers may take so much memory, by the id of the data node."""
    for node_id, size in sizes.items():
        plan = edits.update(plan, node_id, container_memory_bytes=size)
    return plan


def short_of_memory(now: Estimation) -> dict[str, int]:
    """Hosts whose data nodes need more memory than they have, with what they should have."""
    data_memory: dict[str, int] = defaultdict(int)
    for node in now.plan.data_nodes:
        data_memory[node.host_id] += node_settings(now.plan, node).number("DataMemory")
    sizes = {
        host.host_id: module_size(
            max(host.data_nodes_bytes.high / (1 - ROOM_LEFT), data_memory[host.host_id] / DATA_MEMORY_SHARE)
        )
        for host in now.memory.hosts
    }
    return {i: size for i, size in sizes.items() if size > now.plan.host(i).memory_bytes}


def _lowered(now: Estimation) -> Edit | None:
    """DataMemory that every host and container has room for; None where that does not hold the tables."""
    hosts = {host.host_id: host for host in now.memory.hosts}
    sizes: dict[str, float] = {}
    for node, need in zip(now.plan.data_nodes, now.memory.nodes, strict=True):
        host = hosts[node.host_id]
        here = sum(other.host_id == node.host_id for other in now.plan.data_nodes)
        over = (host.data_nodes_bytes.value - (1 - ROOM_LEFT) * host.memory_bytes) / here
        if need.container_memory_bytes is not None:
            over = max(over, need.ram_bytes.value - (1 - ROOM_LEFT) * need.container_memory_bytes)
        size = min(need.data_memory_limit_bytes - over, DATA_MEMORY_SHARE * host.memory_bytes / here)
        if size >= need.data_memory_limit_bytes:
            continue
        if need.data_memory_bytes.high * HEADROOM > size * usable_share(now.plan, node.node_id):
            return None
        scope = scope_of(node, "DataMemory")
        sizes[scope] = min(sizes.get(scope, math.inf), size)
    lowered: Edit = together(
        SetParameter(scope, "DataMemory", memory_size_within(size)) for scope, size in sizes.items()
    )
    return lowered if sizes else None
