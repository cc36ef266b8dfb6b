"""Pictures of the window's main states, light and dark: `python packaging/shots.py FOLDER [NAME...]`.

Runs without a display. Each state is reached as a person reaches it, then the window draws itself.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ndbplan.plan.plan import Plan

SIZE = (1680, 1050)
PULSE_MS = 10
"""So often the window is looked at while it has nothing to do."""
IDLE_TURNS = 2000
"""Turns of the event loop without a task at work after which nothing is to come."""


class Stage:
    """One window, and what a photographer does with it."""

    def __init__(self, app: Any, folder: Path) -> None:
        from ndbplan.desktop.document.preferences import Preferences
        from ndbplan.desktop.main_window import MainWindow

        self.app = app
        self.folder = folder
        self._scratch = tempfile.TemporaryDirectory()
        home = Path(self._scratch.name)
        self.window = MainWindow(Preferences(home / "preferences.json"), home / "journals")
        self.window.files.ask_unsaved = lambda: "discard"  # type: ignore[method-assign]
        self.window.live.ask_unsaved = lambda: "discard"  # type: ignore[method-assign]
        self.window.resize(*SIZE)
        self.window.show()
        self.window.finish_building()

    def settle(self, until: Callable[[], bool] = lambda: True) -> None:
        """Let the window work until a condition holds and nothing more is to be painted.

        However busy the machine is: as long as a task is at work, the condition may come. Between events this
        thread waits: else it keeps the interpreter from those that work out what is waited for.
        """
        from PySide6.QtCore import QEventLoop, QTimer

        from ndbplan.desktop.document.tasks import Tasks

        pulse, idle = QTimer(), 0
        pulse.start(PULSE_MS)
        while not until():
            self.app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            busy = any(tasks.is_busy for tasks in self.window.findChildren(Tasks))
            idle = 0 if busy else idle + 1
            if idle > IDLE_TURNS:
                raise TimeoutError("the window did not reach the state to be photographed")
        pulse.stop()
        for _ in range(20):
            self.app.processEvents()

    def open(self, sample: str) -> None:
        """A sample with fresh estimates."""
        self.window.open_sample(sample)
        self.settle(lambda: self.window.panels.estimates.is_fresh)

    def simulate(self) -> None:
        """The simulation of the open plan, to its end."""
        self.window.navigation.simulate()
        area, inspector = self.window.panels.analyses, self.window.panels.inspector
        self.settle(lambda: not area.context.tasks.is_busy)
        # What would help is searched by itself after an overload.
        self.settle(lambda: not inspector._context.tasks.is_busy)

    def shoot(self, name: str) -> None:
        """The window as it is, into `NAME-light.png` or `NAME-dark.png`."""
        from PySide6.QtCore import Qt
        from PySide6.QtGui import QPainter

        from ndbplan.desktop.look import theme

        self.settle()
        path = self.folder / f"{name}-{theme.tokens().name}.png"
        picture = self.window.grab()
        painter = QPainter(picture)
        for popup in self.app.topLevelWidgets():
            if popup.isVisible() and popup.windowType() in (Qt.WindowType.Popup, Qt.WindowType.Dialog):
                painter.drawPixmap(self.window.mapFromGlobal(popup.pos()), popup.grab())
                popup.close()
        painter.end()
        if not picture.save(str(path)):
            raise OSError(f"{path} could not be written")
        print(path)

    def close(self) -> None:
        """Put everything away."""
        self.window.close()
        self.window.deleteLater()
        self.app.processEvents()
        self._scratch.cleanup()


def empty(stage: Stage) -> None:
    """What a new plan shows."""
    stage.window.files.new()


def gallery(stage: Stage) -> None:
    """The first start."""
    stage.window.show_gallery()
    gallery = stage.window.gallery
    stage.settle(lambda: all(card.is_drawn for card in gallery.cards))


def add_nodes(stage: Stage) -> None:
    """Where the rows of a table go when a node group is added."""
    stage.open("add-nodes")
    stage.window.panels.analyses.show_tab("Distribution")
    stage.window.selection.set([stage.window.document.plan.tables[0].id])
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)


def _distribution(stage: Stage, sample: str, view: str) -> Any:
    """A sample with the distribution panel large, in one of its views."""
    stage.open(sample)
    panel = stage.window.panels.analyses.show_tab("Distribution")
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)
    panel._views[view].click()
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)
    return panel


def distribution_map(stage: Stage) -> None:
    """Nodes by LDM threads, against what chance makes."""
    panel = _distribution(stage, "telecom-144", "map")
    stage.window.selection.set([stage.window.document.plan.data_nodes[70].id])
    panel.map.view.setFocus()


def distribution_all(stage: Stage) -> None:
    """All tables together, on a cluster of two nodes."""
    panel = _distribution(stage, "starter", "map")
    panel.table_box.setCurrentIndex(panel.table_box.count() - 1)
    panel.compute()
    panel._units["bytes"].click()
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)


def distribution_loss(stage: Stage) -> None:
    """Where primaries go when a rack is lost."""
    panel = _distribution(stage, "telecom-144", "map")
    panel.map.lost.setCurrentIndex(3)
    panel.map.compute()
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)


def bucket_moves(stage: Stage) -> None:
    """Buckets on their way to new node groups."""
    panel = _distribution(stage, "starter", "moves")
    panel.groups.setValue(2)
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)
    panel.moves.slider.setValue(430)


def redo_overload(stage: Stage) -> None:
    """A disk that saturates, buffers that fill, error 1221."""
    stage.open("redo-overload")
    node = stage.window.document.plan.data_nodes[0]
    stage.window.selection.set([stage.window.document.plan.host(node.host_id).disks[-1].id])
    stage.simulate()


def ndbinfo(stage: Stage) -> None:
    """What ndbinfo.logbuffers says just before the first error."""
    redo_overload(stage)
    panel = stage.window.panels.analyses.show_tab("Simulation")
    panel.tables.click()
    panel.scrubber.go_to(10.0)


def measured(stage: Stage) -> None:
    """What iostat measured, laid over the charts of a run."""
    redo_overload(stage)
    panel = stage.window.panels.analyses.panel("Simulation")
    head = "Linux 4.4.0 (data1) \t11/23/2026 \t_x86_64_\t(8 CPU)\n"
    columns = "\nDevice r/s w/s rkB/s wkB/s await %util\n"
    rates = [0, 30, 75, 108, 112, 109, 113, 107, 98, 55, 40, 92, 110, 111]
    reports = "".join(
        f"\n11/23/2026 10:00:{4 * n:02d} PM{columns}c0d1 0 100 0 {mb * 1024} 5 {min(100, mb)}\n"
        for n, mb in enumerate(rates)
    )
    path = Path(stage._scratch.name) / "iostat.txt"
    path.write_text(head + reports)
    panel.measured.take([path])
    stage.settle(lambda: "iostat" in panel.state.text())
    panel.scrubber.go_to(21.0)


def cluster_stopped(stage: Stage) -> None:
    """A rack that falls silent with the arbitrator: transactions stand still, then the cluster stops."""
    from ndbplan.edits import parts as edits
    from ndbplan.plan.events import LocationFailure

    def lose(plan: Plan) -> Plan:
        arbiter = min(plan.management_nodes, key=lambda node: node.node_id)
        rack = plan.host(plan.data_nodes[0].host_id).location_id
        host = next(h for h in plan.hosts if h.id == arbiter.host_id)
        plan = edits.update(plan, host.id, location_id=rack)
        event = LocationFailure(at_s=90, object_id=rack or "")
        return edits.update(plan, plan.workloads[0].id, duration_s=180.0, events=(event,))

    stage.open("starter")
    stage.window.document.edit("Lose a rack", lose)
    stage.settle(lambda: stage.window.panels.estimates.is_fresh)
    stage.window.selection.set([stage.window.document.plan.workloads[0].id])
    stage.simulate()
    stage.window.panels.analyses.panel("Simulation").scrubber.go_to(130.0)


def day(stage: Stage) -> None:
    """Where in the day of a load work on the cluster fits: its curve, a backup, a peak for all hosts."""
    from ndbplan.edits import parts as edits
    from ndbplan.plan.events import Backup
    from ndbplan.plan.workloads import OpenLoad, RatePoint

    rates = (9, 6, 4, 3, 3, 4, 8, 14, 22, 27, 29, 30, 31, 30, 28, 27, 28, 31, 35, 37, 33, 26, 18, 12)
    points = tuple(RatePoint(at_s=3600 * hour, rate_per_s=2000 * rate) for hour, rate in enumerate(rates))
    load = OpenLoad(points=points, shape="linear", repeat_s=86400)

    def edit(plan: Plan) -> Plan:
        backup = Backup(at_s=2.5 * 3600)
        return edits.update(plan, plan.workloads[0].id, load=load, duration_s=86400, events=(backup,))

    stage.open("starter")
    stage.window.document.edit("A day", edit)
    panel = stage.window.panels.analyses.show_tab("Operations")
    panel.load_box.setCurrentIndex(1)
    panel.groups.setValue(1)
    panel.compute()
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)
    stage.window.middle.setSizes([200, 800])


def telecom(stage: Stage) -> None:
    """144 data nodes."""
    stage.open("telecom-144")
    stage.window.panels.analyses.show_tab("Problems")


def telecom_near(stage: Stage) -> None:
    """A part of 144 data nodes at reading size, one node group selected."""
    stage.open("telecom-144")
    stage.window.selection.set(stage.window.canvas.canvas_scene.layout.groups[5])
    stage.window.canvas.set_zoom(0.62)
    stage.window.canvas.bring_into_view(stage.window.selection.ids)


def disk_space(stage: Stage) -> None:
    """How full a disk is, what lies on it, and the month in which it is full."""
    from ndbplan.edits.parts import update

    stage.open("starter")
    document = stage.window.document
    document.edit("Grow", lambda p: update(p, p.tables[3].id, growth_rows_per_month=60_000_000))
    disk = document.plan.hosts[0].disks[1]
    document.edit("Smaller disk", lambda p: update(p, disk.id, capacity_bytes=160 * 10**9))
    stage.window.selection.set([disk.id])
    panel = stage.window.panels.analyses.show_tab("Memory")
    stage.settle(lambda: stage.window.panels.estimates.is_fresh)
    stage.settle(lambda: panel.chart.picture is not None)


def coloured(stage: Stage, sample: str, name: str) -> None:
    """The canvas coloured by one thing."""
    stage.open(sample)
    stage.window.panels.colours.choose(name)
    stage.settle(lambda: bool(stage.window.canvas.canvas_scene.look.colouring.shades))


def coloured_changes(stage: Stage) -> None:
    """What differs from another variant."""
    variants(stage)
    stage.window.top_bar.variant.menu().close()
    stage.window.panels.colours.choose("change")
    stage.settle(lambda: bool(stage.window.canvas.canvas_scene.look.colouring.shades))


def memory_picture(stage: Stage) -> None:
    """What fills a data node and its disks."""
    disk_space(stage)
    stage.window.panels.analyses.panel("Memory")._views["Picture"].click()
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)


def what_if(stage: Stage) -> None:
    """Three times the rows on one node group more, before it is made so."""
    memory_picture(stage)
    panel = stage.window.panels.analyses.panel("Memory")
    panel.pictures.what_if.rows.setValue(3.0)
    panel.pictures.what_if.groups.setValue(1)
    panel.pictures.compute()
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)


def telecom_memory(stage: Stage) -> None:
    """One of 144 data nodes, with twenty tables."""
    stage.open("telecom-144")
    panel = stage.window.panels.analyses.show_tab("Memory")
    panel._views["Picture"].click()
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)


def variants(stage: Stage) -> None:
    """Three variants of a plan, and the menu that lists them."""
    from ndbplan.desktop.document.document import PlanEdit
    from ndbplan.edits import parts as edits
    from ndbplan.edits.growth import add_node_group

    def more_memory(plan: Plan) -> Plan:
        return edits.update_each(
            plan, {host.id: lambda h: h.model_copy(update={"memory_bytes": 2 * h.memory_bytes})
                   for host in plan.hosts}
        )  # fmt: skip

    stage.open("starter")
    made: dict[str, PlanEdit] = {"Twice the memory": more_memory, "A second node group": add_node_group}
    for name, edit in made.items():
        stage.window.document.edit_as_variant(name, edit, "as offered in May")
    stage.window.canvas.fit()
    stage.settle(lambda: stage.window.panels.estimates.is_fresh)
    button = stage.window.top_bar.variant
    button.menu().popup(button.mapToGlobal(button.rect().bottomLeft()))


def compare(stage: Stage) -> None:
    """Variants side by side, with their runs on one axis."""
    from ndbplan.edits.assign import assign

    stage.open("redo-overload")
    for name, text in (("Faster disks", "redo.disk.write=200MB/s"), ("Large buffer", "RedoBuffer=128M")):
        stage.window.document.show_variant(0)
        stage.window.document.edit_as_variant(name, lambda plan, t=text: assign(plan, t)[0])
    panel = stage.window.panels.analyses.show_tab("Compare")
    stage.settle(lambda: bool(panel.rows.lines))
    panel.simulate.click()
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)
    stage.window.messages.hide()
    stage.window.middle.setSizes([150, 850])


def tab(stage: Stage, name: str, sample: str = "starter") -> None:
    """A sample with one of its analyses."""
    stage.open(sample)
    stage.window.panels.analyses.show_tab(name)
    stage.settle(lambda: not stage.window.panels.analyses.context.tasks.is_busy)


def starter_run(stage: Stage) -> None:
    """The first simulation that anybody sees."""
    stage.open("starter")
    stage.simulate()


def disk_data(stage: Stage) -> None:
    """A tablespace whose files lie on two disks."""
    from ndbplan.edits.disk_data import FilesThereToo, with_tablespace
    from ndbplan.plan.processes import DiskRole

    stage.open("starter")
    more = FilesThereToo(DiskRole.DATA_FILES, "/nvme0/ndb")
    stage.window.document.edit("Files on both disks", lambda plan: more(with_tablespace(plan)[0]))
    stage.settle(lambda: stage.window.panels.estimates.is_fresh)
    stage.window.selection.set([stage.window.document.plan.tablespaces[0].id])


def sizing(stage: Stage) -> None:
    """From requirements to plans, before anything is typed."""
    from PySide6.QtWidgets import QDialog

    stage.open("starter")
    stage.window.actions_table["size"].trigger()
    dialog = stage.window.findChild(QDialog)
    assert dialog is not None
    stage.settle(dialog.isVisible)


def mid_drag(stage: Stage) -> None:
    """A host on its way into another rack."""
    from PySide6.QtCore import QPointF

    from ndbplan.desktop.canvas.input.gestures import MoveHosts

    stage.open("starter")
    view = stage.window.canvas
    scene = view.canvas_scene
    host, target = "app-a1", scene.item_of("host-b1")
    stage.window.selection.set([host])
    start = scene.item_of(host).rect_in_scene().topLeft() + QPointF(60, 20)
    gesture = MoveHosts(view, start, [host])
    view._gesture = gesture
    gesture.move(target.rect_in_scene().topLeft() + QPointF(90, 30))


def error(stage: Stage) -> None:
    """A file that cannot be read: said in one line, the open plan stays."""
    stage.open("starter")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        path = Path("shop.ndbplan")
        path.write_text('{"format_version": "two"}')
        stage.window.files.open(path)


def commands(stage: Stage) -> None:
    """The command palette."""
    stage.open("starter")
    stage.window.actions_table["find"].trigger()
    stage.window.commands.field.setText("add")


def _live(stage: Stage, sample: str) -> Any:
    """A live cluster on a sample, and time stands still."""
    stage.open(sample)
    stage.window.live.toggle()
    page = stage.window.live.page
    stage.settle(lambda: page.session.seat is not None)
    page.session.play(False)
    stage.settle(lambda: not page.session.is_busy)
    return page


def _say(stage: Stage, page: Any, *lines: tuple[str, str]) -> None:
    for prompt, line in lines:
        page.session.ask(prompt, line)
    stage.settle(lambda: not page.session.is_busy)


def live(stage: Stage) -> None:
    """A live cluster: a data node was killed, and starts again."""
    page = _live(stage, "starter")
    plan = stage.window.document.plan
    host = plan.host(plan.data_nodes[0].host_id).hostname
    _say(stage, page, ("!", "wait 95s"), ("ndb_mgm>", "SHOW"), ("!", "kill node:1"), ("!", "wait 3s"),
         ("ndb_mgm>", "1 STATUS"), (f"{host}$", "ndbmtd"), ("!", "wait 100s"),
         ("mysql>", "SELECT node_id, status, start_phase FROM ndbinfo.nodes;"),
         ("ndb_mgm>", "ALL STATUS"))  # fmt: skip
    page.session.stop_when("nodes_started = 4")
    stage.settle(lambda: not page.session.is_busy)


def lesson(stage: Stage) -> None:
    """A lesson: a goal that came true, a hint, a question answered wrongly."""
    from ndbplan.train.lessons.files import LESSONS as KIND

    source = KIND.find("redo-overload")
    stage.open("starter")
    stage.window.live.begin_lesson(source, source.value.starts[0], "Ann Smith")
    page = stage.window.live.page
    stage.settle(lambda: page.session.seat is not None)
    page.session.play(False)
    _say(stage, page, ("!", "until redo_buffer 80% within 5min"),
         ("mysql>", "SELECT * FROM ndbinfo.logbuffers;"),
         ("data1$", "iostat -kx"), ("lesson>", "hint"), ("lesson>", "answer cause a"))  # fmt: skip
    page.open_console("mysql>")


def debriefing(stage: Stage) -> None:
    """A lesson that is over: what was done, what was looked at, what was missed."""
    lesson(stage)
    page = stage.window.live.page
    page.lesson.said.emit("finish")
    stage.settle(lambda: page.is_finished)


def lessons(stage: Stage) -> None:
    """The list of lessons."""
    from ndbplan.desktop.dialogs.lessons_dialog import LessonsDialog
    from ndbplan.desktop.document.preferences import LESSONS

    stage.open("starter")
    stage.window.preferences.put(LESSONS, {"redo-overload": 96.0})
    stage.window.live.choose_lesson()
    dialog = stage.window.findChild(LessonsDialog)
    stage.settle(lambda: dialog.list.count() > 0)


def live_full(stage: Stage) -> None:
    """A live cluster: a disk is full, and its data node has ended for want of room."""
    page = _live(stage, "starter")
    plan = stage.window.document.plan
    host = plan.host(plan.data_nodes[0].host_id)
    page.open_console(f"{host.hostname}$")
    _say(
        stage,
        page,
        ("!", f"fill disk:{host.hostname}/lcp"),
        ("!", "wait 10min"),
        (f"{host.hostname}$", "df -h"),
    )


def live_telecom(stage: Stage) -> None:
    """144 data nodes alive, one rack lost."""
    page = _live(stage, "telecom-144")
    rack = stage.window.document.plan.locations[0].name
    _say(stage, page, ("!", "wait 60s"), ("!", "load x2"), ("!", f"fail rack:{rack}"), ("!", "wait 40s"),
         ("ndb_mgm>", "ALL STATUS"))  # fmt: skip


def scene(stage: Stage, name: str, place: int, start: str = "published") -> None:
    """A scene of a demo in presentation mode."""
    from ndbplan.demo.files import DEMOS, project_of
    from ndbplan.desktop.demos import play_alone

    demo = DEMOS.find(name).value
    chosen = demo.start(start)
    assert chosen is not None
    window = stage.window
    window.document.new(project_of(demo, chosen))
    play_alone(window.demos, demo.worded(chosen), window.close)
    window.demos.player.step(place)
    # Without a display the whole screen is small.
    window.showNormal()
    window.resize(*SIZE)
    stage.settle(lambda: window.demos.player.is_ready and not window.panels.is_busy)


def demos(stage: Stage) -> None:
    """The list of demos and scenes."""
    from PySide6.QtWidgets import QDialog

    stage.open("starter")
    stage.window.demos.open()
    dialog = stage.window.findChild(QDialog)
    assert dialog is not None
    stage.settle(dialog.isVisible)


STATES: dict[str, Callable[[Stage], None]] = {
    "empty": empty,
    "gallery": gallery,
    "add-nodes": add_nodes,
    "distribution-map": distribution_map,
    "distribution-all": distribution_all,
    "distribution-loss": distribution_loss,
    "bucket-moves": bucket_moves,
    "redo-overload": redo_overload,
    "ndbinfo": ndbinfo,
    "measured": measured,
    "cluster-stopped": cluster_stopped,
    "day": day,
    "telecom-144": telecom,
    "telecom-144-near": telecom_near,
    "disk-space": disk_space,
    "memory-picture": memory_picture,
    "what-if": what_if,
    "telecom-memory": telecom_memory,
    "variants": variants,
    **{f"by-{name}": partial(coloured, sample="redo-overload", name=name) for name in ("disk", "problem")},
    **{f"144-by-{name}": partial(coloured, sample="telecom-144", name=name) for name in ("cpu", "loss")},
    "by-changes": coloured_changes,
    "compare": compare,
    **{f"scene-{n + 1}": partial(scene, name="slow-disk", place=n) for n in (1, 2, 4, 6, 8)},
    "scene-operations": partial(scene, name="terabyte", place=5, start="today"),
    "scene-canvas": partial(scene, name="growing", place=4),
    "demos": demos,
    "starter-run": starter_run,
    **{
        f"tab-{name.lower().replace(' ', '-')}": partial(tab, name=name)
        for name in ("Tables", "Failures", "Problems", "What matters", "Operations", "Export preview")
    },
    "disk-data": disk_data,
    "sizing": sizing,
    "mid-drag": mid_drag,
    "error": error,
    "commands": commands,
    "live": live,
    "live-full": live_full,
    "lesson": lesson,
    "debriefing": debriefing,
    "lessons": lessons,
    "live-telecom": live_telecom,
}


def main(arguments: list[str]) -> int:
    """Photograph every state, or those named, in both appearances."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    scratch = tempfile.TemporaryDirectory(prefix="ndbplan-shots-")
    # What somebody keeps in a palette of their own is in no picture.
    os.environ.update(XDG_CONFIG_HOME=scratch.name, XDG_STATE_HOME=scratch.name)
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=Path("shots"))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(STATES)}; without one: all")
    asked = parser.parse_args(arguments)
    unknown = sorted({*asked.names} - {*STATES})
    if unknown:
        parser.error(f"no state '{unknown[0]}'; there are {', '.join(STATES)}")
    folder, wanted = asked.folder, asked.names or list(STATES)
    folder.mkdir(parents=True, exist_ok=True)
    from ndbplan.desktop.look import theme
    from ndbplan.desktop.start import make_application

    app = make_application()
    theme.install(app, "dark")
    for mode in ("dark", "light"):
        theme.theme().set_mode(mode)
        for name in wanted:
            stage = Stage(app, folder)
            try:
                STATES[name](stage)
                stage.shoot(name)
            finally:
                stage.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
