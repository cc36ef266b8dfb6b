"""The main window: puts palette, outline, canvas, analyses and inspector together; decides nothing else.

It comes in two steps: the canvas and the top bar at once, everything around them with `finish_building()`
when the window is on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QMargins, QPoint, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QMainWindow,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ndbplan.base.kept import owner
from ndbplan.base.units import system_in_use, use_system
from ndbplan.desktop.actions import Actions
from ndbplan.desktop.arrangement import Arrangement, Parts, first_size
from ndbplan.desktop.canvas.view import CanvasView
from ndbplan.desktop.disk_data_offers import DiskDataOffers
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.files import FileFlow
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.file_drops import FileDrops
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_menu import MainMenu
from ndbplan.desktop.panels import SidePanels
from ndbplan.desktop.running import compare, measured
from ndbplan.desktop.session import Session
from ndbplan.desktop.status_bar import StatusBar
from ndbplan.desktop.top_bar import TopBar
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.desktop.widgets.undo_keys import UndoKeys
from ndbplan.edits.first_steps import next_step
from ndbplan.plan.file import SUFFIX
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan

if TYPE_CHECKING:
    from ndbplan.desktop.canvas.empty import EmptyCanvas
    from ndbplan.desktop.canvas.minimap import Minimap
    from ndbplan.desktop.dialogs.command_palette import CommandPalette
    from ndbplan.desktop.dialogs.gallery import Gallery
    from ndbplan.desktop.document.recovery import Journal
    from ndbplan.desktop.document.shared_file import Theirs
    from ndbplan.desktop.document.tasks import Tasks
    from ndbplan.desktop.sides.outline import Outline
    from ndbplan.desktop.sides.palette import Palette
    from ndbplan.desktop.steps import Steps
    from ndbplan.desktop.tour import Tour
    from ndbplan.edits.from_host import Chosen

_OF_THE_WORKSPACE = (
    "fit", "arrange", "export", "picture", "save", "save_as", "add_group", "zoom_in", "zoom_out",
    "zoom_normal", "present", "maximise", "side", "analyses", "inspector", "paste", "select_all",
)  # fmt: skip
_SIDE_WIDTH, _INSPECTOR_WIDTH = 216, 344


class MainWindow(QMainWindow):
    """One window with one document."""

    closed = Signal(object)
    """This window, when it has been closed."""
    window_wanted = Signal()
    """Another window, for another plan."""

    def __init__(self, preferences: Preferences | None = None, journal_folder: Path | None = None) -> None:
        super().__init__()
        self.preferences = preferences or Preferences()
        self.document = Document(parent=self)
        self.selection = Selection(self.document, self)
        self.editor = Editor(self.document, self.selection, self)
        self.files = FileFlow(self.document, self.preferences, self)
        self.leave: Callable[[], object] = self.close
        """Ends the program; without other windows this one."""
        self._units = system_in_use()
        self.journal: Journal | None = None
        self._journal_folder = journal_folder
        self.setWindowTitle("ndbplan")
        self.resize(first_size(self))
        self.restoreGeometry(QByteArray.fromBase64(self.preferences.get("window", "").encode()))

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
        self.tasks: Tasks
        """Background work of the window itself; there after `finish_building`."""
        self.gallery: Gallery | None = None
        self.steps: Steps
        """Of a first plan; there with what is on the canvas."""
        self._to_build: list[Callable[[], None]] = [
            self._build_side,
            self._build_on_canvas,
            partial(_load, "ndbplan.desktop.inspector"),
            self.panels.build_inspector,
            partial(_load, "ndbplan.desktop.analyses.simulation.page"),
            self.panels.build_analyses,
        ]
        self._build()
        UndoKeys(self)
        splitters = {"workspace": self.workspace, "middle": self.middle, "side": self.side}
        self.session = Session(self.preferences, self.canvas, self.panels, self.actions_table, splitters)
        self.file_drops = FileDrops(self, self.take_files)
        self._connect()
        self._refresh()
        self.session.restore()

    # Building

    def _build(self) -> None:
        self.side = QSplitter(Qt.Orientation.Vertical)
        self.side.setObjectName("side")
        self.side.setMinimumWidth(180)
        self.middle = QSplitter(Qt.Orientation.Vertical)
        self.middle.addWidget(self.canvas)
        self.middle.addWidget(self.panels.analyses_frame)
        self.middle.setStretchFactor(0, 3)
        self.middle.setStretchFactor(1, 2)
        self.middle.setCollapsible(0, False)
        self.workspace = QSplitter(Qt.Orientation.Horizontal)
        for part in (self.side, self.middle, self.panels.inspector_frame):
            self.workspace.addWidget(part)
        self.workspace.setStretchFactor(1, 1)
        self.workspace.setSizes([_SIDE_WIDTH, 10_000, _INSPECTOR_WIDTH])
        self.workspace.setCollapsible(1, False)
        self.middle.setSizes([500, 370])
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
        self.messages = MessageBar(body, self.canvas, self.pages, foot_px=lambda: self.canvas.foot_px)
        for name in ("side", "analyses", "inspector"):
            self.actions_table[name].setChecked(True)
        self.actions_table.add_to(self, [self.canvas])

    @cached_property
    def tour(self) -> Tour:
        """The tour through a sample."""
        from ndbplan.desktop.tour import Tour

        tour = Tour(self.panels, self.canvas, self.document, self.selection, self._body)
        tour.card.clear_of = self.steps.row
        return tour

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
        self.journal.failed.connect(lambda text: self.messages.say("warning", text))
        self.palette_panel = Palette()
        self.palette_panel.chosen.connect(self.editor.add_beside_selection)
        self.palette_panel.failed.connect(partial(self.messages.say, "error"))
        self.palette_panel.done.connect(partial(self.messages.say, "done"))
        self.outline = Outline(self.editor)
        self.outline.menu_wanted.connect(self._open_part_menu)
        self.side.addWidget(_titled("PALETTE", self.palette_panel, QMargins(0, 12, 0, 0), 12))
        self.side.addWidget(_titled("OUTLINE", self.outline, QMargins(8, 10, 4, 4), 4))
        self.side.setSizes([600, 260])
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
        self.minimap = Minimap(self.canvas)
        self.empty = EmptyCanvas(self.canvas)
        self.steps = Steps(self, self.canvas, self.actions_table, self.messages, self.preferences)
        self.empty.sample_wanted.connect(self.show_gallery)
        self.empty.host_wanted.connect(lambda: self.editor.add_beside_selection("host-small"))
        self.empty.file_wanted.connect(self.files.open)
        doors = Doors(
            go_to=self.go_to,
            open_sample=self.show_sample,
            open_page=self._open_guide,
            open_parameter=self.open_parameter,
            open_tab=self.open_tab,
            problems=self.panels.listed_problems,
        )
        self.commands = CommandPalette(
            self,
            partial(commands_of, self.actions_table, self.editor, self.document, doors),
            partial(look_in_guide, partial(self._open_guide, "")),
        )

    def _connect(self) -> None:
        stack = self.document.undo_stack
        stack.indexChanged.connect(lambda _index: self._refresh())
        self.document.state_changed.connect(self._refresh)
        self.document.changed.connect(self._plan_changed)
        self.editor.failed.connect(partial(self.messages.say, "error"))
        self.editor.event_edits.wanted.connect(self.watch)
        self.editor.chosen.connect(self._tell_what_is_chosen)
        DiskDataOffers(self.editor, self.messages)
        self.files.failed.connect(partial(self.messages.say, "error"))
        self.files.noticed.connect(partial(self.messages.say, "warning"))
        self.files.ask_whose = self._ask_whose
        self.files.offered.connect(partial(self.messages.say, "warning"))
        self.files.saved.connect(lambda path: self.messages.say("done", f"Saved {path}"))
        self.files.shown.connect(self._show_workspace)
        self.canvas.zoom_changed.connect(self.status.show_zoom)
        self.canvas.out_of_sight.connect(self._offer_to_show)
        self.canvas.covering.connect(self._offer_to_move_apart)
        self.canvas.opened.connect(lambda _id: self.panels.focus_inspector())
        self.selection.changed.connect(lambda _ids: self._refresh_selection())
        self.panels.ready.connect(self._watch_panels)
        theme.theme().changed.connect(self._tint)
        QApplication.clipboard().dataChanged.connect(self._refresh_selection)

    def _parts(self) -> Parts:
        return Parts(
            self.side,
            self.canvas,
            self.middle,
            self.panels.analyses_frame,
            self.panels.inspector_frame,
            self.top_bar,
            self.status,
            self.messages,
            self.actions_table,
        )

    def _handlers(self) -> dict[str, Callable[[], object]]:
        edit, view, files = self.editor, self.canvas, self.files
        return {
            "new": files.new, "open": files.open, "gallery": self.show_gallery, "save": files.save,
            "save_as": files.save_as, "import": self.import_files,
            "picture": self.save_picture, "export": self.export,
            "new_window": self.window_wanted.emit,
            "quit": lambda: self.leave(),
            "undo": self.document.undo_stack.undo, "redo": self.document.undo_stack.redo,
            "cut": edit.cut, "copy": edit.copy, "paste": edit.paste, "duplicate": edit.duplicate,
            "delete": edit.delete, "select_all": edit.select_all, "rename": self._rename,
            "add_group": edit.add_node_group, "find": self._open_commands, "fit": view.fit,
            "fit_selection": view.fit_selection, "zoom_in": view.zoom_in, "zoom_out": view.zoom_out,
            "zoom_normal": view.zoom_normal, "arrange": self._arrange,
            "align_left": partial(edit.align, "left"), "align_right": partial(edit.align, "right"),
            "align_top": partial(edit.align, "top"), "align_bottom": partial(edit.align, "bottom"),
            "align_centre": partial(edit.align, "centre"), "align_middle": partial(edit.align, "middle"),
            "distribute_across": partial(edit.distribute, "across"),
            "distribute_down": partial(edit.distribute, "down"),
            "side": partial(self.arrangement.toggle, "side"),
            "analyses": partial(self.arrangement.toggle, "analyses"),
            "inspector": partial(self.arrangement.toggle, "inspector"), "next_panel": self._next_panel,
            "present": self._present, "maximise": self.arrangement.toggle_maximised,
            "theme_system": partial(self._set_theme, "system"),
            "theme_light": partial(self._set_theme, "light"), "theme_dark": partial(self._set_theme, "dark"),
            "units_usual": partial(self._set_units, ""),
            "units_decimal": partial(self._set_units, "decimal"),
            "units_binary": partial(self._set_units, "binary"),
            "simulate": self.simulate, "guide": self._show_guide,
            "compare": partial(compare, self, self.document),
            "measured": partial(measured, self, self.document),
            "keys": self._show_keys,
        }  # fmt: skip

    # Keeping up

    def _plan_changed(self, before: Plan, after: Plan) -> None:
        self.status.show_plan(after)
        if (before.name, before.ndb_version) != (after.name, after.ndb_version):
            self.top_bar.refresh()

    def _refresh(self) -> None:
        stack = self.document.undo_stack
        here = self.pages.currentWidget() is self.workspace
        for name, able, text in (
            ("undo", here and stack.canUndo(), stack.undoText()),
            ("redo", here and stack.canRedo(), stack.redoText()),
        ):
            action = self.actions_table[name]
            action.setEnabled(able)
            verb = name.capitalize()
            action.setText(f"{verb} {text[:1].lower()}{text[1:]}" if able and text else verb)
        mark = "*" if self.document.is_modified else ""
        self.setWindowTitle(f"{self.document.title}{mark} — ndbplan")
        self.status.show_plan(self.document.plan)
        missing = next_step(self.document.plan)
        self.actions_table.able("simulate", here and missing is None, missing.missing if missing else "")
        self._refresh_selection()

    def _refresh_selection(self) -> None:
        some = bool(self.selection.ids) and self.pages.currentWidget() is self.workspace
        for name in ("cut", "copy", "duplicate", "delete", "rename", "fit_selection"):
            self.actions_table[name].setEnabled(some)
        for action in self.actions_table.of_menu("Align"):
            action.setEnabled(some and len(self.selection.ids) > 1)

    def _watch_panels(self) -> None:
        self.arrangement.watch(self.panels.analyses.tabs, self.panels.inspector.head)
        self.status.watch(self.panels.estimates)
        analyses = self.panels.analyses
        analyses.step_wanted.connect(self.steps.do)
        analyses.moment.connect(lambda moment: self.steps.done("simulate") if moment else None)

    def _tint(self) -> None:
        self.actions_table.tint()
        if self._units != system_in_use():
            self._units = system_in_use()
            self.mark_units()
            self.status.show_plan(self.document.plan)
            self.canvas.canvas_scene.show_plan(self.document.plan)
            self.panels.show_anew()

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
        self._show_what_can_be_done()
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
        self._show_what_can_be_done()
        self.canvas.setFocus()

    def _show_what_can_be_done(self) -> None:
        """Actions on the canvas rest while the gallery lies over it."""
        for name in _OF_THE_WORKSPACE:
            self.actions_table[name].setEnabled(self.pages.currentWidget() is self.workspace)
        self._refresh()

    def import_files(self, paths: Iterable[Path] = ()) -> None:
        """Offer to put files of a running cluster into the plan, or into a new one."""
        from ndbplan.desktop.dialogs.import_dialog import ImportDialog

        start_with = partial(self.files.start_with, modified=True)
        dialog = ImportDialog(self.document, start_with, self)
        dialog.accepted.connect(self._show_workspace)
        dialog.add_files(paths)
        dialog.open()

    def take_files(self, paths: Iterable[Path]) -> None:
        """Open a dropped plan, or offer to import what else was dropped."""
        dropped = list(paths)
        if len(dropped) == 1 and dropped[0].suffix == SUFFIX:
            self.files.open(dropped[0])
        elif dropped:
            self.import_files(dropped)

    def save_picture(self) -> None:
        """Write the canvas as a picture."""
        from ndbplan.desktop.dialogs.picture_dialog import save_picture

        save_picture(self, self.document, self.messages)

    def export(self) -> None:
        """Write config.ini, my.cnf and the runbook into a folder."""
        from ndbplan.desktop.export_flow import export

        self.finish_building()
        export(self, self.document, self.tasks, self.messages, partial(self.steps.done, "export"))

    def simulate(self) -> None:
        """Run the simulation of the analyses."""
        self.finish_building()
        self._show_workspace()
        self.panels.analyses_frame.show()
        self.actions_table["analyses"].setChecked(True)
        self.panels.analyses.simulate()

    def watch(self, at_s: float) -> None:
        """Run the simulation anew, and play what happens around a moment."""
        self.finish_building()
        self._show_workspace()
        self.panels.analyses_frame.show()
        self.actions_table["analyses"].setChecked(True)
        self.panels.analyses.watch(at_s)

    def _arrange(self) -> None:
        self.editor.arrange_all()
        self.canvas.fit()

    def _offer_to_show(self, ids: tuple[str, ...]) -> None:
        here = "is" if len(ids) == 1 else "are"
        self.messages.say(
            "info",
            f"{self.editor.names(ids)} {here} outside of what you see.",
            "Go to",
            lambda: self.canvas.bring_into_view(ids),
        )

    def _offer_to_move_apart(self, pairs: tuple[tuple[str, str], ...]) -> None:
        one, other = (self.editor.name_of(i) if i else "API programs anywhere" for i in pairs[0])
        more = f", and {len(pairs) - 1} more" if len(pairs) > 1 else ""
        self.messages.say(
            "info",
            f"{one} and {other} cover one another{more}.",
            "Move apart",
            lambda: self.editor.move_apart(pairs),
        )

    def _tell_what_is_chosen(self, text: str, chosen: tuple[Chosen, ...]) -> None:
        self.messages.say("info", text, "Keep the product's defaults", partial(self.editor.take_back, chosen))

    def _rename(self) -> None:
        current = self.selection.current
        if current is not None and self.canvas.canvas_scene.item_of(current) is not None:
            self.canvas.bring_into_view((current,))
            self.canvas.start_rename(current)
        elif current is not None:
            self.panels.focus_inspector()

    def _open_part_menu(self, object_id: str | None, where: QPoint) -> None:
        from ndbplan.desktop.canvas.input.menus import part_menu

        part_menu(self.canvas, object_id, lambda _id: self._rename(), where).popup(where)

    def _ask_whose(self, path: Path, theirs: Theirs) -> str:
        from ndbplan.desktop.dialogs.conflict_dialog import ask_whose

        return ask_whose(self, lambda: self.document.plan, path, theirs)

    def _present(self) -> None:
        self._show_workspace()
        self.arrangement.present()

    def _set_theme(self, mode: theme.Mode) -> None:
        self.preferences.put("appearance", mode)
        theme.theme().set_mode(mode)
        self.mark_theme()

    def mark_theme(self) -> None:
        """Tick the appearance in use in the menu."""
        for mode in ("system", "light", "dark"):
            self.actions_table[f"theme_{mode}"].setChecked(theme.theme().mode == mode)

    def _set_units(self, system: str) -> None:
        self.preferences.put("units", system)
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
            self.actions_table[f"units_{system}"].setChecked(chosen == system)

    def _next_panel(self) -> None:
        stops: list[tuple[QWidget, Callable[[], object]]] = [
            (self.canvas, partial(self.canvas.setFocus, Qt.FocusReason.ShortcutFocusReason)),
            (self.panels.analyses_frame, self.panels.focus_analyses),
            (self.panels.inspector_frame, self.panels.focus_inspector),
        ]
        if self.palette_panel is not None and self.outline is not None:
            stops.append((self.palette_panel, self.palette_panel.focus_first))
            stops.append((self.outline, self.outline.setFocus))
        stops = [stop for stop in stops if stop[0].isVisible()]
        focus = QApplication.focusWidget()
        here = next(
            (i for i, (part, _) in enumerate(stops) if focus is part or (focus and part.isAncestorOf(focus))),
            -1,
        )
        if stops:
            stops[(here + 1) % len(stops)][1]()

    def _open_commands(self) -> None:
        self.finish_building()
        if self.commands is not None:
            self.commands.open()

    def go_to(self, object_id: str) -> None:
        """Select an object and bring it into view."""
        self._show_workspace()
        self.selection.set([object_id])
        self.canvas.bring_into_view((object_id,))

    def _show_guide(self) -> None:
        self._open_guide()

    def _open_guide(self, page: str = "", words: str = "") -> None:
        """The guide, at a page, or at the first that holds some words."""
        from ndbplan.desktop.dialogs.guide_window import GuideWindow

        guide = GuideWindow(self)
        if page:
            guide.open(page)
        guide.search.setText(words)
        guide.show()

    def open_parameter(self, scope: str, name: str) -> None:
        """Open the value of a parameter of all nodes of a kind."""
        self._show_workspace()
        self.panels.inspector_frame.show()
        self.actions_table["inspector"].setChecked(True)
        self.panels.inspector.open_parameter(scope, name)

    def open_tab(self, name: str) -> None:
        """Bring a tab of the analyses to the front."""
        self._show_workspace()
        self.panels.analyses_frame.show()
        self.actions_table["analyses"].setChecked(True)
        self.panels.analyses.show_tab(name)

    def _show_keys(self) -> None:
        from ndbplan.desktop.dialogs.keys_dialog import KeysDialog

        KeysDialog(self).show()

    # Coming and going

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.files.may_leave():
            event.ignore()
            return
        self.session.keep()
        self.files.shared.close()
        self.preferences.put("window", self.saveGeometry().toBase64().toStdString())
        if self.journal is not None:
            self.journal.close()
            self.tasks.close()
        self.panels.close()
        event.accept()
        self.closed.emit(self)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Where the focus goes: on by Tab, but to the canvas from what was hidden or switched off.

        Qt would give it to the next field and select all of that: the next key would overwrite it.
        """
        lost = QApplication.focusWidget()
        if lost is not None and not (lost.isVisible() and lost.isEnabled()):
            self.canvas.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        return super().focusNextPrevChild(forward)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.messages.isVisible():
            self.messages.hide()
        else:
            super().keyPressEvent(event)


def _load(module: str) -> None:
    from importlib import import_module

    import_module(module)


def _titled(text: str, content: QWidget, margins: QMargins, indent: int) -> QWidget:
    panel = QWidget()
    panel.setObjectName("panel")
    column = QVBoxLayout(panel)
    column.setContentsMargins(margins)
    column.setSpacing(4)
    label = QLabel(text)
    label.setProperty("role", "heading")
    label.setContentsMargins(indent, 0, 0, 0)
    column.addWidget(label)
    column.addWidget(content, 1)
    return panel
