"""Memory: what the tables take, part by part, and how full the data nodes and their hosts are."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from ndbplan.desktop.analyses import numbers
from ndbplan.desktop.analyses.panel import Empty, Panel
from ndbplan.desktop.context import Context
from ndbplan.desktop.estimates import Estimate
from ndbplan.desktop.explain import QuantityLabel
from ndbplan.desktop.parts import label
from ndbplan.desktop.tasks import Outcome, Task
from ndbplan.estimate.quantity import Quantity
from ndbplan.plan.plan import Plan

_TABLE_HEADERS = (
    "Table", "Rows", "Total", "Fixed", "Variable", "Hash index", "Ordered", "Unique", "Blobs", "On disk",
)  # fmt: skip
_GROWTH_MS = 60
"""Until the tables are painted: a thread that computes meanwhile would make that take twice as long."""
_NODE_HEADERS = ("Node", "Tables take", "DataMemory", "Fill", "RAM", "of host", "Host")


class MemoryPanel(Panel):
    """Tables × parts, and data nodes against DataMemory and RAM."""

    name: ClassVar[str] = "Memory"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.tables = numbers.NumbersTable("Memory of tables", _TABLE_HEADERS)
        self.nodes = numbers.NumbersTable("Memory of data nodes", _NODE_HEADERS)
        self._total = QuantityLabel("DataMemory used over all data nodes")
        self._task: Task | None = None
        self._asked: Plan | None = None
        self._growth = QTimer(self)
        self._growth.setSingleShot(True)
        self._growth.setInterval(_GROWTH_MS)
        self._growth.timeout.connect(self._ask_growth)
        self.full_in = QuantityLabel("Months until DataMemory is full")
        self._full_in = _phrase("full in", self.full_in)
        self._full_in.setToolTip("As the tables grow: when the first node needs 95 % of its DataMemory")
        self._table_ids: list[str] = []
        self._node_ids: list[str] = []
        self._empty = Empty("Nothing to count yet", "Add data nodes and tables to see what they take.")
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setProperty("look", "gap")
        split.setHandleWidth(16)
        split.setChildrenCollapsible(False)
        split.addWidget(_titled("Tables, one replica of each", self.tables))
        split.addWidget(
            _titled(
                "Data nodes",
                self.nodes,
                self._full_in,
                self._total,
                label("in the cluster", "muted", wrap=False),
            )
        )
        split.setSizes([560, 440])
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(split)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 8, 16, 8)
        layout.addWidget(self._pages)
        self.tables.clicked.connect(lambda index: self._select(self.tables, self._table_ids, index))
        self.nodes.clicked.connect(lambda index: self._select(self.nodes, self._node_ids, index))

    def show_estimate(self, estimate: Estimate) -> None:
        overview, plan = estimate.overview, estimate.plan
        if overview is None or not (plan.tables or plan.data_nodes):
            self._pages.setCurrentIndex(0)
            if estimate.error:
                self._empty.say("The plan cannot be estimated yet", estimate.error)
            return
        self._pages.setCurrentIndex(1)
        memory = overview.memory
        self._total.show_quantity(memory.cluster_bytes)
        self._growth.start()
        ids = {table.full_name: table.id for table in plan.tables}
        self._table_ids = [ids.get(table.table, "") for table in memory.tables]
        rows = [
            [
                numbers.text(table.table),
                numbers.count(table.rows),
                _part(table.total_bytes, f"Memory of {table.table}"),
                numbers.size(table.fixed_bytes),
                _part(table.variable_bytes, f"Variable parts of {table.table}"),
                _part(table.hash_index_bytes, f"Hash index of {table.table}"),
                _part(table.ordered_index_bytes, f"Ordered indexes of {table.table}"),
                _part(table.unique_index_bytes, f"Unique indexes of {table.table}"),
                _part(table.blob_bytes, f"Blob parts of {table.table}"),
                numbers.size(table.disk_bytes),
            ]
            for table in memory.tables
        ]
        # Parts that no table has would only push others out of sight.
        used = [i for i in range(len(_TABLE_HEADERS)) if i < 3 or any(row[i].value for row in rows)]
        self.tables.show_rows([[row[i] for i in used] for row in rows], [_TABLE_HEADERS[i] for i in used])
        by_node_id = {node.node_id: node for node in plan.data_nodes}
        self._node_ids = [by_node_id[node.node_id].id for node in memory.nodes]
        self.nodes.show_rows(
            [
                [
                    numbers.count(node.node_id),
                    _part(node.data_memory_bytes, f"DataMemory used on node {node.node_id}"),
                    numbers.size(node.data_memory_limit_bytes),
                    numbers.share(node.fill, node.data_memory_bytes, f"DataMemory of node {node.node_id}"),
                    _part(node.ram_bytes, f"RAM of node {node.node_id}"),
                    numbers.share(
                        node.ram_bytes.value / max(1, node.host_memory_bytes),
                        node.ram_bytes,
                        f"RAM of node {node.node_id}",
                    ),
                    numbers.text(plan.host(by_node_id[node.node_id].host_id).hostname),
                ]
                for node in memory.nodes
            ]
        )

    def _ask_growth(self) -> None:
        """When memory runs out, in a thread: it takes dozens of estimates."""
        plan = self.context.plan
        if plan is self._asked:
            return
        self._asked = plan
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if not any(table.growth_rows_per_month for table in plan.tables):
            self._full_in.hide()
            return
        self._task = self.context.tasks.start(lambda _task: _months_until_full(plan), self._grown)

    def _grown(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        self._full_in.setVisible(outcome.value is not None)
        if outcome.value is not None:
            self.full_in.show_quantity(outcome.value)

    def _select(self, table: numbers.NumbersTable, ids: list[str], index: QModelIndex) -> None:
        row = table.row_of(index)
        if index.column() == 0 and 0 <= row < len(ids) and ids[row] in self.context.plan.by_id:
            self.context.selection.set((ids[row],))


def _part(quantity: Quantity, title: str) -> numbers.Cell:
    if quantity.value == 0 and quantity.high == 0:
        return numbers.Cell("–", 0.0, colour="faint")
    return numbers.number(quantity, title)


def _months_until_full(plan: Plan) -> Quantity | None:
    from ndbplan.estimate.growth import memory_full

    return memory_full(plan)


def _phrase(words: str, number: QWidget) -> QWidget:
    """A number with words before it, hidden until there is one."""
    box = QWidget()
    row = QHBoxLayout(box)
    row.setContentsMargins(0, 0, 10, 0)
    row.setSpacing(6)
    row.addWidget(label(words, "muted", wrap=False))
    row.addWidget(number)
    box.hide()
    return box


def _titled(title: str, table: QWidget, *beside: QWidget) -> QWidget:
    box = QWidget()
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(4)
    top = QHBoxLayout()
    top.setSpacing(6)
    top.addWidget(label(title, "chartTitle", wrap=False), 1)
    for widget in beside:
        top.addWidget(widget)
    layout.addLayout(top)
    layout.addWidget(table, 1)
    return box
