"""Rules about the redo log and local checkpoints."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ndbplan.base.units import (
    GIB,
    MIB,
    format_bytes_binary,
    format_bytes_per_s,
    format_duration,
    format_ndb_size,
    format_percent,
)
from ndbplan.checks.fits import first_that_fits
from ndbplan.checks.parameters import setting, without
from ndbplan.checks.problem import Edit, Problem
from ndbplan.checks.rule import error, hint, rule, warning
from ndbplan.checks.unwise.redo_cures import cure_of_short_log, one_sided, usual_log, ways_for_log
from ndbplan.configuration.directories import disk_for, disks_of_roles
from ndbplan.configuration.redo_problems import seen_as
from ndbplan.configuration.settings import (
    NodesAlike,
    node_settings,
    nodes_alike,
    redo_log_parts,
)
from ndbplan.edits.changes import together
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.checkpoint_speed import is_partial, speed_limits
from ndbplan.estimate.load.redo import log_bytes_per_part
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.hardware import DiskKind
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.workloads import Workload

_SHORTEST_LOG_S = 64
_FILL_WARNING = 0.7
_HALF_OF_THE_DISK = 0.5
_LOG_AIMS = (1.05, 2.0)
"""Times the shortest log that a cure aims at: just enough, or room for what is not even."""
_LARGE_DATA_MEMORY = 100 * 10**9
_SMALL_FILE = 64 * MIB
_GOOD_FILES = (256 * MIB, 512 * MIB)
"""Sizes of redo files that heavy writes can do with, best first; larger buffers take the largest there is."""
_HEAVY_BYTES_PER_S = 5e6
"""Log of a part from which on its files are looked at: judgement."""


def _written(now: Estimation) -> float:
    """Redo bytes per second of the hottest log part under any workload."""
    rates = (
        node.hottest_part_bytes_per_s.value
        for workload in now.plan.workloads
        for node in now.under(workload).redo.nodes
    )
    return max(rates, default=0.0)


def _controls_itself(alike: NodesAlike) -> bool:
    """Whether checkpoints are partial and speed up as the log fills: a moderate log is right then."""
    return is_partial(alike.settings) and speed_limits(alike.settings).redo_control


def _least_log_bytes(alike: NodesAlike) -> int:
    """Redo log that a data node should have by the rules of thumb for its version; 0: no rule applies."""
    share = alike.plan.features.redo_log_least_share
    return 0 if _controls_itself(alike) else int(alike.settings.number("DataMemory") * share)


def _good_file_bytes(now: Estimation, alike: NodesAlike) -> int:
    """FragmentLogFileSize that suits heavy writes: what it is, when that is enough."""
    size, buffer = alike.settings.number("FragmentLogFileSize"), alike.settings.number("RedoBuffer")
    if _written(now) < _HEAVY_BYTES_PER_S or not (size < _SMALL_FILE or buffer > size):
        return size
    most = catalogue.parameter("DB", "FragmentLogFileSize", alike.plan.version).maximum or GIB
    return next((good for good in _GOOD_FILES if good >= buffer), most)


def wanted_log(now: Estimation, alike: NodesAlike) -> tuple[int, int]:
    """(FragmentLogFileSize, NoOfFragmentLogFiles) that all rules about them are content with."""
    size = _good_file_bytes(now, alike)
    parts = redo_log_parts(alike.settings)
    needed = max(log_bytes_per_part(alike.settings), _least_log_bytes(alike) / parts)
    files = alike.settings.number("NoOfFragmentLogFiles")
    if size * files >= needed and size == alike.settings.number("FragmentLogFileSize"):
        return size, files
    return size, max(3, math.ceil(needed / size))


def _larger_log(now: Estimation, alike: NodesAlike) -> tuple[str, Edit]:
    """The redo log that the rules want: in words, and as a change."""
    size, files = wanted_log(now, alike)
    changes = [setting(alike.scope_of("NoOfFragmentLogFiles"), "NoOfFragmentLogFiles", files)]
    words = f"set NoOfFragmentLogFiles to {files} (initial node restart)"
    if size != alike.settings.number("FragmentLogFileSize"):
        changes.append(setting(alike.scope_of("FragmentLogFileSize"), "FragmentLogFileSize", size))
        words = f"set FragmentLogFileSize to {format_ndb_size(size)} and {words.removeprefix('set ')}"
    return words, together(changes)


@rule("redo-log-size", "The redo log is full before a checkpoint frees it")
def redo_log_size(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    nodes = {node.node_id: node for node in plan.data_nodes}
    for workload in plan.workloads:
        seen: set[tuple[float, int]] = set()
        search = partial(ways_for_log, now, workload, _FILL_WARNING)
        for node in now.under(workload).checkpoint.nodes:
            fill = node.redo_fill.value
            key = (round(fill, 3), node.redo_log_bytes)
            if fill <= _FILL_WARNING or key in seen:
                continue
            seen.add(key)
            text = (
                f"under workload '{workload.name}' the hottest log part of data node {node.node_id} needs "
                f"{format_bytes_binary(node.redo_needed_bytes.value)} until checkpoints free it, "
                f"{format_percent(fill)} of its {format_bytes_binary(node.redo_log_bytes)}"
            )
            why = one_sided(now.under(workload), nodes[node.node_id])
            ids = [nodes[node.node_id].id, workload.id]
            cure = partial(cure_of_short_log, now, workload, nodes[node.node_id], fill, _FILL_WARNING)
            if node.redo_fill.low > 1 and workload.load.kind == "open":
                told = error(f"data node {node.node_id}", f"{text}: error 410 follows{why}", "", ids)
            else:
                told = warning(f"data node {node.node_id}", f"{text}{why}", "", ids)
            yield replace(told, solve=search, cure=cure)


@rule("redo-log-and-memory", "The redo log is small for DataMemory")
def redo_log_and_memory(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    longer: dict[str, int] = {}
    solve = partial(usual_log, now, longer)
    for alike in nodes_alike(plan):
        if not alike.nodes:
            continue
        log = log_bytes_per_part(alike.settings) * redo_log_parts(alike.settings)
        memory, least = alike.settings.number("DataMemory"), _least_log_bytes(alike)
        if log < least:
            fix, edit = _larger_log(now, alike)
            yield warning(
                alike.where,
                f"the redo log of a data node is {format_bytes_binary(log)}, DataMemory "
                f"{format_bytes_binary(memory)}; it should have "
                + ("as much" if plan.features.redo_log_least_share >= 1 else "a tenth of it at least"),
                fix,
                alike.object_ids,
                edit,
            )
        elif log < (usual := plan.features.redo_log_usual_share * memory):
            size, parts = alike.settings.number("FragmentLogFileSize"), redo_log_parts(alike.settings)
            files = math.ceil(usual / parts / size)
            told = hint(
                alike.where,
                f"the redo log of a data node is {log / max(1, memory):.1f} x DataMemory; before 7.6 the "
                f"usual advice is {plan.features.redo_log_usual_share:g} x for write-heavy loads",
                f"for such loads set NoOfFragmentLogFiles to {files} (initial node restart)",
                alike.object_ids,
            )
            scope = alike.scope_of("NoOfFragmentLogFiles")
            longer[scope] = max(files, longer.get(scope, 0))
            yield replace(told, solve=solve)


@rule("redo-log-seconds", "The redo log holds less than a minute of peak load")
def redo_log_seconds(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if all(_controls_itself(alike) for alike in nodes_alike(plan) if alike.nodes):
        return
    for workload in plan.workloads:
        full = now.under(workload).redo.time_to_full_s
        if full is not None and full.value < _SHORTEST_LOG_S:
            told = warning(
                "redo log",
                f"under workload '{workload.name}' a log part is full in {format_duration(full.value)} "
                f"when no "
                f"checkpoint completes; {_SHORTEST_LOG_S} s should fit",
                "",
                [workload.id],
                missing="disks with room for such a log: the plan has none",
            )
            yield replace(told, cure=partial(_longer_log, now, workload, full.value))


def _longer_log(now: Estimation, workload: Workload, full_s: float) -> tuple[str, Edit | None]:
    """Fix and edit that make the log last, where the disks have room for it."""
    plan = now.plan

    def time_to_full_s(after: Plan) -> float:
        time_s = now.of(after).under(after.workload(workload.id)).redo.time_to_full_s
        return math.inf if time_s is None else time_s.value

    def lasts(after: Plan) -> bool:
        return time_to_full_s(after) >= _SHORTEST_LOG_S

    ways = []
    for aim in _LOG_AIMS if full_s > 0 else ():
        # The time is not quite in proportion to the log: from the rough size on, so that the same number
        # comes out whatever log the plan has now.
        rough = _log_of_length(now, plan, aim * _SHORTEST_LOG_S / full_s)[1](plan)
        ways.append(_log_of_length(now, rough, aim * _SHORTEST_LOG_S / max(1.0, time_to_full_s(rough))))

    chosen = first_that_fits(now, ways, lasts)
    return chosen or ("take larger disks for the redo log, more of them, or more data nodes", None)


def _log_of_length(now: Estimation, rough: Plan, factor: float) -> tuple[str, Edit]:
    """A redo log so many times as long as in `rough`, of good files: in words, and as a change."""
    changes, words = [], []
    nodes = {node.id: node for node in rough.data_nodes}
    for alike in nodes_alike(now.plan):
        size, least = wanted_log(now, alike)
        held = log_bytes_per_part(node_settings(rough, nodes[alike.nodes[0].id]))
        files = max(least, math.ceil(held * factor / size))
        changes.append(setting(alike.scope_of("NoOfFragmentLogFiles"), "NoOfFragmentLogFiles", files))
        told = f"set NoOfFragmentLogFiles of {alike.where} to {files}"
        if size != alike.settings.number("FragmentLogFileSize"):
            changes.append(setting(alike.scope_of("FragmentLogFileSize"), "FragmentLogFileSize", size))
            told += f" and FragmentLogFileSize to {format_ndb_size(size)}"
        words.append(told)
    return " and ".join(words) + " (initial node restart)", together(changes)


@rule("redo-file-size", "Redo files are small for heavy writes")
def redo_file_size(now: Estimation) -> Iterator[Problem]:
    rate = _written(now)
    for alike in nodes_alike(now.plan):
        size, buffer = alike.settings.number("FragmentLogFileSize"), alike.settings.number("RedoBuffer")
        if rate < _HEAVY_BYTES_PER_S or not alike.nodes:
            continue
        if size < _SMALL_FILE or buffer > size:
            fix, edit = _larger_log(now, alike)
            reason = "the next file is not open in time"
            if buffer > size:
                reason = f"RedoBuffer {format_ndb_size(buffer)} is larger than one file"
            yield warning(
                alike.where,
                f"FragmentLogFileSize is {format_ndb_size(size)} while a log part takes "
                f"{format_bytes_per_s(rate)}: {reason}, "
                f"error {seen_as(now.plan, 1220)} follows",
                fix,
                alike.object_ids,
                edit,
            )


def _slowest_write(plan: Plan, nodes: Sequence[DataNode]) -> int:
    """What the slowest disk with checkpoints can write, in whole MiB per second."""
    disks = (disk_for(plan, node, DiskRole.LCP) for node in nodes)
    slowest = min((d.sequential_write_bytes_per_s for d in disks if d is not None), default=1e12)
    return int(slowest // MIB) * MIB


@rule("checkpoint-speed", "Checkpoints are too slow for the memory, or too fast for the disk")
def checkpoint_speed(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not catalogue.knows("DB", "MaxDiskWriteSpeed", plan.version):
        return
    for alike in nodes_alike(plan):
        speed, memory = alike.settings.number("MaxDiskWriteSpeed"), alike.settings.number("DataMemory")
        unset = (
            not alike.settings.states("MaxDiskWriteSpeed") and alike.settings.number("EnableRedoControl") == 0
        )
        most = min((_slowest_write(plan, alike.nodes) // 2, 100 * MIB))
        if memory > _LARGE_DATA_MEMORY and unset and alike.nodes and most > speed:
            yield warning(
                alike.where,
                f"MaxDiskWriteSpeed is at its default {format_ndb_size(speed)} with DataMemory "
                f"{format_bytes_binary(memory)}: a full checkpoint takes {format_duration(memory / speed)}",
                f"set MaxDiskWriteSpeed to {format_ndb_size(most)}",
                alike.object_ids,
                setting(alike.scope_of("MaxDiskWriteSpeed"), "MaxDiskWriteSpeed", most),
            )
        # What nodes share is one value: the slowest disk of all decides.
        here = alike.nodes if alike.scope_of("MinDiskWriteSpeed") != "data_node" else plan.data_nodes
        least = max(MIB, int(_HALF_OF_THE_DISK * _slowest_write(plan, here)) // MIB * MIB)
        for node in alike.nodes:
            disk = disk_for(plan, node, DiskRole.LCP)
            floor = alike.settings.number("MinDiskWriteSpeed")
            if disk is not None and floor > _HALF_OF_THE_DISK * disk.sequential_write_bytes_per_s:
                yield warning(
                    f"data node {node.node_id}",
                    f"MinDiskWriteSpeed {format_ndb_size(floor)} of data node {node.node_id} is more than "
                    f"half of "
                    f"what disk {disk.name} can write "
                    f"({format_bytes_per_s(disk.sequential_write_bytes_per_s)}): "
                    "checkpoints starve the redo log and never slow down",
                    f"lower MinDiskWriteSpeed to {format_ndb_size(least)}",
                    [node.id, disk.id],
                    setting(alike.scope_of("MinDiskWriteSpeed"), "MinDiskWriteSpeed", least),
                )


@rule("redo-control", "Checkpoints may write faster than the disk")
def redo_control(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    if not catalogue.knows("DB", "EnableRedoControl", plan.version):
        return
    for alike in nodes_alike(plan):
        on = alike.settings.number("EnableRedoControl") == 1
        for node in alike.nodes:
            redo, lcp = map(disks_of_roles(plan, node).get, (DiskRole.REDO, DiskRole.LCP))
            if redo is None:
                continue
            if on and redo is lcp and redo.kind is DiskKind.HDD:
                yield warning(
                    alike.where,
                    f"EnableRedoControl is on, but REDO and LCP share the hard disk {redo.name}: faster "
                    "checkpoints take the device away from the redo log",
                    "set EnableRedoControl to 0",
                    (*alike.object_ids, redo.id),
                    setting(alike.scope_of("EnableRedoControl"), "EnableRedoControl", 0),
                )
                break
            if not on and redo.kind in (DiskKind.NVME, DiskKind.SATA_SSD):
                yield warning(
                    alike.where,
                    "EnableRedoControl is off although the disks are SSDs; checkpoints then do not speed up "
                    "when the redo log fills",
                    "set EnableRedoControl to 1",
                    (*alike.object_ids, redo.id),
                    setting(alike.scope_of("EnableRedoControl"), "EnableRedoControl", 1),
                )
                break


@rule("checkpoint-interval", "TimeBetweenLocalCheckpoints is set as if it were a duration", alone=True)
def checkpoint_interval(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    name = "TimeBetweenLocalCheckpoints"
    for alike in nodes_alike(plan):
        value, default = alike.settings.value(name), catalogue.default("DB", name, plan.version)
        if alike.settings.states(name) and value != default and isinstance(value, int):
            started = format_bytes_binary(4 * 2 ** min(value, 31))
            yield warning(
                alike.where,
                f"{name} is {value}; it is not a number of seconds but starts a checkpoint after 2^{value} "
                f"words ({started}) of changes. Under load checkpoints follow one another anyway, so it "
                "neither speeds them up nor prevents error 410, against which more NoOfFragmentLogFiles or "
                "a higher checkpoint speed helps",
                f"set it back to {default}",
                alike.object_ids,
                without(alike.scope_of(name), name),
            )
