"""Plans that a crash left behind, beside what their files hold: recover one, give one up, or decide later."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialogButtonBox,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from ndbplan.desktop.dialogs.frame import Dialog
from ndbplan.desktop.document.recovery import Crashed
from ndbplan.plan.project import Project

_COLUMNS = ("Plan", "What was not saved", "What its file holds")
_NAMED = 4


class RecoveryDialog(Dialog):
    """One row for each plan; `recover` opens one and says whether it did. Deletes itself when closed."""

    def __init__(self, parent: QWidget, found: list[Crashed], recover: Callable[[Crashed], bool]) -> None:
        super().__init__("Recover unsaved plans", "Recover", parent, leave="Later")
        self.resize(860, 380)
        self._recover = recover
        self._found = list(found)
        self.table = QTableWidget(0, len(_COLUMNS))
        self.table.setHorizontalHeaderLabels(_COLUMNS)
        self.table.setAccessibleName("Plans that were not saved")
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        self.table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setWordWrap(True)
        self.table.itemSelectionChanged.connect(self._selected)
        self.table.itemActivated.connect(self.recover)
        self.give_up = QPushButton("Give up…")
        self.give_up.setAutoDefault(False)
        self.buttons.addButton(self.give_up, QDialogButtonBox.ButtonRole.DestructiveRole)
        self.give_up.clicked.connect(self._give_up)
        self.body.addWidget(self.table, 1)
        self.add_foot(self.recover)
        self._fill()

    def _fill(self) -> None:
        self.table.setRowCount(0)
        for row, one in enumerate(self._found):
            self.table.insertRow(row)
            for column, text in enumerate((_of_plan(one), _of_work(one), _of_file(one))):
                item = QTableWidgetItem(text)
                item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
                self.table.setItem(row, column, item)
        self.table.selectRow(0)

    def _chosen(self) -> Crashed | None:
        row = self.table.currentRow()
        return self._found[row] if 0 <= row < len(self._found) else None

    def _selected(self) -> None:
        one = self._chosen()
        self.take.setEnabled(one is not None)
        self.give_up.setEnabled(one is not None)
        self.give_up.setText("Give up…")
        self.state.say(
            "Its file was saved after the last of these edits: recovering shows the older plan. The file "
            "stays as it is until you save."
            if one is not None and one.is_older
            else "Recovering opens the plan; its file stays as it is until you save."
        )

    def recover(self) -> None:
        """Open the chosen plan."""
        one = self._chosen()
        if one is not None and self._recover(one):
            self.accept()

    def _give_up(self) -> None:
        """The first press asks, the second does it."""
        one = self._chosen()
        if one is None:
            return
        if not self.give_up.text().startswith("Give up for ever"):
            self.give_up.setText("Give up for ever")
            return
        one.discard()
        self._found.remove(one)
        if self._found:
            self._fill()
        else:
            self.accept()


def _of_plan(one: Crashed) -> str:
    return f"{one.name}\n{one.path.parent if one.path is not None else 'never saved'}"


def _of_work(one: Crashed) -> str:
    lines = [f"last edit {moment_text(one.edited_at)}", _size(one.project)]
    if one.saved is not None:
        lines.append(_differing(one.saved, one.project))
    return "\n".join(lines)


def _of_file(one: Crashed) -> str:
    if one.path is None:
        return "There is no file yet."
    if one.saved is None or one.saved_at is None:
        return "The file is gone, or cannot be read."
    return f"saved {moment_text(one.saved_at)}\n{_size(one.saved)}"


def _size(project: Project) -> str:
    plan, variants = project.main, len(project.variants)
    counts = [(len(plan.hosts), "host"), (len(plan.data_nodes), "data node"), (len(plan.tables), "table")]
    counts += [(variants, "variant")] if variants > 1 else []
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts)


def _differing(saved: Project, project: Project) -> str:
    """Which objects are not as the file has them, and which variants are new, gone or differ."""
    before, after = saved.main.by_id, project.main.by_id
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    stated, now = ({one.name: one for one in p.variants[1:]} for p in (saved, project))
    names += [f"variant {name}" for name in {**stated, **now} if stated.get(name) != now.get(name)]
    if not names:
        return "differs in settings of the plan"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"differs in {', '.join(names[:_NAMED])}{more}"


def moment_text(moment: datetime) -> str:
    """A moment as people say it."""
    if moment.date() == datetime.now().date():
        return f"today at {moment:%H:%M:%S}"
    return f"{moment.day} {moment:%B %Y, %H:%M}"
