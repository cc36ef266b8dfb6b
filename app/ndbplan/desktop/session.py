"""What a window was like when it was closed, for the next one: open file, tab, sizes of panels, zoom, colour.

session.keep()            # when it closes
session.restore()         # when it is made: sizes at once, the tab when its panel is there
session.file              # the file that was open; None: there was none, or it is gone
session.restore_view()    # where one looked at it, and at which tab; each file has its own
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from PySide6.QtCore import QByteArray, QPointF
from PySide6.QtWidgets import QSplitter

from ndbplan.describe.colouring import WAYS
from ndbplan.desktop.actions import Actions
from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.document.preferences import SESSION, VIEWS, Preferences
from ndbplan.desktop.document.shared_file import is_open_elsewhere
from ndbplan.desktop.panels import SidePanels

_TOGGLED = ("side", "analyses", "inspector")
_MOST_VIEWS = 20
"""Files of which is remembered how their windows were left."""


class Session:
    """Of one window; kept in the preferences."""

    def __init__(
        self,
        preferences: Preferences,
        canvas: CanvasView,
        panels: SidePanels,
        actions: Actions,
        splitters: Mapping[str, QSplitter],
    ) -> None:
        self._preferences, self._canvas, self._panels = preferences, canvas, panels
        self._actions, self._splitters = actions, splitters
        self._own: dict[str, Any] = {}
        """How a window on this file was left; empty: nobody knows, or there is no file."""

    def keep(self) -> None:
        """Note what the window is like."""
        canvas, path = self._canvas, self._canvas.document.path
        centre = canvas.mapToScene(canvas.viewport().rect().center())
        before = self._known
        session: dict[str, Any] = {
            "file": str(path) if path is not None else "",
            "variant": canvas.document.project.names[canvas.document.shown],
            "zoom": round(canvas.zoom, 4),
            "fits": canvas.is_fitted,
            "centre": [round(centre.x(), 1), round(centre.y(), 1)],
            "tab": self._panels.tab or before.get("tab", ""),
            "colour": self._panels.coloured_by,
        }
        if self._actions["present"].isChecked():
            # Panels that only the presentation hides come back.
            session |= {key: before[key] for key in ("splitters", "hidden") if key in before}
        else:
            session["splitters"] = {
                name: splitter.saveState().toBase64().toStdString()
                for name, splitter in self._splitters.items()
            }
            session["hidden"] = [name for name in _TOGGLED if not self._actions[name].isChecked()]
        self._preferences.put(SESSION, session)
        if path is not None:
            views = {name: view for name, view in self._preferences.get(VIEWS).items() if name != str(path)}
            views[str(path)] = session
            self._preferences.put(VIEWS, dict(list(views.items())[-_MOST_VIEWS:]))

    def restore(self) -> None:
        """Give the panels that are there the sizes they had; the tab that was shown comes with its panel."""
        self.restore_sizes("workspace", "middle")
        hidden, tab = self._known.get("hidden"), self._known.get("tab")
        if isinstance(hidden, list):
            for name in _TOGGLED:
                if self._actions[name].isChecked() is (name in hidden):
                    self._actions[name].trigger()
        if isinstance(tab, str) and tab:
            self._panels.show_tab(tab)

    def restore_sizes(self, *names: str) -> None:
        """Give the panels of splitters the sizes they had, once they are there."""
        states = self._known.get("splitters")
        for name in names:
            state = states.get(name) if isinstance(states, dict) else None
            if isinstance(state, str):
                self._splitters[name].restoreState(QByteArray.fromBase64(state.encode("ascii", "ignore")))

    def forget_file(self) -> None:
        """Until the window is kept again: a file that ends the program does not come back with each start."""
        if self._known.get("file"):
            self._preferences.put(SESSION, self._known | {"file": ""})

    @property
    def file(self) -> Path | None:
        """The file that was open; None: there was none, it is gone, or another window has it open now."""
        name = self._known.get("file")
        with suppress(OSError, ValueError):
            path = Path(name) if isinstance(name, str) and name else None
            if path is not None and path.is_file() and not is_open_elsewhere(path):
                return path
        return None

    def restore_view(self) -> None:
        """Show the variant and look at the canvas as at the end: for the file that was open then."""
        view = self._preferences.get(VIEWS).get(str(self._canvas.document.path))
        if isinstance(view, dict):
            self._own = view
            self.restore()
        variant = self._known.get("variant")
        if isinstance(variant, str):
            self._canvas.document.show_named(variant)
        self._restore_colour(self._known.get("colour"))
        zoom, centre = self._known.get("zoom"), self._known.get("centre")
        if self._known.get("fits") is not False or zoom is None or not _are_numbers([zoom]):
            return
        self._canvas.set_zoom(float(zoom))
        if isinstance(centre, list) and len(centre) == 2 and _are_numbers(centre):
            self._canvas.look_at(QPointF(*centre))

    def _restore_colour(self, chosen: object) -> None:
        match chosen:
            case [str(name), str(against)] if name in WAYS:
                self._panels.colours.choose(name, against)

    @property
    def _known(self) -> dict[str, Any]:
        return self._own or self._preferences.get(SESSION)


def _are_numbers(values: list[Any]) -> bool:
    return all(isinstance(value, int | float) and abs(value) < 1e9 for value in values)
