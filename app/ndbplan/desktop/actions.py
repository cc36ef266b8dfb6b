"""Actions: everything a person can call by menu, key or command palette, in one table."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from ndbplan.desktop.look import theme

Key = str | QKeySequence.StandardKey


class Spec(NamedTuple):
    """One action: its name in the program, what people read, its icon and keys."""

    name: str
    menu: str
    text: str
    icon: str
    keys: tuple[Key, ...]
    tip: str
    checkable: bool = False


_S = QKeySequence.StandardKey

SPECS: tuple[Spec, ...] = (
    Spec("new", "File", "New plan", "file-plus", (_S.New,), "Start with an empty plan"),
    Spec("new_window", "File", "New window", "", ("Ctrl+Shift+N",), "Another plan beside this one"),
    Spec("open", "File", "Open…", "folder-open", (_S.Open,), "Open a plan file"),
    Spec("gallery", "File", "Samples…", "sparkles", ("Ctrl+Shift+O",), "Start from a published experiment"),
    Spec("save", "File", "Save", "save", (_S.Save,), "Write the plan to its file"),
    Spec("save_as", "File", "Save as…", "", ("Ctrl+Shift+S",), "Write the plan to another file"),
    Spec("import", "File", "Import…", "import", ("Ctrl+Shift+I",), "Files of a running cluster"),
    Spec("picture", "File", "Save a picture…", "upload", (), "The canvas as PNG, SVG or PDF"),
    Spec("report", "File", "Report…", "file-text", ("Ctrl+Shift+R",), "A document with figures and charts"),
    Spec("export", "File", "Export…", "download", ("Ctrl+E",), "config.ini, my.cnf and the runbook"),
    Spec("quit", "File", "Quit", "", (_S.Quit,), "Close all windows"),
    Spec("undo", "Edit", "Undo", "undo-2", (_S.Undo,), "Undo the last step"),
    Spec("redo", "Edit", "Redo", "redo-2", ("Ctrl+Shift+Z", "Ctrl+Y"), "Redo the step that was undone"),
    Spec("cut", "Edit", "Cut", "scissors", (_S.Cut,), "Copy what is selected and remove it"),
    Spec("copy", "Edit", "Copy", "copy", (_S.Copy,), "Put what is selected on the clipboard, as text"),
    Spec("paste", "Edit", "Paste", "clipboard-paste", (_S.Paste,), "Add what the clipboard holds"),
    Spec("duplicate", "Edit", "Duplicate", "", ("Ctrl+D",), "Duplicate what is selected"),
    Spec("delete", "Edit", "Delete", "trash-2", ("Del",), "Remove what is selected"),
    Spec("select_all", "Edit", "Select all", "", (_S.SelectAll,), "Select every location and host"),
    Spec("rename", "Edit", "Rename", "pencil", ("F2",), "Type another name on the canvas"),
    Spec("add_group", "Edit", "Add a node group", "boxes", ("Ctrl+G",), "Like the last one: hosts and nodes"),
    Spec("find", "Edit", "Search or run a command…", "search", ("Ctrl+K",), "Find an object, run a command"),
    Spec("fit", "View", "Fit", "maximize", ("Ctrl+0",), "Show everything"),
    Spec("fit_selection", "View", "Zoom to the selection", "", ("Ctrl+Shift+0",), "What is selected, large"),
    Spec("zoom_in", "View", "Zoom in", "zoom-in", (_S.ZoomIn, "Ctrl+="), "One step nearer"),
    Spec("zoom_out", "View", "Zoom out", "zoom-out", (_S.ZoomOut,), "One step away"),
    Spec("zoom_normal", "View", "Actual size", "", ("Ctrl+1",), "One pixel per canvas unit"),
    Spec("arrange", "View", "Arrange", "layout-grid", ("Ctrl+L",), "Let everything flow into a tidy layout"),
    Spec("move_apart", "View", "Move apart", "", (), "What covers something goes to a free place"),
    Spec("colour", "View", "Colour by…", "", ("Ctrl+Shift+L",), "CPU, memory, disks, problems, cost, loss"),
    Spec("align_left", "Align", "Align left", "", ("Ctrl+Shift+Left",), "Left edges in one line"),
    Spec("align_right", "Align", "Align right", "", ("Ctrl+Shift+Right",), "Right edges in one line"),
    Spec("align_top", "Align", "Align top", "", ("Ctrl+Shift+Up",), "Upper edges in one line"),
    Spec("align_bottom", "Align", "Align bottom", "", ("Ctrl+Shift+Down",), "Lower edges in one line"),
    Spec("align_centre", "Align", "Align centres", "", (), "Centres one below the other"),
    Spec("align_middle", "Align", "Align middles", "", (), "Middles side by side"),
    Spec("distribute_across", "Align", "Distribute across", "", (), "Equal gaps from left to right"),
    Spec("distribute_down", "Align", "Distribute down", "", (), "Equal gaps from top to bottom"),
    Spec("side", "View", "Palette and outline", "", ("Ctrl+B",), "Show or hide the left side", True),
    Spec("analyses", "View", "Analyses", "", ("Ctrl+J",), "Show or hide the analyses", True),
    Spec("inspector", "View", "Inspector", "", ("Ctrl+I",), "Show or hide the inspector", True),
    Spec("maximise", "View", "Maximise the panel", "square", ("Ctrl+M",), "It alone, or all", True),
    Spec("next_panel", "View", "Next panel", "", ("F6",), "Go to the next part of the window"),
    Spec("present", "View", "Presentation", "presentation", ("F5",), "Full screen, no tools", True),
    Spec("demos", "View", "Demos…", "", ("Shift+F5",), "A plan scene by scene: play, write, export"),
    Spec("add_scene", "View", "Add scene from this view", "", ("Ctrl+Shift+F5",), "One more scene of a demo"),
    Spec("theme_system", "Theme", "As the system", "monitor", (), "Light or dark, as the system is", True),
    Spec("theme_light", "Theme", "Light", "sun", (), "Dark text on light ground", True),
    Spec("theme_dark", "Theme", "Dark", "moon", (), "Light text on dark ground", True),
    Spec("units_usual", "Units", "As usual", "", (), "Memory in GiB, disks and networks in GB", True),
    Spec("units_decimal", "Units", "Decimal (GB)", "", (), "All bytes in powers of 1000", True),
    Spec("units_binary", "Units", "Binary (GiB)", "", (), "All bytes in powers of 1024", True),
    Spec("simulate", "Plan", "Simulate", "play", ("Ctrl+R",), "What happens over time under the workload"),
    Spec("live", "Plan", "Live cluster", "activity", ("Ctrl+Shift+T",), "It runs, and you act on it", True),
    Spec("lessons", "Plan", "Lessons…", "lightbulb", ("Ctrl+Alt+L",), "A cluster that something happens to"),
    Spec("compare", "Plan", "Compare with what runs…", "split", (), "A running config.ini, or another plan"),
    Spec("size", "Plan", "Size a cluster…", "", (), "Clusters that carry the load, cheapest first"),
    Spec("sweep", "Plan", "Vary inputs…", "", (), "A figure for every combination of some values"),
    Spec("measured", "Plan", "I measured…", "timer", (), "Fit the estimates to what you timed"),
    Spec("variant_next", "Variants", "Next variant", "", ("Ctrl+PgDown",), "Show the one after it"),
    Spec("variant_previous", "Variants", "Previous variant", "", ("Ctrl+PgUp",), "Show the one before it"),
    Spec("variant_new", "Variants", "New variant…", "copy", ("Ctrl+Alt+N",), "A copy of the one shown"),
    Spec("variant_rename", "Variants", "Rename the variant…", "pencil", ("Ctrl+Alt+R",), "Its name and note"),
    Spec("variant_earlier", "Variants", "Move it up", "", ("Ctrl+Alt+PgUp",), "Nearer to the main one"),
    Spec("variant_later", "Variants", "Move it down", "", ("Ctrl+Alt+PgDown",), "Farther from the main one"),
    Spec("variant_promote", "Variants", "Make it the main one", "", (), "First in the list and in the file"),
    Spec("variant_remove", "Variants", "Remove the variant", "trash-2", (), "Undo brings it back"),
    Spec("guide", "Help", "Guide", "circle-help", ("F1",), "How the program is used, page by page"),
    Spec("keys", "Help", "Keys and gestures", "", ("Shift+F1",), "How the canvas is operated"),
)  # fmt: skip
STARTS_A_SECTION = {
    "save",
    "import",
    "quit",
    "cut",
    "delete",
    "add_group",
    "zoom_in",
    "arrange",
    "variant_new",
    "distribute_across",
    "side",
    "present",
}
"""Actions before which a menu draws a line."""
_ALIGN = {spec.name for spec in SPECS if spec.menu == "Align"}
_ON_CANVAS = {"delete", "cut", "copy", "paste", "duplicate", "select_all", "rename", *_ALIGN}
"""Their keys act while the canvas or the outline has the focus: elsewhere they mean a field's text."""


