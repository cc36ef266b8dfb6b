"""The context menu of the canvas."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QCursor
from PySide6.QtWidgets import QMenu

from ndbplan.describe.titles import display_name
from ndbplan.desktop.canvas.input.break_menu import Target, link_menu, offer_to_break
from ndbplan.desktop.canvas.items import CanvasItem
from ndbplan.desktop.canvas.stage import Stage
from ndbplan.desktop.document.editor import name_field
from ndbplan.desktop.look import theme
from ndbplan.desktop.widgets.menu_heading import heading
from ndbplan.desktop.widgets.own_hardware import ask_to_keep
from ndbplan.edits import palette as catalogue
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.processes import DiskRole

_ADDED_TO: dict[type, tuple[str, ...]] = {Host: ("disk", "process"), Location: ("host", "location")}
"""What is added to a part; anything but a disk to the canvas."""
_ROLE_KEY = {"redo": "R", "lcp": "L", "undo": "U", "data_files": "D", "backup": "B"}


def open_menu(view: Stage, event: QContextMenuEvent, rename: Callable[[str], None]) -> None:
    """The menu for what is under the pointer, or (from the keyboard) for what is selected."""
    scene, selection = view.canvas_scene, view.selection
    keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
    ribbon = view.ribbon_under(view.mapToScene(event.pos()))
    if ribbon is not None and not keyboard:
        selection.set(ribbon.members)
        hosts = [host for member in ribbon.members if (host := scene.host_of(member)) is not None]
        link_menu(view, event.globalPos(), hosts).popup(event.globalPos())
        return
    item = scene.item_of(selection.current or "") if keyboard else scene.item_at(view.mapToScene(event.pos()))
    if item is None:
        selection.clear()
    elif item.object_id not in selection.ids:
        selection.set(item.object_ids)
    where = event.globalPos()
    if keyboard and item is not None:
        corner = view.mapFromScene(item.rect_in_scene().bottomLeft())
        where = view.viewport().mapToGlobal(corner)
    canvas_menu(view, item, rename, where).popup(where)


def canvas_menu(
    view: Stage, item: CanvasItem | None, rename: Callable[[str], None], where: QPoint | None = None
) -> QMenu:
    """The menu for an item, or for the empty canvas; deletes itself when it closes.

    `where`: place of the screen at which it asks for values.
    """
    return part_menu(view, item.object_id if item is not None else None, rename, where)


def part_menu(
    view: Stage, object_id: str | None, rename: Callable[[str], None], where: QPoint | None = None
) -> QMenu:
    """The menu for an object of the plan, or (None) for the plan itself."""
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    editor = view.editor
    plan = view.document.plan
    part = plan.by_id.get(object_id) if object_id is not None else None
    if part is not None:
        ids = view.selection.ids if part.id in view.selection.ids else (part.id,)
        offer_to_break(menu, Target(view, where or QCursor.pos(), plan, ids), editor.event_edits)
    if isinstance(part, Disk):
        heading(menu, f"What is written to {part.name}")
        for role in DiskRole:
            action = menu.addAction(f"{catalogue.ROLE_TEXT[role]}\t{_ROLE_KEY[role.value]}")
            action.setCheckable(True)
            action.setChecked(editor.has_role(role, part.id))
            action.triggered.connect(partial(_toggle_role, view, role, part.id))
        menu.addSeparator()
    if part is None or isinstance(part, Host | Location):
        text = f"Add to {display_name(view.document.plan, part)}" if part else "Add"
        add = menu.addMenu(theme.icon("plus"), text)
        for entry in catalogue.offers():
            if entry.kind in _ADDED_TO.get(type(part), ("host", "location", "process")):
                action = add.addAction(theme.icon(entry.icon), entry.text)
                action.triggered.connect(partial(_add, view, entry.key, part.id if part else None))
    if isinstance(part, Host | Disk):
        keep = partial(ask_to_keep, plan, part.id, view, where)
        menu.addAction(theme.icon("download"), "Keep in the palette…", keep)
    if part is not None:
        if name_field(part) is not None:
            menu.addAction(theme.icon("pencil"), "Rename\tF2", partial(rename, part.id))
        menu.addSeparator()
        menu.addAction(theme.icon("scissors"), "Cut\tCtrl+X", editor.cut)
        menu.addAction(theme.icon("copy"), "Copy\tCtrl+C", editor.copy)
        menu.addAction(theme.icon("clipboard-paste"), "Paste\tCtrl+V", editor.paste)
        menu.addAction("Duplicate\tCtrl+D", editor.duplicate)
        if len(view.selection.ids) > 1:
            _add_align_menu(menu, view)
        menu.addSeparator()
        menu.addAction(theme.icon("trash-2"), "Delete\tDel", editor.delete)
    else:
        menu.addAction(theme.icon("clipboard-paste"), "Paste\tCtrl+V", editor.paste)
        menu.addAction("Select all\tCtrl+A", editor.select_all)
        menu.addSeparator()
        menu.addAction(theme.icon("layout-grid"), "Arrange", editor.arrange_all)
        menu.addAction(theme.icon("maximize"), "Fit", view.fit)
    return menu


def _add_align_menu(menu: QMenu, view: Stage) -> None:
    """The same actions as in the window's menu; those the canvas was given."""
    lines = menu.addMenu("Align and distribute")
    for action in view.actions():
        if action.objectName().startswith(("align_", "distribute_")):
            if action.objectName() == "distribute_across":
                lines.addSeparator()
            lines.addAction(action)
    lines.menuAction().setVisible(not lines.isEmpty())


def _toggle_role(view: Stage, role: DiskRole, disk_id: str, _checked: bool = False) -> None:
    view.editor.assign_role(role, disk_id, toggle=True)


def _add(view: Stage, key: str, onto: str | None, _checked: bool = False) -> None:
    view.editor.add_offer(key, onto=onto)
