"""Import in the window: files are recognised, what they say is shown, and taken in one step."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import shiboken6
from pytestqt.qtbot import QtBot

from ndbplan.desktop.dialogs.import_dialog import ImportDialog
from ndbplan.desktop.document.document import Document
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
    def start_with(make: Callable[[], Plan]) -> bool:
        opened.append(make())
        return True

    made = ImportDialog(document, start_with)
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
    qtbot.waitUntil(lambda: dialog.task is None, timeout=30_000)
    return [dialog.findings.item(i).text() for i in range(dialog.findings.count())]


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
    dialog.take.click()
    assert document.plan.table("shop.orders").rows == 1_234_567
    assert document.undo_stack.count() == 1
    document.undo_stack.undo()
    assert document.plan is before


def test_a_configuration_becomes_a_new_plan(
    qtbot: QtBot, dialog: ImportDialog, document: Document, opened: list[Plan], tmp_path: Path
) -> None:
    before = document.plan
    dialog.add_files(_files(tmp_path, config_ini=CONFIG))
    # Many versions fit: it asks, and nothing is taken before there is an answer.
    qtbot.waitUntil(lambda: dialog.version.currentText() == "which one?", timeout=30_000)
    assert "Which version is it for? 6.3, 7.0" in dialog.state.text()
    assert not dialog.take.isEnabled()
    dialog.put_in()
    assert not opened
    assert dialog.target.currentText() == "a new plan"
    assert not dialog.target.isEnabled()
    assert dialog.version.isVisible()
    dialog.version.setCurrentText("7.6")
    _wait(qtbot, dialog)
    assert dialog.take.isEnabled()
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
    lines = _wait(qtbot, dialog)
    assert any("missing: " in line for line in lines)
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
    dialog = ImportDialog(Document(EMPTY_PLAN), lambda _make: True)
    assert dialog.target.currentText() == "a new plan"
    dialog.open()
    dialog.reject()


def test_folders_and_pipes_are_named_and_not_waited_for(dialog: ImportDialog, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    dialog.add_files([tmp_path, tmp_path / "pipe"])
    lines = [dialog.findings.item(i).text() for i in range(dialog.findings.count())]
    assert [line.split(": ")[0] for line in lines] == [str(tmp_path), str(tmp_path / "pipe")]
    assert ["a folder" in line for line in lines] == [True, False]
    assert not dialog.take.isEnabled()


def test_an_import_that_may_not_replace_the_open_plan_stays(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = ImportDialog(Document(sample_plan("starter")), lambda _make: False)
    dialog.open()
    dialog.version.setCurrentText("8.4")
    dialog.add_files(_files(tmp_path, config_ini=CONFIG))
    qtbot.waitUntil(lambda: dialog.take.isEnabled(), timeout=30_000)
    dialog.put_in()
    assert dialog.isVisible()
    assert dialog.take.isEnabled()
    dialog.reject()


def test_a_plan_that_changed_meanwhile_is_not_overwritten(
    qtbot: QtBot, dialog: ImportDialog, document: Document, tmp_path: Path
) -> None:
    dialog.add_files(_files(tmp_path, schema_sql=SQL))
    _wait(qtbot, dialog)
    document.edit("Rename", document.plan.replace(name="renamed"))
    dialog.put_in()
    assert document.plan.name == "renamed"
    _wait(qtbot, dialog)
    dialog.put_in()
    assert document.plan.name == "renamed"
    assert "shop.orders" in {table.full_name for table in document.plan.tables}


def test_closing_does_not_wait_for_what_is_still_to_be_read(
    qtbot: QtBot, dialog: ImportDialog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ndbplan.importing.ddl import statements as ddl

    read = 0
    begun, goes_on = threading.Event(), threading.Event()
    usual = ddl.read_table

    def slow(*arguments: object) -> object:
        nonlocal read
        read += 1
        begun.set()
        goes_on.wait(10)
        return usual(*arguments)

    monkeypatch.setattr(ddl, "read_table", slow)
    dialog.add_files(_files(tmp_path, schema_sql=SQL * 50))
    task = dialog.task
    assert task is not None
    assert begun.wait(30)
    task.cancel()
    goes_on.set()
    dialog.reject()
    assert read == 1
