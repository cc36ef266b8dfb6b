"""What the command palette offers in a window: actions, additions, places to go to, samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from ndbplan.describe.titles import display_name
from ndbplan.desktop.actions import SPECS, Actions
from ndbplan.desktop.dialogs.command_palette import Command
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.edits import palette as catalogue
from ndbplan.plan.samples import sample_names

_ICONS = {spec.name: spec.icon for spec in SPECS}
_PART_ICONS = {"Host": "server", "Location": "warehouse", "Disk": "hard-drive", "Table": "table-2"}


def commands_of(
    actions: Actions,
    editor: Editor,
    document: Document,
    go_to: Callable[[str], object],
    open_sample: Callable[[str], object],
) -> Iterator[Command]:
    """Everything that can be done in the window now."""
    for action in actions.all():
        name = action.objectName()
        if action.isEnabled() and name != "find":
            keys = action.shortcut().toString().replace("+", " ")
            yield Command(action.text().rstrip("…"), "", _ICONS[name], action.trigger, keys)
    for entry in catalogue.offers():
        if entry.kind != "role":
            add = partial(editor.add_beside_selection, entry.key)
            yield Command(f"Add {entry.text}", entry.kind, entry.icon, add)
    plan = document.plan
    for part in plan.objects():
        host = plan.host_of_disk.get(part.id)
        text = f"{host.hostname} / {part.name}" if host is not None else display_name(plan, part)
        icon = _PART_ICONS.get(type(part).__name__, "circle-dot")
        yield Command(text, "go to", icon, partial(go_to, part.id))
    for sample in sample_names():
        yield Command(f"Sample {sample}", "new plan", "sparkles", partial(open_sample, sample))
