"""Ranges of durations of plans that lie beyond all runs that were measured.

    less_certain(plan, "backup", found, lambda moved: backup(moved).duration_s)

Where a disk takes over as the limit, what is stated of it would make a duration more certain than it was with
the slowest disk that was measured, whatever else bounded it there.

With quicker cores, more LDM threads, log parts or rows a range may still get narrower in proportion: where a
disk or a link of stated speed takes over from cores, and where bytes at a speed that parameters state come to
outweigh the wait beside them. What goes on under one limit, and takes no longer, is never surer further away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity
from ndbplan.estimate.load.checkpoint import CheckpointEstimate
from ndbplan.estimate.stored import reach
from ndbplan.ndb.nearness import Nearness, slowest_disk_bytes_per_s
from ndbplan.plan.hardware import Disk
from ndbplan.plan.plan import Plan


def less_certain(plan: Plan, kind: str, found: Quantity, ask: Callable[[Plan], Quantity]) -> Quantity:
    """The same duration, its range the wider the further the plan lies from all runs.

    With slower disks than any run had, its high end is as many times the low one as with the slowest of
    them, or more; the low end stays, as it is what disks need at least. `ask`: what this says of the plan
    with those disks.
    """
    at_runs = with_disks_of_runs(plan, kind)
    if at_runs is not None and found.low < found.high:
        near = reach(at_runs, kind)
        found = as_wide_as(found, ask(at_runs), rooms(near))
    return _widened(found, reach(plan, kind))


def as_wide_as(found: Quantity, there: Quantity, without: float) -> Quantity:
    """A figure whose high end is as many times the low one as that of another figure, or more.

    `without`: of that a factor is not counted, as by so much it was widened for its distance from runs.
    """
    if there.low <= 0.0 or found.low == found.high:
        return found
    return found.between(found.low, max(found.high, found.low * there.high / there.low / without))


def rooms(near: Nearness) -> float:
    """By how much a range is wider for its distance from runs, both ends together."""
    return near.room * near.room_below


@kept_by_identity(size=48)
def no_surer_than(found: CheckpointEstimate, there: CheckpointEstimate, without: float) -> CheckpointEstimate:
    """Checkpoints that are no surer to last so long, and to need so much log, than those of the same plan
    with other disks; `without` as in `as_wide_as`.

    What they write stays: it is at most all rows, at no more than the speed of the disk.
    """
    nodes = []
    for node in found.nodes:
        other = there.node(node.node_id)
        if other is not None:
            node = replace(
                node,
                duration_s=as_wide_as(node.duration_s, other.duration_s, without),
                redo_needed_bytes=as_wide_as(node.redo_needed_bytes, other.redo_needed_bytes, without),
                redo_fill=as_wide_as(node.redo_fill, other.redo_fill, without),
            )
        nodes.append(node)
    return replace(found, nodes=tuple(nodes))


@kept_by_identity(size=48)
def _widened(found: Quantity, near: Nearness) -> Quantity:
    return near.widened(found)


@kept_by_identity(size=16)
def with_disks_of_runs(plan: Plan, kind: str) -> Plan | None:
    """The plan with each slower disk as fast as the slowest that was measured; None: no disk is slower."""
    edge = slowest_disk_bytes_per_s(kind)
    if all(disk.sequential_write_bytes_per_s >= edge for host in plan.hosts for disk in host.disks):
        return None
    hosts = [
        host.model_copy(update={"disks": tuple(_at_least(disk, edge) for disk in host.disks)})
        for host in plan.hosts
    ]
    return plan.replace(hosts=tuple(hosts))


def _at_least(disk: Disk, edge: float) -> Disk:
    slower = edge / disk.sequential_write_bytes_per_s
    if slower <= 1.0:
        return disk
    speeds = ("sequential_write_bytes_per_s", "sequential_read_bytes_per_s")
    return disk.model_copy(update={name: getattr(disk, name) * slower for name in speeds})
