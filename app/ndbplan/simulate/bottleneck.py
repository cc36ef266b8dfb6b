"""Which resource a run was short of, and which one comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndbplan.plan.workloads import ClosedLoad

if TYPE_CHECKING:
    from ndbplan.simulate.result import DiskSeries, ErrorCount, PartSeries
    from ndbplan.simulate.run import Arrays
    from ndbplan.simulate.scenario import Scenario

_BUFFER_CODES = (1221, 1234, 266)


@dataclass(frozen=True)
class Bottleneck:
    """A resource and how much of it is used."""

    resource: str
    """disk, redo log, redo files or clients."""
    where: str
    used: float
    """Share in use; 1 or more: it limits the load."""
    object_ids: tuple[str, ...] = ()
    """Plan objects concerned."""

    def to_json(self) -> dict[str, Any]:
        """The shape of `bottleneck`."""
        return {"resource": self.resource, "where": self.where}


def find_bottlenecks(
    scenario: Scenario,
    errors: Sequence[ErrorCount],
    parts: Sequence[PartSeries],
    disks: Sequence[DiskSeries],
    arrays: Arrays,
) -> tuple[Bottleneck, ...]:
    """What is short, most pressing first: what refused work, then by use."""
    by_code = {error.code: error for error in errors}
    found: list[Bottleneck] = []
    for d, disk in enumerate(disks):
        used = disk.utilisation_mean.value
        full = any(
            code in by_code and _redo_disk(scenario, by_code[code].node_id) == d for code in _BUFFER_CODES
        )
        # Buffers fill because their disk is too slow, even when pauses between checkpoints lower the mean.
        found.append(Bottleneck("disk", f"{disk.host} {disk.disk}", 2.0 if full else used, disk.disk_ids))
    if parts:
        fullest = max(parts, key=lambda part: float(part.log_used.max(initial=0.0)) / part.log_bytes)
        used = float(fullest.log_used.max(initial=0.0)) / fullest.log_bytes
        if 410 in by_code:
            used = 3.0 if not found or max(b.used for b in found) < 2.0 else 1.5
        found.append(
            Bottleneck(
                "redo log",
                f"node {fullest.node_id}, log part {fullest.log_part}",
                used,
                _ids(scenario, fullest.node_id),
            )
        )
    if 1220 in by_code:
        node_id = by_code[1220].node_id
        found.append(Bottleneck("redo files", f"node {node_id}", 1.9, _ids(scenario, node_id)))
    if isinstance(scenario.workload.load, ClosedLoad) and not errors:
        found.append(Bottleneck("clients", scenario.workload.name, 1.0))
    return tuple(sorted(found, key=lambda b: -b.used))


def _redo_disk(scenario: Scenario, node_id: int) -> int:
    for node_class in scenario.node_classes:
        if any(node.node_id == node_id for node in node_class.nodes):
            return node_class.redo_disk
    return -1


def _ids(scenario: Scenario, node_id: int) -> tuple[str, ...]:
    return tuple(
        node.id
        for node_class in scenario.node_classes
        for node in node_class.nodes
        if node.node_id == node_id
    )
