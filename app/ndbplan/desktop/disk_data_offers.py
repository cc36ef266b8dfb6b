"""What is offered where disk data lacks something: a tablespace for a column that has just gone to disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import QObject

from ndbplan.base.errors import UserError
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.edits.arrays import put_devices
from ndbplan.edits.palette import ONE_FOLDER
from ndbplan.edits.roles import RoleMoved
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.tables import Table


class DiskDataOffers(QObject):
    """Watches the edits of one window, and offers what is missing in its message bar."""

    def __init__(self, editor: Editor, messages: MessageBar) -> None:
        super().__init__(editor)
        self._editor, self._messages = editor, messages
        self._said: tuple[str, Plan] | None = None
        """What was offered last, and for which plan."""
        editor.document.changed.connect(self._look)
        editor.idle_role.connect(self._tell_of_role)
        editor.role_moved.connect(self._offer_both)

    def _look(self, before: Plan, after: Plan) -> None:
        self._retire(after)
        if before.tables is after.tables or not before.tables:
            return
        table = next(_without_home(before, after), None)
        if table is None:
            return
        from ndbplan.checks.unwise.disk_data_cures import offered_home
        from ndbplan.configuration.refused_tables import in_keys
        from ndbplan.estimate.estimation import Estimation

        keyed = {one.column.name: one for one in in_keys(table) if one.column.storage == "disk"}
        if all(column.name in keyed for column in table.columns if column.storage == "disk"):
            one = next(iter(keyed.values()))
            key = f"index {one.key}" if one.key else "the primary key"
            self._messages.say("warning", f"{one.where} is in {key}: {one.why}.")
            self._said = (self._messages.text, after)
            return
        try:
            way = offered_home(Estimation(after), table)
        except UserError:
            # The checks say what keeps the plan from being estimated.
            return
        if way is not None:
            self._offer(
                f"{table.full_name} has columns on disk now, which need a tablespace.", way.title, way.edit
            )

    def _retire(self, after: Plan) -> None:
        """An offer holds for one plan: the next step, or undo, takes it away."""
        if self._said is not None and self._said[1] is not after:
            if self._messages.text == self._said[0]:
                self._messages.hide()
            self._said = None

    def _tell_of_role(self, what: str) -> None:
        from ndbplan.edits.disk_data import with_tablespace

        def make(plan: Plan) -> Plan:
            return with_tablespace(plan)[0]

        self._offer(what, "Make a tablespace", make)

    def _offer_both(self, moved: RoleMoved) -> None:
        """Who drops a role on a second disk may want both: files on each, or one disk of two devices."""
        from ndbplan.edits.disk_data import FilesThereToo, folder_on
        from ndbplan.edits.solutions import can_have_devices

        plan = self._editor.plan
        files = plan.tablespaces if moved.role is DiskRole.DATA_FILES else plan.logfile_groups
        if moved.role in (DiskRole.DATA_FILES, DiskRole.UNDO) and files:
            left = plan.by_id[moved.left_id]
            self._offer(
                f"{moved.what}, with all files that name no folder.",
                f"Keep files on {left.name} too",
                FilesThereToo(moved.role, folder_on(left)),
            )
            return
        disk, what = plan.by_id[moved.disk_id], f"{moved.what}: {ONE_FOLDER}."
        if not can_have_devices(disk, 2):
            self._messages.say("info", what)
            return
        self._offer(
            what,
            f"Make {disk.name} of {2 * disk.devices} devices",
            partial(put_devices, disk_id=disk.id, devices=2 * disk.devices),
        )

    def _offer(self, what: str, button: str, edit: Callable[[Plan], Plan]) -> None:
        self._messages.say("info", what, button, partial(self._editor.do, button, edit))
        self._said = (what, self._editor.plan)


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
