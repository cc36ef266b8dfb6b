"""The parameters that a version knows, with their values at a scope: what the panel of parameters shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor

from ndbplan.base.errors import UserError
from ndbplan.base.units import TwoReadingsError, refuse_group, whole_number
from ndbplan.configuration.settings import parameters_of_kind
from ndbplan.configuration.stated import SCOPES
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.units import BYTES
from ndbplan.edits import parts as edits
from ndbplan.edits.from_host import CHOSEN, handed_over
from ndbplan.edits.parameters import put_origin, set_parameter, stated_at
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb import values
from ndbplan.ndb.modelled import mark_words
from ndbplan.ndb.parameters import Parameter
from ndbplan.plan.origins import Origin, SetByProgram
from ndbplan.plan.plan import Plan

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_DECIDE = "auto"
"""Typed as a value: the program decides, as with `ndbplan set DataMemory=auto`."""
_RESTARTS = {
    "nothing": "takes effect at once",
    "node": "needs a rolling restart",
    "initial_node": "needs a rolling restart with --initial",
    "system": "needs the whole cluster to stop and start",
    "its_node": "needs a restart of its SQL node",
    "set_global": "can be made with SET GLOBAL while mysqld runs",
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

    def known_for(self, plan: Plan) -> object:
        """What the rows depend on."""
        return plan.version, self.section

    def rows(self, plan: Plan) -> list[Parameter]:
        """What can be stated here, by name; names with underscores are for the product's developers."""
        known = (p for p in catalogue.parameters(self.section, plan.version) if p.status != "internal")
        return sorted(known, key=lambda p: (p.name.startswith("_"), p.name.lower()))

    def own(self, plan: Plan, name: str) -> Any:
        """The value stated at this very scope; None: nothing is."""
        if not self.process_ids:
            return getattr(plan.parameters, self.name).get(name)
        stated = {self.stated(plan.by_id[i]).get(name) for i in self.process_ids if i in plan.by_id}
        return stated.pop() if len(stated) == 1 else ("several values" if stated else None)

    def stated(self, process: Any) -> Mapping[str, int | str]:
        """What one process states."""
        stated: Mapping[str, int | str] = process.parameters
        return stated

    def default(self, plan: Plan, name: str) -> int | str | None:
        """The value of a cluster that says nothing."""
        return catalogue.default(self.section, name, plan.version)

    def shown(self, parameter: Parameter, value: int | str) -> str:
        """A value as people read it."""
        return _text(parameter, value)

    def parsed(self, parameter: Parameter, text: str, plan: Plan) -> int | str:
        """What was typed. Raises BadValueError or UserError."""
        return _parsed(parameter, text, plan)

    def inherited(self, plan: Plan, name: str) -> Any:
        """The value that holds when nothing is stated at this scope."""
        if self.process_ids:
            process = plan.by_id.get(self.process_ids[0])
            if process is not None:
                shared = parameters_of_kind(plan, process)
                if name in shared:
                    return shared[name]
        return self.default(plan, name)

    def origins(self, plan: Plan, name: str) -> tuple[Origin | None, ...]:
        """Who set the value at this very scope, for each process that states it; None in it: by hand."""
        scopes = self.process_ids or (self.name,)
        places = [stated_at(plan, scope) for scope in scopes if self._is_there(plan, scope)]
        return tuple(dict.fromkeys(origins.get(name) for stated, origins in places if name in stated))

    def _is_there(self, plan: Plan, scope: str) -> bool:
        return not self.process_ids or scope in plan.by_id

    def pin(self, plan: Plan, name: str) -> Plan:
        """The plan in which a person has set the value that is stated at this scope."""
        for target in self.process_ids or (self.name,):
            plan = put_origin(plan, target, name, None)
        return plan

    def can_hand_over(self, name: str) -> bool:
        """Whether the program knows how to decide on the parameter here: for all data nodes, or for some."""
        return self.name == "data_node" and name in CHOSEN

    def handed_over(self, plan: Plan, name: str) -> Plan:
        """The plan in which hosts decide on the parameter: the smallest for all, or each node's own."""
        for target in self.process_ids or (None,):
            plan = handed_over(plan, name, target)
        return plan

    def put(self, plan: Plan, name: str, value: int | str | None) -> Plan:
        """The plan with the value stated at this scope; None: no longer."""
        for target in self.process_ids or (self.name,):
            plan = set_parameter(plan, target, name, value)
        if not self.process_ids and name in plan.assumed:
            plan = edits.set_plan(plan, assumed=tuple(n for n in plan.assumed if n != name))
        return plan


