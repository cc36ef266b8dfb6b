"""Pages for locations, hosts and disks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QToolButton, QWidget

from ndbplan.base.errors import UserError
from ndbplan.configuration.arrays import levels
from ndbplan.configuration.directories import disk_for, disks_of_roles
from ndbplan.configuration.space_files import folders_of_files, roles_by_folders
from ndbplan.describe.titles import DISK_ROLES
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.inspector.page import Page
from ndbplan.desktop.inspector.pages.links import ObjectLinks
from ndbplan.desktop.inspector.pages.prices import OF_HARDWARE, add_prices
from ndbplan.desktop.widgets.forms import Form
from ndbplan.desktop.widgets.own_hardware import ask_to_keep
from ndbplan.desktop.widgets.sections import chip, label, link
from ndbplan.desktop.widgets.units import (
    BYTES_PER_S,
    CAPACITY,
    LATENCY,
    LINK,
    MEMORY,
    NUMBER,
    SHARE,
    TEXT,
    WHOLE,
)
from ndbplan.edits import arrange
from ndbplan.edits.arrays import put_devices, put_level
from ndbplan.edits.roles import assign_role
from ndbplan.plan.field_words import DISK_KINDS, SERVICE_MANAGERS
from ndbplan.plan.hardware import Location, RaidLevel
from ndbplan.plan.places import chain, domain_of, may_hold
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DataNode, DiskRole


class LocationPage(Page):
    """A rack, room or availability zone."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        form = self.form()
        if self.only is not None:
            form.line("name", TEXT)
        form.choice("parent_id", self._around, edit=_put_inside, tip="The room of a rack, its site")
        form.line(
            "location_domain_id",
            WHOLE,
            empty=self.shape(),
            tip="1 to 16; the product spreads the replicas of a node group over location domains (8.0.19+)",
        )
        form.line(
            "uplink_bytes_per_s",
            LINK,
            empty="no limit",
            tip="What it can send out of it in one direction; 10 GbE: 1.17 GB/s",
        )
        add_prices(self, OF_HARDWARE)
        if self.only is not None:
            links = ObjectLinks(context, self._hosts)
            self.section("What is in it").body.addWidget(links)
            self.keep_fresh(links)

    def shape(self) -> str:
        """What stands for an empty LocationDomainId: that of the location around it."""
        plan = self.context.plan
        outer = {domain_of(plan.locations, part.parent_id) for part in map(plan.by_id.get, self.ids) if part}
        place = outer.pop() if len(outer) == 1 else None
        return "not set" if place is None else f"{place.location_domain_id}, of {place.name}"

    def _hosts(self, plan: Plan) -> list[Any]:
        here = self.ids[0]
        held = [host for host in plan.hosts if host.location_id == here]
        return [*(place for place in plan.locations if place.parent_id == here), *held]

    def _around(self, plan: Plan) -> list[tuple[str | None, str]]:
        fit = [{place.id for place in may_hold(plan.locations, i)} for i in self.ids if i in plan.by_id]
        known = [p for p in plan.locations if all(p.id in one for one in fit)]
        return [(None, "nothing"), *((p.id, p.name) for p in known)]


def _put_inside(plan: Plan, location_id: str, parent_id: str | None) -> Plan:
    return arrange.put_inside(plan, [location_id], parent_id)


