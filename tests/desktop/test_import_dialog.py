"""Import in the window: files are recognised, what they say is shown, and taken in one step."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from pytestqt.qtbot import QtBot

from ndbplan.desktop.document import Document
from ndbplan.desktop.import_dialog import ImportDialog
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.samples import sample_plan

SQL = "CREATE TABLE shop.orders (id BIGINT NOT NULL PRIMARY KEY, note VARCHAR(200)) ENGINE=NDB;"
COUNTS = "TABLE_SCHEMA\tTABLE_NAME\tTABLE_ROWS\tAVG_ROW_LENGTH\nshop\torders\t1234567\t88\n"
CONFIG = """
[ndbd default]
NoOfReplicas=2
DataMemory=4G
[ndb_mgmd]
HostName=m1
[ndbd]
HostName=d1
[ndbd]
HostName=d2
[mysqld]
"""
FIO = (
    '{"jobs": [{"jobname": "w", "job options": {"rw": "write", "bs": "1m"}, '
    '"write": {"bw_bytes": 750000000, "iops": 715, "total_ios": 100, "io_bytes": 100000000, '
    '"clat_ns": {"mean": 1000}}, "read": {"bw_bytes": 0, "iops": 0, "total_ios": 0, "io_bytes": 0}}]}'
)


@pytest.fixture
def document() -> Document:
    return Document(sample_plan("starter"))


@pytest.fixture
def opened() -> list[Plan]:
    return []


@pytest.fixture
def dialog(qtbot: QtBot, document: Document, opened: list[Plan]) -> Iterator[ImportDialog]:
    made = ImportDialog(document, lambda make: opened.append(make()))
    made.open()
    yield made
    if shiboken6.isValid(made):
        made.reject()


def _files(folder: Path, **texts: str) -> list[Path]:
    paths = []
    for name, text in texts.items():
        path = folder / name.replace("_", ".")
        path.write_text(text)
        paths.append(path)
    return paths


def _wait(qtbot: QtBot, dialog: ImportDialog) -> list[str]:
    qtbot.waitUntil(lambda: dialog._task is None, timeout=30_000)
    return [dialog.found.item(i).text() for i in range(dialog.found.count())]


def test_files_of_several_kinds_go_into_the_plan_in_one_step(
    qtbot: QtBot, dialog: ImportDialog, document: Document, tmp_path: Path
) -> None:
    before = document.plan
    dialog.add_files(_files(tmp_path, schema_sql=SQL, counts_tsv=COUNTS))
    lines = _wait(qtbot, dialog)
    assert any(line.startswith("shop.orders: ") and "2 columns" in line for line in lines)
    kinds = [dialog.sources.item(i).text().splitlines()[1] for i in range(2)]
    assert kinds[0].startswith("table definitions")
    assert kinds[1].startswith("row counts and sizes")
    dialog.put_in()
    assert document.plan.table("shop.orders").rows == 1_234_567
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.plan is before


def test_a_configuration_becomes_a_new_plan(
    qtbot: QtBot, dialog: ImportDialog, document: Document, opened: list[Plan], tmp_path: Path
) -> None:
    before = document.plan
    dialog.add_files(_files(tmp_path, config_ini=CONFIG))
    qtbot.waitUntil(lambda: dialog.take.isEnabled(), timeout=30_000)
    assert dialog.target.currentText() == "a new plan"
    assert not dialog.target.isEnabled()
    assert dialog.version.isVisible()
    dialog.version.setCurrentText("7.6")
    _wait(qtbot, dialog)
    dialog.put_in()
    assert document.plan is before
    (plan,) = opened
    assert [node.node_id for node in plan.data_nodes] == [2, 3]
    assert plan.ndb_version == "7.6"


def test_a_measurement_goes_to_the_disk_that_was_chosen(
    qtbot: QtBot, dialog: ImportDialog, document: Document, tmp_path: Path
) -> None:
    dialog.add_files(_files(tmp_path, fio_json=FIO))
    _wait(qtbot, dialog)
    assert dialog.disk.isVisible()
    dialog.disk.setCurrentIndex(1)
    _wait(qtbot, dialog)
    (chosen,) = dialog.disk.currentData()
    dialog.put_in()
    fast = [
        disk.id
        for host in document.plan.hosts
        for disk in host.disks
        if disk.sequential_write_bytes_per_s == pytest.approx(750e6)
    ]
    assert fast == [chosen]


def test_what_cannot_be_read_is_named_and_the_rest_is_taken(
    qtbot: QtBot, dialog: ImportDialog, document: Document, tmp_path: Path
) -> None:
    dialog.add_files([*_files(tmp_path, schema_sql=SQL, poem_txt="roses are red\n"), tmp_path / "missing"])
    assert "missing" in dialog.state.text()
    lines = _wait(qtbot, dialog)
    assert any(line.startswith("poem.txt: ") for line in lines)
    assert "not read" in dialog.sources.item(1).text()
    dialog.sources.item(1).setSelected(True)
    dialog._remove_selected()
    lines = _wait(qtbot, dialog)
    assert not any("poem" in line for line in lines)
    dialog.put_in()
    assert "shop.orders" in {table.full_name for table in document.plan.tables}


def test_pasted_text_is_one_more_source(qtbot: QtBot, dialog: ImportDialog) -> None:
    from PySide6.QtGui import QGuiApplication

    QGuiApplication.clipboard().setText("  ")
    dialog.paste()
    assert "no text" in dialog.state.text()
    QGuiApplication.clipboard().setText(SQL)
    dialog.paste()
    dialog.paste()
    _wait(qtbot, dialog)
    names = [dialog.sources.item(i).text().splitlines()[0] for i in range(dialog.sources.count())]
    assert names == ["pasted text", "pasted text (2)"]


def test_nothing_new_cannot_be_taken(qtbot: QtBot, dialog: ImportDialog, tmp_path: Path) -> None:
    assert not dialog.take.isEnabled()
    dialog.add_files(_files(tmp_path, poem_txt="roses are red\n"))
    _wait(qtbot, dialog)
    assert not dialog.take.isEnabled()


def test_beside_an_empty_plan_a_new_one_is_offered(qtbot: QtBot) -> None:
    dialog = ImportDialog(Document(EMPTY_PLAN), lambda make: make())
    assert dialog.target.currentText() == "a new plan"
    dialog.open()
    dialog.reject()
