"""What the command palette offers in a window: actions, additions, places to go to, samples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ndbplan.desktop import catalogue
from ndbplan.desktop.actions import SPECS
from ndbplan.desktop.command_palette import Command
from ndbplan.desktop.editor import display_name
from ndbplan.plan.samples import sample_names

if TYPE_CHECKING:
    from ndbplan.desktop.main_window import MainWindow

_ICONS = {spec.name: spec.icon for spec in SPECS}
_PART_ICONS = {"Host": "server", "Location": "warehouse", "Disk": "hard-drive", "Table": "table-2"}


def commands_of(window: MainWindow) -> Iterator[Command]:
    """Everything that can be done in the window now."""
    for action in window.actions_table.all():
        name = action.objectName()
        if action.isEnabled() and name != "find":
            keys = action.shortcut().toString().replace("+", " ")
            yield Command(action.text().rstrip("…"), "", _ICONS[name], action.trigger, keys)
    for entry in catalogue.offers():
        if entry.kind != "role":
            add = partial(window.editor.add_beside_selection, entry.key)
            yield Command(f"Add {entry.text}", entry.kind, entry.icon, add)
    plan = window.document.plan
    for part in plan.objects():
        host = plan.host_of_disk.get(part.id)
        text = f"{host.hostname} / {part.name}" if host is not None else display_name(part)
        icon = _PART_ICONS.get(type(part).__name__, "circle-dot")
        yield Command(text, "go to", icon, partial(window.go_to, part.id))
    for sample in sample_names():
        yield Command(f"Sample {sample}", "new plan", "sparkles", partial(window.open_sample, sample))
