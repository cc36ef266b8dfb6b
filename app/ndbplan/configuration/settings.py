"""Which value a configuration parameter has for a node: its own, the cluster's, or the version's default.

node_settings(plan, node).number("RedoBuffer")         # bytes, as the product takes it
node_settings(plan).states("ODirect")                  # of all data nodes: whether the plan says so
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.base.units import KIB, MIB
from ndbplan.configuration.stated import SECTIONS, Fate, readings, with_twins
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.features import Features, features
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import NO_PARAMETERS, Parameters
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, Link, ManagementNode, Process


class NodeSettings:
    """The values that hold for one node, as the product takes them; one object for all nodes that agree.

    A stated value that ndb_mgmd of the version refuses or does not know counts as not stated: checks name
    it and offer to take it away; everything else can still be computed, with the numbers that come out then.
    """

    __slots__ = ("_names", "_parts", "_values", "section", "stated", "version")

    def __init__(
        self,
        section: str,
        stated: Mapping[str, int | str],
        version: NdbVersion,
        names: frozenset[str] | None = None,
    ) -> None:
        self.section = section
        """Of the catalogue: DB, MGM, API, TCP, SHM or SYSTEM."""
        self.stated = stated
        """What the plan says and ndb_mgmd takes, by the manual's names."""
        self.version = version
        self._values: dict[str, int | str | None] = with_twins(section, dict(stated), version)
        self._parts: dict[frozenset[str], NodeSettings] = {}
        self._names = names
        """The parameters that may be asked for; None: all."""

    @property
    def features(self) -> Features:
        """What the version does."""
        return features(self.version)

    def value(self, name: str) -> int | str | None:
        """The value, the version's default included; None for none. KeyError for a name no version has.

        For a version that lacks the parameter: what it does instead, as the catalogue says.
        """
        try:
            return self._values[name]
        except KeyError:
            if self._names is not None and name not in self._names:
                raise AssertionError(f"{name} is not among the parameters that are looked at here") from None
            value = self._values[name] = catalogue.default(self.section, name, self.version)
            return value

    def number(self, name: str) -> int:
        """Value of a numeric parameter (bytes, count, flag as 0 or 1); 0 when there is none."""
        value = self.value(name)
        return value if isinstance(value, int) else 0

    def text(self, name: str) -> str:
        """Value of a text parameter; empty when there is none."""
        value = self.value(name)
        return "" if value is None else str(value)

    def states(self, name: str) -> bool:
        """Whether the plan states the parameter, for the node or for all of its kind, so that it counts."""
        return name in self.stated

    def only(self, names: frozenset[str]) -> NodeSettings:
        """The same with no other parameters than these: one object for all that agree in them."""
        part = self._parts.get(names)
        if part is None:
            used = tuple((name, self.stated[name]) for name in sorted(names) if name in self.stated)
            part = self._parts[names] = _shared_object(self.section, used, self.version, names)
        return part


@kept_by_value(1024)
def _shared_object(
    section: str,
    stated: tuple[tuple[str, int | str], ...],
    version: NdbVersion,
    names: frozenset[str] | None = None,
) -> NodeSettings:
    return NodeSettings(section, dict(stated), version, names)


@kept_by_identity(size=2048)
def settings_from(section: str, shared: Parameters, own: Parameters, ndb_version: str) -> NodeSettings:
    """What holds where a kind of node has the parameters `shared` and one of them its `own` beside them."""
    values: dict[str, int | str] = {}
    for parameters in (shared, own):
        for reading in readings(section, parameters, ndb_version) if parameters else ():
            if reading.fate is Fate.COUNTS:
                values[reading.name] = reading.value
            elif reading.fate is Fate.REFUSED:
                values.pop(reading.name, None)
    version = NdbVersion.parse(ndb_version)
    return _shared_object(section, tuple((name, values[name]) for name in sorted(values)), version)


def node_settings(plan: Plan, process: Process | None = None) -> NodeSettings:
    """What holds for a process; without one: for data nodes that state nothing of their own."""
    if process is None:
        return settings_from("DB", plan.parameters.data_node, NO_PARAMETERS, plan.ndb_version)
    shared = parameters_of_kind(plan, process)
    own = process.parameters or NO_PARAMETERS
    return settings_from(SECTIONS[process.kind], shared, own, plan.ndb_version)


def connection_settings(plan: Plan, link: Link | None = None) -> NodeSettings:
    """What holds for a connection with settings of its own; without one: for TCP connections without."""
    if link is None:
        return settings_from("TCP", plan.parameters.tcp, NO_PARAMETERS, plan.ndb_version)
    shared = plan.parameters.tcp if link.kind == "tcp" else plan.parameters.shm
    return settings_from(link.kind.upper(), shared, link.parameters or NO_PARAMETERS, plan.ndb_version)


@kept_by_identity(size=16)
def settings_by_node(plan: Plan) -> Mapping[int, NodeSettings]:
    """What holds for every data node, by node id; nodes that agree share one object."""
    return {node.node_id: node_settings(plan, node) for node in plan.data_nodes}


def parameters_of_kind(plan: Plan, process: Process) -> Parameters:
    """What the plan states for all nodes of the kind of this process."""
    if isinstance(process, DataNode):
        return plan.parameters.data_node
    if isinstance(process, ManagementNode):
        return plan.parameters.management
    return plan.parameters.sql


