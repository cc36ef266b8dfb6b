"""The outline shows the plan as it is, however it came to be so."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtGui import QContextMenuEvent, QStandardItem
from PySide6.QtWidgets import QApplication

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.sides.outline import Outline
from ndbplan.edits import arrange
from ndbplan.edits import parts as edits
from ndbplan.edits.roles import move_process
from ndbplan.plan.hardware import Location
from ndbplan.plan.places import may_hold
from ndbplan.plan.samples import sample_plan


def _tree(item: QStandardItem) -> list:
    return [(item.child(i).text(), _tree(item.child(i))) for i in range(item.rowCount())]


def _shown(outline: Outline) -> list:
    return _tree(outline._model.invisibleRootItem())


def _outline(document: Document) -> Outline:
    return Outline(Editor(document, Selection(document, document), document))


@given(st.lists(st.integers(0, 7), min_size=1, max_size=8), st.randoms(use_true_random=False))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12)
def test_any_sequence_of_edits_shows_the_same_as_starting_fresh(qapp, steps, choose) -> None:
    document = Document(sample_plan("starter"))
    outline = _outline(document)
    for step in steps:
        plan = document.plan
        processes = [p for p in plan.processes if p.host_id]
        if step == 0 and document.undo_stack.canUndo():
            document.undo_stack.undo()
        elif step == 1 and plan.processes:
            gone = choose.choice(plan.processes).id
            document.edit("Delete", lambda p, i=gone: edits.remove(p, [i]))
        elif step == 2 and plan.hosts:
            gone = choose.choice(plan.hosts).id
            document.edit("Delete", lambda p, i=gone: edits.remove(p, [i]))
        elif step in (3, 4) and plan.hosts and processes:
            moved, host = choose.choice(processes).id, choose.choice(plan.hosts).id
            document.edit("Move", lambda p, m=moved, h=host: move_process(p, m, h))
        elif step == 6 and len(plan.locations) > 1:
            one, other = choose.sample(plan.locations, 2)
            held = other.id if other in may_hold(plan.locations, one.id) else None
            document.edit("Nest", lambda p, i=one.id, o=held: arrange.put_inside(p, [i], o))
        elif step == 5 and plan.hosts and plan.locations:
            moved, place = choose.choice(plan.hosts).id, choose.choice(plan.locations).id
            document.edit("Move", lambda p, m=moved, q=place: arrange.put_into_location(p, [m], q))
        elif step == 7:
            document.new(sample_plan(choose.choice(("add-nodes", "starter"))))
        fresh = _outline(Document(document.plan))
        assert _shown(outline) == _shown(fresh)
        assert set(outline._items) == set(fresh._items)


def test_locations_stand_below_what_they_lie_in(qapp) -> None:
    document = Document(sample_plan("starter"))
    outline = _outline(document)
    plan = edits.add(document.plan, Location(id="room", name="Room 1"))
    document.edit("Nest", lambda _: arrange.put_inside(plan, ["rack-a", "rack-b"], "room"))
    room = dict(_shown(outline))["Room 1"]
    assert [name for name, _ in room] == ["Rack A", "Rack B"]
    assert [name for name, _ in dict(room)["Rack A"]] == ["host-a1", "app-a1"]
    assert "Rack A" not in dict(_shown(outline))
    document.undo_stack.undo()
    assert _shown(outline) == _shown(_outline(Document(document.plan)))


def test_names_and_roles_follow_edits_without_rebuilding_other_rows(qapp) -> None:
    document = Document(sample_plan("telecom-144"))
    outline = _outline(document)
    kept = outline._items[document.plan.hosts[9].id]
    target = document.plan.hosts[3].id
    document.edit("Rename", lambda p: edits.update(p, target, hostname="renamed"))
    assert outline._items[target].text() == "renamed"
    assert outline._items[document.plan.hosts[9].id] is kept


def test_data_nodes_are_named_by_the_program_that_the_version_has(qapp) -> None:
    document = Document(sample_plan("starter"))
    outline = _outline(document)
    for version, program in (("6.3", "ndbd"), ("7.0", "ndbmtd"), ("6.3", "ndbd")):
        document.edit("Version", lambda p, v=version: p.replace(ndb_version=v))
        names = str(_shown(outline))
        assert f"'{program} 1" in names
        assert f"'{'ndbd' if program == 'ndbmtd' else 'ndbmtd'} " not in names


def test_what_was_open_stays_open(qapp) -> None:
    document = Document(sample_plan("starter"))
    outline = _outline(document)
    host = outline._items["host-a1"]
    assert outline.isExpanded(host.index())
    outline.setExpanded(host.index(), False)
    document.edit("Add", lambda p: edits.remove(p, ["app-b1"]))
    assert not outline.isExpanded(outline._items["host-a1"].index())


@pytest.mark.parametrize(("sample", "opened"), [("starter", True), ("telecom-144", False)])
def test_large_plans_start_with_closed_hosts(qapp, sample, opened) -> None:
    document = Document(sample_plan(sample))
    outline = _outline(document)
    for host in document.plan.hosts:
        assert outline.isExpanded(outline._items[host.id].index()) == opened
    for place in document.plan.locations:
        assert outline.isExpanded(outline._items[place.id].index())


def test_each_row_has_the_menu_of_its_object(qtbot) -> None:
    document = Document(sample_plan("starter"))
    editor = Editor(document, Selection(document))
    outline = Outline(editor)
    qtbot.addWidget(outline)
    outline.resize(240, 700)
    outline.show()
    asked: list[object] = []
    outline.menu_wanted.connect(lambda object_id, _where: asked.append(object_id))
    for object_id in ("rack-a", "ndb1", "host-a1-nvme0"):
        at = outline.visualRect(outline._items[object_id].index()).center()
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, at, outline.viewport().mapToGlobal(at))
        QApplication.sendEvent(outline.viewport(), event)
        assert editor.selection.ids == (object_id,)
    assert asked == ["rack-a", "ndb1", "host-a1-nvme0"]
