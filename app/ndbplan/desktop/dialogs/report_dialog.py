"""Report…: what goes into it, as ticks beside its pages; written as HTML or PDF, and opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.files import FileError, write_atomically
from ndbplan.desktop.dialogs.frame import Dialog, side_by_side
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.look.text import as_it_is
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.desktop.widgets.open_outside import open_outside
from ndbplan.desktop.widgets.sections import label
from ndbplan.desktop.widgets.whole_rows import Rows
from ndbplan.plan.project import Project
from ndbplan.report.compose import SECTIONS, Options, is_day
from ndbplan.report.sources import Answers

_PAUSE_MS = 400
_PAGE_WIDTH = 560
_MOST_PAGES = 12
_INSIDE = (
    ("", "The whole plan goes along"),
    ("prices", "The plan goes along without prices"),
    ("plan", "The plan stays out"),
)
_FILTER = "HTML, one file (*.html);;PDF (*.pdf);;Slides (*.pptx)"
_PICTURES = "Pictures (*.png *.jpg *.jpeg *.svg)"
_ENDINGS = (".html", ".pdf", ".pptx")


@dataclass
class _Kept:
    """What is known of a plan, so that another tick asks only for what is new."""

    project: Project
    place: int
    workload: str
    without: str
    answers: Answers


@dataclass(frozen=True)
class _Pages:
    """A report as pictures of its first pages."""

    pages: tuple[bytes, ...]
    kept: _Kept


class ReportDialog(Dialog):
    """Pages follow each tick; nothing is written before a file is named."""

    def __init__(
        self,
        document: Document,
        messages: MessageBar,
        parent: QWidget | None = None,
        workload_id: str | None = None,
    ) -> None:
        """`workload_id`: the load that the window shows, which the report is about at first."""
        super().__init__("Report", "Save and open…", parent)
        self._document, self._messages = document, messages
        self._kept: _Kept | None = None
        self.resize(1040, 760)
        self.sections = Rows()
        self.sections.setAccessibleName("Sections")
        for kind in SECTIONS:
            item = QListWidgetItem(kind.title, self.sections)
            item.setData(Qt.ItemDataRole.UserRole, kind.key)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked if kind.slow else Qt.CheckState.Checked)
        self.customer = _edit("Customer")
        self.day = _edit("Date")
        self.day.setPlaceholderText("such as 2026-05-09")
        self.logo = _Logo()
        self.notes_of = QComboBox()
        self.notes_of.setAccessibleName("Section that the notes are for")
        for key, title in (("", "first page"), *((kind.key, kind.title) for kind in SECTIONS)):
            self.notes_of.addItem(f"Text for: {title}", key)
        self._notes: dict[str, str] = {}
        self.notes = QPlainTextEdit()
        self.notes.setTabChangesFocus(True)
        self.notes.setAccessibleName("Notes, in Markdown")
        self.notes.setPlaceholderText("Markdown: items, tables, **strong**, `code`")
        self.notes.setMaximumHeight(90)
        self.inside = QComboBox()
        self.inside.setAccessibleName("What travels inside the file")
        for key, words in _INSIDE:
            self.inside.addItem(words, key)
        self.workload = QComboBox()
        self.workload.setAccessibleName("Workload")
        for workload in document.plan.workloads:
            self.workload.addItem(workload.name, workload.id)
        self.workload.setCurrentIndex(max(0, self.workload.findData(workload_id)))
        self.variants = QCheckBox("All variants side by side")
        self.variants.setVisible(len(document.project.variants) > 1)
        self._pages = QWidget()
        self._column = QVBoxLayout(self._pages)
        self._column.setSpacing(16)
        self.preview = QScrollArea()
        self.preview.setAccessibleName("Preview")
        self.preview.setWidgetResizable(True)
        self.preview.setWidget(self._pages)
        self.body.addWidget(side_by_side(self._choices(), self.preview, (320, 720)), 1)
        self.add_foot(self.save)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_PAUSE_MS)
        self._soon.timeout.connect(self.show_pages)
        self.sections.itemChanged.connect(lambda _item: self._soon.start())
        for edit in (self.customer, self.day):
            edit.textChanged.connect(lambda _text: self._soon.start())
        self.notes.textChanged.connect(self._noted)
        self.notes_of.currentIndexChanged.connect(lambda _row: self._show_notes())
        self.sections.currentItemChanged.connect(self._section_chosen)
        self.logo.changed.connect(self._soon.start)
        self.logo.failed.connect(lambda line: self.state.say(line, is_error=True))
        self.inside.currentIndexChanged.connect(lambda _row: self._soon.start())
        self.workload.currentIndexChanged.connect(lambda _row: self._soon.start())
        self.variants.toggled.connect(lambda _on: self._soon.start())
        self.show_pages()

    def _choices(self) -> QWidget:
        form = QFormLayout()
        if self.workload.count() > 1:
            form.addRow("Workload", self.workload)
        form.addRow("Customer", self.customer)
        form.addRow("Date", self.day)
        form.addRow("Logo", self.logo)
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.sections, 1)
        column.addWidget(self.variants)
        column.addLayout(form)
        column.addWidget(self.notes_of)
        column.addWidget(self.notes)
        column.addWidget(self.inside)
        column.addWidget(
            label("Who has the file can open the plan inside it, and have every figure checked.", "muted")
        )
        return side

    def options(self) -> Options:
        """What is chosen."""
        rows = (self.sections.item(row) for row in range(self.sections.count()))
        ticked = (item for item in rows if item.checkState() == Qt.CheckState.Checked)
        names = self._document.project.names
        return Options(
            variant=names[self._document.shown] if self._document.shown else "",
            variants=names[:4] if self.variants.isChecked() else (),
            sections=tuple(str(item.data(Qt.ItemDataRole.UserRole)) for item in ticked),
            customer=self.customer.text().strip(),
            date=self.day.text().strip(),
            notes=self._all_notes(),
            logo=self.logo.data_url,
            workload=str(self.workload.currentData()) if self.workload.currentIndex() > 0 else "",
            without=str(self.inside.currentData()),
        )

    def _section_chosen(self, item: QListWidgetItem | None) -> None:
        """The notes are those of the section that somebody looks at."""
        if item is not None:
            self.notes_of.setCurrentIndex(self.notes_of.findData(item.data(Qt.ItemDataRole.UserRole)))

    def _noted(self) -> None:
        self._notes[str(self.notes_of.currentData())] = self.notes.toPlainText()
        self._soon.start()

    def _show_notes(self) -> None:
        self.notes.blockSignals(True)
        self.notes.setPlainText(self._notes.get(str(self.notes_of.currentData()), ""))
        self.notes.blockSignals(False)

    def _all_notes(self) -> str:
        """The notes as one text, each under the name of its section."""
        parts = [self._notes.get("", "").strip()]
        parts += [
            f"# {kind.key}\n{words}" for kind in SECTIONS if (words := self._notes.get(kind.key, "").strip())
        ]
        return "\n\n".join(part for part in parts if part)

    def show_pages(self) -> None:
        """Set the pages anew, in the background."""
        self.stop_task()
        options, project = self.options(), self._document.project
        if not is_day(options.date):
            self.state.say(f"'{options.date}' is not a date — type for example 2026-05-09", is_error=True)
            return
        self.state.say("Working it out…")
        self.task = self.tasks.start(_work(project, options, self._kept), self._pages_done)

    def _pages_done(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        if outcome.error:
            self.state.say(outcome.error, is_error=True)
            return
        found: _Pages = outcome.value
        self._kept = found.kept
        self.state.say("")
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for number, page in enumerate(found.pages, 1):
            self._column.addWidget(_Page(page, number), 0, Qt.AlignmentFlag.AlignHCenter)

    def save(self) -> None:
        """Ask for a file, write the report into it and open it."""
        folder = self._document.path.parent if self._document.path else Path.home()
        name, chosen = QFileDialog.getSaveFileName(
            self, "Save the report", str(folder / f"{Path(self._document.title).stem}.html"), _FILTER
        )
        if name:
            path = Path(name)
            self.save_to(
                path if path.suffix else path.with_suffix(next(end for end in _ENDINGS if end in chosen))
            )

    def save_to(self, path: Path, then: Callable[[Path], object] | None = None) -> None:
        """Write the report into a file; `then` is called with it, and opens it where nothing is said."""
        from ndbplan.report.write import report

        project, options = self._document.project, self.options()
        self._soon.stop()
        self.stop_task()
        self.state.say(f"Writing {path.name} …")

        def done(outcome: Outcome) -> None:
            if outcome.cancelled:
                return
            if outcome.error:
                self.state.say(outcome.error, is_error=True)
                return
            try:
                write_atomically(path, outcome.value)
            except FileError as error:
                self.state.say(error.line, is_error=True)
                return
            self.accept()
            if then is None:
                open_outside(path, self._messages, f"Saved {path}")
            else:
                self._messages.say("done", f"Saved {path}")
                then(path)

        self.task = self.tasks.start(
            lambda task: report(project, options, path.suffix.lower(), task.cancelled), done
        )


class _Logo(QWidget):
    """A picture for the head: chosen from a file, or taken away."""

    changed = Signal()
    failed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.data_url = ""
        self.choose = QPushButton("Choose…")
        self.choose.setAccessibleName("Logo")
        self.choose.setAutoDefault(False)
        self.choose.clicked.connect(self._ask)
        self.away = QPushButton("None")
        self.away.setAccessibleName("No logo")
        self.away.setAutoDefault(False)
        self.away.clicked.connect(lambda: self._take("", "Choose…"))
        self.away.hide()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.choose, 1)
        row.addWidget(self.away)

    def _ask(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "A logo", str(Path.home()), _PICTURES)
        if name:
            self.take_file(Path(name))

    def take_file(self, path: Path) -> None:
        """Take a picture from a file."""
        from ndbplan.report.logo import data_url

        try:
            self._take(data_url(path), path.name)
        except UserError as error:
            self.failed.emit(error.line)

    def _take(self, data: str, words: str) -> None:
        self.data_url = data
        self.choose.setText(as_it_is(words))
        self.away.setVisible(bool(data))
        self.changed.emit()


def _edit(name: str) -> QLineEdit:
    edit = QLineEdit()
    edit.setAccessibleName(name)
    return edit


class _Page(QWidget):
    """A page as wide as there is room for, and no wider than it is read well."""

    def __init__(self, picture: bytes, number: int) -> None:
        super().__init__()
        self.setAccessibleName(f"Page {number}")
        self._pixmap = QPixmap()
        self._pixmap.loadFromData(picture)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMaximumWidth(_PAGE_WIDTH)
        self._be_as_high(_PAGE_WIDTH)

    def _be_as_high(self, width: int) -> None:
        self.setFixedHeight(round(width * self._pixmap.height() / max(1, self._pixmap.width())))

    def sizeHint(self) -> QSize:
        return QSize(_PAGE_WIDTH, self.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._be_as_high(event.size().width())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        ratio = self.devicePixelRatioF()
        size = QSize(round(self.width() * ratio), round(self.height() * ratio))
        # Scaled in one step, small letters would be ragged.
        way = Qt.TransformationMode.SmoothTransformation
        painter.drawPixmap(self.rect(), self._pixmap.scaled(size, mode=way))
        painter.end()


def _work(project: Project, options: Options, kept: _Kept | None) -> Callable[[Task], _Pages]:
    """The pages of a report; what an earlier one has worked out of the same plan is not asked again."""

    def work(task: Task) -> _Pages:
        from ndbplan.base.kept import keeping
        from ndbplan.report.evidence import ask
        from ndbplan.report.pdf import pages_of
        from ndbplan.report.write import made_of

        with keeping():
            about = ask(project, options)
            now = _Kept(
                project, about.place, options.workload, options.without, Answers(about, task.cancelled)
            )
            if kept is not None and _same(kept, now) and not options.variants:
                now = replace(kept, answers=replace(kept.answers, cancelled=task.cancelled))
            made = made_of(now.answers, options)
            return _Pages(tuple(pages_of(made.document, _MOST_PAGES)), now)

    return work


def _same(one: _Kept, two: _Kept) -> bool:
    return (one.project is two.project or one.project == two.project) and (
        (one.place, one.workload, one.without) == (two.place, two.workload, two.without)
    )
