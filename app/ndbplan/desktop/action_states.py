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
    "analyses", "inspector", "paste", "select_all", "colour", "measured", "compare", "size", "sweep",
    "add_scene",
)  # fmt: skip
ON_STAGE = ("fit", "zoom_in", "zoom_out", "zoom_normal")
_OF_A_SELECTION = ("cut", "copy", "duplicate", "delete", "rename", "fit_selection")


class ActionStates:
    """Follows document, selection and what the window shows.

    What acts on the plan rests while something lies over it: nobody would see what it does.
    """

    def __init__(
        self, document: Document, selection: Selection, actions: Actions, covered: Callable[[], str],
        live: Callable[[], LiveMode],
    ) -> None:  # fmt: skip
        """`covered`: what lies over the plan, in words; nothing: it is in front."""
        self._document, self._selection, self._actions = document, selection, actions
        self._covered, self._live = covered, live

    def follow_page(self) -> None:
        """What is in front has changed, or what is known of it."""
        over = self._covered()
        for name in _OF_THE_WORKSPACE:
            self._actions.able(name, not over, over)
        for name in ON_STAGE:
            seen = not over or self._live().is_shown
            self._actions.able(name, seen, "" if seen else over)
        self._follow_document(over)

    def _follow_document(self, over: str) -> None:
        """What can be undone and redone, and whether the plan can be simulated."""
        stack, here = self._document.undo_stack, not over
        for name, able, text in (
            ("undo", here and stack.canUndo(), stack.undoText()),
            ("redo", here and stack.canRedo(), stack.redoText()),
        ):
            action = self._actions[name]
            self._actions.able(name, able, over)
            verb = name.capitalize()
            action.setText(f"{verb} {text[:1].lower()}{text[1:]}" if able and text else verb)
        missing = next_step(self._document.plan)
        self._follow_variants(over)
        why_not = over or (missing.missing if missing else "")
        self._actions.able("simulate", here and missing is None, why_not)
        # One that is there can be gone back to, whatever plan is open meanwhile.
        live = self._live()
        can_live = live.page is not None or (here and missing is None)
        self._actions.able("live", can_live, "" if can_live else why_not)
        self._actions["live"].setChecked(live.is_shown)
        self._actions["live"].setText("Back to the plan" if live.is_shown else "Live cluster")
        self.follow_selection()

    def _follow_variants(self, over: str) -> None:
        count, place = len(self._document.project.variants), self._document.shown
        only = "It is the only one" if count == 1 else ""
        main = "It is the main one" if place == 0 else ""
        last = "It is the last one" if place == count - 1 else ""
        why_not = {
            "new": "", "rename": "", "next": only, "previous": only, "remove": only, "earlier": main,
            "promote": main, "later": last,
        }  # fmt: skip
        for name, why in why_not.items():
            self._actions.able(f"variant_{name}", not (over or why), over or why)

    def follow_selection(self) -> None:
        """What can be done to the objects that are selected."""
        over, count = self._covered(), len(self._selection.ids)
        why_not = over or ("" if count else "Nothing is selected")
        for name in _OF_A_SELECTION:
            self._actions.able(name, not why_not, why_not)
        why_not = over or ("" if count > 1 else "Less than two are selected")
        for action in self._actions.of_menu("Align"):
            self._actions.able(action.objectName(), not why_not, why_not)
