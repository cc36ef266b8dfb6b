"""The menu behind the program's sign: every action, by the menu it says it is in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QMenu, QWidget

from ndbplan.desktop.actions import STARTS_A_SECTION, Actions
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.look.text import as_it_is


class MainMenu(QMenu):
    """File, Edit, View, Plan and Help as menus of their own."""

    def __init__(
        self, actions: Actions, preferences: Preferences, open_plan: Callable[[Path], object], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._actions, self._preferences, self._open_plan = actions, preferences, open_plan
        self._recent = QMenu("Open recent", self)
        for name in ("File", "Edit", "View", "Plan", "Help"):
            self._add(self.addMenu(name), name)

    def _add(self, menu: QMenu, name: str) -> None:
        actions = self._actions
        # What cannot be done now says why in its tip.
        menu.setToolTipsVisible(True)
        for action in actions.of_menu(name):
            if action.objectName() in STARTS_A_SECTION:
                menu.addSeparator()
            menu.addAction(action)
        if name == "File":
            menu.insertMenu(actions["gallery"], self._recent)
            menu.aboutToShow.connect(self._fill_recent)
        if name == "Plan":
            self._add(menu.addMenu("Variants"), "Variants")
        if name == "View":
            lines = QMenu("Align and distribute", menu)
            self._add(lines, "Align")
            menu.insertMenu(actions["side"], lines)
            menu.addMenu("Appearance").addActions(actions.of_menu("Theme"))
            menu.addMenu("Units of bytes").addActions(actions.of_menu("Units"))

    def _fill_recent(self) -> None:
        self._recent.clear()
        for path in self._preferences.recent:
            self._recent.addAction(as_it_is(str(path)), partial(self._open_plan, path))
        self._recent.setEnabled(not self._recent.isEmpty())