class Actions:
    """The QActions of a window by name, each connected to the handler of the same name."""

    def __init__(self, owner: QObject, handlers: dict[str, Callable[[], object]]) -> None:
        self._all: dict[str, QAction] = {}
        for spec in SPECS:
            action = QAction(spec.text, owner)
            action.setObjectName(spec.name)
            action.setShortcuts([QKeySequence(key) for key in spec.keys])
            action.setCheckable(spec.checkable)
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            action.setToolTip(f"{spec.tip} ({keys})" if keys else spec.tip)
            action.setStatusTip(spec.tip)
            handler = handlers[spec.name]
            action.triggered.connect(lambda _checked=False, run=handler: run())
            self._all[spec.name] = action

    def __getitem__(self, name: str) -> QAction:
        return self._all[name]

    def able(self, name: str, able: bool, why_not: str = "") -> None:
        """Whether an action can be done now; where it cannot, its tip says why."""
        action = self._all[name]
        action.setEnabled(able)
        tip = action.statusTip()
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        tip = f"{why_not}: {tip[:1].lower()}{tip[1:]}" if why_not else tip
        action.setToolTip(f"{tip} ({keys})" if keys else tip)

    def of_menu(self, menu: str) -> list[QAction]:
        """The actions of one menu, in order."""
        return [self._all[spec.name] for spec in SPECS if spec.menu == menu]

    def all(self) -> list[QAction]:
        """Every action, in order."""
        return list(self._all.values())

    def tint(self, names: Container[str] | None = None) -> None:
        """Draw the icons (of all, or of these) in the colours of the theme in use."""
        for spec in SPECS:
            if spec.icon and (names is None or spec.name in names):
                self._all[spec.name].setIcon(theme.icon(spec.icon))

    def add_to(self, window: QWidget, canvas: Iterable[QWidget]) -> None:
        """Let the keys act in the whole window; those that edit the selection only on these widgets."""
        for name, action in self._all.items():
            if name not in _ON_CANVAS:
                window.addAction(action)
                continue
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            for widget in canvas:
                widget.addAction(action)
