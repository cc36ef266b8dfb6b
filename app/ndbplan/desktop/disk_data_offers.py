"""What is offered where disk data lacks something: a tablespace for a column that has just gone to disk."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QObject

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.edits.arrays import put_devices
from ndbplan.edits.disk_data import with_tablespace
from ndbplan.edits.solutions import can_have_devices
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Table


class DiskDataOffers(QObject):
    """Watches the edits of one window, and offers what is missing in its message bar."""

    def __init__(self, editor: Editor, messages: MessageBar) -> None:
        super().__init__(editor)
        self._editor, self._messages = editor, messages
        editor.document.changed.connect(self._look)
        editor.idle_role.connect(self._tell_of_role)
        editor.role_moved.connect(self._offer_devices)

    def _look(self, before: Plan, after: Plan) -> None:
        if before.tables is after.tables or not before.tables:
            return
        table = next(_without_home(before, after), None)
        if table is None:
            return
        from ndbplan.checks.unwise.disk_data_cures import offered_home
        from ndbplan.estimate.estimation import Estimation

        try:
            way = offered_home(Estimation(after), table)
        except UserError:
            # The checks say what keeps the plan from being estimated.
            return
        if way is not None:
            self._messages.say(
                "info",
                f"{table.full_name} has columns on disk now, which need a tablespace.",
                way.title,
                partial(self._editor.do, way.title, way.edit),
            )

    def _tell_of_role(self, what: str) -> None:
        def make(plan: Plan) -> Plan:
            return with_tablespace(plan)[0]

        button = "Make a tablespace"
        self._messages.say("info", what, button, partial(self._editor.do, button, make))

    def _offer_devices(self, what: str, disk_id: str) -> None:
        """Who drops a role on a second disk may want both: that is one disk of two devices."""
        disk = self._editor.plan.by_id[disk_id]
        if not can_have_devices(disk, 2):
            self._messages.say("info", what)
            return
        text = f"Make {disk.name} of {2 * disk.devices} devices"
        edit = partial(put_devices, disk_id=disk_id, devices=2 * disk.devices)
        self._messages.say("info", what, text, partial(self._editor.do, text, edit))


def _without_home(before: Plan, after: Plan) -> Iterator[Table]:
    """Tables that an edit has given their first columns on disk, and that have no tablespace."""
    known = {id(table) for table in before.tables}
    for table in after.tables:
        if id(table) in known or table.tablespace_id is not None or not _on_disk(table):
            continue
        was = before.by_id.get(table.id)
        if isinstance(was, Table) and not _on_disk(was):
            yield table


def _on_disk(table: Table) -> bool:
    return any(column.storage == "disk" for column in table.columns)
