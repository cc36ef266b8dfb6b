"""Asking for a folder: one that is not there is made, and what would be replaced is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLineEdit, QMessageBox, QPushButton, QWidget

from ndbplan.desktop.widgets.ask_folder import FolderDialog, may_replace, named


@pytest.fixture
def parent(qtbot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


def _typed(parent: QWidget, start: Path, text: str) -> FolderDialog:
    dialog = FolderDialog(parent, "Export into a folder", start)
    dialog.show()
    field = dialog.findChild(QLineEdit)
    assert field is not None
    field.setText(text)
    dialog.accept()
    return dialog


def test_a_folder_that_is_typed_and_not_there_yet_is_made(parent: QWidget, tmp_path: Path) -> None:
    wanted = tmp_path / "new" / "cluster"
    dialog = _typed(parent, tmp_path, str(wanted))
    assert wanted.is_dir()
    assert dialog.result() == FolderDialog.DialogCode.Accepted
    assert dialog.selectedFiles() == [str(wanted)]


def test_what_cannot_be_made_is_said_and_the_dialog_stays(
    parent: QWidget, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QMessageBox, "warning", lambda *_words: None)
    (tmp_path / "file").write_text("")
    for text, reason in ((tmp_path / "file", "it is a file"), (tmp_path / "file" / "x", "Not a directory")):
        dialog = _typed(parent, tmp_path, str(text))
        assert dialog.isVisible()
        assert reason in dialog.refusal
        assert "name another folder" in dialog.refusal
        dialog.reject()


@pytest.mark.parametrize(("button", "answer"), [("Replace", True), ("Cancel", False)])
def test_files_are_replaced_by_who_says_so(parent: QWidget, qtbot, button: str, answer: bool) -> None:
    seen: list[str] = []

    def click() -> None:
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        seen.append(box.informativeText())
        next(one for one in box.findChildren(QPushButton) if one.text().replace("&", "") == button).click()

    QTimer.singleShot(0, click)
    assert may_replace(parent, Path("/srv/cluster"), ["config.ini"]) is answer
    assert "/srv/cluster" in seen[0]
    assert "config.ini" in seen[0]


def test_a_few_are_named_and_the_others_counted() -> None:
    assert named(["a", "b", "c"]) == "a, b, c"
    assert named(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
