"""Document: the one mutable thing — the current Plan, its history and its file.

    document = Document()
    document.edit("Add host", lambda plan: add(plan, host))
    document.edit("Set DataMemory", new_plan, merge_key="ndb3.DataMemory")
    document.undo_stack.undo()

Every view listens to `changed(before, after)` and reconciles itself by object identity.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from ndbplan.base.errors import UserError
from ndbplan.base.files import is_waited_for
from ndbplan.edits.origins import has_program_set
from ndbplan.edits.parts import set_plan
from ndbplan.edits.validated import checked
from ndbplan.plan import file
from ndbplan.plan.plan import EMPTY_PLAN, Plan

PlanEdit = Plan | Callable[[Plan], Plan]

_UNDO_LIMIT = 1000
_MERGEABLE = 1


class Document(QObject):
    """One open plan: edited through an undo stack, loaded from and saved to a file.

    `changed(before, after)` follows every edit, undo, redo, load and new plan; `replaced()` follows
    `changed` when another plan came in as a whole; `state_changed()` when path or modified state change.
    """

    changed = Signal(object, object)
    replaced = Signal()
    state_changed = Signal()

    def __init__(self, plan: Plan = EMPTY_PLAN, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._plan = plan
        self._path: Path | None = None
        self._kept_unsaved = False
        self.after_edit: Callable[[Plan, Plan], Plan] | None = None
        """Completes every edit, given the plan before and after it: a canvas holds what was not moved."""
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(_UNDO_LIMIT)
        self.undo_stack.cleanChanged.connect(self.state_changed)
        # While it is destroyed the stack would tell views about an index of a history that is gone.
        self.destroyed.connect(partial(_hush, self.undo_stack))

    @property
    def plan(self) -> Plan:
        """The current plan."""
        return self._plan

    @property
    def path(self) -> Path | None:
        """The file of the plan; None: never saved."""
        return self._path

    @property
    def is_modified(self) -> bool:
        """Whether there is anything that a save would keep."""
        return self._kept_unsaved or not self.undo_stack.isClean()

    @property
    def title(self) -> str:
        """File name, or the plan's name when it has no file."""
        return self._path.name if self._path is not None else self._plan.name

    def edit(self, text: str, edit: PlanEdit, merge_key: str | None = None) -> bool:
        """Do one undoable step; `text` names it in the menu ("Move host-a1").

        Steps in a row with the same `merge_key` become one. Raises whatever the edit raises (EditError);
        the plan is then unchanged. Returns False when the edit changes nothing.
        """
        before = self._plan
        after = edit(before) if callable(edit) else edit
        if after is before:
            return False
        checked(before, after)
        after = _followed(before, after)
        if self.after_edit is not None:
            after = self.after_edit(before, after)
        self.undo_stack.push(_Step(self, text, before, after, merge_key))
        return True

    def end_merge(self) -> None:
        """The next edit starts a new undo step, whatever its merge key (a drag or a field edit ended)."""
        stack = self.undo_stack
        if stack.index() > 0:
            step = stack.command(stack.index() - 1)
            if isinstance(step, _Step):
                step.merge_key = None

    def new(self, plan: Plan = EMPTY_PLAN, *, modified: bool = False) -> None:
        """Start with a plan that has no file. `modified`: closing it asks (a recovered plan)."""
        self._replace(plan, None, modified)

    def open(self, path: Path) -> str:
        """Load a file; what there is to say of it. Raises PlanFileError; the open plan is then untouched.

        A pipe or a device is refused: the window would stand still until something comes out of it.
        """
        if is_waited_for(path):
            raise file.PlanFileError("this is no file", where=str(path), fix="name a file")
        opened = file.open_file(path)
        self._replace(opened.plan, path.absolute(), False)
        return opened.notice(path.name)

    def recover(self, plan: Plan, path: Path | None) -> None:
        """Take over a plan from a recovery journal: its file is older, so it counts as modified."""
        self._replace(plan, path, True)

    def take_from_file(self, plan: Plan) -> None:
        """Show what the file holds now, as a step that can be undone: nothing of it is to be saved."""
        self.undo_stack.push(_Step(self, "Take what the file holds", self._plan, plan, None))
        self._kept_unsaved = False
        self.undo_stack.setClean()
        self.state_changed.emit()

    def save(self, path: Path | None = None) -> None:
        """Write the plan to `path`, or to its own file. Raises PlanFileError; the document stays as it is."""
        target = (path or self._path or Path(f"{self._plan.name}{file.SUFFIX}")).absolute()
        named = _named_after(self._plan, target)
        file.save(named, target)
        self.edit(f"Name the plan {named.name}", named)
        self._path = target
        self._kept_unsaved = False
        self.end_merge()
        self.undo_stack.setClean()
        self.state_changed.emit()

    def _replace(self, plan: Plan, path: Path | None, modified: bool) -> None:
        before, self._plan = self._plan, plan
        self._path = path
        self._kept_unsaved = modified
        self.undo_stack.clear()
        self.changed.emit(before, plan)
        self.replaced.emit()
        self.state_changed.emit()

    def _show(self, plan: Plan) -> None:
        before, self._plan = self._plan, plan
        self.changed.emit(before, plan)


def _followed(before: Plan, after: Plan) -> Plan:
    """The plan in which what the program had set follows the hardware; without such, no rule is loaded."""
    if not has_program_set(after):
        return after
    from ndbplan.advise.follow import followed

    return followed(before, after)


def _hush(stack: QUndoStack, _document: object = None) -> None:
    # Collected by Python instead of deleted by its parent, the document has already lost its stack.
    if shiboken6.isValid(stack):
        stack.blockSignals(True)


def _named_after(plan: Plan, path: Path) -> Plan:
    """A plan that nobody has named, called like its file: what is exported carries the name."""
    if plan.name != EMPTY_PLAN.name or path.stem == EMPTY_PLAN.name:
        return plan
    try:
        return set_plan(plan, name=path.stem)
    except UserError:
        # A file may have a name that no plan can have.
        return plan


class _Step(QUndoCommand):
    """One step of the history: the whole plan before and after; they share all untouched parts."""

    def __init__(self, document: Document, text: str, before: Plan, after: Plan, merge_key: str | None):
        super().__init__(text)
        self._document = document
        self.before = before
        self.after = after
        self.merge_key = merge_key

    def id(self) -> int:
        return _MERGEABLE if self.merge_key is not None else -1

    def mergeWith(self, other: QUndoCommand) -> bool:
        if not isinstance(other, _Step) or other.merge_key != self.merge_key:
            return False
        self.after = other.after
        self.setObsolete(self.after is self.before)
        return True

    def redo(self) -> None:
        self._document._show(self.after)

    def undo(self) -> None:
        self._document._show(self.before)
