"""The user guide beside the work: its pages, what they link to, and a search through all of them."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import (
    QBrush,
    QColor,
    QDesktopServices,
    QImage,
    QKeySequence,
    QShortcut,
    QTextBlock,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextTable,
)
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QListWidgetItem,
    QSplitter,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.resources import resource_path
from ndbplan.desktop.dialogs.frame import fit_on_screen
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.search_field import SearchField
from ndbplan.desktop.widgets.whole_rows import Rows
from ndbplan.ndb.errors import NdbError, every_error

FIRST_PAGE = "getting-started.md"
_NAME = Qt.ItemDataRole.UserRole
_PICTURE_WIDTH = 640


@cache
def pages() -> tuple[tuple[str, str], ...]:
    """(file, title) of each page, in the order of the table of contents."""
    titled: list[tuple[str, str]] = []
    for line in (folder() / "index.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("- ["):
            title, _, rest = line[3:].partition("](")
            titled.append((rest.partition(")")[0], title))
    return tuple(titled)


@cache
def errors_told() -> tuple[NdbError, ...]:
    """The errors of the product that the page about simulation explains."""
    text = (folder() / "simulation.md").read_text(encoding="utf-8")
    told = {int(code) for row in re.findall(r"^\| ([0-9, ]+) \|", text, re.M) for code in row.split(", ")}
    return tuple(error for code, error in every_error().items() if code in told)


def folder() -> Path:
    """Where the pages lie."""
    return resource_path("guide")


class _Page(QTextBrowser):
    """Shows screenshots smoothly, no wider than a page."""

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        url = QUrl(name)
        if kind == QTextDocument.ResourceType.ImageResource.value:
            picture = QImage(os.fspath(folder() / url.path()))
            if picture.width() > _PICTURE_WIDTH:
                ratio = self.devicePixelRatioF()
                picture = picture.scaledToWidth(
                    round(_PICTURE_WIDTH * ratio), Qt.TransformationMode.SmoothTransformation
                )
                picture.setDevicePixelRatio(ratio)
            return picture
        return super().loadResource(kind, url)


class GuideWindow(QDialog):
    """A window of its own, so that the plan stays usable beside it; deletes itself when it is closed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Guide")
        self.resize(980, 720)
        fit_on_screen(self)
        self.search = SearchField()
        self.search.setPlaceholderText("Search the guide")
        self.search.setAccessibleName("Search the guide")
        self.contents = Rows()
        self.contents.setAccessibleName("Pages of the guide")
        for name, title in pages():
            item = QListWidgetItem(title)
            item.setData(_NAME, name)
            self.contents.addItem(item)
        self.page = _Page()
        self.page.setAccessibleName("Page of the guide")
        self.page.setOpenLinks(False)
        self.page.setSearchPaths([str(folder())])
        self.page.document().setDocumentMargin(20)
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(12, 12, 0, 12)
        column.addWidget(self.search)
        column.addWidget(self.contents, 1)
        parts = QSplitter()
        parts.addWidget(side)
        parts.addWidget(self.page)
        parts.setSizes([260, 720])
        parts.setStretchFactor(1, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(parts)
        self.search.textChanged.connect(self._find)
        self.contents.currentItemChanged.connect(self._chosen)
        self.page.anchorClicked.connect(self._follow)
        theme.theme().changed.connect(self._restyle)
        find = QShortcut(QKeySequence.StandardKey.Find, self)
        find.activated.connect(self.search.setFocus)
        self._restyle()
        self.open(FIRST_PAGE)

    def open(self, name: str) -> None:  # type: ignore[override]  # a page, not the dialog
        """Show a page of the guide by its file name."""
        for i in range(self.contents.count()):
            if self.contents.item(i).data(_NAME) == name:
                self.contents.setCurrentRow(i)
                return

    def _chosen(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        self.page.setSource(QUrl(item.data(_NAME)), QTextDocument.ResourceType.MarkdownResource)
        _give_air(self.page.document())
        self._mark()

    def _follow(self, url: QUrl) -> None:
        if url.isRelative():
            self.open(Path(url.path()).name)
        elif url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)

    def _find(self, text: str) -> None:
        """Show only pages that hold the text, and go to it in the first of them."""
        first: QListWidgetItem | None = None
        for i in range(self.contents.count()):
            item = self.contents.item(i)
            content = (folder() / item.data(_NAME)).read_text(encoding="utf-8")
            holds = text.casefold() in content.casefold()
            item.setHidden(not holds)
            if holds and first is None:
                first = item
        current = self.contents.currentItem()
        if first is not None and (current is None or current.isHidden()):
            self.contents.setCurrentItem(first)
        self._mark()

    def _mark(self) -> None:
        text = self.search.text()
        cursor = self.page.textCursor()
        cursor.setPosition(0)
        self.page.setTextCursor(cursor)
        if text:
            self.page.find(text)

    def _restyle(self) -> None:
        # Markdown takes the colours of links and tables when it is read.
        current = self.contents.currentItem()
        if current is not None:
            self.page.clear()
            self._chosen(current)


def _give_air(document: QTextDocument) -> None:
    """Space between paragraphs and around headings, and quiet tables: Markdown comes without."""
    tokens = theme.tokens()
    whole = QTextCursor(document)
    # One step for all: each alone would lay out a long table again.
    whole.beginEditBlock()
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            look = frame.format()
            look.setCellPadding(6)
            look.setBorderCollapse(True)
            look.setBorder(1)
            look.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
            look.setBorderBrush(QBrush(QColor(tokens.line)))
            look.setTopMargin(6)
            look.setBottomMargin(12)
            frame.setFormat(look)
    block = document.begin()
    while block.isValid():
        cursor = QTextCursor(block)
        in_table = cursor.currentTable() is not None
        change = QTextBlockFormat()
        spacing = 100.0 if _has_picture(block) else 128.0
        change.setLineHeight(spacing, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        if block.blockFormat().headingLevel():
            change.setTopMargin(20.0)
            change.setBottomMargin(8.0)
        elif not in_table:
            change.setBottomMargin(4.0 if block.textList() is not None else 9.0)
        cursor.mergeBlockFormat(change)
        block = block.next()
    whole.endEditBlock()


def _has_picture(block: QTextBlock) -> bool:
    pieces = block.begin()
    while not pieces.atEnd():
        if pieces.fragment().charFormat().isImageFormat():
            return True
        pieces += 1
    return False
