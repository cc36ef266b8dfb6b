"""How the window looks: its theme, and the units in which it shows bytes."""

from __future__ import annotations

from ndbplan.base.kept import owner
from ndbplan.base.units import system_in_use, use_system
from ndbplan.desktop.actions import Actions
from ndbplan.desktop.document.preferences import APPEARANCE, UNITS, Preferences
from ndbplan.desktop.look import theme


class Appearance:
    """What the menu sets, kept for the next start."""

    def __init__(self, preferences: Preferences, actions: Actions) -> None:
        self._preferences, self._actions = preferences, actions

    def set_theme(self, mode: theme.Mode) -> None:
        """Take another theme."""
        self._preferences.put(APPEARANCE, mode)
        theme.theme().set_mode(mode)
        self.mark_theme()

    def mark_theme(self) -> None:
        """Tick the theme in use in the menu."""
        for mode in ("system", "light", "dark"):
            self._actions[f"theme_{mode}"].setChecked(theme.theme().mode == mode)

    def set_units(self, system: str) -> None:
        """Show bytes in these units, everywhere at once."""
        self._preferences.put(UNITS, system)
        if system == system_in_use():
            self.mark_units()
            return
        use_system(system)
        kept = owner()
        if kept is not None:
            # Problems and derivations have their numbers in words.
            kept.forget()
        theme.theme().changed.emit()

    def mark_units(self) -> None:
        """Tick the units of bytes in the menu that are shown."""
        chosen = system_in_use() or "usual"
        for system in ("usual", "decimal", "binary"):
            self._actions[f"units_{system}"].setChecked(chosen == system)
