"""A plan with more node groups: what it is, how long the way there takes, and what is needed meanwhile.

    reorganise(plan, groups=1).duration_s

Here the plan is taken apart for `times/reorganise.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ndbplan.base.errors import UserError
from ndbplan.base.kept import kept_by_identity, same
from ndbplan.base.later import Later
from ndbplan.base.quantity import Quantity, total
from ndbplan.base.shapes import Shape
from ndbplan.base.units import format_memory, format_value
from ndbplan.configuration.node_groups import incomplete_node_group, node_groups
from ndbplan.configuration.settings import no_of_replicas
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.growth import add_node_group
from ndbplan.estimate.beyond import less_certain, with_disks_of_runs
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.load.disk_data import tablespace_use_by_node
from ndbplan.estimate.loaded import cpu, stored_on_disk
from ndbplan.estimate.storage.redistribution import Redistribution
from ndbplan.estimate.stored import machines_of, memory, reach, redistribute
from ndbplan.estimate.timed import traffic_on_disks
from ndbplan.estimate.times.reorganise import (
    Left,
    NodePeak,
    TableReorganise,
    TablespacePeak,
    node_peaks,
    reorganise_table,
    tablespace_peaks,
)
from ndbplan.estimate.together import together
from ndbplan.ndb.nearness import Nearness
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import Workload

_NAMED = 8
"""Nodes that one line names."""


class ReorganiseError(UserError):
    """The cluster cannot grow online."""


@dataclass(frozen=True)
class ReorganiseEstimate(Shape):
    """Reorganisation of every table, one after another."""

    JSON = "tables duration_s problems memory_peak_bytes nodes=node_peaks tablespaces nearness"

    tables: tuple[TableReorganise, ...]
    duration_s: Quantity
    memory_peak_bytes: int
    """Pages of all fragments, one replica of each, before OPTIMIZE TABLE gives any back."""
    node_peaks: tuple[NodePeak, ...]
    plan_after: Plan
    """The plan with the new nodes and the tables as reorganised."""
    tablespaces: tuple[TablespacePeak, ...]
    """Of every node that holds columns on disk."""
    nearness: Nearness | None
    """How near it lies to reorganisations that were measured."""

    @property
    def problems(self) -> tuple[str, ...]:
        """One line for each tablespace and each DataMemory that is too small for it."""
        short: dict[str, list[TablespacePeak]] = {}
        for peak in self.tablespaces:
            if not peak.fits:
                short.setdefault(peak.tablespace, []).append(peak)
        spaces = [
            f"error: tablespace {name} needs {format_value(max(p.used_bytes.value for p in peaks), 'bytes')} "
            f"on {_named([p.node_id for p in peaks])} and has "
            f"{format_value(peaks[0].capacity_bytes, 'bytes')}: add data files before REORGANIZE"
            for name, peaks in short.items()
        ]
        tight: dict[tuple[str, str], list[int]] = {}
        for node in self.node_peaks:
            if not node.fits:
                needs = format_memory(node.data_memory_bytes.value, "bytes")
                tight.setdefault((needs, format_memory(node.limit_bytes, "bytes")), []).append(node.node_id)
        memory_lines = [
            f"error: {_named(ids)} {'need' if len(ids) > 1 else 'needs'} {needs} of DataMemory"
            f"{' each' if len(ids) > 1 else ''} and {'have' if len(ids) > 1 else 'has'} {limit}: raise it "
            "before REORGANIZE"
            for (needs, limit), ids in tight.items()
        ]
        return (*spaces, *memory_lines)


def _named(node_ids: Sequence[int]) -> str:
    """`node 1`, `nodes 1, 2`; of many the first and how many more."""
    more = len(node_ids) - _NAMED
    named = ", ".join(map(str, node_ids[:_NAMED])) + (f" and {more} more" if more > 0 else "")
    return f"node{'s' if len(node_ids) > 1 else ''} {named}"


def _after(plan: Plan, grown: Plan) -> Plan:
    """The grown plan with every table as the reorganisation leaves it."""
    tables = (_reorganised(table, redistribute(plan, grown, table)) for table in plan.tables)
    return grown.replace(tables=same(tables))


@kept_by_identity(size=256)
def _reorganised(table: Table, change: Redistribution) -> Table:
    """A table after its reorganisation."""
    if table.fully_replicated or not (change.rows_moved or change.after is not change.before):
        # Each new group gets the same partitions of a copied table once more; the map stays.
        return table
    # Rows that were counted are split as their hash map says: worked out, and marked so. Where none were, the
    # map says where they lie, as before.
    counted = change.before.measured
    rows = tuple(int(r) for r in change.after.rows.tolist()) if counted else ()
    assumed = tuple(name for name in table.assumed if name != "partition_rows")
    return validated.changed(
        table,
        grown_from=(*table.grown_from, change.before.placement.partitions),
        partition_rows=rows,
        partition_variable_bytes=change.after.counted_variable_bytes if counted else (),
        assumed=(*assumed, "partition_rows") if counted else assumed,
    )


def reorganise(plan: Plan, groups: int = 1, workload: Workload | None = None) -> ReorganiseEstimate:
    """What adding node groups and reorganising every table does, with or without a workload meanwhile.

    New nodes are like those of the last group, unless reserved nodes (NodeGroup 65536) are in the plan:
    those are taken first. Raises ReorganiseError when the version cannot add nodes online, EditError when the
    plan has no whole node group.
    """
    if not plan.features.add_nodes_online:
        raise ReorganiseError(
            f"NDB {plan.ndb_version} cannot add data nodes online (7.0 and later can)",
            fix="take a backup, start a larger cluster with --initial and restore into it",
        )
    if groups < 1:
        raise ReorganiseError(f"{groups} node groups cannot be added", fix="add one or more")
    odd = incomplete_node_group(plan)
    if odd is not None:
        raise ReorganiseError(odd, fix="give every node group NoOfReplicas members first")
    return reorganise_to(plan, grow(plan, groups), workload)


def reorganise_to(plan: Plan, grown: Plan, workload: Workload | None = None) -> ReorganiseEstimate:
    """What reorganising every table does when the node groups of another plan are there too."""
    tables = _reorganised_tables(plan, grown, workload)

    def lasts(moved: Plan) -> Quantity:
        then = grown.replace(calibrations=moved.calibrations)
        return _duration(_reorganised_tables(moved, then, workload))

    duration = together(plan, "reorganise", _duration(tables), lasts)
    peak = sum(p.fixed_bytes + p.variable_bytes for t in tables for p in t.redistribution.partitions)
    after = _after(plan, grown)
    peaks = node_peaks(memory(plan), memory(after), _members(plan))
    near = reach(plan, "reorganise")

    def on_disks_of_runs() -> ReorganiseEstimate:
        before, then = (with_disks_of_runs(one, "reorganise") or one for one in (plan, grown))
        return reorganise_to(before, then, workload)

    there = Later(on_disks_of_runs)

    def each(number: int, found: Quantity) -> Quantity:
        return less_certain(plan, "reorganise", found, lambda _: there().tables[number].duration_s)

    duration = less_certain(plan, "reorganise", duration, lambda _: there().duration_s)
    spaces = reach(plan, "storage").widened_throughout(_tablespaces(plan, after))
    tables = tuple(
        replace(one, duration_s=each(number, one.duration_s), cpu=near.widened_throughout(one.cpu))
        for number, one in enumerate(tables)
    )
    return ReorganiseEstimate(tables, duration, peak, peaks, after, spaces, near)


def _reorganised_tables(plan: Plan, grown: Plan, workload: Workload | None) -> tuple[TableReorganise, ...]:
    now, then = machines_of(plan), machines_of(grown)
    left = Left.of(cpu(plan, workload), traffic_on_disks(plan, workload).busy())
    return tuple(
        reorganise_table(redistribute(plan, grown, table), table, now, then, left) for table in plan.tables
    )


def _duration(tables: tuple[TableReorganise, ...]) -> Quantity:
    return total(((t.table, t.duration_s) for t in tables if t.moves), "s")


def _members(plan: Plan) -> set[int]:
    return {node.node_id for group in node_groups(plan) for node in group}


def _tablespaces(plan: Plan, after: Plan) -> tuple[TablespacePeak, ...]:
    old = _members(plan)
    peaks = []
    for space in after.tablespaces:
        now, then = (tablespace_use_by_node(space, stored_on_disk(p), plan.version) for p in (plan, after))
        peaks += tablespace_peaks(space, old, now, then, constants_of(plan))
    return tuple(peaks)


def grow(plan: Plan, groups: int) -> Plan:
    """The plan with so many more node groups: of reserved nodes first, then of new nodes on new hosts."""
    aside = [node for node in plan.data_nodes if node.node_group == 65536]
    replicas = no_of_replicas(plan)
    while groups and len(aside) >= replicas:
        taken, aside = aside[:replicas], aside[replicas:]
        number_of_group = len(node_groups(plan))
        for node in taken:
            plan = edits.update(plan, node.id, node_group=number_of_group)
        groups -= 1
    return add_node_group(plan, groups) if groups else plan
