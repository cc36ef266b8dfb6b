"""Data files and undo files of a cluster that is sized: they follow from rows and loads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ndbplan.advise.remedies import sustained_s
from ndbplan.advise.sizing.jobs import when_done
from ndbplan.advise.sizing.loads import steady, with_rows
from ndbplan.checks.unwise.disks import SPACE_WARNING, UNDO_WARNING, larger_data_files, larger_undo_files
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.disk_data import TablespaceUse, UndoUse, disk_rows
from ndbplan.estimate.load.row_capacity import kept_rows_per_s
from ndbplan.estimate.loaded import table_loads
from ndbplan.estimate.space.growth import after_months
from ndbplan.plan.plan import Plan
from ndbplan.plan.requirements import Requirements
from ndbplan.plan.workloads import Workload


def with_data_files(plan: Plan, wanted: Requirements, loads: Sequence[Workload]) -> Plan:
    """The plan with data files for rows of the last month, of a load job and of peaks.

    They belong to tables and loads, not to a class of hosts. None becomes smaller; whether disks have room
    for them is a limit of its own.
    """
    largest: dict[str, TablespaceUse] = {}
    for use in _data(plan, wanted, loads) if plan.tablespaces else ():
        known = largest.get(use.tablespace)
        if known is None or use.fill.value > known.fill.value:
            largest[use.tablespace] = use
    for use in largest.values():
        if use.fill.value > SPACE_WARNING:
            plan = larger_data_files(plan, use)(plan)
    return plan


def with_undo_files(plan: Plan, wanted: Requirements, loads: Sequence[Workload]) -> Plan:
    """The plan with undo files for peaks, none smaller: no closed form of a load asks for their size."""
    needs = _undo(plan, wanted, loads) if plan.logfile_groups else ()
    undo = max(needs, key=lambda use: use.fill, default=None)
    return plan if undo is None or undo.fill <= UNDO_WARNING else larger_undo_files(plan, undo)(plan)


def _data(plan: Plan, wanted: Requirements, loads: Sequence[Workload]) -> Iterator[TablespaceUse]:
    grown = after_months(plan, wanted.months)
    yield from Estimation(_beside_peaks(grown, wanted, loads)).disk_data.tablespaces
    done = None if wanted.job is None else when_done(plan, wanted.job)
    if done is not None:
        yield from done.disk_data.tablespaces


def _beside_peaks(grown: Plan, wanted: Requirements, loads: Sequence[Workload]) -> Plan:
    """With the rows on disk that the load which adds most of them leaves when its peak has lasted."""
    on_disk = {one.id for one in grown.tables if disk_rows(one, grown.version)}
    more: dict[str, float] = {}
    now = Estimation(grown)
    for load in loads if on_disk else ():
        peak_per_s = now.under(load).offered_per_s * (1.0 + wanted.headroom)
        for asked in table_loads(grown, steady(load, peak_per_s)):
            if asked.table.id in on_disk:
                rows = kept_rows_per_s(asked) * sustained_s(load)
                more[asked.table.id] = max(rows, more.get(asked.table.id, 0.0))
    tables = tuple(with_rows(one, one.rows + math.ceil(more.get(one.id, 0.0))) for one in grown.tables)
    return grown.replace(tables=tables) if any(more.values()) else grown


def _undo(plan: Plan, wanted: Requirements, loads: Sequence[Workload]) -> Iterator[UndoUse]:
    grown = Estimation(after_months(plan, wanted.months))
    for load in loads:
        peak_per_s = grown.under(load).offered_per_s * (1.0 + wanted.headroom)
        yield from grown.under(steady(load, peak_per_s)).undo_log
