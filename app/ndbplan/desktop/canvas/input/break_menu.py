"""What the context menu offers to break in a run: kill, restart, slow down, fill up, cut off.

Each stands there twice: at the moment the replay stands at, which one click does, and at one that is typed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu, QWidget

from ndbplan.base.units import format_clock, format_percent
from ndbplan.configuration.arrays import may_lose
from ndbplan.configuration.directories import disk_for
from ndbplan.describe.titles import display_name, how_called
from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.document.event_edits import EventEdits
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.ask import Ask, Question
from ndbplan.desktop.widgets.menu_heading import heading
from ndbplan.desktop.widgets.units import MOMENT, SECONDS, SHARE
from ndbplan.edits import events
from ndbplan.plan.events import DiskFull, Event
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole

_HALF, _TENTH = 0.5, 0.1


class Target(NamedTuple):
    """Where to ask, and what is broken."""

    owner: QWidget
    where: QPoint
    """Of the screen."""
    plan: Plan
    ids: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the part, or how many there are."""
        return how_called(self.plan, self.ids)

    @property
    def several(self) -> str:
        """What an entry of a menu acts on; nothing of one part, which the pointer is at: ` 2 data nodes`."""
        return f" {self.name}" if len(self.ids) > 1 else ""


def offer_to_break(menu: QMenu, target: Target, event_edits: EventEdits) -> None:
    """Add what can be broken of these parts; nothing where no workload runs."""
    parts = [target.plan.by_id[i] for i in target.ids]
    workload = event_edits.workload
    if workload is None or not parts or not all(events.can_be_killed(part) for part in parts):
        return
    heading(menu, f"In a run of {workload.name}")
    at_s, ids = event_edits.moment_s, target.ids
    now = format_clock(at_s)
    disks = all(isinstance(part, Disk) for part in parts)
    down = [event for i in ids if (event := event_edits.keeps_down(i, at_s)) is not None]
    if not down:
        menu.addAction(
            theme.icon("circle-x"), f"Kill{target.several} at {now}", partial(event_edits.kill, ids, at_s)
        )
    menu.addAction(f"Kill{target.several} at…", partial(_ask_kill, target, event_edits, now, disks))
    if disks and all(may_lose(part) for part in parts):
        menu.addAction(f"One device fails at {now}", partial(event_edits.lose_device, ids, at_s))
        menu.addAction("One device fails at…", partial(_ask_device, target, event_edits, now))
    if disks:
        menu.addAction(f"Slow{target.several} to 50 % at {now}", partial(event_edits.slow, ids, _HALF, at_s))
        slow = partial(event_edits.slow, ids)
        menu.addAction("Slow to … at…", partial(_ask_slow, target, target.name, _HALF, now, slow))
        menu.addAction(f"Fill up{target.several} at {now}", partial(event_edits.fill, ids, at_s))
        menu.addAction("Fill up at…", partial(_ask_fill, target, event_edits, now))
    logs = [disk.id for part in parts if (disk := _log_disk(target.plan, part)) is not None]
    if logs and len(logs) == len(parts):
        name = "the disk of its redo log" if len(logs) == 1 else "the disks of their redo logs"
        menu.addAction(
            f"Fill up {name} at {now}", partial(event_edits.fill, tuple(dict.fromkeys(logs)), at_s)
        )
    if down:
        text = f"{_well(down) if disks else f'Restart{target.several}'} at {now}"
        menu.addAction(theme.icon("rotate-ccw"), text, partial(event_edits.restart, ids, at_s))
    elif not disks:
        menu.addAction(
            theme.icon("rotate-ccw"),
            f"Restart{target.several} at {now}",
            partial(event_edits.restart, ids, at_s),
        )
    if not disks:
        menu.addAction(
            f"Restart{target.several} at…",
            partial(_ask, target, "Restart", now, partial(event_edits.restart, ids)),
        )
    if all(isinstance(part, Host | Location) for part in parts):
        cut = event_edits.cut_off
        menu.addAction(theme.icon("scissors"), f"Cut off the network at {now}", partial(cut, ids, at_s))
        menu.addAction("Cut off at…", partial(_ask, target, "Cut off", now, partial(cut, ids)))
        slow = partial(event_edits.slow_link, ids)
        menu.addAction(
            "Slow its network to … at…",
            partial(_ask_slow, target, f"the network of {target.name}", _TENTH, now, slow),
        )
    menu.addSeparator()


