"""Exporting: into which folder, and what was written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtWidgets import QWidget

from ndbplan.base.units import how_many
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.tasks import Outcome, Task, Tasks
from ndbplan.desktop.widgets.ask_folder import ask_folder, may_replace
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.desktop.widgets.open_outside import open_outside
from ndbplan.plan.plan import Plan

MayReplace = Callable[[Path, Sequence[str]], bool]


def export(
    parent: QWidget,
    document: Document,
    tasks: Tasks,
    messages: MessageBar,
    done: Callable[[], object] = lambda: None,
) -> None:
    """Ask for a folder and write every file of the plan into it; `done` is called when they are there."""
    start = document.path.parent if document.path else Path.home()
    folder = ask_folder(parent, "Export into a folder", start)
    if folder is not None:
        export_to(document.plan, folder, tasks, messages, done, partial(may_replace, parent))


def export_to(
    plan: Plan,
    folder: Path,
    tasks: Tasks,
    messages: MessageBar,
    done: Callable[[], object] = lambda: None,
    ask: MayReplace | None = None,
) -> None:
    """Write every file of a plan into a folder, in the background; the message bar says how it went.

    `ask` has to agree, given the names, before files are replaced by others; without it they are.
    """

    def write(task: Task) -> _Written:
        from ndbplan.checks.problem import Severity
        from ndbplan.checks.run import standing
        from ndbplan.exporting.export import export as write_files
        from ndbplan.exporting.export import render_files, replaced

        others = () if ask is None else replaced(render_files(plan), folder)
        if others:
            return _Written(others)
        files = len(write_files(plan, folder, replace=True))
        errors = [one for one in standing(plan, task.cancelled) if one.severity is Severity.ERROR]
        return _Written((), files, len(errors))

    def end(outcome: Outcome) -> None:
        if outcome.error or outcome.cancelled:
            messages.say("error", outcome.error or "Nothing was exported")
            return
        written: _Written = outcome.value
        if ask is None or not written.others:
            done()
            _say(messages, folder, written.files, written.errors)
        elif ask(folder, written.others):
            export_to(plan, folder, tasks, messages, done)
        else:
            messages.say("info", f"Nothing was exported: {folder} stays as it is")

    messages.say("info", f"Exporting into {folder} …")
    tasks.start(write, end)


class _Written(NamedTuple):
    """Files that would be replaced by others, or else what was written."""

    others: tuple[str, ...]
    files: int = 0
    errors: int = 0


def _say(messages: MessageBar, folder: Path, files: int, errors: int) -> None:
    still = f"; the plan still has {how_many(errors, 'error')}, see Problems" if errors else ""
    done = f"Exported {how_many(files, 'file')} into {folder}"
    show = partial(open_outside, folder, messages, done)
    messages.say("warning" if errors else "done", f"{done}{still}", "Open the folder", show)
