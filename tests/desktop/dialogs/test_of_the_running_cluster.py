"""What only the command line had: compare, "I measured", where a key lies, backup and restore."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest

from ndbplan.desktop.analyses.operations import OperationsPanel
from ndbplan.desktop.dialogs.compare_dialog import CompareDialog
from ndbplan.desktop.dialogs.key_dialog import KeyDialog
from ndbplan.desktop.dialogs.measured_dialog import BACKUP, REORGANISED, MeasuredDialog
from ndbplan.desktop.document.context import Context
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimates
from ndbplan.desktop.document.selection import Selection
from ndbplan.desktop.document.tasks import Tasks
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.stored import count_keys
from ndbplan.exporting.config_ini import render_config_ini as config_ini
from ndbplan.plan.file import dumps
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def document() -> Document:
    made = Document()
    made.new(sample_plan("starter"))
    return made


def wait(qtbot, dialog) -> None:
    qtbot.waitUntil(lambda: dialog.task is None and not dialog.tasks.is_busy, timeout=20_000)


def test_what_a_running_config_ini_has_otherwise_and_how_it_is_brought_in(qtbot, document, tmp_path) -> None:
    running = tmp_path / "config.ini"
    running.write_text(config_ini(set_parameter(document.plan, "data_node", "RedoBuffer", 48 * 2**20)))
    dialog = CompareDialog(document)
    qtbot.addWidget(dialog)
    wait(qtbot, dialog)
    dialog.compare(running)
    wait(qtbot, dialog)
    names = [dialog.changes.item(row, 0).text() for row in range(dialog.changes.rowCount())]
    assert names == ["RedoBuffer"]
    assert dialog.changes.item(0, 1).text() == "48M"
    assert any("restart" in dialog.steps.item(i).text().lower() for i in range(dialog.steps.count()))
    dialog.compare(tmp_path / "gone.ini")
    wait(qtbot, dialog)
    assert "gone.ini" in dialog.state.text()
    dialog.close()


@pytest.mark.parametrize(
    "pasted",
    [
        "Cluster Configuration\n[ndbd(NDB)]\t2 node(s)\nid=1\t@10.0.0.1  (mysql-8.4.8, Nodegroup: 0, *)\n",
        "[ndbd default]\nRedoBuffer=48M\nDataMemory 4G\n[ndbd]\n[ndbd]\n[mysqld]\n[ndb_mgmd]\n",
        "mgmapi configuration:\n[ndbd]\nNodeId=1\n",
    ],
    ids=["of SHOW", "a line that says nothing", "text before it"],
)
def test_what_is_no_configuration_is_said_and_not_compared(qtbot, document, pasted) -> None:
    """Lines that could not be read were left out, and the rest passed for what runs."""
    dialog = CompareDialog(document)
    qtbot.addWidget(dialog)
    wait(qtbot, dialog)
    before = dialog.what.text()
    dialog.compare(pasted)
    wait(qtbot, dialog)
    assert "no cluster runs with such a file" in dialog.state.text()
    assert "line" in dialog.state.text()
    assert dialog.what.text() == before
    dialog.close()


def test_a_running_configuration_is_pasted_too(qtbot, document) -> None:
    dialog = CompareDialog(document)
    qtbot.addWidget(dialog)
    wait(qtbot, dialog)
    board = QGuiApplication.clipboard()
    board.setText(" ")
    dialog.paste()
    assert "no text" in dialog.state.text()
    board.setText(config_ini(set_parameter(document.plan, "data_node", "RedoBuffer", 48 * 2**20)))
    QTest.keySequence(dialog, QKeySequence(QKeySequence.StandardKey.Paste))
    wait(qtbot, dialog)
    assert [dialog.changes.item(row, 0).text() for row in range(dialog.changes.rowCount())] == ["RedoBuffer"]
    assert "the pasted text" in dialog.what.text()
    board.setText(dumps(set_parameter(document.plan, "data_node", "RedoBuffer", 48 * 2**20)))
    dialog.paste()
    wait(qtbot, dialog)
    assert dialog.changes.rowCount() == 1
    for wrong in ("{", "no configuration at all"):
        board.setText(wrong)
        dialog.paste()
        wait(qtbot, dialog)
        assert "the pasted text" in dialog.state.text()
    dialog.close()


@pytest.mark.parametrize("kind", ["node", BACKUP])
def test_a_time_that_was_taken_moves_the_estimate_there_as_one_step(qtbot, document, kind) -> None:
    def estimate() -> float:
        now = Estimation(document.plan)
        return float((now.backup() if kind == BACKUP else now.restart("node")).duration_s.value)

    wanted = 1.6 * estimate()
    dialog = MeasuredDialog(document)
    qtbot.addWidget(dialog)
    dialog.what.setCurrentIndex(dialog.what.findData(kind))
    dialog.time.setText(f"{wanted:.0f} s")
    qtbot.waitUntil(lambda: dialog.take.isEnabled(), timeout=30_000)
    assert "→" in dialog.after.text()
    dialog.put_in()
    assert abs(estimate() / wanted - 1) < 0.1
    document.undo_stack.undo()
    assert document.plan == sample_plan("starter")


@pytest.mark.parametrize("factor", [0.5, 0.02])
def test_all_that_a_measured_time_says_is_seen(qtbot, document, factor) -> None:
    """Of seven things that a reorganisation changed four were to be seen, and the rest below the edge."""
    dialog = MeasuredDialog(document)
    qtbot.addWidget(dialog)
    dialog.what.setCurrentIndex(dialog.what.findData(REORGANISED))
    dialog.time.setText(f"{factor * Estimation(document.plan).reorganise(1).duration_s.value:.0f} s")
    dialog.show()
    qtbot.waitUntil(lambda: bool(dialog.state.text() or dialog.after.text()), timeout=30_000)
    wait(qtbot, dialog)

    def is_whole(label):
        return label.height() >= label.heightForWidth(label.width())

    # The layout follows the text a turn of the event loop later.
    qtbot.waitUntil(lambda: all(map(is_whole, (dialog.before, dialog.after, dialog.state))))
    assert dialog.rect().contains(dialog.buttons.geometry())


@pytest.mark.parametrize("text", ["5 s", "90 h", "soon", "likely", ""])
def test_another_time_is_never_answered_by_the_one_before(qtbot, document, text) -> None:
    """Beside a time that contradicts the plan stood what the time before had said, and Enter put that in."""
    dialog = MeasuredDialog(document)
    qtbot.addWidget(dialog)
    estimate = Estimation(document.plan).restart("node").duration_s.value
    dialog.time.setText(f"{1.6 * estimate:.0f} s")
    qtbot.waitUntil(lambda: dialog.take.isEnabled(), timeout=30_000)
    is_likely = text == "likely"
    dialog.time.setText(f"{1.4 * estimate:.0f} s" if is_likely else text)
    assert dialog.after.text() == ""
    assert not dialog.take.isEnabled()
    dialog.put_in()
    assert document.plan.calibrations == ()
    qtbot.waitUntil(lambda: bool(dialog.state.text() or dialog.after.text()) or not text, timeout=30_000)
    wait(qtbot, dialog)
    assert dialog.take.isEnabled() == bool(dialog.after.text()) == is_likely
    dialog.close()


def test_where_a_key_lies_is_where_a_count_of_it_falls(qtbot, document) -> None:
    plan = document.plan
    table = plan.table("shop.customer")
    selection = Selection(document)
    dialog = KeyDialog(document, selection, table.id)
    qtbot.addWidget(dialog)
    assert not dialog.take.isEnabled()
    dialog.fields[0].setText("4711")
    assert dialog.place is not None
    import io

    counted = count_keys(plan, table, io.BytesIO(f"{table.primary_key[0]}\n4711\n".encode()))
    assert counted.partition_rows.index(1) == dialog.place.partition
    assert counted.bucket_rows.index(1) == dialog.place.bucket
    partition = Estimation(plan).distribution[plan.tables.index(table)].partitions[dialog.place.partition]
    assert (partition.primary, partition.node_group) == (dialog.place.node_ids[0], dialog.place.node_group)
    dialog.take.click()
    assert {plan.by_id[i].node_id for i in selection.ids} == set(dialog.place.node_ids)
    dialog.fields[0].setText("four")
    assert dialog.place is None
    assert "four" in dialog.state.text()
    dialog.close()


def test_a_backup_and_its_restore_are_lanes_of_the_operations(qtbot, document) -> None:
    selection, estimates = Selection(document), Estimates(document)
    tasks = Tasks()
    panel = OperationsPanel(Context(document, selection, estimates, tasks))
    qtbot.addWidget(panel)
    panel.refresh()
    qtbot.waitUntil(lambda: not tasks.is_busy and bool(panel.lanes._lanes), timeout=20_000)
    lanes = {lane.name: lane for lane in panel.lanes._lanes}
    now = Estimation(document.plan)
    assert lanes["Backup"].duration_s.value == now.backup().duration_s.value
    assert lanes["Restore it"].duration_s.value == now.restore().duration_s.value
    tasks.close()
    estimates.close()
