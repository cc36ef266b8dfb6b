"""What can be done to a live cluster, by what it is done to: a menu whose entries are lines of consoles.

Each entry is the line that somebody would type, so that a lesson and a transcript know of it, and so that
whoever looks at what was answered learns how to type it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QWidget

from ndbplan.configuration.arrays import may_lose
from ndbplan.configuration.failing_parts import place_part
from ndbplan.describe.titles import how_called
from ndbplan.desktop.widgets.ask import Ask, Question
from ndbplan.desktop.widgets.menu_heading import heading
from ndbplan.desktop.widgets.units import NUMBER, TEXT
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import ApiSlot, DataNode, DiskRole, ManagementNode, Process, SqlNode
from ndbplan.plan.workloads import EVENLY
from ndbplan.train.consoles import MGM, WORLD
from ndbplan.train.sight import Sight

Say = Callable[[str, str], object]
"""A prompt, and a line for it."""


_PROCESSES = (ManagementNode, DataNode, SqlNode, ApiSlot)


class Line(NamedTuple):
    """One entry."""

    text: str
    prompt: str
    line: str
    """Empty: it opens the console."""


def acts_of(plan: Plan, ids: Sequence[str], sight: Sight) -> Iterator[Line]:
    """What can be done to these parts now, at one moment; only where all are of one kind."""
    parts = [plan.by_id[i] for i in ids]
    if not parts:
        yield from _of_cluster(sight)
    elif all(isinstance(part, _PROCESSES) for part in parts):
        yield from _of_processes([part for part in parts if isinstance(part, _PROCESSES)], sight)
    elif all(isinstance(part, Host) for part in parts):
        yield from _of_hosts([part for part in parts if isinstance(part, Host)], sight)
    elif all(isinstance(part, Location) for part in parts):
        yield from _of_places(plan, [part for part in parts if isinstance(part, Location)], sight)
    elif all(isinstance(part, Disk) for part in parts):
        yield from _of_disks(plan, [part for part in parts if isinstance(part, Disk)], sight)


def _whom(plan: Plan, ids: Sequence[str]) -> str:
    """What an entry acts on; nothing of one part, which the pointer is at: ` 2 data nodes`."""
    return f" {how_called(plan, ids)}" if len(ids) > 1 else ""


def _of_cluster(sight: Sight) -> Iterator[Line]:
    yield Line("Double the load", WORLD, f"load x{2 * (sight.load or 0.5):g}")
    yield Line("Halve the load", WORLD, f"load x{sight.load / 2:g}")
    if sight.load != 1:
        yield Line("The load as planned", WORLD, "load x1")
    if sight.moment.links:
        yield Line("Heal the network", WORLD, "heal")
    if _is_uneven(sight.plan):
        yield Line("Take hot keys apart", WORLD, "spread")
    yield Line("Start a backup", MGM, "START BACKUP")


def _is_uneven(plan: Plan) -> bool:
    """Whether clients of some load choose some keys more often than others."""
    loads = plan.workloads
    return any(one.choice != EVENLY for load in loads for t in load.transactions for one in t.operations)


def _of_processes(processes: list[Process], sight: Sight) -> Iterator[Line]:
    named = ",".join(f"node:{process.node_id}" for process in processes if not isinstance(process, ApiSlot))
    ids = [process.id for process in processes]
    if not named:
        return
    whom = _whom(sight.plan, ids)
    runs = [i for i in ids if i not in sight.moment.down or i in sight.states]
    hang = [i for i in ids if i in sight.states and sight.states[i].words == "silent"]
    if runs:
        yield Line(f"Kill{whom}", WORLD, f"kill {named}")
        if not hang:
            yield Line(f"Let{whom or ' it'} hang", WORLD, f"hang {named}")
    if hang:
        yield Line(f"Let{whom or ' it'} go on", WORLD, f"wake {named}")
    if len(runs) < len(ids):
        yield Line(f"Start{whom}", WORLD, f"start {named}")
    only = processes[0] if len(processes) == 1 else None
    if isinstance(only, DataNode) and runs:
        yield Line("Stop it in ndb_mgm", MGM, f"{only.node_id} STOP")
        yield Line("Restart it in ndb_mgm", MGM, f"{only.node_id} RESTART")
    if only is not None and only.host_id is not None:
        # Where it is started by hand, also in a lesson that leaves no other way.
        hostname = sight.plan.host(only.host_id).hostname
        yield Line(f"Open the shell of {hostname}", f"{hostname}$", "")
    if len(processes) > 1 and all(isinstance(process, DataNode) for process in processes):
        pair = sorted({process.host_id for process in processes if process.host_id is not None})
        if len(pair) == 2:
            yield from _of_link(sight, pair)


def _of_link(sight: Sight, pair: Sequence[str]) -> Iterator[Line]:
    names = "/".join(sight.plan.host(i).hostname for i in pair)
    yield Line(f"Cut the link {names.replace('/', ' – ')}", WORLD, f"cut link:{names}")
    yield Line("Slow it to 10 %", WORLD, f"slow link:{names} 10%")
    if any(one.share(pair) < 1.0 for one in sight.moment.links):
        yield Line("Heal the network", WORLD, "heal")


def _of_hosts(hosts: list[Host], sight: Sight) -> Iterator[Line]:
    named = ",".join(f"host:{host.hostname}" for host in hosts)
    down = [host for host in hosts if host.id in sight.moment.down]
    whom = _whom(sight.plan, [host.id for host in hosts])
    if len(down) < len(hosts):
        yield Line(f"Lose{whom or ' it'}", WORLD, f"fail {named}")
        yield Line(f"Cut off the network of{whom}" if whom else "Cut off its network", WORLD, f"cut {named}")
    if down:
        yield Line(f"Bring{whom or ' it'} back", WORLD, f"restore {named}")
    if len(hosts) == 2:
        yield from _of_link(sight, [host.id for host in hosts])
    elif sight.moment.links:
        yield Line("Heal the network", WORLD, "heal")
    if len(hosts) == 1:
        yield Line("Open its shell", f"{hosts[0].hostname}$", "")


def _of_places(plan: Plan, places: list[Location], sight: Sight) -> Iterator[Line]:
    parts = [place_part(plan, place) for place in places]
    named, whom = ",".join(str(part) for part in parts), _whom(plan, [place.id for place in places])
    yield Line(f"Lose all of{whom or ' it'}", WORLD, f"fail {named}")
    yield Line(f"Bring{whom or ' it'} back", WORLD, f"restore {named}")
    switches = ",".join(str(part._replace(kind="switch")) for part in parts)
    yield Line(f"Cut off the switches of{whom}" if whom else "Cut its switch off", WORLD, f"cut {switches}")
    if sight.moment.links:
        yield Line("Heal the network", WORLD, "heal")


def _of_disks(plan: Plan, disks: list[Disk], sight: Sight) -> Iterator[Line]:
    names = [f"{plan.host_of_disk[disk.id].hostname}/{disk.name}" for disk in disks]
    named, whom = ",".join(f"disk:{name}" for name in names), _whom(plan, [disk.id for disk in disks])
    if not all(disk.id in sight.moment.full_disks for disk in disks):
        yield Line(f"Fill{whom or ' it'} up", WORLD, f"fill {named}")
    if any(disk.id in sight.moment.full_disks for disk in disks):
        yield Line(f"Make room on{whom or ' it'}", WORLD, f"free {named}")
    if not all(disk.id in sight.moment.disk_utilisation for disk in disks):
        # No data node writes to it: nobody notices how fast it is.
        return
    yield Line(f"Slow{whom} to 50 %", WORLD, f"slow {named} 50%")
    yield Line(f"Slow{whom} to 10 %", WORLD, f"slow {named} 10%")
    yield Line(f"Let{whom or ' it'} fail", WORLD, f"fail {named}")
    if all(may_lose(disk) for disk in disks):
        yield Line("One device fails", WORLD, f"fail {','.join(f'device:{name}' for name in names)}")
    if any(disk.id in sight.moment.disk_speed for disk in disks):
        yield Line("Full speed again", WORLD, f"restore {named}")


def menu_of(
    owner: QWidget,
    ids: Sequence[str],
    sight: Sight,
    say: Say,
    where: QPoint | None = None,
    allows: Collection[str] | None = None,
) -> QMenu:
    """The menu of these parts of a live cluster, or (none) of all of it; deletes itself when it closes.

    `allows`: deeds that are in the hands of who plays; None: all.
    """
    plan, menu = sight.plan, QMenu(owner)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.setToolTipsVisible(True)
    at = where or QCursor.pos()
    if ids:
        heading(menu, how_called(plan, ids))
    else:
        heading(menu, "The cluster")

    def add(text: str, deed: Callable[[], object], verb: str = "", tip: str = "") -> None:
        action = menu.addAction(text, deed)
        is_mine = allows is None or not verb or verb in allows
        action.setEnabled(is_mine)
        action.setToolTip(tip if is_mine else "Not in your hands in this lesson")

    for act in acts_of(plan, ids, sight):
        verb = act.line.partition(" ")[0] if act.prompt == WORLD else ""
        add(act.text, partial(say, act.prompt, act.line), verb, f"{act.prompt} {act.line}".strip())
    disks = [part for i in ids if isinstance(part := plan.by_id[i], Disk)]
    if len(disks) == 1 and disks[0].id in sight.moment.disk_utilisation:
        name = f"disk:{plan.host_of_disk[disks[0].id].hostname}/{disks[0].name}"
        add("Slow to…", partial(_ask_speed, owner, at, name, say), "slow")
    elif not ids:
        menu.addSeparator()
        add("Load…", partial(_ask_load, owner, at, say), "load")
        add("Change a parameter…", partial(_ask_parameter, owner, at, say), "set")
        add("Edit the configuration file…", partial(_ask_edit, owner, at, say), "edit")
    if len(disks) == 1 and (user := _data_node_on(plan, disks[0])) is not None:
        add("Move files here…", partial(_ask_move, owner, at, disks[0], user, say), "move")
    if menu.isEmpty() or len(menu.actions()) == 1:
        heading(menu, "Nothing can be done to these together")
    return menu


def _data_node_on(plan: Plan, disk: Disk) -> DataNode | None:
    """The data node of the host of a disk; None: it has none, and nothing is to be moved there."""
    host = plan.host_of_disk[disk.id]
    return next((node for node in plan.data_nodes if node.host_id == host.id), None)


def _ask_move(owner: QWidget, where: QPoint, disk: Disk, user: DataNode, say: Say) -> None:
    away = [role.value for role in DiskRole if user.disk_roles.disk_of(role) != disk.id]
    question = Question(f"Of {', '.join(role.value for role in DiskRole)}", TEXT, ",".join(away[:1]))
    Ask(
        f"Move files of every data node to {disk.name}, with a rolling restart", [question], "Move them",
        lambda roles: say(WORLD, f"move {roles} to {disk.name}"), owner,
    ).ask_at(where)  # fmt: skip


def _ask_edit(owner: QWidget, where: QPoint, say: Say) -> None:
    questions = [Question("Parameter", TEXT, "RedoBuffer"), Question("Value", TEXT, "64M")]
    Ask(
        "Edit config.ini, which the management server reads when it is started with --reload", questions,
        "Write it", lambda name, value: say(WORLD, f"edit {name}={value}"), owner,
    ).ask_at(where)  # fmt: skip


def _ask_speed(owner: QWidget, where: QPoint, name: str, say: Say) -> None:
    def take(speed: str, lasts: str | None) -> None:
        say(WORLD, f"slow {name} {speed}" + (f" for {lasts}" if lasts else ""))

    questions = [Question("It writes", TEXT, "20MB/s"), Question("For", TEXT, "", "until it is restored")]
    Ask(f"Slow down {name.removeprefix('disk:')}", questions, "Slow down", take, owner).ask_at(where)


def _ask_load(owner: QWidget, where: QPoint, say: Say) -> None:
    question = Question("Times what the workload says", NUMBER, "3")
    Ask("Load", [question], "Send it", lambda times: say(WORLD, f"load x{times:g}"), owner).ask_at(where)


def _ask_parameter(owner: QWidget, where: QPoint, say: Say) -> None:
    questions = [Question("Parameter", TEXT, "RedoBuffer"), Question("Value", TEXT, "64M")]
    Ask(
        "Change a parameter, with a rolling restart", questions, "Change it",
        lambda name, value: say(WORLD, f"set {name}={value}"), owner,
    ).ask_at(where)  # fmt: skip
