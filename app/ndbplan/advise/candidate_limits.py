"""Changes that may lift what limits a load: remedies try them, and all are single changes of the plan.

for change in lifting(plan, workload, found.limited_by):
    change.title, change.edit(plan)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ndbplan.advise.candidate import Change
from ndbplan.base.errors import UserError
from ndbplan.base.units import GIB, MIB, format_bytes_per_s, format_ndb_size
from ndbplan.checks.layouts import Layout, layouts
from ndbplan.checks.unwise.disks import MANY_FILES
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.settings import node_settings, redo_buffer_bytes
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.solutions import faster_disks, faster_network, more_cores, more_space, set_everywhere
from ndbplan.edits.steps import FEW, TIMES
from ndbplan.plan.hardware import Disk, RaidLevel
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.workloads import Workload

if TYPE_CHECKING:
    from ndbplan.simulate.bottleneck import Bottleneck

_LARGER = (4.0, 2.0, 1.5, 1.25)
"""Times what there is, of memory and files: most first."""
_LARGE = 64 * GIB
"""From here on a size is one of whole GiB."""
_LAYOUTS_SIMULATED = 3
"""Layouts of each number of disks that are simulated: those whose busiest disk has least to do."""
_LAYOUTS_ESTIMATED = 60
_FILE_BYTES = 256 * MIB
"""Of a redo log file that holds large transactions. Judgement."""
ADD_GROUP = Change("Add a node group", add_node_group, "group")
FASTER_NETWORK = Change("Network links ten times as fast", faster_network, "network")
_MORE_CORES = Change("Twice as many cores", more_cores, "cores")


def lifting(plan: Plan, workload: Workload, limit: Bottleneck) -> Iterator[Change]:
    """What may lift a limit, the surest first: nodes and layouts, then disks and links, then parameters."""
    resource = limit.resource
    yield ADD_GROUP
    yield from ranked_layouts(plan, workload)
    yield from _faster_disks(plan, limit)
    if resource == "network":
        yield FASTER_NETWORK
    if resource == "disk reads":
        yield from _times_each(plan, "DiskPageBufferMemory", "pages")
    yield from more_room(plan, resource)
    if resource in ("sql nodes", "api nodes", "cpu"):
        yield _MORE_CORES
    yield from _of_parameters(plan, limit.resource)


def more_room(plan: Plan, resource: str, factors: Sequence[float] = _LARGER) -> Iterator[Change]:
    """Room for the rows that come, most first; nothing where they do not end the time."""
    if resource == "memory":
        yield from _times_each(plan, "DataMemory", "memory", factors)
        if not plan.features.index_memory_joined:
            yield from _times_each(plan, "IndexMemory", "index memory", factors)
    elif resource == "tablespace":
        for factor in factors:
            title = f"{factor:g} x as much space in data files"
            edit = partial(more_space, factor=factor, most_files=MANY_FILES)
            yield Change(title, edit, "disk", one_of="data files")


def _times_each(plan: Plan, name: str, one_of: str, factors: Sequence[float] = _LARGER) -> Iterator[Change]:
    """A size several times what it is, most first."""
    now = node_settings(plan).number(name)
    for factor in factors:
        size = int(now * factor)
        size -= size % (GIB if size >= _LARGE else MIB)
        title = f"{name} {factor:g} x ({format_ndb_size(size)})"
        edit = partial(set_everywhere, name=name, value=size)
        yield Change(title, edit, "parameter", one_of=one_of)


def ranked_layouts(plan: Plan, workload: Workload) -> Iterator[Change]:
    """The layouts whose busiest disk has least to do, by the number of disks they take."""
    from ndbplan.estimate.estimation import Estimation

    judged: dict[int, list[tuple[float, int, Layout]]] = {}
    for i, layout in enumerate(layouts(plan)):
        if i >= _LAYOUTS_ESTIMATED:
            break
        try:
            demand = Estimation(layout.edit(plan), workload).disks
        except UserError:
            continue
        busiest = max((each.utilisation.value for each in demand.disks), default=0.0)
        judged.setdefault(layout.more_disks, []).append((busiest, i, layout))
    for _more, each in sorted(judged.items()):
        for _busiest, _i, layout in sorted(each, key=lambda ranked: ranked[:2])[:_LAYOUTS_SIMULATED]:
            yield Change(layout.title, layout.edit, "role", more_disks=layout.more_disks)


def _faster_disks(plan: Plan, limit: Bottleneck) -> Iterator[Change]:
    nodes = [n for n in plan.data_nodes if disk_for(plan, n, DiskRole.REDO) is not None]
    if not nodes:
        return
    disk = disk_for(plan, nodes[0], DiskRole.REDO)
    assert disk is not None
    twice = format_bytes_per_s(2 * disk.sequential_write_bytes_per_s)
    redo = Change(f"Redo disks {_twice(disk)} ({twice})", partial(faster_disks, role=DiskRole.REDO), "disk")
    if limit.resource != "disk reads":
        yield redo
    for role in (DiskRole.LCP, DiskRole.UNDO, DiskRole.DATA_FILES):
        limiting = any(
            (other := disk_for(plan, node, role)) is not None
            and other is not disk_for(plan, node, DiskRole.REDO)
            and (other.id in limit.object_ids or limit.resource == "disk reads")
            for node in nodes
        )
        if limiting or (limit.resource == "disk reads" and role is DiskRole.DATA_FILES):
            name = {"lcp": "checkpoints", "undo": "the undo log"}.get(role.value, "the data files")
            other = disk_for(plan, nodes[0], role)
            title = f"Disks of {name} {_twice(other) if other is not None else 'twice as fast'}"
            yield Change(title, partial(faster_disks, role=role), "disk")
    if limit.resource == "disk reads":
        yield redo


def _twice(disk: Disk) -> str:
    """How a disk becomes twice as fast."""
    if disk.raid in (None, RaidLevel.STRIPED, RaidLevel.STRIPED_MIRRORS):
        return f"of {2 * disk.devices} devices each, RAID {(disk.raid or RaidLevel.STRIPED).value}"
    return "twice as fast"


def _of_parameters(plan: Plan, resource: str) -> Iterator[Change]:
    settings = node_settings(plan)
    if resource == "redo files" or settings.number("FragmentLogFileSize") < 64 * MIB:
        yield from _larger_redo_files(plan)
    if resource == "redo log":
        yield _twice_the_log(plan)
    name = "MinDiskWriteSpeed" if plan.features.checkpoint_speed_by_parameters else "DiskCheckpointSpeed"
    speed = settings.number(name)
    if resource == "disk" and speed > 2 * MIB:
        title = f"{name} at half ({format_ndb_size(speed // 2)})"
        yield _set(title, name, speed // 2, only_holds_back=True)
    if resource == "redo log" and plan.features.checkpoint_speed_by_parameters:
        speed = 2 * settings.number("MaxDiskWriteSpeed")
        yield _set(f"MaxDiskWriteSpeed doubled ({format_ndb_size(speed)})", "MaxDiskWriteSpeed", speed)
    buffer = 2 * redo_buffer_bytes(settings)
    title = f"RedoBuffer doubled ({format_ndb_size(buffer)})"
    yield _set(title, "RedoBuffer", buffer, only_holds_back=True)


def _twice_the_log(plan: Plan) -> Change:
    files = 2 * node_settings(plan).number("NoOfFragmentLogFiles")
    title = f"Twice as much redo log ({files} files)"
    return _set(title, "NoOfFragmentLogFiles", files, only_holds_back=True)


def _set(title: str, name: str, value: int, *, only_holds_back: bool = False) -> Change:
    edit = partial(set_everywhere, name=name, value=value)
    return Change(title, edit, "parameter", only_holds_back=only_holds_back)


def _larger_redo_files(plan: Plan) -> Iterator[Change]:
    """The same redo log in files of a size that takes more than one transaction."""
    settings = node_settings(plan)
    whole = settings.number("NoOfFragmentLogFiles") * settings.number("FragmentLogFileSize")

    def edit(plan: Plan) -> Plan:
        larger = set_everywhere(plan, "FragmentLogFileSize", _FILE_BYTES)
        return set_everywhere(larger, "NoOfFragmentLogFiles", max(3, whole // _FILE_BYTES))

    yield Change("Redo log files of 256 MiB", edit, "parameter")


def further(plan: Plan) -> Iterator[Change]:
    """What lifts a limit and no step of `single_changes` reaches: larger steps, several fields at once.

    Not the layouts that take more than one disk.
    """
    settings = node_settings(plan)
    files = settings.number("NoOfFragmentLogFiles")
    if settings.number("FragmentLogFileSize") != _FILE_BYTES:
        yield from _larger_redo_files(plan)
    if files <= FEW:
        yield _twice_the_log(plan)
    larger = [factor for factor in _LARGER if factor != TIMES]
    yield from more_room(plan, "memory", larger)
    if plan.tablespaces:
        yield from more_room(plan, "tablespace", larger)
        yield from _times_each(plan, "DiskPageBufferMemory", "pages", larger)
    kinds = {process.kind for process in plan.processes if process.host_id is not None}
    if "data" in kinds and kinds & {"sql", "api"}:
        yield _MORE_CORES
