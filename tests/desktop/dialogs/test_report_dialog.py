"""Report…: pages follow the ticks, the file is written and opened, and dropped it gives its plan back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ndbplan.base.errors import UserError
from ndbplan.desktop.dialogs.report_dialog import ReportDialog
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.file_drops import may_carry, plan_inside, what_a_drop_does
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def opened(qtbot: QtBot) -> Iterator[ReportDialog]:
    document = Document()
    document.new(sample_plan("starter").replace(workloads=()))
    window = QWidget()
    qtbot.addWidget(window)
    dialog = ReportDialog(document, MessageBar(window, QWidget(window)))
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    only(dialog, "hardware")
    yield dialog
    qtbot.waitUntil(lambda: not dialog.tasks.is_busy, timeout=60_000)


def only(dialog: ReportDialog, *keys: str) -> None:
    for row in range(dialog.sections.count()):
        item = dialog.sections.item(row)
        ticked = item.data(Qt.ItemDataRole.UserRole) in keys
        item.setCheckState(Qt.CheckState.Checked if ticked else Qt.CheckState.Unchecked)


def shown(qtbot: QtBot, dialog: ReportDialog, settled: Callable[[], bool]) -> None:
    dialog.show_pages()
    qtbot.waitUntil(settled, timeout=60_000)


def test_pages_follow_the_ticks(qtbot: QtBot, opened: ReportDialog) -> None:
    shown(qtbot, opened, lambda: opened.state.text() == "" and opened._column.count() > 0)
    few = opened._column.count()
    only(opened, "hardware", "memory", "space", "configuration", "problems")
    shown(qtbot, opened, lambda: opened._column.count() > few)
    assert opened.options().sections == ("hardware", "memory", "space", "problems", "configuration")


def test_a_wrong_date_is_said(opened: ReportDialog) -> None:
    opened.day.setText("tomorrow")
    opened.show_pages()
    assert "'tomorrow' is no date" in opened.state.text()


def test_it_is_written_opened_and_gives_its_plan_back(
    qtbot: QtBot, opened: ReportDialog, tmp_path: Path
) -> None:
    target, seen = tmp_path / "starter.html", []
    opened.customer.setText("Example")
    opened.save_to(target, seen.append)
    qtbot.waitUntil(lambda: bool(seen), timeout=60_000)
    assert b"Example" in target.read_bytes()
    assert may_carry(target)
    assert what_a_drop_does([target]) == "Drop to open the plan inside starter.html"
    assert plan_inside(target).main == opened._document.plan


def test_a_page_without_a_plan_is_refused(tmp_path: Path) -> None:
    letter = tmp_path / "letter.html"
    letter.write_text("<!doctype html><p>Hello")
    with pytest.raises(UserError, match="no plan travels inside it"):
        plan_inside(letter)
    with pytest.raises(UserError, match="cannot be read"):
        plan_inside(tmp_path / "missing.pdf")