class HostPage(Page):
    """Machines."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        form = self.form()
        if self.only is not None:
            form.line("hostname", TEXT, tip="A DNS name or IPv4 address, as in config.ini")
        form.choice("location_id", _locations)
        form.line("cores", WHOLE, tip="CPUs the operating system shows")
        form.line("sockets", WHOLE)
        form.line("clock_ghz", NUMBER)
        form.line(
            "core_gain_per_clock",
            NUMBER,
            empty="current core",
            tip="Of a core against one of 2008: 1 for a Core 2, about 1.75 for current ones",
        )
        form.line("memory_bytes", MEMORY)
        form.line("network_bytes_per_s", LINK, tip="Usable in one direction; 10 GbE: 1.17 GB/s")
        form.choice(
            "service_manager",
            list(SERVICE_MANAGERS.items()),
            tip="What starts, stops and restarts its nodes by the exported runbook",
        )
        add_prices(self, OF_HARDWARE)
        if self.only is not None:
            links = ObjectLinks(context, self._inside)
            section = self.section("On this host")
            keep = link("Keep in the palette…", lambda: ask_to_keep(context.plan, ids[0], self))
            section.add_action(keep)
            section.body.addWidget(links)
            self.keep_fresh(links)

    def _inside(self, plan: Plan) -> list[Any]:
        host = plan.by_id.get(self.ids[0])
        return [] if host is None else [*plan.processes_of_host[host.id], *host.disks]


_ARRAYS: list[tuple[RaidLevel | None, str]] = [
    (None, "one device"),
    *((RaidLevel(level.name), level.text) for level in levels()),
]
_ARRAYS_TIP = (
    "Several devices that make one disk; capacity and speeds below are those of all together. "
    + "; ".join(f"{level.text} {level.tip}" for level in levels())
)


class DiskPage(Page):
    """Disks, with what is written to them."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        form = self.form()
        if self.only is not None:
            form.line("name", TEXT)
        form.choice("kind", list(DISK_KINDS.items()))
        form.choice("raid", _ARRAYS, edit=put_level, tip=_ARRAYS_TIP)
        if any(context.plan.by_id[i].raid is not None for i in ids):
            form.line("devices", WHOLE, edit=put_devices, tip="Equal devices; speeds follow")
        form.line("capacity_bytes", CAPACITY)
        form.line("sequential_write_bytes_per_s", BYTES_PER_S)
        form.line("sequential_read_bytes_per_s", BYTES_PER_S)
        form.line("random_write_iops", NUMBER)
        form.line("random_read_iops", NUMBER)
        form.line("sync_write_latency_s", LATENCY, tip="Time of one small synchronous write")
        form.line("mount_point", TEXT)
        form.line("other_load", SHARE, tip="Share of the device that other programs of the host take")
        add_prices(self, OF_HARDWARE)
        if self.only is not None:
            keep = link("Keep in the palette…", lambda: ask_to_keep(context.plan, ids[0], self))
            self.column.addWidget(keep, 0, Qt.AlignmentFlag.AlignRight)
            roles = RoleSwitches(context, self.ids[0])
            self.section("Written here").body.addWidget(roles)
            self.keep_fresh(roles)

    def shape(self) -> object:
        """Whether the number of devices is a question."""
        by_id = self.context.plan.by_id
        return any(by_id[i].raid is not None for i in self.ids if i in by_id)