def _well(events_of_disks: Sequence[Event]) -> str:
    full = [isinstance(event, DiskFull) for event in events_of_disks]
    return "Room again" if all(full) else "Well again" if any(full) else "Full speed again"


def _log_disk(plan: Plan, part: object) -> Disk | None:
    return disk_for(plan, part, DiskRole.REDO) if isinstance(part, DataNode) else None


def link_menu(view: Stage, where: QPoint, hosts: Sequence[str]) -> QMenu:
    """The menu for the line that joins the data nodes of a node group: the links between their hosts."""
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    plan, event_edits = view.document.plan, view.editor.event_edits
    ends = tuple(dict.fromkeys(hosts))
    if event_edits.workload is None or len(ends) < 2:
        menu.addAction("No link between hosts to break here").setEnabled(False)
        return menu
    one, others = display_name(plan, plan.by_id[ends[0]]), ends[1:]
    far = display_name(plan, plan.by_id[others[0]]) if len(others) == 1 else f"{len(others)} hosts"
    at_s = event_edits.moment_s
    cut = partial(event_edits.cut_off, ends[:1], others=others)
    heading(menu, f"Link {one} – {far}")
    menu.addAction(theme.icon("scissors"), f"Cut at {format_clock(at_s)}", partial(cut, at_s))
    target = Target(view, where, plan, ends[:1])
    menu.addAction("Cut at…", partial(_ask, target, "Cut the link of", format_clock(at_s), cut))
    slow = partial(event_edits.slow_link, ends[:1], others=others)
    menu.addAction(f"Slow to {format_percent(_TENTH)} at {format_clock(at_s)}", partial(slow, _TENTH, at_s))
    menu.addAction(
        "Slow to … at…", partial(_ask_slow, target, f"link {one} – {far}", _TENTH, format_clock(at_s), slow)
    )
    return menu


def _ask(target: Target, verb: str, now: str, take: Callable[[float], object]) -> None:
    Ask(f"{verb} {target.name}", [Question("At", MOMENT, now)], verb.split()[0], take, target.owner).ask_at(
        target.where
    )


def _ask_kill(target: Target, event_edits: EventEdits, now: str, disks: bool) -> None:
    questions = [Question("At", MOMENT, now)]
    if not disks:
        questions.append(Question("Started again after", SECONDS, "", "stays down"))
    take = partial(event_edits.kill, target.ids)
    Ask(f"Kill {target.name}", questions, "Kill", take, target.owner).ask_at(target.where)


def _ask_device(target: Target, event_edits: EventEdits, now: str) -> None:
    questions = [Question("At", MOMENT, now), Question("Replaced after", SECONDS, "", "not in this run")]
    take = partial(event_edits.lose_device, target.ids)
    Ask(f"A device of {target.name} fails", questions, "Let it fail", take, target.owner).ask_at(target.where)


def _ask_fill(target: Target, event_edits: EventEdits, now: str) -> None:
    def take(at_s: float, lasts_s: float | None) -> None:
        event_edits.fill(target.ids, at_s, lasts_s or 0.0)

    questions = [Question("At", MOMENT, now), Question("For", SECONDS, "", "the rest of the run")]
    Ask(f"Fill up {target.name}", questions, "Fill up", take, target.owner).ask_at(target.where)


def _ask_slow(
    target: Target, name: str, usual: float, now: str, slow: Callable[[float, float, float], object]
) -> None:
    """`slow` takes the share of the speed, the moment and how long it lasts."""

    def take(factor: float, at_s: float, lasts_s: float | None) -> None:
        slow(factor, at_s, lasts_s or 0.0)

    questions = [
        Question("Share of its speed", SHARE, SHARE.show(usual)),
        Question("At", MOMENT, now),
        Question("For", SECONDS, "", "the rest of the run"),
    ]
    Ask(f"Slow down {name}", questions, "Slow down", take, target.owner).ask_at(target.where)
