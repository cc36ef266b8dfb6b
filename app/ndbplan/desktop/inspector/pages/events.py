"""Editor of what happens while a workload runs: failures, slow disks, backups, growth, bursts, changes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QPushButton

from ndbplan.base.errors import UserError
from ndbplan.describe.titles import EVENT_NAMES, title
from ndbplan.desktop.inspector.page import Page
from ndbplan.desktop.widgets.forms import Form, Inner
from ndbplan.desktop.widgets.sections import link
from ndbplan.desktop.widgets.units import NUMBER, SECONDS, TEXT, WHOLE
from ndbplan.edits import validated
from ndbplan.edits.events import added, put_event, without_event
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb import values
from ndbplan.plan.events import (
    Burst,
    DiskSlow,
    Event,
    HostFailure,
    LocationFailure,
    ManagementNodeDown,
    NetworkCut,
    NodeFailure,
    NodesAdded,
    ParameterChange,
    SqlNodeDown,
)
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload

_BACK = "Data nodes that stopped are started then; a cluster that stopped stays stopped"


class EventEditor:
    """Puts a section for each event of the page's workload at the end of the page, and a menu to add one."""

    def __init__(self, page: Page, workload: Workload) -> None:
        self._page, self._workload_id = page, workload.id
        for i, event in enumerate(workload.events):
            self._event(i, event)
        add = QPushButton("+ Add event")
        add.setProperty("look", "link")
        add.setCursor(Qt.CursorShape.PointingHandCursor)
        add.setAccessibleName("Add an event")
        menu = QMenu(add)
        for kind, name in EVENT_NAMES.items():
            menu.addAction(name, partial(self.add, kind))
        add.setMenu(menu)
        page.column.addWidget(add, 0, Qt.AlignmentFlag.AlignLeft)

    def add(self, kind: str) -> None:
        """Add an event of a kind, in the middle of the run."""
        document = self._page.context.document
        try:
            document.edit(
                f"Add event: {EVENT_NAMES[kind].lower()}", lambda plan: added(plan, self._workload_id, kind)
            )
        except UserError as error:
            self._page.say(error.line)

    def _event(self, i: int, event: Event) -> None:
        name = EVENT_NAMES[event.kind]
        section = self._page.section(name)
        section.add_action(link("Remove", partial(self._remove, i), f"Remove event: {name}"))
        inner = Inner(
            lambda w: w.events[i] if i < len(w.events) else None,
            lambda plan, w, new: put_event(plan, w, i, new),
        )
        form = self._page.form(section.body, inner)
        form.line("at_s", "At", SECONDS)
        if isinstance(event, NodeFailure):
            form.choice("object_id", "Data node", _offered(lambda plan: list(plan.data_nodes)))
            form.line("back_after_s", "Started after", SECONDS, empty="stays down")
        elif isinstance(event, ManagementNodeDown):
            form.choice("object_id", "Management node", _offered(lambda plan: list(plan.management_nodes)))
            form.line("back_after_s", "Started after", SECONDS, empty="stays down")
        elif isinstance(event, HostFailure):
            form.choice("object_id", "Host", _offered(lambda plan: list(plan.hosts)))
            form.line("back_after_s", "Back after", SECONDS, empty="stays down", tip=_BACK)
        elif isinstance(event, LocationFailure):
            form.choice("object_id", "Location", _offered(lambda plan: list(plan.locations)))
            form.line("back_after_s", "Back after", SECONDS, empty="stays down", tip=_BACK)
        elif isinstance(event, NetworkCut):
            self._side(form, i, "object_ids", "One side", len(event.object_ids))
            self._side(form, i, "other_ids", "Other side", len(event.other_ids))
            form.line("back_after_s", "Healed after", SECONDS, empty="stays cut", tip=_BACK)
        elif isinstance(event, SqlNodeDown):
            form.choice("object_id", "SQL node", _offered(lambda plan: list(plan.sql_nodes)))
            form.line("duration_s", "For", SECONDS, tip="0: for the rest of the run")
        elif isinstance(event, DiskSlow):
            form.choice("object_id", "Disk", _offered(_disks))
            form.line("factor", "Speed ×", NUMBER, tip="Against what it was; 0: it fails")
            form.line("duration_s", "For", SECONDS, tip="0: for the rest of the run")
        elif isinstance(event, NodesAdded):
            form.line("groups", "Node groups", WHOLE)
        elif isinstance(event, Burst):
            form.line("factor", "Load ×", NUMBER)
            form.line("duration_s", "For", SECONDS)
        elif isinstance(event, ParameterChange):
            form.line("name", "Parameter", TEXT)
            form.line(
                "value",
                "New value",
                TEXT,
                get=_shown,
                edit=lambda plan, w, text: with_value(plan, w, i, text),
            )

    def _side(self, form: Form, i: int, name: str, label: str, count: int) -> None:
        """A line for each host or location of a side of a cut, and one to add another."""
        for k in range(count + 1):
            empty = "take out" if k < count else "+ add" if k else "everything else"
            form.choice(
                name,
                label if k == 0 else "and",
                partial(_side_choices, empty=empty),
                get=partial(_member, name, k),
                edit=partial(with_side, i, name, k),
            )

    def _remove(self, i: int) -> None:
        self._page.context.document.edit(
            "Remove event", lambda plan: without_event(plan, self._workload_id, i)
        )


def _member(name: str, k: int, event: NetworkCut) -> str:
    """Id of the k-th host or location of a side; empty behind the last."""
    members: tuple[str, ...] = getattr(event, name)
    return members[k] if k < len(members) else ""


def with_side(i: int, name: str, k: int, plan: Plan, workload_id: str, chosen: str) -> Plan:
    """The plan with the k-th host or location on a side of a cut exchanged, added, or ("") taken out."""
    event = plan.by_id[workload_id].events[i]
    members = list(getattr(event, name))
    members[k : k + 1] = [chosen] if chosen else []
    return put_event(plan, workload_id, i, validated.changed(event, **{name: tuple(dict.fromkeys(members))}))


def with_value(plan: Plan, workload_id: str, i: int, text: str) -> Plan:
    """The plan with the new value of a parameter change, from its text. Raises UserError."""
    event = plan.by_id[workload_id].events[i]
    value = parameter_value(plan, event.name, text)
    return put_event(plan, workload_id, i, validated.changed(event, value=value))


def parameter_value(plan: Plan, name: str, text: str) -> int | str:
    """A data node parameter's value from its text. Raises UserError for a name or value NDB refuses."""
    if not catalogue.knows("DB", name, plan.version):
        raise UserError(
            f"NDB {plan.ndb_version} has no data node parameter '{name[:60]}'", fix="correct the name"
        )
    try:
        return values.parse_value(catalogue.parameter("DB", name, plan.version), text, plan.version)
    except values.BadValueError as error:
        raise UserError(str(error), fix="correct the value") from None


def _shown(event: ParameterChange) -> str:
    known = catalogue.parameter("DB", event.name) if catalogue.exists("DB", event.name) else None
    return values.format_value(known, event.value)


def _disks(plan: Plan) -> list[Any]:
    return [disk for host in plan.hosts for disk in host.disks]


def _side_choices(plan: Plan, empty: str) -> list[tuple[str, str]]:
    parts: list[Any] = [*plan.locations, *plan.hosts]
    return [("", empty), *((part.id, title(plan, part)) for part in parts)]


def _offered(objects: Callable[[Plan], list[Any]]) -> Callable[[Plan], list[tuple[str, str]]]:
    return lambda plan: [(part.id, title(plan, part)) for part in objects(plan)]
