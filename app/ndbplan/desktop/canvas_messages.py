"""What the window says of the canvas, with a way out: what is out of sight, covered, or was chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.status_bar import StatusBar
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.edits.changes import ValueChange
    from ndbplan.edits.from_host import Chosen

Pairs = tuple[tuple[str, str], ...]
_MOST_TOLD = 5
"""Settings that one message names."""


class CanvasMessages:
    """Messages of canvas and editor; what holds longer than a message is on the status line."""

    def __init__(self, canvas: CanvasView, editor: Editor, messages: MessageBar, status: StatusBar) -> None:
        self._canvas, self._editor, self._messages, self._status = canvas, editor, messages, status
        self._covered: Pairs = ()
        canvas.out_of_sight.connect(self._offer_to_show)
        canvas.covering.connect(self._follow_overlaps)
        editor.chosen.connect(self._tell_what_is_chosen)
        editor.document.changed.connect(self._retire)
        editor.document.followed.connect(self._tell_what_followed)
        editor.failed.connect(self._note_refusal)
        canvas.rename_settled.connect(self._retire_refusal)
        self._refused = ""
        """What was said of a name that was refused and is still being typed."""
        self._said: tuple[str, Plan] | None = None
        """What was said last, and of which plan."""

    def _say(self, text: str, button: str, run: Callable[[], object]) -> None:
        self._messages.say("info", text, button, run)
        self._said = (text, self._editor.plan)

    def _retire(self, _before: Plan, after: Plan) -> None:
        """What is offered holds for one plan: the next step, or undo, takes it away."""
        if self._said is not None and self._said[1] is not after:
            if self._messages.text == self._said[0]:
                self._messages.hide()
            self._said = None

    def _note_refusal(self, text: str) -> None:
        self._refused = text if self._canvas.is_renaming else ""

    def _retire_refusal(self) -> None:
        """A refusal says what to type instead: nobody types any more."""
        if self._refused and self._messages.text == self._refused:
            self._messages.hide()
        self._refused = ""

    def _offer_to_show(self, ids: tuple[str, ...]) -> None:
        here = "is" if len(ids) == 1 else "are"
        seen, scene = self._canvas.visible_rect(), self._canvas.canvas_scene
        items = [item for i in ids if (item := scene.item_of(i)) is not None]
        how = "partly " if all(seen.intersects(item.rect_in_scene()) for item in items) else ""
        self._say(
            f"{self._editor.names(ids)} {here} {how}out of sight.",
            "Go to",
            lambda: self._canvas.bring_into_view(ids),
        )

    def _follow_overlaps(self, pairs: Pairs) -> None:
        """Tell what is new; the offer stands until nothing covers anything any more."""
        before, self._covered = self._covered, pairs
        told = {pair: self._in_words(pair) for pair in pairs}
        self._status.show_overlaps(tuple(told.values()))
        new = [told[pair] for pair in pairs if pair not in before]
        if new:
            more = f", and {len(new) - 1} more" if len(new) > 1 else ""
            self._say(f"{new[0]}{more}.", "Move apart", self._status.apart.click)

    def _in_words(self, pair: tuple[str, str]) -> str:
        one, other = (self._editor.name_of(i) if i else "API programs anywhere" for i in pair)
        return f"{one} and {other} cover one another"

    def _tell_what_followed(self, changes: Sequence[ValueChange]) -> None:
        """What the program had set, and sets anew as hosts are others, is said: nobody asked for it."""
        moved = [f"{one.name} {' → '.join(one.shown)}" for one in changes if one.is_parameter]
        if moved:
            more = f", and {len(moved) - _MOST_TOLD} more" if len(moved) > _MOST_TOLD else ""
            line = f"Settings follow the hosts: {', '.join(moved[:_MOST_TOLD])}{more}."
            self._messages.say("info", line)
            self._said = (line, self._editor.plan)

    def _tell_what_is_chosen(self, text: str, chosen: tuple[Chosen, ...]) -> None:
        self._say(text, "Keep the product's defaults", partial(self._editor.take_back, chosen))
