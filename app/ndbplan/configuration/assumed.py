"""What of a plan is only assumed, for those who find no way out: what to find out first.

unknown(plan, "memory")      # "the rows of shop.orders, the memory of host-1"; "": nothing is assumed
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import OpenLoad

_NAMED = 3
"""Parts that a line names."""
_HOST_FIELDS = {
    "memory": (("memory_bytes", "the memory"),),
    "network": (("network_bytes_per_s", "the network links"),),
    "cpu": (("cores", "the cores"), ("clock_ghz", "the clock rate")),
}
"""What each resource depends on of a host."""
_OF_DISKS = ("disk", "disk reads", "redo log", "redo files")


def unknown(plan: Plan, resource: str) -> str:
    """What is assumed of what decides where a resource ends, in words; nothing: all of it is stated."""
    return ", ".join(_unknown(plan, resource))


def _unknown(plan: Plan, resource: str) -> Iterator[str]:
    yield from _of("the rows", (t.full_name for t in plan.tables if "rows" in t.assumed))
    for name, words in _HOST_FIELDS.get(resource, ()):
        yield from _of(words, (host.hostname for host in plan.hosts if name in host.assumed))
    if resource in _OF_DISKS:
        disks = (f"{host.hostname}/{disk.name}" for host in plan.hosts for disk in host.disks if disk.assumed)
        yield from _of("the speed", disks)
    if resource != "memory":
        loads = (w for w in plan.workloads if isinstance(w.load, OpenLoad) and w.load.assumed)
        yield from _of("the rate", (workload.name for workload in loads))


def _of(what: str, of: Iterable[str]) -> Iterator[str]:
    names = list(dict.fromkeys(of))
    if names:
        yield f"{what} of {', '.join(names[:_NAMED])}{' …' if len(names) > _NAMED else ''}"
