"""Memory and disk space: what the tables take, how full data nodes, hosts and disks are, and get."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.quantity import Quantity
from ndbplan.base.units import format_memory, format_value
from ndbplan.describe.measured_runs import near_runs
from ndbplan.describe.titles import SPACE_OF_ROLE
from ndbplan.desktop.analyses.folding import Folding, Titled
from ndbplan.desktop.analyses.growth_chart import GrowthChart, GrowthPicture, growth_picture
from ndbplan.desktop.analyses.memory_pictures import MemoryPictures
from ndbplan.desktop.analyses.panel import Empty, OrStep, Panel
from ndbplan.desktop.analyses.tighten import Tighten
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.estimates import Estimate
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.widgets import numbers
from ndbplan.desktop.widgets.explain import QuantityLabel, Say
from ndbplan.desktop.widgets.sections import chip, label
from ndbplan.edits.first_steps import next_step
from ndbplan.estimate.space.disk_space import DiskSpace, DiskSpaceEstimate
from ndbplan.plan.plan import Plan

_TABLE_HEADERS = (
    "Table", "Rows", "Total", "Fixed", "Variable", "Hash index", "Ordered", "Unique", "Blobs", "On disk",
)  # fmt: skip
_GROWTH_MS = 60
"""Until the tables are painted: a thread that computes meanwhile would make that take twice as long."""
_DISK_HEADERS = ("Host", "Disk", "Files", "Capacity", "Fill", "Memory full", "Most of it")
_VIEWS = (
    ("Figures", "Tables, data nodes and disks with their figures"),
    ("Picture", "What fills a data node and its disks, and what if there were more"),
)
_MARGINS = 32
_HEADS = (760, 640)
"""Widths from which on the head of the nodes says of what the total is, and when DataMemory is full."""
_ONE_LINE = 790
"""Width from which on the controls of the picture stand in one line."""
_NODE_HEADERS = ("Node", "Tables take", "DataMemory", "Fill", "RAM", "of host", "Host")


class MemoryPanel(Panel):
    """Tables × parts, data nodes against DataMemory and RAM, disks against their capacity."""

    name: ClassVar[str] = "Memory"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.tables = numbers.NumbersTable("Memory of tables", _TABLE_HEADERS)
        self.nodes = numbers.NumbersTable("Memory of data nodes", _NODE_HEADERS)
        self._or_tables = OrStep(self, self.tables, "tables")
        self._or_nodes = OrStep(self, self.nodes, "hosts")
        self._total = QuantityLabel("DataMemory used over all data nodes", say=format_memory)
        self._task: Task | None = None
        self._asked: Plan | None = None
        self._growth = QTimer(self)
        self._growth.setSingleShot(True)
        self._growth.setInterval(_GROWTH_MS)
        self._growth.timeout.connect(self._ask_growth)
        self.full_in = QuantityLabel("Months until DataMemory is full")
        self.disks = numbers.NumbersTable("Disk space", _DISK_HEADERS)
        self.chart = GrowthChart()
        self._disk_ids: list[str] = []
        self._full_in = _phrase("full in", self.full_in)
        self._full_in.setToolTip("As the tables grow: when the first node needs 95 % of its DataMemory")
        self._fills = False
        """Whether tables grow until DataMemory is full."""
        self._table_ids: list[str] = []
        self._node_ids: list[str] = []
        self._empty = Empty()
        self._empty.step_wanted.connect(self.step_wanted)
        self.tighten = Tighten(context)
        # From the outside to the inside: see `Folding`.
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self._whole(self._pages))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 8, 16, 8)
        layout.addWidget(self._pages)
        self.tables.clicked.connect(lambda index: self._select(self.tables, self._table_ids, index))
        self.disks.clicked.connect(lambda index: self._select(self.disks, self._disk_ids, index))
        self.nodes.clicked.connect(lambda index: self._select(self.nodes, self._node_ids, index))

    def _figures(self, parent: QWidget) -> QSplitter:
        """Tables and growth beside data nodes and disks."""
        split = QSplitter(Qt.Orientation.Horizontal, parent)
        split.setProperty("look", "gap")
        split.setHandleWidth(16)
        split.setChildrenCollapsible(False)
        self._left, right = Folding(split), Folding(split)
        self._left.hold(
            Titled(self._left, "Tables, one replica of each", "Tables", self._or_tables),
            Titled(self._left, "Growth", "Growth", self.chart),
            has_second=False,
        )
        self._in_all = label("in the cluster", "muted", wrap=False)
        right.hold(
            Titled(right, "Data nodes", "Nodes", self._or_nodes, self._full_in, self._total, self._in_all),
            Titled(right, "Disks of data nodes", "Disks", self.disks),
        )
        split.setSizes([480, 560])
        return split

    def _whole(self, parent: QWidget) -> QWidget:
        """The views below the line that chooses among them."""
        whole = QWidget(parent)
        self._stack = QStackedWidget(whole)
        self._stack.addWidget(self._figures(self._stack))
        self._top, self._second = QHBoxLayout(), QHBoxLayout()
        self._top.setSpacing(4)
        group = QButtonGroup(self)
        self._views: dict[str, QToolButton] = {}
        for at, (name, tip) in enumerate(_VIEWS):
            button = chip(name, name, tip, on=not at)
            button.clicked.connect(lambda _on=False: self._show_view())
            group.addButton(button)
            self._top.addWidget(button)
            self._views[name] = button
        self._top.addSpacing(8)
        self._top.addWidget(self.tighten, 1)
        self._top.addStretch()
        lines = QVBoxLayout(whole)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setSpacing(6)
        lines.addLayout(self._top)
        lines.addLayout(self._second)
        lines.addWidget(self._stack, 1)
        return whole

    @cached_property
    def pictures(self) -> MemoryPictures:
        """The pictures with their controls, made when somebody wants to see them."""
        pictures = MemoryPictures(self.context)
        self._stack.addWidget(pictures)
        self._top.insertWidget(self._top.indexOf(self.tighten) + 1, pictures.nodes)
        self._top.addWidget(pictures.what_if)
        for widget in (pictures.nodes, pictures.what_if):
            widget.hide()
        self._fit_controls(pictures)
        return pictures

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_heads()
        if "pictures" in vars(self):
            self._fit_controls(self.pictures)

    def _fit_heads(self) -> None:
        """Beside the title of the nodes the total comes first, then when they are full."""
        self._in_all.setVisible(self.width() >= _HEADS[0])
        self._full_in.setVisible(self._fills and self.width() >= _HEADS[1])

    def _fit_controls(self, pictures: MemoryPictures) -> None:
        line, other = (self._top, self._second) if self.width() >= _ONE_LINE else (self._second, self._top)
        if line.indexOf(pictures.what_if) < 0:
            other.removeWidget(pictures.what_if)
            line.addWidget(pictures.what_if)
        pictures.what_if.fit(self.width() - _MARGINS)

    def _show_view(self) -> None:
        is_picture = self._views["Picture"].isChecked()
        controls = (self.pictures.nodes, self.pictures.what_if)
        self._stack.setCurrentIndex(int(is_picture))
        self.tighten.setHidden(is_picture)
        for widget in controls:
            widget.setVisible(is_picture)
        if is_picture:
            self.pictures.show_plan()

    def show_estimate(self, estimate: Estimate) -> None:
        now, plan = estimate.now, estimate.plan
        if now is None or not (plan.tables or plan.data_nodes):
            self._pages.setCurrentIndex(0)
            missing = next_step(plan)
            if missing is not None:
                self._empty.say_step(missing)
            elif estimate.error:
                self._empty.say("The plan cannot be estimated yet", estimate.error)
            return
        self._pages.setCurrentIndex(1)
        self._or_tables.show_content(bool(plan.tables))
        self._or_nodes.show_content(bool(plan.data_nodes))
        memory, run = now.memory, near_runs(plan, "storage")
        for one in (self._total, self.full_in, self.tables, self.nodes, self.disks):
            one.near_runs = run
        self._total.show_quantity(memory.cluster_bytes)
        self.tighten.ask(plan)
        self._growth.start()
        ids = {table.full_name: table.id for table in plan.tables}
        self._table_ids = [ids.get(table.table, "") for table in memory.tables]
        rows = [
            [
                numbers.text(table.table),
                numbers.count(table.rows),
                _part(table.total_bytes, f"Memory of {table.table}"),
                numbers.size(table.fixed_bytes, format_memory),
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
                    numbers.size(node.data_memory_limit_bytes, format_memory),
                    numbers.share(
                        node.fill,
                        node.data_memory_bytes,
                        f"DataMemory of node {node.node_id}",
                        format_memory,
                    ),
                    _part(node.ram_bytes, f"RAM of node {node.node_id}"),
                    numbers.share(
                        node.ram_bytes.value / max(1, node.host_memory_bytes),
                        node.ram_bytes,
                        f"RAM of node {node.node_id}",
                        format_memory,
                    ),
                    numbers.text(plan.host(by_node_id[node.node_id].host_id).hostname),
                ]
                for node in memory.nodes
            ]
        )

        self._show_disks(now.disk_space)
        if self._views["Picture"].isChecked():
            self.pictures.show_plan()

    def _show_disks(self, space: DiskSpaceEstimate) -> None:
        fullest = sorted(space.disks, key=lambda disk: -disk.fill.value)
        self._disk_ids = [disk.disk_id for disk in fullest]
        self.disks.show_rows(
            [
                [
                    numbers.text(disk.host),
                    numbers.text(disk.disk),
                    _part(disk.used_bytes, f"Files on {disk.host} / {disk.disk}", format_value),
                    numbers.size(disk.capacity_bytes),
                    numbers.share(disk.fill.value, disk.fill, f"Fill of {disk.host} / {disk.disk}"),
                    numbers.share(
                        disk.memory_full_bytes.value / disk.capacity_bytes,
                        disk.memory_full_bytes,
                        f"{disk.host} / {disk.disk} when DataMemory is full",
                    ),
                    numbers.text(_largest(disk)),
                ]
                for disk in fullest
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
            self._fills = False
            self._fit_heads()
            self._show_picture(None)
            return
        self._task = self.context.tasks.start(lambda _task: _growth_of(plan), self._grown)

    def _grown(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        left, picture = outcome.value if outcome.value is not None else (None, None)
        self._show_picture(picture)
        self._fills = left is not None
        self._fit_heads()
        if left is not None:
            self.full_in.show_quantity(left)

    def _show_picture(self, picture: GrowthPicture | None) -> None:
        self.chart.show_picture(picture)
        self._left.show_second(picture is not None)

    def _select(self, table: numbers.NumbersTable, ids: list[str], index: QModelIndex) -> None:
        row = table.row_of(index)
        if index.column() == 0 and 0 <= row < len(ids) and ids[row] in self.context.plan.by_id:
            self.context.selection.set((ids[row],))


def _part(quantity: Quantity, title: str, say: Say = format_memory) -> numbers.Cell:
    if quantity.value == 0 and quantity.high == 0:
        return numbers.Cell("–", 0.0, colour="faint")
    return numbers.number(quantity, title, say=say)


def _growth_of(plan: Plan) -> tuple[Quantity | None, GrowthPicture | None]:
    from ndbplan.estimate.space.growth import memory_full

    return memory_full(plan), growth_picture(plan)


def _largest(disk: DiskSpace) -> str:
    """`redo log 43 GB`: what most of a disk is taken by."""
    if not disk.by_role:
        return "–"
    role, size = disk.by_role[0]
    return f"{SPACE_OF_ROLE[role].lower()} {format_value(size.value, 'bytes')}"


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
