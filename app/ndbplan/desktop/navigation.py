"""What brings something to the front: an object, a panel, a parameter, a run, a page of the guide."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QWidget

from ndbplan.desktop.actions import Actions
from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.panels import SidePanels


class Navigation:
    """Goes to things in one window."""

    def __init__(
        self,
        window: QWidget,
        canvas: CanvasView,
        panels: SidePanels,
        selection: Selection,
        actions: Actions,
        show_workspace: Callable[[], None],
        finish_building: Callable[[], None],
    ) -> None:
        self._window, self._canvas, self._panels = window, canvas, panels
        self._selection, self._actions = selection, actions
        self._show_workspace, self._finish_building = show_workspace, finish_building

    def go_to(self, object_id: str) -> None:
        """Select an object and bring it into view."""
        self._show_workspace()
        self._selection.set([object_id])
        self._canvas.bring_into_view((object_id,))

    def arrange(self) -> None:
        """Let everything flow into a tidy layout, and show it."""
        self._canvas.editor.arrange_all()
        self._canvas.fit()

    def rename(self) -> None:
        """Rename the selected object where it stands: on the canvas, else in the inspector."""
        current = self._selection.current
        if current is not None and self._canvas.canvas_scene.item_of(current) is not None:
            self._canvas.bring_into_view((current,))
            self._canvas.start_rename(current)
        elif current is not None:
            self._panels.focus_inspector()

    def open_part_menu(self, object_id: str | None, where: QPoint) -> None:
        """The menu of an object, where it was asked for."""
        from ndbplan.desktop.canvas.input.menus import part_menu

        part_menu(self._canvas, object_id, lambda _id: self.rename(), where).popup(where)

    def open_parameter(self, scope: str, name: str) -> None:
        """Open the value of a parameter of all nodes of a kind."""
        self._show_workspace()
        self._panels.inspector_frame.show()
        self._actions["inspector"].setChecked(True)
        self._panels.inspector.open_parameter(scope, name)

    def open_tab(self, name: str, part: str = "") -> None:
        """Bring a tab of the analyses, or a part of one, to the front, and the keyboard to it."""
        self._show_analyses()
        panel = self._panels.analyses.show_tab(name)
        if part:
            panel.bring(part)
        self._panels.focus_analyses()

    def look(self, variant: str, tab: str) -> None:
        """Show what a dropped report is about: a variant, an analysis; nothing: as they are."""
        self._canvas.document.show_named(variant)
        if tab:
            self._finish_building()
            self.open_tab(tab)

    def fix_all(self) -> None:
        """Apply all fixes that cost nothing, in the panel that says which."""
        from ndbplan.desktop.analyses.problems import ProblemsPanel

        self._show_analyses()
        panel = self._panels.analyses.show_tab("Problems")
        assert isinstance(panel, ProblemsPanel)
        panel.apply_all()

    def simulate(self) -> None:
        """Run the simulation of the analyses."""
        self._finish_building()
        self._show_analyses()
        self._panels.analyses.simulate()

    def watch(self, at_s: float) -> None:
        """Run the simulation anew, and play what happens around a moment."""
        self._finish_building()
        self._show_analyses()
        self._panels.analyses.watch(at_s)

    def _show_analyses(self) -> None:
        self._show_workspace()
        self._panels.analyses_frame.show()
        self._actions["analyses"].setChecked(True)

    def open_guide(self, page: str = "", words: str = "") -> None:
        """The guide, at a page, or at the first that holds some words."""
        from ndbplan.desktop.dialogs.guide_window import GuideWindow

        guide = GuideWindow(self._window)
        if page:
            guide.open(page)
        guide.search.setText(words)
        guide.show()

    def show_keys(self) -> None:
        """The list of keys."""
        from ndbplan.desktop.dialogs.keys_dialog import KeysDialog

        KeysDialog(self._window).show()
