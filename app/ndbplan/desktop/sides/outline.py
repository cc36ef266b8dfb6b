"""The outline: the plan as a tree, which follows and leads the selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QPainter,
    QPaintEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import QAbstractItemView, QWidget

from ndbplan.configuration.directories import disks_of_roles
from ndbplan.configuration.node_groups import groups_by_number
from ndbplan.configuration.space_files import folders_of_files, roles_by_folders
from ndbplan.describe.titles import display_name
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.whole_rows import Tree
from ndbplan.edits.palette import ROLE_TEXT
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, Process

_ID = Qt.ItemDataRole.UserRole
_ROW = Qt.ItemDataRole.UserRole + 1
_NOTHING = "Racks, hosts, nodes, tables and loads are listed here."
"""What is said of an empty plan."""
_ROLES_SAID = 2
_OPEN_AT_MOST = 12
"""With more hosts than this, hosts start closed."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tree and what is below it."""

    object_id: str
    text: str
    colour: str = ""
    children: tuple[Row, ...] = ()
    opens: bool = False
    """Starts open however large the plan is."""
    is_section: bool = False
    """A heading, no object of the plan."""
    tip: str = ""
    """All of it, where the text is short."""


class Outline(Tree):
    """Locations, hosts, their nodes and disks; tables and workloads below."""

    menu_wanted = Signal(object, QPoint)
    """The id of an object (None: of none) whose menu is asked for, and a place of the screen."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._model = QStandardItemModel(self)
        self._items: dict[str, QStandardItem] = {}
        self._hosts: dict[str, tuple[tuple[object, ...], Row]] = {}
        self._top: tuple[Row, ...] = ()
        self._seen: tuple[object, ...] = ()
        self._busy = False
        self.setObjectName("outline")
        self.setAccessibleName("Outline of the plan")
        self.setModel(self._model)
        self.setHeaderHidden(True)
        self.setIndentation(14)
        self.setUniformRowHeights(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.selectionModel().selectionChanged.connect(self._lead)
        editor.selection.changed.connect(self._follow)
        editor.document.changed.connect(self._show_change)
        theme.theme().changed.connect(self._restyle)
        self._rebuild()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._top:
            painter = QPainter(self.viewport())
            painter.setPen(QColor(theme.tokens().muted))
            place = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
            painter.drawText(self.viewport().rect().adjusted(8, 2, -8, 0), place, _NOTHING)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
        index = self.currentIndex() if keyboard else self.indexAt(event.pos())
        object_id = index.data(_ID) if index.isValid() else None
        if object_id not in self._editor.plan.by_id:
            object_id = None
        if object_id is not None and object_id not in self._editor.selection.ids:
            self._editor.selection.set([object_id])
        corner = self.visualRect(index).bottomLeft() if keyboard else event.pos()
        self.menu_wanted.emit(object_id, self.viewport().mapToGlobal(corner))

    def _show_change(self, _before: Plan, after: Plan) -> None:
        if not _same(_shown(after), self._seen):
            self._rebuild()

    def _rebuild(self) -> None:
        plan = self._editor.plan
        self._seen = _shown(plan)
        rows = self._rows(plan)
        self._busy = True
        new = self._sync(self._top, rows)
        self._top = rows
        few = len(plan.hosts) <= _OPEN_AT_MOST
        for item in new:
            row = item.data(_ROW)
            if row.children and (few or row.opens):
                self.setExpanded(item.index(), True)
        self._busy = False
        self._follow(self._editor.selection.ids)

    def _restyle(self) -> None:
        self._hosts = {}
        self._rebuild()

    def _sync(self, old: tuple[Row, ...], rows: tuple[Row, ...]) -> list[QStandardItem]:
        """Turn the tree into these rows; rows that are the same objects cost nothing. Returns new items."""
        changed: list[tuple[QStandardItem, tuple[Row, ...], set[str]]] = []
        self._prune(self._model.invisibleRootItem(), old, rows, changed)
        new: list[QStandardItem] = []
        # Only now, because an object may have moved from one changed parent to another.
        for parent, children, opened in changed:
            for row in children:
                item = self._append(parent, row, new)
                if row.object_id in opened:
                    self.setExpanded(item.index(), True)
        return new

    def _prune(
        self,
        parent: QStandardItem,
        old: tuple[Row, ...],
        rows: tuple[Row, ...],
        changed: list[tuple[QStandardItem, tuple[Row, ...], set[str]]],
    ) -> None:
        """Empty every parent that has other children now, and dress the others' children anew."""
        if [row.object_id for row in old] != [row.object_id for row in rows]:
            opened = {r.object_id for r in old if self.isExpanded(self._items[r.object_id].index())}
            for row in old:
                self._forget(row)
            parent.removeRows(0, parent.rowCount())
            changed.append((parent, rows, opened))
            return
        for before, row in zip(old, rows, strict=True):
            if before is row:
                continue
            item = self._items[row.object_id]
            if (before.text, before.colour) != (row.text, row.colour):
                _dress(item, row)
            item.setData(row, _ROW)
            self._prune(item, before.children, row.children, changed)

    def _append(self, parent: QStandardItem, row: Row, new: list[QStandardItem]) -> QStandardItem:
        item = QStandardItem()
        item.setData(row.object_id, _ID)
        item.setData(row, _ROW)
        if row.is_section:
            item.setFlags(Qt.ItemFlag.ItemIsEnabled)
        _dress(item, row)
        parent.appendRow(item)
        self._items[row.object_id] = item
        new.append(item)
        for child in row.children:
            self._append(item, child, new)
        return item

    def _forget(self, row: Row) -> None:
        self._items.pop(row.object_id, None)
        for child in row.children:
            self._forget(child)

    def _rows(self, plan: Plan) -> tuple[Row, ...]:
        numbers = {n.id: g for g, members in groups_by_number(plan).items() for n in members}
        inside: dict[str | None, list[Row]] = {}
        kept, self._hosts = self._hosts, {}
        name = theme.tokens().name
        for host in plan.hosts:
            processes = plan.processes_of_host[host.id]
            files = (plan.logfile_groups, plan.tablespaces)
            key = (host, *processes, *(numbers.get(p.id) for p in processes), *files, name, plan.features)
            known = kept.get(host.id)
            if known is None or not _same(known[0], key):
                known = (key, _host_row(plan, host, processes, numbers))
            self._hosts[host.id] = known
            inside.setdefault(host.location_id, []).append(known[1])
        places = _place_rows(plan, None, inside)
        loose = [p for p in plan.processes if p.host_id is None]
        spaces = [(s.id, s.name) for s in plan.tablespaces]
        spaces += [(g.id, g.name) for g in plan.logfile_groups]
        sections = (
            _section("API slots anywhere", [(p.id, display_name(plan, p)) for p in loose]),
            _section("Tables", [(t.id, t.full_name) for t in plan.tables]),
            _section("Disk data", spaces),
            _section("Workloads", [(w.id, w.name) for w in plan.workloads]),
        )
        return (*places, *inside.get(None, ()), *(s for s in sections if s.children))

    def _lead(self, _new: QItemSelection, _old: QItemSelection) -> None:
        if self._busy:
            return
        ids = [str(index.data(_ID)) for index in self.selectionModel().selectedIndexes()]
        known = self._editor.plan.by_id
        self._busy = True
        self._editor.selection.set(i for i in ids if i in known)
        self._editor.wanted.emit(tuple(i for i in ids[-1:] if i in known))
        self._busy = False

    def _follow(self, ids: tuple[str, ...]) -> None:
        if self._busy:
            return
        self._busy = True
        chosen = QItemSelection()
        last = QModelIndex()
        for object_id in ids:
            item = self._items.get(object_id)
            if item is not None:
                last = item.index()
                chosen.select(last, last)
        model = self.selectionModel()
        model.select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if last.isValid():
            model.setCurrentIndex(last, QItemSelectionModel.SelectionFlag.NoUpdate)
            self.scrollTo(last)
        self._busy = False


