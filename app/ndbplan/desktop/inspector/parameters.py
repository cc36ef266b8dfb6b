"""Configuration parameters: search, only the changed ones, ranges, for all nodes of a kind or for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QTableView,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.units import whole_number
from ndbplan.configuration.settings import parameters_of_kind
from ndbplan.configuration.stated import SCOPES, SECTIONS
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.sections import label, link
from ndbplan.desktop.widgets.units import BYTES
from ndbplan.edits import parts as edits
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb import values
from ndbplan.ndb.parameters import Parameter
from ndbplan.plan.plan import Plan

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_SCOPE_NAMES = (
    ("data_node", "Data nodes"),
    ("management", "Management nodes"),
    ("sql", "SQL and API nodes"),
    ("tcp", "TCP links"),
    ("shm", "Shared memory links"),
    ("system", "System"),
)
_KIND_SCOPES = {"data": "data_node", "management": "management", "sql": "sql", "api": "sql"}
_RESTARTS = {
    "nothing": "takes effect at once",
    "node": "needs a rolling restart",
    "initial_node": "needs a rolling restart with --initial",
    "system": "needs the whole cluster to stop and start",
    "initial_system": "needs an initial start of the whole cluster: restore from a backup",
}


@dataclass(frozen=True)
class Scope:
    """Whom a change concerns: all nodes of a kind, or the processes with these ids."""

    name: str
    """Field of `Plan.parameters`."""
    process_ids: tuple[str, ...] = ()

    @property
    def section(self) -> str:
        """Section of the catalogue."""
        return SCOPES[self.name]

    def own(self, plan: Plan, name: str) -> Any:
        """The value stated at this very scope; None: nothing is."""
        if not self.process_ids:
            return getattr(plan.parameters, self.name).get(name)
        stated = {plan.by_id[i].parameters.get(name) for i in self.process_ids if i in plan.by_id}
        return stated.pop() if len(stated) == 1 else ("several values" if stated else None)

    def inherited(self, plan: Plan, name: str) -> Any:
        """The value that holds when nothing is stated at this scope."""
        if self.process_ids:
            process = plan.by_id.get(self.process_ids[0])
            if process is not None:
                shared = parameters_of_kind(plan, process)
                if name in shared:
                    return shared[name]
        return catalogue.default(self.section, name, plan.version)

    def put(self, plan: Plan, name: str, value: int | str | None) -> Plan:
        """The plan with the value stated at this scope; None: no longer."""
        for target in self.process_ids or (self.name,):
            plan = edits.set_parameter(plan, target, name, value)
        if not self.process_ids and name in plan.assumed:
            plan = edits.set_plan(plan, assumed=tuple(n for n in plan.assumed if n != name))
        return plan


class ParametersModel(QAbstractTableModel):
    """The parameters the version knows, with the value at a scope."""

    refused = Signal(str)
    """One line about what is wrong; empty: nothing is."""

    def __init__(self, context: Context, scope: Scope, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self.scope = scope
        self.parameters: list[Parameter] = []
        self._known_for: object = None
        self.refresh()

    def refresh(self) -> None:
        """Show what the plan says now."""
        plan = self._context.plan
        if self._known_for != (plan.version, self.scope.section):
            self.beginResetModel()
            self._known_for = (plan.version, self.scope.section)
            self.parameters = sorted(
                (p for p in catalogue.parameters(self.scope.section, plan.version) if p.status != "internal"),
                # Names with underscores are for the product's developers.
                key=lambda p: (p.name.startswith("_"), p.name.lower()),
            )
            self.endResetModel()
        elif self.parameters:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self.parameters) - 1, 1))

    def set_scope(self, scope: Scope) -> None:
        """Show and change the values of another scope."""
        self.scope = scope
        self.refresh()

    def is_changed(self, row: int) -> bool:
        """Whether a value is stated, here or for all nodes of the kind."""
        name, plan = self.parameters[row].name, self._context.plan
        return self.scope.own(plan, name) is not None or (
            self.scope.inherited(plan, name) != catalogue.default(self.scope.section, name, plan.version)
        )

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.parameters)

    def columnCount(self, parent: _Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else 2

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return ("Parameter", "Value")[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == 1 else flags

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        parameter, plan = self.parameters[index.row()], self._context.plan
        own = self.scope.own(plan, parameter.name)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            if index.column() == 0:
                return parameter.name
            value = self.scope.inherited(plan, parameter.name) if own is None else own
            return "" if value is None else _text(parameter, value)
        colours = theme.tokens()
        if role == Qt.ItemDataRole.ForegroundRole:
            if own is not None and not self.scope.process_ids and parameter.name in plan.assumed:
                return QColor(colours.warning)
            if own is not None:
                return QColor(colours.text_strong if index.column() == 0 else colours.accent)
            return QColor(colours.text if self.is_changed(index.row()) else colours.muted)
        if role == Qt.ItemDataRole.FontRole and own is not None:
            return theme.font(12, 600)
        if role == Qt.ItemDataRole.ToolTipRole:
            return describe(parameter)
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        parameter = self.parameters[index.row()]
        text = str(value).strip()
        if text == self.data(index):
            self.refused.emit("")
            return True
        try:
            new = _parsed(parameter, text, self._context.plan) if text else None
        except (values.BadValueError, UserError) as error:
            self.refused.emit(f"{parameter.name}: {error}")
            return False
        return self.put(index.row(), new)

    def put(self, row: int, value: int | str | None) -> bool:
        """State a value, or (None) take it back."""
        name, scope = self.parameters[row].name, self.scope
        whose = "" if not scope.process_ids else f" of {', '.join(scope.process_ids[:2])}"
        step = f"Set {name}{whose}" if value is not None else f"Reset {name}{whose}"
        try:
            self._context.document.edit(step, lambda plan: scope.put(plan, name, value))
        except UserError as error:
            self.refused.emit(error.line)
            return False
        self.refused.emit("")
        return True


class _Filter(QSortFilterProxyModel):
    def __init__(self, model: ParametersModel) -> None:
        super().__init__(model)
        self._model = model
        self._words: list[str] = []
        self._changed_only = False
        self.setSourceModel(model)

    def apply(self, text: str, changed_only: bool) -> None:
        """Show what holds all words of the text, in name or description."""
        self._words, self._changed_only = text.lower().split(), changed_only
        self.invalidate()

    def filterAcceptsRow(self, row: int, _parent: _Index) -> bool:
        if self._changed_only and not self._model.is_changed(row):
            return False
        parameter = self._model.parameters[row]
        text = f"{parameter.name} {parameter.description}".lower()
        return all(word in text for word in self._words)


class ParametersPanel(QWidget):
    """Search box, filter, table and what the selected parameter means."""

    def __init__(self, context: Context, process_ids: Sequence[str] = ()) -> None:
        super().__init__()
        self._context, self._process_ids = context, tuple(process_ids)
        kind = context.plan.by_id[process_ids[0]].kind if process_ids else "data"
        self._kind_scope = _KIND_SCOPES[kind]
        self.model = ParametersModel(context, Scope(self._kind_scope, self._process_ids), self)
        self.search = QLineEdit()
        self.search.setPlaceholderText(f"Search {self.model.rowCount()} parameters")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Search parameters")
        self.changed_only = QCheckBox("Changed")
        self.changed_only.setToolTip("Show only parameters that differ from the default")
        self._filter = _Filter(self.model)
        self.view = QTableView()
        self._prepare_view()
        self._error = label("", "fieldError")
        self._error.hide()
        self._about = label("", "muted")
        self._reset = link("Reset", self.reset_selected, "Reset the parameter to its default")
        self._reset.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(self._scope_row())
        layout.addWidget(self.search)
        layout.addWidget(self.view)
        layout.addWidget(self._error)
        foot = QHBoxLayout()
        foot.addWidget(self._about, 1)
        foot.addWidget(self._reset, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(foot)
        self.search.textChanged.connect(self._apply_filter)
        self.changed_only.toggled.connect(self._apply_filter)
        self.model.refused.connect(self._refused)
        self.view.selectionModel().currentChanged.connect(self._current_changed)

    def refresh(self) -> None:
        """Show what the plan says now."""
        self.model.refresh()
        if self.changed_only.isChecked():
            self._apply_filter()
        self._current_changed()

    def reset_selected(self) -> None:
        """Take the selected parameter back to what holds without it."""
        row = self._row()
        if row is not None:
            self.model.put(row, None)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and event.key() == Qt.Key.Key_Delete
        ):
            self.reset_selected()
            return True
        return super().eventFilter(watched, event)

    def _prepare_view(self) -> None:
        view = self.view
        view.setModel(self._filter)
        view.setAccessibleName("Parameters")
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setShowGrid(False)
        view.setProperty("look", "numbers")
        view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        view.setEditTriggers(
            QAbstractItemView.EditTrigger.DoubleClicked
            | QAbstractItemView.EditTrigger.EditKeyPressed
            | QAbstractItemView.EditTrigger.SelectedClicked
            | QAbstractItemView.EditTrigger.AnyKeyPressed
        )
        view.setTabKeyNavigation(False)
        view.verticalHeader().hide()
        view.verticalHeader().setDefaultSectionSize(25)
        view.horizontalHeader().hide()
        view.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        view.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Interactive)
        view.setColumnWidth(1, 104)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setFixedHeight(260)
        view.installEventFilter(self)

    def _scope_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(4)
        if self._process_ids:
            group = QButtonGroup(self)
            for text, ids in (
                ("This node" if len(self._process_ids) == 1 else "These nodes", self._process_ids),
                ("All nodes", ()),
            ):
                button = QToolButton()
                button.setText(text)
                button.setCheckable(True)
                button.setChecked(bool(ids))
                button.setProperty("look", "chip")
                button.setAccessibleName(text if ids else f"All {dict(_SCOPE_NAMES)[self._kind_scope]}")
                button.clicked.connect(
                    lambda _on=False, i=ids: self.model.set_scope(Scope(self._kind_scope, i))
                )
                group.addButton(button)
                row.addWidget(button)
        else:
            box = QComboBox()
            box.setAccessibleName("Which nodes the parameters apply to")
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
            for name, text in _SCOPE_NAMES:
                box.addItem(text, name)
            box.activated.connect(lambda _i: self.model.set_scope(Scope(box.currentData())))
            row.addWidget(box, 1)
        row.addStretch(1)
        row.addWidget(self.changed_only)
        return row

    def _apply_filter(self) -> None:
        self._filter.apply(self.search.text(), self.changed_only.isChecked())

    def _row(self) -> int | None:
        index = self.view.currentIndex()
        return self._filter.mapToSource(index).row() if index.isValid() else None

    def _current_changed(self) -> None:
        row = self._row()
        if row is None or row >= len(self.model.parameters):
            self._about.setText("")
            self._reset.hide()
            return
        parameter = self.model.parameters[row]
        self._about.setText(describe(parameter))
        self._reset.setVisible(self.model.scope.own(self._context.plan, parameter.name) is not None)

    def _refused(self, line: str) -> None:
        self._error.setText(line)
        self._error.setVisible(bool(line))


def describe(parameter: Parameter) -> str:
    """What it is, its range, its default, and what a change needs, in a few short sentences."""
    parts = [f"{parameter.description.rstrip('.')}."]
    if parameter.is_number and parameter.minimum is not None and parameter.maximum is not None:
        low, high = (_text(parameter, value) for value in (parameter.minimum, parameter.maximum))
        parts.append(f"{low} to {high}{_unit(parameter)}.")
    elif parameter.allowed_values:
        parts.append(f"One of {', '.join(parameter.allowed_values)}.")
    if parameter.default is not None and parameter.default != "":
        parts.append(f"Default {_text(parameter, parameter.default)}{_unit(parameter)}.")
    restart = _RESTARTS.get(parameter.restart)
    if restart:
        parts.append(f"A change {restart}.")
    if parameter.status != "used":
        parts.append(f"Status: {parameter.status.replace('_', ' ')}.")
    return " ".join(parts)


def _unit(parameter: Parameter) -> str:
    return {"ms": " ms", "us": " µs", "s": " s", "percent": " %", "bytes_per_s": " bytes/s"}.get(
        parameter.unit, ""
    )


def _text(parameter: Parameter, value: int | str) -> str:
    if parameter.type == "bool" and isinstance(value, int):
        return "on" if value else "off"
    return values.format_value(parameter, value)


def _parsed(parameter: Parameter, text: str, plan: Plan) -> int | str:
    if parameter.type == "bool" and text.lower() in ("on", "off"):
        return int(text.lower() == "on")
    try:
        return values.parse_value(parameter, text, plan.version)
    except values.BadValueError:
        # People may also type 64 GB; what is kept is the number of bytes.
        if not (parameter.is_number and parameter.unit.startswith("bytes")):
            raise
        try:
            number: int = BYTES.parse(text)
        except UserError:
            number = -1
        if number < 0 or number == _plain(text):
            raise
        values.check_range(parameter, number)
        return number


def _plain(text: str) -> int | None:
    return whole_number(text)


def parameters_for(context: Context, ids: Sequence[str]) -> ParametersPanel | None:
    """The panel for these objects: processes of one kind, or nothing selected (the cluster)."""
    kinds = {getattr(context.plan.by_id[i], "kind", None) for i in ids}
    if not ids:
        return ParametersPanel(context)
    return ParametersPanel(context, ids) if len(kinds) == 1 and kinds <= SECTIONS.keys() else None
