"""Edits of a workload's events from the track of a simulation: add, drag, remove, open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QMenu

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_clock
from ndbplan.describe.titles import event_line
from ndbplan.desktop.analyses.simulation.event_track import EventTrack, Shown
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.event_edits import section_name
from ndbplan.desktop.widgets.menu_heading import heading
from ndbplan.desktop.widgets.sections import link
from ndbplan.edits import events
from ndbplan.plan.events import kinds
from ndbplan.plan.plan import Plan

_ROOMY = 600
"""Width from which on the line of the replay has room for words."""


class EventEdits(QObject):
    """Keeps a track and a button to add beside it in step with the plan."""

    def __init__(
        self,
        track: EventTrack,
        context: Context,
        stands_at: Callable[[], float],
        refuse: Callable[[str], None],
    ) -> None:
        super().__init__(track)
        self._track, self._context = track, context
        self._stands_at, self._refuse = stands_at, refuse
        self._workload_id = ""
        self.button = link(
            "+ Event", self._add_here, "Add an event where the replay stands (at its end: in the middle)"
        )
        self.button.setToolTip("Let something happen at this moment of the run")
        track.moved.connect(self._move)
        track.removed.connect(self._remove)
        track.opened.connect(self._open)
        track.wanted_at.connect(self._menu_at)

    def fit(self, width: int) -> None:
        """Say less on the button where the line of the replay is so narrow, in pixels."""
        self.button.setText("+ Event" if width >= _ROOMY else "+")

    def show_workload(self, workload_id: str, length_s: float) -> None:
        """Show the events of this workload over a run of this length."""
        self._workload_id = workload_id
        plan = self._context.plan
        listed = plan.by_id[workload_id].events if workload_id in plan.by_id else ()
        self._track.show_events([Shown(e.at_s, event_line(plan, e)) for e in listed], length_s)

    def _do(self, text: str, edit: Callable[[Plan], Plan], merge_key: str | None = None) -> bool:
        try:
            return self._context.document.edit(text, edit, merge_key)
        except UserError as error:
            self._refuse(error.line)
            return False

    def drag(self, number: int, at_s: float) -> None:
        """Let an event happen at a moment of a chart, where that is exact enough."""
        if number < len(self._track.events):
            self._move(number, self._track.rounded(at_s))

    def _move(self, number: int, at_s: float) -> None:
        name = self._track.events[number].text
        self._do(
            f"Move event: {name} to {format_clock(at_s)}",
            lambda plan: events.moved_event(plan, self._workload_id, number, at_s),
            f"event {self._workload_id} {number}",
        )

    def _remove(self, number: int) -> None:
        name = self._track.events[number].text
        self._do(f"Remove event: {name}", lambda plan: events.without_event(plan, self._workload_id, number))

    def _open(self, number: int) -> None:
        self._context.selection.show_part(self._workload_id, section_name(number))

    def _add_here(self) -> None:
        self._menu_at(self._track.before_end(self._stands_at()), self.button.mapToGlobal(QPoint(0, 0)))

    def _menu_at(self, at_s: float, where: QPoint) -> None:
        menu = QMenu(self._track)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        heading(menu, f"At {format_clock(at_s)}")
        for kind, event in kinds().items():
            menu.addAction(event.title, partial(self._add, kind, at_s))
        menu.popup(where)

    def _add(self, kind: str, at_s: float) -> None:
        chosen = self._context.selection.ids
        self._do(
            f"Add event: {kinds()[kind].title.lower()}",
            lambda plan: events.added(plan, self._workload_id, kind, at_s, chosen),
        )
