"""Why a class of hosts has no cluster that passes, and the smallest change that would let it.

Each broken limit in turn is moved as little as lets it pass: hardware where hardware moves it, else the
requirement itself. What is said has been judged: the cluster with these changes meets every limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from ndbplan.advise.sizing.build import Builder
from ndbplan.advise.sizing.choices import Choice
from ndbplan.advise.sizing.limits import LOADER, Judge
from ndbplan.advise.sizing.verdict import Met, Verdict
from ndbplan.base.errors import UserError
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_bytes, format_bytes_binary, format_bytes_per_s, format_value
from ndbplan.edits.solutions import MOST_CORES
from ndbplan.ndb.features import release, rows
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.requirements import Requirements

_MOST_CHANGES = 6
_MARGIN = 1.02
"""So much more than a limit asks for: what a host decides is rounded."""
_STEP = 1.15
"""So much more where only a simulation says whether it is enough."""
_GIB = 2**30


@dataclass(frozen=True)
class Excuse(Shape):
    """One class without a cluster that passes."""

    JSON = "class=title first_limit smallest_change node_groups"

    title: str
    first_limit: str
    smallest_change: str | None
    """None: no change of this hardware or of a single requirement was found."""
    node_groups: int
    """Of the cluster that comes nearest."""


@dataclass(frozen=True)
class _Moved:
    """The cluster with a limit moved."""

    choice: Choice
    requirements: Requirements
    groups: int
    words: str
    kind: str


def excuse(judge: Judge, verdict: Verdict) -> Excuse:
    """The first limit that the cluster of a class that comes nearest breaks, and what would let it pass."""
    assert verdict.broken is not None
    changes = _changes(judge, verdict)
    return Excuse(verdict.choice.title, verdict.broken.line, changes, verdict.groups)


def _changes(judge: Judge, verdict: Verdict) -> str | None:
    words: dict[str, str] = {}
    requirements, choice, groups = judge.requirements, verdict.choice, verdict.groups
    found = verdict
    for _ in range(_MOST_CHANGES):
        broken = found.broken
        if broken is None:
            return " and ".join(words.values())
        moved = _moved(judge, broken, choice, requirements, groups)
        if moved is None:
            return None
        words[moved.kind] = moved.words
        requirements, choice, groups = moved.requirements, moved.choice, moved.groups
        builder = judge.builder
        if requirements.ndb_version is not None:
            begun = builder.begun.replace(ndb_version=requirements.ndb_version)
            builder = Builder(begun, builder.clients, builder.through_api)
        try:
            found = Judge(requirements, builder, judge.cancelled, most_steps=0).verdict(choice, groups)
        except UserError:
            return None
    return " and ".join(words.values()) if found.broken is None else None


def _moved(judge: Judge, broken: Met, choice: Choice, wanted: Requirements, groups: int) -> _Moved | None:
    """The least that lets one limit pass; None where nothing is known to."""
    times = broken.nearness * _MARGIN if broken.is_ratio else _STEP
    host, kind = choice.host, broken.kind
    if kind.startswith("within."):
        name = kind.partition(".")[2]
        limit = math.ceil(broken.needed.value)
        within = wanted.within.model_copy(update={name: float(limit)})
        words = f"{name.replace('_', ' ')} within {format_value(limit, 's')}"
        return _Moved(choice, wanted.model_copy(update={"within": within}), groups, words, kind)
    if kind == "money":
        budget = math.ceil(broken.needed.value)
        words = f"a budget of {format_value(budget, broken.needed.unit)}"
        return _Moved(choice, wanted.model_copy(update={"budget": budget}), groups, words, kind)
    if kind in ("job", LOADER) and wanted.job is not None:
        limit = math.ceil(broken.needed.value)
        moved = wanted.job.model_copy(update={"within": float(limit)})
        words = f"the load job within {format_value(limit, 's')}"
        return _Moved(choice, wanted.model_copy(update={"job": moved}), groups, words, "job")
    if kind.startswith("survive."):
        name = kind.partition(".")[2]
        left = tuple(one for one in wanted.survive if one != name)
        words = f"no {name} that may fail"
        return _Moved(choice, wanted.model_copy(update={"survive": left}), groups, words, kind)
    if kind == "version":
        return _of_version(judge, broken, choice, wanted, groups)
    if not math.isfinite(times):
        return None
    if kind == "memory" and _disks_decide(judge.builder, choice):
        kind = "disk space"
    new = _HARDWARE[kind](host, times) if kind in _HARDWARE else None
    if new is None:
        return None
    machine, words = new
    if wanted.budget is not None:
        words += " at the same price"
    return _Moved(replace(choice, host=machine, is_planned=False), wanted, groups, words, kind)


def _of_version(
    judge: Judge, broken: Met, choice: Choice, wanted: Requirements, groups: int
) -> _Moved | None:
    """The first later release that takes so many data nodes, or replicas."""
    name = "replicas_most_tested" if broken.limit.startswith("replicas") else "data_nodes_most"
    for since, most in rows()[name]["values"].items():
        if release(since) > judge.begun.version and most >= broken.needed.value:
            moved = wanted.model_copy(update={"ndb_version": since})
            return _Moved(choice, moved, groups, f"NDB {since}", broken.kind)
    return None


def _disks_decide(builder: Builder, choice: Choice) -> bool:
    """Whether DataMemory is so small because its checkpoints need room on a disk."""
    more = choice.host.model_copy(update={"memory_bytes": 2 * choice.host.memory_bytes})
    free = replace(choice, is_planned=False)
    larger = replace(free, host=more)
    return builder.data_memory_bytes(larger) <= builder.data_memory_bytes(free)


def _memory(host: Host, times: float) -> tuple[Host, str]:
    size = math.ceil(host.memory_bytes * times / _GIB) * _GIB
    return host.model_copy(update={"memory_bytes": size}), f"{format_bytes_binary(size)} of memory a host"


def _cores(host: Host, times: float) -> tuple[Host, str] | None:
    cores = math.ceil(host.cores * times)
    if cores > MOST_CORES:
        return None
    return host.model_copy(update={"cores": cores}), f"{cores} cores a host"


def _network(host: Host, times: float) -> tuple[Host, str]:
    rate = host.network_bytes_per_s * times
    return host.model_copy(update={"network_bytes_per_s": rate}), f"links of {format_bytes_per_s(rate)}"


def _space(host: Host, times: float) -> tuple[Host, str]:
    def larger(disk: Disk) -> Disk:
        return disk.model_copy(update={"capacity_bytes": math.ceil(disk.capacity_bytes * times)})

    disks = tuple(map(larger, host.disks))
    sizes = format_bytes(max(disk.capacity_bytes for disk in disks))
    return host.model_copy(update={"disks": disks}), f"disks of {sizes}"


def _speed(host: Host, times: float) -> tuple[Host, str]:
    def faster(disk: Disk) -> Disk:
        rates = {
            "sequential_write_bytes_per_s": disk.sequential_write_bytes_per_s * times,
            "random_read_iops": disk.random_read_iops * times,
            "random_write_iops": disk.random_write_iops * times,
        }
        return disk.model_copy(update=rates)

    disks = tuple(map(faster, host.disks))
    rate = format_bytes_per_s(max(disk.sequential_write_bytes_per_s for disk in disks))
    return host.model_copy(update={"disks": disks}), f"disks that write {rate}"


_HARDWARE: dict[str, Callable[[Host, float], tuple[Host, str] | None]] = {
    "memory": _memory,
    "cpu": _cores,
    "network": _network,
    "disk space": _space,
    "disk": _speed,
    "disk reads": _speed,
}
"""What of a host moves a limit, and how."""
