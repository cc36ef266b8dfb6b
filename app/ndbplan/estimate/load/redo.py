"""The redo log: bytes of operations, rate of each node and log part, size of the log, time until it is full.

redo(machines, loads, operations_of(tables, workload, version)).time_to_full_s

Source: engine model 3.1 to 3.4 (Dblqh::writeLogHeader, writeCommitLog); constants by name in
resources/ndb/constants.json.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ndbplan.base.kept import kept_by_identity
from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import Shape
from ndbplan.configuration.settings import NodeSettings
from ndbplan.estimate.constants import Constants
from ndbplan.estimate.load.demand import NodeLoad
from ndbplan.estimate.load.log_records import operation_redo
from ndbplan.estimate.load.node_settings import KEPT_NODES, NODE_SETTINGS
from ndbplan.estimate.storage.machines import Machines
from ndbplan.ndb.features import Features
from ndbplan.ndb.nearness import Nearness
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind, Workload

_LEAST_RATE = 1e-3
"""A log part written slower, in bytes per second, never fills."""
_NEVER_SEEN = 10
"""How many times as long a log part lasts at most that may get nothing at all: a range needs an end."""


@dataclass(frozen=True, slots=True)
class OperationRedo(Shape):
    """Log bytes of one operation of a workload."""

    JSON = "workload table operation bytes_per_replica"

    workload: str
    transaction: str
    table: str
    operation: str
    bytes_per_replica: Quantity


@dataclass(frozen=True, slots=True)
class NodeRedo(Shape):
    """Redo log of one data node."""

    JSON = (
        "node_id device_bytes_per_s hottest_part hottest_part_bytes_per_s log_bytes_per_part time_to_full_s"
    )

    node_id: int
    device_bytes_per_s: Quantity
    """What reaches the device."""
    hottest_part: int
    hottest_part_bytes_per_s: Quantity
    log_bytes_per_part: int
    time_to_full_s: Quantity | None
    """Until the hottest part is full when no checkpoint completes; None: nothing is written."""


@dataclass(frozen=True, slots=True)
class RedoEstimate(Shape):
    """Redo log of the cluster under a workload."""

    JSON = "operations log_bytes_per_part time_to_full_s nodes"

    operations: tuple[OperationRedo, ...]
    """Of every workload of the plan."""
    nodes: tuple[NodeRedo, ...]
    log_bytes_per_part: int
    """Smallest of all nodes."""
    time_to_full_s: Quantity | None
    """Of the node whose log is full first when no checkpoint completes; None: nothing is written."""

    def node(self, node_id: int) -> NodeRedo | None:
        """The node's figures; None when it writes no log."""
        return next((node for node in self.nodes if node.node_id == node_id), None)


def log_bytes_per_part(settings: NodeSettings) -> int:
    """Redo log of one part: NoOfFragmentLogFiles x FragmentLogFileSize."""
    return settings.number("NoOfFragmentLogFiles") * settings.number("FragmentLogFileSize")


@kept_by_identity(size=256)
def operations_of(
    tables: tuple[Table, ...], workload: Workload, version: NdbVersion
) -> tuple[OperationRedo, ...]:
    """Log of each kind of operation that a workload writes with."""
    by_id = {table.id: table for table in tables}
    operations = {}
    for transaction in workload.transactions:
        for operation in transaction.operations:
            if operation.kind in (OperationKind.READ, OperationKind.SCAN):
                continue
            table = by_id[operation.table_id]
            key = (operation.table_id, operation.kind, operation.columns)
            operations[key] = OperationRedo(
                workload=workload.name,
                transaction=transaction.name,
                table=table.full_name,
                operation=operation.kind.value,
                bytes_per_replica=operation_redo(table, operation.kind, version, operation.columns),
            )
    return tuple(operations.values())


def log_reserve(known: Features, constants: Constants) -> Quantity:
    """Free log of a part at which error 410 starts, in bytes."""
    name = "redo_log_reserve_bytes"
    if known.redo_log_keeps_more and not constants.is_calibrated(name):
        name = "redo_log_reserve_bytes_8"
    return constants[name]


def device_bytes_per_s(log: Quantity, known: Features, constants: Constants) -> Quantity:
    """Redo bytes per second that reach the device for so many bytes of log records."""
    factor = constants["device_write_factor"]
    if known.redo_device_factor_of_2010 and not constants.is_calibrated("device_write_factor"):
        old = constants["device_write_factor_2010"]
        most = max(factor.high, old.high)
        factor = Quantity(factor.value, factor.low, most, factor.unit, (*factor.why, *old.why))
    return log.named("log records") * constants["redo_page_overhead"] * factor


@kept_by_identity(size=KEPT_NODES)
def _node(settings: NodeSettings, constants: Constants, load: NodeLoad, near: Nearness) -> NodeRedo:
    """The log of the nodes with these settings and this load."""
    part, part_bytes_per_s = load.hottest_log_part
    log = load.redo_bytes_per_s
    share = part_bytes_per_s / log.value if log.value else 0.0
    least, most = load.hottest_log_part_range
    unevenness = Quantity(1.0, least, most, "factor")
    hottest = log.named("node") * Quantity.stated("share of the part", share, "", "distribution") * unevenness
    size = log_bytes_per_part(settings)
    full = None
    if part_bytes_per_s > _LEAST_RATE:
        whole = Quantity.stated(
            "log of one part", size, "bytes", "NoOfFragmentLogFiles × FragmentLogFileSize"
        )
        reserve, page = log_reserve(settings.features, constants), constants["redo_page_overhead"]
        usable = Quantity.exact(max(0.0, size - reserve.value), "bytes", (*whole.why, *reserve.why))
        full = usable / (hottest.named(f"log part {part}") * page)
        if not hottest.low:
            full = full.within(most=_NEVER_SEEN * full.value)
    device = device_bytes_per_s(log, settings.features, constants)
    one = NodeRedo(load.node_id, device, part, hottest, size, full)
    return near.widened_in(one, ("device_bytes_per_s", "hottest_part_bytes_per_s", "time_to_full_s"))


@kept_by_identity(size=KEPT_NODES)
def _of(node: NodeRedo, node_id: int) -> NodeRedo:
    return node if node.node_id == node_id else replace(node, node_id=node_id)


@kept_by_identity(size=48)
def redo(
    machines: Machines, loads: tuple[NodeLoad, ...], operations: tuple[OperationRedo, ...], near: Nearness
) -> RedoEstimate:
    """The rates of every node under its load and when its log is full. `operations`: of all workloads.

    `near`: how near the plan lies to measured loads.
    """
    settings, constants = {i: one.settings for i, one in machines.by_id.items()}, machines.constants
    alike: dict[tuple[int, int], NodeRedo] = {}
    nodes = []
    for load in loads:
        own = settings[load.node_id]
        key = id(own), id(load.alike)
        one = alike.get(key)
        if one is None:
            one = alike[key] = _node(own.only(NODE_SETTINGS), constants, load.alike, near)
        nodes.append(_of(one, load.node_id))
    sizes = [log_bytes_per_part(one) for one in {*settings.values()} or [machines.settings]]
    fulls = [node.time_to_full_s for node in nodes if node.time_to_full_s is not None]
    return RedoEstimate(operations, tuple(nodes), min(sizes), min(fulls, key=lambda q: q.value, default=None))
