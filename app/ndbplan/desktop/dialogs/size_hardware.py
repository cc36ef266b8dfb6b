"""What may be bought, as the form of *Size a cluster* asks for it: chips for hosts, disks, layouts.

hardware = HardwareForm(plan)
hardware.stated()             # as `Requirements.hardware` has it; only what is other than usual
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtWidgets import QVBoxLayout, QWidget

from ndbplan.advise.sizing.choices import usually_offered
from ndbplan.base.errors import UserError
from ndbplan.desktop.widgets.fields import ChoiceField
from ndbplan.desktop.widgets.flow_layout import FlowLayout
from ndbplan.desktop.widgets.sections import chip, label
from ndbplan.edits.own_hardware import own_hardware
from ndbplan.plan.plan import Plan
from ndbplan.plan.requirements import WantedHardware

_LAYOUTS = (
    ("as it is", "As it is", "The disks that a host comes with, in the roles that they have"),
    ("one disk", "One disk", "All roles on one disk"),
    ("redo log apart", "Redo log apart", "The redo log on a disk of its own, the rest on a second"),
    ("striped", "Striped", "All on four devices as RAID 10"),
)
_NODES = ((1, "1", ""), (2, "2", "Where that is cheaper"), (4, "4", "Where that is cheaper"))

Offered = Sequence[tuple[Any, str, str]]
"""Values with their texts and tips."""


class Chips(QWidget):
    """Several of a few values: at least one."""

    def __init__(self, title: str, offered: Offered, chosen: Sequence[Any]) -> None:
        super().__init__()
        self.title = title
        self._usual = tuple(chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(label(title, "fieldLabel"))
        row = QWidget()
        flow = FlowLayout(row, spacing=4)
        self.chips = {}
        for value, text, tip in offered:
            self.chips[value] = chip(text, f"{title}: {text}", tip, on=value in chosen)
            flow.addWidget(self.chips[value])
        column.addWidget(row)

    def stated(self) -> list[Any] | None:
        """What is chosen; None: what is usual. Raises UserError where nothing is."""
        found = [value for value, one in self.chips.items() if one.isChecked()]
        if not found:
            raise UserError("none is chosen, at least 1 is needed", where=self.title, fix="press one")
        return None if found == [value for value in self.chips if value in self._usual] else found


class HardwareForm(QWidget):
    """Hosts, disks, layouts, data nodes on a host, and what the load comes through."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        begun, own = WantedHardware(), own_hardware()
        self.rows = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for kind, title in (("host", "Hosts"), ("disk", "Disks")):
            usual = usually_offered(kind, plan)
            kept = [(one.key, one.name, "Kept in your palette") for one in own if one.kind == kind]
            offered = [*((key, text, "") for key, text in usual), *kept]
            self.rows[f"{kind}s"] = Chips(title, offered, [key for key, _ in usual])
        self.rows["layouts"] = Chips("Layouts of disks", _LAYOUTS, begun.layouts)
        self.rows["nodes_per_host"] = Chips("Data nodes on a host", _NODES, begun.nodes_per_host)
        for row in self.rows.values():
            column.addWidget(row)
        self._clients: str | None = None
        hosts = [(key, text) for key, text in usually_offered("host", None)]
        hosts += [(one.key, one.name) for one in own if one.kind == "host"]
        self.clients = ChoiceField("Hosts of clients", [(None, "as usual"), *hosts], self._take_clients,
                                   tip="The class of the hosts that the load comes through; as usual: "
                                   "those of the plan's SQL nodes, else the smallest")  # fmt: skip
        self.clients.show_value(None)
        column.addWidget(self.clients)

    def _take_clients(self, key: str | None) -> None:
        self._clients = key

    def stated(self) -> dict[str, Any]:
        """What is other than usual. Raises UserError where a row has nothing."""
        chosen: dict[str, Any] = {name: row.stated() for name, row in self.rows.items()}
        chosen["clients"] = self._clients
        return {name: value for name, value in chosen.items() if value is not None}
