"""Selection: which objects of the plan are selected, shared by canvas, outline and inspector."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from ndbplan.desktop.document.document import Document
from ndbplan.plan.plan import Plan


class Selection(QObject):
    """Ids of the selected objects, in the order they were selected; the last one is the current one.

    `changed(ids)` follows every change. Objects that leave the plan leave the selection.
    """

    changed = Signal(object)
    meant = Signal(str)
    """What of the object that was just selected somebody wants to see: the name of a part of its page."""

    def __init__(self, document: Document, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ids: tuple[str, ...] = ()
        document.changed.connect(self._forget_missing)

    @property
    def ids(self) -> tuple[str, ...]:
        """The selected ids."""
        return self._ids

    @property
    def current(self) -> str | None:
        """The id selected last."""
        return self._ids[-1] if self._ids else None

    def set(self, ids: Iterable[str]) -> None:
        """Select exactly these."""
        new = tuple(dict.fromkeys(ids))
        if new != self._ids:
            self._ids = new
            self.changed.emit(new)

    def show_part(self, object_id: str, part: str) -> None:
        """Select an object, and bring a part of its page into sight."""
        self.set([object_id])
        self.meant.emit(part)

    def add(self, ids: Iterable[str]) -> None:
        """Select these too; the last of them becomes the current one."""
        added = tuple(dict.fromkeys(ids))
        self.set((*(i for i in self._ids if i not in added), *added))

    def toggle(self, object_id: str) -> None:
        """Select it, or no longer."""
        if object_id in self._ids:
            self.set(i for i in self._ids if i != object_id)
        else:
            self.set((*self._ids, object_id))

    def clear(self) -> None:
        """Select nothing."""
        self.set(())

    def _forget_missing(self, _before: Plan, after: Plan) -> None:
        if self._ids:
            known = after.by_id
            self.set(i for i in self._ids if i in known)
