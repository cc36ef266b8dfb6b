"""What cures a redo log that is too short for its checkpoints, within what disks can hold and write."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial

from ndbplan.base.units import (
    MIB,
    format_bytes,
    format_bytes_per_s,
    format_ndb_size,
    format_percent,
    how_many,
)
from ndbplan.checks.fits import ROOM_LEFT, first_that_fits, rounded_up
from ndbplan.checks.parameters import setting
from ndbplan.checks.problem import Edit, Look, Solution, WaysOut
from ndbplan.checks.solutions import that_mend
from ndbplan.checks.unwise.load_cures import TIMES_AS_FAST, first_of_each, more_groups
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.settings import node_settings, redo_log_parts, scope_of
from ndbplan.edits.changes import SetField, together
from ndbplan.edits.solutions import can_have_devices, faster_each
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.load.checkpoint_speed import speed_limits
from ndbplan.estimate.stored import ldm_threads
from ndbplan.ndb import parameters as catalogue
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole
from ndbplan.plan.workloads import Workload

_AIM = 0.93
"""Of the fill that is allowed: what a new log is made for."""
_ONE_SIDED = 1.5
"""A log part that gets so many times its share of the node's log is told of."""
_DISK_SHARE = 0.5
"""Of the speed of its disk, what a checkpoint may be told to write: the redo log needs the rest."""
_RESTART = "(initial node restart)"


def cure_of_short_log(
    now: Estimation, workload: Workload, node: DataNode, fill: float, allowed: float
) -> tuple[str, Edit | None]:
    """A longer log, else faster checkpoints, else both, that brings the fill of the node to `allowed`.

    Each is tried on the plan: it must cure and it must fit. When none does, the words say what would.
    """
    plan = now.plan
    files = node_settings(plan, node).number("NoOfFragmentLogFiles")
    wanted = math.ceil(files * fill / (_AIM * allowed))

    def fill_after(after: Plan) -> float | None:
        then = now.of(after).under(after.workload(workload.id)).checkpoint.node(node.node_id)
        return None if then is None else then.redo_fill.value

    def cured(after: Plan) -> bool:
        then = fill_after(after)
        return then is None or then <= allowed

    most = _most_files(now, node)
    faster = list(_faster(plan, node))
    ways = [_longer(node, files, wanted, _AIM * allowed), *faster]
    # The faster the checkpoints, the shorter the log that is needed beside.
    for words, edit in reversed(faster):
        still = math.ceil(files * (fill_after(edit(plan)) or 0.0) / (_AIM * allowed))
        if files < still <= most:
            longer = _longer(node, files, still, _AIM * allowed)
            ways.append((f"{longer[0]}, and {words}", together([longer[1], edit])))
    disk = disk_for(plan, node, DiskRole.REDO)
    each = redo_log_parts(node_settings(plan, node)) * node_settings(plan, node).number("FragmentLogFileSize")
    size = format_bytes(wanted * each)
    if disk is None:
        host = plan.host(node.host_id).hostname
        return f"give {host} a disk with room for a redo log of {size}, or let checkpoints write faster", None
    chosen = first_that_fits(now, ways, cured)
    if chosen is not None:
        return chosen
    room = format_bytes(max(files, most) * each)
    return (
        f"lower the load, add data nodes, or take larger and faster disks: a redo log of {size} would be "
        f"needed where disk {disk.name} has room for {room}, and checkpoints as fast as disks write are not "
        "enough",
        None,
    )


def ways_for_log(now: Estimation, workload: Workload, allowed: float, look: Look) -> WaysOut:
    """A longer log on larger disks, checkpoints on faster ones, or more node groups.

    No log part is fuller than `allowed` then.
    """

    def use(then: Estimation) -> float:
        nodes = then.under(then.plan.workload(workload.id)).checkpoint.nodes
        return max((node.redo_fill.value for node in nodes), default=0.0)

    kinds = (_longer_on_larger_disks(now, workload, allowed), _faster_disks(now, workload), more_groups(now))
    return WaysOut(first_of_each(now, kinds, use, look, allowed), "")