class ParametersModel(QAbstractTableModel):
    """The parameters the version knows, with the value at a scope."""

    refused = Signal(str)
    asked = Signal(object, object)
    """Readings of what was typed, and what is to be told the one that is meant."""
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
        known_for = self.scope.known_for(plan)
        if self._known_for != known_for:
            self.beginResetModel()
            self._known_for = known_for
            self.parameters = self.scope.rows(plan)
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
            self.scope.inherited(plan, name) != self.scope.default(plan, name)
        )

    def is_decided(self, row: int) -> bool:
        """Whether the program set the value, here or for all nodes of the kind."""
        name, plan = self.parameters[row].name, self._context.plan
        scopes = (self.scope, Scope(self.scope.name)) if self.scope.process_ids else (self.scope,)
        return any(isinstance(o, SetByProgram) for scope in scopes for o in scope.origins(plan, name))

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
            return "" if value is None else self.scope.shown(parameter, value)
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
        parameter, at = self.parameters[index.row()], QPersistentModelIndex(index)
        text = str(value).strip()
        if text == self.data(index):
            self.refused.emit("")
            return True
        if text.lower() == _DECIDE and self.scope.can_hand_over(parameter.name):
            return self.hand_over(index.row())
        try:
            new = self.scope.parsed(parameter, text, self._context.plan) if text else None
        except (values.BadValueError, UserError) as error:
            told = error.told() if isinstance(error, values.BadValueError) else error
            self.refused.emit(f"{parameter.name}: {told.line}")
            if isinstance(error, TwoReadingsError):
                self.asked.emit(error.readings, lambda text: self.setData(at, text))
            return False
        return self.put(index.row(), new)

    def put(self, row: int, value: int | str | None) -> bool:
        """State a value, or (None) take it back."""
        return self.put_named(self.parameters[row].name, value)

    def put_named(self, name: str, value: int | str | None) -> bool:
        """The same of one that may not have a row yet."""
        scope = self.scope
        step = "Set" if value is not None else "Reset"
        return self._do(step, name, lambda plan: scope.put(plan, name, value))

    def pin(self, row: int) -> bool:
        """Make the value that is stated one that was set by hand."""
        name, scope = self.parameters[row].name, self.scope
        return self._do("Pin", name, lambda plan: scope.pin(plan, name))

    def hand_over(self, row: int) -> bool:
        """Let the program decide on the value."""
        name, scope = self.parameters[row].name, self.scope
        return self._do("Size", name, lambda plan: scope.handed_over(plan, name))

    def _do(self, step: str, name: str, edit: Callable[[Plan], Plan]) -> bool:
        ids = self.scope.process_ids
        whose = f" of {', '.join(ids[:2])}" if ids else ""
        try:
            self._context.document.edit(f"{step} {name}{whose}", edit)
        except UserError as error:
            self.refused.emit(error.line)
            return False
        self.refused.emit("")
        return True


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
    mark = mark_words(parameter.section, parameter.name)
    return " ".join([*parts, mark] if mark else parts)


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
        if parameter.is_number:
            refuse_group(text)
        # People may also type 64 GB; what is kept is the number of bytes.
        if not (parameter.is_number and parameter.unit.startswith("bytes")):
            raise
        try:
            number: int = BYTES.parse(text)
        except TwoReadingsError:
            raise
        except UserError:
            number = -1
        if number < 0 or number == _plain(text):
            raise
        values.check_range(parameter, number)
        return number


def _plain(text: str) -> int | None:
    return whole_number(text)
