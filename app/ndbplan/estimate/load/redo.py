"""The redo log: bytes of operations, rate of each node and log part, size of the log, time until it is full.

operation_redo(table, OperationKind.INSERT, plan.version).value     # bytes for one row and replica
redo(plan, workload).time_to_full_s
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ndbplan.base.memo import memo_by_identity
from ndbplan.base.quantity import Quantity, Term
from ndbplan.configuration.node_parameters import KEPT_NODES, settings_of, version_of
from ndbplan.configuration.settings import data_node_number
from ndbplan.estimate.constants import calibration_of, constant_for, term_of
from ndbplan.estimate.load.demand import NodeLoad, node_loads
from ndbplan.estimate.load.log_records import operation_redo, transaction_redo
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode
from ndbplan.plan.tables import Table
from ndbplan.plan.workloads import OperationKind, Workload

__all__ = [
    "NodeRedo",
    "OperationRedo",
    "RedoEstimate",
    "device_bytes_per_s",
    "log_bytes_per_part",
    "operation_redo",
    "redo",
    "transaction_redo",
]


_LEAST_RATE = 1e-3
"""A log part written slower, in bytes per second, never fills."""


@dataclass(frozen=True, slots=True)
class OperationRedo:
    """Log bytes of one operation of a workload."""

    workload: str
    transaction: str
    table: str
    operation: str
    bytes_per_replica: Quantity

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape of design.md."""
        return {
            "workload": self.workload,
            "table": self.table,
            "operation": self.operation,
            "bytes_per_replica": self.bytes_per_replica.to_json(why=why),
        }


@dataclass(frozen=True, slots=True)
class NodeRedo:
    """Redo log of one data node."""

    node_id: int
    device_bytes_per_s: Quantity
    """What reaches the device."""
    hottest_part: int
    hottest_part_bytes_per_s: Quantity
    log_bytes_per_part: int
    time_to_full_s: Quantity | None
    """Until the hottest part is full when no checkpoint completes; None: nothing is written."""

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """One node."""
        full = self.time_to_full_s
        return {
            "node_id": self.node_id,
            "device_bytes_per_s": self.device_bytes_per_s.to_json(why=why),
            "hottest_part": self.hottest_part,
            "hottest_part_bytes_per_s": self.hottest_part_bytes_per_s.to_json(why=why),
            "log_bytes_per_part": self.log_bytes_per_part,
            "time_to_full_s": None if full is None else full.to_json(why=why),
        }


@dataclass(frozen=True, slots=True)
class RedoEstimate:
    """Redo log of the cluster under a workload."""

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

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """The shape of design.md."""
        full = self.time_to_full_s
        return {
            "operations": [operation.to_json(why) for operation in self.operations],
            "log_bytes_per_part": self.log_bytes_per_part,
            "time_to_full_s": None if full is None else full.to_json(why=why),
            "nodes": [node.to_json(why) for node in self.nodes],
        }


def log_bytes_per_part(plan: Plan, node: DataNode | None) -> int:
    """Redo log of one part: NoOfFragmentLogFiles x FragmentLogFileSize."""
    files = data_node_number(plan, node, "NoOfFragmentLogFiles")
    return files * data_node_number(plan, node, "FragmentLogFileSize")


@memo_by_identity(size=256)
def _operations(
    tables: tuple[Table, ...], workload: Workload, version: NdbVersion
) -> tuple[OperationRedo, ...]:
    by_id = {table.id: table for table in tables}
    found = {}
    for transaction in workload.transactions:
        for operation in transaction.operations:
            if operation.kind in (OperationKind.READ, OperationKind.SCAN):
                continue
            table = by_id[operation.table_id]
            key = (operation.table_id, operation.kind, operation.columns)
            found[key] = OperationRedo(
                workload=workload.name,
                transaction=transaction.name,
                table=table.full_name,
                operation=operation.kind.value,
                bytes_per_replica=operation_redo(table, operation.kind, version, operation.columns),
            )
    return tuple(found.values())


def device_bytes_per_s(plan: Plan, log: Quantity) -> Quantity:
    """Redo bytes per second that reach the device for so many bytes of log records."""
    page = constant_for(plan, "redo_page_overhead")
    factor = constant_for(plan, "device_write_factor")
    most, terms = factor.high, [log.as_term("log records"), term_of(page), term_of(factor)]
    if plan.features.redo_device_factor_of_2010 and calibration_of(plan, "device_write_factor") is None:
        old = constant_for(plan, "device_write_factor_2010")
        most = max(most, old.high)
        terms.append(term_of(old))
    return Quantity(
        log.value * page.value * factor.value,
        log.low * page.low * factor.low,
        log.high * page.high * most,
        "bytes/s",
        tuple(terms),
    )


@memo_by_identity(size=KEPT_NODES)
def _node(plan: Plan, node: DataNode, load: NodeLoad) -> NodeRedo:
    part, part_bytes_per_s = load.hottest_log_part
    log = load.redo_bytes_per_s
    share = part_bytes_per_s / log.value if log.value else 0.0
    hottest = log.scaled(
        share, why=(log.as_term("node"), Term("share of the part", share, "", "distribution"))
    )
    least, most = load.hottest_log_part_range
    hottest = Quantity(hottest.value, hottest.low * least, hottest.high * most, "bytes/s", hottest.why)
    size = log_bytes_per_part(plan, node)
    full = None
    if part_bytes_per_s > _LEAST_RATE:
        reserve = constant_for(plan, "redo_log_reserve_bytes")
        page = constant_for(plan, "redo_page_overhead")
        usable = max(0.0, size - reserve.value)
        full = Quantity(
            usable / (hottest.value * page.value),
            usable / (hottest.high * page.high),
            usable / (hottest.low * page.low) if hottest.low else usable / (hottest.value * page.value) * 10,
            "s",
            (
                Term("log of one part", size, "bytes", "NoOfFragmentLogFiles × FragmentLogFileSize"),
                term_of(reserve),
                hottest.as_term(f"log part {part}"),
                term_of(page),
            ),
        )
    return NodeRedo(node.node_id, device_bytes_per_s(plan, log), part, hottest, size, full)


def redo(plan: Plan, workload: Workload | None) -> RedoEstimate:
    """Log bytes of every operation, and under `workload` the rates of every node and when its log is full."""
    operations = tuple(one for w in plan.workloads for one in _operations(plan.tables, w, version_of(plan)))
    nodes: tuple[NodeRedo, ...] = ()
    if workload is not None:
        by_node_id = {node.node_id: node for node in plan.data_nodes}
        settings = settings_of(plan)
        nodes = tuple(_node(settings, by_node_id[load.node_id], load) for load in node_loads(plan, workload))
    sizes = [log_bytes_per_part(plan, node) for node in plan.data_nodes] or [log_bytes_per_part(plan, None)]
    fulls = [node.time_to_full_s for node in nodes if node.time_to_full_s is not None]
    return RedoEstimate(operations, nodes, min(sizes), min(fulls, key=lambda q: q.value, default=None))