@dataclass(frozen=True)
class NodesAlike:
    """Data nodes that have the same parameters of their own, and what holds for them."""

    plan: Plan
    nodes: tuple[DataNode, ...]
    shared: bool
    """Whether they have no parameters of their own."""
    settings: NodeSettings

    @property
    def where(self) -> str:
        """The place in words."""
        return ALL_DATA_NODES if self._is_cluster else data_nodes_named(self.nodes)

    @property
    def object_ids(self) -> tuple[str, ...]:
        """The nodes; none when the setting is the cluster's."""
        return () if self._is_cluster else tuple(node.id for node in self.nodes)

    @property
    def _is_cluster(self) -> bool:
        return self.shared and len(self.nodes) == len(self.plan.data_nodes)

    def scope_of(self, name: str) -> str:
        """Where an edit changes the parameter: the node that sets it itself, else all data nodes."""
        return scope_of(self.nodes[0] if self.nodes else None, name)


ALL_DATA_NODES = "all data nodes"


def data_nodes_named(nodes: Sequence[DataNode]) -> str:
    """Some data nodes in words, the first four by their ids."""
    ids = ", ".join(str(node.node_id) for node in nodes[:4])
    return f"data node{'s' if len(nodes) > 1 else ''} {ids}{' …' if len(nodes) > 4 else ''}"


def scope_of(node: DataNode | ManagementNode | None, name: str) -> str:
    """Where an edit changes a parameter of a node: the node that sets it itself, else all of its kind."""
    if node is not None and name.lower() in (each.lower() for each in node.parameters):
        return node.id
    return "management" if isinstance(node, ManagementNode) else "data_node"


def nodes_alike_in(plan: Plan, *names: str) -> tuple[NodesAlike, ...]:
    """The same by what they state of some parameters alone: others make no difference."""
    wanted = {name.lower() for name in names}
    groups: dict[object, list[DataNode]] = {}
    for alike in nodes_alike(plan):
        own = alike.nodes[0].parameters.items() if alike.nodes else ()
        key = tuple(sorted(((n.lower(), v) for n, v in own if n.lower() in wanted), key=str))
        groups.setdefault(key, []).extend(alike.nodes)
    return tuple(
        NodesAlike(plan, tuple(nodes), key == (), node_settings(plan, *nodes[:1]))
        for key, nodes in sorted(groups.items(), key=lambda item: item[0] != ())
    )


@kept_by_identity(size=4)
def nodes_alike(plan: Plan) -> tuple[NodesAlike, ...]:
    """The data nodes by what they state themselves, those that state nothing first.

    A plan without data nodes has one group without nodes: what would hold for them.
    """
    groups: dict[object, list[DataNode]] = {}
    for node in plan.data_nodes:
        groups.setdefault(tuple(sorted(node.parameters.items(), key=str)), []).append(node)
    if not groups:
        return (NodesAlike(plan, (), True, node_settings(plan)),)
    return tuple(
        NodesAlike(plan, tuple(nodes), key == (), node_settings(plan, nodes[0]))
        for key, nodes in sorted(groups.items(), key=lambda item: item[0] != ())
    )


def no_of_replicas(plan: Plan) -> int:
    """NoOfReplicas: copies of every row, and members of a node group."""
    return replicas_of(node_settings(plan))


def is_diskless(settings: NodeSettings) -> bool:
    """Whether the node writes no files: Diskless; up to 7.4 Discless sets it."""
    return bool(settings.number("Diskless"))


def replicas_of(settings: NodeSettings) -> int:
    """The same of the settings that hold for all data nodes."""
    return max(1, settings.number("NoOfReplicas"))


def usable_data_memory(settings: NodeSettings) -> float:
    """Share of DataMemory, and of IndexMemory up to 7.5, that rows can fill: MinFreePct is kept for restarts
    (reference manual; 7.4.10 refuses rows at 94 to 95 % of either, with 827 and 625)."""
    return 1 - settings.number("MinFreePct") / 100


INDEX_MEMORY_OF_LDM_BYTES = 256 * KIB
"""What each LDM thread adds to IndexMemory (`ALL REPORT MemoryUsage` of 7.4.10: 2,368 pages of 8 KiB with
IndexMemory 18M and two LDM threads)."""


def index_memory_bytes(settings: NodeSettings, ldm_instances: int) -> int:
    """IndexMemory as a data node allocates it; 0 where it is 0, as by default from 7.6 on."""
    own = settings.number("IndexMemory")
    return own + INDEX_MEMORY_OF_LDM_BYTES * ldm_instances if own else 0


def redo_buffer_bytes(settings: NodeSettings) -> int:
    """RedoBuffer of one log part, rounded up to 512 KiB as the product does."""
    step = MIB // 2
    return -(-settings.number("RedoBuffer") // step) * step


def redo_log_parts(settings: NodeSettings) -> int:
    """NoOfFragmentLogParts: log parts of a data node."""
    return max(1, settings.number("NoOfFragmentLogParts"))


def redo_buffers(settings: NodeSettings, ldm_instances: int) -> int:
    """How many redo buffers a data node has: one for each log part, before 8.0.23 for each LDM instance."""
    return redo_log_parts(settings) if settings.features.redo_buffer_of_log_part else ldm_instances
