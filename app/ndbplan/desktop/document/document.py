"""Document: the one mutable thing — the variants of a plan, which of them is shown, their history and file.

    document = Document()
    document.edit("Add host", lambda plan: add(plan, host))
    document.edit("Set DataMemory", new_plan, merge_key="ndb3.DataMemory")
    document.undo_stack.undo()
    document.edit_variants("Rename Main", lambda project: renamed(project, 0, "As bought"))
    document.show_variant(1)

Every view listens to `changed(before, after)` and reconciles itself by object identity; it knows one plan,
that of the variant that is shown. Each step of the history knows its variant: to undo it is to show that one.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import shiboken6
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from ndbplan.base.errors import UserError
from ndbplan.base.files import is_waited_for
from ndbplan.edits.origins import has_program_set
from ndbplan.edits.parts import set_plan
from ndbplan.edits.validated import checked
from ndbplan.edits.variants import added, free_name
from ndbplan.plan import file
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.project import Project

PlanEdit = Plan | Callable[[Plan], Plan]


class _State(NamedTuple):
    """Where a step of the history begins or ends."""

    project: Project
    place: int
    """Of the variant that is shown."""

    @property
    def plan(self) -> Plan:
        return self.project.variants[self.place].plan


_UNDO_LIMIT = 1000
_MERGEABLE = 1


class Document(QObject):
    """One open file of plans: edited through an undo stack, loaded from and saved to a file.

    `changed(before, after)` follows every edit, undo, redo, load, new plan and change of the variant that is
    shown; `replaced()` follows `changed` when another plan came in as a whole; `variants_changed()` when
    variants come, go, have other names or places, or another one is shown; `state_changed()` when path or
    modified state change; `followed(changes)` tells which settings followed hardware.
    """

    changed = Signal(object, object)
    followed = Signal(object)
    replaced = Signal()
    variants_changed = Signal()
    state_changed = Signal()

    def __init__(self, what: Plan | Project = EMPTY_PLAN, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._state = _State(Project.of(what), 0)
        self._path: Path | None = None
        self._kept_unsaved = False
        self._moved_along: tuple[Plan, Plan] | None = None
        """The plan of the last edit as it was asked for, and with what followed its hardware."""
        self.after_edit: Callable[[Plan, Plan], Plan] | None = None
        """Completes every edit, given the plan before and after it: a canvas holds what was not moved."""
        self.undo_stack = QUndoStack(self)
        self.undo_stack.setUndoLimit(_UNDO_LIMIT)
        self.undo_stack.cleanChanged.connect(self.state_changed)
        # While it is destroyed the stack would tell views about an index of a history that is gone.
        self.destroyed.connect(partial(_hush, self.undo_stack))

    @property
    def plan(self) -> Plan:
        """The current plan: that of the variant that is shown."""
        return self._state.plan

    @property
    def project(self) -> Project:
        """All variants."""
        return self._state.project

    @property
    def shown(self) -> int:
        """The place of the variant that is shown."""
        return self._state.place

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
        return self._path.name if self._path is not None else self.plan.name

    def edit(self, text: str, edit: PlanEdit, merge_key: str | None = None) -> bool:
        """Do one undoable step; `text` names it in the menu ("Move host-a1").

        Steps in a row with the same `merge_key` become one. Raises whatever the edit raises (EditError);
        the plan is then unchanged. Returns False when the edit changes nothing.
        """
        after = self._edited(edit)
        if after is self.plan:
            return False
        project, place = self._state
        self._push(text, _State(project.with_plan(place, after), place), merge_key)
        if self._moved_along is not None:
            from ndbplan.edits.changes import value_changes

            self.followed.emit(value_changes(*self._moved_along))
        return True

    def edit_as_variant(self, name: str, edit: PlanEdit, note: str = "") -> str:
        """Do a step in a new variant, like the one that is shown, and show it; the name that it has got.

        Raises whatever the edit raises; nothing is changed then.
        """
        project, place = self._state
        free = free_name(project, name)
        project = added(project, free, place, self._edited(edit), note)
        self._push(f"Variant {free}", _State(project, len(project.variants) - 1))
        return free

    def edit_variants(self, text: str, edit: Callable[[Project], Project]) -> bool:
        """Add, remove, name or order variants, as one undoable step. Raises whatever the edit raises.

        A new variant is shown; else the one that is shown stays so, or its neighbour where it has gone.
        Returns False when the edit changes nothing.
        """
        before, place = self._state
        after = edit(before)
        if after is before:
            return False
        new = [n for n, name in enumerate(after.names) if name not in before.names]
        if len(after.variants) > len(before.variants):
            place = new[0]
        elif not new:
            name = before.names[place]
            place = after.names.index(name) if name in after.names else min(place, len(after.names) - 1)
        self._push(text, _State(after, place))
        return True

    def show_variant(self, place: int) -> None:
        """Show another variant. It is not a step of the history: nothing of the file is other."""
        if place != self.shown and 0 <= place < len(self.project.variants):
            self.end_merge()
            self._show(_State(self.project, place))

    def show_named(self, name: str) -> None:
        """Show the variant with this name, if there is one."""
        if name in self.project.names:
            self.show_variant(self.project.names.index(name))

    def _edited(self, edit: PlanEdit) -> Plan:
        """The plan after an edit, completed. Raises whatever the edit raises."""
        before = self.plan
        after = edit(before) if callable(edit) else edit
        if after is before:
            return before
        checked(before, after)
        asked, after = after, _followed(before, after)
        self._moved_along = (asked, after) if asked is not after else None
        return after if self.after_edit is None else self.after_edit(before, after)

    def _push(self, text: str, after: _State, merge_key: str | None = None) -> None:
        self.undo_stack.push(_Step(self, text, self._state, after, merge_key))

    def end_merge(self) -> None:
        """The next edit starts a new undo step, whatever its merge key (a drag or a field edit ended)."""
        stack = self.undo_stack
        if stack.index() > 0:
            step = stack.command(stack.index() - 1)
            if isinstance(step, _Step):
                step.merge_key = None

    def new(self, plan: Plan | Project = EMPTY_PLAN, *, modified: bool = False) -> None:
        """Start with a plan that has no file. `modified`: closing it asks (a recovered plan)."""
        self._replace(Project.of(plan), None, modified)

    def open(self, path: Path) -> str:
        """Load a file; what there is to say of it. Raises PlanFileError; the open plan is then untouched.

        A pipe or a device is refused: the window would stand still until something comes out of it.
        """
        if is_waited_for(path):
            raise file.PlanFileError("this is not a file", where=str(path), fix="name a file")
        opened = file.open_file(path)
        self._replace(opened.project, path.absolute(), False)
        return opened.notice(path.name)

    def recover(self, what: Plan | Project, path: Path | None) -> None:
        """Take over what a recovery journal holds: its file is older, so it counts as modified."""
        self._replace(Project.of(what), path, True)

    def take_from_file(self, what: Plan | Project) -> None:
        """Show what the file holds now, as a step that can be undone: nothing of it is to be saved."""
        project, name = Project.of(what), self.project.names[self.shown]
        place = project.names.index(name) if name in project.names else 0
        self._push("Take what the file holds", _State(project, place))
        self._kept_unsaved = False
        self.undo_stack.setClean()
        self.state_changed.emit()

    def lose_file(self) -> None:
        """The file holds the plan no longer: all of it is to be saved."""
        self._kept_unsaved = True
        self.state_changed.emit()

    def save(self, path: Path | None = None) -> None:
        """Write the plan to `path`, or to its own file. Raises PlanFileError; the document stays as it is."""
        target = (path or self._path or Path(f"{self.plan.name}{file.SUFFIX}")).absolute()
        named = _named_after(self.project, target)
        file.save(named, target)
        self.edit_variants(f"Name the plan {named.main.name}", lambda _project: named)
        self._path = target
        self._kept_unsaved = False
        self.end_merge()
        self.undo_stack.setClean()
        self.state_changed.emit()

    def _replace(self, project: Project, path: Path | None, modified: bool) -> None:
        before, self._state = self._state, _State(project, 0)
        self._path = path
        self._kept_unsaved = modified
        self.undo_stack.clear()
        self.changed.emit(before.plan, self.plan)
        self.variants_changed.emit()
        self.replaced.emit()
        self.state_changed.emit()

    def _show(self, state: _State) -> None:
        before, self._state = self._state, state
        if before.plan is not state.plan:
            self.changed.emit(before.plan, state.plan)
        if (before.project.names, before.place) != (state.project.names, state.place) or (
            before.plan is state.plan
        ):
            self.variants_changed.emit()


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


def _named_after(project: Project, path: Path) -> Project:
    """Plans that nobody has named, called like their file: what is exported carries the name."""
    for place, variant in enumerate(project.variants):
        if variant.plan.name == EMPTY_PLAN.name and path.stem != EMPTY_PLAN.name:
            # A file may have a name that no plan can have.
            with suppress(UserError):
                project = project.with_plan(place, set_plan(variant.plan, name=path.stem))
    return project


class _Step(QUndoCommand):
    """One step of the history: all variants before and after; they share all untouched parts."""

    def __init__(
        self, document: Document, text: str, before: _State, after: _State, merge_key: str | None
    ) -> None:
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
        if other.after.place != self.after.place:
            return False
        self.after = other.after
        self.setObsolete(self.after.plan is self.before.plan)
        return True

    def redo(self) -> None:
        self._document._show(self.after)

    def undo(self) -> None:
        self._document._show(self.before)
