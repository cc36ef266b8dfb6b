"""Editor: what a person does to the plan, as undoable steps: add, place, delete, copy, paste, rename.

Canvas, palette, outline and menus all act through it, so each step has one name and one behaviour. What a
plan cannot take is announced by `failed` and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from ndbplan.base.errors import UserError
from ndbplan.configuration.directories import disk_for
from ndbplan.describe.titles import display_name, how_called
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.event_edits import EventEdits
from ndbplan.desktop.document.previews import Previews
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.layout.collision import settled, those_to_move
from ndbplan.edits import arrange, offers
from ndbplan.edits import palette as catalogue
from ndbplan.edits import parts as edits
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.roles import RoleMoved, assign_role, move_process
from ndbplan.edits.validated import EditError
from ndbplan.plan.fields import Point
from ndbplan.plan.hardware import Disk, Host, Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole, Process

if TYPE_CHECKING:
    from ndbplan.desktop.layout.align import Direction, Edge
    from ndbplan.edits.from_host import Chosen


class Editor(QObject):
    """Edits of one document that act on one selection."""

    failed = Signal(str)
    """One line for people: why a step was not done."""
    added = Signal(object)
    """Ids of objects that a person has just added or lined up."""
    wanted = Signal(object)
    """Ids of objects that a person asks to see."""
    idle_role = Signal(str)
    """A role of disk data was given to a disk, and the plan has none: what the role is for."""
    role_moved = Signal(RoleMoved)
    """A role was taken from another disk: in one line, and the id of the disk that it is on now."""
    chosen = Signal(str, object)
    """What a new data node took from its host: in one line, and the settings (`Chosen`)."""

    def __init__(self, document: Document, selection: Selection, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.selection = selection
        self.event_edits = EventEdits(document, self.do, self)
        self.previews: Callable[[], Previews] | None = None
        """Who says what an edit would do; None: nobody yet."""

    @property
    def plan(self) -> Plan:
        """The document's plan."""
        return self.document.plan

    def do(self, text: str, edit: Callable[[Plan], Plan], merge_key: str | None = None) -> bool:
        """One undoable step; False when it changed nothing or was refused (then `failed` says why)."""
        try:
            return self.document.edit(text, edit, merge_key)
        except UserError as error:
            self.failed.emit(error.line)
            return False

    # Adding

    def add_offer(
        self,
        key: str,
        *,
        onto: str | None = None,
        before_host: str | None = None,
        slot: Point | None = None,
        position: Point | None = None,
    ) -> bool:
        """Add what the palette offers under `key`, onto the object `onto` (a host, location or disk)."""
        entry = catalogue.offer(key)
        target = self.plan.by_id.get(onto) if onto is not None else None
        try:
            if entry.kind == "location":
                around = onto if isinstance(target, Location) else None
                place = offers.make_location(self.plan, position, around)
                return self._add_part(f"Add {entry.text}", place)
            if entry.kind == "host":
                return self._add_host(key, self._location_of(target), before_host, slot or position)
            if entry.kind == "disk":
                return self._add_disk(key, self._host_of(target))
            if entry.kind == "process":
                return self._add_process(key, self._host_of(target), position)
            if not isinstance(target, Disk):
                raise EditError("a disk role goes onto a disk", fix="drop it on a disk of the host")
            return self.assign_role(DiskRole(key), target.id)
        except UserError as error:
            self.failed.emit(error.line)
            return False

    def add_beside_selection(self, key: str) -> bool:
        """Add what the palette offers to what is selected (double click, Enter)."""
        entry = catalogue.offer(key)
        current = self.selection.current
        if entry.kind == "process" and current is None:
            if len(self.plan.hosts) == 1:
                current = self.plan.hosts[0].id
            elif self.plan.hosts and key != "api":
                self.failed.emit(f"Select the host for the {entry.text.lower()} first, or drag it there.")
                return False
        if entry.kind == "disk" and current is None and len(self.plan.hosts) == 1:
            current = self.plan.hosts[0].id
        return self.add_offer(key, onto=None if entry.kind == "location" else current)

    def rehearsed(self, key: str, onto: str | None = None) -> Callable[[Plan], Plan]:
        """What adding an offer beside the selection, or onto an object, would make of the plan.

        The step itself is done, on a document of its own. What it refuses raises EditError when it is asked
        for.
        """
        document = Document(self.plan)
        selection = Selection(document)
        selection.set(self.selection.ids)
        editor, said = Editor(document, selection), list[str]()
        editor.failed.connect(said.append)
        if onto is None:
            editor.add_beside_selection(key)
        else:
            editor.add_offer(key, onto=onto)
        before, after = self.plan, document.plan

        def edit(plan: Plan) -> Plan:
            if said:
                # It says what to do by itself.
                raise EditError(said[0])
            if plan is not before:
                raise EditError("the plan has changed", fix="look at it again")
            return after

        return edit

    def _added(self, ids: Sequence[str], hosts: Sequence[Host] = ()) -> bool:
        """Select what was added; `hosts`: with the hosts that came along for it."""
        self.selection.set(ids)
        self.added.emit((*(host.id for host in hosts), *ids))
        return True

    def _add_part(self, text: str, part: Location) -> bool:
        def edit(plan: Plan) -> Plan:
            plan = edits.add(plan, part)
            return settled(plan, [part.id]) if part.position is None else plan

        return self.do(text, edit) and self._added([part.id])

    def _add_host(
        self, key: str, location: Location | None, before_host: str | None, place: Point | None
    ) -> bool:
        where = location.id if location is not None else None
        host = offers.make_host(self.plan, key, where, None if where else place)

        def edit(plan: Plan) -> Plan:
            plan = edits.add(plan, host)
            if where is None:
                return settled(plan, [host.id]) if place is None else plan
            slots = {host.id: place} if place is not None else {}
            return arrange.put_into_location(plan, [host.id], where, before_host, slots)

        return self.do(f"Add {host.hostname}", edit) and self._added([host.id])

    def _add_disk(self, key: str, host: Host | None) -> bool:
        if host is None:
            raise EditError("a disk needs a host", fix="drop it on a host, or select one first")
        disk = offers.make_disk(self.plan, host, key)
        done = self.do(
            f"Add {disk.name} to {host.hostname}", lambda plan: edits.add_disk(plan, host.id, disk)
        )
        return done and self._added([disk.id])

    def _add_process(self, kind: str, host: Host | None, position: Point | None) -> bool:
        from ndbplan.edits.from_host import with_settings_of

        new_host: Host | None = None
        if host is None and kind != "api":
            new_host = offers.make_host(self.plan, offers.DEFAULT_HOST, None, position)
        host_id = host.id if host else new_host.id if new_host else None
        process = offers.make_process(self.plan, kind, host_id)
        parts = (new_host, process) if new_host else (process,)
        text = f"Add {catalogue.offer(kind).text} {process.node_id}"
        chosen: tuple[Chosen, ...] = ()

        def edit(plan: Plan) -> Plan:
            nonlocal chosen
            plan, chosen = with_settings_of(edits.add(plan, *parts), process.id)
            return settled(plan, [new_host.id]) if new_host is not None and position is None else plan

        done = self.do(text, edit) and self._added([process.id], [new_host] if new_host else [])
        if done and chosen:
            values = ", ".join(one.words for one in chosen)
            self.chosen.emit(f"Data nodes are set for {self._hostname(process)}: {values}.", chosen)
        return done

    def _hostname(self, process: Process) -> str:
        return self.plan.host(process.host_id).hostname if process.host_id else ""

    def take_back(self, chosen: Iterable[Chosen]) -> bool:
        """Leave to the product's defaults what a new data node took from its host."""
        from ndbplan.edits.from_host import without_settings

        return self.do("Keep the defaults", lambda plan: without_settings(plan, chosen))

    def _location_of(self, target: object) -> Location | None:
        if isinstance(target, Location):
            return target
        host = self._host_of(target)
        location = self.plan.by_id.get(host.location_id or "") if host is not None else None
        return location if isinstance(location, Location) else None

    def _host_of(self, target: object) -> Host | None:
        if isinstance(target, Host):
            return target
        if isinstance(target, Disk):
            return self.plan.host_of_disk[target.id]
        host_id = getattr(target, "host_id", None)
        return self.plan.host(host_id) if host_id is not None else None

    # Disk roles

    def role_nodes(self, disk_id: str) -> tuple[DataNode, ...]:
        """Data nodes a role dropped on this disk is for: the selected ones of its host, else all there."""
        host = self.plan.host_of_disk[disk_id]
        nodes = tuple(p for p in self.plan.processes_of_host[host.id] if isinstance(p, DataNode))
        return tuple(n for n in nodes if n.id in self.selection.ids) or nodes

    def has_role(self, role: DiskRole, disk_id: str) -> bool:
        """Whether every data node the disk serves states this role for it."""
        nodes = self.role_nodes(disk_id)
        return bool(nodes) and all(n.disk_roles.disk_of(role) == disk_id for n in nodes)

    def role_leaves(self, role: DiskRole, disk_id: str) -> str:
        """What a role dropped on a disk leaves, in words: a data node has one folder for each role."""
        nodes = [n for n in self.role_nodes(disk_id) if n.disk_roles.disk_of(role) is not None]
        there = {disk.name: node for node in nodes if (disk := disk_for(self.plan, node, role)) is not None}
        here = self.plan.by_id[disk_id].name
        old = [name for name in there if name != here]
        return f"{catalogue.ROLE_TEXT[role]} goes to {here} instead of {' and '.join(old)}" if old else ""

    def assign_role(self, role: DiskRole, disk_id: str, *, toggle: bool = False) -> bool:
        """Let the data nodes of the disk's host write one purpose there; `toggle` takes it back."""
        nodes = self.role_nodes(disk_id)
        disk, host = self.plan.by_id[disk_id], self.plan.host_of_disk[disk_id]
        if not nodes:
            self.failed.emit(
                f"{host.hostname} has no data node that could write {catalogue.ROLE_TEXT[role]} to "
                f"{disk.name} — add a data node to {host.hostname} first"
            )
            return False
        target = None if toggle and self.has_role(role, disk_id) else disk_id
        leaves = self.role_leaves(role, disk_id) if target else ""
        was = disk_for(self.plan, nodes[0], role)
        left = was.id if was is not None else disk_id

        def edit(plan: Plan) -> Plan:
            for node in nodes:
                if node.disk_roles.disk_of(role) != target:
                    plan = assign_role(plan, node.id, role, target)
            return plan

        verb = "Put" if target else "Take"
        tail = "on" if target else "off"
        done = self.do(f"{verb} {catalogue.ROLE_TEXT[role]} {tail} {host.hostname}/{disk.name}", edit)
        if done and target and role in (DiskRole.UNDO, DiskRole.DATA_FILES) and not self.plan.tablespaces:
            self.idle_role.emit(f"{catalogue.ROLE_TEXT[role]} is {catalogue.ROLE_TIPS[role]}.")
        elif done and leaves:
            self.role_moved.emit(RoleMoved(leaves, role, disk_id, left))
        return done

    # Placing

    def move_process(self, process_ids: Sequence[str], host_id: str) -> bool:
        """Move processes to another host; a data node's roles follow to disks of the same names."""
        host = self.plan.host(host_id)
        what = self.name_of(process_ids[0]) if len(process_ids) == 1 else f"{len(process_ids)} nodes"

        def edit(plan: Plan) -> Plan:
            for process_id in process_ids:
                plan = move_process(plan, process_id, host_id)
            return plan

        return self.do(f"Move {what} to {host.hostname}", edit)

    def arrange_all(self) -> None:
        """Let everything flow into a tidy layout again."""
        if not self.do("Arrange", arrange.tidy):
            self.added.emit(())

    def move_apart(self, pairs: Iterable[tuple[str, str]]) -> bool:
        """Move one of each two to the nearest free place: what is selected, else what covers most."""
        chosen = those_to_move(self.plan, pairs, self.selection.ids)
        return self.do(f"Move {self.names(chosen)} to a free place", lambda plan: settled(plan, chosen))

    def align(self, edge: Edge) -> bool:
        """Bring what is selected to one line: `left`, `centre`, `right`, `top`, `middle`, `bottom`."""
        from ndbplan.desktop.layout.align import aligned

        return self._line_up(f"Align {edge}", 2, lambda plan, ids: aligned(plan, ids, edge))

    def distribute(self, direction: Direction) -> bool:
        """Give what is selected equal gaps, `across` or `down`."""
        from ndbplan.desktop.layout.align import distributed

        return self._line_up(
            f"Distribute {direction}", 3, lambda plan, ids: distributed(plan, ids, direction)
        )

    def _line_up(self, text: str, least: int, edit: Callable[[Plan, Sequence[str]], Plan]) -> bool:
        from ndbplan.desktop.layout.align import movable

        ids = movable(self.plan, self.selection.ids)
        if len(ids) >= least:
            done = self.do(f"{text}: {self.names(ids)}", lambda plan: edit(plan, ids))
            # A line may go on beyond what is seen.
            self.added.emit(ids)
            return done
        stuck = any(isinstance(self.plan.by_id[i], Host) for i in self.selection.ids if i not in ids)
        why = "hosts in a rack stand in its slots; " if stuck else ""
        count = {2: "two", 3: "three"}[least]
        self.failed.emit(f"{text}: {why}select {count} or more racks, or hosts outside of racks.")
        return False

    # Selection as a whole

    def names(self, ids: Iterable[str]) -> str:
        """`host-a1`, `3 hosts` or, of several kinds, `3 objects`, for texts of steps."""
        return how_called(self.plan, [i for i in ids if i in self.plan.by_id])

    def name_of(self, object_id: str) -> str:
        """The name people know an object by."""
        return display_name(self.plan, self.plan.by_id[object_id])

    def delete(self) -> bool:
        """Remove what is selected, and what cannot live without it; then what held it is selected."""
        ids = self.selection.ids
        part = self.plan.by_id.get(self.selection.current or "")
        if isinstance(part, Host | Location):
            holder = part.location_id if isinstance(part, Host) else part.parent_id
        else:
            holder = getattr(self._host_of(part), "id", None)
        if not ids or not self.do(f"Delete {self.names(ids)}", lambda plan: edits.remove(plan, ids)):
            return False
        self.selection.set([holder] if holder is not None and holder in self.plan.by_id else [])
        return True

    def copy(self) -> bool:
        """Put what is selected on the system clipboard, as text."""
        if not self.selection.ids:
            return False
        from ndbplan.edits import clipboard

        QGuiApplication.clipboard().setText(clipboard.copy(self.plan, self.selection.ids))
        return True

    def cut(self) -> bool:
        """Copy, then delete."""
        ids = self.selection.ids
        return self.copy() and self.do(f"Cut {self.names(ids)}", lambda plan: edits.remove(plan, ids))

    def paste(self) -> bool:
        """Add what the clipboard holds; loose disks and nodes go onto the selected host."""
        return self._paste("Paste", QGuiApplication.clipboard().text())

    def duplicate(self) -> bool:
        """Duplicate what is selected, beside it."""
        ids = self.selection.ids
        if not ids:
            return False
        from ndbplan.edits import clipboard

        return self._paste(f"Duplicate {self.names(ids)}", clipboard.copy(self.plan, ids))

    def _paste(self, text: str, fragment: str) -> bool:
        from ndbplan.edits import clipboard

        onto = self._host_of(self.plan.by_id.get(self.selection.current or ""))
        new: tuple[str, ...] = ()

        def edit(plan: Plan) -> Plan:
            nonlocal new
            plan, new = clipboard.paste(plan, fragment, onto_host=onto.id if onto else None)
            return settled(plan, new)

        if not self.do(text, edit):
            return False
        inside = {h.id for h in self.plan.hosts if h.id in new}
        tops = [i for i in new if getattr(self.plan.by_id[i], "host_id", None) not in inside]
        return self._added(tops)

    def add_copies(self, text: str, copy: Callable[[Plan], tuple[Plan, Sequence[str]]]) -> bool:
        """Add what `copy` makes of the plan, as one step, and select it."""
        new: Sequence[str] = ()

        def edit(plan: Plan) -> Plan:
            nonlocal new
            plan, new = copy(plan)
            return plan

        return self.do(text, edit) and self._added(new)

    def select_all(self) -> None:
        """Select every location and host (their content comes along with them)."""
        self.selection.set([*(p.id for p in self.plan.locations), *(h.id for h in self.plan.hosts)])

    def rename(self, object_id: str, text: str) -> bool:
        """Give a location, host, disk, table or workload another name."""
        part = self.plan.by_id[object_id]
        field = name_field(part)
        if field is None or getattr(part, field) == text:
            return False
        return self.do(
            f"Rename {display_name(self.plan, part)}",
            lambda plan: edits.update(plan, object_id, **{field: text}),
        )

    def add_node_group(self) -> bool:
        """Add a node group like the last one: hosts, data nodes, roles."""
        before = self.plan.by_id
        if not self.do("Add a node group", add_node_group):
            return False
        hosts = [host for host in self.plan.hosts if host.id not in before]
        return self._added([n.id for n in self.plan.data_nodes if n.id not in before], hosts)


def name_field(part: object) -> str | None:
    """The field that holds an object's name; None when it has none to change."""
    return next((f for f in ("hostname", "name") if hasattr(part, f)), None)