class RoleSwitches(QWidget):
    """For each data node of the disk's host: which of its purposes it writes to this disk."""

    def __init__(self, context: Context, disk_id: str) -> None:
        super().__init__()
        self._context, self._disk_id = context, disk_id
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(4)
        self._buttons: dict[tuple[str, DiskRole], QToolButton] = {}
        self._shown: list[str] = []
        self._hint = label("No data node runs on this host. Drag one here from the palette.", "muted")
        self._error = label("", "fieldError")
        self._error.hide()
        self._beside = label("", "muted")
        self.refresh()

    def refresh(self) -> None:
        """Show what the plan says now."""
        plan = self._context.plan
        host = plan.host_of_disk.get(self._disk_id)
        if host is None:
            return
        nodes = [p for p in plan.processes_of_host[host.id] if isinstance(p, DataNode)]
        if [node.id for node in nodes] != self._shown or not (nodes or self._hint.parent()):
            self._build(nodes)
        for node in nodes:
            for role in DiskRole:
                button = self._buttons[node.id, role]
                stated, place = node.disk_roles.disk_of(role), disk_for(plan, node, role)
                here = place is not None and place.id == self._disk_id
                falls_here = here and stated != self._disk_id
                button.setChecked(here)
                button.setEnabled(not falls_here or len(host.disks) > 1)
                button.setToolTip(
                    "Not assigned: goes to the disk of its path parameter or of DataDir, this one"
                    if falls_here
                    else f"Data node {node.node_id} writes {DISK_ROLES[role]} here when checked"
                )
        folders = folders_of_files(plan.logfile_groups, plan.tablespaces)
        beside = {
            role
            for node in nodes
            for role in roles_by_folders(folders, host, disks_of_roles(plan, node)).get(self._disk_id, ())
        }
        named = " and ".join(DISK_ROLES[role] for role in DiskRole if role in beside)
        self._beside.setText(f"Files of {named} that name a folder of this disk lie here too")
        self._beside.setVisible(bool(named) and self._beside.parent() is not None)

    def _build(self, nodes: list[DataNode]) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None and widget not in (self._hint, self._error, self._beside):
                widget.hide()
                widget.deleteLater()
        self._buttons.clear()
        self._shown = [node.id for node in nodes]
        if not nodes:
            self._grid.addWidget(self._hint, 0, 0, 1, 3)
        # Only inside of something: shown alone it would be a window of its own.
        self._hint.setVisible(not nodes and self._hint.parent() is not None)
        row = 0
        for node in nodes:
            if len(nodes) > 1:
                self._grid.addWidget(label(f"Data node {node.node_id}", "fieldLabel"), row, 0, 1, 3)
                row += 1
            for i, role in enumerate(DiskRole):
                name = DISK_ROLES[role]
                button = chip(name, f"Data node {node.node_id} writes {name} here")
                button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
                button.clicked.connect(lambda on, n=node.id, r=role: self._clicked(n, r, on))
                self._buttons[node.id, role] = button
                self._grid.addWidget(button, row + i // 3, i % 3)
            row += 2
        self._grid.addWidget(self._error, row, 0, 1, 3)
        self._grid.addWidget(self._beside, row + 1, 0, 1, 3)
        for column in range(3):
            self._grid.setColumnStretch(column, 1)

    def _clicked(self, node_id: str, role: DiskRole, on: bool) -> None:
        plan = self._context.plan
        host = plan.host_of_disk[self._disk_id]
        elsewhere = next((disk.id for disk in host.disks if disk.id != self._disk_id), None)
        first = host.disks[0].id == self._disk_id
        target = self._disk_id if on else (elsewhere if first else None)
        try:
            self._context.document.edit(
                f"Write {DISK_ROLES[role]} to {plan.by_id[self._disk_id].name}"
                if on
                else f"Move {DISK_ROLES[role]} off {plan.by_id[self._disk_id].name}",
                lambda p: assign_role(p, node_id, role, target),
            )
        except UserError as error:
            self._error.setText(error.line)
            self._error.show()
        else:
            self._error.hide()
        self.refresh()


def _locations(plan: Plan) -> list[tuple[str | None, str]]:
    """Locations to put a host in, each with what it lies in."""

    def named(place: Location) -> str:
        return ", ".join(one.name for one in chain(plan.locations, place.id))

    return [(None, "none"), *((place.id, named(place)) for place in plan.locations)]


def host_choices(plan: Plan) -> list[tuple[str | None, str]]:
    """Hosts to put a process on."""
    return [(host.id, host.hostname) for host in plan.hosts]


def add_disk_choice(form: Form, role: DiskRole) -> None:
    """A field for the disk of one role of a data node."""

    def disks(plan: Plan) -> list[tuple[str | None, str]]:
        nodes = [plan.by_id[i] for i in form.ids if i in plan.by_id]
        if len({node.host_id for node in nodes}) != 1:
            return [(None, "disk of DataDir")]
        host = plan.host(nodes[0].host_id)
        first = f"{host.disks[0].name} (DataDir)" if host.disks else "disk of DataDir"
        return [(None, first), *((disk.id, disk.name) for disk in host.disks)]

    form.choice(
        f"disk_roles.{role.value}",
        disks,
        label=DISK_ROLES[role],
        get=lambda node: node.disk_roles.disk_of(role),
        edit=lambda plan, node_id, disk_id: assign_role(plan, node_id, role, disk_id),
    )
