"""The outline: the plan as a tree, which follows and leads the selection."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt
from PySide6.QtGui import QColor, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QAbstractItemView, QTreeView, QWidget

from ndbplan.desktop import theme
from ndbplan.desktop.catalogue import ROLE_TEXT
from ndbplan.desktop.editor import Editor, display_name
from ndbplan.estimate.topology import groups_by_number
from ndbplan.plan.hardware import Host
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole

_ID = Qt.ItemDataRole.UserRole
_OPEN_AT_MOST = 12
"""With more hosts than this, hosts start closed."""


class Outline(QTreeView):
    """Locations, hosts, their nodes and disks; tables and workloads below."""

    def __init__(self, editor: Editor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._model = QStandardItemModel(self)
        self._items: dict[str, QStandardItem] = {}
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
        theme.theme().changed.connect(self._rebuild)
        self._rebuild()

    def _show_change(self, _before: Plan, after: Plan) -> None:
        if not _same(_shown(after), self._seen):
            self._rebuild()

    def _rebuild(self) -> None:
        plan = self._editor.plan
        self._seen = _shown(plan)
        opened = {object_id for object_id, item in self._items.items() if self.isExpanded(item.index())}
        known = set(self._items)
        self._busy = True
        self._model.clear()
        self._items = {}
        root = self._model.invisibleRootItem()
        numbers = {n.id: g for g, members in groups_by_number(plan).items() for n in members}
        inside: dict[str | None, list[Host]] = {}
        for host in plan.hosts:
            inside.setdefault(host.location_id, []).append(host)
        for place in plan.locations:
            item = self._add(root, place.id, place.name)
            for host in inside.get(place.id, ()):
                self._add_host(item, plan, host, numbers)
        for host in inside.get(None, ()):
            self._add_host(root, plan, host, numbers)
        loose = [p for p in plan.processes if p.host_id is None]
        self._add_section(root, "API slots anywhere", ((p.id, display_name(p)) for p in loose))
        self._add_section(root, "Tables", ((t.id, t.full_name) for t in plan.tables))
        spaces = [(s.id, s.name) for s in plan.tablespaces]
        spaces += [(g.id, g.name) for g in plan.logfile_groups]
        self._add_section(root, "Disk data", spaces)
        self._add_section(root, "Workloads", ((w.id, w.name) for w in plan.workloads))
        few = len(plan.hosts) <= _OPEN_AT_MOST
        places = {p.id for p in plan.locations}
        for object_id, item in self._items.items():
            new = object_id not in known
            self.setExpanded(item.index(), object_id in opened or (new and (few or object_id in places)))
        self._busy = False
        self._follow(self._editor.selection.ids)

    def _add(self, parent: QStandardItem, object_id: str, text: str, colour: str = "") -> QStandardItem:
        item = QStandardItem(text)
        item.setData(object_id, _ID)
        item.setToolTip(text)
        if colour:
            item.setForeground(QColor(colour))
        parent.appendRow(item)
        self._items[object_id] = item
        return item

    def _add_host(self, parent: QStandardItem, plan: Plan, host: Host, numbers: dict[str, int]) -> None:
        t = theme.tokens()
        item = self._add(parent, host.id, host.hostname)
        processes = plan.processes_of_host[host.id]
        for process in processes:
            group = numbers.get(process.id)
            text = display_name(process) + (f" · NG {group}" if group is not None else "")
            self._add(item, process.id, text, t.group(group) if group is not None else t.muted)
        nodes = [p for p in processes if isinstance(p, DataNode)]
        for disk in host.disks:
            roles = [ROLE_TEXT[r] for r in DiskRole if any(n.disk_roles.disk_of(r) == disk.id for n in nodes)]
            self._add(item, disk.id, f"{disk.name} · {' + '.join(roles)}" if roles else disk.name, t.muted)

    def _add_section(self, root: QStandardItem, name: str, rows: Iterable[tuple[str, str]]) -> None:
        listed = list(rows)
        if listed:
            section = self._add(root, f"section {name}", f"{name} ({len(listed)})")
            section.setFlags(Qt.ItemFlag.ItemIsEnabled)
            for object_id, text in listed:
                self._add(section, object_id, text, theme.tokens().muted)

    def _lead(self, _new: QItemSelection, _old: QItemSelection) -> None:
        if self._busy:
            return
        ids = [str(index.data(_ID)) for index in self.selectionModel().selectedIndexes()]
        known = self._editor.plan.by_id
        self._busy = True
        self._editor.selection.set(i for i in ids if i in known)
        self._editor.added.emit(tuple(i for i in ids[-1:] if i in known))
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


def _shown(plan: Plan) -> tuple[object, ...]:
    """The parts of a plan that the outline shows; while they are the same objects it need not change."""
    return (
        *plan.locations, *plan.hosts, *plan.processes, *plan.tables, *plan.tablespaces, *plan.logfile_groups,
        *plan.workloads, plan.parameters,
    )  # fmt: skip


def _same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
