"""Where one key lies: its partition, node group, nodes and LDM thread, exactly as the cluster places it."""

from __future__ import annotations

from PySide6.QtWidgets import QFormLayout, QGridLayout, QLineEdit, QWidget

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_count
from ndbplan.desktop.dialogs.frame import Dialog
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.widgets.sections import empty, label
from ndbplan.estimate.stored import KeyPlace, place_of_key
from ndbplan.plan.tables import Table


class KeyDialog(Dialog):
    """A field for each column of the distribution key; answers with each letter."""

    def __init__(
        self, document: Document, selection: Selection, table_id: str, parent: QWidget | None = None
    ) -> None:
        table: Table = document.plan.by_id[table_id]
        super().__init__(f"Where a key of {table.full_name} lies", "Show its nodes", parent, leave="Close")
        self._document, self._selection, self._table_id = document, selection, table_id
        self.place: KeyPlace | None = None
        self.resize(460, 360)
        names = table.distribution_key or table.primary_key
        form = QFormLayout()
        self.fields: list[QLineEdit] = []
        for column in table.columns:
            if column.name in names:
                field = QLineEdit()
                field.setAccessibleName(column.name)
                field.setPlaceholderText(column.type)
                field.textChanged.connect(lambda _text: self._answer())
                form.addRow(column.name, field)
                self.fields.append(field)
        self.facts = QGridLayout()
        self.facts.setHorizontalSpacing(24)
        self.facts.setVerticalSpacing(6)
        self.facts.setColumnStretch(1, 1)
        self.body.addLayout(form)
        self.body.addLayout(self.facts)
        self.body.addStretch(1)
        self.add_foot(self._show_nodes)
        self.take.setEnabled(False)
        self._answer()

    def _answer(self) -> None:
        plan = self._document.plan
        empty(self.facts)
        self.place = None
        values = [field.text() for field in self.fields]
        try:
            if not self.fields or all(values):
                self.place = place_of_key(plan, plan.by_id[self._table_id], values)
            self.state.say("" if self.place else "Type the key as SQL shows it.")
        except (UserError, ValueError) as error:
            self.state.say(error.line if isinstance(error, UserError) else str(error), is_error=True)
        self.take.setEnabled(self.place is not None)
        for name, text in _facts(self.place) if self.place is not None else ():
            row = self.facts.rowCount()
            self.facts.addWidget(label(name, "muted", wrap=False), row, 0)
            self.facts.addWidget(label(text, "factValue", wrap=False), row, 1)

    def _show_nodes(self) -> None:
        if self.place is not None:
            ids = {node.node_id: node.id for node in self._document.plan.data_nodes}
            self._selection.set([ids[node_id] for node_id in self.place.node_ids])


def _facts(place: KeyPlace) -> list[tuple[str, str]]:
    primary, *others = place.node_ids
    held = f", {', '.join(map(str, others))}" if others else ""
    return [
        ("Hash", f"{place.hash:#010x}"),
        ("Bucket of the hash map", str(place.bucket)),
        ("Partition", str(place.partition)),
        ("Node group", str(place.node_group)),
        ("Data nodes", f"{primary} (primary){held}"),
        ("LDM thread", ", ".join(dict.fromkeys(map(str, place.ldms)))),
        ("Log part", str(place.log_part)),
        ("Rows beside it", format_count(place.rows)),
    ]
