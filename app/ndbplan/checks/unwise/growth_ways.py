"""Room for a year of growth: the first size, of a few that are tried, with which nothing fills up so soon.

room_to_grow(now, "memory", (), words, look)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

from ndbplan.base.units import format_bytes, format_ndb_size
from ndbplan.checks.fits import rounded_up
from ndbplan.checks.problem import Look, Solution, WaysOut
from ndbplan.checks.solutions import that_mend
from ndbplan.checks.unwise.memory_cures import capacities, memories, most_of, short_of_memory
from ndbplan.configuration.settings import nodes_alike
from ndbplan.edits.changes import SetParameter, together
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parts import update
from ndbplan.edits.solutions import memory_size
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan

_RULE = "fills-with-growth"
_TIMES = (1.5, 2.0, 4.0)
"""As large as now: judgement."""


def room_to_grow(now: Estimation, kind: str, object_ids: Sequence[str], words: str, look: Look) -> WaysOut:
    """More of what fills up, and a node group more, which takes a share of everything."""
    of_kind = {"memory": _memory, "disk": _disks, "tablespace": _files}[kind]
    found: list[Solution] = []
    for way in of_kind(now, object_ids):
        if not any(one.buys is way.buys for one in found):
            found += that_mend(look, now.plan, [way], _RULE, object_ids)
    group = Solution(
        "Add a node group",
        "more hosts like the last ones; ALTER TABLE ... REORGANIZE PARTITION moves rows there",
        partial(add_node_group, groups=1),
        buys=True,
    )
    found += that_mend(look, now.plan, [group], _RULE, object_ids)
    return WaysOut(tuple(found), "" if found else words)


def _memory(now: Estimation, _ids: Sequence[str]) -> Iterator[Solution]:
    most = most_of(now.plan, "DataMemory")
    for times in _TIMES:
        sizes = {
            alike.scope_of("DataMemory"): min(memory_size(times * alike.settings.number("DataMemory")), most)
            for alike in nodes_alike(now.plan)
        }
        raised = together(SetParameter(scope, "DataMemory", size) for scope, size in sizes.items())
        title = f"Raise DataMemory to {format_ndb_size(max(sizes.values()))}"
        yield Solution(title, "the hosts have the memory; a rolling restart does it", raised)
        short = short_of_memory(now.of(raised(now.plan)))
        if short:
            larger = together([partial(memories, sizes=short), raised])
            why = f"hosts with {format_ndb_size(max(short.values()))}"
            yield Solution(f"{title}, with more memory in the hosts", why, larger, buys=True)


def _disks(now: Estimation, ids: Sequence[str]) -> Iterator[Solution]:
    disks = [disk for host in now.plan.hosts for disk in host.disks if disk.id in ids]
    for times in _TIMES:
        sizes = {disk.id: int(rounded_up(times * disk.capacity_bytes)) for disk in disks}
        title = f"Take disks of {format_bytes(max(sizes.values(), default=0))}"
        yield Solution(
            title, "in the place of those that fill up", partial(capacities, sizes=sizes), buys=True
        )


def _files(now: Estimation, ids: Sequence[str]) -> Iterator[Solution]:
    for times in _TIMES:
        why = "more data files of the same size, made with ALTER TABLESPACE ... ADD DATAFILE"
        title = f"Let the data files have {times:g} times the room"
        yield Solution(title, why, partial(_more_files, ids=tuple(ids), times=times))


def _more_files(plan: Plan, ids: Sequence[str], times: float) -> Plan:
    for space in (space for space in plan.tablespaces if space.id in ids):
        files = tuple(
            file.model_copy(update={"count": math.ceil(times * file.count)}) for file in space.data_files
        )
        plan = update(plan, space.id, data_files=files)
    return plan