def _dress(item: QStandardItem, row: Row) -> None:
    item.setText(row.text)
    item.setToolTip(row.tip or row.text)
    # Without a colour of its own it has that of the style sheet, which follows the theme.
    item.setData(QColor(row.colour) if row.colour else None, Qt.ItemDataRole.ForegroundRole)


def _host_row(plan: Plan, host: Host, processes: Sequence[Process], numbers: dict[str, int]) -> Row:
    t = theme.tokens()
    rows: list[Row] = []
    roles: dict[str, list[str]] = {disk.id: [] for disk in host.disks}
    for process in processes:
        group = numbers.get(process.id)
        text = display_name(plan, process) + (f" · NG {group}" if group is not None else "")
        rows.append(Row(process.id, text, t.group(group) if group is not None else t.muted))
        if isinstance(process, DataNode):
            for role, name in ROLE_TEXT.items():
                disk_id = process.disk_roles.disk_of(role)
                if disk_id is not None and name not in roles[disk_id]:
                    roles[disk_id].append(name)
            folders = folders_of_files(plan.logfile_groups, plan.tablespaces)
            for disk_id, beside in roles_by_folders(folders, host, disks_of_roles(plan, process)).items():
                roles[disk_id] += [ROLE_TEXT[r] for r in beside if ROLE_TEXT[r] not in roles[disk_id]]
    for disk in host.disks:
        names = roles[disk.id]
        said = " + ".join(names) if len(names) <= _ROLES_SAID else f"{names[0]}, {len(names) - 1} more"
        text = f"{disk.name} · {said}" if names else disk.name
        rows.append(Row(disk.id, text, t.muted, tip=" · ".join((disk.name, *names))))
    return Row(host.id, host.hostname, children=tuple(rows))


def _place_rows(plan: Plan, parent_id: str | None, hosts: Mapping[str | None, list[Row]]) -> list[Row]:
    """The locations that lie in another one (None: in none), each with those in it before its hosts."""
    return [
        Row(p.id, p.name, children=(*_place_rows(plan, p.id, hosts), *hosts.get(p.id, ())), opens=True)
        for p in plan.locations
        if p.parent_id == parent_id
    ]


def _section(name: str, rows: Sequence[tuple[str, str]]) -> Row:
    muted = theme.tokens().muted
    listed = tuple(Row(object_id, text, muted) for object_id, text in rows)
    return Row(f"section {name}", f"{name} ({len(listed)})", children=listed, is_section=True)


def _shown(plan: Plan) -> tuple[object, ...]:
    """The parts of a plan that the outline shows; while they are the same objects it need not change."""
    return (
        *plan.locations, *plan.hosts, *plan.processes, *plan.tables, *plan.tablespaces, *plan.logfile_groups,
        *plan.workloads, plan.parameters, plan.features,
    )  # fmt: skip


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
