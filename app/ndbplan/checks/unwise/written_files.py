"""Rules about how data nodes write their files, and of those that write none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ndbplan.base.units import GIB, format_duration, format_ndb_size, format_percent
from ndbplan.checks.parameters import setting, without
from ndbplan.checks.problem import Problem, Solution
from ndbplan.checks.rule import hint, rule, warning
from ndbplan.checks.solutions import one_of
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.node_groups import groups_by_number, groups_without_files
from ndbplan.configuration.settings import nodes_alike, nodes_alike_in
from ndbplan.edits.changes import together
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.hardware import DiskKind
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole

_LDM_BUSY = 0.6
"""Share of LDM threads from which compressing checkpoints is too much for them [assumed]."""


@rule("diskless", "Diskless loses all data when the cluster stops")
def diskless(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        for name in ("Diskless", "Discless"):
            if alike.settings.states(name) and alike.settings.number(name) == 1:
                nodes = [node for w in plan.workloads for node in now.under(w).checkpoint.nodes]
                full = [node.overflow_after_s.value for node in nodes if node.overflow_after_s is not None]
                when = f"comes all the same, here after {format_duration(min(full))}" if full else "can come"
                yield warning(
                    alike.where,
                    f"{name} is 1: redo log and checkpoints still do all their work but the last write, so "
                    f"error 410 {when}; there is no backup, and {_lost(plan, alike.nodes)}",
                    "take it away and create the tables with NOLOGGING (ndb_table_no_logging)",
                    alike.object_ids,
                    without(alike.scope_of(name), name),
                )


def _lost(plan: Plan, nodes: Sequence[DataNode]) -> str:
    """What is gone when these nodes write no files."""
    everything = "a restart of the cluster loses everything"
    empty, groups = groups_without_files(plan), groups_by_number(plan)
    if not nodes or len(empty) == len(groups):
        return everything
    if mine := [number for number in empty if any(node in nodes for node in groups[number])]:
        named = f"node group{'s' if len(mine) > 1 else ''} {', '.join(map(str, mine))}"
        none = f"no data node of {named} keeps its rows in files"
        return f"{none}, without which no other one starts: {everything}"
    whose = "its" if len(nodes) == 1 else "their"
    it = "it" if len(nodes) == 1 else "one of them"
    return (
        f"rows are copied from {whose} node group whenever {it} starts: what was written while {it} was the "
        "only one of its group that ran is lost when it stops"
    )


@rule("direct-io", "Large checkpoints go through the file cache")
def direct_io(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    uses_disk = bool(plan.tablespaces)
    for alike in nodes_alike_in(plan, "ODirect", "DataMemory"):
        large = alike.settings.number("DataMemory") >= 16 * GIB
        if not alike.nodes or alike.settings.number("ODirect") == 1 or not (uses_disk or large):
            continue
        why = (
            "with disk data"
            if uses_disk
            else f"with DataMemory {format_ndb_size(alike.settings.number('DataMemory'))}"
        )
        yield warning(
            alike.where,
            f"ODirect is off {why}: checkpoints fill the file cache of Linux, which is then written in "
            f"bursts",
            "set ODirect to 1",
            alike.object_ids,
            setting(alike.scope_of("ODirect"), "ODirect", 1),
        )


@rule("direct-io-sync", "Direct I/O waits for syncs that it does not need")
def direct_io_sync(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not catalogue.knows("DB", "ODirectSyncFlag", plan.version):
        return
    for alike in nodes_alike(plan):
        slow = any(
            disk.kind is DiskKind.HDD
            for node in alike.nodes
            for disk in [disk_for(plan, node, DiskRole.REDO)]
            if disk is not None
        )
        if slow and alike.settings.number("ODirect") == 1 and alike.settings.number("ODirectSyncFlag") == 0:
            told = hint(
                alike.where,
                "ODirectSyncFlag spares an fsync per redo write where the file system allows it: 2 to 3 "
                "times the speed on hard disks",
                "set ODirectSyncFlag to 1 after a test",
                alike.object_ids,
            )
            edit = setting(alike.scope_of("ODirectSyncFlag"), "ODirectSyncFlag", 1)
            unknown = "whether the file system keeps what it took when the power fails: only a test says"
            ways = [Solution("Set ODirectSyncFlag to 1", "after a test of the file system", edit, asks=True)]
            yield replace(told, solve=one_of(now, "direct-io-sync", ways, unknown, alike.object_ids))


@rule("compressed-checkpoints", "Compression overloads busy LDM threads")
def compressed_checkpoints(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for alike in nodes_alike(plan):
        names = [n for n in ("CompressedLCP", "CompressedBackup") if alike.settings.number(n) == 1]
        if not names:
            continue
        ids = {node.node_id for node in alike.nodes}
        busy = max(
            (
                node.ldm_utilisation.value
                for workload in plan.workloads
                for node in now.under(workload).cpu.nodes
                if node.node_id in ids
            ),
            default=0.0,
        )
        if busy > _LDM_BUSY:
            yield warning(
                alike.where,
                f"{' and '.join(names)} compress in the LDM threads, which are {format_percent(busy)} busy "
                f"already; more of them would share it",
                "switch compression off",
                alike.object_ids,
                together(setting(alike.scope_of(name), name, 0) for name in names),
            )