def _longer_on_larger_disks(now: Estimation, workload: Workload, allowed: float) -> Iterator[Solution]:
    name, plan = "NoOfFragmentLogFiles", now.plan
    nodes = {node.node_id: node for node in plan.data_nodes}
    files: dict[str, int] = {}
    more: dict[str, float] = {}
    for found in now.under(workload).checkpoint.nodes:
        node = nodes[found.node_id]
        settings, disk = node_settings(plan, node), disk_for(plan, node, DiskRole.REDO)
        if disk is None:
            return
        have = settings.number(name)
        wanted = max(have, math.ceil(have * found.redo_fill.value / (_AIM * allowed)))
        scope = scope_of(node, name)
        files[scope] = max(files.get(scope, 0), wanted)
        each = redo_log_parts(settings) * settings.number("FragmentLogFileSize")
        more[disk.id] = more.get(disk.id, 0.0) + (wanted - have) * each
    sizes = {disk_id: _capacity(now, disk_id, added) for disk_id, added in more.items() if added}
    if not sizes:
        return
    log: list[Edit] = [setting(scope, name, count) for scope, count in files.items()]
    larger: list[Edit] = [SetField(disk_id, "capacity_bytes", size) for disk_id, size in sizes.items()]
    whose = f"{len(sizes)} disks" if len(sizes) > 1 else f"disk {plan.by_id[next(iter(sizes))].name}"
    title = f"Raise {name} to {max(files.values())} and give {whose} {format_bytes(max(sizes.values()))}"
    why = f"room for the log until checkpoints free it {_RESTART}"
    yield Solution(title, why, together([*larger, *log]), buys=True)


def _faster_disks(now: Estimation, workload: Workload) -> Iterator[Solution]:
    """Checkpoints that end sooner, on disks that write faster; first as fast as they may, then faster."""
    plan = now.plan
    disks = {
        disk.id: disk
        for found in now.under(workload).checkpoint.nodes
        for node in plan.data_nodes
        if node.node_id == found.node_id and (disk := disk_for(plan, node, DiskRole.LCP)) is not None
    }
    if not disks:
        return
    name = checkpoint_speed_parameter(plan)
    slowest = min(disks.values(), key=lambda disk: disk.sequential_write_bytes_per_s)
    whose = f"the {len(disks)} disks" if len(disks) > 1 else f"disk {slowest.name}"
    for times in TIMES_AS_FAST:
        faster = partial(faster_each, disk_ids=tuple(disks), times=times)
        if all(can_have_devices(disk, times) for disk in disks.values()):
            devices = how_many(times * slowest.devices, "device")
            title = f"Make {whose} with checkpoints of {devices}, RAID {slowest.raid or '0'}"
        else:
            title = f"Make {whose} with checkpoints {times} times as fast"
        reached = times * slowest.sequential_write_bytes_per_s
        why = f"{format_bytes_per_s(reached)} each: checkpoints free the log sooner"
        yield Solution(title, why, faster, buys=True)
        speed = int(_DISK_SHARE * reached) // MIB * MIB
        if catalogue.knows("DB", name, plan.version) and speed > speed_limits(node_settings(plan)).ceiling:
            edit = together([faster, setting("data_node", name, speed)])
            words = f"{title}, and set {name} to {format_ndb_size(speed)}"
            yield Solution(words, f"{why} when they may", edit, buys=True)


def checkpoint_speed_parameter(plan: Plan) -> str:
    """The parameter that says how fast local checkpoints may write."""
    return "MaxDiskWriteSpeed" if plan.features.checkpoint_speed_by_parameters else "DiskCheckpointSpeed"


def _capacity(now: Estimation, disk_id: str, added: float) -> int:
    """With which a disk has room for so much more; what it has where that is enough."""
    space, has = now.disk_space.of(disk_id), now.plan.by_id[disk_id].capacity_bytes
    if space is None:
        return int(has)
    full = max((space.used_bytes.value + added) / (1 - ROOM_LEFT), space.memory_full_bytes.value + added)
    return max(int(has), int(rounded_up(full)))


