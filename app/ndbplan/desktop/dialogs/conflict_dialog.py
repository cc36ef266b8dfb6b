"""Before a save that would overwrite what somebody else wrote: what differs, and whose plan stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QDialogButtonBox, QPushButton, QWidget

from ndbplan.desktop.dialogs.frame import Dialog
from ndbplan.desktop.document.shared_file import Theirs
from ndbplan.desktop.widgets.sections import label
from ndbplan.desktop.widgets.whole_rows import Rows
from ndbplan.edits.changes import value_changes
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project

_BARE_PX, _AROUND_PX, _MOST_PX = 150, 126, 380
"""Height of the dialog without a list, beside the lines of one, and at most."""
_MOST = 200


class ConflictDialog(Dialog):
    """`answer` is `theirs`, `mine`, `copy` or, closed without one, `cancel`."""

    def __init__(self, parent: QWidget | None, path: Path, theirs: Theirs, mine: Project) -> None:
        super().__init__("Changed by somebody else", "Save a copy…", parent)
        self.answer = "cancel"
        gone = f"{path.name} was changed by somebody else: {theirs.error}." if theirs.error else ""
        text = gone or f"{path.name} was saved by somebody else since you opened it. Theirs → yours:"
        self.body.addWidget(label(text, "problemText"))
        self.differences = Rows()
        self.differences.setAccessibleName("What differs")
        self.differences.addItems(differences(theirs.project, mine) if theirs.project is not None else [])
        self.differences.setVisible(theirs.project is not None)
        self.body.addWidget(self.differences, 1)
        self.keep_mine = self._button("Keep mine", "mine")
        self.keep_mine.setToolTip("Write your plan over theirs; theirs is kept as a file beside it")
        self.take_theirs = self._button("Take theirs", "theirs")
        self.take_theirs.setToolTip("Show their plan here; undo brings yours back")
        self.take_theirs.setEnabled(theirs.project is not None)
        self.take.setToolTip("Write your plan under another name; theirs stays as it is")
        self.add_foot(lambda: self._choose("copy"))
        self.differences.ensurePolished()
        rows_px = self.differences.count() * max(0, self.differences.sizeHintForRow(0))
        self.resize(640, min(_MOST_PX, _AROUND_PX + rows_px if rows_px else _BARE_PX))

    def _button(self, text: str, answer: str) -> QPushButton:
        button = QPushButton(text)
        button.setAutoDefault(False)
        self.buttons.addButton(button, QDialogButtonBox.ButtonRole.ActionRole)
        button.clicked.connect(lambda: self._choose(answer))
        return button

    def _choose(self, answer: str) -> None:
        self.answer = answer
        self.accept()


def differences(theirs: Project, mine: Project) -> list[str]:
    """What the second project has other than the first, one value in a line; variants by their names."""
    lines = [] if theirs.names == mine.names else [f"variants: {_names(theirs)} -> {_names(mine)}"]
    before = {variant.name: variant for variant in theirs.variants}
    for variant in mine.variants:
        known = before.get(variant.name)
        if known is None:
            continue
        of = f" ({variant.name})" if len(mine.variants) > 1 else ""
        notes = [one.note or "none" for one in (known, variant)]
        lines += [f"note{of}: {' -> '.join(notes)}"] if known.note != variant.note else []
        lines += [f"{line}{of}" for line in _of_plans(known.plan, variant.plan)]
    if len(lines) > _MOST:
        lines = [*lines[:_MOST], f"and {len(lines) - _MOST} more"]
    return lines or ["Only places on the canvas differ."]


def _names(project: Project) -> str:
    return ", ".join(project.names)


def _of_plans(theirs: Plan, mine: Plan) -> list[str]:
    lines = [
        f"{title}: {getattr(theirs, name)} -> {getattr(mine, name)}"
        for name, title in (("name", "name of the plan"), ("ndb_version", "NDB version"))
        if getattr(theirs, name) != getattr(mine, name)
    ]
    lines += ["notes of the plan"] if theirs.notes != mine.notes else []
    known = set(lines)
    return lines + [change.line for change in value_changes(theirs, mine) if change.line not in known]


def ask_whose(window: QWidget, mine: Callable[[], Project], path: Path, theirs: Theirs) -> str:
    """Show what differs and wait for the answer."""
    dialog = ConflictDialog(window, path, theirs, mine())
    dialog.exec()
    return dialog.answer
