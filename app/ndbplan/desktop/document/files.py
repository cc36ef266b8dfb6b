"""File flow: new, open, save, save as, close — the questions they ask, and what they say when they fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from ndbplan.base.errors import UserError
from ndbplan.base.files import write_atomically
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.document.shared_file import SharedFile, Theirs, content_of, takes_files
from ndbplan.plan.file import SUFFIX
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project

_FILTER = f"Plans (*{SUFFIX});;All files (*)"


class FileFlow(QObject):
    """Acts on one document for one window."""

    failed = Signal(str)
    """One line: what could not be read or written, and what to do."""
    noticed = Signal(str)
    """One line: what is to be known of the plan that is open now."""
    offered = Signal(str, str, object)
    """One line, a button and what it does."""
    saved = Signal(object)
    """Path of the file just written."""
    shown = Signal()
    """Another plan is open now."""

    def __init__(self, document: Document, preferences: Preferences, window: QWidget) -> None:
        super().__init__(window)
        self._document = document
        self._preferences = preferences
        self._window = window
        self.ask_whose: Callable[[Path, Theirs], str] = lambda _path, _theirs: "cancel"
        """`theirs`, `mine`, `copy` or `cancel`: what becomes of what somebody else wrote meanwhile."""
        self.is_shown_elsewhere: Callable[[Path], bool] = lambda _path: False
        """Whether another window of this program has a file open; that one comes to the front then."""
        self.shared = SharedFile(document, self)
        self.shared.changed_elsewhere.connect(self._tell_of_change)

    # The questions; tests answer them in place of a person.

    def ask_open(self) -> Path | None:
        """Which file to open."""
        from PySide6.QtWidgets import QFileDialog

        start = self._document.path.parent if self._document.path else Path.home()
        name, _ = QFileDialog.getOpenFileName(self._window, "Open a plan", str(start), _FILTER)
        return Path(name) if name else None

    def ask_save(self) -> Path | None:
        """Which file to write."""
        from PySide6.QtWidgets import QFileDialog

        start = self._document.path or Path.home() / f"{_file_name(self._document.plan.name)}{SUFFIX}"
        theirs = self.shared.theirs()
        if not takes_files(start.parent):
            start = Path.home() / start.name
            start = _copy_of(start) if start.exists() else start
        elif self.shared.is_read_only or (theirs is not None and not theirs.is_gone):
            # What the file holds is somebody else's: Enter must not write over it.
            start = _copy_of(start)
        name, _ = QFileDialog.getSaveFileName(self._window, "Save the plan", str(start), _FILTER)
        if not name:
            return None
        path = Path(name)
        return path if path.suffix else path.with_suffix(SUFFIX)

    def ask_unsaved(self) -> str:
        """`save`, `discard` or `cancel`: what becomes of the unsaved edits."""
        from PySide6.QtGui import QIcon
        from PySide6.QtWidgets import QMessageBox

        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.NoIcon)
        box.setWindowTitle("Unsaved changes")
        box.setText(f"Save the changes to {self._document.title}?")
        box.setInformativeText("Without saving, everything since the last save is lost.")
        save = box.addButton(QMessageBox.StandardButton.Save)
        discard = box.addButton("Do not save", QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(QMessageBox.StandardButton.Cancel)
        save.setProperty("kind", "primary")
        for button in box.buttons():
            button.setIcon(QIcon())
        box.setDefaultButton(QMessageBox.StandardButton.Save)
        box.exec()
        clicked = box.clickedButton()
        return "save" if clicked is save else "discard" if clicked is discard else "cancel"

    # What the actions do

    def may_leave(self) -> bool:
        """Whether the open plan may go: it is saved, or a person has decided."""
        if not self._document.is_modified:
            return True
        answer = self.ask_unsaved()
        if answer == "save":
            return self.save()
        return answer == "discard"

    def new(self) -> None:
        """An empty plan."""
        if self.may_leave():
            self._document.new()
            self.shown.emit()

    def start_with(self, make: Callable[[], Plan | Project], *, modified: bool = False) -> bool:
        """A new plan without a file; `modified`: closing it asks, as what was imported is work."""
        if not self.may_leave():
            return False
        try:
            self._document.new(make(), modified=modified)
        except UserError as error:
            self.failed.emit(error.line)
            return False
        self.shown.emit()
        return True

    def open(self, path: Path | None = None) -> bool:
        """Open a file, asking which when none is named; the open plan stays when that fails."""
        if path is not None and self.is_shown_elsewhere(path):
            return True
        if not self.may_leave():
            return False
        chosen = path or self.ask_open()
        if chosen is None:
            return False
        if path is None and self.is_shown_elsewhere(chosen):
            return True
        # What is there before it is read: what comes between reading and looking is somebody else's.
        content = content_of(chosen)
        try:
            notice = self._document.open(chosen)
        except UserError as error:
            self.failed.emit(error.line)
            return False
        self.shared.know(content)
        self._preferences.add_recent(chosen.absolute())
        self.shown.emit()
        notices = [text for text in (notice, *self._of_others(chosen)) if text]
        if notices:
            self.noticed.emit(" ".join(notices))
        return True

    def _of_others(self, path: Path) -> Iterator[str]:
        """What is to be known of a file that others use too, or that cannot be written."""
        if self.shared.is_read_only:
            yield f"{path.name} is read-only: Save asks for another name."
        if self.shared.holder:
            yield (
                f"{path.name} is open in {self.shared.holder} too. Before a save would overwrite "
                "what somebody else saved, you are asked."
            )

    def _tell_of_change(self) -> None:
        path, theirs = self._document.path, self.shared.theirs()
        if path is None or theirs is None:
            return
        if theirs.project is None:
            # Whoever closes the window now loses what only it has.
            self._document.lose_file()
            what = "gone" if theirs.is_gone else f"no plan any more: {theirs.error}"
            save = "writes it again" if theirs.is_gone else "asks what is to stay"
            self.noticed.emit(f"{path.name} is {what}. What is shown here is kept; Save {save}.")
        elif self._document.is_modified:
            self.noticed.emit(
                f"{path.name} was saved by somebody else. Your changes are kept; Save shows what differs."
            )
        else:
            self.offered.emit(f"{path.name} was saved by somebody else.", "Take theirs", self.take_theirs)

    def take_theirs(self) -> None:
        """Show what somebody else wrote, as a step that can be undone."""
        path, theirs = self._document.path, self.shared.theirs()
        content = content_of(path)
        if path is None or theirs is None or theirs.project is None:
            self.failed.emit(f"There is nothing to take{f': {theirs.error}' if theirs else ''}.")
            return
        self.shared.know(content)
        self._document.take_from_file(theirs.project)
        self.noticed.emit(f"This is what {path.name} holds now. Undo brings yours back.")

    def save(self) -> bool:
        """Write to the plan's file; a plan without one asks. False: not written, still open."""
        path = self._document.path
        if path is None or self.shared.is_read_only:
            return self._write(self.ask_save())
        theirs = self.shared.theirs()
        if theirs is None or theirs.is_gone:
            return self._write(path)
        answer = self.ask_whose(path, theirs)
        if answer == "theirs":
            self.take_theirs()
            return not self._document.is_modified
        if answer == "cancel":
            return False
        if answer != "mine":
            return self._write(self.ask_save())
        kept = self._keep_theirs(path)
        if kept is None or not self._write(path):
            return False
        self.noticed.emit(f"Saved {path}. What somebody else had saved there is kept as {kept.name}.")
        return True

    def _keep_theirs(self, path: Path) -> Path | None:
        """Lay what a file holds beside it; the `NAME~` of a save lasts only until the next one."""
        kept = _copy_of(path, "theirs")
        try:
            write_atomically(kept, path.read_bytes())
        except (OSError, UserError) as error:
            why = error.line if isinstance(error, UserError) else error.strerror
            self.failed.emit(f"{path.name} was not saved: what it holds could not be kept as {kept}: {why}.")
            return None
        return kept

    def save_as(self) -> bool:
        """Write to another file."""
        return self._write(self.ask_save())

    def _write(self, path: Path | None) -> bool:
        if path is None:
            return False
        try:
            self._document.save(path)
        except UserError as error:
            self.failed.emit(error.line)
            return False
        self.shared.know_now()
        self._preferences.add_recent(path.absolute())
        self.saved.emit(path)
        return True


def _copy_of(path: Path, word: str = "copy") -> Path:
    """A name beside a file that no file has: `shop copy.ndbplan`, `shop copy 2.ndbplan`."""
    numbers = ("", *(f" {n}" for n in range(2, 1000)))
    names = (path.with_stem(f"{path.stem} {word}{number}") for number in numbers)
    return next((name for name in names if not name.exists()), path)


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in name.lower()).strip("-.") or "plan"
