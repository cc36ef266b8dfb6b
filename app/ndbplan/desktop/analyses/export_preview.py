"""Export preview: the files as they would be written, rendered anew after each edit."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from PySide6.QtCore import QRegularExpression, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QFont,
    QGuiApplication,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextDocument,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidgetItem,
    QPushButton,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ndbplan.desktop.analyses.panel import Empty, Panel
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.ask_folder import ask_folder, may_replace
from ndbplan.desktop.widgets.flow_layout import FlowLayout
from ndbplan.desktop.widgets.sections import Elided, label, link, spin_box
from ndbplan.desktop.widgets.what_runs import ask_what_runs
from ndbplan.desktop.widgets.whole_rows import Lines, Rows
from ndbplan.edits.first_steps import step
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.exporting.export import Running

_AT_ONCE = 120
_NAMES_PX, _BESIDE_NAMES_PX = 230, 34
_MOST_OF_NAMES = 0.34
"""Share of the room that names of files get; more of theirs is cut in its middle."""
"""Lines highlighted in one step."""


class ExportPanel(Panel):
    """List of files, the text of one, Export…"""

    name: ClassVar[str] = "Export preview"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._task: Task | None = None
        self._files: dict[str, str] = {}
        self._is_by_hand = False
        """Somebody has divided names and texts."""
        self.files = Rows()
        self.files.setProperty("look", "files")
        self.files.setAccessibleName("Files to export")
        self.files.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.files.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.files.currentTextChanged.connect(self._show_file)
        self.text = Lines()
        self.text.setProperty("look", "file")
        self.text.setFont(theme.mono_font())
        self.text.setAccessibleName("Text of the file")
        self._highlighter = Highlighter(self.text.document())
        self._state = Elided()
        self._state.hide()
        self.groups = spin_box()
        self.groups.setRange(1, 71)
        self.groups.setAccessibleName("Node groups that the runbook adds")
        self.groups.setToolTip("How many node groups the add-node part of the runbook adds")
        self.groups.valueChanged.connect(lambda _n: self.refresh())
        self._running: Path | None = None
        """The file of what runs, which the runbook brings to the plan."""
        self.change_from = QPushButton()
        self.change_from.clicked.connect(self._ask_running)
        self._forget = link("×", lambda: self.take_running(None), "Export without a change from what runs")
        copy = QPushButton("Copy")
        copy.setToolTip("Copy the text of this file")
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self.text.toPlainText()))
        self.export_button = QPushButton("Export…")
        self.export_button.setProperty("kind", "primary")
        self.export_button.setToolTip("Write all files into a folder")
        self.export_button.clicked.connect(self._ask_folder)
        counted = QWidget()
        beside = QHBoxLayout(counted)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.addWidget(label("Runbook adds node groups", "fieldLabel", wrap=False))
        beside.addWidget(self.groups)
        self._controls = QWidget()
        top = FlowLayout(self._controls, spacing=8)
        for widget in (counted, self.change_from, self._forget, copy, self.export_button):
            top.addWidget(widget)
        split = self._split = QSplitter(Qt.Orientation.Horizontal)
        split.setProperty("look", "gap")
        split.setHandleWidth(12)
        split.setChildrenCollapsible(False)
        split.addWidget(self.files)
        split.addWidget(self.text)
        split.setSizes([_NAMES_PX, 700])
        split.setStretchFactor(1, 1)
        split.splitterMoved.connect(lambda _at, _which: self._keep_shares())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 10, 16, 8)
        layout.setSpacing(8)
        self._empty = Empty()
        self._empty.step_wanted.connect(self.step_wanted)
        self._empty.say_step(step("hosts"))
        self._pages = QStackedWidget()
        self._pages.addWidget(self._empty)
        self._pages.addWidget(split)
        layout.addWidget(self._controls)
        layout.addWidget(self._state)
        layout.addWidget(self._pages, 1)
        theme.theme().changed.connect(self._highlighter.restyle)
        self._name_running()

    def take_running(self, path: Path | None) -> None:
        """What runs now: the runbook gets a part `change` that brings it to the plan; None: no such part."""
        self._running = path
        self._name_running()
        self.refresh()

    def _name_running(self) -> None:
        name = self._running.name if self._running else ""
        self.change_from.setText(f"Change from {name[:24]}" if name else "Change from…")
        self.change_from.setToolTip(
            "What runs now, as plan, config.ini or my.cnf: the runbook then brings it to this plan"
            + (f"\nNow: {self._running}" if name else "")
        )
        self._forget.setVisible(bool(name))

    def _ask_running(self) -> None:
        path = ask_what_runs(self, "What runs now")
        if path is not None:
            self.take_running(path)

    def refresh(self) -> None:
        if self._task is not None:
            self._task.cancel()
        plan, groups, running = self.context.plan, self.groups.value(), self._running
        self._controls.setVisible(bool(plan.data_nodes))
        self._pages.setCurrentIndex(int(bool(plan.data_nodes)))
        self._task = self.context.tasks.start(
            lambda task: _render(plan, groups, running, task.cancelled), self._rendered
        )

    def export_to(self, folder: Path) -> None:
        """Write all files into a folder, in a thread."""
        plan, groups, running = self.context.plan, self.groups.value(), self._running
        self._say("Writing…")
        self.context.tasks.start(lambda _task: _write(plan, folder, groups, running), self._written)

    def _ask_folder(self) -> None:
        from ndbplan.exporting.export import replaced

        folder = ask_folder(self, "Export into a folder")
        if folder is None:
            return
        others = replaced(self._files, folder)
        if not others or may_replace(self, folder, others):
            self.export_to(folder)

    def _written(self, outcome: Outcome) -> None:
        if outcome.error:
            self._say(outcome.error, is_error=True)
        elif not outcome.cancelled:
            count, folder = outcome.value
            self._say(f"{count} files written to {folder}")

    def _rendered(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self._task = None
        self._say(outcome.error, is_error=bool(outcome.error))
        self._files = {} if outcome.error else outcome.value
        names = list(self._files)
        if names != [self.files.item(i).text() for i in range(self.files.count())]:
            chosen = self.files.currentItem().text() if self.files.currentItem() else ""
            self.files.blockSignals(True)
            self.files.clear()
            for name in names:
                item = QListWidgetItem(name)
                item.setToolTip(name)
                self.files.addItem(item)
            self.files.setCurrentRow(names.index(chosen) if chosen in names else 0)
            self.files.blockSignals(False)
            self._share_out()
        self._show_file(self.files.currentItem().text() if self.files.currentItem() else "")

    def _keep_shares(self) -> None:
        self._is_by_hand = True

    def _share_out(self) -> None:
        """Give names the room that they take, and the texts of files most of it, until somebody drags."""
        names, whole = [self.files.item(i).text() for i in range(self.files.count())], self._split.width()
        if self._is_by_hand or not names:
            return
        metrics = self.files.fontMetrics()
        wanted = max(map(metrics.horizontalAdvance, names)) + _BESIDE_NAMES_PX
        left = min(wanted, max(_NAMES_PX, round(_MOST_OF_NAMES * whole)))
        self._split.setSizes([left, whole - left])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_out()

    def _show_file(self, name: str) -> None:
        text = self._files.get(name, "")
        if text == self.text.toPlainText():
            return
        bar = self.text.verticalScrollBar()
        at = bar.value()
        same_file = self.text.property("file") == name
        self._highlighter.set_kind(name.rpartition(".")[2])
        self._highlighter.start_over()
        self.text.setPlainText(text)
        self.text.setProperty("file", name)
        if same_file:
            bar.setValue(at)

    def _say(self, text: str, *, is_error: bool = False) -> None:
        self._state.setText(text)
        self._state.setVisible(bool(text))
        self._state.setProperty("look", "fieldError" if is_error else "muted")
        theme.restyle(self._state)


class Highlighter(QSyntaxHighlighter):
    """Sections, keys, comments, headings and commands of the exported files.

    The first lines at once, the rest of a long file in steps, so that the window answers in between.
    """

    _RULES: ClassVar[dict[str, tuple[tuple[str, str], ...]]] = {
        "ini": (
            (r"^\s*\[[^\]]*\]", "accent bold"),
            (r"^[^#;=\[]+(?==)", "info"),
            (r"^\s*[#;].*$", "muted"),
            (r"(?<=\s)#.*$", "muted"),
        ),
        "sh": (
            (r"\$\{?[A-Za-z_][A-Za-z0-9_]*\}?", "violet"),
            (r"'[^']*'|\"[^\"]*\"", "good"),
            (r"^\s*#.*$", "muted"),
            (r"^\s*(set|if|then|else|fi|for|do|done|while|exit|echo|function)\b", "accent"),
        ),
        "md": (
            (r"^#+ .*$", "accent bold"),
            (r"`[^`]*`", "good"),
            (r"^\s*(?:[-*]|[0-9]+\.) ", "info"),
            (r"\*\*[^*]+\*\*", "text_strong bold"),
            (r"^(?: {4}|\t).*$", "good"),
        ),
    }
    _KINDS: ClassVar[dict[str, str]] = {"cnf": "ini", "ini": "ini", "sh": "sh", "md": "md", "sql": "sh"}

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._kind = ""
        self._rules: list[tuple[QRegularExpression, QTextCharFormat]] = []
        self._fenced = QTextCharFormat()
        self._done_to = 0
        """Lines before this one are highlighted."""
        self._steps = QTimer(self)
        self._steps.timeout.connect(self._step)

    def start_over(self) -> None:
        """Another text follows."""
        self._done_to = _AT_ONCE
        self._steps.start(0)

    def _step(self) -> None:
        block = self.document().findBlockByNumber(self._done_to)
        self._done_to += _AT_ONCE
        if not block.isValid():
            self._steps.stop()
        while block.isValid() and block.blockNumber() < self._done_to:
            self.rehighlightBlock(block)
            block = block.next()

    def set_kind(self, suffix: str) -> None:
        """Highlight for another kind of file, by its suffix."""
        kind = self._KINDS.get(suffix, "")
        if kind != self._kind or not self._rules:
            self._kind = kind
            self._load()

    def restyle(self) -> None:
        """Take over the colours of the theme in use."""
        self._load()
        self.start_over()
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        if self.currentBlock().blockNumber() >= self._done_to:
            return
        for pattern, style in self._rules:
            matches = pattern.globalMatch(text)
            while matches.hasNext():
                match = matches.next()
                self.setFormat(match.capturedStart(), match.capturedLength(), style)
        if self._kind == "md":
            fence = re.match(r"\s*```", text) is not None
            inside = self.previousBlockState() == 1
            if inside or fence:
                self.setFormat(0, len(text), self._fenced)
            self.setCurrentBlockState(int(inside != fence))

    def _load(self) -> None:
        colours = theme.tokens()
        self._rules = []
        for pattern, look in self._RULES.get(self._kind, ()):
            token, _, weight = look.partition(" ")
            style = QTextCharFormat()
            style.setForeground(QColor(getattr(colours, token)))
            if weight:
                style.setFontWeight(QFont.Weight.DemiBold)
            self._rules.append((QRegularExpression(pattern), style))
        self._fenced = QTextCharFormat()
        self._fenced.setForeground(QColor(colours.good))


def _render(plan: Plan, groups: int, running: Path | None, cancelled: Callable[[], bool]) -> dict[str, str]:
    from ndbplan.exporting.export import render_files

    return render_files(plan, add_groups=groups, running=_what_runs(running, plan), cancelled=cancelled)


def _write(plan: Plan, folder: Path, groups: int, running: Path | None) -> tuple[int, Path]:
    from ndbplan.exporting.export import export

    what_runs = _what_runs(running, plan)
    return len(export(plan, folder, add_groups=groups, running=what_runs, replace=True)), folder


def _what_runs(path: Path | None, plan: Plan) -> Running | None:
    if path is None:
        return None
    from ndbplan.exporting.export import Running
    from ndbplan.importing.running import what_runs

    return Running(*what_runs(path, plan))
