"""Which actions of the window can be done now, and what undo and redo are called."""

from __future__ import annotations

from collections.abc import Callable

from ndbplan.desktop.actions import Actions
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.live_mode import LiveMode
from ndbplan.edits.first_steps import next_step

_OF_THE_WORKSPACE = (
    "arrange", "export", "report", "picture", "save", "save_as", "add_group", "present", "maximise", "side",
    "analyses", "inspector", "paste", "select_all", "colour", "measured",
)  # fmt: skip
ON_STAGE = ("fit", "zoom_in", "zoom_out", "zoom_normal")
_OF_A_SELECTION = ("cut", "copy", "duplicate", "delete", "rename", "fit_selection")


class ActionStates:
    """Follows document, selection and what the window shows."""

    def __init__(
        self, document: Document, selection: Selection, actions: Actions, shows_canvas: Callable[[], bool],
        live: Callable[[], LiveMode],
    ) -> None:  # fmt: skip
        self._document, self._selection, self._actions = document, selection, actions
        self._shows_canvas, self._live = shows_canvas, live

    def follow_page(self) -> None:
        """Actions on the canvas rest while the gallery lies over it."""
        for name in _OF_THE_WORKSPACE:
            self._actions[name].setEnabled(self._shows_canvas())
        for name in ON_STAGE:
            self._actions[name].setEnabled(self._shows_canvas() or self._live().is_shown)

    def follow_document(self) -> None:
        """What can be undone and redone, and whether the plan can be simulated."""
        stack, here = self._document.undo_stack, self._shows_canvas()
        for name, able, text in (
            ("undo", here and stack.canUndo(), stack.undoText()),
            ("redo", here and stack.canRedo(), stack.redoText()),
        ):
            action = self._actions[name]
            action.setEnabled(able)
            verb = name.capitalize()
            action.setText(f"{verb} {text[:1].lower()}{text[1:]}" if able and text else verb)
        missing = next_step(self._document.plan)
        self._follow_variants(here)
        why_not = missing.missing if missing else ""
        self._actions.able("simulate", here and missing is None, why_not)
        # One that is there can be gone back to, whatever plan is open meanwhile.
        live = self._live()
        can_live = live.page is not None or (here and missing is None)
        self._actions.able("live", can_live, "" if can_live else why_not)
        self._actions["live"].setChecked(live.is_shown)
        self.follow_selection()

    def _follow_variants(self, here: bool) -> None:
        count, place = len(self._document.project.variants), self._document.shown
        for name in ("new", "rename"):
            self._actions[f"variant_{name}"].setEnabled(here)
        for name in ("next", "previous", "remove"):
            self._actions.able(
                f"variant_{name}", here and count > 1, "" if count > 1 else "It is the only one"
            )
        for name in ("earlier", "promote"):
            self._actions.able(f"variant_{name}", here and place > 0, "" if place else "It is the main one")
        last = place == count - 1
        self._actions.able("variant_later", here and not last, "It is the last one" if last else "")

    def follow_selection(self) -> None:
        """What can be done to the objects that are selected."""
        some = bool(self._selection.ids) and self._shows_canvas()
        for name in _OF_A_SELECTION:
            self._actions[name].setEnabled(some)
        for action in self._actions.of_menu("Align"):
            action.setEnabled(some and len(self._selection.ids) > 1)
