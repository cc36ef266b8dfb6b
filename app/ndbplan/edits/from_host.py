"""Settings that a data node takes from its host: threads, memory, redo log, each with the reason.

    plan, chosen = with_settings_of(plan, node_id)
    [c.line for c in chosen]      # ["AutomaticThreadConfig 1: 8 LDM threads on the 32 cores of db-1", ...]

The one place that chooses them: for the first data node of a plan, and for the check that misses a thread
setting. Only what the plan does not state is chosen, and only where the version knows it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from ndbplan.base.resources import read_json
from ndbplan.base.units import format_bytes_binary, format_ndb_size, format_percent, how_many
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.settings import node_settings
from ndbplan.edits import validated
from ndbplan.edits.parameters import put_origin, set_parameter, stated_at
from ndbplan.edits.solutions import memory_size_within
from ndbplan.edits.validated import EditError
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.threads.layout import ThreadCounts, thread_counts
from ndbplan.plan.hardware import Disk, Host
from ndbplan.plan.origins import Origin, SetByProgram
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole

RULE = "from-host"
"""By which origins of parameters name it."""
THREAD_SETTINGS = ("ThreadConfig", "MaxNoOfExecutionThreads", "AutomaticThreadConfig", "NumCPUs")
_DECIDING_THREADS = frozenset(THREAD_SETTINGS)
CHOSEN = (
    "AutomaticThreadConfig", "NumCPUs", "MaxNoOfExecutionThreads", "NoOfFragmentLogParts", "IndexMemory",
    "DataMemory", "ODirect", "FragmentLogFileSize", "NoOfFragmentLogFiles", "RedoBuffer", "StopOnError",
)  # fmt: skip
"""What is chosen here, where the version knows it."""
LOG_PARTS = (4, 6, 8, 10, 12, 16, 20, 24, 32)
"""Values that NoOfFragmentLogParts takes."""
_FEWEST_FILES = 3
_OF_THE_SYSTEM = 0.10
"""Share of the memory of a host that the system and its file cache need."""
_MOST_EXECUTION_THREADS = 72
_MOST_ROUNDS = 4
"""Of deciding again: what holds for all and what a node has of its own build on one another."""


@dataclass(frozen=True)
class Chosen:
    """A setting that follows from the host, and why it is this one."""

    name: str
    value: int
    reason: str

    @property
    def line(self) -> str:
        """`DataMemory 32G: half of the 64 GiB of db-1`."""
        return f"{self.words}: {self.reason}"

    @property
    def words(self) -> str:
        """`DataMemory 32G`."""
        is_size = catalogue.parameter("DB", self.name).unit == "bytes"
        return f"{self.name} {format_ndb_size(self.value) if is_size else self.value}"


@cache
def default_of(name: str) -> float:
    """A number of node_defaults.json. KeyError when there is none."""
    values = {row["name"]: row["value"] for row in read_json("ndb/node_defaults.json")["values"]}
    return float(values[name])


def with_settings_of(plan: Plan, process_id: str) -> tuple[Plan, tuple[Chosen, ...]]:
    """The plan with what its first data node takes from its host for all of them, and what that was.

    Nothing for a second data node: what the first one has holds for it too; nothing before 8.x.
    """
    node = plan.by_id[process_id]
    if not isinstance(node, DataNode) or len(plan.data_nodes) != 1 or not plan.features.automatic_threads:
        return plan, ()
    return chosen_for(plan, node)


def chosen_for(plan: Plan, node: DataNode) -> tuple[Plan, tuple[Chosen, ...]]:
    """The plan with what one data node takes from its host for all of them, in any version; what that was."""
    stated = {name.lower() for name in plan.parameters.data_node}
    done: list[Chosen] = []
    for choose in _CHOICES:
        for chosen in choose(plan, node):
            is_known = catalogue.knows("DB", chosen.name, plan.version)
            if is_known and not stated & _decided_by(chosen.name):
                plan, done = _with(plan, chosen), [*done, chosen]
    return plan, tuple(done)


def handed_over(plan: Plan, name: str, node_id: str | None = None) -> Plan:
    """The plan in which the smallest host decides on a parameter of all data nodes, again when it changes.

    `node_id`: a data node whose own host decides, for this node alone. Raises EditError where there is no way
    to decide.
    """
    if name not in CHOSEN:
        fix = f"it decides on {', '.join(CHOSEN)} of data nodes"
        raise EditError(f"the program has no way to decide on {name}", fix=fix)
    if not catalogue.knows("DB", name, plan.version):
        raise EditError(f"NDB {plan.ndb_version} has no {name}", fix="choose another version")
    if not plan.data_nodes:
        raise EditError(f"{name} follows from hosts of data nodes", fix="add a data node first")
    scope = node_id or "data_node"
    stated = _stated_for(plan, scope) - {name.lower()}
    decides = next((one for one in THREAD_SETTINGS[:-1] if one.lower() in stated & _decided_by(name)), None)
    if decides is not None and name in THREAD_SETTINGS[:-1]:
        raise EditError(f"{decides} decides on the threads", fix=f"take {decides} out first")
    chosen = _wanted(plan, {name, *_ours(plan, scope)}, scope).get(name)
    if chosen is not None:
        # What was stated before is given up with it: nothing comes back to that.
        return settled_anew(_with(set_parameter(plan, scope, name, None), chosen, scope))
    raise EditError(f"the hosts ask for no other {name} than the default", fix="leave it out")


def _deciding(plan: Plan, scope: str) -> DataNode:
    """The data node whose host decides: the node itself, or the one with the smallest host. EditError."""
    if scope == "data_node":
        return _smallest(plan)
    node = plan.by_id[scope]
    if not isinstance(node, DataNode):
        raise EditError(f"{scope} is not a data node", fix="name a data node")
    return node


def _stated_for(plan: Plan, scope: str) -> set[str]:
    """What is stated that holds at a scope, in small letters."""
    own = () if scope == "data_node" else stated_at(plan, scope)[0]
    return {name.lower() for name in (*plan.parameters.data_node, *own)}


def _without(plan: Plan, scope: str, names: Iterable[str]) -> Plan:
    """The plan in which parameters are stated neither at a scope nor for all: what a host decides anew."""
    for name in names:
        for one in {scope, "data_node"}:
            plan = set_parameter(plan, one, name, None)
    return plan


def _smallest(plan: Plan) -> DataNode:
    """The data node with the smallest host, or share of one, which what holds for all has to suit."""
    return min(plan.data_nodes, key=lambda one: _size_of(plan, plan.host(one.host_id)))


def settled_anew(plan: Plan) -> Plan:
    """The plan in which what was taken from a host is what the smallest host of a data node gives now.

    What was taken for one node follows its own host. Reasons are those of now too: a value can stay while the
    host it is said to follow is another.
    """
    for _ in range(_MOST_ROUNDS):
        before = plan
        for scope in ("data_node", *(node.id for node in plan.data_nodes if node.origins)):
            plan = _settled(plan, scope)
        if plan is before:
            break
    return plan


def _ours(plan: Plan, scope: str) -> set[str]:
    """What was taken from a host at a scope."""
    return {name for name, origin in stated_at(plan, scope)[1].items() if _is_ours(origin)}


def _settled(plan: Plan, scope: str) -> Plan:
    stated, origins = stated_at(plan, scope)
    ours = _ours(plan, scope)
    if not ours or not plan.data_nodes:
        return plan
    wanted = _wanted(plan, ours, scope)
    for name, chosen in wanted.items():
        origin = origins.get(name)
        if stated.get(name) != chosen.value:
            plan = _with(plan, chosen, scope)
        elif isinstance(origin, SetByProgram) and origin.reason != chosen.reason:
            plan = put_origin(plan, scope, name, validated.changed(origin, reason=chosen.reason))
    for name in sorted(ours - wanted.keys()):
        usual = _usual(plan, name, ours)
        plan = set_parameter(plan, scope, name, None) if usual is None else _with(plan, usual, scope)
    return plan


def _usual(plan: Plan, name: str, ours: Collection[str]) -> Chosen | None:
    """The default, stated so that the hosts go on deciding; None where another means decides, or none."""
    beside = name == "NumCPUs" and "AutomaticThreadConfig" not in ours
    if not (name in ("DataMemory", "ODirect") or beside) or not catalogue.knows("DB", name, plan.version):
        return None
    value = catalogue.default("DB", name, plan.version)
    return (
        Chosen(name, value, "the default, until the hosts ask for more") if isinstance(value, int) else None
    )


def _wanted(plan: Plan, ours: set[str], scope: str) -> dict[str, Chosen]:
    """What the host that decides gives for parameters that were taken from one, by name."""
    bare = _without(plan, scope, ours)
    node = _deciding(bare, scope)
    wanted: dict[str, Chosen] = {}
    stated = _stated_for(bare, scope)
    others = _other_means(bare, node, ours) - stated
    for choose in _CHOICES:
        for chosen in choose(bare, node):
            # NumCPUs says something beside AutomaticThreadConfig only.
            counts = chosen.name == "NumCPUs" and "AutomaticThreadConfig" in wanted
            beside = chosen.name == "IndexMemory" and "DataMemory" in ours
            goes_along = counts or beside or (choose is _threads and chosen.name.lower() in others)
            if chosen.name in ours or (goes_along and chosen.name.lower() not in stated):
                wanted[chosen.name] = chosen
                bare = _with(bare, chosen, scope)
    return wanted


def _other_means(plan: Plan, node: DataNode, ours: set[str]) -> set[str]:
    """What decides on threads in this version, where another one had other means for it; in small letters."""
    names = {chosen.name for chosen in thread_setting(plan, node)}
    used = ours & _DECIDING_THREADS
    return {name.lower() for name in names} if used and not used & names else set()


def _is_ours(origin: Origin) -> bool:
    return isinstance(origin, SetByProgram) and origin.rule == RULE


def _size_of(plan: Plan, host: Host) -> tuple[float, float]:
    """Memory and cores that a host has for each of its data nodes."""
    nodes = len(_data_nodes_on(plan, host))
    return host.memory_bytes / nodes, host.cores / nodes


def _decided_by(name: str) -> set[str]:
    """Parameters, in small letters, each of which decides what this one would: stated, it is not chosen."""
    return {one.lower() for one in (THREAD_SETTINGS if name in THREAD_SETTINGS[:-1] else (name,))}


def _with(plan: Plan, chosen: Chosen, scope: str = "data_node") -> Plan:
    origin = SetByProgram(rule=RULE, reason=chosen.reason)
    return set_parameter(plan, scope, chosen.name, chosen.value, origin)


def thread_setting(plan: Plan, node: DataNode) -> tuple[Chosen, ...]:
    """What lets a data node use the cores of its host; nothing where no setting of the version does."""
    host = plan.host(node.host_id)
    beside = [p for p in plan.processes_of_host[host.id] if p.kind in ("data", "sql") and p.id != node.id]
    cores = max(1, host.cores // (1 + len(beside)))
    mine = f"{cores} of the" if beside else "the"
    there = f"{mine} {how_many(host.cores, 'core')} of {host.hostname}"
    if plan.features.automatic_threads:
        counts = thread_counts(plan.version, {"AutomaticThreadConfig": 1, "NumCPUs": cores}, cores)
        automatic = Chosen("AutomaticThreadConfig", 1, f"{_ldm(counts)} on {there}")
        if not beside:
            return (automatic,)
        shared = f"{how_many(len(beside), 'other node')} there need theirs"
        return (automatic, Chosen("NumCPUs", cores, shared))
    name = "MaxNoOfExecutionThreads"
    if not plan.features.multithreaded_node or not catalogue.knows("DB", name, plan.version):
        return ()
    most = min(cores, _MOST_EXECUTION_THREADS, plan.features.execution_threads_most)
    counts = thread_counts(plan.version, {name: most}, cores)
    chosen = Chosen(name, most, f"{_ldm(counts)} on {there}")
    parts = next((p for p in LOG_PARTS if p >= counts.ldm_instances and p % counts.ldm_instances == 0), None)
    have = node_settings(plan, node).number("NoOfFragmentLogParts")
    if parts is None or parts == have or not catalogue.knows("DB", "NoOfFragmentLogParts", plan.version):
        return (chosen,)
    return (chosen, Chosen("NoOfFragmentLogParts", parts, "each LDM thread has a log part of its own"))


def memory_alone(plan: Plan, node: DataNode) -> Chosen | None:
    """DataMemory of a host that has data nodes alone; None: no more than the default."""
    return next((one for one in _memory(plan, node, alone=True) if one.name == "DataMemory"), None)


def _ldm(counts: ThreadCounts) -> str:
    return how_many(counts.ldm_instances, "LDM thread")


_BUFFERS = ("DiskPageBufferMemory", "SharedGlobalMemory")
"""Taken beside DataMemory, as large as they are stated."""


def _memory(plan: Plan, node: DataNode, *, alone: bool = False) -> Iterator[Chosen]:
    host, settings = plan.host(node.host_id), node_settings(plan, node)
    nodes = len(_data_nodes_on(plan, host))
    part = default_of("data_memory_share_alone" if alone else "data_memory_share")
    share = host.memory_bytes / nodes * part
    of_cores = host.cores / nodes * default_of("other_memory_bytes_per_core")
    room = (
        host.memory_bytes / nodes * (1 - _OF_THE_SYSTEM)
        - default_of("other_memory_bytes") - of_cores
        - sum(settings.number(name) for name in _BUFFERS if alone and settings.states(name))
    )  # fmt: skip
    # Taken beside DataMemory: by hash indexes before 7.6, and added to it later.
    of_index = settings.number("IndexMemory") if settings.states("IndexMemory") else 0
    if not plan.features.index_memory_joined and not settings.states("IndexMemory"):
        beside = default_of("index_memory_share")
        of_index = memory_size_within(min(share, room) * beside / (1 + beside))
        if of_index > settings.number("IndexMemory"):
            reason = f"hash indexes lie beside DataMemory: {beside * 100:g} % of it"
            yield Chosen("IndexMemory", of_index, reason)
    share, room = share - of_index, room - of_index
    disk = disk_for(plan, node, DiskRole.LCP)
    capacity = math.inf if disk is None else _capacity_of_each(plan, host, disk, DiskRole.LCP)
    on_disk = default_of("data_memory_disk_share") * capacity
    size = memory_size_within(min(share, room, on_disk))
    if size <= settings.number("DataMemory"):
        if settings.states("DataMemory") and settings.number("DataMemory") > share:
            # More than the host would give, as tables asked for it.
            yield from _past_the_file_cache(plan)
        return
    of = f"of the {format_bytes_binary(host.memory_bytes)} of {host.hostname}"
    of += f", shared by {how_many(nodes, 'data node')}" if nodes > 1 else ""
    taken = format_percent(part) if alone else "half"
    reason = (
        f"{taken} {of}"
        if share <= room
        else f"what other buffers for {how_many(host.cores, 'core')} leave {of}"
    )
    reason += f", without the {format_ndb_size(of_index)} of IndexMemory" if of_index else ""
    if disk is not None and on_disk < min(share, room):
        reason = f"what checkpoints, logs and a backup of it leave room for on {disk.name} of {host.hostname}"
    yield Chosen("DataMemory", size, reason)
    yield from _past_the_file_cache(plan)


def _past_the_file_cache(plan: Plan) -> Iterator[Chosen]:
    if catalogue.knows("DB", "ODirect", plan.version):
        yield Chosen("ODirect", 1, "checkpoints of so much memory would flood the file cache")


def _data_nodes_on(plan: Plan, host: Host) -> list[DataNode]:
    """The data nodes that share a host."""
    return [one for one in plan.processes_of_host[host.id] if isinstance(one, DataNode)]


def _capacity_of_each(plan: Plan, host: Host, disk: Disk, role: DiskRole) -> float:
    """What a data node has of a disk that others of its host use in the same role."""
    users = sum(disk_for(plan, one, role) == disk for one in _data_nodes_on(plan, host))
    return disk.capacity_bytes / max(1, users)


def _redo(plan: Plan, node: DataNode) -> Iterator[Chosen]:
    """A redo log for the memory, of files and parts that heavy writes can do with, within its disk."""
    settings = node_settings(plan, node)
    host, disk = plan.host(node.host_id), disk_for(plan, node, DiskRole.REDO)
    values = {name: settings.value(name) for name in THREAD_SETTINGS}
    ldm = thread_counts(plan.version, values, host.cores).ldm_instances
    parts = next((p for p in LOG_PARTS if p >= ldm), LOG_PARTS[-1])
    writers = f"{ldm} LDM threads write" if ldm > 1 else "one LDM thread writes"
    yield Chosen("NoOfFragmentLogParts", parts, f"{writers} to them at once")
    file_bytes = int(default_of("redo_file_bytes"))
    wanted = settings.number("DataMemory") * default_of("redo_share")
    if disk is not None:
        capacity = _capacity_of_each(plan, host, disk, DiskRole.REDO)
        wanted = min(wanted, capacity * default_of("redo_disk_share"))
    files = max(_FEWEST_FILES, math.floor(wanted / (parts * file_bytes)))
    size = format_bytes_binary(files * parts * file_bytes)
    yield Chosen("FragmentLogFileSize", file_bytes, "files of this size change rarely under heavy writes")
    yield Chosen("NoOfFragmentLogFiles", files, f"a redo log of {size} for DataMemory")
    yield Chosen("RedoBuffer", int(default_of("redo_buffer_bytes")), "bursts wait there, not in the clients")


def _threads(plan: Plan, node: DataNode) -> Iterator[Chosen]:
    yield from thread_setting(plan, node)


def _comes_back(_plan: Plan, _node: DataNode) -> Iterator[Chosen]:
    """Whatever its host: by default a node that fails ends like one that is stopped, and stays down."""
    yield Chosen("StopOnError", 0, "a node that fails comes back by itself, one that is stopped stays down")


_CHOICES = (_threads, _memory, _redo, _comes_back)
"""In the order in which one builds on another."""


def without_settings(plan: Plan, chosen: Iterable[Chosen]) -> Plan:
    """The plan with what was chosen back at the product's defaults."""
    for one in chosen:
        if plan.parameters.data_node.get(one.name) == one.value:
            plan = set_parameter(plan, "data_node", one.name, None)
    return plan
