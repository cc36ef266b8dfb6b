"""The live cluster of a window: begun on the plan that is open or by a lesson, and ended without a trace."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.preferences import LESSONS, Preferences
from ndbplan.desktop.in_front import EDITED, LESSON, LIVE, InFront
from ndbplan.desktop.panels import SidePanels
from ndbplan.desktop.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from ndbplan.describe.overlay import Loads
    from ndbplan.desktop.canvas.stage import Stage
    from ndbplan.desktop.live.page import LivePage
    from ndbplan.desktop.live.session import Frame
    from ndbplan.plan.plan import Plan
    from ndbplan.train.lessons.files import Read
    from ndbplan.train.lessons.model import Begin
    from ndbplan.train.seat import Seat


class LiveMode(QObject):
    """Of one window. The page is there only while a cluster lives."""

    zoomed = Signal(float)
    """How large its canvas shows things."""
    noted = Signal(str)
    """How the cluster is, in a few words."""

    def __init__(
        self,
        window: QWidget,
        document: Document,
        pages: QStackedWidget,
        panels: SidePanels,
        messages: MessageBar,
        preferences: Preferences,
    ) -> None:
        super().__init__(window)
        self._window, self._document, self._pages = window, document, pages
        self._panels, self._messages, self._preferences = panels, messages, preferences
        self.page: LivePage | None = None
        self._variant = document.project.names[document.shown]
        document.replaced.connect(self._left)
        document.variants_changed.connect(self._follow_variant)

    def lead(
        self,
        show_workspace: Callable[[], object],
        shown: Callable[[], object],
        open_guide: Callable[[str], object],
    ) -> None:
        """What brings the plan back, is told when the page comes in front, and opens a page of the guide."""
        self.show_workspace, self.shown, self.open_guide = show_workspace, shown, open_guide

    # What actions do.

    def toggle(self) -> None:
        """To the live cluster, begun if there is none; from it back to the plan, where it waits."""
        if self.page is None:
            self._begin_on_plan()
        elif self.is_shown:
            self.show_workspace()
        else:
            self._bring()

    def choose_lesson(self) -> None:
        """Ask which lesson to play."""
        from ndbplan.desktop.dialogs.lessons_dialog import LessonsDialog

        dialog = LessonsDialog(self._preferences, self._window)
        dialog.chosen.connect(self.begin_lesson)
        dialog.open()

    @property
    def is_shown(self) -> bool:
        """Whether the live cluster is in front."""
        return self.page is not None and self._pages.currentWidget() is self.page

    def in_front(self, canvas: Stage) -> InFront:
        """What is in front of the window; `canvas`: that of its plan."""
        page = self.page
        if page is not None and self.is_shown:
            tip = "A lesson: its cluster, not the plan" if page.source else "As the plan was when it began"
            mark, stage = LESSON if page.source else LIVE, page.canvas
            over = "A live cluster lies over the plan"
            return InFront(page.title, tip, mark, stage.document.plan, stage.zoom, over, True)
        document = self._document
        mark, tip = EDITED if document.is_modified else "", str(document.path or document.plan.name)
        over = "The samples lie over the plan" if self._pages.currentIndex() > 0 else ""
        return InFront(document.title, tip, mark, document.plan, canvas.zoom, over, False)

    def stage_or(self, canvas: Stage) -> Stage:
        """The canvas in front: its own, or that of the plan."""
        return self.page.canvas if self.page is not None and self.is_shown else canvas

    def focus_next(self) -> bool:
        """Go to the next part of the page; False: it is not in front."""
        if self.page is None or not self.is_shown:
            return False
        self.page.focus_next()
        return True

    # Begin and end.

    def _begin_on_plan(self) -> None:
        plan, workload_id = self._document.plan, self._panels.estimates.workload_id
        title = self._document.title
        if len(self._document.project.variants) > 1:
            title += f" · {self._variant}"
        self._begin(title, None, partial(_seat_of_plan, plan, workload_id))

    def begin_lesson(self, source: Read, start: Begin, trainee: str) -> None:
        """Play a lesson; one that is under way and not saved is asked for."""
        if self.may_leave():
            make = partial(_seat_of_lesson, source, start, trainee)
            self._begin(source.value.title, source, make)

    def _begin(self, title: str, source: Read | None, make: Callable[[], tuple[Seat, Loads]]) -> None:
        # Loading the consoles takes a while, and a window that has no live cluster needs none of it.
        from ndbplan.desktop.live.page import LivePage

        self.end()
        page = LivePage(title, source)
        page.told.connect(self._messages.say)
        page.not_begun.connect(self._not_begun)
        page.end_wanted.connect(self.leave)
        page.lessons_wanted.connect(self.choose_lesson)
        page.guide_wanted.connect(lambda name: self.open_guide(name))
        page.scored.connect(self._keep_score)
        page.begun.connect(lambda: self.shown())
        page.canvas.zoom_changed.connect(self.zoomed)
        page.session.framed.connect(self._follow)
        self.page = page
        self._pages.addWidget(page)
        self._bring()
        page.begin(make)

    def _follow(self, frame: Frame) -> None:
        self.noted.emit(frame.sight.in_short)
        self._panels.moved.emit()

    def _not_begun(self, line: str) -> None:
        self.end()
        self.show_workspace()
        self._messages.say("error", line)

    def _bring(self) -> None:
        assert self.page is not None
        self._messages.hide()
        self._pages.setCurrentWidget(self.page)
        self.shown()

    def leave(self) -> None:
        """End the session, if a person wants to, and show the plan."""
        if self.may_leave():
            self.end()
            self.show_workspace()

    def end(self) -> None:
        """End the session; nothing of it stays."""
        page, self.page = self.page, None
        if page is not None:
            page.close_session()
            if self._pages.currentWidget() is page:
                self._pages.setCurrentIndex(0)
            self._pages.removeWidget(page)
            page.hide()
            page.deleteLater()

    def _left(self) -> None:
        """Another plan is open now. What a trainee has not saved has nothing to do with it, and may stay."""
        self._variant = self._document.project.names[self._document.shown]
        if self.page is not None and self.may_leave():
            self.end()

    def _follow_variant(self) -> None:
        name = self._document.project.names[self._document.shown]
        if name != self._variant:
            self._left()

    def _keep_score(self, name: str, score: float) -> None:
        known = self._preferences.get(LESSONS)
        before = known.get(name)
        if not isinstance(before, int | float) or score > before:
            self._preferences.put(LESSONS, {**known, name: score})

    # The question; tests answer it in place of a person.

    def ask_unsaved(self) -> str:
        """`save`, `discard` or `cancel`: what becomes of a lesson or typed lines that are not saved."""
        assert self.page is not None
        from PySide6.QtGui import QIcon
        from PySide6.QtWidgets import QMessageBox

        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.NoIcon)
        is_lesson, can_save = self.page.source is not None, self.page.can_save
        box.setWindowTitle("Lesson under way" if is_lesson else "Live cluster")
        without = "without its page to hand in" if is_lesson else "without its transcript"
        box.setText(
            f"End {'the lesson' if is_lesson else 'the live cluster of'} “{self.page.title}” {without}?"
        )
        box.setInformativeText(f"What was {'done in it' if is_lesson else 'typed'} is kept nowhere else.")
        what = "Save the page…" if is_lesson else "Save the transcript…"
        save = box.addButton(what, QMessageBox.ButtonRole.AcceptRole) if can_save else None
        stay = box.addButton("Cancel" if can_save else "Keep playing", QMessageBox.ButtonRole.RejectRole)
        # Enter loses nothing.
        box.setDefaultButton(save or stay)
        discard = box.addButton("End it", QMessageBox.ButtonRole.DestructiveRole)
        for button in box.buttons():
            button.setIcon(QIcon())
        box.exec()
        clicked = box.clickedButton()
        return (
            "discard" if clicked is discard else "save" if save is not None and clicked is save else "cancel"
        )

    def may_leave(self) -> bool:
        """Whether the session may end: there is nothing unsaved, or a person has decided."""
        if self.page is None or self.page.saved:
            return True
        answer = self.ask_unsaved()
        return self.page.save() if answer == "save" else answer == "discard"


def _seat_of_plan(plan: Plan, workload_id: str | None) -> tuple[Seat, Loads]:
    from ndbplan.describe.estimated import loads_at_rest
    from ndbplan.train.consoles import Consoles
    from ndbplan.train.live import LiveCluster
    from ndbplan.train.seat import Seat

    return Seat(Consoles(LiveCluster.begin(plan, workload_id))), loads_at_rest(plan)


def _seat_of_lesson(source: Read, start: Begin, trainee: str) -> tuple[Seat, Loads]:
    from ndbplan.describe.estimated import loads_at_rest
    from ndbplan.train.lessons.play import Play
    from ndbplan.train.seat import Seat

    play = Play(source.value, start, trainee)
    return Seat(play), loads_at_rest(play.cluster.plan)
