"""The guide inside the program: every page opens, links lead on, the search finds words."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QUrl
from PySide6.QtGui import QTextTable

from ndbplan.desktop.dialogs.guide_window import GuideWindow, folder, pages
from ndbplan.desktop.look import theme


@pytest.fixture
def guide(qtbot, qapp):
    theme.install(qapp, "light")
    window = GuideWindow()
    window.show()
    yield window
    window.close()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def shown(guide: GuideWindow) -> list[str]:
    """Titles of the pages in the list."""
    items = [guide.contents.item(i) for i in range(guide.contents.count())]
    return [item.text() for item in items if not item.isHidden()]


def test_it_begins_with_getting_started(guide) -> None:
    assert guide.page.toPlainText().startswith("Getting started")


def test_every_page_opens(guide) -> None:
    for name, _title in pages():
        guide.open(name)
        first = (folder() / name).read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
        assert guide.page.toPlainText().startswith(first)


def test_tables_are_tables(guide) -> None:
    guide.open("command-line.md")
    frames = guide.page.document().rootFrame().childFrames()
    assert any(isinstance(frame, QTextTable) and frame.rows() > 10 for frame in frames)


def test_links_lead_to_pages(guide) -> None:
    guide.page.anchorClicked.emit(QUrl("export.md"))
    assert guide.page.toPlainText().startswith("Export")


def test_the_search_finds_pages_and_marks_the_word(guide) -> None:
    everything = shown(guide)
    guide.search.setText("OPTIMIZE TABLE")
    assert shown(guide) == ["Operations: adding nodes, restarts"]
    assert guide.page.textCursor().selectedText() == "OPTIMIZE TABLE"
    guide.search.setText("a word that is nowhere")
    assert shown(guide) == []
    guide.search.clear()
    assert shown(guide) == everything


def test_it_follows_the_theme(guide, qapp) -> None:
    guide.open("simulation.md")
    theme.theme().set_mode("dark")
    assert guide.page.toPlainText().startswith("Simulation")
    theme.theme().set_mode("light")
