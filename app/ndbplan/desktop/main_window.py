"""The main window: puts palette, outline, canvas, analyses and inspector together; decides nothing else.

It comes in two steps: the canvas and the top bar at once, everything around them with `finish_building()`
when the window is on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QStackedWidget, QVBoxLayout, QWidget

from ndbplan.base.units import system_in_use
from ndbplan.desktop.action_states import ON_STAGE, ActionStates
from ndbplan.desktop.actions import Actions
from ndbplan.desktop.appearance import Appearance
from ndbplan.desktop.arrangement import Arrangement, Parts, first_size
from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.canvas_messages import CanvasMessages
from ndbplan.desktop.deciding import Deciding
from ndbplan.desktop.disk_data_offers import DiskDataOffers
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.files import FileFlow
from ndbplan.desktop.document.preferences import WINDOW, Preferences
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.file_drops import FileDrops, hand_on
from ndbplan.desktop.live_mode import LiveMode
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_menu import MainMenu
from ndbplan.desktop.navigation import Navigation
from ndbplan.desktop.panels import SidePanels
from ndbplan.desktop.running import ask_whose, compare, measured, report, save_picture
from ndbplan.desktop.session import Session
from ndbplan.desktop.status_bar import StatusBar
from ndbplan.desktop.top_bar import TopBar
from ndbplan.desktop.variants import Variants
from ndbplan.desktop.widgets.focus_ring import Stop, focus_next
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.desktop.widgets.undo_keys import UndoKeys
from ndbplan.desktop.workspace import Workspace
from ndbplan.plan.samples import sample_plan

if TYPE_CHECKING:
    from ndbplan.desktop.canvas.empty import EmptyCanvas
    from ndbplan.desktop.canvas.minimap import Minimap
    from ndbplan.desktop.demos import Demos
    from ndbplan.desktop.dialogs.command_palette import CommandPalette
    from ndbplan.desktop.dialogs.gallery import Gallery
    from ndbplan.desktop.document.recovery import Journal
    from ndbplan.desktop.document.tasks import Tasks
    from ndbplan.desktop.sides.outline import Outline
    from ndbplan.desktop.sides.palette import Palette
    from ndbplan.desktop.steps import Steps
    from ndbplan.desktop.tour import Tour


class MainWindow(QMainWindow):
    """One window with one document."""

    closed = Signal(object)
    """This window, when it has been closed."""
    window_wanted = Signal()
    """Another window, for another plan."""
    demo_wanted = Signal(object)
    """Another window, for a `demos.Prepared` demo."""

    def __init__(self, preferences: Preferences | None = None, journal_folder: Path | None = None) -> None:
        super().__init__()
        self.preferences = preferences or Preferences()
        self.document = Document(parent=self)
        self.selection = Selection(self.document, self)
        self.editor = Editor(self.document, self.selection, self)
        self.files = FileFlow(self.document, self.preferences, self)
        self.variants = Variants(self.editor, self)
        self.leave: Callable[[], object] = self.close
        """Ends the program; without other windows this one."""
        self._units, self._journal_folder = system_in_use(), journal_folder
        self.journal: Journal | None = None
        self.setWindowTitle("ndbplan")
        self.resize(first_size(self))
        geometry = self.preferences.get(WINDOW).encode("ascii", "ignore")
        self.restoreGeometry(QByteArray.fromBase64(geometry))

        self.canvas = CanvasView(self.editor)
        self.minimap: Minimap | None = None
        self.empty: EmptyCanvas | None = None
        self.palette_panel: Palette | None = None
        self.outline: Outline | None = None
        self.commands: CommandPalette | None = None
        self.arrangement = Arrangement(self, self._parts)
        self.actions_table = Actions(self, self._handlers())
        menu = MainMenu(self.actions_table, self.preferences, self.files.open, self)
        self.top_bar = TopBar(self.editor, self.actions_table, menu)
        self.status = StatusBar(self.actions_table)
        self.panels = SidePanels(self.document, self.selection, self.canvas)
        self.deciding = Deciding(self, self.editor, self.panels, self.top_bar)
        self.tasks: Tasks
        """Background work of the window itself; there after `finish_building`."""
        self.gallery: Gallery | None = None
        self.steps: Steps
        self._to_build: list[Callable[[], object]] = [
            self._build_side,
            self._build_on_canvas,
            partial(import_module, "ndbplan.desktop.inspector"),
            self.panels.build_inspector,
            partial(import_module, "ndbplan.desktop.analyses.simulation.page"),
            self.panels.build_analyses,
        ]
        self._build()
        self.navigation = Navigation(
            self, self.canvas, self.panels, self.selection, self.actions_table,
            self._show_workspace, self.finish_building,
        )  # fmt: skip
        self.action_states = ActionStates(
            self.document, self.selection, self.actions_table,
            lambda: self.live.in_front(self.canvas).covered, lambda: self.live,
        )  # fmt: skip
        self.appearance = Appearance(self.preferences, self.actions_table)
        self.live = LiveMode(self, self.document, self.pages, self.panels, self.messages, self.preferences)
        self.live.lead(self._show_workspace, self._refresh, self.navigation.open_guide)
        self.live.zoomed.connect(self.status.show_zoom)
        self.live.noted.connect(self.status.show_live)
        self._canvas_messages = CanvasMessages(self.canvas, self.editor, self.messages, self.status)
        UndoKeys(self)
        splitters = {"workspace": self.workspace, "middle": self.middle, "side": self.side}
        self.session = Session(self.preferences, self.canvas, self.panels, self.actions_table, splitters)
        self.file_drops = FileDrops(self, self.take_files)
        self._connect()
        self._refresh()
        self.session.restore()

    # Building

    def _build(self) -> None:
        self.workspace = Workspace(self.canvas, self.panels.analyses_frame, self.panels.inspector_frame)
        self.side, self.middle = self.workspace.side, self.workspace.middle
        self.pages = QStackedWidget()
        self.pages.addWidget(self.workspace)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top_bar)
        column.addWidget(self.pages, 1)
        column.addWidget(self.status)
        self.setCentralWidget(body)
        self._body = body
        self.messages = MessageBar(
            body, self.status, lambda: self.status.end_px, lambda: self.live.stage_or(self.canvas).banner
        )
        for name in ("side", "analyses", "inspector"):
            self.actions_table[name].setChecked(True)
        self.actions_table.add_to(self, [self.canvas])

    @cached_property
    def tour(self) -> Tour:
        """The tour through a sample."""
        from ndbplan.desktop.tour import Tour

        tour = Tour(self.panels, self.canvas, self.document, self.selection, self._body)
        tour.card.foot_px = lambda: max(self.canvas.foot_px, self.canvas.legend_px)
        return tour

    @cached_property
    def demos(self) -> Demos:
        """Plans that are shown scene by scene."""
        from ndbplan.desktop.demos import Demos

        self.finish_building()
        return Demos(self, self, self.demo_wanted.emit, self._show_workspace)

    def finish_building(self) -> None:
        """Build everything around the canvas that is not there yet."""
        while self.build_next():
            pass

    def build_next(self) -> bool:
        """Build one more part; False when the window is complete. In steps, so that it answers in between."""
        if self._to_build:
            self._to_build.pop(0)()
        return bool(self._to_build)

    def _build_side(self) -> None:
        from ndbplan.desktop.document.recovery import Journal
        from ndbplan.desktop.document.tasks import Tasks
        from ndbplan.desktop.sides.outline import Outline
        from ndbplan.desktop.sides.palette import Palette

        self.tasks = Tasks(self)
        self.journal = Journal(self.document, self._journal_folder, self)
        self.journal.failed.connect(partial(self.messages.say, "warning"))
        self.palette_panel = Palette(self.deciding.preview_offer)
        self.palette_panel.chosen.connect(self.editor.add_beside_selection)
        self.palette_panel.failed.connect(partial(self.messages.say, "error"))
        self.palette_panel.done.connect(partial(self.messages.say, "done"))
        self.outline = Outline(self.editor)
        self.outline.menu_wanted.connect(self.navigation.open_part_menu)
        self.workspace.fill_side(self.palette_panel, self.outline)
        self.session.restore_sizes("side")
        self.actions_table.add_to(self, [self.outline])

    def _build_on_canvas(self) -> None:
        from ndbplan.desktop.canvas.empty import EmptyCanvas
        from ndbplan.desktop.canvas.input.pinch import Pinch
        from ndbplan.desktop.canvas.minimap import Minimap
        from ndbplan.desktop.commands import Doors, commands_of, look_in_guide
        from ndbplan.desktop.dialogs.command_palette import CommandPalette
        from ndbplan.desktop.steps import Steps

        self.actions_table.tint()
        self.setWindowIcon(theme.window_icon())
        Pinch(self.canvas)
        self.minimap, self.empty = Minimap(self.canvas), EmptyCanvas(self.canvas)
        shared = self.actions_table, self.messages, self.preferences
        self.steps = Steps(self, self.canvas, *shared, self.panels.ask_rows)
        self.empty.sample_wanted.connect(self.show_gallery)
        self.empty.host_wanted.connect(lambda: self.editor.add_beside_selection("host-small"))
        self.empty.file_wanted.connect(self.files.open)
        to = self.navigation
        doors = Doors(
            go_to=to.go_to, open_sample=self.show_sample, open_page=to.open_guide, do_step=self.steps.do,
            open_parameter=to.open_parameter, open_tab=to.open_tab, problems=self.panels.listed_problems,
            show_help=self.panels.show_help, colour_by=lambda name: self.panels.colours.choose(name),
            fix_all=to.fix_all, show_plan=self._show_workspace,
        )  # fmt: skip
        offered = partial(commands_of, self.actions_table, self.editor, self.document, doors)
        asked = partial(look_in_guide, partial(to.open_guide, ""))
        self.commands = CommandPalette(self, offered, asked)

    def _connect(self) -> None:
        stack = self.document.undo_stack
        stack.indexChanged.connect(lambda _index: self._refresh())
        self.document.state_changed.connect(self._refresh)
        self.document.variants_changed.connect(self._refresh)
        self.editor.failed.connect(partial(self.messages.say, "error"))
        self.editor.event_edits.wanted.connect(self.navigation.watch)
        DiskDataOffers(self.editor, self.messages)
        self.files.failed.connect(partial(self.messages.say, "error"))
        self.files.noticed.connect(partial(self.messages.say, "warning"))
        self.files.ask_whose = partial(ask_whose, self, self.document)
        self.files.offered.connect(partial(self.messages.say, "warning"))
        self.files.saved.connect(lambda path: self.messages.say("done", f"Saved {path}"))
        self.files.shown.connect(self._show_workspace)
        self.canvas.zoom_changed.connect(self.status.show_zoom)
        self.canvas.opened.connect(lambda _id: self.panels.focus_inspector())
        self.selection.changed.connect(lambda _ids: self.action_states.follow_selection())
        self.panels.ready.connect(self._watch_panels)
        theme.theme().changed.connect(self._tint)
        QApplication.clipboard().dataChanged.connect(self._refresh_selection)

    def _parts(self) -> Parts:
        return Parts(
            self.side, self.canvas, self.middle, self.panels.analyses_frame, self.panels.inspector_frame,
            self.top_bar, self.status, self.messages, self.actions_table,
        )  # fmt: skip

    def _handlers(self) -> dict[str, Callable[[], object]]:
        edit, view, files = self.editor, self.canvas, self.files
        return {
            "new": files.new, "open": files.open, "gallery": self.show_gallery, "save": files.save,
            "save_as": files.save_as, "import": self.import_files,
            "export": self.export, "picture": lambda: save_picture(self, self.canvas, self.messages),
            "report": lambda: report(self, self.document, self.messages, self.panels.estimates.workload_id),
            "live": lambda: self.live.toggle(), "lessons": lambda: self.live.choose_lesson(),
            "demos": lambda: self.demos.open(), "add_scene": lambda: self.demos.add_scene(),
            "new_window": self.window_wanted.emit, "fit_selection": view.fit_selection,
            "undo": self.document.undo_stack.undo, "redo": self.document.undo_stack.redo,
            "cut": edit.cut, "copy": edit.copy, "paste": edit.paste, "duplicate": edit.duplicate,
            "delete": edit.delete, "select_all": edit.select_all, "rename": lambda: self.navigation.rename(),
            "add_group": edit.add_node_group, "find": self._open_commands, "move_apart": view.move_apart,
            "arrange": lambda: self.navigation.arrange(), **{n: partial(self._look, n) for n in ON_STAGE},
            "align_left": partial(edit.align, "left"), "align_right": partial(edit.align, "right"),
            "align_top": partial(edit.align, "top"), "align_bottom": partial(edit.align, "bottom"),
            "align_centre": partial(edit.align, "centre"), "align_middle": partial(edit.align, "middle"),
            "distribute_across": partial(edit.distribute, "across"),
            "distribute_down": partial(edit.distribute, "down"),
            **{n: partial(self.arrangement.toggle, n) for n in ("side", "analyses", "inspector")},
            "present": self._present, "next_panel": self._next_panel,
            "maximise": self.arrangement.toggle_maximised, "quit": lambda: self.leave(),
            "theme_system": lambda: self.appearance.set_theme("system"),
            "theme_light": lambda: self.appearance.set_theme("light"),
            "theme_dark": lambda: self.appearance.set_theme("dark"),
            "units_usual": lambda: self.appearance.set_units(""), "colour": lambda: self.panels.colours.ask(),
            "units_decimal": lambda: self.appearance.set_units("decimal"),
            "units_binary": lambda: self.appearance.set_units("binary"),
            **self.variants.handlers(), "keys": lambda: self.navigation.show_keys(),
            "simulate": lambda: self.navigation.simulate(), "guide": lambda: self.navigation.open_guide(),
            "compare": partial(compare, self, self.document), "size": lambda: self.deciding.size(),
            "measured": partial(measured, self, self.document), "sweep": lambda: self.deciding.vary(),
        }  # fmt: skip

    # Keeping up

    def _refresh(self) -> None:
        front = self.live.in_front(self.canvas)
        self.setWindowTitle(front.window_title)
        self.status.show_front(front)
        self.top_bar.show_front(front)
        self.action_states.follow_page()

    def _watch_panels(self) -> None:
        self.arrangement.watch(self.panels.analyses.tabs, self.panels.inspector.head)
        self.status.watch(self.panels.estimates)
        analyses = self.panels.analyses
        analyses.step_wanted.connect(self.steps.do)
        analyses.moment.connect(lambda moment: self.steps.done("simulate") if moment else None)

    # What actions do

    def show_gallery(self) -> None:
        """The gallery in place of the canvas."""
        if self.gallery is None:
            from ndbplan.desktop.dialogs.gallery import Gallery

            self.gallery = Gallery(self.preferences.recent)
            self.gallery.sample_chosen.connect(self.show_sample)
            self.gallery.file_chosen.connect(self.files.open)
            self.gallery.empty_chosen.connect(self.files.new)
            self.gallery.file_wanted.connect(self.files.open)
            self.gallery.import_wanted.connect(self.import_files)
            self.gallery.closed.connect(self._show_workspace)
            self.pages.addWidget(self.gallery)
        self.gallery.show_recent(self.preferences.recent)
        self.pages.setCurrentWidget(self.gallery)
        self._refresh()
        self.gallery.cards[0].setFocus()

    def open_sample(self, name: str) -> bool:
        """Start a new plan from a sample; False: the open one stays."""
        return self.files.start_with(lambda: sample_plan(name))

    def show_sample(self, name: str) -> None:
        """Open a sample on the panel and moment that are its point."""
        if self.open_sample(name):
            self.finish_building()
            self.tour.start(name)

    def _show_workspace(self) -> None:
        self.messages.hide()
        self.pages.setCurrentWidget(self.workspace)
        self._refresh()
        self.canvas.setFocus()

    # Theme and clipboard outlive a window: they are told to call the window itself, which ends that.

    def _refresh_selection(self) -> None:
        self.action_states.follow_selection()

    def _tint(self) -> None:
        self.actions_table.tint()
        if self._units != system_in_use():
            self._units = system_in_use()
            self.appearance.mark_units()
            self._refresh()
            self.canvas.canvas_scene.show_plan(self.document.plan)
            self.panels.show_anew()

    def import_files(self, paths: Iterable[Path] = ()) -> None:
        """Offer to put files of a running cluster into the plan, or into a new one."""
        from ndbplan.desktop.dialogs.import_dialog import ImportDialog

        dialog = ImportDialog(self.document, partial(self.files.start_with, modified=True), self)
        dialog.accepted.connect(self._show_workspace)
        dialog.add_files(paths)
        self.messages.hide()
        dialog.open()

    def take_files(self, paths: Iterable[Path]) -> None:
        """Open a dropped plan, or offer to import what else was dropped."""
        to = self.navigation.look
        hand_on(list(paths), self.file_drops.fragment, self.files, self.import_files, to)

    def export(self) -> None:
        """Write config.ini, my.cnf and the runbook into a folder."""
        from ndbplan.desktop.export_flow import export

        self.finish_building()
        export(self, self.document, self.tasks, self.messages, partial(self.steps.done, "export"))

    def _next_panel(self) -> None:
        if self.live.focus_next():
            return
        stops: list[Stop] = [
            (self.canvas, partial(self.canvas.setFocus, Qt.FocusReason.ShortcutFocusReason)),
            (self.panels.analyses_frame, self.panels.focus_analyses),
            (self.panels.inspector_frame, self.panels.focus_inspector),
        ]
        if self.palette_panel is not None and self.outline is not None:
            stops.append((self.palette_panel, self.palette_panel.focus_first))
            stops.append((self.outline, self.outline.setFocus))
        focus_next(stops)

    def _look(self, name: str) -> None:
        getattr(self.live.stage_or(self.canvas), name)()

    def _open_commands(self) -> None:
        self.finish_building()
        if self.commands is not None:
            self.commands.open()

    def _present(self) -> None:
        self._show_workspace()
        self.arrangement.present()

    # Coming and going

    def closeEvent(self, event: QCloseEvent) -> None:
        if not (self.live.may_leave() and self.files.may_leave()):
            event.ignore()
            return
        self.live.end()
        self.session.keep()
        self.files.shared.close()
        self.preferences.put(WINDOW, self.saveGeometry().toBase64().toStdString())
        if self.journal is not None:
            self.journal.close()
            self.tasks.close()
        self.panels.close()
        self.arrangement.close()
        self.closed.emit(self)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Where the focus goes: on by Tab, but from what was hidden or switched off to the part it was in.

        Qt would give it to the next field and select all of that: the next key would overwrite it. On the
        canvas the next key may delete what is selected.
        """
        lost = QApplication.focusWidget()
        if lost is not None and not (lost.isVisible() and lost.isEnabled()):
            if self.live.is_shown and self.live.page is not None:
                self.live.page.stay_in(lost)
            else:
                self.arrangement.part_of(lost).setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        return super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.messages.isVisible():
            self.messages.hide()
        else:
            super().keyPressEvent(event)
