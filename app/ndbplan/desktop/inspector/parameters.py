"""Configuration parameters: search, only the changed ones, ranges, for all nodes of a kind or for one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QVBoxLayout,
    QWidget,
)

from ndbplan.configuration.stated import SECTIONS
from ndbplan.describe.parameters import origin_words
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.inspector.mysqld_scope import MysqldScope
from ndbplan.desktop.inspector.parameter_model import ParametersModel, Scope, describe
from ndbplan.desktop.inspector.parameter_steps import ParameterSteps
from ndbplan.desktop.widgets.combo_box import ComboBox
from ndbplan.desktop.widgets.readings import Readings
from ndbplan.desktop.widgets.search_field import SearchField
from ndbplan.desktop.widgets.sections import chip, label, link
from ndbplan.desktop.widgets.whole_rows import Table
from ndbplan.ndb.mysqld_options import OPTION_NAME, canonical, fault
from ndbplan.plan.origins import SetByProgram
from ndbplan.plan.processes import SqlNode

_Index = QModelIndex | QPersistentModelIndex
_SCOPE_NAMES = (
    ("data_node", "Data nodes"),
    ("management", "Management nodes"),
    ("sql", "SQL and API nodes"),
    ("tcp", "TCP links"),
    ("shm", "Shared memory links"),
    ("system", "System"),
)
_KIND_SCOPES = {"data": "data_node", "management": "management", "sql": "sql", "api": "sql"}


class _Filter(QSortFilterProxyModel):
    def __init__(self, model: ParametersModel) -> None:
        super().__init__(model)
        self._model = model
        self._words: list[str] = []
        self._changed_only = self._decided_only = False
        self.setSourceModel(model)

    def apply(self, text: str, *, changed_only: bool, decided_only: bool) -> None:
        """Show what holds all words of the text, in name or description."""
        self._words = text.lower().split()
        self._changed_only, self._decided_only = changed_only, decided_only
        self.invalidate()

    def filterAcceptsRow(self, row: int, _parent: _Index) -> bool:
        if self._changed_only and not self._model.is_changed(row):
            return False
        if self._decided_only and not self._model.is_decided(row):
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
        self.scopes: QComboBox | None = None
        """Which nodes the parameters are of, where nothing is selected."""
        self.model = ParametersModel(context, Scope(self._kind_scope, self._process_ids), self)
        self.search = SearchField()
        self.search.setAccessibleName("Search parameters")
        self.changed_only = QCheckBox("Changed")
        self.changed_only.setToolTip("Show only parameters that differ from the default")
        self.decided_only = QCheckBox("Decided for me")
        self.decided_only.setToolTip("Show only parameters that the program set: they follow the hardware")
        self._filter = _Filter(self.model)
        self.view = Table()
        self._prepare_view()
        self._error = label("", "fieldError")
        self._error.hide()
        self._about = label("", "muted")
        self._reset = link("Reset", self.reset_selected, "Reset the parameter to its default")
        self._pin = link("Pin", self.pin_selected, "Keep the value whatever becomes of the hardware")
        self._size = link(
            "Let the program decide",
            self.size_selected,
            "Size it for its hosts, whatever they become: auto",
        )
        self.steps = ParameterSteps(context, self._refused)
        self._add = link("Add", self.add_option, "Give mysqld an option that the list does not have")
        for one in (self._reset, self._pin, self._size, self._add):
            one.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addLayout(self._scope_row())
        layout.addWidget(self.search)
        filters = QHBoxLayout()
        filters.setSpacing(12)
        filters.addWidget(self.changed_only)
        filters.addWidget(self.decided_only)
        filters.addStretch(1)
        layout.addLayout(filters)
        layout.addWidget(self.view)
        layout.addWidget(self._error)
        self.readings = Readings()
        layout.addWidget(self.readings)
        layout.addWidget(self._about)
        foot = QHBoxLayout()
        foot.setSpacing(12)
        for one in (self._reset, self._pin, self._size, self._add):
            foot.addWidget(one)
        foot.addStretch(1)
        layout.addWidget(self.steps)
        layout.addLayout(foot)
        self.search.textChanged.connect(self._apply_filter)
        self.changed_only.toggled.connect(self._apply_filter)
        self.decided_only.toggled.connect(self._apply_filter)
        self.model.refused.connect(self._refused)
        self.model.asked.connect(self.readings.ask)
        self.view.selectionModel().currentChanged.connect(self._current_changed)
        self._count_rows()

    def refresh(self) -> None:
        """Show what the plan says now."""
        self.model.refresh()
        if self.changed_only.isChecked() or self.decided_only.isChecked():
            self._apply_filter()
        self._current_changed()

    def edit_parameter(self, scope: str, name: str) -> None:
        """Go to a parameter of all nodes of a kind, and open its value."""
        if self.scopes is not None:
            self.scopes.setCurrentIndex(max(0, self.scopes.findData(scope)))
            self.model.set_scope(Scope(scope))
        for box in (self.changed_only, self.decided_only):
            box.setChecked(False)
        self.search.setText(name)
        names = [parameter.name for parameter in self.model.parameters]
        index = self._filter.mapFromSource(self.model.index(names.index(name), 1))
        self.view.setCurrentIndex(index)
        self.view.scrollTo(index)
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self.view.edit(index)

    def reset_selected(self) -> None:
        """Take the selected parameter back to what holds without it."""
        row = self._row()
        if row is not None:
            self.model.put(row, None)

    def pin_selected(self) -> None:
        """Make the selected parameter one that was set by hand."""
        row = self._row()
        if row is not None:
            self.model.pin(row)

    def size_selected(self) -> None:
        """Let the program decide on the selected parameter."""
        row = self._row()
        if row is not None:
            self.model.hand_over(row)

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
            for text, says, scope in self._scopes_of_nodes():
                button = chip(text, says, on=scope == self.model.scope)
                button.clicked.connect(lambda _on=False, scope=scope: self._set_scope(scope))
                group.addButton(button)
                row.addWidget(button)
        else:
            self.scopes = box = ComboBox()
            box.setAccessibleName("Which nodes the parameters apply to")
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(8)
            for name, text in _SCOPE_NAMES:
                box.addItem(text, name)
            box.activated.connect(lambda _i: self._set_scope(Scope(box.currentData())))
            row.addWidget(box, 1)
        row.addStretch(1)
        return row

    def _scopes_of_nodes(self) -> Iterator[tuple[str, str, Scope]]:
        kind, ids = self._kind_scope, self._process_ids
        here = "This node" if len(ids) == 1 else "These nodes"
        yield here, here, Scope(kind, ids)
        yield "All nodes", f"All {dict(_SCOPE_NAMES)[kind]}", Scope(kind)
        if all(isinstance(self._context.plan.by_id[i], SqlNode) for i in ids):
            yield "mysqld", "Options of mysqld itself, which stand in my.cnf", MysqldScope(kind, ids)

    def _set_scope(self, scope: Scope) -> None:
        self.model.set_scope(scope)
        self._count_rows()
        self._apply_filter()
        self._current_changed()

    def _count_rows(self) -> None:
        what = "options" if isinstance(self.model.scope, MysqldScope) else "parameters"
        self.search.setPlaceholderText(f"Search {self.model.rowCount()} {what}")

    def add_option(self) -> None:
        """State an option of mysqld that no list has: what was searched for, as `name` or `name=value`."""
        typed = self._typed_option()
        if typed is None:
            return
        name, value = typed
        if why := fault(name, value, self._context.plan.version):
            self._refused(f"{why}; it is not for a person to say")
        elif self.model.put_named(name, value):
            self.search.clear()

    def _typed_option(self) -> tuple[str, str] | None:
        name, _, value = self.search.text().partition("=")
        fits = isinstance(self.model.scope, MysqldScope) and OPTION_NAME.fullmatch(canonical(name))
        return (canonical(name), value.strip() or "ON") if fits and not self._filter.rowCount() else None

    def _apply_filter(self) -> None:
        self._filter.apply(
            self.search.text(),
            changed_only=self.changed_only.isChecked(),
            decided_only=self.decided_only.isChecked(),
        )
        typed = self._typed_option()
        self._add.setVisible(typed is not None)
        if typed:
            self._add.setText(f"Add {'='.join(typed)}")

    def _row(self) -> int | None:
        index = self.view.currentIndex()
        return self._filter.mapToSource(index).row() if index.isValid() else None

    def _current_changed(self) -> None:
        row = self._row()
        if row is None or row >= len(self.model.parameters):
            self._about.setText("")
            self.steps.show_of(None, "")
            for one in (self._reset, self._pin, self._size):
                one.hide()
            return
        parameter, scope, plan = self.model.parameters[row], self.model.scope, self._context.plan
        origins = scope.origins(plan, parameter.name)
        words = [f"{origin_words(origin)}." for origin in origins]
        self._about.setText(" ".join((describe(parameter), *words)))
        self.steps.show_of(scope, parameter.name)
        self._reset.setVisible(scope.own(plan, parameter.name) is not None)
        self._pin.setVisible(any(origin is not None for origin in origins))
        decided = bool(origins) and all(isinstance(origin, SetByProgram) for origin in origins)
        self._size.setVisible(not decided and scope.can_hand_over(parameter.name))

    def _refused(self, line: str) -> None:
        self.readings.forget()
        self._error.setText(line)
        self._error.setVisible(bool(line))


def parameters_for(context: Context, ids: Sequence[str]) -> ParametersPanel | None:
    """The panel for these objects: processes of one kind, or nothing selected (the cluster)."""
    kinds = {getattr(context.plan.by_id[i], "kind", None) for i in ids}
    if not ids:
        return ParametersPanel(context)
    return ParametersPanel(context, ids) if len(kinds) == 1 and kinds <= SECTIONS.keys() else None
