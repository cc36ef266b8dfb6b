"""Import: files and pasted text from a running cluster, what each was taken for, and what it would change."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
)
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_bytes, how_many
from ndbplan.desktop.dialogs.frame import Dialog, side_by_side
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome, Task
from ndbplan.desktop.widgets.listing import Listing
from ndbplan.importing.kinds import KINDS
from ndbplan.ndb.version import SERIES
from ndbplan.plan.plan import EMPTY_PLAN, Plan

if TYPE_CHECKING:
    from ndbplan.importing.imported import Imported

_AS_IT_SAYS, _WHICH = "as the file says", "which one?"
_ROW_HEIGHT = 32
"""Under both lists, so that they end alike."""
_HINT = """Drop files here, add them, or paste text:

config.ini
CREATE TABLE, mysqldump --no-data
ndb_desc -p, INFORMATION_SCHEMA.TABLES
ndbinfo.memory_per_fragment
fio, iostat, ndbinfo.restart_info
ALL STATUS, REPORT MEMORYUSAGE"""
_FILTER = "What is read (*.ini *.cnf *.sql *.txt *.tsv *.csv *.json *.log);;All files (*)"
_ICONS = {"error": "circle-x", "warning": "triangle-alert", "changed": "circle-check"}


class ImportDialog(Dialog):
    """Sources on the left, what they say on the right; deletes itself when it is closed."""

    def __init__(
        self,
        document: Document,
        start_with: Callable[[Callable[[], Plan]], bool],
        parent: QWidget | None = None,
    ) -> None:
        """`start_with` opens a plan as a new one, after asking about unsaved edits; False: it stays."""
        super().__init__("Import", "Import", parent)
        self.setAcceptDrops(True)
        self.resize(960, 560)
        self._document = document
        self._start_with = start_with
        self._contents: dict[str, bytes] = {}
        self._refused: list[str] = []
        """Files of the last turn that could not be read."""
        self._read_onto: Plan | None = None
        self._imported: Imported | None = None
        self.sources = _listing("What is imported", _HINT)
        self.findings = _listing("What it says", "What the files say is listed here before it is imported.")
        self.target = self._choice("Put into", "Where the import goes", ("this plan", "a new plan"))
        self.version = self._choice("NDB", "Version the configuration is for", (_AS_IT_SAYS, *SERIES))
        self._must_choose = False
        """Whether several versions fit the configuration and nobody has said which it is for."""
        self.device = self._choice("Device", "Which device of iostat it was", ())
        self.disk = self._choice("Measured", "Disk that fio or iostat measured", ("found by name",))
        self.disk.setItemData(0, ())
        for host in document.plan.hosts:
            for disk in host.disks:
                self.disk.addItem(f"{host.hostname} / {disk.name}", (disk.id,))
        ids = tuple(disk.id for host in document.plan.hosts for disk in host.disks)
        if len(ids) > 1:
            self.disk.addItem("every disk", ids)
        self._build()
        if document.plan is EMPTY_PLAN:
            self.target.setCurrentIndex(1)
        for box in (self.target, self.version, self.device, self.disk):
            box.currentIndexChanged.connect(self._read)
        self._read()

    def _build(self) -> None:
        add = QPushButton("Add files…")
        add.clicked.connect(self._ask_files)
        paste = QPushButton("Paste text")
        paste.setToolTip("What the clipboard holds, such as the output of ndb_desc (Ctrl+V)")
        paste.clicked.connect(self.paste)
        self._remove = QPushButton("Remove")
        self._remove.clicked.connect(self._remove_selected)
        self.sources.itemSelectionChanged.connect(self._show_what_can_be_done)
        choices = [w for box in self._labels for w in (self._labels[box], box)]
        left = _pane(self.sources, (add, paste, self._remove))
        right = _pane(self.findings, choices)
        self.body.addWidget(side_by_side(left, right, (380, 560)), 1)
        self.add_foot(self.put_in)

    def _choice(self, text: str, says: str, offers: Iterable[str]) -> QComboBox:
        box = QComboBox()
        box.setAccessibleName(says)
        box.setToolTip(says)
        box.addItems(list(offers))
        words = QLabel(text)
        words.setBuddy(box)
        self._labels = {**getattr(self, "_labels", {}), box: words}
        return box

    # What is imported

    def add_files(self, paths: Iterable[Path]) -> None:
        """Read files; those that cannot be read are named and the others stay."""
        from ndbplan.importing.files import read_file

        self._refused = []
        for path in paths:
            try:
                if path.exists() and not path.is_file():
                    what = "this is a folder" if path.is_dir() else "this is not a file"
                    raise UserError(what, where=str(path), fix="give the files themselves")
                self._contents[self._free_name(path.name)] = read_file(path)
            except UserError as error:
                self._refused.append(error.line)
        self._list_sources()
        self._read()

    def paste(self) -> None:
        """Take the clipboard's text as one more source."""
        text = QGuiApplication.clipboard().text()
        if not text.strip():
            self.state.say("The clipboard holds no text.", is_error=True)
            return
        self._refused = []
        self._contents[self._free_name("pasted text")] = text.encode("utf-8", "replace")
        self._list_sources()
        self._read()

    def _free_name(self, name: str) -> str:
        number = 2
        free = name
        while free in self._contents:
            free, number = f"{name} ({number})", number + 1
        return free

    def _remove_selected(self) -> None:
        self._refused = []
        for item in self.sources.selectedItems():
            del self._contents[item.data(Qt.ItemDataRole.UserRole)]
        self._list_sources()
        self._read()

    def _list_sources(self) -> None:
        self.sources.clear()
        for name, content in self._contents.items():
            item = self.sources.add(f"{name}\n{format_bytes(len(content))}", "file-text", data=name)
            item.setSizeHint(QSize(0, 44))
        self._show_what_can_be_done()

    # What it says

    def _read(self) -> None:
        self.stop_task()
        self._imported, self._must_choose = None, False
        self._show_what_can_be_done()
        if not self._contents:
            self._list_refused()
            self._offer_what_fits({})
            self.state.say("Nothing could be read." if self._refused else "", is_error=bool(self._refused))
            return
        base = self._document.plan if self.target.currentIndex() == 0 else None
        version = self.version.currentText() if self.version.currentIndex() > 0 else None
        disks = self.disk.currentData() or () if base is not None else ()
        device = self.device.currentText() if self.device.currentIndex() > 0 else None
        contents = dict(self._contents)
        self._read_onto = base
        self.state.say("Reading…")
        self.task = self.tasks.start(
            lambda task: _imported(contents, base, version, disks, device, task), self._was_read
        )

    def _was_read(self, outcome: Outcome) -> None:
        if outcome.cancelled:
            return
        self.task = None
        self._list_refused()
        if outcome.error:
            self.state.say(outcome.error, is_error=True)
            return
        imported: Imported = outcome.value
        self._offer_devices(imported.devices)
        self._offer_what_fits(dict(imported.kinds))
        if "config" in imported.kinds.values() and self._read_onto is not None:
            # Choosing the other target reads again.
            self.target.setCurrentIndex(1)
            return
        self._ask_for_the_version(imported.fits)
        self._imported = imported
        for i in range(self.sources.count()):
            item = self.sources.item(i)
            name = item.data(Qt.ItemDataRole.UserRole)
            reader = KINDS.get(imported.kinds.get(name, ""))
            kind = "not read" if reader is None else reader.title
            item.setText(f"{name}\n{kind} · {format_bytes(len(self._contents[name]))}")
        for finding in sorted(imported.findings, key=lambda finding: finding.severity):
            place = finding.file if finding.line is None else f"{finding.file}, line {finding.line}"
            remedy = f" — {finding.fix}" if finding.fix else ""
            self._say_finding(finding.severity, f"{place}: {finding.message}{remedy}")
        for change in imported.changes:
            self._say_finding("changed", change)
        changes, notes = len(imported.changes), len(imported.findings) + len(self._refused)
        if self._must_choose:
            fits = ", ".join(imported.fits)
            self.state.say(f"Which version is it for? {fits} fit it alike: choose one.", is_error=True)
        else:
            self.state.say(
                f"{how_many(changes, 'change')}, {how_many(notes, 'note')}"
                if changes or notes
                else "Everything the import says is in the plan already."
            )
        self._show_what_can_be_done()

    def _ask_for_the_version(self, fits: Sequence[str]) -> None:
        """Let a person say which version a configuration is for, where several fit it alike."""
        self._must_choose = len(fits) > 1
        if self.version.currentIndex() == 0:
            self.version.setItemText(0, _WHICH if self._must_choose else _AS_IT_SAYS)

    def _offer_what_fits(self, kinds: dict[str, str]) -> None:
        """Show the choices that matter for these kinds."""
        has_config = "config" in kinds.values()
        self.target.setEnabled(not has_config)
        self._show_choice(self.version, shown=has_config)
        measured = "measurements" in kinds.values() and self.target.currentIndex() == 0
        self._show_choice(self.device, shown=measured and self.device.count() > 2)
        self._show_choice(self.disk, shown=measured and self.disk.count() > 1)

    def _offer_devices(self, names: list[str]) -> None:
        """The busy devices of iostat, to be told which of them a disk is."""
        offered = ["by name", *names]
        if offered == [self.device.itemText(i) for i in range(self.device.count())]:
            return
        self.device.blockSignals(True)
        self.device.clear()
        self.device.addItems(offered)
        self.device.blockSignals(False)

    def _show_choice(self, box: QComboBox, *, shown: bool) -> None:
        box.setVisible(shown)
        self._labels[box].setVisible(shown)

    def _list_refused(self) -> None:
        self.findings.clear()
        for line in self._refused:
            self._say_finding("error", line)

    def _say_finding(self, severity: str, text: str) -> None:
        colour = severity if severity in ("error", "warning") else "good"
        self.findings.add(text, _ICONS[severity], colour)

    def _show_what_can_be_done(self) -> None:
        self._remove.setEnabled(bool(self.sources.selectedItems()))
        imported = self._imported
        ready = imported is not None and bool(imported.changes) and not self._must_choose
        self.take.setEnabled(ready)

    # Taking it

    def put_in(self) -> None:
        """Put what was read into the plan as one undoable step, or open it as a new plan."""
        imported = self._imported
        if imported is None or self._must_choose:
            return
        if self._read_onto is None:
            if self._start_with(lambda: imported.plan):
                self.accept()
            return
        if self._read_onto is not self._document.plan:
            self._read()
            return
        names = list(self._contents)
        self._document.edit(
            f"Import {names[0]}" if len(names) == 1 else f"Import {len(names)} files", imported.plan
        )
        self.accept()

    def _ask_files(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, "Import", "", _FILTER)
        if names:
            self.add_files(Path(name) for name in names)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Paste):
            self.paste()
        elif event.key() == Qt.Key.Key_Delete and self.sources.hasFocus():
            self._remove_selected()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.add_files(Path(url.toLocalFile()) for url in event.mimeData().urls() if url.toLocalFile())


def _pane(listing: QWidget, below: Iterable[QWidget]) -> QWidget:
    """A list with a row of widgets under it."""
    pane = QWidget()
    column = QVBoxLayout(pane)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(8)
    column.addWidget(listing, 1)
    row = QHBoxLayout()
    row.setSpacing(8)
    row.addStrut(_ROW_HEIGHT)
    for widget in below:
        row.addWidget(widget)
    row.addStretch(1)
    column.addLayout(row)
    return pane


def _listing(name: str, hint: str) -> Listing:
    listing = Listing(name, hint)
    listing.setProperty("look", "listing")
    listing.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    listing.setSelectionMode(Listing.SelectionMode.ExtendedSelection)
    # Drops belong to the dialog, wherever they land.
    listing.setAcceptDrops(False)
    listing.viewport().setAcceptDrops(False)
    return listing


def _imported(
    contents: dict[str, bytes],
    base: Plan | None,
    version: str | None,
    disk_ids: tuple[str, ...],
    device: str | None,
    task: Task,
) -> Imported:
    from ndbplan.importing.files import import_files

    devices = {device: disk_ids} if device is not None and disk_ids else None
    return import_files(
        contents, base, version, disk_ids, devices=devices, lenient=True, cancelled=task.cancelled
    )
