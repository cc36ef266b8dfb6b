"""Editor of what happens while a workload runs: failures, slow disks, backups, growth, bursts, changes."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QPushButton

from ndbplan.base.errors import UserError
from ndbplan.describe.titles import title
from ndbplan.desktop.document.event_edits import section_name
from ndbplan.desktop.inspector.page import Page
from ndbplan.desktop.widgets.forms import Form, Inner
from ndbplan.desktop.widgets.sections import link
from ndbplan.desktop.widgets.units import NUMBER, SECONDS, TEXT, WHOLE
from ndbplan.edits import validated
from ndbplan.edits.events import added, put_event, without_event
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb import values
from ndbplan.plan.events import BetweenSides, Event, ParameterChange, kinds, shown_fields
from ndbplan.plan.plan import Plan
from ndbplan.plan.references import what_fits
from ndbplan.plan.workloads import Workload

_UNITS = {int: WHOLE, float: NUMBER}
"""Of fields without a unit in their names."""


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
        for kind, known in kinds().items():
            menu.addAction(known.title, partial(self.add, kind))
        add.setMenu(menu)
        page.column.addWidget(add, 0, Qt.AlignmentFlag.AlignLeft)

    def add(self, kind: str) -> None:
        """Add an event of a kind, in the middle of the run."""
        document = self._page.context.document
        try:
            document.edit(
                f"Add event: {kinds()[kind].title.lower()}", lambda plan: added(plan, self._workload_id, kind)
            )
        except UserError as error:
            self._page.say(error.line)

    def _event(self, i: int, event: Event) -> None:
        name = event.title
        section = self._page.section(name)
        section.setObjectName(section_name(i))
        section.add_action(link("Remove", partial(self._remove, i), f"Remove event: {name}"))
        inner = Inner(
            lambda w: w.events[i] if i < len(w.events) else None,
            lambda plan, w, new: put_event(plan, w, i, new),
        )
        form = self._page.form(section.body, inner)
        for field, shown, ref, type_of_value in shown_fields(type(event)):
            if ref is not None and isinstance(getattr(event, field), tuple):
                self._side(form, i, field, shown.label, len(getattr(event, field)))
            elif ref is not None:
                form.choice(field, partial(_offered, ref.to), label=shown.label, tip=shown.tip)
            elif isinstance(event, ParameterChange) and field == "value":
                form.line(
                    field,
                    TEXT,
                    label=shown.label,
                    get=_shown,
                    edit=lambda plan, w, text: with_value(plan, w, i, text),
                )
            else:
                kind = SECONDS if field.endswith("_s") else _UNITS.get(type_of_value, TEXT)
                form.line(field, kind, label=shown.label, empty=shown.empty, tip=shown.tip)

    def _side(self, form: Form, i: int, name: str, label: str, count: int) -> None:
        """A line for each host or location of a side of a cut, and one to add another."""
        for k in range(count + 1):
            empty = "take out" if k < count else "+ add" if k else "everything else"
            form.choice(
                name,
                partial(_side_choices, empty=empty),
                label=label if k == 0 else "and",
                get=partial(_member, name, k),
                edit=partial(with_side, i, name, k),
            )

    def _remove(self, i: int) -> None:
        self._page.context.document.edit(
            "Remove event", lambda plan: without_event(plan, self._workload_id, i)
        )


def _member(name: str, k: int, event: BetweenSides) -> str:
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
        raise error.told() from None


def _shown(event: ParameterChange) -> str:
    known = catalogue.parameter("DB", event.name) if catalogue.exists("DB", event.name) else None
    return values.format_value(known, event.value)


def _side_choices(plan: Plan, empty: str) -> list[tuple[str, str]]:
    parts: list[Any] = [*plan.locations, *plan.hosts]
    return [("", empty), *((part.id, title(plan, part)) for part in parts)]


def _offered(to: str, plan: Plan) -> list[tuple[str, str]]:
    return [(part.id, title(plan, part)) for part in what_fits(plan, to)]