def one_sided(now: Estimation, node: DataNode) -> str:
    """Why a log part has to hold more than its share of the node's log; empty: it has not.

    How many log files there must be is decided by the part that is written fastest, so a log that is
    spread over all parts needs fewer of them.
    """
    rates = [rate for _, rate in now.loads[node.node_id].redo_by_log_part if rate > 0]
    parts = redo_log_parts(node_settings(now.plan, node))
    if not rates or max(rates) * parts < _ONE_SIDED * sum(rates):
        return ""
    share = max(rates) / sum(rates)
    threads = ldm_threads(now.plan, node)
    written = ""
    if len(rates) < parts:
        written = f", as {len(rates)} of {parts} log parts {'is' if len(rates) == 1 else 'are'} written"
    more = f"; the node has {how_many(threads, 'LDM thread')}" if threads < parts else ""
    return (
        f". {format_percent(share)} of the node's log goes there{written}: spread evenly over all {parts} it "
        f"would need {format_percent(1 / parts / share)} of that{more}"
    )


def _longer(node: DataNode, files: int, wanted: int, used: float) -> tuple[str, Edit]:
    """A longer log, of which such a share is used."""
    name, needed = "NoOfFragmentLogFiles", math.ceil(wanted * used)
    words = f"raise {name} from {files} to {wanted}: {needed} are needed, the others are room {_RESTART}"
    return words, setting(scope_of(node, name), name, wanted)


def _most_files(now: Estimation, node: DataNode) -> int:
    """The most NoOfFragmentLogFiles for which the node's redo log still fits."""
    plan = now.plan
    files = node_settings(plan, node).number("NoOfFragmentLogFiles")
    disk = disk_for(plan, node, DiskRole.REDO)
    space = now.disk_space.of(disk.id) if disk is not None else None
    if disk is None or space is None:
        return files
    left = min(
        (1 - ROOM_LEFT) * disk.capacity_bytes - space.used_bytes.value,
        disk.capacity_bytes - space.memory_full_bytes.value,
    )
    # The setting holds for all nodes of the disk, as far as they do not state their own.
    together_here = len({one.node_id for one in space.files if one.role is DiskRole.REDO})
    each = redo_log_parts(node_settings(plan, node)) * node_settings(plan, node).number("FragmentLogFileSize")
    return files + max(0, int(left // max(1, each * together_here)))


def _faster(plan: Plan, node: DataNode) -> Iterator[tuple[str, Edit]]:
    """Checkpoints told to write faster, up to half of what their disk can write."""
    name = checkpoint_speed_parameter(plan)
    disk = disk_for(plan, node, DiskRole.LCP)
    if disk is None or not catalogue.knows("DB", name, plan.version):
        return
    speed = speed_limits(node_settings(plan, node)).ceiling
    fastest = _DISK_SHARE * disk.sequential_write_bytes_per_s
    step = 2 * speed
    while step <= fastest:
        rounded = max(MIB, int(step) // MIB * MIB)
        words = f"set {name} to {format_ndb_size(rounded)}, which disk {disk.name} can write"
        yield words, setting(scope_of(node, name), name, rounded)
        step *= 2


def usual_log(now: Estimation, files: Mapping[str, int], look: Look) -> WaysOut:
    """As many files as the usual advice has, by scope, for all nodes that have fewer; where they fit."""
    edit: Edit = together(setting(scope, "NoOfFragmentLogFiles", count) for scope, count in files.items())
    counts = " and ".join(str(count) for count in dict.fromkeys(files.values()))
    why = "for write-heavy loads; each node starts with --initial"
    way = Solution(f"Set NoOfFragmentLogFiles to {counts}", why, edit, asks=True)
    found = that_mend(look, now.plan, [way], "redo-log-and-memory")
    return WaysOut(found, "" if found else "larger disks: the redo log of the usual advice does not fit")
