"""A list of objects of the plan; a click selects one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from ndbplan.describe.titles import subtitle, title
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.sections import NameButton, empty, label
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, ManagementNode, SqlNode
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import Workload

ICONS: dict[type, str] = {
    Location: "map-pin",
    Host: "server",
    Disk: "hard-drive",
    DataNode: "database",
    ManagementNode: "sliders-horizontal",
    SqlNode: "terminal",
    ApiSlot: "plug",
    Table: "table-2",
    Tablespace: "hard-drive",
    LogfileGroup: "undo-2",
    Workload: "activity",
}
_MOST = 40


class ObjectLinks(QWidget):
    """Objects that belong to what the inspector shows."""

    def __init__(
        self, context: Context, objects: Callable[[Plan], Sequence[Any]], nothing: str = "Nothing yet."
    ) -> None:
        super().__init__()
        self._context, self._objects, self._nothing = context, objects, nothing
        self._shown: list[Any] | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self.refresh()

    def refresh(self) -> None:
        """Show what the plan says now."""
        plan = self._context.plan
        objects = list(self._objects(plan))
        if self._shown is not None and [*map(id, objects)] == [*map(id, self._shown)]:
            return
        self._shown = objects
        empty(self._column)
        for part in objects[:_MOST]:
            self._column.addWidget(self._button(plan, part))
        if not objects:
            self._column.addWidget(label(self._nothing, "muted"))
        elif len(objects) > _MOST:
            self._column.addWidget(label(f"and {len(objects) - _MOST} more", "muted"))

    def _button(self, plan: Plan, part: Any) -> QPushButton:
        name = part.name if isinstance(part, Disk) else title(plan, part)
        button = NameButton(name)
        button.setIcon(theme.icon(ICONS.get(type(part), "box")))
        button.setProperty("look", "objectLink")
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        button.setToolTip(f"{name}\n{subtitle(plan, part)}")
        button.setAccessibleName(f"Select {name}")
        button.clicked.connect(lambda _on=False, i=part.id: self._context.selection.set((i,)))
        return button
