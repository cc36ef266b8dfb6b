"""What helps to decide in the window: previews of what is offered, sizing, inputs that are varied."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.panels import SidePanels
from ndbplan.desktop.top_bar import TopBar
from ndbplan.edits import palette as catalogue


class Deciding(QObject):
    """Of one window."""

    def __init__(self, window: QWidget, editor: Editor, panels: SidePanels, top_bar: TopBar) -> None:
        super().__init__(window)
        self._window, self._editor, self._panels = window, editor, panels
        editor.previews = lambda: panels.estimates.previews
        panels.ready.connect(lambda: self._watch(top_bar))

    def _watch(self, top_bar: TopBar) -> None:
        """Follow what the panels ask for, once they are there."""
        estimates = self._panels.estimates
        estimates.sweep_wanted.connect(self.vary)
        top_bar.watch(estimates.previews)

    def size(self) -> None:
        """Look for clusters that carry what the plan asks for."""
        from ndbplan.desktop.dialogs.size_dialog import SizeDialog

        SizeDialog(self._editor.document, self._window).open()

    def vary(self, text: str = "") -> None:
        """Measure a headline figure over values of inputs, beginning with what is typed here."""
        from ndbplan.desktop.dialogs.sweep_dialog import SweepDialog

        workload_id = self._panels.estimates.workload_id
        SweepDialog(self._editor.document, workload_id, text, self._window).open()

    def preview_offer(self, entry: QWidget, key: str) -> None:
        """Show what an entry of the palette would do while somebody looks at it."""
        from ndbplan.desktop.widgets.preview_card import preview_made

        title = f"Add: {catalogue.offer(key).text}"
        make = partial(self._editor.rehearsed, key)
        preview_made(entry, lambda: self._panels.estimates.previews, title, make)
