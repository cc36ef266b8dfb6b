"""Report…: pages follow the ticks, the file is written and opened, and dropped it gives its plan back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.conftest import Shown
from ndbplan.base.errors import UserError
from ndbplan.demo.files import DEMOS, project_of
from ndbplan.demo.page import page
from ndbplan.desktop.dialogs.report_dialog import ReportDialog
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.file_drops import may_carry, plan_inside, what_a_drop_does
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.plan.project import Project
from ndbplan.plan.samples import sample_plan
from ndbplan.report.compose import Options
from ndbplan.report.write import report


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


def pages(qtbot: QtBot, dialog: ReportDialog, settled: Callable[[], bool]) -> None:
    dialog.show_pages()
    qtbot.waitUntil(settled, timeout=60_000)


@pytest.mark.parametrize("width", [700, 1100])
def test_a_page_is_seen_whole_across(qtbot: QtBot, opened: ReportDialog, width: int) -> None:
    opened.resize(width, 600)
    opened.show()
    pages(qtbot, opened, lambda: opened.state.text() == "" and opened._column.count() > 0)
    page = opened._column.itemAt(0).widget()
    assert page is not None
    qtbot.waitUntil(lambda: page.width() > 200)
    assert opened.preview.horizontalScrollBar().maximum() == 0
    assert page.height() == pytest.approx(page.width() * 297 / 210, rel=0.01), "A4"


def test_pages_follow_the_ticks(qtbot: QtBot, opened: ReportDialog) -> None:
    pages(qtbot, opened, lambda: opened.state.text() == "" and opened._column.count() > 0)
    few = opened._column.count()
    only(opened, "hardware", "memory", "space", "configuration", "problems")
    pages(qtbot, opened, lambda: opened._column.count() > few)
    assert opened.options().sections == ("hardware", "memory", "space", "problems", "configuration")


def test_the_report_is_about_the_load_that_the_window_shows(qtbot: QtBot) -> None:
    document, window = Document(), QWidget()
    document.new(sample_plan("disk-data-8.4"))
    qtbot.addWidget(window)
    dialog = ReportDialog(document, MessageBar(window, QWidget(window)), window, "random-read")
    dialog.stop_task()
    assert (dialog.workload.currentText(), dialog.options().workload) == (
        "Random reads, 20 threads", "random-read",
    )  # fmt: skip
    dialog.workload.setCurrentIndex(0)
    assert dialog.options().workload == ""
    dialog._soon.stop()
    qtbot.waitUntil(lambda: not dialog.tasks.is_busy, timeout=60_000)


def test_a_wrong_date_is_said(opened: ReportDialog) -> None:
    opened.day.setText("tomorrow")
    opened.show_pages()
    assert "'tomorrow' is not a date" in opened.state.text()


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
    found = plan_inside(target)
    assert found.project.main == opened._document.plan
    # It has one section, and hardware is seen on the canvas.
    assert (found.tab, plan_inside(target, "memory").tab) == ("", "Memory")


def test_a_logo_and_a_text_for_each_section(opened: ReportDialog, tmp_path: Path) -> None:
    picture = tmp_path / "logo.svg"
    picture.write_text("<svg/>")
    opened.logo.take_file(picture)
    opened.notes.setPlainText("For all.")
    opened.sections.setCurrentRow(2)
    assert opened.notes_of.currentText() == "Text for: Tables and memory"
    assert opened.notes.toPlainText() == ""
    opened.notes.setPlainText("Grows **fast**.")
    opened.notes_of.setCurrentIndex(0)
    assert opened.notes.toPlainText() == "For all."
    options = opened.options()
    assert options.notes == "For all.\n\n# memory\nGrows **fast**."
    assert options.logo == "data:image/svg+xml;base64,PHN2Zy8+"
    opened.logo.take_file(tmp_path / "logo.gif")
    assert "'.gif' is not a kind of picture" in opened.state.text()
    opened.logo.away.click()
    assert opened.options().logo == ""


def test_a_page_of_a_demo_opens_at_its_scene(tmp_path: Path) -> None:
    demo = DEMOS.find("slow-disk").value
    demo = demo.model_copy(update={"scenes": demo.scenes[2:7:4]})
    path = tmp_path / "demo.html"
    path.write_bytes(page(demo, demo.starts[0], project_of(demo, demo.starts[0])))
    assert plan_inside(path)[1:] == ("", "")
    assert plan_inside(path, "scene-2")[1:] == ("Simulation", "Checkpoints elsewhere")
    assert plan_inside(path, "scene-9")[1:] == ("", "")


def test_a_report_dropped_at_a_section_shows_it(shown: Shown, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    plan = sample_plan("add-nodes")
    path.write_bytes(report(Project.of(plan), Options(sections=("hardware", "failures")), ".html"))
    window = shown("starter", 1366, 768)
    url = QUrl.fromLocalFile(str(path))
    url.setFragment("failures")
    data = QMimeData()
    data.setUrls([url])
    drop = QDropEvent(
        QPointF(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    assert window.file_drops.eventFilter(window, drop)
    assert window.document.plan == plan
    assert window.panels.tab == "Failures"


def test_a_page_without_a_plan_is_refused(tmp_path: Path) -> None:
    letter = tmp_path / "letter.html"
    letter.write_text("<!doctype html><p>Hello")
    with pytest.raises(UserError, match="no plan travels inside it"):
        plan_inside(letter)
    with pytest.raises(UserError, match="cannot be read"):
        plan_inside(tmp_path / "missing.pdf")
