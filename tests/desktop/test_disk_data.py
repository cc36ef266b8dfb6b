"""Disk data is made where it is missed: by a column on disk, by a role on a disk, on the plan page."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QLabel, QPushButton

from ndbplan.checks.run import check
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.space_files import files_twice
from ndbplan.describe.breakdown import breakdowns
from ndbplan.desktop.document.preferences import Preferences
from ndbplan.desktop.inspector.pages.hardware import RoleSwitches
from ndbplan.desktop.look import theme
from ndbplan.desktop.main_window import MainWindow
from ndbplan.desktop.sides.outline import Outline
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.disk_data import with_tablespace
from ndbplan.edits.tables import put_columns
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan

LEFT = Qt.MouseButton.LeftButton
_TABLE = "shop.orders"


@pytest.fixture
def window(qtbot, qapp, tmp_path):
    theme.install(qapp, "light")
    made = MainWindow(Preferences(tmp_path / "preferences.json"), tmp_path / "journals")
    made.files.ask_unsaved = lambda: "discard"
    made.show()
    made.finish_building()
    made.open_sample("starter")
    yield made
    made.close()
    made.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def on_disk(plan: Plan) -> Plan:
    table = plan.table(_TABLE)
    columns = tuple(
        c if c.name in table.primary_key else validated.changed(c, storage="disk") for c in table.columns
    )
    return put_columns(plan, table.id, columns)


def test_a_column_that_goes_to_disk_gets_a_tablespace_by_one_click(window, qtbot) -> None:
    window.document.edit("Put columns on disk", on_disk)
    assert "need a tablespace" in window.messages.text
    qtbot.mouseClick(window.messages._button, LEFT)
    plan = window.document.plan
    (space,), (group,) = plan.tablespaces, plan.logfile_groups
    assert plan.table(_TABLE).tablespace_id == space.id
    assert space.logfile_group_id == group.id
    (use,) = Estimation(plan).disk_data.tablespaces
    assert 0 < use.fill.value < 0.9
    assert not [p for p in check(plan) if p.rule in ("tablespace-of-table", "data-files")]
    window.document.undo_stack.undo()
    window.document.undo_stack.undo()
    assert window.document.plan == sample_plan("starter")


def test_the_problem_offers_the_same_and_memory_too() -> None:
    plan = on_disk(sample_plan("starter"))
    (problem,) = [p for p in check(plan) if p.rule == "tablespace-of-table"]
    assert [way.title.partition(" of ")[0] for way in problem.solutions] == [
        "Make tablespace ts_1",
        "Keep its columns in memory",
    ]
    for way in problem.solutions:
        assert "tablespace-of-table" not in {p.rule for p in check(way.edit(plan))}
    made = problem.solutions[0].edit(plan)
    other = edits.update(made, made.table(_TABLE).id, tablespace_id=None)
    (again,) = [p for p in check(other) if p.rule == "tablespace-of-table"]
    assert again.solutions[0].title == "Put it into tablespace ts_1"


def test_a_role_of_disk_data_says_what_it_is_for(window, qtbot) -> None:
    plan = window.document.plan
    node = plan.data_nodes[0]
    disk = next(d for d in plan.host(node.host_id).disks if d.id != node.disk_roles.undo)
    window.editor.assign_role(DiskRole.UNDO, disk.id)
    assert window.messages.text.startswith("UNDO is the undo log of disk data")
    qtbot.mouseClick(window.messages._button, LEFT)
    assert len(window.document.plan.tablespaces) == 1
    window.editor.assign_role(DiskRole.DATA_FILES, disk.id)
    assert "no tablespace" not in window.messages.text


def test_the_plan_page_makes_a_tablespace_and_leads_to_its_files(window, qtbot) -> None:
    window.selection.clear()
    inspector = window.panels.inspector
    (add,) = [b for b in inspector.findChildren(QPushButton) if b.accessibleName() == "Add a tablespace"]
    add.click()
    (space,) = window.document.plan.tablespaces
    assert window.selection.ids == (space.id,)
    assert inspector._title.text() == "ts_1"
    assert [b for b in inspector.findChildren(QPushButton) if b.text() == "+ Add data file"]


def test_a_role_dropped_on_a_second_disk_leaves_the_first_and_both_as_one_are_offered(window, qtbot) -> None:
    node = window.document.plan.data_nodes[0]
    host = window.document.plan.host(node.host_id)
    other = next(disk for disk in host.disks if disk.id != node.disk_roles.redo)
    leaves = window.editor.role_leaves(DiskRole.REDO, other.id)
    assert leaves == f"REDO goes to {other.name} instead of {host.disks[0].name}"
    window.editor.assign_role(DiskRole.REDO, other.id)
    assert window.messages.text.startswith(leaves)
    qtbot.mouseClick(window.messages._button, LEFT)
    assert window.document.plan.by_id[other.id].devices == 2
    assert window.editor.role_leaves(DiskRole.REDO, other.id) == ""


def test_data_files_dropped_on_a_second_disk_may_stay_on_the_first_too(window, qtbot) -> None:
    window.document.edit("Make a tablespace", lambda plan: with_tablespace(plan)[0])
    node = window.document.plan.data_nodes[0]
    host = window.document.plan.host(node.host_id)
    left = disk_for(window.document.plan, node, DiskRole.DATA_FILES)
    other = next(disk for disk in host.disks if disk is not left)
    window.editor.assign_role(DiskRole.DATA_FILES, other.id)
    assert "instead of" in window.messages.text
    qtbot.mouseClick(window.messages._button, LEFT)
    (space,) = window.document.plan.tablespaces
    assert [file.directory for file in space.data_files] == [None, f"{left.mount_point}/ndb"]
    sizes = Estimation(window.document.plan).disk_space
    assert {sizes.of(d.id).of(DiskRole.DATA_FILES).value for d in (left, other)} == {float(2**30)}
    # Card, outline and inspector of the disk that is left say so: they named the other one alone.
    tiles = window.canvas.canvas_scene.layout.hosts[host.id].card.tiles
    assert all("DATA FILES" in tile.all_roles for tile in tiles)
    outline = window.findChild(Outline)
    assert all("DATA FILES" in outline._items[disk.id].toolTip() for disk in (left, other))
    switches = RoleSwitches(window.panels.analyses.context, left.id)
    qtbot.addWidget(switches)
    said = "Files of DATA FILES that name a folder of this disk lie here too"
    assert said in [one.text() for one in switches.findChildren(QLabel) if one.isVisibleTo(switches)]
    window.document.undo_stack.undo()
    switches.refresh()
    assert said not in [one.text() for one in switches.findChildren(QLabel) if one.isVisibleTo(switches)]
    tiles = window.canvas.canvas_scene.layout.hosts[host.id].card.tiles
    assert [tile.disk.id for tile in tiles if "DATA FILES" in tile.all_roles] == [other.id]


def test_what_a_link_of_the_inspector_leads_to_is_deleted_by_its_key(window, qtbot) -> None:
    """The page with the link is gone then, and the keyboard was left with an empty frame."""
    window.document.new(with_tablespace(sample_plan("disk-data-8.4"))[0])
    window.selection.clear()
    window.activateWindow()
    (space, *_) = window.document.plan.tablespaces
    name = f"Select {space.name}"
    (link,) = [b for b in window.panels.inspector.findChildren(QPushButton) if b.accessibleName() == name]
    link.setFocus()
    link.click()
    assert window.selection.ids == (space.id,)
    qtbot.waitUntil(lambda: window.focusWidget() is window.canvas)


def test_one_more_file_or_tablespace_meets_no_file_that_is_there(window, qtbot) -> None:
    """An entry of several files stands for names of its own: `data` for data_1, data_2, …"""
    plan = with_tablespace(sample_plan("disk-data-8.4"))[0]
    (first, *_) = plan.tablespaces
    assert first.data_files[0].count > 1
    window.document.new(with_tablespace(plan)[0])
    for part in (*window.document.plan.tablespaces, *window.document.plan.logfile_groups):
        window.selection.set([part.id])
        what = "undo" if part in window.document.plan.logfile_groups else "data"
        more = [
            b for b in window.panels.inspector.findChildren(QPushButton) if b.text() == f"+ Add {what} file"
        ]
        for _ in range(3):
            more[-1].click()
    assert not list(files_twice(window.document.plan))


def test_sizes_of_files_are_told_in_the_units_in_which_they_are_stated() -> None:
    plan = with_tablespace(sample_plan("disk-data-8.4"))[0]
    now = Estimation(plan)
    for part in (*plan.tablespaces, *plan.logfile_groups):
        for shown in breakdowns(now, part.id):
            assert shown.is_binary or shown.total is None, shown.heading
            assert not [one for one in shown.callouts if re.search(r"[kMGT]B", one.text)]


def test_the_undo_log_is_that_of_the_load_that_fills_it_whichever_is_looked_at() -> None:
    plan = sample_plan("disk-data-8.4")
    (group,) = plan.logfile_groups
    changes, reads = plan.workloads
    (step,) = changes.transactions
    update = validated.changed(step.operations[0], kind="update")
    transactions = (validated.changed(step, operations=(update,)),)
    plan = edits.update(plan, changes.id, transactions=transactions)
    (own,), (others,) = (
        breakdowns(Estimation(plan, plan.by_id[one.id]), group.id) for one in (changes, reads)
    )
    assert [row.quantity.value for row in others.rows] == [row.quantity.value for row in own.rows]
    assert others.rows[0].detail == f"{own.rows[0].detail}, by {changes.name}"
    (nothing,) = breakdowns(Estimation(plan.replace(workloads=(reads,))), group.id)[0].callouts
    assert nothing.heading == "Nothing fills it"


def _put(window, name: str) -> None:
    table = window.document.plan.table(_TABLE)
    columns = tuple(validated.changed(c, storage="disk") if c.name == name else c for c in table.columns)
    window.document.edit("Put a column on disk", lambda plan: put_columns(plan, table.id, columns))


def test_a_column_of_an_index_is_offered_no_tablespace(window) -> None:
    _put(window, "created")
    said = "column created of shop.orders is in index by_customer: columns on disk are in no key or index."
    assert (window.messages.text, window.messages._button.isHidden()) == (said, True)
    # The page of a tablespace does not say that its table has no such column.
    table = window.document.plan.table(_TABLE)
    window.document.edit("Choose it", lambda plan: _chosen(with_tablespace(plan)[0], table.id))
    assert window.messages.isHidden()
    plan = window.document.plan
    (shown,) = breakdowns(Estimation(plan), plan.tablespaces[0].id)
    assert shown.callouts[0].text == "column created of shop.orders is in a key or index."


def _chosen(plan: Plan, table_id: str) -> Plan:
    return edits.update(plan, table_id, tablespace_id=plan.tablespaces[0].id)


def test_an_offer_goes_when_the_plan_has_what_it_offers(window) -> None:
    _put(window, "total")
    assert "need a tablespace" in window.messages.text
    assert not window.messages.isHidden()
    (problem,) = [p for p in check(window.document.plan) if p.rule == "tablespace-of-table"]
    window.document.edit("By the problem", problem.solutions[0].edit)
    assert window.messages.isHidden()
